local function risky(n)
  if n % 2 == 0 then error("even", 0) end
  return n
end
return function()
  local sum = 0
  for i = 0, 299999 do
    local ok, value = pcall(risky, i)
    if ok then sum = (sum + value) % 1000003 else sum = sum + #value end
  end
  return sum
end

return function()
  local xs = {}
  for i = 0, 999 do xs[#xs + 1] = i end
  local sum = 0
  for round = 1, 500 do
    for _, x in ipairs(xs) do sum = (sum + x) % 1000003 end
    for k = 0, 999 do sum = (sum + k) % 1000003 end
  end
  return sum
end

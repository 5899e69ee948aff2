return function()
  local words, sum = { "alpha", "beta", "gamma", "delta" }, 0
  for i = 0, 499999 do
    local word = words[i % 4 + 1]
    if word:find("a", 1, true) then sum = sum + word:find("a", 1, true) - 1 end
    sum = (sum + #word + #words) % 1000003
  end
  return sum
end

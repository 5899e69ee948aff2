return function()
  local sum, i = 0, 0
  while i < 3000000 do
    sum = (sum + i * 3) % 1000003
    i = i + 1
  end
  return sum
end

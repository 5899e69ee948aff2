return function()
  local xs, seed = {}, 42
  for i = 1, 100000 do
    seed = (seed * 16807) % 2147483647
    xs[#xs + 1] = seed % 1000000
  end
  local sum = 0
  for i = 1, 100000 do sum = (sum * 31 + xs[i]) % 1000003 end
  local sorted = table.move(xs, 1, #xs, 1, {})
  table.sort(sorted)
  return #xs .. " " .. sum .. " " .. sorted[1] .. " " .. sorted[50001] .. " " .. sorted[100000]
end

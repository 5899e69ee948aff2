local function escapes(cr, ci, limit)
  local zr, zi, n = 0.0, 0.0, 0
  while n < limit do
    local zr2, zi2 = zr * zr, zi * zi
    if zr2 + zi2 > 4.0 then return n end
    zi = 2.0 * zr * zi + ci
    zr = zr2 - zi2 + cr
    n = n + 1
  end
  return limit
end
return function()
  local total = 0
  for y = 0, 79 do
    for x = 0, 79 do total = total + escapes(x * 0.03125 - 1.75, y * 0.025 - 1.0, 100) end
  end
  return total
end

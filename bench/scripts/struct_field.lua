return function()
  local p, i = { x = 0, y = 1 }, 0
  while i < 500000 do
    p.x = (p.x + p.y * 3) % 1000003
    p.y = (p.y + i) % 1009
    i = i + 1
  end
  return p.x .. " " .. p.y
end

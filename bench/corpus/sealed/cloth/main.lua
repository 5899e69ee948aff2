local function build(columns, rows)
  local points, springs = {}, {}
  for row = 0, rows - 1 do
    for column = 0, columns - 1 do
      local at = #points + 1
      points[at] = {
        x = column,
        y = row,
        before_x = column,
        before_y = row,
        pinned = row == 0 and column % 4 == 0,
      }
      if column > 0 then
        springs[#springs + 1] = { a = points[at - 1], b = points[at], length = 1, intact = true }
      end
      if row > 0 then
        springs[#springs + 1] = { a = points[at - columns], b = points[at], length = 1, intact = true }
      end
    end
  end
  return { points = points, springs = springs, torn = 0 }
end

local function swing(points, wind)
  for _, point in ipairs(points) do
    if not point.pinned then
      local x, y = point.x, point.y
      point.x = x + (x - point.before_x) * 0.98 + wind
      point.y = y + (y - point.before_y) * 0.98 + 0.02
      point.before_x, point.before_y = x, y
    end
  end
end

local function relax(cloth, spring)
  local a, b = spring.a, spring.b
  local dx, dy = b.x - a.x, b.y - a.y
  local distance = math.sqrt(dx * dx + dy * dy)
  if distance > spring.length * 1.6 then
    spring.intact = false
    cloth.torn = cloth.torn + 1
    return
  end
  local push = (distance - spring.length) / distance * 0.5
  if not a.pinned then
    a.x = a.x + dx * push
    a.y = a.y + dy * push
  end
  if not b.pinned then
    b.x = b.x - dx * push
    b.y = b.y - dy * push
  end
end

return function(n)
  local cloth = build(14, 10)
  for step = 0, n - 1 do
    swing(cloth.points, math.sin(step * 0.1) * 0.01)
    for _ = 1, 4 do
      for _, spring in ipairs(cloth.springs) do
        if spring.intact then
          relax(cloth, spring)
        end
      end
    end
  end
  local lowest, sum = 0, 0
  for _, point in ipairs(cloth.points) do
    lowest = math.max(lowest, point.y)
    sum = sum + (point.x * 3 + point.y)
  end
  return string.format("cloth %d %d %d %d", #cloth.springs, math.floor(lowest * 10000), math.floor(sum * 1000), cloth.torn)
end

local function make_grid(width, height)
  local costs, seed = {}, 8
  for i = 0, width * height - 1 do
    seed = seed * 16807 % 2147483647
    local dice = seed % 10
    costs[i] = (dice == 9 and i > 0 and i < width * height - 1) and 0 or 1 + dice % 5
  end
  return { width = width, height = height, costs = costs }
end

local function neighbours(grid, cell)
  local width, costs = grid.width, grid.costs
  local x, y = cell % width, math.floor(cell / width)
  local cells = {}
  if x > 0 and costs[cell - 1] > 0 then
    cells[#cells + 1] = cell - 1
  end
  if x < width - 1 and costs[cell + 1] > 0 then
    cells[#cells + 1] = cell + 1
  end
  if y > 0 and costs[cell - width] > 0 then
    cells[#cells + 1] = cell - width
  end
  if y < grid.height - 1 and costs[cell + width] > 0 then
    cells[#cells + 1] = cell + width
  end
  return cells
end

return function(n)
  local grid = make_grid(n, n)
  local distances, from_cell, buckets = {}, {}, { [0] = { 0 } }
  for i = 0, n * n - 1 do
    distances[i], from_cell[i] = -1, -1
  end
  distances[0] = 0
  local visited, at, last = 0, 0, 0
  while at <= last do
    local bucket, next = buckets[at], 1
    while next <= #bucket do
      local cell = bucket[next]
      next = next + 1
      if distances[cell] == at then
        visited = visited + 1
        for _, other in ipairs(neighbours(grid, cell)) do
          local distance = at + grid.costs[other]
          if distances[other] < 0 or distance < distances[other] then
            distances[other] = distance
            from_cell[other] = cell
            while last < distance do
              last = last + 1
              buckets[last] = {}
            end
            local target = buckets[distance]
            target[#target + 1] = other
          end
        end
      end
    end
    at = at + 1
  end
  local path, cell = {}, n * n - 1
  while cell >= 0 do
    path[#path + 1] = cell
    cell = from_cell[cell]
  end
  local sum, reached = 0, 0
  for i = #path, 1, -1 do
    sum = (sum * 31 + path[i]) % 1000003
  end
  for i = 0, n * n - 1 do
    if distances[i] >= 0 then
      reached = reached + 1
    end
  end
  return string.format("grid_paths %d %d %d %d %d", distances[n * n - 1], #path, sum, reached, visited)
end

local GLIDER = { { 0, 1 }, { 1, 2 }, { 2, 0 }, { 2, 1 }, { 2, 2 } }
local ACORN = { { 0, 1 }, { 1, 3 }, { 2, 0 }, { 2, 1 }, { 2, 4 }, { 2, 5 }, { 2, 6 } }

local function make_grid(width, height)
  local grid = {}
  for y = 1, height do
    local row = {}
    for x = 1, width do
      row[x] = false
    end
    grid[y] = row
  end
  return grid
end

local function stamp(grid, cells, top, left)
  for _, cell in ipairs(cells) do
    grid[top + cell[1] + 1][left + cell[2] + 1] = true
  end
end

local function neighbours(grid, y, x)
  local height, width = #grid, #grid[1]
  local count = 0
  for dy = -1, 1 do
    for dx = -1, 1 do
      if not (dy == 0 and dx == 0) then
        if grid[(y - 1 + dy + height) % height + 1][(x - 1 + dx + width) % width + 1] then
          count = count + 1
        end
      end
    end
  end
  return count
end

local function next_generation(grid)
  local result = {}
  for y = 1, #grid do
    local row = {}
    for x = 1, #grid[y] do
      local count = neighbours(grid, y, x)
      row[x] = count == 3 or (grid[y][x] and count == 2)
    end
    result[y] = row
  end
  return result
end

return function(n)
  local grid = make_grid(32, 32)
  stamp(grid, GLIDER, 2, 3)
  stamp(grid, ACORN, 14, 12)
  local last, most = 0, 0
  for _ = 1, n do
    grid = next_generation(grid)
    last = 0
    for _, row in ipairs(grid) do
      for _, alive in ipairs(row) do
        if alive then
          last = last + 1
        end
      end
    end
    most = math.max(most, last)
  end
  local sum = 7
  for y, row in ipairs(grid) do
    for x, alive in ipairs(row) do
      if alive then
        sum = (sum * 31 + (y - 1) * 64 + x - 1) % 1000003
      end
    end
  end
  return string.format("life %d %d %d", last, most, sum)
end

local PUZZLES = {
  "530070000600195000098000060800060003400803001700020006060000280000419005000080079",
  "000260701680070090190004500820100040004602900050003028009300074040050036703018000",
  "200080300060070084030500209000105408000000000402706000301007040720040060004010003",
  "000000907000420180000705026100904000050000040000507009920108000034059000507000000",
}

local function candidates(grid, row, column)
  local used = {}
  local top, left = row - (row - 1) % 3, column - (column - 1) % 3
  for k = 0, 8 do
    used[grid[row][k + 1]] = true
    used[grid[k + 1][column]] = true
    used[grid[top + math.floor(k / 3)][left + k % 3]] = true
  end
  local free = {}
  for value = 1, 9 do
    if not used[value] then
      free[#free + 1] = value
    end
  end
  return free
end

local function fill_singles(grid)
  local changed = true
  while changed do
    changed = false
    for row = 1, 9 do
      for column = 1, 9 do
        if grid[row][column] == 0 then
          local values = candidates(grid, row, column)
          if #values == 0 then
            return nil
          elseif #values == 1 then
            grid[row][column] = values[1]
            changed = true
          end
        end
      end
    end
  end
  return grid
end

local function solve(source)
  local grid = {}
  for row = 1, 9 do
    grid[row] = {}
    for column = 1, 9 do
      grid[row][column] = source[row][column]
    end
  end
  grid = fill_singles(grid)
  if not grid then
    return nil
  end
  local best
  for row = 1, 9 do
    for column = 1, 9 do
      if grid[row][column] == 0 then
        local values = candidates(grid, row, column)
        if not best or #values < #best.values then
          best = { row = row, column = column, values = values }
        end
      end
    end
  end
  if not best then
    return grid
  end
  for _, value in ipairs(best.values) do
    grid[best.row][best.column] = value
    local solved = solve(grid)
    if solved then
      return solved
    end
  end
  return nil
end

return function(n)
  local sum = 0
  for i = 0, n - 1 do
    local text, grid = PUZZLES[i % #PUZZLES + 1], {}
    for row = 1, 9 do
      grid[row] = {}
      for column = 1, 9 do
        local at = (row - 1) * 9 + column
        grid[row][column] = tonumber(text:sub(at, at))
      end
    end
    for _, row in ipairs(solve(grid)) do
      for _, digit in ipairs(row) do
        sum = (sum * 31 + digit) % 1000003
      end
    end
  end
  return string.format("sudoku %d", sum)
end

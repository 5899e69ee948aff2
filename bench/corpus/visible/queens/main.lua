local Board = {}
Board.__index = Board

function Board.new(size, blocked, queens)
  return setmetatable({ size = size, blocked = blocked, queens = queens }, Board)
end

function Board:is_free(row, column)
  if row * self.size + column == self.blocked then
    return false
  end
  for above = 0, row - 1 do
    local other = self.queens[above + 1]
    if other == column or math.abs(other - column) == row - above then
      return false
    end
  end
  return true
end

function Board:place(column)
  local queens = {}
  for i, queen in ipairs(self.queens) do
    queens[i] = queen
  end
  queens[#queens + 1] = column
  return Board.new(self.size, self.blocked, queens)
end

function Board:checksum()
  local sum = 7
  for _, column in ipairs(self.queens) do
    sum = (sum * 31 + column) % 1000003
  end
  return sum
end

local function solve(board, row)
  if row == board.size then
    return { count = 1, sum = board:checksum() }
  end
  local count, sum = 0, 0
  for column = 0, board.size - 1 do
    if board:is_free(row, column) then
      local inner = solve(board:place(column), row + 1)
      count = count + inner.count
      sum = (sum + inner.sum) % 1000003
    end
  end
  return { count = count, sum = sum }
end

local function count_in_place(size)
  local queens, columns, up, down = {}, {}, {}, {}
  local row, found, next = 0, 0, 0
  while row >= 0 do
    if next >= size then
      row = row - 1
      if row >= 0 then
        local column = queens[row]
        columns[column] = false
        up[row + column] = false
        down[row - column + size] = false
        next = column + 1
      end
    elseif not columns[next] and not up[row + next] and not down[row - next + size] then
      if row == size - 1 then
        found = found + 1
        next = next + 1
      else
        queens[row] = next
        columns[next] = true
        up[row + next] = true
        down[row - next + size] = true
        row = row + 1
        next = 0
      end
    else
      next = next + 1
    end
  end
  return found
end

return function(n)
  local size, count, sum = 6, 0, 0
  for round = 0, n - 1 do
    local result = solve(Board.new(size, round * 7 % (size * size), {}), 0)
    count = count + result.count
    sum = (sum * 31 + result.sum) % 1000003
  end
  return string.format("queens %d %d %d", count, sum, count_in_place(size + 1))
end

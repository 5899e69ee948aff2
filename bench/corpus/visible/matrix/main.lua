local function make_matrix(size, seed)
  local rows = {}
  for i = 1, size do
    local row = {}
    for j = 1, size do
      seed = seed * 16807 % 2147483647
      row[j] = seed % 1000 / 1000 / size + (i == j and 0.5 or 0)
    end
    rows[i] = row
  end
  return rows
end

local function identity(size)
  local rows = {}
  for i = 1, size do
    local row = {}
    for j = 1, size do
      row[j] = i == j and 1.0 or 0.0
    end
    rows[i] = row
  end
  return rows
end

local function transpose(matrix)
  local rows = {}
  for i = 1, #matrix do
    local row = {}
    for j = 1, #matrix do
      row[j] = matrix[j][i]
    end
    rows[i] = row
  end
  return rows
end

local function multiply(a, b)
  local size, rows = #a, {}
  for i = 1, size do
    local row = {}
    for j = 1, size do
      local sum = 0
      for k = 1, size do
        sum = sum + a[i][k] * b[k][j]
      end
      row[j] = sum
    end
    rows[i] = row
  end
  return rows
end

local function power(matrix, left)
  local result, base = identity(#matrix), matrix
  while left > 0 do
    if left % 2 == 1 then
      result = multiply(result, base)
    end
    base = multiply(base, base)
    left = math.floor(left / 2)
  end
  return result
end

local function determinant(m)
  local size, result = #m, 1
  for column = 1, size do
    local pivot = column
    for row = column + 1, size do
      if math.abs(m[row][column]) > math.abs(m[pivot][column]) then
        pivot = row
      end
    end
    if m[pivot][column] == 0 then
      return 0
    end
    if pivot ~= column then
      m[pivot], m[column] = m[column], m[pivot]
      result = -result
    end
    result = result * m[column][column]
    for row = column + 1, size do
      local factor = m[row][column] / m[column][column]
      for k = column, size do
        m[row][k] = m[row][k] - factor * m[column][k]
      end
    end
  end
  return result
end

local function trace(m)
  local sum = 0
  for i = 1, #m do
    sum = sum + m[i][i]
  end
  return sum
end

return function(n)
  local a = make_matrix(n, 1)
  local product = multiply(a, transpose(a))
  local first, high = trace(product), trace(power(a, 5))
  return string.format(
    "matrix %d %d %d",
    math.floor(first * 1000),
    math.floor(high * 1000),
    math.floor(determinant(product) * 1000000)
  )
end

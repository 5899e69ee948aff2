local floor = math.floor

local function make_problem(variables, constraints, start)
  local seed = start * 7919
  local function random()
    seed = seed * 16807 % 2147483647
    return seed
  end
  local costs, rows, bounds = {}, {}, {}
  for i = 1, variables do
    costs[i] = 1 + random() % 90 / 10
  end
  for c = 1, constraints do
    local row = {}
    for i = 1, variables do
      row[i] = random() % 3 == 0 and 0 or 1 + seed % 50 / 10
    end
    rows[c] = row
    bounds[c] = 20 + random() % 1000 / 10
  end
  local ones = {}
  for i = 1, variables do
    ones[i] = 1
  end
  rows[constraints + 1] = ones
  bounds[constraints + 1] = 60
  return { costs = costs, rows = rows, bounds = bounds }
end

local function build(problem)
  local t, constraints, variables = {}, #problem.rows, #problem.costs
  for i, source in ipairs(problem.rows) do
    local row = {}
    for j = 1, variables do
      row[j] = source[j]
    end
    for k = 1, constraints do
      row[variables + k] = k == i and 1 or 0
    end
    row[#row + 1] = problem.bounds[i]
    t[i] = row
  end
  local last = {}
  for j = 1, variables do
    last[j] = 0 - problem.costs[j]
  end
  for _ = 1, constraints + 1 do
    last[#last + 1] = 0
  end
  t[#t + 1] = last
  return t
end

local function choose_column(row)
  local best
  for j = 1, #row - 1 do
    if row[j] < -0.000000001 and (not best or row[j] < row[best]) then
      best = j
    end
  end
  return best
end

local function choose_row(t, column)
  local best, least
  for i = 1, #t - 1 do
    local row = t[i]
    if row[column] > 0.000000001 then
      local ratio = row[#row] / row[column]
      if not best or ratio < least then
        best, least = i, ratio
      end
    end
  end
  return best
end

local function pivot(t, row, column)
  local source = t[row]
  local factor = source[column]
  for j = 1, #source do
    source[j] = source[j] / factor
  end
  for i, target in ipairs(t) do
    local share = target[column]
    if i ~= row and share ~= 0 then
      for j = 1, #source do
        target[j] = target[j] - share * source[j]
      end
    end
  end
end

return function(n)
  local sum, steps = 0, 0
  for k = 0, n - 1 do
    local problem = make_problem(6 + k % 5, 8 + k % 7, k + 1)
    local t, basis = build(problem), {}
    for _ = 1, 200 do
      local column = choose_column(t[#t])
      if not column then
        break
      end
      local row = assert(choose_row(t, column))
      pivot(t, row, column)
      basis[row] = column
      steps = steps + 1
    end
    local amounts = {}
    for row, column in pairs(basis) do
      amounts[column] = t[row][#t[row]]
    end
    sum = sum + floor(t[#t][#t[#t]] * 100)
    for i = 1, #problem.costs do
      sum = (sum * 7 + floor((amounts[i] or 0) * 100 + 0.001)) % 1000003
    end
  end
  return string.format("simplex %d %d", steps, sum)
end

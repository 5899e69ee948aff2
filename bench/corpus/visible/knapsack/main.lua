local floor = math.floor

local function make_items(count)
  local seed, items = 11, {}
  for i = 0, count - 1 do
    seed = seed * 16807 % 2147483647
    local weight = seed % 23 + 3
    seed = seed * 16807 % 2147483647
    items[i + 1] = { name = "item" .. i, weight = weight, value = seed % 40 + weight }
  end
  return items
end

local function best_by_table(items, capacity)
  local rows, row = {}, {}
  for w = 0, capacity do
    row[w] = 0
  end
  rows[0] = row
  for i, item in ipairs(items) do
    local previous, next = rows[i - 1], {}
    for w = 0, capacity do
      next[w] = previous[w]
    end
    for w = item.weight, capacity do
      local taken = previous[w - item.weight] + item.value
      if taken > next[w] then
        next[w] = taken
      end
    end
    rows[i] = next
  end
  local packed, left = {}, capacity
  for i = #items, 1, -1 do
    if rows[i][left] ~= rows[i - 1][left] then
      packed[#packed + 1] = items[i].name
      left = left - items[i].weight
    end
  end
  return rows[#items][capacity], packed
end

local function bound(items, at, room)
  local sum = 0
  while at <= #items and items[at].weight <= room do
    room = room - items[at].weight
    sum = sum + items[at].value
    at = at + 1
  end
  return at <= #items and sum + floor(items[at].value * room / items[at].weight) or sum
end

local function visit(items, at, room, value, state)
  state.visited = state.visited + 1
  if value > state.value then
    state.value = value
  end
  if at > #items or value + bound(items, at, room) <= state.value then
    return
  end
  local item = items[at]
  if item.weight <= room then
    visit(items, at + 1, room - item.weight, value + item.value, state)
  end
  visit(items, at + 1, room, value, state)
end

return function(n)
  local items, capacity = make_items(n), n * 8
  local value, packed = best_by_table(items, capacity)
  local sorted = {}
  for i = 1, math.min(n, 24) do
    sorted[i] = { value = items[i].value, weight = items[i].weight, order = i }
  end
  table.sort(sorted, function(a, b)
    local x, y = a.value / a.weight, b.value / b.weight
    return x > y or (x == y and a.order < b.order)
  end)
  local state = { value = 0, visited = 0 }
  visit(sorted, 1, floor(capacity / 3), 0, state)
  return string.format("knapsack %d %d %s %d %d", value, #packed, packed[1], state.value, state.visited)
end

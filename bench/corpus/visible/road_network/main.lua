local function make_roads(towns, each)
  local roads, seed = {}, 3
  for a = 0, towns - 1 do
    for _ = 1, each do
      seed = seed * 16807 % 2147483647
      local b = seed % towns
      seed = seed * 16807 % 2147483647
      if a ~= b then
        roads[#roads + 1] = { a = a, b = b, cost = seed % 100 + 1 }
      end
    end
  end
  return roads
end

local Union = {}
Union.__index = Union

function Union.new(count)
  local self = setmetatable({ parents = {}, ranks = {}, groups = count }, Union)
  for i = 0, count - 1 do
    self.parents[i], self.ranks[i] = i, 0
  end
  return self
end

function Union:find(at)
  while self.parents[at] ~= at do
    at = self.parents[at]
  end
  return at
end

function Union:join(a, b)
  local x, y = self:find(a), self:find(b)
  if x == y then
    return false
  end
  if self.ranks[x] < self.ranks[y] then
    self.parents[x] = y
  else
    self.parents[y] = x
    if self.ranks[x] == self.ranks[y] then
      self.ranks[x] = self.ranks[x] + 1
    end
  end
  self.groups = self.groups - 1
  return true
end

return function(n)
  local union, neighbours, distances = Union.new(n), {}, {}
  for i = 0, n - 1 do
    neighbours[i], distances[i] = {}, -1
  end
  local roads = make_roads(n, 4)
  table.sort(roads, function(p, q)
    if p.cost ~= q.cost then
      return p.cost < q.cost
    elseif p.a ~= q.a then
      return p.a < q.a
    end
    return p.b < q.b
  end)
  local chosen, cost = 0, 0
  for _, road in ipairs(roads) do
    if union:join(road.a, road.b) then
      chosen = chosen + 1
      cost = cost + road.cost
      table.insert(neighbours[road.a], road.b)
      table.insert(neighbours[road.b], road.a)
    end
  end
  local queue, at = { 0 }, 1
  distances[0] = 0
  while at <= #queue do
    local town = queue[at]
    at = at + 1
    for _, other in ipairs(neighbours[town]) do
      if distances[other] < 0 then
        distances[other] = distances[town] + 1
        queue[#queue + 1] = other
      end
    end
  end
  local sum, farthest = 0, 0
  for i = 0, n - 1 do
    sum = (sum * 31 + distances[i]) % 1000003
    farthest = math.max(farthest, distances[i])
  end
  return string.format("road_network %d %d %d %d %d", cost, chosen, union.groups, farthest, sum)
end

local function contains(list, item)
  for _, each in ipairs(list) do
    if each == item then
      return true
    end
  end
  return false
end

local function join(map, a, b)
  if not contains(map[a], b) then
    table.insert(map[a], b)
    table.insert(map[b], a)
  end
end

local function make_map(count, seed)
  local map, names = {}, {}
  for i = 0, count - 1 do
    names[#names + 1] = "r" .. i
    map["r" .. i] = {}
  end
  for i = 0, count - 1 do
    for step = 1, 2 do
      if i + step < count then
        join(map, "r" .. i, "r" .. i + step)
      end
    end
    seed = seed * 16807 % 2147483647
    local other = seed % count
    if math.abs(other - i) > 2 then
      join(map, "r" .. i, string.format("r%d", other))
    end
  end
  table.sort(names)
  return map, names
end

local Solver = {}
Solver.__index = Solver

function Solver:propagate(domains, changed)
  local queue, at = { changed }, 1
  while at <= #queue do
    local name = queue[at]
    at = at + 1
    local color = domains[name][1]
    for _, other in ipairs(self.map[name]) do
      self.checks = self.checks + 1
      if contains(domains[other], color) then
        local left = {}
        for _, each in ipairs(domains[other]) do
          if each ~= color then
            left[#left + 1] = each
          end
        end
        if #left == 0 then
          return false
        end
        domains[other] = left
        if #left == 1 then
          queue[#queue + 1] = other
        end
      end
    end
  end
  return true
end

function Solver:search(domains)
  local best
  for _, name in ipairs(self.names) do
    if #domains[name] > 1 and (not best or #domains[name] < #domains[best]) then
      best = name
    end
  end
  if not best then
    return domains
  end
  for _, color in ipairs(domains[best]) do
    local guess = {}
    for name, domain in pairs(domains) do
      guess[name] = domain
    end
    guess[best] = { color }
    if self:propagate(guess, best) then
      local found = self:search(guess)
      if found then
        return found
      end
    end
  end
  return nil
end

return function(n)
  local checks, sum, failed = 0, 0, 0
  for k = 0, n - 1 do
    local map, names = make_map(24, 11 + k)
    local solver = setmetatable({ map = map, names = names, checks = 0 }, Solver)
    local domains = {}
    for _, name in ipairs(names) do
      domains[name] = k % 2 == 0 and { 0, 1, 2 } or { 0, 1, 2, 3 }
    end
    local found = solver:search(domains)
    checks = checks + solver.checks
    if not found then
      failed = failed + 1
    else
      for _, name in ipairs(names) do
        sum = (sum * 31 + #name + found[name][1]) % 1000003
      end
    end
  end
  return string.format("map_coloring %d %d %d", checks, failed, sum)
end

local Sea = {}
Sea.__index = Sea

local function animal(is_fish, age)
  return { is_fish = is_fish, age = age, energy = is_fish and 0 or 6, moved = false }
end

function Sea:random(limit)
  self.seed = self.seed * 16807 % 2147483647
  return self.seed % limit
end

function Sea.new(width, height)
  local self = setmetatable({ seed = 4711, rows = {}, width = width, height = height }, Sea)
  for y = 0, height - 1 do
    local row = {}
    for x = 0, width - 1 do
      local dice = self:random(20)
      if dice < 6 then
        row[x] = animal(true, dice % 4)
      elseif dice == 6 then
        row[x] = animal(false, dice % 9)
      end
    end
    self.rows[y] = row
  end
  return self
end

function Sea:choose(places)
  if #places == 0 then
    return nil
  end
  return places[self:random(#places) + 1]
end

function Sea:pick(places, test)
  local fit = {}
  for _, place in ipairs(places) do
    if test(self.rows[place[1]][place[2]]) then
      fit[#fit + 1] = place
    end
  end
  return self:choose(fit)
end

function Sea:move(one, y, x)
  local rows, width, height = self.rows, self.width, self.height
  local places = {
    { (y + height - 1) % height, x },
    { (y + 1) % height, x },
    { y, (x + width - 1) % width },
    { y, (x + 1) % width },
  }
  local prey
  if not one.is_fish then
    prey = self:pick(places, function(other)
      return other and other.is_fish
    end)
  end
  local free = prey or self:pick(places, function(other)
    return not other
  end)
  one.age = one.age + 1
  one.energy = one.energy + (prey and 3 or -1)
  one.moved = true
  if not one.is_fish and one.energy <= 0 then
    rows[y][x] = nil
  elseif free then
    rows[y][x] = nil
    if one.age >= (one.is_fish and 4 or 9) then
      rows[y][x] = animal(one.is_fish, 0)
      rows[y][x].moved = true
      one.age = 0
    end
    rows[free[1]][free[2]] = one
  end
end

function Sea:each(visit)
  for y = 0, self.height - 1 do
    for x = 0, self.width - 1 do
      local one = self.rows[y][x]
      if one then
        visit(one, y, x)
      end
    end
  end
end

return function(n)
  local sea = Sea.new(24, 18)
  local sum, most, fish, sharks = 0, 0, 0, 0
  for _ = 1, n do
    sea:each(function(one)
      one.moved = false
    end)
    sea:each(function(one, y, x)
      if not one.moved then
        sea:move(one, y, x)
      end
    end)
    fish, sharks = 0, 0
    sea:each(function(one)
      if one.is_fish then
        fish = fish + 1
      else
        sharks = sharks + 1
      end
    end)
    most = math.max(most, fish)
    sum = (sum * 31 + fish * 5 + sharks) % 1000003
  end
  return string.format("predators %d %d %d %d", fish, sharks, most, sum)
end

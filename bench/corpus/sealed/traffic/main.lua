local Road = {}
Road.__index = Road

function Road.new(lanes, length, count)
  local self = setmetatable({ lanes = lanes, length = length, cells = {}, cars = {}, changes = 0, seed = 12345 }, Road)
  for lane = 0, lanes - 1 do
    local row = {}
    for at = 0, length - 1 do
      row[at] = -1
    end
    self.cells[lane] = row
  end
  for id = 0, count - 1 do
    local lane, at = id % lanes, id * 4 % length
    self.cells[lane][at] = id
    self.cars[#self.cars + 1] = { id = id, lane = lane, at = at, speed = 0, limit = 3 + id % 3 }
  end
  return self
end

function Road:random(limit)
  self.seed = self.seed * 16807 % 2147483647
  return self.seed % limit
end

function Road:gap(lane, at, far)
  for distance = 1, far do
    if self.cells[lane][(at + distance) % self.length] >= 0 then
      return distance - 1
    end
  end
  return far
end

function Road:change_lane(car)
  if self:gap(car.lane, car.at, car.speed + 1) > car.speed then
    return
  end
  for other = car.lane - 1, car.lane + 1, 2 do
    if
      other >= 0
      and other < self.lanes
      and self.cells[other][car.at] < 0
      and self:gap(other, car.at, car.speed + 2) > car.speed
    then
      self.cells[car.lane][car.at] = -1
      self.cells[other][car.at] = car.id
      car.lane = other
      self.changes = self.changes + 1
      return
    end
  end
end

function Road:step()
  local passed = 0
  for _, car in ipairs(self.cars) do
    self:change_lane(car)
  end
  for _, car in ipairs(self.cars) do
    local speed = math.min(car.speed + 1, car.limit)
    speed = math.min(speed, self:gap(car.lane, car.at, speed))
    if speed > 0 and self:random(10) == 0 then
      speed = speed - 1
    end
    local next = (car.at + speed) % self.length
    if next < car.at then
      passed = passed + 1
    end
    self.cells[car.lane][car.at] = -1
    self.cells[car.lane][next] = car.id
    car.at = next
    car.speed = speed
  end
  return passed
end

return function(n)
  local road = Road.new(3, 200, 45)
  local passed, speed, sum = 0, 0, 1
  for _ = 1, n do
    passed = passed + road:step()
  end
  for _, car in ipairs(road.cars) do
    speed = speed + car.speed
    sum = (sum * 31 + car.at * 3 + car.lane) % 1000003
  end
  return string.format("traffic %d %d %d %d", passed, speed, road.changes, sum)
end

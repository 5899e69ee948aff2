local function vector(x, y, z)
  return { x = x, y = y, z = z }
end

local function make_system(count)
  local bodies = { { name = "sun", position = vector(0, 0, 0), velocity = vector(0, 0, 0), mass = 1000 } }
  for i = 1, count do
    local distance = 10 + 5 * i
    local speed = math.sqrt(1000 / distance)
    local side = i % 2 == 0 and 1 or -1
    bodies[#bodies + 1] = {
      name = "planet " .. i,
      position = vector(distance * side, 0, 0.1 * i),
      velocity = vector(0, speed * side, 0),
      mass = 0.5 * i,
    }
  end
  return bodies
end

local function advance(bodies, dt)
  for i = 1, #bodies do
    local a = bodies[i]
    for j = i + 1, #bodies do
      local b = bodies[j]
      local dx = a.position.x - b.position.x
      local dy = a.position.y - b.position.y
      local dz = a.position.z - b.position.z
      local distance2 = dx * dx + dy * dy + dz * dz
      local pull = dt / (distance2 * math.sqrt(distance2))
      local by_other, by_self = b.mass * pull, a.mass * pull
      a.velocity.x = a.velocity.x - dx * by_other
      a.velocity.y = a.velocity.y - dy * by_other
      a.velocity.z = a.velocity.z - dz * by_other
      b.velocity.x = b.velocity.x + dx * by_self
      b.velocity.y = b.velocity.y + dy * by_self
      b.velocity.z = b.velocity.z + dz * by_self
    end
  end
  for _, body in ipairs(bodies) do
    body.position.x = body.position.x + dt * body.velocity.x
    body.position.y = body.position.y + dt * body.velocity.y
    body.position.z = body.position.z + dt * body.velocity.z
  end
end

local function total_energy(bodies)
  local energy = 0
  for i, body in ipairs(bodies) do
    local v = body.velocity
    energy = energy + 0.5 * body.mass * (v.x * v.x + v.y * v.y + v.z * v.z)
    for j = i + 1, #bodies do
      local other = bodies[j]
      local dx = body.position.x - other.position.x
      local dy = body.position.y - other.position.y
      local dz = body.position.z - other.position.z
      energy = energy - body.mass * other.mass / math.sqrt(dx * dx + dy * dy + dz * dz)
    end
  end
  return energy
end

return function(n)
  local bodies = make_system(7)
  local before = total_energy(bodies)
  for _ = 1, n do
    advance(bodies, 0.002)
  end
  local x, mass = 0, 0
  for _, body in ipairs(bodies) do
    x = x + body.position.x * body.mass
    mass = mass + body.mass
  end
  return string.format(
    "planets %d %d %d",
    math.floor(before * 10000),
    math.floor(total_energy(bodies) * 10000),
    math.floor(x / mass * 10000)
  )
end

local SIZE = 100.0

local function make_balls(count)
  local seed = 42
  local function random()
    seed = seed * 16807 % 2147483647
    return seed / 2147483647
  end
  local balls = {}
  for i = 0, count - 1 do
    local x = random() * 90 + 5
    local y = random() * 90 + 5
    local vx = random() * 20 - 10
    local vy = random() * 20 - 10
    balls[#balls + 1] = { x = x, y = y, vx = vx, vy = vy, radius = 1 + i % 3, bounces = 0 }
  end
  return balls
end

local function move(balls, time)
  for _, ball in ipairs(balls) do
    ball.x = ball.x + ball.vx * time
    ball.y = ball.y + ball.vy * time
    local r = ball.radius
    if ball.x < r then
      ball.x = r
      ball.vx = -ball.vx
      ball.bounces = ball.bounces + 1
    elseif ball.x > SIZE - r then
      ball.x = SIZE - r
      ball.vx = -ball.vx
      ball.bounces = ball.bounces + 1
    end
    if ball.y < r then
      ball.y = r
      ball.vy = -ball.vy
      ball.bounces = ball.bounces + 1
    elseif ball.y > SIZE - r then
      ball.y = SIZE - r
      ball.vy = -ball.vy
      ball.bounces = ball.bounces + 1
    end
  end
end

local function collide(balls)
  local hits = 0
  for i = 1, #balls do
    for j = i + 1, #balls do
      local a, b = balls[i], balls[j]
      local dx, dy = b.x - a.x, b.y - a.y
      local reach = a.radius + b.radius
      if dx * dx + dy * dy < reach * reach then
        if dx * (b.vx - a.vx) + dy * (b.vy - a.vy) < 0 then
          a.vx, b.vx = b.vx, a.vx
          a.vy, b.vy = b.vy, a.vy
          hits = hits + 1
        end
      end
    end
  end
  return hits
end

return function(n)
  local balls = make_balls(24)
  local hits = 0
  for _ = 1, n do
    move(balls, 0.05)
    hits = hits + collide(balls)
  end
  local energy = 0
  for _, ball in ipairs(balls) do
    energy = energy + ball.radius * (ball.vx * ball.vx + ball.vy * ball.vy) / 2 + ball.bounces
  end
  return string.format("bounce %d %d", hits, math.floor(energy * 1000))
end

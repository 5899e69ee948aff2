local Channel = {}
Channel.__index = Channel

function Channel.new(capacity)
  return setmetatable({ capacity = capacity, items = {}, first = 1, last = 0, closed = false }, Channel)
end

function Channel:send(item)
  while self.last - self.first + 1 >= self.capacity do
    coroutine.yield()
  end
  self.last = self.last + 1
  self.items[self.last] = item
end

function Channel:receive()
  while self.last < self.first do
    if self.closed then
      return nil
    end
    coroutine.yield()
  end
  local item = self.items[self.first]
  self.items[self.first] = nil
  self.first = self.first + 1
  return item
end

local function produce(out, count)
  local seed = 19
  for id = 0, count - 1 do
    seed = seed * 16807 % 2147483647
    out:send({ id = id, value = seed % 1000, tags = { seed % 3, seed % 5 } })
  end
  out.closed = true
end

local function improve(item)
  local value = item.value
  for _, tag in ipairs(item.tags) do
    value = (value * (tag + 2) + item.id) % 10007
  end
  return { id = item.id, value = value, tags = item.tags }
end

return function(n)
  local raw, done = Channel.new(8), Channel.new(8)
  local moved, received, sum, working = 0, 0, 0, 3
  local tasks = { coroutine.create(function()
    produce(raw, n)
  end) }
  for _ = 1, 3 do
    tasks[#tasks + 1] = coroutine.create(function()
      for item in
        function()
          return raw:receive()
        end
      do
        done:send(improve(item))
        moved = moved + 1
      end
      working = working - 1
      if working == 0 then
        done.closed = true
      end
    end)
  end
  tasks[#tasks + 1] = coroutine.create(function()
    for item in
      function()
        return done:receive()
      end
    do
      received = received + 1
      sum = sum + item.value * (item.id % 7 + 1) % 1009
    end
  end)
  while #tasks > 0 do
    local left = {}
    for _, task in ipairs(tasks) do
      assert(coroutine.resume(task))
      if coroutine.status(task) ~= "dead" then
        left[#left + 1] = task
      end
    end
    tasks = left
  end
  return string.format("channel_stages %d %d %d %d", n, received, moved, sum)
end

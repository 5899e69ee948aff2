local Task = {}
Task.__index = Task

function Task.new(name, kind, priority)
  return setmetatable({ name = name, kind = kind, priority = priority, queue = {}, handled = 0, sum = 0 }, Task)
end

function Task:has_work()
  return #self.queue > 0
end

function Task:receive(packet)
  self.queue[#self.queue + 1] = packet
end

function Task:take()
  return table.remove(self.queue, 1)
end

function Task:account(amount)
  self.handled = self.handled + 1
  self.sum = (self.sum * 31 + amount) % 1000003
end

local Kernel = {}
Kernel.__index = Kernel

function Kernel.new()
  return setmetatable({ tasks = {}, index = {}, switches = 0, dropped = 0 }, Kernel)
end

function Kernel:add(name, kind, priority)
  local task = Task.new(name, kind, priority)
  self.index[name] = task
  self.tasks[#self.tasks + 1] = task
end

function Kernel:send(name, packet)
  local task = self.index[name]
  if task then
    task:receive(packet)
  else
    self.dropped = self.dropped + 1
  end
end

function Kernel:inject(round)
  for k = 0, 3 do
    self:send(k % 2 == 0 and "disk" or "net", { id = round * 4 + k, hops = 0, size = (round * 7 + k * 13) % 97 })
  end
end

function Kernel:choose()
  local best
  for _, task in ipairs(self.tasks) do
    if task:has_work() then
      if
        not best
        or task.priority > best.priority
        or (task.priority == best.priority and #task.queue > #best.queue)
      then
        best = task
      end
    end
  end
  return best
end

function Kernel:handle(kind, packet)
  local moved = { id = packet.id, hops = packet.hops + 1, size = packet.size }
  if kind == "device" then
    self:send("router", moved)
  elseif kind == "handler" then
    self:send(packet.size % 2 == 0 and "parser" or "render", moved)
  elseif kind == "worker" then
    if packet.hops < 5 then
      moved.size = (packet.size * 5 + 3) % 97
      self:send("router", moved)
    else
      self:send("clock", moved)
    end
  elseif kind ~= "idle" then
    self:send("nowhere", moved)
  end
end

function Kernel:run(slices)
  for _ = 1, slices do
    local task = self:choose()
    if not task then
      break
    end
    local packet = task:take()
    task:account(packet.size + packet.hops)
    self.switches = self.switches + 1
    self:handle(task.kind, packet)
  end
end

function Kernel:report()
  local parts = {}
  for i, task in ipairs(self.tasks) do
    parts[i] = task.name .. ":" .. task.handled .. ":" .. task.sum
  end
  return self.switches .. " " .. table.concat(parts, " ") .. " " .. self.dropped
end

return function(n)
  local kernel = Kernel.new()
  kernel:add("clock", "idle", 1)
  kernel:add("disk", "device", 3)
  kernel:add("net", "device", 3)
  kernel:add("parser", "worker", 2)
  kernel:add("render", "worker", 2)
  kernel:add("router", "handler", 4)
  for round = 0, n - 1 do
    kernel:inject(round)
    kernel:run(40)
  end
  return "scheduler " .. kernel:report()
end

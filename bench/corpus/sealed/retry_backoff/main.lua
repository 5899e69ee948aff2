local floor = math.floor

local function answer(service, now)
  local wave = (service.calls * 7 + #service.name * 13 + floor(now / 500)) % 11
  if wave < 3 then
    error({ text = service.name .. " is slow", category = "timeout" })
  elseif wave == 3 then
    error({ text = service.name .. " refuses", category = "rate_limit" })
  elseif wave == 4 then
    error({ text = service.name .. " does not know", category = "not_found" })
  end
  return "answer " .. service.calls .. " of " .. service.name
end

local World = {}
World.__index = World

function World:note(kind, id, ms)
  self.log[#self.log + 1] = { kind = kind, id = id, ms = ms, at = self.now }
end

function World:call_with_retry(service, policy, id)
  local pause, waited, attempt = policy.first, 0, 1
  while true do
    if service.open_until > self.now then
      self:note("refused", id, 0)
      return "open"
    end
    service.calls = service.calls + 1
    local ok, outcome = pcall(answer, service, self.now)
    if ok then
      self:note("answer", id, #outcome)
      service.failures = 0
      return ""
    end
    self:note(outcome.category, id, #outcome.text)
    service.failures = service.failures + 1
    if service.failures >= 6 then
      service.open_until = self.now + 900
      service.failures = 0
    end
    if outcome.category ~= "timeout" and outcome.category ~= "rate_limit" then
      return outcome.category
    elseif attempt == policy.attempts then
      return "attempts"
    end
    local next = math.min(pause + (id * 31 + attempt * 17) % 23, 2000)
    if waited + next > policy.budget then
      return "budget"
    end
    self:note("pause", id, next)
    self.now = self.now + next
    waited = waited + next
    pause = pause * policy.factor
    attempt = attempt + 1
  end
end

return function(n)
  local world = setmetatable({ now = 0, services = {}, log = {} }, World)
  for i, name in ipairs({ "search", "mail", "files", "maps" }) do
    world.services[i] = { name = name, calls = 0, failures = 0, open_until = 0 }
  end
  local policies = {
    { attempts = 5, first = 100, factor = 2, budget = 4000 },
    { attempts = 3, first = 50, factor = 3, budget = 1000 },
    { attempts = 8, first = 10, factor = 2, budget = 600 },
  }
  local ok, reasons, names = 0, {}, {}
  for i = 0, n - 1 do
    local reason = world:call_with_retry(world.services[i % 4 + 1], policies[i % 3 + 1], i)
    world.now = world.now + 37
    if reason == "" then
      ok = ok + 1
    else
      if not reasons[reason] then
        reasons[reason] = 0
        names[#names + 1] = reason
      end
      reasons[reason] = reasons[reason] + 1
    end
  end
  table.sort(names)
  for i, name in ipairs(names) do
    names[i] = name .. ":" .. reasons[name]
  end
  local pauses, total = 0, 0
  for _, entry in ipairs(world.log) do
    if entry.kind == "pause" then
      pauses = pauses + 1
      total = total + entry.ms
    end
  end
  return string.format("retry_backoff %d %s %d %d %d %d", ok, table.concat(names, " "), #world.log, pauses, total, world.now)
end

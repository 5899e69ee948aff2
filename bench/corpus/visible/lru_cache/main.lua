local Cache = {}
Cache.__index = Cache

function Cache.new(capacity)
  return setmetatable({ capacity = capacity, size = 0, index = {}, hits = 0, misses = 0 }, Cache)
end

function Cache:unlink(slot)
  if slot.before then
    slot.before.behind = slot.behind
  else
    self.first = slot.behind
  end
  if slot.behind then
    slot.behind.before = slot.before
  else
    self.last = slot.before
  end
end

function Cache:link_first(slot)
  slot.before = nil
  slot.behind = self.first
  if self.first then
    self.first.before = slot
  end
  self.first = slot
  if not self.last then
    self.last = slot
  end
end

function Cache:touch(slot)
  self.hits = self.hits + 1
  if self.first ~= slot then
    self:unlink(slot)
    self:link_first(slot)
  end
end

function Cache:put(key, value)
  self.misses = self.misses + 1
  local slot
  if self.size < self.capacity then
    slot = { key = key, value = value }
    self.size = self.size + 1
  else
    slot = self.last
    self.index[slot.key] = nil
    self:unlink(slot)
    slot.key = key
    slot.value = value
  end
  self.index[key] = slot
  self:link_first(slot)
end

local function slow_answer(key)
  local h = 17
  for i = 1, #key do
    h = (h * 131 + 1 + (tonumber(key:sub(i, i)) or 7)) % 1000003
  end
  return h
end

return function(n)
  local cache = Cache.new(64)
  local seed, sum = 9, 0
  for _ = 1, n do
    seed = seed * 16807 % 2147483647
    local key = string.format("k%d", (seed % 60) * (seed % 7))
    local slot = cache.index[key]
    if not slot then
      local answer = slow_answer(key)
      cache:put(key, answer)
      sum = sum + answer
    else
      cache:touch(slot)
      sum = sum + slot.value
    end
    sum = sum % 1000003
  end
  local newest, slot = {}, cache.first
  while slot and #newest < 5 do
    newest[#newest + 1] = slot.key
    slot = slot.behind
  end
  return string.format("lru_cache %d %d %d %s", sum, cache.hits, cache.misses, table.concat(newest, ","))
end

local floor = math.floor

local function lower_bound(items, value)
  local low, high = 1, #items + 1
  while low < high do
    local middle = floor((low + high) / 2)
    if items[middle] < value then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

local Sorted = {}
Sorted.__index = Sorted

function Sorted:chunk_for(value)
  local low, high = 1, #self.chunks
  while low < high do
    local middle = floor((low + high) / 2)
    local chunk = self.chunks[middle]
    if chunk[#chunk] < value then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

function Sorted:insert(value)
  local c = self:chunk_for(value)
  local chunk = self.chunks[c]
  table.insert(chunk, lower_bound(chunk, value), value)
  if #chunk > self.limit then
    local half, upper = floor(#chunk / 2), {}
    for i = half + 1, #chunk do
      upper[#upper + 1] = chunk[i]
    end
    for i = #chunk, half + 1, -1 do
      chunk[i] = nil
    end
    table.insert(self.chunks, c + 1, upper)
  end
  self.size = self.size + 1
end

function Sorted:remove(value)
  local c = self:chunk_for(value)
  local chunk = self.chunks[c]
  local at = lower_bound(chunk, value)
  if chunk[at] ~= value then
    return
  end
  table.remove(chunk, at)
  if #chunk == 0 and #self.chunks > 1 then
    table.remove(self.chunks, c)
  end
  self.size = self.size - 1
end

function Sorted:at(index)
  for _, chunk in ipairs(self.chunks) do
    if index < #chunk then
      return chunk[index + 1]
    end
    index = index - #chunk
  end
end

function Sorted:rank(value)
  local before = 0
  for _, chunk in ipairs(self.chunks) do
    if #chunk > 0 and chunk[#chunk] < value then
      before = before + #chunk
    else
      return before + lower_bound(chunk, value) - 1
    end
  end
  return before
end

return function(n)
  local sorted = setmetatable({ chunks = { {} }, limit = 32, size = 0 }, Sorted)
  local seed = 55
  for i = 0, n - 1 do
    seed = seed * 16807 % 2147483647
    sorted:insert(seed % 5000)
    if i % 4 == 3 then
      sorted:remove(sorted:at(seed % sorted.size))
    end
  end
  local ranks, sum = 0, 0
  for value = 0, 50 do
    ranks = (ranks * 3 + sorted:rank(value * 100)) % 1000003
  end
  for _, chunk in ipairs(sorted.chunks) do
    for _, item in ipairs(chunk) do
      if item >= 1000 and item < 1200 then
        sum = sum + item
      end
    end
  end
  return string.format(
    "sorted_chunks %d %d %d %d %d %d",
    sorted.size,
    #sorted.chunks,
    ranks,
    sum,
    sorted:at(0),
    sorted:at(sorted.size - 1)
  )
end

local function copy(list)
  local out = {}
  for i = 1, #list do
    out[i] = list[i]
  end
  return out
end

local function join(first, rest)
  local out = { first }
  for i = 1, #rest do
    out[i + 1] = rest[i]
  end
  return out
end

local function heap_permutations(items)
  local list, counters, out = copy(items), {}, { copy(items) }
  for i = 0, #list - 1 do
    counters[i] = 0
  end
  local i = 0
  while i < #list do
    if counters[i] < i then
      local other = i % 2 == 0 and 0 or counters[i]
      list[other + 1], list[i + 1] = list[i + 1], list[other + 1]
      out[#out + 1] = copy(list)
      counters[i] = counters[i] + 1
      i = 0
    else
      counters[i] = 0
      i = i + 1
    end
  end
  return out
end

local function next_permutation(items)
  local i = #items - 1
  while i >= 1 and items[i] >= items[i + 1] do
    i = i - 1
  end
  if i < 1 then
    return nil
  end
  local j = #items
  while items[j] <= items[i] do
    j = j - 1
  end
  local list = copy(items)
  list[i], list[j] = list[j], list[i]
  local low, high = i + 1, #list
  while low < high do
    list[low], list[high] = list[high], list[low]
    low, high = low + 1, high - 1
  end
  return list
end

local function subsets(items, start)
  if start > #items then
    return { {} }
  end
  local out = subsets(items, start + 1)
  for i = 1, #out do
    out[#out + 1] = join(items[start], out[i])
  end
  return out
end

local function partitions(total, most)
  if total == 0 then
    return { {} }
  end
  local out = {}
  for first = math.min(total, most), 1, -1 do
    for _, rest in ipairs(partitions(total - first, first)) do
      out[#out + 1] = join(first, rest)
    end
  end
  return out
end

local function checksum(lists)
  local sum = 7
  for _, list in ipairs(lists) do
    for _, item in ipairs(list) do
      sum = (sum * 31 + item) % 1000003
    end
  end
  return sum
end

return function(n)
  local sum, count = 0, 0
  for round = 0, n - 1 do
    local all = heap_permutations({ round, 1 + round, 2 + round, 3 + round, 4 + round })
    count = count + #all
    sum = (sum + checksum(all)) % 1000003
    local current = { 0, 1, 2, 3, 4 }
    while current do
      sum = (sum * 3 + current[1] * 10 + current[5]) % 1000003
      current = next_permutation(current)
    end
    local sets, parts = subsets({ 3, 1, 4, 1, 5, round }, 1), partitions(11, 11)
    count = count + #sets + #parts
    sum = (sum + checksum(sets) + checksum(parts)) % 1000003
  end
  return string.format("permutations %d %d", count, sum)
end

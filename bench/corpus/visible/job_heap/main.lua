local function add(heap, item, before)
  local at = #heap + 1
  while at > 1 do
    local parent = math.floor(at / 2)
    if not before(item, heap[parent]) then
      break
    end
    heap[at] = heap[parent]
    at = parent
  end
  heap[at] = item
end

local function take(heap, before)
  local first = heap[1]
  local last = table.remove(heap)
  local count = #heap
  if count == 0 then
    return first
  end
  local at = 1
  while at * 2 <= count do
    local child = at * 2
    if child < count and before(heap[child + 1], heap[child]) then
      child = child + 1
    end
    if not before(heap[child], last) then
      break
    end
    heap[at] = heap[child]
    at = child
  end
  heap[at] = last
  return first
end

local function earlier(a, b)
  return a.time < b.time or (a.time == b.time and a.id < b.id)
end

return function(n)
  local heap = {}
  local seed = 77
  for id = 0, n - 1 do
    seed = seed * 16807 % 2147483647
    add(heap, { time = seed % 1000, id = id, kind = id % 3 == 0 and "repeat" or "once" }, earlier)
  end
  local done, sum, now = 0, 0, 0
  while #heap > 0 do
    local job = take(heap, earlier)
    assert(job.time >= now)
    now = job.time
    done = done + 1
    sum = (sum * 31 + job.id * 7 + job.time) % 1000003
    if job.kind == "repeat" and job.time < 1500 then
      add(heap, { time = job.time + 400, id = job.id, kind = job.kind }, earlier)
    end
  end
  return string.format("job_heap %d %d %d", done, sum, now)
end

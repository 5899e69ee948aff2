local function make_distances(count)
  local seed, cities, rows = 1009, {}, {}
  for i = 1, count do
    seed = seed * 16807 % 2147483647
    local x = seed % 1000 / 10
    seed = seed * 16807 % 2147483647
    cities[i] = { x = x, y = seed % 1000 / 10 }
  end
  for i, a in ipairs(cities) do
    local row = {}
    for j, b in ipairs(cities) do
      local dx, dy = a.x - b.x, a.y - b.y
      row[j] = math.sqrt(dx * dx + dy * dy)
    end
    rows[i] = row
  end
  return rows
end

local function length_of(tour, distances)
  local sum = 0
  for i = 1, #tour do
    sum = sum + distances[tour[i]][tour[i % #tour + 1]]
  end
  return sum
end

local function nearest_tour(distances)
  local visited, tour = { true }, { 1 }
  while #tour < #distances do
    local row, best = distances[tour[#tour]], nil
    for city = 1, #distances do
      if not visited[city] and (not best or row[city] < row[best]) then
        best = city
      end
    end
    visited[best] = true
    tour[#tour + 1] = best
  end
  return tour
end

local function improve(start, distances, rounds)
  local tour, exchanges, count = {}, 0, #start
  for i = 1, count do
    tour[i] = start[i]
  end
  for _ = 1, rounds do
    local better = false
    for i = 1, count - 2 do
      for j = i + 2, count do
        if not (i == 1 and j == count) then
          local a, b, c, d = tour[i], tour[i + 1], tour[j], tour[j % count + 1]
          if distances[a][c] + distances[b][d] < distances[a][b] + distances[c][d] - 0.000001 then
            local low, high = i + 1, j
            while low < high do
              tour[low], tour[high] = tour[high], tour[low]
              low, high = low + 1, high - 1
            end
            exchanges = exchanges + 1
            better = true
          end
        end
      end
    end
    if not better then
      break
    end
  end
  return tour, exchanges
end

return function(n)
  local distances = make_distances(n)
  local first = nearest_tour(distances)
  local tour, exchanges = improve(first, distances, 6)
  local sum = 0
  for _, city in ipairs(tour) do
    sum = (sum * 31 + city - 1) % 1000003
  end
  return string.format(
    "tour %d %d %d %d",
    math.floor(length_of(first, distances) * 100),
    math.floor(length_of(tour, distances) * 100),
    exchanges,
    sum
  )
end

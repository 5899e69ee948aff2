local floor = math.floor

local function sieve(limit)
  local is_prime = {}
  for n = 0, limit do
    is_prime[n] = n > 1
  end
  local p = 2
  while p * p <= limit do
    if is_prime[p] then
      for multiple = p * p, limit, p do
        is_prime[multiple] = false
      end
    end
    p = p + 1
  end
  local primes = {}
  for n = 2, limit do
    if is_prime[n] then
      primes[#primes + 1] = n
    end
  end
  return primes
end

local function segments(primes, low, high, size)
  local found = {}
  for start = low, high - 1, size do
    local is_free = {}
    for i = 0, size - 1 do
      is_free[i] = true
    end
    for _, p in ipairs(primes) do
      if p * p >= start + size then
        break
      end
      for multiple = floor((start + p - 1) / p) * p, start + size - 1, p do
        is_free[multiple - start] = false
      end
    end
    for i = 0, size - 1 do
      if is_free[i] then
        found[#found + 1] = start + i
      end
    end
  end
  return found
end

local function factor_table(limit)
  local t = {}
  for n = 0, limit do
    t[n] = {}
  end
  for n = 2, limit do
    if #t[n] == 0 then
      local power = n
      while power <= limit do
        for multiple = power, limit, power do
          local list = t[multiple]
          list[#list + 1] = n
        end
        power = power * n
      end
    end
  end
  return t
end

return function(n)
  local quarter = floor(n / 4)
  local primes = sieve(n)
  local far = segments(primes, n, n + 2000, 500)
  local sums, perfect = {}, {}
  for k = 0, quarter do
    sums[k] = 1
  end
  for d = 2, floor(quarter / 2) do
    for multiple = d * 2, quarter, d do
      sums[multiple] = sums[multiple] + d
    end
  end
  for k = 2, quarter do
    if sums[k] == k then
      perfect[#perfect + 1] = k
    end
  end
  local longest, factors = {}, factor_table(quarter)
  for k = 0, quarter do
    if #factors[k] > #longest then
      longest = factors[k]
    end
  end
  local twins = 0
  for i = 2, #primes do
    if primes[i] - primes[i - 1] == 2 then
      twins = twins + 1
    end
  end
  return string.format(
    "sieve %d %d %d %d %s %s",
    #primes,
    twins,
    #far,
    far[#far] or 0,
    table.concat(longest, "x"),
    table.concat(perfect, "+")
  )
end

local floor = math.floor

local function power_mod(base, exponent, modulus)
  local result, square = 1, base % modulus
  while exponent > 0 do
    if exponent % 2 == 1 then
      result = result * square % modulus
    end
    square = square * square % modulus
    exponent = floor(exponent / 2)
  end
  return result
end

--- Products below 2 ^ 53 only, for numbers that are doubles: by halves.
local function large_power_mod(base, exponent, modulus)
  local function times(a, b)
    local low = b % 32768
    local high = (b - low) / 32768
    return (a * high % modulus * 32768 + a * low) % modulus
  end
  local result, square = 1, base % modulus
  while exponent > 0 do
    if exponent % 2 == 1 then
      result = times(result, square)
    end
    square = times(square, square)
    exponent = floor(exponent / 2)
  end
  return result
end

local function passes(witness, n, odd, twos)
  local x = power_mod(witness, odd, n)
  if x == 1 or x == n - 1 then
    return true
  end
  for _ = 1, twos - 1 do
    x = x * x % n
    if x == n - 1 then
      return true
    end
  end
  return false
end

local function is_probable_prime(n)
  for _, small in ipairs({ 2, 3, 5, 7 }) do
    if n % small == 0 then
      return n == small
    end
  end
  local odd, twos = n - 1, 0
  while odd % 2 == 0 do
    odd = floor(odd / 2)
    twos = twos + 1
  end
  for _, witness in ipairs({ 2, 3, 5 }) do
    if not passes(witness, n, odd, twos) then
      return false
    end
  end
  return true
end

local function gcd(a, b)
  while b ~= 0 do
    a, b = b, a % b
  end
  return a
end

local function find_factor(n)
  if n % 2 == 0 then
    return 2
  end
  for c = 1, 20 do
    local slow, fast, divisor = 2, 2, 1
    while divisor == 1 do
      slow = (slow * slow + c) % n
      fast = (fast * fast + c) % n
      fast = (fast * fast + c) % n
      divisor = gcd(math.abs(slow - fast), n)
    end
    if divisor ~= n then
      return divisor
    end
  end
  local d = 3
  while n % d ~= 0 do
    d = d + 2
  end
  return d
end

local function factorize(n, out)
  if n == 1 then
    return out
  elseif is_probable_prime(n) then
    out[#out + 1] = n
    return out
  end
  local factor = find_factor(n)
  factorize(factor, out)
  return factorize(floor(n / factor), out)
end

return function(n)
  local primes, factors, sum, seed = 0, 0, 0, 31337
  for i = 0, n - 1 do
    seed = seed * 16807 % 2147483647
    local number = seed % 2000000 + 1001 + i % 2
    if is_probable_prime(number) then
      primes = primes + 1
      local value, count = 2 % number, 1
      while value ~= 1 and count < 400 do
        value = value * 2 % number
        count = count + 1
      end
      sum = (sum * 31 + count) % 1000003
    else
      local found = factorize(number, {})
      table.sort(found)
      factors = factors + #found
      sum = (sum * 31 + found[#found]) % 1000003
    end
  end
  return string.format("prime_tests %d %d %d %d", primes, factors, sum, large_power_mod(3, 1000000, 1000000007))
end

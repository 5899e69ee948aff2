local floor = math.floor

local function exclusive_or(nibbles, a, b)
  local result, place = 0, 1
  while a > 0 or b > 0 do
    result = result + nibbles[a % 16][b % 16] * place
    a, b = floor(a / 16), floor(b / 16)
    place = place * 16
  end
  return result
end

local function make_nibbles()
  local rows = {}
  for a = 0, 15 do
    local row = {}
    for b = 0, 15 do
      local bits, place = 0, 1
      while place < 16 do
        if floor(a / place) % 2 ~= floor(b / place) % 2 then
          bits = bits + place
        end
        place = place * 2
      end
      row[b] = bits
    end
    rows[a] = row
  end
  return rows
end

local function cyclic(bytes, remainders, nibbles)
  local rest = 4294967295
  for _, byte in ipairs(bytes) do
    local low = rest % 256
    local index = nibbles[low % 16][byte % 16] + nibbles[floor(low / 16)][floor(byte / 16)] * 16
    rest = exclusive_or(nibbles, floor(rest / 256), remainders[index])
  end
  return 4294967295 - rest
end

local function check_digit(bytes, first, last)
  local sum = 0
  for i = first, last do
    local digit = bytes[i] % 10
    if (i - first) % 2 == 0 then
      digit = digit * 2
      if digit > 9 then
        digit = digit - 9
      end
    end
    sum = sum + digit
  end
  return (10 - sum % 10) % 10
end

return function(n)
  local bytes, backwards, seed = {}, {}, 271828
  for i = 1, n do
    seed = seed * 16807 % 2147483647
    bytes[i] = seed % 256
    backwards[n + 1 - i] = bytes[i]
  end
  local nibbles, remainders = make_nibbles(), {}
  for k = 0, 255 do
    local rest = k
    for _ = 1, 8 do
      local half = floor(rest / 2)
      rest = rest % 2 == 1 and exclusive_or(nibbles, half, 3988292384) or half
    end
    remainders[k] = rest
  end
  local a, b = 1, 0
  for _, byte in ipairs(bytes) do
    a = (a + byte) % 65521
    b = (b + a) % 65521
  end
  local low, high = 0, 0
  for i = 1, n, 2 do
    low = (low + bytes[i] + (bytes[i + 1] or 0) * 256) % 65535
    high = (high + low) % 65535
  end
  local cards = 0
  for start = 1, floor(n / 20) do
    cards = (cards * 3 + check_digit(bytes, start, math.min(n, start + 14))) % 1000003
  end
  return string.format(
    "checksums %d %d %d %d %d",
    b * 65536 + a,
    high * 65536 + low,
    cyclic(bytes, remainders, nibbles),
    cyclic(backwards, remainders, nibbles),
    cards
  )
end

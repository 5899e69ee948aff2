local BASE = 10000
local floor = math.floor

local function from_int(n)
  local digits = {}
  while n > 0 do
    digits[#digits + 1] = n % BASE
    n = floor(n / BASE)
  end
  return digits
end

local function add(a, b)
  local result, carry = {}, 0
  for i = 1, math.max(#a, #b) do
    local sum = (a[i] or 0) + (b[i] or 0) + carry
    result[i] = sum % BASE
    carry = floor(sum / BASE)
  end
  if carry > 0 then
    result[#result + 1] = carry
  end
  return result
end

local function multiply_small(a, factor)
  local result, carry = {}, 0
  for i = 1, #a do
    local product = a[i] * factor + carry
    result[i] = product % BASE
    carry = floor(product / BASE)
  end
  while carry > 0 do
    result[#result + 1] = carry % BASE
    carry = floor(carry / BASE)
  end
  return result
end

local function multiply(a, b)
  local result = {}
  for i = 1, #a + #b do
    result[i] = 0
  end
  for i = 1, #a do
    local carry = 0
    for j = 1, #b do
      local sum = result[i + j - 1] + a[i] * b[j] + carry
      result[i + j - 1] = sum % BASE
      carry = floor(sum / BASE)
    end
    result[i + #b] = result[i + #b] + carry
  end
  while #result > 0 and result[#result] == 0 do
    result[#result] = nil
  end
  return result
end

local function to_text(a)
  local parts = {}
  for i = #a, 1, -1 do
    parts[#parts + 1] = string.format("%04d", a[i])
  end
  local text = table.concat(parts):gsub("^0+", "")
  return text == "" and "0" or text
end

local function digit_sum(a)
  local sum = 0
  for c in to_text(a):gmatch(".") do
    sum = sum + tonumber(c)
  end
  return sum
end

local function power(base, left)
  local result, square = from_int(1), from_int(base)
  while left > 0 do
    if left % 2 == 1 then
      result = multiply(result, square)
    end
    square = multiply(square, square)
    left = floor(left / 2)
  end
  return result
end

return function(n)
  local f = from_int(1)
  for i = 2, n do
    f = multiply_small(f, i)
  end
  local a, b = from_int(0), from_int(1)
  for _ = 1, n * 4 do
    a, b = b, add(a, b)
  end
  local text = to_text(f)
  return string.format(
    "big_factorial %d %d %d %d %s",
    #text,
    digit_sum(f),
    digit_sum(a),
    digit_sum(power(7, n * 3)),
    text:sub(1, 12)
  )
end

local function a(i, j)
  return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1)
end
local function times(v, n)
  local out = {}
  for i = 0, n - 1 do
    local sum = 0.0
    for j = 0, n - 1 do sum = sum + a(i, j) * v[j + 1] end
    out[#out + 1] = sum
  end
  return out
end
local function times_transposed(v, n)
  local out = {}
  for i = 0, n - 1 do
    local sum = 0.0
    for j = 0, n - 1 do sum = sum + a(j, i) * v[j + 1] end
    out[#out + 1] = sum
  end
  return out
end
return function()
  local n = 60
  local u = {}
  for i = 1, n do u[i] = 1.0 end
  local v = u
  for _ = 1, 10 do
    v = times_transposed(times(u, n), n)
    u = times_transposed(times(v, n), n)
  end
  local uv, vv = 0.0, 0.0
  for i = 1, n do
    uv = uv + u[i] * v[i]
    vv = vv + v[i] * v[i]
  end
  return tostring(math.floor(math.sqrt(uv / vv) * 1000000000.0))
end

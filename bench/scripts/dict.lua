return function()
  local keys = {}
  for i = 0, 4999 do keys[#keys + 1] = "key" .. i end
  local counts, size, k = {}, 0, 0
  for i = 1, 300000 do
    k = (k + 7919) % 5000
    local key = keys[k + 1]
    if not counts[key] then size = size + 1 end
    counts[key] = (counts[key] or 0) + 1
  end
  local sum = 0
  for _, key in ipairs(keys) do sum = sum + counts[key] * #key end
  return size .. " " .. sum
end

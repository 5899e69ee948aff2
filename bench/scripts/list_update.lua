return function()
  local limit, composite, count = 200000, {}, 0
  for i = 0, limit do composite[i] = false end
  for i = 2, limit do
    if not composite[i] then
      count = count + 1
      for k = i * 2, limit, i do composite[k] = true end
    end
  end
  return count
end

return function()
  local last, count = 0, 0
  for x in coroutine.wrap(function() for i = 0, 299999 do coroutine.yield(i * 2) end end) do
    last = x
    count = count + 1
  end
  return count .. " " .. last
end

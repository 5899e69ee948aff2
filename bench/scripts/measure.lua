-- Times the function that the file in arg[1] returns, called with the number in arg[2] where there is one: prints its result, the first time and the median of later ones, in ms.
local work = dofile(arg[1])
local size = tonumber(arg[2] or "")
local function timed()
  local start = os.clock()
  local result = work(size)
  return (os.clock() - start) * 1000, result
end
local cold, result = timed()
local times, total = {}, 0
while #times < 4 or total < 250 do
  local ms = timed()
  times[#times + 1] = ms
  total = total + ms
end
table.sort(times)
print(tostring(result))
print(cold)
print((times[math.floor((#times + 1) / 2)] + times[math.floor(#times / 2) + 1]) / 2)

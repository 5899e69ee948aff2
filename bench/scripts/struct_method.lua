local Counter = {}
Counter.__index = Counter
function Counter:next(at) return (at + self.step) % 1000003 end
return function()
  local counter, at = setmetatable({ step = 7 }, Counter), 0
  for i = 1, 500000 do at = counter:next(at) end
  return at
end

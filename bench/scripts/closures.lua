local function map(xs, f) local out = {} for i = 1, #xs do out[i] = f(xs[i]) end return out end
local function filter(xs, f) local out = {} for i = 1, #xs do if f(xs[i]) then out[#out + 1] = xs[i] end end return out end
local function reduce(xs, acc, f) for i = 1, #xs do acc = f(acc, xs[i]) end return acc end
return function()
  local xs, sum = {}, 0
  for i = 0, 999 do xs[#xs + 1] = i end
  for round = 0, 299 do
    local kept = filter(map(xs, function(x) return x * 3 + round end), function(x) return x % 2 == 0 end)
    sum = (sum + reduce(kept, 0, function(acc, x) return acc + x end)) % 1000003
  end
  return sum
end

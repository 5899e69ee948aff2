local function build(depth)
  if depth == 0 then return {} end
  return {build(depth - 1), build(depth - 1)}
end
local function count(tree)
  local left = tree[1]
  if left == nil then return 1 end
  return 1 + count(left) + count(tree[2])
end
return function()
  local nodes = 0
  for _ = 1, 20 do nodes = nodes + count(build(11)) end
  return tostring(nodes)
end

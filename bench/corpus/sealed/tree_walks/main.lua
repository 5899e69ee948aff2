local function branch(left, key, right)
  return { left = left, key = key, right = right }
end

local function insert(tree, key)
  if not tree then
    return branch(nil, key, nil)
  elseif key < tree.key then
    return branch(insert(tree.left, key), tree.key, tree.right)
  end
  return branch(tree.left, tree.key, insert(tree.right, key))
end

local function in_order(tree)
  return coroutine.wrap(function()
    local stack, current = {}, tree
    while current or #stack > 0 do
      while current do
        stack[#stack + 1] = current
        current = current.left
      end
      local node = table.remove(stack)
      coroutine.yield(node.key)
      current = node.right
    end
  end)
end

local function leaves(tree)
  local function walk(node)
    if not node then
      return
    elseif not node.left and not node.right then
      coroutine.yield(node.key)
    else
      walk(node.left)
      walk(node.right)
    end
  end
  return coroutine.wrap(function()
    walk(tree)
  end)
end

local function by_closure(tree, start, visit)
  if not tree then
    return start
  end
  return by_closure(tree.right, visit(by_closure(tree.left, start, visit), tree.key), visit)
end

local function rotate(tree)
  local right = tree.right
  if not right then
    return tree
  end
  return branch(branch(tree.left, tree.key, right.left), right.key, right.right)
end

local function widths(tree)
  local most, count, row = 0, 0, { tree }
  while #row > 0 do
    local next = {}
    for _, node in ipairs(row) do
      if node.left then
        next[#next + 1] = node.left
      end
      if node.right then
        next[#next + 1] = node.right
      end
    end
    most = math.max(most, #row)
    count = count + 1
    row = next
  end
  return most, count
end

local function same_fringe(a, b)
  local left, right = leaves(a), leaves(b)
  while true do
    local x, y = left(), right()
    if x ~= y then
      return false
    elseif x == nil then
      return true
    end
  end
end

return function(n)
  local tree
  local seed = 29
  for _ = 1, n do
    seed = seed * 16807 % 2147483647
    tree = insert(tree, seed % 10000)
  end
  local function step(total, key)
    return (total * 31 + key) % 1000003
  end
  local sum = 0
  for key in in_order(tree) do
    sum = step(sum, key)
  end
  local turned = rotate(tree)
  local most, count = widths(tree)
  local firsts, taken = 0, 0
  for key in in_order(turned) do
    if key % 3 == 0 then
      firsts = firsts + key
      taken = taken + 1
      if taken == 20 then
        break
      end
    end
  end
  return string.format(
    "tree_walks %d %d %s %s %d %d %d",
    sum,
    by_closure(tree, 0, step),
    tostring(same_fringe(tree, tree)),
    tostring(same_fringe(tree, turned)),
    most,
    count,
    firsts
  )
end

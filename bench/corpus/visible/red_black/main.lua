local function node(is_red, left, key, right)
  return { is_red = is_red, left = left, key = key, right = right }
end

local function red(tree)
  return tree and tree.is_red
end

local function contains(tree, key)
  while tree do
    if key == tree.key then
      return true
    end
    if key < tree.key then
      tree = tree.left
    else
      tree = tree.right
    end
  end
  return false
end

local function split(a, x, b, y, c, z, d)
  return node(true, node(false, a, x, b), y, node(false, c, z, d))
end

local function balance(is_red, left, key, right)
  if not is_red and red(left) then
    local a, x, b = left.left, left.key, left.right
    if red(a) then
      return split(a.left, a.key, a.right, x, b, key, right)
    elseif red(b) then
      return split(a, x, b.left, b.key, b.right, key, right)
    end
  end
  if not is_red and red(right) then
    local c, y, d = right.left, right.key, right.right
    if red(c) then
      return split(left, key, c.left, c.key, c.right, y, d)
    elseif red(d) then
      return split(left, key, c, y, d.left, d.key, d.right)
    end
  end
  return node(is_red, left, key, right)
end

local function add(tree, key)
  if not tree then
    return node(true, nil, key, nil)
  elseif key < tree.key then
    return balance(tree.is_red, add(tree.left, key), tree.key, tree.right)
  elseif key > tree.key then
    return balance(tree.is_red, tree.left, tree.key, add(tree.right, key))
  end
  return tree
end

local function insert(tree, key)
  local top = add(tree, key)
  return node(false, top.left, top.key, top.right)
end

local function keys(tree)
  local out, stack = {}, {}
  local current = tree
  while current or #stack > 0 do
    while current do
      stack[#stack + 1] = current
      current = current.left
    end
    current = table.remove(stack)
    out[#out + 1] = current.key
    current = current.right
  end
  return out
end

local function height(tree)
  return tree and 1 + math.max(height(tree.left), height(tree.right)) or 0
end

return function(n)
  local tree
  local seed = 5
  for _ = 1, n do
    seed = seed * 16807 % 2147483647
    tree = insert(tree, seed % (n * 3))
  end
  local hits = 0
  for key = 0, n * 3 - 1 do
    if contains(tree, key) then
      hits = hits + 1
    end
  end
  local sorted = keys(tree)
  local sum = 0
  for i = 2, #sorted do
    assert(sorted[i - 1] < sorted[i])
    sum = (sum * 31 + sorted[i]) % 1000003
  end
  return string.format("red_black %d %d %d %d", #sorted, hits, height(tree), sum)
end

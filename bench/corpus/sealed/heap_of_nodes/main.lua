local Tree = {}
Tree.__index = Tree

local function height_of(node)
  return node and node.height or 0
end

local function measure(node)
  node.height = 1 + math.max(height_of(node.left), height_of(node.right))
end

local function balance_of(node)
  return height_of(node.left) - height_of(node.right)
end

function Tree:rotate_right(node)
  local top = node.left
  node.left = top.right
  top.right = node
  self.rotations = self.rotations + 1
  measure(node)
  measure(top)
  return top
end

function Tree:rotate_left(node)
  local top = node.right
  node.right = top.left
  top.left = node
  self.rotations = self.rotations + 1
  measure(node)
  measure(top)
  return top
end

function Tree:rebalance(node)
  measure(node)
  local balance = balance_of(node)
  if balance > 1 then
    if balance_of(node.left) < 0 then
      node.left = self:rotate_left(node.left)
    end
    return self:rotate_right(node)
  elseif balance < -1 then
    if balance_of(node.right) > 0 then
      node.right = self:rotate_right(node.right)
    end
    return self:rotate_left(node)
  end
  return node
end

function Tree:add(node, key, value)
  if not node then
    self.size = self.size + 1
    return { key = key, value = value, height = 1 }
  elseif key == node.key then
    node.value = node.value + value
    return node
  elseif key < node.key then
    node.left = self:add(node.left, key, value)
  else
    node.right = self:add(node.right, key, value)
  end
  return self:rebalance(node)
end

function Tree:find(key)
  local node = self.root
  while node and node.key ~= key do
    if key < node.key then
      node = node.left
    else
      node = node.right
    end
  end
  return node and node.value
end

return function(n)
  local tree = setmetatable({ size = 0, rotations = 0 }, Tree)
  local seed = 321
  for _ = 1, n do
    seed = seed * 16807 % 2147483647
    tree.root = tree:add(tree.root, seed % 2000, seed % 97)
  end
  local found, sum = 0, 0
  for key = 0, 1999 do
    local value = tree:find(key)
    if value then
      found = found + 1
      sum = (sum * 31 + key + value) % 1000003
    end
  end
  return string.format("heap_of_nodes %d %d %d %d %d", tree.size, found, sum, height_of(tree.root), tree.rotations)
end

local function tokenize(text)
  local tokens, at = {}, 1
  while at <= #text do
    local c = text:sub(at, at)
    if c == " " then
      at = at + 1
    elseif c:match("%d") then
      local number = 0
      while at <= #text and text:sub(at, at):match("%d") do
        number = number * 10 + tonumber(text:sub(at, at))
        at = at + 1
      end
      tokens[#tokens + 1] = { kind = "number", text = tostring(number), value = number }
    elseif c:match("[%l_]") then
      local start = at
      while at <= #text and text:sub(at, at):match("[%l_]") do
        at = at + 1
      end
      tokens[#tokens + 1] = { kind = "name", text = text:sub(start, at - 1) }
    else
      tokens[#tokens + 1] = { kind = "symbol", text = c }
      at = at + 1
    end
  end
  tokens[#tokens + 1] = { kind = "end", text = "" }
  return tokens
end

local POWER = { ["+"] = 10, ["-"] = 10, ["*"] = 20, ["/"] = 20 }

local Parser = {}
Parser.__index = Parser

function Parser:binary(least)
  local left = self:prefix()
  while true do
    local operator = self.tokens[self.at].text
    local power = POWER[operator] or 0
    if power <= least then
      return left
    end
    self.at = self.at + 1
    left = { kind = "binary", operator = operator, left = left, right = self:binary(power) }
  end
end

function Parser:prefix()
  local token = self.tokens[self.at]
  self.at = self.at + 1
  if token.kind == "number" then
    return { kind = "number", value = token.value }
  elseif token.kind == "name" then
    return { kind = "name", name = token.text }
  elseif token.text == "-" then
    return { kind = "negate", operand = self:binary(30) }
  elseif token.text == "(" then
    local inner = self:binary(0)
    assert(self.tokens[self.at].text == ")", "expected )")
    self.at = self.at + 1
    return inner
  end
  error("unexpected " .. token.text)
end

local function apply(operator, a, b)
  if operator == "+" then
    return a + b
  elseif operator == "-" then
    return a - b
  elseif operator == "*" then
    return a * b
  end
  local q = a / b
  return q < 0 and math.ceil(q) or math.floor(q)
end

local function evaluate(node, names)
  local kind = node.kind
  if kind == "number" then
    return node.value
  elseif kind == "name" then
    return names[node.name]
  elseif kind == "negate" then
    return 0 - evaluate(node.operand, names)
  end
  return apply(node.operator, evaluate(node.left, names), evaluate(node.right, names))
end

local function simplify(node)
  if node.kind == "negate" then
    local inner = simplify(node.operand)
    if inner.kind == "number" then
      return { kind = "number", value = 0 - inner.value }
    end
    return { kind = "negate", operand = inner }
  elseif node.kind ~= "binary" then
    return node
  end
  local operator = node.operator
  local a, b = simplify(node.left), simplify(node.right)
  local x = a.kind == "number" and a.value or nil
  local y = b.kind == "number" and b.value or nil
  if x and y then
    return { kind = "number", value = apply(operator, x, y) }
  elseif operator == "*" and (x == 0 or y == 0) then
    return { kind = "number", value = 0 }
  elseif (operator == "*" and x == 1) or (operator == "+" and x == 0) then
    return b
  elseif (operator == "*" and y == 1) or (operator == "+" and y == 0) then
    return a
  end
  return { kind = "binary", operator = operator, left = a, right = b }
end

local function count_nodes(node)
  if node.kind == "negate" then
    return 1 + count_nodes(node.operand)
  end
  return node.kind == "binary" and 1 + count_nodes(node.left) + count_nodes(node.right) or 1
end

return function(n)
  local total, nodes, before = 0, 0, 0
  for i = 1, n do
    local text = string.format(
      "(%d + x * %d) * (y - %d) + 0 * x + %d / (2 + %d) - -3 * (1 * y)",
      i,
      i % 9 + 1,
      i,
      i * 17,
      i % 5
    )
    local tree = setmetatable({ tokens = tokenize(text), at = 1 }, Parser):binary(0)
    local small = simplify(tree)
    before = before + count_nodes(tree)
    nodes = nodes + count_nodes(small)
    for x = 0, 5 do
      local names = { x = x, y = i - x }
      total = math.fmod(total * 31 + evaluate(small, names), 1000003)
      assert(evaluate(tree, names) == evaluate(small, names))
    end
  end
  return string.format("calculator %d %d %d", total, before, nodes)
end

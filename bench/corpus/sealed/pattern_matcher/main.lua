local PATTERNS = { "a*b+c?", "(ab|cd)*e", "x.y|.*z", "h(ello)+ w?orld", "(a|b|ab)*c", "[a-f]+[0-9]*g" }
local TEXTS =
  { "aaabbc", "abcdabe", "x-y", "hellohello world", "ababababc", "ffed09g", "hello orld", "aaab", "abab", "qz" }

local Parser = {}
Parser.__index = Parser

function Parser:peek(ahead)
  local at = self.at + (ahead or 0)
  return self.text:sub(at, at)
end

function Parser:choice()
  local left = self:sequence()
  if self:peek() ~= "|" then
    return left
  end
  self.at = self.at + 1
  return { kind = "choice", left = left, right = self:choice() }
end

function Parser:sequence()
  local items = {}
  while self.at <= #self.text and self:peek() ~= "|" and self:peek() ~= ")" do
    local node = self:atom()
    local mark = self:peek()
    if mark == "*" or mark == "+" or mark == "?" then
      node = { kind = "many", item = node, least = mark == "+" and 1 or 0, most = mark == "?" and 1 or 1000000 }
      self.at = self.at + 1
    end
    items[#items + 1] = node
  end
  return #items == 1 and items[1] or { kind = "sequence", items = items }
end

function Parser:atom()
  local c = self:peek()
  self.at = self.at + 1
  if c == "(" then
    local inner = self:choice()
    self.at = self.at + 1
    return inner
  elseif c == "[" then
    local ranges = {}
    while self:peek() ~= "]" do
      ranges[#ranges + 1] = { self:peek(), self:peek(2) }
      self.at = self.at + 3
    end
    self.at = self.at + 1
    return { kind = "span", ranges = ranges }
  end
  return c == "." and { kind = "any" } or { kind = "character", c = c }
end

local walk, walk_items, walk_many

function walk(node, text, at, next)
  local kind = node.kind
  if kind == "character" then
    return at <= #text and text:sub(at, at) == node.c and next(at + 1)
  elseif kind == "any" then
    return at <= #text and next(at + 1)
  elseif kind == "span" then
    local c = text:sub(at, at)
    for _, range in ipairs(node.ranges) do
      if c ~= "" and c >= range[1] and c <= range[2] then
        return next(at + 1)
      end
    end
    return false
  elseif kind == "sequence" then
    return walk_items(node.items, 1, text, at, next)
  elseif kind == "choice" then
    return walk(node.left, text, at, next) or walk(node.right, text, at, next)
  end
  return walk_many(node, 0, text, at, next)
end

function walk_items(items, index, text, at, next)
  if index > #items then
    return next(at)
  end
  return walk(items[index], text, at, function(stop)
    return walk_items(items, index + 1, text, stop, next)
  end)
end

function walk_many(node, count, text, at, next)
  if
    count < node.most
    and walk(node.item, text, at, function(stop)
      return stop > at and walk_many(node, count + 1, text, stop, next)
    end)
  then
    return true
  end
  return count >= node.least and next(at)
end

return function(n)
  local hits, sum = 0, 0
  local nodes = {}
  for i, pattern in ipairs(PATTERNS) do
    nodes[i] = setmetatable({ text = pattern, at = 1 }, Parser):choice()
  end
  for round = 0, n - 1 do
    for p, node in ipairs(nodes) do
      for t, text in ipairs(TEXTS) do
        local subject = round % 3 == 0 and text or text .. "c"
        if
          walk(node, subject, 1, function(stop)
            return stop == #subject + 1
          end)
        then
          hits = hits + 1
          sum = (sum * 31 + (p - 1) * 100 + t - 1) % 1000003
        end
      end
    end
  end
  return string.format("pattern_matcher %d %d", hits, sum)
end

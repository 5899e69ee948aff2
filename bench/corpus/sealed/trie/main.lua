local PARTS = { "re", "co", "in", "de", "un", "form", "port", "act", "ter", "ing", "ed", "er" }

local function new_node()
  return { count = 0, children = {} }
end

local function insert(node, word)
  for c in word:gmatch(".") do
    local child = node.children[c]
    if not child then
      child = new_node()
      node.children[c] = child
    end
    node = child
  end
  node.count = node.count + 1
end

local function remove(node, word, at)
  if at > #word then
    node.count = 0
    return
  end
  local c = word:sub(at, at)
  local child = node.children[c]
  if child then
    remove(child, word, at + 1)
    if child.count == 0 and next(child.children) == nil then
      node.children[c] = nil
    end
  end
end

local function count_words(node)
  local count = node.count > 0 and 1 or 0
  for _, child in pairs(node.children) do
    count = count + count_words(child)
  end
  return count
end

local function collect(node, prefix, out)
  if node.count > 0 then
    out[#out + 1] = prefix
  end
  local keys = {}
  for c in pairs(node.children) do
    keys[#keys + 1] = c
  end
  table.sort(keys)
  for _, c in ipairs(keys) do
    collect(node.children[c], prefix .. c, out)
  end
  return out
end

local function complete(node, prefix)
  for c in prefix:gmatch(".") do
    node = node.children[c]
    if not node then
      return {}
    end
  end
  return collect(node, prefix, {})
end

local function match_wild(node, pattern, at)
  if at > #pattern then
    return node.count > 0 and 1 or 0
  end
  local c = pattern:sub(at, at)
  if c ~= "?" then
    local child = node.children[c]
    return child and match_wild(child, pattern, at + 1) or 0
  end
  local found = 0
  for _, child in pairs(node.children) do
    found = found + match_wild(child, pattern, at + 1)
  end
  return found
end

return function(n)
  local words, seed = {}, 2024
  for i = 1, n do
    local word = ""
    for _ = 1, 3 do
      seed = seed * 16807 % 2147483647
      word = word .. PARTS[seed % #PARTS + 1]
    end
    words[i] = word
  end
  local trie = new_node()
  for _, word in ipairs(words) do
    insert(trie, word)
  end
  local size, lengths = count_words(trie), 0
  for _, part in ipairs(PARTS) do
    for _, word in ipairs(complete(trie, part)) do
      lengths = lengths + #word
    end
  end
  local wild = match_wild(trie, "re?o????", 1) + match_wild(trie, "??????er", 1)
  for i = 1, math.floor(n / 2) do
    remove(trie, words[i], 1)
  end
  local first = complete(trie, "in")
  local shown = { first[1], first[2] }
  return string.format("trie %d %d %d %d %s", size, lengths, wild, count_words(trie), table.concat(shown, ","))
end

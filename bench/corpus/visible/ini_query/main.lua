local function typed(text)
  if text == "yes" or text == "no" then
    return text == "yes"
  elseif text:sub(1, 1) == '"' then
    return text:sub(2, -2)
  end
  return tonumber(text) or text
end

local function trim(text)
  return (text:gsub("^%s+", ""):gsub("%s+$", ""))
end

local function read_settings(text)
  local sections, order, current = {}, {}, "global"
  for line in (text .. "\n"):gmatch("(.-)\n") do
    local bare = trim(line)
    if bare == "" or bare:sub(1, 1) == ";" then
      -- Nothing to read.
    elseif bare:sub(1, 1) == "[" and bare:sub(-1) == "]" then
      current = bare:sub(2, -2)
      if not sections[current] then
        sections[current] = {}
        order[#order + 1] = current
      end
    else
      local at = assert(bare:find("=", 1, true))
      sections[current][trim(bare:sub(1, at - 1))] = typed(trim(bare:sub(at + 1)))
    end
  end
  return sections, order
end

local function make_test(words)
  local field, operator, wanted = words[3], words[4], words[5]
  if not operator then
    return function(section)
      return section[field] == true
    end
  elseif operator == "contains" then
    return function(section)
      return tostring(section[field] or ""):find(wanted, 1, true) ~= nil
    end
  elseif operator == "<" then
    return function(section)
      return (section[field] or 0) < tonumber(wanted)
    end
  end
  return function(section)
    return (section[field] or 0) > tonumber(wanted)
  end
end

return function(n)
  local lines = { "; a comment", "[global]", "level = 3", 'name = "main host"' }
  for i = 0, n - 1 do
    lines[#lines + 1] = ""
    lines[#lines + 1] = "[server." .. i .. "]"
    lines[#lines + 1] = "port = " .. 8000 + i
    lines[#lines + 1] = "host = h" .. i % 10 .. ".example"
    lines[#lines + 1] = "weight = " .. i % 4
    lines[#lines + 1] = "active = " .. (i % 3 == 0 and "yes" or "no")
  end
  local sections, order = read_settings(table.concat(lines, "\n"))
  local queries =
    { "port where active", "weight where host contains h3", "port where weight > 1", "weight where port < 8020" }
  local results = {}
  for i, query in ipairs(queries) do
    local words = {}
    for word in query:gmatch("%S+") do
      words[#words + 1] = word
    end
    local test, count, sum = make_test(words), 0, 0
    for _, name in ipairs(order) do
      local section = sections[name]
      if section[words[1]] ~= nil and test(section) then
        count = count + 1
        sum = sum + section[words[1]]
      end
    end
    results[i] = count .. "/" .. sum
  end
  return string.format("ini_query %d %s", #order, table.concat(results, " "))
end

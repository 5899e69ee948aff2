local STEMS = { "the", "agent", "tool", "a", "call", "report", "of", "file", "and", "error", "to", "server" }
local ENDINGS = { "", "s", "", "ing", "", "ed", "" }
local MARKS = { "", "", "", ",", "", ".", "", "!", "" }

local function make_text(count)
  local seed, lines, line = 31, {}, {}
  for _ = 1, count do
    seed = seed * 16807 % 2147483647
    local stem = STEMS[(seed % 1000) * (seed % 7) % #STEMS + 1]
    local word = stem .. ENDINGS[seed % 7 + 1] .. MARKS[seed % 9 + 1]
    line[#line + 1] = seed % 5 == 0 and word:upper() or word
    if #line == 12 then
      lines[#lines + 1] = table.concat(line, " ")
      line = {}
    end
  end
  lines[#lines + 1] = table.concat(line, " ")
  return table.concat(lines, "\n")
end

local function words_of(text)
  local words = {}
  for raw in text:gmatch("%S+") do
    local word = raw:lower():gsub("[.,!]+$", "")
    if word ~= "" then
      words[#words + 1] = word
    end
  end
  return words
end

local function count_words(text)
  local counts = {}
  for _, word in ipairs(words_of(text)) do
    counts[word] = (counts[word] or 0) + 1
  end
  return counts
end

local function count_pairs(text)
  local counts, before = {}, nil
  for _, word in ipairs(words_of(text)) do
    if before then
      local key = before .. "-" .. word
      counts[key] = (counts[key] or 0) + 1
    end
    before = word
  end
  return counts
end

local function top(counts, limit)
  local rows = {}
  for key, count in pairs(counts) do
    rows[#rows + 1] = { key = key, count = count }
  end
  table.sort(rows, function(a, b)
    return a.count > b.count or (a.count == b.count and a.key < b.key)
  end)
  local parts = {}
  for i = 1, math.min(limit, #rows) do
    parts[i] = rows[i].key .. "=" .. rows[i].count
  end
  return table.concat(parts, " "), #rows
end

return function(n)
  local text = make_text(n)
  local words, pair_counts = count_words(text), count_pairs(text)
  local long = 0
  for word in pairs(words) do
    if #word > 6 then
      long = long + 1
    end
  end
  local top_words, size = top(words, 4)
  local top_pairs, pair_size = top(pair_counts, 2)
  return string.format("word_count %d %d %d %s %s", size, pair_size, long, top_words, top_pairs)
end

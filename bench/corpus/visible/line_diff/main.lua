local function make_lines(count, skip)
  local seed, lines = 13, {}
  for i = 0, count - 1 do
    seed = seed * 16807 % 2147483647
    if seed % skip == 0 then
      lines[#lines + 1] = string.format("changed %d", seed % 9)
    elseif seed % (skip + 1) ~= 0 then
      lines[#lines + 1] = string.format("line %d of %d", i % 40, seed % 3)
    end
  end
  return lines
end

local function lengths(before, after)
  local t = {}
  for i = 1, #before + 1 do
    local row = {}
    for j = 1, #after + 1 do
      row[j] = 0
    end
    t[i] = row
  end
  for i = #before, 1, -1 do
    for j = #after, 1, -1 do
      if before[i] == after[j] then
        t[i][j] = t[i + 1][j + 1] + 1
      else
        t[i][j] = math.max(t[i + 1][j], t[i][j + 1])
      end
    end
  end
  return t
end

local function diff_lines(before, after)
  local t = lengths(before, after)
  local steps, i, j = {}, 1, 1
  local function step(kind, line)
    steps[#steps + 1] = { kind = kind, line = line }
  end
  while i <= #before and j <= #after do
    if before[i] == after[j] then
      step("=", before[i])
      i, j = i + 1, j + 1
    elseif t[i + 1][j] >= t[i][j + 1] then
      step("-", before[i])
      i = i + 1
    else
      step("+", after[j])
      j = j + 1
    end
  end
  for k = i, #before do
    step("-", before[k])
  end
  for k = j, #after do
    step("+", after[k])
  end
  return steps
end

local function render_hunks(steps, context)
  local shown = {}
  for i, step in ipairs(steps) do
    if step.kind ~= "=" then
      for k = math.max(1, i - context), math.min(#steps, i + context) do
        shown[k] = true
      end
    end
  end
  local out, old_line, new_line, was_shown = {}, 1, 1, false
  for i, step in ipairs(steps) do
    if shown[i] then
      if not was_shown then
        out[#out + 1] = "@@ -" .. old_line .. " +" .. new_line .. " @@"
      end
      out[#out + 1] = (step.kind == "=" and " " or step.kind) .. step.line
    end
    was_shown = shown[i]
    if step.kind ~= "+" then
      old_line = old_line + 1
    end
    if step.kind ~= "-" then
      new_line = new_line + 1
    end
  end
  return out
end

return function(n)
  local before, after = make_lines(n, 11), make_lines(n, 7)
  local steps = diff_lines(before, after)
  local lines = render_hunks(steps, 2)
  local kept, added = 0, 0
  for _, step in ipairs(steps) do
    kept = kept + (step.kind == "=" and 1 or 0)
    added = added + (step.kind == "+" and 1 or 0)
  end
  return string.format("line_diff %d %d %d %d %d %d", #before, #after, kept, added, #table.concat(lines, "\n"), #lines)
end

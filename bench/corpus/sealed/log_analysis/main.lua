local floor = math.floor

local function make_log(count)
  local lines, seed, time = {}, 17, 0
  local levels, services = { "INFO", "INFO", "WARN", "INFO", "ERROR" }, { "api", "db", "mail" }
  for i = 0, count - 1 do
    seed = seed * 16807 % 2147483647
    time = time + seed % 7
    if i % 41 == 40 then
      lines[#lines + 1] = "-- rotated --"
    else
      lines[#lines + 1] = string.format(
        "%02d:%02d %s [%s] took %dms id=%d user=u%d",
        floor(time / 60),
        time % 60,
        levels[seed % 5 + 1],
        services[seed % 3 + 1],
        seed % 900,
        i,
        seed % 13
      )
    end
  end
  return table.concat(lines, "\n")
end

local function parse_line(line)
  local words = {}
  for word in line:gmatch("%S+") do
    words[#words + 1] = word
  end
  if #words < 5 or words[3]:sub(1, 1) ~= "[" then
    return nil
  end
  local fields = {}
  for i = 6, #words do
    local key, value = words[i]:match("^(.-)=(.*)$")
    if key then
      fields[key] = value
    end
  end
  local minute, second = words[1]:match("(%d+):(%d+)")
  return {
    minute = tonumber(minute),
    second = tonumber(second),
    level = words[2],
    service = words[3]:sub(2, -2),
    took = tonumber((words[5]:gsub("ms", ""))),
    fields = fields,
  }
end

local function summarize(records)
  local rows, keys, out = {}, {}, {}
  for _, record in ipairs(records) do
    local key = string.format("%s %04d", record.service, record.minute)
    local row = rows[key]
    if not row then
      row = { service = record.service, minute = record.minute, count = 0, errors = 0, total = 0, worst = 0 }
      rows[key] = row
      keys[#keys + 1] = key
    end
    row.count = row.count + 1
    row.total = row.total + record.took
    row.worst = math.max(row.worst, record.took)
    if record.level == "ERROR" then
      row.errors = row.errors + 1
    end
  end
  table.sort(keys)
  for i, key in ipairs(keys) do
    out[i] = rows[key]
  end
  return out
end

local function alerts(rows)
  local found, before = {}, nil
  for _, row in ipairs(rows) do
    if row.errors * 3 > row.count then
      found[#found + 1] = string.format("%s@%d: %d of %d", row.service, row.minute, row.errors, row.count)
    end
    if before and before.service == row.service and row.total > before.total * 2 then
      found[#found + 1] = string.format("%s@%d: %d to %d", row.service, row.minute, before.total, row.total)
    end
    before = row
  end
  return found
end

return function(n)
  local records, broken, times, users, distinct = {}, 0, {}, {}, 0
  for line in (make_log(n) .. "\n"):gmatch("(.-)\n") do
    local record = parse_line(line)
    if not record then
      broken = broken + 1
    else
      records[#records + 1] = record
      times[#times + 1] = record.took
      if not users[record.fields.user] then
        users[record.fields.user] = true
        distinct = distinct + 1
      end
    end
  end
  local rows = summarize(records)
  local found = alerts(rows)
  table.sort(times)
  local slow = times[floor(#times * 95 / 100) + 1]
  return string.format("log_analysis %d %d %d %d %d %d %s", #records, broken, #rows, #found, slow, distinct, found[#found])
end

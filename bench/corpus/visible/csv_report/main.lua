local function make_csv(count)
  local lines, seed = { 'id,region,"product, name",amount,price' }, 101
  local regions = { "north", "south", "east", "west" }
  for i = 0, count - 1 do
    seed = seed * 16807 % 2147483647
    local product = seed % 3 == 0 and string.format('"nut, hex ""M%d"""', seed % 5) or string.format("bolt %d", seed % 8)
    lines[#lines + 1] =
      string.format("%d,%s,%s,%d,%d.%d", i, regions[seed % 4 + 1], product, seed % 50, seed % 90, seed % 10)
  end
  return table.concat(lines, "\n") .. "\n"
end

local function parse_csv(text)
  local rows, row, cell, quoted, at = {}, {}, "", false, 1
  while at <= #text do
    local c = text:sub(at, at)
    if quoted then
      if c ~= '"' then
        cell = cell .. c
      elseif text:sub(at + 1, at + 1) == '"' then
        cell = cell .. '"'
        at = at + 1
      else
        quoted = false
      end
    elseif c == '"' then
      quoted = true
    elseif c == "," then
      row[#row + 1] = cell
      cell = ""
    elseif c == "\n" then
      row[#row + 1] = cell
      rows[#rows + 1] = row
      row, cell = {}, ""
    else
      cell = cell .. c
    end
    at = at + 1
  end
  return rows
end

local function summarize(records)
  local groups, names = {}, {}
  for _, record in ipairs(records) do
    local group = groups[record.region]
    if not group then
      group = {}
      groups[record.region] = group
      names[#names + 1] = record.region
    end
    group[#group + 1] = record
  end
  table.sort(names)
  local rows = {}
  for i, region in ipairs(names) do
    local amount, revenue, best = 0, 0, nil
    for _, record in ipairs(groups[region]) do
      local count = tonumber(record.amount)
      local worth = count * math.floor(tonumber(record.price) * 10 + 0.5)
      amount = amount + count
      revenue = revenue + worth
      if not best or worth > best.worth then
        best = { worth = worth, id = record.id }
      end
    end
    rows[i] = { region = region, rows = #groups[region], amount = amount, revenue = revenue, best = best.id }
  end
  table.sort(rows, function(a, b)
    return a.revenue > b.revenue
  end)
  return rows
end

return function(n)
  local parsed = parse_csv(make_csv(n))
  local names, records, products, distinct = parsed[1], {}, {}, 0
  for i = 2, #parsed do
    local record = {}
    for k, name in ipairs(names) do
      record[name] = parsed[i][k]
    end
    records[#records + 1] = record
    if not products[record["product, name"]] then
      products[record["product, name"]] = true
      distinct = distinct + 1
    end
  end
  local rows = summarize(records)
  local out = { string.format("%-8s%6s%8s%12s", "region", "rows", "amount", "revenue") }
  for _, row in ipairs(rows) do
    out[#out + 1] = string.format("%-8s%6d%8d%12d", row.region, row.rows, row.amount, row.revenue)
  end
  local text = table.concat(out, "\n")
  return string.format(
    "csv_report %d %d %d %s %d %s",
    #records,
    #text,
    distinct,
    rows[1].region,
    rows[1].revenue,
    rows[2].best
  )
end

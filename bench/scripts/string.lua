return function()
  local pieces = {}
  for i = 0, 99999 do pieces[#pieces + 1] = "item " .. i .. ", " end
  local text = table.concat(pieces)
  local parts, from = {}, 1
  while true do
    local at, to = text:find(", ", from, true)
    if not at then break end
    parts[#parts + 1] = text:sub(from, at - 1)
    from = to + 1
  end
  parts[#parts + 1] = text:sub(from)
  local length = 0
  for _, part in ipairs(parts) do length = length + #part end
  return #text .. " " .. #parts .. " " .. length .. " " .. #table.concat(parts, ";")
end

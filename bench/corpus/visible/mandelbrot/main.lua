local SHADES = " .,:;-=+*%@&"

local function escape_time(cr, ci, limit)
  local zr, zi = 0.0, 0.0
  for n = 0, limit - 1 do
    local zr2, zi2 = zr * zr, zi * zi
    if zr2 + zi2 > 4 then
      return n
    end
    zi = 2 * zr * zi + ci
    zr = zr2 - zi2 + cr
  end
  return limit
end

local function render(view, columns, rows, palette)
  local lines = {}
  for row = 0, rows - 1 do
    local line, ci = "", view.top + view.height * row / rows
    for column = 0, columns - 1 do
      line = line .. palette[escape_time(view.left + view.width * column / columns, ci, 60)]
    end
    lines[row + 1] = line
  end
  return lines
end

local function index_of(palette, c)
  for i = 0, 60 do
    if palette[i] == c then
      return i
    end
  end
end

local function checksum(lines, palette)
  local sum = 1
  for _, line in ipairs(lines) do
    for c in line:gmatch(".") do
      sum = (sum * 37 + index_of(palette, c)) % 1000003
    end
  end
  return sum
end

return function(n)
  local palette = {}
  for i = 0, 59 do
    palette[i] = SHADES:sub(i % #SHADES + 1, i % #SHADES + 1)
  end
  palette[60] = "#"
  local whole = render({ left = -2, top = -1, width = 3, height = 2 }, n * 2, n, palette)
  local valley = render({ left = -0.8, top = 0.05, width = 0.1, height = 0.1 }, n, math.floor(n / 2), palette)
  local counts, distinct = {}, 0
  for _, lines in ipairs({ whole, valley }) do
    for _, line in ipairs(lines) do
      for c in line:gmatch(".") do
        if not counts[c] then
          counts[c] = 0
          distinct = distinct + 1
        end
        counts[c] = counts[c] + 1
      end
    end
  end
  return string.format("mandelbrot %d %d %d %d", distinct, counts["#"], checksum(whole, palette), checksum(valley, palette))
end

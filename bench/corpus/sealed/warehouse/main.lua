local ARTICLES = { "bolt", "nut", "gear", "belt", "lamp", "fuse", "wire" }

local function make_orders(source, day)
  local function random(limit)
    source.seed = source.seed * 16807 % 2147483647
    return source.seed % limit
  end
  local orders = {}
  for k = 1, 3 + random(5) do
    local lines = {}
    for line = 1, 1 + random(3) do
      local article = ARTICLES[random(7) + 1]
      lines[line] = { article = article, count = 1 + random(9) }
    end
    orders[k] = { day = day, lines = lines }
  end
  return orders
end

local Stock = {}
Stock.__index = Stock

function Stock.new()
  local shelves = {}
  for index, article in ipairs(ARTICLES) do
    shelves[article] = { article = article, count = 20, price = 1 + index * 2, moved = 0 }
  end
  return setmetatable({ shelves = shelves, deliveries = {} }, Stock)
end

function Stock:receive(day)
  local left = {}
  for _, delivery in ipairs(self.deliveries) do
    if delivery.day == day then
      local shelf = self.shelves[delivery.article]
      shelf.count = shelf.count + delivery.count
    end
    if delivery.day > day then
      left[#left + 1] = delivery
    end
  end
  self.deliveries = left
end

function Stock:can_serve(order)
  for _, line in ipairs(order.lines) do
    if self.shelves[line.article].count < line.count then
      return false
    end
  end
  return true
end

function Stock:serve(order)
  for _, line in ipairs(order.lines) do
    local shelf = self.shelves[line.article]
    shelf.count = shelf.count - line.count
    shelf.moved = shelf.moved + line.count
  end
end

function Stock:reorder(day)
  for article, shelf in pairs(self.shelves) do
    local coming = 0
    for _, delivery in ipairs(self.deliveries) do
      if delivery.article == article then
        coming = coming + delivery.count
      end
    end
    if shelf.count + coming < 15 then
      self.deliveries[#self.deliveries + 1] = { article = article, count = 25, day = day + 1 + shelf.price % 4 }
    end
  end
end

return function(n)
  local source, stock, open = { seed = 99 }, Stock.new(), {}
  local shipped, late = 0, 0
  for day = 0, n - 1 do
    stock:receive(day)
    for _, order in ipairs(make_orders(source, day)) do
      open[#open + 1] = order
    end
    local left = {}
    for _, order in ipairs(open) do
      if stock:can_serve(order) then
        stock:serve(order)
        shipped = shipped + 1
        if day - order.day > 2 then
          late = late + 1
        end
      elseif day - order.day < 9 then
        left[#left + 1] = order
      end
    end
    open = left
    stock:reorder(day)
  end
  local worth, parts = 0, {}
  table.sort(ARTICLES)
  for i, article in ipairs(ARTICLES) do
    local shelf = stock.shelves[article]
    worth = worth + shelf.count * shelf.price
    parts[i] = article .. "=" .. shelf.count .. "/" .. shelf.moved
  end
  return string.format("warehouse %d %d %d %d %s", shipped, late, #open, worth, table.concat(parts, ","))
end

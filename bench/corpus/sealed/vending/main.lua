local PRICES = { tea = 35, soup = 50, juice = 65 }
local DRINKS = { "tea", "soup", "juice" }
local COINS = { 5, 10, 20, 50 }

local function make_events(count)
  local events, seed = {}, 606
  for i = 1, count do
    seed = seed * 16807 % 2147483647
    local kind = seed % 6
    if kind < 3 then
      events[i] = { kind = "coin", value = COINS[seed % 4 + 1] }
    elseif kind == 3 then
      events[i] = { kind = "button", name = DRINKS[seed % 3 + 1] }
    elseif kind == 4 then
      events[i] = { kind = "button", name = "cancel" }
    else
      events[i] = { kind = "refill", count = seed % 5 }
    end
  end
  return events
end

local Machine = {}
Machine.__index = Machine

function Machine.new()
  return setmetatable({
    state = { kind = "Idle" },
    credit = 0,
    stock = { tea = 5, soup = 5, juice = 5 },
    sold = 0,
    income = 0,
    shown = "",
  }, Machine)
end

local function give_change(left)
  local coins = {}
  for i = 4, 1, -1 do
    while left >= COINS[i] do
      coins[#coins + 1] = COINS[i]
      left = left - COINS[i]
    end
  end
  return coins
end

function Machine:buy(drink)
  local price = PRICES[drink]
  if self.stock[drink] == 0 then
    self.shown = "no " .. drink
  elseif self.credit < price then
    self.shown = price - self.credit .. " more"
  else
    self.stock[drink] = self.stock[drink] - 1
    self.sold = self.sold + 1
    self.income = self.income + price
    self.state = { kind = "Vending", drink = drink, change = give_change(self.credit - price) }
    self.credit = 0
  end
end

function Machine:step(event)
  if self.state.kind == "Vending" then
    self.shown = self.state.drink .. " and " .. table.concat(self.state.change, "+")
    self.state = { kind = "Idle" }
  else
    self.shown = ""
  end
  if event.kind == "coin" then
    self.credit = self.credit + event.value
    if self.state.kind ~= "Collecting" then
      self.state = { kind = "Collecting", coins = {} }
    end
    table.insert(self.state.coins, event.value)
  elseif event.kind == "refill" then
    for name, value in pairs(self.stock) do
      self.stock[name] = math.min(9, value + event.count)
    end
  elseif event.name ~= "cancel" then
    self:buy(event.name)
  elseif self.state.kind == "Collecting" then
    self.shown = "back: " .. table.concat(self.state.coins, "+")
    self.credit = 0
    self.state = { kind = "Idle" }
  end
end

function Machine:describe()
  local stock = self.stock
  return string.format(
    "%d %d %d juice%dsoup%dtea%d %s",
    self.sold,
    self.income,
    self.credit,
    stock.juice,
    stock.soup,
    stock.tea,
    self.state.kind
  )
end

return function(n)
  local events, machine, again, trail = make_events(n), Machine.new(), Machine.new(), 0
  for _, event in ipairs(events) do
    machine:step(event)
    trail = (trail * 31 + machine.credit + #machine.shown) % 1000003
  end
  for _, event in ipairs(events) do
    again:step(event)
  end
  local same = again:describe() == machine:describe() and again.shown == machine.shown
  return string.format("vending %s %d %s", machine:describe(), trail, tostring(same))
end

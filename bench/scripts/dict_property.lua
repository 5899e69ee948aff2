return function()
  local order = { price = 17, amount = 3, tax = { rate = 7 } }
  local sum, i = 0, 0
  while i < 500000 do
    sum = (sum + order.price * order.amount + order.tax.rate) % 1000003
    i = i + 1
  end
  return sum
end

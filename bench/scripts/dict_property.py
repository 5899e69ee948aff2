def work():
    order = {"price": 17, "amount": 3, "tax": {"rate": 7}}
    total = 0
    i = 0
    while i < 500000:
        total = (total + order["price"] * order["amount"] + order["tax"]["rate"]) % 1000003
        i = i + 1
    return str(total)

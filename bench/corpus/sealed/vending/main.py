PRICES = {"tea": 35, "soup": 50, "juice": 65}


def make_events(count):
    seed = 606
    events = []
    for _ in range(count):
        seed = seed * 16807 % 2147483647
        kind = seed % 6
        if kind < 3:
            events.append(("coin", [5, 10, 20, 50][seed % 4]))
        elif kind == 3:
            events.append(("button", ["tea", "soup", "juice"][seed % 3]))
        elif kind == 4:
            events.append(("button", "cancel"))
        else:
            events.append(("refill", seed % 5))
    return events


def give_change(left):
    coins = []
    for value in (50, 20, 10, 5):
        while left >= value:
            coins.append(value)
            left -= value
    return coins


class Machine:
    def __init__(self):
        self.state = ("Idle",)
        self.credit = 0
        self.stock = {"tea": 5, "soup": 5, "juice": 5}
        self.sold = 0
        self.income = 0
        self.shown = ""

    def buy(self, drink):
        price = PRICES[drink]
        if self.stock[drink] == 0:
            self.shown = f"no {drink}"
        elif self.credit < price:
            self.shown = f"{price - self.credit} more"
        else:
            self.stock[drink] -= 1
            self.sold += 1
            self.income += price
            self.state = ("Vending", drink, give_change(self.credit - price))
            self.credit = 0

    def step(self, event):
        if self.state[0] == "Vending":
            self.shown = f"{self.state[1]} and {'+'.join(map(str, self.state[2]))}"
            self.state = ("Idle",)
        else:
            self.shown = ""
        kind, value = event
        if kind == "coin":
            self.credit += value
            if self.state[0] == "Collecting":
                self.state[1].append(value)
            else:
                self.state = ("Collecting", [value])
        elif kind == "refill":
            for key in self.stock:
                self.stock[key] = min(9, self.stock[key] + value)
        elif value != "cancel":
            self.buy(value)
        elif self.state[0] == "Collecting":
            self.shown = f"back: {'+'.join(map(str, self.state[1]))}"
            self.credit = 0
            self.state = ("Idle",)


def work(n):
    events = make_events(n)
    machine = Machine()
    trail = 0
    for event in events:
        machine.step(event)
        trail = (trail * 31 + machine.credit + len(machine.shown)) % 1000003
    again = Machine()
    for event in events:
        again.step(event)
    stock = "".join(f"{key}{machine.stock[key]}" for key in sorted(machine.stock))
    same = "true" if vars(again) == vars(machine) else "false"
    return f"vending {machine.sold} {machine.income} {machine.credit} {stock} {machine.state[0]} {trail} {same}"

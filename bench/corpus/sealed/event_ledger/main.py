import json

AGENTS = ["planner", "coder", "reviewer", "guest"]
MODELS = ["small", "mid", "large"]
PRICES = {"small": 1, "mid": 4, "large": 15}


def make_events(count):
    seed = 909
    lines = []
    for i in range(count):
        seed = seed * 16807 % 2147483647
        kind = "topup" if seed % 13 == 0 else "refund" if seed % 17 == 0 else "call"
        lines.append(
            f'{{"day": {i // 40}, "agent": "{AGENTS[seed % 4]}", "kind": "{kind}", "model": "{MODELS[seed % 3]}", "tokens": {seed % 4000}}}'
        )
    return [json.loads(line) for line in lines]


class Account:
    def __init__(self, name, left):
        self.name = name
        self.left = left
        self.calls = 0


class Ledger:
    def __init__(self, names, budget):
        self.accounts = {name: Account(name, budget) for name in names}
        self.entries = {}
        self.refused = 0
        self.alerts = []

    def apply(self, event):
        account = self.accounts.get(event["agent"])
        if account is None:
            self.refused += 1
            return
        cost = event["tokens"] * PRICES[event["model"]] // 100 + 1
        if event["kind"] == "call":
            self.charge(account, event, cost)
        elif event["kind"] == "topup":
            account.left += 500
        else:
            account.left += cost // 2
            self.record(event, 0 - cost // 2)

    def charge(self, account, event, cost):
        if cost > account.left:
            self.refused += 1
            self.alerts.append(f"{event['agent']} needs {cost - account.left} more on day {event['day']}")
            return
        account.left -= cost
        account.calls += 1
        self.record(event, cost)

    def record(self, event, cost):
        key = f"{event['day']:03d}/{event['model']}"
        entry = self.entries.setdefault(key, {"cost": 0, "calls": 0, "agents": []})
        entry["cost"] += cost
        entry["calls"] += 1
        if event["agent"] not in entry["agents"]:
            entry["agents"].append(event["agent"])

    def summary(self):
        rows = [(key, self.entries[key]) for key in sorted(self.entries)]
        return sorted(rows, key=lambda row: -row[1]["cost"])


def work(n):
    ledger = Ledger(["planner", "coder", "reviewer"], 40000)
    for event in make_events(n):
        ledger.apply(event)
    rows = ledger.summary()
    total = 0
    for _, row in rows:
        total = (total * 31 + row["cost"] * 3 + row["calls"]) % 1000003
    balances = [account.left for account in ledger.accounts.values()]
    return f"event_ledger {len(rows)} {total} {ledger.refused} {sum(balances)} {min(balances)} {len(ledger.alerts)} {rows[0][0]}"

def make_items(count):
    seed = 11
    items = []
    for i in range(count):
        seed = seed * 16807 % 2147483647
        weight = seed % 23 + 3
        seed = seed * 16807 % 2147483647
        items.append((f"item{i}", weight, seed % 40 + weight))
    return items


def best_by_table(items, capacity):
    rows = [[0] * (capacity + 1)]
    for i, (_, weight, value) in enumerate(items):
        previous = rows[i]
        row = previous[:]
        for w in range(weight, capacity + 1):
            taken = previous[w - weight] + value
            if taken > row[w]:
                row[w] = taken
        rows.append(row)
    packed = []
    left = capacity
    for i in range(len(items), 0, -1):
        if rows[i][left] != rows[i - 1][left]:
            packed.append(items[i - 1][0])
            left -= items[i - 1][1]
    return rows[len(items)][capacity], packed


def bound(items, at, room):
    total = 0
    while at < len(items) and items[at][1] <= room:
        room -= items[at][1]
        total += items[at][2]
        at += 1
    return total + items[at][2] * room // items[at][1] if at < len(items) else total


def visit(items, at, room, value, state):
    state["visited"] += 1
    if value > state["value"]:
        state["value"] = value
    if at == len(items) or value + bound(items, at, room) <= state["value"]:
        return
    _, weight, worth = items[at]
    if weight <= room:
        visit(items, at + 1, room - weight, value + worth, state)
    visit(items, at + 1, room, value, state)


def work(n):
    items = make_items(n)
    capacity = n * 8
    value, packed = best_by_table(items, capacity)
    state = {"value": 0, "visited": 0}
    visit(sorted(items[: min(n, 24)], key=lambda item: -item[2] / item[1]), 0, capacity // 3, 0, state)
    return f"knapsack {value} {len(packed)} {packed[0]} {state['value']} {state['visited']}"

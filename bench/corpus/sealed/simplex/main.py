import math


def make_problem(variables, constraints, start):
    seed = start * 7919

    def random():
        nonlocal seed
        seed = seed * 16807 % 2147483647
        return seed

    costs = [1.0 + random() % 90 / 10.0 for _ in range(variables)]
    rows = []
    bounds = []
    for _ in range(constraints):
        rows.append([0.0 if random() % 3 == 0 else 1.0 + seed % 50 / 10.0 for _ in range(variables)])
        bounds.append(20.0 + random() % 1000 / 10.0)
    rows.append([1.0] * variables)
    bounds.append(60.0)
    return costs, rows, bounds


def build(costs, rows, bounds):
    table = []
    for i, row in enumerate(rows):
        table.append(row + [1.0 if k == i else 0.0 for k in range(len(rows))] + [bounds[i]])
    table.append([0.0 - cost for cost in costs] + [0.0] * (len(rows) + 1))
    return table


def choose_column(row):
    best = -1
    for j in range(len(row) - 1):
        if row[j] < -0.000000001 and (best < 0 or row[j] < row[best]):
            best = j
    return best


def choose_row(table, column):
    best = -1
    least = 0.0
    for i in range(len(table) - 1):
        if table[i][column] > 0.000000001:
            ratio = table[i][-1] / table[i][column]
            if best < 0 or ratio < least:
                best, least = i, ratio
    return best


def pivot(table, row, column):
    source = table[row]
    factor = source[column]
    for j in range(len(source)):
        source[j] /= factor
    for i, target in enumerate(table):
        share = target[column]
        if i != row and share != 0:
            for j in range(len(source)):
                target[j] -= share * source[j]


def maximize(problem):
    costs, rows, bounds = problem
    table = build(costs, rows, bounds)
    basis = [-1] * len(rows)
    steps = 0
    while steps < 200:
        column = choose_column(table[-1])
        if column < 0:
            break
        row = choose_row(table, column)
        if row < 0:
            raise ValueError("the problem has no bound")
        pivot(table, row, column)
        basis[row] = column
        steps += 1
    amounts = [0.0] * len(costs)
    for i, column in enumerate(basis):
        if 0 <= column < len(amounts):
            amounts[column] = table[i][-1]
    return table[-1][-1], amounts, steps


def work(n):
    total = steps = 0
    for k in range(n):
        value, amounts, count = maximize(make_problem(6 + k % 5, 8 + k % 7, k + 1))
        steps += count
        total += math.floor(value * 100)
        for amount in amounts:
            total = (total * 7 + math.floor(amount * 100 + 0.001)) % 1000003
    return f"simplex {steps} {total}"

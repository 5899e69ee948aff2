def work():
    xs = []
    for i in range(1000):
        xs.append(i)
    total = 0
    for round in range(300):
        kept = [y for y in map(lambda x: x * 3 + round, xs) if y % 2 == 0]
        add = lambda acc, x: acc + x
        acc = 0
        for x in kept:
            acc = add(acc, x)
        total = (total + acc) % 1000003
    return str(total)

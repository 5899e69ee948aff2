def work():
    xs = []
    for i in range(1000):
        xs.append(i)
    total = 0
    for _ in range(500):
        for x in xs:
            total = (total + x) % 1000003
        for k in range(1000):
            total = (total + k) % 1000003
    return str(total)

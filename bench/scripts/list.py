def work():
    xs = []
    seed = 42
    for i in range(100000):
        seed = (seed * 16807) % 2147483647
        xs.append(seed % 1000000)
    total = 0
    i = 0
    while i < 100000:
        total = (total * 31 + xs[i]) % 1000003
        i = i + 1
    ordered = sorted(xs)
    return str(len(xs)) + " " + str(total) + " " + str(ordered[0]) + " " + str(ordered[50000]) + " " + str(ordered[99999])

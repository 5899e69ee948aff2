def work():
    keys = []
    for i in range(5000):
        keys.append("key" + str(i))
    counts = {}
    k = 0
    for i in range(300000):
        k = (k + 7919) % 5000
        key = keys[k]
        counts[key] = counts.get(key, 0) + 1
    total = 0
    for key in keys:
        total = total + counts[key] * len(key)
    return str(len(counts)) + " " + str(total)

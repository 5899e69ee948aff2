def work():
    limit = 200000
    composite = []
    for i in range(limit + 1):
        composite.append(False)
    count = 0
    i = 2
    while i <= limit:
        if not composite[i]:
            count = count + 1
            k = i * 2
            while k <= limit:
                composite[k] = True
                k = k + i
        i = i + 1
    return str(count)

def work():
    total = 0
    i = 0
    while i < 3000000:
        total = (total + i * 3) % 1000003
        i = i + 1
    return str(total)

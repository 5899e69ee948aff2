def escapes(cr, ci, limit):
    zr = 0.0
    zi = 0.0
    n = 0
    while n < limit:
        zr2 = zr * zr
        zi2 = zi * zi
        if zr2 + zi2 > 4.0:
            return n
        zi = 2.0 * zr * zi + ci
        zr = zr2 - zi2 + cr
        n = n + 1
    return limit


def work():
    total = 0
    for y in range(80):
        for x in range(80):
            total = total + escapes(x * 0.03125 - 1.75, y * 0.025 - 1.0, 100)
    return str(total)

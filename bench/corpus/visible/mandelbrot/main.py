SHADES = " .,:;-=+*%@&"


def escape_time(cr, ci, limit):
    zr = zi = 0.0
    for n in range(limit):
        zr2 = zr * zr
        zi2 = zi * zi
        if zr2 + zi2 > 4.0:
            return n
        zi = 2.0 * zr * zi + ci
        zr = zr2 - zi2 + cr
    return limit


def render(left, top, width, height, columns, rows, palette):
    lines = []
    for row in range(rows):
        line = ""
        ci = top + height * row / rows
        for column in range(columns):
            line += palette[escape_time(left + width * column / columns, ci, 60)]
        lines.append(line)
    return lines


def checksum(lines, palette):
    total = 1
    for line in lines:
        for c in line:
            total = (total * 37 + palette.index(c)) % 1000003
    return total


def work(n):
    palette = [SHADES[i % len(SHADES)] for i in range(60)] + ["#"]
    whole = render(-2.0, -1.0, 3.0, 2.0, n * 2, n, palette)
    valley = render(-0.8, 0.05, 0.1, 0.1, n, n // 2, palette)
    counts = {}
    for line in whole + valley:
        for c in line:
            counts[c] = counts.get(c, 0) + 1
    return f"mandelbrot {len(counts)} {counts['#']} {checksum(whole, palette)} {checksum(valley, palette)}"

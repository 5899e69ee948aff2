WORDS = "a tool that answers quickly is called more often than one whose answer takes time".split()


def make_paragraph(number):
    seed = number * 7 + 3
    words = []
    for _ in range(45):
        seed = seed * 16807 % 2147483647
        words.append(WORDS[seed % len(WORDS)])
    return words


def break_lines(words, width):
    count = len(words)
    best = [0]
    breaks = [0]
    for stop in range(1, count + 1):
        least, at, used = -1, 0, -1
        for start in range(stop - 1, -1, -1):
            used += len(words[start]) + 1
            if used > width:
                break
            cost = 0 if stop == count else (width - used) ** 3
            if least < 0 or best[start] + cost < least:
                least = best[start] + cost
                at = start
        best.append(least)
        breaks.append(at)
    lines = []
    stop = count
    while stop > 0:
        lines.append(words[breaks[stop] : stop])
        stop = breaks[stop]
    return lines[::-1], best[count]


def justify_line(words, width, is_last):
    if is_last or len(words) == 1:
        return " ".join(words).ljust(width)
    gaps = len(words) - 1
    spaces = width - sum(map(len, words))
    line = words[0]
    for i in range(1, gaps + 1):
        line += " " * (spaces // gaps + (1 if i <= spaces % gaps else 0)) + words[i]
    return line


def work(n):
    blocks = []
    badness = 0
    for i in range(n):
        lines, cost = break_lines(make_paragraph(i), 36)
        badness += cost
        blocks.append([justify_line(words, 36, index == len(lines) - 1) for index, words in enumerate(lines)])
    total = count = 0
    for i in range(n // 2):
        left, right = blocks[i * 2], blocks[i * 2 + 1]
        for k in range(max(len(left), len(right))):
            a = left[k] if k < len(left) else ""
            b = right[k] if k < len(right) else ""
            line = f"{a.ljust(36)} | {b.rstrip()}"
            total = (total * 31 + len(line) + line.find("|")) % 1000003
            count += 1
    return f"justify {badness} {count} {total} {blocks[0][0].replace(' ', '_')}"

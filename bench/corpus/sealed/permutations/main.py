def heap_permutations(items):
    values = items[:]
    counters = [0] * len(items)
    out = [values[:]]
    i = 0
    while i < len(values):
        if counters[i] < i:
            other = 0 if i % 2 == 0 else counters[i]
            values[other], values[i] = values[i], values[other]
            out.append(values[:])
            counters[i] += 1
            i = 0
        else:
            counters[i] = 0
            i += 1
    return out


def next_permutation(items):
    i = len(items) - 2
    while i >= 0 and items[i] >= items[i + 1]:
        i -= 1
    if i < 0:
        return None
    j = len(items) - 1
    while items[j] <= items[i]:
        j -= 1
    values = items[:]
    values[i], values[j] = values[j], values[i]
    return values[: i + 1] + values[i + 1 :][::-1]


def subsets(items):
    if not items:
        return [[]]
    rest = subsets(items[1:])
    return rest + [[items[0]] + each for each in rest]


def partitions(total, most):
    if total == 0:
        return [[]]
    out = []
    for first in range(min(total, most), 0, -1):
        for rest in partitions(total - first, first):
            out.append([first] + rest)
    return out


def checksum(lists):
    total = 7
    for values in lists:
        for item in values:
            total = (total * 31 + item) % 1000003
    return total


def work(n):
    total = count = 0
    for round in range(n):
        every = heap_permutations([item + round for item in range(5)])
        count += len(every)
        total = (total + checksum(every)) % 1000003
        current = [0, 1, 2, 3, 4]
        while current is not None:
            total = (total * 3 + current[0] * 10 + current[4]) % 1000003
            current = next_permutation(current)
        sets = subsets([3, 1, 4, 1, 5, round])
        parts = partitions(11, 11)
        count += len(sets) + len(parts)
        total = (total + checksum(sets) + checksum(parts)) % 1000003
    return f"permutations {count} {total}"

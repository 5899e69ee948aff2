def count_to(n):
    i = 0
    while i < n:
        yield i * 2
        i = i + 1


def work():
    last = 0
    count = 0
    for x in count_to(300000):
        last = x
        count = count + 1
    return str(count) + " " + str(last)

from itertools import islice, takewhile

REGIONS = ["north", "east", "south"]


class Order:
    def __init__(self, id, region, cents):
        self.id = id
        self.region = region
        self.cents = cents


def orders(count):
    seed = 23
    for id in range(count):
        seed = seed * 16807 % 2147483647
        yield Order(id, REGIONS[seed % 3], seed % 5000)


def is_large(limit):
    return lambda order: order.cents >= limit


def discount(percent):
    keep = 100 - percent
    return lambda order: Order(order.id, order.region, order.cents * keep // 100)


def chunks(source, size):
    while chunk := list(islice(source, size)):
        yield chunk


def running_mean(source, size):
    window = []
    for order in source:
        window.append(order.cents)
        if len(window) > size:
            window.pop(0)
        if len(window) == size:
            yield sum(window) // size


def total(items):
    return sum(item.cents for item in items)


def work(n):
    large = list(map(discount(10), filter(is_large(2000), orders(n))))
    middle = takewhile(lambda order: order.id < n * 3 // 4, islice(orders(n), n // 4, None))
    some = list(islice(filter(lambda order: order.region == "east", middle), 100))
    pairs = zip(orders(n // 2), islice(orders(n // 2), 1, None))
    rises = sum(1 for first, second in pairs if second.cents > first.cents)
    checksum = 0
    for mean in running_mean(orders(n), 5):
        checksum = (checksum * 31 + mean) % 1000003
    spread = sum(max(chunk) - min(chunk) for chunk in chunks(map(lambda order: order.cents, orders(n)), 50))
    return f"lazy_orders {len(large)} {total(large)} {total(some)} {rises} {checksum} {spread}"

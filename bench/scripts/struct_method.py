class Counter:
    def __init__(self, step):
        self.step = step

    def next(self, at):
        return (at + self.step) % 1000003


def work():
    counter = Counter(7)
    at = 0
    for i in range(500000):
        at = counter.next(at)
    return str(at)

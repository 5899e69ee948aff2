class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


def work():
    p = Point(0, 1)
    i = 0
    while i < 500000:
        p.x = (p.x + p.y * 3) % 1000003
        p.y = (p.y + i) % 1009
        i = i + 1
    return str(p.x) + " " + str(p.y)

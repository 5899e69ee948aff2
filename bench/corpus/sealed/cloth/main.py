import math


class Point:
    def __init__(self, x, y, pinned):
        self.x = self.before_x = x
        self.y = self.before_y = y
        self.pinned = pinned


class Spring:
    def __init__(self, a, b):
        self.a = a
        self.b = b
        self.length = 1.0
        self.intact = True


class Cloth:
    def __init__(self, columns, rows):
        self.points = []
        self.springs = []
        self.torn = 0
        for row in range(rows):
            for column in range(columns):
                point = Point(float(column), float(row), row == 0 and column % 4 == 0)
                self.points.append(point)
                at = row * columns + column
                if column > 0:
                    self.springs.append(Spring(self.points[at - 1], point))
                if row > 0:
                    self.springs.append(Spring(self.points[at - columns], point))

    def swing(self, wind):
        for point in self.points:
            if not point.pinned:
                x, y = point.x, point.y
                point.x = x + (x - point.before_x) * 0.98 + wind
                point.y = y + (y - point.before_y) * 0.98 + 0.02
                point.before_x, point.before_y = x, y

    def relax(self, spring):
        a, b = spring.a, spring.b
        dx = b.x - a.x
        dy = b.y - a.y
        distance = math.sqrt(dx * dx + dy * dy)
        if distance > spring.length * 1.6:
            spring.intact = False
            self.torn += 1
            return
        push = (distance - spring.length) / distance * 0.5
        if not a.pinned:
            a.x += dx * push
            a.y += dy * push
        if not b.pinned:
            b.x -= dx * push
            b.y -= dy * push


def work(n):
    cloth = Cloth(14, 10)
    for step in range(n):
        cloth.swing(math.sin(step * 0.1) * 0.01)
        for _ in range(4):
            for spring in cloth.springs:
                if spring.intact:
                    cloth.relax(spring)
    lowest = total = 0.0
    for point in cloth.points:
        lowest = max(lowest, point.y)
        total += point.x * 3.0 + point.y
    return f"cloth {len(cloth.springs)} {math.floor(lowest * 10000)} {math.floor(total * 1000)} {cloth.torn}"

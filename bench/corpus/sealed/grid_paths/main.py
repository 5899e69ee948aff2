class Grid:
    def __init__(self, width, height):
        self.width = width
        self.height = height
        self.costs = []
        seed = 8
        for i in range(width * height):
            seed = seed * 16807 % 2147483647
            dice = seed % 10
            self.costs.append(0 if dice == 9 and 0 < i < width * height - 1 else 1 + dice % 5)

    def neighbours(self, cell):
        width, costs = self.width, self.costs
        x, y = cell % width, cell // width
        cells = []
        if x > 0 and costs[cell - 1] > 0:
            cells.append(cell - 1)
        if x < width - 1 and costs[cell + 1] > 0:
            cells.append(cell + 1)
        if y > 0 and costs[cell - width] > 0:
            cells.append(cell - width)
        if y < self.height - 1 and costs[cell + width] > 0:
            cells.append(cell + width)
        return cells


def cheapest(grid, start):
    distances = [-1] * len(grid.costs)
    from_cell = [-1] * len(grid.costs)
    buckets = [[start]]
    distances[start] = 0
    visited = 0
    at = 0
    while at < len(buckets):
        for cell in buckets[at]:
            if distances[cell] != at:
                continue
            visited += 1
            for other in grid.neighbours(cell):
                distance = at + grid.costs[other]
                if distances[other] < 0 or distance < distances[other]:
                    distances[other] = distance
                    from_cell[other] = cell
                    while len(buckets) <= distance:
                        buckets.append([])
                    buckets[distance].append(other)
        at += 1
    return distances, from_cell, visited


def work(n):
    distances, from_cell, visited = cheapest(Grid(n, n), 0)
    path = []
    at = n * n - 1
    while at >= 0:
        path.append(at)
        at = from_cell[at]
    total = 0
    for cell in reversed(path):
        total = (total * 31 + cell) % 1000003
    reached = sum(1 for distance in distances if distance >= 0)
    return f"grid_paths {distances[n * n - 1]} {len(path)} {total} {reached} {visited}"

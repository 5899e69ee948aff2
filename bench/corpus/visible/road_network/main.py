def make_roads(towns, each):
    roads = []
    seed = 3
    for a in range(towns):
        for _ in range(each):
            seed = seed * 16807 % 2147483647
            b = seed % towns
            seed = seed * 16807 % 2147483647
            if a != b:
                roads.append((a, b, seed % 100 + 1))
    return roads


class Union:
    def __init__(self, count):
        self.parents = list(range(count))
        self.ranks = [0] * count
        self.groups = count

    def find(self, at):
        while self.parents[at] != at:
            at = self.parents[at]
        return at

    def join(self, a, b):
        x = self.find(a)
        y = self.find(b)
        if x == y:
            return False
        if self.ranks[x] < self.ranks[y]:
            self.parents[x] = y
        else:
            self.parents[y] = x
            if self.ranks[x] == self.ranks[y]:
                self.ranks[x] += 1
        self.groups -= 1
        return True


def breadth_first(neighbours, start):
    distances = [-1] * len(neighbours)
    distances[start] = 0
    queue = [start]
    for town in queue:
        for other in neighbours[town]:
            if distances[other] < 0:
                distances[other] = distances[town] + 1
                queue.append(other)
    return distances


def work(n):
    union = Union(n)
    neighbours = [[] for _ in range(n)]
    chosen = cost = 0
    for a, b, price in sorted(make_roads(n, 4), key=lambda road: (road[2], road[0], road[1])):
        if union.join(a, b):
            chosen += 1
            cost += price
            neighbours[a].append(b)
            neighbours[b].append(a)
    total = farthest = 0
    for distance in breadth_first(neighbours, 0):
        total = (total * 31 + distance) % 1000003
        farthest = max(farthest, distance)
    return f"road_network {cost} {chosen} {union.groups} {farthest} {total}"

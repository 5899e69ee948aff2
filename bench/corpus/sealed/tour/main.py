import math


def make_distances(count):
    seed = 1009
    cities = []
    for _ in range(count):
        seed = seed * 16807 % 2147483647
        x = seed % 1000 / 10.0
        seed = seed * 16807 % 2147483647
        cities.append((x, seed % 1000 / 10.0))
    return [[math.sqrt((ax - bx) * (ax - bx) + (ay - by) * (ay - by)) for bx, by in cities] for ax, ay in cities]


def length_of(tour, distances):
    total = 0.0
    for i, city in enumerate(tour):
        total += distances[city][tour[(i + 1) % len(tour)]]
    return total


def nearest_tour(distances):
    visited = [False] * len(distances)
    visited[0] = True
    tour = [0]
    while len(tour) < len(distances):
        row = distances[tour[-1]]
        best = -1
        for city in range(len(distances)):
            if not visited[city] and (best < 0 or row[city] < row[best]):
                best = city
        visited[best] = True
        tour.append(best)
    return tour


def improve(start, distances, rounds):
    tour = start[:]
    exchanges = 0
    count = len(tour)
    for _ in range(rounds):
        better = False
        for i in range(count - 2):
            for j in range(i + 2, count):
                if i == 0 and j == count - 1:
                    continue
                a, b, c, d = tour[i], tour[i + 1], tour[j], tour[(j + 1) % count]
                if distances[a][c] + distances[b][d] < distances[a][b] + distances[c][d] - 0.000001:
                    tour[i + 1 : j + 1] = tour[i + 1 : j + 1][::-1]
                    exchanges += 1
                    better = True
        if not better:
            break
    return tour, exchanges


def work(n):
    distances = make_distances(n)
    first = nearest_tour(distances)
    tour, exchanges = improve(first, distances, 6)
    total = 0
    for city in tour:
        total = (total * 31 + city) % 1000003
    before, after = (math.floor(length_of(each, distances) * 100) for each in (first, tour))
    return f"tour {before} {after} {exchanges} {total}"

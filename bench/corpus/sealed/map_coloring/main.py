def join(graph, a, b):
    if b not in graph[a]:
        graph[a].append(b)
        graph[b].append(a)


def make_map(count, seed):
    graph = {f"r{i}": [] for i in range(count)}
    for i in range(count):
        for step in (1, 2):
            if i + step < count:
                join(graph, f"r{i}", f"r{i + step}")
        seed = seed * 16807 % 2147483647
        other = seed % count
        if abs(other - i) > 2:
            join(graph, f"r{i}", f"r{other}")
    return graph


class Solver:
    def __init__(self, graph):
        self.graph = graph
        self.names = sorted(graph)
        self.checks = 0

    def propagate(self, domains, changed):
        queue = [changed]
        for name in queue:
            color = domains[name][0]
            for other in self.graph[name]:
                self.checks += 1
                if color in domains[other]:
                    left = [each for each in domains[other] if each != color]
                    if not left:
                        return False
                    domains[other] = left
                    if len(left) == 1:
                        queue.append(other)
        return True

    def search(self, domains):
        best = None
        for name in self.names:
            if len(domains[name]) > 1 and (best is None or len(domains[name]) < len(domains[best])):
                best = name
        if best is None:
            return domains
        for color in domains[best]:
            guess = dict(domains)
            guess[best] = [color]
            if self.propagate(guess, best):
                found = self.search(guess)
                if found is not None:
                    return found
        return None


def work(n):
    checks = total = failed = 0
    for k in range(n):
        solver = Solver(make_map(24, 11 + k))
        found = solver.search({name: list(range(3 + k % 2)) for name in solver.names})
        checks += solver.checks
        if found is None:
            failed += 1
        else:
            for name in solver.names:
                total = (total * 31 + len(name) + found[name][0]) % 1000003
    return f"map_coloring {checks} {failed} {total}"

GLIDER = [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)]
ACORN = [(0, 1), (1, 3), (2, 0), (2, 1), (2, 4), (2, 5), (2, 6)]


def stamp(grid, cells, top, left):
    for y, x in cells:
        grid[top + y][left + x] = True


def neighbours(grid, y, x):
    height = len(grid)
    width = len(grid[0])
    count = 0
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dy == 0 and dx == 0:
                continue
            if grid[(y + dy + height) % height][(x + dx + width) % width]:
                count += 1
    return count


def next_generation(grid):
    result = []
    for y, row in enumerate(grid):
        fresh = []
        for x, alive in enumerate(row):
            count = neighbours(grid, y, x)
            fresh.append(count == 3 or (alive and count == 2))
        result.append(fresh)
    return result


def work(n):
    grid = [[False] * 32 for _ in range(32)]
    stamp(grid, GLIDER, 2, 3)
    stamp(grid, ACORN, 14, 12)
    history = []
    for _ in range(n):
        grid = next_generation(grid)
        history.append(sum(sum(row) for row in grid))
    total = 7
    for y, row in enumerate(grid):
        for x, alive in enumerate(row):
            if alive:
                total = (total * 31 + y * 64 + x) % 1000003
    return f"life {history[-1]} {max(history)} {total}"

PUZZLES = [
    "530070000600195000098000060800060003400803001700020006060000280000419005000080079",
    "000260701680070090190004500820100040004602900050003028009300074040050036703018000",
    "200080300060070084030500209000105408000000000402706000301007040720040060004010003",
    "000000907000420180000705026100904000050000040000507009920108000034059000507000000",
]


def candidates(grid, row, column):
    used = [False] * 10
    top = row - row % 3
    left = column - column % 3
    for k in range(9):
        used[grid[row][k]] = True
        used[grid[k][column]] = True
        used[grid[top + k // 3][left + k % 3]] = True
    return [value for value in range(1, 10) if not used[value]]


def fill_singles(grid):
    changed = True
    while changed:
        changed = False
        for row in range(9):
            for column in range(9):
                if grid[row][column] == 0:
                    values = candidates(grid, row, column)
                    if not values:
                        return None
                    if len(values) == 1:
                        grid[row][column] = values[0]
                        changed = True
    return grid


def solve(grid):
    filled = fill_singles([row[:] for row in grid])
    if filled is None or all(0 not in row for row in filled):
        return filled
    best = None
    for row in range(9):
        for column in range(9):
            if filled[row][column] == 0:
                values = candidates(filled, row, column)
                if best is None or len(values) < len(best[2]):
                    best = (row, column, values)
    row, column, values = best
    for value in values:
        filled[row][column] = value
        solved = solve(filled)
        if solved is not None:
            return solved
    return None


def work(n):
    total = 0
    for i in range(n):
        digits = [int(c) for c in PUZZLES[i % len(PUZZLES)]]
        grid = [digits[row * 9 : row * 9 + 9] for row in range(9)]
        for row in solve(grid):
            for digit in row:
                total = (total * 31 + digit) % 1000003
    return f"sudoku {total}"

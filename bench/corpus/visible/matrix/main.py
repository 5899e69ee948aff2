import math


def make_matrix(size, seed):
    rows = []
    for i in range(size):
        row = []
        for j in range(size):
            seed = seed * 16807 % 2147483647
            row.append(seed % 1000 / 1000 / size + (0.5 if i == j else 0.0))
        rows.append(row)
    return rows


def identity(size):
    return [[1.0 if i == j else 0.0 for j in range(size)] for i in range(size)]


def multiply(a, b):
    size = len(a)
    rows = []
    for i in range(size):
        row = []
        for j in range(size):
            total = 0.0
            for k in range(size):
                total += a[i][k] * b[k][j]
            row.append(total)
        rows.append(row)
    return rows


def power(matrix, left):
    result = identity(len(matrix))
    base = matrix
    while left > 0:
        if left % 2 == 1:
            result = multiply(result, base)
        base = multiply(base, base)
        left //= 2
    return result


def determinant(matrix):
    m = [row[:] for row in matrix]
    size = len(m)
    result = 1.0
    for column in range(size):
        pivot = column
        for row in range(column + 1, size):
            if abs(m[row][column]) > abs(m[pivot][column]):
                pivot = row
        if m[pivot][column] == 0:
            return 0.0
        if pivot != column:
            m[pivot], m[column] = m[column], m[pivot]
            result = -result
        result *= m[column][column]
        for row in range(column + 1, size):
            factor = m[row][column] / m[column][column]
            for k in range(column, size):
                m[row][k] -= factor * m[column][k]
    return result


def trace(m):
    total = 0.0
    for i in range(len(m)):
        total += m[i][i]
    return total


def work(n):
    a = make_matrix(n, 1)
    product = multiply(a, [list(row) for row in zip(*a)])
    high = power(a, 5)
    return f"matrix {math.floor(trace(product) * 1000)} {math.floor(trace(high) * 1000)} {math.floor(determinant(product) * 1000000)}"

def a(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def times(v, n):
    out = []
    for i in range(n):
        total = 0.0
        for j in range(n):
            total = total + a(i, j) * v[j]
        out.append(total)
    return out


def times_transposed(v, n):
    out = []
    for i in range(n):
        total = 0.0
        for j in range(n):
            total = total + a(j, i) * v[j]
        out.append(total)
    return out


def work():
    n = 60
    u = []
    for i in range(n):
        u.append(1.0)
    v = u
    for _ in range(10):
        v = times_transposed(times(u, n), n)
        u = times_transposed(times(v, n), n)
    uv = 0.0
    vv = 0.0
    for i in range(n):
        uv = uv + u[i] * v[i]
        vv = vv + v[i] * v[i]
    return str(int((uv / vv) ** 0.5 * 1000000000.0))

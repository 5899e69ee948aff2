def sieve(limit):
    is_prime = [n > 1 for n in range(limit + 1)]
    p = 2
    while p * p <= limit:
        if is_prime[p]:
            for multiple in range(p * p, limit + 1, p):
                is_prime[multiple] = False
        p += 1
    return [n for n in range(limit + 1) if is_prime[n]]


def segments(primes, low, high, size):
    found = []
    for start in range(low, high, size):
        is_free = [True] * size
        for p in primes:
            if p * p >= start + size:
                break
            for multiple in range((start + p - 1) // p * p, start + size, p):
                is_free[multiple - start] = False
        found += [start + i for i in range(size) if is_free[i]]
    return found


def factor_table(limit):
    table = [[] for _ in range(limit + 1)]
    for n in range(2, limit + 1):
        if not table[n]:
            power = n
            while power <= limit:
                for multiple in range(power, limit + 1, power):
                    table[multiple].append(n)
                power *= n
    return table


def work(n):
    quarter = n // 4
    primes = sieve(n)
    far = segments(primes, n, n + 2000, 500)
    sums = [1] * (quarter + 1)
    for d in range(2, quarter // 2 + 1):
        for multiple in range(d * 2, quarter + 1, d):
            sums[multiple] += d
    perfect = [k for k in range(2, quarter + 1) if sums[k] == k]
    longest = max(factor_table(quarter), key=len)
    twins = sum(1 for i in range(1, len(primes)) if primes[i] - primes[i - 1] == 2)
    last = far[-1] if far else 0
    return f"sieve {len(primes)} {twins} {len(far)} {last} {'x'.join(map(str, longest))} {'+'.join(map(str, perfect))}"

def passes(witness, n, odd, twos):
    x = power_mod(witness, odd, n)
    if x == 1 or x == n - 1:
        return True
    for _ in range(1, twos):
        x = x * x % n
        if x == n - 1:
            return True
    return False


def power_mod(base, exponent, modulus):
    result = 1
    square = base % modulus
    while exponent > 0:
        if exponent % 2 == 1:
            result = result * square % modulus
        square = square * square % modulus
        exponent //= 2
    return result


def is_probable_prime(n):
    for small in (2, 3, 5, 7):
        if n % small == 0:
            return n == small
    odd = n - 1
    twos = 0
    while odd % 2 == 0:
        odd //= 2
        twos += 1
    return all(passes(witness, n, odd, twos) for witness in (2, 3, 5))


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def find_factor(n):
    if n % 2 == 0:
        return 2
    for c in range(1, 21):
        slow = fast = 2
        divisor = 1
        while divisor == 1:
            slow = (slow * slow + c) % n
            fast = (fast * fast + c) % n
            fast = (fast * fast + c) % n
            divisor = gcd(abs(slow - fast), n)
        if divisor != n:
            return divisor
    d = 3
    while n % d != 0:
        d += 2
    return d


def factorize(n):
    if n == 1:
        return []
    if is_probable_prime(n):
        return [n]
    factor = find_factor(n)
    return sorted(factorize(factor) + factorize(n // factor))


def order_of(base, modulus):
    value = base % modulus
    count = 1
    while value != 1 and count < 400:
        value = value * base % modulus
        count += 1
    return count


def work(n):
    primes = factors = total = 0
    seed = 31337
    for i in range(n):
        seed = seed * 16807 % 2147483647
        number = seed % 2000000 + 1001 + i % 2
        if is_probable_prime(number):
            primes += 1
            total = (total * 31 + order_of(2, number)) % 1000003
        else:
            found = factorize(number)
            factors += len(found)
            total = (total * 31 + found[-1]) % 1000003
    return f"prime_tests {primes} {factors} {total} {power_mod(3, 1000000, 1000000007)}"

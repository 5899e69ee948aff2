BASE = 10000


def from_int(n):
    digits = []
    while n > 0:
        digits.append(n % BASE)
        n //= BASE
    return digits


def add(a, b):
    result = []
    carry = 0
    for i in range(max(len(a), len(b))):
        total = (a[i] if i < len(a) else 0) + (b[i] if i < len(b) else 0) + carry
        result.append(total % BASE)
        carry = total // BASE
    if carry > 0:
        result.append(carry)
    return result


def multiply_small(a, factor):
    result = a[:]
    carry = 0
    for i in range(len(a)):
        product = a[i] * factor + carry
        result[i] = product % BASE
        carry = product // BASE
    while carry > 0:
        result.append(carry % BASE)
        carry //= BASE
    return result


def multiply(a, b):
    result = [0] * (len(a) + len(b))
    for i in range(len(a)):
        carry = 0
        for j in range(len(b)):
            total = result[i + j] + a[i] * b[j] + carry
            result[i + j] = total % BASE
            carry = total // BASE
        result[i + len(b)] += carry
    while result and result[-1] == 0:
        result.pop()
    return result


def to_text(a):
    return "".join(f"{digit:04d}" for digit in reversed(a)).lstrip("0") or "0"


def digit_sum(a):
    return sum(int(c) for c in to_text(a))


def power(base, left):
    result = from_int(1)
    square = from_int(base)
    while left > 0:
        if left % 2 == 1:
            result = multiply(result, square)
        square = multiply(square, square)
        left //= 2
    return result


def work(n):
    f = from_int(1)
    for i in range(2, n + 1):
        f = multiply_small(f, i)
    a, b = from_int(0), from_int(1)
    for _ in range(n * 4):
        a, b = b, add(a, b)
    text = to_text(f)
    return f"big_factorial {len(text)} {digit_sum(f)} {digit_sum(a)} {digit_sum(power(7, n * 3))} {text[:12]}"

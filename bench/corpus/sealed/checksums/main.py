def make_bytes(count):
    data = []
    seed = 271828
    for _ in range(count):
        seed = seed * 16807 % 2147483647
        data.append(seed % 256)
    return data


def adler(data):
    a, b = 1, 0
    for byte in data:
        a = (a + byte) % 65521
        b = (b + a) % 65521
    return b * 65536 + a


def fletcher(data):
    low = high = 0
    for i in range(0, len(data), 2):
        word = data[i] + (data[i + 1] * 256 if i + 1 < len(data) else 0)
        low = (low + word) % 65535
        high = (high + low) % 65535
    return high * 65536 + low


def check_digit(data):
    total = 0
    for i, byte in enumerate(data):
        digit = byte % 10
        if i % 2 == 0:
            digit *= 2
            if digit > 9:
                digit -= 9
        total += digit
    return (10 - total % 10) % 10


def make_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ 3988292384 if n & 1 else n >> 1
        table.append(n)
    return table


def cyclic(data, table):
    rest = 4294967295
    for byte in data:
        rest = rest >> 8 ^ table[(rest ^ byte) & 255]
    return 4294967295 - rest


def work(n):
    data = make_bytes(n)
    table = make_table()
    cards = 0
    for start in range(n // 20):
        cards = (cards * 3 + check_digit(data[start : start + 15])) % 1000003
    return f"checksums {adler(data)} {fletcher(data)} {cyclic(data, table)} {cyclic(data[::-1], table)} {cards}"

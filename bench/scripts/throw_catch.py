def risky(n):
    if n % 2 == 0:
        raise ValueError("even")
    return n


def work():
    total = 0
    for i in range(300000):
        try:
            total = (total + risky(i)) % 1000003
        except ValueError as error:
            total = total + len(str(error))
    return str(total)

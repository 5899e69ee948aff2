def area(shape):
    kind = shape[0]
    if kind == "circle":
        return shape[1] * shape[1] * 3
    if kind == "rect":
        return shape[1] * shape[2]
    return 0


def word(n):
    if n == 0:
        return "zero"
    if n == 1:
        return "one"
    if n == 2:
        return "two"
    return "many"


def work():
    shapes = [("circle", 2), ("rect", 3, 4), ("empty",), ("circle", 5)]
    total = 0
    for i in range(300000):
        total = (total + area(shapes[i % 4]) + len(word(i % 5))) % 1000003
    return str(total)

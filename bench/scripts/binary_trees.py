def build(depth):
    if depth == 0:
        return (None, None)
    return (build(depth - 1), build(depth - 1))


def count(tree):
    left = tree[0]
    if left is None:
        return 1
    return 1 + count(left) + count(tree[1])


def work():
    nodes = 0
    for _ in range(20):
        nodes += count(build(11))
    return str(nodes)

class Node:
    __slots__ = ("is_red", "left", "key", "right")

    def __init__(self, is_red, left, key, right):
        self.is_red = is_red
        self.left = left
        self.key = key
        self.right = right


def red(tree):
    return tree is not None and tree.is_red


def contains(tree, key):
    while tree is not None:
        if key == tree.key:
            return True
        tree = tree.left if key < tree.key else tree.right
    return False


def split(a, x, b, y, c, z, d):
    return Node(True, Node(False, a, x, b), y, Node(False, c, z, d))


def balance(is_red, left, key, right):
    if not is_red and red(left):
        a, x, b = left.left, left.key, left.right
        if red(a):
            return split(a.left, a.key, a.right, x, b, key, right)
        if red(b):
            return split(a, x, b.left, b.key, b.right, key, right)
    if not is_red and red(right):
        c, y, d = right.left, right.key, right.right
        if red(c):
            return split(left, key, c.left, c.key, c.right, y, d)
        if red(d):
            return split(left, key, c, y, d.left, d.key, d.right)
    return Node(is_red, left, key, right)


def add(tree, key):
    if tree is None:
        return Node(True, None, key, None)
    if key < tree.key:
        return balance(tree.is_red, add(tree.left, key), tree.key, tree.right)
    if key > tree.key:
        return balance(tree.is_red, tree.left, tree.key, add(tree.right, key))
    return tree


def insert(tree, key):
    top = add(tree, key)
    return Node(False, top.left, top.key, top.right)


def keys(tree):
    out = []
    stack = []
    current = tree
    while current is not None or stack:
        while current is not None:
            stack.append(current)
            current = current.left
        current = stack.pop()
        out.append(current.key)
        current = current.right
    return out


def height(tree):
    return 0 if tree is None else 1 + max(height(tree.left), height(tree.right))


def work(n):
    tree = None
    seed = 5
    for _ in range(n):
        seed = seed * 16807 % 2147483647
        tree = insert(tree, seed % (n * 3))
    hits = sum(1 for key in range(n * 3) if contains(tree, key))
    ordered = keys(tree)
    total = 0
    for i in range(1, len(ordered)):
        assert ordered[i - 1] < ordered[i]
        total = (total * 31 + ordered[i]) % 1000003
    return f"red_black {len(ordered)} {hits} {height(tree)} {total}"

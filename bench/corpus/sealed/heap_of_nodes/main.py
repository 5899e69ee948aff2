class Node:
    __slots__ = ("key", "value", "left", "right", "height")

    def __init__(self, key, value):
        self.key = key
        self.value = value
        self.left = None
        self.right = None
        self.height = 1


def height_of(node):
    return 0 if node is None else node.height


def measure(node):
    node.height = 1 + max(height_of(node.left), height_of(node.right))


def balance_of(node):
    return height_of(node.left) - height_of(node.right)


class Tree:
    def __init__(self):
        self.root = None
        self.size = 0
        self.rotations = 0

    def rotate_right(self, node):
        top = node.left
        node.left = top.right
        top.right = node
        self.rotations += 1
        measure(node)
        measure(top)
        return top

    def rotate_left(self, node):
        top = node.right
        node.right = top.left
        top.left = node
        self.rotations += 1
        measure(node)
        measure(top)
        return top

    def rebalance(self, node):
        measure(node)
        balance = balance_of(node)
        if balance > 1:
            if balance_of(node.left) < 0:
                node.left = self.rotate_left(node.left)
            return self.rotate_right(node)
        if balance < -1:
            if balance_of(node.right) > 0:
                node.right = self.rotate_right(node.right)
            return self.rotate_left(node)
        return node

    def add(self, node, key, value):
        if node is None:
            self.size += 1
            return Node(key, value)
        if key == node.key:
            node.value += value
            return node
        if key < node.key:
            node.left = self.add(node.left, key, value)
        else:
            node.right = self.add(node.right, key, value)
        return self.rebalance(node)

    def find(self, key):
        node = self.root
        while node is not None and node.key != key:
            node = node.left if key < node.key else node.right
        return None if node is None else node.value


def work(n):
    tree = Tree()
    seed = 321
    for _ in range(n):
        seed = seed * 16807 % 2147483647
        tree.root = tree.add(tree.root, seed % 2000, seed % 97)
    found = total = 0
    for key in range(2000):
        value = tree.find(key)
        if value is not None:
            found += 1
            total = (total * 31 + key + value) % 1000003
    return f"heap_of_nodes {tree.size} {found} {total} {height_of(tree.root)} {tree.rotations}"

PARTS = ["re", "co", "in", "de", "un", "form", "port", "act", "ter", "ing", "ed", "er"]


class Node:
    __slots__ = ("count", "children")

    def __init__(self):
        self.count = 0
        self.children = {}


def insert(node, word):
    for c in word:
        if c not in node.children:
            node.children[c] = Node()
        node = node.children[c]
    node.count += 1


def remove(node, word, at=0):
    if at == len(word):
        node.count = 0
        return
    child = node.children.get(word[at])
    if child is None:
        return
    remove(child, word, at + 1)
    if child.count == 0 and not child.children:
        del node.children[word[at]]


def count_words(node):
    return (1 if node.count > 0 else 0) + sum(count_words(child) for child in node.children.values())


def collect(node, prefix, out):
    if node.count > 0:
        out.append(prefix)
    for c in sorted(node.children):
        collect(node.children[c], prefix + c, out)
    return out


def complete(node, prefix):
    for c in prefix:
        node = node.children.get(c)
        if node is None:
            return []
    return collect(node, prefix, [])


def match_wild(node, pattern, at=0):
    if at == len(pattern):
        return 1 if node.count > 0 else 0
    if pattern[at] != "?":
        child = node.children.get(pattern[at])
        return 0 if child is None else match_wild(child, pattern, at + 1)
    return sum(match_wild(child, pattern, at + 1) for child in node.children.values())


def work(n):
    words = []
    seed = 2024
    for _ in range(n):
        word = ""
        for _ in range(3):
            seed = seed * 16807 % 2147483647
            word += PARTS[seed % len(PARTS)]
        words.append(word)
    trie = Node()
    for word in words:
        insert(trie, word)
    size = count_words(trie)
    lengths = sum(len(word) for part in PARTS for word in complete(trie, part))
    wild = match_wild(trie, "re?o????") + match_wild(trie, "??????er")
    for word in words[: n // 2]:
        remove(trie, word)
    return f"trie {size} {lengths} {wild} {count_words(trie)} {','.join(complete(trie, 'in')[:2])}"

from bisect import bisect_left


class Sorted:
    def __init__(self, limit):
        self.chunks = [[]]
        self.limit = limit
        self.size = 0

    def chunk_for(self, value):
        low = 0
        high = len(self.chunks) - 1
        while low < high:
            middle = (low + high) // 2
            if self.chunks[middle][-1] < value:
                low = middle + 1
            else:
                high = middle
        return low

    def insert(self, value):
        c = self.chunk_for(value)
        chunk = self.chunks[c]
        chunk.insert(bisect_left(chunk, value), value)
        if len(chunk) > self.limit:
            half = len(chunk) // 2
            self.chunks.insert(c + 1, chunk[half:])
            del chunk[half:]
        self.size += 1

    def remove(self, value):
        c = self.chunk_for(value)
        chunk = self.chunks[c]
        at = bisect_left(chunk, value)
        if at == len(chunk) or chunk[at] != value:
            return
        del chunk[at]
        if not chunk and len(self.chunks) > 1:
            del self.chunks[c]
        self.size -= 1

    def at(self, index):
        for chunk in self.chunks:
            if index < len(chunk):
                return chunk[index]
            index -= len(chunk)
        return None

    def rank(self, value):
        before = 0
        for chunk in self.chunks:
            if chunk and chunk[-1] < value:
                before += len(chunk)
            else:
                return before + bisect_left(chunk, value)
        return before


def work(n):
    ordered = Sorted(32)
    seed = 55
    for i in range(n):
        seed = seed * 16807 % 2147483647
        ordered.insert(seed % 5000)
        if i % 4 == 3:
            ordered.remove(ordered.at(seed % ordered.size))
    ranks = 0
    for value in range(51):
        ranks = (ranks * 3 + ordered.rank(value * 100)) % 1000003
    part = sum(item for chunk in ordered.chunks for item in chunk if 1000 <= item < 1200)
    first, last = ordered.at(0), ordered.at(ordered.size - 1)
    return f"sorted_chunks {ordered.size} {len(ordered.chunks)} {ranks} {part} {first} {last}"

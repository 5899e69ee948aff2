class Heap:
    def __init__(self, before):
        self.items = []
        self.before = before

    def add(self, item):
        items, before = self.items, self.before
        at = len(items)
        items.append(item)
        while at > 0:
            parent = (at - 1) // 2
            if not before(item, items[parent]):
                break
            items[at] = items[parent]
            at = parent
        items[at] = item

    def take(self):
        items, before = self.items, self.before
        first = items[0]
        last = items.pop()
        count = len(items)
        if count == 0:
            return first
        at = 0
        while at * 2 + 1 < count:
            child = at * 2 + 1
            if child + 1 < count and before(items[child + 1], items[child]):
                child += 1
            if not before(items[child], last):
                break
            items[at] = items[child]
            at = child
        items[at] = last
        return first


class Job:
    def __init__(self, time, id, kind):
        self.time = time
        self.id = id
        self.kind = kind


def work(n):
    heap = Heap(lambda a, b: a.time < b.time or (a.time == b.time and a.id < b.id))
    seed = 77
    for id in range(n):
        seed = seed * 16807 % 2147483647
        heap.add(Job(seed % 1000, id, "repeat" if id % 3 == 0 else "once"))
    done = total = now = 0
    while heap.items:
        job = heap.take()
        assert job.time >= now
        now = job.time
        done += 1
        total = (total * 31 + job.id * 7 + job.time) % 1000003
        if job.kind == "repeat" and job.time < 1500:
            heap.add(Job(job.time + 400, job.id, job.kind))
    return f"job_heap {done} {total} {now}"

// A binary heap of jobs in a list; events are taken in the order of their time.

class Heap {
  constructor(before) {
    this.items = []
    this.before = before
  }

  get size() {
    return this.items.length
  }

  add(item) {
    const { items, before } = this
    let at = items.length
    items.push(item)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!before(item, items[parent])) break
      items[at] = items[parent]
      at = parent
    }
    items[at] = item
  }

  take() {
    const { items, before } = this
    const first = items[0]
    const last = items.pop()
    const count = items.length
    if (count === 0) return first
    let at = 0
    while (at * 2 + 1 < count) {
      let child = at * 2 + 1
      if (child + 1 < count && before(items[child + 1], items[child])) child++
      if (!before(items[child], last)) break
      items[at] = items[child]
      at = child
    }
    items[at] = last
    return first
  }
}

export function run(n) {
  const heap = new Heap((a, b) => a.time < b.time || (a.time === b.time && a.id < b.id))
  let seed = 77
  for (let id = 0; id < n; id++) {
    seed = (seed * 16807) % 2147483647
    heap.add({ time: seed % 1000, id, kind: id % 3 === 0 ? 'repeat' : 'once' })
  }
  let done = 0
  let sum = 0
  let now = 0
  while (heap.size > 0) {
    const job = heap.take()
    if (job.time < now) throw new Error(`time goes back to ${job.time}`)
    now = job.time
    done++
    sum = (sum * 31 + job.id * 7 + job.time) % 1000003
    if (job.kind === 'repeat' && job.time < 1500) heap.add({ time: job.time + 400, id: job.id, kind: job.kind })
  }
  return `job_heap ${done} ${sum} ${now}`
}

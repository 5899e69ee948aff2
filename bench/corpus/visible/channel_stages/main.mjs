// Tasks pass work through channels: a source, workers that change it, and a sink that sums it up.

// Tasks are generators that a small scheduler runs: they yield when a channel is full or empty.
class Channel {
  constructor(capacity) {
    this.capacity = capacity
    this.items = []
    this.isClosed = false
  }

  *send(item) {
    while (this.items.length >= this.capacity) yield
    this.items.push(item)
  }

  /** Undefined when it is closed and empty. */
  *receive() {
    while (this.items.length === 0) {
      if (this.isClosed) return undefined
      yield
    }
    return this.items.shift()
  }
}

function* produce(out, count) {
  let seed = 19
  for (let id = 0; id < count; id++) {
    seed = (seed * 16807) % 2147483647
    yield* out.send({ id, value: seed % 1000, tags: [seed % 3, seed % 5] })
  }
  out.isClosed = true
  return count
}

function improve(item) {
  let { value } = item
  for (const tag of item.tags) value = (value * (tag + 2) + item.id) % 10007
  return { ...item, value }
}

function* transform(input, out, id) {
  let count = 0
  for (let item = yield* input.receive(); item !== undefined; item = yield* input.receive()) {
    if (item.value < 0) throw new Error(`worker ${id} found a negative value`)
    yield* out.send(improve(item))
    count++
  }
  return count
}

function* sink(done, totals) {
  for (let item = yield* done.receive(); item !== undefined; item = yield* done.receive()) {
    totals.received++
    totals.sum += (item.value * ((item.id % 7) + 1)) % 1009
  }
}

export function run(n) {
  const raw = new Channel(8)
  const done = new Channel(8)
  const totals = { received: 0, sum: 0 }
  const workers = [0, 1, 2].map((id) => transform(raw, done, id))
  let tasks = [produce(raw, n), ...workers, sink(done, totals)]
  let made = 0
  let moved = 0
  let working = workers.length
  while (tasks.length > 0) {
    const left = []
    for (const task of tasks) {
      const step = task.next()
      if (!step.done) {
        left.push(task)
      } else if (workers.includes(task)) {
        moved += step.value
        if (--working === 0) done.isClosed = true
      } else if (step.value !== undefined) {
        made = step.value
      }
    }
    tasks = left
  }
  return `channel_stages ${made} ${totals.received} ${moved} ${totals.sum}`
}

// Workers take jobs from a channel, fail now and then, and put results on another one; a collector retries.

// Tasks are generators that a small scheduler runs in turn.
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

  *receive() {
    while (this.items.length === 0) {
      if (this.isClosed) return undefined
      yield
    }
    return this.items.shift()
  }
}

function makeJobs(count) {
  let seed = 515
  const jobs = []
  for (let id = 0; id < count; id++) {
    const numbers = []
    for (let k = 0; k < 6; k++) {
      seed = (seed * 16807) % 2147483647
      numbers.push(seed % 50)
    }
    jobs.push({ id, attempt: 1, numbers })
  }
  return jobs
}

function workOn(job) {
  let sum = 0
  job.numbers.forEach((value, index) => {
    if ((value + index + job.attempt * 7) % 17 === 0) throw new Error(`job ${job.id} met ${value} at ${index}`)
    sum += Math.trunc((value * 100) / (index + 1))
  })
  return sum
}

function tryJob(job) {
  try {
    return { ok: true, id: job.id, attempt: job.attempt, value: workOn(job) }
  } catch (e) {
    return { ok: false, id: job.id, attempt: job.attempt, value: e.message.length }
  }
}

function* serve(jobs, results, totals) {
  for (let job = yield* jobs.receive(); job !== undefined; job = yield* jobs.receive()) {
    yield* results.send(tryJob(job))
    totals.served++
  }
}

function* collect(all, jobs, results, totals) {
  let waiting = all
  while (waiting.length > 0) {
    for (const job of waiting) yield* jobs.send(job)
    const again = []
    for (let k = 0; k < waiting.length; k++) {
      const outcome = yield* results.receive()
      if (outcome.ok) {
        totals.done.set(`job ${outcome.id}`, outcome.value)
        totals.sum += outcome.value
      } else if (outcome.attempt < 3) {
        totals.retries++
        again.push({ ...all[outcome.id], attempt: outcome.attempt + 1 })
      } else {
        totals.lost++
        totals.sum += outcome.value
      }
    }
    waiting = again
  }
  jobs.isClosed = true
}

export function run(n) {
  const jobs = new Channel(4)
  const results = new Channel(n * 4)
  const totals = { done: new Map(), retries: 0, lost: 0, sum: 0, served: 0 }
  let tasks = [collect(makeJobs(n), jobs, results, totals)]
  for (let w = 0; w < 4; w++) tasks.push(serve(jobs, results, totals))
  while (tasks.length > 0) tasks = tasks.filter((task) => !task.next().done)
  return `worker_pool ${totals.done.size} ${totals.retries} ${totals.lost} ${totals.sum} ${totals.served}`
}

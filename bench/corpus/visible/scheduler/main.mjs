// A kernel schedules tasks by priority and kind; packets go from queue to queue.

class Task {
  constructor(name, kind, priority) {
    this.name = name
    this.kind = kind
    this.priority = priority
    this.queue = []
    this.handled = 0
    this.sum = 0
  }

  hasWork() {
    return this.queue.length > 0
  }

  receive(packet) {
    this.queue.push(packet)
  }

  take() {
    return this.queue.shift()
  }

  account(amount) {
    this.handled++
    this.sum = (this.sum * 31 + amount) % 1000003
  }
}

class Kernel {
  constructor() {
    this.tasks = []
    this.index = new Map()
    this.switches = 0
    this.dropped = 0
  }

  add(name, kind, priority) {
    const task = new Task(name, kind, priority)
    this.index.set(name, task)
    this.tasks.push(task)
  }

  inject(round) {
    for (let k = 0; k < 4; k++)
      this.send(k % 2 === 0 ? 'disk' : 'net', { id: round * 4 + k, hops: 0, size: (round * 7 + k * 13) % 97 })
  }

  send(name, packet) {
    const task = this.index.get(name)
    if (task === undefined) this.dropped++
    else task.receive(packet)
  }

  choose() {
    let best = null
    for (const task of this.tasks) {
      if (!task.hasWork()) continue
      if (
        best === null ||
        task.priority > best.priority ||
        (task.priority === best.priority && task.queue.length > best.queue.length)
      )
        best = task
    }
    return best
  }

  run(slices) {
    for (let slice = 0; slice < slices; slice++) {
      const task = this.choose()
      if (task === null) break
      const packet = task.take()
      task.account(packet.size + packet.hops)
      this.switches++
      this.handle(task.kind, packet)
    }
  }

  handle(kind, packet) {
    const moved = { ...packet, hops: packet.hops + 1 }
    switch (kind) {
      case 'device':
        this.send('router', moved)
        break
      case 'handler':
        this.send(packet.size % 2 === 0 ? 'parser' : 'render', moved)
        break
      case 'worker':
        if (packet.hops < 5) this.send('router', { ...moved, size: (packet.size * 5 + 3) % 97 })
        else this.send('clock', moved)
        break
      case 'idle':
        break
      default:
        this.send('nowhere', moved)
    }
  }

  report() {
    const parts = this.tasks.map((task) => `${task.name}:${task.handled}:${task.sum}`)
    return `${this.switches} ${parts.join(' ')} ${this.dropped}`
  }
}

export function run(n) {
  const kernel = new Kernel()
  kernel.add('clock', 'idle', 1)
  kernel.add('disk', 'device', 3)
  kernel.add('net', 'device', 3)
  kernel.add('parser', 'worker', 2)
  kernel.add('render', 'worker', 2)
  kernel.add('router', 'handler', 4)
  for (let round = 0; round < n; round++) {
    kernel.inject(round)
    kernel.run(40)
  }
  return `scheduler ${kernel.report()}`
}

// Calls of flaky services with retries, growing pauses, budgets and a breaker, on a clock that the script advances itself.

class ServiceError extends Error {
  constructor(message, category) {
    super(message)
    this.category = category
  }
}

class Service {
  constructor(name) {
    this.name = name
    this.calls = 0
    this.failures = 0
    this.openUntil = 0
  }

  answer(now) {
    const wave = (this.calls * 7 + this.name.length * 13 + Math.trunc(now / 500)) % 11
    if (wave < 3) throw new ServiceError(`${this.name} is slow`, 'timeout')
    if (wave === 3) throw new ServiceError(`${this.name} refuses`, 'rate_limit')
    if (wave === 4) throw new ServiceError(`${this.name} does not know`, 'not_found')
    return `answer ${this.calls} of ${this.name}`
  }
}

class World {
  constructor() {
    this.now = 0
    this.services = ['search', 'mail', 'files', 'maps'].map((name) => new Service(name))
    this.log = []
  }

  note(kind, id, ms) {
    this.log.push({ kind, id, ms, at: this.now })
  }

  /** Empty when the call succeeded, otherwise the reason. */
  callWithRetry(service, policy, id) {
    let pause = policy.first
    let waited = 0
    for (let attempt = 1; ; attempt++) {
      if (service.openUntil > this.now) {
        this.note('refused', id, 0)
        return 'open'
      }
      service.calls++
      let category = null
      try {
        this.note('answer', id, service.answer(this.now).length)
      } catch (e) {
        ;({ category } = e)
        this.note(category, id, e.message.length)
      }
      if (category === null) {
        service.failures = 0
        return ''
      }
      service.failures++
      if (service.failures >= 6) {
        service.openUntil = this.now + 900
        service.failures = 0
      }
      if (category !== 'timeout' && category !== 'rate_limit') return category
      if (attempt === policy.attempts) return 'attempts'
      const next = Math.min(pause + ((id * 31 + attempt * 17) % 23), 2000)
      if (waited + next > policy.budget) return 'budget'
      this.note('pause', id, next)
      this.now += next
      waited += next
      pause *= policy.factor
    }
  }
}

export function run(n) {
  const world = new World()
  const policies = [
    { attempts: 5, first: 100, factor: 2, budget: 4000 },
    { attempts: 3, first: 50, factor: 3, budget: 1000 },
    { attempts: 8, first: 10, factor: 2, budget: 600 },
  ]
  let ok = 0
  const reasons = new Map()
  for (let i = 0; i < n; i++) {
    const reason = world.callWithRetry(world.services[i % 4], policies[i % 3], i)
    world.now += 37
    if (reason === '') ok++
    else reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  const parts = [...reasons].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, count]) => `${key}:${count}`)
  const pauses = world.log.filter((entry) => entry.kind === 'pause')
  const total = pauses.reduce((sum, entry) => sum + entry.ms, 0)
  return `retry_backoff ${ok} ${parts.join(' ')} ${world.log.length} ${pauses.length} ${total} ${world.now}`
}

// A cache that forgets the oldest entry: a dict into slots that are linked by index.

class Cache {
  constructor(capacity) {
    this.capacity = capacity
    this.index = new Map()
    this.first = null
    this.last = null
    this.hits = 0
    this.misses = 0
  }

  find(key) {
    return this.index.get(key)
  }

  unlink(slot) {
    if (slot.before !== null) slot.before.behind = slot.behind
    else this.first = slot.behind
    if (slot.behind !== null) slot.behind.before = slot.before
    else this.last = slot.before
  }

  linkFirst(slot) {
    slot.before = null
    slot.behind = this.first
    if (this.first !== null) this.first.before = slot
    this.first = slot
    if (this.last === null) this.last = slot
  }

  touch(slot) {
    this.hits++
    if (this.first === slot) return
    this.unlink(slot)
    this.linkFirst(slot)
  }

  put(key, value) {
    this.misses++
    let slot
    if (this.index.size < this.capacity) {
      slot = { key, value, before: null, behind: null }
    } else {
      slot = this.last
      this.index.delete(slot.key)
      this.unlink(slot)
      slot.key = key
      slot.value = value
    }
    this.index.set(key, slot)
    this.linkFirst(slot)
  }

  newest() {
    const keys = []
    for (let slot = this.first; slot !== null; slot = slot.behind) keys.push(slot.key)
    return keys
  }
}

function slowAnswer(key) {
  let h = 17
  for (const c of key) h = (h * 131 + 1 + (c >= '0' && c <= '9' ? Number(c) : 7)) % 1000003
  return h
}

export function run(n) {
  const cache = new Cache(64)
  let seed = 9
  let sum = 0
  for (let i = 0; i < n; i++) {
    seed = (seed * 16807) % 2147483647
    const key = `k${(seed % 60) * (seed % 7)}`
    const slot = cache.find(key)
    if (slot === undefined) {
      const answer = slowAnswer(key)
      cache.put(key, answer)
      sum += answer
    } else {
      cache.touch(slot)
      sum += slot.value
    }
    sum %= 1000003
  }
  return `lru_cache ${sum} ${cache.hits} ${cache.misses} ${cache.newest().slice(0, 5).join(',')}`
}

// A sorted list of chunks that split when they grow: insertions, removals, ranks and ranges.

function lowerBound(items, value) {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (items[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}

class Sorted {
  constructor(limit) {
    this.chunks = [[]]
    this.limit = limit
    this.size = 0
  }

  chunkFor(value) {
    let low = 0
    let high = this.chunks.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.chunks[middle].at(-1) < value) low = middle + 1
      else high = middle
    }
    return low
  }

  insert(value) {
    const c = this.chunkFor(value)
    const chunk = this.chunks[c]
    chunk.splice(lowerBound(chunk, value), 0, value)
    if (chunk.length > this.limit) this.chunks.splice(c + 1, 0, chunk.splice(chunk.length >> 1))
    this.size++
  }

  remove(value) {
    const c = this.chunkFor(value)
    const chunk = this.chunks[c]
    const at = lowerBound(chunk, value)
    if (chunk[at] !== value) return
    chunk.splice(at, 1)
    if (chunk.length === 0 && this.chunks.length > 1) this.chunks.splice(c, 1)
    this.size--
  }

  at(index) {
    let left = index
    for (const chunk of this.chunks) {
      if (left < chunk.length) return chunk[left]
      left -= chunk.length
    }
    return undefined
  }

  rank(value) {
    let before = 0
    for (const chunk of this.chunks) {
      if (chunk.length > 0 && chunk.at(-1) < value) before += chunk.length
      else return before + lowerBound(chunk, value)
    }
    return before
  }

  between(low, high) {
    return this.chunks.flatMap((chunk) => chunk.filter((item) => item >= low && item < high))
  }
}

export function run(n) {
  const sorted = new Sorted(32)
  let seed = 55
  for (let i = 0; i < n; i++) {
    seed = (seed * 16807) % 2147483647
    sorted.insert(seed % 5000)
    if (i % 4 === 3) sorted.remove(sorted.at(seed % sorted.size))
  }
  let ranks = 0
  for (let value = 0; value <= 50; value++) ranks = (ranks * 3 + sorted.rank(value * 100)) % 1000003
  const sum = sorted.between(1000, 1200).reduce((a, b) => a + b, 0)
  return `sorted_chunks ${sorted.size} ${sorted.chunks.length} ${ranks} ${sum} ${sorted.at(0)} ${sorted.at(sorted.size - 1)}`
}

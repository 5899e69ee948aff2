// Colours a map: variables with domains, arcs made consistent, and a search that tries the tightest region first.

function join(map, a, b) {
  if (map.get(a).includes(b)) return
  map.get(a).push(b)
  map.get(b).push(a)
}

function makeMap(count, start) {
  const map = new Map()
  for (let i = 0; i < count; i++) map.set(`r${i}`, [])
  let seed = start
  for (let i = 0; i < count; i++) {
    for (const step of [1, 2]) if (i + step < count) join(map, `r${i}`, `r${i + step}`)
    seed = (seed * 16807) % 2147483647
    const other = seed % count
    if (Math.abs(other - i) > 2) join(map, `r${i}`, `r${other}`)
  }
  return map
}

class Solver {
  constructor(map) {
    this.map = map
    this.names = [...map.keys()].sort((a, b) => (a < b ? -1 : 1))
    this.checks = 0
  }

  propagate(domains, changed) {
    const queue = [changed]
    for (let at = 0; at < queue.length; at++) {
      const name = queue[at]
      const [color] = domains.get(name)
      for (const other of this.map.get(name)) {
        this.checks++
        if (!domains.get(other).includes(color)) continue
        const left = domains.get(other).filter((each) => each !== color)
        if (left.length === 0) return false
        domains.set(other, left)
        if (left.length === 1) queue.push(other)
      }
    }
    return true
  }

  search(domains) {
    let best = null
    for (const name of this.names) {
      const size = domains.get(name).length
      if (size > 1 && (best === null || size < domains.get(best).length)) best = name
    }
    if (best === null) return domains
    for (const color of domains.get(best)) {
      const guess = new Map(domains)
      guess.set(best, [color])
      if (!this.propagate(guess, best)) continue
      const found = this.search(guess)
      if (found !== null) return found
    }
    return null
  }
}

export function run(n) {
  let checks = 0
  let sum = 0
  let failed = 0
  for (let k = 0; k < n; k++) {
    const solver = new Solver(makeMap(24, 11 + k))
    const all = Array.from({ length: 3 + (k % 2) }, (_, i) => i)
    const found = solver.search(new Map(solver.names.map((name) => [name, all])))
    checks += solver.checks
    if (found === null) failed++
    else for (const name of solver.names) sum = (sum * 31 + name.length + found.get(name)[0]) % 1000003
  }
  return `map_coloring ${checks} ${failed} ${sum}`
}

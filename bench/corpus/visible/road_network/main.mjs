// The cheapest roads that join all towns: union-find over sorted edges, then routes by breadth-first search.

function makeRoads(towns, each) {
  const roads = []
  let seed = 3
  for (let a = 0; a < towns; a++) {
    for (let k = 0; k < each; k++) {
      seed = (seed * 16807) % 2147483647
      const b = seed % towns
      seed = (seed * 16807) % 2147483647
      if (a !== b) roads.push({ a, b, cost: (seed % 100) + 1 })
    }
  }
  return roads
}

class Union {
  constructor(count) {
    this.parents = Array.from({ length: count }, (_, i) => i)
    this.ranks = Array(count).fill(0)
    this.groups = count
  }

  find(at) {
    while (this.parents[at] !== at) at = this.parents[at]
    return at
  }

  join(a, b) {
    const x = this.find(a)
    const y = this.find(b)
    if (x === y) return false
    if (this.ranks[x] < this.ranks[y]) {
      this.parents[x] = y
    } else {
      this.parents[y] = x
      if (this.ranks[x] === this.ranks[y]) this.ranks[x]++
    }
    this.groups--
    return true
  }
}

function breadthFirst(neighbours, start) {
  const distances = neighbours.map(() => -1)
  distances[start] = 0
  const queue = [start]
  for (let at = 0; at < queue.length; at++) {
    const town = queue[at]
    for (const other of neighbours[town]) {
      if (distances[other] < 0) {
        distances[other] = distances[town] + 1
        queue.push(other)
      }
    }
  }
  return distances
}

export function run(n) {
  const union = new Union(n)
  const neighbours = Array.from({ length: n }, () => [])
  let chosen = 0
  let cost = 0
  const roads = makeRoads(n, 4).sort((p, q) => p.cost - q.cost || p.a - q.a || p.b - q.b)
  for (const road of roads) {
    if (!union.join(road.a, road.b)) continue
    chosen++
    cost += road.cost
    neighbours[road.a].push(road.b)
    neighbours[road.b].push(road.a)
  }
  let sum = 0
  let farthest = 0
  for (const distance of breadthFirst(neighbours, 0)) {
    sum = (sum * 31 + distance) % 1000003
    farthest = Math.max(farthest, distance)
  }
  return `road_network ${cost} ${chosen} ${union.groups} ${farthest} ${sum}`
}

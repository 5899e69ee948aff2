// The cheapest way through a grid of terrain: Dijkstra with buckets, and the path read back.

class Grid {
  constructor(width, height) {
    this.width = width
    this.height = height
    this.costs = []
    let seed = 8
    for (let i = 0; i < width * height; i++) {
      seed = (seed * 16807) % 2147483647
      const dice = seed % 10
      this.costs.push(dice === 9 && i > 0 && i < width * height - 1 ? 0 : 1 + (dice % 5))
    }
  }

  neighbours(cell) {
    const { width, height, costs } = this
    const x = cell % width
    const y = Math.trunc(cell / width)
    const cells = []
    if (x > 0 && costs[cell - 1] > 0) cells.push(cell - 1)
    if (x < width - 1 && costs[cell + 1] > 0) cells.push(cell + 1)
    if (y > 0 && costs[cell - width] > 0) cells.push(cell - width)
    if (y < height - 1 && costs[cell + width] > 0) cells.push(cell + width)
    return cells
  }
}

function cheapest(grid, start) {
  const distances = grid.costs.map(() => -1)
  const fromCell = grid.costs.map(() => -1)
  const buckets = [[start]]
  distances[start] = 0
  let visited = 0
  for (let at = 0; at < buckets.length; at++) {
    for (let next = 0; next < buckets[at].length; next++) {
      const cell = buckets[at][next]
      if (distances[cell] !== at) continue
      visited++
      for (const other of grid.neighbours(cell)) {
        const distance = at + grid.costs[other]
        if (distances[other] >= 0 && distance >= distances[other]) continue
        distances[other] = distance
        fromCell[other] = cell
        while (buckets.length <= distance) buckets.push([])
        buckets[distance].push(other)
      }
    }
  }
  return { distances, fromCell, visited }
}

export function run(n) {
  const { distances, fromCell, visited } = cheapest(new Grid(n, n), 0)
  const path = []
  for (let at = n * n - 1; at >= 0; at = fromCell[at]) path.push(at)
  const sum = path.reverse().reduce((total, cell) => (total * 31 + cell) % 1000003, 0)
  const reached = distances.filter((distance) => distance >= 0).length
  return `grid_paths ${distances[n * n - 1]} ${path.length} ${sum} ${reached} ${visited}`
}

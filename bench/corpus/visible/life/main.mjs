// The game of life on a torus, with a grid of booleans that is made anew for each generation.

const GLIDER = [
  [0, 1],
  [1, 2],
  [2, 0],
  [2, 1],
  [2, 2],
]
const ACORN = [
  [0, 1],
  [1, 3],
  [2, 0],
  [2, 1],
  [2, 4],
  [2, 5],
  [2, 6],
]

const makeGrid = (width, height) => Array.from({ length: height }, () => Array(width).fill(false))

function stamp(grid, cells, top, left) {
  for (const [y, x] of cells) grid[top + y][left + x] = true
}

function neighbours(grid, y, x) {
  const height = grid.length
  const width = grid[0].length
  let count = 0
  for (let dy = -1; dy <= 1; dy++) {
    for (let dx = -1; dx <= 1; dx++) {
      if (dy === 0 && dx === 0) continue
      if (grid[(y + dy + height) % height][(x + dx + width) % width]) count++
    }
  }
  return count
}

function nextGeneration(grid) {
  return grid.map((row, y) =>
    row.map((alive, x) => {
      const count = neighbours(grid, y, x)
      return count === 3 || (alive && count === 2)
    }),
  )
}

const countAlive = (grid) => grid.reduce((sum, row) => sum + row.filter((alive) => alive).length, 0)

export function run(n) {
  let grid = makeGrid(32, 32)
  stamp(grid, GLIDER, 2, 3)
  stamp(grid, ACORN, 14, 12)
  const history = []
  for (let generation = 0; generation < n; generation++) {
    grid = nextGeneration(grid)
    history.push(countAlive(grid))
  }
  let sum = 7
  grid.forEach((row, y) =>
    row.forEach((alive, x) => {
      if (alive) sum = (sum * 31 + y * 64 + x) % 1000003
    }),
  )
  return `life ${history.at(-1)} ${Math.max(...history)} ${sum}`
}

// Solves sudokus by candidates and search; each guess works on a grid of its own.

const PUZZLES = [
  '530070000600195000098000060800060003400803001700020006060000280000419005000080079',
  '000260701680070090190004500820100040004602900050003028009300074040050036703018000',
  '200080300060070084030500209000105408000000000402706000301007040720040060004010003',
  '000000907000420180000705026100904000050000040000507009920108000034059000507000000',
]

function candidates(grid, row, column) {
  const used = Array(10).fill(false)
  const top = row - (row % 3)
  const left = column - (column % 3)
  for (let k = 0; k < 9; k++) {
    used[grid[row][k]] = true
    used[grid[k][column]] = true
    used[grid[top + Math.trunc(k / 3)][left + (k % 3)]] = true
  }
  const free = []
  for (let value = 1; value <= 9; value++) if (!used[value]) free.push(value)
  return free
}

function fillSingles(grid) {
  let changed = true
  while (changed) {
    changed = false
    for (let row = 0; row < 9; row++) {
      for (let column = 0; column < 9; column++) {
        if (grid[row][column] !== 0) continue
        const values = candidates(grid, row, column)
        if (values.length === 0) return null
        if (values.length === 1) {
          grid[row][column] = values[0]
          changed = true
        }
      }
    }
  }
  return grid
}

function solve(grid) {
  const filled = fillSingles(grid.map((row) => [...row]))
  if (filled === null || filled.every((row) => !row.includes(0))) return filled
  let best = null
  for (let row = 0; row < 9; row++) {
    for (let column = 0; column < 9; column++) {
      if (filled[row][column] !== 0) continue
      const values = candidates(filled, row, column)
      if (best === null || values.length < best.values.length) best = { row, column, values }
    }
  }
  for (const value of best.values) {
    filled[best.row][best.column] = value
    const solved = solve(filled)
    if (solved !== null) return solved
  }
  return null
}

export function run(n) {
  let sum = 0
  for (let i = 0; i < n; i++) {
    const digits = [...PUZZLES[i % PUZZLES.length]].map(Number)
    const grid = Array.from({ length: 9 }, (_, row) => digits.slice(row * 9, row * 9 + 9))
    for (const digit of solve(grid).flat()) sum = (sum * 31 + digit) % 1000003
  }
  return `sudoku ${sum}`
}

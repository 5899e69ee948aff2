// Places queens on a board, row by row, with lists of what is taken.

class Board {
  constructor(size, blocked, queens = []) {
    this.size = size
    this.blocked = blocked
    this.queens = queens
  }

  isFree(row, column) {
    if (row * this.size + column === this.blocked) return false
    for (let above = 0; above < row; above++) {
      const other = this.queens[above]
      if (other === column || Math.abs(other - column) === row - above) return false
    }
    return true
  }

  place(column) {
    return new Board(this.size, this.blocked, [...this.queens, column])
  }

  checksum() {
    return this.queens.reduce((sum, column) => (sum * 31 + column) % 1000003, 7)
  }
}

function solve(board, row) {
  if (row === board.size) return { count: 1, sum: board.checksum() }
  let count = 0
  let sum = 0
  for (let column = 0; column < board.size; column++) {
    if (board.isFree(row, column)) {
      const inner = solve(board.place(column), row + 1)
      count += inner.count
      sum = (sum + inner.sum) % 1000003
    }
  }
  return { count, sum }
}

function countInPlace(size) {
  const queens = []
  const columns = Array(size * 2).fill(false)
  const up = Array(size * 2).fill(false)
  const down = Array(size * 2).fill(false)
  let row = 0
  let found = 0
  let next = 0
  while (row >= 0) {
    if (next >= size) {
      row--
      if (row >= 0) {
        const column = queens[row]
        columns[column] = false
        up[row + column] = false
        down[row - column + size] = false
        next = column + 1
      }
    } else if (!columns[next] && !up[row + next] && !down[row - next + size]) {
      if (row === size - 1) {
        found++
        next++
      } else {
        queens[row] = next
        columns[next] = true
        up[row + next] = true
        down[row - next + size] = true
        row++
        next = 0
      }
    } else {
      next++
    }
  }
  return found
}

export function run(n) {
  const size = 6
  let count = 0
  let sum = 0
  for (let round = 0; round < n; round++) {
    const result = solve(new Board(size, (round * 7) % (size * size)), 0)
    count += result.count
    sum = (sum * 31 + result.sum) % 1000003
  }
  return `queens ${count} ${sum} ${countInPlace(size + 1)}`
}

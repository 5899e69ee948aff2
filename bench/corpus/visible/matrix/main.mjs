// Products, transposes and determinants of matrices as lists of lists.

function makeMatrix(size, start) {
  let seed = start
  return Array.from({ length: size }, (_, i) =>
    Array.from({ length: size }, (__, j) => {
      seed = (seed * 16807) % 2147483647
      return (seed % 1000) / 1000 / size + (i === j ? 0.5 : 0)
    }),
  )
}

function identity(size) {
  return Array.from({ length: size }, (_, i) => Array.from({ length: size }, (__, j) => (i === j ? 1 : 0)))
}

const transpose = (matrix) => matrix.map((_, i) => matrix.map((row) => row[i]))

function multiply(a, b) {
  const size = a.length
  const result = []
  for (let i = 0; i < size; i++) {
    const row = []
    for (let j = 0; j < size; j++) {
      let sum = 0
      for (let k = 0; k < size; k++) sum += a[i][k] * b[k][j]
      row.push(sum)
    }
    result.push(row)
  }
  return result
}

function power(matrix, exponent) {
  let result = identity(matrix.length)
  let base = matrix
  for (let left = exponent; left > 0; left >>= 1) {
    if (left % 2 === 1) result = multiply(result, base)
    base = multiply(base, base)
  }
  return result
}

function determinant(matrix) {
  const m = matrix.map((row) => [...row])
  const size = m.length
  let result = 1
  for (let column = 0; column < size; column++) {
    let pivot = column
    for (let row = column + 1; row < size; row++) if (Math.abs(m[row][column]) > Math.abs(m[pivot][column])) pivot = row
    if (m[pivot][column] === 0) return 0
    if (pivot !== column) {
      ;[m[pivot], m[column]] = [m[column], m[pivot]]
      result = -result
    }
    result *= m[column][column]
    for (let row = column + 1; row < size; row++) {
      const factor = m[row][column] / m[column][column]
      for (let k = column; k < size; k++) m[row][k] -= factor * m[column][k]
    }
  }
  return result
}

const trace = (matrix) => matrix.reduce((sum, row, i) => sum + row[i], 0)

export function run(n) {
  const a = makeMatrix(n, 1)
  const product = multiply(a, transpose(a))
  const high = power(a, 5)
  return `matrix ${Math.floor(trace(product) * 1000)} ${Math.floor(trace(high) * 1000)} ${Math.floor(determinant(product) * 1000000)}`
}

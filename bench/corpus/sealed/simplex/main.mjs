// Linear programs by the simplex method over a table of rows.

function makeProblem(variables, constraints, start) {
  let seed = start * 7919
  const random = () => (seed = (seed * 16807) % 2147483647)
  const costs = []
  for (let i = 0; i < variables; i++) costs.push(1 + (random() % 90) / 10)
  const rows = []
  const bounds = []
  for (let c = 0; c < constraints; c++) {
    const row = []
    for (let i = 0; i < variables; i++) row.push(random() % 3 === 0 ? 0 : 1 + (seed % 50) / 10)
    rows.push(row)
    bounds.push(20 + (random() % 1000) / 10)
  }
  rows.push(costs.map(() => 1))
  bounds.push(60)
  return { costs, rows, bounds }
}

function build({ costs, rows, bounds }) {
  const table = rows.map((row, i) => [...row, ...rows.map((_, k) => (k === i ? 1 : 0)), bounds[i]])
  table.push([...costs.map((cost) => 0 - cost), ...Array(rows.length + 1).fill(0)])
  return table
}

function chooseColumn(row) {
  let best = -1
  for (let j = 0; j < row.length - 1; j++) if (row[j] < -0.000000001 && (best < 0 || row[j] < row[best])) best = j
  return best
}

function chooseRow(table, column) {
  let best = -1
  let least = 0
  for (let i = 0; i < table.length - 1; i++) {
    if (table[i][column] <= 0.000000001) continue
    const ratio = table[i].at(-1) / table[i][column]
    if (best < 0 || ratio < least) {
      best = i
      least = ratio
    }
  }
  return best
}

function pivot(table, row, column) {
  const factor = table[row][column]
  const width = table[row].length
  for (let j = 0; j < width; j++) table[row][j] /= factor
  for (let i = 0; i < table.length; i++) {
    const share = table[i][column]
    if (i === row || share === 0) continue
    for (let j = 0; j < width; j++) table[i][j] -= share * table[row][j]
  }
}

function maximize(problem) {
  const table = build(problem)
  const basis = problem.rows.map(() => -1)
  let steps = 0
  while (steps < 200) {
    const column = chooseColumn(table.at(-1))
    if (column < 0) break
    const row = chooseRow(table, column)
    if (row < 0) throw new Error('the problem has no bound')
    pivot(table, row, column)
    basis[row] = column
    steps++
  }
  const amounts = problem.costs.map(() => 0)
  basis.forEach((column, i) => {
    if (column >= 0 && column < amounts.length) amounts[column] = table[i].at(-1)
  })
  return { value: table.at(-1).at(-1), amounts, steps }
}

export function run(n) {
  let sum = 0
  let steps = 0
  for (let k = 0; k < n; k++) {
    const result = maximize(makeProblem(6 + (k % 5), 8 + (k % 7), k + 1))
    steps += result.steps
    sum += Math.floor(result.value * 100)
    for (const amount of result.amounts) sum = (sum * 7 + Math.floor(amount * 100 + 0.001)) % 1000003
  }
  return `simplex ${steps} ${sum}`
}

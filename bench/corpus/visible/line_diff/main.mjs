// The difference of two texts by dynamic programming over their lines, as hunks.

function makeLines(count, skip) {
  let seed = 13
  const lines = []
  for (let i = 0; i < count; i++) {
    seed = (seed * 16807) % 2147483647
    if (seed % skip === 0) lines.push(`changed ${seed % 9}`)
    else if (seed % (skip + 1) !== 0) lines.push(`line ${i % 40} of ${seed % 3}`)
  }
  return lines
}

function lengths(before, after) {
  const table = Array.from({ length: before.length + 1 }, () => Array(after.length + 1).fill(0))
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      table[i][j] = before[i] === after[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1])
    }
  }
  return table
}

function diffLines(before, after) {
  const table = lengths(before, after)
  const steps = []
  let i = 0
  let j = 0
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      steps.push({ kind: '=', line: before[i] })
      i++
      j++
    } else if (table[i + 1][j] >= table[i][j + 1]) {
      steps.push({ kind: '-', line: before[i++] })
    } else {
      steps.push({ kind: '+', line: after[j++] })
    }
  }
  while (i < before.length) steps.push({ kind: '-', line: before[i++] })
  while (j < after.length) steps.push({ kind: '+', line: after[j++] })
  return steps
}

function renderHunks(steps, context) {
  const shown = steps.map(() => false)
  steps.forEach((step, i) => {
    if (step.kind === '=') return
    for (let k = Math.max(0, i - context); k <= Math.min(steps.length - 1, i + context); k++) shown[k] = true
  })
  const out = []
  let oldLine = 1
  let newLine = 1
  let wasShown = false
  steps.forEach((step, i) => {
    if (shown[i]) {
      if (!wasShown) out.push(`@@ -${oldLine} +${newLine} @@`)
      out.push(`${step.kind === '=' ? ' ' : step.kind}${step.line}`)
    }
    wasShown = shown[i]
    if (step.kind !== '+') oldLine++
    if (step.kind !== '-') newLine++
  })
  return out.join('\n')
}

export function run(n) {
  const before = makeLines(n, 11)
  const after = makeLines(n, 7)
  const steps = diffLines(before, after)
  const text = renderHunks(steps, 2)
  const kept = steps.filter((step) => step.kind === '=').length
  const added = steps.filter((step) => step.kind === '+').length
  return `line_diff ${before.length} ${after.length} ${kept} ${added} ${text.length} ${text.split('\n').length}`
}

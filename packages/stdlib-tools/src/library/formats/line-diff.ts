// The difference of two texts by lines, all lines shown: ` ` kept, `-` gone, `+` new. Common lines are found by the longest
// common subsequence between the equal head and tail; where that would take too long the middle is replaced as a whole.

import { work } from '@bridle/vm/families'

/** Product of line counts up to which the table of the longest common subsequence is built. */
const MOST_CELLS = 4_000_000

function splitLines(text: string): string[] {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  if (lines.at(-1) === '') lines.pop()
  return lines
}

export function diffLines(before: string, after: string): string {
  const a = splitLines(before)
  const b = splitLines(after)
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  return [
    ...a.slice(0, head).map((line) => ` ${line}`),
    ...diffMiddle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map((line) => ` ${line}`),
  ].join('\n')
}

/** Cells that are filled for a unit, as a power of two. */
const CELL_BITS = 5

/** Equal lines as equal numbers, which are compared at once. */
function numberLines(lines: readonly string[], numbers: Map<string, number>): Uint32Array {
  return Uint32Array.from(lines, (line) => {
    const number = numbers.get(line) ?? numbers.size
    numbers.set(line, number)
    return number
  })
}

function diffMiddle(a: readonly string[], b: readonly string[]): string[] {
  if (a.length * b.length > MOST_CELLS) return [...a.map((line) => `-${line}`), ...b.map((line) => `+${line}`)]
  work((a.length * b.length) >> CELL_BITS)
  const numbers = new Map<string, number>()
  const before = numberLines(a, numbers)
  const after = numberLines(b, numbers)
  const width = b.length + 1
  // lengths[i * width + j]: length of the longest common subsequence of a from i and b from j.
  const lengths = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * width + j
      lengths[at] = before[i] === after[j] ? lengths[at + width + 1]! + 1 : Math.max(lengths[at + width]!, lengths[at + 1]!)
    }
  }
  const out: string[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push(` ${a[i]!}`)
      i++
      j++
    } else if (j >= b.length || (i < a.length && lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!))
      out.push(`-${a[i++]!}`)
    else out.push(`+${b[j++]!}`)
  }
  return out
}

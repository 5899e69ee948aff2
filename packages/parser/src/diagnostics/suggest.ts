// Suggestions for misspelt names: the only edit distance of the product, and the ranking that faults and most diagnostics use. The permitted
// distance grows with the name. A separate entry point, so that running needs nothing else of the parser.

/**
 * Limit of comparisons for suggestions in one run of a phase. A source with thousands of misspelt and thousands of correct names would
 * compare each with each. Names beyond the limit are reported without a suggestion.
 */
export class SuggestionBudget {
  left = 200_000

  get isSpent(): boolean {
    return this.left <= 0
  }
}

/** The candidate that `name` was most likely meant to be, or null. Names that start with `__` are never suggested. */
export function suggest(name: string, candidates: Iterable<string>, budget: SuggestionBudget | null = null): string | null {
  return findClosest(name, candidates, (candidate) => !candidate.startsWith('__'), budget)
}

/** The closest of the candidates that are `usable`: by edits, then by difference in length, then alphabetically. */
export function findClosest(
  name: string,
  candidates: Iterable<string>,
  usable: (candidate: string) => boolean = () => true,
  budget: SuggestionBudget | null = null,
): string | null {
  if (name.length > LONGEST_NAME) return null
  const letters = [...name]
  const { length } = letters
  const limit = length <= 2 ? 1 : length <= 5 ? 2 : 3
  let best: Ranked | null = null
  for (const text of candidates) {
    if (budget !== null && --budget.left <= 0) break
    const lengthGap = Math.abs(characters(text) - length)
    if (lengthGap > limit || text === name || !usable(text)) continue
    const distance = measureDistance(letters, [...text], limit)
    if (distance > limit) continue
    const one = { text, distance, lengthGap }
    if (best === null || isBetter(one, best)) best = one
  }
  return best?.text ?? null
}

/** Longer names are not typed by hand, and a comparison takes time proportional to the product of the lengths. */
const LONGEST_NAME = 256

interface Ranked {
  readonly text: string
  readonly distance: number
  readonly lengthGap: number
}

function isBetter(one: Ranked, other: Ranked): boolean {
  if (one.distance !== other.distance) return one.distance < other.distance
  if (one.lengthGap !== other.lengthGap) return one.lengthGap < other.lengthGap
  return one.text < other.text
}

/** Levenshtein distance in code points; above `limit` any larger number may be returned. */
export function editDistance(from: string, to: string, limit = Number.POSITIVE_INFINITY): number {
  if (leastEdits(from, to) > limit) return limit + 1
  return measureDistance([...from], [...to], limit)
}

/**
 * Lower bound of the edit distance, from the letters that only one of the names has: most names are this far apart, and computing
 * the distance takes a hundred times as long. 0 for names that are not in ASCII.
 */
export function leastEdits(one: string, other: string): number {
  const own = letterMask(one)
  const others = letterMask(other)
  return own === 0 || others === 0 ? 0 : Math.max(countBits(own & ~others), countBits(others & ~own))
}

const MOST_MASKS = 20_000
const masks = new Map<string, number>()

/** A bit for each letter, shared by some; 0 when it is not in ASCII. */
function letterMask(text: string): number {
  let mask = masks.get(text)
  if (mask !== undefined) return mask
  mask = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 127) {
      mask = 0
      break
    }
    mask |= 1 << (code & 31)
  }
  if (masks.size >= MOST_MASKS) masks.clear()
  masks.set(text, mask)
  return mask
}

function countBits(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++
  return count
}

/** Number of code points, without splitting the string: most candidates have another length. */
function characters(text: string): number {
  let count = text.length
  for (let at = 0; at + 1 < text.length; at++) if (text.codePointAt(at)! > 0xffff) count--
  return count
}

function measureDistance(a: readonly string[], b: readonly string[], limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let row = b.map((_, at) => at + 1)
  row.unshift(0)
  for (const [at, letter] of a.entries()) {
    const next = [at + 1]
    let smallest = at + 1
    for (let column = 1; column <= b.length; column += 1) {
      const change = row[column - 1]! + (letter === b[column - 1] ? 0 : 1)
      const value = Math.min(change, row[column]! + 1, next[column - 1]! + 1)
      next.push(value)
      if (value < smallest) smallest = value
    }
    if (smallest > limit) return limit + 1
    row = next
  }
  return row[b.length]!
}

// The name that a misspelt one may have meant, for names that are only known at run time; the compiler has its own for the rest.

import { compareText } from '../values/text-order.js'

/** The closest candidate by edits, then length, then order; null when none is close enough (reference 02 §12.4). */
export function closestName(name: string, candidates: Iterable<string>): string | null {
  return closestOf(name, candidates, (candidate) => !candidate.startsWith('__') && !candidate.includes('.'))
}

/** As closestName, for other names than those of the language. */
export function closestOf(
  name: string,
  candidates: Iterable<string>,
  usable: (candidate: string) => boolean = () => true,
): string | null {
  const limit = name.length <= 2 ? 1 : name.length <= 5 ? 2 : 3
  let best: string | null = null
  let bestRank: readonly [edits: number, lengths: number] = [limit + 1, 0]
  for (const candidate of candidates) {
    const lengths = Math.abs(candidate.length - name.length)
    if (candidate === name || lengths > bestRank[0] || !usable(candidate)) continue
    const edits = editDistance(name, candidate)
    if (edits > limit) continue
    const order = edits - bestRank[0] || lengths - bestRank[1] || (best === null ? -1 : compareText(candidate, best))
    if (order >= 0) continue
    best = candidate
    bestRank = [edits, lengths]
  }
  return best
}

/** Insertions, removals and replacements of characters that turn one text into the other. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const replace = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, replace))
    }
    row = next
  }
  return row[to.length] ?? 0
}

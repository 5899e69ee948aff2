// Suggestions of static checks. Run-time look-ups have another rule. Here any name within two edits is suggested, and the order of
// the candidates breaks ties.

import { editDistance } from '@bridle/parser'
import type { SuggestionBudget } from '@bridle/parser'

const MAX_DISTANCE = 2

/** A comparison takes time proportional to the product of the lengths. */
const LONGEST_NAME = 256

const encoder = new TextEncoder()

/** Length in UTF-8. */
function byteLength(text: string): number {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return encoder.encode(text).length
  return text.length
}

/** The first of the closest candidates within two edits; a candidate equal to `name` does not count. */
export function closest(name: string, candidates: Iterable<string>, budget: SuggestionBudget): string | null {
  if (budget.isSpent || name.length > LONGEST_NAME) return null
  const size = byteLength(name)
  let best: string | null = null
  let bestDistance = MAX_DISTANCE + 1
  for (const candidate of candidates) {
    if (--budget.left <= 0) break
    // A string is at most three times as long in UTF-8 as in UTF-16, so most candidates need no encoding.
    if (candidate === name || candidate.length > size + MAX_DISTANCE || candidate.length * 3 < size - MAX_DISTANCE) continue
    if (Math.abs(byteLength(candidate) - size) > MAX_DISTANCE) continue
    const distance = editDistance(name, candidate, MAX_DISTANCE)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

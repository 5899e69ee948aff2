// Suggestions of strict findings. A wrong suggestion costs more than none: the limits are narrow, transposed letters are one edit,
// and spellings that differ only in case, underscores or the order of their words are the same name.

import { leastEdits, SuggestionBudget } from '@bridle/parser'

const LONGEST_NAME = 64

export interface Candidate {
  readonly name: string
  /** Smaller is nearer: 0 for names of the script, 1 for names of the language. */
  readonly distance: 0 | 1
}

/** The name that was most likely meant; null when none is near or two are equally near. */
export function suggestName(name: string, candidates: Iterable<Candidate>, budget: SuggestionBudget): string | null {
  if (budget.isSpent || name.length > LONGEST_NAME) return null
  const spelling = readSpelling(name)
  let best: { readonly name: string; readonly cost: number } | null = null
  let isTied = false
  for (const candidate of candidates) {
    if (candidate.name === name || candidate.name === '_' || candidate.name.startsWith('__')) continue
    const cost = measure(name, spelling, candidate, budget)
    if (cost === null) continue
    if (best === null || cost < best.cost) {
      best = { name: candidate.name, cost }
      isTied = false
    } else if (cost === best.cost && candidate.name !== best.name) isTied = true
    if (budget.isSpent) break
  }
  return isTied ? null : (best?.name ?? null)
}

/** The same for plain names, without ranks. */
export function suggestNear(name: string, names: Iterable<string>): string | null {
  return suggestName(
    name,
    [...names].map((each): Candidate => ({ name: each, distance: 0 })),
    new SuggestionBudget(),
  )
}

function measure(name: string, { plain, words }: Spelling, candidate: Candidate, budget: SuggestionBudget): number | null {
  const limit = maxEdits(Math.min(name.length, candidate.name.length), candidate.distance)
  const gap = Math.abs(candidate.name.length - name.length)
  if (gap > 3 && words === null) return null
  const other = readSpelling(candidate.name)
  if (other.plain === plain) return 0.1 + candidate.distance / 100
  if (words !== null && other.words === words) return 0.2 + candidate.distance / 100
  if (gap > limit || limit === 0) return null
  if (--budget.left <= 0) return null
  if (leastEdits(name, candidate.name) > limit) return null
  const edits = countEdits(name, candidate.name, limit)
  return edits > limit ? null : edits + candidate.distance / 2
}

/** The language has so many names that one is near by chance. */
function maxEdits(length: number, distance: 0 | 1): number {
  if (length <= 2) return 0
  if (length <= 4) return distance === 0 ? 1 : length < 4 ? 0 : 1
  if (length <= 7) return distance === 0 ? 2 : 1
  return distance === 0 ? 3 : 2
}

interface Spelling {
  /** Without case and underscores. */
  readonly plain: string
  readonly words: string | null
}

const MOST_SPELLINGS = 20_000
const spellings = new Map<string, Spelling>()

/** Cached, because each unknown name is compared with all names of the language. */
function readSpelling(name: string): Spelling {
  let found = spellings.get(name)
  if (found === undefined) {
    if (spellings.size >= MOST_SPELLINGS) spellings.clear()
    spellings.set(name, (found = { plain: normalize(name), words: sortWords(name) }))
  }
  return found
}

function normalize(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}

/** The words of a name in alphabetical order; null for a single word. */
function sortWords(name: string): string | null {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_')
    .filter((word) => word !== '')
  return words.length < 2 ? null : words.sort().join('_')
}

/** Edits with a transposition as one; beyond `limit` any larger number. */
export function countEdits(from: string, to: string, limit: number): number {
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let y = 1; y <= from.length; y++) {
    const next = [y]
    let smallest = y
    for (let x = 1; x <= to.length; x++) {
      const same = from[y - 1] === to[x - 1]
      let value = Math.min(row[x - 1]! + (same ? 0 : 1), row[x]! + 1, next[x - 1]! + 1)
      if (y > 1 && x > 1 && from[y - 1] === to[x - 2] && from[y - 2] === to[x - 1]) value = Math.min(value, before[x - 2]! + 1)
      next.push(value)
      if (value < smallest) smallest = value
    }
    if (smallest > limit) return limit + 1
    before = row
    row = next
  }
  return row[to.length]!
}

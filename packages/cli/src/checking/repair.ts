// Repairs of a file, one after the other: what is repaired may show further findings, as an error of syntax hides all others.

import { applyFixes } from '@bridle/parser'
import type { Finding } from '../findings.js'
import { type Parsed, parseTarget } from './analyze.js'

export interface Repaired {
  readonly parsed: Parsed
  readonly count: number
  /** Findings that are left. */
  readonly left: readonly Finding[]
}

/** Repairs come to an end, since each removes what it is for; this is for the one that does not. */
const MOST_ROUNDS = 100

type Analyse = (parsed: Parsed) => readonly Finding[]

/** `further`: findings that are repaired and not reported. */
export function repairTarget(parsed: Parsed, analyse: Analyse, further: Analyse = () => []): Repaired {
  let current = parsed
  let count = 0
  let left = analyse(current)
  const seen = new Set([current.target.text])
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    // What was found in other files has its places there.
    const own = [...left, ...further(current)].filter(({ file }) => file === current.file)
    const result = applyFixes(
      current.target.text,
      own.map(({ diagnostic }) => diagnostic),
    )
    if (result.count === 0 || seen.has(result.text)) break
    const next = parseTarget({ ...current.target, text: result.text })
    // A repair that does not parse would be a bug of ours; it is not made then.
    if (next.program === null && current.program !== null) break
    seen.add(result.text)
    current = next
    count += result.count
    left = analyse(current)
  }
  return { parsed: current, count, left }
}

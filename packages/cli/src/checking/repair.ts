// Repairs a file repeatedly: a repaired file may have further findings, because a syntax error hides all others.

import { applyFixes } from '@bridle/parser'
import type { Finding } from '../findings.js'
import { type Parsed, parseTarget } from './analyze.js'

export interface Repaired {
  readonly parsed: Parsed
  readonly count: number
  /** The remaining findings. */
  readonly left: readonly Finding[]
}

/** Repairs normally end, since each removes its cause; this bounds one that does not. */
const MOST_ROUNDS = 100

type Analyse = (parsed: Parsed) => readonly Finding[]

/** `further`: findings that are repaired and not reported. */
export function repairTarget(parsed: Parsed, analyse: Analyse, further: Analyse = () => []): Repaired {
  let current = parsed
  let count = 0
  let left = analyse(current)
  const seen = new Set([current.target.text])
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    // Positions of findings in other files refer to those files.
    const own = [...left, ...further(current)].filter(({ file }) => file === current.file)
    const result = applyFixes(
      current.target.text,
      own.map(({ diagnostic }) => diagnostic),
    )
    if (result.count === 0 || seen.has(result.text)) break
    const next = parseTarget({ ...current.target, text: result.text })
    // A repair that does not parse would be a bug; it is not applied.
    if (next.program === null && current.program !== null) break
    seen.add(result.text)
    current = next
    count += result.count
    left = analyse(current)
  }
  return { parsed: current, count, left }
}

// Suggests a name for a misspelt one, for names that are known only at run time; the compiler handles the others.

import { findClosest } from '@bridle/compiler/signatures'

/** The closest candidate by edits, then length, then order; null when none is close enough. */
export function findClosestName(name: string, candidates: Iterable<string>): string | null {
  return findClosest(name, candidates, (candidate) => !candidate.startsWith('__') && !candidate.includes('.'))
}

// The name that a misspelt one may have meant, for names that are only known at run time; the compiler has its own for the rest.

import { findClosest } from '@bridle/compiler/signatures'

/** The closest candidate by edits, then length, then order; null when none is close enough. */
export function findClosestName(name: string, candidates: Iterable<string>): string | null {
  return findClosest(name, candidates, (candidate) => !candidate.startsWith('__') && !candidate.includes('.'))
}

// Counting what runs: where a host wants to know, the emitter calls a primitive at statements, at the beginning of functions and at the
// arms of branches. Programs that nobody measures have no such calls, so that counting costs them nothing.

import type { SourceFile, Span } from '@bridle/parser'

/** What branches: each arm is counted. */
export type BranchKind = 'if' | 'ternary' | 'match' | 'guard'

export type CoveragePoint =
  | { readonly kind: 'statement'; readonly span: Span }
  | { readonly kind: 'function'; readonly name: string; readonly span: Span }
  | { readonly kind: 'branch'; readonly branch: BranchKind; readonly span: Span; readonly arm: number }

/** Numbers the counters. Code that is emitted twice, such as that of a `finally`, asks for the same point again. */
export interface CoverageCounters {
  /** Null for what is not counted. */
  readonly number: (file: SourceFile, point: CoveragePoint) => number | null
}

/** The primitive that counts; the host defines it beside the counters. */
export const COUNT_PRIMITIVE = '__count_coverage'

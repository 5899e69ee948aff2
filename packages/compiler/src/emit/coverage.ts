// Coverage: if a host requests it, the emitter calls a counting primitive at statements, at the start of functions and at the
// arms of branches. Other programs have no such calls, so coverage costs them nothing.

import type { SourceFile, Span } from '@bridle/parser'

/** Branching constructs: each arm is counted. */
export type BranchKind = 'if' | 'ternary' | 'match' | 'guard'

export type CoveragePoint =
  | { readonly kind: 'statement'; readonly span: Span }
  | { readonly kind: 'function'; readonly name: string; readonly span: Span }
  | { readonly kind: 'branch'; readonly branch: BranchKind; readonly span: Span; readonly arm: number }

/** Numbers the counters. Code that is emitted twice, such as that of a `finally`, requests the same point again. */
export interface CoverageCounters {
  /** Null if it is not counted. */
  readonly number: (file: SourceFile, point: CoveragePoint) => number | null
}

/** The counting primitive; the host defines it together with the counters. */
export const COUNT_PRIMITIVE = '__count_coverage'

// What a parse gives, whichever parser made it: the tree that build-ast.ts reads, and the report of a failure that
// syntax-errors.ts words. Rules are those of harn.ohm; the tree has the shape that Ohm gives it, so that the generated parser and
// Ohm itself can stand in for each other (packages/parser/test compares them).

import type { RuleName } from './grammar.generated.js'
import type { TokenName } from './tokens.js'

export type { RuleName }

export type StartRule = 'program' | 'interpolation'

/**
 * One application of a rule, a token (`rule` is '_terminal') or a repetition ('_iter': one child for each time, of one place
 * of the repeated sequence). `start` and `end` are token indexes, half open; those of a repetition mean nothing.
 */
export interface ParseNode {
  readonly rule: RuleName | '_terminal' | '_iter'
  readonly start: number
  readonly end: number
  readonly count: number
  child(at: number): ParseNode
}

export interface Expected {
  /** A token, or the description that harn.ohm gives a rule. */
  readonly what: { readonly kind: 'token'; readonly name: TokenName } | { readonly kind: 'described'; readonly text: string }
  /** Something that could have gone on here after a part that was complete. */
  readonly optional: boolean
}

export interface MatchFailure {
  /** Index of the token at which no rule could go on; the number of tokens when they ended too early. */
  readonly position: number
  readonly expected: () => readonly Expected[]
}

export type MatchOutcome =
  | { readonly ok: true; readonly root: ParseNode }
  | { readonly ok: false; readonly failure: MatchFailure }

/** Place of the record of a repetition with nothing in it, on every tape. */
export const EMPTY = 0

/** Raised by the generated parser for types that nest deeper than the limit; brackets are counted by the lexer. */
export class TooDeep extends Error {
  /** Index of the token. */
  readonly token: number

  constructor(token: number) {
    super('nested too deeply')
    this.token = token
  }
}

// The result of a parse, for every parser: the tree that build-ast.ts reads, and the failure that
// syntax-errors.ts describes. The tree has the shape that Ohm gives it, so the generated parser and
// Ohm are interchangeable (packages/parser/test compares them).

import type { RuleName } from './grammar.generated.js'
import type { TokenName } from './tokens.js'

export type { RuleName }

export type StartRule = 'program' | 'interpolation'

/**
 * One application of a rule, a token (`rule` is '_terminal') or a repetition ('_iter': one child for each repetition, for one part
 * of the repeated sequence). `start` and `end` are token indexes, half open; those of a repetition are meaningless.
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
  /** A token that could have continued a complete part here. */
  readonly optional: boolean
}

export interface MatchFailure {
  /** Index of the token at which no rule could continue; the number of tokens when they ended too early. */
  readonly position: number
  readonly expected: () => readonly Expected[]
}

export type MatchOutcome =
  | { readonly ok: true; readonly root: ParseNode }
  | { readonly ok: false; readonly failure: MatchFailure }

/** Index of the record of an empty repetition, on every tape. */
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

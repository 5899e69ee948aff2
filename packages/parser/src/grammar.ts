// Loads the grammar and matches token strings against it. Everything that knows Ohm is in this file: the rest of the package sees
// `ParseNode` and `MatchFailure`, so that another parser for the same rules can take Ohm's place.

import * as ohm from 'ohm-js'
import { GRAMMAR_RECIPE, type RuleName } from './grammar.generated.js'
import { tokenName, type TokenName } from './tokens.js'

export type { RuleName }

export type StartRule = 'program' | 'interpolation'

/**
 * One application of a rule, a token (`rule` is '_terminal') or a repetition ('_iter': one child for each time, of one place
 * of the repeated sequence). `start` and `end` are token indexes, half open.
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
  /** Computed by a second match, so ask only to report. */
  readonly expected: () => readonly Expected[]
}

export type MatchOutcome =
  | { readonly ok: true; readonly root: ParseNode }
  | { readonly ok: false; readonly failure: MatchFailure }

export function matchTokens(units: string, start: StartRule): MatchOutcome {
  const result = grammar().match(units, start) as unknown as OhmResult
  const tree = result._cst
  if (tree !== undefined) return { ok: true, root: new OhmNode(tree, 0, 0) }
  return {
    ok: false,
    failure: {
      position: result.getRightmostFailurePosition(),
      expected: () => result.getRightmostFailures().flatMap(readExpected),
    },
  }
}

// What we use of Ohm's internals. Its public wrapper of the same tree takes five times as long to walk; the exact version is
// pinned for this reason.
interface OhmTree {
  readonly ctorName: string
  readonly matchLength: number
  readonly children?: readonly OhmTree[]
  readonly childOffsets?: readonly number[]
}

interface OhmExpr {
  readonly obj?: string
  readonly from?: string
  readonly to?: string
}

interface OhmFailure {
  readonly pexpr: OhmExpr
  readonly type: 'description' | 'string' | 'code'
  getText(): string
  isFluffy(): boolean
}

interface OhmResult {
  readonly _cst?: OhmTree
  getRightmostFailurePosition(): number
  getRightmostFailures(): readonly OhmFailure[]
}

/** `origin` is the first token of the nearest rule application: offsets in the tree count from there, through repetitions. */
class OhmNode implements ParseNode {
  readonly rule: ParseNode['rule']
  readonly start: number
  readonly end: number
  private readonly tree: OhmTree
  private readonly origin: number

  constructor(tree: OhmTree, start: number, origin: number) {
    this.rule = tree.ctorName as ParseNode['rule']
    this.start = start
    this.end = start + tree.matchLength
    this.tree = tree
    this.origin = origin
  }

  get count(): number {
    return this.tree.children?.length ?? 0
  }

  child(at: number): ParseNode {
    const child = this.tree.children?.[at]
    const offset = this.tree.childOffsets?.[at]
    if (child === undefined || offset === undefined) throw new RangeError(`${this.rule} has no child ${at}`)
    const start = this.origin + offset
    return new OhmNode(child, start, child.ctorName === '_iter' || child.ctorName === '_terminal' ? this.origin : start)
  }
}

function readExpected(failure: OhmFailure): Expected[] {
  const optional = failure.isFluffy()
  if (failure.type === 'description') {
    const text = failure.getText()
    return text.startsWith('not ') ? [] : [{ what: { kind: 'described', text }, optional }]
  }
  const { obj, from, to } = failure.pexpr
  if (obj !== undefined) return [{ what: { kind: 'token', name: tokenName(obj.charCodeAt(0)) }, optional }]
  if (from === undefined || to === undefined) return []
  const names: TokenName[] = []
  for (let unit = from.charCodeAt(0); unit <= to.charCodeAt(0); unit += 1) names.push(tokenName(unit))
  return names.map((name) => ({ what: { kind: 'token', name }, optional }))
}

// Loaded at the first parse rather than at import, and then shared: it holds no state of any parse.
let loaded: ohm.Grammar | null = null

function grammar(): ohm.Grammar {
  loaded ??= (ohm as unknown as { makeRecipe(recipe: string): ohm.Grammar }).makeRecipe(GRAMMAR_RECIPE)
  return loaded
}

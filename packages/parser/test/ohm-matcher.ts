// Ohm itself as a parser for harn.ohm: the oracle for the generated parser and the explanation of failures.

import * as ohm from 'ohm-js'
import { GRAMMAR_RECIPE } from '../src/grammar.generated.js'
import type { Expected, MatchOutcome, ParseNode, StartRule } from '../src/parse-tree.js'
import { tokenName, type TokenName } from '../src/tokens.js'

/** As `matchTokens` of the package. */
export function matchWithOhm(units: string, start: StartRule): MatchOutcome {
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

// The internals of Ohm that we use. Walking the same tree through its public wrapper takes five times as long; the exact version is
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

/** `origin` is the first token of the nearest rule application: offsets in the tree are relative to it, also through repetitions. */
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

// Loaded at the first parse rather than at import, and then shared: it holds no state of a parse.
let loaded: ohm.Grammar | null = null

function grammar(): ohm.Grammar {
  loaded ??= (ohm as unknown as { makeRecipe(recipe: string): ohm.Grammar }).makeRecipe(GRAMMAR_RECIPE)
  return loaded
}

// Explains why tokens do not match the grammar: the rightmost position at which a rule expected another token, and everything expected
// there. The generated parser only reports *that* the match failed. This file interprets the rules (the recipe that Ohm makes from
// harn.ohm) and records failures as Ohm does, so messages equal Ohm's. It is slower than the parser by two orders of magnitude and runs
// only for a source with a syntax error.
//
// Two runs over the same memo table: the first finds the position; the second, on request, records what was expected there.

import { GRAMMAR_RECIPE } from './grammar.generated.js'
import type { Expected, MatchFailure, RuleName, StartRule } from './parse-tree.js'
import { tokenName } from './tokens.js'

/**
 * Why `units` from token `from` on do not match; null when they do. Positions count from the first token of the stream.
 */
export function explain(units: string, start: StartRule, from: number): MatchFailure | null {
  const tail = units.slice(from)
  const search = new Search(tail)
  if (search.run(start)) return null
  const position = search.rightmost
  return { position: from + position, expected: () => search.listWanted(start, position).flatMap(readWanted) }
}

type Peg =
  | { readonly op: 'token'; readonly from: number; readonly to: number; readonly wanted: string }
  | { readonly op: 'app'; readonly rule: RuleName }
  | { readonly op: 'seq' | 'alt'; readonly parts: readonly Peg[] }
  | { readonly op: 'opt' | 'star' | 'plus' | 'not'; readonly part: Peg }
  | { readonly op: 'end' }

interface Rule {
  readonly name: RuleName
  readonly description: string | null
  readonly body: Peg
}

/** Expected tokens by key. The value says whether the token was optional: it could have followed a complete part. */
type Wanted = Map<string, { optional: boolean }>

interface Remembered {
  /** Tokens consumed, -1 when the rule did not match. */
  readonly length: number
  /** Position of the rightmost failure, -1 when there was none. */
  rightmost: number
  /** What was expected there; null when it was not recorded. */
  wanted: Wanted | null
}

const END_OF_INPUT = 'd:end of input'

/** KEEP WITH: MatchState and pexprs-eval of ohm-js, whose records of failures this reproduces; the tests compare the two. */
class Search {
  rightmost = -1
  private readonly units: string
  private readonly memory: (Map<Rule, Remembered> | undefined)[] = []
  private at = 0
  /** Null in the first run. */
  private wanted: Wanted | null = null
  private place = -1

  constructor(units: string) {
    this.units = units
  }

  run(start: StartRule): boolean {
    this.at = 0
    this.rightmost = -1
    return this.match({ op: 'app', rule: start }) && this.match({ op: 'end' })
  }

  listWanted(start: StartRule, place: number): [key: string, optional: boolean][] {
    this.place = place
    this.wanted = new Map()
    this.run(start)
    return [...this.wanted].map(([key, { optional }]) => [key, optional])
  }

  /** Matches at `this.at`, which is unchanged when nothing matches. */
  private match(peg: Peg): boolean {
    const before = this.wanted
    if (before !== null) this.wanted = new Map()
    const start = this.at
    const found = this.step(peg)
    if (!found) this.at = start
    if (before === null || this.wanted === null) return found
    if (found && this.at === this.place) for (const one of this.wanted.values()) one.optional = true
    merge(this.wanted, before, false)
    return found
  }

  private step(peg: Peg): boolean {
    switch (peg.op) {
      case 'token': {
        const unit = this.units.charCodeAt(this.at)
        if (unit >= peg.from && unit <= peg.to) {
          this.at += 1
          return true
        }
        this.fail(this.at, peg.wanted)
        return false
      }
      case 'end':
        if (this.at === this.units.length) return true
        this.fail(this.at, END_OF_INPUT)
        return false
      case 'seq':
        for (const part of peg.parts) if (!this.match(part)) return false
        return true
      case 'alt':
        for (const part of peg.parts) if (this.match(part)) return true
        return false
      case 'opt':
        this.match(peg.part)
        return true
      case 'star':
      case 'plus': {
        let times = 0
        while (this.match(peg.part)) times += 1
        return times > 0 || peg.op === 'star'
      }
      case 'not':
        return this.lookahead(peg.part)
      case 'app':
        return this.apply(peg.rule)
    }
  }

  /** Failures inside `~x` are not recorded. A match of `x` is a failure without a description. */
  private lookahead(part: Peg): boolean {
    const { at: start, rightmost, wanted } = this
    const found = this.match(part)
    this.rightmost = rightmost
    this.wanted = wanted
    this.at = start
    if (found) this.rightmost = Math.max(this.rightmost, start)
    return !found
  }

  private apply(name: RuleName): boolean {
    const rule = rules().get(name)!
    const start = this.at
    const known = (this.memory[start] ??= new Map<Rule, Remembered>())
    const remembered = known.get(rule)
    if (remembered !== undefined && this.suffices(remembered)) return this.recall(remembered)
    const { rightmost, wanted } = this
    this.rightmost = -1
    const found = this.match(rule.body)
    const result: Remembered = {
      length: found ? this.at - start : -1,
      rightmost: this.rightmost,
      wanted: copyWanted(this.wanted),
    }
    known.set(rule, result)
    if (rule.description !== null) {
      this.rightmost = -1
      this.wanted = wanted
      if (!found) this.fail(start, `d:${rule.description}`)
      result.rightmost = this.rightmost
      result.wanted = copyWanted(this.wanted)
    }
    this.rightmost = Math.max(this.rightmost, rightmost)
    return found
  }

  private suffices({ rightmost, wanted }: Remembered): boolean {
    return this.wanted === null || rightmost !== this.place || wanted !== null
  }

  private recall({ length, rightmost, wanted }: Remembered): boolean {
    this.rightmost = Math.max(this.rightmost, rightmost)
    if (this.wanted !== null && rightmost === this.place && wanted !== null) merge(this.wanted, wanted, true)
    if (length < 0) return false
    this.at += length
    return true
  }

  private fail(at: number, key: string): void {
    this.rightmost = Math.max(this.rightmost, at)
    if (this.wanted !== null && at === this.place) note(this.wanted, key, { optional: false }, false)
  }
}

function note(into: Wanted, key: string, one: { optional: boolean }, copying: boolean): void {
  const known = into.get(key)
  if (known === undefined) into.set(key, copying ? { ...one } : one)
  else if (!one.optional) known.optional = false
}

function merge(into: Wanted, more: Wanted, copying: boolean): void {
  for (const [key, one] of more) note(into, key, one, copying)
}

function copyWanted(wanted: Wanted | null): Wanted | null {
  return wanted === null ? null : new Map([...wanted].map(([key, one]) => [key, { ...one }]))
}

function readWanted([key, optional]: readonly [string, boolean]): Expected[] {
  if (key.startsWith('d:')) return [{ what: { kind: 'described', text: key.slice(2) }, optional }]
  const expected: Expected[] = []
  for (let unit = key.charCodeAt(0); unit <= key.charCodeAt(1); unit += 1) {
    expected.push({ what: { kind: 'token', name: tokenName(unit) }, optional })
  }
  return expected
}

// ---- the rules

type RecipeExpr = readonly [op: string, meta: object, ...args: never[]]
type RecipeRule = readonly [op: string, meta: object, description: string | null, params: readonly unknown[], body: RecipeExpr]

let loaded: ReadonlyMap<RuleName, Rule> | null = null

/** Parsed at the first syntax error; the rules hold no state of a search. */
function rules(): ReadonlyMap<RuleName, Rule> {
  loaded ??= readRules(GRAMMAR_RECIPE)
  return loaded
}

function readRules(recipe: string): ReadonlyMap<RuleName, Rule> {
  // Ohm generated it from this grammar, so it has this form.
  const [, , , , , table] = JSON.parse(recipe) as [string, object, string, unknown, string, Record<RuleName, RecipeRule>]
  const names = Object.keys(table) as RuleName[]
  return new Map(names.map((name) => [name, { name, description: table[name][2], body: readPeg(table[name][4]) }]))
}

function readPeg([op, , ...args]: RecipeExpr): Peg {
  const parts = args as unknown as readonly RecipeExpr[]
  const texts = args as unknown as readonly string[]
  switch (op) {
    case 'terminal':
    case 'range': {
      const from = texts[0]!
      const to = texts[1] ?? from
      return { op: 'token', from: from.charCodeAt(0), to: to.charCodeAt(0), wanted: from + to }
    }
    case 'app':
      return texts[0] === 'end' ? { op: 'end' } : { op: 'app', rule: texts[0] as RuleName }
    case 'seq':
    case 'alt':
      return { op, parts: parts.map(readPeg) }
    case 'opt':
    case 'star':
    case 'plus':
    case 'not':
      return { op, part: readPeg(parts[0]!) }
    default:
      throw new Error(`harn.ohm uses "${op}", which explain.ts does not know`)
  }
}

// The rules of the grammar as data, read from the recipe that Ohm makes from harn.ohm, and static facts about an expression:
// which tokens it can begin with. emit-parser.ts chooses between alternatives by that.

import { TOKEN_SPELLINGS } from '../src/tokens.js'

export type Peg =
  /** One token of a set. */
  | { readonly op: 'token'; readonly set: TokenSet }
  | { readonly op: 'app'; readonly rule: string }
  | { readonly op: 'seq' | 'alt'; readonly parts: readonly Peg[] }
  | { readonly op: 'opt' | 'star' | 'plus' | 'not'; readonly part: Peg }
  | { readonly op: 'end' }

/** A bit for each token by its index in the table, and END for the end of the tokens. */
export type TokenSet = bigint

export const END = TOKEN_SPELLINGS.length
export const NONE: TokenSet = 0n
export const ALL: TokenSet = (1n << BigInt(END + 1)) - 1n

const FIRST_UNIT = 0xe000

export interface Rules {
  readonly bodies: ReadonlyMap<string, Peg>
}

type RecipeExpr = readonly [op: string, meta: object, ...args: never[]]

/** Reads `recipe`, a string from Ohm's `toRecipe`. */
export function readRules(recipe: string): Rules {
  const [, , , , , rules] = JSON.parse(recipe) as [string, object, string, unknown, string, Record<string, readonly unknown[]>]
  return { bodies: new Map(Object.entries(rules).map(([name, row]) => [name, readPeg(row[4] as RecipeExpr)])) }
}

function readPeg([op, , ...args]: RecipeExpr): Peg {
  const parts = args as unknown as readonly RecipeExpr[]
  const texts = args as unknown as readonly string[]
  switch (op) {
    case 'terminal':
      return { op: 'token', set: tokensBetween(texts[0]!, texts[0]!) }
    case 'range':
      return { op: 'token', set: tokensBetween(texts[0]!, texts[1]!) }
    case 'app':
      return texts[0] === 'end' ? { op: 'end' } : { op: 'app', rule: texts[0]! }
    case 'seq':
      return { op, parts: parts.map(readPeg) }
    case 'alt': {
      const read = parts.map(readPeg)
      const sets = read.flatMap((part) => (part.op === 'token' ? [part.set] : []))
      if (sets.length === read.length) return { op: 'token', set: sets.reduce((a, b) => a | b) }
      return { op, parts: read }
    }
    case 'opt':
    case 'star':
    case 'plus':
    case 'not':
      return { op, part: readPeg(parts[0]!) }
    default:
      throw new Error(`the generator does not know Ohm's "${op}"`)
  }
}

function tokensBetween(from: string, to: string): TokenSet {
  let set = NONE
  for (let unit = from.charCodeAt(0); unit <= to.charCodeAt(0); unit += 1) set |= 1n << BigInt(unit - FIRST_UNIT)
  return set
}

/** Number of nodes that an expression contributes to its rule, as Ohm counts. */
export function arity(peg: Peg): number {
  switch (peg.op) {
    case 'seq':
      return peg.parts.reduce((sum, part) => sum + arity(part), 0)
    case 'alt':
      return arity(peg.parts[0]!)
    case 'opt':
    case 'star':
    case 'plus':
      return arity(peg.part)
    case 'not':
      return 0
    default:
      return 1
  }
}

/**
 * The tokens at which an expression may match: taking at least one token (`takes`), and taking none (`empty`). Both may be
 * too large, never too small.
 */
export interface Beginning {
  readonly takes: TokenSet
  readonly empty: TokenSet
}

/** Computes the first sets of all rules together, since they refer to each other; the returned function gives that of any expression. */
export function beginnings(rules: Rules): (peg: Peg) => Beginning {
  const known = new Map<string, Beginning>()
  const computeBeginning = (peg: Peg): Beginning => {
    switch (peg.op) {
      case 'token':
        return { takes: peg.set, empty: NONE }
      case 'end':
        return { takes: NONE, empty: 1n << BigInt(END) }
      case 'app':
        return known.get(peg.rule) ?? { takes: NONE, empty: NONE }
      case 'alt':
        return peg.parts.map(computeBeginning).reduce((a, b) => ({ takes: a.takes | b.takes, empty: a.empty | b.empty }))
      case 'seq':
        return peg.parts
          .map(computeBeginning)
          .reduce((a, b) => ({ takes: a.takes | (a.empty & b.takes), empty: a.empty & b.empty }), { takes: NONE, empty: ALL })
      case 'opt':
      case 'star':
        return { takes: computeBeginning(peg.part).takes, empty: ALL }
      case 'plus':
        return computeBeginning(peg.part)
      case 'not': {
        const inner = peg.part
        if (inner.op === 'token') return { takes: NONE, empty: ALL & ~inner.set }
        if (inner.op === 'not') return { takes: NONE, empty: listAllowedTokens(computeBeginning(inner.part)) }
        return { takes: NONE, empty: ALL }
      }
    }
  }
  for (let changed = true; changed;) {
    changed = false
    for (const [name, body] of rules.bodies) {
      const now = computeBeginning(body)
      const before = known.get(name)
      if (before?.takes === now.takes && before.empty === now.empty) continue
      known.set(name, now)
      changed = true
    }
  }
  return computeBeginning
}

/** The tokens at which an expression may match at all. */
export function listAllowedTokens({ takes, empty }: Beginning): TokenSet {
  return takes | empty
}

/** The members of a set, ascending. */
export function listMembers(set: TokenSet): number[] {
  const members: number[] = []
  for (let token = 0; token <= END; token += 1) if ((set & (1n << BigInt(token))) !== 0n) members.push(token)
  return members
}

// Finds further errors after a syntax error. The match stops at the first one. To continue, the tokens of the statement around the error
// are removed and the rest is matched again. This costs nothing without an error, and needs no change of the parser.
//
// An error counts only if it is not a consequence of a cut. A failure at the cut itself is such a consequence, so the enclosing statement is
// cut instead. Missing an error is better than reporting one that disappears when another is repaired.

import type { TokenStream } from './lexer.js'
import { isWordToken, TOKEN, type TokenName, tokenName } from './tokens.js'

/** Words that start a statement after any line break, even if brackets before it are still open. */
const BEGINNINGS: ReadonlySet<TokenName> = new Set<TokenName>([
  'let',
  'var',
  'pub',
  'import',
  'pipeline',
  'struct',
  'enum',
  'interface',
  'impl',
  'type',
  'tool',
  'skill',
  'override',
  'return',
  'throw',
  'while',
  'for',
  'guard',
  'require',
  'defer',
  'mutex',
  'select',
  'break',
  'continue',
  'emit',
  'yield',
])

/** Words that may start a statement after a line break, but also occur inside expressions. */
const CONTROLS: ReadonlySet<TokenName> = new Set<TokenName>(['if', 'match', 'try', 'parallel', 'retry', 'deadline'])

/** An enclosing block of a token: a pair of braces, or the file. */
interface Frame {
  /** First token of the current statement (or entry). */
  start: number
  /** Open brackets and parentheses in it. */
  open: number
  /** Whether the first arrow, which ends the parameters, was seen. */
  readonly closure: boolean
  hasArrow: boolean
}

export class Recovery {
  /** The remaining tokens. */
  tokens: TokenStream
  private cut: Cut | null = null
  /** The next cut must start before this token, so that a failure caused by the last cut removes more. */
  private limit = Infinity
  /** Whether every cut removed as many opening as closing braces; if not, an unbalanced brace is not an error. */
  private isBalanced = true

  constructor(tokens: TokenStream) {
    this.tokens = tokens
  }

  /** Removes the statement around the failure at token `at`; null when nothing remains to match. */
  skip(at: number): TokenStream | null {
    const { units } = this.tokens
    // A statement in a wrong context: braces before it were not closed.
    const isAtCut = this.cut?.beforeStatement === true && at === this.cut.start
    const cut = isAtCut ? cutBefore(units, at) : cutAround(units, at, this.limit)
    if (cut === null) return null
    this.isBalanced &&= isBalanced(units.slice(cut.start, cut.end))
    this.cut = cut
    this.tokens = without(this.tokens, cut)
    return this.tokens
  }

  /** Whether a failure at token `at`, found after a cut, is an independent error. */
  isFinding(at: number): boolean {
    const { units } = this.tokens
    const isFar = this.cut === null || isFarFrom(this.cut, units, at)
    this.limit = isFar || this.cut === null ? Infinity : this.cut.start
    const isBrace = at >= units.length || (units.charCodeAt(at) === TOKEN['}'] && framesAt(units, at).length === 1)
    return isFar && (this.isBalanced || !isBrace)
  }
}

interface Cut {
  /** First removed token, and the one after the last. */
  readonly start: number
  readonly end: number
  /** Whether a statement starts after the cut; otherwise a closing brace or the end of the file follows. */
  readonly beforeStatement: boolean
}

/**
 * The statement around token `at`, in the innermost block in which it starts before token `limit`, up to the next certain start of a
 * statement there or to the end of the block. Null when there is none.
 */
function cutAround(units: string, at: number, limit: number): Cut | null {
  // At the start of a line, the previous statement may be incomplete.
  const isLineStart = units.charCodeAt(at - 1) === TOKEN['\n']
  const frames = framesAt(units, isLineStart ? at - 1 : at)
  const inner = frames.findLastIndex(({ start }) => start < limit)
  const frame = frames[inner]
  if (frame === undefined || at >= units.length) return null
  const level = frames.length - 1 - inner
  if (level === 0 && isLineStart && at - 1 > frame.start && beginsStatement(units, at))
    return { start: frame.start, end: at, beforeStatement: true }
  let depth = level
  for (let token = at; token < units.length; token += 1) {
    const unit = units.charCodeAt(token)
    if (isOpeningBrace(unit)) depth += 1
    else if (unit === TOKEN['}']) {
      if (depth > 0) depth -= 1
      else if (frame !== frames[0]) return { start: frame.start, end: token, beforeStatement: false }
    } else if (unit === TOKEN['\n'] && depth === 0 && beginsStatement(units, token + 1)) {
      return { start: frame.start, end: token + 1, beforeStatement: true }
    }
  }
  return { start: frame.start, end: units.length, beforeStatement: false }
}

/** The start of the statement around token `at`. */
function cutBefore(units: string, at: number): Cut | null {
  const frame = framesAt(units, at).at(-2)
  return frame === undefined ? null : { start: frame.start, end: at, beforeStatement: true }
}

/** After the end of a block the enclosing statement continues, perhaps with a part that matched only the removed tokens. */
function isFarFrom(cut: Cut, units: string, at: number): boolean {
  if (cut.beforeStatement) return at > cut.start
  for (let token = cut.start; token < at - 1; token += 1) {
    const unit = units.charCodeAt(token)
    if (unit === TOKEN['\n'] || unit === TOKEN[';']) return true
  }
  return false
}

function isBalanced(units: string): boolean {
  let depth = 0
  for (let token = 0; token < units.length && depth >= 0; token += 1) {
    const unit = units.charCodeAt(token)
    if (isOpeningBrace(unit)) depth += 1
    else if (unit === TOKEN['}']) depth -= 1
  }
  return depth === 0
}

function without(tokens: TokenStream, { start, end }: Cut): TokenStream {
  const count = end - start
  const docs = [...tokens.docs].filter(([token]) => token < start || token >= end)
  return {
    ...tokens,
    units: tokens.units.slice(0, start) + tokens.units.slice(end),
    starts: withoutRange(tokens.starts, start, end),
    ends: withoutRange(tokens.ends, start, end),
    payloads: tokens.payloads.toSpliced(start, count),
    docs: new Map(docs.map(([token, doc]) => [token < start ? token : token - count, doc])),
  }
}

function withoutRange(places: Int32Array, start: number, end: number): Int32Array {
  const rest = new Int32Array(places.length - (end - start))
  rest.set(places.subarray(0, start))
  rest.set(places.subarray(end), start)
  return rest
}

/** The blocks that enclose token `at`, the file first. */
function framesAt(units: string, at: number): readonly Frame[] {
  const frames: Frame[] = [newFrame(0, false)]
  for (let token = 0; token < at; token += 1) {
    const unit = units.charCodeAt(token)
    const frame = frames.at(-1)!
    if (isOpeningBrace(unit)) frames.push(newFrame(token + 1, unit === TOKEN['{->']))
    else if (unit === TOKEN['}']) {
      if (frames.length > 1) frames.pop()
    } else if (unit === TOKEN['('] || unit === TOKEN['[']) frame.open += 1
    else if (unit === TOKEN[')'] || unit === TOKEN[']']) frame.open = Math.max(0, frame.open - 1)
    else if (unit === TOKEN['->'] && frame.closure && !frame.hasArrow) {
      frame.hasArrow = true
      frame.start = token + 1
    } else if (unit === TOKEN[';'] || (unit === TOKEN['\n'] && (frame.open === 0 || isBeginning(units, token + 1)))) {
      frame.start = token + 1
      frame.open = 0
    }
  }
  return frames
}

function newFrame(start: number, closure: boolean): Frame {
  return { start, open: 0, closure, hasArrow: false }
}

function isOpeningBrace(unit: number): boolean {
  return unit === TOKEN['{'] || unit === TOKEN['{->']
}

function isBeginning(units: string, token: number): boolean {
  const name = nameAt(units, token)
  if (name === null) return false
  if (name === 'fn') return nameAt(units, token + 1) !== '('
  if (name === '@' || name === 'gen') return name === '@' || nameAt(units, token + 1) === 'fn'
  return BEGINNINGS.has(name)
}

/** `token` follows a line break. */
function beginsStatement(units: string, token: number): boolean {
  if (isBeginning(units, token)) return true
  const name = nameAt(units, token)
  if (name === null || !CONTROLS.has(name)) return false
  // After `=` and similar operators the expression continues.
  const before = nameAt(units, token - 2)
  return before !== null && (isWordToken(before) || /^[<})\]]/.test(before)) && before !== '<' && before !== '<='
}

function nameAt(units: string, token: number): TokenName | null {
  return token < 0 || token >= units.length ? null : tokenName(units.charCodeAt(token))
}

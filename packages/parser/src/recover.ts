// What else is wrong behind a syntax error. The grammar stops at the first one; to go on, the tokens of the statement in which it
// stands are cut out and the rest is matched again. That costs nothing where there is no error, and leaves the parser as it is.
//
// A finding counts only where the text is surely read the right way: what fails at the cut itself came of cutting, so the statement
// around it is cut instead. Rather one finding less than one that goes away when another is repaired.

import type { TokenStream } from './lexer.js'
import { isWordToken, TOKEN, type TokenName, tokenName } from './tokens.js'

/** Words that begin a statement wherever they follow a line break, though brackets before it are still open. */
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

/** Words that begin a statement on a line of their own; they may stand in the midst of an expression, too. */
const CONTROLS: ReadonlySet<TokenName> = new Set<TokenName>(['if', 'match', 'try', 'parallel', 'retry', 'deadline'])

/** What is open around a token: a pair of braces, or the file. */
interface Frame {
  /** First token of the statement (or entry) that is being read. */
  start: number
  /** Brackets and parentheses that are open in it. */
  open: number
  /** The first arrow in braces ends the parameters. */
  readonly closure: boolean
  hasArrow: boolean
}

export class Recovery {
  /** What is left. */
  tokens: TokenStream
  private cut: Cut | null = null
  /** Where the next cut has to begin before: at what failed only because of the last one, more is cut. */
  private limit = Infinity
  /** Whether every cut took as many opening as closing braces; if not, a brace that is missing or too many means nothing. */
  private isBalanced = true

  constructor(tokens: TokenStream) {
    this.tokens = tokens
  }

  /** Cuts out what is around the failure at token `at`; null when there is nothing to go on with. */
  skip(at: number): TokenStream | null {
    const { units } = this.tokens
    // A statement that does not fit where it stands: braces before it were not closed.
    const isAtCut = this.cut?.beforeStatement === true && at === this.cut.start
    const cut = isAtCut ? cutBefore(units, at) : cutAround(units, at, this.limit)
    if (cut === null) return null
    this.isBalanced &&= isBalanced(units.slice(cut.start, cut.end))
    this.cut = cut
    this.tokens = without(this.tokens, cut)
    return this.tokens
  }

  /** Whether a failure at token `at`, met after cutting, is a finding of its own. */
  isFinding(at: number): boolean {
    const { units } = this.tokens
    const isFar = this.cut === null || isFarFrom(this.cut, units, at)
    this.limit = isFar || this.cut === null ? Infinity : this.cut.start
    const isBrace = at >= units.length || (units.charCodeAt(at) === TOKEN['}'] && framesAt(units, at).length === 1)
    return isFar && (this.isBalanced || !isBrace)
  }
}

interface Cut {
  /** First token that is cut, and the one behind the last. */
  readonly start: number
  readonly end: number
  /** Whether a statement begins behind it; otherwise the brace that ends a block stands there, or the file ends. */
  readonly beforeStatement: boolean
}

/**
 * The statement around token `at`, in the innermost braces in which it begins before token `limit`, up to the next thing that
 * surely begins a statement there or to the end of the block. Null when there is nothing around it.
 */
function cutAround(units: string, at: number, limit: number): Cut | null {
  // At the beginning of a line it may be the statement before that lacks something.
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

/** The beginning of what stands around token `at`. */
function cutBefore(units: string, at: number): Cut | null {
  const frame = framesAt(units, at).at(-2)
  return frame === undefined ? null : { start: frame.start, end: at, beforeStatement: true }
}

/** Behind the end of a block the statement that holds it goes on, perhaps with something that fitted only what was cut. */
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

/** What is open before token `at`, the file first. */
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
  // Behind `=` and its like the expression goes on.
  const before = nameAt(units, token - 2)
  return before !== null && (isWordToken(before) || /^[<})\]]/.test(before)) && before !== '<' && before !== '<='
}

function nameAt(units: string, token: number): TokenName | null {
  return token < 0 || token >= units.length ? null : tokenName(units.charCodeAt(token))
}

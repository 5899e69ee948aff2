// Source → token string. The lexer is written by hand because it reads every character; harn.ohm alone defines
// syntax. The lexer also decides what the grammar could find only by long lookahead:
// whether a brace opens a closure (an arrow before its closing brace, at its own depth), where interpolations end, and which
// doc comment precedes which token.
//
// Invariants: `units.length === starts.length === ends.length === payloads.length`; offsets count UTF-16 units from the start of
// the file, also for a part of it (`base`). The lexer stops at the first error: the language reports it before any syntax
// error, at any position.

import type { SourceFile } from './source.js'
import { dedent, dedentPieces, docText, unescape } from './literals.js'
import { FIRST_UNIT, TOKEN, TOKEN_SPELLINGS, WORDS } from './tokens.js'

/**
 * The source of one `${…}`; `start` is the offset of its first character in the file, `depth` the number of enclosing
 * brackets.
 */
export interface InterpolationSource {
  readonly source: string
  readonly start: number
  readonly depth: number
}

/** What a token carries besides its position: the spelling of a name, the value of a string literal, or the pieces of an interpolated one. */
export type Payload = string | readonly (string | InterpolationSource)[] | null

export interface Comment {
  readonly start: number
  readonly end: number
  /** `///` and `/** … *\/` are doc comments. */
  readonly doc: boolean
}

export interface LexError {
  readonly kind: 'character' | 'string' | 'comment'
  readonly offset: number
  /** The unexpected character; '' for the other kinds. */
  readonly character: string
}

export interface TokenStream {
  /** One unit a token, for the grammar. */
  readonly units: string
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly payloads: readonly Payload[]
  /** Doc comments by the index of the token after them. */
  readonly docs: ReadonlyMap<number, string>
  readonly comments: readonly Comment[]
  /** Offset of the first bracket that is nested deeper than `MAX_NESTING`, or null. */
  readonly tooDeep: number | null
  /** End of the source, where "end of file" is reported. */
  readonly end: number
  readonly error: LexError | null
}

const lexed = new WeakMap<SourceFile, TokenStream>()

/** The tokens of a whole file, computed once: parsing, lint and others share them. */
export function lexFile(file: SourceFile): TokenStream {
  let tokens = lexed.get(file)
  if (tokens === undefined) lexed.set(file, (tokens = lex(file.text)))
  return tokens
}

/** Limit of nested brackets, because parser, checker and compiler recurse along them. */
export const MAX_NESTING = 200

/** A run of words like `! ! !` or `if if if`, which nests without brackets. */
const PREFIXES = ['!', '-', '*', 'if', 'match', 'try', 'retry', 'deadline', 'parallel', 'each', 'settle'] as const
const IS_PREFIX = new Uint8Array(TOKEN_SPELLINGS.length)
for (const name of PREFIXES) IS_PREFIX[TOKEN[name] - FIRST_UNIT] = 1

const WORD = /[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*/uy
const UPPER = /^\p{Uppercase}/u
const ALPHANUMERIC = /^[\p{Alphabetic}\p{N}]/u

const TAB = 9,
  LINE_FEED = 10,
  CARRIAGE_RETURN = 13,
  SPACE = 32,
  QUOTE = 34,
  DOLLAR = 36,
  STAR = 42,
  DOT = 46,
  SLASH = 47,
  BACKSLASH = 92
const OPEN_BRACE = 123,
  CLOSE_BRACE = 125

type Operator = readonly [text: string, unit: number]

/** Operators by the code of their first character, longest first; harn.ohm sees one unit for each. */
const OPERATORS: readonly (readonly Operator[] | undefined)[] = (() => {
  const table: (Operator[] | undefined)[] = []
  const texts = (
    [
      '==',
      '!=',
      '&&',
      '||',
      '|>',
      '??',
      '**',
      '?.',
      '->',
      '<=',
      '>=',
      '+=',
      '-=',
      '*=',
      '/=',
      '%=',
      '...',
      '=',
      '!',
      '.',
      '+',
      '-',
      '*',
      '/',
      '%',
      '<',
      '>',
      '?',
      '|',
      '{',
      '}',
      '(',
      ')',
      '[',
      ']',
      ',',
      ':',
      ';',
      '@',
    ] as const
  ).toSorted((a, b) => b.length - a.length)
  for (const text of texts) {
    const row = (table[text.charCodeAt(0)] ??= [])
    row.push([text, TOKEN[text]])
  }
  return table
})()

/**
 * Splits `text` into tokens. For a part of a file, `base` is its offset there and `depth` the bracket depth around it; a `#!` line
 * is skipped only at the start of a whole file (`base` 0 and `whole`).
 */
export function lex(
  text: string,
  options: { readonly base?: number; readonly depth?: number; readonly whole?: boolean } = {},
): TokenStream {
  return new Lexer(text, options.base ?? 0, options.depth ?? 0).run(options.whole ?? true)
}

class Lexer {
  private readonly text: string
  private readonly base: number
  /** Tokens so far; that many elements of the three arrays below are in use. */
  private count = 0
  private units: Uint16Array
  private starts: Int32Array
  private ends: Int32Array
  private readonly payloads: Payload[] = []
  /** One string for each name: a tree stores its names, and most names occur many times. */
  private readonly names = new Map<string, string>()
  private readonly docs = new Map<number, string>()
  private readonly comments: Comment[] = []
  /** Indexes of the open brackets. */
  private readonly open: number[] = []
  private readonly outerDepth: number
  private tooDeep: number | null = null
  private prefixRun = 0
  private error: LexError | null = null
  private at = 0
  /** Doc comments since the last token or blank line, and the line breaks since the last of them. */
  private pendingDoc: string[] = []
  private breaksSinceDoc = 0

  constructor(text: string, base: number, depth: number) {
    this.text = text
    this.base = base
    this.outerDepth = depth
    const room = 8 + (text.length >> 2)
    this.units = new Uint16Array(room)
    this.starts = new Int32Array(room)
    this.ends = new Int32Array(room)
  }

  run(whole: boolean): TokenStream {
    const { text } = this
    if (whole) {
      if (text.startsWith('\ufeff')) this.at = 1
      if (text.startsWith('#!', this.at)) this.at = lineEnd(text, this.at)
    }
    while (this.at < text.length && this.error === null) this.step()
    return {
      units: unitString(this.units.subarray(0, this.count)),
      starts: this.starts.subarray(0, this.count),
      ends: this.ends.subarray(0, this.count),
      payloads: this.payloads,
      docs: this.docs,
      comments: this.comments,
      tooDeep: this.tooDeep,
      end: this.base + text.length,
      error: this.error,
    }
  }

  private step(): void {
    const { text } = this
    const start = this.at
    const code = text.charCodeAt(start)
    if (code === SPACE || code === TAB || code === CARRIAGE_RETURN) {
      this.at += 1
    } else if (code === LINE_FEED) {
      this.at += 1
      this.lineBreak(start)
    } else if (isAsciiWordStart(code)) {
      if (code === 114 && text.charCodeAt(start + 1) === QUOTE) this.rawString(start)
      else this.word(start, asciiWordEnd(text, start))
    } else if (isDigit(code)) {
      this.number(start)
    } else if (code === QUOTE) {
      if (text.startsWith('"""', start)) this.tripleString(start)
      else this.string(start)
    } else if (code === SLASH && text.charCodeAt(start + 1) === SLASH) {
      this.lineComment(start)
    } else if (code === SLASH && text.charCodeAt(start + 1) === STAR) {
      this.blockComment(start)
    } else if (code === BACKSLASH) {
      if (text.charCodeAt(start + 1) === LINE_FEED) this.at += 2
      else if (text.startsWith('\r\n', start + 1)) this.at += 3
      else this.fail('character', start)
    } else {
      const row = code < OPERATORS.length ? OPERATORS[code] : undefined
      if (row === undefined) this.wordOrError(start)
      else this.operator(start, row)
    }
  }

  private push(unit: number, start: number, end: number, payload: Payload = null): void {
    if (this.pendingDoc.length > 0) {
      this.docs.set(this.count, this.pendingDoc.join('\n'))
      this.pendingDoc = []
    }
    if (IS_PREFIX[unit - FIRST_UNIT] === 1) {
      this.prefixRun += 1
      if (this.prefixRun > MAX_NESTING) this.tooDeep ??= this.base + start
    } else {
      this.prefixRun = 0
    }
    const { count } = this
    if (count === this.units.length) this.double()
    this.count = count + 1
    this.units[count] = unit
    this.starts[count] = this.base + start
    this.ends[count] = this.base + end
    this.payloads.push(payload)
    this.at = end
  }

  private double(): void {
    const { units, starts, ends } = this
    this.units = new Uint16Array(units.length * 2)
    this.units.set(units)
    this.starts = new Int32Array(units.length * 2)
    this.starts.set(starts)
    this.ends = new Int32Array(units.length * 2)
    this.ends.set(ends)
  }

  private lineBreak(start: number): void {
    if (this.pendingDoc.length > 0) {
      this.breaksSinceDoc += 1
      if (this.breaksSinceDoc > 1) this.pendingDoc = []
    }
    if (this.count > 0 && this.units[this.count - 1] === TOKEN['\n']) return
    const docs = this.pendingDoc
    this.pendingDoc = []
    this.push(TOKEN['\n'], start, start + 1)
    this.pendingDoc = docs
  }

  private operator(start: number, row: readonly Operator[]): void {
    const { text } = this
    if (text.charCodeAt(start) === DOT && this.isShortSpread(start)) {
      this.push(TOKEN['...'], start, start + 2)
      return
    }
    for (const [symbol, unit] of row) {
      if (symbol.length > 1 && !text.startsWith(symbol, start)) continue
      this.push(unit, start, start + symbol.length)
      this.bracket(unit, start)
      return
    }
    this.fail('character', start) // a lone `&`
  }

  /** `{..x}` and `{a: 1, ..x}`: where nothing else can begin with a dot, two dots spread a dict as three do. */
  private isShortSpread(start: number): boolean {
    const { text } = this
    if (text.charCodeAt(start + 1) !== DOT || text.charCodeAt(start + 2) === DOT) return false
    const opener = this.open[this.open.length - 1]
    if (opener === undefined || this.units[opener] !== TOKEN['{']) return false
    let last = this.count - 1
    while (last > opener && this.units[last] === TOKEN['\n']) last--
    return last === opener || this.units[last] === TOKEN[',']
  }

  private bracket(unit: number, start: number): void {
    if (unit === TOKEN['{'] || unit === TOKEN['('] || unit === TOKEN['[']) {
      this.open.push(this.count - 1)
      if (this.outerDepth + this.open.length > MAX_NESTING) this.tooDeep ??= this.base + start
    } else if (unit === TOKEN['}'] || unit === TOKEN[')'] || unit === TOKEN[']']) {
      this.open.pop()
    } else if (unit === TOKEN['->']) {
      const opener = this.open[this.open.length - 1]
      if (opener !== undefined && this.units[opener] === TOKEN['{']) this.units[opener] = TOKEN['{->']
    }
  }

  private wordOrError(start: number): void {
    WORD.lastIndex = start
    const match = WORD.exec(this.text)
    if (match === null) this.fail('character', start)
    else this.word(start, WORD.lastIndex)
  }

  private word(start: number, asciiEnd: number): void {
    const { text } = this
    let end = asciiEnd
    if (end < text.length && text.charCodeAt(end) > 127) {
      WORD.lastIndex = start
      WORD.test(text)
      end = WORD.lastIndex
    }
    const word = text.slice(start, end)
    const known = WORDS.get(word)
    if (known !== undefined) {
      this.push(known, start, end)
      return
    }
    const first = word.charCodeAt(0)
    const upper = first < 128 ? first >= 65 && first <= 90 : UPPER.test(word)
    let name = this.names.get(word)
    if (name === undefined) this.names.set(word, (name = word))
    this.push(upper ? TOKEN['<Ident>'] : TOKEN['<ident>'], start, end, name)
  }

  private number(start: number): void {
    const { text } = this
    const end = digitsEnd(text, start)
    if (text.charCodeAt(end) === DOT && isDigit(text.charCodeAt(end + 1))) {
      this.push(TOKEN['<float>'], start, digitsEnd(text, end + 1))
      return
    }
    const unitLength = durationUnit(text, end)
    if (unitLength > 0) this.push(TOKEN['<duration>'], start, end + unitLength)
    else this.push(TOKEN['<int>'], start, end)
  }

  private rawString(start: number): void {
    const { text } = this
    const close = text.indexOf('"', start + 2)
    const line = text.indexOf('\n', start + 2)
    if (close < 0 || (line >= 0 && line < close)) this.fail('string', start)
    else this.push(TOKEN['<rawString>'], start, close + 1, text.slice(start + 2, close))
  }

  private string(start: number): void {
    const { text } = this
    const pieces: (string | InterpolationSource)[] = []
    let from = start + 1
    for (let at = from; at < text.length;) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) {
        if (pieces.length === 0) {
          this.push(TOKEN['<string>'], start, at + 1, unescape(text.slice(from, at)))
        } else {
          pieces.push(unescape(text.slice(from, at)))
          this.push(TOKEN['<interpolated>'], start, at + 1, pieces)
        }
        return
      }
      if (code === LINE_FEED) break
      if (code === BACKSLASH) {
        at += 2
      } else if (code === DOLLAR && text.charCodeAt(at + 1) === OPEN_BRACE) {
        const close = interpolationEnd(text, at + 2)
        if (close < 0) break
        const source = text.slice(at + 2, close)
        if (source.trim() === '') {
          this.fail('character', close, close + 1)
          return
        }
        pieces.push(unescape(text.slice(from, at)), this.interpolation(source, at + 2))
        at = close + 1
        from = at
      } else {
        at += 1
      }
    }
    this.fail('string', start)
  }

  private tripleString(start: number): void {
    const { text } = this
    const texts: string[] = []
    const sources: InterpolationSource[] = []
    let from = start + 3
    if (text.charCodeAt(from) === LINE_FEED) from += 1
    for (let at = from; at < text.length;) {
      const code = text.charCodeAt(at)
      if (code === QUOTE && text.startsWith('"""', at)) {
        texts.push(text.slice(from, at))
        if (sources.length === 0) this.push(TOKEN['<triple>'], start, at + 3, dedent(texts.join('')))
        else this.push(TOKEN['<interpolated>'], start, at + 3, interleave(dedentPieces(texts), sources))
        return
      }
      if (code === DOLLAR && text.charCodeAt(at + 1) === OPEN_BRACE) {
        const close = interpolationEnd(text, at + 2)
        if (close < 0) break
        texts.push(text.slice(from, at))
        sources.push(this.interpolation(text.slice(at + 2, close), at + 2))
        at = close + 1
        from = at
      } else {
        at += 1
      }
    }
    this.fail('string', start)
  }

  private interpolation(source: string, at: number): InterpolationSource {
    return { source, start: this.base + at, depth: this.outerDepth + this.open.length + 1 }
  }

  private lineComment(start: number): void {
    const { text } = this
    const end = lineEnd(text, start)
    const doc = text.charCodeAt(start + 2) === SLASH && text.charCodeAt(start + 3) !== SLASH
    this.comment(start, end, doc)
  }

  private blockComment(start: number): void {
    const { text } = this
    let depth = 0
    for (let at = start; at < text.length;) {
      if (text.startsWith('/*', at)) {
        depth += 1
        at += 2
      } else if (text.startsWith('*/', at)) {
        depth -= 1
        at += 2
        if (depth === 0) {
          const doc = text.startsWith('/**', start) && text.charCodeAt(start + 3) !== STAR && text.charCodeAt(start + 3) !== SLASH
          this.comment(start, at, doc)
          return
        }
      } else {
        at += 1
      }
    }
    this.fail('comment', start)
  }

  private comment(start: number, end: number, doc: boolean): void {
    this.comments.push({ start: this.base + start, end: this.base + end, doc })
    if (doc) this.pendingDoc.push(docText(this.text.slice(start, end)))
    this.breaksSinceDoc = 0
    this.at = end
  }

  /** `shown` is the position in the message, if it differs from that of the character. */
  private fail(kind: LexError['kind'], at: number, shown = at): void {
    const character = kind === 'character' ? String.fromCodePoint(this.text.codePointAt(at) ?? 0) : ''
    this.error = { kind, offset: this.base + shown, character }
  }
}

/** Index of the `}` that ends an interpolation whose source starts at `from`; braces are counted, quotes ignored. */
function interpolationEnd(text: string, from: number): number {
  let depth = 1
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === OPEN_BRACE) depth += 1
    else if (code === CLOSE_BRACE) {
      depth -= 1
      if (depth === 0) return at
    }
  }
  return -1
}

function interleave(texts: readonly string[], sources: readonly InterpolationSource[]): (string | InterpolationSource)[] {
  return texts.flatMap((text, at) => {
    const source = sources[at]
    return source === undefined ? [text] : [text, source]
  })
}

/** Length of the unit of a duration at `at`, or 0. */
function durationUnit(text: string, at: number): number {
  if (text.startsWith('ms', at)) return 2
  if (!'smhdw'.includes(text.charAt(at)) || at >= text.length) return 0
  return ALPHANUMERIC.test(text.slice(at + 1, at + 3)) ? 0 : 1
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

function digitsEnd(text: string, from: number): number {
  let at = from
  while (isDigit(text.charCodeAt(at))) at += 1
  return at
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function isAsciiWordStart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95
}

function asciiWordEnd(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (!isAsciiWordStart(code) && !isDigit(code)) return at
    at += 1
  }
}

/** String.fromCharCode takes its arguments on the stack, so long streams are converted in slices; spreading a typed array is slow. */
function unitString(units: Uint16Array): string {
  let text = ''
  for (let at = 0; at < units.length; at += 4096)
    text += String.fromCharCode.apply(null, units.subarray(at, at + 4096) as unknown as number[])
  return text
}

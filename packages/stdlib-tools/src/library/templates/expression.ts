// Expressions of the template language: one directive's text → tokens → tree. All tokens are read first,
// so that a stray character is reported before a misplaced word.

import { HarnFloat, display, work, wrapInt } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'

export type Expression =
  | { readonly kind: 'literal'; readonly value: Value }
  | { readonly kind: 'path'; readonly root: string; readonly steps: readonly (string | number)[] }
  | { readonly kind: 'and' | 'or'; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'compare'; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'filter'; readonly input: Expression; readonly name: string; readonly args: readonly Expression[] }

export class ExpressionError extends Error {}

/** Parentheses and `not` nested deeper than this are refused, and so are more operators: evaluation recurses over both. */
const MAX_DEPTH = 200
const MAX_OPERATORS = 1000

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

/** Words and marks by the names that messages use. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['and', 'AndKw'],
  ['or', 'OrKw'],
  ['not', 'NotKw'],
  ['true', 'True'],
  ['false', 'False'],
  ['nil', 'Nil'],
])
/** Longer marks before their beginnings. */
const MARKS: readonly (readonly [mark: string, name: string])[] = [
  ['&&', 'AndKw'],
  ['||', 'OrKw'],
  ['==', 'EqEq'],
  ['!=', 'BangEq'],
  ['<=', 'Le'],
  ['>=', 'Ge'],
  ['<', 'Lt'],
  ['>', 'Gt'],
  ['!', 'Bang'],
  ['.', 'Dot'],
  [',', 'Comma'],
  [':', 'Colon'],
  ['(', 'LParen'],
  [')', 'RParen'],
  ['[', 'LBracket'],
  [']', 'RBracket'],
  ['|', 'Pipe'],
]
const OPERATORS: ReadonlyMap<string, string> = new Map([
  ['EqEq', '=='],
  ['BangEq', '!='],
  ['Le', '<='],
  ['Ge', '>='],
  ['Lt', '<'],
  ['Gt', '>'],
])

interface Token {
  /** `Ident`, `Str`, `Int`, `Float` or a name of the tables above. */
  readonly kind: string
  readonly value: Value
}

/** A token as messages show it. */
function formatToken({ kind, value }: Token): string {
  if (kind === 'Ident' || kind === 'Str') return `${kind}(${JSON.stringify(value)})`
  if (kind === 'Int' || kind === 'Float') return `${kind}(${display(value)})`
  return kind
}

/** Units of a token: several patterns are tried at its position. */
const UNITS_A_TOKEN = 3

/** The tokens of a text. */
function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const char = text[at]!
    if (/\s/.test(char)) {
      at++
      continue
    }
    work(UNITS_A_TOKEN)
    if (char === '"' || char === "'") {
      const end = findStringEnd(text, at)
      tokens.push({ kind: 'Str', value: unescapeText(text.slice(at + 1, end)) })
      at = end + 1
      continue
    }
    const rest = text.slice(at, at + 256)
    const number = /^-?[0-9]+(?:\.[0-9][0-9.]*)?/.exec(rest)
    if (number !== null) {
      tokens.push(readNumberToken(number[0]))
      at += number[0].length
      continue
    }
    const word = /^[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*/u.exec(text.slice(at))
    if (word !== null) {
      tokens.push({ kind: WORDS.get(word[0]) ?? 'Ident', value: word[0] })
      at += word[0].length
      continue
    }
    const mark = MARKS.find(([sign]) => rest.startsWith(sign))
    if (mark === undefined) throw new ExpressionError(describeStrayCharacter(String.fromCodePoint(text.codePointAt(at)!)))
    tokens.push({ kind: mark[1], value: null })
    at += mark[0].length
  }
  return tokens
}

function describeStrayCharacter(char: string): string {
  if (char === '=') return 'unexpected `=` (use `==`)'
  return char === '&' ? 'unexpected `&`' : `unexpected character \`${char}\` in expression`
}

/** Position of the quote that ends the text begun at `start`. */
function findStringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === text[start]) return at
  }
  throw new ExpressionError('unterminated string literal')
}

function unescapeText(text: string): string {
  return text.replace(/\\([\s\S]?)/g, (_whole, char: string) => ESCAPES[char] ?? char)
}

function readNumberToken(text: string): Token {
  if (text.includes('.')) {
    if (!/^-?[0-9]+\.[0-9]+$/.test(text)) throw new ExpressionError(`invalid number \`${text}\``)
    return { kind: 'Float', value: new HarnFloat(Number(text)) }
  }
  const value = BigInt(text)
  if (BigInt.asIntN(64, value) !== value) throw new ExpressionError(`invalid integer \`${text}\``)
  return { kind: 'Int', value: wrapInt(value) }
}

/** Reads the whole of a text as one expression with its filters. */
export function readExpression(text: string): Expression {
  const reader = new ExpressionReader(tokenize(text))
  const result = reader.readExpression()
  reader.end()
  return result
}

/** The text of an include directive: a path and, behind `with`, `{ name: expr, … }`. */
export function readInclude(text: string): { path: Expression; bindings: readonly (readonly [string, Expression])[] } {
  const at = withWord(text)
  if (at === null) return { path: readExpression(text), bindings: [] }
  const path = readExpression(text.slice(0, at))
  const braces = text.slice(at + ' with '.length).trim()
  if (!braces.startsWith('{') || !braces.endsWith('}') || braces.length < 2)
    throw new ExpressionError('expected `{ ... }` after `with`')
  const reader = new ExpressionReader(tokenize(braces.slice(1, -1)))
  return { path, bindings: reader.readBindings() }
}

/** Where the first ` with ` outside quotes begins that something follows. */
function withWord(text: string): number | null {
  const word = /\swith\s/y
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (quote !== '') {
      if (char === '\\') at++
      else if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (text.startsWith('with', at + 1)) {
      word.lastIndex = at
      if (word.test(text)) return text.slice(at + ' with '.length) === '' ? null : at
    }
  }
  return null
}

class ExpressionReader {
  private readonly tokens: readonly Token[]
  private at = 0
  private depth = 0
  private operators = 0

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens
  }

  /** Nothing may follow. */
  end(): void {
    const token = this.tokens[this.at]
    if (token !== undefined) throw new ExpressionError(`unexpected token \`${formatToken(token)}\` in expression`)
  }

  /** An expression with its filters. */
  readExpression(): Expression {
    return this.readFiltered(false)
  }

  readBindings(): readonly (readonly [string, Expression])[] {
    const bindings: (readonly [string, Expression])[] = []
    while (this.at < this.tokens.length) {
      const name = this.tokens[this.at++]!
      if (!this.take('Colon')) throw new ExpressionError('expected `key: value` in include bindings')
      if (name.kind !== 'Ident') throw new ExpressionError('invalid include binding key')
      bindings.push([String(name.value), this.readFiltered(true)])
      if (!this.take('Comma')) this.end()
    }
    return bindings
  }

  private readKind(ahead = 0): string {
    return this.tokens[this.at + ahead]?.kind ?? ''
  }

  private take(kind: string): boolean {
    if (this.readKind() !== kind) return false
    this.at++
    return true
  }

  private readFiltered(inBindings: boolean): Expression {
    let input = this.readOr()
    while (this.take('Pipe')) {
      const name = this.readIdentifier('expected filter name after `|`')
      const args: Expression[] = []
      if (this.take('Colon')) {
        do args.push(this.readOr())
        while (!(inBindings && this.isBindingNext()) && this.take('Comma'))
      }
      this.countOperator()
      input = { kind: 'filter', input, name, args }
    }
    return input
  }

  /** In bindings a comma may end a filter's arguments: it does when nothing or a name and a colon come next. */
  private isBindingNext(): boolean {
    return (
      this.readKind() === 'Comma' && (this.readKind(1) === '' || (this.readKind(1) === 'Ident' && this.readKind(2) === 'Colon'))
    )
  }

  private readIdentifier(problem: string): string {
    const token = this.tokens[this.at]
    if (token?.kind !== 'Ident') throw new ExpressionError(problem)
    this.at++
    return String(token.value)
  }

  private readOr(): Expression {
    let left = this.readAnd()
    while (this.take('OrKw')) {
      this.countOperator()
      left = { kind: 'or', left, right: this.readAnd() }
    }
    return left
  }

  private readAnd(): Expression {
    let left = this.readNot()
    while (this.take('AndKw')) {
      this.countOperator()
      left = { kind: 'and', left, right: this.readNot() }
    }
    return left
  }

  private readNot(): Expression {
    if (this.take('NotKw') || this.take('Bang')) {
      this.enter()
      const operand = this.readNot()
      this.depth--
      return { kind: 'not', operand }
    }
    const left = this.readPrimary()
    const operator = OPERATORS.get(this.readKind())
    if (operator === undefined) return left
    this.at++
    return { kind: 'compare', operator, left, right: this.readPrimary() }
  }

  private countOperator(): void {
    if (++this.operators > MAX_OPERATORS) throw new ExpressionError('expression is too long')
  }

  private enter(): void {
    if (++this.depth > MAX_DEPTH) throw new ExpressionError('expression is nested too deeply')
  }

  private readPrimary(): Expression {
    const token = this.tokens[this.at]
    if (token === undefined) throw new ExpressionError('expected expression')
    this.at++
    switch (token.kind) {
      case 'Str':
      case 'Int':
      case 'Float':
        return { kind: 'literal', value: token.value }
      case 'True':
      case 'False':
        return { kind: 'literal', value: token.kind === 'True' }
      case 'Nil':
        return { kind: 'literal', value: null }
      case 'Ident':
        return { kind: 'path', root: String(token.value), steps: this.readSteps() }
      case 'LParen': {
        this.enter()
        const inner = this.readOr()
        if (!this.take('RParen')) throw new ExpressionError('expected `)`')
        this.depth--
        return inner
      }
      default:
        throw new ExpressionError(`unexpected token \`${formatToken(token)}\``)
    }
  }

  private readSteps(): (string | number)[] {
    const steps: (string | number)[] = []
    for (;;) {
      if (this.take('Dot')) steps.push(this.readIdentifier('expected identifier after `.`'))
      else if (this.take('LBracket')) steps.push(this.readSubscript())
      else return steps
    }
  }

  private readSubscript(): string | number {
    const token = this.tokens[this.at]
    if (token?.kind !== 'Str' && token?.kind !== 'Int') throw new ExpressionError('expected integer or string inside `[...]`')
    this.at++
    if (!this.take('RBracket')) throw new ExpressionError('expected `]`')
    return token.kind === 'Str' ? String(token.value) : Number(token.value)
  }
}

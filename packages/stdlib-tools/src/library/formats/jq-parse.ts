// Parser of the small query language behind `jq`, loosest first: pipe, comma, and/or, one comparison,
// prefix `not`, primary.

import { HarnFloat, parseJson, wrapInt } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'

export type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly from: number | null; readonly to: number | null }
  | { readonly kind: 'each' }

export type Query =
  | { readonly kind: 'pipe' | 'comma' | 'and' | 'or'; readonly left: Query; readonly right: Query }
  | { readonly kind: 'compare'; readonly operator: string; readonly left: Query; readonly right: Query }
  | { readonly kind: 'not'; readonly operand: Query }
  | { readonly kind: 'path'; readonly steps: readonly Step[] }
  | { readonly kind: 'descend' }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [string, Query])[] }
  | { readonly kind: 'literal'; readonly value: Value }
  | { readonly kind: 'fact'; readonly name: FactName }
  | { readonly kind: 'map' | 'select'; readonly body: Query }

/** A query that cannot be read; the message begins with `jq: `. */
export class QueryError extends Error {}

/** Brackets nested deeper than this are refused, and so are queries with more operators: evaluation recurses over both. */
const MAX_DEPTH = 200
const MAX_OPERATORS = 1000

const WORDS: Readonly<Record<string, Value>> = { true: true, false: false, null: null, nil: null }
const FACTS = ['length', 'keys', 'values', 'type'] as const
export type FactName = (typeof FACTS)[number]

export function parseQuery(source: string): Query {
  return new QueryParser(source).parseWhole()
}

class QueryParser {
  private readonly text: string
  private at = 0
  private depth = 0
  private operators = 0

  constructor(text: string) {
    this.text = text
  }

  parseWhole(): Query {
    const query = this.parsePipe(true)
    this.skipSpace()
    if (this.at < this.text.length) this.fail('unexpected input')
    return query
  }

  private fail(what: string): never {
    this.skipSpace()
    throw new QueryError(`jq: ${what} near '${this.text.slice(this.at)}'`)
  }

  private skipSpace(): void {
    while (/\s/.test(this.text[this.at] ?? '')) this.at++
  }

  /** Takes a piece of punctuation if it comes next. */
  private take(mark: string): boolean {
    this.skipSpace()
    if (!this.text.startsWith(mark, this.at)) return false
    this.at += mark.length
    return true
  }

  private expect(mark: string): void {
    if (!this.take(mark)) this.fail(`expected '${mark}'`)
  }

  private readWord(): string | null {
    this.skipSpace()
    const match = /^[A-Za-z_][A-Za-z0-9_]*/.exec(this.text.slice(this.at))
    return match === null ? null : match[0]
  }

  private takeWord(word: string): boolean {
    if (this.readWord() !== word) return false
    this.at += word.length
    return true
  }

  private joinQueries(kind: 'pipe' | 'comma' | 'and' | 'or', left: Query, right: Query): Query {
    if (++this.operators > MAX_OPERATORS) throw new QueryError('jq: expression is too long')
    return { kind, left, right }
  }

  private parsePipe(commas: boolean): Query {
    if (++this.depth > MAX_DEPTH) throw new QueryError('jq: expression is nested too deeply')
    let left = this.parseComma(commas)
    while (this.take('|')) left = this.joinQueries('pipe', left, this.parseComma(commas))
    this.depth--
    return left
  }

  private parseComma(commas: boolean): Query {
    let left = this.parseLogic()
    while (commas && this.take(',')) left = this.joinQueries('comma', left, this.parseLogic())
    return left
  }

  private parseLogic(): Query {
    let left = this.parseComparison()
    for (;;) {
      if (this.takeWord('and')) left = this.joinQueries('and', left, this.parseComparison())
      else if (this.takeWord('or')) left = this.joinQueries('or', left, this.parseComparison())
      else return left
    }
  }

  private parseComparison(): Query {
    const left = this.parseNegation()
    for (const operator of ['==', '!=', '<', '>']) {
      if (this.take(operator)) return { kind: 'compare', operator, left, right: this.parseNegation() }
    }
    return left
  }

  private parseNegation(): Query {
    let count = 0
    while (this.takeWord('not')) count++
    let query = this.parsePrimary()
    // Pairs cancel out, but for turning the value into a bool.
    for (count = count > 2 ? 2 - (count % 2) : count; count > 0; count--) query = { kind: 'not', operand: query }
    return query
  }

  private parsePrimary(): Query {
    this.skipSpace()
    const char = this.text[this.at]
    if (char === '(') {
      this.at++
      const inner = this.parsePipe(true)
      this.expect(')')
      return inner
    }
    if (char === '{') return this.parseObject()
    if (char === '"') return { kind: 'literal', value: this.parseString() }
    if (this.text.startsWith('..', this.at)) {
      this.at += 2
      return { kind: 'descend' }
    }
    if (char === '.') return this.parsePath()
    return /[-0-9]/.test(char ?? '') ? { kind: 'literal', value: this.parseNumber() } : this.parseNamed()
  }

  private parseNumber(): Value {
    const text = /^-?[0-9]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?/.exec(this.text.slice(this.at))![0]
    if (!/^-?[0-9]/.test(text)) {
      this.at++
      throw new QueryError(`jq: invalid number near '${this.text.slice(this.at)}'`)
    }
    this.at += text.length
    if (/^-?[0-9]+$/.test(text)) {
      const exact = BigInt(text)
      if (exact !== BigInt.asIntN(64, exact))
        throw new QueryError(`jq: invalid integer '${text}': number too ${exact < 0n ? 'small' : 'large'} to fit in target type`)
      return wrapInt(exact)
    }
    if (/[eE][+-]?$/.test(text)) throw new QueryError(`jq: invalid float '${text}': invalid float literal`)
    return new HarnFloat(Number(text))
  }

  private parseNamed(): Query {
    const word = this.readWord()
    if (word === null) this.fail('expected expression')
    this.at += word.length
    if (Object.hasOwn(WORDS, word)) return { kind: 'literal', value: WORDS[word]! }
    const fact = FACTS.find((name) => name === word)
    if (fact !== undefined) return { kind: 'fact', name: fact }
    if (word !== 'map' && word !== 'select') throw new QueryError(`jq: unknown identifier '${word}'`)
    this.expect('(')
    const body = this.parsePipe(true)
    this.expect(')')
    return { kind: word, body }
  }

  private parseObject(): Query {
    this.at++
    const fields: (readonly [string, Query])[] = []
    if (this.take('}')) return { kind: 'object', fields }
    for (;;) {
      this.skipSpace()
      const key = this.text[this.at] === '"' ? this.parseString() : this.parseFieldName()
      this.expect(':')
      fields.push([key, this.parsePipe(false)])
      if (this.take('}')) return { kind: 'object', fields }
      this.expect(',')
      // A comma may follow the last field too.
      if (this.take('}')) return { kind: 'object', fields }
    }
  }

  private parseFieldName(): string {
    const word = this.readWord()
    if (word === null) this.fail('expected object key')
    this.at += word.length
    return word
  }

  /** White space may stand around dots and before brackets; a word behind it is an operator, unless a dot came before. */
  private parsePath(): Query {
    const steps: Step[] = []
    let dot = true
    this.at++
    for (;;) {
      if (this.take('[')) steps.push(this.parseBracket())
      else {
        const name = dot ? this.parseStepName(steps.length > 0) : null
        if (name === null) return { kind: 'path', steps }
        steps.push({ kind: 'field', name })
      }
      dot = this.take('.')
    }
  }

  /** The field behind a dot; null behind the lone dot that means the input. */
  private parseStepName(isNeeded: boolean): string | null {
    this.skipSpace()
    if (this.text[this.at] === '"') return this.parseString()
    const isSpaced = /\s/.test(this.text[this.at - 1] ?? '')
    const word = this.readWord()
    if (word !== null && !(isSpaced && (word === 'and' || word === 'or'))) {
      this.at += word.length
      return word
    }
    if (isNeeded || this.take('.')) this.fail('expected field name')
    return null
  }

  private parseBracket(): Step {
    if (this.take(']')) return { kind: 'each' }
    this.skipSpace()
    if (this.text[this.at] === '"') {
      const name = this.parseString()
      this.expect(']')
      return { kind: 'field', name }
    }
    const from = this.parseIndex()
    if (this.take(':')) {
      const to = this.parseIndex()
      this.expect(']')
      return { kind: 'slice', from, to }
    }
    if (from === null) this.fail("expected ']'")
    this.expect(']')
    return { kind: 'index', index: from }
  }

  private parseIndex(): number | null {
    this.skipSpace()
    const match = /^-?[0-9]+/.exec(this.text.slice(this.at))
    if (match === null) return null
    this.at += match[0].length
    const exact = BigInt(match[0])
    if (exact !== BigInt.asIntN(64, exact)) throw new QueryError('jq: invalid integer: number too large to fit in target type')
    return Number(exact)
  }

  private parseString(): string {
    const match = /^"((?:[^"\\]|\\[\s\S])*)"/.exec(this.text.slice(this.at))
    if (match === null) {
      throw new QueryError('jq: unterminated string literal')
    }
    this.at += match[0].length
    const parsed = parseJson(match[0])
    if (!parsed.ok) throw new QueryError(`jq: invalid string literal: ${parsed.message}`)
    return parsed.value as string
  }
}

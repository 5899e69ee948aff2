// Expressions of the template language: one directive's text → tree (reference 03a §18.4).

import type { Value } from '../values/value.js'
import { HarnFloat } from '../values/scalars.js'
import { wrapInt } from '../values/value.js'

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

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', "'": "'" }

export class ExpressionReader {
  private readonly text: string
  private at = 0
  private depth = 0
  private operators = 0

  constructor(text: string) {
    this.text = text
  }

  /** Nothing may follow. */
  end(): void {
    this.space()
    if (this.at < this.text.length) throw new ExpressionError(`unexpected \`${this.text.slice(this.at)}\` in expression`)
  }

  takeWord(word: string): boolean {
    this.space()
    if (!this.text.startsWith(word, this.at) || /\w/.test(this.text[this.at + word.length] ?? '')) return false
    this.at += word.length
    return true
  }

  /** An expression with its filters. */
  expression(): Expression {
    return this.filtered(false)
  }

  /** `{ name: expr, … }` behind `with`. */
  bindings(): readonly (readonly [string, Expression])[] {
    if (!this.take('{')) throw new ExpressionError('expected `{ ... }` after `with`')
    const bindings: (readonly [string, Expression])[] = []
    while (!this.take('}')) {
      this.space()
      const name = this.peek() === '"' || this.peek() === "'" ? this.string() : this.identifier()
      if (!this.take(':')) throw new ExpressionError(`expected \`:\` after \`${name}\``)
      bindings.push([name, this.filtered(true)])
      if (this.take(',')) continue
      if (!this.take('}')) throw new ExpressionError('expected `{ ... }` after `with`')
      break
    }
    return bindings
  }

  private peek(): string {
    return this.text[this.at] ?? ''
  }

  private space(): void {
    while (/\s/.test(this.peek())) this.at++
  }

  private take(mark: string): boolean {
    this.space()
    if (!this.text.startsWith(mark, this.at)) return false
    this.at += mark.length
    return true
  }

  private filtered(inBindings: boolean): Expression {
    let input = this.or()
    for (;;) {
      this.space()
      if (this.peek() !== '|' || this.text[this.at + 1] === '|') return input
      this.at++
      this.space()
      const name = this.identifier()
      const args: Expression[] = []
      if (this.take(':')) {
        do args.push(this.or())
        while (!(inBindings && this.bindingFollows()) && this.take(','))
      }
      this.countOperator()
      input = { kind: 'filter', input, name, args }
    }
  }

  /** In bindings a comma may end a filter's arguments: it does when a name and a colon come next. */
  private bindingFollows(): boolean {
    return /^\s*,\s*(?:[A-Za-z_]\w*|"[^"]*"|'[^']*')\s*:/.test(this.text.slice(this.at))
  }

  private identifier(): string {
    this.space()
    const match = /^[A-Za-z_]\w*/.exec(this.text.slice(this.at))
    if (match === null)
      throw new ExpressionError(
        this.at >= this.text.length ? 'unexpected end of expression' : `unexpected \`${this.peek()}\` in expression`,
      )
    this.at += match[0].length
    return match[0]
  }

  private or(): Expression {
    let left = this.and()
    while (this.takeWord('or') || this.take('||')) {
      this.countOperator()
      left = { kind: 'or', left, right: this.and() }
    }
    return left
  }

  private and(): Expression {
    let left = this.not()
    while (this.takeWord('and') || this.take('&&')) {
      this.countOperator()
      left = { kind: 'and', left, right: this.not() }
    }
    return left
  }

  private not(): Expression {
    this.space()
    if (this.takeWord('not') || (this.peek() === '!' && this.text[this.at + 1] !== '=' && this.take('!'))) {
      this.enter()
      const operand = this.not()
      this.depth--
      return { kind: 'not', operand }
    }
    const left = this.primary()
    for (const operator of ['==', '!=', '<=', '>=', '<', '>']) {
      if (this.take(operator)) return { kind: 'compare', operator, left, right: this.primary() }
    }
    return left
  }

  private countOperator(): void {
    if (++this.operators > MAX_OPERATORS) throw new ExpressionError('expression is too long')
  }

  private enter(): void {
    if (++this.depth > MAX_DEPTH) throw new ExpressionError('expression is nested too deeply')
  }

  private primary(): Expression {
    this.space()
    const char = this.peek()
    if (char === '(') {
      this.enter()
      this.at++
      const inner = this.or()
      if (!this.take(')')) throw new ExpressionError('expected `)`')
      this.depth--
      return inner
    }
    if (char === '"' || char === "'") return { kind: 'literal', value: this.string() }
    const number = /^-?[0-9]+(\.[0-9]+)?/.exec(this.text.slice(this.at))
    if (number !== null) {
      this.at += number[0].length
      return { kind: 'literal', value: number[1] === undefined ? wrapInt(BigInt(number[0])) : new HarnFloat(Number(number[0])) }
    }
    const name = this.identifier()
    if (name === 'true' || name === 'false') return { kind: 'literal', value: name === 'true' }
    return name === 'nil' ? { kind: 'literal', value: null } : { kind: 'path', root: name, steps: this.steps() }
  }

  private steps(): (string | number)[] {
    const steps: (string | number)[] = []
    for (;;) {
      if (this.peek() === '.') {
        this.at++
        steps.push(this.identifier())
      } else if (this.peek() === '[') {
        this.at++
        steps.push(this.subscript())
      } else return steps
    }
  }

  private subscript(): string | number {
    this.space()
    let step: string | number
    if (this.peek() === '"' || this.peek() === "'") step = this.string()
    else {
      const match = /^-?[0-9]+/.exec(this.text.slice(this.at))
      if (match === null) throw new ExpressionError('expected an integer or a string inside `[...]`')
      this.at += match[0].length
      step = Number(match[0])
    }
    if (!this.take(']')) throw new ExpressionError('expected `]`')
    return step
  }

  private string(): string {
    const quote = this.peek()
    let out = ''
    for (let at = this.at + 1; at < this.text.length; at++) {
      const char = this.text[at]!
      if (char === quote) {
        this.at = at + 1
        return out
      }
      if (char !== '\\') out += char
      else {
        const escaped = this.text[++at] ?? ''
        out += ESCAPES[escaped] ?? `\\${escaped}`
      }
    }
    throw new ExpressionError('unterminated string literal')
  }
}

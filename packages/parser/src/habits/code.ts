// The scanned tokens of a source that does not parse, with queries for repair rules: where brackets close, where an
// expression or an operand ends, what is on a line.

import type { Span } from '../source.js'
import { scan, type Scanned } from './scan.js'
import type { HabitName } from './table.js'

export interface Edit {
  readonly span: Span
  readonly text: string
}

export interface Rule {
  readonly habit: HabitName
  /** The replacement for the source at token `at`; null if the rule does not apply. */
  readonly find: (code: Code, at: number) => readonly Edit[] | null
}

export const NONE: Scanned = { kind: 'break', start: 0, end: 0, text: '' }

const OPENING = new Set(['(', '[', '{'])
const CLOSING = new Set([')', ']', '}'])
const BINARY = new Set([
  '+',
  '-',
  '*',
  '/',
  '%',
  '**',
  '==',
  '!=',
  '<',
  '>',
  '<=',
  '>=',
  '&&',
  '||',
  '??',
  '?',
  ':',
  '|>',
  '===',
  '!==',
])

export function readCode(text: string): Code {
  return new Code(text, scan(text))
}

/** Maximum steps of all rules together in one source: brackets may be thousands deep. */
const MOST_STEPS = 400_000

/** Number of tokens around an error that rules examine. */
export const MOST_TOKENS = 300

/** The tokens of a source, with queries for rules. */
export class Code {
  readonly text: string
  readonly tokens: readonly Scanned[]
  private steps = MOST_STEPS

  constructor(text: string, tokens: readonly Scanned[]) {
    this.text = text
    this.tokens = tokens
  }

  at(index: number): Scanned {
    return this.tokens[index] ?? NONE
  }

  is(index: number, ...texts: readonly string[]): boolean {
    const { kind, text } = this.at(index)
    return (kind === 'word' || kind === 'sign') && texts.includes(text)
  }

  isName(index: number): boolean {
    return this.at(index).kind === 'word'
  }

  /** Whether an operand ends at a token, so that an operator can follow. */
  isOperandEnd(index: number): boolean {
    const { kind, text } = this.at(index)
    return (
      ['number', 'string', 'triple', 'single', 'backquoted'].includes(kind) ||
      (kind === 'word' && !NO_OPERANDS.has(text)) ||
      (kind === 'sign' && CLOSING.has(text))
    )
  }

  startsStatement(index: number): boolean {
    const { kind } = this.at(index - 1)
    return index === 0 || kind === 'break' || this.is(index - 1, '{', '}', ';', '->', '=>')
  }

  /** The index of the bracket that closes the one at `index`, or that of the end. */
  closer(index: number): number {
    let depth = 0
    for (let at = index; at < this.tokens.length && this.steps-- > 0; at += 1) {
      if (this.at(at).kind !== 'sign') continue
      if (OPENING.has(this.at(at).text)) depth += 1
      else if (CLOSING.has(this.at(at).text) && --depth === 0) return at
    }
    return this.tokens.length
  }

  opener(index: number): number {
    let depth = 0
    for (let at = index; at >= 0 && this.steps-- > 0; at -= 1) {
      if (this.at(at).kind !== 'sign') continue
      if (CLOSING.has(this.at(at).text)) depth += 1
      else if (OPENING.has(this.at(at).text) && --depth === 0) return at
    }
    return -1
  }

  /** The open bracket around a token, or -1. */
  around(index: number): number {
    let depth = 0
    for (let at = index - 1; at >= 0 && this.steps-- > 0; at -= 1) {
      if (this.at(at).kind !== 'sign') continue
      if (CLOSING.has(this.at(at).text)) depth += 1
      else if (OPENING.has(this.at(at).text) && --depth < 0) return at
    }
    return -1
  }

  /** After the last token of the expression that begins at `index`. `stops`: further signs and words that end it. */
  expressionEnd(index: number, ...stops: readonly string[]): number {
    let depth = 0
    for (let at = index; at < this.tokens.length && this.steps-- > 0; at += 1) {
      const { kind, text } = this.at(at)
      if (kind === 'break') {
        const goesOn = this.is(at - 1, ...BINARY) || this.is(at + 1, '.', '?.')
        if (depth === 0 && at > index && !goesOn) return at
        continue
      }
      if (kind === 'hash') return at
      if (depth === 0 && (kind === 'sign' || kind === 'word') && (text === ',' || text === ';' || stops.includes(text))) return at
      if (kind !== 'sign') continue
      if (OPENING.has(text)) depth += 1
      else if (CLOSING.has(text) && --depth < 0) return at
    }
    return this.tokens.length
  }

  /** Start of the expression that ends before `index`. */
  expressionStart(index: number): number {
    let depth = 0
    for (let at = index - 1; at >= 0 && this.steps-- > 0; at -= 1) {
      const { kind, text } = this.at(at)
      if (kind === 'sign' && CLOSING.has(text)) depth += 1
      else if (kind === 'sign' && OPENING.has(text) && --depth < 0) return at + 1
      if (depth > 0) continue
      if (kind === 'break' || this.is(at, ',', ';', '=', ':', '->', '=>', 'return', '+=')) return at + 1
    }
    return 0
  }

  /** The tokens of the line of an offset and of the previous line. */
  linesAround(offset: number): readonly [from: number, to: number] {
    const line = this.text.lastIndexOf('\n', offset - 1)
    const start = line <= 0 ? 0 : this.text.lastIndexOf('\n', line - 1) + 1
    const next = this.text.indexOf('\n', offset)
    const end = next < 0 ? this.text.length : next
    const near = this.indexFrom(offset)
    const from = Math.max(this.indexFrom(start), near - MOST_TOKENS)
    return [from, Math.min(this.indexFrom(end) + 1, near + MOST_TOKENS)]
  }

  /** The first token that ends after an offset. */
  private indexFrom(offset: number): number {
    const found = this.tokens.findIndex((token) => token.end > offset)
    return found < 0 ? this.tokens.length : found
  }

  lineEnd(index: number): number {
    let at = index
    while (at < this.tokens.length && this.at(at).kind !== 'break' && this.steps-- > 0) at += 1
    return at
  }

  /** The colon of this line outside brackets. */
  expressionColon(index: number): number | null {
    const end = index + this.tokens.slice(index, index + 40).findIndex((_, offset) => this.is(index + offset, ':'))
    return end < index || end >= this.lineEnd(index) ? null : end
  }

  /** The brace after the construct that begins at `index`, on the same line. */
  expressionBrace(index: number): number | null {
    const end = this.expressionEnd(index, '{')
    return this.is(end, '{') ? end : null
  }

  /** After a name or literal with its members, calls and elements. */
  primaryEnd(index: number): number {
    let at = index
    if (this.is(at, '-', '!')) at += 1
    if (OPENING.has(this.at(at).text)) at = this.closer(at) + 1
    else at += 1
    for (;;) {
      if (this.is(at, '.', '?.') && this.isName(at + 1)) at += 2
      else if (this.is(at, '(', '[') && this.at(at).start === this.at(at - 1).end) at = this.closer(at) + 1
      else return at
    }
  }

  /** The indentation of the line of an offset. */
  indentOf(offset: number): string {
    const start = this.text.lastIndexOf('\n', offset - 1) + 1
    let end = start
    while (this.text[end] === ' ' || this.text[end] === '\t') end += 1
    return this.text.slice(start, end)
  }

  slice(from: number, to: number): string {
    return to <= from ? '' : this.text.slice(this.at(from).start, this.at(to - 1).end)
  }

  span(from: number, to: number): Span {
    return { start: this.at(from).start, end: this.at(to - 1).end }
  }

  replace(from: number, to: number, text: string): readonly Edit[] {
    return [{ span: this.span(from, to), text }]
  }

  /** The tokens and the blanks after them. */
  remove(from: number, to: number): readonly Edit[] {
    const { start, end } = this.span(from, to)
    let behind = end
    while (this.text[behind] === ' ') behind += 1
    return [{ span: { start, end: behind }, text: '' }]
  }
}

export const NO_OPERANDS = new Set([
  ...[
    'return',
    'in',
    'if',
    'else',
    'while',
    'match',
    'and',
    'or',
    'not',
    'let',
    'var',
    'case',
    'throw',
    'try',
    'rescue',
    'except',
    'unless',
    'until',
    'then',
    'do',
    'yield',
    'await',
    'to',
    'from',
  ],
])

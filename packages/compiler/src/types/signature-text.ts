// Parses the notation for types of builtins: the language's own type syntax, with parameters written
// `name: T, option?: T = 1, ...rest: T`. The input is our own tables, so a mistake in it is a bug and throws.

import type { ParamInfo } from './declarations.js'
import { ANY, applyType, type Field, makeNamed, NEVER, type Type, makeUnion } from './type.js'

/** The field name that allows other fields. */
export const OTHER_FIELDS = '*'

const TOKEN = /\s*(->|\.\.\.|[A-Za-z_][A-Za-z0-9_-]*|-?[0-9.]+|"[^"]*"|[{}<>(),:|?=*])/y

class Reader {
  private readonly text: string
  private readonly tokens: string[] = []
  private at = 0

  constructor(text: string) {
    this.text = text
    TOKEN.lastIndex = 0
    while (TOKEN.lastIndex < text.length) {
      const start = TOKEN.lastIndex
      const token = TOKEN.exec(text)?.[1]
      if (token === undefined) throw new Error(`unreadable signature text at ${start}: ${text}`)
      this.tokens.push(token)
    }
  }

  done(): boolean {
    return this.at >= this.tokens.length
  }

  accept(token: string): boolean {
    if (this.tokens[this.at] !== token) return false
    this.at += 1
    return true
  }

  expect(token: string): void {
    if (!this.accept(token)) throw new Error(`expected ${token} in signature text: ${this.text}`)
  }

  /** Types do not depend on a default. */
  skip(): void {
    this.at += 1
  }

  word(): string {
    const token = this.tokens[this.at]
    if (token === undefined || !/^[A-Za-z_]/.test(token)) throw new Error(`expected a name in signature text: ${this.text}`)
    this.at += 1
    return token
  }

  type(): Type {
    const members = [this.primary()]
    while (this.accept('|')) members.push(this.primary())
    return makeUnion(members)
  }

  private primary(): Type {
    if (this.accept('{')) return this.shape()
    const name = this.word()
    if (name === 'fn') return this.fn()
    if (name === 'never') return NEVER
    if (!this.accept('<')) return makeNamed(name)
    const args = [this.type()]
    while (this.accept(',')) args.push(this.type())
    this.expect('>')
    return applyType(name, args)
  }

  private shape(): Type {
    const fields: Field[] = []
    while (!this.accept('}')) {
      const name = this.accept(OTHER_FIELDS) ? OTHER_FIELDS : this.word()
      const optional = this.accept('?')
      this.expect(':')
      fields.push({ name, optional, type: this.type() })
      this.accept(',')
    }
    return { kind: 'shape', fields }
  }

  private fn(): Type {
    const params: Type[] = []
    this.expect('(')
    while (!this.accept(')')) {
      params.push(this.type())
      this.accept(',')
    }
    this.expect('->')
    return { kind: 'fn', params, returns: this.type() }
  }
}

export function readType(text: string): Type {
  const reader = new Reader(text)
  const type = reader.type()
  if (!reader.done()) throw new Error(`text after the type: ${text}`)
  return type
}

export function readParams(text: string): readonly ParamInfo[] {
  const reader = new Reader(text)
  const params: ParamInfo[] = []
  while (!reader.done()) {
    const rest = reader.accept('...')
    const name = reader.word()
    const optional = reader.accept('?')
    params.push({ name, optional, rest, type: reader.accept(':') ? reader.type() : ANY })
    if (reader.accept('=')) reader.skip()
    reader.accept(',')
  }
  return params
}

// Arguments of a tool call that a model wrote as text: one object literal in a JavaScript-like spelling,
// because models write that; heredocs, comments, trailing commas and all kinds of quotes are understood, nothing is evaluated.

import { HarnDict, HarnFloat, HarnList } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { HEREDOC_OPEN, Heredocs } from './text-stretches.js'

/** What is wrong with a literal, for the model to read. */
export class LiteralError extends Error {}

const MAX_DEPTH = 64

export class LiteralReader {
  at: number
  private readonly text: string
  private readonly heredocs: Heredocs

  /** Readers of one text share its heredocs. */
  constructor(text: string, at: number, heredocs = new Heredocs(text)) {
    this.text = text
    this.at = at
    this.heredocs = heredocs
  }

  fail(message: string): never {
    throw new LiteralError(`${message}. Tool arguments must be a TypeScript object literal: \`{ key: value, key: value }\`.`)
  }

  /** Skips blanks and comments. */
  skip(): void {
    for (;;) {
      while (this.at < this.text.length && /\s/.test(this.text[this.at]!)) this.at++
      if (this.text.startsWith('//', this.at)) {
        const end = this.text.indexOf('\n', this.at)
        this.at = end < 0 ? this.text.length : end + 1
      } else if (this.text.startsWith('/*', this.at)) {
        const end = this.text.indexOf('*/', this.at + 2)
        this.at = end < 0 ? this.text.length : end + 2
      } else return
    }
  }

  peek(): string {
    this.skip()
    return this.text[this.at] ?? ''
  }

  accept(char: string): boolean {
    if (this.peek() !== char) return false
    this.at++
    return true
  }

  parseValue(depth = 0): Value {
    if (depth > MAX_DEPTH) this.fail('arguments are nested too deeply')
    const char = this.peek()
    switch (char) {
      case '{':
        return this.parseObject(depth)
      case '[':
        return this.parseArray(depth)
      case '"':
      case "'":
      case '`':
        return this.parseQuoted(char)
      case '<':
        if (this.text.startsWith('<<', this.at)) return this.parseHeredoc()
        break
      case '':
        return this.fail('unexpected end of input')
    }
    return this.parseBare()
  }

  parseObject(depth: number): HarnDict {
    this.at++
    const dict = new HarnDict()
    for (;;) {
      if (this.accept('}')) return dict
      if (this.accept(',')) continue
      const key = this.parseKey()
      if (!this.accept(':')) this.fail(`expected \`:\` after key \`${key}\` inside object literal`)
      dict.set(key, this.parseValue(depth + 1))
      const next = this.peek()
      if (next !== ',' && next !== '}')
        this.fail(
          next === ''
            ? 'unexpected end of input inside object literal'
            : `expected \`,\` or \`}\` after value inside object literal, got \`${next}\``,
        )
    }
  }

  private parseKey(): string {
    const char = this.peek()
    if (char === '"' || char === "'" || char === '`') return this.parseQuoted(char)
    const found = /^[\p{L}_$][\p{L}\p{N}_$-]*/u.exec(this.text.slice(this.at, this.at + 256))
    if (found === null)
      return this.fail(
        char === ''
          ? 'unexpected end of input inside object literal'
          : 'expected an object key (identifier or string) inside `{ ... }`',
      )
    this.at += found[0].length
    return found[0]
  }

  private parseArray(depth: number): HarnList {
    this.at++
    const items: Value[] = []
    for (;;) {
      if (this.accept(']')) return new HarnList(items)
      if (this.accept(',')) continue
      items.push(this.parseValue(depth + 1))
      const next = this.peek()
      if (next !== ',' && next !== ']')
        this.fail(
          next === ''
            ? 'unexpected end of input inside array literal'
            : `expected \`,\` or \`]\` inside array literal, got \`${next}\``,
        )
    }
  }

  private parseQuoted(quote: string): string {
    const inside = this.parseQuotedHeredoc(quote)
    if (inside !== null) return inside
    this.at++
    let out = ''
    for (;;) {
      const char = this.text[this.at]
      if (char === undefined) return this.fail('unterminated string literal')
      this.at++
      if (char === quote) return out
      out += char === '\\' ? this.escape() : char
    }
  }

  private escape(): string {
    const char = this.text[this.at++] ?? ''
    switch (char) {
      case 'n':
        return '\n'
      case 't':
        return '\t'
      case 'r':
        return '\r'
      case '0':
        return '\0'
      case 'x':
      case 'u': {
        const found = (char === 'x' ? /^[0-9a-fA-F]{2}/ : /^(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,6}\})/).exec(
          this.text.slice(this.at, this.at + 8),
        )
        if (found === null) return char
        const code = Number.parseInt(found[0].replace(/[{}]/g, ''), 16)
        if (code > 0x10ffff) return char
        this.at += found[0].length
        return String.fromCodePoint(code)
      }
      default:
        return char
    }
  }

  /** `"<<TAG …"`: models quote heredocs too. */
  private parseQuotedHeredoc(quote: string): string | null {
    if (!/^<<['"]?[A-Za-z_]\w*['"]?[ \t]*\n/.test(this.text.slice(this.at + 1, this.at + 80))) return null
    const start = this.at
    this.at++
    try {
      const body = this.parseHeredoc()
      if (this.text[this.at] === quote) this.at++
      return body
    } catch {
      this.at = start
      return null
    }
  }

  /** The lines between `<<TAG` and a line that is TAG, without the last line end. */
  private parseHeredoc(): string {
    const open = HEREDOC_OPEN.exec(this.text.slice(this.at, this.at + 256))
    if (open === null) return this.fail('heredoc requires a tag after << (e.g. <<EOF), and a newline after it')
    const tag = (open[1] ?? open[2] ?? open[3])!
    const start = this.at + open[0].length
    const found = this.heredocs.findClosing(tag, start)
    if (found === null) return this.fail(`unterminated heredoc: expected closing ${tag} at the start of a line`)
    this.at = found.end
    return found.start === start ? '' : this.text.slice(start, found.start - 1).replace(/\r$/, '')
  }

  private parseBare(): Value {
    const rest = this.text.slice(this.at, this.at + 512)
    const number = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?/.exec(rest)
    if (number !== null) {
      this.at += number[0].length
      const text = number[0].replace(/^\+/, '')
      if (!/^-?\d+$/.test(text)) return new HarnFloat(Number(text))
      const int = BigInt(text)
      if (int !== BigInt.asIntN(64, int)) return new HarnFloat(Number(text))
      return Number.isSafeInteger(Number(int)) ? Number(int) : int
    }
    const word = /^[A-Za-z_$][\w$]*/.exec(rest)
    if (word === null) return this.fail(`unexpected character \`${rest[0]}\` starting a value`)
    const known: Readonly<Record<string, Value>> = { true: true, false: false, null: null, undefined: null, nil: null }
    if (!Object.hasOwn(known, word[0])) return this.fail(`unexpected character \`${word[0][0]}\` starting a value`)
    this.at += word[0].length
    return known[word[0]]!
  }
}

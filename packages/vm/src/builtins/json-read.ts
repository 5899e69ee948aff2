// The JSON reader. Ints are exact to 64 bits, and nesting is limited by memory only: open containers are on a stack of our
// own. Errors say what was expected and where, with columns counted in bytes from 1.

import { HarnDict } from '../values/dict.js'
import { HarnList } from '../values/list.js'
import { HarnFloat } from '../values/scalars.js'
import { wrapInt } from '../values/value.js'
import type { Value } from '../values/value.js'

export type JsonResult = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly message: string }

const MAX_INT = 2n ** 63n - 1n
const MIN_INT = -(2n ** 63n)
const encoder = new TextEncoder()

const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** An open list (`items`) or object (`dict`), whose `key` waits for its value. One shape for both: V8 reads that faster. */
interface Open {
  readonly items: Value[] | null
  readonly dict: HarnDict
  key: string
}

/** What the dict of a list is; never written to. */
const NO_DICT = new HarnDict()

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

class Reader {
  readonly text: string
  at = 0
  error: string | null = null

  constructor(text: string) {
    this.text = text
  }

  /** An error at the last character read, or at the next one (`peeked`). */
  fail(message: string, peeked = true): null {
    const end = Math.min(this.text.length, this.at + (peeked ? 1 : 0))
    const before = this.text.slice(0, end)
    // A newline that is itself the offending character is column 0 of the line behind it.
    const lineStart = before.lastIndexOf('\n') + 1
    const line = before.slice(0, lineStart).split('\n').length
    // Columns count bytes; of the offending character only the first.
    const whole = peeked && end > this.at && !before.endsWith('\n') ? before.slice(lineStart, end - 1) : before.slice(lineStart)
    const column = encoder.encode(whole).length + (whole.length < end - lineStart ? 1 : 0)
    this.error = `${message} at line ${line} column ${column}`
    return null
  }

  skipSpace(): string | undefined {
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return this.text[this.at]
      this.at++
    }
  }

  word(word: string, value: Value): Value {
    for (const char of word) {
      const got = this.text[this.at]
      if (got === undefined) return this.fail('EOF while parsing a value')
      if (got !== char) return this.fail('expected ident')
      this.at++
    }
    return value
  }

  number(): Value {
    return this.smallInt() ?? this.anyNumber()
  }

  /** An int of few digits, which most numbers are; null for anything else, read by `anyNumber` from its start. */
  smallInt(): number | null {
    const { text } = this
    const isNegative = text.charCodeAt(this.at) === 0x2d
    const start = isNegative ? this.at + 1 : this.at
    let value = 0
    let at = start
    for (; at - start < 15; at++) {
      const digit = text.charCodeAt(at) - 0x30
      if (!(digit >= 0 && digit <= 9)) break
      value = value * 10 + digit
    }
    const next = text.charCodeAt(at)
    const goesOn = (next >= 0x30 && next <= 0x39) || next === 0x2e || next === 0x65 || next === 0x45
    const hasLeadingZero = text.charCodeAt(start) === 0x30 && (at - start > 1 || isNegative)
    if (at === start || goesOn || hasLeadingZero) return null
    this.at = at
    return isNegative ? -value : value
  }

  anyNumber(): Value {
    NUMBER.lastIndex = this.at
    const text = NUMBER.exec(this.text)?.[0] ?? ''
    const next = this.text[this.at + text.length]
    if (text === '' || (next !== undefined && /[0-9]/.test(next)) || next === '.' || next === 'e' || next === 'E') {
      return this.badNumber(text)
    }
    this.at += text.length
    if (!/[.eE]/.test(text) && text !== '-0') {
      if (text.length < 16) return Number(text)
      const exact = BigInt(text)
      if (exact >= MIN_INT && exact <= MAX_INT) return wrapInt(exact)
    }
    const float = Number(text)
    return Number.isFinite(float) ? new HarnFloat(float) : this.fail('number out of range', false)
  }

  badNumber(text: string): null {
    this.at += text === '' ? 1 : text.length
    if (text !== '' && /[.eE]/.test(this.text[this.at] ?? '')) this.at += 1
    if (/[+-]/.test(this.text[this.at] ?? '')) this.at += 1
    return this.fail(this.at >= this.text.length ? 'EOF while parsing a value' : 'invalid number')
  }

  /** Behind the opening quote; null after an error. */
  string(): string | null {
    let out = ''
    for (;;) {
      const { text } = this
      let end = this.at
      for (let code = text.charCodeAt(end); code !== 0x22 && code !== 0x5c && code >= 0x20; code = text.charCodeAt(end)) end++
      const run = text.slice(this.at, end)
      this.at = end
      const char = text[end]
      if (char === '"') {
        this.at++
        return out + run
      }
      if (char === undefined) return this.fail('EOF while parsing a string')
      if (char !== '\\') return this.fail('control character (\\u0000-\\u001F) found while parsing a string')
      this.at++
      const escaped = this.escape()
      if (escaped === null) return null
      out += run + escaped
    }
  }

  /** Behind the backslash. */
  escape(): string | null {
    const char = this.text[this.at]
    if (char === undefined) return this.fail('EOF while parsing a string')
    this.at++
    const simple = Object.hasOwn(ESCAPES, char) ? ESCAPES[char]! : null
    if (simple !== null) return simple
    if (char !== 'u') return this.fail('invalid escape', false)
    const unit = this.hex()
    if (unit === null) return null
    if (unit >= 0xdc00 && unit <= 0xdfff) return this.fail('lone leading surrogate in hex escape', false)
    if (unit < 0xd800 || unit > 0xdbff) return String.fromCharCode(unit)
    if (!this.text.startsWith('\\u', this.at)) return this.fail('unexpected end of hex escape')
    this.at += 2
    const low = this.hex()
    if (low === null) return null
    if (low < 0xdc00 || low > 0xdfff) return this.fail('lone leading surrogate in hex escape', false)
    return String.fromCharCode(unit, low)
  }

  hex(): number | null {
    const digits = this.text.slice(this.at, this.at + 4)
    if (digits.length < 4) {
      this.at = this.text.length
      return this.fail('EOF while parsing a string')
    }
    this.at += 4
    return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : this.fail('invalid escape', false)
  }

  /** Reads a key and its colon. */
  key(): string | null {
    if (this.text[this.at] !== '"') return this.fail('key must be a string')
    this.at++
    const key = this.string()
    if (key === null) return null
    const char = this.skipSpace()
    if (char === undefined) return this.fail('EOF while parsing an object')
    if (char !== ':') return this.fail('expected `:`')
    this.at++
    return key
  }

  /** A scalar value, or null with `error` set. */
  scalar(char: string | undefined): Value {
    switch (char) {
      case undefined:
        return this.fail('EOF while parsing a value')
      case '"':
        this.at++
        return this.string()
      case 'n':
        return this.word('null', null)
      case 't':
        return this.word('true', true)
      case 'f':
        return this.word('false', false)
    }
    return (char >= '0' && char <= '9') || char === '-' ? this.number() : this.fail('expected value')
  }

  document(): Value {
    const open: Open[] = []
    for (;;) {
      let value = this.valueOrOpen(open)
      if (this.error !== null) return null
      // A value is complete: give it to the innermost container, and close those that end here.
      while (value !== OPENED) {
        const top = open.at(-1)
        if (top === undefined) {
          if (this.skipSpace() !== undefined) this.fail('trailing characters')
          return value as Value
        }
        if (top.items !== null) top.items.push(value as Value)
        else top.dict.set(top.key, value as Value)
        value = this.closeOrNext(open)
        if (this.error !== null) return null
      }
    }
  }

  /** A whole value, or OPENED when a container with content begins. */
  valueOrOpen(open: Open[]): Value | typeof OPENED {
    const char = this.skipSpace()
    if (char !== '[' && char !== '{') return this.scalar(char)
    this.at++
    const next = this.skipSpace()
    if (char === '[') {
      if (next === ']') return this.closed(new HarnList([]))
      if (next === undefined) return this.fail('EOF while parsing a list')
      open.push({ items: [], dict: NO_DICT, key: '' })
      return OPENED
    }
    if (next === '}') return this.closed(new HarnDict())
    if (next === undefined) return this.fail('EOF while parsing an object')
    const key = this.key()
    if (key === null) return null
    open.push({ items: null, dict: new HarnDict(), key })
    return OPENED
  }

  closed(value: Value): Value {
    this.at++
    return value
  }

  /** Behind a member: the finished container, or OPENED when another member follows. */
  closeOrNext(open: Open[]): Value | typeof OPENED {
    const top = open.at(-1)!
    const { items } = top
    const isList = items !== null
    const char = this.skipSpace()
    if (char === undefined) return this.fail(isList ? 'EOF while parsing a list' : 'EOF while parsing an object')
    if (char === (isList ? ']' : '}')) {
      open.pop()
      return this.closed(items !== null ? new HarnList(items) : top.dict)
    }
    if (char !== ',') return this.fail(isList ? 'expected `,` or `]`' : 'expected `,` or `}`')
    this.at++
    const next = this.skipSpace()
    if (isList) return next === ']' ? this.fail('trailing comma') : OPENED
    if (next === '}') return this.fail('trailing comma')
    if (next === undefined) return this.fail('EOF while parsing a value')
    const key = this.key()
    if (key !== null) top.key = key
    return OPENED
  }
}

const OPENED = Symbol('opened')

export function parseJson(text: string): JsonResult {
  const reader = new Reader(text)
  const value = reader.document()
  return reader.error === null ? { ok: true, value } : { ok: false, message: reader.error }
}

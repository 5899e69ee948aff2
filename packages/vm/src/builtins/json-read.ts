// The JSON reader. Ints are exact to 64 bits, and nesting is limited only by memory: open containers are on an explicit
// stack. Errors say what was expected and where, with columns counted in bytes from 1.

import { PIECE } from './pieces.js'
import { EMPTY } from '../values/shape.js'
import { detachPart } from '../values/text-parts.js'
import type { Shape } from '../values/shape.js'
import { HarnDict } from '../values/dict.js'
import { HarnList } from '../values/list.js'
import { work } from '../values/meter.js'
import { HarnFloat } from '../values/scalars.js'
import { wrapInt } from '../values/value.js'
import type { Value } from '../values/value.js'

export type JsonResult = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly message: string }

const MAX_INT = 2n ** 63n - 1n
const MIN_INT = -(2n ** 63n)
/** A signed 64-bit int; a number in JSON has no leading zeros. */
const MOST_DIGITS = 20
const encoder = new TextEncoder()

const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/**
 * A list or object whose end has not been read. Its members are on the reader's stack from `base` on, so that the finished container
 * has no spare capacity. Long lists, and objects whose keys have no shape, are built in place.
 */
interface Open {
  readonly isList: boolean
  readonly base: number
  /** Objects only: the shape of the members on the stack. */
  shape: Shape
  /** Objects only: the key that waits for its value. */
  key: string
  items: Value[] | null
  dict: HarnDict | null
}

/** Members of a list that are on the stack. */
const FEW_ITEMS = 64

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

class Reader {
  readonly text: string
  at = 0
  error: string | null = null
  /** Units of work since the last `takeSpent`. */
  spent = 0
  private readonly open: Open[] = []
  /** Members of the open containers, up to `top`. */
  private readonly held: Value[] = []
  private top = 0

  constructor(text: string) {
    this.text = text
  }

  /** An error at the last character read, or at the next one (`peeked`). */
  fail(message: string, peeked = true): null {
    const end = Math.min(this.text.length, this.at + (peeked ? 1 : 0))
    const before = this.text.slice(0, end)
    // If the offending character is a newline, it is column 0 of the next line.
    const lineStart = before.lastIndexOf('\n') + 1
    const line = before.slice(0, lineStart).split('\n').length
    // Columns count bytes. A multi-byte offending character counts as its first byte.
    const whole = peeked && end > this.at && !before.endsWith('\n') ? before.slice(lineStart, end - 1) : before.slice(lineStart)
    const column = encoder.encode(whole).length + (whole.length < end - lineStart ? 1 : 0)
    this.error = `${message} at line ${line} column ${column}`
    return null
  }

  /** A string is read in one operation; refused if it is longer than an operation may take. */
  private spend(units: number): void {
    this.spent += units
    if (units > PIECE) {
      work(units)
      this.spent -= units
    }
  }

  /** A run of spaces is usually short; longer ones are charged as strings are. */
  skipSpace(): string | undefined {
    for (let from = this.at; ;) {
      if (this.at - from === SPACES) {
        this.spent += SPACES >> TEXT_BITS
        from = this.at
      }
      const code = this.text.charCodeAt(this.at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return this.text[this.at]
      this.at++
    }
  }

  readWord(word: string, value: Value): Value {
    for (const char of word) {
      const got = this.text[this.at]
      if (got === undefined) return this.fail('EOF while parsing a value')
      if (got !== char) return this.fail('expected ident')
      this.at++
    }
    return value
  }

  readNumber(): Value {
    return this.readSmallInt() ?? this.readAnyNumber()
  }

  /** A short int, which most numbers are; null for anything else, which `readAnyNumber` reads from its start. */
  readSmallInt(): number | null {
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

  readAnyNumber(): Value {
    NUMBER.lastIndex = this.at
    const text = NUMBER.exec(this.text)?.[0] ?? ''
    this.spend(UNITS_A_RUN + (text.length >> TEXT_BITS))
    const next = this.text[this.at + text.length]
    if (text === '' || (next !== undefined && /[0-9]/.test(next)) || next === '.' || next === 'e' || next === 'E') {
      return this.failNumber(text)
    }
    this.at += text.length
    if (!/[.eE]/.test(text) && text !== '-0') {
      if (text.length < 16) return Number(text)
      // More digits than 64 bits can hold are not an int, and converting very many would take long.
      const exact = text.length <= MOST_DIGITS ? BigInt(text) : null
      if (exact !== null && exact >= MIN_INT && exact <= MAX_INT) return wrapInt(exact)
    }
    const float = Number(text)
    return Number.isFinite(float) ? new HarnFloat(float) : this.fail('number out of range', false)
  }

  failNumber(text: string): null {
    this.at += text === '' ? 1 : text.length
    if (text !== '' && /[.eE]/.test(this.text[this.at] ?? '')) this.at += 1
    if (/[+-]/.test(this.text[this.at] ?? '')) this.at += 1
    return this.fail(this.at >= this.text.length ? 'EOF while parsing a value' : 'invalid number')
  }

  /** Behind the opening quote; null after an error. */
  readString(): string | null {
    let out = ''
    for (;;) {
      const { text } = this
      let end = this.at
      for (let code = text.charCodeAt(end); code !== 0x22 && code !== 0x5c && code >= 0x20; code = text.charCodeAt(end)) end++
      this.spend(UNITS_A_RUN + ((end - this.at) >> TEXT_BITS))
      const run = text.slice(this.at, end)
      this.at = end
      const char = text[end]
      if (char === '"') {
        this.at++
        return out + detachPart(run, text.length)
      }
      if (char === undefined) return this.fail('EOF while parsing a string')
      if (char !== '\\') return this.fail('control character (\\u0000-\\u001F) found while parsing a string')
      this.at++
      const escaped = this.escape()
      if (escaped === null) return null
      out += detachPart(run, text.length) + escaped
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
    const unit = this.readHex()
    if (unit === null) return null
    if (unit >= 0xdc00 && unit <= 0xdfff) return this.fail('lone leading surrogate in hex escape', false)
    if (unit < 0xd800 || unit > 0xdbff) return String.fromCharCode(unit)
    if (!this.text.startsWith('\\u', this.at)) return this.fail('unexpected end of hex escape')
    this.at += 2
    const low = this.readHex()
    if (low === null) return null
    if (low < 0xdc00 || low > 0xdfff) return this.fail('lone leading surrogate in hex escape', false)
    return String.fromCharCode(unit, low)
  }

  readHex(): number | null {
    const digits = this.text.slice(this.at, this.at + 4)
    if (digits.length < 4) {
      this.at = this.text.length
      return this.fail('EOF while parsing a string')
    }
    this.at += 4
    return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : this.fail('invalid escape', false)
  }

  /** Reads a key and its colon; `expected` is the key that followed the same keys last time. */
  readKey(expected: string | null): string | null {
    const { text } = this
    if (text.charCodeAt(this.at) !== 0x22) return this.fail('key must be a string')
    this.at++
    let key: string | null
    const end = expected === null ? 0 : this.at + expected.length
    if (expected !== null && text.charCodeAt(end) === 0x22 && text.startsWith(expected, this.at)) {
      key = expected
      this.spend(UNITS_A_RUN + (key.length >> TEXT_BITS))
      this.at = end + 1
    } else key = this.readString()
    if (key === null) return null
    if (text.charCodeAt(this.at) !== 0x3a) {
      const char = this.skipSpace()
      if (char === undefined) return this.fail('EOF while parsing an object')
      if (char !== ':') return this.fail('expected `:`')
    }
    this.at++
    return key
  }

  /** A scalar value, or null with `error` set. */
  readScalar(char: string | undefined): Value {
    switch (char) {
      case undefined:
        return this.fail('EOF while parsing a value')
      case '"':
        this.at++
        return this.readString()
      case 'n':
        return this.readWord('null', null)
      case 't':
        return this.readWord('true', true)
      case 'f':
        return this.readWord('false', false)
    }
    return (char >= '0' && char <= '9') || char === '-' ? this.readNumber() : this.fail('expected value')
  }

  /** Continues until `budget` units are spent; returns PAUSED when there is more to read. */
  readDocument(budget: number): Value | typeof PAUSED {
    const { open } = this
    for (;;) {
      if (this.spent >= budget) return PAUSED
      this.spent += UNITS_A_VALUE
      let value = this.readValueOrOpen(open)
      if (this.error !== null) return null
      // A value is complete: add it to the innermost container, and close the containers that end here.
      while (value !== OPENED) {
        const top = open.at(-1)
        if (top === undefined) {
          if (this.skipSpace() !== undefined) this.fail('trailing characters')
          return value as Value
        }
        this.take(top, value as Value)
        value = this.closeOrNext(open)
        if (this.error !== null) return null
      }
    }
  }

  /** A whole value, or OPENED when a non-empty container begins. */
  readValueOrOpen(open: Open[]): Value | typeof OPENED {
    const char = this.skipSpace()
    if (char !== '[' && char !== '{') return this.readScalar(char)
    this.at++
    this.spent += UNITS_A_CONTAINER
    const next = this.skipSpace()
    if (char === '[') {
      if (next === ']') return this.closeContainer(new HarnList([]))
      if (next === undefined) return this.fail('EOF while parsing a list')
      open.push({ isList: true, base: this.top, shape: EMPTY, key: '', items: null, dict: null })
      return OPENED
    }
    if (next === '}') return this.closeContainer(new HarnDict())
    if (next === undefined) return this.fail('EOF while parsing an object')
    const key = this.readKey(EMPTY.expected)
    if (key === null) return null
    open.push({ isList: false, base: this.top, shape: EMPTY, key, items: null, dict: null })
    return OPENED
  }

  closeContainer(value: Value): Value {
    this.at++
    return value
  }

  /** Adds a member to an open container. */
  private take(open: Open, value: Value): void {
    if (open.isList) {
      if (open.items !== null) open.items.push(value)
      else {
        this.held[this.top++] = value
        if (this.top - open.base === FEW_ITEMS) open.items = this.takeHeld(open)
      }
      return
    }
    const { key, shape, dict } = open
    if (dict !== null) return dict.set(key, value)
    const again = shape.reuseLast(key)
    const at = again === null ? shape.at(key) : -1
    if (at >= 0) {
      this.held[open.base + at] = value
      return
    }
    const next = again ?? shape.with(key)
    if (next === null) {
      open.dict = new HarnDict(null, shape, this.takeHeld(open))
      open.dict.set(key, value)
      return
    }
    open.shape = next
    this.held[this.top++] = value
  }

  /** Removes the members of a container from the stack. */
  private takeHeld(open: Open): Value[] {
    const members = this.held.slice(open.base, this.top)
    this.top = open.base
    return members
  }

  /** After a member: the finished container, or OPENED when another member follows. */
  closeOrNext(open: Open[]): Value | typeof OPENED {
    const top = open.at(-1)!
    const { isList } = top
    const char = this.skipSpace()
    if (char === undefined) return this.fail(isList ? 'EOF while parsing a list' : 'EOF while parsing an object')
    if (char === (isList ? ']' : '}')) {
      open.pop()
      if (isList) return this.closeContainer(new HarnList(top.items ?? this.takeHeld(top)))
      return this.closeContainer(top.dict ?? new HarnDict(null, top.shape, this.takeHeld(top)))
    }
    if (char !== ',') return this.fail(isList ? 'expected `,` or `]`' : 'expected `,` or `}`')
    this.at++
    const next = this.skipSpace()
    if (isList) return next === ']' ? this.fail('trailing comma') : OPENED
    if (next === '}') return this.fail('trailing comma')
    if (next === undefined) return this.fail('EOF while parsing a value')
    const key = this.readKey(top.shape.expected)
    if (key !== null) top.key = key
    return OPENED
  }
}

const OPENED = Symbol('opened')
const PAUSED = Symbol('paused')

const SPACES = 1024

const UNITS_A_VALUE = 2
const UNITS_A_CONTAINER = 8
const UNITS_A_RUN = 2
/** Characters of a string per unit. */
const TEXT_BITS = 5

export function parseJson(text: string): JsonResult {
  const reading = new JsonReading(text)
  for (;;) {
    const result = reading.step(PIECE)
    work(reading.takeSpent())
    if (result !== undefined) return result
  }
}

/** Reads a long document in pieces. */
export class JsonReading {
  private readonly reader: Reader

  constructor(text: string) {
    this.reader = new Reader(text)
  }

  /** Works for up to `units`; undefined when there is more to read. `takeSpent` returns how many were used. */
  step(units: number): JsonResult | undefined {
    const value = this.reader.readDocument(units)
    if (value === PAUSED) return undefined
    return this.reader.error === null ? { ok: true, value } : { ok: false, message: this.reader.error }
  }

  /** Units since the last call. */
  takeSpent(): number {
    const { spent } = this.reader
    this.reader.spent = 0
    return spent
  }
}

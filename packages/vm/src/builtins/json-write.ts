// The JSON writer, with a work list instead of recursion. Keys are sorted, and there is no whitespace unless an
// indent is given. Scalars have two forms: that of `json_stringify`, where floats are decimal digits without an exponent
// and without a forced decimal (`1.0` is `1`), and that of files and templates (`interchange`), for other readers.

import { encodeBase64 } from './codecs-alphabets.js'
import { PIECE } from './pieces.js'
import { display, displayFloat } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { HarnBytes, HarnFloat, HarnRange } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { SHORT_TEXT, visit, work } from '../values/meter.js'
import { TextBuilder } from '../values/text-builder.js'
import type { Value } from '../values/value.js'

export interface JsonOptions {
  /** Spaces per level; 0 writes everything on one line without spaces. */
  readonly indent?: number
  /**
   * Integral floats keep their `.0`, very large and small ones use an exponent, NaN and infinities are null, and
   * backspace and form feed have their short escapes.
   */
  readonly interchange?: boolean
  /** Values that JSON cannot represent, and sets, are formatted instead of written as null. */
  readonly displays?: boolean
}

const MARKS: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escapeChar(char: string): string {
  return MARKS[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const ESCAPED = /["\\\u0000-\u001f]/
/** Characters that JSON.stringify escapes differently. */
const OTHERWISE = /[\b\f\ud800-\udfff]/

export function toJsonString(text: string): string {
  if (!ESCAPED.test(text)) return `"${text}"`
  if (!OTHERWISE.test(text)) return JSON.stringify(text)
  return `"${text.replace(/["\\\u0000-\u001f]/g, escapeChar)}"`
}

function formatJsonFloat(v: number, interchange: boolean): string {
  if (interchange) return formatInterchangeFloat(v)
  const text = displayFloat(v)
  return text.endsWith('.0') ? text.slice(0, -2) : text
}

/** A float as files have it: positional from 1e-5 to below 1e16, otherwise one digit before the point and an exponent. */
export function formatInterchangeFloat(v: number): string {
  if (!Number.isFinite(v)) return 'null'
  const scientific = v.toExponential()
  const exponent = Number(scientific.slice(scientific.indexOf('e') + 1))
  if (v !== 0 && (exponent < -5 || exponent >= 16)) return scientific
  const text = displayFloat(v)
  return text.includes('.') ? text : `${text}.0`
}

const INTERCHANGE_MARKS: Readonly<Record<string, string>> = { ...MARKS, '\b': '\\b', '\f': '\\f' }
const SHORT_ESCAPED = /[\b\f]/

function formatInterchangeString(text: string): string {
  if (!SHORT_ESCAPED.test(text)) return toJsonString(text)
  return `"${text.replace(/["\\\u0000-\u001f]/g, (char) => INTERCHANGE_MARKS[char] ?? escapeChar(char))}"`
}

/** JSON of a value without members, null for lists and objects. */
function formatLeaf(value: Value, interchange: boolean, displays: boolean): string | null {
  switch (typeof value) {
    case 'string':
      return interchange ? formatInterchangeString(value) : toJsonString(value)
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
  }
  if (value instanceof HarnFloat) return formatJsonFloat(value.v, interchange)
  if (value instanceof HarnBytes) return `{"$bytes_b64":"${encodeBase64(value.data)}"}`
  if (value instanceof HarnRange) return toJsonString(display(value))
  if (displays && value instanceof HarnSet) return toJsonString(display(value))
  if (value instanceof HarnList || value instanceof HarnSet || value instanceof Keyed) {
    return null
  }
  return displays && value !== null ? toJsonString(display(value)) : 'null'
}

/** A list or object being written: its members from `at` on are not written yet. */
interface Open {
  readonly labels: readonly string[] | null
  readonly members: readonly Value[]
  at: number
}

function open(value: Value): Open {
  if (value instanceof HarnList) return { labels: null, members: value.view(), at: 0 }
  if (value instanceof HarnSet) return { labels: null, members: value.values(), at: 0 }
  const keyed = value as Keyed
  return { labels: keyed.keys(), members: keyed.members(), at: 0 }
}

const UNITS_A_MEMBER = 2
const UNITS_A_CONTAINER = 8
/** Characters of a string per unit of fuel. */
const TEXT_BITS = 4

/** Writes a value in pieces. */
export class JsonWriting {
  private readonly indent: number
  private readonly interchange: boolean
  private readonly displays: boolean
  private readonly colon: string
  private readonly stack: Open[] = []
  private spent = 0
  private readonly out = new TextBuilder()

  constructor(root: Value, { indent = 0, interchange = false, displays = false }: JsonOptions = {}) {
    this.indent = indent
    this.interchange = interchange
    this.displays = displays
    this.colon = indent > 0 ? ': ' : ':'
    this.write(root)
  }

  private makeLineBreak(): string {
    const spaces = this.indent * this.stack.length
    if (spaces > SHORT_TEXT) this.spend(spaces >> TEXT_BITS)
    return this.indent > 0 ? `\n${' '.repeat(spaces)}` : ''
  }

  private write(value: Value): void {
    // A string is written in one operation; refused if it is longer than an operation may take.
    if (typeof value === 'string') {
      const units = value.length >> TEXT_BITS
      if (units > PIECE) work(units)
      else this.spent += units
    }
    const text = formatLeaf(value, this.interchange, this.displays)
    if (text !== null) this.out.add(text)
    else {
      const opened = open(value)
      // Opening a container reads all members and sorts the keys.
      const { length } = opened.members
      this.spend(UNITS_A_CONTAINER + (length >> 3))
      this.stack.push(opened)
    }
  }

  private spend(units: number): void {
    this.spent += units
    if (units <= PIECE) return
    work(units)
    this.spent -= units
  }

  /** Works for up to `units`; undefined when there is more to write. `takeSpent` returns how many were used. */
  step(units: number): string | undefined {
    const { stack } = this
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      if (this.spent >= units) return undefined
      const { labels, members, at } = top
      if (at === 0) this.out.add(labels === null ? '[' : '{')
      if (at === members.length) {
        stack.pop()
        if (at > 0) this.out.add(this.makeLineBreak())
        this.out.add(labels === null ? ']' : '}')
        continue
      }
      this.out.add((at > 0 ? ',' : '') + this.makeLineBreak())
      if (labels !== null) {
        const { length } = labels[at]!
        if (length > SHORT_TEXT) this.spend(length >> TEXT_BITS)
        this.out.add((this.interchange ? formatInterchangeString(labels[at]!) : toJsonString(labels[at]!)) + this.colon)
      }
      top.at = at + 1
      this.spent += UNITS_A_MEMBER
      this.write(members[at]!)
    }
    return this.out.toString()
  }

  /** Units since the last call. */
  takeSpent(): number {
    const { spent } = this
    this.spent = 0
    return spent
  }

  /** Characters written so far. */
  get length(): number {
    return this.out.length
  }
}

/** Writes everything at once, as part of another operation; refused if that is more than an operation may take. */
export function stringifyJson(root: Value, options: JsonOptions = {}): string {
  const writing = new JsonWriting(root, options)
  let visited = 0
  for (;;) {
    const text = writing.step(STEP)
    visited = visit(visited, writing.takeSpent())
    if (text !== undefined) return text
  }
}

/** Units between two checks of the limits. */
const STEP = 1024

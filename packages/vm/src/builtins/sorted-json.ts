// Sorted JSON: object keys in byte order at every level, no spaces. Ids and argument hashes are computed over it,
// so it must not depend on the JavaScript engine's number formatting: ints are exact, floats look as Rust's
// serde prints them (`1.0`, `1e-7`), and values that JSON cannot represent are formatted.
// Also here: the indented form, and the quoting that error messages use.

import { HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import type { Keyed } from '../values/keyed.js'
import { HarnBytes, HarnFloat } from '../values/scalars.js'
import { work } from '../values/meter.js'
import type { Value } from '../values/value.js'

/** A float as serde_json prints it: shortest digits, plain between 1e-5 and 1e16, always with a point or an exponent. */
export function formatJsonFloat(v: number): string {
  if (!Number.isFinite(v)) return 'null'
  const [, sign, first, rest = '', exponentText] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(v.toExponential())!
  if (v === 0) return Object.is(v, -0) ? '-0.0' : '0.0'
  const digits = first! + rest
  // The value is 0.DIGITS × 10^point.
  const point = Number(exponentText) + 1
  if (point > 16 || point <= -5) return `${sign}${first}${rest === '' ? '' : `.${rest}`}e${Number(exponentText)}`
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  if (point >= digits.length) return `${sign}${digits}${'0'.repeat(point - digits.length)}.0`
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** By byte; built on first use, because filling it takes half a millisecond of the start. */
let hexOfByte: readonly string[] | null = null

export function bytesToHex(bytes: Uint8Array): string {
  const hex = (hexOfByte ??= Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0')))
  let text = ''
  for (const byte of bytes) text += hex[byte]
  return text
}

/** Up to this length, a loop over characters is faster than starting the platform's writer. */
const SHORT = 40

/** A string in JSON. */
function quoteText(text: string): string {
  if (text.length > SHORT) return JSON.stringify(text)
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return JSON.stringify(text)
  }
  return `"${text}"`
}

type Work = Value | { readonly text: string }

function stringifyLeaf(value: Value): string | null {
  switch (typeof value) {
    case 'string':
      return quoteText(value)
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
  }
  if (value === null) return 'null'
  if (value instanceof HarnFloat) return formatJsonFloat(value.v)
  if (value instanceof HarnList || value instanceof HarnDict || value instanceof HarnStruct) return null
  if (value instanceof HarnBytes) return `{"__bytes_hex":"${bytesToHex(value.data)}"}`
  return JSON.stringify(display(value))
}

/** Levels that are walked by recursion, which takes a quarter of the time of a work list. */
const SHALLOW = 100

/** JSON with sorted keys; `indent` spaces per level, 0 for the compact form. */
export function stringifySorted(root: Value, indent = 0): string {
  return indent === 0 ? stringifyCompact(root, SHALLOW) : stringifyByWalk(root, indent)
}

function stringifyCompact(value: Value, levels: number): string {
  const leaf = stringifyLeaf(value)
  if (leaf !== null) return leaf
  if (levels === 0) return stringifyByWalk(value, 0)
  let out = ''
  if (value instanceof HarnList) {
    const { items, length } = value
    for (let at = 0; at < length; at++) out += (at === 0 ? '' : ',') + stringifyCompact(items[at]!, levels - 1)
    return `[${out}]`
  }
  const fields = value as Keyed
  const keys = fields.keys()
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at]!
    out += `${at === 0 ? '' : ','}${quoteText(key)}:${stringifyCompact(fields.get(key)!, levels - 1)}`
  }
  return `{${out}}`
}

/** With a work list, because data may be arbitrarily deep. */
function stringifyByWalk(root: Value, indent: number): string {
  let out = ''
  const pending: { readonly item: Work; readonly depth: number }[] = [{ item: root, depth: 0 }]
  const breakLine = (depth: number): string => (indent === 0 ? '' : `\n${' '.repeat(indent * depth)}`)
  const colon = indent === 0 ? ':' : ': '
  while (pending.length > 0) {
    const { item, depth } = pending.pop()!
    if (item !== null && typeof item === 'object' && 'text' in item) {
      out += item.text
      continue
    }
    const leaf = stringifyLeaf(item)
    if (leaf !== null) {
      out += leaf
      continue
    }
    if (item instanceof HarnList) {
      if (item.length === 0) out += '[]'
      else {
        pending.push({ item: { text: `${breakLine(depth)}]` }, depth })
        for (let at = item.length - 1; at >= 0; at--) {
          pending.push({ item: item.items[at]!, depth: depth + 1 })
          pending.push({ item: { text: (at === 0 ? '[' : ',') + breakLine(depth + 1) }, depth })
        }
      }
      continue
    }
    const fields = item as Keyed
    const keys = fields.keys()
    if (keys.length === 0) {
      out += '{}'
      continue
    }
    pending.push({ item: { text: `${breakLine(depth)}}` }, depth })
    for (let at = keys.length - 1; at >= 0; at--) {
      const key = keys[at]!
      pending.push({ item: fields.get(key)!, depth: depth + 1 })
      pending.push({ item: { text: `${at === 0 ? '{' : ','}${breakLine(depth + 1)}${JSON.stringify(key)}${colon}` }, depth })
    }
  }
  return out
}

export function toUtf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/**
 * Characters that Rust's `{:?}` escapes besides the named ones: control, format, unassigned, separators except the space, marks. The regular
 * expressions are built on first use: V8 builds sets over all of Unicode for them, which would slow every start.
 */
let unprintable: RegExp | null = null

/** By character of the first plane: 1 printable, 2 not, 0 not tested yet. A test of a character class takes microseconds in V8. */
let asked: Uint8Array | null = null

function isUnprintable(char: string): boolean {
  unprintable ??= /^(?:[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Mn}\p{Me}]|(?! )\p{Zs})$/u
  if (char.length > 1) return unprintable.test(char)
  asked ??= new Uint8Array(1 << 16)
  const code = char.charCodeAt(0)
  if (asked[code] === 0) asked[code] = unprintable.test(char) ? 2 : 1
  return asked[code] === 2
}

/** Characters that are quoted for a unit, as a power of two. */
const QUOTED_BITS = 2

/** The string in double quotes with escapes, as Rust's `{x:?}` prints it. */
export function debugQuoted(text: string): string {
  work(text.length >> QUOTED_BITS)
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll('\0', '\\0')
  const safe = escaped.replace(/[^\x20-\x7e]/gu, (char) =>
    isUnprintable(char) ? `\\u{${char.codePointAt(0)!.toString(16)}}` : char,
  )
  return `"${safe}"`
}

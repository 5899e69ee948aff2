// The JSON writer, with a work list instead of recursion. Keys are in order and nothing is put between tokens unless an
// indent is asked for. Floats take no forced decimal (`1.0` is `1`) unless `decimals` asks for it, and never an exponent.

import { encodeBase64 } from './codecs-alphabets.js'
import { HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display, displayFloat } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { HarnBytes, HarnFloat, HarnRange } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { sortTexts } from '../values/text-order.js'
import type { Value } from '../values/value.js'

export interface JsonOptions {
  /** Spaces a level; 0 writes everything on one line without spaces. */
  readonly indent?: number
  /** Integral floats keep their `.0`. */
  readonly decimals?: boolean
}

const MARKS: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escapeChar(char: string): string {
  return MARKS[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export function jsonString(text: string): string {
  return `"${text.replace(/["\\\u0000-\u001f]/g, escapeChar)}"`
}

function jsonFloat(v: number, decimals: boolean): string {
  const text = displayFloat(v)
  return !decimals && text.endsWith('.0') ? text.slice(0, -2) : text
}

/** Text of a value without members, null for lists and objects. */
function leaf(value: Value, decimals: boolean): string | null {
  switch (typeof value) {
    case 'string': return jsonString(value)
    case 'number': case 'bigint': case 'boolean': return String(value)
  }
  if (value instanceof HarnFloat) return jsonFloat(value.v, decimals)
  if (value instanceof HarnBytes) return `{"$bytes_b64":"${encodeBase64(value.data)}"}`
  if (value instanceof HarnRange) return jsonString(display(value))
  if (value instanceof HarnList || value instanceof HarnSet || value instanceof HarnDict || value instanceof HarnStruct) {
    return null
  }
  return 'null'
}

type Work = { readonly text: string } | { readonly value: Value; readonly depth: number }

export function stringifyJson(root: Value, options: JsonOptions = {}): string {
  const { indent = 0, decimals = false } = options
  const colon = indent > 0 ? ': ' : ':'
  const lineBreak = (depth: number): string => (indent > 0 ? `\n${' '.repeat(indent * depth)}` : '')
  let out = ''
  const pending: Work[] = [{ value: root, depth: 0 }]
  while (pending.length > 0) {
    const work = pending.pop()!
    if ('text' in work) {
      out += work.text
      continue
    }
    const { value, depth } = work
    const text = leaf(value, decimals)
    if (text !== null) {
      out += text
      continue
    }
    const { brackets, members } = open(value, colon)
    if (members.length === 0) {
      out += brackets
      continue
    }
    pending.push({ text: lineBreak(depth) + brackets[1]! })
    for (let at = members.length - 1; at >= 0; at--) {
      const [label, member] = members[at]!
      pending.push({ value: member, depth: depth + 1 }, { text: (at === 0 ? brackets[0]! : ',') + lineBreak(depth + 1) + label })
    }
  }
  return out
}

interface Opened {
  readonly brackets: string
  readonly members: readonly (readonly [label: string, value: Value])[]
}

function open(value: Value, colon: string): Opened {
  if (value instanceof HarnList) return { brackets: '[]', members: value.view().map((item) => ['', item] as const) }
  if (value instanceof HarnSet) return { brackets: '[]', members: value.values().map((item) => ['', item] as const) }
  const [keys, map] = value instanceof HarnDict
    ? [value.keys(), value.map]
    : [sortTexts([...(value as HarnStruct).fields.keys()]), (value as HarnStruct).fields]
  return { brackets: '{}', members: keys.map((key) => [jsonString(key) + colon, map.get(key)!] as const) }
}

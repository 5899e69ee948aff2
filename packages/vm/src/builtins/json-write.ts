// The JSON writer, with a work list instead of recursion. Keys are in order and nothing is put between tokens unless an
// indent is asked for. Floats take no forced decimal (`1.0` is `1`) unless `decimals` asks for it, and never an exponent.

import { encodeBase64 } from './codecs-alphabets.js'
import { display, displayFloat } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { HarnBytes, HarnFloat, HarnRange } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { visit } from '../values/meter.js'
import type { Value } from '../values/value.js'

export interface JsonOptions {
  /** Spaces a level; 0 writes everything on one line without spaces. */
  readonly indent?: number
  /** Integral floats keep their `.0`. */
  readonly decimals?: boolean
  /** Values that JSON has no form for, and sets, are written as their display instead of null. */
  readonly displays?: boolean
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
function leaf(value: Value, decimals: boolean, displays: boolean): string | null {
  switch (typeof value) {
    case 'string':
      return jsonString(value)
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
  }
  if (value instanceof HarnFloat) return jsonFloat(value.v, decimals)
  if (value instanceof HarnBytes) return `{"$bytes_b64":"${encodeBase64(value.data)}"}`
  if (value instanceof HarnRange) return jsonString(display(value))
  if (displays && value instanceof HarnSet) return jsonString(display(value))
  if (value instanceof HarnList || value instanceof HarnSet || value instanceof Keyed) {
    return null
  }
  return displays && value !== null ? jsonString(display(value)) : 'null'
}

/** A list or object being written: its members from `at` on are still to come. */
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

export function stringifyJson(root: Value, options: JsonOptions = {}): string {
  const { indent = 0, decimals = false, displays = false } = options
  const colon = indent > 0 ? ': ' : ':'
  const first = leaf(root, decimals, displays)
  if (first !== null) return first
  const stack: Open[] = [open(root)]
  const lineBreak = (depth: number): string => (indent > 0 ? `\n${' '.repeat(indent * depth)}` : '')
  let out = ''
  let visited = 0
  for (let top = stack[0]; top !== undefined; top = stack.at(-1)) {
    const { labels, members, at } = top
    if (at === 0) out += labels === null ? '[' : '{'
    if (at === members.length) {
      stack.pop()
      if (at > 0) out += lineBreak(stack.length)
      out += labels === null ? ']' : '}'
      continue
    }
    out += (at > 0 ? ',' : '') + lineBreak(stack.length)
    if (labels !== null) out += jsonString(labels[at]!) + colon
    const member = members[at]!
    top.at = at + 1
    visited = visit(visited, 1)
    const text = leaf(member, decimals, displays)
    if (text === null) stack.push(open(member))
    else out += text
  }
  return out
}

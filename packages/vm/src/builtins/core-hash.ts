// The hash behind `hash_value`: 64-bit FNV-1a over a canonical string of the value. Structurally equal values have the
// same hash in every run.

import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { visit, work } from '../values/meter.js'
import { HarnBytes, HarnDuration, HarnFloat } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { sortTexts } from '../values/text-order.js'
import { typeName } from '../values/value.js'
import type { Value } from '../values/value.js'
import { encodeHex } from './codecs-alphabets.js'

const OFFSET = 0xcbf29ce484222325n
const PRIME_LOW = 0x1b3
const encoder = new TextEncoder()

/** FNV-1a, 64 bits, as a signed bigint. The prime is 2^40 + 0x1b3, so a product takes two 32-bit halves and a shift. */
export function hashFnv1a(bytes: Uint8Array): bigint {
  let low = Number(OFFSET & 0xffffffffn)
  let high = Number(OFFSET >> 32n)
  for (let at = 0; at < bytes.length; at++) {
    low = (low ^ bytes[at]!) >>> 0
    const product = low * PRIME_LOW
    // High half: high * 0x1b3 + carry of the low half + low << 8 (the 2^40 of the prime).
    high = (Math.imul(high, PRIME_LOW) + Math.floor(product / 0x100000000) + ((low << 8) >>> 0)) >>> 0
    low = product >>> 0
  }
  return BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low))
}

type Work = Value | { readonly text: string } | { readonly cut: SetParts } | { readonly close: SetParts }

/** A set being written: where its members begin, and the keys of those already written. */
interface SetParts {
  start: number
  readonly members: string[]
}

/** `N:text` with N in UTF-8 bytes, as in the key of every named or string part. */
const prefixLength = (text: string): string => `${BEYOND_ASCII.test(text) ? encoder.encode(text).length : text.length}:${text}`
// eslint-disable-next-line no-control-regex -- all of ASCII
const BEYOND_ASCII = /[^\0-\x7f]/

/** NaN is written with its sign bit set, which is how the division of two zeros leaves it. */
function makeFloatKey(v: number): string {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, v)
  return `f${Number.isNaN(v) ? '18444492273895866368' : view.getBigUint64(0)};`
}

/** Characters per unit of fuel, as a power of two: they are encoded and hashed one by one. */
const TEXT_BITS = 3
const UNITS_A_KEY = 4

/** The canonical string of a value without members; `makeCanonicalKey` writes those of containers. */
function makeLeafKey(value: Value): string {
  if (typeof value === 'string') work(value.length >> TEXT_BITS)
  else if (value instanceof HarnBytes) work(value.data.length >> (TEXT_BITS - 1))
  if (value === null) return 'N'
  if (typeof value === 'boolean') return value ? 'T' : 'F'
  if (typeof value === 'string') return `s${prefixLength(value)}`
  if (typeof value !== 'object') return `i${value};`
  if (value instanceof HarnFloat) return makeFloatKey(value.v)
  if (value instanceof HarnDuration) return `d${value.ms};`
  if (value instanceof HarnBytes) return `b${encodeHex(value.data)};`
  return `o${prefixLength(typeName(value))}${prefixLength(display(value))}`
}

/** A string that structurally equal values share. Uses a work list, since data may be deeper than the JavaScript stack. */
function makeCanonicalKey(root: Value): string {
  const parts: string[] = []
  const pending: Work[] = [root]
  let visited = 0
  work(UNITS_A_KEY)
  while (pending.length > 0) {
    const next = pending.pop()!
    visited = visit(visited, 2)
    if (next instanceof HarnList) {
      pending.push({ text: ']' })
      const items = next.view()
      for (let at = items.length - 1; at >= 0; at--) pending.push({ text: ',' }, items[at]!)
      parts.push('L')
    } else if (next instanceof HarnDict) {
      pending.push({ text: '}' })
      for (const key of next.keys().toReversed()) pending.push({ text: ',' }, next.get(key)!, { text: `${prefixLength(key)}=` })
      parts.push('D')
    } else if (next instanceof HarnSet) {
      const set: SetParts = { start: parts.length, members: [] }
      pending.push({ close: set })
      for (const member of next.map.values()) pending.push({ cut: set }, member)
    } else if (next === null || typeof next !== 'object') parts.push(makeLeafKey(next))
    else if ('text' in next) parts.push(next.text)
    else if ('cut' in next) next.cut.members.push(parts.splice(next.cut.start).join(''))
    else if ('close' in next)
      parts.push(
        'S',
        sortTexts(next.close.members)
          .map((member) => `${member},`)
          .join(''),
        '}',
      )
    else parts.push(makeLeafKey(next))
  }
  return parts.join('')
}

export function fingerprint(value: Value): bigint {
  return hashFnv1a(encoder.encode(makeCanonicalKey(value)))
}

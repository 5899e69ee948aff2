// The cost of operators beyond one step: work and memory by the size of what they copy, charged before the work.

import { HarnDict } from '../values/dict.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { SHORT_TEXT } from '../values/meter.js'
import { HarnFloat } from '../values/scalars.js'
import type { Machine } from './machine.js'
import type { Value } from '../values/value.js'

/** Whether comparing this value may take long. Floats are excluded, because compiled code holds them without a box. */
export function isLong(x: Value): boolean {
  return typeof x === 'string' ? x.length > SHORT_TEXT : typeof x === 'object' && x !== null && !(x instanceof HarnFloat)
}

/** Whether reading an element takes long: in a string it is found by counting, and keys that are not strings are formatted first. */
export function isLongAccess(x: Value, index: Value): boolean {
  return (typeof x === 'string' && x.length > SHORT_TEXT) || isShownAsKey(index)
}

/** Whether setting an element or a field copies its container, or formats a key that is not a string. */
export function isLongUpdate(x: Value, index: Value): boolean {
  return ((x instanceof HarnList || x instanceof Keyed) && !x.owned) || isShownAsKey(index)
}

export function isShownAsKey(index: Value): boolean {
  return typeof index === 'object' && index !== null && !(index instanceof HarnFloat)
}

/** A string concatenated from others is flattened when it is first read. */
export function chargeText(m: Machine, length: number): void {
  if (length > LONG_TEXT) m.charge(length >> JOINED_BITS)
}

const LONG_TEXT = 4095
const JOINED_BITS = 10

/** `inPlace`: the result replaces `x`, which may be changed if it is owned. */
export function chargeJoin(m: Machine, x: Value, y: Value, inPlace: boolean): void {
  if (typeof y === 'string') {
    m.chargeHeap(16)
    if (typeof x === 'string') chargeText(m, x.length + y.length)
  } else if (y instanceof HarnList && x instanceof HarnList) {
    const isCopied = x.items.length !== x.length
    const copied = isCopied ? x.length + y.length : y.length
    if (isCopied && inPlace) m.noteCopy(16 + 16 * x.length)
    m.charge(copied >> 3, 32 + 16 * copied)
  } else if (x instanceof HarnDict && y instanceof HarnDict) {
    const copied = inPlace && x.owned && x !== y ? y.size : x.size + y.size
    if (inPlace && !x.owned) m.noteCopy(16 + 32 * x.size)
    m.charge(copied, 32 + 32 * copied)
  }
}

export function chargeRepeat(m: Machine, x: Value, y: Value): void {
  const text = typeof x === 'string' ? x : typeof y === 'string' ? y : ''
  const count = Number(typeof x === 'string' ? (typeof y === 'number' ? y : 0) : typeof x === 'number' ? x : 0)
  const size = Math.max(0, text.length * count)
  if (Number.isFinite(size)) m.charge(Math.min(size >> 6, 1e7), Math.min(size, m.limits.heap))
}

export function chargeCopy(m: Machine, x: Value): void {
  if (x instanceof HarnList) m.charge(x.length >> 3, 16 + 16 * x.length)
  else if (typeof x === 'string') m.charge(x.length >> 6, 16 + x.length)
  else if (x instanceof HarnDict) m.charge(x.size, 16 + 32 * x.size)
}

/** Charge for a change in place of a container that only its holder references. */
export function chargeHeldUpdate(m: Machine, x: Value): void {
  if (x instanceof HarnList || x instanceof Keyed) m.chargeHeap(32)
}

export function chargeUpdate(m: Machine, x: Value): void {
  if (x instanceof HarnList || x instanceof Keyed) {
    if (x.owned) m.chargeHeap(32)
    else {
      const size = x instanceof HarnList ? x.length : x.size
      // Copying a table copies each entry.
      m.charge(x instanceof HarnList ? size >> 3 : size, 16 + 32 * size)
      m.noteCopy(16 + 32 * size)
    }
  }
}

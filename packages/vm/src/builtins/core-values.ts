// Conversions that many builtin families share: reading arguments that may be missing or have another type,
// and building results. Nothing here touches a machine.

import type { Context, Control } from './builtin.js'
import { HarnDict } from '../values/dict.js'
import { makeLiteralShape } from '../values/shape.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import type { HarnRange } from '../values/scalars.js'
import { HarnFloat } from '../values/scalars.js'
import { wrapInt } from '../values/value.js'
import type { Int, Value } from '../values/value.js'

/** Longest string that a builtin will build, in UTF-16 units; V8 stops at 2^29 - 24. */
export const MAX_TEXT = 1 << 28

/** Most elements that one call of a builtin will put into lists. Charging alone would stop the run only after the work. */
export const MAX_ITEMS = 1 << 25

/** Charges for a string before it is built. Returns the error if no string can be that long. */
export function refuseText(ctx: Context, size: number): Control | null {
  if (size > MAX_TEXT) return ctx.runtime(`string of ${size} characters is too long`)
  ctx.charge(size >> 6, size)
  return null
}

/** Charges for `count` list elements before they are made. Returns the error if there are too many at once. */
export function refuseItems(ctx: Context, count: number): Control | null {
  if (count > MAX_ITEMS) return ctx.runtime(`list of ${count} elements is too long`)
  ctx.charge(count >> 3, 16 * count)
  return null
}

/** Display of the argument at `index` (0 = first after the receiver), empty when it was not passed. */
export function readTextArg(ctx: Context, index: number, value: Value | undefined): string {
  if (typeof value === 'string') return value
  return index < ctx.argc ? display(value ?? null) : ''
}

/** An int argument as a JavaScript number for counting and indexing; null for any other type. Huge ints saturate. */
export function count(value: Value | undefined): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'bigint' ? Number(value) : null
}

/** As `count`, but never negative, with a default for anything other than an int. */
export function countOr(value: Value | undefined, fallback: number): number {
  const n = count(value)
  return n === null ? fallback : Math.max(0, n)
}

/** The number behind an int or a float; null for other types. */
export function readNumber(value: Value | undefined): number | null {
  if (typeof value === 'number') return value
  if (value instanceof HarnFloat) return value.v
  return typeof value === 'bigint' ? Number(value) : null
}

export function addInts(left: Int, right: Int): Int {
  if (typeof left === 'number' && typeof right === 'number') {
    const sum = left + right
    if (Number.isSafeInteger(sum)) return sum
  }
  return wrapInt(BigInt(left) + BigInt(right))
}

/** Exact number of ints in a range. */
export function measureRange(range: HarnRange): Int {
  const short = range.length
  if (Number.isSafeInteger(short) && typeof range.start === 'number' && typeof range.end === 'number') return short
  const length = BigInt(range.end) - BigInt(range.start) + (range.exclusive ? 0n : 1n)
  return length > 0n ? wrapInt(length) : 0
}

export function isInRange(range: HarnRange, value: Value): boolean {
  if (typeof value !== 'number' && typeof value !== 'bigint') return false
  return value >= range.start && (range.exclusive ? value < range.end : value <= range.end)
}

/** Start index of a slice: negatives count from the end, everything is clamped to 0…length. */
export function clampIndex(index: number, length: number): number {
  return index < 0 ? Math.max(0, index + length) : Math.min(index, length)
}

const ENTRY = makeLiteralShape(['key', 'value'])!

export function makeEntry(key: string, value: Value): HarnDict {
  const slots: Value[] = [null, value]
  slots[0] = key
  return new HarnDict(null, ENTRY, slots)
}

/** Charges a builtin that walks `n` elements and makes a list of up to `made`. */
export function chargeList(ctx: Context, n: number, made: number = n): void {
  ctx.charge(n >> 3, 16 * made)
}

/** Units of putting a value into a set or a table. */
export const UNITS_A_MEMBER = 3

/** Charges for `count` containers with `slots` elements in all. */
export function chargeMade(ctx: Context, count: number, slots: number): void {
  ctx.charge(UNITS_A_CONTAINER * count + (slots >> 3), 32 * count + 16 * slots)
}

const UNITS_A_CONTAINER = 3

export function makeList(items: Value[]): HarnList {
  return new HarnList(items)
}

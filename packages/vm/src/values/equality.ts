// Equality, order and structural keys. `==` never fails and compares numbers by value;
// a structural key is type-exact (1 and 1.0 differ) and is used by sets, unique and hash_value.
// Both recurse to a fixed depth and then continue with a stack on the heap, so that deep data cannot overflow.

import { HarnBuiltin, HarnStruct } from './callable.js'
import { HarnDict } from './dict.js'
import { HarnAtomic, HarnHandle, HarnIter, HarnTask } from './handles.js'
import { HarnList } from './list.js'
import { HarnBytes, HarnDuration, HarnEnum, HarnFloat, HarnPair, HarnRange } from './scalars.js'
import { HarnSet, makeLikenessKey } from './set.js'
import { SCANNED_BITS, scan, visit, work } from './meter.js'
import { compareText } from './text-order.js'
import type { Value } from './value.js'

function toNumeric(value: Value): number | bigint | null {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  return value instanceof HarnFloat ? value.v : null
}

export function equals(left: Value, right: Value): boolean {
  if (typeof left === 'string') {
    if (typeof right !== 'string' || left.length !== right.length) return false
    scan(left.length)
    return left === right
  }
  // An object may differ from itself: closures, channels and NaN do, alone or inside a container.
  if (left === right && (typeof left !== 'object' || left === null)) return true
  if (typeof right === 'string' || left === null || right === null) return false
  if (typeof left === 'boolean' || typeof right === 'boolean') return false
  const a = toNumeric(left)
  if (a !== null) {
    const b = toNumeric(right)
    // Loose equality compares a bigint with a number by mathematical value.
    return b !== null && a == b // eslint-disable-line eqeqeq
  }
  return isStructurallyEqual(left, right)
}

/** Fuel for comparing `count` values with `wanted`, without the contents of large ones. */
export function searchUnits(count: number, wanted: Value): number {
  const isContainer = typeof wanted === 'object' && wanted !== null && !(wanted instanceof HarnFloat)
  return isContainer ? 2 * count : count >> 3
}

/** Work list instead of recursion: pairs of values still to compare. */
function isStructurallyEqual(left: Value, right: Value): boolean {
  const pending: Value[] = [left, right]
  let visited = 0
  while (pending.length > 0) {
    const b = pending.pop()!
    const a = pending.pop()!
    visited = visit(visited, typeof a === 'string' ? 1 + (a.length >> SCANNED_BITS) : 1)
    if (a instanceof HarnList) {
      if (!(b instanceof HarnList) || a.length !== b.length) return false
      for (let at = 0; at < a.length; at++) pending.push(a.items[at]!, b.items[at]!)
    } else if (a instanceof HarnDict) {
      if (!(b instanceof HarnDict) || !a.pairWith(b, pending)) return false
    } else if (a instanceof HarnStruct) {
      if (!(b instanceof HarnStruct) || a.name !== b.name || !a.pairWith(b, pending)) return false
    } else if (a instanceof HarnEnum) {
      if (!(b instanceof HarnEnum) || a.enumName !== b.enumName || a.variant !== b.variant || a.fields.length !== b.fields.length)
        return false
      for (let at = 0; at < a.fields.length; at++) pending.push(a.fields[at]!, b.fields[at]!)
    } else if (a instanceof HarnPair) {
      if (!(b instanceof HarnPair)) return false
      pending.push(a.first, b.first, a.second, b.second)
    } else if (typeof a === 'string') {
      // Long strings are part of the walk, so that many of them cannot exceed what one operation may take.
      if (a !== b) return false
    } else if (!isLeafEqual(a, b)) return false
  }
  return true
}

/** Heap units of a key and its entry in a table. */
const UNITS_A_LIKENESS = 6

/** Values in which an equal one is searched for, grouped by a key that equal values share. */
export class Alike {
  private readonly byKey = new Map<string, Value[]>()

  add(value: Value): void {
    const key = makeLikenessKey(value)
    const same = this.byKey.get(key)
    if (same === undefined) this.byKey.set(key, [value])
    else same.push(value)
  }

  /** Those that may equal `value`. */
  of(value: Value): readonly Value[] {
    return this.byKey.get(makeLikenessKey(value)) ?? NONE
  }
}

const NONE: readonly Value[] = []

function isLeafEqual(a: Value, b: Value): boolean {
  if (a === null || typeof a !== 'object' || a instanceof HarnFloat) return equals(a, b)
  if (a instanceof HarnSet) {
    if (!(b instanceof HarnSet) || a.size !== b.size) return false
    let alike: Alike | null = null
    let compared = 0
    for (const [key, value] of a.map) {
      if (b.map.has(key)) continue
      if (alike === null) {
        work(UNITS_A_LIKENESS * b.size)
        alike = new Alike()
        for (const other of b.map.values()) alike.add(other)
      }
      const others = alike.of(value)
      compared = visit(compared, UNITS_A_LIKENESS + others.length)
      if (!others.some((other) => equals(value, other))) return false
    }
    return true
  }
  if (a instanceof HarnRange)
    return b instanceof HarnRange && a.start === b.start && a.end === b.end && a.exclusive === b.exclusive
  if (a instanceof HarnDuration) return b instanceof HarnDuration && a.ms === b.ms
  if (a instanceof HarnBytes)
    return b instanceof HarnBytes && a.data.length === b.data.length && a.data.every((byte, at) => byte === b.data[at])
  if (a instanceof HarnTask) return b instanceof HarnTask && a.id === b.id
  if (a instanceof HarnAtomic) return b instanceof HarnAtomic && a.value === b.value
  if (a instanceof HarnIter) return a === b
  if (a instanceof HarnBuiltin) return b instanceof HarnBuiltin && a.name === b.name
  if (a instanceof HarnHandle) return b instanceof HarnHandle && a.kind === b.kind && a.id === b.id
  return false
}

/** Negative, 0 or positive; incomparable values give 0. */
export function compare(left: Value, right: Value): number {
  if (typeof left === 'string') return typeof right === 'string' ? compareText(left, right) : 0
  const a = toNumeric(left)
  if (a !== null) {
    const b = toNumeric(right)
    if (b === null) return 0
    return a < b ? -1 : a > b ? 1 : 0
  }
  if (left instanceof HarnPair && right instanceof HarnPair) {
    return comparePairs(left, right)
  }
  return 0
}

/** Member by member, with a work list: pairs may contain pairs, and many may share the same one. */
function comparePairs(left: HarnPair, right: HarnPair): number {
  const pending: Value[] = [left, right]
  let visited = 0
  while (pending.length > 0) {
    const b = pending.pop()!
    const a = pending.pop()!
    visited = visit(visited, 1)
    if (a instanceof HarnPair && b instanceof HarnPair) pending.push(a.second, b.second, a.first, b.first)
    else {
      const order = compare(a, b)
      if (order !== 0) return order
    }
  }
  return 0
}

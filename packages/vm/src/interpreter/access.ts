// Property, index and slice access, their assignments, and destructuring. A result that is a Fault means failure.

import { HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { HarnEnum, HarnPair, HarnRange } from '../values/scalars.js'
import { readCharacterAt, countCodePoints, sliceText } from '../values/text-order.js'
import { isInt, typeName, wrapInt } from '../values/value.js'
import { makeRuntimeFault, makeTypeFault } from './fault.js'
import type { Fault } from './fault.js'
import type { Value } from '../values/value.js'

export function getProperty(x: Value, name: string, optional: boolean): Value | Fault {
  if (x instanceof Keyed) return x.get(name) ?? null
  if (x === null) return optional ? null : makeTypeFault(`cannot access property \`${name}\` on nil`)
  if (x instanceof HarnList) {
    switch (name) {
      case 'count':
        return x.length
      case 'empty':
        return x.length === 0
      case 'first':
        return x.length === 0 ? null : x.items[0]!
      case 'last':
        return x.length === 0 ? null : x.items[x.length - 1]!
      default:
        return null
    }
  }
  if (typeof x === 'string') return name === 'count' ? countCodePoints(x) : name === 'empty' ? x === '' : null
  if (x instanceof HarnEnum) return name === 'variant' ? x.variant : name === 'fields' ? new HarnList([...x.fields]) : null
  if (x instanceof HarnPair) {
    if (name === 'first') return x.first
    if (name === 'second') return x.second
    return optional ? null : makeTypeFault(`cannot access property \`${name}\` on pair (expected \`first\` or \`second\`)`)
  }
  return optional ? null : makeTypeFault(`cannot access property \`${name}\` on ${typeName(x)}`)
}

export function getIndex(x: Value, index: Value, optional: boolean): Value | Fault {
  if (x instanceof HarnList) {
    if (isInt(index)) {
      const at = Number(index) < 0 ? Number(index) + x.length : Number(index)
      return at >= 0 ? (x.at(at) ?? null) : null
    }
  } else if (x instanceof HarnDict) return x.get(typeof index === 'string' ? index : display(index)) ?? null
  else if (typeof x === 'string') {
    if (isInt(index)) return readCharacterAt(x, Number(index))
  } else if (x instanceof HarnRange) {
    if (isInt(index)) return readRangeItem(x, Number(index))
  } else if (x === null && optional) return null
  return makeTypeFault(`cannot index into ${typeName(x)} with ${typeName(index)}`)
}

function readRangeItem(range: HarnRange, index: number): Value | Fault {
  const length = range.length
  const at = index < 0 ? index + length : index
  if (at < 0 || at >= length) return makeRuntimeFault(`range index out of range: index ${index} for range of length ${length}`)
  return wrapInt(BigInt(range.start) + BigInt(at))
}

/** A bound that is nil counts as left out. */
export function slice(x: Value, start: Value, end: Value): Value | Fault {
  if (!(x instanceof HarnList) && typeof x !== 'string') return makeTypeFault(`cannot slice ${typeName(x)}`)
  if (start !== null && !isInt(start)) return makeTypeFault(`slice start must be an integer, got ${typeName(start)}`)
  if (end !== null && !isInt(end)) return makeTypeFault(`slice end must be an integer, got ${typeName(end)}`)
  const length = x instanceof HarnList ? x.length : countCodePoints(x)
  const clamp = (bound: number): number => (bound < 0 ? Math.max(0, bound + length) : Math.min(bound, length))
  const from = start === null ? 0 : clamp(Number(start))
  const to = end === null ? length : clamp(Number(end))
  if (x instanceof HarnList) {
    // Its elements are now in the part, too.
    x.nest = null
    return from >= to ? new HarnList([]) : new HarnList(x.items.slice(from, to))
  }
  return from >= to ? '' : sliceText(x, from, to)
}

/** `x` with the property set. In place if `x` is owned and `mayOwn` says that its variable is about to be overwritten. */
export function setProperty(x: Value, name: string, value: Value, mayOwn: boolean): Value | Fault {
  if (x instanceof Keyed) {
    const target = mayOwn && x.owned ? x : x.copy()
    target.set(name, value)
    target.owned = mayOwn
    return target
  }
  return makeTypeFault(`cannot set property \`${name}\` on ${typeName(x)}`)
}

export function setIndex(x: Value, index: Value, value: Value, mayOwn: boolean): Value | Fault {
  if (x instanceof HarnList) {
    if (!isInt(index)) return x
    const at = Number(index) < 0 ? Math.max(0, Number(index) + x.length) : Number(index)
    if (at >= x.length) return makeRuntimeFault(`Index ${index} out of bounds for list of length ${x.length}`)
    const target = mayOwn && x.owned ? x : new HarnList(x.copyItems())
    target.put(at, value)
    target.owned = mayOwn
    return target
  }
  if (x instanceof HarnDict) {
    const target = mayOwn && x.owned ? x : x.copy()
    target.put(typeof index === 'string' ? index : display(index), value)
    target.owned = mayOwn
    return target
  }
  return x
}

/** As setIndex, for a container that only its holder references. */
export function setHeldIndex(x: Value, index: Value, value: Value): Value | Fault {
  if (x instanceof HarnList) {
    if (!isInt(index)) return x
    const at = Number(index) < 0 ? Math.max(0, Number(index) + x.length) : Number(index)
    if (at >= x.length) return makeRuntimeFault(`Index ${index} out of bounds for list of length ${x.length}`)
    x.putHeld(at, value)
  } else if (x instanceof HarnDict) x.put(typeof index === 'string' ? index : display(index), value)
  return x
}

export function checkDict(x: Value): Fault | null {
  return x instanceof HarnDict ? null : makeTypeFault(`cannot destructure ${typeName(x)} with {...} pattern — expected dict`)
}

export function checkList(x: Value): Fault | null {
  return x instanceof HarnList ? null : makeTypeFault(`cannot destructure ${typeName(x)} with [...] pattern — expected list`)
}

/** Gives up ownership of a container that is about to be shared. */
export function share(value: Value): Value {
  if (value instanceof HarnList || value instanceof Keyed) {
    value.owned = false
    value.owner = null
  }
  return value
}

export function withoutKeys(dict: HarnDict, keys: readonly string[]): HarnDict {
  const rest = new HarnDict()
  for (const [key, value] of dict.entries()) if (!keys.includes(key)) rest.set(key, value)
  return rest
}

export function buildStruct(name: string, home: string, fields: readonly string[] | null, given: Value): HarnStruct {
  const struct = new HarnStruct(name, home)
  if (given instanceof Keyed) {
    if (fields === null || given.keys().every((key) => fields.includes(key))) struct.setAll(given)
    else for (const [key, value] of given.entries()) if (fields.includes(key)) struct.set(key, value)
  }
  return struct
}

export function isResult(value: Value): value is HarnEnum {
  return value instanceof HarnEnum && value.enumName === 'Result'
}

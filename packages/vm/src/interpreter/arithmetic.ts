// Complete operators: the fallback of the loop's quick checks. A result that is a Fault means that the operation failed.
// Ints wrap at 64 bits; results within ±2^53 are numbers, others bigints (values/value.ts).

import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { equals, searchUnits } from '../values/equality.js'
import { HarnList } from '../values/list.js'
import { countSmallVisits, visit, work } from '../values/meter.js'
import { HarnFloat, HarnRange } from '../values/scalars.js'
import { isPart } from '../values/text-search.js'
import { HarnSet, makeStructuralKey } from '../values/set.js'
import { EXACT, isInt, typeName, wrapInt } from '../values/value.js'
import { Fault, makeRuntimeFault, makeTypeFault } from './fault.js'
import { power as floatPower, wholePower } from '../values/power.js'
import type { Int, Value } from '../values/value.js'

/** Longest string that repetition may build, in UTF-16 units; V8's own limit is near. */
const MAX_TEXT = 1 << 28

const makeDivisionFault = (): Fault => new Fault('division', 'Division by zero')

function asFloat(value: Value): number | null {
  if (typeof value === 'number') return value
  if (value instanceof HarnFloat) return value.v
  return typeof value === 'bigint' ? Number(value) : null
}

export function add(x: Value, y: Value): Value | Fault {
  if (typeof x === 'number' && typeof y === 'number') {
    const sum = x + y
    return sum <= EXACT && sum >= -EXACT ? sum : wrapInt(BigInt(x) + BigInt(y))
  }
  if (typeof x === 'string' && typeof y === 'string') {
    if (x.length + y.length > MAX_TEXT) return makeRuntimeFault('string is too long')
    return x + y
  }
  if (x instanceof HarnFloat && y instanceof HarnFloat) return new HarnFloat(x.v + y.v)
  if (isInt(x) && isInt(y)) return wrapInt(BigInt(x) + BigInt(y))
  if (x instanceof HarnList && y instanceof HarnList) return x.concat(y)
  if (x instanceof HarnDict && y instanceof HarnDict) return x.merged(y)
  const a = asFloat(x)
  const b = asFloat(y)
  if (a !== null && b !== null) return new HarnFloat(a + b)
  return makeTypeFault(`Cannot add ${typeName(x)} and ${typeName(y)}`)
}

/** `x + y` where the result overwrites the variable of `x`: an owned container grows in place. */
export function addOwned(x: Value, y: Value): Value | Fault {
  if (x instanceof HarnList && x.owned && y instanceof HarnList && y !== x) {
    y.nest = null
    for (let at = 0; at < y.length; at++) x.items.push(y.items[at]!)
    x.length = x.items.length
    return x
  }
  if (x instanceof HarnDict && x.owned && y instanceof HarnDict && y !== x) {
    x.setAll(y)
    return x
  }
  return add(x, y)
}

export function subtract(x: Value, y: Value): Value | Fault {
  if (isInt(x) && isInt(y)) return wrapInt(BigInt(x) - BigInt(y))
  const a = asFloat(x)
  const b = asFloat(y)
  if (a !== null && b !== null) return new HarnFloat(a - b)
  return makeTypeFault(`Cannot subtract ${typeName(y)} from ${typeName(x)}`)
}

export function multiply(x: Value, y: Value): Value | Fault {
  if (isInt(x) && isInt(y)) return wrapInt(BigInt(x) * BigInt(y))
  const a = asFloat(x)
  const b = asFloat(y)
  if (a !== null && b !== null) return new HarnFloat(a * b)
  if (typeof x === 'string' && isInt(y)) return repeat(x, y)
  if (typeof y === 'string' && isInt(x)) return repeat(y, x)
  return makeTypeFault(`Cannot multiply ${typeName(x)} and ${typeName(y)}`)
}

function repeat(text: string, count: Int): Value | Fault {
  if (count <= 0 || text === '') return ''
  if (Number(count) * text.length > MAX_TEXT) return makeRuntimeFault('string is too long')
  return text.repeat(Number(count))
}

export function divide(x: Value, y: Value): Value | Fault {
  if (isInt(x) && isInt(y)) {
    if (y === 0) return makeDivisionFault()
    if (typeof x === 'number' && typeof y === 'number') return Math.trunc(x / y) + 0
    return wrapInt(BigInt(x) / BigInt(y))
  }
  const a = asFloat(x)
  const b = asFloat(y)
  if (a !== null && b !== null) return new HarnFloat(a / b)
  return makeRuntimeFault(`Cannot divide ${typeName(x)} by ${typeName(y)}`)
}

export function modulo(x: Value, y: Value): Value | Fault {
  if (isInt(x) && isInt(y)) {
    if (y === 0) return makeDivisionFault()
    if (typeof x === 'number' && typeof y === 'number') return (x % y) + 0
    return wrapInt(BigInt(x) % BigInt(y))
  }
  const a = asFloat(x)
  const b = asFloat(y)
  if (a === null || b === null) return makeRuntimeFault(`Cannot modulo ${typeName(x)} by ${typeName(y)}`)
  return b === 0 ? makeDivisionFault() : new HarnFloat(a % b)
}

export function power(x: Value, y: Value): Value | Fault {
  if (isInt(x) && isInt(y) && y >= 0) return computeWrappingPower(BigInt(x), BigInt(y))
  const a = asFloat(x)
  const b = asFloat(y)
  if (a !== null && b !== null) return new HarnFloat(x instanceof HarnFloat && isInt(y) ? wholePower(a, b) : floatPower(a, b))
  return makeTypeFault(`Cannot exponentiate ${typeName(x)} by ${typeName(y)}`)
}

/** Square and multiply on 64 bits, so that a huge exponent takes 64 steps and makes no huge number. */
function computeWrappingPower(base: bigint, exponent: bigint): Int {
  let result = 1n
  let square = BigInt.asIntN(64, base)
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = BigInt.asIntN(64, result * square)
    square = BigInt.asIntN(64, square * square)
  }
  return wrapInt(result)
}

export function negate(x: Value): Value | Fault {
  if (typeof x === 'number') return 0 - x
  if (typeof x === 'bigint') return wrapInt(-x)
  if (x instanceof HarnFloat) return new HarnFloat(-x.v)
  return makeRuntimeFault(`Cannot negate value of type ${typeName(x)}`)
}

/** Whether `x in c`; false for a container of any other kind. */
export function contains(x: Value, c: Value): boolean {
  if (c instanceof HarnList) {
    work(searchUnits(c.length, x))
    let visited = 0
    for (let at = 0; at < c.length; at++) {
      const before = countSmallVisits()
      if (equals(c.items[at]!, x)) return true
      const more = countSmallVisits() - before
      if (more > 0) visited = visit(visited, more)
    }
    return false
  }
  if (c instanceof HarnDict) return c.has(display(x))
  if (typeof c === 'string') return isPart(c, display(x))
  if (c instanceof HarnSet) {
    if (typeof x === 'string') return c.map.has(makeStructuralKey(x))
    return contains(x, new HarnList(c.values()))
  }
  if (c instanceof HarnRange) return isInt(x) && x >= c.start && (c.exclusive ? x < c.end : x <= c.end)
  return false
}

export function makeRange(from: Value, to: Value, exclusive: boolean): HarnRange {
  return new HarnRange(isInt(from) ? from : 0, isInt(to) ? to : 0, exclusive)
}

// Functions on numbers. Arguments that are not numbers give nil unless an error is named. Ints stay ints where the result
// is one; `floor`, `ceil` and `round` convert to int. Statistics are in math-statistics.ts, randomness in random.ts.

import { builtin } from './builtin.js'
import type { BuiltinDef, Context, Result, Run } from './builtin.js'
import { readNumber } from './core-values.js'
import { statisticsFunctions } from './math-statistics.js'
import type { BuiltinFamily } from './registry.js'
import { HarnFloat } from '../values/scalars.js'
import { isInt, wrapInt } from '../values/value.js'
import type { Int, Value } from '../values/value.js'
import * as elementary from '../values/elementary.js'
import { power as floatPower, wholePower } from '../values/power.js'

const MIN_INT = -(2n ** 63n)
const MAX_INT = 2n ** 63n - 1n

function define(signature: string, doc: string, run: Run): BuiltinDef {
  return builtin(signature, { doc, borrows: true }, run)
}

/** A function from float to float. */
function defineReal(name: string, doc: string, map: (x: number) => number, returns = 'float'): BuiltinDef {
  const def = define(`${name}(n: float) -> ${returns}`, doc, (_ctx, value) => {
    const x = readNumber(value)
    return x === null ? null : new HarnFloat(map(x))
  })
  return { ...def, real: map }
}

/** A function from float to int. */
function defineRounding(name: string, doc: string, map: (x: number) => number): BuiltinDef {
  return define(`${name}(n: number) -> int as ?`, doc, (ctx, value = null) => {
    if (isInt(value)) return value
    return value instanceof HarnFloat ? toWholeInt(ctx, map(value.v)) : null
  })
}

function toWholeInt(ctx: Context, whole: number): Result {
  if (!Number.isFinite(whole)) return ctx.runtime('cannot convert non-finite float to int')
  if (Number.isSafeInteger(whole)) return whole === 0 ? 0 : whole
  // 2^63 as a float is out of the range of ints; -2^63 is an int.
  if (whole >= 2 ** 63 || whole < -(2 ** 63)) return ctx.runtime('float is outside the representable int range')
  return wrapInt(BigInt(whole))
}

/** Half away from zero. Adding 0.5 and truncating is wrong just below one half. */
function roundHalfAway(x: number): number {
  const whole = Math.trunc(x)
  return Math.abs(x - whole) >= 0.5 ? whole + Math.sign(x) : whole
}

function abs(value: Value): Value {
  if (value instanceof HarnFloat) return new HarnFloat(Math.abs(value.v))
  if (typeof value === 'number') return Math.abs(value)
  if (typeof value !== 'bigint') return null
  return value === MIN_INT ? new HarnFloat(2 ** 63) : wrapInt(value < 0n ? -value : value)
}

/** Returns the first of two numbers unless `better` prefers the second; NaN loses. Two ints give an int, otherwise a float. */
function choose(better: (a: Int, b: Int) => boolean): Run {
  return (_ctx, a = null, b = null) => {
    if (isInt(a) && isInt(b)) return better(a, b) ? b : a
    const x = readNumber(a)
    const y = readNumber(b)
    if (x === null || y === null) return null
    return new HarnFloat(Number.isNaN(x) || better(x, y) ? y : x)
  }
}

function computePower(base: Value, exponent: Value): Value {
  const x = readNumber(base)
  const y = readNumber(exponent)
  if (x === null || y === null) return null
  if (isInt(base) && isInt(exponent) && exponent >= 0) {
    // |base| of 2 or more leaves 64 bits after at most 63 steps; smaller ones only depend on the exponent's parity.
    const steps = base >= -1 && base <= 1 && exponent > 1 ? (BigInt(exponent) % 2n) + 2n : BigInt(exponent)
    const exact = steps <= 64n ? BigInt(base) ** steps : MAX_INT + 1n
    if (exact >= MIN_INT && exact <= MAX_INT) return wrapInt(exact)
  }
  return new HarnFloat(base instanceof HarnFloat && isInt(exponent) ? wholePower(x, y) : floatPower(x, y))
}

function sign(value: Value): Value {
  const x = readNumber(value)
  if (x === null) return null
  return Number.isNaN(x) ? new HarnFloat(NaN) : x > 0 ? 1 : x < 0 ? -1 : 0
}

/** Charge of functions that take most of a microsecond. */
const LONG_UNITS = 2

/** As `defineReal`, for functions slow enough to be charged; compiled code calls these, since inlined functions are free. */
function defineLongReal(name: string, doc: string, map: (x: number) => number): BuiltinDef {
  return define(`${name}(n: float) -> float`, doc, (ctx, value) => {
    ctx.charge(LONG_UNITS)
    const x = readNumber(value)
    return x === null ? null : new HarnFloat(map(x))
  })
}

const functions: readonly BuiltinDef[] = [
  define('abs(n: number) -> number as ?', 'Without its sign.', (_ctx, value = null) => abs(value)),
  define(
    'min(a: number, b: number) -> number as ?',
    'The smaller of two numbers.',
    choose((a, b) => b < a),
  ),
  define(
    'max(a: number, b: number) -> number as ?',
    'The greater of two numbers.',
    choose((a, b) => b > a),
  ),
  define(
    'pow(base: number, exp: number) -> number as ?',
    'A power; int when base and exponent are and it fits.',
    (_ctx, base = null, exponent = null) => computePower(base, exponent),
  ),
  define('sign(n: number) -> int', '-1, 0 or 1.', (_ctx, value = null) => sign(value)),
  define('atan2(y: float, x: float) -> float', 'The angle of the point (x, y).', (ctx, y, x) => {
    ctx.charge(LONG_UNITS)
    const [dy, dx] = [readNumber(y), readNumber(x)]
    return dy === null || dx === null ? null : new HarnFloat(elementary.atan2(dy, dx))
  }),
  define(
    'is_nan(n: float) -> bool',
    'Whether it is the float NaN.',
    (_ctx, value) => value instanceof HarnFloat && Number.isNaN(value.v),
  ),
  define(
    'is_infinite(n: float) -> bool',
    'Whether it is an infinite float.',
    (_ctx, value) => value instanceof HarnFloat && (value.v === Infinity || value.v === -Infinity),
  ),
  defineRounding('floor', 'The greatest int not above it.', Math.floor),
  defineRounding('ceil', 'The least int not below it.', Math.ceil),
  defineRounding('round', 'The nearest int; halves away from zero.', roundHalfAway),
  defineReal('sqrt', 'The square root.', Math.sqrt, 'float as ?'),
  defineReal('sin', 'The sine.', elementary.sin),
  defineReal('cos', 'The cosine.', elementary.cos),
  defineLongReal('tan', 'The tangent.', elementary.tan),
  defineReal('asin', 'The arc sine.', elementary.asin),
  defineReal('acos', 'The arc cosine.', elementary.acos),
  defineLongReal('atan', 'The arc tangent.', elementary.atan),
  defineReal('exp', 'The exponential function.', elementary.exp),
  defineReal('ln', 'The natural logarithm.', elementary.ln),
  defineReal('log2', 'The logarithm to base 2.', elementary.log2),
  defineReal('log10', 'The logarithm to base 10.', elementary.log10),
]

export const mathFamily: BuiltinFamily = {
  name: 'math',
  builtins: [...functions, ...statisticsFunctions],
  constants: { pi: new HarnFloat(Math.PI), e: new HarnFloat(Math.E) },
}

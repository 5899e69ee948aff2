// `x ** y` on floats. Math.pow is off by a unit in the last place for about one pair in ten, and engines differ in
// which, so the power is computed here: by repeated squaring for an exponent that was written as an int, otherwise as
// exp(y * log(x)) in pairs of doubles, which rounds to the nearest double in all but the rarest cases.

import { timesNumber } from './double-pairs.js'
import { exponential, logarithm } from './elementary.js'

/** Beyond it, the last squarings of `wholePower` would lose all precision; such an int is treated as a float. */
const MAX_WHOLE = 2 ** 31 - 1

/** A float raised to an int: square and multiply, each step rounded. */
export function wholePower(base: number, exponent: number): number {
  if (Math.abs(exponent) > MAX_WHOLE) return power(base, exponent)
  let result = 1
  let factor = base
  for (let left = Math.abs(exponent); ; factor *= factor) {
    if (left % 2 === 1) result *= factor
    left = Math.floor(left / 2)
    if (left === 0) return exponent < 0 ? 1 / result : result
  }
}

export function power(base: number, exponent: number): number {
  const rough = base ** exponent
  // Zeros, infinities, NaN, overflow and subnormal results: the engine's result cannot be improved.
  if (!Number.isFinite(rough) || Math.abs(rough) < 2.3e-308 || base === 0 || exponent === 0 || Math.abs(base) === 1) return rough
  const result = exponential(timesNumber(logarithm(Math.abs(base)), exponent))[0]
  return rough < 0 ? -result : result
}

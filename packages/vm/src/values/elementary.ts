// Elementary functions of floats, rounded to the nearest double in all but the rarest cases. Those of the engines are off by a unit in the last
// place for about one argument in twenty (`Math.log(3)`), and engines differ in which: a recorded run could not be replayed
// elsewhere. Arguments for which nothing can be gained (zeros, infinities, NaN, subnormal results) are left to the engine.

import { SPLIT, divide, minus, plus, root, sum, times, timesNumber } from './double-pairs.js'
import type { Pair } from './double-pairs.js'

const LN2: Pair = [0.6931471805599453, 2.3190468138462996e-17]
const LOG10_E = 4.34294481903251816668e-1
/** log10 2, as a short head and the remainder. */
const LOG10_2_HIGH = 3.01029995663611771306e-1
const LOG10_2_LOW = 3.69423907715893078616e-13
/** π/2 in parts, to 210 bits, so that arguments near its multiples keep their bits. */
const HALF_PI = [1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33, 5.562271104316826e-50] as const
/** Beyond it, the number of quarter turns times a part of π/2 no longer fits a pair. */
const MAX_ANGLE = 2 ** 25
/** Smaller results have fewer bits. */
const SMALL = 2.3e-308

// ---- exponential and logarithms

export function exp(x: number): number {
  const rough = Math.exp(x)
  return !Number.isFinite(rough) || rough < SMALL || x === 0 ? rough : exponential([x, 0])[0]
}

export function ln(x: number): number {
  return isOrdinary(x) ? logarithm(x)[0] : Math.log(x)
}

export function log2(x: number): number {
  return isOrdinary(x) ? divide(logarithm(x), LN2)[0] : Math.log2(x)
}

/**
 * By the formula of the usual C libraries (fdlibm, e_log10.c): not always the nearest double, but what users of them expect; exact
 * for powers of ten.
 */
export function log10(x: number): number {
  if (!isOrdinary(x) || x < SMALL) return Math.log10(x)
  const exponent = findExponent(x)
  const whole = exponent + (exponent < 0 ? 1 : 0)
  const part = whole * LOG10_2_LOW + LOG10_E * ln(x / 2 ** whole)
  return part + whole * LOG10_2_HIGH
}

/** The power of two at or below a number that is not subnormal. */
function findExponent(x: number): number {
  const guess = Math.floor(Math.log2(x))
  if (2 ** guess > x) return guess - 1
  return guess < 1023 && 2 ** (guess + 1) <= x ? guess + 1 : guess
}

/** Whether a logarithm is neither an edge case nor zero. */
function isOrdinary(x: number): boolean {
  return x > 0 && x !== 1 && Number.isFinite(x)
}

/** Natural logarithm of a positive number, by the series of artanh on the part within a factor of √2 around 1. */
export function logarithm(x: number): Pair {
  let exponent = Math.round(Math.log2(x))
  // Subnormals such as 2 ** -1074 cannot be scaled in one step.
  const half = Math.trunc(exponent / 2)
  let mantissa = x / 2 ** half / 2 ** (exponent - half)
  if (mantissa > Math.SQRT2) {
    mantissa /= 2
    exponent += 1
  } else if (mantissa < Math.SQRT1_2) {
    mantissa *= 2
    exponent -= 1
  }
  const ratio = divide(sum(mantissa, -1), sum(mantissa, 1))
  const square = times(ratio, ratio)
  const part = times(ratio, evaluatePolynomial(ARTANH(), square))
  return plus(timesNumber(LN2, exponent), [2 * part[0], 2 * part[1]])
}

/** Squarings that undo the division of the argument below. */
const HALVINGS = 4

/** e to a power, if neither overflows or underflows. */
export function exponential(x: Pair): Pair {
  const doublings = Math.round(x[0] / LN2[0])
  const rest = plus(x, timesNumber(LN2, -doublings))
  const small: Pair = [rest[0] / 2 ** HALVINGS, rest[1] / 2 ** HALVINGS]
  let power = evaluatePolynomial(EXP(), small)
  for (let step = 0; step < HALVINGS; step += 1) power = times(power, power)
  const half = Math.trunc(doublings / 2)
  return [power[0] * 2 ** half * 2 ** (doublings - half), power[1] * 2 ** half * 2 ** (doublings - half)]
}

// ---- trigonometric functions

interface Turned {
  /** The reduced angle, within π/4 of zero. */
  readonly rest: Pair
  /** Quarter turns that were subtracted, modulo 4. */
  readonly quarter: number
}

/** The angle without quarter turns; null when it is too large for that, or not finite. */
function reduceAngle(angle: number): Turned | null {
  if (!(Math.abs(angle) <= MAX_ANGLE)) return null
  const turns = Math.round(angle / HALF_PI[0])
  let rest: Pair = [angle, 0]
  if (turns !== 0) for (const part of HALF_PI) rest = minus(rest, timesNumber([part, 0], turns))
  return { rest, quarter: ((turns % 4) + 4) % 4 }
}

/** Sine of an angle within π/4 of zero. */
function computeSine(x: Pair): Pair {
  const square = times(x, x)
  return times(x, evaluatePolynomial(SINE(), square))
}

function computeCosine(x: Pair): Pair {
  return evaluatePolynomial(COSINE(), times(x, x))
}

function computeSineAndCosine({ rest, quarter }: Turned): readonly [sine: Pair, cosine: Pair] {
  const [sine, cosine] = [computeSine(rest), computeCosine(rest)]
  if (quarter === 0) return [sine, cosine]
  if (quarter === 1) return [cosine, negatePair(sine)]
  return quarter === 2 ? [negatePair(sine), negatePair(cosine)] : [negatePair(cosine), sine]
}

function negatePair(x: Pair): Pair {
  return [-x[0], -x[1]]
}

export function sin(angle: number): number {
  const at = Math.abs(angle) < TINY ? null : reduceAngle(angle)
  if (at === null) return Math.sin(angle)
  const value = at.quarter % 2 === 0 ? computeSine(at.rest) : computeCosine(at.rest)
  return at.quarter < 2 ? value[0] : -value[0]
}

export function cos(angle: number): number {
  const at = reduceAngle(angle)
  if (at === null) return Math.cos(angle)
  const value = at.quarter % 2 === 0 ? computeCosine(at.rest) : computeSine(at.rest)
  return at.quarter === 0 || at.quarter === 3 ? value[0] : -value[0]
}

export function tan(angle: number): number {
  const at = Math.abs(angle) < TINY ? null : reduceAngle(angle)
  if (at === null) return Math.tan(angle)
  const [sine, cosine] = computeSineAndCosine(at)
  return divide(sine, cosine)[0]
}

// ---- their inverses: the engine's value, corrected by its sine and cosine

export function asin(x: number): number {
  const rough = Math.asin(x)
  return Math.abs(x) < TINY || !(Math.abs(x) < 1) ? rough : refineAsin(rough, [x, 0])[0]
}

/** The arc sine of `x` by one step from `rough`, which is off by a few units in its last place. */
function refineAsin(rough: number, x: Pair): Pair {
  const [sine, cosine] = computeSineAndCosine(reduceAngle(rough)!)
  return plus([rough, 0], divide(minus(x, sine), cosine))
}

export function acos(x: number): number {
  const rough = Math.acos(x)
  if (!(Math.abs(x) < 1)) return rough
  if (x > 0.5) {
    // Near 1 the arc cosine changes fast: the arc sine of the half angle does not.
    const half = root([(1 - x) / 2, 0])
    return 2 * refineAsin(Math.asin(half[0]), half)[0]
  }
  const [sine, cosine] = computeSineAndCosine(reduceAngle(rough)!)
  return plus([rough, 0], divide(minus(cosine, [x, 0]), sine))[0]
}

export function atan(x: number): number {
  return atan2(x, 1)
}

export function atan2(y: number, x: number): number {
  const rough = Math.atan2(y, x)
  if (y === 0 || x === 0 || !Number.isFinite(y) || !Number.isFinite(x) || !(Math.abs(rough) > SMALL)) return rough
  const [sine, cosine] = computeSineAndCosine(reduceAngle(rough)!)
  // The angle between (x, y) and the direction of `rough`, in units that keep products within range.
  const size = Math.max(Math.abs(x), Math.abs(y))
  const unit = size > 2 ** 900 ? 2 ** -600 : size < 2 ** -400 ? 2 ** 600 : 1
  const down: Pair = [y * unit, 0]
  const along: Pair = [x * unit, 0]
  const across = minus(times(down, cosine), times(along, sine))
  const distance = plus(times(along, cosine), times(down, sine))
  return plus([rough, 0], divide(across, distance))[0]
}

// ---- series

/** Terms of a series that are computed in pairs; the tails of later ones are too small to matter. */
const NEAR_TERMS = 6
/** Below it a function that starts as x - x³/c equals x to the last place, as the engine computes it. */
const TINY = 2 ** -27

/** c0 + c1·x + c2·x² …: `plus(times(series, x), c)` from the last term on, inlined by hand so that nothing is allocated. */
function evaluatePolynomial(coefficients: readonly Pair[], x: Pair): Pair {
  const [x0, x1] = x
  const scaled = SPLIT * x0
  const xHigh = scaled - (scaled - x0)
  const xLow = x0 - xHigh
  let head = 0
  let tail = 0
  for (let at = coefficients.length - 1; at >= NEAR_TERMS; at -= 1) head = coefficients[at]![0] + head * x0
  for (let at = NEAR_TERMS - 1; at >= 0; at -= 1) {
    const product = head * x0
    const scaledHead = SPLIT * head
    const high = scaledHead - (scaledHead - head)
    const low = head - high
    const rest = high * xHigh - product + high * xLow + low * xHigh + low * xLow + (head * x1 + tail * x0)
    const [c0, c1] = coefficients[at]!
    const sum = c0 + product
    const back = sum - c0
    tail = c0 - (sum - back) + (product - back) + (c1 + rest)
    head = sum + tail
    tail -= head - sum
  }
  return [head, tail]
}

function inverseFactorial(n: number): Pair {
  let inverse: Pair = [1, 0]
  for (let factor = 2; factor <= n; factor += 1) inverse = divide(inverse, [factor, 0])
  return inverse
}

function makeAlternating(terms: number, at: (term: number) => Pair): readonly Pair[] {
  return Array.from({ length: terms }, (_, term) => (term % 2 === 0 ? at(term) : negatePair(at(term))))
}

/** Computed on first use: most programs never need it, and every process would pay for it at its start. */
function deferSeries(compute: () => readonly Pair[]): () => readonly Pair[] {
  let known: readonly Pair[] | undefined
  return () => (known ??= compute())
}

/** 1, 1/3, 1/5 …: the series of artanh, whose argument is within 0.172 of zero. */
const ARTANH = deferSeries(() => Array.from({ length: 20 }, (_, term) => divide([1, 0], [2 * term + 1, 0])))
/** 1/0!, 1/1!, 1/2! …, for arguments within 0.022. */
const EXP = deferSeries(() => Array.from({ length: 13 }, (_, term) => inverseFactorial(term)))
/** 1/1!, -1/3!, 1/5! …, and 1/0!, -1/2!, 1/4! … */
const SINE = deferSeries(() => makeAlternating(14, (term) => inverseFactorial(2 * term + 1)))
const COSINE = deferSeries(() => makeAlternating(14, (term) => inverseFactorial(2 * term)))

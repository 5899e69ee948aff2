// `x ** y` on floats. Math.pow is off by a unit in the last place for one pair in ten or so, and not by the same one in every
// engine, so the power is computed here: by repeated squaring for a whole exponent that was written as an int, else as
// exp(y * log(x)) in pairs of doubles (head + tail, about 100 bits), which rounds to the nearest double but for the rarest cases.

/** Head and tail of a number: the tail is below half a unit in the last place of the head. */
type Pair = readonly [head: number, tail: number]

/** ln 2. */
const LN2: Pair = [0.6931471805599453, 2.3190468138462996e-17]
/** Beyond it the last squarings of `wholePower` would lose everything; an int that large is as good as a float. */
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
  // Zeros, infinities, NaN, what overflows, and results so small that they have fewer bits: no better is to be had.
  if (!Number.isFinite(rough) || Math.abs(rough) < 2.3e-308 || base === 0 || exponent === 0 || Math.abs(base) === 1) return rough
  const result = exponential(timesNumber(logarithm(Math.abs(base)), exponent))
  return rough < 0 ? -result : result
}

/** Natural logarithm of a positive number, by the series of artanh on the part within a factor of √2 around 1. */
function logarithm(x: number): Pair {
  let exponent = Math.round(Math.log2(x))
  // 2 ** -1074 and its like cannot be divided out in one step.
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
  let series: Pair = [0, 0]
  for (const coefficient of ARTANH) series = plus(times(series, square), coefficient)
  const part = times(ratio, series)
  return plus(timesNumber(LN2, exponent), [2 * part[0], 2 * part[1]])
}

/** Squarings that undo the division of the argument below. */
const HALVINGS = 8

function exponential(x: Pair): number {
  const doublings = Math.round(x[0] / LN2[0])
  const rest = plus(x, timesNumber(LN2, -doublings))
  const small: Pair = [rest[0] / 2 ** HALVINGS, rest[1] / 2 ** HALVINGS]
  let series: Pair = [0, 0]
  for (const coefficient of EXP) series = plus(times(series, small), coefficient)
  for (let step = 0; step < HALVINGS; step += 1) series = times(series, series)
  const half = Math.trunc(doublings / 2)
  return series[0] * 2 ** half * 2 ** (doublings - half)
}

// ---- pairs (Dekker, Knuth): each result is the exact one but for an error of about 2 ** -104

function sum(a: number, b: number): Pair {
  const head = a + b
  const back = head - a
  return [head, a - (head - back) + (b - back)]
}

/** As `sum`, where `a` is known to be the larger. */
function quickSum(a: number, b: number): Pair {
  const head = a + b
  return [head, b - (head - a)]
}

function product(a: number, b: number): Pair {
  const head = a * b
  const [aHigh, aLow] = halves(a)
  const [bHigh, bLow] = halves(b)
  return [head, aHigh * bHigh - head + aHigh * bLow + aLow * bHigh + aLow * bLow]
}

/** The upper and lower 26 bits. */
function halves(a: number): Pair {
  const scaled = 134217729 * a
  const high = scaled - (scaled - a)
  return [high, a - high]
}

function plus(a: Pair, b: Pair): Pair {
  const heads = sum(a[0], b[0])
  const tails = sum(a[1], b[1])
  const first = quickSum(heads[0], heads[1] + tails[0])
  return quickSum(first[0], first[1] + tails[1])
}

function times(a: Pair, b: Pair): Pair {
  const heads = product(a[0], b[0])
  return quickSum(heads[0], heads[1] + (a[0] * b[1] + a[1] * b[0]))
}

function timesNumber(a: Pair, b: number): Pair {
  return times(a, [b, 0])
}

function divide(a: Pair, b: Pair): Pair {
  const first = a[0] / b[0]
  const rest = plus(a, timesNumber(b, -first))
  const second = rest[0] / b[0]
  const rest2 = plus(rest, timesNumber(b, -second))
  return plus(quickSum(first, second), [rest2[0] / b[0], 0])
}

/** 1/45, 1/43, … 1: the series of artanh, highest power first. */
const ARTANH: readonly Pair[] = Array.from({ length: 23 }, (_, at) => divide([1, 0], [45 - 2 * at, 0]))
/** 1/12!, 1/11!, … 1/0!: the series of exp, highest power first. */
const EXP: readonly Pair[] = Array.from({ length: 13 }, (_, at) => {
  let inverse: Pair = [1, 0]
  for (let factor = 2; factor <= 12 - at; factor += 1) inverse = divide(inverse, [factor, 0])
  return inverse
})

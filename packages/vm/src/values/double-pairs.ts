// Numbers as head and tail, two doubles whose sum is the value: about 100 bits, enough to round functions of doubles to the nearest
// double in all but the rarest cases. After Dekker (1971) and Knuth; each result is exact up to an error of about 2 ** -104.

/** Head and tail of a number: the tail is below half a unit in the last place of the head. */
export type Pair = readonly [head: number, tail: number]

export function sum(a: number, b: number): Pair {
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

/** 2 ** 27 + 1: a product with it splits a double into halves. */
export const SPLIT = 134217729

/** The upper and lower 26 bits. */
function halves(a: number): Pair {
  const scaled = SPLIT * a
  const high = scaled - (scaled - a)
  return [high, a - high]
}

export function plus(a: Pair, b: Pair): Pair {
  const heads = sum(a[0], b[0])
  const tails = sum(a[1], b[1])
  const first = quickSum(heads[0], heads[1] + tails[0])
  return quickSum(first[0], first[1] + tails[1])
}

export function times(a: Pair, b: Pair): Pair {
  const heads = product(a[0], b[0])
  return quickSum(heads[0], heads[1] + (a[0] * b[1] + a[1] * b[0]))
}

export function timesNumber(a: Pair, b: number): Pair {
  return times(a, [b, 0])
}

export function divide(a: Pair, b: Pair): Pair {
  const first = a[0] / b[0]
  const rest = plus(a, timesNumber(b, -first))
  const second = rest[0] / b[0]
  const rest2 = plus(rest, timesNumber(b, -second))
  return plus(quickSum(first, second), [rest2[0] / b[0], 0])
}

export function minus(a: Pair, b: Pair): Pair {
  return plus(a, [-b[0], -b[1]])
}

/** Square root of a positive pair: one Newton step from the root of the head. */
export function root(a: Pair): Pair {
  const first = Math.sqrt(a[0])
  const rest = minus(a, product(first, first))
  return quickSum(first, rest[0] / (2 * first))
}

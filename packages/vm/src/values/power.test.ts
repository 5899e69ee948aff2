import { describe, expect, test } from 'vitest'
import { power, wholePower } from './power.js'

describe('power', () => {
  // Nearest doubles, computed with 60 decimal digits.
  test.each([
    [2.5, 2.5, 9.882117688026186],
    [10, 2.5, 316.22776601683796],
    [2, 0.5, Math.SQRT2],
    [10, -308, 1e-308],
    [0.5, 0.5, Math.SQRT1_2],
    [7, -23, 3.653802593060306e-20],
    [-8, 3, -512],
  ])('%d ** %d', (base, exponent, result) => {
    expect(power(base, exponent)).toBe(result)
  })

  test.each([
    [0, -1],
    [-0, -1],
    [0, 0.5],
    [-0, 3],
    [-8, 0.5],
    [1, Infinity],
    [-1, Infinity],
    [2, Infinity],
    [2, -Infinity],
    [NaN, 0],
    [Infinity, -2],
    [-Infinity, 3],
    [1e300, 2],
    [1e-300, 2],
    [5e-324, 1],
    [-1, 2 ** 60],
  ])('the edges are those of the language below: %d ** %d', (base, exponent) => {
    expect(power(base, exponent)).toBe(base ** exponent)
  })

  test('far exponents of tiny and huge bases stay exact', () => {
    expect(power(5e-324, 0.5)).toBe(2 ** -537)
    expect(power(2 ** 1000, -0.5)).toBe(2 ** -500)
  })
})

describe('wholePower', () => {
  test('multiplies step by step, rounding each time', () => {
    expect(wholePower(1.1, 10)).toBe(2.593742460100002)
    expect(wholePower(0.1, 5)).toBe(0.000010000000000000006)
    expect(wholePower(0.1, -3)).toBe(999.9999999999998)
    expect(wholePower(10, 0)).toBe(1)
  })

  test('an exponent beyond 32 bits is a float', () => {
    expect(wholePower(1.0000000001, 1e11)).toBe(power(1.0000000001, 1e11))
  })
})

import { describe, expect, test } from 'vitest'
import { acos, asin, atan, atan2, cos, exp, ln, log10, log2, sin, tan } from './elementary.js'

// Nearest doubles, computed with 60 decimal digits.
describe('nearest doubles', () => {
  test.each([
    [sin, 2.5, 0.5984721441039565],
    [sin, 14.744, 0.8214581420149153],
    [sin, Math.PI, 1.2246467991473532e-16],
    [cos, 0.1, 0.9950041652780258],
    [cos, 1000, 0.5623790762907029],
    [tan, 4, 1.1578212823495775],
    [tan, -1.49, -12.3498564416258],
    [ln, 3, 1.0986122886681098],
    [log2, 0.86, -0.21759143507262677],
    [log2, 2 ** -1074, -1074],
    [exp, 1, Math.E],
    [asin, 1, Math.PI / 2],
    [acos, -1, Math.PI],
    [acos, 0.5, 1.0471975511965979],
    [atan, Math.PI, 1.2626272556789118],
    [atan, 1, Math.PI / 4],
  ])('%p of %d', (f, x, result) => {
    expect(f(x)).toBe(result)
  })

  test('log10 of a power of ten is an integer', () => {
    for (let power = -300; power <= 300; power += 1) expect(log10(Number(`1e${power}`))).toBe(power)
  })

  test('quarters of a turn', () => {
    expect([atan2(1, 1), atan2(1, -1), atan2(-1, -1), atan2(-1, 1)]).toEqual(
      [1, 3, -3, -1].map((quarters) => (quarters * Math.PI) / 4),
    )
  })
})

describe('results stay close to those of the engine', () => {
  const ranges: readonly (readonly [string, (x: number) => number, (x: number) => number, number, number])[] = [
    ['sin', sin, Math.sin, -1e6, 1e6],
    ['cos', cos, Math.cos, -40, 40],
    ['tan', tan, Math.tan, -10, 10],
    ['exp', exp, Math.exp, -707, 709],
    ['ln', ln, Math.log, 0, 1e9],
    ['log2', log2, Math.log2, 0, 2],
    ['log10', log10, Math.log10, 0, 2000],
    ['asin', asin, Math.asin, -1, 1],
    ['acos', acos, Math.acos, -1, 1],
    ['atan', atan, Math.atan, -1e4, 1e4],
  ]
  test.each(ranges)('%s', (_name, own, engine, from, to) => {
    for (let step = 0; step <= 1000; step += 1) {
      const x = from + ((to - from) * step) / 1000
      const expected = engine(x)
      if (Number.isFinite(expected)) expect(Math.abs(own(x) - expected)).toBeLessThanOrEqual(Math.abs(expected) * 2 ** -51)
      else expect(own(x)).toBe(expected)
    }
  })

  test.each([
    ['huge and tiny sides', atan2(3e307, 1e308), Math.atan2(3e307, 1e308)],
    ['the least number', atan(5e-324), 5e-324],
    ['the greatest number', atan(Number.MAX_VALUE), Math.PI / 2],
    ['angles beyond reduction', sin(1e22), Math.sin(1e22)],
  ])('%s', (_name, own, engine) => {
    expect(Math.abs(own - engine)).toBeLessThanOrEqual(Math.abs(engine) * 2 ** -51)
  })
})

test('edge cases equal those of the engine', () => {
  for (const x of [0, -0, NaN, Infinity, -Infinity, -1, 1, 2, 710, -746]) {
    for (const [own, engine] of [
      [sin, Math.sin],
      [cos, Math.cos],
      [tan, Math.tan],
      [exp, Math.exp],
      [ln, Math.log],
      [log2, Math.log2],
      [log10, Math.log10],
      [asin, Math.asin],
      [acos, Math.acos],
      [atan, Math.atan],
    ] as const) {
      if (Number.isFinite(engine(x)) && engine(x) !== 0) expect(own(x)).toBeCloseTo(engine(x), 12)
      else expect(own(x)).toBe(engine(x))
    }
  }
})

// What a host may hand to a script, kind by kind, and what it may not.

import { HarnFloat } from '@bridle/vm'
import { describe, expect, test } from 'vitest'
import { NotDataError, plainFromHost } from './edge.js'
import type { JsonSchema } from './schema.js'

const float = (value: number): HarnFloat => new HarnFloat(value)

describe('plainFromHost', () => {
  const cases: [name: string, host: unknown, plain: unknown, schema?: JsonSchema][] = [
    ['undefined is nil', undefined, null],
    ['an integral number is an int', 3, 3],
    ['a number by schema is a float', 3, float(3), { type: 'number' }],
    ['an integer or number by schema is an int', 3, 3, { type: ['number', 'integer'] }],
    ['-0, fractions and what is no number are floats', [-0, 1.5, NaN], [float(-0), float(1.5), float(NaN)]],
    ['a number beyond the safe ones is a float', 2 ** 53, float(2 ** 53)],
    ['the largest int', 2n ** 63n - 1n, 2n ** 63n - 1n],
    ['the smallest int', -(2n ** 63n), -(2n ** 63n)],
    ['bytes', new Uint8Array([1, 2]), new Uint8Array([1, 2])],
    ['an ArrayBuffer', new Uint8Array([1, 2]).buffer, new Uint8Array([1, 2])],
    ['other typed arrays are lists', new Float64Array([1, 0.5]), [1, float(0.5)]],
    ['their items by schema', new Float32Array([1]), [float(1)], { items: { type: 'number' } }],
    ['of 64 bits', new BigInt64Array([-1n]), [-1n]],
    ['a Date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a Date that is none', new Date(NaN), null],
    ['a Map', new Map([[1, 'one']]), { 1: 'one' }],
    ['a Set', new Set(['a']), ['a']],
    ['an object with toJSON', new URL('https://example.test/a'), 'https://example.test/a'],
    ['an Error', new RangeError('too far'), { name: 'RangeError', message: 'too far' }],
    ['what is undefined in an object is left out', { a: undefined, b: 1 }, { b: 1 }],
  ]
  test.each(cases)('%s', (_name, host, plain, schema) => {
    expect(plainFromHost(host, schema)).toEqual(plain)
  })

  const refused: [name: string, host: unknown, message: string][] = [
    ['a function', () => 1, 'a function is not data'],
    ['a symbol', Symbol.iterator, 'a symbol is not data'],
    ['a promise in a list', [Promise.resolve(1)], 'a promise is not data'],
    ['an integer above 64 bits', { n: 2n ** 63n }, 'an integer of more than 64 bits is not data'],
    ['an integer below 64 bits', -(2n ** 63n) - 1n, 'an integer of more than 64 bits is not data'],
  ]
  test.each(refused)('%s is refused', (_name, host, message) => {
    expect(() => plainFromHost(host)).toThrow(new NotDataError(message))
  })

  test('a cycle is refused', () => {
    const cycle: unknown[] = []
    cycle.push(cycle)
    expect(() => plainFromHost(cycle)).toThrow(/nested deeper than 500, or contains itself/)
  })
})

// What a host may hand to a script, kind by kind, and what it may not.

import { HarnFloat } from '@bridle/vm'
import { describe, expect, test } from 'vitest'
import { NotDataError, plainFromHost } from './edge.js'
import type { JsonSchema } from './schema.js'

const makeFloat = (value: number): HarnFloat => new HarnFloat(value)

describe('plainFromHost', () => {
  const cases: [name: string, host: unknown, plain: unknown, schema?: JsonSchema][] = [
    ['undefined is nil', undefined, null],
    ['an integral number is an int', 3, 3],
    ['a number by schema is a float', 3, makeFloat(3), { type: 'number' }],
    ['an integer or number by schema is an int', 3, 3, { type: ['number', 'integer'] }],
    ['-0, fractions and what is no number are floats', [-0, 1.5, NaN], [makeFloat(-0), makeFloat(1.5), makeFloat(NaN)]],
    ['a number beyond the safe ones is a float', 2 ** 53, makeFloat(2 ** 53)],
    ['the largest int', 2n ** 63n - 1n, 2n ** 63n - 1n],
    ['the smallest int', -(2n ** 63n), -(2n ** 63n)],
    ['bytes', new Uint8Array([1, 2]), new Uint8Array([1, 2])],
    ['an ArrayBuffer', new Uint8Array([1, 2]).buffer, new Uint8Array([1, 2])],
    ['other typed arrays are lists', new Float64Array([1, 0.5]), [1, makeFloat(0.5)]],
    ['their items by schema', new Float32Array([1]), [makeFloat(1)], { items: { type: 'number' } }],
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

  test('a hole is nil, and an array of holes is refused', () => {
    const few: unknown[] = []
    few[2] = 1
    expect(plainFromHost(few)).toEqual([null, null, 1])
    const many: unknown[] = []
    many[2 ** 32 - 2] = 1
    expect(() => plainFromHost(many)).toThrow(new NotDataError('an array of 4294967295 with more than 10000 holes is not data'))
  })

  test('a few objects that stand for endless data are refused', () => {
    let twice: unknown = 'x'
    for (let i = 0; i < 60; i++) twice = [twice, twice]
    expect(() => plainFromHost(twice)).toThrow(/more than 1000000 values/)
  })

  test('a promise that is not awaited rejects silently', async () => {
    let rejected = false
    const watch = (): void => void (rejected = true)
    process.on('unhandledRejection', watch)
    expect(() => plainFromHost({ inner: Promise.reject(new Error('lost')) })).toThrow('a promise is not data')
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', watch)
    expect(rejected).toBe(false)
  })

  test('a schema that is its own alternative, many times, is asked once', () => {
    const self = { $ref: '#' }
    const schema = { anyOf: [self, self, self, self, { items: self }, { type: 'number' }] }
    let opened = 0
    const counting = new Proxy(schema, {
      get: (target, key) => {
        if (key === 'anyOf') opened++
        return Reflect.get(target, key) as unknown
      },
    })
    expect(plainFromHost([1, [2]], counting)).toEqual([makeFloat(1), [makeFloat(2)]])
    expect(opened).toBeLessThan(50)
  })

  test('a cycle is refused', () => {
    const cycle: unknown[] = []
    cycle.push(cycle)
    expect(() => plainFromHost(cycle)).toThrow(/nested deeper than 500, or contains itself/)
  })
})

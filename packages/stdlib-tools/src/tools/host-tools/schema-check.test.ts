import { describe, expect, test } from 'vitest'
import { plainFromHost } from './edge.js'
import { harnType } from './harn-types.js'
import { SchemaCheck } from './schema-check.js'

const findReason = (schema: object, value: unknown): string | null => new SchemaCheck(schema).check(value)?.reason ?? null

test.each<[object, unknown, boolean]>([
  [{ type: 'integer' }, 1.5, false],
  [{ multipleOf: 0.1 }, 0.3, true],
  [{ pattern: '^a+$' }, 'aaa', true],
  [{ pattern: '^a+$' }, 'aab', false],
  [{ properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'null' } } }, { a: 1 }, false],
  [{ patternProperties: { '^x': { type: 'string' } }, additionalProperties: false }, { x1: 'a' }, true],
  [{ patternProperties: { '^x': { type: 'string' } }, additionalProperties: false }, { y: 'a' }, false],
  [{ oneOf: [{ type: 'string' }, { minLength: 1 }] }, 'a', false],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, null, true],
  [{ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, ['a', 1, 'b'], false],
  [
    { uniqueItems: true },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    false,
  ],
  [{ allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { a: 1 }, true],
  [{ allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { b: 1 }, false],
  [{ if: { required: ['a'] }, then: { required: ['b'] } }, { a: 1 }, false],
  [{ not: { type: 'string' } }, 'a', false],
  [{ enum: [{ a: [1] }] }, { a: [1] }, true],
  [{ required: ['constructor'] }, {}, false],
  [{ type: 'object', properties: { next: { $ref: '#' } } }, { next: { next: {} } }, true],
  [{ format: 'date-time' }, '2026-01-02T03:04:05Z', true],
  [{ format: 'email' }, 'a', false],
])('%j and %j: %s', (schema, value, valid) => expect(findReason(schema, value) === null).toBe(valid))

test('large integers are integers', () => expect(findReason({ type: 'integer', minimum: 3 }, 9_007_199_254_740_993n)).toBeNull())

describe('schemas of strangers', () => {
  test('references that never end, or multiply', () => {
    expect(findReason({ $ref: '#' }, 1)).toContain('takes too long')
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`d${n}`, { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] }]),
    )
    expect(findReason({ $ref: '#/$defs/d0', $defs: { ...doubling, d40: {} } }, 1)).toContain('takes too long')
  })

  test('what cannot be judged is refused with its place', () => {
    expect(() => new SchemaCheck({ properties: { a: { pattern: '(?=a)b' } } })).toThrow(
      '#/properties/a: pattern "(?=a)b" is not supported',
    )
    expect(() => new SchemaCheck({ $ref: '#/nowhere' })).toThrow('leads nowhere')
    expect(() => new SchemaCheck({ enum: Array.from({ length: 30_000 }, (_, n) => n) })).toThrow('more than 20000 parts')
    let deep: object = {}
    for (let n = 0; n < 1000; n++) deep = { not: deep }
    expect(() => new SchemaCheck(deep)).toThrow('nested deeper than')
  })

  test('patterns that go back, on long texts', () => {
    expect(findReason({ pattern: '^(a+)+$' }, `${'a'.repeat(100_000)}b`)).toBe('String does not match pattern.')
    expect(findReason({ patternProperties: { '^(a|a)*$': false } }, { [`${'a'.repeat(10_000)}b`]: 1 })).toBeNull()
  })

  test('a type of a schema that refers to itself many times', () => {
    const properties = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`p${n}`, { $ref: '#' }]))
    expect(harnType({ type: 'object', properties }).length).toBeLessThanOrEqual(20_000)
  })

  test('numbers by a schema whose alternatives refer to each other', () => {
    const schema = { anyOf: Array.from({ length: 10 }, () => ({ $ref: '#' })) }
    expect(plainFromHost({ a: [1] }, schema)).toEqual({ a: [1] })
  })
})

test('a check of much data is interrupted between pieces', () => {
  const walk = new SchemaCheck({ type: 'array', items: { type: 'integer' }, uniqueItems: true }).walk(
    Array.from({ length: 20_000 }, (_, at) => (at === 19_999 ? 7 : at)),
  )
  let pieces = 1
  while (!walk.step()) pieces++
  expect(pieces).toBeGreaterThan(4)
  expect(walk.issue).toMatchObject({ reason: 'Duplicate items at indexes 7 and 19999.' })
})

describe('a look without a walk', () => {
  const leaves = [null, true, 0, 1.5, 7n, 'a', 'long enough', undefined]
  const values: readonly unknown[] = [
    ...leaves,
    [],
    [1],
    {},
    ...leaves.map((a) => ({ a })),
    { a: 1, b: 'x' },
    { b: {} },
    { a: [1] },
    JSON.parse('{"__proto__": 1}'),
  ]
  const schemas: readonly object[] = [
    {},
    { type: 'integer' },
    { type: ['string', 'null'] },
    { enum: [1, 'a'] },
    { type: 'string', minLength: 3 },
    { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
    { type: 'object', properties: { a: { type: 'number', minimum: 1 }, b: { type: 'string' } } },
    { properties: { a: { const: 0 } }, additionalProperties: false },
    { properties: {}, additionalProperties: { type: 'string' } },
    { properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } },
    { properties: { a: false } },
    { required: ['constructor'] },
    { minProperties: 1 },
    { propertyNames: { const: 'b' } },
    { patternProperties: { '^a': { type: 'string' } } },
    { dependentRequired: { a: ['b'] } },
    { not: { type: 'object' } },
    { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
  ]

  test.each(schemas.map((schema) => [JSON.stringify(schema), schema] as const))(
    'accepts nothing that is wrong by %s',
    (_, schema) => {
      const check = new SchemaCheck(schema)
      const wrong = values.filter((value) => check.acceptsAtOnce(value) && check.check(value) !== null)
      expect(wrong).toEqual([])
    },
  )

  test('accepts the arguments of most tools', () => {
    const schema = { type: 'object', properties: { id: { type: 'string' }, count: { type: 'integer' } }, required: ['id'] }
    expect(new SchemaCheck(schema).acceptsAtOnce({ id: 'a', count: 3 })).toBe(true)
  })
})

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { HarnFloat } from '@bridle/vm'
import { defineTool, pureFunction } from './define.js'
import { NotDataError, plainFromHost } from './edge.js'
import { harnType } from './harn-types.js'
import { Host } from './host.js'
import { compileSchema } from './schema.js'
import type { AnySchema, JsonSchema } from './schema.js'

describe('schema → type of the language', () => {
  test.each<[AnySchema, string]>([
    [z.string(), 'string'],
    [z.int(), 'int'],
    [z.number(), 'float'],
    [z.boolean(), 'bool'],
    [z.null(), 'nil'],
    [z.array(z.int()), 'list<int>'],
    [z.record(z.string(), z.number()), 'dict<string, float>'],
    [z.object({ a: z.string(), b: z.int().optional(), c: z.number().default(1) }), '{a: string, b?: int, c?: float}'],
    [z.object({ 'a-b': z.string() }), 'dict'],
    [z.object({}), 'dict'],
    [z.enum(['x', 'y']), '"x" | "y"'],
    [z.enum(['x', '${danger}']), 'string'],
    [z.union([z.string(), z.int()]), 'string | int'],
    [z.string().nullable(), 'string | nil'],
    [z.literal(5), '5'],
    [z.any(), 'any'],
    [{}, 'any'],
    [{ type: 'array' }, 'list'],
    [{ type: ['string', 'null'] }, 'string | nil'],
    [{ $ref: '#/$defs/n', $defs: { n: { type: 'integer' } } }, 'int'],
    [{ anyOf: [{ type: 'string' }, {}] }, 'any'],
    [{ not: {} }, 'any'],
  ])('%#: %s', (schema, expected) => expect(harnType(compileSchema(schema).json)).toBe(expected))

  test('a schema that contains itself', () => {
    const node: JsonSchema = { type: 'object', properties: { next: { $ref: '#' } } }
    expect(harnType(node)).toContain('{next?: ')
  })
})

describe('host data → script data', () => {
  const f = (v: number): HarnFloat => new HarnFloat(v)
  test.each<[string, unknown, JsonSchema | undefined, unknown]>([
    ['integral numbers are ints', 3, undefined, 3],
    ['others are floats', 1.5, undefined, f(1.5)],
    ['a number by schema is a float', 3, { type: 'number' }, f(3)],
    ['an integer by schema is an int', 3, { type: 'integer' }, 3],
    ['either by schema', 3, { anyOf: [{ type: 'number' }, { type: 'integer' }] }, 3],
    ['number or string', 3, { anyOf: [{ type: 'number' }, { type: 'string' }] }, f(3)],
    ['beyond ±2^53 a number is a float', 2 ** 60, undefined, f(2 ** 60)],
    ['large ints', 2n ** 60n, undefined, 2n ** 60n],
    ['items', [1, 2], { type: 'array', items: { type: 'number' } }, [f(1), f(2)]],
    ['tuples', [1, 2], { type: 'array', prefixItems: [{ type: 'number' }, { type: 'integer' }] }, [f(1), 2]],
    ['properties', { a: 1, b: 1 }, { type: 'object', properties: { a: { type: 'number' } } }, { a: f(1), b: 1 }],
    ['values', { a: 1 }, { type: 'object', additionalProperties: { type: 'number' } }, { a: f(1) }],
    ['references', { a: 1 }, { $ref: '#/$defs/x', $defs: { x: { properties: { a: { type: 'number' } } } } }, { a: f(1) }],
    ['undefined', undefined, undefined, null],
    ['missing properties', { a: undefined }, undefined, {}],
    ['dates', new Date(0), undefined, '1970-01-01T00:00:00.000Z'],
    ['maps and sets', { m: new Map([[1, 2]]), s: new Set([1]) }, undefined, { m: { 1: 2 }, s: [1] }],
    ['toJSON', { toJSON: () => ({ a: 1 }) }, undefined, { a: 1 }],
    ['errors', new TypeError('t'), undefined, { name: 'TypeError', message: 't' }],
  ])('%s', (_, value, schema, expected) => expect(plainFromHost(value, schema)).toEqual(expected))

  test('records have no prototype', () => {
    const plain = plainFromHost(JSON.parse('{"__proto__": {"x": 1}}')) as object
    expect(Object.getPrototypeOf(plain)).toBe(null)
    expect(Object.keys(plain)).toEqual(['__proto__'])
  })

  test('what is not data', () => {
    const loop: { self?: unknown } = {}
    loop.self = loop
    for (const value of [() => 1, Symbol('x'), loop, Promise.resolve(1), [() => 1]])
      expect(() => plainFromHost(value)).toThrow(NotDataError)
  })
})

describe('schemas', () => {
  test('zod gives its transformed value, JSON Schema the value itself', async () => {
    const zod = compileSchema(z.object({ a: z.string().default('d') }))
    expect(await zod.check({})).toEqual({ ok: true, value: { a: 'd' } })
    expect(await zod.check({ a: 1 })).toMatchObject({ ok: false, path: '$.a' })
    const json = compileSchema({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] })
    expect(await json.check({ a: 'x' })).toEqual({ ok: true, value: { a: 'x' } })
    expect(await json.check({ a: 1 })).toMatchObject({ ok: false, path: '$.a' })
    expect(await json.check({})).toMatchObject({ ok: false, path: '$' })
  })

  test('bounds that only say "a safe integer" are left out', () => {
    expect(compileSchema(z.object({ n: z.int() })).json).toEqual({
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
    })
  })

  test('a schema without a JSON Schema form is refused where it is given', () => {
    expect(() => compileSchema(z.object({ d: z.date() }))).toThrow('schema cannot be written as JSON Schema')
    expect(() => compileSchema(z.object({ n: z.bigint() }))).toThrow('write z.int(), or the JSON Schema {type: "integer"}')
    expect(() => defineTool({ name: 'a.b', input: z.object({ n: z.bigint() }), execute: () => 1 })).toThrow(
      "input of tool 'a.b': schema cannot be written as JSON Schema: BigInt",
    )
  })
})

describe('definitions', () => {
  test.each<[string, () => unknown, string]>([
    ['no name', () => defineTool({ name: '', execute: () => null }), 'is not usable'],
    ['a name with quotes', () => defineTool({ name: 'a"b', execute: () => null }), 'is not usable'],
    [
      'input that is no object',
      () => defineTool({ name: 'a', input: z.string(), execute: () => null }),
      'must describe an object',
    ],
    [
      'the same tool twice',
      () => new Host({ tools: [defineTool({ name: 'a', execute: () => null }), defineTool({ name: 'a', execute: () => null })] }),
      'defined twice',
    ],
    [
      'a function that scripts cannot name',
      () => new Host({ hostFunctions: { m: { for: pureFunction({ params: [], run: () => 1 }) } } }),
      'cannot write',
    ],
    [
      'a function with the name of a tool',
      () =>
        new Host({
          tools: [defineTool({ name: 'm.f', execute: () => null })],
          hostFunctions: { m: { f: pureFunction({ params: [], run: () => 1 }) } },
        }),
      'both a tool and a function',
    ],
  ])('%s', (_, make, message) => expect(make).toThrow(message))

  test('modules are made from what the host has', () => {
    const host = new Host({
      tools: [
        defineTool({
          name: 'web.get',
          input: z.object({ url: z.string() }),
          output: z.object({ n: z.number() }),
          execute: () => null as never,
        }),
        defineTool({ name: 'web.for', execute: () => null }),
        defineTool({ name: 'plain', execute: () => null }),
      ],
      hostFunctions: {
        web: {
          add: pureFunction({
            params: [z.int(), z.number()],
            names: ['left', 'right'],
            returns: z.number(),
            run: (a, b) => a + b,
          }),
        },
      },
    })
    const source = host.moduleSource('web') ?? ''
    expect(source).toContain('pub fn get(args: {url: string}) -> {n: float} {')
    expect(source).toContain('pub fn add(left: int, right: float) -> float {\n  return __host_web_add(left, right)\n}')
    expect(source).not.toContain('pub fn for')
    expect(host.moduleSource('tools')).toContain('pub fn plain(args: dict = {})')
    expect(host.moduleSource('nothing')).toBe(null)
    expect(host.moduleSource('constructor')).toBe(null)
  })
})

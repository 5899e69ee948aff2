// What TypeScript knows: tools keep the types of their schemas, programs those of their input and result, results narrow by their status.
// The types are checked when the tests are compiled; what they promise is checked here.

import assert from 'node:assert/strict'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { createRegistry, defineTool, pending, respond } from '../index.js'
import type { StandardResponse, TryResult } from '../index.js'
import type { Plain } from '@bridle/vm'
import { createRuntime } from './runtime.js'

const price = defineTool({
  name: 'shop.price',
  sideEffect: 'none',
  input: z.object({ article: z.string(), size: z.enum(['small', 'large']).default('small') }),
  output: z.object({ cents: z.int() }),
  execute: ({ size }) => {
    expectTypeOf(size).toEqualTypeOf<'small' | 'large'>()
    return { cents: size === 'small' ? 350 : 500 }
  },
})

describe('tools', () => {
  test('keep their name and types', () => {
    expectTypeOf(price.name).toEqualTypeOf<'shop.price'>()
    expect(price.name).toBe('shop.price')
  })

  test('what `execute` gives is checked against `output`, by types and by calls', async () => {
    const right = [
      defineTool({ name: 'd', output: z.number(), execute: async () => 1 }),
      defineTool({ name: 'e', output: z.number(), execute: () => pending('token') }),
      defineTool({ name: 'f', output: z.number(), response: 'standard', execute: () => respond.fail('f', { message: 'no' }) }),
      defineTool({ name: 'h', execute: () => Promise.resolve('anything') }),
    ]
    const wrong = [
      // @ts-expect-error a string is no number
      defineTool({ name: 'a', output: z.object({ n: z.number() }), execute: () => ({ n: 'x' }) }),
      // @ts-expect-error also when it comes later
      defineTool({ name: 'b', output: z.number(), execute: async () => 'x' }),
      // @ts-expect-error also when it is streamed
      // oxlint-disable-next-line require-yield
      defineTool({ name: 'c', output: z.number(), execute: async function* () { return 'x' } }), // prettier-ignore
      // The type of a JSON Schema is not known.
      defineTool({ name: 'g', output: { type: 'number' }, execute: () => 'x' }),
    ]
    const registry = createRegistry([...right, ...wrong])
    expect([await registry.call('d', {}), await registry.call('h', {})]).toEqual([1, 'anything'])
    for (const { name } of wrong) {
      const result = await registry.tryCall(name, {})
      expect(result.ok ? result : result.error.code, name).toBe('output_validation_failed')
    }
  })

  test('calls of a registry are typed by the tool', async () => {
    const registry = createRegistry([price])
    const result = await registry.call(price, { article: 'tea' })
    expectTypeOf(result).toEqualTypeOf<{ cents: number }>()
    expect(result).toEqual({ cents: 350 })
    expectTypeOf(await registry.tryCall(price, { article: 'tea' })).toEqualTypeOf<TryResult<{ cents: number }>>()
    expectTypeOf(await registry.call('shop.price', { article: 'tea' })).toEqualTypeOf<unknown>()
    // @ts-expect-error a number is no article
    await expect(registry.call(price, { article: 5 })).rejects.toThrow('article')
    // @ts-expect-error the tool takes arguments
    await expect(registry.call(price)).rejects.toThrow('article')
  })

  test('a tool that is not in the registry is not called in place of its namesake', async () => {
    const other = defineTool({ name: 'shop.price', execute: () => 1 })
    await expect(createRegistry([price]).call(other, {})).rejects.toThrow('another one')
    expect(await createRegistry([price]).tryCall(other, {})).toMatchObject({ ok: false, error: { code: 'not_registered' } })
  })

  test('standard responses are typed as such', async () => {
    const read = defineTool({ name: 'read', response: 'standard', sideEffect: 'none', output: z.string(), execute: () => 'x' })
    const answer = await createRegistry([read]).call(read, {})
    expectTypeOf(answer).toEqualTypeOf<StandardResponse<string>>()
    expect(answer.result).toBe('x')
  })
})

describe('programs', () => {
  const runtime = createRuntime({ tools: [price] })
  const SOURCE =
    'import { runtime_pipeline_input } from "std/runtime"\n\npipeline main() { return {id: runtime_pipeline_input().id + 1} }'

  test('results narrow by their status', async () => {
    const result = await runtime.start(runtime.compile('return 1')).result
    // @ts-expect-error only a run that is done has a value
    expect(result.value).toBe(1)
    if (result.status === 'done') expectTypeOf(result.value).toEqualTypeOf<Plain>()
    if (result.status === 'failed') expectTypeOf(result.error.message).toEqualTypeOf<string>()
  })

  test('types of input and result are those that the caller says', async () => {
    const module = runtime.compile<{ input: { id: number }; output: { id: number } }>(SOURCE)
    const result = await runtime.start(module, { input: { id: 1 } }).result
    if (result.status === 'done') expectTypeOf(result.value).toEqualTypeOf<{ id: number }>()
    expect(result).toMatchObject({ status: 'done', value: { id: 2 } })
    // @ts-expect-error the input is an object with a number
    expect(() => runtime.start(module, { input: { id: 'x' } }).cancel()).not.toThrow()
  })

  test('schemas give the types, and runs are held to them', async () => {
    const module = runtime.compile(SOURCE, { input: z.object({ id: z.int() }), output: z.object({ id: z.int() }) })
    const value = await runtime.run(module, { input: { id: 1 } })
    expectTypeOf(value).toEqualTypeOf<{ id: number }>()
    expect(value).toEqual({ id: 2 })
    // @ts-expect-error the input is an object with an integer
    expect(() => runtime.start(module, { input: { id: 'x' } })).toThrow('the input is not as declared: $.id')
    const other = runtime.compile('return {id: "x"}', { output: z.object({ id: z.int() }) })
    const result = await runtime.start(other).result
    expect(result).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('$.id') } })
  })

  test('a run that is left is cancelled', async () => {
    const run = runtime.start(runtime.compile('while true { sleep(1h) }'))
    await run[Symbol.asyncDispose]()
    expect(await run.result).toMatchObject({ status: 'cancelled', reason: 'the run was left' })
  })
})

describe('results', () => {
  const runtime = createRuntime()

  test('are plain objects', async () => {
    assert.deepStrictEqual(await runtime.run('return {a: [1, {b: nil}], c: "x"}'), { a: [1, { b: null }], c: 'x' })
    const value = await runtime.run('return {"__proto__": {x: 1}, constructor: 2}')
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect((value as { readonly x?: unknown }).x).toBeUndefined()
  })

  test('have integers beyond 2^53 as the host chooses', async () => {
    const source = 'return [9007199254740993, {n: -9223372036854775807}, 5]'
    assert.deepStrictEqual(await runtime.run(source), [9007199254740993n, { n: -9223372036854775807n }, 5])
    assert.deepStrictEqual(await runtime.run(source, { integers: 'number' }), [9007199254740992, { n: -9223372036854775808 }, 5])
    const numbers = createRuntime({ integers: 'number' })
    assert.deepStrictEqual(await numbers.run('return 9007199254740993'), 9007199254740992)
    assert.deepStrictEqual(await numbers.run('return 9007199254740993', { integers: 'bigint' }), 9007199254740993n)
  })
})

// Providers: contracts at the first call only, prepared calls, results by a schema of the caller.

import { expect, test } from 'vitest'
import { createRuntime } from '../../host/runtime.js'
import { ToolError } from './errors.js'
import { defineProvider, toolsOf } from './provider.js'
import type { ToolContract } from './provider.js'
import { createRegistry } from './registry.js'

const makeObject = (properties: object, required: readonly string[] = []) => ({ type: 'object', properties, required })

function shop(log: string[]) {
  const contracts: { readonly [name: string]: ToolContract } = {
    'shop.price': { input: makeObject({ id: { type: 'integer' } }, ['id']), output: { type: 'integer' } },
    'shop.extract': {
      input: makeObject({ text: { type: 'string' }, schema: { type: 'object' } }, ['text']),
      output: { fromInput: 'schema', default: { type: 'string' } },
    },
  }
  return defineProvider({
    manifests: () =>
      ['shop.price', 'shop.extract', 'shop.ghost'].map((name) => ({
        name,
        description: `does ${name}`,
        sideEffect: 'read_only',
      })),
    contract: async (name) => {
      log.push(`contract ${name}`)
      return contracts[name] ?? null
    },
    prepare: ({ name, args }) => ({ args, payload: name.length }),
    execute: ({ name, args }, { payload }) => {
      log.push(`execute ${name}`)
      if (name === 'shop.price') return args['id'] === 13 ? 'much' : Number(args['id']) * 2 + (payload as number) - 10
      return args['schema'] === undefined ? args['text'] : { found: args['text'] }
    },
  })
}

const catchCode = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((cause: unknown) => (cause instanceof ToolError ? cause.code : cause))

test('schemas are asked for at the first call, and checked', async () => {
  const log: string[] = []
  const registry = createRegistry(toolsOf(shop(log)))
  expect(registry.list().map(({ name }) => name)).toEqual(['shop.price', 'shop.extract', 'shop.ghost'])
  expect(log).toEqual([])
  expect(await registry.call('shop.price', { id: 4 })).toBe(8)
  expect(await registry.call('shop.price', { id: 5 })).toBe(10)
  expect(log).toEqual(['contract shop.price', 'execute shop.price', 'execute shop.price'])
  expect(await catchCode(registry.call('shop.price', { id: 'x' }))).toBe('invalid_args')
  expect(await catchCode(registry.call('shop.price', { id: 13 }))).toBe('output_validation_failed')
  expect(await catchCode(registry.call('shop.ghost', {}))).toBe('tool_contract_missing')
})

test('the caller may say what the result looks like', async () => {
  const registry = createRegistry(toolsOf(shop([])))
  expect(await registry.call('shop.extract', { text: 'a' })).toBe('a')
  const schema = makeObject({ found: { type: 'string' } }, ['found'])
  expect(await registry.call('shop.extract', { text: 'a', schema })).toEqual({ found: 'a' })
  const other = makeObject({ missing: { type: 'string' } }, ['missing'])
  expect(await catchCode(registry.call('shop.extract', { text: 'a', schema: other }))).toBe('output_validation_failed')
})

test('scripts call them like other tools', async () => {
  const runtime = createRuntime({ tools: toolsOf(shop([])) })
  const source = 'import { price } from "host/shop"\nreturn [price({id: 1}), try { price({id: "x"}) } catch (e) { e.code }]'
  expect(await runtime.run(source)).toEqual([2, 'invalid_args'])
})

test('a provider must declare the capabilities that its tools require; others are unknown', () => {
  const makeProviderTools = (capabilities: readonly string[] | undefined, requires: readonly string[] | undefined) =>
    toolsOf(
      defineProvider({
        manifests: () => [{ name: 'shop.see', ...(requires === undefined ? {} : { requires: requires as never }) }],
        ...(capabilities === undefined ? {} : { capabilities: () => capabilities as never }),
        contract: () => ({}),
        execute: () => 'seen',
      }),
    )
  expect(makeProviderTools(['vision', 'chat'], ['vision'])).toHaveLength(1)
  expect(makeProviderTools(undefined, undefined)).toHaveLength(1)
  expect(() => makeProviderTools(['chat'], ['vision'])).toThrow(
    /"shop.see" requires the capability "vision", which its provider does not/,
  )
  expect(() => makeProviderTools(undefined, ['vision'])).toThrow(/does not declare/)
  expect(() => makeProviderTools(['sight'], undefined)).toThrow(/unknown capability "sight"/)
  expect(() => makeProviderTools(['vision'], ['sight'])).toThrow(/unknown capability "sight"/)
})

test('a provider that does not declare streaming does not stream', async () => {
  const call = (capabilities: readonly ('chat' | 'streaming')[]) =>
    createRegistry(
      toolsOf(
        defineProvider({
          manifests: () => [{ name: 'shop.tell' }],
          capabilities: () => capabilities,
          contract: () => ({}),
          async *execute() {
            yield 'a'
            return 'b'
          },
        }),
      ),
    ).call('shop.tell', {})
  await expect(call(['chat'])).rejects.toMatchObject({
    code: 'invalid_args',
    details: { reason: 'capability_missing', capability: 'streaming' },
  })
  expect(await catchCode(call(['streaming']))).not.toBe('invalid_args')
})

// Budgets of a run: what is left of them, over parallel branches and over a restore; and results that are kept, which use none up.

import { expect, test } from 'vitest'
import type { RequestDefaults } from '../../library/http/request-defaults.js'
import { answered } from '../executors/provider.js'
import type { Provider } from '../executors/provider.js'
import { createRuntime } from '../../host/runtime.js'
import { defineTool } from '../host-tools/define.js'
import { MemoryTrace } from '../../host/trace/index.js'

function makeCounted(more: object = {}) {
  const seen: unknown[] = []
  const tool = defineTool({
    name: 'shop.price',
    version: '1.0.0',
    sideEffect: 'read_only',
    execute: (args) => {
      seen.push(args)
      return seen.length
    },
    ...more,
  })
  return { tool, seen }
}

const HEAD = 'import { tool_try } from "std/tools"\nfn ask(n) { return is_ok(tool_try("shop.price", {n: n})) }\n'

test('calls are counted, and the rest is reported', async () => {
  const { tool, seen } = makeCounted()
  const runtime = createRuntime({ tools: [tool] })
  const run = runtime.start(runtime.compile(`${HEAD}return [ask(1), ask(2), ask(3)]`), {
    budgets: { shop: { calls: 2, usd: 1 } },
  })
  expect(run.budgets.remaining('shop')).toEqual({ calls: 2, usd: 1 })
  expect(await run.result).toMatchObject({ status: 'done', value: [true, true, false] })
  expect(run.budgets.remaining('shop')).toEqual({ calls: 0, usd: 1 })
  expect(run.budgets.isExhausted('shop')).toBe(true)
  expect(run.budgets.remaining('other')).toBe(null)
  expect(seen).toHaveLength(2)
})

test('parallel branches do not spend it twice', async () => {
  const { tool, seen } = makeCounted()
  const runtime = createRuntime({ tools: [tool] })
  const source = `${HEAD}let oks = parallel each range(20).to_list() { n -> ask(n) }\nreturn len(oks.filter({ ok -> ok }))`
  const run = runtime.start(runtime.compile(source), { budgets: { 'shop.price': { calls: 7 } } })
  expect(await run.result).toMatchObject({ status: 'done', value: 7 })
  expect(seen).toHaveLength(7)
})

test('it survives a restore', async () => {
  const first = makeCounted()
  const runtime = createRuntime({ tools: [first.tool] })
  const budgets = { shop: { calls: 3 } }
  const run = runtime.start(runtime.compile(`${HEAD}let a = [ask(1), ask(2)]\nsleep(5ms)\nreturn a + [ask(3), ask(4)]`), {
    budgets,
  })
  const bytes = await run.snapshot()
  await run.result
  const second = makeCounted()
  const again = createRuntime({ tools: [second.tool] }).resume(bytes, { budgets })
  expect(await again.result).toMatchObject({ value: [true, true, true, false] })
  expect(second.seen).toEqual([{ n: 3 }])
  expect(again.budgets.remaining('shop')).toEqual({ calls: 0 })
})

test('model calls are charged by their tokens, and appear in the trace', async () => {
  const trace = new MemoryTrace()
  const runtime = createRuntime()
  const source =
    'llm_mock({text: "yes", input_tokens: 30, output_tokens: 20})\nreturn [1, 2].map({ n -> is_ok(try { llm_call("hi", nil, {provider: "mock"}) }) })'
  const run = runtime.start(runtime.compile(source), { budgets: { llm: { tokens: 40 } }, tracing: { sinks: [trace] } })
  expect(await run.result).toMatchObject({ value: [true, false] })
  expect(run.budgets.remaining('llm')).toEqual({ tokens: 0 })
  const calls = trace.events.filter((event) => event.tool_id === 'llm.chat')
  expect(
    calls.map(({ tool_id, details }) => [tool_id, details?.['executor'], details?.['success'], details?.['denied'] ?? false]),
  ).toEqual([
    ['llm.chat', 'mock', true, false],
    ['llm.chat', 'builtin', false, true],
  ])
})

test('a kept result is traced as such, and the host is asked once', async () => {
  const { tool, seen } = makeCounted({ cacheable: true })
  const trace = new MemoryTrace()
  const runtime = createRuntime({ tools: [tool] })
  const source = 'import { price } from "host/shop"\nreturn [price({n: 1}), price({n: 1}), price({n: 2})]'
  const result = await runtime.start(runtime.compile(source), { tracing: { sinks: [trace] } }).result
  expect(result).toMatchObject({ value: [1, 1, 2] })
  expect(seen).toEqual([{ n: 1 }, { n: 2 }])
  const calls = trace.events.filter(({ kind }) => kind === 'tool_call')
  expect(calls.map(({ cached, details }) => [cached, details?.['attempts']])).toEqual([
    [false, 1],
    [true, 0],
    [false, 1],
  ])
})

/** A model that answers when it is let to, and says what it used. */
function makeSlowModel(usage: object = { input_tokens: 10, output_tokens: 10 }) {
  const seen: { readonly [key: string]: unknown }[] = []
  const provider: Provider = {
    kinds: ['llm.call'],
    perform: async ({ args }) => {
      seen.push(args)
      await new Promise((resolve) => setImmediate(resolve))
      return answered(args['op'] === 'embed' ? { vector: [1] } : { text: 'yes', model: args['model'] ?? '', ...usage })
    },
  }
  return { provider, seen }
}

const makeForty = (options: string): string =>
  `let oks = parallel each range(40).to_list() { n -> is_ok(try { llm_call("hi", nil, ${options}) }) }\nreturn len(oks.filter({ ok -> ok }))`

test('parallel model calls put aside what they may use, and do not pass a budget together', async () => {
  for (const budgets of [{ llm: { tokens: 100 } }, { llm: { usd: 0.001 } }]) {
    const { provider, seen } = makeSlowModel()
    const runtime = createRuntime({ providers: [provider], grants: ['llm'] })
    const run = runtime.start(runtime.compile(makeForty('{provider: "openai", model: "gpt-4o", max_tokens: 50}')), { budgets })
    expect(await run.result).toMatchObject({ status: 'done', value: seen.length })
    expect(seen.length).toBeLessThan(3)
    expect(seen.length).toBeGreaterThan(0)
  }
})

test('a budget that the script sets holds for parallel calls', async () => {
  const { provider, seen } = makeSlowModel()
  const runtime = createRuntime({ providers: [provider], grants: ['llm'] })
  const source = `llm_budget(0.001)\n${makeForty('{provider: "openai", model: "gpt-4o", max_tokens: 50}')}`
  expect(await runtime.start(runtime.compile(source)).result).toMatchObject({ status: 'done', value: seen.length })
  expect(seen.length).toBe(1)
})

test('a call is given no more to answer than the budget leaves, and the rest is free again when it used less', async () => {
  const { provider, seen } = makeSlowModel()
  const runtime = createRuntime({ providers: [provider], grants: ['llm'] })
  const source = 'return [1, 2, 3].map({ n -> is_ok(try { llm_call("hi", nil, {provider: "openai", model: "gpt-4o"}) }) })'
  const run = runtime.start(runtime.compile(source), { budgets: { llm: { tokens: 45 } } })
  expect(await run.result).toMatchObject({ value: [true, true, false] })
  expect(seen.map((args) => args['max_tokens'])).toEqual([40, 20])
  expect(run.budgets.remaining('llm')).toEqual({ tokens: 5 })
})

test.each<[string, object, number]>([
  ['says nothing of what it used', {}, 0],
  ['says that it used nothing', { input_tokens: 0, output_tokens: 0 }, 0],
  ['says that it used less than nothing', { input_tokens: -50, output_tokens: -50 }, 0],
  ['says what it used', { input_tokens: 5, output_tokens: 5 }, 45],
])('a model that %s', async (_what, usage, left) => {
  const { provider } = makeSlowModel(usage)
  const runtime = createRuntime({ providers: [provider], grants: ['llm'] })
  const source = 'llm_call("hi", nil, {provider: "openai", model: "gpt-4o", max_tokens: 50})'
  const run = runtime.start(runtime.compile(source), { budgets: { llm: { tokens: 55 } } })
  expect(await run.result).toMatchObject({ status: 'done' })
  expect(run.budgets.remaining('llm')).toEqual({ tokens: left })
})

test('a model without a price costs what the host says, and much when it says nothing', async () => {
  const source = 'return is_ok(try { llm_call("hi", nil, {provider: "ollama", model: "unheard-of", max_tokens: 100}) })'
  const readRemaining = async (requestDefaults: RequestDefaults): Promise<unknown> => {
    const { provider } = makeSlowModel({ input_tokens: 100, output_tokens: 100 })
    const runtime = createRuntime({ providers: [provider], grants: ['llm'], requestDefaults })
    const run = runtime.start(runtime.compile(source), { budgets: { llm: { usd: 1 } } })
    expect(await run.result).toMatchObject({ value: true })
    return run.budgets.remaining('llm')?.usd
  }
  expect(await readRemaining({})).toBeCloseTo(1 - (100 * 30 + 100 * 150) / 1e6)
  expect(await readRemaining({ unknownPrice: { input: 1000, output: 2000 } })).toBeCloseTo(1 - 0.3)
  expect(await readRemaining({ unknownPrice: { input: 0, output: 0 } })).toBe(1)
})

test('vectors use up budgets too', async () => {
  const { provider, seen } = makeSlowModel()
  const runtime = createRuntime({ providers: [provider], grants: ['llm'] })
  const source = `import { tool_try } from "std/tools"
let oks = parallel each range(40).to_list() { n -> is_ok(tool_try("llm.embed", {text: "0123456789", provider: "openai", model: "m"})) }
return len(oks.filter({ ok -> ok }))`
  const run = runtime.start(runtime.compile(source), { budgets: { llm: { tokens: 8 } } })
  expect(await run.result).toMatchObject({ value: 2 })
  expect(seen).toHaveLength(2)
})

test('a call whose task is stopped stays spent', async () => {
  const { provider } = makeSlowModel()
  const never: Provider = {
    kinds: ['llm.call'],
    perform: (_effect, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(answered(null)), { once: true })),
  }
  const runtime = createRuntime({ providers: [provider, never], grants: ['llm'] })
  const source = `try { deadline 5ms { llm_call("hi", nil, {provider: "openai", model: "gpt-4o", max_tokens: 50}) } } catch (e) { nil }\nreturn 1`
  const run = runtime.start(runtime.compile(source), { budgets: { llm: { tokens: 60 } } })
  expect(await run.result).toMatchObject({ status: 'done' })
  expect(run.budgets.remaining('llm')).toEqual({ tokens: 5 })
})

test.each<[string, object, number]>([
  ['a call that would pass it is not made', { input_tokens: 10, output_tokens: 10 }, 0],
  ['the answer gets what is left', { input_tokens: 10, output_tokens: 10 }, 600],
  ['usage that is not told counts as all', {}, 600],
  ['usage below nothing counts as all', { input_tokens: -9, output_tokens: -9 }, 600],
])('token_budget of a loop: %s', async (_what, usage, budget) => {
  const { provider, seen } = makeSlowModel(usage)
  const runtime = createRuntime({ providers: [provider], grants: ['llm'] })
  const source = `return agent_loop("hi", nil, {provider: "openai", model: "gpt-4o", max_tokens: 5000, max_iterations: 3, token_budget: ${budget || 5}, persistent: true}).status`
  const result = await runtime.start(runtime.compile(source)).result
  expect(result).toMatchObject({ status: 'done' })
  if (budget === 0) {
    expect(seen).toEqual([])
    expect(result).toMatchObject({ value: 'budget_exhausted' })
    return
  }
  expect(seen.length).toBeGreaterThan(0)
  for (const args of seen) expect(Number(args['max_tokens'])).toBeLessThanOrEqual(budget)
  if (!('input_tokens' in usage) || usage.input_tokens === -9) expect(seen).toHaveLength(1)
})

// Budgets of a run: what is left of them, over parallel branches and over a restore; and results that are kept, which use none up.

import { expect, test } from 'vitest'
import { createRuntime } from '../runtime.js'
import { defineTool } from '../tools/define.js'
import { MemoryTrace } from '../trace/index.js'

function counted(more: object = {}) {
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

test('calls are counted, and what is left is told', async () => {
  const { tool, seen } = counted()
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
  const { tool, seen } = counted()
  const runtime = createRuntime({ tools: [tool] })
  const source = `${HEAD}let oks = parallel each range(20).to_list() { n -> ask(n) }\nreturn len(oks.filter({ ok -> ok }))`
  const run = runtime.start(runtime.compile(source), { budgets: { 'shop.price': { calls: 7 } } })
  expect(await run.result).toMatchObject({ status: 'done', value: 7 })
  expect(seen).toHaveLength(7)
})

test('it survives a restore', async () => {
  const first = counted()
  const runtime = createRuntime({ tools: [first.tool] })
  const budgets = { shop: { calls: 3 } }
  const run = runtime.start(runtime.compile(`${HEAD}let a = [ask(1), ask(2)]\nsleep(5ms)\nreturn a + [ask(3), ask(4)]`), {
    budgets,
  })
  const bytes = await run.snapshot()
  await run.result
  const second = counted()
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
  const { tool, seen } = counted({ cacheable: true })
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

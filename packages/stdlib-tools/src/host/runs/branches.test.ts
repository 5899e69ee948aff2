// Keys by which services recognise a repeated call: two resumes of one snapshot never share one for different calls. And calls whose
// process ended in the middle: what the tool itself says of them, and runs that the host leaves for later.

import { expect, test } from 'vitest'
import { DefinitionError, defineTool } from '../../tools/host-tools/define.js'
import type { Recovery } from '../../tools/host-tools/define.js'
import { decodeEntry, encodeEntry } from '../journal.js'
import type { JournalEntry } from '../journal.js'
import type { Run } from '../run.js'
import { createRuntime } from '../runtime.js'
import { memoryRunStore } from './store.js'

const SOURCE = `
import { tool_call } from "std/tools"
tool_call("pay", {n: 1})
tool_call("pay", {n: 2})
tool_call("pay", {n: 3})`

function shop(seen: string[]) {
  return defineTool({
    name: 'pay',
    execute: async (args, { idempotencyKey }) => {
      seen.push(`${JSON.stringify(args)} ${idempotencyKey}`)
      await new Promise((resolve) => setImmediate(resolve))
    },
  })
}

test('each resume of a snapshot has keys of its own, also for resumes of resumes; what was under way keeps its key', async () => {
  const seen: string[] = []
  const runtime = createRuntime({ tools: [shop(seen)] })
  const run = runtime.start(runtime.compile(SOURCE), { runId: 'r' })
  const bytes = await run.snapshot()
  expect(await run.result).toMatchObject({ status: 'done' })
  expect(seen).toEqual(['{"n":1} r:call_1', '{"n":2} r:call_2', '{"n":3} r:call_3'])
  seen.length = 0
  const second = runtime.resume(bytes)
  const again = await second.snapshot()
  for (const each of [second, runtime.resume(bytes), runtime.resume(again)])
    expect(await each.result).toMatchObject({ status: 'done' })
  const keys = seen.map((each) => each.split(' ')[1]!)
  expect(keys.filter((key) => key === 'r:call_1')).toHaveLength(3)
  const others = keys.filter((key) => key !== 'r:call_1')
  for (const key of others) expect(key).toMatch(/^r:[0-9a-f]{16}:call_[23]$/)
  expect(new Set(others).size).toBe(6)
})

test('what was under way keeps its key', async () => {
  const seen: string[] = []
  const pay = defineTool({
    name: 'pay',
    execute: (_args, { idempotencyKey, signal }) => {
      seen.push(idempotencyKey)
      return seen.length > 1 ? null : new Promise((resolve) => signal.addEventListener('abort', () => resolve(null)))
    },
  })
  const runtime = createRuntime({ tools: [pay] })
  const run = runtime.start(
    runtime.compile('import { tool_call } from "std/tools"\ntool_call("pay", {})\ntool_call("pay", {})'),
    {
      runId: 'r',
    },
  )
  while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve))
  const bytes = await run.snapshot()
  run.cancel()
  await run.result
  await runtime.resume(bytes).result
  expect(seen).toEqual(['r:call_1', 'r:call_1', expect.stringMatching(/^r:[0-9a-f]{16}:call_2$/)])
})

test('a replay of a resumed run makes the same calls', async () => {
  const entries: JournalEntry[] = []
  const runtime = createRuntime({ tools: [shop([])] })
  const module = runtime.compile(SOURCE)
  const run = runtime.start(module)
  const bytes = await run.snapshot()
  await run.result
  await runtime.resume(bytes, { journal: { append: (entry) => void entries.push(entry) } }).result
  const [head] = entries
  expect(head).toMatchObject({ type: 'run', branches: [{ name: expect.stringMatching(/^[0-9a-f]{16}$/) }] })
  expect(decodeEntry(encodeEntry(head!))).toEqual(head)
})

/** A run whose process ends while its only call is under way. */
function makeInterrupted(recovery: Recovery) {
  const seen: string[] = []
  const tool = defineTool({
    name: 'pay',
    recovery,
    execute: (_args, { idempotencyKey, signal }) => {
      seen.push(idempotencyKey)
      return seen.length > 1 ? 'made now' : new Promise((resolve) => signal.addEventListener('abort', () => resolve(null)))
    },
  })
  const store = memoryRunStore()
  let nowMs = 1000
  const clock = { virtual: false, now: () => nowMs, until: () => new Promise<void>(() => {}) }
  const open = () => createRuntime({ tools: [tool], runs: { store, leaseMs: 100 }, clock })
  const begin = async (): Promise<void> => {
    const runtime = open()
    const source = 'import { tool_call } from "std/tools"\nreturn try { tool_call("pay", {n: 7}) } catch (e) { e.code }'
    // What its journal says after this does not count: the store is read as it is now.
    void runtime.start(runtime.compile(source), { runId: 'r' })
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve))
    nowMs += 1000
  }
  return { seen, store, open, begin }
}

test.each<[string, () => unknown, unknown, number]>([
  ['done', () => ({ done: { id: 9 } }), { id: 9 }, 1],
  ['done with nothing', () => ({ done: null }), null, 1],
  ['not done', () => Promise.resolve('not_done'), 'made now', 2],
  ['unknown', () => 'unknown', 'unknown_outcome', 1],
  ['something else', () => true, 'unknown_outcome', 1],
  ['nothing', () => undefined, 'unknown_outcome', 1],
  [
    'an error',
    () => {
      throw new Error('the bank is closed')
    },
    'unknown_outcome',
    1,
  ],
])('a tool that verifies: %s', async (_name, verify, value, calls) => {
  const asked: unknown[] = []
  const { seen, open, begin } = makeInterrupted({
    verify: ((key: string, args: unknown) => {
      asked.push([key, args])
      return verify()
    }) as never,
  })
  await begin()
  const [found] = open().recover()
  expect(found).toMatchObject({ kind: 'resumed' })
  expect(await (found as { run: Run }).run.result).toMatchObject({ status: 'done', value })
  expect(asked).toEqual([['r:call_1', { n: 7 }]])
  expect(seen).toHaveLength(calls)
})

test('a run that the host holds can be gone on with later, by anybody', async () => {
  const { seen, open, begin, store } = makeInterrupted('once')
  await begin()
  expect(open().recover({ onUnknownOutcome: () => 'hold' })).toMatchObject([
    { kind: 'held', runId: 'r', call: { name: 'tool.call pay', idempotencyKey: 'r:call_1' } },
  ])
  expect(store.list()).toMatchObject([{ runId: 'r', owner: null, ended: null }])
  const [found] = open().recover({ onUnknownOutcome: () => ({ done: 'paid' }) })
  expect(await (found as { run: Run }).run.result).toMatchObject({ status: 'done', value: 'paid' })
  expect(seen).toHaveLength(1)
})

test('an invalid value is not a decision', async () => {
  const { open, begin } = makeInterrupted('once')
  await begin()
  const [found] = open().recover({ onUnknownOutcome: () => 'yes' as never })
  expect(found).toMatchObject({ kind: 'unavailable', runId: 'r' })
})

test.each([['always'], [{ verify: true }], [{}], [null], [true]])('a recovery %j is refused', (recovery) => {
  expect(() => defineTool({ name: 'pay', recovery: recovery as never, execute: () => null })).toThrow(DefinitionError)
})

// Guarantees for a run whose process dies: it is stored once it has started, waits continue, and nothing is given up that
// another host could still continue with.

import { expect, test } from 'vitest'
import { VirtualClock } from '../../library/time/host-clock.js'
import { defineTool, pending } from '../../tools/host-tools/define.js'
import type { Pending, Tool } from '../../tools/host-tools/define.js'
import { decodeEntry } from '../journal.js'
import { createRuntime } from '../runtime.js'
import type { RuntimeOptions } from '../runtime-options.js'
import type { Runtime } from '../runtime.js'
import { awaitNextTurn } from '../../library/time/host-clock.js'
import { memoryRunStore } from './store.js'
import type { RunStore } from './store.js'

const LEASE = 1000

function open(store: RunStore, clock: VirtualClock, owner: string, options: RuntimeOptions): Runtime {
  return createRuntime({ clock, runs: { store, owner, leaseMs: LEASE }, ...options })
}

async function settle(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await awaitNextTurn()
}

test('a run is in the store when start returns: a process that dies then loses nothing', async () => {
  const store = memoryRunStore()
  const clock = new VirtualClock()
  const first = open(store, clock, 'a', {})
  first.start(first.compile('return 7'), { runId: 'r' })
  const types = store.read('r').map((line) => decodeEntry(line).type)
  expect(types).toEqual(['run', 'start'])

  clock.advance(2 * LEASE)
  const [found] = open(store, clock, 'b', {}).recover()
  // Nothing was left to do but to write its end down.
  expect(found).toEqual({ kind: 'ended', runId: 'r', status: 'done' })
})

const ASK = `
import { ask } from "host/desk"
return try { ask({}) } catch (e) { e.code }`

test.each(['once', 'idempotent'] as const)(
  'a %s tool that answered pending is still pending after a restart, and not asked again',
  async (recovery) => {
    const store = memoryRunStore()
    const clock = new VirtualClock()
    let asked = 0
    const ask = (): Tool =>
      defineTool({
        name: 'desk.ask',
        recovery,
        execute: (): Pending => {
          asked++
          return pending('token-7')
        },
      })
    const first = open(store, clock, 'a', { tools: [ask()] })
    first.start(first.compile(ASK), { runId: 'r' })
    await settle()
    expect(asked).toBe(1)

    clock.advance(2 * LEASE)
    const second = open(store, clock, 'b', { tools: [ask()] })
    const [found] = second.recover()
    if (found?.kind !== 'resumed') throw new Error(`not resumed: ${found?.kind}`)
    await settle()
    expect(asked).toBe(1)
    second.completeTool('token-7', { ok: 'yes' })
    expect(await found.run.result).toMatchObject({ status: 'done', value: 'yes' })
  },
)

test('a snapshot knows what a tool waits for, too', async () => {
  let asked = 0
  const ask = defineTool({
    name: 'desk.ask',
    execute: () => {
      asked++
      return pending('token-7')
    },
  })
  const first = createRuntime({ tools: [ask] })
  const run = first.start(first.compile(ASK))
  const bytes = await run.snapshot()
  run.cancel()
  const second = createRuntime({ tools: [ask] })
  const resumed = [second.resume(bytes), second.resume(bytes)]
  await settle()
  second.completeTool('token-7', { ok: 'yes' })
  for (const each of resumed) expect(await each.result).toMatchObject({ status: 'done', value: 'yes' })
  expect(asked).toBe(1)
})

test('the time limit of a tool counts from the first call, also after a restart', async () => {
  const store = memoryRunStore()
  const clock = new VirtualClock()
  let made = 0
  const slow = defineTool({
    name: 'desk.ask',
    recovery: 'idempotent',
    timeoutMs: 5000,
    execute: () => {
      made++
      return new Promise(() => {})
    },
  })
  const first = open(store, clock, 'a', { tools: [slow] })
  first.start(first.compile(ASK), { runId: 'r' })
  await settle()
  clock.advance(6000)
  const [found] = open(store, clock, 'b', { tools: [slow] }).recover()
  expect(found?.kind === 'resumed' && (await found.run.result)).toMatchObject({ status: 'done', value: 'timeout' })
  expect(made).toBe(1)
})

test('a host without the tool leaves the run to one that has it', async () => {
  const store = memoryRunStore()
  const clock = new VirtualClock()
  const tool = (execute: () => unknown): Tool => defineTool({ name: 'desk.ask', recovery: 'idempotent', execute })
  const first = open(store, clock, 'a', { tools: [tool(() => new Promise(() => {}))] })
  first.start(first.compile(ASK), { runId: 'imports' })
  first.start(first.compile('import { tool_call } from "std/tools"\nreturn tool_call("desk.ask", {})'), { runId: 'names' })
  await settle()
  clock.advance(2 * LEASE)
  const found = open(store, clock, 'b', {}).recover()
  expect(found.map(({ runId, kind }) => [runId, kind])).toEqual([
    ['imports', 'failed'],
    ['names', 'failed'],
  ])
  // Given back immediately: no worker has to wait for the end of a lease.
  const third = open(store, clock, 'c', { tools: [tool(() => 'yes')] }).recover()
  for (const each of third)
    expect(each.kind === 'resumed' && (await each.run.result)).toMatchObject({ status: 'done', value: 'yes' })
  expect(third).toHaveLength(2)
})

test('a run whose library went another way is kept for a host whose library does not', async () => {
  const store = memoryRunStore()
  const clock = new VirtualClock()
  const source = 'import { steps } from "std/own"\nreturn steps()'
  const ask = (execute: () => unknown): Tool => defineTool({ name: 'desk.ask', recovery: 'idempotent', execute })
  const library = (n: number): string =>
    `import { ask } from "host/desk"\n\npub fn steps() {\n  ask({n: ${n}})\n  return ask({n: 9})\n}\n`
  let calls = 0
  const first = open(store, clock, 'a', {
    std: { own: library(1) },
    tools: [ask(() => (++calls > 1 ? new Promise(() => {}) : Promise.resolve(1)))],
  })
  first.start(first.compile(source), { runId: 'r' })
  await settle()
  clock.advance(2 * LEASE)
  const [bad] = open(store, clock, 'b', { std: { own: library(2) }, tools: [ask(() => 1)] }).recover()
  expect(bad).toMatchObject({ kind: 'failed', reason: expect.stringContaining('desk.ask') })
  expect(store.list()).toMatchObject([{ runId: 'r', ended: null }])
  const [good] = open(store, clock, 'c', { std: { own: library(1) }, tools: [ask(() => 'kept')] }).recover()
  expect(good?.kind === 'resumed' && (await good.run.result)).toMatchObject({ status: 'done', value: 'kept' })
})

test('a snapshot says when the run began by the clock of its record, and so does one of its replay', async () => {
  const clock = new VirtualClock(1_000_000)
  const ask = defineTool({ name: 'desk.ask', execute: () => pending('token-7') })
  const snapshots: Uint8Array[] = []
  for (let made = 0; made < 2; made++) {
    const runtime = createRuntime({ tools: [ask], clock })
    const run = runtime.start(runtime.compile(ASK), { runId: 'r' })
    snapshots.push(await run.snapshot())
    run.cancel()
  }
  expect(snapshots[0]).toEqual(snapshots[1])
})

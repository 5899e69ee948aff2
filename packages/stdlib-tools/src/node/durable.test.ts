// Durable runs on the embedded store: what is kept when, what a crash at any commit does, and what becomes of runs that cannot continue.

import { describe, expect, test } from 'vitest'
import { awaitNextTurn } from '../library/time/host-clock.js'
import { WorkerFenced } from '../host/durable/store.js'
import { defineTool, pending } from '../tools/host-tools/define.js'
import type { Tool } from '../tools/host-tools/define.js'
import { LEASE_MS, makeMortal, openWorld } from '../test-support/durable-world.js'

interface Ledger {
  readonly made: string[]
  readonly tools: () => readonly Tool[]
}

/** Tools that log their calls outside the process, where a crash does not undo it. */
function openLedger(): Ledger {
  const made: string[] = []
  const note = (name: string, args: unknown, key: string): unknown => {
    made.push(`${name} ${key}`)
    return args
  }
  const turn = async <T>(value: T): Promise<T> => {
    await awaitNextTurn()
    return value
  }
  return {
    made,
    tools: () => [
      defineTool({
        name: 'w.look',
        sideEffect: 'read_only',
        execute: (args, { idempotencyKey }) => turn(note('look', args, idempotencyKey)),
      }),
      defineTool({
        name: 'w.step',
        recovery: 'idempotent',
        execute: (args, { idempotencyKey }) => turn(note('step', args, idempotencyKey)),
      }),
      defineTool({
        name: 'w.charge',
        recovery: 'once',
        execute: (args, { idempotencyKey }) => turn(note('charge', args, idempotencyKey)),
      }),
      defineTool({
        name: 'w.ask',
        recovery: 'idempotent',
        execute: (_, { idempotencyKey }) => {
          made.push(`ask ${idempotencyKey}`)
          return pending('approval')
        },
      }),
      defineTool({
        name: 'w.outer',
        recovery: 'idempotent',
        execute: async (_, { tools }) => tools.call('w.charge', { cents: 7 }),
      }),
    ],
  }
}

const ORDER = `
import { look, step, charge, ask, outer } from "host/w"
var seen = []
for i in range(0, 3) { seen = seen.push(step({n: i}).n) }
let receipt = try { charge({cents: 350}).cents } catch (e) { e.code }
look({n: 1})
sleep(200ms)
println("asked")
let answer = ask({order: 7})
let both = parallel settle [5, 6, 7] { n -> step({n: n}).n }
let second = try { charge({cents: 20}).cents } catch (e) { e.code }
let nested = try { outer({}).cents } catch (e) { e.code }
sleep(3d)
step({n: 8})
return {receipt: receipt, answer: answer, second: second, nested: nested, seen: seen}`

test('a run is kept when submit resolves, waits for days without memory, and continues where it waited', async () => {
  const world = await openWorld()
  const ledger = openLedger()
  const { runtime, worker } = world.open({ tools: ledger.tools() })
  const begun = world.clock.now()
  expect(await worker.submit(runtime.compile(ORDER), { runId: 'order-7' })).toEqual({ runId: 'order-7', isNew: true })
  expect(await worker.submit(runtime.compile(ORDER), { runId: 'order-7' })).toEqual({ runId: 'order-7', isNew: false })
  await worker.idle()
  expect(await world.store.get('order-7')).toMatchObject({ state: 'parked', waitsFor: ['approval'], worker: null })
  expect(worker.size).toBe(0)
  expect(await worker.signal('order-7', 'approval', { ok: 'yes' })).toBe('kept')
  expect(await worker.signal('order-7', 'approval', { ok: 'no' })).toBe('known')
  await worker.idle()
  expect(world.ended).toMatchObject([
    { status: 'done', output: 'asked\n', value: { answer: 'yes', receipt: 350, second: 20, nested: 7, seen: [0, 1, 2] } },
  ])
  expect(world.clock.now() - begun).toBeGreaterThanOrEqual(3 * 86_400_000)
  expect(await worker.signal('order-7', 'approval', { ok: 'late' })).toBe('gone')
  expect(world.errors).toEqual([])
  await worker.stop()
})

test('killed in front of each commit: no call is made twice that must not be, no effect is lost, and every run ends', async () => {
  const calm = await openWorld()
  const calmLedger = openLedger()
  const first = calm.open({ tools: calmLedger.tools() })
  await first.worker.submit(first.runtime.compile(ORDER), { runId: 'r' })
  await first.worker.signal('r', 'approval', { ok: 'yes' })
  await first.worker.idle()
  await first.worker.stop()
  expect(calm.ended).toHaveLength(1)
  const steps = new Set(calmLedger.made.filter((each) => !each.startsWith('look')))

  const most = calm.store.stats().steps
  for (let at = 1; at <= most; at++) {
    const world = await openWorld()
    const ledger = openLedger()
    const mortal = makeMortal(world.store, at)
    const doomed = world.open({ tools: ledger.tools() }, { store: mortal.store })
    await doomed.worker.submit(doomed.runtime.compile(ORDER), { runId: 'r' })
    await world.store.signal('r', 'approval', '{"ok":"yes"}', 0)
    await Promise.race([mortal.death, doomed.worker.idle()])
    for (let turn = 0; turn < 5; turn++) await awaitNextTurn()
    await doomed.worker.stop()
    world.clock.advance(2 * LEASE_MS)
    const next = world.open({ tools: ledger.tools() })
    await next.worker.idle()
    await next.worker.stop()
    const ends = world.ended.filter(({ runId }) => runId === 'r')
    expect(
      ends.map(({ status }) => status),
      `killed at ${at}: ${JSON.stringify(world.stuck)}`,
    ).toEqual(['done'])
    const charges = ledger.made.filter((each) => each.startsWith('charge'))
    expect(new Set(charges).size, `killed at ${at}: ${charges}`).toBe(charges.length)
    const { receipt, second, nested } = ends[0]!.value as { receipt: unknown; second: unknown; nested: unknown }
    for (const each of [receipt, second, nested]) expect([350, 20, 7, 'unknown_outcome']).toContain(each)
    // Everything reported to the script did happen, and with the same keys.
    for (const step of steps) if (!step.startsWith('charge')) expect(ledger.made, `killed at ${at}`).toContain(step)
    expect(ends[0]!.output).toBe('asked\n')
  }
}, 120_000)

test('a hundred reads and a write are two commits', async () => {
  const world = await openWorld()
  const ledger = openLedger()
  const source = 'import { look, step } from "host/w"\nfor i in range(0, 100) { look({n: i}) }\nreturn step({n: 1}).n'
  let commits = 0
  const join = world.store.join.bind(world.store)
  Object.assign(world.store, {
    join: async (...args: Parameters<typeof join>) => {
      const made = await join(...args)
      return { ...made, commit: (changes: Parameters<typeof made.commit>[0]) => (commits++, made.commit(changes)) }
    },
  })
  const { runtime, worker } = world.open({ tools: ledger.tools() })
  await worker.submit(runtime.compile(source), { runId: 'r' })
  await worker.idle()
  expect(world.ended).toMatchObject([{ status: 'done', value: 1 }])
  expect(commits).toBe(2)
  await worker.stop()
})

describe('runs that cannot continue are kept', () => {
  const ASK = 'import { ask } from "host/w"\nlet a = ask({})\nreturn a'

  test('a run with a different program is stuck, listed, and continues when it is retried with the right one', async () => {
    const world = await openWorld()
    const source = 'import { steps } from "std/own"\nreturn steps()'
    const library = (n: number): string =>
      `import { ask } from "host/w"\n\npub fn steps() {\n  var s = ${n}\n  let a = ask({})\n  return "\${a} \${s}"\n}\n`
    const ledger = openLedger()
    const good = { std: { own: library(1) }, tools: ledger.tools() }
    const first = world.open(good)
    await first.worker.submit(first.runtime.compile(source), { runId: 'r' })
    await first.worker.idle()
    await first.worker.stop()

    const bad = world.open({ ...good, std: { own: 'pub fn steps() {\n  return 1 + 2\n}\n' } })
    await bad.worker.signal('r', 'approval', { ok: 'yes' })
    await bad.worker.idle()
    await bad.worker.stop()
    expect(world.stuck).toHaveLength(1)
    expect(await world.store.list({ state: 'stuck', most: 10 })).toMatchObject([{ runId: 'r', status: expect.any(String) }])

    const back = world.open(good)
    await back.worker.idle()
    expect(await world.store.get('r')).toMatchObject({ state: 'stuck' })
    expect(await world.store.retry('r', world.clock.now())).toBe(true)
    expect(await world.store.retry('r', world.clock.now())).toBe(false)
    await back.worker.idle()
    expect(world.ended).toMatchObject([{ status: 'done', value: 'yes 1' }])
    await back.worker.stop()
  })

  test('a worker without the tool is not given the run, and the list names the missing tool', async () => {
    const world = await openWorld()
    const ledger = openLedger()
    const first = world.open({ tools: ledger.tools() })
    await first.worker.submit(first.runtime.compile(ASK), { runId: 'imports' })
    await first.worker.submit(first.runtime.compile('import { tool_call } from "std/tools"\nreturn tool_call("w.ask", {})'), {
      runId: 'names',
    })
    await first.worker.idle()
    await first.worker.stop()
    const poor = world.open({})
    for (const runId of ['imports', 'names']) await world.store.signal(runId, 'approval', '{"ok":1}', 0)
    await poor.worker.idle()
    expect(world.ended).toEqual([])
    expect(await world.store.list({ most: 10 })).toMatchObject([
      { runId: 'imports', state: 'ready', tools: ['w.ask'] },
      { runId: 'names', state: 'ready', tools: ['w.ask'] },
    ])
    await poor.worker.stop()
    const rich = world.open({ tools: ledger.tools() })
    await rich.worker.idle()
    expect(Object.fromEntries(world.ended.map(({ runId, value }) => [runId, value]))).toEqual({ imports: 1, names: 1 })
    await rich.worker.stop()
  })

  test('resuming narrows: a run that was submitted with less has no more on a worker that has it', async () => {
    const world = await openWorld()
    const ledger = openLedger()
    const grants = { tools: ledger.tools(), defaultDeny: true, toolGrants: { 'w.ask': {} } } as const
    const first = world.open(grants)
    const source = 'import { ask, step } from "host/w"\nask({})\nreturn try { step({n: 1}).n } catch (e) { e.code }'
    await first.worker.submit(first.runtime.compile(source), { runId: 'r' })
    await first.worker.idle()
    await first.worker.stop()
    const wide = world.open({ tools: ledger.tools() })
    await wide.worker.signal('r', 'approval', { ok: 'yes' })
    await wide.worker.idle()
    expect(ledger.made.filter((each) => each.startsWith('step'))).toEqual([])
    expect(world.ended[0]?.value).not.toBe(1)
    await wide.worker.stop()
  })
})

test('a worker that slept past its lease cannot change anything, and its run continues elsewhere', async () => {
  const world = await openWorld()
  const worker = await world.store.join({ name: 'sleepy', leaseMs: LEASE_MS, tools: null }, world.clock.now())
  const ledger = openLedger()
  const other = world.open({ tools: ledger.tools() })
  await other.worker.stop()
  await other.worker.submit(other.runtime.compile('import { step } from "host/w"\nreturn step({n: 1}).n'), { runId: 'r' })
  const taken = await worker.take({ now: world.clock.now(), most: 10, busy: [] })
  expect(taken.runs.map(({ runId }) => runId)).toEqual(['r'])
  world.clock.advance(2 * LEASE_MS)
  other.worker.start()
  await other.worker.idle()
  expect(world.ended).toMatchObject([{ runId: 'r', value: 1 }])
  await expect(worker.commit([{ do: 'append', runId: 'r', lines: ['{}'] }])).rejects.toThrow(WorkerFenced)
  expect(await worker.heartbeat(world.clock.now())).toBe(false)
  await other.worker.stop()
})

test('a run is cancelled wherever it is: parked, and in the memory of a worker', async () => {
  const world = await openWorld()
  const never = defineTool({ name: 'w.never', recovery: 'idempotent', execute: () => new Promise(() => {}) })
  const ledger = openLedger()
  const { runtime, worker } = world.open({ tools: [...ledger.tools(), never] })
  await worker.submit(runtime.compile('import { ask } from "host/w"\nreturn ask({})'), { runId: 'parked' })
  await worker.idle()
  await worker.submit(runtime.compile('import { never } from "host/w"\nreturn never({})'), { runId: 'active' })
  while (worker.size === 0) await awaitNextTurn()
  for (const runId of ['parked', 'active']) expect(await world.store.cancel(runId, 'changed my mind', 0)).toBe(true)
  await worker.idle()
  for (const runId of ['parked', 'active'])
    expect(await world.store.get(runId)).toMatchObject({ state: 'ended', status: 'cancelled' })
  expect(await world.store.cancel('parked', 'again', 0)).toBe(false)
  await worker.stop()
})

test('the time limit of a tool that waits for an answer holds while the run is parked', async () => {
  const world = await openWorld()
  const ask = defineTool({ name: 'w.ask', timeoutMs: 60_000, execute: () => pending('approval') })
  const { runtime, worker } = world.open({ tools: [ask] })
  await worker.submit(runtime.compile('import { ask } from "host/w"\nreturn try { ask({}) } catch (e) { e.code }'), {
    runId: 'r',
  })
  const begun = world.clock.now()
  await worker.idle()
  expect(world.ended).toMatchObject([{ status: 'done', value: 'timeout' }])
  expect(world.clock.now() - begun).toBe(60_000)
  await worker.stop()
})

test('an answer that is none fails the call, and a fork goes its own way with keys of its own', async () => {
  const world = await openWorld()
  const ledger = openLedger()
  const { runtime, worker } = world.open({ tools: ledger.tools() })
  const source = 'import { ask, step } from "host/w"\nlet a = try { ask({}) } catch (e) { e.code }\nstep({n: 1})\nreturn a'
  await worker.submit(runtime.compile(source), { runId: 'r' })
  await worker.idle()
  expect(await worker.fork('r', 'copy')).toBe('forked')
  expect(await worker.fork('r', 'copy')).toBe('known')
  await world.store.signal('r', 'approval', 'no JSON', 0)
  await worker.signal('copy', 'approval', { ok: 'yes' })
  await worker.idle()
  expect(Object.fromEntries(world.ended.map(({ runId, value }) => [runId, value]))).toEqual({
    r: 'execution_failed',
    copy: 'yes',
  })
  expect(new Set(ledger.made.filter((each) => each.startsWith('step'))).size).toBe(2)
  await worker.stop()
})

// std/durable in runs that a store keeps: signals and queries from outside, runs that a run starts, runs that begin again, undoing; killed in
// front of each commit.

import { describe, expect, test } from 'vitest'
import { awaitNextTurn } from '../library/time/host-clock.js'
import { defineTool } from '../tools/host-tools/define.js'
import type { Tool } from '../tools/host-tools/define.js'
import { LEASE_MS, makeMortal, openWorld } from '../test-support/durable-world.js'
import type { World } from '../test-support/durable-world.js'

const GRANTS = { grants: ['*' as const] }

function findEnd(world: World, runId: string): unknown {
  const ends = world.ended.filter((each) => each.runId === runId)
  expect(ends, runId).toHaveLength(1)
  return ends[0]
}

test('signals reach a parked run in order, and a query does not wake it', async () => {
  const world = await openWorld()
  const { runtime, worker } = world.open(GRANTS)
  const source = `
import { await_signal, publish } from "std/durable"
publish("stage", {name: "waits", n: 1})
let first = await_signal("item")
let second = await_signal("item")
return [first, second]`
  await worker.submit(runtime.compile(source), { runId: 'r' })
  await worker.idle()
  expect(await world.store.get('r')).toMatchObject({ state: 'parked', waitsFor: ['signal:item#1'] })
  expect(await worker.query('r', 'stage')).toEqual({ name: 'waits', n: 1 })
  expect(await worker.query('r', 'other')).toBeUndefined()
  expect(worker.size).toBe(0)
  expect(await worker.send('r', 'item', 'a')).toBe('kept')
  expect(await worker.send('r', 'item', { b: 2 })).toBe('kept')
  await worker.idle()
  expect(findEnd(world, 'r')).toMatchObject({ status: 'done', value: ['a', { b: 2 }] })
  expect(await worker.send('r', 'item', 'late')).toBe('gone')
  await worker.stop()
})

const FAMILY = `
import { await_run, await_signal, emit_process_event, publish, query, run_id, send_signal, start_run } from "std/durable"
import { runtime_pipeline_input } from "std/runtime"
import { note } from "host/w"
pipeline main(task) {
  let child = start_run("work", {n: 20}, {id: "child"})
  let greedy = start_run("fail", nil, {id: "greedy"})
  send_signal(child, "go", 1)
  send_signal(child, "go", 2)
  emit_process_event("started", {run: child.run})
  let value = await_run(child)
  let said = query(child, "stage")
  let failure = try { await_run(greedy) } catch (e) { [e.run, e.status] }
  emit_process_event("ended")
  return {value: value, failure: failure, said: said}
}
pipeline work(task) {
  note({text: "work"})
  publish("stage", "at work")
  let first = await_signal("go")
  let second = await_signal("go")
  return runtime_pipeline_input().n + first + second
}
pipeline fail(task) {
  throw "cannot"
}`

function openNotes(): { readonly made: string[]; readonly tools: () => readonly Tool[] } {
  const made: string[] = []
  return {
    made,
    tools: () => [
      defineTool({
        name: 'w.note',
        recovery: 'idempotent',
        execute: async (args, { idempotencyKey }) => {
          await awaitNextTurn()
          made.push(`${(args as { readonly text: string }).text} ${idempotencyKey}`)
          return null
        },
      }),
    ],
  }
}

const FAMILY_END = { value: { value: 23, failure: ['greedy', 'failed'], said: 'at work' } }

test('a run starts others, signals and asks them, and has their ends', async () => {
  const world = await openWorld()
  const notes = openNotes()
  const { runtime, worker } = world.open({ ...GRANTS, tools: notes.tools() })
  await worker.submit(runtime.compile(FAMILY, { pipeline: 'main' }), { runId: 'r', tenant: 'acme' })
  await worker.idle()
  expect(world.stuck).toEqual([])
  expect(findEnd(world, 'r')).toMatchObject(FAMILY_END)
  expect(await world.store.get('child')).toMatchObject({ tenant: 'acme', parent: 'r', published: { stage: 'at work' } })
  const events = (await world.store.events?.('r', { after: 0, most: 10 })) ?? []
  expect(events.map(({ sequence, type }) => [sequence, type])).toEqual([
    [1, 'started'],
    [2, 'ended'],
  ])
  await worker.stop()
})

async function killEverywhere(
  source: string,
  pipeline: string,
  signals: readonly (readonly [string, string])[],
  check: (world: World, made: readonly string[], at: number) => void,
): Promise<number> {
  const calm = await openWorld()
  const first = calm.open({ ...GRANTS, tools: openNotes().tools() })
  await first.worker.submit(first.runtime.compile(source, { pipeline }), { runId: 'r' })
  for (const [token, line] of signals) await calm.store.signal('r', token, line, 0)
  await first.worker.idle()
  await first.worker.stop()
  const most = calm.store.stats().steps
  for (let at = 1; at <= most; at++) {
    const world = await openWorld()
    const notes = openNotes()
    const mortal = makeMortal(world.store, at)
    const doomed = world.open({ ...GRANTS, tools: notes.tools() }, { store: mortal.store })
    await doomed.worker.submit(doomed.runtime.compile(source, { pipeline }), { runId: 'r' })
    for (const [token, line] of signals) await world.store.signal('r', token, line, 0)
    await Promise.race([mortal.death, doomed.worker.idle()])
    for (let turn = 0; turn < 5; turn++) await awaitNextTurn()
    await doomed.worker.stop()
    world.clock.advance(2 * LEASE_MS)
    const next = world.open({ ...GRANTS, tools: notes.tools() })
    await next.worker.idle()
    await next.worker.stop()
    expect(world.stuck, `killed at ${at}`).toEqual([])
    check(world, notes.made, at)
  }
  return most
}

test('killed in front of each commit: children run once, signals arrive once, events are numbered once', async () => {
  const places = await killEverywhere(FAMILY, 'main', [], (world, made, at) => {
    const ends = world.ended.filter(({ runId }) => runId === 'r')
    expect(ends, `killed at ${at}: ${JSON.stringify(ends)}`).toMatchObject([FAMILY_END])
    expect(world.ended.map(({ runId }) => runId).sort(), `killed at ${at}`).toEqual(['child', 'greedy', 'r'])
    expect(new Set(made).size, `killed at ${at}: ${made}`).toBe(1)
  })
  expect(places).toBeGreaterThan(10)
}, 120_000)

test('children end with their parent, unless they are abandoned', async () => {
  const world = await openWorld()
  const { runtime, worker } = world.open(GRANTS)
  const source = `
import { await_signal, cancel_run, send_signal, start_run } from "std/durable"
pipeline main(task) {
  start_run("wait", nil, {id: "kept", on_parent_end: "abandon"})
  start_run("wait", nil, {id: "ended"})
  let other = start_run("wait", nil, {id: "cancelled"})
  cancel_run(other, "not needed")
  sleep(1h)
  return try { send_signal(other, "x") } catch (e) { e.code }
}
pipeline wait(task) { return await_signal("never") }`
  await worker.submit(runtime.compile(source, { pipeline: 'main' }), { runId: 'r' })
  await worker.idle()
  expect(findEnd(world, 'r')).toMatchObject({ value: 'process_already_terminal' })
  expect(await world.store.get('kept')).toMatchObject({ state: 'parked' })
  expect(await world.store.get('ended')).toMatchObject({ state: 'ended', status: 'cancelled' })
  expect(JSON.parse((await world.store.get('cancelled'))!.result!)).toMatchObject({ error: 'not needed' })
  await worker.stop()
})

test('runs of other tenants are out of reach', async () => {
  const world = await openWorld()
  const { runtime, worker } = world.open(GRANTS)
  const source = `
import { cancel_run, query, send_signal } from "std/durable"
fn code(work) { return try { work() } catch (e) { e.code } }
return [
  code({ -> query("theirs", "x") }), code({ -> cancel_run("theirs") }), code({ -> send_signal("theirs", "x") }), code({ -> query("none", "x") }),
]`
  const theirs = runtime.compile('import { await_signal } from "std/durable"\nreturn await_signal("x")')
  await worker.submit(theirs, { runId: 'theirs', tenant: 'other' })
  await worker.submit(runtime.compile(source), { runId: 'r', tenant: 'own' })
  await worker.idle()
  expect(findEnd(world, 'r')).toMatchObject({ value: new Array(4).fill('process_not_visible') })
  expect(await world.store.get('theirs')).toMatchObject({ state: 'parked' })
  await worker.stop()
})

test('other runs are a power that the host grants', async () => {
  const world = await openWorld()
  const { runtime, worker } = world.open({ grants: [] })
  const source = `
import { start_run } from "std/durable"
pipeline main(task) { return try { start_run("other") } catch (e) { to_string(e) } }
pipeline other(task) { return 1 }`
  await worker.submit(runtime.compile(source, { pipeline: 'main' }), { runId: 'r' })
  await worker.idle()
  expect(findEnd(world, 'r')).toMatchObject({ value: expect.stringContaining('runs.op is not granted to this run') })
  await worker.stop()
})

const LOOP = `
import { await_signal, continue_as_new, emit_process_event } from "std/durable"
import { runtime_pipeline_input } from "std/runtime"
import { note } from "host/w"
let state = runtime_pipeline_input() ?? {seen: [], n: 0}
let item = await_signal("item")
note({text: "item \${item}"})
emit_process_event("seen", item)
let seen = state.seen + [item]
if len(seen) < 3 {
  continue_as_new({seen: seen, n: state.n + 1})
}
return {seen: seen, n: state.n}`

test('a run begins again with another input: nothing but its signals is kept, killed anywhere', async () => {
  const signals = [1, 2, 3].map((n) => ['signal:item', `{"ok":"i${n}"}`] as const)
  const places = await killEverywhere(LOOP, 'default', signals, (world, _, at) => {
    const ends = world.ended.filter(({ runId }) => runId === 'r')
    // Numbers of signals begin anew with the run, whose counters are gone; used ones are not delivered again.
    expect(ends, `killed at ${at}: ${JSON.stringify(ends)}`).toMatchObject([
      { status: 'done', value: { seen: ['i1', 'i2', 'i3'], n: 2 } },
    ])
  })
  expect(places).toBeGreaterThan(5)
}, 120_000)

describe('undoing', () => {
  const SAGA = `
import { await_signal, saga } from "std/durable"
import { note } from "host/w"
return saga({ on_undo ->
  on_undo({ -> note({text: "release"}) })
  note({text: "reserve"})
  on_undo({ ->
    sleep(2d)
    note({text: "refund"})
  })
  note({text: "pay"})
  return await_signal("shipped")
})`

  test('a parked run that is cancelled undoes what it did, over days, and ends as cancelled', async () => {
    const world = await openWorld()
    const notes = openNotes()
    const { runtime, worker } = world.open({ ...GRANTS, tools: notes.tools() })
    await worker.submit(runtime.compile(SAGA), { runId: 'r' })
    await worker.idle()
    expect(await world.store.get('r')).toMatchObject({ state: 'parked' })
    expect(await world.store.cancel('r', 'changed my mind', world.clock.now())).toBe(true)
    expect(await world.store.cancel('r', 'again', world.clock.now())).toBe(true)
    worker.kick()
    await worker.idle()
    expect(findEnd(world, 'r')).toMatchObject({ status: 'cancelled', error: 'changed my mind' })
    expect(notes.made.map((each) => each.split(' ')[0])).toEqual(['reserve', 'pay', 'refund', 'release'])
    await worker.stop()
  })

  test('killed in front of each commit', async () => {
    const cancel = [['bridle:cancel', 'no more']] as const
    await killEverywhere(SAGA, 'default', cancel, (world, made, at) => {
      expect(world.ended, `killed at ${at}`).toMatchObject([{ status: 'cancelled', error: 'no more' }])
      const kinds = new Set(made.map((each) => each.split(' ')[0]))
      if (kinds.has('pay')) expect(kinds, `killed at ${at}`).toContain('refund')
      if (kinds.has('reserve')) expect(kinds, `killed at ${at}`).toContain('release')
    })
  }, 120_000)
})

// What tenants and tools may use, and whose turn it is.

import { describe, expect, test } from 'vitest'
import { Pacer } from '../host/durable/quotas.js'
import { VirtualClock, awaitNextTurn } from '../library/time/host-clock.js'
import { otelRuns } from '../otel/index.js'
import { openWorld } from '../test-support/durable-world.js'
import { defineTool, pending } from '../tools/host-tools/define.js'
import { openDurableStore } from './sqlite-engine.js'

const WAIT = 'import { ask } from "host/tools"\nreturn ask({})'
const ask = defineTool({ name: 'ask', recovery: 'idempotent', execute: () => pending('answer') })

async function refusal(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'kept',
    ({ code, details, retryAfterMs }: { code: string; details: object; retryAfterMs: number | null }) => ({
      code,
      ...details,
      retryAfterMs,
    }),
  )
}

describe('of a tenant', () => {
  test('runs that wait, and bytes: further submissions are refused, those of others are not', async () => {
    const world = await openWorld()
    const { runtime, worker } = world.open({ tools: [ask] })
    await world.store.setQuota!('a', { parked: 2 })
    await world.store.setQuota!(null, { bytes: 1 })
    const module = runtime.compile(WAIT)
    const submit = (runId: string, tenant: string): Promise<unknown> => refusal(worker.submit(module, { runId, tenant }))
    for (const runId of ['a1', 'a2', 'b1']) {
      expect(await submit(runId, runId[0]!)).toBe('kept')
      await worker.idle()
    }
    expect(await submit('a3', 'a')).toEqual({
      code: 'quota_exceeded',
      tenant: 'a',
      quota: 'parked',
      limit: 2,
      used: 2,
      retryAfterMs: null,
    })
    expect(await submit('b2', 'b')).toMatchObject({ code: 'quota_exceeded', quota: 'bytes', limit: 1 })
    // A known one is no new one.
    expect(await submit('a1', 'a')).toBe('kept')
    expect(await world.store.get('a3')).toBeNull()
    await worker.signal('a1', 'answer', { ok: 1 })
    await worker.idle()
    expect(await submit('a3', 'a')).toBe('kept')
    await world.store.setQuota!(null, null)
    expect(await submit('b2', 'b')).toBe('kept')
    await worker.stop()
  })

  test('runs at work count, too: they may wait a moment later', async () => {
    const world = await openWorld()
    const { runtime, worker } = world.open({ tools: [ask] })
    await world.store.setQuota!('a', { parked: 3 })
    const module = runtime.compile(WAIT)
    const told = await Promise.all(['1', '2', '3', '4'].map((runId) => refusal(worker.submit(module, { runId, tenant: 'a' }))))
    expect(told.filter((each) => each === 'kept')).toHaveLength(3)
    await worker.stop()
  })

  test('submissions a second', async () => {
    const world = await openWorld()
    const { runtime, worker } = world.open({ tools: [ask] })
    await worker.idle()
    await world.store.setQuota!('a', { submissionsPerSecond: 2 })
    const [run] = [runtime.prepareRun(runtime.compile(WAIT), { now: 0 })]
    const submit = (runId: string, now: number): Promise<unknown> =>
      refusal(world.store.submit([{ ...run, runId, tenant: 'a', isArchived: false }], now))
    expect([await submit('1', 1000), await submit('2', 1000)]).toEqual(['kept', 'kept'])
    expect(await submit('3', 1000)).toMatchObject({ code: 'quota_exceeded', quota: 'submissionsPerSecond', retryAfterMs: 500 })
    expect(await submit('3', 1500)).toBe('kept')
    expect(await submit('4', 1500)).toMatchObject({ code: 'quota_exceeded' })
    await worker.stop()
  })

  test('runs at work: others wait until there is room', async () => {
    const world = await openWorld()
    await world.store.setQuota!('a', { running: 2 })
    let busy = 0
    let most = 0
    const work = defineTool({
      name: 'ask',
      recovery: 'idempotent',
      execute: async () => {
        most = Math.max(most, ++busy)
        for (let turn = 0; turn < 20; turn++) await awaitNextTurn()
        busy--
        return 1
      },
    })
    const { runtime, worker } = world.open({ tools: [work] })
    const module = runtime.compile(WAIT)
    for (let n = 0; n < 6; n++) await worker.submit(module, { runId: `a${n}`, tenant: 'a' })
    await worker.idle()
    await worker.stop()
    expect([world.ended.length, most]).toEqual([6, 2])
  })

  test('calls a second wait as a timer does', async () => {
    const world = await openWorld()
    await world.store.setQuota!('a', { effectsPerSecond: 2 })
    const begun: number[] = []
    const work = defineTool({ name: 'ask', recovery: 'idempotent', execute: async () => void begun.push(world.clock.now()) })
    const { runtime, worker } = world.open({ tools: [work] })
    await worker.submit(runtime.compile('import { ask } from "host/tools"\nfor _ in range(0, 6) { ask({}) }'), {
      runId: 'r',
      tenant: 'a',
    })
    while (world.ended.length === 0) await worker.idle()
    await worker.stop()
    const [first] = begun
    expect(begun.map((at) => at - first!)).toEqual([0, 0, 500, 1000, 1500, 2000])
  })
})

describe('of a tool', () => {
  test('at once, and a second', async () => {
    const clock = new VirtualClock(0)
    const timers: (readonly [number, () => void])[] = []
    const pacer = new Pacer({
      now: () => clock.now(),
      timer: (at, fire) => (timers.push([at, fire]), () => {}),
      tools: { slow: { atOnce: 2 }, rare: { perSecond: 1 } },
    })
    expect(pacer.admit('a', {}, 'free')).toBeNull()
    const order: string[] = []
    const enter = (name: string, tool: string): Promise<() => void> =>
      pacer.admit('a', {}, tool)!.then((leave) => (order.push(name), leave))
    const leaves = await Promise.all([enter('1', 'slow'), enter('2', 'slow')])
    const third = enter('3', 'slow')
    await awaitNextTurn()
    expect(order).toEqual(['1', '2'])
    leaves[0]!()
    await third
    await enter('4', 'rare')
    void enter('5', 'rare')
    await awaitNextTurn()
    expect([order, timers.map(([at]) => at)]).toEqual([['1', '2', '3', '4'], [1000]])
  })
})

describe('whose turn it is', () => {
  test('a small tenant does not wait for the many runs of another', async () => {
    const world = await openWorld()
    const work = defineTool({ name: 'ask', recovery: 'idempotent', execute: async () => 1 })
    const runtime = world.open({ tools: [work] })
    await runtime.worker.stop()
    const module = runtime.runtime.compile(WAIT)
    const prepare = (runId: string, tenant: string) => ({
      ...runtime.runtime.prepareRun(module, { runId, now: 0 }),
      tenant,
      isArchived: false,
    })
    await world.store.submit(
      Array.from({ length: 2000 }, (_, n) => prepare(`big${n}`, 'big')),
      0,
    )
    await world.store.submit(
      Array.from({ length: 20 }, (_, n) => prepare(`small${n}`, 'small')),
      0,
    )
    const { worker } = world.open({ tools: [work] }, { capacity: 50 })
    await worker.idle()
    await worker.stop()
    expect(world.ended).toHaveLength(2020)
    expect(world.ended.findLastIndex(({ runId }) => runId.startsWith('small'))).toBeLessThan(200)
  })

  test('by weight', async () => {
    const store = await openDurableStore(':memory:')
    const world = await openWorld()
    const { runtime, worker } = world.open({ tools: [ask] })
    await worker.stop()
    const run = runtime.prepareRun(runtime.compile(WAIT), { now: 0 })
    for (const tenant of ['one', 'three'])
      await store.submit(
        Array.from({ length: 100 }, (_, n) => ({ ...run, runId: `${tenant}${n}`, tenant, isArchived: false })),
        0,
      )
    await store.setQuota!('three', { weight: 3 })
    const own = await store.join({ name: 'w', leaseMs: 1000, tools: null }, 0)
    for (const most of [1, 40]) {
      const counts = { one: 0, three: 0 }
      for (let taken = 0; taken < 40; taken += most) {
        const { runs } = await own.take({ now: 0, most, busy: [] })
        for (const { tenant } of runs) counts[tenant as 'one' | 'three']++
      }
      expect(counts, `${most} at a time`).toEqual({ one: 10, three: 30 })
    }
    await store.close()
  })
})

test('metrics', async () => {
  const seen: (readonly [string, object | undefined])[] = []
  const note = (name: string) => ({
    record: (_value: number, by?: object) => void seen.push([name, by]),
    add: (_value: number, by?: object) => void seen.push([name, by]),
  })
  const { onMetric, onCommit } = otelRuns({ createHistogram: note, createCounter: note })
  const store = await openDurableStore(':memory:', { onCommit })
  const world = await openWorld()
  const work = defineTool({ name: 'ask', execute: async () => 1 })
  const { runtime, worker } = world.open({ tools: [work] }, { store, onMetric })
  await worker.submit(runtime.compile(WAIT), { tenant: 'a' })
  await worker.idle()
  await worker.stop()
  expect(seen).toContainEqual(['bridle.runs.queue.duration', { 'bridle.tenant': 'a' }])
  expect(seen.some(([name]) => name === 'bridle.runs.commit.duration')).toBe(true)
  expect(store.stats().commitMs).toEqual({ p50: expect.any(Number), p95: expect.any(Number) })
  onMetric({ kind: 'fenced' })
  onMetric({ kind: 'unknown_outcome', tool: 't' })
  expect(seen.slice(-2)).toEqual([
    ['bridle.runs.fenced', undefined],
    ['bridle.runs.unknown_outcomes', { 'bridle.tool': 't' }],
  ])
})

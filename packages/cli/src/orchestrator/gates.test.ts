import { openEventLog } from '@bridle/stdlib-tools/node'
import type { EnterArgs } from '@bridle/stdlib-tools/node'
import { expect, test } from 'vitest'
import { FlowGates } from './gates.js'

async function makeGates(now: () => number = () => 0): Promise<FlowGates> {
  const { log } = await openEventLog({ backend: 'memory', folder: '' })
  return new FlowGates(log, now)
}

function ask(rule: string, limits: EnterArgs['limits'], dispatch: string, rank = 0): EnterArgs {
  return { gate: 'g', rule, limits, dispatch, rank, event: dispatch }
}

const never = new AbortController().signal

test('a singleton admits one, and the next when it ends', async () => {
  const gates = await makeGates()
  const enter = async (dispatch: string): Promise<boolean> => (await gates.enter(ask('singleton', {}, dispatch), never)).goes_on
  expect([await enter('a'), await enter('b'), await enter('a')]).toEqual([true, false, true])
  gates.leave({ gate: 'g', rule: 'singleton', dispatch: 'a' })
  expect(await enter('b')).toBe(true)
})

test('slots go to the lowest rank, then to the oldest', async () => {
  const gates = await makeGates()
  const order: string[] = []
  const enter = (dispatch: string, rank: number): Promise<void> =>
    gates.enter(ask('concurrency', { max: 1 }, dispatch, rank), never).then(() => {
      order.push(dispatch)
    })
  await enter('first', 5)
  const rest = [enter('late', 1), enter('low', 2), enter('later', 1)]
  for (const dispatch of ['first', 'late', 'later', 'low']) {
    gates.leave({ gate: 'g', rule: 'concurrency', dispatch })
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(rest)
  expect(order).toEqual(['first', 'late', 'later', 'low'])
})

test('a rate is counted over a sliding window', async () => {
  let now = 0
  const gates = await makeGates(() => now)
  const enter = async (): Promise<boolean> =>
    (await gates.enter(ask('rate_limit', { max: 2, period_ms: 100 }, String(now)), never)).goes_on
  expect([await enter(), await enter(), await enter()]).toEqual([true, true, false])
  now = 100
  expect([await enter(), await enter(), await enter()]).toEqual([true, true, false])
})

test('the first event of a batch continues with all that arrived before it was full', async () => {
  const gates = await makeGates()
  const limits = { size: 3, timeout_ms: 60_000 }
  const leader = gates.enter(ask('batch', limits, 'a'), never)
  const others = [await gates.enter(ask('batch', limits, 'b'), never), await gates.enter(ask('batch', limits, 'c'), never)]
  expect(others.map(({ goes_on }) => goes_on)).toEqual([false, false])
  expect(await leader).toMatchObject({ goes_on: true, batch: ['a', 'b', 'c'] })
})

test('places of a dispatch that is over are given back, also by another process', async () => {
  const { log } = await openEventLog({ backend: 'memory', folder: '' })
  const gates = new FlowGates(log, () => 0)
  await gates.enter(ask('singleton', {}, 'a'), never)
  await gates.enter(ask('concurrency', { max: 1 }, 'a'), never)
  const next = new FlowGates(log, () => 0)
  expect((await next.enter(ask('singleton', {}, 'b'), never)).goes_on).toBe(false)
  const waits = next.enter(ask('concurrency', { max: 1 }, 'b'), never)
  next.release('a')
  expect((await waits).goes_on).toBe(true)
  expect((await next.enter(ask('singleton', {}, 'b'), never)).goes_on).toBe(true)
  next.release('a')
  expect((await next.enter(ask('singleton', {}, 'c'), never)).goes_on).toBe(false)
})

// A part of the long run (run.ts): seeds that choose every kind of disruption.

import { expect, test } from 'vitest'
import { disrupt } from './disrupt.js'
import { judge } from './judge.js'
import { killSubmitters } from './submitting.js'
import { STEPS } from './world.js'
import type { LedgerLine } from './world.js'
import type { RunRow } from '@bridle/stdlib-tools'

test('30 disruptions: no unrepeatable effect happens twice, and no effect and no run is lost', { timeout: 300_000 }, async () => {
  const report = await disrupt({ disruptions: 30, seed: 3, open: 20 })
  expect(report.problems).toEqual([])
  expect(report.kills).toBeGreaterThan(20)
  expect(report.freezes).toBe(2)
  expect(report.runs).toBeGreaterThan(0)
})

test('runs confirmed to a process that is killed are stored', { timeout: 120_000 }, async () => {
  const { missing, kills } = await killSubmitters({ submits: 300, seed: 1 })
  expect(missing).toEqual([])
  expect(kills).toBeGreaterThan(0)
})

const value = { answer: 'yes', receipt: 350, second: 20, nested: 7, log: [0, 1, 2, 3], settled: 3 }
const row = (given: object, state = 'ended'): RunRow =>
  ({ state, status: 'done', result: JSON.stringify({ status: 'done', error: null, value: { ...value, ...given } }) }) as RunRow
const line = (tool: LedgerLine['tool'], n: number, key = `${tool}-${n}`): LedgerLine => ({ tool, runId: 'r', key, n })
const whole = [...STEPS.map((n) => line('step', n)), ...[350, 20, 7].map((n) => line('charge', n))]

test.each([
  ['nothing of it', row({}), whole, {}],
  ['a step that nobody made', row({}), whole.slice(1), { lostEffects: 1 }],
  ['a call that was told and not made', row({}), whole.slice(0, -1), { lostEffects: 1 }],
  ['a call that must be made once, made under two keys', row({}), [...whole, line('charge', 20, 'other')], { onceRepeated: 1 }],
  [
    'a call whose end nobody knows, made twice',
    row({ second: 'unknown_outcome' }),
    [...whole, line('charge', 20)],
    { onceRepeated: 1, unknown: 1 },
  ],
  ['a call whose end nobody knows', row({ second: 'unknown_outcome' }), whole, { unknown: 1 }],
  ['a wrong value', row({ nested: 8 }), whole, { wrongRuns: 1 }],
  ['a run that waits for ever', row({}, 'parked'), whole, { lostRuns: 1 }],
  ['a run that is not there', null, whole, { lostRuns: 1 }],
])('the judge sees %s', (_, given, ledger, wanted) => {
  const found = judge(new Map([['r', given]]), ledger)
  expect(found).toMatchObject({ lostRuns: 0, wrongRuns: 0, lostEffects: 0, onceRepeated: 0, unknown: 0, ...wanted })
})

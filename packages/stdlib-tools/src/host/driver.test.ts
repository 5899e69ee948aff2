import { expect, test } from 'vitest'
import type { Effect, EffectOutcome } from '@bridle/vm'
import { VirtualClock } from '../library/time/host-clock.js'
import { Driver } from './driver.js'
import { NotSuspendedError } from './machine-driver.js'
import type { DriveOptions } from './machine-driver.js'
import { hashHex } from './hash.js'
import { MemoryJournal } from './journal.js'
import { answered } from '../tools/executors/provider.js'
import type { EffectCall, PerformEffect } from '../tools/executors/provider.js'
import { replay } from './replay.js'
import { ScriptedMachine, makeDone, makeSuspended, makeYielded } from '../test-support/scripted-machine.js'
import type { Step } from '../test-support/scripted-machine.js'

const ask = (path: string): Effect => ({ kind: 'fs.read', args: { path, encoding: 'utf8' } })

function drive(steps: readonly Step[], perform: PerformEffect, more: Partial<DriveOptions> = {}) {
  const journal = new MemoryJournal()
  let machine: ScriptedMachine | null = null
  let output = ''
  const driver = new Driver({
    machine: (answer) => (machine = new ScriptedMachine(steps, answer)),
    begin: { kind: 'start', input: null },
    perform,
    journal,
    clock: new VirtualClock(1000),
    runId: 'r',
    observer: { output: (text) => void (output += text) },
    ...more,
  })
  return { driver, journal, machine: () => machine!, output: () => output }
}

/** A promise to settle by hand. */
function makeDeferred<T>() {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((settle) => void (resolve = settle))
  return { promise, resolve }
}

test('an answer that is ready goes back at once', async () => {
  const seen: (EffectOutcome | null)[] = []
  const { driver, journal } = drive(
    [
      ({ ask: perform }) => {
        seen.push(perform(ask('a')))
        return makeDone(7)
      },
    ],
    () => answered('text'),
  )
  expect(await driver.run()).toEqual({ kind: 'done', value: 7 })
  expect(seen).toEqual([{ ok: true, value: 'text' }])
  expect(journal.entries.map((entry) => entry.type)).toEqual(['start', 'effect', 'answer', 'end'])
})

test('pending answers are delivered one at a time, in order of arrival', async () => {
  const first = makeDeferred<EffectOutcome>()
  const second = makeDeferred<EffectOutcome>()
  const { driver, machine, journal } = drive(
    [
      ({ ask: perform }) => {
        expect(perform(ask('slow'))).toBe(null)
        expect(perform(ask('fast'))).toBe(null)
        return makeSuspended()
      },
      () => makeSuspended(),
      () => makeDone(),
    ],
    (effect) => (effect.args['path'] === 'slow' ? first.promise : second.promise),
  )
  const run = driver.run()
  second.resolve(answered('2'))
  await Promise.resolve()
  first.resolve(answered('1'))
  await run
  expect(machine().log).toEqual(['answer 2 "2" at 1000', 'answer 1 "1" at 1000'])
  expect(journal.entries.filter((entry) => entry.type === 'resume').map((entry) => entry.id)).toEqual([2, 1])
})

test('intent is on record before the effect is performed', async () => {
  const journal = new MemoryJournal()
  let before: string[] = []
  const { driver } = drive(
    [
      ({ ask: perform }) => {
        perform(ask('a'))
        return makeDone()
      },
    ],
    () => {
      before = journal.entries.map((entry) => entry.type)
      return answered(null)
    },
    { journal },
  )
  await driver.run()
  expect(before).toEqual(['start', 'effect'])
})

test('a sleeping machine is entered when its time has come', async () => {
  const clock = new VirtualClock(1000)
  const { driver, machine } = drive(
    [() => makeSuspended(1500), () => makeSuspended(9000), () => makeDone()],
    () => answered(null),
    { clock },
  )
  await driver.run()
  expect(machine().log).toEqual(['resume at 1500', 'resume at 9000'])
})

test('an answer comes before a timer that is later', async () => {
  const { driver, machine } = drive(
    [
      ({ ask: perform }) => {
        perform(ask('a'))
        return makeSuspended(5000)
      },
      () => makeDone(),
    ],
    () => Promise.resolve(answered('x')),
  )
  await driver.run()
  expect(machine().log).toEqual(['answer 1 "x" at 1000'])
})

test('a finished slice yields the thread and continues', async () => {
  const { driver, machine } = drive([() => makeYielded(), () => makeYielded(), () => makeDone()], () => answered(null))
  await driver.run()
  expect(machine().log).toEqual(['resume at 1000', 'resume at 1000'])
})

test('tasks that all wait for each other end the run', async () => {
  const { driver } = drive([() => makeSuspended()], () => answered(null))
  const end = await driver.run()
  expect(end.kind === 'failed' && end.fault.text).toBe('Runtime error: deadlock: every task is waiting and nothing can wake one')
})

test('cancelling aborts what is under way and waits for it', async () => {
  const abort = new AbortController()
  let closed = false
  const { driver } = drive(
    [
      ({ ask: perform }) => {
        perform(ask('a'))
        return makeSuspended()
      },
    ],
    (_, call) =>
      new Promise((resolve) =>
        call.signal.addEventListener('abort', () =>
          setImmediate(() => {
            closed = true
            resolve(answered(null))
          }),
        ),
      ),
    { signal: abort.signal },
  )
  const run = driver.run()
  setImmediate(() => abort.abort(new Error('enough')))
  expect(await run).toEqual({ kind: 'cancelled', reason: 'enough' })
  expect(closed).toBe(true)
})

test('a run that is cancelled before it starts never enters the machine', async () => {
  const { driver } = drive([], () => answered(null), { signal: AbortSignal.abort(new Error('no')) })
  expect(await driver.run()).toEqual({ kind: 'cancelled', reason: 'no' })
})

test.each<[string, PerformEffect]>([
  [
    'throws',
    () => {
      throw new Error('broken')
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
])('a provider that %s is an error of the script', async (_, perform) => {
  let seen: EffectOutcome | null = null
  const { driver } = drive(
    [
      ({ ask: performed }) => {
        seen = performed(ask('a'))
        return seen === null ? makeSuspended() : makeDone()
      },
      ({ answer }) => {
        seen = answer!.outcome
        return makeDone()
      },
    ],
    perform,
  )
  await driver.run()
  expect(seen).toEqual({ ok: false, error: { kind: 'categorized', category: 'generic', message: 'fs.read failed: broken' } })
})

test('exit ends the run with its status, within 0…255', async () => {
  const { driver } = drive(
    [
      ({ ask: perform }) => {
        perform({ kind: 'process.set', args: { op: 'exit', code: 300 } })
        return makeSuspended(null, 'bye')
      },
    ],
    (effect, call) => {
      call.exit(Number(effect.args['code']))
      return new Promise<EffectOutcome>((resolve) => call.signal.addEventListener('abort', () => resolve(answered(null))))
    },
  )
  expect(await driver.run()).toEqual({ kind: 'exit', code: 255 })
})

test('an effect that its task no longer awaits is aborted, and its answer is dropped', async () => {
  const signals: AbortSignal[] = []
  const { driver, machine } = drive(
    [
      ({ ask: perform }) => {
        perform(ask('a'))
        return makeSuspended(1100)
      },
      () => makeSuspended(1200),
      () => makeDone(),
    ],
    (_, call: EffectCall) => {
      signals.push(call.signal)
      return new Promise<EffectOutcome>((resolve) => call.signal.addEventListener('abort', () => resolve(answered('late'))))
    },
  )
  let entries = 0
  Object.assign(machine(), { pendingIds: () => (entries++ === 0 ? [1] : []) })
  await driver.run()
  expect(signals[0]!.aborted).toBe(true)
  expect(machine().log).toEqual(['resume at 1100', 'resume at 1200'])
})

test('a snapshot has the machine and what is under way', async () => {
  const gate = makeDeferred<EffectOutcome>()
  const { driver } = drive(
    [
      ({ ask: perform }) => {
        perform(ask('a'))
        return makeSuspended()
      },
      () => makeDone(),
    ],
    () => gate.promise,
  )
  const snapshot = driver.snapshot(() => null)
  const run = driver.run()
  const { machine, arrived } = await snapshot
  expect(new TextDecoder().decode(machine)).toBe('steps left: 1')
  expect(arrived).toEqual([])
  gate.resolve(answered(null))
  await run
  await expect(driver.snapshot(() => null)).rejects.toBeInstanceOf(NotSuspendedError)
})

test('a restored run asks again for what was under way and keeps answers that had arrived', async () => {
  const asked: string[] = []
  const steps: readonly Step[] = [() => makeSuspended(), () => makeDone(1)]
  let machine: ScriptedMachine | null = null
  const { driver } = drive(
    steps,
    (effect, call) => {
      asked.push(`${call.idempotencyKey} ${String(effect.args['path'])}`)
      return Promise.resolve(answered('again'))
    },
    {
      machine: (answer) =>
        (machine = new ScriptedMachine(steps, answer, [
          { id: 4, effect: ask('done') },
          { id: 5, effect: ask('open') },
        ])),
      begin: { kind: 'restored', arrived: [{ id: 4, outcome: answered('kept') }] },
    },
  )
  expect(await driver.run()).toEqual({ kind: 'done', value: 1 })
  expect(asked).toEqual(['r:5 open'])
  expect(machine!.log).toEqual(['answer 4 "kept" at 1000', 'answer 5 "again" at 1000'])
})

test('what a restored run waits for is looked at: a snapshot is data', async () => {
  const steps: readonly Step[] = [() => makeSuspended(), () => makeDone(1)]
  const effect = { kind: 'fs.read', args: { path: 7, encoding: 'utf8' } } as unknown as Effect
  let machine: ScriptedMachine | null = null
  const { driver } = drive(
    steps,
    () => {
      throw new Error('performed')
    },
    {
      machine: (answer) => (machine = new ScriptedMachine(steps, answer, [{ id: 4, effect }])),
      begin: { kind: 'restored', arrived: [] },
    },
  )
  await driver.run()
  expect(machine!.log).toEqual(['answer 4 fs.read: path must be a string, got a number at 1000'])
})

const RECORDED: readonly Step[] = [
  ({ ask: perform }) => {
    perform(ask('now'))
    perform(ask('later'))
    return makeSuspended(1500, 'one ')
  },
  ({ answer }) => makeSuspended(2000, answer === null ? 'timer ' : 'answer '),
  () => makeDone('end', 'two'),
]
const answerEffect: PerformEffect = (effect) => (effect.args['path'] === 'now' ? answered(1) : Promise.resolve(answered(2)))

async function record() {
  const { driver, journal, output } = drive(RECORDED, answerEffect)
  await driver.run()
  return { entries: journal.entries, output: output() }
}

test('a replay performs nothing and gives the same output', async () => {
  const { entries, output } = await record()
  const end = replay({ machine: (answer) => new ScriptedMachine(RECORDED, answer), entries, hashHex })
  expect(end).toMatchObject({ kind: 'ended', end: { kind: 'done', value: 'end' }, output })
})

test.each<[string, Step, object]>([
  [
    'other arguments',
    ({ ask: perform }) => {
      perform(ask('other'))
      return makeSuspended()
    },
    {
      code: 'replay_mismatch',
      message: 'fs.read was called with other arguments than recorded',
      expected: { kind: 'fs.read', args: '{"encoding":"utf8","path":"now"}' },
      actual: { kind: 'fs.read', args: '{"encoding":"utf8","path":"other"}' },
    },
  ],
  [
    'another call',
    ({ ask: perform }) => {
      perform({ kind: 'clock.now', args: {} })
      return makeSuspended()
    },
    { code: 'replay_mismatch', message: 'clock.now was called where the recording has fs.read' },
  ],
  [
    'an early end',
    () => makeDone(),
    { code: 'replay_mismatch', message: 'the program ended (done) where the recording goes on with "fs.read"' },
  ],
  [
    'one call more',
    ({ ask: perform }) => {
      perform(ask('now'))
      perform(ask('later'))
      perform(ask('third'))
      return makeSuspended()
    },
    { code: 'replay_mismatch', message: 'fs.read was called, but the recording has no call here', expected: null },
  ],
])('a replay reports %s', async (_, step, divergence) => {
  const { entries } = await record()
  expect(replay({ machine: (answer) => new ScriptedMachine([step, () => makeDone()], answer), entries, hashHex })).toMatchObject({
    kind: 'diverged',
    divergence,
  })
})

test('a replay that outlives its recording is exhausted', async () => {
  const { entries } = await record()
  const cut = entries.slice(
    0,
    entries.findIndex((entry) => entry.type === 'resume'),
  )
  expect(replay({ machine: (answer) => new ScriptedMachine(RECORDED, answer), entries: cut, hashHex })).toMatchObject({
    kind: 'diverged',
    divergence: { code: 'replay_exhausted' },
  })
})

// Durable services for tools: steps that are executed once wherever the process dies, waits that outlive it, and calls that are completed
// later by a key.

import { describe, expect, test } from 'vitest'
import { MemoryJournal } from '../host/journal.js'
import { createRuntime } from '../host/runtime.js'
import { awaitNextTurn } from '../library/time/host-clock.js'
import { VirtualClock } from '../library/time/host-clock.js'
import { defineTool } from '../tools/host-tools/define.js'
import type { Tool, ToolContext } from '../tools/host-tools/define.js'
import { isToolError } from '../tools/host-tools/errors.js'
import { createRegistry } from '../tools/host-tools/registry.js'
import { killAtEachCommit } from '../test-support/durable-steps.js'
import { openWorld } from '../test-support/durable-world.js'

const CALL = 'import { t } from "host/tools"\nreturn try { t({}) } catch (e) { e.code }'
const KEYS = { current: 'a', secrets: { a: 'a secret of the test' } }

function makeTool(execute: (context: ToolContext) => unknown, more: object = {}): Tool {
  return defineTool({ name: 't', recovery: 'idempotent', execute: (_, context) => execute(context) as never, ...more })
}

/** The script's view of a call. */
async function call(execute: (context: ToolContext) => unknown, more: object = {}): Promise<unknown> {
  return createRuntime({ tools: [makeTool(execute, more)], clock: new VirtualClock(), keys: KEYS }).run(CALL)
}

describe('steps', () => {
  test.each<[name: string, code: string, execute: (context: ToolContext) => unknown]>([
    ['a blank id', 'durable_effect_empty_step_id', ({ durable }) => durable.runJson(' ', () => 1)],
    [
      'an id twice in a call',
      'durable_effect_duplicate_step_id',
      async ({ durable }) => [await durable.runJson('a', () => 1), await durable.runJson('a', () => 2)],
    ],
    ['a result that is no data', 'durable_step_unserializable', ({ durable }) => durable.runJson('a', () => () => 1)],
    ['an event without a name', 'durable_effect_empty_event_key', ({ durable }) => durable.waitFor('')],
    [
      'a key of something else',
      'invalid_await_event_wait_identity',
      ({ durable, completionKey }) => durable.waitFor(completionKey()),
    ],
    ['pending without mayDefer', 'tool_deferral_not_declared', ({ pending }) => pending()],
  ])('%s: %s', async (_name, code, execute) => {
    expect(await call(execute)).toBe(code)
  })

  test('pending without a key', async () => {
    expect(await call(({ pending }) => pending(), { mayDefer: true })).toBe('pending_tool_missing_completion_key')
  })

  test('without a run there are none, and the tool can ask', async () => {
    const seen: unknown[] = []
    const tool = makeTool(({ durable }) => {
      seen.push(durable.available)
      return durable.runJson('a', () => 1)
    })
    const cause = await createRegistry([tool])
      .call('t', {})
      .catch((error: unknown) => error)
    expect(isToolError(cause, 'durable_effects_unavailable')).toBe(true)
    expect(seen).toEqual([false])
  })

  test('what fails keeps its code; another attempt makes failed steps again, and no others', async () => {
    const made: string[] = []
    const tool = makeTool(
      async ({ durable, attempt }) => {
        await durable.runJson('first', () => made.push(`first ${attempt}`))
        return durable.runJson('second', (_input, { idempotencyKey }) => {
          made.push(`second ${attempt} ${idempotencyKey.endsWith(':durable-step:second')}`)
          if (attempt === 1) throw Object.assign(new Error('busy'), {})
          return 'done'
        })
      },
      { retry: { maxRetries: 2, retryOn: ['execution_failed'], baseDelayMs: 1 } },
    )
    const journal = new MemoryJournal()
    const runtime = createRuntime({ tools: [tool], clock: new VirtualClock() })
    const module = runtime.compile(CALL)
    const result = await runtime.start(module, { journal }).result
    expect(result).toMatchObject({ status: 'done', value: 'done' })
    expect(made).toEqual(['first 1', 'second 1 true', 'second 2 true'])
    expect(runtime.replay(module, journal.entries)).toMatchObject({ kind: 'ended' })
    expect(made).toHaveLength(3)
  })

  test('killed in front of each commit: every step is made once, and the tool ends', async () => {
    expect(await killAtEachCommit(4)).toBeGreaterThan(8)
  })

  test('a step with an unknown outcome is not repeated, unless it allows that', async () => {
    for (const [recovery, value, times] of [
      [undefined, 'unknown_outcome', 1],
      ['idempotent', 7, 2],
    ] as const) {
      const world = await openWorld()
      let made = 0
      let isFirst = true
      const tool = makeTool(({ durable }) =>
        durable.runJson(
          'charge',
          () => {
            made++
            // The first process never learns the outcome.
            if (isFirst) return new Promise(() => {})
            return 7
          },
          recovery === undefined ? {} : { recovery },
        ),
      )
      const first = world.open({ tools: [tool] })
      await first.worker.submit(first.runtime.compile(CALL), { runId: 'r' })
      while (made === 0) await awaitNextTurn()
      isFirst = false
      await first.worker.stop()
      const second = world.open({ tools: [tool] })
      await second.worker.idle()
      await second.worker.stop()
      expect(world.ended).toMatchObject([{ status: 'done', value }])
      expect(made).toBe(times)
    }
  })

  test('another input than before is a mismatch', async () => {
    const world = await openWorld()
    let input = 1
    const made: number[] = []
    const tool = makeTool(async ({ durable }) => {
      await durable.run('a', input, (n) => made.push(n))
      return durable.waitFor('go')
    })
    const { runtime, worker } = world.open({ tools: [tool] })
    await worker.submit(runtime.compile(CALL), { runId: 'r' })
    await worker.idle()
    input = 2
    await world.store.signal('r', 'event:go', '{"ok":1}', 0)
    worker.kick()
    await worker.idle()
    await worker.stop()
    expect(world.ended).toMatchObject([{ value: 'effect_input_mismatch' }])
    expect(made).toEqual([1])
  })
})

describe('events', () => {
  /** A tool that hands out a key, makes a step, and waits. */
  const makeWaiting = (seen: { key: string; steps: number }, timeoutMs?: number): Tool =>
    makeTool(async ({ durable }) => {
      seen.key = durable.event('approved')
      await durable.runJson('mail', () => void seen.steps++)
      return durable.waitFor(seen.key, timeoutMs === undefined ? {} : { timeoutMs })
    })

  test.each([
    ['a value', { ok: { by: 'Ada' } }, { by: 'Ada' }],
    ['an error', { error: 'no', code: 'rate_limit' }, 'rate_limit'],
    ['cancelled', 'cancelled', 'durable_effect_event_cancelled'],
    ['revoked', 'revoked', 'await_event_unknown_or_revoked'],
    ['out of time', 'timeout', 'durable_effect_event_timeout'],
  ] as const)(
    '%s: the run is parked meanwhile, the first answer counts, and others are told so',
    async (_name, resolution, value) => {
      const world = await openWorld()
      const seen = { key: '', steps: 0 }
      const first = world.open({ tools: [makeWaiting(seen)] })
      await first.worker.submit(first.runtime.compile(`${CALL}\n`), { runId: 'r' })
      await first.worker.idle()
      expect(await world.store.get('r')).toMatchObject({ state: 'parked', waitsFor: ['event:approved'] })
      await first.worker.stop()
      const second = world.open({ tools: [makeWaiting(seen)] })
      expect(await second.worker.resolve(`${seen.key}0`, resolution)).toBe('unknown')
      expect(await second.worker.resolve(seen.key, resolution)).toBe('accepted')
      expect(await second.worker.resolve(seen.key, { ok: 'again' })).toBe('already_resolved')
      await second.worker.idle()
      expect(world.ended).toMatchObject([{ status: 'done', value }])
      expect(seen.steps).toBe(1)
      expect(await second.worker.resolve(seen.key, { ok: 'late' })).toBe('unknown')
      await second.worker.stop()
    },
  )

  test('an answer before the wait is kept; the time of a wait does not restart, and a late answer is reported as such', async () => {
    const world = await openWorld()
    const keys = new Map<string, string>()
    const wait = makeTool(async ({ durable, runId }) => {
      keys.set(runId, durable.event('approved'))
      return durable.waitFor('approved', { timeoutMs: 60_000 })
    })
    const answer = defineTool({
      name: 'answer',
      execute: (_, { runId }): Promise<string> => worker.resolve(keys.get(runId)!, { ok: 'late' }),
    })
    const { runtime, worker } = world.open({ tools: [wait, answer] })
    const source = 'import { t, answer } from "host/tools"\nlet a = try { t({}) } catch (e) { e.code }\nreturn [a, answer({})]'
    for (const runId of ['late', 'early']) await worker.submit(runtime.compile(source), { runId })
    await world.store.signal('early', 'event:approved', '{"ok":"there"}', 0)
    const begun = world.clock.now()
    while (world.ended.length < 2) await worker.idle()
    await worker.stop()
    expect(world.clock.now() - begun).toBe(60_000)
    expect(Object.fromEntries(world.ended.map(({ runId, value }) => [runId, value]))).toEqual({
      late: ['durable_effect_event_timeout', 'already_resolved'],
      early: ['there', 'already_resolved'],
    })
  })

  test('in a run of this process', async () => {
    const runtime = createRuntime({
      tools: [makeTool(({ durable, progress }) => (progress(durable.event('go')), durable.waitFor('go')))],
    })
    const run = runtime.start(runtime.compile(CALL), {
      onEvent: (event) => {
        if (event.type !== 'progress') return
        expect(runtime.resolveEvent('bk1.x.00.00', { ok: 1 })).toBe('unknown')
        expect(runtime.resolveEvent(event.data as string, { ok: 5 })).toBe('accepted')
        expect(runtime.resolveEvent(event.data as string, { ok: 6 })).toBe('already_resolved')
      },
    })
    expect(await run.result).toMatchObject({ status: 'done', value: 5 })
  })
})

describe('calls that are completed later', () => {
  const makeDeploy = (keys: string[], limits: object = {}): Tool =>
    makeTool(
      ({ completionKey, pending }) => {
        keys.push(completionKey())
        return pending(limits)
      },
      { mayDefer: true, recovery: 'once' },
    )

  test('from another process, with the same trace as without one', async () => {
    const journals: (readonly string[])[] = []
    for (const hops of [1, 2]) {
      const world = await openWorld()
      const keys: string[] = []
      const first = world.open({ tools: [makeDeploy(keys)], keys: KEYS })
      await first.worker.submit(first.runtime.compile(CALL), { runId: 'r', archive: true })
      await first.worker.idle()
      if (hops === 2) await first.worker.stop()
      const last = hops === 2 ? world.open({ tools: [makeDeploy(keys)], keys: KEYS }) : first
      expect(await last.worker.resolve(keys[0]!, { ok: 'deployed' })).toBe('accepted')
      expect(await last.worker.resolve(keys[0]!, { ok: 'twice' })).toBe('already_resolved')
      await last.worker.idle()
      expect(world.ended).toMatchObject([{ status: 'done', value: 'deployed' }])
      expect(keys).toHaveLength(1)
      journals.push((await world.store.read('r'))!.journal)
      await last.worker.stop()
    }
    expect(journals[1]).toEqual(journals[0])
  })

  test('no answer in time: the call or the run fails, and a late answer is reported as such', async () => {
    for (const [onTimeout, ended] of [
      ['error', { status: 'done', value: 'timeout' }],
      ['fail-run', { status: 'failed' }],
    ] as const) {
      const world = await openWorld()
      const keys: string[] = []
      const { runtime, worker } = world.open({ tools: [makeDeploy(keys, { deadlineMs: 60_000, onTimeout })] })
      const begun = world.clock.now()
      await worker.submit(runtime.compile(CALL), { runId: 'r' })
      while (world.ended.length === 0) await worker.idle()
      expect(world.ended).toMatchObject([ended])
      expect(world.clock.now() - begun).toBe(60_000)
      await worker.stop()
      const plain = createRuntime({ tools: [makeDeploy(keys, { deadlineMs: 60_000, onTimeout })], clock: new VirtualClock() })
      expect(await plain.start(plain.compile(CALL)).result).toMatchObject(ended)
      expect(plain.resolveEvent(keys.at(-1)!, { ok: 'late' })).toBe('already_resolved')
    }
  })

  test('secrets are changed: keys of the old one are good while it is listed', async () => {
    const world = await openWorld()
    const keys: string[] = []
    const first = world.open({ tools: [makeDeploy(keys)], keys: KEYS })
    for (const runId of ['a', 'b']) await first.worker.submit(first.runtime.compile(CALL), { runId })
    await first.worker.idle()
    await first.worker.stop()
    const secrets = { ...KEYS.secrets, b: 'another one of the test' }
    const both = world.open({ tools: [makeDeploy(keys)], keys: { current: 'b', secrets } })
    expect(await both.worker.resolve(keys[0]!, { ok: 1 })).toBe('accepted')
    const { a: _, ...only } = secrets
    const later = world.open({ tools: [makeDeploy(keys)], keys: { current: 'b', secrets: only } })
    expect(await later.worker.resolve(keys[1]!, { ok: 1 })).toBe('unknown')
    await both.worker.stop()
    await later.worker.stop()
  })
})

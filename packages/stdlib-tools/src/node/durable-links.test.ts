// What tools do through their run: events, other runs, undoing, what follows from a result, attachments. Killed in front of every commit.

import { describe, expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { VirtualClock, awaitNextTurn } from '../library/time/host-clock.js'
import { sweepKills } from '../test-support/kill-sweep.js'
import { openWorld } from '../test-support/durable-world.js'
import { memoryAttachments } from '../tools/host-tools/attachments.js'
import type { AttachmentRef } from '../tools/host-tools/attachments.js'
import { defineTool } from '../tools/host-tools/define.js'
import type { Tool, ToolContext } from '../tools/host-tools/define.js'

const CALL = 'import { t } from "host/tools"\nreturn try { t({}) } catch (e) { e.code }'
const CHILD = `import { t } from "host/tools"
import { runtime_pipeline_input } from "std/runtime"
pipeline default(task) { return try { t({}) } catch (e) { e.code } }
pipeline child(task) { return runtime_pipeline_input() }`

function makeTool(execute: (context: ToolContext) => unknown, more: object = {}): Tool {
  return defineTool({ name: 't', recovery: 'idempotent', execute: (_, context) => execute(context) as never, ...more })
}

/** The script's result, in a stored run. */
async function call(execute: (context: ToolContext) => unknown, source = CALL, more: object = {}): Promise<unknown> {
  const world = await openWorld()
  const { runtime, worker } = world.open({ tools: [makeTool(execute, more)] })
  await worker.submit(runtime.compile(source), { runId: 'r' })
  await worker.idle()
  await worker.stop()
  expect(world.errors).toEqual([])
  return world.ended.find(({ runId }) => runId === 'r')?.value
}

describe('codes', () => {
  test.each<[code: string, execute: (context: ToolContext) => unknown]>([
    ['durable_effect_empty_process_event_type', ({ events }) => events.emit(' ')],
    ['durable_effect_process_event_append_failed', ({ events }) => events.emit('a', () => 1)],
    ['durable_effect_process_event_process_mismatch', ({ events }) => events.emit('a', 1, { processId: 'other' })],
    ['process_not_visible', ({ processes }) => processes.await('other')],
    ['process_not_visible', ({ processes }) => processes.signal('other', 'go')],
    ['durable_effect_empty_event_key', ({ processes }) => processes.signal('r', '')],
    ['invalid_args', ({ processes }) => processes.start({ pipeline: 'none' })],
    ['not_registered', ({ onUndo }) => onUndo('none')],
    ['intent_invalid', ({ done }) => done(1, { intents: [{ kind: 'other' } as never] })],
    ['intent_invalid', ({ done }) => done(1, { intents: [{ kind: 'emit_process_event', type: '' }] })],
    ['intent_invalid', ({ done }) => done(1, { intents: [{ kind: 'start_process', pipeline: 'none' }] })],
    [
      'intent_limit',
      ({ done }) => done(1, { intents: Array.from({ length: 17 }, () => ({ kind: 'emit_process_event' as const, type: 'a' })) }),
    ],
    [
      'intent_limit',
      ({ done }) => done(1, { intents: [{ kind: 'emit_process_event', type: 'a', payload: 'x'.repeat(70_000) }] }),
    ],
  ])('%s', async (code, execute) => {
    expect(await call(execute, CHILD)).toBe(code)
  })

  test('in a run that no store keeps', async () => {
    const callPlain = (execute: (context: ToolContext) => unknown, more: object = {}): Promise<unknown> =>
      createRuntime({ tools: [makeTool(execute, more)], clock: new VirtualClock() }).run(CALL)
    expect(await callPlain(({ events }) => events.emit('a'))).toBe('durable_effect_process_event_unavailable')
    expect(await callPlain(({ processes }) => processes.start({ pipeline: 'a' }))).toBe('process_registry_unavailable')
    expect(await callPlain(({ done }) => done(1, { intents: [{ kind: 'cancel_process', run: 'a' }] }))).toBe(
      'process_registry_unavailable',
    )
    const announce = ({ completionKey, pending }: ToolContext): unknown => (
      completionKey(),
      pending({ announcement: { type: 'waits' } })
    )
    expect(await callPlain(announce, { mayDefer: true })).toBe('pending_tool_announcement_failed')
    expect(await callPlain(({ attachments }) => attachments.put(new Uint8Array(1)))).toBe('durable_effects_unavailable')
    expect(
      await callPlain(({ events, processes, processId, sessionId }) => [
        events.available,
        processes.available,
        processId,
        sessionId,
      ]),
    ).toEqual([false, false, null, null])
  })
})

describe('events', () => {
  test('killed in front of each commit: each event is there once, in order', async () => {
    const emitThree = async ({ events }: ToolContext): Promise<unknown> => {
      const numbers: number[] = []
      for (const n of [1, 2, 3]) numbers.push((await events.emit('step', { n })).sequence)
      return numbers
    }
    const commits = await sweepKills(
      CALL,
      () => [makeTool(emitThree)],
      async ({ at, ended, store }) => {
        expect(ended, `killed at ${at}`).toMatchObject([{ status: 'done', value: [1, 2, 3] }])
        const found = await store.events!('r', { after: 0, most: 10 })
        expect(
          found.map(({ type, line }) => [type, line]),
          `killed at ${at}`,
        ).toEqual([1, 2, 3].map((n) => ['step', `{"n":${n}}`]))
      },
    )
    expect(commits).toBeGreaterThan(2)
  })

  test('one tool hears what another one emits', async () => {
    const source =
      'import { listen, say } from "host/tools"\nreturn parallel each ["listen", "say"] { n -> if n == "listen" { listen({}) } else { say({}) } }'
    const world = await openWorld()
    const listen = defineTool({
      name: 'listen',
      recovery: 'idempotent',
      execute: async (_, { events }) => {
        const heard: unknown[] = []
        for await (const { type, payload, sequence } of events.subscribe({ type: 'b' })) {
          heard.push([type, payload, sequence])
          if (heard.length === 2) return heard
        }
        return heard
      },
    })
    const say = defineTool({
      name: 'say',
      recovery: 'idempotent',
      execute: async (_, { events }) => {
        for (const type of ['b', 'a', 'b']) await events.emit(type, type)
        return 'said'
      },
    })
    const { runtime, worker } = world.open({ tools: [listen, say] })
    await worker.submit(runtime.compile(source), { runId: 'r' })
    await worker.idle()
    await worker.stop()
    expect(world.ended).toMatchObject([
      {
        value: [
          [
            ['b', 'b', 1],
            ['b', 'b', 3],
          ],
          'said',
        ],
      },
    ])
  })

  test('no event arrives in time', async () => {
    expect(await call(({ events }) => events.waitAfter('never', 0, { timeoutMs: 1000 }))).toBe('durable_effect_event_timeout')
  })
})

describe('other runs', () => {
  test('killed in front of each commit: one child, and its value', async () => {
    const startOne = async ({ processes }: ToolContext): Promise<unknown> => {
      const child = await processes.start({ pipeline: 'child', input: { n: 5 } })
      return processes.await(child)
    }
    await sweepKills(
      CHILD,
      () => [makeTool(startOne)],
      async ({ at, ended, store }) => {
        expect(
          ended.find(({ runId }) => runId === 'r'),
          `killed at ${at}`,
        ).toMatchObject({ status: 'done', value: { n: 5 } })
        expect(await store.list({ most: 10 }), `killed at ${at}`).toHaveLength(2)
      },
    )
  })

  test('a child that fails, and one that has ended', async () => {
    const source = CHILD.replace('return runtime_pipeline_input()', 'throw "no"')
    const seen: unknown[] = []
    await call(async ({ processes }) => {
      const child = await processes.start({ pipeline: 'child', id: 'c' })
      seen.push(await processes.await(child).catch((cause: { code: string; message: string }) => [cause.code, cause.message]))
      seen.push(await processes.cancel(child).catch(({ code }: { code: string }) => code))
      seen.push(await processes.look(child))
      return null
    }, source)
    expect(seen).toEqual([
      ['execution_failed', expect.stringContaining('ended as failed')],
      'process_already_terminal',
      { state: 'ended', parent: 'r' },
    ])
  })
})

describe('what follows from a result', () => {
  test('killed in front of each commit: the child and the event are there once, and only with the result', async () => {
    const tell = ({ done }: ToolContext): unknown =>
      done('told', {
        intents: [
          { kind: 'start_process', pipeline: 'child', input: 1, onParentEnd: 'abandon' },
          { kind: 'emit_process_event', type: 'told' },
        ],
      })
    const commits = await sweepKills(
      CHILD,
      () => [makeTool(tell)],
      async ({ at, ended, store }) => {
        expect(
          ended.map(({ status }) => status),
          `killed at ${at}`,
        ).toEqual(['done', 'done'])
        expect(await store.list({ most: 10 }), `killed at ${at}`).toHaveLength(2)
        expect(await store.events!('r', { after: 0, most: 10 }), `killed at ${at}`).toHaveLength(1)
      },
    )
    expect(commits).toBeGreaterThan(1)
  })

  test('a result that is not as declared has no consequences', async () => {
    const world = await openWorld()
    const tool = makeTool(({ done }) => done(1, { intents: [{ kind: 'emit_process_event', type: 'told' }] }), {
      output: { type: 'string' },
    })
    const { runtime, worker } = world.open({ tools: [tool] })
    await worker.submit(runtime.compile(CALL), { runId: 'r' })
    await worker.idle()
    await worker.stop()
    expect(world.ended).toMatchObject([{ value: 'output_validation_failed' }])
    expect(await world.store.events!('r', { after: 0, most: 10 })).toEqual([])
  })
})

describe('undoing', () => {
  const SHOP = `import { reserve, charge } from "host/shop"
reserve({id: "a"})
reserve({id: "b"})
charge({})
return "paid"`

  function makeShop(made: string[], charge: (context: ToolContext) => unknown): readonly Tool[] {
    const note = (text: string): string => (made.includes(text) ? text : (made.push(text), text))
    return [
      defineTool({
        name: 'shop.reserve',
        recovery: 'idempotent',
        execute: async (given, { onUndo }) => {
          const { id } = given as { readonly id: string }
          await onUndo('shop.free', { id })
          return note(`reserve ${id}`)
        },
      }),
      defineTool({
        name: 'shop.free',
        recovery: 'idempotent',
        execute: (given) => note(`free ${(given as { readonly id: string }).id}`),
      }),
      defineTool({ name: 'shop.charge', recovery: 'idempotent', execute: (_, context) => charge(context) as never }),
    ]
  }
  const refuse = (): never => {
    throw new Error('no money')
  }

  test('killed in front of each commit: the last one first', async () => {
    const made: string[] = []
    const commits = await sweepKills(
      SHOP,
      () => {
        made.length = 0
        return makeShop(made, refuse)
      },
      ({ at, ended }) => {
        expect(made, `killed at ${at}`).toEqual(['reserve a', 'reserve b', 'free b', 'free a'])
        expect(
          ended.map(({ runId, status }) => [runId, status]),
          `killed at ${at}`,
        ).toEqual([
          ['r', 'failed'],
          ['r/undo', 'done'],
        ])
      },
    )
    expect(commits).toBeGreaterThan(6)
  })

  test('in a run that no store keeps, and nothing where all is well', async () => {
    for (const [charge, then] of [
      [refuse, ['free b', 'free a']],
      [() => 1, []],
    ] as const) {
      const made: string[] = []
      const runtime = createRuntime({ tools: makeShop(made, charge), clock: new VirtualClock() })
      const { status } = await runtime.start(runtime.compile(SHOP)).result
      expect(status).toBe(charge === refuse ? 'failed' : 'done')
      expect(made).toEqual(['reserve a', 'reserve b', ...then])
    }
  })

  test('a parked run that is cancelled, without a worker', async () => {
    const world = await openWorld()
    const made: string[] = []
    const tools = makeShop(made, ({ durable }) => durable.waitFor('paid'))
    const first = world.open({ tools })
    await first.worker.submit(first.runtime.compile(SHOP), { runId: 'r' })
    await first.worker.idle()
    await first.worker.stop()
    expect(await world.store.get('r')).toMatchObject({ state: 'parked' })
    expect(await world.store.cancel('r', 'changed my mind', world.clock.now())).toBe(true)
    const second = world.open({ tools })
    await second.worker.idle()
    await second.worker.stop()
    expect(made).toEqual(['reserve a', 'reserve b', 'free b', 'free a'])
    expect(world.ended).toMatchObject([
      { runId: 'r', status: 'cancelled', error: 'changed my mind' },
      { runId: 'r/undo', status: 'done' },
    ])
  })

  test('a call that waits outside is ended there when its run is; not when it was answered', async () => {
    for (const isAnswered of [false, true]) {
      const world = await openWorld()
      const made: string[] = []
      const keys: string[] = []
      const tools = [
        ...makeShop(made, ({ completionKey, pending }) => {
          keys.push(completionKey())
          return pending({ onCancel: { tool: 'shop.free', args: { id: 'charge' } }, announcement: { type: 'waits', payload: 1 } })
        }).map((tool) => (tool.name === 'shop.charge' ? { ...tool, mayDefer: true } : tool)),
      ]
      const source = `import { charge } from "host/shop"\ncharge({})\nimport { await_signal } from "std/durable"\nawait_signal("never")`
      const { runtime, worker } = world.open({ tools })
      await worker.submit(runtime.compile(source), { runId: 'r' })
      await worker.idle()
      expect(await world.store.events!('r', { after: 0, most: 9 })).toMatchObject([{ type: 'waits', line: '1' }])
      if (isAnswered) expect(await worker.resolve(keys[0]!, { ok: 1 })).toBe('accepted')
      await worker.idle()
      await world.store.cancel('r', 'enough', world.clock.now())
      worker.kick()
      await worker.idle()
      await worker.stop()
      expect(made).toEqual(isAnswered ? [] : ['free charge'])
    }
  })
})

describe('attachments', () => {
  test('scripts see references; bytes are where the host keeps them', async () => {
    const attachments = memoryAttachments()
    const put = defineTool({
      name: 'put',
      execute: (_, context) => context.attachments.put(new Uint8Array([1, 2, 3]), { name: 'a.bin' }),
    })
    const get = defineTool({
      name: 'get',
      execute: async (given, context) => [...(await context.attachments.get((given as { readonly ref: AttachmentRef }).ref))],
    })
    const runtime = createRuntime({ tools: [put, get], attachments })
    const source =
      'import { put, get } from "host/tools"\nlet a = put({})\nlet none = try { get({ref: "sha256:${"0".repeat(64)}"}) } catch (e) { e.code }\nreturn [a, get({ref: a}), none, a == put({})]'
    expect(await runtime.run(source)).toEqual([
      {
        attachment: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        size: 3,
        media_type: 'application/octet-stream',
        name: 'a.bin',
      },
      [1, 2, 3],
      'not_found',
      true,
    ])
  })
})

describe('the prepare step', () => {
  test('is executed once, also when the call continues in another process', async () => {
    let prepared = 0
    const commits = await sweepKills(
      CALL,
      () => {
        prepared = 0
        const tool = defineTool({
          name: 't',
          recovery: 'idempotent',
          prepare: (_, { catalog }) => ({ args: {}, payload: { n: ++prepared, tools: catalog().map(({ name }) => name) } }),
          execute: async (_given, { payload, durable }) => {
            await durable.runJson('a', () => 1, { recovery: 'safe' })
            return payload
          },
        })
        return [tool]
      },
      ({ at, ended }) => {
        expect(ended, `killed at ${at}`).toMatchObject([{ value: { n: prepared, tools: ['t'] } }])
      },
    )
    expect(commits).toBeGreaterThan(1)
  })
})

test('the first of several calls; the others are given up', async () => {
  const ended: string[] = []
  const slow = defineTool({
    name: 'slow',
    execute: (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => (ended.push('given up'), resolve(null)))),
  })
  const fast = defineTool({ name: 'fast', execute: () => 7 })
  const outer = makeTool(({ tools }) => tools.race([{ tool: 'slow' }, { tool: 'fast' }]))
  expect(await createRuntime({ tools: [slow, fast, outer] }).run(CALL)).toEqual({ index: 1, value: 7 })
  expect(ended).toEqual(['given up'])
})

test.each([
  [{ done: 'receipt 7' }, 'receipt 7', 1],
  ['fail', 'unknown_outcome', 1],
  ['retry', 'charged', 2],
] as const)('a call that the host holds is settled by a person: %j', async (decision, value, times) => {
  const world = await openWorld()
  let made = 0
  let isFirst = true
  const charge = defineTool({
    name: 't',
    execute: () => {
      made++
      return isFirst ? new Promise(() => {}) : 'charged'
    },
  })
  const first = world.open({ tools: [charge] })
  await first.worker.submit(first.runtime.compile(CALL), { runId: 'r' })
  while (made === 0) await awaitNextTurn()
  isFirst = false
  await first.worker.stop()
  const second = world.open({ tools: [charge] }, { onUnknownOutcome: () => 'hold' })
  await second.worker.idle()
  expect(world.stuck).toMatchObject([['r', expect.stringContaining('(call 1)')]])
  expect(await second.worker.settle('r', 1, decision)).toBe('kept')
  expect(await second.worker.settle('r', 1, 'fail')).toBe('known')
  await second.worker.idle()
  await second.worker.stop()
  expect(world.ended).toMatchObject([{ status: 'done', value }])
  expect(made).toBe(times)
})

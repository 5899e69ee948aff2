// Runs that continue as another program.

import { expect, test } from 'vitest'
import { defineTool, pending } from '../../tools/host-tools/define.js'
import type { Tool } from '../../tools/host-tools/define.js'
import { makeMortal, openWorld } from '../../test-support/durable-world.js'
import { migrateRun } from './migrate.js'

const SCRIPT = `import { step, ask } from "host/w"
var sum = 0
for i in range(0, 5) { sum = sum + step({n: i}).n }
let answer = ask({})
try { step({n: 100}) } catch (e) { e.code }
return "\${answer} \${sum}"`

function openLedger(): { readonly made: string[]; readonly tools: readonly Tool[] } {
  const made: string[] = []
  return {
    made,
    tools: [
      defineTool({
        name: 'w.step',
        recovery: 'once',
        execute: async (args: unknown) => {
          made.push(JSON.stringify(args))
          return args
        },
      }),
      defineTool({ name: 'w.ask', execute: () => pending('approval') }),
    ],
  }
}

/** A run of SCRIPT that waits for its answer. */
async function openWaiting({
  archive = true,
  checkpointAfter = 2,
}: { readonly archive?: boolean; readonly checkpointAfter?: number } = {}) {
  const world = await openWorld()
  const ledger = openLedger()
  const { runtime, worker } = world.open({ tools: ledger.tools }, { checkpointAfter })
  await worker.submit(runtime.compile(SCRIPT, { file: 'old.harn' }), { runId: 'r', archive })
  await worker.idle()
  expect(await world.store.get('r')).toMatchObject({ state: 'parked', waitsFor: ['approval'] })
  return { world, ledger, runtime, worker }
}

test.each([2, 200])(
  'what is edited behind the place where a run waits is done (a snapshot every %i calls)',
  async (checkpointAfter) => {
    const { world, ledger, runtime, worker } = await openWaiting({ checkpointAfter })
    const edited = SCRIPT.replace('try { step({n: 100}) }', 'step({n: 200})\nsleep(2d)\ntry { step({n: 300}) }')
    expect(await worker.migrate('r', runtime.compile(edited, { file: 'new.harn' }))).toEqual({ outcome: 'migrated' })
    await worker.idle()
    expect(await world.store.get('r')).toMatchObject({ state: 'parked', waitsFor: ['approval'], program: { label: 'new.harn' } })
    expect(ledger.made).toHaveLength(5)
    await worker.signal('r', 'approval', { ok: 'yes' })
    await worker.idle()
    expect(world.ended).toMatchObject([{ status: 'done', value: 'yes 10' }])
    expect(ledger.made.slice(5)).toEqual(['{"n":200}', '{"n":300}'])
    await worker.stop()
  },
)

test('an edit of what was done already is shown as a difference, and the run stays as it was', async () => {
  const { world, ledger, runtime, worker } = await openWaiting()
  const edited = SCRIPT.replace('range(0, 5)', 'range(1, 5)')
  expect(await worker.migrate('r', runtime.compile(edited, { file: 'new.harn' }))).toMatchObject({
    outcome: 'diverged',
    divergence: {
      code: 'replay_mismatch',
      expected: { name: 'tool.call w.step', args: expect.stringContaining('"args":{"n":0}') as unknown },
      actual: { name: 'tool.call w.step', args: expect.stringContaining('"args":{"n":1}') as unknown },
      place: { file: 'new.harn', line: 3 },
    },
  })
  await worker.signal('r', 'approval', { ok: 'yes' })
  await worker.idle()
  expect(world.ended).toMatchObject([{ status: 'done', value: 'yes 10' }])
  expect(ledger.made.at(-1)).toBe('{"n":100}')
  await worker.stop()
})

test('a program that ends before the recorded calls do is a difference', async () => {
  const { runtime, worker } = await openWaiting()
  expect(await worker.migrate('r', runtime.compile('return 1'))).toMatchObject({ outcome: 'diverged' })
  await worker.stop()
})

test('a stuck run continues with a program that behaves the same', async () => {
  const { world, ledger, runtime, worker } = await openWaiting()
  await worker.stop()
  const { program } = (await world.store.read('r'))!
  const other = await world.store.join({ name: 'other', leaseMs: 1000, tools: null }, world.clock.now())
  await world.store.signal('r', 'approval', '{"ok":"yes"}', world.clock.now())
  await other.take({ now: world.clock.now(), most: 1, busy: [] })
  expect(await migrateRun({ store: world.store, runtime, now: 1 }, 'r', runtime.compile(SCRIPT))).toEqual({ outcome: 'changed' })
  await other.commit([{ do: 'stuck', runId: 'r', reason: 'a bad deploy' }])
  await other.leave()
  const mended = runtime.compile(`// mended\n${SCRIPT}`)
  expect(mended.hash).not.toBe(program.hash)
  expect(await worker.migrate('r', mended)).toEqual({ outcome: 'migrated' })
  worker.start()
  await worker.idle()
  expect(world.ended).toMatchObject([{ status: 'done', value: 'yes 10' }])
  expect(ledger.made).toHaveLength(6)
  await worker.stop()
})

test('a journal that has been migrated is whole: it can be exported, and migrated again', async () => {
  const { world, runtime, worker } = await openWaiting()
  const before = (await world.store.read('r'))!.journal
  await worker.stop()
  expect(await worker.migrate('r', runtime.compile(`${SCRIPT} // once`))).toEqual({ outcome: 'migrated' })
  // Also before a worker has seen it, it says what it waits for.
  expect(await world.store.get('r')).toMatchObject({ state: 'ready', waitsFor: ['approval'] })
  worker.start()
  await worker.idle()
  expect(await worker.migrate('r', runtime.compile(`${SCRIPT} // twice`))).toEqual({ outcome: 'migrated' })
  await worker.idle()
  const after = (await world.store.read('r'))!.journal
  expect(after.slice(1, before.length)).toEqual(before.slice(1))
  expect(JSON.parse(after[0]!)).toMatchObject({ type: 'run', program: runtime.compile(`${SCRIPT} // twice`).hash })
  await worker.stop()
})

test('without a whole journal, and of runs that have ended or never were, nothing is migrated', async () => {
  const { runtime, worker } = await openWaiting({ archive: false })
  const module = runtime.compile(SCRIPT)
  expect(await worker.migrate('r', module)).toEqual({ outcome: 'no_journal' })
  expect(await worker.migrate('nobody', module)).toEqual({ outcome: 'gone' })
  await worker.signal('r', 'approval', { ok: 'yes' })
  await worker.idle()
  expect(await worker.migrate('r', module)).toEqual({ outcome: 'gone' })
  await worker.stop()
})

test('a worker that dies at any commit behind a migration loses nothing', async () => {
  for (let at = 1; at <= 6; at++) {
    const { world, ledger, runtime, worker } = await openWaiting()
    await worker.stop()
    expect(await worker.migrate('r', runtime.compile(`${SCRIPT} // new`))).toEqual({ outcome: 'migrated' })
    await world.store.signal('r', 'approval', '{"ok":"yes"}', world.clock.now())
    const mortal = makeMortal(world.store, at)
    const doomed = world.open({ tools: ledger.tools }, { store: mortal.store, checkpointAfter: 2 })
    await Promise.race([mortal.death, doomed.worker.idle()])
    await doomed.worker.stop()
    world.clock.advance(5000)
    const next = world.open({ tools: ledger.tools })
    await next.worker.idle()
    expect(world.ended.map(({ status }) => status)).toContain('done')
    expect(ledger.made.filter((each) => each === '{"n":100}').length).toBeLessThanOrEqual(1)
    expect(ledger.made.slice(0, 5)).toEqual([0, 1, 2, 3, 4].map((n) => `{"n":${n}}`))
    await next.worker.stop()
  }
})

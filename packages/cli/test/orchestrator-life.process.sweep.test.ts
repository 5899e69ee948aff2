// An orchestrator from start to end: scheduled and missed ticks, where pumps stop and continue, and failing pumps.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openEventLog } from '@bridle/stdlib-tools/node'
import { OrchestratorBox, until } from './orchestrator-server.js'

const boxes: OrchestratorBox[] = []
afterAll(async () => {
  for (const box of boxes) await box.remove()
})

const LIB = `import "std/triggers"

pub fn keep(event: TriggerEvent) -> dict {
  append_file("events.jsonl", json_stringify({trigger: handler_context().agent, key: event.dedupe_key, at: event.occurred_at, payload: event.provider_payload}) + "\\n")
  return {ok: true}
}
`

function makeBox(...triggers: readonly string[]): OrchestratorBox {
  const box = new OrchestratorBox({ 'harn.toml': `[package]\nname = "desk"\n\n${triggers.join('\n')}`, 'lib.harn': LIB })
  boxes.push(box)
  return box
}

function makeCron(id: string, schedule: string, more = ''): string {
  return `[[triggers]]\nid = "${id}"\nkind = "cron"\nprovider = "cron"\nmatch = { events = ["cron.tick"] }\nschedule = "${schedule}"\nhandler = "keep"\n${more}\n`
}

const STREAM = `[[triggers]]\nid = "numbers"\nkind = "stream"\nprovider = "kafka"\nmatch = { path = "/numbers" }\ntopic = "t"\nhandler = "keep"\n`

interface Kept {
  readonly trigger: string
  readonly key: string
  readonly at: string
  readonly payload: { readonly raw: { readonly catchup?: boolean; readonly number?: number } }
}

const MINUTE = 60_000

test('a schedule fires, and missed ticks fire by the policy of the trigger', async () => {
  const box = makeBox(
    makeCron('seconds', '* * * * * *'),
    makeCron('skip', '* * * * *', 'timezone = "Europe/Berlin"'),
    makeCron('latest', '* * * * *', 'catchup_mode = "latest"'),
    makeCron('all', '* * * * *', 'catchup_mode = "all"'),
    makeCron('never', '* * * * *', 'catchup_mode = "all"'),
  )
  box.makeFolder('state')
  const { log, store } = await openEventLog({ backend: 'sqlite', folder: join(box.folder, 'state') })
  const last = Math.floor(Date.now() / MINUTE) * MINUTE - 3 * MINUTE
  log.write((transaction) => {
    for (const id of ['skip', 'latest', 'all'])
      transaction.append({
        topic: 'connectors.cron.state',
        kind: 'cron_trigger_state',
        payload: { trigger_id: id, last_fired_at: new Date(last).toISOString() },
        headers: {},
        atMs: last,
      })
  })
  log.close()
  await store.close()
  const server = await box.serve()
  const list = (trigger: string): readonly Kept[] =>
    box.readLines<Kept>('events.jsonl').filter((each) => each.trigger === trigger && each.payload.raw.catchup !== false)
  await until(() => list('all').length >= 3 && list('latest').length === 1 && box.read('events.jsonl').includes('"seconds"'))
  const missed = list('all').map(({ key }) => key)
  expect(missed.slice(0, 3)).toEqual([1, 2, 3].map((count) => `cron:all:${(last + count * MINUTE) / 1000}`))
  expect(new Set(missed).size).toBe(missed.length)
  expect(list('latest')[0]!.at).toBe(list('all').at(-1)!.at)
  expect(list('skip')).toEqual([])
  expect(list('never')).toEqual([])
  const [first] = box.readLines<Kept>('events.jsonl').filter(({ trigger }) => trigger === 'seconds')
  expect(first).toMatchObject({
    key: `cron:seconds:${Date.parse(first!.at) / 1000}`,
    payload: {
      provider: 'cron',
      cron_id: 'seconds',
      schedule: '* * * * * *',
      tick_at: first!.at,
      raw: { catchup: false, timezone: 'UTC' },
    },
  })
  expect(await server.stop()).toBe(0)
}, 60_000)

test('a tick is handled once, also when the process died between the tick and its record', async () => {
  const box = makeBox(makeCron('nightly', '30 2 * * *', 'timezone = "Europe/Berlin"'))
  const at = '2026-04-19T00:30:00Z'
  const dying = { HARN_TEST_CRON_SINGLE_TICK_AT: at, HARN_TEST_CRON_FAIL_AFTER_EMIT: '1' }
  await expect(box.serve([], dying)).rejects.toThrow('ended with 86')
  expect(await box.listRecords('connectors.cron.tick')).toHaveLength(1)
  expect(await box.listRecords('connectors.cron.state')).toEqual([])
  const server = await box.serve([], { HARN_TEST_CRON_SINGLE_TICK_AT: at })
  await until(() => box.read('events.jsonl') !== '')
  expect(await server.stop()).toBe(0)
  expect(await box.listRecords('connectors.cron.tick')).toHaveLength(1)
  expect((await box.listRecords('connectors.cron.state')).map(({ payload }) => payload)).toEqual([
    { trigger_id: 'nightly', last_fired_at: at },
  ])
  expect(box.readLines<Kept>('events.jsonl').map(({ key }) => key)).toEqual(['cron:nightly:1776558600'])
}, 60_000)

test('a drain ends at its limit, and the next start continues after it', async () => {
  const box = makeBox(STREAM)
  const [waiting, release, draining] = ['waiting', 'release', 'draining'].map((name) => join(box.folder, name))
  const gates = {
    HARN_TEST_ORCHESTRATOR_PUMP_WAITING_FILE: waiting!,
    HARN_TEST_ORCHESTRATOR_PUMP_RELEASE_FILE: release!,
    HARN_TEST_ORCHESTRATOR_PUMP_DRAINING_FILE: draining!,
  }
  const first = await box.serve(['--drain-max-items', '4', '--shutdown-timeout', '20s'], gates)
  for (let number = 1; number <= 25; number++) expect((await first.post('/numbers', { number, id: number })).status).toBe(200)
  await until(() => box.read('waiting') !== '')
  expect(box.read('events.jsonl')).toBe('')
  first.child.kill('SIGTERM')
  await until(() => box.read('draining') !== '')
  expect((await fetch(`${first.url}/readyz`).catch(() => null))?.status ?? 503).toBe(503)
  writeFileSync(release!, '')
  expect(await first.ended).toBe(0)
  expect(first.log()).toContain(
    '[harn] warning: pump drain truncated for orchestrator.triggers.pending: remaining_queued=21 drain_items=4 reason=max_items',
  )
  expect(first.log()).toContain('[harn] graceful shutdown complete')
  const kinds = (await box.listRecords('orchestrator.lifecycle')).filter(({ kind }) => !kind.startsWith('pump_'))
  expect(kinds.map(({ kind }) => kind)).toEqual(['startup', 'draining', 'drain_truncated', 'stopped'])
  expect(kinds.at(-1)!.payload).toMatchObject({
    status: 'stopped',
    pending_events_drained: 4,
    inbox_events_drained: 4,
    timed_out: false,
  })
  expect(box.readLines('events.jsonl')).toHaveLength(4)

  const second = await box.serve()
  await until(() => box.readLines('events.jsonl').length >= 25)
  expect(await second.stop()).toBe(0)
  const numbers = box.readLines<Kept>('events.jsonl').map(({ payload }) => payload.raw.number!)
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, at) => at + 1))
}, 120_000)

test('a failing pump is reported, and loses nothing', async () => {
  const box = makeBox(STREAM)
  const first = await box.serve([], { HARN_TEST_ORCHESTRATOR_FAIL_PENDING_PUMP: '1' })
  expect((await first.post('/numbers', { number: 1 })).status).toBe(200)
  await until(() => first.log().includes('pump of orchestrator.triggers.pending failed'))
  expect((await fetch(`${first.url}/health`)).status).toBe(200)
  expect(await first.stop()).toBe(0)
  expect(first.log()).toContain(
    'pump drain truncated for orchestrator.triggers.pending: remaining_queued=1 drain_items=0 reason=error',
  )
  const second = await box.serve()
  await until(() => box.read('events.jsonl') !== '')
  expect(await second.stop()).toBe(0)
}, 60_000)

test.each(['file', 'memory'])(
  'with the log as %s',
  async (backend) => {
    const box = makeBox(STREAM)
    const server = await box.serve([], { HARN_EVENT_LOG_BACKEND: backend })
    expect(server.log()).toContain(`event log: ${backend}`)
    expect((await server.post('/numbers', { number: 1 })).status).toBe(200)
    await until(() => box.read('events.jsonl') !== '')
    expect(await server.stop()).toBe(0)
    const lines = box.readLines<{ id: number; event: { kind: string; payload: { trigger_id: string } } }>(
      'state/events/topics/trigger.inbox.envelopes.jsonl',
    )
    if (backend === 'file')
      expect(lines).toEqual([expect.objectContaining({ id: 1, event: expect.objectContaining({ kind: 'event_ingested' }) })])
  },
  60_000,
)

test.each([
  ['a path without a slash', STREAM.replace('/numbers', 'numbers'), "trigger 'numbers' path must start with '/'"],
  ['a path twice', STREAM + STREAM.replace('"numbers"', '"others"'), "trigger route '/numbers' is configured more than once"],
  [
    'a push without credentials',
    STREAM.replace('"stream"', '"a2a-push"').replace('kafka', 'a2a-push').replace('topic = "t"\n', ''),
    'HARN_ORCHESTRATOR_API_KEYS must contain at least one API key when a2a-push routes are configured',
  ],
])(
  'it does not start with %s',
  async (_name, triggers, problem) => {
    await expect(makeBox(triggers).serve()).rejects.toThrow(`error: ${problem}`)
  },
  60_000,
)

test('a draining version ends when its last dispatch has ended, also one that waits for a person', async () => {
  const box = makeBox(STREAM.replace('"keep"', '"ask"'))
  box.write(
    'lib.harn',
    `${LIB}
pub fn ask(event: TriggerEvent) -> dict {
  let answer = escalate_to("desk", "what now")
  append_file("answers.txt", "old code: \${answer.reviewer}\\n")
  return {ok: true}
}
`,
  )
  const server = await box.serve()
  await server.post('/numbers', { number: 1 })
  const find = async (topic: string, kind: string): Promise<readonly { readonly [name: string]: unknown }[]> =>
    (await box.listRecords(topic)).filter((each) => each.kind === kind).map(({ payload }) => payload as never)
  const untilFound = async (topic: string, kind: string, count = 1): Promise<readonly { readonly [name: string]: unknown }[]> => {
    for (;;) {
      const found = await find(topic, kind)
      if (found.length >= count) return found
    }
  }
  const [asked] = await untilFound('hitl.escalations', 'hitl.escalation_issued')
  box.write('harn.toml', `[package]\nname = "desk"\n\n${STREAM}`)
  server.child.kill('SIGHUP')
  await until(() => server.log().includes('manifest reloaded via signal (+0 ~1 -0)'))
  const states = async (): Promise<readonly unknown[]> =>
    (await find('triggers.lifecycle', 'state_transition')).map(
      ({ binding_key: key, to_state: state }) => `${String(key)} ${String(state)}`,
    )
  expect((await states()).slice(2)).toEqual(['numbers@v1 draining', 'numbers@v2 registering', 'numbers@v2 active'])
  await server.post('/numbers', { number: 2 })
  await until(() => box.readLines('events.jsonl').length === 1)

  // The process ends before the person answers: another one finishes the old version, with the old code.
  expect(await server.stop()).toBe(0)
  box.write('lib.harn', LIB)
  const next = await box.serve()
  expect((await states()).at(-1)).not.toBe('numbers@v1 terminated')
  expect((await box.run(['orchestrator', 'resume', String(asked!['request_id']), '--state-dir', 'state'])).code).toBe(0)
  await until(() => box.read('answers.txt') === 'old code: manual\n')
  const ended = await untilFound('triggers.lifecycle', 'state_transition', 8)
  expect(ended.at(-1)).toMatchObject({ binding_key: 'numbers@v1', from_state: 'draining', to_state: 'terminated' })
  expect(await next.stop()).toBe(0)
}, 120_000)

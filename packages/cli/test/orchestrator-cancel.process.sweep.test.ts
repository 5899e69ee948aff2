// What ends a dispatch in its middle: somebody cancels it while its handler runs or waits, or between two attempts. And what puts
// one off: a budget that is used up for this hour.

import { afterAll, expect, test } from 'vitest'
import { OrchestratorBox, until } from './orchestrator-server.js'

function makeTrigger(id: string, handler: string, more = ''): string {
  return `[[triggers]]\nid = "${id}"\nkind = "stream"\nprovider = "kafka"\nmatch = { path = "/${id}" }\ntopic = "t"\nhandler = "${handler}"\n${more}\n`
}

const box = new OrchestratorBox({
  'harn.toml': `[package]
name = "desk"

[orchestrator.budget]
hourly_cost_usd = 0.5

${[
  makeTrigger('asks', 'asks', 'singleton = {}'),
  makeTrigger('sleeps', 'sleeps'),
  makeTrigger('retries', 'fails', 'retry = { max = 3, backoff = "svix" }'),
  makeTrigger(
    'costs',
    'asks',
    'when = "is_dear"\nwhen_budget = { max_cost_usd = 0.9 }\nbudget = { on_budget_exhausted = "retry_later" }',
  ),
].join('\n')}`,
  'lib.harn': `import "std/triggers"

pub fn asks(event: TriggerEvent) -> dict {
  append_file("begun.txt", "asks\\n")
  let answer = escalate_to("desk", "what now")
  return {reviewer: answer.reviewer}
}

pub fn sleeps(event: TriggerEvent) -> dict {
  append_file("begun.txt", "sleeps\\n")
  sleep(1h)
}

pub fn fails(event: TriggerEvent) -> dict {
  append_file("begun.txt", "fails\\n")
  throw "not yet"
}

pub fn is_dear(event: TriggerEvent) -> bool {
  append_file("begun.txt", "is_dear\\n")
  return true
}
`,
})
afterAll(async () => box.remove())

interface Facts {
  readonly trigger_id: string
  readonly event_id: string
  readonly [name: string]: unknown
}

async function findRecord(topic: string, kind: string, trigger: string): Promise<Facts> {
  for (;;) {
    const found = (await box.listRecords(topic)).find(
      (each) => each.kind === kind && (each.payload as Facts).trigger_id === trigger,
    )
    if (found !== undefined) return found.payload as Facts
  }
}

const MIDDLES: readonly (readonly [string, string, string])[] = [
  ['asks', 'dispatch_started', 'trigger cancel request cancelled local handler'],
  ['sleeps', 'dispatch_started', 'trigger cancel request cancelled local handler'],
  ['retries', 'dispatch_failed', 'trigger cancel request cancelled retry wait'],
]

test('cancelled in the middle', async () => {
  const server = await box.serve()
  for (const [trigger, kind, error] of MIDDLES) {
    await server.post(`/${trigger}`, { number: 1 })
    const { event_id: event } = await findRecord('trigger.outbox', kind, trigger)
    if (trigger === 'retries') await findRecord('trigger.attempts', 'retry_scheduled', trigger)
    const { out } = await box.run(['trigger', 'cancel', event])
    expect(JSON.parse(out)).toMatchObject({ event_id: event, requested: [`${trigger}@v1`] })
    const isOver = async (): Promise<boolean> =>
      (await box.listRecords('trigger.outbox')).some(
        ({ payload }) => (payload as Facts).event_id === event && payload['error'] === error,
      )
    while (!(await isOver()));
    expect(await box.runJson(['trigger', 'cancel', event])).toMatchObject({ requested: [], already_finished: [`${trigger}@v1`] })
    const trust = (await box.listRecords('trust_graph')).map(
      ({ payload }) => payload as { agent: string; outcome: string; metadata: object },
    )
    expect(trust.filter(({ agent }) => agent === trigger)).toEqual([
      expect.objectContaining({
        outcome: 'denied',
        metadata: expect.objectContaining({ terminal_status: 'cancelled', error }) as object,
      }),
    ])
  }
  // The place that the first one held is free again.
  await server.post('/asks', { number: 2 })
  await until(() => box.read('begun.txt').split('asks\n').length === 3)
  const { triggers } = await box.runJson<{ triggers: readonly { id: string; metrics: object }[] }>([
    'orchestrator',
    'inspect',
    '--state-dir',
    'state',
    '--json',
  ])
  expect(triggers.find(({ id }) => id === 'sleeps')!.metrics).toMatchObject({
    received: 1,
    dispatched: 0,
    failed: 1,
    in_flight: 0,
  })
  expect(await server.stop()).toBe(0)
}, 120_000)

test('a request that comes while nobody serves', async () => {
  const first = await box.serve()
  await first.post('/sleeps', { number: 2 })
  await until(() => box.read('begun.txt').split('sleeps\n').length === 3)
  await first.stop('SIGKILL')
  const last = (await box.listRecords('trigger.inbox.envelopes')).at(-1)!.payload['event'] as { readonly id: string }
  const event = last.id
  await box.run(['trigger', 'cancel', event])
  const second = await box.serve()
  const isOver = async (): Promise<boolean> =>
    (await box.listRecords('trigger.attempts')).some(
      ({ payload }) => (payload as Facts).event_id === event && payload['outcome'] === 'cancelled',
    )
  while (!(await isOver()));
  expect(await second.stop()).toBe(0)
}, 120_000)

test('the budget of all triggers puts an event off until the next hour', async () => {
  const server = await box.serve()
  await server.post('/costs', { number: 1 })
  const deferred = await findRecord('trigger.attempts', 'budget_deferred', 'costs')
  expect(deferred).toMatchObject({ reason: 'orchestrator_hourly_budget_exceeded' })
  expect(Date.parse(String(deferred['retry_at'])) % 3_600_000).toBe(0)
  expect(box.read('begun.txt')).not.toContain('is_dear')
  const isParked = async (): Promise<boolean> =>
    (await box.run(['runs', 'list', '--store', 'state/events.sqlite', '--state', 'parked'])).out.includes('costs@v1/')
  while (!(await isParked()));
  expect(await server.stop()).toBe(0)
}, 120_000)

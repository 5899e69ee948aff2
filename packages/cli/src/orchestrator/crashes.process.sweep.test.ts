// The promises of the dispatcher, with a process that dies in front of or behind a transaction, at forty places over a whole run: no accepted event is lost, none is
// dispatched twice, none passes its dedupe key twice, events of a key go in their order, and what is there drains.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openEventLog } from '@bridle/stdlib-tools/node'
import { afterAll, expect, test } from 'vitest'
import { Desk } from './desk.js'
import { Inbox } from './inbox.js'
import { makeIds } from './ids.js'
import { Listener } from './listener.js'
import { Dispatcher, INBOX, OUTBOX, PENDING } from './pumps.js'
import type { EventRecord } from './pumps.js'
import { readMetrics } from './snapshot.js'

const box = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-crashes-')))
afterAll(() => rmSync(box, { recursive: true, force: true }))
writeFileSync(
  join(box, 'harn.toml'),
  `[package]
name = "desk"

[[triggers]]
id = "orders"
kind = "stream"
provider = "kafka"
match = {}
topic = "t"
dedupe_key = "event.dedupe_key"
handler = "handle"
retry = { max = 2 }
concurrency = { key = "event.provider_payload.raw.customer", max = 1 }
`,
)
writeFileSync(
  join(box, 'lib.harn'),
  `import "std/triggers"

pub fn handle(event: TriggerEvent) -> dict {
  sleep(1)
  if event.provider_payload.raw.number == 3 {
    throw "no"
  }
  return {number: event.provider_payload.raw.number}
}
`,
)

class Crash extends Error {}

/** A process that dies at a place: `left` places in front of and behind transactions pass before. */
class Life {
  private left: number
  places = 0
  isOver = false

  constructor(left: number) {
    this.left = left
  }

  readonly around = <T>(transaction: () => T): T => {
    this.pass()
    const value = transaction()
    this.pass()
    return value
  }

  private pass(): void {
    if (this.left-- <= 0) this.isOver = true
    if (this.isOver) throw new Crash('the process has died')
    this.places++
  }
}

const LEASE_MS = 400
const EVENTS = [
  { number: 1, customer: 'a' },
  { number: 2, customer: 'b' },
  { number: 3, customer: 'a' },
  { number: 4, customer: 'a' },
] as const

function makeEvent(number: number, customer: string): EventRecord {
  const { eventId, traceId } = makeIds()
  return {
    id: eventId,
    provider: 'kafka',
    kind: 'order',
    trace_id: traceId,
    tenant_id: null,
    dedupe_key: `order-${number}`,
    received_at: new Date().toISOString(),
    occurred_at: null,
    headers: {},
    signature_status: { state: 'unsigned' },
    provider_payload: { provider: 'kafka', raw: { number, customer } },
  }
}

class OneProcess {
  readonly desk: Desk
  readonly dispatcher: Dispatcher
  readonly listener: Listener

  private constructor(desk: Desk, dispatcher: Dispatcher, listener: Listener) {
    this.desk = desk
    this.dispatcher = dispatcher
    this.listener = listener
  }

  static async start(state: string, life: Life): Promise<OneProcess> {
    const desk = await Desk.open({ config: box, stateDir: state, allowAll: true } as never, (folder) =>
      openEventLog({ backend: 'sqlite', folder, around: life.around }),
    )
    await desk.install()
    const dispatcher = new Dispatcher(desk, { maxOutstanding: 8, leaseMs: LEASE_MS })
    const hooks = {
      isReady: () => true,
      metrics: () => '',
      reload: async () => ({ status: 200, body: '' }),
      onAccepted: () => dispatcher.kick(),
    }
    const listener = new Listener(desk, new Inbox(desk.log), hooks)
    await dispatcher.settleEnded()
    dispatcher.start()
    return new OneProcess(desk, dispatcher, listener)
  }

  /** A sender that sends again until it has an answer. */
  accept(number: number, customer: string): string {
    const { body } = this.listener.accept(this.desk.find('orders')!, [makeEvent(number, customer)], Date.now())
    return (body as { status: string }).status
  }

  isQuiet(): boolean {
    const { log } = this.desk
    const isAt = (topic: string): boolean => (log.cursor(topic, `orchestrator-pump.${topic}`) ?? 0) === log.head(topic)
    return isAt(PENDING) && isAt(INBOX) && listEnds(this.desk).length >= EVENTS.length
  }

  /** Whatever it still does comes to nothing, when it has died. */
  async leave(): Promise<void> {
    const { pending, cron, inbox, cancels } = this.dispatcher
    for (const pump of [pending, cron, inbox, cancels]) await pump.drainAll({ maxItems: 0, deadlineMs: 0 }).catch(() => {})
    await this.dispatcher.stop().catch(() => {})
    try {
      this.desk.log.close()
    } catch {
      // It has died.
    }
    await this.desk.store.close().catch(() => {})
  }
}

interface End {
  readonly kind: string
  readonly number: number
}

/** Dispatches that are over: succeeded, or dead letters. */
function listEnds({ log }: Desk): readonly End[] {
  const numbers = new Map<string, number>()
  for (const { payload } of log.read({ topic: INBOX })) {
    const { event } = payload as unknown as { event: { id: string; provider_payload: { raw: { number: number } } } }
    numbers.set(event.id, event.provider_payload.raw.number)
  }
  const done = log.read({ topic: OUTBOX, kind: 'dispatch_succeeded' })
  const dead = log.read({ topic: 'trigger.dlq', kind: 'dlq_moved' })
  return [...done, ...dead].map(({ kind, headers }) => ({ kind, number: numbers.get(headers['event_id']!)! }))
}

/** Runs it all with a crash at a place; how many places there were before. */
async function runWithCrash(place: number): Promise<number> {
  const state = join(box, `state-${place}`)
  const life = new Life(place)
  const unanswered = new Set(EVENTS)
  let first: OneProcess | null = null
  try {
    first = await OneProcess.start(state, life)
    for (const event of EVENTS) {
      first.accept(event.number, event.customer)
      unanswered.delete(event)
    }
    while (!life.isOver && !first.isQuiet()) await delay(2)
  } catch (cause) {
    if (!life.isOver) throw cause
  }
  if (first !== null) await first.leave()
  const next = await OneProcess.start(state, new Life(Infinity))
  for (const { number, customer } of unanswered) next.accept(number, customer)
  expect(EVENTS.map(({ number, customer }) => next.accept(number, customer))).toEqual(EVENTS.map(() => 'duplicate_dropped'))
  const end = Date.now() + 20_000
  while (!next.isQuiet()) {
    if (Date.now() > end)
      throw new Error(`with a crash at place ${place} it does not settle: ${JSON.stringify(listEnds(next.desk))}`)
    await delay(2)
  }
  while (await next.desk.hasOpenDispatch('orders@v1')) await delay(2)
  const where = `crash at place ${place}`
  const ends = listEnds(next.desk)
  expect(
    [...ends].toSorted((a, b) => a.number - b.number),
    where,
  ).toEqual([
    { kind: 'dispatch_succeeded', number: 1 },
    { kind: 'dispatch_succeeded', number: 2 },
    { kind: 'dlq_moved', number: 3 },
    { kind: 'dispatch_succeeded', number: 4 },
  ])
  const { log } = next.desk
  const count = (topic: string, kind: string): number => log.read({ topic, kind }).length
  expect(
    {
      pending: count(PENDING, 'trigger_event'),
      claims: count('trigger.inbox.claims', 'dedupe_claim'),
      started: count(OUTBOX, 'dispatch_started'),
      attempts: count('trigger.attempts', 'attempt_recorded'),
      trust: count('trust_graph', 'trust_recorded'),
      letters: count('trigger.dlq', 'dlq_entry'),
    },
    where,
  ).toEqual({ pending: 4, claims: 4, started: 5, attempts: 5, trust: 4, letters: 1 })
  expect(await next.desk.ask({ action: 'trust_verify' }), where).toMatchObject({ verified: true, total: 4 })
  expect(readMetrics(next.desk, next.desk.find('orders')!), where).toMatchObject({
    received: 4,
    dispatched: 3,
    dlq: 1,
    in_flight: 0,
  })
  await next.leave()
  return life.places
}

test('no place to die loses an event or doubles one', async () => {
  const places = await runWithCrash(1_000_000)
  expect(places).toBeGreaterThan(50)
  const step = Math.ceil(places / 40)
  for (let place = 0; place < places; place += step) await runWithCrash(place)
}, 1_200_000)

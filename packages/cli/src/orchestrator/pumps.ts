// From an accepted event to its dispatch: pending records become envelopes of the inbox, as do ticks of cron, and each envelope is a durable run. A pump
// stores its position in the log, so that it continues there after its process died.

import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { DurableWorker, RunReleased } from '@bridle/stdlib-tools'
import type { EndedRun } from '@bridle/stdlib-tools'
import type { LogRecord } from '@bridle/stdlib-tools/node'
import { complain } from '../printable.js'
import { makeRecord } from './desk.js'
import type { Desk } from './desk.js'

export const PENDING = 'orchestrator.triggers.pending'
export const CRON_TICKS = 'connectors.cron.tick'
export const INBOX = 'trigger.inbox.envelopes'
export const OUTBOX = 'trigger.outbox'
export const CANCEL_REQUESTS = 'trigger.cancel.requests'
export const LIFECYCLE = 'orchestrator.lifecycle'

/** Interval of polling for records of other processes. */
const LOOK_MS = 100
/** How long a pump waits after a record that it could not process. */
const RETRY_MS = 1000
const AT_ONCE = 64

export interface EventRecord {
  readonly id: string
  readonly provider: string
  readonly kind: string
  readonly trace_id: string
  readonly tenant_id: string | null
  readonly dedupe_key: string
  readonly received_at: string
  readonly headers: { readonly [name: string]: string }
  readonly [name: string]: unknown
}

export interface Envelope {
  readonly trigger_id: string
  readonly binding_version: number
  readonly event: EventRecord
}

export interface DrainLimits {
  readonly maxItems: number
  readonly deadlineMs: number
}

export interface DrainReport {
  readonly topic: string
  readonly drained: number
  readonly remaining: number
  readonly outstanding: number
  readonly reason: 'drained' | 'max_items' | 'deadline' | 'error'
}

/** A point where tests can block a pump and read its position. */
interface PumpGate {
  readonly waiting: string | undefined
  readonly release: string | undefined
  readonly draining: string | undefined
}

export class Pump {
  readonly topic: string
  private readonly desk: Desk
  private readonly take: (record: LogRecord) => Promise<void>
  private readonly gate: PumpGate
  private cursor: number
  private wake: (() => void) | null = null
  private isStopping = false
  private hasWaited = false
  private looping: Promise<void> | null = null
  private drain: { readonly until: number; readonly limits: DrainLimits; count: number } | null = null

  constructor(desk: Desk, topic: string, take: (record: LogRecord) => Promise<void>, gate: PumpGate) {
    this.desk = desk
    this.topic = topic
    this.take = take
    this.gate = gate
    this.cursor = desk.log.cursor(topic, this.consumer) ?? 0
  }

  start(): void {
    this.looping = this.loop()
    // Reported to a caller that drains.
    this.looping.catch(() => {})
  }

  /** There may be something new. */
  kick(): void {
    this.wake?.()
  }

  /** Processes the records that exist now, within the limits, and ends. */
  async drainAll(limits: DrainLimits): Promise<DrainReport> {
    const { draining } = this.gate
    if (draining !== undefined) writeFileSync(draining, 'draining\n')
    const head = this.desk.log.head(this.topic)
    this.drain = { until: head, limits, count: 0 }
    this.kick()
    const deadline = Date.now() + limits.deadlineMs
    const timer = new AbortController()
    const late = delay(limits.deadlineMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const)
    let reason: DrainReport['reason'] = 'drained'
    try {
      if ((await Promise.race([this.looping!.then(() => 'done' as const), late])) === 'late') reason = 'deadline'
    } catch {
      reason = 'error'
    }
    timer.abort()
    this.isStopping = true
    this.kick()
    const remaining = Math.max(0, head - this.cursor)
    if (reason === 'drained' && remaining > 0) reason = Date.now() >= deadline ? 'deadline' : 'max_items'
    return { topic: this.topic, drained: this.drain.count, remaining, outstanding: 0, reason }
  }

  private get consumer(): string {
    return `orchestrator-pump.${this.topic}`
  }

  private async loop(): Promise<void> {
    while (!this.isStopping) {
      if (this.isDrained()) return
      const { log } = this.desk
      const records = log.read({ topic: this.topic, after: this.cursor, first: AT_ONCE })
      for (const record of records) {
        if (this.isStopping || this.isDrained()) return
        await this.waitAtGate()
        if (!(await this.tryTake(record))) break
        this.cursor = record.id
        const { cursor } = this
        log.later((transaction) => transaction.setCursor(this.topic, this.consumer, cursor))
        if (this.drain !== null) this.drain.count++
      }
      if (records.length === 0 && this.drain === null) await this.rest()
    }
  }

  /** A failure is retried after a time, since everything behind it waits; shutdown does not wait for that. */
  private async tryTake(record: LogRecord): Promise<boolean> {
    try {
      await this.take(record)
      return true
    } catch (cause) {
      complain(`[harn] warning: pump of ${this.topic} failed at ${record.id}: ${String(cause)}\n`)
      if (this.drain !== null) throw cause
      await this.rest(RETRY_MS)
      return false
    }
  }

  private isDrained(): boolean {
    const { drain } = this
    return drain !== null && (this.cursor >= drain.until || drain.count >= drain.limits.maxItems)
  }

  private async waitAtGate(): Promise<void> {
    const { waiting, release } = this.gate
    if (release === undefined || this.hasWaited) return
    this.hasWaited = true
    if (waiting !== undefined) writeFileSync(waiting, 'waiting\n')
    while (!existsSync(release)) await delay(20)
  }

  private async rest(ms = LOOK_MS): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.wake = null
  }
}

const TOPIC_GATE: PumpGate = {
  waiting: process.env['HARN_TEST_ORCHESTRATOR_PUMP_WAITING_FILE'],
  release: process.env['HARN_TEST_ORCHESTRATOR_PUMP_RELEASE_FILE'],
  draining: process.env['HARN_TEST_ORCHESTRATOR_PUMP_DRAINING_FILE'],
}

const NO_GATE: PumpGate = { waiting: undefined, release: undefined, draining: undefined }

/** The id of the run that dispatches an event to a binding. */
export function nameDispatch({ trigger_id: id, binding_version: version, event }: Envelope): string {
  return `${id}@v${version}/${event.id}`
}

export interface DispatcherOptions {
  /** Number of concurrent dispatches. */
  readonly maxOutstanding: number
  readonly leaseMs?: number
  /** Called when a dispatch has ended. */
  readonly onEnd?: () => void
}

export class Dispatcher {
  readonly pending: Pump
  readonly cron: Pump
  readonly inbox: Pump
  readonly cancels: Pump
  private readonly desk: Desk
  private readonly worker: DurableWorker
  private readonly maxOutstanding: number
  private readonly onEnd: () => void
  private readonly running = new Map<string, Envelope>()
  private freed: (() => void)[] = []
  private readonly idle: (() => void)[] = []

  constructor(desk: Desk, { maxOutstanding, leaseMs, onEnd = () => {} }: DispatcherOptions) {
    this.desk = desk
    this.onEnd = onEnd
    this.maxOutstanding = maxOutstanding
    this.worker = new DurableWorker({
      store: desk.store,
      runtime: desk.runtime,
      name: `orchestrator, process ${process.pid}`,
      ...(leaseMs === undefined ? {} : { leaseMs }),
      start: () => ({
        providers: desk.providers,
        onEvent: (event) => {
          if (event.type === 'output') process.stderr.write(event.text)
        },
      }),
      onEnd: (ended) => this.end(ended),
      onParked: (runId) => this.release(runId),
      onStuck: (runId, reason) => {
        complain(`[harn] warning: dispatch ${runId} is stuck: ${reason}\n`)
        this.release(runId)
      },
      onError: (cause) => {
        if (!(cause instanceof RunReleased)) complain(`[harn] warning: ${String(cause)}\n`)
      },
    })
    const fail = process.env['HARN_TEST_ORCHESTRATOR_FAIL_PENDING_PUMP'] !== undefined
    this.pending = new Pump(
      desk,
      PENDING,
      async (record) => {
        if (fail) throw new Error('the pending pump fails, as a test asked')
        this.enqueue(record)
      },
      TOPIC_GATE,
    )
    this.cron = new Pump(desk, CRON_TICKS, async (record) => this.enqueueTick(record), NO_GATE)
    this.inbox = new Pump(desk, INBOX, (record) => this.admit(record), NO_GATE)
    this.cancels = new Pump(desk, CANCEL_REQUESTS, (record) => this.cancel(record), NO_GATE)
  }

  get inFlight(): number {
    return this.running.size
  }

  start(): void {
    this.worker.start()
    for (const pump of [this.pending, this.cron, this.inbox, this.cancels]) pump.start()
  }

  kick(): void {
    this.pending.kick()
  }

  /** Resolves when no dispatch is active in this process. */
  async settled(limitMs: number): Promise<boolean> {
    if (this.running.size === 0) return true
    const timer = new AbortController()
    const late = delay(limitMs, false, { signal: timer.signal }).catch(() => false)
    const done = new Promise<boolean>((resolve) => this.idle.push(() => resolve(true)))
    const isDone = await Promise.race([done, late])
    timer.abort()
    return isDone
  }

  async stop(): Promise<void> {
    await this.worker.stop()
  }

  private enqueue(record: LogRecord): void {
    this.putEnvelope(record.payload as unknown as Envelope, record.headers)
  }

  private enqueueTick(record: LogRecord): void {
    const event = record.payload as unknown as EventRecord
    const { cron_id: id } = event['provider_payload'] as { readonly cron_id: string }
    const binding = this.desk.find(id)
    if (binding === null) return
    this.putEnvelope({ trigger_id: id, binding_version: binding.version, event }, record.headers)
  }

  private putEnvelope(envelope: Envelope, headers: LogRecord['headers']): void {
    const own = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('harn.provenance.')))
    const record = makeRecord(INBOX, 'event_ingested', envelope, {
      ...own,
      harn_trigger_queue_appended_at_ms: String(Date.now()),
    })
    this.desk.log.later((transaction) => void transaction.append(record))
    // In one transaction with the record and the position of the pump.
    queueMicrotask(() => this.inbox.kick())
  }

  /** Starts a run for an envelope, when there is room for one. The run is stored when this resolves. */
  private async admit(record: LogRecord): Promise<void> {
    const envelope = record.payload as unknown as Envelope
    const note = (kind: string): void =>
      this.desk.append(LIFECYCLE, kind, {
        topic: INBOX,
        event_log_id: record.id,
        trigger_id: envelope.trigger_id,
        event_id: envelope.event.id,
      })
    note('pump_received')
    while (this.running.size >= this.maxOutstanding) await new Promise<void>((resolve) => this.freed.push(resolve))
    note('pump_eligible')
    await waitForFile(process.env['HARN_TEST_ORCHESTRATOR_INBOX_TASK_RELEASE_FILE'])
    const runId = nameDispatch(envelope)
    this.running.set(runId, envelope)
    note('pump_admitted')
    const version = this.desk.findVersion(envelope.trigger_id, envelope.binding_version)
    if (version === null) {
      complain(`[harn] warning: event ${envelope.event.id} is for trigger '${envelope.trigger_id}', which is gone\n`)
      this.release(runId)
      return
    }
    const { isNew } = await this.worker.submit(version.module, {
      runId,
      tenant: envelope.event.tenant_id ?? '',
      input: {
        action: 'dispatch',
        bindings: version.bindings,
        id: envelope.trigger_id,
        version: envelope.binding_version,
        event: envelope.event,
        replay_of: null,
        limits: this.desk.project.settings.budget,
      },
    })
    if (isNew) note('pump_dispatch_started')
    else this.release(runId)
    note('pump_acked')
  }

  /**
   * Ends the run of a dispatch that somebody cancelled, in whichever state it is. One that has not begun finds the request itself; one that was
   * ended by an earlier process, which died before it wrote that down, is written down now.
   */
  private async cancel({ payload, headers }: LogRecord): Promise<void> {
    const { binding_key: key, event_id: eventId } = payload as unknown as CancelRequest
    const runId = `${key}/${eventId}`
    const row = await this.desk.store.get(runId)
    if (row === null) return
    const tenant = headers['tenant_id']
    const envelope = findEnvelope(this.desk, key, eventId, tenant)
    if (envelope === null) return
    await this.desk.store.cancel(runId, 'somebody asked for the end of the dispatch', Date.now())
    // The worker that has it is told, and gives it up.
    while ((await this.desk.store.get(runId))?.state !== 'ended') await delay(LOOK_MS)
    await this.recordEnd(envelope, null)
  }

  /** A run that is over although its dispatch was in the middle. */
  private async recordEnd(envelope: Envelope, error: string | null): Promise<void> {
    this.desk.gates.release(nameDispatch(envelope))
    const version = this.desk.findVersion(envelope.trigger_id, envelope.binding_version)
    if (version === null) return
    await this.desk.ask({
      action: 'record_end',
      bindings: version.bindings,
      id: envelope.trigger_id,
      version: envelope.binding_version,
      event: envelope.event,
      error,
    })
  }

  /** Dispatches whose runs ended while nobody could write that down: the process died just then. */
  async settleEnded(): Promise<void> {
    const { desk } = this
    const open = new Map<string, Envelope>()
    for (const { payload } of desk.log.read({ topic: INBOX, kind: 'event_ingested' })) {
      const envelope = payload as unknown as Envelope
      open.set(nameDispatch(envelope), envelope)
    }
    for (const { kind, payload } of desk.log.read({ topic: OUTBOX })) {
      const { binding_key: key, event_id: id } = payload as unknown as CancelRequest
      if (kind === 'dispatch_succeeded' || kind === 'dispatch_skipped') open.delete(`${key}/${id}`)
    }
    for (const [runId, envelope] of open) {
      const row = await desk.store.get(runId)
      if (row?.state === 'ended' && row.status !== 'done' && row.status !== 'cancelled')
        await this.recordEnd(envelope, describeEnd(row.status ?? 'failed', null))
    }
  }

  private end({ runId, status, error }: EndedRun): void {
    const envelope = this.running.get(runId) ?? findEnvelopeOfRun(this.desk, runId)
    if (status !== 'done' && status !== 'cancelled' && envelope !== null)
      void this.recordEnd(envelope, describeEnd(status, error)).catch((cause: unknown) =>
        complain(`[harn] warning: ${String(cause)}\n`),
      )
    if (status !== 'done') complain(`[harn] warning: dispatch ${runId} ended by ${status}: ${error ?? ''}\n`)
    this.desk.log.forget(runId)
    this.desk.append(LIFECYCLE, 'pump_dispatch_completed', {
      topic: INBOX,
      trigger_id: envelope?.trigger_id ?? runId.split('@v', 1)[0],
      event_id: envelope?.event.id ?? runId.slice(runId.lastIndexOf('/') + 1),
      status,
      error,
    })
    this.release(runId)
    this.onEnd()
  }

  private release(runId: string): void {
    this.running.delete(runId)
    const freed = this.freed
    this.freed = []
    for (const resolve of freed) resolve()
    if (this.running.size > 0) return
    for (const resolve of this.idle.splice(0)) resolve()
  }
}

interface CancelRequest {
  readonly binding_key: string
  readonly event_id: string
}

function describeEnd(status: string, error: string | null): string {
  return `the dispatch ended by ${status}${error === null ? '' : `: ${error}`}`
}

/** The accepted event of a dispatch; null when there is none. */
function findEnvelope(desk: Desk, key: string, eventId: string, tenant: string | undefined): Envelope | null {
  const topic = tenant === undefined ? INBOX : `tenant.${tenant}.${INBOX}`
  const found = desk.log
    .read({ topic, kind: 'event_ingested', eventId })
    .map(({ payload }) => payload as unknown as Envelope)
    .find(({ trigger_id: id, binding_version: version }) => `${id}@v${version}` === key)
  return found ?? null
}

function findEnvelopeOfRun(desk: Desk, runId: string): Envelope | null {
  const at = runId.lastIndexOf('/')
  return findEnvelope(desk, runId.slice(0, at), runId.slice(at + 1), undefined)
}

async function waitForFile(path: string | undefined): Promise<void> {
  if (path === undefined) return
  while (!existsSync(path)) await delay(20)
}

/** Envelopes whose dispatch never started: no record of the outbox has their event and their trigger. */
export function listStranded(
  desk: Desk,
  minAgeMs = 0,
): readonly { readonly offset: number; readonly envelope: Envelope; readonly ageMs: number }[] {
  const begun = new Set<string>()
  for (const { payload } of desk.log.read({ topic: OUTBOX })) {
    const { event_id: event, trigger_id: trigger } = payload as { readonly event_id?: string; readonly trigger_id?: string }
    begun.add(`${trigger}\n${event}`)
  }
  const now = Date.now()
  return desk.log
    .read({ topic: INBOX, kind: 'event_ingested' })
    .map(({ id, payload, occurredAtMs }) => ({
      offset: id,
      envelope: payload as unknown as Envelope,
      ageMs: Math.max(0, now - occurredAtMs),
    }))
    .filter(({ envelope, ageMs }) => ageMs >= minAgeMs && !begun.has(`${envelope.trigger_id}\n${envelope.event.id}`))
}

// Connectors that the project wrote in Harn: their start and end, and the timers of polling bindings.

import { complain } from '../printable.js'
import { makeRecord } from './desk.js'
import type { Binding, Desk } from './desk.js'
import type { Inbox } from './inbox.js'
import { INBOX } from './pumps.js'
import type { EventRecord } from './pumps.js'

const STATE = 'connectors.harn.poll.state'
const USUAL_MS = 300_000
const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

interface PollState {
  readonly cursor: unknown
  readonly state: unknown
}

export class Connectors {
  private readonly desk: Desk
  private readonly inbox: Inbox
  private readonly onEvents: () => void
  private timers: NodeJS.Timeout[] = []
  private started: readonly string[] = []
  private isStopped = false

  constructor(desk: Desk, inbox: Inbox, onEvents: () => void) {
    this.desk = desk
    this.inbox = inbox
    this.onEvents = onEvents
  }

  /** Throws CommandError if a module is not a connector. */
  async start(): Promise<void> {
    const { desk } = this
    const started: string[] = []
    for (const [provider, module_path] of desk.project.connectors) {
      const bindings = desk.bindings
        .filter((binding) => binding.provider === provider)
        .map(({ id, kind, dedupe_key, retry, config }) => ({
          provider,
          kind,
          id,
          dedupe_key,
          dedupe_retention_days: retry.retention_days,
          config,
        }))
      if (bindings.length === 0) continue
      await desk.ask({ action: 'start_connector', provider, facts: { module_path, bindings } })
      started.push(provider)
    }
    this.started = started
  }

  /** Sets the timers of polling bindings; each polls once now. */
  poll(): void {
    for (const binding of this.desk.bindings)
      if (binding.kind === 'poll' && this.desk.project.connectors.has(binding.provider)) this.schedule(binding, 0)
  }

  async stop(): Promise<void> {
    this.isStopped = true
    for (const timer of this.timers) clearTimeout(timer)
    this.timers = []
    for (const provider of this.started) await this.desk.ask({ action: 'stop_connector', provider })
    this.started = []
  }

  async restart(): Promise<void> {
    await this.stop()
    this.isStopped = false
    await this.start()
    this.poll()
  }

  private schedule(binding: Binding, waitMs: number): void {
    if (this.isStopped) return
    const timer = setTimeout(() => {
      this.timers = this.timers.filter((each) => each !== timer)
      void this.tick(binding)
        .catch((cause: unknown) => complain(`[harn] warning: poll of ${binding.id} failed: ${String(cause)}\n`))
        .finally(() => this.schedule(binding, readWait(readSettings(binding))))
    }, waitMs)
    this.timers.push(timer)
  }

  private async tick(binding: Binding): Promise<void> {
    const { desk } = this
    const { id, provider, config } = binding
    const settings = readSettings(binding)
    const key = String(settings['state_key'] ?? settings['cursor_state_key'] ?? id)
    const before = this.readState(key)
    const tenant = (settings['tenant_id'] ?? null) as string | null
    const ctx = {
      provider_id: provider,
      binding: { id, kind: binding.kind, provider, config },
      binding_id: id,
      state_key: key,
      tick_at: new Date().toISOString(),
      cursor: before.cursor,
      state: before.state,
      tenant_id: tenant,
      lease: { id: String(settings['lease_id'] ?? id), tenant_id: tenant },
      max_batch_size: (settings['max_batch_size'] ?? null) as number | null,
    }
    const { events, cursor, state } = (await desk.ask({ action: 'poll', provider, ctx })) as {
      readonly events: readonly EventRecord[]
      readonly cursor: unknown
      readonly state: unknown
    }
    if (this.isStopped) return
    this.inbox.write((transaction) => {
      for (const event of events) {
        if (!this.inbox.claim(transaction, binding, event.dedupe_key)) continue
        const envelope = { trigger_id: id, binding_version: binding.version, event }
        transaction.append(makeRecord(INBOX, 'event_ingested', envelope, { event_id: event.id, trigger_id: id }))
      }
      transaction.append(makeRecord(STATE, 'harn.poll.state', { state_key: key, binding_id: id, cursor, state }))
    })
    if (events.length > 0) this.onEvents()
  }

  private readState(key: string): PollState {
    const last = this.desk.log
      .read({ topic: STATE, kind: 'harn.poll.state' })
      .findLast(({ payload }) => (payload as { readonly state_key?: string }).state_key === key)
    const { cursor = null, state = null } = (last?.payload ?? {}) as Partial<PollState>
    return { cursor, state }
  }
}

type Settings = { readonly [name: string]: unknown }

/** How a binding polls: the members of its table `poll`, or the same members of the trigger itself. */
function readSettings({ config }: Pick<Binding, 'config'>): Settings {
  const table = config['poll']
  return typeof table === 'object' && table !== null ? { ...config, ...table } : config
}

/** Milliseconds of `NAME`, `NAME_ms` or `NAME_secs`; null if none is set. */
function readTime(settings: Settings, name: string): number | null {
  const { [name]: text, [`${name}_ms`]: ms, [`${name}_secs`]: seconds } = settings
  const [, digits, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(typeof text === 'string' ? text : '') ?? []
  if (digits !== undefined && unit !== undefined) return Number(digits) * UNITS[unit]!
  if (typeof ms === 'number' && ms > 0) return ms
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : null
}

/** Time until the next poll: the interval plus up to `jitter`, so that many orchestrators do not poll at once. */
function readWait(settings: Settings): number {
  return (readTime(settings, 'interval') ?? USUAL_MS) + Math.random() * (readTime(settings, 'jitter') ?? 0)
}

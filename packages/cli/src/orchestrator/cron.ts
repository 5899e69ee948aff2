// Ticks of cron triggers: one timer, set for the next tick of all. The log contains the last tick that fired, so that a start knows which ones were missed.

import { listCronTicks } from '@bridle/stdlib-tools'
import { CRON_TICKS } from './pumps.js'
import { makeRecord } from './desk.js'
import type { Binding, Desk } from './desk.js'
import type { Inbox } from './inbox.js'
import { makeIds } from './ids.js'

const STATE = 'connectors.cron.state'
const LONGEST_MS = 2 ** 31 - 1
/** Maximum number of missed ticks that are fired. */
const MOST_MISSED = 1000
const EXIT_TEST_CRASH = 86

export class CronClock {
  private readonly desk: Desk
  private readonly inbox: Inbox
  private readonly onTick: () => void
  private timer: NodeJS.Timeout | null = null
  /** Ticks up to here have fired. */
  private fired = 0
  private isStopped = false

  constructor(desk: Desk, inbox: Inbox, onTick: () => void) {
    this.desk = desk
    this.inbox = inbox
    this.onTick = onTick
  }

  /** Fires missed ticks, as each trigger's policy says, and sets the timer. */
  start(): void {
    const single = process.env['HARN_TEST_CRON_SINGLE_TICK_AT']
    if (single !== undefined) {
      for (const binding of this.listBindings()) this.fire(binding, Date.parse(single), false)
      return
    }
    const now = Date.now()
    for (const binding of this.listBindings()) {
      const last = this.readLast(binding.id)
      const { schedule, timezone, catchup_mode: mode } = binding.cron!
      if (last === null || mode === 'skip') continue
      const missed = listCronTicks(schedule, timezone, last, MOST_MISSED).filter((tick) => tick <= now)
      for (const tick of mode === 'latest' ? missed.slice(-1) : missed) this.fire(binding, tick, true)
    }
    this.schedule(now)
  }

  stop(): void {
    this.isStopped = true
    if (this.timer !== null) clearTimeout(this.timer)
  }

  /** The triggers have changed; ticks that are already due still fire. */
  restart(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    if (process.env['HARN_TEST_CRON_SINGLE_TICK_AT'] === undefined) this.schedule(this.fired)
  }

  private listBindings(): readonly Binding[] {
    return this.desk.bindings.filter(({ cron }) => cron !== null)
  }

  private schedule(after: number): void {
    if (this.isStopped) return
    this.fired = after
    const due = this.listBindings().flatMap((binding) => {
      const { schedule, timezone } = binding.cron!
      return listCronTicks(schedule, timezone, after, 1).map((at) => ({ binding, at }))
    })
    if (due.length === 0) return
    const next = Math.min(...due.map(({ at }) => at))
    this.timer = setTimeout(
      () => {
        // A timer may fire early, and no timer is longer than 24 days.
        if (Date.now() < next) return this.schedule(after)
        for (const { binding, at } of due) if (at === next) this.fire(binding, at, false)
        this.schedule(next)
      },
      Math.min(LONGEST_MS, Math.max(0, next - Date.now())),
    )
  }

  private readLast(id: string): number | null {
    const records = this.desk.log.read({ topic: STATE, kind: 'cron_trigger_state' })
    const last = records.findLast(({ payload }) => (payload as { readonly trigger_id?: string }).trigger_id === id)
    if (last === undefined) return null
    return Date.parse(String((last.payload as { readonly last_fired_at?: string }).last_fired_at))
  }

  private fire(binding: Binding, at: number, catchup: boolean): void {
    const { schedule, timezone } = binding.cron!
    const tick = formatSeconds(at)
    const { eventId, traceId } = makeIds()
    const event = {
      id: eventId,
      provider: 'cron',
      kind: 'tick',
      received_at: new Date().toISOString(),
      occurred_at: tick,
      dedupe_key: `cron:${binding.id}:${Math.floor(at / 1000)}`,
      trace_id: traceId,
      tenant_id: null,
      headers: {},
      provider_payload: { provider: 'cron', cron_id: binding.id, schedule, tick_at: tick, raw: { catchup, timezone } },
      signature_status: { state: 'unsigned' },
    }
    const isNew = this.inbox.write((transaction) => {
      if (!this.inbox.claim(transaction, binding, event.dedupe_key)) return false
      transaction.append(makeRecord(CRON_TICKS, 'trigger_event', event, { event_id: event.id, trace_id: event.trace_id }))
      return true
    })
    if (isNew && process.env['HARN_TEST_CRON_FAIL_AFTER_EMIT'] !== undefined) process.exit(EXIT_TEST_CRASH)
    this.desk.append(STATE, 'cron_trigger_state', { trigger_id: binding.id, last_fired_at: tick })
    this.onTick()
  }
}

function formatSeconds(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}

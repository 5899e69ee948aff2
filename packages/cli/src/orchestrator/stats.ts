// `orchestrator stats`: dispatches of a period by the log, by trigger and by provider.

import { withDesk } from './commands.js'
import type { LocalFlags } from './commands.js'
import { makeRecord } from './desk.js'
import { parseDuration } from './durations.js'
import { OUTBOX } from './pumps.js'
import { joinFields, renderFields, renderList, tellBlocks, tellPretty } from './render.js'

interface Counts {
  dispatched: number
  succeeded: number
  failed: number
  skipped: number
  waiting: number
}

const KINDS: { readonly [kind: string]: keyof Counts } = {
  dispatch_started: 'dispatched',
  dispatch_succeeded: 'succeeded',
  dispatch_failed: 'failed',
  dispatch_skipped: 'skipped',
  dispatch_waiting: 'waiting',
}

function makeCounts(): Counts {
  return { dispatched: 0, succeeded: 0, failed: 0, skipped: 0, waiting: 0 }
}

export async function statsCommand(
  flags: LocalFlags & { readonly window: string; readonly top?: number; readonly tenant?: string },
): Promise<number> {
  const { window, top = 10, tenant } = flags
  const windowMs = parseDuration(window)
  return withDesk(flags, async (desk) => {
    const now = Date.now()
    const since = now - windowMs
    const prefix = tenant === undefined ? '' : `tenant.${tenant}.`
    const totals = { ...makeCounts(), retries: 0, dead_letters: 0 }
    const triggers = new Map<string, Counts>()
    const providers = new Map<string, Counts>()
    const count = (table: Map<string, Counts>, key: string, name: keyof Counts): void => {
      const counts = table.get(key) ?? makeCounts()
      counts[name]++
      table.set(key, counts)
    }
    for (const { kind, headers, occurredAtMs } of desk.log.read({ topic: prefix + OUTBOX })) {
      const name = KINDS[kind]
      if (name === undefined || occurredAtMs < since) continue
      totals[name]++
      count(triggers, headers['trigger_id'] ?? '-', name)
      count(providers, headers['provider'] ?? '-', name)
    }
    for (const { kind, occurredAtMs } of desk.log.read({ topic: `${prefix}trigger.attempts` }))
      if (kind === 'retry_scheduled' && occurredAtMs >= since) totals.retries++
    for (const { kind, occurredAtMs } of desk.log.read({ topic: `${prefix}trigger.dlq` }))
      if (kind === 'dlq_moved' && occurredAtMs >= since) totals.dead_letters++
    const list = (table: Map<string, Counts>, key: string): readonly ({ readonly [name: string]: unknown } & Counts)[] =>
      [...table]
        .map(([id, counts]) => ({ [key]: id, ...counts }))
        .sort((a, b) => b.dispatched - a.dispatched)
        .slice(0, top)
    const report = {
      generated_at: new Date(now).toISOString(),
      window_seconds: windowMs / 1000,
      since_ms: since,
      top_n: top,
      ...(tenant === undefined ? {} : { tenant }),
      totals,
      triggers: list(triggers, 'trigger_id'),
      providers: list(providers, 'provider'),
      pipelines: [],
    }
    const id = desk.log.write((transaction) =>
      transaction.append(makeRecord('orchestrator.analytics.stats', 'stats_report', report)),
    )
    if (flags.json === true) tellPretty({ ...report, persisted_event_id: id })
    else
      tellBlocks(
        renderFields('Orchestrator stats:', { window, ...totals }),
        renderList('Hot triggers:', report.triggers.map(joinFields)),
        renderList('Providers:', report.providers.map(joinFields)),
      )
    return 0
  })
}

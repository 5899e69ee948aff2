// `orchestrator queue`: waiting, running and stuck dispatches; and consumers of worker queues.

import { hostname } from 'node:os'
import { CommandError } from '../errors.js'
import { describeStranded, renderStranded, withDesk } from './commands.js'
import type { LocalFlags, StrandedFacts } from './commands.js'
import type { Desk } from './desk.js'
import { formatAge, parseDuration } from './durations.js'
import { CLAIMS } from './inbox.js'
import { INBOX, OUTBOX } from './pumps.js'
import { joinFields, renderFields, renderList, tellBlocks, tellPretty } from './render.js'
import { readSchedulerPolicy } from './scheduler.js'
import type { KeyFacts } from './scheduler.js'
import { QueueConsumer, isReady, listQueues, purgeQueue, readJobs, summarizeQueue } from './worker-queues.js'
import type { QueueSummary } from './worker-queues.js'

interface QueueReport {
  readonly dispatcher: {
    readonly in_flight_dispatches: readonly string[]
    readonly pending_retries: readonly string[]
    readonly stranded_envelopes: readonly StrandedFacts[]
    readonly [count: string]: number | readonly unknown[]
  }
  readonly worker_queues: readonly QueueSummary[]
  readonly scheduler: {
    readonly policy: object
    readonly per_queue: readonly {
      readonly queue: string
      readonly strategy: string
      readonly fairness_key: string
      readonly rounds_completed: number
      readonly starvation_promotions_total: number
      readonly keys: readonly KeyFacts[]
    }[]
  }
}

interface OutboxFacts {
  readonly event_id?: string
  readonly binding_key?: string
  readonly attempt?: number
}

/** Dispatches in progress by the log: started without an end, and scheduled retries that did not start. */
function inferFromLog(desk: Desk): { readonly running: readonly string[]; readonly retries: readonly string[] } {
  const running = new Set<string>()
  const started = new Map<string, number>()
  for (const { kind, payload } of desk.log.read({ topic: OUTBOX })) {
    const { event_id: event, binding_key: binding, attempt = 1 } = payload as OutboxFacts
    const key = `${binding}:${event}`
    if (kind === 'dispatch_started') {
      running.add(key)
      started.set(key, Math.max(attempt, started.get(key) ?? 0))
    } else running.delete(key)
  }
  const retries = new Set<string>()
  for (const { kind, payload } of desk.log.read({ topic: 'trigger.attempts' })) {
    const { event_id: event, binding_key: binding, attempt = 1 } = payload as OutboxFacts
    const key = `${binding}:${event}`
    if (kind === 'retry_scheduled' && attempt > (started.get(key) ?? 0)) retries.add(key)
  }
  return { running: [...running].sort(), retries: [...retries].sort() }
}

export function inspectQueues(desk: Desk): QueueReport {
  const { running, retries } = inferFromLog(desk)
  const stranded = describeStranded(desk)
  const now = Date.now()
  const claims = desk.log.read({ topic: CLAIMS, kind: 'dedupe_claim' })
  const active = claims.filter(({ payload }) => (payload as { readonly expires_at_ms: number }).expires_at_ms > now).length
  const queues = listQueues(desk.log)
  const policy = readSchedulerPolicy(process.env)
  return {
    dispatcher: {
      dispatcher_in_flight: 0,
      dispatcher_retry_queue_depth: 0,
      inferred_in_flight: running.length,
      inferred_pending_retries: retries.length,
      inbox_claims_written: claims.length,
      inbox_envelopes_written: desk.log.read({ topic: INBOX, kind: 'event_ingested' }).length,
      inbox_duplicates_rejected: 0,
      inbox_fast_path_hits: 0,
      inbox_durable_hits: 0,
      inbox_expired_entries: claims.length - active,
      inbox_active_entries: active,
      in_flight_dispatches: running,
      pending_retries: retries,
      stranded_envelopes: stranded,
    },
    worker_queues: queues.map((queue) => summarizeQueue(desk.log, queue, now)),
    scheduler: {
      policy: { strategy: policy.strategy, fairness_key: policy.fairnessKey },
      per_queue: queues.map((queue) => {
        const jobs = readJobs(desk.log, queue)
        const open = jobs.filter(({ isAcked, isPurged }) => !isAcked && !isPurged)
        return {
          queue,
          strategy: policy.strategy,
          fairness_key: policy.fairnessKey,
          rounds_completed: policy.rounds,
          starvation_promotions_total: policy.promotions,
          keys: policy.describe(
            open.filter((state) => isReady(state, now)),
            open.filter((state) => !isReady(state, now)),
            now,
          ),
        }
      }),
    },
  }
}

const SHOWN_COUNTS = [
  'dispatcher_in_flight',
  'dispatcher_retry_queue_depth',
  'inferred_in_flight',
  'inferred_pending_retries',
  'stranded_envelopes',
  'inbox_claims_written',
  'inbox_envelopes_written',
  'inbox_duplicates_rejected',
  'inbox_fast_path_hits',
  'inbox_durable_hits',
  'inbox_expired_entries',
  'inbox_active_entries',
] as const

export async function queueListCommand(flags: LocalFlags): Promise<number> {
  return withDesk(flags, async (desk) => {
    const report = inspectQueues(desk)
    if (flags.json === true) {
      tellPretty(report)
      return 0
    }
    const { dispatcher, worker_queues: queues, scheduler } = report
    const count = (name: string): number => {
      const value = dispatcher[name]
      return typeof value === 'number' ? value : (value?.length ?? 0)
    }
    const { strategy, fairness_key: fairness } = readPolicy(scheduler.policy)
    tellBlocks(
      renderFields('Queue:', Object.fromEntries(SHOWN_COUNTS.map((name) => [name, count(name)]))),
      renderList(
        'Worker queues:',
        queues.map(
          ({ queue, ready, in_flight, acked, purged, responses, oldest_unclaimed_age_ms: age }) =>
            `${queue} ${joinFields({ ready, in_flight, acked, purged, responses, oldest_unclaimed_age: formatAge(age) })}`,
        ),
      ),
      renderList('In-flight dispatches:', dispatcher.in_flight_dispatches),
      renderList('Pending retries:', dispatcher.pending_retries),
      renderList('Stranded envelopes:', dispatcher.stranded_envelopes.map(renderStranded)),
      [
        `Scheduler policy: strategy=${strategy} fairness_key=${fairness}`,
        ...(scheduler.per_queue.length === 0 ? ['- no queues observed yet'] : []),
        ...scheduler.per_queue.flatMap(({ queue, rounds_completed, starvation_promotions_total: promotions, keys }) => [
          `- queue=${queue} rounds_completed=${rounds_completed} starvation_promotions=${promotions}`,
          ...keys.map(
            ({ oldest_eligible_age_ms: age, ...facts }) => `  ${joinFields({ ...facts, oldest_eligible: formatAge(age) })}`,
          ),
        ]),
      ].join('\n'),
    )
    return 0
  })
}

function readPolicy(policy: object): { readonly strategy: string; readonly fairness_key: string } {
  return policy as { readonly strategy: string; readonly fairness_key: string }
}

export interface DrainFlags extends LocalFlags {
  readonly consumerId?: string
  readonly claimTtl?: string
}

interface JobOutcome {
  readonly status: string
  readonly error: string | null
  readonly trigger_id: string
  readonly dlq_entry_id?: string | null
}

const SETTLED = new Set(['succeeded', 'skipped'])

export async function queueDrainCommand(queue: string, flags: DrainFlags): Promise<number> {
  if (queue.trim() === '') throw new CommandError('worker queue name cannot be empty')
  const consumerId = flags.consumerId ?? `${process.env['HOSTNAME'] ?? (hostname() || 'local')}-pid${process.pid}-${Date.now()}`
  if (consumerId.trim() === '') throw new CommandError('worker queue consumer id cannot be empty')
  const ttlMs = parseDuration(flags.claimTtl ?? '5m')
  return withDesk(flags, async (desk) => {
    const consumer = new QueueConsumer(desk.log, queue, { consumerId, ttlMs })
    const responses: object[] = []
    const lines: string[] = []
    const deferred = new Set<number>()
    let acked = 0
    for (;;) {
      const claimed = consumer.claim(deferred)
      if (claimed === null) break
      const renewal = setInterval(() => consumer.renew(claimed), Math.max(1, ttlMs / 2))
      let answer: { readonly error: string | null; readonly outcome: JobOutcome | null }
      try {
        answer = (await desk.ask({ action: 'job', queue, job: claimed.state.job })) as typeof answer
      } finally {
        clearInterval(renewal)
      }
      const { dlq_entry_id: _, ...outcome } = answer.outcome ?? { status: 'failed', error: answer.error, trigger_id: '' }
      responses.push(consumer.respond(claimed, answer.outcome === null ? null : outcome, answer.error))
      if (answer.outcome !== null && SETTLED.has(outcome.status)) {
        consumer.ack(claimed)
        acked++
      } else deferred.add(claimed.state.id)
      lines.push(
        joinFields({
          job_event_id: claimed.state.id,
          status: outcome.status,
          trigger_id: claimed.state.job.trigger_id,
          error: answer.error ?? outcome.error,
        }),
      )
    }
    const summary = summarizeQueue(desk.log, queue)
    if (flags.json === true)
      tellPretty({
        queue,
        consumer_id: consumerId,
        claim_ttl_ms: ttlMs,
        drained: responses.length,
        acked,
        deferred: deferred.size,
        responses,
        summary,
      })
    else {
      const { ready, in_flight, responses: count } = summary
      const counts = joinFields({ jobs: lines.length, acked, deferred: deferred.size, ready, in_flight, responses: count })
      tellBlocks([`Drained queue '${queue}' as ${consumerId}: ${counts}`, ...lines.map((line) => `- ${line}`)].join('\n'))
    }
    return 0
  })
}

export async function queuePurgeCommand(queue: string, flags: LocalFlags & { readonly confirm?: boolean }): Promise<number> {
  if (flags.confirm !== true) throw new CommandError('queue purge is destructive; rerun with `--confirm` to drop ready jobs')
  return withDesk(flags, async (desk) => {
    const purged = purgeQueue(desk.log, queue)
    const summary = summarizeQueue(desk.log, queue)
    if (flags.json === true) tellPretty({ queue, purged, summary })
    else
      tellBlocks(
        `Purged queue '${queue}': ${joinFields({ purged, ready: summary.ready, in_flight: summary.in_flight, purged_total: summary.purged })}`,
      )
    return 0
  })
}

// Queues of jobs that triggers with `worker://` handlers fill. A queue is three topics of the log: jobs, their states, and responses. A worker
// claims a job by a record; the first valid claim wins.

import { randomUUID } from 'node:crypto'
import type { EventLog, LogRecord } from '@bridle/stdlib-tools/node'
import { makeRecord } from './desk.js'
import type { Claim, Job, JobState } from './jobs.js'
import { readSchedulerPolicy } from './scheduler.js'
import type { SchedulerPolicy } from './scheduler.js'

export interface QueueSummary {
  readonly queue: string
  readonly ready: number
  readonly in_flight: number
  readonly acked: number
  readonly purged: number
  readonly responses: number
  readonly oldest_unclaimed_age_ms: number | null
}

interface ClaimFacts {
  readonly job_event_id: number
  readonly claim_id?: string
  readonly consumer_id?: string
  readonly claimed_at_ms?: number
  readonly expires_at_ms?: number
}

/** Maximum attempts: a rival may claim the same job first. */
const TRIES = 8

export function listQueues(log: EventLog): readonly string[] {
  const names = log.read({ topic: 'worker.queues' }).map(({ payload }) => String((payload as { readonly queue?: string }).queue))
  return [...new Set(names)].sort()
}

function holds(claim: Claim, at: number): boolean {
  return !claim.isReleased && claim.expiresAt > at
}

/** All jobs of a queue, with their states. */
export function readJobs(log: EventLog, queue: string): readonly JobState[] {
  const jobs = new Map<number, JobState>()
  for (const { id, payload, occurredAtMs } of log.read({ topic: `worker.${queue}`, kind: 'trigger_dispatch' }))
    jobs.set(id, {
      id,
      job: payload as unknown as Job,
      enqueuedAt: occurredAtMs,
      claims: [],
      isAcked: false,
      isPurged: false,
    })
  for (const record of log.read({ topic: `worker.${queue}.claims` })) fold(jobs, record)
  return [...jobs.values()]
}

function fold(jobs: ReadonlyMap<number, JobState>, { kind, payload, occurredAtMs }: LogRecord): void {
  const facts = payload as unknown as ClaimFacts
  const state = jobs.get(facts.job_event_id)
  if (state === undefined) return
  const claim = state.claims.find(({ id }) => id === facts.claim_id)
  switch (kind) {
    case 'job_claimed': {
      const at = facts.claimed_at_ms ?? occurredAtMs
      const isTaken = state.claims.some((each) => holds(each, at))
      state.claims.push({
        id: facts.claim_id ?? '',
        consumer: facts.consumer_id ?? '',
        expiresAt: facts.expires_at_ms ?? 0,
        isReleased: isTaken,
      })
      return
    }
    case 'claim_renewed':
      if (claim !== undefined && !claim.isReleased) claim.expiresAt = facts.expires_at_ms ?? claim.expiresAt
      return
    case 'job_released':
      if (claim !== undefined) claim.isReleased = true
      return
    case 'job_acked':
      if (claim !== undefined) state.isAcked = true
      return
    case 'job_purged':
      state.isPurged = true
      return
  }
}

function isOpen({ isAcked, isPurged }: JobState): boolean {
  return !isAcked && !isPurged
}

export function isReady(state: JobState, now: number): boolean {
  return isOpen(state) && !state.claims.some((claim) => holds(claim, now))
}

export function summarizeQueue(log: EventLog, queue: string, now = Date.now()): QueueSummary {
  const jobs = readJobs(log, queue)
  const ready = jobs.filter((state) => isReady(state, now))
  return {
    queue,
    ready: ready.length,
    in_flight: jobs.filter((state) => isOpen(state) && !isReady(state, now)).length,
    acked: jobs.filter(({ isAcked }) => isAcked).length,
    purged: jobs.filter(({ isPurged, isAcked }) => isPurged && !isAcked).length,
    responses: log.read({ topic: `worker.${queue}.responses`, kind: 'job_response' }).length,
    oldest_unclaimed_age_ms:
      ready.length === 0 ? null : Math.max(0, now - Math.min(...ready.map(({ enqueuedAt }) => enqueuedAt))),
  }
}

export interface ClaimedJob {
  readonly state: JobState
  readonly claimId: string
}

export class QueueConsumer {
  private readonly log: EventLog
  private readonly queue: string
  private readonly consumerId: string
  private readonly ttlMs: number
  private readonly policy: SchedulerPolicy

  constructor(log: EventLog, queue: string, { consumerId, ttlMs }: { readonly consumerId: string; readonly ttlMs: number }) {
    this.log = log
    this.queue = queue
    this.consumerId = consumerId
    this.ttlMs = ttlMs
    this.policy = readSchedulerPolicy(process.env)
  }

  /** A job claimed by this consumer; null when none is ready. `without`: jobs to skip. */
  claim(without: ReadonlySet<number>): ClaimedJob | null {
    for (let tries = 0; tries < TRIES; tries++) {
      const now = Date.now()
      const jobs = readJobs(this.log, this.queue)
      const next = this.policy.choose(
        jobs.filter((state) => isReady(state, now) && !without.has(state.id)),
        jobs.filter((state) => isOpen(state) && !isReady(state, now)),
        now,
      )
      if (next === null) return null
      const claimId = randomUUID()
      this.note('job_claimed', {
        job_event_id: next.id,
        claim_id: claimId,
        consumer_id: this.consumerId,
        claimed_at_ms: now,
        expires_at_ms: now + this.ttlMs,
      })
      const own = readJobs(this.log, this.queue)
        .find(({ id }) => id === next.id)
        ?.claims.find(({ id }) => id === claimId)
      if (own !== undefined && !own.isReleased) return { state: next, claimId }
    }
    return null
  }

  renew({ state, claimId }: ClaimedJob): void {
    const now = Date.now()
    this.note('claim_renewed', { job_event_id: state.id, claim_id: claimId, renewed_at_ms: now, expires_at_ms: now + this.ttlMs })
  }

  respond({ state }: ClaimedJob, outcome: unknown, error: string | null): object {
    const response = {
      queue: this.queue,
      job_event_id: state.id,
      consumer_id: this.consumerId,
      handled_at_ms: Date.now(),
      outcome: outcome ?? null,
      error,
    }
    this.log.write((transaction) => transaction.append(makeRecord(`worker.${this.queue}.responses`, 'job_response', response)))
    return response
  }

  ack({ state, claimId }: ClaimedJob): void {
    this.note('job_acked', { job_event_id: state.id, claim_id: claimId, acked_at_ms: Date.now() })
  }

  private note(kind: string, payload: object): void {
    this.log.write((transaction) => transaction.append(makeRecord(`worker.${this.queue}.claims`, kind, payload)))
  }
}

/** Drops ready jobs and returns their number. */
export function purgeQueue(log: EventLog, queue: string): number {
  const now = Date.now()
  const ready = readJobs(log, queue).filter((state) => isReady(state, now))
  log.write((transaction) => {
    for (const { id } of ready)
      transaction.append(makeRecord(`worker.${queue}.claims`, 'job_purged', { job_event_id: id, purged_at_ms: now }))
  })
  return ready.length
}

// Chooses the next job of a worker queue: the oldest of the highest priority, or fair shares between tenants or triggers.

import { UsageError } from '../errors.js'
import type { JobState } from './jobs.js'

/** A normal job that waited this long is as urgent as a high one. */
const PROMOTED_MS = 15 * 60_000
const DEFAULT_STARVATION_MS = 300_000
const NO_TENANT = '_no_tenant'

export type FairnessKey = 'tenant' | 'binding' | 'trigger-id' | 'tenant-and-binding'

export interface KeyFacts {
  readonly key: string
  readonly weight: number
  readonly ready: number
  readonly in_flight: number
  readonly deficit: number
  readonly selected: number
  readonly deferred: number
  readonly oldest_eligible_age_ms: number | null
}

export class SchedulerPolicy {
  readonly strategy: 'fifo' | 'drr'
  readonly fairnessKey: FairnessKey
  readonly starvationMs: number
  rounds = 0
  promotions = 0
  private readonly weights: ReadonlyMap<string, number>
  private readonly defaultWeight: number
  private readonly quantum: number
  private readonly maxPerKey: number
  private readonly deficits = new Map<string, number>()
  private readonly selected = new Map<string, number>()
  private readonly deferred = new Map<string, number>()
  private lastKey: string | null = null

  constructor(env: { readonly [name: string]: string | undefined }) {
    const strategy = env['HARN_SCHEDULER_STRATEGY'] ?? 'fifo'
    this.strategy = ['drr', 'deficit-round-robin', 'fair-share'].includes(strategy) ? 'drr' : 'fifo'
    const key = env['HARN_SCHEDULER_FAIRNESS_KEY'] ?? 'tenant'
    if (!['tenant', 'binding', 'trigger-id', 'tenant-and-binding'].includes(key))
      throw new UsageError(`unsupported HARN_SCHEDULER_FAIRNESS_KEY '${key}'`)
    this.fairnessKey = key as FairnessKey
    this.defaultWeight = readNumber(env['HARN_SCHEDULER_DEFAULT_WEIGHT'], 1)
    this.quantum = readNumber(env['HARN_SCHEDULER_QUANTUM'], 1)
    this.maxPerKey = readNumber(env['HARN_SCHEDULER_MAX_CONCURRENT_PER_KEY'], 0)
    this.starvationMs = readNumber(env['HARN_SCHEDULER_STARVATION_AGE_MS'], DEFAULT_STARVATION_MS)
    this.weights = new Map(
      (env['HARN_SCHEDULER_WEIGHTS'] ?? '').split(',').flatMap((pair) => {
        const at = pair.lastIndexOf(':')
        const weight = Number(pair.slice(at + 1))
        return at > 0 && weight > 0 ? [[pair.slice(0, at).trim(), weight] as const] : []
      }),
    )
  }

  keyOf({ job }: JobState): string {
    const tenant = job.event.tenant_id ?? NO_TENANT
    switch (this.fairnessKey) {
      case 'tenant':
        return tenant
      case 'binding':
        return job.binding_key
      case 'trigger-id':
        return job.trigger_id
      case 'tenant-and-binding':
        return `${tenant}|${job.binding_key}`
    }
  }

  choose(ready: readonly JobState[], running: readonly JobState[], now: number): JobState | null {
    const ordered = ready.toSorted((a, b) => rankOf(a, now) - rankOf(b, now) || a.enqueuedAt - b.enqueuedAt || a.id - b.id)
    if (this.strategy === 'fifo') return ordered[0] ?? null
    if (this.starvationMs > 0) {
      const starved = ready
        .filter(({ enqueuedAt }) => now - enqueuedAt >= this.starvationMs)
        .sort((a, b) => a.enqueuedAt - b.enqueuedAt)
      if (starved[0] !== undefined) {
        this.promotions++
        return this.select(starved[0])
      }
    }
    return this.chooseFairly(ordered, running)
  }

  describe(ready: readonly JobState[], running: readonly JobState[], now: number): readonly KeyFacts[] {
    const keys = [...new Set([...ready, ...running].map((state) => this.keyOf(state)))].sort()
    return keys.map((key) => {
      const own = ready.filter((state) => this.keyOf(state) === key)
      return {
        key,
        weight: this.weightOf(key),
        ready: own.length,
        in_flight: running.filter((state) => this.keyOf(state) === key).length,
        deficit: this.deficits.get(key) ?? 0,
        selected: this.selected.get(key) ?? 0,
        deferred: this.deferred.get(key) ?? 0,
        oldest_eligible_age_ms: own.length === 0 ? null : Math.max(0, now - Math.min(...own.map(({ enqueuedAt }) => enqueuedAt))),
      }
    })
  }

  /** Keys form a ring; each visit adds credit, and a job costs 1. */
  private chooseFairly(ordered: readonly JobState[], running: readonly JobState[]): JobState | null {
    const keys = [...new Set(ordered.map((state) => this.keyOf(state)))].sort()
    const free = keys.filter((key) => {
      const isFree = this.maxPerKey === 0 || running.filter((state) => this.keyOf(state) === key).length < this.maxPerKey
      if (!isFree) this.deferred.set(key, (this.deferred.get(key) ?? 0) + 1)
      return isFree
    })
    if (free.length === 0) return null
    const last = this.lastKey
    const first = last !== null && free.includes(last) && (this.deficits.get(last) ?? 0) >= 1 ? [last] : []
    const after = free.filter((key) => last === null || key > last)
    const ring = [...after, ...free.filter((key) => !after.includes(key))]
    for (;;) {
      for (const key of first) return this.select(ordered.find((state) => this.keyOf(state) === key)!)
      for (const key of ring) {
        const credit = (this.deficits.get(key) ?? 0) + this.weightOf(key) * this.quantum
        this.deficits.set(key, credit)
        if (credit >= 1) return this.select(ordered.find((state) => this.keyOf(state) === key)!)
      }
      this.rounds++
    }
  }

  private select(state: JobState): JobState {
    const key = this.keyOf(state)
    this.lastKey = key
    this.deficits.set(key, Math.max(0, (this.deficits.get(key) ?? 0) - 1))
    this.selected.set(key, (this.selected.get(key) ?? 0) + 1)
    return state
  }

  private weightOf(key: string): number {
    return this.weights.get(key) ?? this.defaultWeight
  }
}

export function readSchedulerPolicy(env: { readonly [name: string]: string | undefined }): SchedulerPolicy {
  return new SchedulerPolicy(env)
}

function rankOf({ job, enqueuedAt }: JobState, now: number): number {
  if (job.priority === 'high') return 0
  if (job.priority === 'low') return 2
  return now - enqueuedAt >= PROMOTED_MS ? 0 : 1
}

function readNumber(text: string | undefined, absent: number): number {
  const value = Number(text ?? '')
  return text !== undefined && Number.isFinite(value) && value >= 0 ? value : absent
}

// Quotas of tenants in the tables of durable runs, and whose turn it is.

import type { TenantQuota } from '../host/durable/quotas.js'
import { QuotaExceeded, fillBucket } from '../host/durable/quotas.js'
import type { SqlValue } from './sql-schema.js'
import { PARKED, READY, RUNNING } from './sql-schema.js'

export interface QuotaTables {
  readonly all: (sql: string, ...params: SqlValue[]) => readonly unknown[]
  readonly run: (sql: string, ...params: SqlValue[]) => void
}

/** For tenants without their own quota. */
export const EVERYBODY = -1
const NOTHING: TenantQuota = {}

/** Counting and summing by tenant: made with the first quota, since it costs each change of a run. */
const INDEX = 'CREATE INDEX IF NOT EXISTS bridle_runs_tenant ON bridle_runs (tenant, state, length(snapshot)) WHERE state <> 3'

export class SqlQuotas {
  private readonly db: QuotaTables
  private known: ReadonlyMap<number, TenantQuota> | null = null
  /** What tenants have left of their turn, by deficit round robin. */
  private readonly credits = new Map<number, number>()
  private last = -1

  constructor(db: QuotaTables) {
    this.db = db
  }

  /** Others may have changed them. */
  forget(): void {
    this.known = null
  }

  set(tenant: number, quota: TenantQuota | null): void {
    this.known = null
    if (quota === null) {
      this.db.run('DELETE FROM bridle_quotas WHERE tenant = ?', tenant)
      return
    }
    this.db.run(INDEX)
    this.db.run(
      'INSERT INTO bridle_quotas VALUES (?, ?) ON CONFLICT (tenant) DO UPDATE SET quota = excluded.quota',
      tenant,
      JSON.stringify(quota),
    )
  }

  get(tenant: number): TenantQuota {
    this.known ??= new Map(
      (
        this.db.all('SELECT tenant, quota FROM bridle_quotas') as readonly { readonly tenant: number; readonly quota: string }[]
      ).map(({ tenant: id, quota }) => [Number(id), JSON.parse(quota) as TenantQuota]),
    )
    return this.known.get(tenant) ?? this.known.get(EVERYBODY) ?? NOTHING
  }

  /** Raises QuotaExceeded, with nothing changed. */
  checkSubmission(tenant: number, name: string, count: number, now: number): void {
    const { parked, bytes, submissionsPerSecond } = this.get(tenant)
    if (parked !== undefined) {
      // One that runs now is one that waits soon.
      const used = this.count(tenant, [READY, RUNNING, PARKED])
      if (used + count > parked) throw new QuotaExceeded(name, 'parked', parked, used)
    }
    if (bytes !== undefined) {
      const used = this.sumBytes(tenant)
      if (used >= bytes) throw new QuotaExceeded(name, 'bytes', bytes, used)
    }
    if (submissionsPerSecond === undefined) return
    const [row] = this.db.all('SELECT left_over, at FROM bridle_rates WHERE tenant = ?', tenant) as readonly {
      readonly left_over: number
      readonly at: number
    }[]
    const full = Math.max(1, submissionsPerSecond)
    const left = row === undefined ? full : fillBucket(row.left_over, submissionsPerSecond, now - row.at)
    if (left < Math.min(count, full)) {
      const retryAfterMs = Math.ceil(((Math.min(count, full) - left) * 1000) / Math.max(submissionsPerSecond, 0.001))
      throw new QuotaExceeded(name, 'submissionsPerSecond', submissionsPerSecond, full - Math.floor(left), retryAfterMs)
    }
    this.db.run(
      'INSERT INTO bridle_rates VALUES (?, ?, ?) ON CONFLICT (tenant) DO UPDATE SET left_over = excluded.left_over, at = excluded.at',
      tenant,
      left - count,
      now,
    )
  }

  /** How many more runs of a tenant workers may have. */
  roomOf(tenant: number): number {
    const { running } = this.get(tenant)
    return running === undefined ? Infinity : Math.max(0, running - this.count(tenant, [RUNNING]))
  }

  /**
   * Makes `take` take runs of the tenants in turn, as many as their weights; each tenant has its turn before anyone has a second one, and what
   * one does not need goes to the others. `take` gives how many it found.
   */
  share(tenants: readonly number[], most: number, take: (tenant: number, room: number) => number): void {
    const queue = [...tenants.filter((tenant) => tenant > this.last), ...tenants.filter((tenant) => tenant <= this.last)]
    for (const tenant of this.credits.keys()) if (!queue.includes(tenant)) this.credits.delete(tenant)
    const weightOf = (tenant: number): number => this.get(tenant).weight ?? 1
    const weights = queue.reduce((sum, tenant) => sum + weightOf(tenant), 0)
    const unit = Math.max(1, Math.floor(most / Math.max(1, weights)))
    const left = new Map(queue.map((tenant) => [tenant, this.roomOf(tenant)]))
    let free = most
    while (free > 0 && left.size > 0) {
      for (const tenant of queue) {
        const allowed = left.get(tenant)
        if (allowed === undefined) continue
        let credit = this.credits.get(tenant) ?? 0
        if (credit < 1) credit += unit * weightOf(tenant)
        const room = Math.min(Math.floor(credit), free, allowed)
        const found = room > 0 ? take(tenant, room) : 0
        free -= found
        left.set(tenant, allowed - found)
        if (found < room || allowed - found <= 0) {
          left.delete(tenant)
          this.credits.delete(tenant)
        } else this.credits.set(tenant, credit - found)
        if (free <= 0) {
          // Whose turn is not over is the first next time.
          this.last = (this.credits.get(tenant) ?? 0) >= 1 ? tenant - 1 : tenant
          return
        }
      }
    }
    this.last = queue[0] ?? -1
  }

  private count(tenant: number, states: readonly number[]): number {
    const [row] = this.db.all(
      `SELECT count(*) AS runs FROM bridle_runs WHERE tenant = ? AND state <> 3 AND state IN (${states.join(', ')})`,
      tenant,
    ) as readonly { readonly runs: number }[]
    return Number(row!.runs)
  }

  private sumBytes(tenant: number): number {
    const [row] = this.db.all(
      'SELECT coalesce(sum(length(snapshot)), 0) AS bytes FROM bridle_runs WHERE tenant = ? AND state <> 3',
      tenant,
    ) as readonly { readonly bytes: number }[]
    return Number(row!.bytes)
  }
}

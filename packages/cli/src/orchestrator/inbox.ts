// Deduplication of deliveries: a claim for each key of a binding, valid as long as the trigger says. Claims are records of the log;
// in memory they are a table.

import type { EventLog, LogTransaction } from '@bridle/stdlib-tools/node'
import { makeRecord } from './desk.js'
import type { Binding } from './desk.js'

export const CLAIMS = 'trigger.inbox.claims'
const LEGACY = 'trigger.inbox'
const DAY_MS = 86_400_000

export class Inbox {
  private readonly claims = new Map<string, number>()
  private readonly log: EventLog
  /** Ids of the claims of the current transaction. */
  private made: string[] | null = null
  readonly counts = { written: 0, rejected: 0 }

  constructor(log: EventLog, now = Date.now()) {
    this.log = log
    for (const topic of [LEGACY, CLAIMS])
      for (const { payload } of log.read({ topic, kind: 'dedupe_claim' })) {
        const {
          binding_id: id,
          dedupe_key: key,
          expires_at_ms: expires,
        } = payload as {
          readonly binding_id: string
          readonly dedupe_key: string
          readonly expires_at_ms: number
        }
        if (expires > now) this.claims.set(`${id}\n${key}`, expires)
      }
  }

  /** One transaction; a failed one leaves no claims. */
  write<T>(work: (transaction: LogTransaction) => T): T {
    const made: string[] = []
    this.made = made
    try {
      return this.log.write(work)
    } catch (cause) {
      for (const name of made) this.claims.delete(name)
      throw cause
    } finally {
      this.made = null
    }
  }

  /** False when the key is still claimed. Within `write`. */
  claim(transaction: LogTransaction, { id, retry }: Pick<Binding, 'id' | 'retry'>, key: string, retentionMs?: number): boolean {
    const now = Date.now()
    const name = `${id}\n${key}`
    const known = this.claims.get(name)
    if (known !== undefined && known > now) {
      this.counts.rejected++
      return false
    }
    const expires = now + (retentionMs ?? retry.retention_days * DAY_MS)
    transaction.append(
      makeRecord(CLAIMS, 'dedupe_claim', { binding_id: id, dedupe_key: key, expires_at_ms: expires }, { trigger_id: id }),
    )
    this.claims.set(name, expires)
    this.made?.push(name)
    this.counts.written++
    return true
  }
}

// Runs that wait for a person, as bytes: any process with the token and the answer can continue one. A token is taken once.

import { decodePlain, encodePlain } from '../host/journal-codec.js'
import type { Plain } from '@bridle/vm'
import type { ApprovalRequest } from '../tools/policy/approval-request.js'

/** Where runs that wait are kept. `take` gives a record to only one of concurrent callers. */
export interface PendingStore {
  save(token: string, record: Uint8Array): void | Promise<void>
  load(token: string): Uint8Array | null | Promise<Uint8Array | null>
  take(token: string): Uint8Array | null | Promise<Uint8Array | null>
  /** Tokens of all records, for a page that shows what waits. */
  list?(): readonly string[] | Promise<readonly string[]>
}

/** In this process; the oldest go when there are more than `most`. */
export function memoryPendingStore(most = 1_000): PendingStore {
  const records = new Map<string, Uint8Array>()
  return {
    save: (token, record) => {
      records.set(token, record)
      for (const oldest of records.keys()) {
        if (records.size <= most) break
        records.delete(oldest)
      }
    },
    load: (token) => records.get(token) ?? null,
    take: (token) => {
      const record = records.get(token) ?? null
      records.delete(token)
      return record
    },
    list: () => [...records.keys()],
  }
}

export interface PendingRun {
  readonly snapshot: Uint8Array
  readonly requests: readonly ApprovalRequest[]
  readonly source: string
  /** What the model was shown of the run already. */
  readonly printed: number
  readonly calls: Plain
}

export function encodePending(run: PendingRun): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ format: 1, run: encodePlain(run as unknown as Plain) }))
}

/** Raises an error for what is no such record. */
export function decodePending(bytes: Uint8Array): PendingRun {
  const { format, run } = JSON.parse(new TextDecoder().decode(bytes)) as { readonly format: unknown; readonly run: string }
  if (format !== 1) throw new Error('the record of the run that waits is of another version')
  return decodePlain(run) as unknown as PendingRun
}

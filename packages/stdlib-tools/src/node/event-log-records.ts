// Records of an event log, queries of a log, and how records of a topic are chained.

import { createHash } from 'node:crypto'
import type { Plain } from '@bridle/vm'

export interface NewRecord {
  readonly topic: string
  readonly kind: string
  readonly payload: Plain
  readonly headers: { readonly [name: string]: string }
  readonly atMs: number
}

export interface LogRecord {
  /** From 1 within its topic. */
  readonly id: number
  readonly kind: string
  readonly payload: Plain
  readonly headers: { readonly [name: string]: string }
  readonly occurredAtMs: number
}

export interface LogQuery {
  readonly topic: string
  /** Only behind this id. */
  readonly after?: number
  /** So many of the last ones. */
  readonly last?: number | null
  /** So many of the first ones. */
  readonly first?: number
  readonly kind?: string | null
  /** By the header `event_id`. */
  readonly eventId?: string | null
}

/** The appending effect of a run, for appends that are repeated after a crash. */
export interface AppendMark {
  readonly runId: string
  readonly effectId: number
}

export interface SharedValue {
  readonly value: Plain
  /** 0: there is none. */
  readonly version: number
}

/** What a transaction may do. */
export interface LogTransaction {
  /** Null when the mark was there before. */
  append(record: NewRecord, mark?: AppendMark): number | null
  /** The id of what was appended with the mark; null when nothing was. */
  find(mark: AppendMark): number | null
  /** The id of the last record; 0 without one. */
  head(topic: string): number
  setCursor(topic: string, consumer: string, cursor: number): void
}

export interface EventLog {
  readonly backend: 'sqlite' | 'file' | 'memory'
  /** Where it is, for people. */
  readonly location: string
  /** All or nothing, on the disk when it returns. */
  write<T>(work: (transaction: LogTransaction) => T): T
  /** On the disk soon, and before the next transaction and the next commit of a run. */
  later(work: (transaction: LogTransaction) => void): void
  read(query: LogQuery): readonly LogRecord[]
  /** The id of the last record; 0 without one. */
  head(topic: string): number
  topics(): readonly string[]
  /** Null: the consumer was never there. */
  cursor(topic: string, consumer: string): number | null
  get(table: string, key: string): SharedValue
  /** False if it changed since `version`; true without a change if the mark existed before. */
  put(table: string, key: string, value: Plain, version: number, mark?: AppendMark): boolean
  /** A run has ended: its appends are not repeated. */
  forget(runId: string): void
  close(): void
}

export const PROVENANCE = 'harn-eventlog-provenance-v1'

/** The headers of a record with those that chain it to the one before it in its topic. */
export function chainHeaders(
  { topic, kind, payload, headers, atMs }: NewRecord,
  id: number,
  previousHash: string | null,
): { readonly [name: string]: string } {
  const chained = {
    ...headers,
    'harn.provenance.schema': PROVENANCE,
    ...(previousHash === null ? {} : { 'harn.provenance.prev_hash': previousHash }),
  }
  const text = sortedJson({ topic, event_id: id, kind, payload, headers: chained, occurred_at_ms: atMs })
  return { ...chained, 'harn.provenance.record_hash': `sha256:${createHash('sha256').update(text).digest('hex')}` }
}

export function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => sortedJson(each)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${sortedJson(member)}`).join(',')}}`
}

/** Whether a query selects a record; `first` and `last` are the caller's. */
export function fits({ after = 0, kind = null, eventId = null }: LogQuery, record: LogRecord): boolean {
  return (
    record.id > after && (kind === null || record.kind === kind) && (eventId === null || record.headers['event_id'] === eventId)
  )
}

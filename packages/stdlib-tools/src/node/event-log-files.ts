// The event log as JSON lines, one file for each topic, or in memory. One process writes; others may read the lines that are whole.

import { appendFileSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Plain } from '@bridle/vm'
import { chainHeaders, fits } from './event-log-records.js'
import type { AppendMark, EventLog, LogQuery, LogRecord, LogTransaction, NewRecord, SharedValue } from './event-log-records.js'
import { writeWholeFile } from './whole-file.js'

interface Line {
  readonly id: number
  readonly event: {
    readonly kind: string
    readonly payload: Plain
    readonly headers: { readonly [name: string]: string }
    readonly occurred_at_ms: number
  }
}

export class FileLog implements EventLog {
  readonly backend: 'file' | 'memory'
  readonly location: string
  private readonly folder: string | null
  private readonly records = new Map<string, LogRecord[]>()
  private readonly cursors = new Map<string, number>()
  private readonly shared = new Map<string, SharedValue>()
  private readonly marks = new Map<string, Map<number, number>>()

  /** Null: in memory. */
  constructor(folder: string | null) {
    this.folder = folder
    this.backend = folder === null ? 'memory' : 'file'
    this.location = folder ?? 'memory'
    if (folder === null) return
    mkdirSync(join(folder, 'topics'), { recursive: true })
    mkdirSync(join(folder, 'consumers'), { recursive: true })
    for (const name of readdirSync(join(folder, 'topics')))
      if (name.endsWith('.jsonl'))
        this.records.set(decodeURIComponent(name.slice(0, -6)), readLines(join(folder, 'topics', name)))
    for (const name of readdirSync(join(folder, 'consumers'))) {
      if (!name.endsWith('.json')) continue
      const facts = JSON.parse(readFileSync(join(folder, 'consumers', name), 'utf8')) as {
        readonly topic: string
        readonly consumer_id: string
        readonly cursor: number
      }
      this.cursors.set(`${facts.topic}\n${facts.consumer_id}`, facts.cursor)
    }
  }

  write<T>(work: (transaction: LogTransaction) => T): T {
    return work(this.transaction)
  }

  later(work: (transaction: LogTransaction) => void): void {
    work(this.transaction)
  }

  read(query: LogQuery): readonly LogRecord[] {
    const found = (this.records.get(query.topic) ?? []).filter((record) => fits(query, record))
    const { last = null, first } = query
    if (last !== null) return found.slice(Math.max(0, found.length - last))
    return first === undefined ? found : found.slice(0, first)
  }

  head(topic: string): number {
    return this.records.get(topic)?.at(-1)?.id ?? 0
  }

  topics(): readonly string[] {
    return [...this.records.keys()].sort()
  }

  cursor(topic: string, consumer: string): number | null {
    return this.cursors.get(`${topic}\n${consumer}`) ?? null
  }

  get(table: string, key: string): SharedValue {
    return this.shared.get(`${table}\n${key}`) ?? { value: null, version: 0 }
  }

  put(table: string, key: string, value: Plain, version: number, mark?: AppendMark): boolean {
    if (mark !== undefined && this.find(mark) !== null) return true
    if (this.get(table, key).version !== version) return false
    this.shared.set(`${table}\n${key}`, { value, version: version + 1 })
    if (mark !== undefined) this.note(mark, 0)
    return true
  }

  forget(runId: string): void {
    this.marks.delete(runId)
  }

  close(): void {}

  private readonly transaction: LogTransaction = {
    append: (record, mark) => this.append(record, mark),
    find: (mark) => this.find(mark),
    head: (topic) => this.head(topic),
    setCursor: (topic, consumer, cursor) => {
      this.cursors.set(`${topic}\n${consumer}`, cursor)
      if (this.folder === null) return
      const facts = { topic, consumer_id: consumer, cursor, updated_at_ms: Date.now() }
      writeWholeFile(
        join(this.folder, 'consumers', `${encodeURIComponent(topic)}__${consumer}.json`),
        `${JSON.stringify(facts)}\n`,
      )
    },
  }

  private append(record: NewRecord, mark: AppendMark | undefined): number | null {
    const known = mark === undefined ? null : this.find(mark)
    if (known !== null) return known
    const records = this.records.get(record.topic) ?? []
    this.records.set(record.topic, records)
    const before = records.at(-1)
    const id = (before?.id ?? 0) + 1
    const headers = chainHeaders(record, id, before?.headers['harn.provenance.record_hash'] ?? null)
    const line: Line = {
      id,
      event: { kind: record.kind, payload: record.payload, headers, occurred_at_ms: record.atMs },
    }
    if (this.folder !== null)
      appendFileSync(join(this.folder, 'topics', `${encodeURIComponent(record.topic)}.jsonl`), `${JSON.stringify(line)}\n`)
    records.push({ id, kind: record.kind, payload: record.payload, headers, occurredAtMs: record.atMs })
    if (mark !== undefined) this.note(mark, id)
    return id
  }

  private find({ runId, effectId }: AppendMark): number | null {
    return this.marks.get(runId)?.get(effectId) ?? null
  }

  private note({ runId, effectId }: AppendMark, id: number): void {
    const own = this.marks.get(runId) ?? new Map<number, number>()
    this.marks.set(runId, own.set(effectId, id))
  }
}

/** A last line that is not whole was being written when its process died. */
function readLines(path: string): LogRecord[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  lines.pop()
  return lines.map((text) => {
    const { id, event } = JSON.parse(text) as Line
    return { id, kind: event.kind, payload: event.payload, headers: event.headers, occurredAtMs: event.occurred_at_ms }
  })
}

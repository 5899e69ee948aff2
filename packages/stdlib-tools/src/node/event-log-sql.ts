// The event log in SQLite. Tables and columns have fixed names, because people and programs query the file while it grows.

import { EventLogError } from './event-log-error.js'
import { chainHeaders } from './event-log-records.js'
import type { AppendMark, EventLog, LogQuery, LogRecord, LogTransaction, NewRecord, SharedValue } from './event-log-records.js'
import type { Plain } from '@bridle/vm'
import type { SqlStatement } from './sql-runs.js'
import type { SqlValue } from './sql-schema.js'
import type { SqlEngine } from './sql-store.js'

const SCHEMA = [
  'CREATE TABLE IF NOT EXISTS topic_heads (topic TEXT PRIMARY KEY, last_id INTEGER NOT NULL)',
  `CREATE TABLE IF NOT EXISTS events (
     topic TEXT NOT NULL, event_id INTEGER NOT NULL, kind TEXT NOT NULL, payload BLOB NOT NULL, headers TEXT NOT NULL,
     occurred_at_ms INTEGER NOT NULL, PRIMARY KEY (topic, event_id))`,
  `CREATE TABLE IF NOT EXISTS consumers (
     topic TEXT NOT NULL, consumer_id TEXT NOT NULL, cursor INTEGER NOT NULL, updated_at_ms INTEGER NOT NULL,
     PRIMARY KEY (topic, consumer_id))`,
  // What effects of runs that have not ended have appended.
  `CREATE TABLE IF NOT EXISTS bridle_appended (
     run TEXT NOT NULL, effect INTEGER NOT NULL, event_id INTEGER NOT NULL, PRIMARY KEY (run, effect)) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS bridle_shared (
     name TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (name, key)) WITHOUT ROWID`,
]

/** How long after a failure records that wait are written again. */
const RETRY_MS = 200

interface Row {
  readonly event_id: number
  readonly kind: string
  readonly payload: Uint8Array | string
  readonly headers: string
  readonly occurred_at_ms: number
}

interface Head {
  readonly id: number
  readonly hash: string | null
}

export class SqlLog implements EventLog {
  readonly backend = 'sqlite'
  readonly location: string
  /** With it a store of runs keeps what is to be appended in the transaction of its next commit. */
  readonly engine: SqlEngine
  private readonly own: SqlEngine
  private readonly statements = new Map<string, SqlStatement>()
  private readonly encoder = new TextEncoder()
  private readonly decoder = new TextDecoder()
  private heads = new Map<string, Head>()
  private waiting: ((transaction: LogTransaction) => void)[] = []
  private isClosed = false

  constructor(engine: SqlEngine, location: string) {
    this.own = engine
    this.location = location
    engine.write(() => {
      for (const statement of SCHEMA) engine.connection.exec(statement)
    })
    this.engine = { ...engine, write: (work) => this.transact(work) }
  }

  write<T>(work: (transaction: LogTransaction) => T): T {
    return this.transact(() => work(this.transaction))
  }

  later(work: (transaction: LogTransaction) => void): void {
    this.waiting.push(work)
    if (this.waiting.length > 1) return
    setImmediate(() => this.tryFlush())
  }

  /** What cannot be kept now is kept later: by the next transaction, or by the next try. */
  private tryFlush(): void {
    if (this.isClosed) return
    try {
      this.flush()
    } catch {
      setTimeout(() => this.tryFlush(), RETRY_MS).unref()
    }
  }

  read(query: LogQuery): readonly LogRecord[] {
    this.flush()
    const { topic, after = 0, last = null, first, kind = null, eventId = null } = query
    const where = ['topic = ?', 'event_id > ?']
    const values: SqlValue[] = [topic, after]
    if (kind !== null) {
      where.push('kind = ?')
      values.push(kind)
    }
    if (eventId !== null) {
      where.push("json_extract(headers, '$.event_id') = ?")
      values.push(eventId)
    }
    const order = last === null ? 'ASC' : 'DESC'
    const limit = last ?? first ?? null
    const text = `SELECT event_id, kind, payload, headers, occurred_at_ms FROM events WHERE ${where.join(' AND ')} ORDER BY event_id ${order}${limit === null ? '' : ' LIMIT ?'}`
    const rows = this.look(text, ...values, ...(limit === null ? [] : [limit])) as readonly Row[]
    const records = rows.map((row) => this.decode(row))
    return last === null ? records : records.reverse()
  }

  head(topic: string): number {
    this.flush()
    const [row] = this.look('SELECT last_id FROM topic_heads WHERE topic = ?', topic) as readonly { readonly last_id: number }[]
    return row === undefined ? 0 : Number(row.last_id)
  }

  topics(): readonly string[] {
    this.flush()
    return (this.look('SELECT topic FROM topic_heads ORDER BY topic') as readonly { readonly topic: string }[]).map(
      ({ topic }) => topic,
    )
  }

  cursor(topic: string, consumer: string): number | null {
    this.flush()
    const [row] = this.look('SELECT cursor FROM consumers WHERE topic = ? AND consumer_id = ?', topic, consumer) as readonly {
      readonly cursor: number
    }[]
    return row === undefined ? null : Number(row.cursor)
  }

  get(table: string, key: string): SharedValue {
    const [row] = this.look('SELECT value, version FROM bridle_shared WHERE name = ? AND key = ?', table, key) as readonly {
      readonly value: string
      readonly version: number
    }[]
    return row === undefined
      ? { value: null, version: 0 }
      : { value: JSON.parse(row.value) as Plain, version: Number(row.version) }
  }

  put(table: string, key: string, value: Plain, version: number, mark?: AppendMark): boolean {
    const text = JSON.stringify(value)
    return this.transact(() => {
      if (mark !== undefined && this.findAppended(mark) !== null) return true
      const changes =
        version === 0
          ? this.run(
              'INSERT INTO bridle_shared (name, key, value, version) VALUES (?, ?, ?, 1) ON CONFLICT DO NOTHING',
              table,
              key,
              text,
            )
          : this.run(
              'UPDATE bridle_shared SET value = ?, version = version + 1 WHERE name = ? AND key = ? AND version = ?',
              text,
              table,
              key,
              version,
            )
      if (changes > 0 && mark !== undefined)
        this.run('INSERT INTO bridle_appended (run, effect, event_id) VALUES (?, ?, 0)', mark.runId, mark.effectId)
      return changes > 0
    })
  }

  forget(runId: string): void {
    this.later(() => this.run('DELETE FROM bridle_appended WHERE run = ?', runId))
  }

  close(): void {
    if (this.isClosed) return
    try {
      this.flush()
    } finally {
      this.isClosed = true
    }
  }

  private readonly transaction: LogTransaction = {
    append: (record, mark) => this.append(record, mark),
    find: (mark) => this.findAppended(mark),
    head: (topic) => this.readHead(topic).id,
    setCursor: (topic, consumer, cursor) => {
      this.run(
        `INSERT INTO consumers (topic, consumer_id, cursor, updated_at_ms) VALUES (?, ?, ?, ?)
         ON CONFLICT (topic, consumer_id) DO UPDATE SET cursor = excluded.cursor, updated_at_ms = excluded.updated_at_ms`,
        topic,
        consumer,
        cursor,
        Date.now(),
      )
    },
  }

  private append(record: NewRecord, mark: AppendMark | undefined): number | null {
    const head = this.readHead(record.topic)
    const id = head.id + 1
    if (mark !== undefined) {
      const isNew =
        this.run(
          'INSERT INTO bridle_appended (run, effect, event_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
          mark.runId,
          mark.effectId,
          id,
        ) > 0
      if (!isNew) return this.findAppended(mark)
    }
    const headers = chainHeaders(record, id, head.hash)
    this.run(
      'INSERT INTO events (topic, event_id, kind, payload, headers, occurred_at_ms) VALUES (?, ?, ?, ?, ?, ?)',
      record.topic,
      id,
      record.kind,
      this.encoder.encode(JSON.stringify(record.payload)),
      JSON.stringify(headers),
      record.atMs,
    )
    this.run(
      'INSERT INTO topic_heads (topic, last_id) VALUES (?, ?) ON CONFLICT (topic) DO UPDATE SET last_id = excluded.last_id',
      record.topic,
      id,
    )
    this.heads.set(record.topic, { id, hash: headers['harn.provenance.record_hash'] ?? null })
    return id
  }

  private findAppended({ runId, effectId }: AppendMark): number | null {
    const [row] = this.prepare('SELECT event_id FROM bridle_appended WHERE run = ? AND effect = ?').all(
      runId,
      effectId,
    ) as readonly { readonly event_id: number }[]
    return row === undefined ? null : Number(row.event_id)
  }

  /** Other processes append, too. */
  private readHead(topic: string): Head {
    const [row] = this.prepare('SELECT last_id FROM topic_heads WHERE topic = ?').all(topic) as readonly {
      readonly last_id: number
    }[]
    if (row === undefined) return { id: 0, hash: null }
    const id = Number(row.last_id)
    const known = this.heads.get(topic)
    if (known?.id === id) return known
    const [last] = this.prepare('SELECT headers FROM events WHERE topic = ? AND event_id = ?').all(topic, id) as readonly {
      readonly headers: string
    }[]
    const headers = last === undefined ? {} : (JSON.parse(last.headers) as { readonly [name: string]: string })
    return { id, hash: headers['harn.provenance.record_hash'] ?? null }
  }

  private decode({ event_id: id, kind, payload, headers, occurred_at_ms: at }: Row): LogRecord {
    const text = typeof payload === 'string' ? payload : this.decoder.decode(payload)
    return {
      id: Number(id),
      kind,
      payload: JSON.parse(text) as Plain,
      headers: JSON.parse(headers) as LogRecord['headers'],
      occurredAtMs: Number(at),
    }
  }

  /** With everything that waits to be kept in front. */
  private transact<T>(work: () => T): T {
    if (this.isClosed) throw new EventLogError('the event log is closed')
    const { waiting } = this
    this.waiting = []
    try {
      return this.own.write(() => {
        for (const each of waiting) each(this.transaction)
        return work()
      })
    } catch (cause) {
      this.heads.clear()
      // What could not be kept is tried again with the next transaction.
      this.waiting = [...waiting, ...this.waiting]
      throw cause
    }
  }

  private flush(): void {
    if (this.waiting.length > 0) this.transact(() => {})
  }

  private look(text: string, ...values: readonly SqlValue[]): readonly unknown[] {
    return this.own.read(() => this.prepare(text).all(...values))
  }

  private run(text: string, ...values: readonly SqlValue[]): number {
    return Number(this.prepare(text).run(...values).changes)
  }

  private prepare(text: string): SqlStatement {
    let statement = this.statements.get(text)
    if (statement === undefined) {
      statement = this.own.connection.prepare(text)
      this.statements.set(text, statement)
    }
    return statement
  }
}

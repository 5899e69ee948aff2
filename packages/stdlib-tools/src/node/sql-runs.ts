// What is done to the tables of durable runs, each as one step inside a transaction of the caller. A step either raises before it changes
// anything, or is done; who begins and commits, and for how many steps at once, is up to sql-store.ts.

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type {
  Change,
  LinkedChange,
  MigratedProgram,
  NewProgram,
  NewRun,
  RunEventRow,
  RunQuery,
  RunRow,
  RunState,
  Signal,
  StoreCounter,
  StoreSummary,
  StoredRun,
  TakeQuery,
  Taken,
  TakenRun,
} from '../host/durable/store.js'
import { RUN_TOKEN, SIGNAL_TOKEN, describeResolution, isKeyToken } from '../tools/executors/completion-keys.js'
import { WorkerFenced } from '../host/durable/store.js'
import { CANCEL_TOKEN } from '../host/durable/host.js'
import type { ProgramSources } from '../host/modules.js'
import { ENDED, PARKED, READY, RUNNING, SCHEMA, SCHEMA_VERSION, STATES, STUCK, UPGRADES } from './sql-schema.js'
import type { SqlValue } from './sql-schema.js'
import { ToolError } from '../tools/host-tools/errors.js'
import type { TenantQuota } from '../host/durable/quotas.js'
import { EVERYBODY, SqlQuotas } from './sql-quotas.js'

/** A connection that answers at once, of the shape of `node:sqlite`, better-sqlite3 and libsql. */
export interface SqlConnection {
  exec(sql: string): unknown
  prepare(sql: string): SqlStatement
  close?(): unknown
}

export interface SqlStatement {
  run(...params: SqlValue[]): { readonly changes: number | bigint }
  all(...params: SqlValue[]): readonly unknown[]
}

interface Row {
  readonly id: number
  readonly run_id: string
  readonly tenant: number
  readonly program: number
  readonly tools: number
  readonly state: number
  readonly owner: number | null
  readonly is_archived: number
  readonly started_at: number
  readonly updated_at: number
  readonly wake_at: number | null
  readonly tokens: string | null
  readonly head: string | null
  readonly snapshot: Uint8Array | null
  readonly dictionary: number | null
  readonly status: string | null
  readonly result: string | null
  readonly parent: number | null
  readonly published: string | null
}

interface Parent {
  readonly id: number
  /** Whether the run ends with it. */
  readonly ends: boolean
}

/** A run that a worker of this process has. */
interface OwnedRun {
  readonly id: number
  program: number
  readonly isArchived: boolean
  /** Of the last line of its journal. */
  seq: number
}

const HAS_UNDO = `SELECT 1 FROM bridle_entries WHERE run = ? AND line LIKE '%"kind":"undo"%' LIMIT 1`
const NO_TOKENS = '[]'
/** Batch size for runs of a dead worker and for due timers: the thread is blocked for one batch. */
const MOST_AT_ONCE = 1000
const MOST_TENANTS = 64

/** Milliseconds of the last commits of a process. */
export interface CommitTimes {
  readonly p50: number
  readonly p95: number
}

/** What follows from a transaction: when it was kept, and when it was not. */
export interface AfterCommit {
  readonly done: (() => void)[]
  readonly undone: (() => void)[]
}

export class SqlRuns {
  private readonly db: SqlConnection
  private readonly statements = new Map<string, SqlStatement>()
  private readonly names = new Map<string, number>()
  private readonly nameOf = new Map<number, string>()
  private readonly programs = new Map<string, number>()
  private readonly dictionaries = new Map<number, Buffer>()
  private readonly quotas: SqlQuotas

  constructor(db: SqlConnection) {
    this.db = db
    this.quotas = new SqlQuotas({
      all: (sql, ...params) => this.all(sql, ...params),
      run: (sql, ...params) => this.run(sql, ...params),
    })
    this.upgrade()
    for (const statement of SCHEMA.split(/;\n/)) if (statement.trim() !== '') db.exec(statement)
    const found = Number((this.get('SELECT value FROM bridle_meta WHERE name = ?', 'version') as { value: number }).value)
    if (found !== SCHEMA_VERSION)
      throw new ToolError(
        'store_unavailable',
        `the store has tables of version ${found}, this Bridle those of version ${SCHEMA_VERSION}`,
      )
  }

  private upgrade(): void {
    if (this.db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'bridle_meta'").all().length === 0) return
    const version = this.db.prepare("SELECT value FROM bridle_meta WHERE name = 'version'")
    for (;;) {
      const { value } = version.all()[0] as { readonly value: number }
      const steps = UPGRADES[Number(value)]
      if (steps === undefined) return
      for (const each of steps) this.db.exec(each)
      this.db.prepare("UPDATE bridle_meta SET value = value + 1 WHERE name = 'version'").run()
    }
  }

  /** What was looked up in a transaction that was not kept may not be there. */
  forget(): void {
    this.names.clear()
    this.nameOf.clear()
    this.programs.clear()
    this.dictionaries.clear()
    this.quotas.forget()
  }

  // ----------------------------------------------------------------------------------------------------------- from outside

  submit(run: NewRun, now: number, parent: Parent | null = null): boolean {
    if (this.find(run.runId) !== null) return false
    const { runId, tenant, program, tools, head, startedAt, isArchived } = run
    this.run(
      `INSERT INTO bridle_runs (run_id, tenant, program, tools, state, is_archived, started_at, updated_at, head, parent, ends_with_parent)
       VALUES (?, ?, ?, ?, ${READY}, ?, ?, ?, ?, ?, ?)`,
      runId,
      this.numberName(tenant),
      this.numberProgram(program),
      this.numberName(listKey(tools)),
      isArchived ? 1 : 0,
      startedAt,
      now,
      head.join('\n'),
      parent?.id ?? null,
      parent?.ends === true ? 1 : 0,
    )
    return true
  }

  /** Raises QuotaExceeded, with nothing changed; runs that are known count for nothing. */
  checkQuotas(runs: readonly NewRun[], now: number): void {
    const counts = new Map<string, number>()
    for (const { runId, tenant } of runs) if (this.find(runId) === null) counts.set(tenant, (counts.get(tenant) ?? 0) + 1)
    for (const [tenant, count] of counts) this.quotas.checkSubmission(this.numberName(tenant), tenant, count, now)
  }

  /** Null: those of tenants that have none of their own. */
  setQuota(tenant: string | null, quota: TenantQuota | null): void {
    this.quotas.set(tenant === null ? EVERYBODY : this.numberName(tenant), quota)
  }

  quotaOf(tenant: string): TenantQuota {
    this.quotas.forget()
    const row = this.get('SELECT id FROM bridle_names WHERE name = ?', tenant) as { readonly id: number } | null
    return this.quotas.get(row === null ? EVERYBODY : Number(row.id))
  }

  signal(runId: string, token: string, line: string, now: number): 'kept' | 'known' | 'gone' {
    const row = this.find(runId)
    if (row === null || row.state === ENDED) return 'gone'
    return this.tell(row, this.numberSignal(row.id, token), line, now)
  }

  /** A signal without a number is the next one of its name. */
  private numberSignal(run: number, token: string): string {
    if (!token.startsWith(SIGNAL_TOKEN) || /#\d+$/.test(token)) return token
    const { count } = this.get(
      'SELECT count(*) AS count FROM bridle_signals WHERE run = ? AND substr(token, 1, ?) = ?',
      run,
      token.length + 1,
      `${token}#`,
    ) as { readonly count: number }
    return `${token}#${Number(count) + 1}`
  }

  /** Those that were not asked for yet are the first ones now. */
  private renumberSignals(run: number, had: { readonly [name: string]: number }): void {
    const left = this.all(
      'SELECT seq, token FROM bridle_signals WHERE run = ? AND substr(token, 1, ?) = ? ORDER BY seq',
      run,
      SIGNAL_TOKEN.length,
      SIGNAL_TOKEN,
    ) as readonly { readonly seq: number; readonly token: string }[]
    const counts = new Map<string, number>()
    for (const { seq, token } of left) {
      const at = token.lastIndexOf('#')
      const name = token.slice(0, at)
      const signal = name.slice(SIGNAL_TOKEN.length)
      if (Number(token.slice(at + 1)) <= (Object.hasOwn(had, signal) ? had[signal]! : 0)) {
        this.run('DELETE FROM bridle_signals WHERE seq = ?', seq)
        continue
      }
      const number = (counts.get(name) ?? 0) + 1
      counts.set(name, number)
      this.run('UPDATE bridle_signals SET token = ? WHERE seq = ?', `${name}#${number}`, seq)
    }
  }

  private tell(row: Row, token: string, line: string, now: number): 'kept' | 'known' {
    if (this.get('SELECT 1 FROM bridle_signals WHERE run = ? AND token = ?', row.id, token) !== null) return 'known'
    this.run('INSERT INTO bridle_signals (run, token, line, at) VALUES (?, ?, ?, ?)', row.id, token, line, now)
    if (row.state === PARKED && waitsFor(row).includes(token)) this.makeReady(row.id, now)
    return 'kept'
  }

  cancel(runId: string, reason: string, now: number): boolean {
    const row = this.find(runId)
    if (row === null || row.state === ENDED) return false
    // Of a parked run that undoes what it did: a worker ends it.
    const isAsked =
      row.state === RUNNING ||
      ((row.state === PARKED || row.state === READY) && waitsFor(row).includes(CANCEL_TOKEN)) ||
      // One whose worker is gone, and which has something to undo.
      (row.state === READY && this.get(HAS_UNDO, row.id) !== null)
    if (isAsked) {
      this.run(
        'INSERT INTO bridle_signals (run, token, line, at) VALUES (?, ?, ?, ?) ON CONFLICT (run, token) DO NOTHING',
        row.id,
        CANCEL_TOKEN,
        reason,
        now,
      )
      if (row.state === PARKED) this.makeReady(row.id, now)
      return true
    }
    const ended = { runId, status: 'cancelled', value: null, error: reason, exitCode: null, output: '' }
    this.end(row.id, row.is_archived === 1, 'cancelled', JSON.stringify(ended), now)
    return true
  }

  retry(runId: string, now: number): boolean {
    const row = this.find(runId)
    if (row === null || row.state !== STUCK) return false
    this.makeReady(row.id, now)
    return true
  }

  fork(runId: string, to: string, change: (snapshot: Uint8Array) => Uint8Array, now: number): 'forked' | 'known' | 'gone' {
    const row = this.find(runId)
    if (row === null || row.snapshot === null) return 'gone'
    if (this.find(to) !== null) return 'known'
    const [bytes, dictionary] = this.pack(row.program, change(this.unpack(row)!))
    const { tenant, program, tools, started_at: startedAt, wake_at: wakeAt, tokens } = row
    this.run(
      `INSERT INTO bridle_runs (run_id, tenant, program, tools, state, is_archived, started_at, updated_at, wake_at, tokens, snapshot, dictionary)
       VALUES (?, ?, ?, ?, ${READY}, 0, ?, ?, ?, ?, ?, ?)`,
      to,
      tenant,
      program,
      tools,
      startedAt,
      now,
      wakeAt,
      tokens,
      bytes,
      dictionary,
    )
    return 'forked'
  }

  migrate(
    runId: string,
    { program, tools, head }: MigratedProgram,
    seenAt: number,
    now: number,
  ): 'migrated' | 'changed' | 'gone' {
    const row = this.find(runId)
    if (row === null || row.state === ENDED || row.is_archived === 0) return 'gone'
    if (row.state === RUNNING || row.updated_at !== seenAt) return 'changed'
    const behindHead = this.listJournal(row).slice(head.length)
    this.run('DELETE FROM bridle_archive WHERE run = ?', row.id)
    this.run('DELETE FROM bridle_entries WHERE run = ?', row.id)
    for (const [at, line] of behindHead.entries()) this.run('INSERT INTO bridle_entries VALUES (?, ?, ?)', row.id, at + 1, line)
    this.run(
      `UPDATE bridle_runs SET state = ${READY}, program = ?, tools = ?, head = ?, snapshot = NULL, dictionary = NULL,
       wake_at = NULL, status = NULL, updated_at = ? WHERE id = ?`,
      this.numberProgram(program),
      this.numberName(listKey(tools)),
      head.join('\n'),
      now,
      row.id,
    )
    return 'migrated'
  }

  expire(endedBefore: number): number {
    const rows = this.all(
      `SELECT id FROM bridle_runs WHERE state = ${ENDED} AND updated_at < ? LIMIT ${MOST_AT_ONCE}`,
      endedBefore,
    ) as readonly { readonly id: number }[]
    for (const { id } of rows) {
      for (const table of ['bridle_archive', 'bridle_events']) this.run(`DELETE FROM ${table} WHERE run = ?`, id)
      this.run('DELETE FROM bridle_runs WHERE id = ?', id)
    }
    return rows.length
  }

  // ---------------------------------------------------------------------------------------------------------------- workers

  join(name: string, leaseMs: number, tools: readonly string[] | null, now: number): number {
    this.run(
      'INSERT INTO bridle_workers (name, expires_at, lease_ms, tools) VALUES (?, ?, ?, ?)',
      name,
      now + leaseMs,
      leaseMs,
      tools === null ? null : JSON.stringify(tools),
    )
    return Number((this.get('SELECT last_insert_rowid() AS id') as { id: number }).id)
  }

  heartbeat(worker: number, now: number, commitMs: CommitTimes | null = null): boolean {
    // Another process may have changed them.
    this.quotas.forget()
    if (commitMs !== null)
      this.run('UPDATE bridle_workers SET commit_p50 = ?, commit_p95 = ? WHERE id = ?', commitMs.p50, commitMs.p95, worker)
    return this.changes('UPDATE bridle_workers SET expires_at = ? + lease_ms WHERE id = ? AND is_given_up = 0', now, worker) > 0
  }

  leave(worker: number, now: number): void {
    this.run(
      `UPDATE bridle_runs SET state = ${READY}, owner = NULL, updated_at = ? WHERE owner = ? AND state = ${RUNNING}`,
      now,
      worker,
    )
    this.run('DELETE FROM bridle_workers WHERE id = ?', worker)
  }

  /** Looks without writing, so that a worker that finds nothing costs no flush. */
  hasNothing({ now }: TakeQuery): boolean {
    return (
      this.get('SELECT 1 FROM bridle_workers WHERE expires_at <= ? OR is_given_up = 1 LIMIT 1', now) === null &&
      this.get(`SELECT 1 FROM bridle_runs WHERE state = ${READY} LIMIT 1`) === null &&
      this.get(`SELECT 1 FROM bridle_runs WHERE state = ${PARKED} AND wake_at IS NOT NULL AND wake_at <= ? LIMIT 1`, now) === null
    )
  }

  nextWake(): number | null {
    const row = this.get(`SELECT min(wake_at) AS at FROM bridle_runs WHERE state = ${PARKED} AND wake_at IS NOT NULL`)
    return (row as { readonly at: number | null }).at
  }

  take(
    worker: number,
    own: readonly string[] | null,
    query: TakeQuery,
    owned: Map<string, OwnedRun>,
    after: AfterCommit,
  ): Taken['runs'] {
    this.checkAlive(worker)
    const { now, most, busy, runId } = query
    this.bury(now)
    this.run(
      `UPDATE bridle_runs SET state = ${READY} WHERE id IN (
         SELECT id FROM bridle_runs WHERE state = ${PARKED} AND wake_at IS NOT NULL AND wake_at <= ? ORDER BY wake_at LIMIT ${MOST_AT_ONCE})`,
      now,
    )
    const lacking = this.listLacking(own)
    if (runId !== undefined) {
      const row = this.find(runId)
      return row !== null && row.state === READY && !lacking.includes(row.tools) ? [this.own(worker, row, now, owned, after)] : []
    }
    const skipped = new Set(busy.map((tenant) => this.numberName(tenant)))
    const tenants = this.listTenants().filter((tenant) => !skipped.has(tenant))
    const taken: TakenRun[] = []
    this.quotas.share(tenants, most, (tenant, room) => {
      const rows = this.all(
        `SELECT * FROM bridle_runs WHERE state = ${READY} AND tenant = ? AND tools NOT IN (${lacking.join(', ')}) ORDER BY id LIMIT ?`,
        tenant,
        room,
      ) as readonly Row[]
      for (const row of rows) taken.push(this.own(worker, row, now, owned, after))
      return rows.length
    })
    return taken
  }

  /** Tenants that have ready runs; a sample if there are too many. */
  private listTenants(): readonly number[] {
    const found: number[] = []
    for (let last = this.lastTenant, isAround = false; found.length < MOST_TENANTS;) {
      const row = this.get(`SELECT min(tenant) AS tenant FROM bridle_runs WHERE state = ${READY} AND tenant > ?`, last)
      const { tenant } = row as { readonly tenant: number | null }
      if (tenant !== null && !found.includes(tenant)) {
        found.push(tenant)
        last = tenant
      } else if (tenant === null && !isAround) {
        isAround = true
        last = -1
      } else break
    }
    this.lastTenant = found.length < MOST_TENANTS ? -1 : found.at(-1)!
    return found
  }

  private lastTenant = -1

  /** Lists of tools that the worker does not have whole; never empty, for SQL. */
  private listLacking(own: readonly string[] | null): readonly number[] {
    if (own === null) return [-1]
    const known = new Set(own)
    const lists = this.all(`SELECT DISTINCT tools FROM bridle_runs WHERE state = ${READY}`) as readonly {
      readonly tools: number
    }[]
    return [-1, ...lists.flatMap(({ tools }) => (readKey(this.readName(tools)).every((tool) => known.has(tool)) ? [] : [tools]))]
  }

  /** Takes over runs of workers without a heartbeat, in small batches. */
  private bury(now: number): void {
    this.run('UPDATE bridle_workers SET is_given_up = 1 WHERE expires_at <= ? AND is_given_up = 0', now)
    const dead = this.all('SELECT id FROM bridle_workers WHERE is_given_up = 1') as readonly { readonly id: number }[]
    for (const { id } of dead) {
      const freed = this.changes(
        `UPDATE bridle_runs SET state = ${READY}, owner = NULL WHERE id IN (SELECT id FROM bridle_runs WHERE owner = ? AND state = ${RUNNING} LIMIT ${MOST_AT_ONCE})`,
        id,
      )
      if (freed < MOST_AT_ONCE) this.run('DELETE FROM bridle_workers WHERE id = ?', id)
    }
  }

  private own(worker: number, row: Row, now: number, owned: Map<string, OwnedRun>, after: AfterCommit): TakenRun {
    this.run(`UPDATE bridle_runs SET state = ${RUNNING}, owner = ?, updated_at = ? WHERE id = ?`, worker, now, row.id)
    const entries = this.all('SELECT seq, line FROM bridle_entries WHERE run = ? ORDER BY seq', row.id) as readonly {
      readonly seq: number
      readonly line: string
    }[]
    const isArchived = row.is_archived === 1
    const last = Number(entries.at(-1)?.seq ?? 0)
    after.done.push(() => owned.set(row.run_id, { id: row.id, program: row.program, isArchived, seq: last }))
    const program = this.get('SELECT hash FROM bridle_programs WHERE id = ?', row.program) as { readonly hash: string }
    return {
      runId: row.run_id,
      tenant: this.readName(row.tenant),
      program: program.hash,
      startedAt: row.started_at,
      isArchived,
      // With a snapshot the head is only needed for the archive.
      head: row.snapshot !== null || row.head === null ? [] : row.head.split('\n'),
      snapshot: this.unpack(row),
      lines: entries.map(({ line }) => line),
      tokens: row.tokens ?? NO_TOKENS,
      signals: this.listSignals(row.id, row.run_id),
      quota: this.quotas.get(row.tenant),
      queuedMs: Math.max(0, now - Math.max(row.updated_at, row.wake_at !== null && row.wake_at <= now ? row.wake_at : 0)),
      lastEvent: Number(
        (this.get('SELECT coalesce(max(seq), 0) AS seq FROM bridle_events WHERE run = ?', row.id) as { readonly seq: number })
          .seq,
      ),
    }
  }

  private listSignals(run: number, runId: string): readonly Signal[] {
    const rows = this.all(
      "SELECT token, line FROM bridle_signals WHERE run = ? AND line <> '' ORDER BY seq",
      run,
    ) as readonly Omit<Signal, 'runId'>[]
    return rows.map(({ token, line }) => ({ runId, token, line }))
  }

  /** Those of running runs of a worker, behind `seen`. */
  signals(worker: number, seen: number): { readonly seen: number; readonly found: readonly Signal[] } {
    const rows = this.all(
      `SELECT s.seq, r.run_id, s.token, s.line FROM bridle_signals s JOIN bridle_runs r ON r.id = s.run
       WHERE s.seq > ? AND r.owner = ? AND r.state = ${RUNNING} ORDER BY s.seq`,
      seen,
      worker,
    ) as readonly { readonly seq: number; readonly run_id: string; readonly token: string; readonly line: string }[]
    const last = rows.at(-1)
    return {
      seen: last === undefined ? seen : Number(last.seq),
      found: rows.map(({ run_id: runId, token, line }) => ({ runId, token, line })),
    }
  }

  /** Raises WorkerFenced before anything is changed. */
  commit(worker: number, changes: readonly Change[], owned: Map<string, OwnedRun>, now: number, after: AfterCommit): void {
    this.checkAlive(worker)
    for (const { runId } of changes) if (!owned.has(runId)) throw new WorkerFenced(`the run ${runId} is not of this worker`)
    for (const change of changes) this.change(owned.get(change.runId)!, change, now, () => void owned.delete(change.runId), after)
  }

  private checkAlive(worker: number): void {
    if (this.get('SELECT 1 FROM bridle_workers WHERE id = ? AND is_given_up = 0', worker) === null) throw new WorkerFenced()
  }

  private change(run: OwnedRun, change: Change, now: number, leave: () => void, after: AfterCommit): void {
    switch (change.do) {
      case 'append': {
        const before = run.seq
        after.undone.push(() => {
          run.seq = Math.min(run.seq, before)
        })
        for (const line of change.lines) this.run('INSERT INTO bridle_entries VALUES (?, ?, ?)', run.id, ++run.seq, line)
        return
      }
      case 'close':
        for (const token of change.tokens) {
          const line = JSON.stringify(describeResolution(token, 'timeout'))
          this.run(
            'INSERT INTO bridle_signals (run, token, line, at) VALUES (?, ?, ?, ?) ON CONFLICT (run, token) DO NOTHING',
            run.id,
            token,
            line,
            now,
          )
        }
        return
      case 'checkpoint': {
        this.cut(run.id, run.isArchived, change.used)
        const [bytes, dictionary] = this.pack(run.program, change.snapshot)
        this.run(
          'UPDATE bridle_runs SET snapshot = ?, dictionary = ?, tokens = ?, updated_at = ? WHERE id = ?',
          bytes,
          dictionary,
          change.tokens,
          now,
          run.id,
        )
        if (!run.isArchived) this.run('UPDATE bridle_runs SET head = NULL WHERE id = ?', run.id)
        return
      }
      case 'park': {
        this.cut(run.id, run.isArchived, change.used)
        const [bytes, dictionary] = this.pack(run.program, change.snapshot)
        // An answer may have come meanwhile: the run is ready then.
        const tokens = new Set([CANCEL_TOKEN, ...readTokens(change.tokens)])
        const isReady = this.listSignals(run.id, '').some(({ token }) => tokens.has(token) && !change.used.includes(token))
        this.run(
          `UPDATE bridle_runs SET state = ?, owner = NULL, snapshot = ?, dictionary = ?, tokens = ?, wake_at = ?, updated_at = ?${run.isArchived ? '' : ', head = NULL'} WHERE id = ?`,
          isReady ? READY : PARKED,
          bytes,
          dictionary,
          change.tokens,
          change.wakeAt,
          now,
          run.id,
        )
        after.done.push(leave)
        return
      }
      case 'end':
        this.end(run.id, run.isArchived, change.status, change.result, now)
        after.done.push(leave)
        return
      case 'again':
        this.cut(run.id, false, change.used)
        this.renumberSignals(run.id, change.signals)
        for (const table of ['bridle_archive', 'bridle_entries']) this.run(`DELETE FROM ${table} WHERE run = ?`, run.id)
        this.run(
          `UPDATE bridle_runs SET state = ${READY}, owner = NULL, head = ?, snapshot = NULL, dictionary = NULL, tokens = NULL, wake_at = NULL,
           updated_at = ? WHERE id = ?`,
          change.head.join('\n'),
          now,
          run.id,
        )
        after.done.push(leave)
        return
      case 'start':
      case 'signal':
      case 'cancel':
      case 'publish':
      case 'emit':
        this.link(run, change, now)
        return
      case 'stuck':
        this.run(
          `UPDATE bridle_runs SET state = ${STUCK}, owner = NULL, status = ?, updated_at = ? WHERE id = ?`,
          change.reason,
          now,
          run.id,
        )
        after.done.push(leave)
        return
      case 'release': {
        const row = this.get('SELECT tools FROM bridle_runs WHERE id = ?', run.id) as { readonly tools: number }
        const tools = [...new Set([...readKey(this.readName(row.tools)), ...change.tools])]
        this.run(
          `UPDATE bridle_runs SET state = ${READY}, owner = NULL, tools = ?, updated_at = ? WHERE id = ?`,
          this.numberName(listKey(tools)),
          now,
          run.id,
        )
        after.done.push(leave)
      }
    }
  }

  private link(run: OwnedRun, change: LinkedChange, now: number): void {
    const own = this.get('SELECT * FROM bridle_runs WHERE id = ?', run.id) as Row
    switch (change.do) {
      case 'start': {
        const made = { ...change.run, tenant: this.readName(own.tenant), isArchived: run.isArchived }
        this.submit(made, now, { id: run.id, ends: change.onParentEnd === 'cancel' })
        return
      }
      case 'signal': {
        const to = this.find(change.to)
        if (to !== null && to.state !== ENDED && to.tenant === own.tenant)
          this.tell(to, this.numberSignal(to.id, change.token), change.line, now)
        return
      }
      case 'cancel':
        if (this.find(change.to)?.tenant === own.tenant) this.cancel(change.to, change.reason, now)
        return
      case 'publish': {
        const published = { ...readPublished(own), [change.name]: JSON.parse(change.line) as unknown }
        this.run('UPDATE bridle_runs SET published = ? WHERE id = ?', JSON.stringify(published), run.id)
        return
      }
      case 'emit':
        this.run(
          'INSERT INTO bridle_events VALUES (?, ?, ?, ?, ?) ON CONFLICT (run, seq) DO NOTHING',
          run.id,
          change.sequence,
          change.type,
          change.line,
          now,
        )
    }
  }

  events(runId: string, { after, most }: { readonly after: number; readonly most: number }): readonly RunEventRow[] {
    const row = this.find(runId)
    if (row === null) return []
    const found = this.all(
      'SELECT seq, type, line, at FROM bridle_events WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?',
      row.id,
      after,
      most,
    ) as readonly { readonly seq: number; readonly type: string; readonly line: string; readonly at: number }[]
    return found.map(({ seq, ...event }) => ({ sequence: Number(seq), ...event }))
  }

  /** The journal behind the last snapshot is in the next one; of an archived run it is kept beside it. */
  private cut(run: number, isArchived: boolean, used: readonly string[]): void {
    if (isArchived) this.archive(run)
    this.run('DELETE FROM bridle_entries WHERE run = ?', run)
    // A key is answered once in the life of its run.
    for (const token of used)
      if (token.startsWith(SIGNAL_TOKEN)) this.run("UPDATE bridle_signals SET line = '' WHERE run = ? AND token = ?", run, token)
      else if (!isKeyToken(token) && token !== CANCEL_TOKEN)
        this.run('DELETE FROM bridle_signals WHERE run = ? AND token = ?', run, token)
  }

  private archive(run: number): void {
    const entries = this.all('SELECT seq, line FROM bridle_entries WHERE run = ? ORDER BY seq', run) as readonly {
      readonly seq: number
      readonly line: string
    }[]
    if (entries.length === 0) return
    const { seq } = this.get('SELECT coalesce(max(seq), 0) + 1 AS seq FROM bridle_archive WHERE run = ?', run) as {
      readonly seq: number
    }
    const lines = deflateRawSync(entries.map(({ line }) => line).join('\n'))
    this.run('INSERT INTO bridle_archive VALUES (?, ?, ?)', run, Number(seq), lines)
  }

  private end(run: number, isArchived: boolean, status: string, result: string, now: number): void {
    const { run_id: runId, parent } = this.get('SELECT run_id, parent FROM bridle_runs WHERE id = ?', run) as {
      readonly run_id: string
      readonly parent: number | null
    }
    const above = parent === null ? null : (this.get('SELECT * FROM bridle_runs WHERE id = ?', parent) as Row | null)
    if (above !== null && above.state !== ENDED) {
      const { status: kind, value, error } = JSON.parse(result) as { readonly [name: string]: unknown }
      this.tell(above, `${RUN_TOKEN}${runId}`, JSON.stringify({ ok: { status: kind, value, error } }), now)
    }
    if (isArchived) this.archive(run)
    this.run('DELETE FROM bridle_entries WHERE run = ?', run)
    this.run('DELETE FROM bridle_signals WHERE run = ?', run)
    this.run(
      `UPDATE bridle_runs SET state = ${ENDED}, owner = NULL, snapshot = NULL, tokens = NULL, wake_at = NULL, status = ?, result = ?, updated_at = ?${isArchived ? '' : ', head = NULL'} WHERE id = ?`,
      status,
      result,
      now,
      run,
    )
    const children = this.all(
      `SELECT run_id FROM bridle_runs WHERE parent = ? AND ends_with_parent = 1 AND state <> ${ENDED}`,
      run,
    ) as readonly { readonly run_id: string }[]
    for (const { run_id: child } of children) this.cancel(child, `the run ${runId} has ended`, now)
  }

  private makeReady(run: number, now: number): void {
    this.run(`UPDATE bridle_runs SET state = ${READY}, status = NULL, updated_at = ? WHERE id = ?`, now, run)
  }

  // --------------------------------------------------------------------------------------------------------------- to look

  secret(make: () => string): string {
    this.run('INSERT INTO bridle_secrets VALUES (?, ?) ON CONFLICT (name) DO NOTHING', 'keys', make())
    return (this.get('SELECT secret FROM bridle_secrets WHERE name = ?', 'keys') as { readonly secret: string }).secret
  }

  program(hash: string): NewProgram | null {
    const row = this.get('SELECT hash, label, sources FROM bridle_programs WHERE hash = ?', hash) as {
      readonly hash: string
      readonly label: string
      readonly sources: Uint8Array
    } | null
    if (row === null) return null
    return {
      hash: row.hash,
      label: row.label,
      sources: JSON.parse(inflateRawSync(row.sources).toString('utf8')) as ProgramSources,
    }
  }

  describeRun(runId: string): RunRow | null {
    const row = this.find(runId)
    return row === null ? null : this.describe(row)
  }

  list({ state, tenant, program, waitsFor: token, since, after, most }: RunQuery): readonly RunRow[] {
    const found: RunRow[] = []
    let behind = after ?? ''
    const conditions = ['run_id > ?']
    const values: SqlValue[] = []
    if (state !== undefined) conditions.push(`state = ${STATES.indexOf(state)}`)
    if (tenant !== undefined) {
      conditions.push('tenant = (SELECT id FROM bridle_names WHERE name = ?)')
      values.push(tenant)
    }
    if (program !== undefined) {
      conditions.push('program IN (SELECT id FROM bridle_programs WHERE hash = ? OR label = ?)')
      values.push(program, program)
    }
    if (since !== undefined) {
      conditions.push('started_at >= ?')
      values.push(since)
    }
    if (token !== undefined) {
      conditions.push('tokens LIKE ?')
      values.push(`%${JSON.stringify(token).replaceAll(/[%_]/g, '_')}%`)
    }
    while (found.length < most) {
      const room = most - found.length
      const rows = this.all(
        `SELECT * FROM bridle_runs WHERE ${conditions.join(' AND ')} ORDER BY run_id LIMIT ?`,
        behind,
        ...values,
        room,
      ) as readonly Row[]
      for (const row of rows) if (token === undefined || waitsFor(row).includes(token)) found.push(this.describe(row))
      if (rows.length < room) break
      behind = rows.at(-1)!.run_id
    }
    return found
  }

  count(counter: StoreCounter): void {
    this.run('INSERT INTO bridle_meta VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1', `count ${counter}`)
  }

  summarize(now: number): StoreSummary {
    const groups = this.all(
      `SELECT tenant, state, count(*) AS runs, sum(length(snapshot)) AS bytes, min(updated_at) AS since
       FROM bridle_runs GROUP BY tenant, state ORDER BY tenant, state`,
    ) as readonly {
      readonly tenant: number
      readonly state: number
      readonly runs: number
      readonly bytes: number | null
      readonly since: number
    }[]
    const tenants = new Map<string, { runs: { [State in RunState]: number }; bytes: number; oldestReadyMs: number | null }>()
    for (const { tenant, state, runs, bytes, since } of groups) {
      const name = this.readName(tenant)
      const found = tenants.get(name) ?? {
        runs: { ready: 0, running: 0, parked: 0, ended: 0, stuck: 0 },
        bytes: 0,
        oldestReadyMs: null,
      }
      found.runs[STATES[state]!] = Number(runs)
      found.bytes += Number(bytes ?? 0)
      if (state === READY) found.oldestReadyMs = Math.max(0, now - since)
      tenants.set(name, found)
    }
    const workers = this.all(
      `SELECT name, expires_at, is_given_up, commit_p50, commit_p95, (SELECT count(*) FROM bridle_runs WHERE owner = w.id AND state = ${RUNNING}) AS runs
       FROM bridle_workers w ORDER BY id`,
    ) as readonly {
      readonly name: string
      readonly expires_at: number
      readonly is_given_up: number
      readonly commit_p50: number | null
      readonly commit_p95: number | null
      readonly runs: number
    }[]
    return {
      tenants: [...tenants].map(([tenant, facts]) => ({ tenant, ...facts })),
      workers: workers.map(
        ({ name, runs, expires_at: leaseUntil, is_given_up: isGivenUp, commit_p50: p50, commit_p95: p95 }) => ({
          name,
          runs: Number(runs),
          leaseUntil,
          isGivenUp: isGivenUp === 1,
          commitMs: p50 === null || p95 === null ? null : { p50, p95 },
        }),
      ),
      fenced: this.readCounter('fenced'),
      unknownOutcomes: this.readCounter('unknown_outcomes'),
    }
  }

  private readCounter(counter: StoreCounter): number {
    const row = this.get('SELECT value FROM bridle_meta WHERE name = ?', `count ${counter}`) as { readonly value: number } | null
    return Number(row?.value ?? 0)
  }

  read(runId: string): StoredRun | null {
    const row = this.find(runId)
    if (row === null) return null
    const isArchived = row.is_archived === 1
    const { hash } = this.get('SELECT hash FROM bridle_programs WHERE id = ?', row.program) as { readonly hash: string }
    return {
      row: this.describe(row),
      program: this.program(hash)!,
      isArchived,
      journal: this.listJournal(row),
      snapshot: this.unpack(row),
    }
  }

  /** From its beginning where it is archived; else since the snapshot. */
  private listJournal({ id, is_archived: isArchived, head }: Row): readonly string[] {
    const before =
      isArchived === 1
        ? (this.all('SELECT lines FROM bridle_archive WHERE run = ? ORDER BY seq', id) as readonly {
            readonly lines: Uint8Array
          }[])
        : []
    const entries = this.all('SELECT line FROM bridle_entries WHERE run = ? ORDER BY seq', id) as readonly {
      readonly line: string
    }[]
    return [
      ...(head === null ? [] : head.split('\n')),
      ...before.flatMap(({ lines }) => inflateRawSync(lines).toString('utf8').split('\n')),
      ...entries.map(({ line }) => line),
    ]
  }

  private describe(row: Row): RunRow {
    const program = this.get('SELECT hash, label FROM bridle_programs WHERE id = ?', row.program) as RunRow['program']
    const worker =
      row.owner === null
        ? null
        : (this.get('SELECT name FROM bridle_workers WHERE id = ?', row.owner) as { readonly name: string } | null)
    return {
      runId: row.run_id,
      tenant: this.readName(row.tenant),
      program: { hash: program.hash, label: program.label },
      state: STATES[row.state]!,
      worker: worker?.name ?? null,
      startedAt: row.started_at,
      updatedAt: row.updated_at,
      wakeAt: row.wake_at,
      waitsFor: waitsFor(row),
      tools: readKey(this.readName(row.tools)),
      status: row.status,
      result: row.result,
      // Some connections give a Uint8Array, some an ArrayBuffer.
      sizeBytes: row.snapshot?.byteLength ?? 0,
      published: readPublished(row),
      parent:
        row.parent === null
          ? null
          : ((this.get('SELECT run_id FROM bridle_runs WHERE id = ?', row.parent) as { readonly run_id: string } | null)
              ?.run_id ?? null),
    }
  }

  // ---------------------------------------------------------------------------------------------------------------- helpers

  private find(runId: string): Row | null {
    return this.get('SELECT * FROM bridle_runs WHERE run_id = ?', runId) as Row | null
  }

  private numberName(name: string): number {
    let id = this.names.get(name)
    if (id === undefined) {
      this.run('INSERT INTO bridle_names (name) VALUES (?) ON CONFLICT (name) DO NOTHING', name)
      id = Number((this.get('SELECT id FROM bridle_names WHERE name = ?', name) as { readonly id: number }).id)
      this.names.set(name, id)
    }
    return id
  }

  private readName(id: number): string {
    let name = this.nameOf.get(id)
    if (name === undefined) {
      ;({ name } = this.get('SELECT name FROM bridle_names WHERE id = ?', id) as { readonly name: string })
      this.nameOf.set(id, name)
    }
    return name
  }

  private numberProgram({ hash, label, sources }: NewProgram): number {
    let id = this.programs.get(hash)
    if (id === undefined) {
      const bytes = deflateRawSync(JSON.stringify(sources))
      this.run(
        'INSERT INTO bridle_programs (hash, label, sources) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING',
        hash,
        label,
        bytes,
      )
      id = Number((this.get('SELECT id FROM bridle_programs WHERE hash = ?', hash) as { readonly id: number }).id)
      this.programs.set(hash, id)
    }
    return id
  }

  private pack(program: number, snapshot: Uint8Array): readonly [Buffer, number] {
    let dictionary = this.readDictionary(program)
    if (dictionary === null) {
      this.run('INSERT INTO bridle_dictionaries VALUES (?, ?) ON CONFLICT (program) DO NOTHING', program, snapshot)
      dictionary = this.readDictionary(program)!
    }
    return [deflateRawSync(snapshot, { dictionary }), program]
  }

  private readDictionary(program: number): Buffer | null {
    const known = this.dictionaries.get(program)
    if (known !== undefined) return known
    const row = this.get('SELECT bytes FROM bridle_dictionaries WHERE program = ?', program) as {
      readonly bytes: Uint8Array
    } | null
    if (row === null) return null
    const bytes = Buffer.from(row.bytes)
    this.dictionaries.set(program, bytes)
    return bytes
  }

  private unpack({ snapshot, dictionary }: Row): Uint8Array | null {
    if (snapshot === null || dictionary === null) return null
    return new Uint8Array(inflateRawSync(snapshot, { dictionary: this.readDictionary(Number(dictionary))! }))
  }

  private statement(sql: string): SqlStatement {
    let statement = this.statements.get(sql)
    if (statement === undefined) {
      statement = this.db.prepare(sql)
      this.statements.set(sql, statement)
    }
    return statement
  }

  private run(sql: string, ...params: SqlValue[]): void {
    this.statement(sql).run(...params)
  }

  private changes(sql: string, ...params: SqlValue[]): number {
    return Number(this.statement(sql).run(...params).changes)
  }

  private all(sql: string, ...params: SqlValue[]): readonly unknown[] {
    return this.statement(sql).all(...params)
  }

  private get(sql: string, ...params: SqlValue[]): unknown {
    return this.statement(sql).all(...params)[0] ?? null
  }
}

function waitsFor({ tokens }: Row): readonly string[] {
  return tokens === null ? [] : readTokens(tokens)
}

function readPublished({ published }: Row): { readonly [name: string]: unknown } {
  return published === null ? {} : (JSON.parse(published) as { readonly [name: string]: unknown })
}

function readTokens(tokens: string): readonly string[] {
  return (JSON.parse(tokens) as readonly (readonly [number, string])[]).map(([, token]) => token)
}

/** A list of tools as one name. */
function listKey(tools: readonly string[]): string {
  return JSON.stringify([...tools].sort())
}

function readKey(name: string): readonly string[] {
  return JSON.parse(name) as readonly string[]
}

// Runs in a SQL database, through a connection of the host: two tables and a handful of statements that SQLite and its relatives
// understand. Nothing is imported; the required interface is that of `node:sqlite`, better-sqlite3 and libsql.

import { makeLeaseLost } from './store.js'
import type { Lease, RunFacts, RunStore } from './store.js'

/** A connection that answers at once. */
export interface SqlDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqlStatement
  close?(): unknown
}

export interface SqlStatement {
  run(...params: (string | number | null)[]): { readonly changes: number | bigint }
  all(...params: (string | number | null)[]): readonly unknown[]
}

const TABLES = `
  CREATE TABLE IF NOT EXISTS bridle_runs (
    run_id TEXT PRIMARY KEY, owner TEXT, expires_at REAL NOT NULL, ended TEXT, fence INTEGER NOT NULL
  );
  CREATE TABLE IF NOT EXISTS bridle_entries (seq INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, line TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS bridle_entries_of ON bridle_entries (run_id, seq);
`

const HELD = 'run_id = ? AND fence = ? AND owner IS NOT NULL AND ended IS NULL'

/** Makes its tables when they are not there. The database stays the caller's until `close`. */
export function sqlRunStore(database: SqlDatabase): RunStore {
  database.exec(TABLES)
  const insert = database.prepare(
    'INSERT INTO bridle_runs (run_id, owner, expires_at, ended, fence) VALUES (?, NULL, 0, NULL, 0) ON CONFLICT (run_id) DO NOTHING',
  )
  // One statement decides and takes, so that two workers cannot both have it.
  const take = database.prepare(
    `UPDATE bridle_runs SET owner = ?, expires_at = ?, fence = fence + 1
     WHERE run_id = ? AND ended IS NULL AND (owner IS NULL OR owner = ? OR expires_at <= ?)`,
  )
  const fenceOf = database.prepare('SELECT fence FROM bridle_runs WHERE run_id = ? AND owner = ?')
  const renew = database.prepare(`UPDATE bridle_runs SET expires_at = ? WHERE ${HELD}`)
  const release = database.prepare(`UPDATE bridle_runs SET owner = NULL, expires_at = 0, ended = ? WHERE ${HELD}`)
  const append = database.prepare(
    `INSERT INTO bridle_entries (run_id, line) SELECT ?, ? WHERE EXISTS (SELECT 1 FROM bridle_runs WHERE ${HELD})`,
  )
  const read = database.prepare('SELECT line FROM bridle_entries WHERE run_id = ? ORDER BY seq')
  const list = database.prepare('SELECT run_id, owner, expires_at, ended FROM bridle_runs ORDER BY run_id')
  const forget = database.prepare('DELETE FROM bridle_entries WHERE run_id = ?')
  const remove = database.prepare('DELETE FROM bridle_runs WHERE run_id = ?')
  const hasHappened = ({ changes }: { readonly changes: number | bigint }): boolean => Number(changes) > 0

  return {
    claim(runId, { owner, now, leaseMs }) {
      insert.run(runId)
      if (!hasHappened(take.run(owner, now + leaseMs, runId, owner, now))) return null
      const [row] = fenceOf.all(runId, owner) as readonly { readonly fence: number }[]
      return row === undefined ? null : { runId, fence: Number(row.fence) }
    },
    renew: (lease, now, leaseMs) => hasHappened(renew.run(now + leaseMs, ...makeKey(lease))),
    release(lease, ended) {
      release.run(ended ?? null, ...makeKey(lease))
    },
    append(lease, line) {
      if (!hasHappened(append.run(lease.runId, line, ...makeKey(lease)))) throw makeLeaseLost(lease)
    },
    read: (runId) => (read.all(runId) as readonly { readonly line: string }[]).map(({ line }) => line),
    list: () =>
      (list.all() as readonly { run_id: string; owner: string | null; expires_at: number; ended: string | null }[]).map(
        ({ run_id: runId, owner, expires_at: expiresAt, ended }): RunFacts => ({ runId, owner, expiresAt, ended }),
      ),
    remove(runId) {
      forget.run(runId)
      return hasHappened(remove.run(runId))
    },
    close() {
      database.close?.()
    },
  }
}

const makeKey = ({ runId, fence }: Lease): [string, number] => [runId, fence]

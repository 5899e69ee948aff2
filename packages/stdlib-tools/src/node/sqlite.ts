// A store of runs in a SQLite file. The engine is the one that Node has from version 22.5 on (`node:sqlite`); with an older Node the host
// brings a connection of its own (better-sqlite3, libsql, anything of their shape), or takes fileRunStore, which keeps the same contract.

import { sqlRunStore } from '../host/runs/sql-store.js'
import type { SqlDatabase } from '../host/runs/sql-store.js'
import type { RunStore } from '../host/runs/store.js'
import { ToolError } from '../tools/host-tools/errors.js'

/** `place` is a file, `:memory:`, or an open database. Raises ToolError `store_unavailable` when this Node has no SQLite. */
export function sqliteStore(place: string | SqlDatabase): RunStore {
  if (typeof place !== 'string') return sqlRunStore(place)
  const database = open(place)
  // Several processes on one file wait for each other, and read while one writes.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000')
  return sqlRunStore(database)
}

function open(path: string): SqlDatabase {
  const sqlite = (process as { getBuiltinModule?: (name: string) => unknown }).getBuiltinModule?.('node:sqlite') as
    | { readonly DatabaseSync: new (path: string) => SqlDatabase }
    | undefined
  if (sqlite === undefined) {
    const hint = 'give an open database (better-sqlite3, libsql), or use fileRunStore'
    throw new ToolError('store_unavailable', `Node ${process.versions.node} has no node:sqlite; ${hint}`)
  }
  return new sqlite.DatabaseSync(path)
}

// The SQLite that a store of durable runs works with: that of Node where it has one (22.13 and newer), SQLite in WebAssembly on older ones, or a
// connection of the host. No native code is installed.
//
// WebAssembly has no shared memory between processes, so no write-ahead log, and its lock is a folder that a killed process leaves behind. So
// its transactions, reading ones too, are made under a lock of our own (file-lock.ts), which knows when its holder is dead; the process that has
// that lock removes the folder. The two kinds of locks do not see each other: a file in write-ahead mode is refused here, and the other engine
// switches a file to that mode under our lock, after which a process with WebAssembly can neither read nor write it.

import { closeSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { DurableStore } from '../host/durable/store.js'
import { ToolError } from '../tools/host-tools/errors.js'
import { describeCause } from '../tools/executors/provider.js'
import { readOsErrorCode } from '../tools/executors/os-errors.js'
import { withFileLock } from './file-lock.js'
import type { SqlConnection } from './sql-runs.js'
import type { SqlValue } from './sql-schema.js'
import { sqlStore } from './sql-store.js'
import type { SqlEngine, SqlStoreStats } from './sql-store.js'

export interface DurableStoreOptions {
  /** `node` or `wasm`; by default the first that there is. */
  readonly engine?: 'node' | 'wasm'
  /** FULL: what is kept survives a power cut. NORMAL is for tests: a `once` call may then be made again after one. */
  readonly synchronous?: 'FULL' | 'NORMAL'
  /** After each commit of this process: how long it took, and how many changes shared it. */
  readonly onCommit?: (ms: number, changes: number) => void
}

/**
 * Durable runs in a SQLite file, or in memory (`:memory:`), or over an open connection of the shape of better-sqlite3 and libsql. Raises
 * ToolError `store_unavailable`.
 */
export async function openDurableStore(
  place: string | SqlConnection,
  options: DurableStoreOptions = {},
): Promise<DurableStore & { readonly stats: () => SqlStoreStats }> {
  try {
    return sqlStore(typeof place === 'string' ? await openSqlEngine(place, options) : connectionEngine(place), options)
  } catch (cause) {
    if (cause instanceof ToolError) throw cause
    const where = typeof place === 'string' ? place : 'the connection'
    throw new ToolError('store_unavailable', `the store of runs ${where} cannot be opened: ${describeCause(cause)}`, { cause })
  }
}

/** A SQLite file, or one in memory (`:memory:`). Raises ToolError `store_unavailable`, and what SQLite raises. */
export async function openSqlEngine(place: string, options: DurableStoreOptions = {}): Promise<SqlEngine> {
  const { engine = findNodeSqlite() === null ? 'wasm' : 'node', synchronous = 'FULL' } = options
  const path = place === ':memory:' ? null : resolve(place)
  return engine === 'node' ? nodeEngine(path, synchronous) : await wasmEngine(path, synchronous)
}

/** A connection that the host opened and configured. */
export function connectionEngine(connection: SqlConnection): SqlEngine {
  const version = connection.prepare('PRAGMA data_version')
  return {
    connection,
    write: (work) => inTransaction(connection, 'BEGIN IMMEDIATE', work),
    read: (work) => work(),
    version: () => Object.values(version.all()[0] as object)[0],
    close: () => void connection.close?.(),
  }
}

function inTransaction<T>(connection: SqlConnection, begin: string, work: () => T): T {
  connection.exec(begin)
  let value: T
  try {
    value = work()
    connection.exec('COMMIT')
  } catch (cause) {
    try {
      connection.exec('ROLLBACK')
    } catch {
      // SQLite has rolled it back itself: the first failure says why.
    }
    throw cause
  }
  return value
}

type NodeSqlite = { readonly DatabaseSync: new (path: string) => SqlConnection }

function findNodeSqlite(): NodeSqlite | null {
  try {
    const found = (process as { getBuiltinModule?: (name: string) => unknown }).getBuiltinModule?.('node:sqlite')
    return (found as NodeSqlite | undefined) ?? null
  } catch {
    return null
  }
}

function nodeEngine(path: string | null, synchronous: string): SqlEngine {
  const sqlite = findNodeSqlite()
  if (sqlite === null)
    throw new ToolError('store_unavailable', `Node ${process.versions.node} has no node:sqlite: use the engine "wasm"`)
  const connection = new sqlite.DatabaseSync(path ?? ':memory:')
  // Others on the file wait for each other, and read while one writes.
  connection.exec('PRAGMA busy_timeout = 10000')
  const configure = (): void => {
    connection.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -65536`,
    )
  }
  if (path === null) configure()
  else withFileLock(`${path}.guard`, configure)
  return connectionEngine(connection)
}

/** The used interface of `node-sqlite3-wasm`, an optional dependency. */
interface WasmDatabase {
  exec(sql: string): void
  prepare(sql: string): { run(values: SqlValue[]): { changes: number | bigint }; all(values: SqlValue[]): unknown[] }
  close(): void
}

async function wasmEngine(path: string | null, synchronous: string): Promise<SqlEngine> {
  const { Database } = await loadWasm()
  if (path !== null && isWriteAhead(path))
    throw new ToolError(
      'store_unavailable',
      `${path} is in the write-ahead mode of another SQLite, which WebAssembly cannot share: use Node 22.13 or newer, or a connection of better-sqlite3 or libsql`,
    )
  const guard = <T>(work: () => T): T => {
    if (path === null) return work()
    return withFileLock(`${path}.guard`, () => {
      // No other process is working: an existing lock is from a killed one.
      rmSync(`${path}.lock`, { recursive: true, force: true })
      return work()
    })
  }
  const database = guard(() => {
    const made = path === null ? new Database() : new Database(path)
    made.exec(`PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = ${synchronous}; PRAGMA cache_size = -65536`)
    return made
  })
  const connection: SqlConnection = {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql)
      return { run: (...values) => statement.run(values), all: (...values) => statement.all(values) }
    },
  }
  return {
    connection,
    write: (work) => guard(() => inTransaction(connection, 'BEGIN IMMEDIATE', work)),
    read: (work) => guard(() => inTransaction(connection, 'BEGIN', work)),
    version() {
      if (path === null) return 0
      const facts = statSync(path, { bigint: true, throwIfNoEntry: false })
      return facts === undefined ? 0n : facts.mtimeNs
    },
    close: () => guard(() => database.close()),
  }
}

async function loadWasm(): Promise<{ readonly Database: new (path?: string) => WasmDatabase }> {
  try {
    const module = (await import('node-sqlite3-wasm')) as unknown as {
      readonly default: { readonly Database: new (path?: string) => WasmDatabase }
    }
    return module.default
  } catch (cause) {
    throw new ToolError(
      'store_unavailable',
      `Node ${process.versions.node} has no SQLite: install node-sqlite3-wasm (no native code), use Node 22.13 or newer, or give a connection of better-sqlite3 or libsql`,
      { cause },
    )
  }
}

/** By the header of the file: its read version is 2 then. */
function isWriteAhead(path: string): boolean {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (cause) {
    if (readOsErrorCode(cause) === 'ENOENT') return false
    throw cause
  }
  try {
    const header = Buffer.alloc(20)
    return readSync(file, header, 0, 20, 0) === 20 && header[19] === 2
  } finally {
    closeSync(file)
  }
}

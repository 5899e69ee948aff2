// An event log on the disk: topics of numbered records that other processes read while it grows, places where consumers of topics are, and state
// that dispatches share. In SQLite it lies in one file with the durable runs, so that an event and the run it begins are kept together, or not at
// all; as files (JSON lines) and in memory it has the same shape, and the runs lie beside it.

import type { DurableStore } from '../host/durable/store.js'
import { FileLog } from './event-log-files.js'
import type { EventLog } from './event-log-records.js'
import { SqlLog } from './event-log-sql.js'
import { openDurableStore, openSqlEngine } from './sqlite-engine.js'
import { sqlStore } from './sql-store.js'

export interface OpenedLog {
  readonly log: EventLog
  readonly store: DurableStore
}

export interface EventLogOptions {
  readonly backend: 'sqlite' | 'file' | 'memory'
  /** The folder that has the log and the runs. */
  readonly folder: string
  /** Of the SQLite file; `events.sqlite` of the folder when absent. */
  readonly sqlitePath?: string
  /** Of the JSON lines; `events` of the folder when absent. */
  readonly filesFolder?: string
  /**
   * Stands around each transaction of the SQLite file. For tests of crashes: one that throws in front of it, or behind it, is a process that died
   * there.
   */
  readonly around?: <T>(transaction: () => T) => T
}

/** Raises ToolError `store_unavailable`, and errors of the file system. */
export async function openEventLog(options: EventLogOptions): Promise<OpenedLog> {
  const { backend, folder } = options
  if (backend === 'sqlite') {
    const path = options.sqlitePath ?? `${folder}/events.sqlite`
    const opened = await openSqlEngine(path)
    const { around } = options
    const engine = around === undefined ? opened : { ...opened, write: <T>(work: () => T): T => around(() => opened.write(work)) }
    const log = new SqlLog(engine, path)
    return { log, store: sqlStore(log.engine) }
  }
  const runs = backend === 'memory' ? ':memory:' : `${folder}/runs.sqlite`
  const files = backend === 'memory' ? null : (options.filesFolder ?? `${folder}/events`)
  return { log: new FileLog(files), store: await openDurableStore(runs) }
}

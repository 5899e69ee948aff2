// The store of the disrupted runs: our own store in a file, or a server with one worker endpoint.

import { openSync } from 'node:fs'
import { join } from 'node:path'
import type { DurableStore } from '@bridle/stdlib-tools'
import { openDurableStore } from '@bridle/stdlib-tools/node'
import { canFill, startProcess } from './processes.js'
import type { Doomed } from './processes.js'
import { LEDGER_FD } from './world.js'
import type { LedgerLine } from './world.js'

export interface Engine {
  readonly store: DurableStore
  readonly workers: number
  /** Maximum time between two disruptions: a server takes time to start. */
  readonly calmMs: number
  readonly canFillDisk: boolean
  /** A worker process. */
  readonly start: () => Doomed
  /** Kills the server and starts it again; null if there is none. */
  readonly killServer: (() => Promise<void>) | null
  readonly close: () => Promise<void>
}

export interface EngineOptions {
  readonly folder: string
  readonly leaseMs: number
  readonly onLine: (line: LedgerLine) => void
  /** Log file for errors. */
  readonly log: string
}

export async function openOwnEngine({ folder, leaseMs, onLine, log }: EngineOptions): Promise<Engine> {
  const file = join(folder, 'runs.db')
  const errors = openSync(log, 'a')
  const store = await openDurableStore(file)
  return {
    store,
    workers: 2,
    calmMs: 400,
    canFillDisk: canFill(),
    start: () => startLedgerProcess('worker', [file, String(leaseMs)], onLine, errors),
    killServer: null,
    close: () => store.close(),
  }
}

export function startLedgerProcess(
  script: Parameters<typeof startProcess>[0],
  args: readonly string[],
  onLine: EngineOptions['onLine'],
  log: number,
): Doomed {
  return startProcess(script, args, { fd: LEDGER_FD, onLine: (line) => onLine(JSON.parse(line) as LedgerLine), log })
}

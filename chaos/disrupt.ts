// Runs are submitted and answered continuously, while one worker process after the other is killed, frozen or cut off from the disk.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { DurableWorker } from '@bridle/stdlib-tools'
import type { RunRow } from '@bridle/stdlib-tools'
import { Random } from '../fuzz/random.js'
import { openOwnEngine } from './engine.js'
import type { Engine, EngineOptions } from './engine.js'
import { judge } from './judge.js'
import type { Verdict } from './judge.js'
import { buildProcesses, hasEnded, setFull } from './processes.js'
import { ANSWER, APPROVAL, SCRIPT, openRuntime } from './world.js'
import type { LedgerLine } from './world.js'

export interface Disruptions {
  readonly kills: number
  readonly freezes: number
  readonly fullDisks: number
  /** Of the server behind the runs. */
  readonly serverKills: number
}

export interface ChaosReport extends Verdict, Disruptions {
  readonly canFillDisk: boolean
  readonly seconds: number
  /** Errors logged by the workers, one per line. */
  readonly complaints: readonly string[]
}

export interface ChaosOptions {
  readonly disruptions: number
  readonly seed: number
  /** Number of runs in progress at the same time. */
  readonly open?: number
  /** The store of the runs; our own store in a file when absent. */
  readonly engine?: (options: EngineOptions) => Promise<Engine>
  readonly onProgress?: (done: number, runs: number, ended: number) => void
}

const LEASE_MS = 1500
const ANSWER_WITHIN_MS = 3000
/** A run that has not ended this long after the last disruption is lost. */
const PATIENCE_MS = 120_000
const POLL_MS = 50
const MOST_TRIES = 1200

export async function disrupt({
  disruptions,
  seed,
  open = 80,
  engine: openEngine = openOwnEngine,
  onProgress,
}: ChaosOptions): Promise<ChaosReport> {
  await buildProcesses()
  const folder = mkdtempSync(join(tmpdir(), 'bridle-chaos-'))
  const log = join(folder, 'complaints')
  const began = performance.now()
  const random = new Random(seed, 'disruptions', 0)
  const patience = new Random(seed, 'answers', 0)
  const ledger: LedgerLine[] = []
  const runtime = openRuntime()
  const engine = await openEngine({ folder, log, leaseMs: LEASE_MS, onLine: (line) => void ledger.push(line) })
  const { store, start, canFillDisk } = engine
  const client = new DurableWorker({ store, runtime })
  const module = runtime.compile(SCRIPT, { file: 'order.harn' })
  const workers = Array.from({ length: engine.workers }, start)
  await Promise.all(workers.map(({ up }) => up))

  const rows = new Map<string, RunRow | null>()
  const unended = new Set<string>()
  let isGoing = true
  const answers: Promise<void>[] = []
  const answer = async (runId: string, afterMs: number): Promise<void> => {
    await delay(afterMs)
    await repeat(() => client.signal(runId, APPROVAL, { ok: ANSWER }))
  }
  const submit = async (): Promise<void> => {
    for (let batch = 0; isGoing; batch++) {
      while (unended.size >= open && isGoing) await delay(POLL_MS)
      for (let at = 0; at < 5; at++) {
        const runId = `run-${batch}-${at}`
        await repeat(() => client.submit(module, { runId, tenant: `tenant-${batch % 3}` }))
        rows.set(runId, null)
        unended.add(runId)
        answers.push(answer(runId, patience.below(ANSWER_WITHIN_MS)))
      }
      await delay(POLL_MS)
    }
  }
  const look = async (): Promise<void> => {
    for (const runId of unended) {
      const row = await repeat(() => store.get(runId))
      rows.set(runId, row)
      if (row?.state === 'ended') unended.delete(runId)
    }
  }
  const watch = async (): Promise<void> => {
    for (; isGoing; await delay(10 * POLL_MS)) await look()
  }
  const background = [submit(), watch()]

  const counts = { kills: 0, freezes: 0, fullDisks: 0, serverKills: 0 }
  const renew = async (at: number): Promise<void> => {
    const old = workers[at]!
    old.child.kill('SIGCONT')
    old.child.kill('SIGKILL')
    await old.gone
    workers[at] = start()
    await workers[at]!.up
  }
  for (let at = 0; at < disruptions; at++) {
    await delay(random.below(engine.calmMs))
    const chosen = random.below(engine.workers)
    const worker = workers[chosen]!
    const kind = random.below(100)
    if (kind < 3) {
      counts.freezes++
      worker.child.kill('SIGSTOP')
      await delay(LEASE_MS + 1000)
      worker.child.kill('SIGCONT')
      await delay(100)
    } else if (kind < 6 && canFillDisk) {
      counts.fullDisks++
      setFull(worker, true)
      await delay(random.between(100, LEASE_MS))
      // For half of them the disk stays full.
      if (random.oneIn(2)) await renew(chosen)
      else setFull(worker, false)
    } else if (engine.killServer !== null && random.oneIn(4)) {
      counts.serverKills++
      await engine.killServer()
    } else {
      counts.kills++
      await renew(chosen)
    }
    if (hasEnded(workers[chosen]!)) await renew(chosen)
    if ((at + 1) % 50 === 0) onProgress?.(at + 1, rows.size, rows.size - unended.size)
  }

  isGoing = false
  await Promise.all([...background, ...answers])
  for (const until = performance.now() + PATIENCE_MS; unended.size > 0 && performance.now() < until; await delay(POLL_MS)) {
    for (const [at, worker] of workers.entries()) if (hasEnded(worker)) await renew(at)
    await look()
  }
  for (const { child } of workers) child.kill('SIGKILL')
  await Promise.all(workers.map(({ gone }) => gone))
  await engine.close()
  const complaints = (existsSync(log) ? readFileSync(log, 'utf8') : '').split('\n').filter(Boolean)
  rmSync(folder, { recursive: true, force: true })
  return {
    ...counts,
    ...judge(rows, ledger),
    canFillDisk,
    complaints,
    seconds: Math.round((performance.now() - began) / 1000),
  }
}

/** Retries, as a client would, when another process holds the store, or the server is down. */
async function repeat<T>(work: () => Promise<T>): Promise<T> {
  for (let left = MOST_TRIES; ; left--) {
    try {
      return await work()
    } catch (cause) {
      if (left === 0) throw cause
      await delay(POLL_MS)
    }
  }
}

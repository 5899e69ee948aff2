// Durable runs under test: a store in memory, workers on a virtual clock, and processes that die at a chosen commit.

import { DurableWorker } from '../host/durable/worker.js'
import type { EndedRun } from '../host/durable/ended.js'
import type { DurableWorkerOptions } from '../host/durable/worker.js'
import type { DurableStore, StoreWorker } from '../host/durable/store.js'
import { VirtualClock } from '../library/time/host-clock.js'
import { openDurableStore } from '../node/sqlite-engine.js'
import type { SqlStoreStats } from '../node/sql-store.js'
import { ToolError } from '../tools/host-tools/errors.js'
import { createRuntime } from '../host/runtime.js'
import type { Runtime } from '../host/runtime.js'
import type { RuntimeOptions } from '../host/runtime-options.js'

export const LEASE_MS = 1000

export interface World {
  readonly clock: VirtualClock
  readonly store: DurableStore & { readonly stats: () => SqlStoreStats }
  readonly ended: EndedRun[]
  readonly stuck: (readonly [runId: string, reason: string])[]
  readonly errors: unknown[]
  /** A process: its runtime, and its worker, which works at once. */
  readonly open: (runtime: RuntimeOptions, options?: Partial<DurableWorkerOptions>) => Process
}

export interface Process {
  readonly runtime: Runtime
  readonly worker: DurableWorker
}

export async function openWorld(startMs = 1_000_000): Promise<World> {
  const clock = new VirtualClock(startMs)
  const store = await openDurableStore(':memory:')
  const ended: EndedRun[] = []
  const stuck: (readonly [string, string])[] = []
  const errors: unknown[] = []
  return {
    clock,
    store,
    ended,
    stuck,
    errors,
    open(given, options = {}) {
      const runtime = createRuntime({ clock, ...given })
      const worker = new DurableWorker({
        store,
        runtime,
        clock,
        leaseMs: LEASE_MS,
        onEnd: (end) => void ended.push(end),
        onStuck: (runId, reason) => void stuck.push([runId, reason]),
        onError: (cause) => void errors.push(cause),
        ...options,
      })
      worker.start()
      return { runtime, worker }
    },
  }
}

/** The store as a process sees it that dies in front of its commit number `at` (from 1): nothing of it reaches the store any more. */
export function makeMortal(
  store: DurableStore,
  at: number,
): { readonly store: DurableStore; readonly isDead: () => boolean; readonly death: Promise<void> } {
  let left = at
  let die = (): void => {}
  const death = new Promise<void>((resolve) => (die = resolve))
  const guard = <T>(work: () => Promise<T>): Promise<T> =>
    left <= 0 ? Promise.reject(new ToolError('store_unavailable', 'the process is dead')) : work()
  const mortal: DurableStore = {
    ...store,
    async join(facts, now) {
      const worker = await guard(() => store.join(facts, now))
      const own: StoreWorker = {
        take: (query) => guard(() => worker.take(query)),
        commit(changes) {
          if (--left <= 0) {
            left = 0
            die()
          }
          return guard(() => worker.commit(changes))
        },
        heartbeat: (now_) => guard(() => worker.heartbeat(now_)),
        signals: () => guard(() => worker.signals()),
        hasChanged: () => left > 0 && worker.hasChanged(),
        leave: () => guard(() => worker.leave()),
      }
      return own
    },
  }
  return { store: mortal, isDead: () => left <= 0, death }
}

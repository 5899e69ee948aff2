// A conformance script as a durable run: driven by a worker on a store in memory, whose process dies in front of each commit in turn; another worker goes
// on with it. However often that happens, the script must end as its sibling file asks for.

import { DurableWorker } from '@bridle/stdlib-tools'
import type { DurableStore, EndedRun, Module, Runtime, StoreWorker } from '@bridle/stdlib-tools'
import { openDurableStore } from '@bridle/stdlib-tools/node'
import type { Outcome } from './judge.js'

/** Scripts of many commits are killed at so many of them, far apart. */
const MOST_KILLS = 40

/** What a script is told that no store keeps. */
const NEEDS_NO_STORE = /\bwithout_a_store\.harn$/

export interface DurableScript {
  readonly runtime: Runtime
  readonly module: Module
  readonly warnings: string
  readonly signal: AbortSignal
}

/** Judges the script undisturbed, and killed in front of each commit; null when all of that is right. */
export async function judgeDurable(script: DurableScript, judge: (outcome: Outcome) => string | null): Promise<string | null> {
  if (NEEDS_NO_STORE.test(script.module.file)) return null
  const whole = await runOnce(script, Infinity)
  const verdict = judge(whole.outcome)
  if (verdict !== null) return verdict
  const step = Math.max(1, Math.ceil(whole.commits / MOST_KILLS))
  for (let at = 1; at <= whole.commits; at += step) {
    const killed = judge((await runOnce(script, at)).outcome)
    if (killed !== null) return `killed at commit ${at} of ${whole.commits}: ${killed}`
  }
  return null
}

async function runOnce(
  { runtime, module, warnings, signal }: DurableScript,
  dieAt: number,
): Promise<{ readonly outcome: Outcome; readonly commits: number }> {
  const store = await openDurableStore(':memory:')
  const mortal = makeMortal(store, dieAt)
  let tell: (ended: EndedRun) => void = () => {}
  const told = new Promise<EndedRun>((resolve) => (tell = resolve))
  const open = (own: DurableStore): DurableWorker =>
    new DurableWorker({
      store: own,
      runtime,
      onEnd: tell,
      onStuck: (runId, error) => tell({ runId, status: 'failed', value: null, error, exitCode: null, output: '' }),
      // No card is charged here, so calls with an unknown outcome are repeated.
      onUnknownOutcome: () => 'retry',
      leaseMs: 600_000,
      start: () => ({ tier: null }),
    })
  const workers = [open(mortal.store)]
  const over = new AbortController()
  const stopAll = async (): Promise<void> => {
    await Promise.all(workers.map((worker) => worker.stop()))
    await store.close()
  }
  try {
    workers[0]!.start()
    await workers[0]!.submit(module, { runId: 'script' })
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: over.signal })
    })
    aborted.catch(() => {})
    const first = await Promise.race([told, mortal.death, aborted])
    let ended: EndedRun
    if (first === undefined) {
      await workers[0]!.stop()
      // As when its lease is over.
      await mortal.bury()
      workers.push(open(store))
      workers[1]!.start()
      ended = await Promise.race([told, aborted])
    } else ended = first
    return { outcome: toOutcome(ended, warnings), commits: mortal.count() }
  } finally {
    over.abort()
    await stopAll()
  }
}

function toOutcome({ status, output, error, exitCode }: EndedRun, warnings: string): Outcome {
  const whole = warnings + output
  if (status === 'done' || (status === 'exit' && exitCode === 0)) return { kind: 'finished', output: whole }
  if (status === 'exit') return { kind: 'failed', output: whole, error: `exit(${exitCode})` }
  if (status === 'cancelled') return { kind: 'failed', output: whole, error: `cancelled: ${error ?? ''}` }
  return { kind: 'failed', output: whole, error: error ?? status }
}

interface Mortal {
  readonly store: DurableStore
  readonly death: Promise<void>
  readonly count: () => number
  /** Frees what the dead worker had. */
  readonly bury: () => Promise<void>
}

function makeMortal(store: DurableStore, dieAt: number): Mortal {
  let commits = 0
  let isDead = false
  let die = (): void => {}
  const death = new Promise<void>((resolve) => (die = resolve))
  let real: StoreWorker | null = null
  const guard = <T>(work: () => Promise<T>): Promise<T> => (isDead ? Promise.reject(new Error('the process is dead')) : work())
  return {
    death,
    count: () => commits,
    bury: async () => real?.leave(),
    store: {
      ...store,
      async join(facts, now) {
        const worker = await guard(() => store.join(facts, now))
        real = worker
        return {
          take: (query) => guard(() => worker.take(query)),
          commit(changes) {
            if (changes.length > 0 && !isDead && ++commits >= dieAt) {
              isDead = true
              die()
            }
            return guard(() => worker.commit(changes))
          },
          heartbeat: (at) => guard(() => worker.heartbeat(at)),
          signals: () => guard(() => worker.signals()),
          hasChanged: () => !isDead && worker.hasChanged(),
          leave: () => guard(() => worker.leave()),
        }
      },
    },
  }
}

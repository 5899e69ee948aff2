// Simulates seeds in worker threads: each takes one seed after another. A simulation ends early by terminating its threads;
// the runs that they reported are kept.

import { URL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { SimulationFailure } from '@bridle/stdlib-tools'
import type { SimulationJob } from './job.js'

export interface ToWorker {
  readonly job: SimulationJob
  readonly seed: number
}

export type FromWorker =
  | { readonly type: 'run'; readonly failures: readonly SimulationFailure[] }
  | { readonly type: 'seed' }
  | { readonly type: 'broken'; readonly message: string }

/** Throws the error of a thread that failed. */
export async function simulateInWorkers(
  job: SimulationJob,
  seeds: readonly number[],
  {
    jobs,
    signal,
    onRun,
  }: {
    readonly jobs: number
    readonly signal: AbortSignal
    readonly onRun: (failures: readonly SimulationFailure[]) => void
  },
): Promise<void> {
  let next = 0
  const runLane = async (): Promise<void> => {
    const worker = startWorker()
    try {
      for (let at = next++; at < seeds.length && !signal.aborted; at = next++) await runSeed(worker, { job, seed: seeds[at]! }) // at < length
    } finally {
      // The other lanes must not continue a simulation that has failed.
      next = seeds.length
      await worker.terminate()
    }
  }
  const runSeed = (worker: Worker, work: ToWorker): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (done: () => void): void => {
        signal.removeEventListener('abort', onAbort)
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        done()
      }
      const onMessage = (message: FromWorker): void => {
        if (message.type === 'run') return signal.aborted ? undefined : onRun(message.failures)
        settle(message.type === 'seed' ? resolve : () => reject(new Error(message.message)))
      }
      const onError = (cause: Error): void => settle(() => reject(cause))
      const onExit = (code: number): void => settle(() => reject(new Error(`a thread ended (exit code ${code})`)))
      const onAbort = (): void => settle(resolve)
      signal.addEventListener('abort', onAbort, { once: true })
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      worker.postMessage(work)
    })
  await Promise.all(Array.from({ length: Math.min(jobs, seeds.length) }, runLane))
}

/** Built, this code is in `dist` beside `simulation-worker.js`; from source, beside `worker.ts`, which needs tsx to load. */
function startWorker(): Worker {
  // The parser may need a deep stack for nested scripts; the default of a thread is small.
  const options = { resourceLimits: { stackSizeMb: 8 } }
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL('./simulation-worker.js', import.meta.url), options)
  const [tsx, worker] = [import.meta.resolve('tsx/esm/api'), new URL('./worker.ts', import.meta.url).href].map((url) =>
    JSON.stringify(url),
  )
  const code = `import(${tsx}).then(({ register }) => { register(); return import(${worker}) })`
  return new Worker(code, { ...options, eval: true })
}

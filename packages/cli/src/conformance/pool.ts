// Runs tests in worker threads. A worker takes one test at a time. A test that exceeds its time is first asked to stop, so that it
// can end the processes it started; if it does not, its thread is terminated. A thread that dies fails its test, not the run.

import { URL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { WorkerOptions } from 'node:worker_threads'
import type { ConformanceTest } from './discover.js'
import type { TestResult } from './report.js'
import { LONGEST_MS } from '../stop.js'
import type { Mode, ModeChoice } from './mode-names.js'

/** A message of the main thread to a worker. */
export type ToWorker =
  | { readonly type: 'run'; readonly test: ConformanceTest; readonly modes: readonly ModeChoice[] }
  | { readonly type: 'cancel' }

/** A message of a worker. `mode` restarts the clock: the limit applies to each mode separately. */
export type FromWorker =
  | { readonly type: 'mode'; readonly mode: Mode }
  | { readonly type: 'result'; readonly verdict: string | null; readonly entered: number }

export interface PoolOptions {
  readonly jobs: number
  readonly modes: readonly ModeChoice[]
  readonly timeLimitMs: number
  readonly onResult?: (result: TestResult) => void
  /** Aborts when no more tests shall be judged: running ones are asked to stop, and have no result. */
  readonly signal?: AbortSignal
  /** May replace a result before it is reported. */
  readonly reconsider?: (test: ConformanceTest, result: TestResult) => TestResult
}

/** For a thread to load its code. */
const START_LIMIT_MS = 60_000

/** Time for a cancelled test to end the processes it started. */
const GRACE_MS = 2_000

/** Results in the order of the tests, undefined for those that were not judged. */
export async function runInWorkers(tests: readonly ConformanceTest[], options: PoolOptions): Promise<(TestResult | undefined)[]> {
  const isOver = (): boolean => options.signal?.aborted === true
  const results: (TestResult | undefined)[] = Array.from({ length: tests.length })
  let next = 0
  const runLane = async (): Promise<void> => {
    const thread = new Thread(options)
    try {
      for (let at = next++; at < tests.length && !isOver(); at = next++) {
        const test = tests[at]! // at < length
        const raw = await thread.run(test)
        if (isOver()) return
        const result = options.reconsider?.(test, raw) ?? raw
        results[at] = result
        options.onResult?.(result)
      }
    } finally {
      await thread.end()
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.jobs, tests.length) }, runLane))
  return results
}

/** The worker of a lane, started again after it was terminated. */
class Thread {
  private readonly options: PoolOptions
  private worker: Worker | null = null
  private entered = 0

  constructor(options: PoolOptions) {
    this.options = options
  }

  async run(test: ConformanceTest): Promise<TestResult> {
    const startedAt = performance.now()
    this.entered = 0
    const verdict = await this.judge(test)
    const ms = Math.round(performance.now() - startedAt)
    const { entered } = this
    return { name: test.name, status: verdict === null ? 'passed' : 'failed', ms, message: verdict ?? '', entered }
  }

  async end(): Promise<void> {
    const worker = this.worker
    this.worker = null
    await worker?.terminate()
  }

  private judge(test: ConformanceTest): Promise<string | null> {
    const worker = (this.worker ??= startWorker())
    const { modes, timeLimitMs, signal } = this.options
    return new Promise((resolve) => {
      let mode: ModeChoice = modes[0] ?? 'base'
      let late: string | null = null
      const finish = (verdict: string | null, broken: boolean): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        // Ignore errors after the worker has been terminated; without a listener they would end the process.
        if (broken) {
          worker.on('error', () => {})
          void this.end().then(() => resolve(verdict))
        } else resolve(verdict)
      }
      const onMessage = (message: FromWorker): void => {
        if (message.type === 'result') {
          this.entered = message.entered
          return finish(late ?? message.verdict, false)
        }
        mode = message.mode
        if (late !== null) return
        clearTimeout(timer)
        timer = setTimeout(onLate, Math.min(timeLimitMs, LONGEST_MS))
      }
      const onError = (cause: Error): void => finish(late ?? `the test thread failed: ${cause.stack ?? cause.message}`, true)
      const onExit = (code: number): void => finish(late ?? `the test thread ended (exit code ${code})`, true)
      const onLate = (): void =>
        stop(
          `${mode === 'base' || mode === 'sample' || mode === 'rest' ? '' : `${mode} mode: `}not finished after ${timeLimitMs / 1000} s`,
        )
      const onAbort = (): void => stop('interrupted')
      const stop = (verdict: string): void => {
        if (late !== null) return
        late = verdict
        clearTimeout(timer)
        worker.postMessage({ type: 'cancel' } satisfies ToWorker)
        timer = setTimeout(() => finish(verdict, true), GRACE_MS)
      }
      // The thread reports when it starts; loading its code does not count as the test's time.
      let timer = setTimeout(onLate, START_LIMIT_MS)
      signal?.addEventListener('abort', onAbort, { once: true })
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      worker.postMessage({ type: 'run', test, modes } satisfies ToWorker)
    })
  }
}

function makeWorkerOptions(): WorkerOptions {
  return {
    env: { ...process.env, HARN_LLM_CALLS_DISABLED: '1' },
    // The parser may need a deep stack for nested scripts; the default of a thread is small.
    resourceLimits: { stackSizeMb: 8 },
  }
}

/** Built, this code is in `dist` beside `conformance-worker.js`; from source, beside `worker.ts`, which needs tsx to load. */
function startWorker(): Worker {
  if (!import.meta.url.endsWith('.ts'))
    return new Worker(new URL('./conformance-worker.js', import.meta.url), makeWorkerOptions())
  const [tsx, worker] = [import.meta.resolve('tsx/esm/api'), new URL('./worker.ts', import.meta.url).href].map((url) =>
    JSON.stringify(url),
  )
  return new Worker(`import(${tsx}).then(({ register }) => { register(); return import(${worker}) })`, {
    ...makeWorkerOptions(),
    eval: true,
  })
}

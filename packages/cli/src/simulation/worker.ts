// Entry of a worker thread: simulates one seed after another and reports each run.

import { parentPort } from 'node:worker_threads'
import type { JudgedRun } from '@bridle/stdlib-tools'
import type { FromWorker, ToWorker } from './pool.js'
import { simulateJob } from './job.js'

const port = parentPort
if (port === null) throw new Error('this file is the entry of a worker thread')

const never = new AbortController().signal
const say = (message: FromWorker): void => port.postMessage(message)

port.on('message', ({ job, seed }: ToWorker) => {
  const watch = {
    // The pool terminates the thread.
    signal: never,
    onRun: ({ failures }: JudgedRun) => say({ type: 'run', failures }),
  }
  void simulateJob(job, [seed], watch).then(
    () => say({ type: 'seed' }),
    (cause: unknown) => say({ type: 'broken', message: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }),
  )
})

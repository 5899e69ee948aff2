// Entry of a worker thread: runs one test after another and reports each result.

import { parentPort } from 'node:worker_threads'
import { runTest } from './modes.js'
import type { FromWorker, ToWorker } from './pool.js'
import type { Mode } from './mode-names.js'

const port = parentPort
if (port === null) throw new Error('this file is the entry of a worker thread')

let running: AbortController | null = null
const say = (message: FromWorker): void => port.postMessage(message)

port.on('message', (message: ToWorker) => {
  if (message.type === 'cancel') {
    running?.abort(new Error('the time is up'))
    return
  }
  running = new AbortController()
  let entered = 0
  const run = {
    signal: running.signal,
    onMode: (mode: Mode) => say({ type: 'mode', mode }),
    onEntered: (count: number) => void (entered += count),
  }
  void runTest(message.test, message.modes, run).then(
    (verdict) => say({ type: 'result', verdict, entered }),
    (cause: unknown) =>
      say({
        type: 'result',
        entered,
        verdict: `bug in the runner or the machine: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`,
      }),
  )
})

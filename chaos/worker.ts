// A worker process: `worker.ts FILE LEASE_MS`. It prints `up` when it works, and runs until it is killed.

import { writeSync } from 'node:fs'
import { DurableWorker, WorkerFenced } from '@bridle/stdlib-tools'
import { openDurableStore } from '@bridle/stdlib-tools/node'
import { openRuntime } from './world.js'

const [file = '', lease = ''] = process.argv.slice(2)
const store = await openDurableStore(file)
const worker = new DurableWorker({
  store,
  runtime: openRuntime({ workMs: 15 }),
  name: `process ${process.pid}`,
  leaseMs: Number(lease),
  keepMs: 30,
  checkpointAfter: 3,
  capacity: 200,
  onError: (cause) => {
    if (!(cause instanceof WorkerFenced)) process.stderr.write(`${process.pid}: ${String(cause)}\n`)
  },
  onStuck: (runId, reason) => void process.stderr.write(`${process.pid}: ${runId} is stuck: ${reason}\n`),
})
worker.start()
writeSync(1, 'up\n')

// A worker on Restate: `restate-worker.ts PORT`. It prints `up` when it listens, and runs until it is killed.

import { writeSync } from 'node:fs'
import { startRestateWorker } from '@bridle/stdlib-tools/restate'
import { openRuntime } from './world.js'

const [port = ''] = process.argv.slice(2)
await startRestateWorker({
  runtime: openRuntime({ workMs: 15 }),
  port: Number(port),
  callsAPiece: 3,
  keepMs: 30,
  onStuck: (runId, reason) => void process.stderr.write(`${process.pid}: ${runId} is stuck: ${reason}\n`),
})
writeSync(1, 'up\n')

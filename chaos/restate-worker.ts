// A worker endpoint on Restate: `restate-worker.ts PORT`. It says `up` when it listens, and goes on until it is killed.

import { writeSync } from 'node:fs'
import { createServer } from 'node:http2'
import { endpoint } from '@restatedev/restate-sdk'
import { restateRuns } from '@bridle/stdlib-tools/restate'
import { openRuntime } from './world.js'

const [port = ''] = process.argv.slice(2)
const runs = restateRuns({
  runtime: openRuntime({ workMs: 15 }),
  callsAPiece: 3,
  keepMs: 30,
  onStuck: (runId, reason) => void process.stderr.write(`${process.pid}: ${runId} is stuck: ${reason}\n`),
})
const handler = runs
  .reduce(
    (all, each) => all.bind(each),
    endpoint().setLogger(() => {}),
  )
  .http2Handler()
createServer(handler).listen(Number(port), '127.0.0.1', () => writeSync(1, 'up\n'))

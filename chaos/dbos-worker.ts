// A worker on DBOS: `dbos-worker.ts DATABASE_URL`. It prints `up` when it takes runs, and runs until it is killed.

import { writeSync } from 'node:fs'
import { DBOS } from '@dbos-inc/dbos-sdk'
import { dbosRuns } from '@bridle/stdlib-tools/dbos'
import { openRuntime } from './world.js'

const [databaseUrl = ''] = process.argv.slice(2)
DBOS.setConfig({ name: 'chaos', systemDatabaseUrl: databaseUrl, logLevel: 'error', applicationVersion: 'chaos' })
const runs = dbosRuns({
  runtime: openRuntime({ workMs: 15 }),
  onStuck: (runId, reason) => void process.stderr.write(`${process.pid}: ${runId} is stuck: ${reason}\n`),
})
await DBOS.launch()
await runs.listen()
writeSync(1, 'up\n')

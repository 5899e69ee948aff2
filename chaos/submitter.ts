// `submitter.ts FILE PREFIX`: submits runs as fast as it can and prints each id when `submit` has resolved, until it is killed.

import { writeSync } from 'node:fs'
import { DurableWorker } from '@bridle/stdlib-tools'
import { openDurableStore } from '@bridle/stdlib-tools/node'
import { SCRIPT, openRuntime } from './world.js'

const AT_ONCE = 20
const [file = '', prefix = ''] = process.argv.slice(2)
const runtime = openRuntime()
const worker = new DurableWorker({ store: await openDurableStore(file), runtime })
const module = runtime.compile(SCRIPT, { file: 'order.harn' })
let next = 0
async function submit(): Promise<never> {
  for (;;) {
    const { runId } = await worker.submit(module, { runId: `${prefix}-${next++}` })
    writeSync(1, `${runId}\n`)
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, submit))

// Writes the corpus of this version: `node --import tsx packages/stdlib-tools/test/corpus/write.ts`. The folder of a version that was released is never
// written again.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { encodeEntry, MemoryJournal } from '../../src/host/journal.js'
import { openDurableStore } from '../../src/node/sqlite-engine.js'
import { SCHEMA_VERSION } from '../../src/node/sql-schema.js'
import { DurableWorker } from '../../src/host/durable/worker.js'
import { VirtualClock } from '../../src/library/time/host-clock.js'
import { ANSWER, CASES, openCorpusRuntime } from './cases.js'

const here = dirname(fileURLToPath(import.meta.url))
const { version } = JSON.parse(readFileSync(join(here, '..', '..', 'package.json'), 'utf8')) as { readonly version: string }
const folder = join(here, version)
mkdirSync(folder, { recursive: true })

for (const { name, source } of CASES) {
  const runtime = openCorpusRuntime()
  const journal = new MemoryJournal()
  let waits: () => void = () => {}
  const waiting = new Promise<void>((resolve) => (waits = resolve))
  const run = runtime.start(runtime.compile(source), {
    runId: `corpus-${name}`,
    journal,
    onWaiting: ({ wakeAt }) => wakeAt ?? waits(),
  })
  await Promise.race([waiting, run.result])
  const snapshot = await run.snapshot()
  const open = journal.entries.map(encodeEntry)
  runtime.completeTool('answer', { ok: ANSWER })
  const result = await run.result
  if (result.status !== 'done') throw new Error(`${name} ended as ${result.status}: ${JSON.stringify(result)}`)
  writeFileSync(join(folder, `${name}.snapshot`), snapshot)
  writeFileSync(join(folder, `${name}.open.jsonl`), `${open.join('\n')}\n`)
  writeFileSync(join(folder, `${name}.jsonl`), `${journal.entries.map(encodeEntry).join('\n')}\n`)
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result.value)}\n`)
}

const file = join(folder, `store-${SCHEMA_VERSION}.db`)
rmSync(file, { force: true })
const store = await openDurableStore(file, { engine: 'wasm' })
const worker = new DurableWorker({ store, runtime: openCorpusRuntime(), clock: new VirtualClock(1_700_000_000_000) })
worker.start()
for (const { name, source } of CASES) await worker.submit(openCorpusRuntime().compile(source), { runId: name, archive: true })
await worker.idle()
await worker.stop()
await store.close()

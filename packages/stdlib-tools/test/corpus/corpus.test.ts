// What any version wrote down continues in this one: snapshots, journals, and files of durable runs.

import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { SnapshotError, toPlain } from '@bridle/vm'
import { MemoryJournal, decodeEntry } from '../../src/host/journal.js'
import type { JournalEntry } from '../../src/host/journal.js'
import { DurableWorker } from '../../src/host/durable/worker.js'
import type { EndedRun } from '../../src/host/durable/ended.js'
import { VirtualClock } from '../../src/library/time/host-clock.js'
import { openDurableStore } from '../../src/node/sqlite-engine.js'
import { ANSWER, openCorpusRuntime } from './cases.js'

const here = dirname(fileURLToPath(import.meta.url))
const temporary = mkdtempSync(join(tmpdir(), 'bridle-corpus-'))
afterAll(() => rmSync(temporary, { recursive: true, force: true }))

const versions = readdirSync(here, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))

test('there is a corpus of this version', () => {
  const { version } = JSON.parse(readFileSync(join(here, '..', '..', 'package.json'), 'utf8')) as { readonly version: string }
  expect(versions).toContain(version)
})

describe.each(versions)('%s', (version) => {
  const folder = join(here, version)
  const names = readdirSync(folder).flatMap((file) => (/^(.+)\.snapshot$/.exec(file) ?? []).slice(1))
  const readJson = (name: string): unknown => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
  const readJournal = (file: string): JournalEntry[] =>
    readFileSync(join(folder, file), 'utf8').trimEnd().split('\n').map(decodeEntry)

  test.each(names)('the journal of %s ends as it did, with nothing performed', (name) => {
    const runtime = openCorpusRuntime()
    const entries = readJournal(`${name}.jsonl`)
    const ended = runtime.replay(runtime.moduleOfRecording(entries), entries)
    expect(ended).toMatchObject({ kind: 'ended', end: { kind: 'done' } })
    if (ended.kind === 'ended' && ended.end.kind === 'done') expect(toPlain(ended.end.value)).toEqual(readJson(name))
  })

  test.each(names)('%s goes on from its journal', async (name) => {
    const runtime = openCorpusRuntime()
    runtime.completeTool('answer', { ok: ANSWER })
    const continued = runtime.continueRecording(readJournal(`${name}.open.jsonl`), { journal: new MemoryJournal() })
    expect(continued.kind).toBe('resumed')
    if (continued.kind === 'resumed') expect(await continued.run.result).toMatchObject({ status: 'done', value: readJson(name) })
  })

  test.each(names)('%s goes on from its snapshot, unless the format is another one', async (name) => {
    const runtime = openCorpusRuntime()
    runtime.completeTool('answer', { ok: ANSWER })
    try {
      const run = runtime.resume(readFileSync(join(folder, `${name}.snapshot`)))
      expect(await run.result).toMatchObject({ status: 'done', value: readJson(name) })
    } catch (cause) {
      // Its journal is the way on then.
      if (!(cause instanceof SnapshotError)) throw cause
    }
  })

  const stores = readdirSync(folder).filter((file) => file.endsWith('.db'))
  test.each(stores)('%s is opened, and its runs go on', async (file) => {
    const copy = join(temporary, `${version}-${file}`)
    copyFileSync(join(folder, file), copy)
    const store = await openDurableStore(copy)
    const ended: EndedRun[] = []
    const stuck: unknown[] = []
    const clock = new VirtualClock(1_700_000_100_000)
    const worker = new DurableWorker({
      store,
      runtime: openCorpusRuntime(),
      clock,
      onEnd: (end) => void ended.push(end),
      onStuck: (...told) => void stuck.push(told),
    })
    worker.start()
    for (const { runId } of await store.list({ state: 'parked', most: 100 })) await worker.signal(runId, 'answer', { ok: ANSWER })
    for (let turn = 0; turn < 20 && ended.length < names.length; turn++) await worker.idle()
    await worker.stop()
    expect(stuck).toEqual([])
    expect(new Map(ended.map(({ runId, value }) => [runId, value]))).toEqual(new Map(names.map((name) => [name, readJson(name)])))
    await store.close()
  })
})

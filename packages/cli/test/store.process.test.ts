// Files of the run's state (`.harn/store.json` and similar) with several processes at once, and with one that is killed.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { bundledCommand } from '../../../scripts/bundled-command.js'

/** Number of iterations; `npm test` runs a quarter of them. */
const scale = (count: number): number => (inject('isDense') ? count : count / 4)

let command: { readonly path: string; readonly folder: string }
let folder: string

beforeAll(async () => {
  command = await bundledCommand()
}, 60_000)
afterAll(() => rmSync(command.folder, { recursive: true }))
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bridle-store-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function start(source: string, ...args: readonly string[]): ChildProcess {
  writeFileSync(join(folder, 'main.harn'), source)
  return spawn(process.execPath, [command.path, 'run', 'main.harn', '--', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function readOutput(child: ChildProcess): Promise<string> {
  let text = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await new Promise((resolve) => child.once('close', resolve))
  return text.trim()
}

const readStored = (): unknown => JSON.parse(readFileSync(join(folder, '.harn', 'store.json'), 'utf8'))

test('three processes write the same store: none fails, and it is complete', async () => {
  const source = `for i in 0 to ${scale(200)} { store_set("k", "x" * (i * 37 % 5000)) }\nprintln("done")`
  expect(await Promise.all([1, 2, 3].map(() => readOutput(start(source))))).toEqual(['done', 'done', 'done'])
  expect(readStored()).toHaveProperty('k')
  expect(readdirSync(join(folder, '.harn'))).toEqual(['store.json'])
}, 60_000)

test('processes that write different keys lose none: store, checkpoints, metadata, memory', async () => {
  const source = `import { memory_store } from "std/memory"
let own = argv[0]
for i in 0 to ${scale(40) - 1} {
  store_set("\${own}-\${i}", i)
  checkpoint("\${own}-\${i}", i)
  metadata_set("\${own}/\${i}", "facts", {n: i})
  metadata_save()
  memory_store("m", "\${own}-\${i}", i)
}
println("done")`
  const owners = ['a', 'b', 'c']
  expect(await Promise.all(owners.map((each) => readOutput(start(source, each))))).toEqual(['done', 'done', 'done'])
  const keys = owners.flatMap((own) => Array.from({ length: scale(40) }, (_, i) => `${own}-${i}`)).sort()
  const readUnder = (path: string): object => JSON.parse(readFileSync(join(folder, '.harn', path), 'utf8')) as object
  expect(Object.keys(readUnder('store.json')).sort()).toEqual(keys)
  expect(Object.keys(readUnder('checkpoints/main.json')).sort()).toEqual(keys)
  const facts = (readUnder('metadata/facts/entries.json') as { readonly entries: object }).entries
  expect(Object.keys(facts).sort()).toEqual(keys.map((key) => key.replace('-', '/')).sort())
  const lines = readFileSync(join(folder, '.harn', 'memory', 'm', 'events.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { readonly key: string }).key).sort()).toEqual(keys)
  expect(readdirSync(join(folder, '.harn')).sort()).toEqual(['checkpoints', 'memory', 'metadata', 'store.json'])
  expect(readdirSync(join(folder, '.harn', 'checkpoints'))).toEqual(['main.json'])
}, 60_000)

test('processes killed during a write leave a complete store, and no other process waits for them', async () => {
  const endless = 'println("ready")\nvar n = 0\nwhile true {\n  n = n + 1\n  store_set("killed", "x" * (n % 50000))\n}'
  for (let round = 0; round < scale(8); round++) {
    const child = start(endless)
    await new Promise((resolve) => child.stdout!.once('data', resolve))
    const killed = new Promise((resolve) => child.once('close', resolve))
    // The second one starts while the first one writes, and continues after its death.
    const other = readOutput(start(`for i in 0 to 4 { store_set("other-${round}-\${i}", i) }\nprintln("done")`))
    child.stdout!.destroy()
    child.kill('SIGKILL')
    await killed
    expect(await other).toBe('done')
  }
  const keys = Object.keys(readStored() as object).filter((key) => key.startsWith('other'))
  expect(keys).toHaveLength(5 * scale(8))
  expect(readdirSync(join(folder, '.harn'))).toEqual(['store.json'])
}, 120_000)

test('a process killed during a write leaves a complete store', async () => {
  const child = start(
    'store_set("n", 0)\nprintln("ready")\nvar n = 0\nwhile true {\n  n = n + 1\n  store_set("n", "x" * (n % 100000))\n}',
  )
  await new Promise((resolve) => child.stdout!.once('data', resolve))
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('close', resolve))
  expect(readStored()).toHaveProperty('n')
}, 60_000)

// Files of the run's state (`.harn/store.json` and its like) under several processes at once, and under one that is killed.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bundledCommand } from './bundled-command.js'

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

function start(source: string): ChildProcess {
  writeFileSync(join(folder, 'main.harn'), source)
  return spawn(process.execPath, [command.path, 'run', 'main.harn'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
}

async function outputOf(child: ChildProcess): Promise<string> {
  let text = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await new Promise((resolve) => child.once('close', resolve))
  return text.trim()
}

const stored = (): unknown => JSON.parse(readFileSync(join(folder, '.harn', 'store.json'), 'utf8'))

test('three processes write the same store: none fails, and it is whole', async () => {
  const source = 'for i in 0 to 200 { store_set("k", "x" * (i * 37 % 5000)) }\nprintln("done")'
  expect(await Promise.all([1, 2, 3].map(() => outputOf(start(source))))).toEqual(['done', 'done', 'done'])
  expect(stored()).toHaveProperty('k')
  expect(readdirSync(join(folder, '.harn'))).toEqual(['store.json'])
}, 60_000)

test('a process that is killed while it writes leaves a whole store', async () => {
  const child = start(
    'store_set("n", 0)\nprintln("ready")\nvar n = 0\nwhile true {\n  n = n + 1\n  store_set("n", "x" * (n % 100000))\n}',
  )
  await new Promise((resolve) => child.stdout!.once('data', resolve))
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('close', resolve))
  expect(stored()).toHaveProperty('n')
}, 60_000)

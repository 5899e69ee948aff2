// Two processes and one run in files: one is stopped between looking at its lease and writing, as a machine that sleeps does, while the other one
// wants the run. At most one of them acts.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fileRunStore } from './run-store.js'

const STORE = pathToFileURL(join(import.meta.dirname, 'run-store.ts')).href

/** Claims the run for an instant, and stops itself in the middle of its first entry. */
const WORKER = `
import { writeSync } from 'node:fs'
import { fileRunStore } from ${JSON.stringify(STORE)}
const store = fileRunStore(process.argv[1], {
  onWrite: () => {
    writeSync(1, 'frozen\\n')
    process.kill(process.pid, 'SIGSTOP')
  },
})
const lease = store.claim('run', { owner: 'a', now: 0, leaseMs: 100 })
try {
  store.append(lease, 'of the first')
  writeSync(1, 'acts\\n')
} catch (cause) {
  writeSync(1, cause.code + '\\n')
}
`

let folder: string
let worker: ChildProcess
let said: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bridle-frozen-'))
  said = ''
  worker = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', WORKER, folder], {
    cwd: join(import.meta.dirname, '../../../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  worker.stdout!.on('data', (chunk: Buffer) => (said += chunk.toString()))
})
afterEach(() => {
  worker.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

const awaitFrozen = (): Promise<void> =>
  new Promise((resolve) => {
    worker.stdout!.on('data', () => said.includes('frozen') && resolve())
  })
async function awaitEnd(): Promise<void> {
  const ended = new Promise((resolve) => worker.once('close', resolve))
  // It may say that it stops and not have stopped yet.
  const waking = setInterval(() => worker.kill('SIGCONT'), 20)
  await ended
  clearInterval(waking)
}

const NEXT = { owner: 'b', now: 200, leaseMs: 100 }

const onPosix = test.skipIf(process.platform === 'win32')

onPosix('whose lock was broken does not act, and is not read', { timeout: 60_000 }, async () => {
  await awaitFrozen()
  // As after a while, where the process is on another machine.
  rmSync(join(folder, 'run', 'lock'))
  const store = fileRunStore(folder)
  store.append(store.claim('run', NEXT)!, 'of the second')
  await awaitEnd()
  expect(said).toBe('frozen\njournal_lease_lost\n')
  expect(store.read('run')).toEqual(['of the second'])
})

onPosix('whose lock is there acts, and the next one sees what it did', { timeout: 60_000 }, async () => {
  await awaitFrozen()
  const store = fileRunStore(folder)
  expect(store.list()).toMatchObject([{ runId: 'run', owner: 'a' }])
  await awaitEnd()
  expect(said).toBe('frozen\nacts\n')
  store.append(store.claim('run', NEXT)!, 'of the second')
  expect(store.read('run')).toEqual(['of the first', 'of the second'])
})

onPosix('who dies frozen keeps nothing', { timeout: 60_000 }, async () => {
  await awaitFrozen()
  const ended = new Promise((resolve) => worker.once('close', resolve))
  worker.kill('SIGKILL')
  await ended
  const store = fileRunStore(folder)
  store.append(store.claim('run', NEXT)!, 'of the second')
  expect(store.read('run')).toEqual(['of the second'])
})

// Processes are killed while they submit; confirmed runs must be in the store.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openDurableStore } from '@bridle/stdlib-tools/node'
import { Random } from '../fuzz/random.js'
import { buildProcesses, startProcess } from './processes.js'

export interface SubmitReport {
  readonly submitted: number
  readonly kills: number
  readonly missing: readonly string[]
}

/** Continues until `submits` ids were printed. */
export async function killSubmitters({
  submits,
  seed,
}: {
  readonly submits: number
  readonly seed: number
}): Promise<SubmitReport> {
  await buildProcesses()
  const folder = mkdtempSync(join(tmpdir(), 'bridle-submits-'))
  const file = join(folder, 'runs.db')
  const random = new Random(seed, 'submits', 0)
  const told: string[] = []
  let kills = 0
  for (; told.length < submits; kills++) {
    const { child, up, gone } = startProcess('submitter', [file, `p${kills}`], {
      fd: 1,
      onLine: (line) => void told.push(line),
      log: 'inherit',
    })
    await up
    await delay(random.below(300))
    child.kill('SIGKILL')
    await gone
  }
  const store = await openDurableStore(file)
  const missing: string[] = []
  for (const runId of told) if ((await store.get(runId)) === null) missing.push(runId)
  await store.close()
  rmSync(folder, { recursive: true, force: true })
  return { submitted: told.length, kills, missing }
}

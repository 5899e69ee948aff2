// A child process of fuzz/run.ts: runs one batch after the other. Before each input it writes the input's number to a file, which
// is all that remains of a process that hangs or is killed.

import { openSync, writeSync } from 'node:fs'
import { runCampaign } from './campaign.js'
import { targetNamed } from './targets.js'

export interface Job {
  readonly target: string
  readonly seed: number
  readonly from: number
  readonly inputs: number
}

const [noteFile = '', hangMs = ''] = process.argv.slice(2)
const note = openSync(noteFile, 'w')

process.on('message', (job: Job) => {
  const findings = runCampaign({
    ...job,
    target: targetNamed(job.target)!,
    // Processor time, so that a busy machine causes no findings.
    hang: { afterMs: Number(hangMs), now: () => process.cpuUsage().user / 1000 },
    onInput: (index) => writeSync(note, String(index).padEnd(12), 0),
  })
  process.send!(findings)
})

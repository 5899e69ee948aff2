// `npm run test:durable`: durable runs while their processes are killed, frozen and cut off from the disk.

import { commandOptions, wholeNumber } from '../scripts/options.js'
import { disrupt } from './disrupt.js'
import { isGood } from './judge.js'
import { killSubmitters } from './submitting.js'

const USAGE = `usage: npm run test:durable -- [--disruptions N] [--submits N] [--seed S]

  --disruptions N  kills, freezes past the lease, full disks (1,000)
  --submits N      runs that killed processes were told are kept (10,000)
  --seed S         makes the same choices again; a fresh one without it. What happens in between is the machine's affair.

The exit code is 1 when a call that must be made once was made twice, or an effect or a run was lost.
`
const options = commandOptions(USAGE, {
  disruptions: { type: 'string', default: '1000' },
  submits: { type: 'string', default: '10000' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
})
const disruptions = wholeNumber(USAGE, 'disruptions', options.disruptions)
const submits = wholeNumber(USAGE, 'submits', options.submits)
const seed = wholeNumber(USAGE, 'seed', options.seed)
process.stdout.write(`durable: ${disruptions} disruptions, ${submits} submits, seed ${seed}\n`)

if (submits > 0) {
  const { submitted, kills, missing } = await killSubmitters({ submits, seed })
  process.stdout.write(`submits: ${submitted} kept, ${kills} processes killed, ${missing.length} missing\n`)
  for (const runId of missing.slice(0, 20)) process.stdout.write(`  ${runId} is missing\n`)
  if (missing.length > 0) process.exitCode = 1
}

if (disruptions > 0) {
  const { problems, complaints, canFillDisk, ...figures } = await disrupt({
    disruptions,
    seed,
    onProgress: (done, runs, ended) => void process.stdout.write(`  ${done} disruptions, ${runs} runs, ${ended} of them ended\n`),
  })
  for (const [name, value] of Object.entries(figures)) process.stdout.write(`  ${name}: ${value}\n`)
  if (!canFillDisk) process.stdout.write('  full disks were left out: there is no prlimit here\n')
  for (const problem of problems.slice(0, 20)) process.stdout.write(`  ${problem}\n`)
  if (!isGood({ ...figures, problems })) {
    for (const line of complaints.slice(-20)) process.stdout.write(`  complaint: ${line}\n`)
    process.exitCode = 1
  }
}

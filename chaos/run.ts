// `npm run test:durable`: durable runs while their processes are killed, frozen and cut off from the disk.

import { commandOptions, wholeNumber } from '../scripts/options.js'
import { disrupt } from './disrupt.js'
import { openOwnEngine } from './engine.js'
import { isGood } from './judge.js'
import { findPostgres, openDbosEngine } from './postgres.js'
import { findServer, openRestateEngine } from './restate.js'
import { killSubmitters } from './submitting.js'

const USAGE = `usage: npm run test:durable -- [--disruptions N] [--submits N] [--seed S]

  --disruptions N  kills, freezes past the lease, full disks (1,000)
  --submits N      runs that killed processes were told are kept (10,000)
  --on ENGINE      store (a file; the default), or or a server that is killed, too: restate, installed from the
                   registry, or dbos, on the Postgres of this machine
  --seed S         makes the same choices again; a fresh one without it. What happens in between is the machine's affair.

The exit code is 1 when a call that must be made once was made twice, or an effect or a run was lost.
`
const options = commandOptions(USAGE, {
  disruptions: { type: 'string', default: '1000' },
  submits: { type: 'string', default: '10000' },
  on: { type: 'string', default: 'store' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
})
const disruptions = wholeNumber(USAGE, 'disruptions', options.disruptions)
const submits = wholeNumber(USAGE, 'submits', options.submits)
const seed = wholeNumber(USAGE, 'seed', options.seed)
const engines = { store: openOwnEngine, restate: openRestateEngine, dbos: openDbosEngine }
const engine = Object.hasOwn(engines, options.on) ? engines[options.on as keyof typeof engines] : null
if (engine === null) {
  process.stderr.write(`--on ${options.on}: expected ${Object.keys(engines).join(' or ')}\n`)
  process.exit(2)
}
if (options.on === 'restate' && findServer() === null) {
  process.stdout.write('durable: left out: the Restate server cannot be installed here\n')
  process.exit(0)
}
if (options.on === 'dbos' && findPostgres() === null) {
  process.stdout.write('durable: left out: there is no Postgres here\n')
  process.exit(0)
}
process.stdout.write(`durable: ${disruptions} disruptions, ${submits} submits, seed ${seed}\n`)

// How our own store keeps submitted runs; Restate answers from its log.
if (submits > 0 && options.on === 'store') {
  const { submitted, kills, missing } = await killSubmitters({ submits, seed })
  process.stdout.write(`submits: ${submitted} kept, ${kills} processes killed, ${missing.length} missing\n`)
  for (const runId of missing.slice(0, 20)) process.stdout.write(`  ${runId} is missing\n`)
  if (missing.length > 0) process.exitCode = 1
}

if (disruptions > 0) {
  const { problems, complaints, canFillDisk, ...figures } = await disrupt({
    disruptions,
    seed,
    engine,
    onProgress: (done, runs, ended) => void process.stdout.write(`  ${done} disruptions, ${runs} runs, ${ended} of them ended\n`),
  })
  for (const [name, value] of Object.entries(figures)) process.stdout.write(`  ${name}: ${value}\n`)
  if (!canFillDisk && options.on === 'store') process.stdout.write('  full disks were left out: there is no prlimit here\n')
  for (const problem of problems.slice(0, 20)) process.stdout.write(`  ${problem}\n`)
  if (!isGood({ ...figures, problems })) {
    for (const line of complaints.slice(-20)) process.stdout.write(`  complaint: ${line}\n`)
    process.exitCode = 1
  }
}

// `npm run test:full`: many inputs through the fuzz targets, in child processes. Without arguments 400,000 inputs of a fresh seed,
// distributed as fuzz/targets.ts says, and after them fuzz/elsewhere.ts.
//
// The planted target runs first and must be found; otherwise the campaign itself is broken.

import { fork, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { commandOptions, wholeNumber } from '../scripts/options.js'
import { runCampaign, verdictOn } from './campaign.js'
import { Random } from './random.js'
import { TARGETS, targetNamed } from './targets.js'
import type { ChildProcess } from 'node:child_process'
import type { Finding } from './campaign.js'
import type { Job } from './child.js'
import type { Target } from './targets.js'

/** A slower input is a finding. */
const HANG_MS = 2000

/** A child that has been at the same input for this long is killed: the input never ends. */
const STUCK_MS = 60_000

/**
 * V8 would optimise the interpreter's loop again for every few programs, which takes longer than they run; and its helper threads
 * take from other jobs what they save one.
 */
const NODE_FLAGS = ['--max-optimized-bytecode-size=6000', '--single-threaded', '--enable-source-maps']

/** Inputs per batch: few enough that the children end together. */
const BATCH = 500

const USAGE = `usage: npm run test:full -- [--target NAME] [--inputs N] [--seed S] [--jobs J]
       npm run test:full -- --target NAME --seed S --only I

  --target NAME  one of ${TARGETS.map((each) => each.name).join(', ')}; without it all that have a share, and then npm run test:elsewhere
  --inputs N     how many inputs in all (400,000)
  --seed S       makes the same inputs again; a fresh one without it
  --jobs J       child processes at a time
  --only I       makes input I, prints it, and judges it: how a finding is looked at

The exit code is 1 when something was found.
`
const options = commandOptions(USAGE, {
  inputs: { type: 'string', default: '400000' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  target: { type: 'string' },
  jobs: { type: 'string', default: String(Math.min(4, availableParallelism())) },
  only: { type: 'string' },
})
const number = (name: string, text: string, least = 0): number => wholeNumber(USAGE, name, text, least)
const seed = number('seed', options.seed)
const inputs = number('inputs', options.inputs, 1)
const atOnce = number('jobs', options.jobs, 1)
const chosen =
  options.target === undefined ? TARGETS.filter((each) => each.share > 0) : TARGETS.filter((each) => each.name === options.target)
if (chosen.length === 0) {
  process.stderr.write(`no target ${options.target}; there are ${TARGETS.map((each) => each.name).join(', ')}\n`)
  process.exit(2)
}
process.exitCode = options.only === undefined ? await runAll() : showOne(chosen[0]!, number('only', options.only))
if (process.exitCode === 0 && options.target === undefined && options.only === undefined) {
  const elsewhere = fileURLToPath(new URL('elsewhere.ts', import.meta.url))
  process.exitCode = spawnSync(process.execPath, ['--import', 'tsx', elsewhere], { stdio: 'inherit' }).status ?? 1
}

function showOne(target: Target, index: number): number {
  const input = target.make(new Random(seed, target.name, index))
  process.stdout.write(`${input}\n`)
  const verdict = verdictOn(target, seed, index, input)
  process.stderr.write(`${verdict ?? 'nothing found'}\n`)
  return verdict === null ? 0 : 1
}

/** One file of plain JavaScript, which starts and runs faster than sources that a loader translates. */
async function bundleChild(folder: string): Promise<void> {
  const entry = new URL('child.ts', import.meta.url)
  const here = JSON.stringify(entry.href)
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile: join(folder, 'child.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    sourcemap: 'inline',
    logLevel: 'warning',
    define: { 'import.meta.url': here },
    // For libraries in CommonJS.
    banner: { js: `import { createRequire } from "node:module"; const require = createRequire(${here});` },
  })
}

async function runAll(): Promise<number> {
  const planted = targetNamed('planted')!
  if (runCampaign({ target: planted, seed, from: 0, inputs: 2000 }).length === 0) {
    process.stdout.write('fuzz: the planted bug was not found; nothing that follows would mean anything\n')
    return 1
  }
  const folder = mkdtempSync(join(tmpdir(), 'bridle-fuzz-'))
  await bundleChild(folder)
  const shares = chosen.reduce((sum, each) => sum + Math.max(1, each.share), 0)
  process.stdout.write(`fuzz: ${inputs} inputs, seed ${seed}\n`)
  const findings: Finding[] = []
  for (const target of chosen) {
    const part = Math.round((inputs * Math.max(1, target.share)) / shares)
    const before = performance.now()
    const found = distinct(await share(target, part, folder))
    process.stdout.write(
      `fuzz: ${target.name}: ${part} inputs, ${found.length} findings, ${Math.round((performance.now() - before) / 1000)} s\n`,
    )
    for (const finding of found) report(finding)
    findings.push(...found)
  }
  rmSync(folder, { recursive: true })
  process.stdout.write(`fuzz: ${findings.length === 0 ? 'nothing found' : `${findings.length} findings`}\n`)
  return findings.length === 0 ? 0 : 1
}

/** Distributes batches to children until all are done. */
async function share(target: Target, part: number, folder: string): Promise<Finding[]> {
  const jobs: Job[] = []
  for (let from = 0; from < part; from += BATCH)
    jobs.push({ target: target.name, seed, from, inputs: Math.min(BATCH, part - from) })
  const findings: Finding[] = []
  const count = Math.min(atOnce, jobs.length)
  await Promise.all(Array.from({ length: count }, (_, at) => work(jobs, findings, folder, join(folder, String(at)))))
  return findings
}

/** One child after the other: a lost one is replaced, and the next batch continues. */
async function work(jobs: Job[], findings: Finding[], folder: string, note: string): Promise<void> {
  let child: ChildProcess | null = null
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
    child ??= fork(join(folder, 'child.mjs'), [note, String(HANG_MS)], { execArgv: NODE_FLAGS })
    const outcome = await runJob(child, job, note)
    findings.push(...outcome.findings)
    if (outcome.lost) child = null
  }
  child?.kill()
}

function runJob(child: ChildProcess, job: Job, note: string): Promise<{ findings: Finding[]; lost: boolean }> {
  const underWay = (): number => Number(readFileSync(note, 'utf8'))
  return new Promise((resolve) => {
    let seen = -1
    const done = (findings: Finding[], lost: boolean): void => {
      clearInterval(watch)
      child.removeAllListeners()
      if (lost) child.kill('SIGKILL')
      resolve({ findings, lost })
    }
    const reportLost = (message: string): void => {
      const index = underWay()
      done(
        [
          {
            target: job.target,
            seed: job.seed,
            index,
            message,
            input: targetNamed(job.target)!.make(new Random(job.seed, job.target, index)),
          },
        ],
        true,
      )
    }
    const watch = setInterval(() => {
      const now = underWay()
      if (now === seen) reportLost(`hang: the input did not end within ${STUCK_MS / 1000} s`)
      seen = now
    }, STUCK_MS)
    child.once('message', (findings) => done(findings as Finding[], false))
    child.once('exit', (code, signal) => reportLost(`the process died (${signal ?? `exit code ${code}`})`))
    child.send(job)
  })
}

/** Batches find the same bugs; one of each kind is shown. */
function distinct(findings: readonly Finding[]): Finding[] {
  const kinds = new Map<string, Finding>()
  for (const finding of findings) {
    const kind = finding.message.replace(/\d+/g, 'N').slice(0, 90)
    const known = kinds.get(kind)
    if (known === undefined || finding.input.length < known.input.length) kinds.set(kind, finding)
  }
  return [...kinds.values()]
}

function report({ target, index, message, input }: Finding): void {
  process.stdout.write(`\n${message}\n  again: npm run test:full -- --target ${target} --seed ${seed} --only ${index}\n`)
  process.stdout.write(`${input.slice(0, 2000).replace(/^/gm, '  | ')}\n\n`)
}

// `npm run test:hostile`: thousands of generated inputs in child processes, under the watchdog. Reports violations with the command that
// reproduces them, the longest block of the thread and the largest growth.

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { commandOptions, wholeNumber } from '../scripts/options.js'
import { Generator } from './generate.js'
import { hostileRuntime } from './judge.js'
import type { Report, Task } from './child.js'

const USAGE = `usage: npm run test:hostile -- [--inputs N] [--seed S] [--jobs J] [--filter WORD]
       npm run test:hostile -- --seed S --only I [--filter WORD]

  --inputs N  how many inputs (20,000)
  --seed S    makes the same inputs again; a fresh one without it
  --jobs J    child processes at a time (2)
  --only I    prints input I and judges it
  --filter W  calls only builtins whose name contains it; inputs have other numbers then

The exit code is 1 when an input ended its process, an error of JavaScript came out, the thread was held for over 250 ms, or the process
grew by more than 512 MiB. Holds over 50 ms are listed: an input that held the thread for that long is run four times more, and the
shortest of the five counts.
`
const options = commandOptions(USAGE, {
  inputs: { type: 'string', default: '20000' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  jobs: { type: 'string', default: '2' },
  only: { type: 'string' },
  filter: { type: 'string', default: '' },
})
const number = (name: string, text: string, least = 0): number => wholeNumber(USAGE, name, text, least)
const seed = number('seed', options.seed)
const inputs = options.only === undefined ? number('inputs', options.inputs, 1) : 1
const first = options.only === undefined ? 0 : number('only', options.only)
const jobs = number('jobs', options.jobs, 1)

const HELD_MS = 50
const GROSS_MS = 250
const GROWN = 512 << 20
const BATCH = 500

const reports: Report[] = []
const broken: string[] = []
const statuses = new Map<string, number>()
let next = first
const end = first + inputs

if (options.only !== undefined)
  process.stdout.write(`${new Generator(seed, hostileRuntime().registry, options.filter).input(first).source}\n`)
process.stdout.write(`hostile: ${inputs} inputs, seed ${seed}\n`)
await Promise.all(Array.from({ length: Math.min(jobs, Math.ceil(inputs / BATCH)) }, () => work()))
tell()

async function work(): Promise<void> {
  while (next < end) {
    const from = next
    next = Math.min(end, next + BATCH)
    let at = from
    while (at < next && at < from + BATCH) {
      const { done, error } = await batch({ seed, from: at, to: Math.min(end, from + BATCH), filter: options.filter })
      at = done
      if (error !== null) {
        broken.push(`input ${at}: ${error}`)
        at += 1
      }
    }
  }
}

/** Runs one child; `done` is the first input that it did not finish. */
function batch(task: Task): Promise<{ readonly done: number; readonly error: string | null }> {
  return new Promise((resolve) => {
    const child = fork(fileURLToPath(new URL('child.ts', import.meta.url)), [JSON.stringify(task)], {
      execArgv: ['--import', 'tsx', '--max-old-space-size=2048'],
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    })
    let done = task.from
    let said = ''
    child.stderr!.on('data', (text: Buffer) => (said = `${said}${text.toString()}`.slice(-2000)))
    child.on('message', (report: Report) => {
      done = report.index + 1
      reports.push(report)
      statuses.set(report.status, (statuses.get(report.status) ?? 0) + 1)
    })
    child.on('close', (code, signal) => {
      resolve({
        done,
        error: done === task.to && code === 0 ? null : `the process ended (${signal ?? code}): ${said.slice(-600)}`,
      })
    })
  })
}

function tell(): void {
  const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`
  for (const { index, name, complaint } of reports) if (complaint !== null) broken.push(`input ${index} (${name}): ${complaint}`)
  for (const { index, name, longestMs, grownBytes } of reports) {
    if (longestMs > GROSS_MS) broken.push(`input ${index} (${name}): held the thread for ${longestMs.toFixed(0)} ms`)
    if (grownBytes > GROWN) broken.push(`input ${index} (${name}): grew the process by ${mebibytes(grownBytes)}`)
  }
  const slow = reports.filter(({ longestMs }) => longestMs > HELD_MS).toSorted((a, b) => b.longestMs - a.longestMs)
  for (const { index, name, longestMs } of slow.slice(0, 25))
    process.stdout.write(`held ${longestMs.toFixed(0)} ms: input ${index} (${name})\n`)
  for (const line of broken) process.stdout.write(`BROKEN ${line}\n`)
  const first = reports.filter(({ firstMs }) => firstMs > HELD_MS)
  const longest = slow[0]?.longestMs ?? Math.max(0, ...reports.map((each) => each.longestMs))
  const grown = Math.max(0, ...reports.map((each) => each.grownBytes))
  process.stdout.write(
    `hostile: seed ${seed}: ${reports.length} inputs judged (${[...statuses].map(([status, count]) => `${status} ${count}`).join(', ')}); ` +
      `longest hold ${longest.toFixed(0)} ms, ${slow.length} above ${HELD_MS} ms (at their first run ` +
      `${Math.max(0, ...reports.map((each) => each.firstMs)).toFixed(0)} ms, ${first.length}); largest growth ${mebibytes(grown)}; ${broken.length} broken\n`,
  )
  process.exitCode = broken.length === 0 ? 0 : 1
}

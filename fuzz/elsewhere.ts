// `npm run test:elsewhere`: every suspension of every conformance script, and the ends of its first small slices, restored in another
// process. The scripts run here. Snapshots go in batches to a second process that serves all
// scripts: it compiles the program, never runs it, restores each snapshot, and must write the same bytes again.

import { fork } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { hashHex } from '@bridle/stdlib-tools/node'
import type { DrivenMachine, MachineMakers } from '@bridle/stdlib-tools'
import { CompileError } from '@bridle/stdlib-tools'
import { LinkError, Machine } from '@bridle/vm'
import type { RunExit, Value } from '@bridle/vm'
import { discover } from '../packages/cli/src/conformance/discover.js'
import { COMMAND_LIMITS, makeCommandRuntime } from '../packages/cli/src/host.js'
import { commandOptions, wholeNumber } from '../scripts/options.js'
import { Random } from './random.js'

interface Batch {
  readonly file: string
  readonly snapshots: readonly Uint8Array[]
}

interface Verdict {
  readonly file: string
  readonly problems: readonly string[]
}

/** Slices are small, so that snapshots of scripts that never wait are taken too; this many of them. */
const SLICE_FUEL = 40
const MOST_YIELDS = 10

/** Fuel after which an endless script has had enough suspensions. */
const LONGEST_RUN_MS = 20_000

const USAGE = `usage: npm run test:elsewhere -- [--sample N [--seed S]]

  --sample N  N scripts instead of all
  --seed S    which ones (2026)

The exit code is 1 when a snapshot is not what it was.
`

async function here(): Promise<void> {
  const options = commandOptions(USAGE, { sample: { type: 'string' }, seed: { type: 'string', default: '2026' } })
  const suite = fileURLToPath(new URL('../conformance', import.meta.url))
  let tests = discover(suite).filter((test) => test.kind !== 'static' && test.parked === null)
  if (options.sample !== undefined) {
    const random = new Random(wholeNumber(USAGE, 'seed', options.seed), 'elsewhere', 0)
    tests = Array.from({ length: Math.min(wholeNumber(USAGE, 'sample', options.sample, 1), tests.length) }, () =>
      random.pick(tests),
    )
  }
  const began = performance.now()
  const other = fork(fileURLToPath(import.meta.url), [], { serialization: 'advanced' })
  const problems: string[] = []
  let snapshots = 0
  let bytes = 0
  for (const test of tests) {
    const batch = await listSuspensions(test.file)
    if (batch.snapshots.length === 0) continue
    snapshots += batch.snapshots.length
    for (const each of batch.snapshots) bytes += each.length
    const verdict = await new Promise<Verdict>((resolve, reject) => {
      other.once('message', (message) => resolve(message as Verdict))
      other.once('exit', (code) => reject(new Error(`the other process ended (${code}) over ${test.name}`)))
      other.send(batch)
    })
    other.removeAllListeners()
    problems.push(...verdict.problems.map((problem) => `${test.name}: ${problem}`))
  }
  other.disconnect()
  for (const problem of problems) process.stdout.write(`${problem}\n`)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  process.stdout.write(
    `elsewhere: ${tests.length} scripts, ${snapshots} snapshots of ${Math.round(bytes / Math.max(1, snapshots))} bytes on average, ` +
      `${problems.length} problems, ${seconds} s\n`,
  )
  process.exitCode = problems.length === 0 ? 0 : 1
}

/** Runs a script; one that does not compile has no suspensions. */
async function listSuspensions(path: string): Promise<Batch> {
  const file = realpathSync(path)
  const snapshots: Uint8Array[] = []
  try {
    const runtime = makeCommandRuntime({ terminal: false, script: file })
    const module = runtime.compile(readFileSync(file, 'utf8'), { file })
    await runtime.start(module, {
      machine: (makers) => new Watched(makers, snapshots),
      signal: AbortSignal.timeout(LONGEST_RUN_MS),
    }).result
  } catch (cause) {
    // The suite judges how scripts fail.
    if (!(cause instanceof CompileError) && !(cause instanceof LinkError)) throw cause
  }
  return { file, snapshots }
}

/** A machine that takes a snapshot at every suspension. */
class Watched implements DrivenMachine {
  private readonly machine: Machine
  private readonly snapshots: Uint8Array[]
  private yields = 0

  constructor(makers: MachineMakers, snapshots: Uint8Array[]) {
    this.machine = makers.fresh({ sliceFuel: SLICE_FUEL }) as Machine
    this.snapshots = snapshots
  }

  start(input: Value, now: number): RunExit {
    return this.noteExit(this.machine.start(input, now))
  }

  resume(answer: Parameters<DrivenMachine['resume']>[0], now: number): RunExit {
    return this.noteExit(this.machine.resume(answer, now))
  }

  snapshot(): Uint8Array {
    return this.machine.snapshot()
  }

  pendingIds(): readonly number[] {
    return this.machine.pendingIds()
  }

  private noteExit(exit: RunExit): RunExit {
    const isPlace = exit.kind === 'suspended' || (exit.kind === 'yielded' && this.yields++ < MOST_YIELDS)
    if (isPlace) this.snapshots.push(this.machine.snapshot())
    return exit
  }
}

function restoreAll({ file, snapshots }: Batch): Verdict {
  const problems: string[] = []
  try {
    const { program } = makeCommandRuntime({ terminal: false, script: file }).compile(readFileSync(file, 'utf8'), { file })
    for (const [at, bytes] of snapshots.entries()) {
      const again = Machine.restore(bytes, program, { hashHex, limits: COMMAND_LIMITS }).snapshot()
      if (Buffer.compare(bytes, again) !== 0) problems.push(`suspension ${at + 1}: written again, it is another`)
    }
  } catch (cause) {
    problems.push(cause instanceof Error ? cause.message : String(cause))
  }
  return { file, problems }
}

if (process.send === undefined) await here()
else process.on('message', (batch) => void process.send!(restoreAll(batch as Batch)))

// One measuring process. `run.ts` bundles this file and starts it for each measurement, because code that ran before changes
// the cost of what follows: `script NAME` is clean, `mixed` runs every program first, the others are the tables of system.ts and growth.ts.
// The output is one line of JSON.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkingTimes } from './checking.js'
import { Engine } from './engine.js'
import { measureBulk } from './bulk.js'
import { measureRegexes } from './regexes.js'
import { measureGrowth } from './growth.js'
import { longestPauses } from './pauses.js'
import { measureFields } from './shapes/fields.js'
import { measureShapes } from './shapes/measure.js'
import { measureValues } from './shapes/values.js'
import {
  compileTimes,
  exceptions,
  freshMachine,
  hostCalls,
  idleMachines,
  processStarts,
  snapshots,
  waitingScripts,
} from './system.js'
import { toolCalls } from './tools.js'
import type { MixedTimes } from './samples.js'
import { measureTiming, timesInTurn } from './timing.js'
import { WORKLOADS } from './workloads.js'
import type { Workload } from './workloads.js'

const [folder = '.', task = '', ...names] = process.argv.slice(2)

interface Loaded {
  readonly workload: Workload
  readonly run: () => void
}

/** `compiles`: hot code becomes JavaScript, as it does by default; otherwise the base tier runs alone. */
function load(engine: Engine, workload: Workload, compiles: boolean): Loaded {
  const program = engine.load(readFileSync(join(folder, 'scripts', `${workload.name}.harn`), 'utf8'))
  const options = compiles ? {} : { tier: null }
  return { workload, run: () => void engine.run(program, options) }
}

/** Runs every program first, twice; then times the requested ones, in both tiers and in plain JavaScript. */
function measureMixed(): Record<string, MixedTimes> {
  const compiled = new Engine()
  const base = new Engine()
  const loaded = WORKLOADS.map((workload) => ({
    workload,
    works: [load(compiled, workload, true).run, load(base, workload, false).run, () => void workload.js()],
  }))
  for (let round = 0; round < 2; round++) for (const { works } of loaded) for (const work of works) work()
  const shown = loaded.filter(({ workload }) => wanted.includes(workload))
  return Object.fromEntries(
    shown.map(({ workload, works }) => {
      const [engine, alone, js] = timesInTurn(works)
      return [workload.name, { engine: engine!, base: alone!, js: js! }]
    }),
  )
}

/** The yardstick's result first: it compiles nothing that the engine uses, and every later time is relative to it. */
function check(engine: Engine, workload: Workload): void {
  const wanted = workload.js()
  const output = engine.run(engine.load(readFileSync(join(folder, 'scripts', `${workload.name}.harn`), 'utf8')))
  if (output !== wanted) throw new Error(`${workload.name} printed ${output}, plain JavaScript gives ${wanted}`)
}

const wanted = WORKLOADS.filter((workload) => names.length === 0 || names.includes(workload.name))

async function answer(): Promise<unknown> {
  switch (task) {
    case 'check': {
      const engine = new Engine()
      for (const workload of wanted) check(engine, workload)
      return Object.fromEntries(wanted.map((workload) => [workload.name, workload.js()]))
    }
    case 'script':
    case 'base script': {
      const [only] = wanted
      if (only === undefined) throw new Error(`no workload ${names.join(' ')}`)
      const { run } = load(new Engine(), only, task === 'script')
      return { engine: measureTiming(run), js: measureTiming(() => void only.js()) }
    }
    case 'mixed':
      return measureMixed()
    case 'host calls':
      return hostCalls()
    case 'waiting scripts':
      return waitingScripts()
    case 'exceptions':
      return exceptions()
    case 'fresh machine':
      return freshMachine()
    case 'compile':
      return compileTimes()
    case 'process start':
      return processStarts(folder)
    case 'checking':
      return checkingTimes(folder)
    case 'snapshot':
      return snapshots()
    case 'longest pause':
      return longestPauses()
    case 'idle machines':
      return idleMachines()
    case 'tool calls':
      return toolCalls()
    case 'fields of objects':
      return measureFields()
    case 'value representations':
      return measureValues()
    case 'bulk':
      return measureBulk(new Engine(), names[0])
    case 'regular expressions':
      return measureRegexes(new Engine(), names[0])
    case 'growth':
      return measureGrowth(new Engine())
    case 'shapes':
      return measureShapes(new Engine(), folder)
    default:
      throw new Error(`no measurement ${task}`)
  }
}

process.stdout.write(`${JSON.stringify(await answer())}\n`)

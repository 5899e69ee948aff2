// One measuring process of the corpus; run.ts bundles it. `TIER FOLDER N` times a program in one tier: the first run in the process
// including compilation, then repeated runs of the linked program. `growth FOLDER N` times N, 2N and 4N. The output is a line of JSON.

import { Engine } from '../engine.js'
import { LIMITS } from '../bulk.js'
import { milliseconds, warmTime } from '../timing.js'
import type { Timing } from '../timing.js'
import { readTexts } from './programs.js'

const [task = '', folder = '', size = ''] = process.argv.slice(2)

/** One size of a program; `heap` counts the units that a run was charged. */
export interface Grown {
  readonly n: number
  readonly ms: number
  readonly heap: number
}

const GROWTH_RUNS = 3
const WARM_UP_RUNS = 2
const MOST_WARM_UP_RUNS = 20
const WARM_UP_MS = 400

function load(engine: Engine, n: number): () => { readonly output: string; readonly heap: number } {
  const { main, modules } = readTexts(folder, n)
  const program = engine.load(main, [], modules)
  const options = task === 'base' ? { tier: null, limits: LIMITS } : { limits: LIMITS }
  return () => engine.runCounted(program, options)
}

function measureTier(n: number): Timing & { readonly output: string } {
  const engine = new Engine()
  let output = ''
  let run = (): { readonly output: string } => ({ output })
  const cold = milliseconds(() => {
    run = load(engine, n)
    ;({ output } = run())
  })
  warmUp(() => void run())
  return { cold, warm: warmTime(() => void run()), output }
}

/** Lets V8's background compiler finish before times count. */
function warmUp(run: () => void): void {
  for (let ms = 0, runs = 0; runs < WARM_UP_RUNS || (ms < WARM_UP_MS && runs < MOST_WARM_UP_RUNS); runs++) ms += milliseconds(run)
}

/** The best of a few runs after one: the time of an undisturbed run. */
function measureGrowth(n: number): Grown {
  const run = load(new Engine(), n)
  const { heap } = run()
  const ms = Math.min(...Array.from({ length: GROWTH_RUNS }, () => milliseconds(() => void run())))
  return { n, ms, heap }
}

const answer = task === 'growth' ? [1, 2, 4].map((factor) => measureGrowth(Number(size) * factor)) : measureTier(Number(size))
process.stdout.write(`${JSON.stringify(answer)}\n`)

// The longest time for which a hostile script blocks the host's thread under default limits, measured where embedders notice it: compile, start
// and result of a Runtime, under a watchdog that sees every block of the thread. The goal is 50 ms. Each script runs until it ends
// or for long enough, three times; the figure is the longest block, the median of the three. Time in which the
// system gave the processor to others does not count.

import { createRuntime } from '@bridle/stdlib-tools'
import type { Runtime } from '@bridle/stdlib-tools'
import { Watchdog } from '../hostile/watchdog.js'
import { HOSTILE } from './hostile.js'
import { median } from './stats.js'
import type { Figures } from './system.js'

/** Scripts that are always shown, beside the slowest ones. */
const SHOWN: ReadonlySet<string> = new Set([
  'an endless loop',
  'a dict that grows',
  'a list of small lists',
  'a list that doubles',
  'showing shared data',
  'comparing shared data',
  'JSON of records',
  'sorting words',
  'distinct values of a long list',
  'parsing JSON, longest allowed',
  'parsing YAML',
  'a gzip bomb',
  'a regular expression that goes back and forth',
  'straight on: comparing',
])

/** Milliseconds after which an endless script is stopped. */
const LONG_ENOUGH = 250

const ROUNDS = 3

const GOAL = 50

/** Runs a script until it ends or has run for long enough. */
async function runForAWhile(runtime: Runtime, body: string): Promise<void> {
  const module = runtime.compile(body, { file: 'hostile.harn' })
  const enough = new AbortController()
  // A script that yields lets this timer run; one that does not is what the figure measures.
  const timer = setTimeout(() => enough.abort(), LONG_ENOUGH)
  const run = runtime.start(module, { signal: enough.signal, runId: 'run_hostile' })
  await run.result
  clearTimeout(timer)
}

export async function longestPauses(): Promise<Figures> {
  const runtime = createRuntime({ enforceManifest: false })
  const watchdog = new Watchdog()
  const figures: Figures = {}
  let longestOfAll = 0
  let mostGrown = 0
  let above = 0
  for (const [name, body] of Object.entries(HOSTILE)) {
    const holds: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const { longestMs, grownBytes } = await watchdog.watch(name, () => runForAWhile(runtime, body))
      holds.push(longestMs)
      mostGrown = Math.max(mostGrown, grownBytes)
    }
    const longest = median(holds)
    figures[`${name}, ms`] = longest
    longestOfAll = Math.max(longestOfAll, longest)
    if (longest > GOAL) above += 1
  }
  await watchdog.end()
  const count = Object.keys(HOSTILE).length
  figures[`the longest of ${count} scripts, ms`] = longestOfAll
  figures[`scripts of ${count} above ${GOAL} ms`] = above
  figures[`the most that resident memory grew, MiB`] = mostGrown / 2 ** 20
  return figures
}

const SLOWEST = 5

/** The labels that a table shows: the slowest scripts by the median of the rounds, those in SHOWN, and rows other than scripts. */
export function choosePauses(rounds: readonly Figures[]): readonly string[] {
  const [first = {}] = rounds
  const scripts = Object.keys(HOSTILE).map((name) => `${name}, ms`)
  const longest = (label: string): number => median(rounds.map((figures) => figures[label] ?? Number.NaN))
  const slowest = scripts
    .filter((label) => label in first)
    .sort((a, b) => longest(b) - longest(a))
    .slice(0, SLOWEST)
  const others = Object.keys(first).filter((label) => !scripts.includes(label))
  const shown = scripts.filter((label) => SHOWN.has(label.slice(0, -4)) && !slowest.includes(label))
  return [...others, ...slowest, ...shown]
}

// The longest time for which a hostile script keeps the host's thread under default limits: one slice, or one operation, which is not
// cut. The goal is 50 ms. Each script is run to whatever ends it or makes it wait, three times; the figure is the longest of its
// turns, the median of the three. What counts is the time that the script held the thread, without that in which the system let
// others have the processor.

import { readFileSync } from 'node:fs'
import { Engine } from './engine.js'
import { HOSTILE } from './hostile.js'
import { median } from './stats.js'
import type { RunExit } from '@bridle/vm'
import type { Figures } from './system.js'

/** Those that are shown each, beside the slowest ones. */
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

/** Milliseconds after which a script that goes on for ever has shown what it can do. */
const LONG_ENOUGH = 250

const ROUNDS = 3

const GOAL = 50

/** Turns after which a script that goes on for ever has shown what it can do. */
const MOST_TURNS = 60

/** Milliseconds for which this thread was ready to run and did not get a processor; 0 where the system does not say. */
function waited(): number {
  try {
    const [, delay = '0'] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')
    return Number(delay) / 1e6
  } catch {
    return 0
  }
}

/** What `turn` took of the thread, in milliseconds. */
function held(turn: () => void): number {
  const before = waited()
  const start = performance.now()
  turn()
  return performance.now() - start - (waited() - before)
}

function longestTurn(engine: Engine, body: string): number {
  const machine = engine.machine(engine.load(body))
  const began = performance.now()
  let exit: RunExit | null = null
  let longest = 0
  for (let turn = 0; turn <= MOST_TURNS && performance.now() - began <= LONG_ENOUGH; turn++) {
    longest = Math.max(
      longest,
      held(() => {
        exit = turn === 0 ? machine.start(null, 0) : machine.resume(null, 0)
      }),
    )
    if (exit!.kind !== 'yielded') break
  }
  return longest
}

export function longestPauses(): Figures {
  const engine = new Engine()
  const figures: Figures = {}
  let longestOfAll = 0
  let above = 0
  for (const [name, body] of Object.entries(HOSTILE)) {
    const longest = median(Array.from({ length: ROUNDS }, () => longestTurn(engine, body)))
    figures[`${name}, ms`] = longest
    longestOfAll = Math.max(longestOfAll, longest)
    if (longest > GOAL) above += 1
  }
  const count = Object.keys(HOSTILE).length
  figures[`the longest of ${count} scripts, ms`] = longestOfAll
  figures[`scripts of ${count} above ${GOAL} ms`] = above
  return figures
}

const SLOWEST = 5

/** The labels that a table shows: the slowest scripts by the median of the rounds, those in SHOWN, and what is no script. */
export function shownPauses(rounds: readonly Figures[]): readonly string[] {
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

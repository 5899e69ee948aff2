// The longest time for which a hostile script keeps the host's thread under default limits: one slice, or one operation, which is not
// cut. The goal is 50 ms. Each script is run to whatever ends it or makes it wait; the figure is the
// longest of its turns.

import { Engine } from './engine.js'
import { HOSTILE } from './hostile.js'
import type { Figures } from './system.js'

/** Those that are shown each; of all others only the longest pause is. */
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

const GOAL = 50

/** Turns after which a script that goes on for ever has shown what it can do. */
const MOST_TURNS = 60

export function longestPauses(): Figures {
  const engine = new Engine()
  const figures: Figures = {}
  let longestOfAll = 0
  let above = 0
  for (const [name, body] of Object.entries(HOSTILE)) {
    const machine = engine.machine(engine.load(body))
    let longest = 0
    let turns = 0
    const began = performance.now()
    let start = began
    let exit = machine.start(null, 0)
    for (;;) {
      longest = Math.max(longest, performance.now() - start)
      if (exit.kind !== 'yielded' || turns++ >= MOST_TURNS || performance.now() - began > LONG_ENOUGH) break
      start = performance.now()
      exit = machine.resume(null, 0)
    }
    if (SHOWN.has(name)) figures[`${name}, ms`] = longest
    longestOfAll = Math.max(longestOfAll, longest)
    if (longest > GOAL) above += 1
  }
  const count = Object.keys(HOSTILE).length
  figures[`the longest of ${count} scripts, ms`] = longestOfAll
  figures[`scripts of ${count} above ${GOAL} ms`] = above
  return figures
}

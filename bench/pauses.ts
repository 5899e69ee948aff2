// The longest time for which a hostile script keeps the host's thread under default limits: one slice, or one operation, which is not
// cut. The goal is 50 ms. Each script is run to whatever ends it; the figure is the longest of its turns.

import { Engine, describe } from './engine.js'
import type { Figures } from './system.js'

const DOUBLED = 'var x: any = [1]\n  for i in 1 to 40 { x = [x, x] }\n  '

const HOSTILE: Readonly<Record<string, string>> = {
  'an endless loop': 'while true { }',
  'a dict that grows': 'var d = {}\n  var i = 0\n  while true {\n    d["key ${i}"] = i\n    i += 1\n  }',
  'a list that doubles': 'var xs = [1]\n  while true { xs = xs + xs }',
  'showing shared data': `${DOUBLED}println(x)`,
  'comparing shared data': `${DOUBLED}var y: any = [1]\n  for i in 1 to 40 { y = [y, y] }\n  println(x == y)`,
  'JSON of shared data': `${DOUBLED}println(json_stringify(x))`,
  'sorting as much as is allowed': 'var xs = []\n  for i in 1 to 200000 { xs = xs.push(200000 - i) }\n  println(len(xs.sort()))',
  'distinct values of a long list': 'var xs = []\n  for i in 1 to 80000 { xs = xs.push(i) }\n  println(len(xs.unique()))',
  'parsing as much JSON as is allowed': 'println(len(json_parse("[" + "1," * 400000 + "1]")))',
  'a regular expression that goes back and forth': 'println(regex_match("(x+x+)+y", "x" * 20000))',
}

/** Turns after which a script that goes on for ever has shown what it can do. */
const MOST_TURNS = 400

export function longestPauses(): Figures {
  const engine = new Engine()
  const figures: Figures = {}
  for (const [name, body] of Object.entries(HOSTILE)) {
    const machine = engine.machine(engine.load(`pipeline main() {\n  ${body}\n}\n`))
    let longest = 0
    let turns = 0
    let start = performance.now()
    let exit = machine.start(null, 0)
    for (;;) {
      longest = Math.max(longest, performance.now() - start)
      if (exit.kind !== 'yielded' || turns++ >= MOST_TURNS) break
      start = performance.now()
      exit = machine.resume(null, 0)
    }
    if (exit.kind === 'suspended') throw new Error(describe(exit))
    figures[`${name}, ms`] = longest
  }
  return figures
}

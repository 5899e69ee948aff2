// A run continues in another JavaScript engine as it would have continued here: with any live state, and in programs of the
// suite at random points.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startOtherEngine } from './another-engine.js'
import type { OtherEngine } from './another-engine.js'
import { corpus } from './corpus.js'
import { compile, difference, link, Runner, runToEnd } from './engine.js'
import { Random } from './random.js'

let other: OtherEngine

beforeAll(async () => {
  other = await startOtherEngine()
}, 60_000)

afterAll(() => other.dispose())

/** Splits a run into about `slices`, stops it after `exits` exits, and compares its end there with its end here. */
function compareAt(source: string, slices: number, exits: number): boolean {
  const { program } = compile(source)
  if (program === null) return false
  const linked = link(program)
  const { fuel } = runToEnd(new Runner(linked, { tier: null }))
  const runner = new Runner(linked, { sliceFuel: Math.max(1, Math.floor(fuel / slices)), tier: null })
  for (let at = 0; at < exits; at++) if (!runner.advance()) return false
  if (!runner.stopped) return false
  const begun = runner.exportState()
  const here = runToEnd(new Runner(linked, { tier: null }, begun))
  expect(difference(here, other.goOn(source, begun))).toBe(null)
  return true
}

const ALIVE: Readonly<Record<string, string>> = {
  'closures and a counter that they share': `fn counter() {
  var n = 0
  return { -> n = n + 1
    n }
}
let next = counter()
for i in 1 to 30 { println("\${next()}") }`,
  'ints beyond the doubles and floats': `var a = 9007199254740993
var b = 0.1
for i in 1 to 40 {
  a = a * 3 + i
  b = b * 1.5 - 0.01
}
println("\${a} \${b}")`,
  'parallel calls that wait': `let answers = parallel each [1, 2, 3, 4] with { max_concurrent: 2 } { n ->
  sleep(10)
  n * n
}
println(answers)`,
  'iterators and generators': `fn squares(n) {
  var i = 0
  while i < n {
    yield i * i
    i = i + 1
  }
}
let odd = squares(20).iter().filter({ x -> x % 2 == 1 }).map({ x -> "<\${x}>" })
for item in odd { println(item) }`,
  'channels and tasks': `let pipe = channel("pipe", 2)
let sender = spawn {
  for i in 0 to 10 { send(pipe, {at: i, text: "ä" + to_string(i)}) }
  close_channel(pipe)
}
var seen = []
var item = receive(pipe)
while item != nil {
  seen = seen.push(item)
  item = receive(pipe)
}
await(sender)
println(json_stringify(seen))`,
  'handlers, deadlines and what is deferred': `fn risky(n) {
  defer { println("left \${n}") }
  sleep(5)
  if n % 2 == 0 { throw {code: n} }
  return n
}
var total = 0
for n in 0 to 8 {
  try {
    total = total + deadline 1s { risky(n) }
  } catch (e) {
    total = total + 100
  }
}
println(total)`,
  'dicts, sets, texts and sorted records': `var rows = []
for i in 0 to 30 { rows = rows.push({id: i, name: "n\${(i * 7) % 31}", tags: set([i % 3, i % 5])}) }
let sorted = rows.sort_by({ r -> r.name })
println(sorted.map({ r -> "\${r.id}:\${r.name}:\${len(r.tags)}" }).join(","))
println(regex_replace("n(\\\\d+)", "<$1>", "n1 n22"))`,
}

test.each(Object.entries(ALIVE))('%s', (_, source) => {
  expect(compile(source).error).toBe(null)
  const places = [0, 2, 4].filter((exits) => compareAt(source, 30, exits))
  expect(places).toEqual([0, 2, 4])
})

/**
 * What QuickJS lacks and a host would have to provide: for HTTP and for time zones. Without URL, no address is valid; the text decoder
 * given to it here accepts some invalid input.
 */
const NOT_THERE =
  /ReferenceError: '?(URL|URLSearchParams|Intl)'? is not defined|invalid URL: |unknown timezone '|bytes_to_string: (invalid|incomplete) utf-8/

test('scripts of the suite, at random points', { timeout: 60_000 }, () => {
  const random = new Random(2026, 'another engine', 0)
  let compared = 0
  for (let tries = 0; tries < 400 && compared < 40; tries++) {
    const { text } = random.pick(corpus())
    try {
      if (compareAt(text, random.between(2, 20), random.below(6))) compared++
    } catch (error) {
      const difference = error instanceof Error && 'actual' in error ? error.actual : error
      if (!NOT_THERE.test(String(difference))) throw error
    }
  }
  expect(compared).toBe(40)
})

// Heap units against what V8 says: within a factor of two for shapes of data that scripts are made of, so that a limit in units is a
// limit in bytes. In its own process, since it collects garbage and looks at the heap of all.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Machine } from '@bridle/vm'
import { measureHeap } from '../../../vm/src/interpreter/heap.js'
import { link, options } from './support.js'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function measureUsedHeap(): number {
  for (let turn = 0; turn < 3; turn++) collect()
  return process.memoryUsage().heapUsed
}

test.each([
  ['ints', 'var xs = []\nfor i in 0 to 300000 exclusive { xs = xs.push(i) }'],
  ['floats', 'var xs = []\nfor i in 0 to 200000 exclusive { xs = xs.push(i + 0.5) }'],
  ['records', 'var xs = []\nfor i in 0 to 50000 exclusive { xs = xs.push({id: i, name: "record ${i}", done: false}) }'],
  ['one large dict', 'var xs = {}\nfor i in 0 to 100000 exclusive { xs["key ${i}"] = i }'],
  ['structs', 'struct P { x: int, y: int }\nvar xs = []\nfor i in 0 to 50000 exclusive { xs = xs.push(P({x: i, y: i})) }'],
  ['small lists', 'var xs = []\nfor i in 0 to 50000 exclusive { xs = xs.push([i, i]) }'],
  ['texts', 'var xs = []\nfor i in 0 to 50000 exclusive { xs = xs.push(["a text of some length, number ", i].join("")) }'],
])('%s', (_, text) => {
  const program = link(`${text}\nsleep(5)\nprintln(len(xs))`)
  const before = measureUsedHeap()
  const machine = new Machine(program, { ...options, limits: { heap: 2 ** 31 } })
  let exit = machine.start(null, 0)
  while (exit.kind === 'yielded') exit = machine.resume(null, 0)
  expect(exit.kind).toBe('suspended')
  const ratio = measureHeap(machine) / (measureUsedHeap() - before)
  expect(ratio).toBeGreaterThan(0.5)
  expect(ratio).toBeLessThan(2)
})

// What is counted is the part, so the part must not keep the text that it was cut from: a hundred texts of a million characters.
test.each([
  ['split', 's.split("|")[1]'],
  ['split function', 'split(s, "|")[1]'],
  ['lines', 's.replace("|", "\\n").lines()[1]'],
  ['substring', 's.substring(3, 40)'],
  ['substring function', 'substring(s, 3, 40)'],
  ['a slice', 's[3:40]'],
  [
    'slices in steps',
    's[0:600000][0:310000][0:160000][0:90000][0:50000][0:30000][0:18000][0:10000][0:6000][0:3000][0:1800][0:900][0:500][0:260][0:200]',
  ],
  ['trim', 's.replace("filler filler", " ").replace("r filler", " ").trim().substring(3, 40)'],
  ['regex_match', 'regex_match("[a-z]+ of [a-z ]+ long", s)[0]'],
  ['regex_captures', 'regex_captures("([a-z]+ of [a-z ]+ long)", s)[0].groups[0]'],
  ['regex_split', 'regex_split(s, "[|]")[1]'],
  ['json_parse', 'json_parse("[\\"" + s.replace("|", "\\",\\"") + "\\"]")[1]'],
  ['csv_parse', 'csv_parse(s.replace("|", ",") + "\\n")[0][1]'],
  ['extract_json', 'json_extract(s.replace("|", "\\n```\\n"))'],
  ['jq', 'jq(json_parse("[\\"" + s.replace("|", "\\",\\"") + "\\"]"), ".[1]")'],
])('%s of a long text', (_, part) => {
  const text = `var xs: any = []
for i in 0 to 60 exclusive {
  let s = "\${i}|part of a text that is quite long|" + "filler " * 150000
  let n = len(s.split("|"))
  try { xs = xs.push(${part}) } catch (e) { if !to_string(e).contains("json") { println(e) } }
}
sleep(5)
println(len(xs))`
  const program = link(text)
  const before = measureUsedHeap()
  const machine = new Machine(program, { ...options, limits: { heap: 2 ** 31 } })
  let exit = machine.start(null, 0)
  while (exit.kind === 'yielded') exit = machine.resume(null, 0)
  expect(exit).toMatchObject({ kind: 'suspended', output: '' })
  expect(measureUsedHeap() - before).toBeLessThan(8_000_000)
})

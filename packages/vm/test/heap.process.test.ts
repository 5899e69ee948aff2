// Heap units against what V8 says: within a factor of two for shapes of data that scripts are made of, so that a limit in units is a
// limit in bytes. In a process of its own, since it collects garbage and looks at the heap of all.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Machine } from '@bridle/vm'
import { measureHeap } from '../src/interpreter/heap.js'
import { link, options } from './support.js'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function heapUsed(): number {
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
  const before = heapUsed()
  const machine = new Machine(program, { ...options, limits: { heap: 2 ** 31 } })
  let exit = machine.start(null, 0)
  while (exit.kind === 'yielded') exit = machine.resume(null, 0)
  expect(exit.kind).toBe('suspended')
  const ratio = measureHeap(machine) / (heapUsed() - before)
  expect(ratio).toBeGreaterThan(0.5)
  expect(ratio).toBeLessThan(2)
})

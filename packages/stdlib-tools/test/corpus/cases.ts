// Runs that every version writes down where they wait, and that each later one must continue with. A case that is here stays as it is; new ones are
// added at the end.

import { VirtualClock } from '../../src/library/time/host-clock.js'
import { createRuntime } from '../../src/host/runtime.js'
import type { Runtime } from '../../src/host/runtime.js'
import { defineTool, pending } from '../../src/tools/host-tools/define.js'

export interface CorpusCase {
  readonly name: string
  readonly source: string
}

export const ANSWER = { by: 'Ada', amount: 3 }

export const CASES: readonly CorpusCase[] = [
  {
    name: 'plain',
    source: `import { ask } from "host/desk"
let before = {a: [1, 2.5, "x"], b: nil}
let answer = ask({q: 1})
sleep(2h)
return [before, answer.by, answer.amount * 2]`,
  },
  {
    name: 'closures',
    source: `import { ask } from "host/desk"
fn counter() { var n = 0
  return { step -> n = n + step
    return n } }
let count = counter()
count(2)
let answer = ask({})
count(answer.amount)
return count(10)`,
  },
  {
    name: 'parallel',
    source: `import { ask } from "host/desk"
let shared = {total: 10}
let all = parallel each [1, 2, 3] { n ->
  if n == 2 {
    ask({n: n}).amount
  } else {
    sleep(n * 1000)
    shared.total + n
  }
}
return all`,
  },
  {
    name: 'handlers',
    source: `import { ask } from "host/desk"
var log = []
fn work() {
  defer { log = log.push("deferred") }
  try {
    let answer = ask({})
    throw {code: "late", amount: answer.amount}
  } catch (e) {
    log = log.push(e.code)
    return e.amount
  } finally {
    log = log.push("finally")
  }
}
let got = work()
return [got, log]`,
  },
  {
    name: 'types',
    source: `import { ask } from "host/desk"
enum Shape { Circle(r), Square(side) }
struct Point { x: int, y: int }
let shapes = [Shape.Circle(2), Shape.Square(3)]
let point = Point { x: 1, y: 2 }
let answer = ask({})
let areas = shapes.map({ shape -> match shape { Shape.Circle(r) -> { r * answer.amount } Shape.Square(side) -> { side * side } } })
return [areas, point.x + point.y]`,
  },
  {
    name: 'durable',
    source: `import { ask } from "host/desk"
import { first_of, saga, step } from "std/durable"
let first = step("first", 4, { n -> n * 2 })
let done = saga({ on_undo ->
  on_undo({ -> nil })
  let answer = ask({})
  return step("second", answer.amount, { n -> n + first })
})
let late = first_of({late: {after: 1h}, later: {after: 2h}})
return [done, late.name]`,
  },
]

export function openCorpusRuntime(): Runtime {
  const ask = defineTool({ name: 'desk.ask', recovery: 'idempotent', execute: () => pending('answer') })
  return createRuntime({ tools: [ask], clock: new VirtualClock(1_700_000_000_000) })
}

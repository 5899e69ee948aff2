// Containers are changed in place only if the change is unobservable: random programs of updates through
// paths, aliases and functions print what a model prints that always copies. And changes in place are cheap.

import { createHash } from 'node:crypto'
import { compileProgram } from '@bridle/compiler'
import { describe, expect, inject, test } from 'vitest'
import { CORE_FAMILIES } from '../builtins/families-core.js'
import { createRegistry } from '../builtins/registry.js'
import { collectSignatures } from '../builtins/signatures.js'
import { makeDice } from '../test-support/dice.js'
import type { Dice } from '../test-support/dice.js'
import { Machine } from '../vm.js'
import { linkProgram } from './module.js'
import type { TierOptions } from './machine.js'

const registry = createRegistry(CORE_FAMILIES)
const hashHex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

interface Ended {
  readonly output: string
  readonly fuel: number
}

/** Runs a program; with `slice`, in slices of this many units with a snapshot between them. */
function run(text: string, tier: TierOptions | null, slice = 0): Ended {
  const { program, diagnostics } = compileProgram(
    { key: 'main.harn', text },
    { signatures: collectSignatures(registry), resolve: () => ({ kind: 'error', message: 'no module' }) },
  )
  if (program === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  const linked = linkProgram(program, registry)
  const options = { hashHex, tier, ...(slice > 0 ? { limits: { sliceFuel: slice } } : {}) }
  let machine = new Machine(linked, options)
  let exit = machine.start(null, 0)
  let output = exit.output
  while (exit.kind === 'yielded') {
    if (slice > 0) machine = Machine.restore(machine.snapshot(), linked, options)
    exit = machine.resume(null, 0)
    output += exit.output
  }
  if (exit.kind !== 'done') throw new Error(exit.kind === 'failed' ? exit.fault.text : exit.kind)
  return { output: output.trimEnd(), fuel: machine.fuelUsed }
}

const HEAD = `
struct Box { n: int, xs: list, inner: dict }
impl Box {
  fn set(self, v) {
    var b = self
    b.n = v
    b.xs[0] = v
    b.inner.ys = b.inner.ys.push(v)
    return b
  }
  fn bump(self, v) {
    var b = self
    b.n += v
    b.inner.m = v
    return b
  }
  fn chain(self, v) {
    var b = self
    b.n = v
    return b.bump(v).set(v)
  }
  fn fluent(self, v) { return self.bump(v).bump(1) }
  fn mix(self, other) {
    var b = self
    b.xs[0] = other.n
    b.inner.ys = other.inner.ys
    return b
  }
  fn blend(self, v) {
    var b = self
    b.n += 1
    return b.bump(v).mix(b)
  }
  fn grow(self, v) {
    var xs = self.xs.push(v)
    xs[0] = v
    return Box { n: self.n + xs.last(), xs: xs, inner: self.inner }
  }
  fn cut(self, v) {
    if v % 3 == 0 && len(self.xs) > 3 { return Box { n: v, xs: self.xs.pop(), inner: self.inner } }
    var ys = self.inner
    ys.m = v
    ys.ys = ys.ys.push(self.xs.first())
    return Box { n: self.n, xs: self.xs, inner: ys }
  }
  fn again(self, v) {
    var xs = self.xs
    xs[0] = v
    let old = if v % 2 == 0 { self.xs } else { xs.take(1) }
    return Box { n: old[0], xs: xs, inner: {m: v, ys: self.xs} }
  }
  fn find(self, v) { return self }
  fn zip(self, v) { return self.n }
  fn filter(self, v) {
    var b = self
    b.n = v
    return b
  }
  fn get(self) { return self }
  fn total(self) { return self.n + self.inner.m }
  fn parts(self) { return [self.xs, self.inner] }
  fn same(self) { return self }
  fn both(self) {
    var b = self
    b.inner.m = 7
    return [self, b]
  }
}
fn put(bs, i, v) {
  var own = bs
  own[i].n = v
  own[i].inner.m += v
  return own
}
fn twice(bs, v) {
  var own = put(bs, 0, v)
  own = put(own, 0, v)
  return own
}
fn peek(bs, b, i) {
  let x = bs[i]
  return [x, b, bs[i].xs, b.inner]
}
fn deep(bs, v) { return sum(bs) + helper(bs[0], v) }
fn sum(bs) {
  var s = 0
  var i = 0
  while i < len(bs) {
    s = s + bs[i].n
    i += 1
  }
  return s
}
fn helper(b, v) {
  var own = b
  own.n = v
  own.inner.ys = own.inner.ys.push(v)
  return own.n
}
fn rest(...all) { return all }
fn into(bs, b, v) {
  var own = bs
  own[0].n = v
  own[0].inner.m = v
  own[1] = b
  return own
}
fn keep(bs) { return [bs, bs] }
fn same(bs) { return bs }
fn late(bs, v) {
  if v % 2 == 0 { return bs }
  var own = bs
  own[0].xs = own[0].xs.push(v)
  let seen = { -> own }
  own[0].xs[0] = v
  return if v % 3 == 0 { seen() } else { own }
}
`

interface Box {
  n: number
  xs: number[]
  inner: { m: number; ys: number[] }
}

const copy = <T>(value: T): T => structuredClone(value)

// What the methods of these names do.
function grow({ n, xs, inner }: Box, v: number): Box {
  return copy({ n: n + v, xs: [v, ...xs.slice(1), v], inner })
}

function cut({ n, xs, inner: { m, ys } }: Box, v: number): Box {
  if (v % 3 === 0 && xs.length > 3) return copy({ n: v, xs: xs.slice(0, -1), inner: { m, ys } })
  return copy({ n, xs, inner: { m: v, ys: [...ys, xs[0]!] } })
}

function again({ xs }: Box, v: number): Box {
  return copy({ n: v % 2 === 0 ? xs[0]! : v, xs: [v, ...xs.slice(1)], inner: { m: v, ys: xs } })
}

/** A program, and its output. Variables: lists of boxes `p`, `q`; boxes `b`, `c`; lists of ints `x`. */
function makeProgram(dice: Dice): { readonly text: string; readonly expected: string } {
  const makeBox = (n: number): Box => ({ n, xs: [n, n + 1], inner: { m: n, ys: [] } })
  const write = ({ n, xs, inner: { m, ys } }: Box): string =>
    `Box { n: ${n}, xs: [${xs.join()}], inner: {m: ${m}, ys: [${ys.join()}]} }`
  const lists: Record<string, Box[]> = { p: [makeBox(1), makeBox(2)], q: [makeBox(3), makeBox(4)] }
  const boxes: Record<string, Box> = { b: makeBox(5), c: makeBox(6) }
  let x = [1, 2]
  const lines = [
    ...Object.entries(lists).map(([name, each]) => `var ${name} = [${each.map(write).join(', ')}]`),
    ...Object.entries(boxes).map(([name, each]) => `var ${name} = ${write(each)}`),
    'var x = [1, 2]',
  ]
  const shown: string[] = []
  const show = ({ n, xs, inner: { m, ys } }: Box): string => `${n}/${xs.join('')}/${m}/${ys.join('')}`
  const say = (name: string): string =>
    `"\${${name}.n}/\${${name}.xs.join("")}/\${${name}.inner.m}/\${${name}.inner.ys.join("")}"`
  const temporaries: { name: string; value: Box }[] = []
  for (let step = 0; step < 30; step++) {
    const one = dice(2) === 0 ? 'p' : 'q'
    const other = dice(2) === 0 ? 'p' : 'q'
    const box = dice(2) === 0 ? 'b' : 'c'
    const i = dice(2)
    const v = dice(9)
    const steps: (() => string)[] = [
      () => ((lists[one]![i]!.n = v), `${one}[${i}].n = ${v}`),
      () => ((lists[one]![i]!.inner.m += v), `${one}[${i}].inner.m += ${v}`),
      () => ((lists[one]![i]!.xs[0] = v), `${one}[${i}].xs[0] = ${v}`),
      () => (lists[one]![i]!.xs.push(v), `${one}[${i}].xs = ${one}[${i}].xs.push(${v})`),
      () => (lists[one]![i]!.inner.ys.push(v), `${one}[${i}].inner.ys = ${one}[${i}].inner.ys.push(${v})`),
      () => (lists[one]![i]!.inner.ys.pop(), `${one}[${i}].inner.ys = ${one}[${i}].inner.ys.pop()`),
      () => ((boxes[box]!.inner.m = v), `${box}.inner.m = ${v}`),
      () => ((boxes[box]!.xs[1] = v), `${box}.xs[1] = ${v}`),
      () => (boxes[box]!.xs.push(v), `${box}.xs = ${box}.xs.push(${v})`),
      () => ((boxes[box]!.xs = copy([...boxes[box]!.xs, v])), `${box}.xs = ${box}.xs + [${v}]`),
      () => ((boxes[box] = copy(lists[one]![i]!)), `${box} = ${one}[${i}]`),
      () => ((lists[one]![i] = copy(boxes[box]!)), `${one}[${i}] = ${box}`),
      () => ((lists[one]![i] = copy(lists[other]![1 - i]!)), `${one}[${i}] = ${other}[${1 - i}]`),
      () => ((lists[one]![i]!.inner = copy(boxes[box]!.inner)), `${one}[${i}].inner = ${box}.inner`),
      () => ((lists[one] = copy(lists[other]!)), `${one} = ${other}`),
      () => ((lists[one] = copy(lists[other]!)), `${one} = ${other}[0:2]`),
      () => ((lists[one] = copy(lists[other]!)), `${one} = [...${other}]`),
      () => ((lists[one] = copy(lists[other]!)), `${one} = ${other}.map({ e -> e })`),
      () => ((lists[one] = copy([lists[one]![0]!, lists[other]![1]!])), `${one} = ${one}[0:1] + ${other}[1:2]`),
      () => ((x = copy(lists[one]![i]!.xs)), `x = ${one}[${i}].xs`),
      () => ((x[0] = v), `x[0] = ${v}`),
      () => ((lists[one]![i]!.xs = copy(x)), `${one}[${i}].xs = x`),
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: copy(lists[one]![i]!) })
        return `let ${name} = ${one}[${i}]`
      },
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: { ...copy(boxes[box]!), inner: copy(lists[one]![i]!.inner) } })
        return `let ${name} = Box { n: ${box}.n, xs: ${box}.xs, inner: ${one}[${i}].inner }`
      },
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: copy(lists[one]![0]!) })
        const first = lists[one]![0]!
        first.n = v
        return `let ${name} = if true { let e = ${one}[0]\n ${one}[0].n = ${v}\n e } else { nil }`
      },
      () => {
        for (const each of lists[one]!) shown.push(show(each))
        lists[one]![1]!.n = v
        return `for e in ${one} {\n ${one}[1].n = ${v}\n println(${say('e')}) }`
      },
      () => {
        const changed = lists[one]!
        changed[i]!.n = v
        changed[i]!.inner.m += v
        return `${one} = put(${one}, ${i}, ${v})`
      },
      () => {
        const changed = copy(lists[other]!)
        changed[i]!.n = v
        changed[i]!.inner.m += v
        lists[one] = changed
        return `${one} = put(${other}, ${i}, ${v})`
      },
      () => {
        const changed = copy(lists[other]!)
        changed[0]!.n = v
        changed[0]!.inner.m += 2 * v
        lists[one] = changed
        return `${one} = twice(${other}, ${v})`
      },
      () => ((lists[one] = copy(lists[other]!)), `${one} = keep(${other})[0]`),
      () => ((lists[one] = copy(lists[other]!)), `${one} = same(${other})`),
      () => {
        const before = copy(lists[other]!)
        const after = copy(before)
        if (v % 2 === 1) {
          after[0]!.xs.push(v)
          if (v % 3 !== 0) after[0]!.xs[0] = v
        }
        lists[one] = after
        return `${one} = late(${other}, ${v})`
      },
      () => {
        const before = boxes[box]!
        boxes[box] = { n: v, xs: [v, ...before.xs.slice(1)], inner: { m: before.inner.m, ys: [...before.inner.ys, v] } }
        return `${box} = ${box}.set(${v})`
      },
      () => {
        const before = copy(boxes[box]!)
        lists[one]![i] = { n: v, xs: [v, ...before.xs.slice(1)], inner: { m: before.inner.m, ys: [...before.inner.ys, v] } }
        return `${one}[${i}] = ${box}.set(${v})`
      },
      () => {
        const before = lists[one]![i]!
        boxes[box] = copy({ n: v, xs: [v, ...before.xs.slice(1)], inner: { m: before.inner.m, ys: [...before.inner.ys, v] } })
        return `${box} = ${one}[${i}].set(${v})`
      },
      () => {
        const before = boxes[box]!
        boxes[box] = { n: v, xs: [v, ...before.xs.slice(1)], inner: { m: v, ys: [...before.inner.ys, v] } }
        return `${box} = ${box}.chain(${v})`
      },
      () => {
        const before = copy(boxes[box]!)
        lists[one]![i] = { n: v, xs: [v, ...before.xs.slice(1)], inner: { m: v, ys: [...before.inner.ys, v] } }
        return `${one}[${i}] = ${box}.chain(${v})`
      },
      () => {
        // As a builtin method of lists is called.
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: copy(boxes[box]!) })
        boxes[box]!.n = v
        boxes[box]!.inner.m = v
        return `let ${name} = ${box}.find(${v})\n ${box}.n = ${v}\n ${box}.inner.m = ${v}`
      },
      () => ((boxes[box]!.n = v), `${box} = ${box}.filter(${v})`),
      () => ((lists[one]![i] = { ...copy(boxes[box]!), n: v }), `${one}[${i}] = ${box}.filter(${v})`),
      () => ((lists[one] = copy(lists[other]!)), `${one} = ${other}.filter({ e -> true })`),
      () => ((lists[one]![i] = copy(lists[other]!.at(-1)!)), `${one}[${i}] = ${other}.last()`),
      () => (
        (lists[one] = copy([...lists[other]!.slice(0, 1), ...lists[one]!.slice(1)])),
        `${one} = ${other}.take(1) + ${one}.skip(1)`
      ),
      () => ((lists[one] = copy([boxes[box]!, ...lists[other]!.slice(1)])), `${one} = [${box}] + ${other}.slice(1)`),
      () => ((boxes[box] = grow(boxes[box]!, v)), `${box} = ${box}.grow(${v})`),
      () => ((boxes[box] = cut(grow(boxes[box]!, v), v)), `${box} = ${box}.grow(${v}).cut(${v})`),
      () => ((boxes[box] = cut(boxes[box]!, v)), `${box} = ${box}.cut(${v})`),
      () => ((boxes[box] = again(boxes[box]!, v)), `${box} = ${box}.again(${v})`),
      () => ((lists[one]![i] = grow(lists[other]![i]!, v)), `${one}[${i}] = ${other}[${i}].grow(${v})`),
      () => ((lists[one]![i] = cut(lists[one]![i]!, v)), `${one}[${i}] = ${one}[${i}].cut(${v})`),
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: grow(boxes[box]!, v) })
        return `let ${name} = ${box}.grow(${v})`
      },
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: copy(boxes[box]!) })
        boxes[box] = cut(boxes[box]!, v)
        return `let ${name} = ${box}\n ${box} = ${box}.cut(${v})`
      },
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: copy(boxes[box]!) })
        boxes[box] = again(grow(boxes[box]!, v), v)
        return `let held${name} = [${box}]\n ${box} = ${box}.grow(${v}).again(${v})\n let ${name} = held${name}.last()`
      },
      () => {
        const before = copy(lists[one]![i]!)
        boxes[box] = { n: before.n + v + 1, xs: before.xs, inner: { m: 1, ys: before.inner.ys } }
        return `${box} = ${one}[${i}].fluent(${v})`
      },
      () => {
        const before = boxes[box]!
        boxes[box] = { n: before.n + v, xs: [before.n, ...before.xs.slice(1)], inner: { m: v, ys: before.inner.ys } }
        return `${box} = ${box}.bump(${v}).mix(${box})`
      },
      () => {
        const before = copy(lists[one]![i]!)
        lists[one]![i] = { n: before.n + 1 + v, xs: [before.n + 1, ...before.xs.slice(1)], inner: { m: v, ys: before.inner.ys } }
        return `${one}[${i}] = ${one}[${i}].blend(${v})`
      },
      () => {
        const before = boxes[box]!
        const name = `t${temporaries.length}`
        boxes[box] = { n: before.n + v, xs: before.xs, inner: { m: 7, ys: before.inner.ys } }
        temporaries.push({ name, value: copy({ ...boxes[box], inner: { m: v, ys: before.inner.ys } }) })
        return `let pair${name} = ${box}.bump(${v}).both()\n let ${name} = pair${name}[0]\n ${box} = pair${name}[1]`
      },
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: copy(boxes[box]!) })
        return `let ${name} = ${box}.get()`
      },
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: copy(boxes[box]!) })
        boxes[box]!.inner.m = 7
        return `let pair${name} = ${box}.both()\n let ${name} = pair${name}[0]\n ${box} = pair${name}[1]`
      },
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: copy(boxes[box]!) })
        return `let kept${name} = { -> ${box} }\n ${box}.n = ${v}\n let ${name} = kept${name}()`.replace(/^/, () => {
          boxes[box]!.n = v
          return ''
        })
      },
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: copy(lists[one]![i]!) })
        lists[one]![i]!.n = v
        return `let dict${name} = {k: ${one}[${i}]}\n let ${name} = dict${name}.get("k")\n ${one}[${i}].n = ${v}`
      },
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: { ...copy(lists[one]![i]!), inner: copy(boxes[box]!.inner) } })
        lists[one]![i]!.n = v
        lists[one]![i]!.xs[0] = v
        boxes[box]!.inner.m = v
        return (
          `let l${name} = peek(${one}, ${box}, ${i})\n ${one}[${i}].n = ${v}\n ${one}[${i}].xs[0] = ${v}\n ${box}.inner.m = ${v}\n` +
          `let ${name} = Box { n: l${name}[0].n, xs: l${name}[2], inner: l${name}[3] }`
        )
      },
      () => (shown.push(String(lists[one]![0]!.n + lists[one]![1]!.n + v)), `println(deep(${one}, ${v}))`),
      () => (shown.push(String(boxes[box]!.n + boxes[box]!.inner.m)), `println(${box}.total())`),
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: { n: v, xs: copy(boxes[box]!.xs), inner: copy(boxes[box]!.inner) } })
        boxes[box]!.xs[0] = v
        boxes[box]!.inner.m = v
        return (
          `let l${name} = ${box}.parts()\n ${box}.xs[0] = ${v}\n ${box}.inner.m = ${v}\n` +
          `let ${name} = Box { n: ${v}, xs: l${name}[0], inner: l${name}[1] }`
        )
      },
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: copy(lists[one]![i]!) })
        lists[one]![i]!.n = v
        return `let ${name} = ${one}[${i}].same()\n ${one}[${i}].n = ${v}`
      },
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: copy(boxes[box]!) })
        boxes[box]!.n = v
        return `let l${name} = rest(1, ${box}, ${one})\n ${box}.n = ${v}\n let ${name} = l${name}[1]`
      },
      () => {
        const old = copy(lists[one]![0]!)
        lists[one]![0]!.n = v
        lists[one]![0]!.inner.m = v
        lists[one]![1] = old
        return `${one} = into(${one}, ${one}[0], ${v})`
      },
      () => {
        const before = copy(lists[one]!)
        lists[other] = before
        before[0]!.n = v
        before[0]!.inner.m = v
        before[1] = copy(boxes[box]!)
        return `${other} = into(${one}, ${box}, ${v})`
      },
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: copy(boxes[box]!) })
        boxes[box]!.n = v
        boxes[box]!.inner.m = v
        return `let ${name} = match ${box} { 1 -> { nil } kept -> { kept } }\n ${box}.n = ${v}\n ${box}.inner.m = ${v}`
      },
      () => {
        const name = `t${temporaries.length}`
        temporaries.push({ name, value: { ...copy(boxes[box]!), n: v } })
        boxes[box]!.n = v
        boxes[box]!.inner.m = v
        boxes[box]!.xs[0] = v
        return (
          `let l${name} = match {box: ${box}.inner, xs: ${box}.xs} { {box: kept, xs: others} -> { [kept, others] } }\n ${box}.n = ${v}\n` +
          ` ${box}.inner.m = ${v}\n ${box}.xs[0] = ${v}\n let ${name} = Box { n: ${v}, xs: l${name}[1], inner: l${name}[0] }`
        )
      },
      () => {
        // A function that changes its argument and fails must have no effect.
        return `try { ${one} = put(${one}, 5, 1) } catch (e) { ${one}[0].n = ${(lists[one]![0]!.n = v)} }`
      },
    ]
    lines.push(steps[dice(steps.length)]!())
  }
  for (const { name, value } of temporaries) {
    lines.push(`println(${say(name)})`)
    shown.push(show(value))
  }
  for (const [name, each] of Object.entries(lists)) {
    for (const at of [0, 1]) {
      lines.push(`println(${say(`${name}[${at}]`)})`)
      shown.push(show(each[at]!))
    }
  }
  for (const [name, each] of Object.entries(boxes)) {
    lines.push(`println(${say(name)})`)
    shown.push(show(each))
  }
  lines.push('println(x.join(""))')
  shown.push(x.join(''))
  // Twice, so that the second run has all code of the compiled tier.
  const text = `${HEAD}fn go() {\n${lines.join('\n')}\n}\npipeline main() {\nfor turn in 0 to 3 { go() }\n}\n`
  return { text, expected: Array.from({ length: 4 }, () => shown.join('\n')).join('\n') }
}

describe('containers in containers', () => {
  test('are changed as if every change made a copy', { timeout: 120_000 }, () => {
    for (let seed = 1; seed <= (inject('isDense') ? 40 : 5); seed++) {
      const { text, expected } = makeProgram(makeDice(seed))
      const base = run(text, null)
      expect(base.output, text).toBe(expected)
      const compiled = run(text, { calls: 0, turns: 0 })
      expect(compiled, text).toStrictEqual(base)
      if (seed % 5 === 0) expect(run(text, { calls: 1, turns: 1 }, 7).output, text).toBe(expected)
    }
  })

  test.each([
    ['grid[k % 4][k % n] = k', 'var grid = []\nfor y in 0 to 4 exclusive { grid = grid.push((0 to n).to_list()) }'],
    ['boxes[k % n].n = k', 'var boxes = []\nfor y in 0 to n exclusive { boxes = boxes.push(Box { n: 1, xs: [], inner: {} }) }'],
    ['box.xs = box.xs.push(k)\nbox.xs[k] = 1', 'var box = Box { n: 1, xs: [], inner: {} }'],
    ['box.inner.ys = box.inner.ys.push(k)\nbox.inner.ys[0] = 1', 'var box = Box { n: 1, xs: [], inner: {m: 1, ys: []} }'],
    ['d["k"] = d["k"].push(k)\nd["k"][0] += 1', 'var d = {k: []}'],
    ['box = box.bump(k).set(k)', 'var box = Box { n: 1, xs: (0 to n).to_list(), inner: {m: 1, ys: []} }'],
    ['box = box.chain(k)', 'var box = Box { n: 1, xs: (0 to n).to_list(), inner: {m: 1, ys: []} }'],
    ['box.xs[k % n] = box.zip(k)', 'var box = Box { n: 1, xs: (0 to n).to_list(), inner: {m: 1, ys: []} }'],
    ['box = box.grow(k)', 'var box = Box { n: 1, xs: (0 to n).to_list(), inner: {m: 1, ys: []} }'],
    ['box = box.grow(k).cut(3)', 'var box = Box { n: 1, xs: (0 to n).to_list(), inner: {m: 1, ys: (0 to n).to_list()} }'],
    ['box = box.cut(1)', 'var box = Box { n: 1, xs: (0 to n).to_list(), inner: {m: 1, ys: (0 to n).to_list()} }'],
    ['xs[k % n] = xs.last() + len(xs.take(2))', 'var xs = (0 to n).to_list()'],
    ['let s = match xs { 1 -> { 0 } nil -> { 1 } _ -> { 2 } }\nxs[k % n] = s', 'var xs = (0 to n).to_list()'],
  ])('%s copies nothing', (update, made) => {
    const fuelFor = (n: number): number =>
      run(`${HEAD}pipeline main() {\nlet n = ${n}\n${made}\nfor k in 0 to 40 * n exclusive {\n${update}\n} }`, null).fuel
    // Four times the iterations and the elements: twice the bound would mean a copy in each iteration.
    expect(fuelFor(200) / fuelFor(50)).toBeLessThan(6)
  })
})

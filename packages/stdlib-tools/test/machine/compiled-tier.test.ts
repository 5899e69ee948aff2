// The compiled tier beside the base tier: same results, traces, fuel and heap units, wherever the run is stopped. What random programs
// find is in fuzz (target `tiers`); here is what a reader should know, a case each.

import { describe, expect, test } from 'vitest'
import { linkProgram, restrictRegistry } from '@bridle/vm'
import { compile, link, registry, run } from './support.js'
import type { Ran } from './support.js'
import type { Limits, TierOptions } from '@bridle/vm'

const AT_ONCE: TierOptions = { calls: 0, turns: 0 }

/** Calls of a function for every element: one that is part of the loop's text, one that is called, and ones that fail or wait. */
const LOOPS = [
  'map({ x -> x * 2 })',
  'map({ x -> x == 2 })',
  'map({ x -> try { x - 1 } catch (e) { 0.5 } })',
  'filter({ x -> x != 3 })',
  'reduce("", { acc, x -> acc + "${x}" })',
  'filter({ x -> type_of(x) == "int" }).reduce(0, { acc, x -> acc + x })',
  'find({ x -> x == 10 })',
  'find_index({ x -> x == 0 })',
  'all({ x -> x != 6 })',
  'flat_map({ x -> [x, x] })',
  'sort_by({ x -> "${x}" })',
  'group_by({ x -> x == 3 })',
  'partition({ x -> x == 3 })',
  'max_by({ x -> x == 7 })',
  'map({ x -> if x == 9 { sleep(1ms) }\n x })',
  'map({ x -> if x == 10 { throw "ten" }\n x })',
]

function pickFacts({ exit, output, machine }: Ran): unknown {
  const fault = exit?.kind === 'failed' ? [exit.fault.text, exit.fault.trace] : null
  return { kind: exit?.kind, fault, output, fuel: machine.fuelUsed, heap: machine.heapCharged }
}

/** Runs in both tiers, and answers the compiled run. */
function runInBoth(text: string, limits: Partial<Limits> = {}): Ran {
  const base = run(link(text), limits, { tier: null })
  const compiled = run(link(text), limits, { tier: AT_ONCE })
  expect(pickFacts(compiled)).toEqual(pickFacts(base))
  expect(base.machine.tier).toBeNull()
  expect(compiled.machine.tier!.entered).toBeGreaterThan(0)
  return compiled
}

describe('what both tiers do', () => {
  test.each([
    ['ints past 32, 53 and 64 bits', 'fn f(n) { var x = n\n for i in 0 to 40 { x = x * 3 + i }\n return x }\nprintln(f(7))', '-'],
    [
      'floats, NaN and minus zero',
      'fn f(x) { var s = 0.0\n for i in 0 to 5 { s = s * x - 0.0 / x }\n return s }\nprintln("${f(0.0)} ${f(-1.5)}")',
      'NaN',
    ],
    ['recursion', 'fn fib(n) { if n < 2 { return n }\n return fib(n - 1) + fib(n - 2) }\nprintln(fib(15))', '610'],
    [
      'mutual tail calls',
      'fn even(n) { if n == 0 { return true }\n return odd(n - 1) }\nfn odd(n) { if n == 0 { return false }\n return even(n - 1) }\nprintln(even(5000))',
      'true',
    ],
    [
      'a fault through frames to a handler',
      'fn g(n) { if n > 2 { throw "over ${n}" }\n return n }\nfn f(n) { return g(n) + 1 }\nvar s = ""\nfor i in 0 to 4 { try { s = s + f(i) + ";" } catch (e) { s = s + e + ";" } }\nprintln(s)',
      'Cannot add',
    ],
    [
      'a method of structs called on nil',
      'fn nothing(x) { }\nstruct Q { y: any }\nimpl Q {\n  fn plus(self, d) { return self.y * 2 + d }\n}\nfn f(y) {\n  let none = nothing(true)\n  var sum = 0\n  for q in [Q {y: 63}, Q {y: y}, none.plus(sum)] { sum + q.plus(2 - 2) }\n}\nfor each in ["a", "b"] { println(try { f(0.5) } catch (e) { "${each} ${e}" }) }\n',
      'Cannot add int and nil',
    ],
    [
      'callbacks',
      'fn f(xs) { return xs.map({ x -> x * 2 }).filter({ x -> x > 2 }).reduce(0, { a, x -> a + x }) }\nprintln(f([1, 2, 3]))',
      '10',
    ],
    [
      'methods of structs',
      'struct P { x: int }\nimpl P { fn add(self, d) { return self.x + d } }\nfn f(p) { var s = 0\n for i in 0 to 3 { s = s + p.add(i) }\n return s }\nprintln(f(P { x: 2 }))',
      '14',
    ],
    [
      'functions that are taken in, floats and faults',
      'fn a(i, j) { return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1) }\nfn b(x) { if x == 7 { throw "seven" }\n return x * 2 }\n' +
        'fn f(n) { var s = 0.0\n for i in 0 to n { s = s + a(i, 3) * b(i) }\n return s }\nprintln("${f(6)} ${try { f(9) }}")',
      'seven',
    ],
    [
      'defaults and missing arguments',
      'fn f(a, b = 5, c = b) { return "${a} ${b} ${c}" }\nprintln(f(1) + f(1, 2) + f(1, 2, 3))',
      '1 5 5',
    ],
  ])('%s', (_, text, part) => {
    expect(runInBoth(text).output).toContain(part === '-' ? '\n' : part)
  })

  test('an uncaught fault has the same trace', () => {
    const { exit } = runInBoth('fn g(n) {\n  return n / 0\n}\nfn f(n) {\n  let r = g(n)\n  return r\n}\nf(1)')
    expect(exit?.kind === 'failed' && exit.fault.trace?.map((each) => `${each.function}:${each.line}`)).toEqual([
      'g:2',
      'f:5',
      'pipeline:8',
    ])
  })

  test('a fault in a function that was taken in has both places in its trace', () => {
    const { exit } = runInBoth(
      'fn g(n) {\n  return 6 / n\n}\nfn f(n) {\n  var s = 0\n  for i in 0 to n { s = s + g(3 - i) }\n  return s\n}\nf(5)',
    )
    expect(exit?.kind === 'failed' && exit.fault.trace?.map((each) => `${each.function}:${each.line}`)).toEqual([
      'g:2',
      'f:6',
      'pipeline:9',
    ])
  })

  test('too many nested calls are a fault at the same depth', () => {
    runInBoth('fn f(n) { println(n)\n let r = f(n + 1)\n return r }\nprintln(try { f(0) })')
  })

  test('a run can be stopped at every unit of fuel', () => {
    const text =
      'fn g(x) { sleep(1ms)\n return x * 0.5 }\nfn f(n) { var s = 0.0\n for i in 0 to n { for j in [1, 2] { s = s + g(i + j) } }\n return s }\nprintln([1, 2].map({ n -> f(n) }))'
    for (const sliceFuel of [1, 2, 5, 1000]) runInBoth(text, { sliceFuel })
  })

  test.each<[string, string]>([
    ['a generator', 'fn up(n) { var i = 0\n while i < n { yield i * 0.5\n i = i + 1 } }\nfor x in up(50) { println(x) }'],
    [
      'generators that pull generators, deeper than compiled code goes',
      'fn count(n) { for i in 0 to n { yield i } }\nfn sum(n) { var s = ""\n for x in count(n) { s = s + "${x}"\n yield s } }\n' +
        'fn nest(depth) { if depth == 0 { for x in sum(9) { yield x } } else { for x in nest(depth - 1) { yield "${x}+" } } }\n' +
        'for round in 0 to 3 { println(nest(8).to_list()) }',
    ],
    [
      'generators that stop, throw and are left',
      'fn g(n) { var i = 0\n while true { if i > n { throw "over ${n}" }\n if i % 3 == 2 { sleep(1ms) }\n yield try { 6 / (i - 1) }\n i = i + 1 } }\n' +
        'fn f(n) { var s = ""\n for x in g(n) { s = s + "${x} "\n if len(s) > 60 { break } }\n return s }\n' +
        'for n in [2, 9, 0, 4] { println(try { f(n) }) }',
    ],
    ...LOOPS.map((call): [string, string] => [
      `xs.${call}`,
      `let xs = [4, 2, 2.5, 9, "a", 1, 3] + LONG\nfor i in 0 to 3 { println(try { xs.${call} }) }`,
    ]),
  ])('%s, stopped at every unit of fuel', (_, given) => {
    const text = given.replace('LONG', `[${Array.from({ length: 40 }, (_each, at) => (at * 7) % 11).join()}]`)
    for (const sliceFuel of [1, 2, 7, 40, 41, 1000]) runInBoth(text, { sliceFuel })
  })

  test('a function may have thousands of parameters', () => {
    const names = Array.from({ length: 6000 }, (_, at) => `p${at}`)
    const text = `fn f(${names.join()}) { return p0 + p5999 }\nvar s = 0\nfor i in 0 to 3 { s = s + f(${[...names.keys()].join()}) }\nprintln(s)`
    expect(run(link(text), {}, { tier: AT_ONCE }).output).toBe('23996\n')
  })

  test('a loop in a function of hundreds of variables is compiled, and leaves those alone that it does not use', () => {
    const lets = Array.from({ length: 300 }, (_, at) => `let v${at} = ${at} * 2`).join('\n')
    const text = `${lets}\nvar s = 0\nfor i in 0 to 500 { s = s + i * v7\n if i == 400 { sleep(1ms) } }\nprintln("\${s} \${v0} \${v299}")`
    const { output, machine } = runInBoth(text)
    expect(output).toBe('1753500 0 598\n')
    expect(machine.fuelUsed).toBeGreaterThan(400)
  })

  test('limits strike at the same unit', () => {
    for (const fuel of [10, 57, 200]) runInBoth('fn f(n) { var i = 0\n while true { i = i + n }\n return i }\nf(1)', { fuel })
    runInBoth('fn f() { var xs = []\n while true { xs = xs + [[1, 2, 3]] } }\nf()', { heap: 1 << 16 })
  })
})

test('a list that grows after it was shared holds as much memory in both', () => {
  const text =
    'fn f() { var xs = [0.5]\n let ys = xs\n for j in 0 to 40 { xs = xs.push(0.5) }\n return len(xs) + len(ys) }\nprintln(f())'
  for (let heap = 3000; heap < 5000; heap += 101) expect(runInBoth(text, { heap, sliceFuel: 9 }).output).toBe('43\n')
})

test('a push onto a list behind whose end another has grown pays for the copy in both', () => {
  const text =
    'fn f() { var xs = []\n for j in 0 to 60 { var ys = xs\n xs = xs.push(j)\n ys = ys.push(0.5) }\n return len(xs) }\nprintln(f())'
  for (const sliceFuel of [9, 100, 20_000]) expect(runInBoth(text, { sliceFuel }).output).toBe('61\n')
})

describe('loops that call nothing', () => {
  test.each([
    ['caught', 'try { throw ys } catch (e) { x = e }'],
    ['of a callee, caught', 'try { x = raise(ys) } catch (e) { x = e }'],
    ['that leaves', 'if i > 5 { throw ys }'],
  ])('pay for showing what is thrown: %s', (_, body) => {
    const text =
      'fn raise(v) { throw v }\n' +
      `fn f(ys) {\n  var x = nil\n  var i = 0\n  while i < 10 {\n    ${body}\n    i = i + 1\n  }\n  return x\n}\n` +
      'for k in 0 to 6 { println(try { f([1, 2, 3]) } catch (e) { e }) }'
    expect(runInBoth(text).output).toBe('[1, 2, 3]\n'.repeat(7))
  })
})

describe('text of a script', () => {
  test('is data, whatever is in it', () => {
    const nasty = '`${1}` */ \\" \' </script> \\u{2028} \\u{2029} ${"}"} //'
    const text = `fn f(d) { var s = ""\n for i in 0 to 2 { s = s + d.constructor + d["__proto__"] + "${nasty}" }\n return s }\nprintln(f({constructor: "c", __proto__: "p"}))`
    expect(runInBoth(text).output).toContain('cp')
  })
})

test('a builtin that is denied is denied to compiled code, which has short ways for some', () => {
  const text =
    'var s = 0.0\nvar caught = 0\nfor i in 0 to 99 { try { s = s + sqrt(i * 1.5) } catch (e) { caught = caught + 1 }\n' +
    'try { s = s + len("abc") } catch (e) { caught = caught + 1 } }\nprintln("${s} ${caught}")'
  const program = linkProgram(compile(text), restrictRegistry(registry, { deny: ['sqrt', 'len'] }))
  expect(run(program, {}, { tier: AT_ONCE }).output).toBe('0.0 200\n')
})

describe('guesses', () => {
  test('a function that is given everything settles after a few wrong ones', () => {
    const text =
      'fn add(a, b) { return a + b }\nvar out = []\nfor round in 0 to 200 { for p in [[1, 2], [1.5, 2], ["a", "b"], [[1], [2]]] { out = [add(p[0], p[1])] } }\nprintln(out)'
    const { machine } = runInBoth(text)
    const add = machine.program.main.functions.find((fn) => fn.chunk.name === 'add')!
    expect(add.compiled.misses).toBeLessThan(20)
    // By itself, or as part of the loop that calls it.
    expect(add.enter !== null || add.compiled.hosts.size > 0).toBe(true)
  })

  test.each([
    ['reads', 'o.n'],
    ['reads of what may be nil', '(o?.n ?? 0)'],
    ['patterns', '(match o { {n: 7} -> { 7 } {n: x} -> { x } _ -> { 0 } })'],
    ['assignments', 'set(o, 1)'],
    ['assignments two levels down', 'deep({a: o, b: 1}, 2)'],
    ['fields that are not always floats', '(o.n * 2 - o.n)'],
    ['pushes', 'push(o)'],
    ['methods', '[o.count(), o.keys(), o.contains("n")]'],
  ])('%s that met one shape meet others, and what has none', (_name, expression) => {
    const text = `struct P { n: any }
fn set(o, v) { var own = o
 own.n = v
 own.n += v
 return own.n }
fn deep(o, v) { var own = o
 own.a.n = v
 own.a.n += own.b
 return "\${own}" }
impl P { fn push(self, v) { return [self.n, v] }\n fn keys(self) { return 5 } }
fn push(o) { var own = o
 own = own.push(1)
 return "\${own}" }
fn f(o) { return try { "\${${expression}}" } catch (e) { "\${e}" } }
let others = [{n: 1}, {m: 3, n: 4}, P {n: 2}, {n: 1.5}, {m: 1}, nil, 5, "text", [1], {n: {n: 1}}, {k: 0, l: 0, n: 9}]
pipeline main() {
  var out = []
  for turn in 0 to 6 { for k in 0 to 8 { out = out.push(f({n: k * 0.5})) } }
  for turn in 0 to 12 { for o in others { out = out.push(f(o)) } }
  println(out.join(","))
}`
    const base = run(link(text), {}, { tier: null })
    const compiled = run(link(text), {}, { tier: { calls: 5, turns: 5 } })
    expect(pickFacts(compiled)).toEqual(pickFacts(base))
    expect(compiled.machine.tier!.entered).toBeGreaterThan(0)
  })

  test('a function that was taken in is asked for by what it is', () => {
    const text =
      'fn through(h) { return { x -> [h(x)] } }\nvar out = []\nfor round in 0 to 100 { for h in [{ x -> x + 1 }, { x -> "<${x}>" }] { out = [1, 2].map(through(h)) } }\nprintln(out)'
    expect(runInBoth(text).output).toContain('<2>')
  })

  test('what a list method made is counted where the base tier counts it', () => {
    const text =
      'let xs = (0 to 200).to_list()\nfor i in 0 to 20 { println(len(xs.map({ x -> x * i })))\n println(len(xs.filter({ x -> x % 3 < i }))) }'
    for (const heap of [4000, 6000, 9000, 20_000, 1 << 20])
      for (const sliceHeap of [200, 1000, 1 << 21]) runInBoth(text, { heap, sliceHeap })
  })

  test('a slice that ends in a list method goes on in its loop', () => {
    const text = 'let xs = (0 to 4999).to_list()\nprintln(xs.map({ x -> x * 2 }).reduce(0, { a, x -> a + x }))'
    const program = link(text)
    run(program, {}, { tier: AT_ONCE })
    const { machine, output } = run(program, { sliceFuel: 1000 }, { tier: AT_ONCE })
    expect(output).toBe('24995000\n')
    // Once a slice: what it does not do is done by calls, each of which would enter.
    expect(machine.tier!.entered).toBeLessThan(80)
    expect(machine.tier!.entered).toBeGreaterThan(15)
  })

  test('code that stops all the time stays in the base tier', () => {
    const { machine } = runInBoth('for i in 0 to 1000 { sleep(1ms) }\nprintln("slept")')
    expect(machine.tier!.entered).toBeLessThan(100)
  })

  test('code that is left at the end of each slice, and once more with nothing done, stays compiled', () => {
    const program = link('var s = 0\nfor i in 0 to 2000 { s = s + i }\nprintln(s)')
    const { fuelUsed } = run(program, {}, { tier: null }).machine
    // The last slice begins with the last turn.
    const sliceFuel = Math.floor((fuelUsed - 2) / 10)
    const entered = Array.from({ length: 100 }, () => run(program, { sliceFuel }, { tier: AT_ONCE }).machine.tier!.entered)
    expect(entered.at(-1)).toBeGreaterThan(5)
  })

  test('a loop that shares a list and assigns to it in each turn is left for a while, and then copies it itself', () => {
    const text =
      'var xs = [1.5, 2.5, 3.5]\nvar s = 0.0\nfor i in 0 to 900 { let before = xs\n xs[i % 3] = s\n s = before[i % 3] + xs[0] * 0.5 }\nprintln("${s} ${xs}")'
    const { machine } = runInBoth(text)
    expect(machine.tier!.entered).toBeGreaterThan(64)
    expect(machine.tier!.entered).toBeLessThan(100)
  })
  test('a loop that makes its list its own once in each run, and works long on it, stays left to that', () => {
    const program = link(
      'pipeline main() { var xs = [1.5, 2.5]\nvar ys = [0.5, 1.5]\nfor i in 0 to 200 { for j in 0 to 2 exclusive { xs[j] = xs[j] + ys[j] }\n' +
        'for j in 0 to 2 exclusive { ys[j] = ys[j] * 0.5 } }\nprintln(xs[0]) }',
    )
    for (let round = 0; round < 200; round++) run(program, {}, { tier: AT_ONCE })
    const functions = [...program.modules.values()].flatMap((module) => module.functions)
    expect(functions.map(({ compiled }) => compiled.leavesToOwn)).toContain('yes')
    expect(functions.map(({ compiled }) => compiled.leavesToOwn)).not.toContain('no')
  })
})

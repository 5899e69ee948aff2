// What a run may use up, and that it cannot get round it: fuel, frames, heap, output, tasks, and the JavaScript stack.

import { describe, expect, test } from 'vitest'
import { Machine } from '@bridle/vm'
import { link, options, runText } from './support.js'

const runToLimit = (text: string, limits: Parameters<typeof runText>[1]): string => {
  const { exit } = runText(text, limits)
  return exit?.kind === 'limit' ? exit.limit : `${exit?.kind}`
}

describe('fuel', () => {
  test.each([
    ['an endless loop', 'while true { }'],
    ['endless tail calls', 'fn f() { return f() }\nf()'],
    ['an endless loop that catches everything', 'while true { try { throw 1 } catch (e) { } }'],
    ['an endless loop in a deferred block', 'fn f() { defer { while true { } } }\nf()'],
    ['an endless loop in a callback', '[1].map({ x -> while true { } })'],
    ['an endless generator', 'fn g() { while true { yield 1 } }\nfor x in g() { }'],
    ['generators that make generators', 'fn g(n) { for x in g(n + 1) { yield x } }\nfor x in g(0) { }'],
    ['an endless iterator', '(1 to 9000000000000000).map({ x -> x }).count()'],
    ['a huge range drained by a builtin', '(1 to 9000000000000000).to_list()'],
    [
      'doubling calls of a dict entry',
      'let d = {m: { d, n ->\nif n == 0 { return 0 }\nd.m(d, n - 1)\nd.m(d, n - 1)\nreturn 1 }}\nd.m(d, 40)',
    ],
    [
      'doubling calls of a field',
      'struct S { f: closure }\nlet s = S {f: { s, n ->\nif n == 0 { return 0 }\ns.f(s, n - 1)\ns.f(s, n - 1)\nreturn 1 }}\ns.f(s, 40)',
    ],
    ['doubling pipes', 'fn g(n) { if n == 0 { return 0 }\n(n - 1) |> g\n(n - 1) |> g\nreturn 1 }\ng(40)'],
    [
      'doubling calls by a name that is found in the caller',
      'let f = { x, n -> if n == 0 { return 0 }\nlet g = x\ng(x, n - 1)\ng(x, n - 1)\nreturn 1 }\nf(f, 40)',
    ],
    ['tasks that start tasks', 'fn f() { spawn { f() } }\nf()\nsleep(1)\nwhile true { }'],
  ])('%s ends', (_, text) => {
    expect(runToLimit(text, { fuel: 100_000, heap: 1 << 24 })).toMatch(/fuel|heap|tasks/)
  })

  test('the count does not depend on the slices', () => {
    const text = 'var n = 0\nfor i in 1 to 1000 { n += [i].map({ x -> x * 2 })[0] }\nprintln(n)'
    const whole = runText(text)
    for (const sliceFuel of [1, 7, 100]) {
      const sliced = runText(text, { sliceFuel })
      expect(sliced.output).toBe(whole.output)
      expect(sliced.machine.fuelUsed).toBe(whole.machine.fuelUsed)
    }
  })
})

describe('depth', () => {
  test('recursion that is no tail call is a fault the script can catch', () => {
    const { output } = runText('fn f(n) { let r = f(n + 1)\n return r }\nprintln(try { f(0) })')
    expect(output).toBe('Result.Err(Stack overflow: too many nested calls)\n')
  })

  test('100,000 tail calls take no frames', () => {
    expect(runText('fn f(n) { if n == 0 { return "done" }\n return f(n - 1) }\nprintln(f(100000))', { frames: 100 }).output).toBe(
      'done\n',
    )
  })

  test('recursion through a callback ends in the limit on frames, not in the JavaScript stack', () => {
    expect(runToLimit('fn f(n) { return [n].map({ x -> f(x + 1) }) }\nf(0)', { frames: 20_000 })).toBe('frames')
  })

  test('recursion through methods and sorting does, too', () => {
    expect(
      runToLimit('struct P { n: int }\nimpl P { fn m(self) { let r = self.m()\n return r } }\nP({n: 1}).m()', { frames: 5_000 }),
    ).toBe('frames')
    expect(runToLimit('fn f(n) { return [2, 1].sort_by({ x -> f(x) }) }\nf(0)', { frames: 5_000 })).toBe('frames')
  })
})

describe('heap, output and tasks', () => {
  test.each([
    ['a list that grows', 'var xs = []\nwhile true { xs = xs + [1, 2, 3] }'],
    ['a string that doubles', 'var s = "x"\nwhile true { s = s + s }'],
    ['a dict that grows', 'var d = {}\nvar i = 0\nwhile true { d["k${i}"] = i\n i += 1 }'],
    ['nesting', 'var x = nil\nwhile true { x = [x] }'],
    ['repetition', 'var xs = []\nwhile true { xs = xs + ["abc" * 100000] }'],
  ])('%s', (_, text) => {
    const { exit } = runText(text, { heap: 1 << 22, fuel: 50_000_000 })
    // A string that is too long for any machine is its own fault.
    expect(exit?.kind === 'limit' ? exit.limit : exit?.kind === 'failed' ? exit.fault.text : exit).toMatch(
      /heap|work|string is too long/,
    )
  })

  test('garbage does not count', () => {
    expect(runText('var i = 0\nwhile i < 20000 { let xs = [i, i, i, i]\n i += 1 }\nprintln(i)', { heap: 1 << 18 }).output).toBe(
      '20000\n',
    )
  })

  test('output', () => {
    expect(runToLimit('while true { println("0123456789") }', { output: 1000, fuel: 1_000_000 })).toBe('output')
  })

  test('tasks', () => {
    expect(runToLimit('for i in 1 to 1000 { spawn { sleep(1000) } }\nsleep(1)', { tasks: 100 })).toBe('tasks')
  })
})

test('10,000 waiting machines can be alive at once, and go on', () => {
  const program = link('let t = spawn { sleep(1)\n 20 + 1 }\nlet x = await(t) * 2\nprintln(x)')
  const machines = Array.from({ length: 10_000 }, () => {
    const machine = new Machine(program, options)
    expect(machine.start(null, 0).kind).toBe('suspended')
    return machine
  })
  for (const machine of machines) {
    const exit = machine.resume(null, 1)
    expect(exit.kind).toBe('done')
    expect(exit.output).toBe('42\n')
  }
})

// Forty lists, each of which holds the one before twice: a few hundred bytes, and 2^40 values when traversed.
const DOUBLED = 'var x: any = [1]\nfor i in 1 to 40 { x = [x, x] }\n'
const DOUBLED_DICTS = 'var x: any = {a: 1}\nfor i in 1 to 40 { x = {a: x, b: x} }\n'

describe('one operation may not take for ever', () => {
  test.each([
    'println(x)',
    'println("${x}")',
    'println(len(to_string(x)))',
    'throw x',
    'json_stringify(x)',
    'yaml_stringify(x)',
    'toml_stringify({a: x})',
    'var y: any = [1]\nfor i in 1 to 40 { y = [y, y] }\nx == y',
    'var y: any = [1]\nfor i in 1 to 40 { y = [y, y] }\n[x].contains(y)',
    'set([x])',
    '[x, x].unique()',
    '[x, x].group_by({ e -> e })',
    '[[x, 1], [x, 2]].sort()',
    'hash_value(x)',
    'jq(x, "..")',
    'render_string("{{ a }}", {a: x})',
    'schema_check(x, {type: "list"})\nprintln(x)',
    'send(channel(x, 1), 1)',
    'log_info("x", {a: x})',
    'metadata_set("a", "b", {c: x})\nprintln(x)',
    'artifact({kind: "a", data: x})',
    'sha256(x)',
    'x.join(",")',
    'let d = {}\nd[x] = 1',
    'assert_eq(x, [1])\nprintln(x)',
  ])('%s', (text) => {
    for (const data of [DOUBLED, DOUBLED_DICTS]) {
      const { exit } = runText(`${data}${text}`, { heap: 1 << 20 })
      // Where data of this shape is not taken, or need not be looked through, the script continues or fails. What is done in pieces
      // ends when there is no room for what it makes.
      if (exit?.kind === 'limit') expect(exit.limit).toMatch(/^(?:work|heap)$/)
    }
  })

  test.each([
    ['a regular expression that goes back and forth', 'println(regex_match("^(a+)+$", "a" * 40 + "b"))'],
    ['a pattern against a long text', 'println(regex_match("(a*)*b", "a" * 100000))'],
    ['repeated repetition', '"x" * 1000000000'],
    ['padding', 'println("x".pad_left(1000000000))'],
    ['a list that doubles', 'var xs = [1]\nwhile true { xs = xs + xs }'],
    ['a list that doubles, straight on', `var xs = (1 to 1000).to_list()\n${'xs = xs + xs\n'.repeat(40)}`],
    ['a huge range as a list', '(1 to 100000000000).to_list()'],
    ['sorting a long list', 'println(len((1 to 1000000).to_list().sort()))'],
    ['deep nesting in JSON', 'println(json_parse("[" * 1000000))'],
    [
      'a template that includes itself',
      'render_string("{{ for x in xs }}{{ for y in xs }}{{ for z in xs }}a{{ end }}{{ end }}{{ end }}", {xs: (1 to 1000).to_list()})',
    ],
    ['encoding a long text', 'println(base64_encode("ab" * 20000000))'],
    ['callbacks of sorting', '[3, 2, 1].sort_by({ x -> while true { } })'],
  ])('%s', (_, text) => {
    const { exit } = runText(text, { fuel: 20_000_000 })
    expect(['limit', 'failed', 'done']).toContain(exit?.kind)
  })

  test('most of them end in the limit on work', () => {
    const ended = ['println(x)', 'hash_value(x)', 'set([x])', 'artifact({kind: "a", data: x})']
    for (const text of ended) expect(runToLimit(`${DOUBLED}${text}`, {})).toBe('work')
  })

  test('a host can allow more', () => {
    const text = 'println(len("${(1 to 200000).to_list()}"))'
    expect(runToLimit(text, {})).toBe('work')
    expect(runText(text, { work: 1e7 }).output).toBe('1488895\n')
  })

  test('what is done in pieces may be of any size, and the pieces do not show', () => {
    const text =
      'let xs = (1 to 20000).to_list().map({ x -> (x * 7919) % 20011 })\n' +
      'let ys = json_parse(json_stringify(xs.sort()))\n' +
      'println("${len(ys)} ${ys[0]} ${ys[19999]} ${hash_value(ys)} ${hash_value(xs.sort_by({ x -> 0 - x }))}")'
    const whole = runText(text)
    expect(whole.output).toMatch(/^20000 /)
    for (const limits of [{ sliceFuel: 1000 }, { sliceFuel: 77 }, { work: 30_000 * 20 }]) {
      const other = runText(text, limits)
      expect(other.output).toBe(whole.output)
      expect(other.machine.fuelUsed).toBe(whole.machine.fuelUsed)
    }
  })

  test('what ends is the same however the run is cut into slices', () => {
    const text = `${DOUBLED}println(x)`
    const whole = runText(text)
    for (const sliceFuel of [1, 7, 1000]) {
      const sliced = runText(text, { sliceFuel })
      expect(sliced.exit).toEqual(whole.exit)
      expect(sliced.machine.fuelUsed).toBe(whole.machine.fuelUsed)
    }
  })
})

describe('the thread is given back', () => {
  /** Exits until the run ends, through bytes and a new machine at every one if wanted. */
  function countExits(
    text: string,
    limits: NonNullable<Parameters<typeof runText>[1]>,
    restores = false,
  ): { exits: number; end: string; fuel: number; heap: number } {
    const program = link(text)
    let machine = new Machine(program, { ...options, limits })
    let exit = machine.start(null, 0)
    for (let exits = 0; ; exits++) {
      if (exit.kind !== 'yielded') {
        const end = exit.kind === 'limit' ? exit.message : exit.kind
        return { exits, end, fuel: machine.fuelUsed, heap: machine.heapCharged }
      }
      if (restores) machine = Machine.restore(machine.snapshot(), program, { ...options, limits })
      exit = machine.resume(null, 0)
    }
  }

  const GROWING = 'var xs: any = []\nwhile true { xs = xs.push([1]) }'
  const NO_SLICES = { sliceFuel: 1e12, sliceHeap: 1e12 }

  test('while the heap is measured', () => {
    const limits = { ...NO_SLICES, heap: 1 << 22 }
    const whole = countExits(GROWING, limits)
    expect(whole.end).toMatch(/^out of memory/)
    // Each measurement but the smallest takes pieces.
    expect(whole.exits).toBeGreaterThan(5)
    const { end, fuel, heap } = whole
    expect(countExits(GROWING, limits, true)).toMatchObject({ end, fuel, heap })
    expect(countExits(GROWING, { heap: 1 << 22 })).toMatchObject({ end, fuel, heap })
  })

  test('after so much was asked for, whatever it took', () => {
    const text = 'var x: any = nil\nfor i in 1 to 30000 { x = [i, i, i, i] }'
    const made = 30000 * (16 + 4 * 16)
    const { exits, end } = countExits(text, { ...NO_SLICES, sliceHeap: made / 10 })
    expect(end).toBe('done')
    expect(exits).toBeGreaterThanOrEqual(9)
    expect(countExits(text, NO_SLICES).exits).toBe(0)
  })
})

describe('budgets go on where a snapshot was taken', () => {
  /** Runs to the first limit, through bytes and a new machine at every stop. */
  function runToLimitThroughSnapshots(
    text: string,
    limits: NonNullable<Parameters<typeof runText>[1]>,
  ): { limit: string; restores: number } {
    const program = link(text)
    let machine = new Machine(program, { ...options, limits })
    let now = 0
    let exit = machine.start(null, now)
    for (let restores = 0; ; restores++) {
      if (exit.kind === 'suspended' && exit.wakeAt !== null) now = exit.wakeAt
      else if (exit.kind !== 'yielded') return { limit: exit.kind === 'limit' ? exit.limit : exit.kind, restores }
      machine = Machine.restore(machine.snapshot(), program, { ...options, limits })
      exit = machine.resume(null, now)
    }
  }

  test.each([
    ['fuel', 'while true { sleep(1) }', { fuel: 500 }],
    ['heap', 'var xs = []\nwhile true {\nxs = xs + ["a text that takes room"]\nsleep(1) }', { heap: 1 << 15 }],
    ['output', 'while true {\nprintln("0123456789")\nsleep(1) }', { output: 400 }],
    ['tasks', 'while true {\nspawn { sleep(100000) }\nsleep(1) }', { tasks: 30 }],
    ['frames', 'fn f(n) {\nsleep(1)\nreturn [n].map({ x -> f(x + 1) }) }\nf(0)', { frames: 100 }],
  ])('%s', (limit, text, limits) => {
    const { limit: hit, restores } = runToLimitThroughSnapshots(text, limits)
    expect(hit).toBe(limit)
    expect(restores).toBeGreaterThan(5)
  })

  test('the same units are used with and without snapshots, also in the middle of work that is done in pieces', () => {
    const text =
      'let xs = (1 to 30000).to_list().map({ x -> (x * 7919) % 30011 })\n' +
      'let ys = json_parse(json_stringify(xs.sort()))\nsleep(1)\nprintln("${len(ys)} ${ys[0]} ${ys[29999]}")'
    const whole = runText(text)
    const program = link(text)
    const limits = { sliceFuel: 30_000 }
    let machine = new Machine(program, { ...options, limits })
    let exit = machine.start(null, 0)
    let output = ''
    for (;;) {
      output += exit.output
      if (exit.kind !== 'yielded' && exit.kind !== 'suspended') break
      machine = Machine.restore(machine.snapshot(), program, { ...options, limits })
      exit = machine.resume(null, exit.kind === 'suspended' ? exit.wakeAt! : 0)
    }
    expect(output).toBe(whole.output)
    expect(machine.fuelUsed).toBe(whole.machine.fuelUsed)
  })

  test('a host that restores with a smaller budget is obeyed', () => {
    const program = link('var n = 0\nwhile true {\nn += 1\nsleep(1) }')
    const machine = new Machine(program, { ...options, limits: { fuel: 1000 } })
    expect(machine.start(null, 0).kind).toBe('suspended')
    const restored = Machine.restore(machine.snapshot(), program, { ...options, limits: { fuel: 1 } })
    expect(restored.resume(null, 1)).toMatchObject({ kind: 'limit', limit: 'fuel' })
  })
})

// Builtins with a body in Harn behave like native ones: nothing of the internal module shows, callbacks are separate runs, and a run
// can stop and continue in the middle of them. The modules here are made for the test.

import { createHash } from 'node:crypto'
import { compileProgram, writeModuleIdentity, withBuiltins, writeModule } from '@bridle/compiler'
import type { CompileOptions } from '@bridle/compiler'
import { beforeEach, describe, expect, test } from 'vitest'
import { builtin, harnBuiltin } from '../builtins/builtin.js'
import type { EffectJudge } from '../builtins/builtin.js'
import { CORE_FAMILIES } from '../builtins/families-core.js'
import { libraryFamily } from '../builtins/library.js'
import { createRegistry } from '../builtins/registry.js'
import type { BuiltinFamily, Registry } from '../builtins/registry.js'
import { collectSignatures } from '../builtins/signatures.js'
import { tasksFamily } from '../builtins/tasks.js'
import { makeModuleKey } from '../library-keys.js'
import { Machine } from '../vm.js'
import type { MachineOptions, TierOptions } from './machine.js'
import type { Effect } from '../effects/effect.js'
import type { RunExit } from './exit.js'
import { makeRuntimeFault } from './fault.js'
import { linkProgram } from './module.js'
import type { LinkedProgram } from './module.js'

const refuse = (path: string) => ({ kind: 'error', message: `Import error: no module ${path}` }) as const

function compile(text: string, registry: Registry, more: Partial<CompileOptions> = {}): LinkedProgram {
  const { program, diagnostics } = compileProgram(
    { key: 'main.harn', text },
    {
      signatures: collectSignatures(registry),
      resolve: refuse,
      types: withBuiltins(registry.builtins.values()),
      ...more,
    },
  )
  if (program === null) throw new Error(diagnostics.map((each) => each.message).join('\n'))
  return linkProgram(program, registry)
}

/** As scripts/generate-library.ts does it. */
function compileModuleText(name: string, text: string, registry: Registry): string {
  const own = collectSignatures(registry)
  const hidden = new Set((libraryFamily.primitives ?? []).map((each) => each.name))
  const key = makeModuleKey(name)
  const { program, diagnostics } = compileProgram(
    { key: 'entry', text: 'import "/m"\n' },
    {
      signatures: { ...own, has: (builtin) => hidden.has(builtin) || own.has(builtin) },
      resolve: () => ({ kind: 'source', key, text }),
    },
  )
  const chunk = program?.modules.find((each) => each.key === key)
  if (chunk === undefined) throw new Error(diagnostics.map((each) => each.message).join('\n'))
  const bare = { ...chunk, functions: chunk.functions.map((fn) => ({ ...fn, lines: [], locals: [] })) }
  return writeModule(bare, createHash('sha256').update(writeModuleIdentity(bare)).digest('hex').slice(0, 16))
}

const MODULE = `
let LABEL = "lib"

fn deep(n, f) {
  if n == 0 { return f(n) }
  return deep(n - 1, f) + 1
}

fn map(xs) {
  return "\${LABEL} map of \${len(xs)}"
}

pub fn call(f, x = "none") {
  return f(x)
}

pub fn call_deep(f) {
  return deep(3, f)
}

pub fn fail(message) {
  __raise("runtime", "fail: \${message}")
}

pub fn names(xs) {
  return map(xs)
}

pub fn guarded(f) {
  var seen = []
  let told = try {
    f(1)
  } catch (e) {
    "caught \${e}"
  }
  return told
}

pub fn attempt(f) {
  let answer = __attempt(f, [1])
  if answer.fault != nil { __raise_again(answer.fault) }
  return answer.value
}

pub fn ask(count) {
  var answers = []
  var n = 0
  while n < count {
    answers = answers + [__perform("store.op", {op: "get", key: "k\${n}"})]
    n = n + 1
  }
  return answers
}

pub fn ask_for(kind, args) {
  return try { __perform(kind, args) } catch (e) { e }
}

pub fn spin() {
  while true { }
}

pub fn wait(key, ms) {
  return __park(key, __now() + ms)
}

pub fn wake(key) {
  __wake(key)
}

pub fn count() {
  let n = (__kept("test", "n") ?? 0) + 1
  __keep("test", "n", n)
  return n
}

fn step(at, last) {
  let found = at == last ? nil : {more: at}
  return found.more
}

pub fn loop(count, last) {
  var total = 0
  for at in range(count) {
    total = total + step(at, last)
  }
  return total
}

pub fn each(xs, f) {
  var all = []
  for x in xs {
    all = all + [f(x)]
  }
  return all
}

pub fn made() {
  return { x -> x.missing.more }
}
`

const FUNCTIONS = [
  'call',
  'call_deep',
  'fail',
  'names',
  'guarded',
  'attempt',
  'ask',
  'ask_for',
  'spin',
  'wait',
  'wake',
  'count',
  'made',
  'loop',
  'each',
]

/** `onlyInBuild`: families that the module was compiled with, and that the registry lacks. */
function makeRegistryOf(text = MODULE, onlyInBuild: readonly BuiltinFamily[] = []): Registry {
  const plain = createRegistry([...CORE_FAMILIES, tasksFamily, ...onlyInBuild])
  let written: string | null = null
  const family: BuiltinFamily = {
    name: 'test',
    modules: (name) => (name === 'm' ? (written ??= compileModuleText('m', text, plain)) : null),
    builtins: [
      ...FUNCTIONS.map((name) =>
        harnBuiltin(
          `h_${name}(a?: any, b?: any) -> any`,
          { doc: '', effects: ['callback', 'store.op'] },
          { module: 'm', function: name },
        ),
      ),
      harnBuiltin(
        'h_silent(f: closure) -> any',
        { doc: '', effects: ['callback'] },
        { module: 'm', function: 'call', output: 'drop' },
      ),
    ],
  }
  return createRegistry([...CORE_FAMILIES, tasksFamily, family])
}

const OPTIONS: MachineOptions = { hashHex: (bytes) => createHash('sha256').update(bytes).digest('hex') }

/** The module files of the running test. */
let tier: TierOptions | null = null

function run(text: string, options: Partial<MachineOptions> = {}): RunExit & { readonly all: string } {
  return runIn(makeRegistryOf(), text, options)
}

function runIn(registry: Registry, text: string, options: Partial<MachineOptions> = {}): RunExit & { readonly all: string } {
  const machine = new Machine(compile(text, registry), { ...OPTIONS, tier, ...options })
  let exit = machine.start(null, 0)
  let all = exit.output
  while (exit.kind === 'yielded' || (exit.kind === 'suspended' && exit.effects.length === 0)) {
    exit = machine.resume(null, exit.kind === 'suspended' ? exit.wakeAt! : machine.now)
    all += exit.output
  }
  return { ...exit, all }
}

function runToFault(text: string): { readonly text: string; readonly trace: readonly string[] } {
  const exit = run(text)
  if (exit.kind !== 'failed') throw new Error(`${exit.kind}: ${exit.all}`)
  return { text: exit.fault.text, trace: (exit.fault.trace ?? []).map((each) => `${each.function}:${each.line}`) }
}

describe.each([
  ['base tier', null],
  ['compiled tier', { calls: 0, turns: 0 }],
] as const)('%s', (_name, mode) => {
  beforeEach(() => {
    tier = mode
  })

  test('a fault shows the line of the caller and no part of the module', () => {
    expect(runToFault('fn f() {\n  h_fail("x")\n}\nf()')).toEqual({
      text: 'Runtime error: fail: x (line 2)',
      trace: ['f:2', 'pipeline:4'],
    })
  })

  test('a callback is a separate run, with its lines in the trace', () => {
    const native = runToFault('[1].map({ _x ->\n  nil.foo.bar\n})')
    expect(native.trace.map((each) => each.split(':')[1])).toEqual(['2', '1'])
    expect(runToFault('h_call_deep({ _x ->\n  nil.foo.bar\n})')).toEqual(native)
  })

  test('a fault from a loop of the module is the same in every iteration', () => {
    expect(runToFault('h_loop(20, 19)')).toEqual({
      text: 'Type error: cannot access property `more` on nil (line 1)',
      trace: ['pipeline:1'],
    })
    const native = runToFault('[1].map({ x ->\n  nil.foo.bar\n})')
    expect(runToFault('h_each(range(20).to_list(), { x ->\n  if x == 19 { nil.foo.bar }\n})').text).toBe(native.text)
    expect(runToFault('h_each(range(20).to_list(), { x ->\n  if x == 19 { nil.foo.bar }\n})').trace.length).toBe(2)
  })

  test('a fault that is raised again is the one that was caught', () => {
    const direct = runToFault('h_call({ _x ->\n  nil.foo.bar\n})')
    expect(runToFault('h_attempt({ _x ->\n  nil.foo.bar\n})')).toEqual(direct)
  })

  test('missing arguments take the default of the function', () => {
    expect(run('println(h_call({ x -> x }))\nprintln(h_call({ x -> x }, 2))').all).toBe('none\n2\n')
  })

  test('names of scripts and of the module do not collide', () => {
    const script =
      'fn map(_xs) {\n  return "mine"\n}\nfn len(_xs) {\n  return 99\n}\nlet LABEL = "theirs"\nprintln(h_names([1, 2]))\nprintln(h_call({ _x -> map([]) + LABEL }))'
    expect(run(script).all).toBe('lib map of 2\nminetheirs\n')
  })

  test('the output of callbacks is kept or dropped, as the definition says', () => {
    expect(run('h_call({ _x -> println("kept") })\nh_silent({ _x -> println("dropped") })\nprintln("end")').all).toBe(
      'kept\nend\n',
    )
  })

  test('a module catches what its callbacks raise', () => {
    expect(run('println(h_guarded({ _x -> throw "boom" }))').all).toBe('caught boom\n')
  })

  test('the module and the callback each start with a fresh recursion bound', () => {
    const script = `fn down(n) {
  if n == 0 { return h_call_deep({ _x -> 1 }) }
  return down(n - 1) + 0
}
println(down(505))
fn again(n) {
  if n == 0 { return 0 }
  return again(n - 1) + 1
}
println(h_call({ _x -> again(500) }))`
    expect(run(script).all).toBe('4\n500\n')
  })

  test('the run is charged for the work of a module', () => {
    const exit = run('h_spin()', { limits: { fuel: 10_000 } })
    expect(exit.kind === 'limit' ? exit.limit : exit.kind).toBe('fuel')
  })

  test('deadlines and cancellation reach into a module', () => {
    expect(run('println(try { deadline 5ms { h_wait("never", 100000) } })').all).toContain('Deadline exceeded')
  })

  test('state is kept for the run, and parking is woken by another task', () => {
    expect(
      run(
        'h_count()\nprintln(h_count())\nlet t = spawn { h_wait("k", 1000) }\nsleep_free()\nfn sleep_free() {\n  h_wake("k")\n}\nprintln(await(t))',
      ).all,
    ).toContain('2\n')
  })

  test('defer and parallel tasks work around a builtin of the library', () => {
    const script = `fn f() {
  defer { println("deferred") }
  h_fail("in f")
}
println(try { f() })
let xs = parallel each [1, 2, 3] { n -> h_call({ x -> x * 10 }, n) }
println(xs)`
    expect(run(script).all).toBe('deferred\nResult.Err(Runtime error: fail: in f)\n[10, 20, 30]\n')
  })

  test('a closure that the module makes is called like any other', () => {
    const { trace } = runToFault('let f = h_made()\nf({missing: nil})')
    expect(trace).toEqual(['pipeline:2'])
  })

  test('a module may name builtins that the registry lacks, and fails where it calls one', () => {
    const absent: BuiltinFamily = {
      name: 'absent',
      builtins: [builtin('absent_one() -> int', { doc: '', effects: [] }, () => 1)],
    }
    const text = 'pub fn call(f) {\n  return f == nil ? absent_one() : "not needed"\n}\n'
    const registry = makeRegistryOf(text, [absent])
    expect(runIn(registry, 'println(h_call(1))').all).toBe('not needed\n')
    expect(runIn(registry, 'println(try { h_call(nil) })').all).toBe('Result.Err(Undefined builtin: absent_one)\n')
  })

  test('scripts cannot name a primitive or import a module', () => {
    expect(runToFault('__perform("fs.read", {path: "x"})').text).toContain('Undefined builtin: __perform')
    expect(runToFault('let f = __raise\nf("runtime", "x")').text).toContain('Undefined variable: __raise')
    expect(runToFault('import "<library>/m.harn"\nprintln(1)').text).toContain('no module')
  })

  test('an effect requested by a module is validated before it is judged', () => {
    const judge: EffectJudge = {
      problem: ({ kind, args }) => (typeof args['path'] === 'string' ? null : `${kind}: path must be a string`),
      complete: (_ctx, effect) => effect,
      refuse: () => makeRuntimeFault('judged'),
      limit: () => Infinity,
      describe: () => null,
      span: () => null,
      codeOf: () => '',
    }
    expect(run('println(h_ask_for("fs.read", {path: 1}))', { judge }).all).toBe('Type error: fs.read: path must be a string\n')
    expect(run('println(h_ask_for("fs.read", {path: "a"}))', { judge }).all).toBe('Runtime error: judged\n')
  })

  test('a run continues in the middle of a builtin, in another machine with another registry', () => {
    const script = 'println(h_ask(3))'
    const answer = (exit: RunExit): { readonly id: number; readonly outcome: { readonly ok: true; readonly value: string } } => {
      if (exit.kind !== 'suspended') throw new Error(exit.kind)
      const { id, effect } = exit.effects[0]!
      return { id, outcome: { ok: true, value: `v:${String((effect as Effect).args['key' as never])}` } }
    }
    let machine = new Machine(compile(script, makeRegistryOf()), { ...OPTIONS, tier })
    let exit = machine.start(null, 0)
    let asked = 0
    while (exit.kind === 'suspended') {
      asked++
      const given = answer(exit)
      machine = Machine.restore(machine.snapshot(), compile(script, makeRegistryOf()), { ...OPTIONS, tier })
      exit = machine.resume(given, 0)
    }
    // No effect is requested again: there is no replay.
    expect(asked).toBe(3)
    expect(exit.output).toBe('[v:k0, v:k1, v:k2]\n')
  })

  test.each(['h_call({ x -> x + 1 }, 4)', 'h_call_deep({ x -> x + 5 })', 'h_each([1, 2, 3], { x -> x * 2 })'])(
    'a run stops in front of every call of a module and behind it: %s',
    (call) => {
      const script = `for i in range(3) { println(${call}) }`
      const wanted = run(script).all
      const here = compile(script, makeRegistryOf())
      const there = compile(script, makeRegistryOf())
      for (let first = 1; first < 10; first++) {
        const limits = (at: number): Partial<MachineOptions> => ({ limits: { sliceFuel: at === 0 ? first : 1 } })
        let machine = new Machine(here, { ...OPTIONS, tier, ...limits(0) })
        let exit = machine.start(null, 0)
        let all = exit.output
        for (let at = 1; exit.kind === 'yielded'; at++) {
          machine = Machine.restore(machine.snapshot(), at % 2 === 0 ? here : there, { ...OPTIONS, tier, ...limits(at) })
          exit = machine.resume(null, machine.now)
          all += exit.output
        }
        expect(all).toBe(wanted)
      }
    },
  )

  test('a snapshot is refused by another version of the module', () => {
    const script = 'println(h_ask(1))'
    const machine = new Machine(compile(script, makeRegistryOf()), { ...OPTIONS, tier })
    machine.start(null, 0)
    const bytes = machine.snapshot()
    const other = makeRegistryOf(MODULE.replace('answers + [', 'answers + ["new", '))
    expect(() => Machine.restore(bytes, compile(script, other), OPTIONS)).toThrow(
      /differs in this version: resume it with the version/,
    )
  })

  test('a snapshot of a run that calls no module names none', () => {
    const registry = makeRegistryOf()
    const machine = new Machine(compile('println(h_count())', registry), OPTIONS)
    machine.start(null, 0)
    expect([...machine.modules.keys()]).toContain(makeModuleKey('m'))
    const plain = new Machine(compile('println(1)', registry), OPTIONS)
    plain.start(null, 0)
    expect([...plain.modules.keys()]).toEqual(['main.harn'])
  })
})

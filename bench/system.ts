// Embedding costs: calls from script to host, fresh machines, compiling, snapshots, and memory of waiting
// machines. Each measurement checks its results and returns figures in the unit of its label.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, SourceFile } from '@bridle/parser'
import { builtin } from '@bridle/vm'
import type { BuiltinFamily, LinkedProgram, Machine, RunExit } from '@bridle/vm'
import { Machine as MachineClass } from '@bridle/vm'
import { Engine, describe, hashHex } from './engine.js'
import { median } from './stats.js'
import { milliseconds, warmTime } from './timing.js'

/** Label with unit → figure. */
export type Figures = Record<string, number>

const CALLS = 200_000

export const hostFamily: BuiltinFamily = {
  name: 'bench',
  builtins: [
    builtin(
      '__bench_pure(a: int, b: int) -> int',
      { doc: 'Adds two small ints.' },
      (_ctx, a = null, b = null) => (a as number) + (b as number),
    ),
    builtin('__bench_ask(n: int) -> any', { doc: 'Asks the host.', effects: ['random.bytes'] }, (ctx, n = null) =>
      ctx.perform({ kind: 'random.bytes', args: { count: n as number } }),
    ),
  ],
}

function makeLoop(body: string): string {
  return `pipeline main() {\n  var n = 0\n  while n < ${CALLS} {\n    n = ${body}\n  }\n  println(n)\n}\n`
}

function expectOutput(output: string, wanted: string): void {
  if (output.trimEnd() !== wanted) throw new Error(`got ${output}, want ${wanted}`)
}

function nanosecondsACall(ms: number): number {
  return (ms * 1e6) / CALLS
}

/** Drives a machine; every effect gets its argument plus one, by resume. */
function drive(machine: Machine): string {
  let output = ''
  let exit: RunExit = machine.start(null, 0)
  for (;;) {
    output += exit.output
    if (exit.kind === 'yielded') exit = machine.resume(null, 0)
    else if (exit.kind === 'suspended') {
      const [pending] = exit.effects
      if (pending === undefined) throw new Error('suspended without an effect')
      exit = machine.resume({ id: pending.id, outcome: { ok: true, value: (pending.effect.args.count ?? 0) + 1 } }, 0)
    } else if (exit.kind === 'done') return output
    else throw new Error(describe(exit))
  }
}

async function jsAwaits(): Promise<number> {
  const start = performance.now()
  let n = 0
  while (n < CALLS) n = await Promise.resolve(n + 1)
  return performance.now() - start
}

export async function hostCalls(): Promise<Figures> {
  const engine = new Engine([hostFamily])
  const empty = engine.load(makeLoop('n + 1'))
  const pure = engine.load(makeLoop('__bench_pure(n, 1)'))
  const asking = engine.load(makeLoop('__bench_ask(n)'))
  const deep = engine.load(
    `fn down(depth) {\n  if depth > 0 {\n    let n = down(depth - 1)\n    return n\n  }\n  var n = 0\n  while n < ${CALLS} {\n    n = __bench_ask(n)\n  }\n  return n\n}\npipeline main() {\n  println(down(20))\n}\n`,
  )
  const perform: NonNullable<ConstructorParameters<typeof MachineClass>[1]['perform']> = (effect) => ({
    ok: true,
    value: (effect.args.count ?? 0) + 1,
  })
  const time = (work: () => string): number => {
    expectOutput(work(), String(CALLS))
    work()
    return nanosecondsACall(warmTime(() => void work()))
  }
  const loop = time(() => engine.run(empty))
  await jsAwaits()
  const baseLoop = time(() => engine.run(empty, { tier: null }))
  return {
    'one turn of the empty loop, ns': loop,
    'pure host function, ns': time(() => engine.run(pure)) - loop,
    'pure host function in the base tier, ns': time(() => engine.run(pure, { tier: null })) - baseLoop,
    'effect answered at once, ns': time(() => engine.run(asking, { perform })) - loop,
    'effect with suspend and resume, ns': time(() => drive(engine.machine(asking))) - loop,
    'effect with suspend and resume, 20 calls deep, ns': time(() => drive(engine.machine(deep))) - loop,
    '`await` of a promise in plain JavaScript, ns': nanosecondsACall(await jsAwaits()),
  }
}

/** Cost for a host with many waiting scripts: each is started and waits; outcomes arrive after all have been started. */
export function waitingScripts(): Figures {
  const engine = new Engine([hostFamily])
  const program = engine.load('pipeline main() {\n  var n = 0\n  while n < 10 {\n    n = __bench_ask(n)\n  }\n  println(n)\n}\n')
  const count = 1000
  const work = (): void => {
    const machines = Array.from({ length: count }, () => suspendRun(engine, program))
    for (let turn = 1; turn <= 10; turn++) {
      for (const machine of machines) {
        const [pending] = machine.pendingEffects()
        const exit = machine.resume({ id: pending!.id, outcome: { ok: true, value: turn } }, 0)
        if (exit.kind !== (turn < 10 ? 'suspended' : 'done')) throw new Error(describe(exit))
      }
    }
  }
  work()
  return { '1,000 scripts, ten waits each, µs a wait': (warmTime(work) * 1000) / (count * 10) }
}

/** A throw and its catch, minus the loop iteration around them. */
export function exceptions(): Figures {
  const engine = new Engine()
  const loopWith = (body: string): LinkedProgram =>
    engine.load(
      `fn risky(n) {\n  throw "even"\n}\nfn calm(n) {\n  return n\n}\nfn down(n, depth) {\n  if depth == 0 { throw "even" }\n  let r = down(n, depth - 1)\n  return r\n}\n` +
        `fn quiet(n, depth) {\n  if depth == 0 { return n }\n  let r = quiet(n, depth - 1)\n  return r\n}\n` +
        `pipeline main() {\n  var n = 0\n  while n < ${CALLS} {\n    try {\n      ${body}\n    } catch (e) {\n      n = n + 0\n    }\n    n = n + 1\n  }\n  println(n)\n}\n`,
    )
  const time = (thrown: LinkedProgram, calm: LinkedProgram, options: Parameters<Engine['run']>[1]): number => {
    const once = (program: LinkedProgram): number => {
      expectOutput(engine.run(program, options), String(CALLS))
      engine.run(program, options)
      return nanosecondsACall(warmTime(() => void engine.run(program, options)))
    }
    return once(thrown) - once(calm)
  }
  const one = [loopWith('risky(n)'), loopWith('calm(n)')] as const
  const ten = [loopWith('down(n, 9)'), loopWith('quiet(n, 9)')] as const
  return {
    'caught one frame up, ns': time(...one, {}),
    'caught one frame up, base tier, ns': time(...one, { tier: null }),
    'through ten frames, ns': time(...ten, {}),
    'through ten frames, base tier, ns': time(...ten, { tier: null }),
  }
}

const TEN_LINES = `fn greet(name, times) {
  var text = ""
  for i in 0 to times exclusive { text = text + "hello \${name} " }
  return text
}
pipeline main() {
  let names = ["ada", "grace"]
  let greetings = names.map({ name -> greet(name, 2) })
  println(greetings.join("; "))
}
`
const TEN_LINES_OUTPUT = 'hello ada hello ada ; hello grace hello grace '

export function freshMachine(): Figures {
  const engine = new Engine()
  const first = milliseconds(() => expectOutput(engine.run(engine.load(TEN_LINES)), TEN_LINES_OUTPUT.trimEnd()))
  const many = 200
  const program = engine.load(TEN_LINES)
  const run = (): void => {
    for (let k = 0; k < many; k++) engine.run(program)
  }
  const compileAndRun = (): void => {
    for (let k = 0; k < many / 10; k++) engine.run(engine.load(TEN_LINES))
  }
  run()
  for (let k = 0; k < COMPILER_WARM_UP / (many / 10); k++) compileAndRun()
  return {
    'compile and run, first in the process, ms': first,
    'compile and run, µs': (warmTime(compileAndRun) * 10_000) / many,
    'run on a fresh machine, µs': (warmTime(run) * 1000) / many,
  }
}

/** Small programs compiled before the compiler counts as warm: it is large, and V8 optimises it gradually. */
const COMPILER_WARM_UP = 4000

/** Functions with loops, calls, dicts and strings, about `size` bytes. */
export function makeSource(size: number): string {
  const parts: string[] = []
  let length = 0
  for (let k = 0; length < size; k++) {
    const part = `fn step_${k}(input, limit = ${k}) {
  var total = ${k}
  for item in input {
    if item.size > limit && item.name != "skip" { total = total + item.size * 2 } else { total = total - 1 }
  }
  let report = {total: total, label: "step ${k}: \${total}", parts: [1, 2, ${k}]}
  return report.parts.map({ x -> x + total }).filter({ x -> x % 2 == 0 })
}
`
    parts.push(part)
    length += part.length
  }
  return `${parts.join('')}pipeline main() {\n  println(step_0([{size: 3, name: "a"}]))\n}\n`
}

export function compileTimes(): Figures {
  const engine = new Engine()
  const figures: Figures = {}
  const parsing: Figures = {}
  for (const kilobytes of [1, 10, 100, 1000]) {
    const source = makeSource(kilobytes * 1024)
    const cold = milliseconds(() => engine.load(source))
    if (kilobytes === 1) for (let k = 0; k < COMPILER_WARM_UP; k++) engine.load(source)
    figures[`${kilobytes} KB, ms`] = warmTime(() => engine.load(source))
    if (kilobytes === 1) figures['1 KB, first in the process, ms'] = cold
    if (kilobytes === 1) continue
    const parsed = warmTime(() => {
      if (parse(new SourceFile('bench.harn', source)).program === null)
        throw new Error('the source of the benchmark does not parse')
    })
    parsing[`text to syntax tree of ${kilobytes} KB, MB/s`] = source.length / parsed / 1000
  }
  return { ...figures, ...parsing }
}

/** Starts of processes, interleaved; wall time, as a user waits for them. `bench` is this folder. */
export function processStarts(bench: string): Figures {
  const folder = mkdtempSync(join(tmpdir(), 'bridle-bench-'))
  const empty = join(folder, 'empty.js')
  const hello = join(folder, 'hello.harn')
  writeFileSync(empty, '')
  writeFileSync(hello, 'pipeline main() {\n  println("hello")\n}\n')
  const bridle = join(bench, '..', 'packages', 'cli', 'dist', 'bridle.js')
  const commands = { node: [empty], bridle: [bridle, 'run', hello] }
  const times = { node: [] as number[], bridle: [] as number[] }
  const { NODE_OPTIONS: _, ...env } = process.env
  try {
    for (let round = 0; round < 12; round++) {
      for (const name of ['node', 'bridle'] as const) {
        const start = performance.now()
        const { status, stdout } = spawnSync(process.execPath, commands[name], { encoding: 'utf8', env })
        times[name].push(performance.now() - start)
        if (status !== 0 || (name === 'bridle' && stdout !== 'hello\n')) throw new Error(`bench: ${name} does not start`)
      }
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  return {
    'bare Node, ms': median(times.node),
    'bridle run of hello, ms': median(times.bridle),
    'bridle run of hello, × bare Node': median(times.bridle) / median(times.node),
  }
}

const SNAPSHOT_STATES: Readonly<Record<string, string>> = {
  'one variable': 'pipeline main() {\n  let a = 1\n  println(__bench_ask(a))\n}\n',
  'ten calls deep':
    'fn down(n) {\n  if n == 0 { return __bench_ask(1) }\n  let r = down(n - 1)\n  return r\n}\npipeline main() {\n  println(down(10))\n}\n',
  ...Object.fromEntries(
    [1000, 100_000].map((count) => [
      `${count.toLocaleString('en')} records`,
      `pipeline main() {\n  var xs = []\n  for i in 0 to ${count} exclusive { xs = xs.push({id: i, name: "record \${i}", done: false}) }\n  println(__bench_ask(len(xs)))\n}\n`,
    ]),
  ),
}

export function suspendRun(engine: Engine, program: LinkedProgram): Machine {
  const machine = engine.machine(program)
  let exit = machine.start(null, 0)
  while (exit.kind === 'yielded') exit = machine.resume(null, 0)
  if (exit.kind !== 'suspended') throw new Error(describe(exit))
  return machine
}

export function snapshots(): Figures {
  const engine = new Engine([hostFamily])
  const figures: Figures = {}
  for (const [state, source] of Object.entries(SNAPSHOT_STATES)) {
    const program = engine.load(source)
    const machine = suspendRun(engine, program)
    const bytes = machine.snapshot()
    const many = bytes.length > 1_000_000 ? 1 : bytes.length > 10_000 ? 5 : 100
    const restored = MachineClass.restore(bytes, program, { hashHex })
    const { id } = restored.pendingEffects()[0]!
    const exit = restored.resume({ id, outcome: { ok: true, value: 7 } }, 0)
    expectOutput(exit.output, '7')
    const repeat = (work: () => void): number => {
      const all = (): void => {
        for (let k = 0; k < many; k++) work()
      }
      all()
      return (warmTime(all) * 1000) / many
    }
    figures[`${state}: bytes`] = bytes.length
    figures[`${state}: write, µs`] = repeat(() => void machine.snapshot())
    figures[`${state}: restore and resume, µs`] = repeat(() => {
      MachineClass.restore(bytes, program, { hashHex }).resume({ id, outcome: { ok: true, value: 7 } }, 0)
    })
  }
  return figures
}

/** Needs --expose-gc. */
export function idleMachines(): Figures {
  const collect = (globalThis as { gc?: () => void }).gc
  if (collect === undefined) throw new Error('idle machines are measured with --expose-gc')
  const engine = new Engine([hostFamily])
  const program = engine.load('pipeline main() {\n  let name = "ada"\n  let n = 1\n  println("${name} ${__bench_ask(n)}")\n}\n')
  const count = 10_000
  const alive: Machine[] = []
  for (let k = 0; k < 100; k++) alive.push(suspendRun(engine, program))
  collect()
  const before = process.memoryUsage()
  for (let k = 0; k < count; k++) alive.push(suspendRun(engine, program))
  collect()
  const after = process.memoryUsage()
  const { id } = alive[count]!.pendingEffects()[0]!
  expectOutput(alive[count]!.resume({ id, outcome: { ok: true, value: 5 } }, 0).output, 'ada 5')
  return {
    'heap of one, KiB': (after.heapUsed - before.heapUsed) / count / 1024,
    'resident memory of one, KiB': (after.rss - before.rss) / count / 1024,
  }
}

// What a host relies on when it runs a machine in slices and through snapshots, beyond what every script of the suite shows:
// a slice is no occasion for timers, and fuel bounds whatever can continue forever.

import { createHash } from 'node:crypto'
import { compileProgram } from '@bridle/compiler'
import { expect, test } from 'vitest'
import { STANDARD_FAMILIES } from '../../src/test-support/standard-families.js'
import { createRegistry } from '../../../vm/src/builtins/registry.js'
import { collectSignatures } from '../../../vm/src/builtins/signatures.js'
import { linkProgram } from '../../../vm/src/interpreter/module.js'
import { Machine } from '../../../vm/src/vm.js'
import type { Limits, RunExit } from '../../../vm/src/interpreter/exit.js'
import type { LinkedProgram } from '../../../vm/src/interpreter/module.js'

const registry = createRegistry(STANDARD_FAMILIES)
const signatures = collectSignatures(registry)
const hashHex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

function load(text: string): LinkedProgram {
  const { program, diagnostics } = compileProgram(
    { key: 'test.harn', text },
    { signatures, resolve: (path) => ({ kind: 'error', message: `no ${path}` }) },
  )
  if (program === null) throw new Error(diagnostics[0]?.message)
  return linkProgram(program, registry)
}

/** Runs to the end; the clock jumps where all tasks sleep. */
function run(text: string, limits: Partial<Limits>): { exit: RunExit; output: string; fuel: number } {
  const machine = new Machine(load(text), { hashHex, limits })
  let now = 0
  let exit = machine.start(null, now)
  let output = exit.output
  while (exit.kind === 'yielded' || (exit.kind === 'suspended' && exit.wakeAt !== null)) {
    if (exit.kind === 'suspended') now = Math.max(now, exit.wakeAt!)
    exit = machine.resume(null, now)
    output += exit.output
  }
  return { exit, output, fuel: machine.fuelUsed }
}

test('the end of a slice wakes nobody while the clock stands still', () => {
  const script = `
    let log = channel("log", 20)
    let sleeper = spawn { sleep(0); send(log, "woke") }
    let worker = spawn { for i in 1 to 5 { send(log, i) } }
    await(worker)
    await(sleeper)
    close_channel(log)
    for entry in log { println(entry) }
  `
  const whole = run(script, {})
  for (const sliceFuel of [1, 2, 3, 5]) {
    expect(run(script, { sliceFuel })).toMatchObject({ output: whole.output, fuel: whole.fuel })
  }
})

test.each([
  ['a tail call', 'fn f(x) { return f(x) }\nf(1)'],
  ['a tail pipe', 'fn f(x) { return x |> f }\nf(1)'],
  ['a loop', 'while true { }'],
  ['retried errors', 'retry 1000000000 { throw "again" }'],
])('fuel ends %s', (_, script) => {
  const { exit } = run(script, { fuel: 5000 })
  expect(exit).toMatchObject({ kind: 'limit', limit: 'fuel' })
})

test('a number of tasks that nobody can start ends the run and not the process', () => {
  expect(run('parallel 9223372036854775807 { i -> i }', { tasks: 100 }).exit).toMatchObject({ kind: 'limit' })
  expect(run('parallel 1000 { i -> i }', { tasks: 100 }).exit).toMatchObject({ kind: 'limit', limit: 'tasks' })
})

test('what compiled code calls by name is safe to call from scripts', () => {
  const calls = [
    '__spawn(5)',
    '__parallel("each", [1], 5, nil)',
    '__parallel("nonsense", [1], len, nil)',
    '__select(1, nil, true, true)',
  ]
  for (const call of calls) expect(run(`println(try { ${call} } catch (e) { e })`, {}).output).toContain('Type error')
})

test('appending uses the same fuel after a restore', () => {
  const program = load('var a = []\nfor i in 1 to 200 { a = a + [i]; let b = a + [0]; let c = b + a }\nprintln(len(a))')
  const whole = new Machine(program, { hashHex })
  whole.start(null, 0)
  let machine = new Machine(program, { hashHex, limits: { sliceFuel: 7 } })
  for (let exit = machine.start(null, 0); exit.kind === 'yielded'; exit = machine.resume(null, 0)) {
    machine = Machine.restore(machine.snapshot(), program, machine.options)
  }
  expect(machine.fuelUsed).toBe(whole.fuelUsed)
})

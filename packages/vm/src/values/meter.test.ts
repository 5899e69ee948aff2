// Walks charge the running machine, found through the current meter. Here machines run alternately and nested, in every way a
// host can cause: in a provider, in a listener, in a hash function. Each must use the same fuel, and end the same way, as alone.

import { compileProgram } from '@bridle/compiler'
import { expect, test } from 'vitest'
import { builtin } from '../builtins/builtin.js'
import { LANGUAGE_FAMILIES } from '../builtins/families-language.js'
import { createRegistry } from '../builtins/registry.js'
import { collectSignatures } from '../builtins/signatures.js'
import { linkProgram } from '../interpreter/module.js'
import { Machine } from '../vm.js'
import type { RunExit } from '../interpreter/exit.js'
import type { MachineOptions } from '../interpreter/machine.js'
import type { LinkedProgram } from '../interpreter/module.js'

const registry = createRegistry([
  ...LANGUAGE_FAMILIES,
  {
    name: 'outside',
    builtins: [
      builtin('tick() -> float', { doc: '', effects: ['clock.now'] }, (ctx) => ctx.perform({ kind: 'clock.now', args: {} })),
      builtin('hash() -> string', { doc: '', effects: [] }, (ctx) => ctx.machine.hashHex(new Uint8Array(1))),
    ],
  },
])
const signatures = collectSignatures(registry)

function link(text: string): LinkedProgram {
  const { program, diagnostics } = compileProgram(
    { key: 'main.harn', text },
    { signatures, globals: ['tick', 'hash'], resolve: (path) => ({ kind: 'error', message: `no module ${path}` }) },
  )
  if (program === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return linkProgram(program, registry)
}

// Walks of all kinds: equality, order, keys, formatting, data for effects; and calls that leave the machine in the middle of them.
const WORKER = link(`
let rows = (1 to 400).to_list().map({ n -> {id: n, tags: ["a", "b", to_string(n)], more: [n, [n, [n]]]} })
let copy = json_parse(json_stringify(rows))
var total = 0
for round in 1 to 2 {
  total = total + len(rows.unique()) + len(to_string(rows)) + len(set(rows))
  total = total + len(json_stringify(rows))
  tick()
  if rows == copy { total = total + 1 }
  total = total + len(hash())
  if rows == copy { total = total + 1 }
}
println(total)
`)
// Ends by a limit, thrown through the walk of shared lists.
const ENDLESS = link(`
var xs = [1]
for n in 1 to 60 { xs = [xs, xs] }
println(len(to_string(xs)))
`)

interface Ran {
  readonly end: string
  readonly fuel: number
}

/** Runs a machine to its end; returns how it ended and what it used. */
function finish(machine: Machine, exit: RunExit): Ran {
  let output = exit.output
  let last = exit
  for (; last.kind === 'yielded' || last.kind === 'suspended'; output += last.output) {
    const [asked] = machine.pendingEffects()
    last = machine.resume(asked === undefined ? null : { id: asked.id, outcome: { ok: true, value: 1 } }, 0)
  }
  return { end: last.kind === 'done' ? output : last.kind === 'limit' ? last.message : last.kind, fuel: machine.fuelUsed }
}

function make(program: LinkedProgram, more: Partial<MachineOptions> = {}): Machine {
  return new Machine(program, {
    hashHex: () => 'ab',
    perform: () => ({ ok: true, value: 1 }),
    limits: { sliceFuel: 400 },
    ...more,
  })
}

/** Answered from outside, so that nothing runs within the machine. */
function runAlone(program: LinkedProgram): Ran {
  const machine = make(program, { perform: () => null })
  return finish(machine, machine.start(null, 0))
}

/** Fuel that an immediate outcome saves. */
const TICKS = link('tick()\ntick()\n')
const answered = make(TICKS)
const atOnce = runAlone(TICKS).fuel - finish(answered, answered.start(null, 0)).fuel
const suspended = runAlone(WORKER)
const alone: Ran = { ...suspended, fuel: suspended.fuel - atOnce }
const endless = runAlone(ENDLESS)

test('the values compared below are large enough to be charged, and reach the limit', () => {
  expect(alone.fuel).toBeGreaterThan(5000)
  expect(alone.end).toMatch(/^\d+\n$/)
  expect(endless.end).toMatch(/^too much work at once/)
})

test('machines that run alternately use the same fuel as alone', () => {
  const machines = [make(WORKER), make(ENDLESS), make(WORKER), make(WORKER)]
  const exits = machines.map((machine) => machine.start(null, 0))
  const outputs = exits.map(({ output }) => output)
  // One slice each, until all have ended.
  while (exits.some(({ kind }) => kind === 'yielded')) {
    for (const [at, machine] of machines.entries()) {
      if (exits[at]!.kind !== 'yielded') continue
      exits[at] = machine.resume(null, 0)
      outputs[at] += exits[at].output
    }
  }
  expect(machines.map(({ fuelUsed }) => fuelUsed)).toEqual([alone.fuel, endless.fuel, alone.fuel, alone.fuel])
  expect([outputs[0], outputs[2], outputs[3]]).toEqual([alone.end, alone.end, alone.end])
})

test.each([
  ['ends well', WORKER, alone],
  ['ends by a limit', ENDLESS, endless],
])('a machine inside another one %s', (_name, program, expected) => {
  const inner: Ran[] = []
  const runInner = (depth: number): void => {
    const own: Partial<MachineOptions> =
      depth === 0 ? {} : { perform: () => (runInner(depth - 1), { ok: true, value: 1 }), hashHex: () => (runInner(0), 'ab') }
    const machine = make(depth === 0 ? program : WORKER, own)
    const ran = finish(machine, machine.start(null, 0))
    if (depth === 0) inner.push(ran)
    else expect(ran).toEqual(alone)
  }
  runInner(2)
  expect(inner).toHaveLength(2 * (2 + 2) + 2)
  for (const ran of inner) expect(ran).toEqual(expected)
})

test('an exception of the host does not affect the next machine', () => {
  const broken = make(WORKER, {
    hashHex: () => {
      throw new Error('host')
    },
  })
  expect(() => finish(broken, broken.start(null, 0))).toThrow('host')
  expect(runAlone(WORKER)).toEqual(suspended)
})

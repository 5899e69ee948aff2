// Compiles and runs script text on a bare machine: no world, a clock that stands still unless a timer is due.

import { compileProgram } from '@bridle/compiler'
import type { CompiledProgram } from '@bridle/compiler'
import { createRegistry, linkProgram, Machine, collectSignatures } from '@bridle/vm'
import { STANDARD_FAMILIES } from '../../src/test-support/standard-families.js'
import type { LinkedProgram, Limits, MachineOptions, RunExit } from '@bridle/vm'

export const registry = createRegistry(STANDARD_FAMILIES)
const signatures = collectSignatures(registry)

export function compile(text: string, modules: Readonly<Record<string, string>> = {}): CompiledProgram {
  const result = compileProgram(
    { key: 'main.harn', text },
    {
      signatures,
      resolve: (path) =>
        Object.hasOwn(modules, path)
          ? { kind: 'source', key: path, text: modules[path]! }
          : { kind: 'error', message: `Import error: cannot read '${path}'` },
    },
  )
  if (result.program === null) throw new Error(result.diagnostics.map((each) => each.message).join('\n'))
  return result.program
}

export function link(text: string): LinkedProgram {
  return linkProgram(compile(text), registry)
}

export const options: MachineOptions = { hashHex: () => '00'.repeat(32) }

export interface Ran {
  readonly exit: Exclude<RunExit, { kind: 'suspended' | 'yielded' }> | null
  readonly output: string
  readonly machine: Machine
}

/** Runs to the end, or until nothing but an outside answer could move it on (`exit` is null then). */
export function run(program: LinkedProgram, limits: Partial<Limits> = {}, more: Partial<MachineOptions> = {}): Ran {
  const machine = new Machine(program, { ...options, ...more, limits })
  let now = 0
  let exit = machine.start(null, now)
  let output = ''
  for (;;) {
    output += exit.output
    if (exit.kind === 'yielded') exit = machine.resume(null, now)
    else if (exit.kind === 'suspended') {
      if (exit.wakeAt === null) return { exit: null, output, machine }
      now = exit.wakeAt
      exit = machine.resume(null, now)
    } else return { exit, output, machine }
  }
}

export function runText(text: string, limits: Partial<Limits> = {}, more: Partial<MachineOptions> = {}): Ran {
  return run(link(text), limits, more)
}

// The engine as the benchmarks use it: compile, link and run on a bare machine, without driver or host, so that figures are the
// machine's own. Slices have the default size; the loop below resumes the machine at once.

import { STANDARD_FAMILIES } from '../packages/stdlib-tools/src/test-support/standard-families.js'
import { createHash } from 'node:crypto'
import { compileProgram } from '@bridle/compiler'
import type { Resolution } from '@bridle/compiler'
import type { CompiledProgram } from '@bridle/compiler/bytecode'
import { Machine, createRegistry, linkProgram, collectSignatures } from '@bridle/vm'
import type { BuiltinFamily, LinkedProgram, MachineOptions, Registry, RunExit } from '@bridle/vm'

export const hashHex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export interface Counted {
  readonly output: string
  readonly fuel: number
  readonly heap: number
}

export class Engine {
  readonly registry: Registry
  private readonly signatures

  constructor(extra: readonly BuiltinFamily[] = []) {
    this.registry = createRegistry([...STANDARD_FAMILIES, ...extra])
    this.signatures = collectSignatures(this.registry)
  }

  /** `modules` by the path that imports use. */
  compile(text: string, globals: readonly string[] = [], modules: Readonly<Record<string, string>> = {}): CompiledProgram {
    const { program, diagnostics } = compileProgram(
      { key: 'bench.harn', text },
      { signatures: this.signatures, globals, resolve: (path) => resolveText(modules, path) },
    )
    if (program === null) throw new Error(diagnostics.map((each) => each.message).join('; '))
    return program
  }

  load(text: string, globals: readonly string[] = [], modules: Readonly<Record<string, string>> = {}): LinkedProgram {
    return linkProgram(this.compile(text, globals, modules), this.registry)
  }

  machine(program: LinkedProgram, options: Partial<MachineOptions> = {}): Machine {
    return new Machine(program, { hashHex, ...options })
  }

  /** Runs to the end and returns the output without its last line break. Throws an Error for any other outcome. */
  run(program: LinkedProgram, options: Partial<MachineOptions> = {}): string {
    return this.runCounted(program, options).output
  }

  /** The same, with the fuel and the heap units that the run was charged. */
  runCounted(program: LinkedProgram, options: Partial<MachineOptions> = {}): Counted {
    const machine = this.machine(program, options)
    let output = ''
    let exit = machine.start(null, 0)
    for (;;) {
      output += exit.output
      if (exit.kind === 'done') return { output: output.trimEnd(), fuel: machine.fuelUsed, heap: machine.heapCharged }
      if (exit.kind !== 'yielded') throw new Error(`the run ended with ${describe(exit)}`)
      exit = machine.resume(null, 0)
    }
  }
}

function resolveText(modules: Readonly<Record<string, string>>, path: string): Resolution {
  return Object.hasOwn(modules, path)
    ? { kind: 'source', key: path, text: modules[path]! }
    : { kind: 'error', message: `no module ${path}` }
}

export function describe(exit: RunExit): string {
  return exit.kind === 'failed' ? exit.fault.text : exit.kind === 'limit' ? exit.message : exit.kind
}

// The engine as fuzzing drives it: compile, link and run on a bare machine whose outcomes are a function of the effect's number, so
// that a run depends only on its program. A run can be split into slices and taken through snapshots; that must change nothing.

import { STANDARD_FAMILIES } from '../packages/stdlib-tools/src/test-support/standard-families.js'
import { createHash } from 'node:crypto'
import { compileProgram } from '@bridle/compiler'
import type { EffectAnalysis } from '@bridle/compiler'
import type { ChunkOrigin, CompiledProgram } from '@bridle/compiler/bytecode'
import { createRegistry, linkProgram, Machine, collectSignatures } from '@bridle/vm'
import type { Effect, EffectOutcome, Limits, LinkedProgram, MachineOptions, RunExit, TierOptions } from '@bridle/vm'

export const registry = createRegistry(STANDARD_FAMILIES)
const signatures = collectSignatures(registry)
export const hashHex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Small enough that no program runs long, large enough that most scripts of the corpus reach their end. */
const LIMITS: Limits = {
  fuel: 20_000,
  work: 250_000,
  sliceFuel: 20_000,
  sliceHeap: 1 << 16,
  frames: 5000,
  heap: 1 << 22,
  output: 1 << 20,
  tasks: 1000,
}

/** Exits after which a run is abandoned: one that only sleeps uses little fuel. */
const MOST_EXITS = 4000

/** The one module that programs can import: it has its own variables. */
export const MODULE = {
  path: 'lib/kept',
  text: [
    'var total = 0',
    'var seen = []',
    'let STEP = 2',
    'pub fn bump(by) {',
    '  total = total + by * STEP',
    '  return total',
    '}',
    'pub fn kept_by_module(value) {',
    '  seen = seen.push(value)',
    '  if len(seen) > 3 { seen = [] }',
    '  return again(len(seen))',
    '}',
    'fn again(n) { return n > 2 ? again(n - 1) : [n, total, seen] }',
  ].join('\n'),
}

export interface Compiled {
  readonly program: CompiledProgram | null
  /** The first error, null when there is a program. */
  readonly error: string | null
  /** What it can reach; null when it does not parse. */
  readonly effects: EffectAnalysis | null
}

/** Generating an input and checking it compile the same source. Few entries, because a program takes a quarter of a megabyte. */
const compiledTexts = new Map<string, Compiled>()
const MOST_CACHED = 20

export function compile(text: string): Compiled {
  let compiled = compiledTexts.get(text)
  if (compiled === undefined) {
    compiled = compileAnew(text)
    if (compiledTexts.size >= MOST_CACHED) compiledTexts.delete(compiledTexts.keys().next().value!)
    compiledTexts.set(text, compiled)
  }
  return compiled
}

function compileAnew(text: string): Compiled {
  const { program, diagnostics, effects } = compileProgram(
    { key: 'fuzz.harn', text },
    {
      signatures,
      resolve: (path) =>
        path === MODULE.path
          ? { kind: 'source', key: `${MODULE.path}.harn`, text: MODULE.text }
          : { kind: 'error', message: `Import error: cannot read '${path}': no files here` },
    },
  )
  const error = diagnostics.find((each) => each.severity === 'error')
  if ((program === null) !== (error !== undefined)) throw new Error('a program with errors, or neither program nor errors')
  return { program, error: error?.message ?? null, effects }
}

export function link(program: CompiledProgram, origin: ChunkOrigin = 'compiler'): LinkedProgram {
  return linkProgram(program, registry, origin)
}

/** The outcome of a run; equal programs must end equally however they are run. */
export interface Ending {
  readonly how: 'done' | 'failed' | 'limit' | 'stuck' | 'endless'
  readonly detail: string
  readonly output: string
  readonly fuel: number
}

/** Some effects are answered at once, the others when the machine waits for them; the choice depends only on the effect's number. */
function perform(_effect: unknown, id: number): EffectOutcome | null {
  return id % 3 === 0 ? null : answer(id)
}

function answer(id: number): EffectOutcome {
  return id % 2 === 0 ? { ok: true, value: id } : { ok: false, error: { kind: 'runtime', message: 'the world is closed' } }
}

export interface RunnerOptions {
  readonly sliceFuel?: number
  readonly mostExits?: number
  readonly heap?: number
  readonly tier?: TierOptions | null
  /** Receives every effect of the program. */
  readonly onEffect?: (effect: Effect) => void
}

/** A stopped run, as one process or engine passes it to another. */
export interface Begun {
  readonly snapshot: Uint8Array
  readonly kind: 'suspended' | 'yielded'
  readonly output: string
  readonly exits: number
  /** Milliseconds, as given to the machine. */
  readonly now: number
}

/** A run in progress: advance until `exit` says that it has ended. */
export class Runner {
  machine: Machine
  exit: RunExit
  output = ''
  exits = 0
  private now = 1000
  private readonly mostExits: number
  private readonly program: LinkedProgram
  private readonly options: MachineOptions

  /** Starts the run, or continues one that was `begun` elsewhere. */
  constructor(program: LinkedProgram, options: RunnerOptions = {}, begun: Begun | null = null) {
    const { sliceFuel = LIMITS.sliceFuel, heap = LIMITS.heap, tier, onEffect } = options
    this.mostExits = options.mostExits ?? MOST_EXITS
    this.program = program
    const askHost = (effect: Effect, id: number): EffectOutcome | null => {
      onEffect?.(effect)
      return perform(effect, id)
    }
    this.options = {
      hashHex,
      perform: onEffect === undefined ? perform : askHost,
      limits: { ...LIMITS, sliceFuel, heap },
      ...(tier === undefined ? {} : { tier }),
    }
    if (begun !== null) {
      this.machine = Machine.restore(begun.snapshot, program, this.options)
      this.exit = { kind: begun.kind, output: '' } as RunExit
      this.output = begun.output
      this.exits = begun.exits
      this.now = begun.now
      return
    }
    this.machine = new Machine(program, this.options)
    this.exit = this.machine.start(null, this.now)
    this.output += this.exit.output
  }

  /** What another process or engine needs to continue; only while the run is stopped. */
  exportState(): Begun {
    const { exit, output, exits, now } = this
    if (exit.kind !== 'suspended' && exit.kind !== 'yielded') throw new Error(`a run that is ${exit.kind} cannot go on`)
    return { snapshot: this.machine.snapshot(), kind: exit.kind, output, exits, now }
  }

  /** Continues until the next exit; false when the run has ended. */
  advance(): boolean {
    const { exit, machine } = this
    if (this.exits++ > this.mostExits) return false
    if (exit.kind === 'yielded') this.exit = machine.resume(null, this.now)
    else if (exit.kind === 'suspended') {
      const waiting = machine.pendingEffects()[0]
      if (waiting !== undefined) this.exit = machine.resume({ id: waiting.id, outcome: answer(waiting.id) }, this.now)
      else if (machine.wakeAt === null) return false
      else this.exit = machine.resume(null, (this.now = Math.max(this.now, machine.wakeAt)))
    } else return false
    this.output += this.exit.output
    return true
  }

  /** The machine as bytes, and a fresh one made from them. */
  throughSnapshot(): void {
    this.continueFrom(this.machine.snapshot())
  }

  continueFrom(snapshot: Uint8Array): void {
    this.machine = Machine.restore(snapshot, this.program, this.options)
  }

  get stopped(): boolean {
    return this.exit.kind === 'yielded' || this.exit.kind === 'suspended'
  }

  ending(): Ending {
    const { exit, output } = this
    const fuel = this.machine.fuelUsed
    switch (exit.kind) {
      case 'done':
        return { how: 'done', detail: '', output, fuel }
      case 'failed':
        return { how: 'failed', detail: `${exit.fault.text} ${JSON.stringify(exit.fault.trace)}`, output, fuel }
      case 'limit':
        return { how: 'limit', detail: exit.limit, output, fuel }
      case 'suspended':
        return { how: 'stuck', detail: '', output, fuel }
      case 'yielded':
        return { how: 'endless', detail: '', output, fuel }
    }
  }
}

export function runToEnd(runner: Runner): Ending {
  while (runner.advance());
  return runner.ending()
}

/** null when two runs of one program ended alike. */
export function difference(one: Ending, other: Ending): string | null {
  // Fuel runs out at a fixed point; the other limits are checked only from time to time.
  if (one.how === 'endless' || other.how === 'endless') return null
  if (one.how !== other.how || one.detail !== other.detail) {
    return `ended with ${one.how} ${one.detail.slice(0, 200)}, then with ${other.how} ${other.detail.slice(0, 200)}`
  }
  if (one.how === 'limit') return null
  if (one.output !== other.output)
    return `printed ${JSON.stringify(one.output.slice(0, 300))}, then ${JSON.stringify(other.output.slice(0, 300))}`
  return one.fuel === other.fuel ? null : `used ${one.fuel} units of fuel, then ${other.fuel}`
}

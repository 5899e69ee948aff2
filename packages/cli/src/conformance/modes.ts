// The modes in which a conformance script is run. All must end alike, which proves that a machine can be stopped,
// stored, restored and replayed at any point.
//
//   base      start to end in one machine, nothing compiled to JavaScript
//   compiled  every function compiled at its first call and every loop in its first iteration; then the journal of that run is replayed
//             in the base tier, which must use the same fuel and heap
//   mixed     compiled after one call or iteration, in slices of a few instructions with a restored machine for each, so that code
//             constantly changes tiers
//   snapshot  at every suspension the machine becomes bytes and a fresh one is restored from them; then the same once more with
//             slices of a few instructions, so that "every suspension" is nearly everywhere
//   replay    a recorded run, then the same program fed from the record alone; nothing is performed
//   durable   as a run of a store, undisturbed, then with its process killed in front of each commit (durable.ts)
//   sample    one run in place of several, at about a third of the cost: the base run is recorded, and its record fed to compiled code; then
//             either mixed or snapshot, as the name of the script has it, in slices that soon grow faster
//   rest      after sample: the one of mixed and snapshot that it left out

import type { Context } from '@bridle/vm'
import { readFileSync, realpathSync } from 'node:fs'
import { CompileError, decodeEntry, encodeEntry, MemoryJournal } from '@bridle/stdlib-tools'
import type { DriveEnd, DrivenMachine, JournalEntry, MachineMakers, Module, RunResult, Runtime } from '@bridle/stdlib-tools'
import { canGenerateCode, findCompilerFault, LinkError } from '@bridle/vm'
import type { Machine, RunExit, ScriptPlace, TierOptions, Value } from '@bridle/vm'
import { CommandError } from '../errors.js'
import { makeCommandRuntime } from '../host.js'
import type { ConformanceTest } from './discover.js'
import { judgeDurable } from './durable.js'
import { judge } from './judge.js'
import { viewTest } from './static.js'
import type { Outcome } from './judge.js'
import type { Mode, ModeChoice } from './mode-names.js'

const AT_FIRST_CALL: TierOptions = { calls: 0, turns: 0 }
const AFTER_ONE_CALL: TierOptions = { calls: 1, turns: 1 }

export interface TestRun {
  readonly signal: AbortSignal
  /** Called before each mode begins. */
  readonly onMode?: (mode: Mode) => void
  /** Called with the number of times that a run entered compiled code. */
  readonly onEntered?: (count: number) => void
}

/** null when the script matches its sibling file in every mode; otherwise the reason. */
export async function runTest(test: ConformanceTest, modes: readonly ModeChoice[], run: TestRun): Promise<string | null> {
  const [first = 'base'] = modes
  run.onMode?.(first === 'sample' ? 'base' : first === 'rest' ? chooseModes(test.name).rest : first)
  const view = viewTest(test)
  if (test.kind === 'static' || view !== null) return view
  let runtime: Runtime
  let module: Module
  try {
    const enforceManifest = process.env['BRIDLE_ENFORCE_MANIFEST'] === '1'
    runtime = makeCommandRuntime({
      terminal: false,
      script: realpathSync(test.file),
      enforceManifest,
      standIns: 'script',
      ...(test.llmMock === null ? {} : { runtime: { modelFixtures: test.llmMock } }),
    })
    module = runtime.compile(readFileSync(test.file, 'utf8'), { file: realpathSync(test.file) })
  } catch (cause) {
    if (!(cause instanceof CompileError) && !(cause instanceof LinkError) && !(cause instanceof CommandError)) throw cause
    return judge(test.kind === 'positive' ? 'positive' : 'negative', test.wanted, {
      kind: 'failed',
      output: '',
      error: cause.message,
    })
  }
  const script: Script = {
    test,
    runtime,
    module,
    warnings: module.warnings.map((each) => `warning: ${each.message}\n`).join(''),
    signal: run.signal,
    onEntered: run.onEntered ?? (() => {}),
  }
  const steps = modes.flatMap((choice) => {
    if (choice === 'sample') return sampleModes(script)
    const mode = choice === 'rest' ? chooseModes(test.name).rest : choice
    return [{ mode, judge: () => RUNNERS[mode](script) }]
  })
  for (const [at, step] of steps.entries()) {
    if (at > 0) run.onMode?.(step.mode)
    const verdict = await step.judge()
    if (verdict !== null) return step.mode === 'base' ? verdict : `${step.mode} mode: ${verdict}`
  }
  return null
}

interface Script {
  readonly test: ConformanceTest
  readonly runtime: Runtime
  readonly module: Module
  /** Lines before the output. */
  readonly warnings: string
  readonly signal: AbortSignal
  readonly onEntered: (count: number) => void
}

/** One run that is judged, with the name of its mode. */
interface Step {
  readonly mode: Mode
  readonly judge: () => Promise<string | null>
}

function sampleModes(script: Script): readonly Step[] {
  const journal = new MemoryJournal()
  let base: Machine | null = null
  let outcome: Outcome | null = null
  const recordBase = async (): Promise<string | null> => {
    outcome = await perform(script, { journal, tier: null, machine: (makers) => (base = makers.fresh()) })
    return judgeOutcome(script, outcome)
  }
  const replayCompiled = async (): Promise<string | null> => {
    if (!canGenerateCode()) return NO_CODE
    let compiled: Machine | null = null
    const machine = (makers: MachineMakers): Machine => (compiled = makers.fresh())
    const replayed = replayOnce(script, throughText(journal), { tier: AT_FIRST_CALL, machine })
    const one = compiled as Machine | null
    script.onEntered(one?.tier?.entered ?? 0)
    const recorded = outcome as Outcome | null
    if (one === null || base === null || recorded === null) return 'bug in the runner: there is no run to compare'
    return describeFault(one) ?? compare(recorded, replayed) ?? compareUse(one, base)
  }
  const mode = chooseModes(script.test.name).sample
  const isMixed = mode === 'mixed'
  const restoreOften = async (): Promise<string | null> => {
    if (isMixed && !canGenerateCode()) return NO_CODE
    const machine = (makers: MachineMakers): DrivenMachine =>
      new RestoredMachine(makers, SAMPLED_SLICES, isMixed ? script.onEntered : undefined)
    return judgeOutcome(script, await perform(script, { tier: isMixed ? AFTER_ONE_CALL : null, machine }))
  }
  return [
    { mode: 'base', judge: recordBase },
    { mode: 'compiled', judge: replayCompiled },
    { mode, judge: restoreOften },
  ]
}

/** Assigns every script to one of the two, independent of the order and the number of scripts. */
function chooseModes(name: string): { readonly sample: 'mixed' | 'snapshot'; readonly rest: 'mixed' | 'snapshot' } {
  return fnv(name) % 2 === 0 ? { sample: 'mixed', rest: 'snapshot' } : { sample: 'snapshot', rest: 'mixed' }
}

const NO_CODE = 'this host forbids making functions from text: no code can be compiled'

const RUNNERS: Readonly<Record<Mode, (script: Script) => Promise<string | null>>> = {
  base: async (script) => judgeOutcome(script, await perform(script, { tier: null })),

  compiled: async (script) => {
    if (!canGenerateCode()) return NO_CODE
    const journal = new MemoryJournal()
    let compiled: Machine | null = null
    const outcome = await perform(script, {
      journal,
      tier: AT_FIRST_CALL,
      machine: (makers) => (compiled = makers.fresh()),
    })
    const one = compiled as Machine | null
    script.onEntered(one?.tier?.entered ?? 0)
    const verdict = (one === null ? null : describeFault(one)) ?? judgeOutcome(script, outcome)
    if (verdict !== null) return verdict
    let base: Machine | null = null
    const replayed = replayOnce(script, journal.entries, { tier: null, machine: (makers) => (base = makers.fresh()) })
    const other = base as Machine | null
    return compare(outcome, replayed) ?? (one === null || other === null ? null : compareUse(one, other))
  },

  mixed: async (script) => {
    if (!canGenerateCode()) return NO_CODE
    return judgeOutcome(
      script,
      await perform(script, {
        tier: AFTER_ONE_CALL,
        machine: (makers) => new RestoredMachine(makers, DENSE_SLICES, script.onEntered),
      }),
    )
  },

  snapshot: async (script) => {
    const whole = judgeOutcome(
      script,
      await perform(script, { tier: null, machine: (makers) => new RestoredMachine(makers, null) }),
    )
    if (whole !== null) return whole
    const stress = judgeOutcome(
      script,
      await perform(script, { tier: null, machine: (makers) => new RestoredMachine(makers, DENSE_SLICES) }),
    )
    return stress === null ? null : `with tiny slices: ${stress}`
  },

  durable: (script) => judgeDurable(script, (outcome) => judgeOutcome(script, outcome)),

  replay: async (script) => {
    const journal = new MemoryJournal()
    const recorded = await perform(script, { journal })
    const verdict = judgeOutcome(script, recorded)
    if (verdict !== null) return verdict
    return compare(recorded, replayOnce(script, throughText(journal)))
  },
}

/** Through its serialised form, to find values that cannot be serialised. */
function throughText(journal: MemoryJournal): JournalEntry[] {
  return journal.entries.map((entry) => decodeEntry(encodeEntry(entry)))
}

function describeFault({ program }: Machine): string | null {
  const broken = findCompilerFault(program)
  return broken === null ? null : `bug in the compiler: ${broken instanceof Error ? broken.stack : String(broken)}`
}

/** The 32-bit FNV-1a hash of a string. */
function fnv(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

function judgeOutcome({ test }: Script, outcome: Outcome): string | null {
  return judge(test.kind === 'positive' ? 'positive' : 'negative', test.wanted, outcome)
}

interface PerformOptions {
  readonly journal?: MemoryJournal
  readonly machine?: (makers: MachineMakers) => DrivenMachine
  readonly tier?: TierOptions | null
}

async function perform(script: Script, options: PerformOptions = {}): Promise<Outcome> {
  const result = await script.runtime.start(script.module, { ...options, rawResult: true, signal: script.signal }).result
  return toOutcome(toDriveEnd(result), script.warnings + result.output)
}

function replayOnce(script: Script, entries: readonly JournalEntry[], options: Omit<PerformOptions, 'journal'> = {}): Outcome {
  const result = script.runtime.replay(script.module, entries, options)
  const output = script.warnings + result.output
  if (result.kind === 'ended') return toOutcome(result.end, output)
  if (result.kind === 'stopped') throw new Error('the replay stopped without being told to')
  const { code, message, at, expected, actual } = result.divergence
  const formatCall = (call: typeof expected): string => (call === null ? 'nothing' : `${call.name} ${call.args}`)
  return {
    kind: 'failed',
    output,
    error: `${code} at entry ${at}: ${message}; recorded ${formatCall(expected)}, now ${formatCall(actual)}`,
  }
}

function toDriveEnd(result: RunResult): DriveEnd {
  switch (result.status) {
    case 'done':
      return { kind: 'done', value: result.raw }
    case 'failed':
      return { kind: 'failed', fault: result.error.fault }
    case 'limit':
      return { kind: 'limit', limit: result.limit as Extract<DriveEnd, { kind: 'limit' }>['limit'], message: result.message }
    case 'exit':
      return { kind: 'exit', code: result.code }
    case 'cancelled':
      return { kind: 'cancelled', reason: result.reason }
  }
}

function toOutcome(end: DriveEnd, output: string): Outcome {
  switch (end.kind) {
    case 'done':
      return { kind: 'finished', output }
    case 'failed':
      return { kind: 'failed', output, error: end.fault.text }
    case 'limit':
      return { kind: 'failed', output, error: `the ${end.limit} limit was reached: ${end.message}` }
    case 'exit':
      return end.code === 0 ? { kind: 'finished', output } : { kind: 'failed', output, error: `exit(${end.code})` }
    case 'cancelled':
      return { kind: 'failed', output, error: `cancelled: ${end.reason}` }
  }
}

function compare(recorded: Outcome, replayed: Outcome): string | null {
  if (recorded.kind !== replayed.kind) {
    return `the replay ${replayed.kind === 'failed' ? `failed: ${replayed.error}` : 'finished'}, the recorded run ${recorded.kind}`
  }
  if (recorded.output !== replayed.output) {
    return (
      judge('positive', recorded.output, { kind: 'finished', output: replayed.output }) ?? 'the outputs differ in white space'
    )
  }
  if (recorded.kind === 'failed' && replayed.kind === 'failed' && recorded.error !== replayed.error) {
    return `the errors differ: ${recorded.error} / ${replayed.error}`
  }
  return null
}

/** Limits must apply at the same point in every tier. */
function compareUse(compiled: Machine, base: Machine): string | null {
  if (compiled.fuelUsed !== base.fuelUsed) return `${compiled.fuelUsed} units of fuel, in the base tier ${base.fuelUsed}`
  if (compiled.heapCharged !== base.heapCharged) return `${compiled.heapCharged} heap units, in the base tier ${base.heapCharged}`
  return null
}

/** Slices begin this small and grow each time: every position near the start is hit, and long loops still end. */
const SMALLEST_SLICE = 3

interface Slices {
  /** The fuel of a slice, computed from the previous one. */
  readonly grow: (fuel: number) => number
  /** Consecutive slices after which the script sees the real time again. */
  readonly patience: number
}

/** F units of fuel take √(2F) slices. */
const DENSE_SLICES: Slices = { grow: (fuel) => fuel + 1, patience: 500 }
/** The first take as many; then every further 20 % of fuel takes 4 more slices, until they are large enough for any loop. */
const SAMPLED_SLICES: Slices = {
  grow: (fuel) => Math.min(20_000, fuel + Math.max(1, Math.round(fuel * 0.05))),
  patience: 120,
}

/** A machine that is restored at every suspension; `slices` make suspensions frequent. */
class RestoredMachine implements DrivenMachine {
  private readonly makers: MachineMakers
  private readonly slices: Slices | null
  private sliceFuel = SMALLEST_SLICE
  private now = 0
  /** Slices since the machine last waited. */
  private yields = 0
  private machine: Machine
  private readonly onEntered: (count: number) => void

  constructor(makers: MachineMakers, slices: Slices | null, onEntered: (count: number) => void = () => {}) {
    this.makers = makers
    this.slices = slices
    this.onEntered = onEntered
    this.machine = makers.fresh(this.limits())
  }

  start(input: Value, now: number): RunExit {
    return this.noteExit(this.machine.start(input, now), now)
  }

  resume(answer: Parameters<DrivenMachine['resume']>[0], now: number): RunExit {
    this.onEntered(this.machine.tier?.entered ?? 0)
    this.machine = this.makers.restored(this.machine.snapshot(), this.limits())
    // Writing and reading snapshots takes real time, which the script would not see in one slice: its clock is stopped
    // between slices, unless so many pass that it may be waiting for time to pass.
    const isPatient = this.yields > 0 && this.yields < (this.slices ?? DENSE_SLICES).patience
    const seen = isPatient ? this.now : now
    return this.noteExit(this.machine.resume(answer, seen), seen)
  }

  private noteExit(exit: RunExit, now: number): RunExit {
    this.now = now
    this.yields = exit.kind === 'yielded' ? this.yields + 1 : 0
    return exit
  }

  snapshot(): Uint8Array {
    return this.machine.snapshot()
  }

  onBehalfOf<T>(effect: number, act: (ctx: Context) => T): T | null {
    return this.machine.onBehalfOf(effect, act)
  }

  note(act: (ctx: Context) => void, units?: number): void {
    this.machine.note(act, units)
  }

  get families(): Machine['families'] {
    return this.machine.families
  }

  get place(): ScriptPlace | null {
    return this.machine.place ?? null
  }

  private limits(): { readonly sliceFuel?: number } {
    if (this.slices === null) return {}
    const sliceFuel = this.sliceFuel
    this.sliceFuel = this.slices.grow(sliceFuel)
    return { sliceFuel }
  }
}

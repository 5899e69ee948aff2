// The machine as its parts see it: the state of a run, and what loop, calls, tasks, compiled code and snapshots do to it. vm.ts is the
// only implementation and knows the parts; they know this file. Hosts see the class.

import type {
  Context,
  EffectJudge,
  BuiltinDef,
  Family,
  FrameState,
  LibraryCall,
  MachineAccess,
  Result,
} from '../builtins/builtin.js'
import type { Registry } from '../builtins/registry.js'
import type { Leaving, Site } from '../compiled/site.js'
import type { Enter } from '../compiled/state.js'
import type { Effect, EffectOutcome, PendingEffect } from '../effects/effect.js'
import type { SpanMark } from '../effects/span-marks.js'
import type { TraceRecord } from '../effects/trace-records.js'
import type { FewMap } from '../few-map.js'
import type { HostData } from '../host-data.js'
import type { Coroutine, NativeActivation, Task } from '../scheduler/task.js'
import type { TaskQueue } from '../scheduler/task-queue.js'
import type { Waits } from '../scheduler/waits.js'
import type { HarnClosure } from '../values/callable.js'
import type { HarnGenerator, HarnIter } from '../values/handles.js'
import type { Code, Value } from '../values/types.js'
import type { LimitName, Limits } from './exit.js'
import type { Fault } from './fault.js'
import type { Instr, MethodSite } from './linked.js'
import type { LinkedProgram, Module } from './module.js'
import type { ScriptPlace } from './script-place.js'

export interface MachineOptions {
  readonly limits?: Partial<Limits>
  /** Returns the outcome of an effect at once, or null: then it comes with resume. An immediate outcome does not switch tasks. */
  readonly perform?: (effect: Effect, id: number) => EffectOutcome | null
  /** BLAKE3 of bytes as lower-case hex. */
  readonly hashHex: (bytes: Uint8Array) => string
  /** SHA-256 of a string as lower-case hex, if the host has a faster one. */
  readonly sha256Hex?: (text: string) => string
  /** The host's id of the run; part of the keys by which services recognise a repeated call. Passed again on restore. */
  readonly runId?: string
  /** Constants in addition to those of the registry, such as `argv`. */
  readonly globals?: ReadonlyMap<string, Value>
  /** Initial state of builtin families, by name of the family; others start with their default. */
  readonly states?: () => ReadonlyMap<string, unknown>
  /** The host's configuration for families outside the machine. */
  readonly hostData?: HostData
  /** Judges effects before they leave the machine; without one all are permitted. */
  readonly judge?: EffectJudge
  /** Receives every call; see effects/trace-records.ts. */
  readonly trace?: (record: TraceRecord) => void
  /** Receives the start and end of spans; see effects/span-marks.ts. Needs `trace`. */
  readonly spans?: (mark: SpanMark) => void
  /** A builtin without arguments with which the root task continues when the program has ended normally; its value is the run's. */
  readonly epilogue?: string
  /** When code is compiled; null: never. Ignored if the host forbids making functions from source. */
  readonly tier?: TierOptions | null
  /** Receives every copy of a container that is made because another owner may hold it. The whole run is in the base tier then. */
  readonly copies?: (copy: CopyRecord) => void
}

/** A container was copied to be changed. */
export interface CopyRecord extends ScriptPlace {
  /** Heap units of the copy. */
  readonly bytes: number
}

export interface TierOptions {
  /** Calls of a function from the base tier after which it is compiled. */
  readonly calls: number
  /** Iterations of a loop in the base tier after which it is compiled and entered. */
  readonly turns: number
}

/** What a builtin or a step requested, carried out by `control` (activations.ts). */
export type Action =
  | { readonly kind: 'fault' | 'refused'; readonly fault: Fault }
  | { readonly kind: 'frame'; readonly frame: string; readonly state: FrameState }
  /** A call of `callee` with `callArgs`: the most frequent action makes no object. */
  | { readonly kind: 'call' | 'again' }
  | { readonly kind: 'effect'; readonly id: number }
  | { readonly kind: 'answered'; readonly value: Value }
  | { readonly kind: 'park'; readonly key: string | null; readonly due: number | null }
  | { readonly kind: 'pull'; readonly source: HarnIter | HarnGenerator }
  | { readonly kind: 'library'; readonly body: LibraryCall; readonly args: readonly Value[] }

/** What builtins see (context.ts), with the registers of the running call. */
export interface CallContext extends Context, MachineAccess {
  /** The effect that the host is performing right now; 0 for none. */
  performing: number
  argc: number
  result: Value
  timedOut: boolean
  action: Action | null
  callee: Value
  callArgs: readonly Value[]
}

/** The fallback of a call by name when the callee is not callable. */
export interface CallSite {
  readonly name: string
  readonly suggestion: string | null
}

/** The method that a call of a struct's method found. The cache is the machine's, because machines share a module's instructions. */
export interface FoundMethod {
  readonly struct: string
  readonly home: string
  readonly name: string
  readonly method: HarnClosure
  /** What the call found before. */
  readonly older: FoundMethod | null
}

export interface ModuleState {
  readonly slots: Value[]
  started: boolean
}

/** The compiled tier; compiled/tier.ts documents the members. */
export interface CompiledTier {
  readonly calls: number
  readonly turns: number
  compile(closure: HarnClosure, regs: readonly Value[], from: number): Enter | null
  call(co: Coroutine, enter: Enter, callee: HarnClosure, from: number): Value | undefined
  callRun(co: Coroutine, enter: Enter, callee: HarnClosure, from: number): Value | undefined
  callTail(co: Coroutine, enter: Enter, callee: HarnClosure): Value | undefined
  runLoop(co: Coroutine, loop: Instr, closure: HarnClosure): Value | undefined
  elements(depth: number): Result | undefined
  stepElements(task: Task, activation: NativeActivation): boolean | null
  pull(task: Task, generator: HarnGenerator): Value | undefined
  settle(task: Task): boolean
  callFirst(closure: HarnClosure, depth: number, args: readonly Value[]): Value | undefined
  leaveAtEntry(closure: HarnClosure, args: readonly Value[]): undefined
}

/** vm.ts documents the members. */
export interface Machine {
  readonly program: LinkedProgram
  readonly registry: Registry
  readonly options: MachineOptions
  readonly limits: Limits
  readonly context: CallContext
  readonly tier: CompiledTier | null

  // ---- state of the run
  now: number
  tasks: FewMap<number, Task>
  nextTask: number
  readonly queue: TaskQueue
  ready: Task[]
  nextEffect: number
  nextOrder: number
  modules: FewMap<string, ModuleState>
  families: FewMap<string, unknown>
  impls: FewMap<string, Map<string, HarnClosure>>
  adapters: Map<string, Module> | null
  fuelUsed: number
  plainText: string
  wants: number
  heapCharged: number
  heapNext: number
  outputBytes: number
  input: Value
  pending: FewMap<number, PendingEffect>

  // ---- of the running slice
  fuel: number
  spent: number
  running: Task
  readonly waits: Waits
  readonly effectStarts: FewMap<number, number>
  newEffects: PendingEffect[]
  methodCache: FoundMethod[]
  readonly isStopping: boolean
  readonly isTraced: boolean

  // ---- of compiled code
  readonly leaving: Leaving[]
  raised: Fault | null
  raisedAt: Site | null
  raisedIn: HarnClosure | null
  passing: boolean
  yieldedAt: Site | null
  deepest: number
  floor: number
  tails: number
  unboxing: number

  // ---- fuel, heap, output
  refuel(task: Task): boolean
  refuelBefore(task: Task): boolean
  hitLimit(limit: LimitName, message: string): false
  charge(fuel: number, heap?: number): void
  chargeHeap(units: number): void
  chargeJoin(x: Value, y: Value, inPlace: boolean): void
  chargeText(length: number): void
  chargeRepeat(x: Value, y: Value): void
  chargeCopy(x: Value): void
  chargeUpdate(x: Value): void
  /** Records the copy of a container of this many heap units, by the current instruction of the running coroutine. */
  noteCopy(bytes: number): void
  repeated(units: number): void
  write(text: string): void
  state<S>(family: Family<S>): S

  // ---- calls and faults
  give(co: Coroutine, value: Value): void
  raise(task: Task, fault: Fault): boolean
  makeStackOverflow(): Fault
  runRare(task: Task, instr: Instr, closure: HarnClosure): boolean
  moduleSlots(module: Module): Value[]
  exportValue(key: string, slot: number): Value
  findModule(key: string): Module | null
  isStarted(name: string): boolean
  /** Functions of internal modules that were called without a frame around them, by caller. */
  readonly entries: Map<LibraryCall, HarnClosure>
  placeArguments(code: Code, regs: Value[], base: number, argc: number): void
  runBuiltin(def: BuiltinDef, regs: readonly Value[], from: number, argc: number): Result
  runMethod(def: BuiltinDef, regs: readonly Value[], from: number, argc: number): Result
  findMethod(site: Instr, receiver: Value): BuiltinDef | null
  callMethod(task: Task, receiver: Value, from: number, argc: number, site: MethodSite): boolean
  callFrom(task: Task, callee: Value, from: number, argc: number, site: CallSite | null): boolean
  pipe(task: Task, from: number, tail: boolean): boolean
  findCallable(task: Task, name: string): Value
  settleCall(task: Task, result: Result): boolean
  enter(task: Task, callee: HarnClosure, from: number, argc: number, boundary: boolean): boolean
}

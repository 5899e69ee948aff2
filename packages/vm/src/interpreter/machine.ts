// The machine as its parts see it: the state of a run, and what loop, calls, tasks, compiled code and snapshots do to it. vm.ts is the
// one implementation and knows the parts; they know this file. What hosts see is the class.

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
  /** Answers an effect at once, or null: the answer comes with resume. A ready answer does not switch tasks. */
  readonly perform?: (effect: Effect, id: number) => EffectOutcome | null
  /** BLAKE3 of bytes as lower-case hex. */
  readonly hashHex: (bytes: Uint8Array) => string
  /** SHA-256 of a text as lower-case hex, where the host has a faster one. */
  readonly sha256Hex?: (text: string) => string
  /** What the run is called outside; part of the keys by which services recognise a repeated call. Given again with a restore. */
  readonly runId?: string
  /** Constants beside those of the registry, such as `argv`. */
  readonly globals?: ReadonlyMap<string, Value>
  /** State that builtin families begin with, by name of the family; others begin with their own. */
  readonly states?: () => ReadonlyMap<string, unknown>
  /** What families outside the machine are told by the host. */
  readonly hostData?: HostData
  /** Judges effects before they leave the machine; without one all may. */
  readonly judge?: EffectJudge
  /** Is told of every call; see effects/trace-records.ts. */
  readonly trace?: (record: TraceRecord) => void
  /** Is told where pieces of work begin and end; see effects/span-marks.ts. Needs `trace`. */
  readonly spans?: (mark: SpanMark) => void
  /** A builtin without arguments that the root task goes on with when the program has ended well; its value is the run's. */
  readonly epilogue?: string
  /** When code is compiled; null: never. Without effect where the host forbids making functions from text. */
  readonly tier?: TierOptions | null
  /** Is told of every copy that is made of a container because somebody else may hold it. All of the run is in the base tier then. */
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
  /** Turns of a loop in the base tier after which it is compiled and entered. */
  readonly turns: number
}

/** What a builtin or a step asked for, carried out by `control` (activations.ts). */
export type Action =
  | { readonly kind: 'fault' | 'refused'; readonly fault: Fault }
  | { readonly kind: 'frame'; readonly frame: string; readonly state: FrameState }
  /** Of `callee` with `callArgs`: the most frequent action makes no object. */
  | { readonly kind: 'call' | 'again' }
  | { readonly kind: 'effect'; readonly id: number }
  | { readonly kind: 'answered'; readonly value: Value }
  | { readonly kind: 'park'; readonly key: string | null; readonly due: number | null }
  | { readonly kind: 'pull'; readonly source: HarnIter | HarnGenerator }
  | { readonly kind: 'library'; readonly body: LibraryCall; readonly args: readonly Value[] }

/** What builtins see (context.ts), with the registers of the call that runs. */
export interface CallContext extends Context, MachineAccess {
  /** The effect that the host is asked for right now; 0 for none. */
  performing: number
  argc: number
  result: Value
  timedOut: boolean
  action: Action | null
  callee: Value
  callArgs: readonly Value[]
}

/** What a call by name falls back to when the callee it was given is not callable. */
export interface CallSite {
  readonly name: string
  readonly suggestion: string | null
}

/** What a call of a struct's method found. The cache is the machine's, because a module's instructions are shared by machines. */
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

/** The compiled tier (compiled/tier.ts), which says what each does. */
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

/** vm.ts says what each member is. */
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

  // ---- of the slice that runs
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
  /** A container of so many heap units is copied, by the instruction where the running coroutine stands. */
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
  /** Functions of internal modules that were called without a frame around, by what calls them. */
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

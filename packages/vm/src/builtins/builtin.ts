// What a builtin definition contains, and what its code may do. One definition is the source of the name, the signature that
// the checker and the docs read, the effects it may request, and the implementation.
//
// A builtin never awaits, never calls a script function directly and never touches the world. It returns a Value, or the
// CONTROL mark after telling its context what to do: raise a fault, request an effect, or continue as a *native frame*.
//
// A native frame is a small resumable state machine on the task's stack. `step` is called with its state,
// which must be plain data (Values, numbers, strings, arrays, maps and plain objects of these), and returns one of
//   a Value                        the builtin's result; the frame is popped
//   ctx.call(fn, args)             call a script function; `step` runs again with ctx.result
//   ctx.request(effect)            request an effect; `step` runs again with ctx.result
//   ctx.again()                    return control to the host if the slice is over; then `step` runs again
//   ctx.park(key, dueMs)           wait for ctx.wake(key) or the time; `step` runs again, ctx.timedOut says which
//   ctx.throw / runtime / type …   raise a fault
// A fault that leaves a called function unwinds through the frame, unless the frame has `onFault`.

import type { ModuleChunk } from '@bridle/compiler/bytecode'
import type { Entries } from '../few-map.js'
import type { Plain } from '../values/data.js'
import type { EffectAsCall, EffectSpan, JudgeMode } from '../effects/judge.js'
import type { HostSlot } from '../host-data.js'
import type { SpanMark } from '../effects/span-marks.js'
import { display } from '../values/display.js'
import type { Effect, EffectData } from '../effects/effect.js'
import type { TraceRecord } from '../effects/trace-records.js'
import type { Fault } from '../interpreter/fault.js'
import type { HarnBuiltin, HarnClosure } from '../values/callable.js'
import type { HarnGenerator, HarnIter } from '../values/handles.js'
import type { HarnList } from '../values/list.js'
import type { Value } from '../values/value.js'

/** The mark that says "look at the context": returned by the context's methods, compared by identity, never a Value. */
export class Control {
  readonly name = 'control'
}
export const CONTROL = new Control()

/** What builtins return. */
export type Result = Value | Control

/** State of a builtin family (mocks, caches, policy stacks): plain data that lives in the machine and its snapshots. */
export interface Family<S> {
  readonly name: string
  readonly state: () => S
}

/** Formats the argument at `at`: empty when it was not passed. An explicit nil is `nil`, as elsewhere. */
export function readTextArgument(ctx: Context, at: number, value: Value | undefined): string {
  return ctx.argc > at ? display(value ?? null) : ''
}

export function family<S>(name: string, state: () => S): Family<S> {
  return { name, state }
}

/** The world as a builtin sees it. Valid only during the call that was given it. */
export interface Context {
  /** Number of arguments that the caller passed; missing ones are nil. */
  readonly argc: number
  /** In a step: what the called function returned, or the outcome of the effect. nil at the first step. */
  readonly result: Value
  /** In a step after park: whether the time ran out before a wake. */
  readonly timedOut: boolean
  /** Milliseconds since 1970, set by the last start or resume. Ignores the mock clock of a script. */
  readonly now: number

  state<S>(family: Family<S>): S
  /** The same, but undefined if no state was made yet: readers must not create state, because snapshots contain it. */
  findState<S>(family: Family<S>): S | undefined
  /** Appends to the output of the running task. */
  write(text: string): void
  /** Charges work and memory before doing it: 1 unit of fuel ≈ one loop iteration, 16 heap units a slot. */
  charge(fuel: number, heap?: number): void
  /** Charges for copying a container of this many heap units, because its receiver must not be changed. */
  noteCopy(bytes: number): void
  /** Fuel that one operation may use. An operation that would be charged more should not start. */
  readonly mostWork: number

  throw(value: Value): Control
  runtime(message: string): Control
  type(message: string): Control
  categorized(category: string, message: string): Control
  fail(fault: Fault): Control

  /** Requests an effect and makes its outcome the builtin's result (plain data is converted by fromPlain). */
  perform(effect: Effect): Result
  /** Continues as the native frame `kind`; `step` runs at once. */
  frame(kind: string, state: FrameState): Control

  /** Continues as a function of an internal module. */
  library(body: LibraryCall, args: readonly Value[]): Control

  /** In a step only. */
  call(callee: Value, args: readonly Value[]): Control
  request(effect: Effect): Control
  /** Calls `step` again: at once, or in the next slice if this one is over. */
  again(): Control
  /** Waits for wake(key), or until `dueMs` (same clock as `now`; null: no limit). */
  park(key: string | null, dueMs: number | null): Control
  /** Runs a generator to its next value: `result` is a value or END (values/handles.ts). */
  pull(source: HarnIter | HarnGenerator): Control

  /** Makes every task parked on `key` runnable, in the order in which they parked. */
  wake(key: string): void
  /** Looks a builtin or method up by name, for builtins that call others through ctx.call. */
  builtinValue(name: string): Value
  /**
   * Facts of the running module: directory for relative paths, source file name. Modules without a file (`<stdlib>/…`)
   * report those of their caller. `entry` is the file of the main program.
   */
  readonly source: { readonly file: string; readonly directory: string; readonly entry: string }
  /** The machine, for the few builtins that are part of it (tasks, snapshots, tools). */
  readonly machine: MachineAccess
}

/** Judges effects before they leave the machine. */
export interface EffectJudge {
  /** Describes what is wrong with an effect that a primitive requested by kind, because its fields are not typed there. Null if it is valid. */
  readonly problem: (effect: EffectData) => string | null
  /** The effect with the fields that grants fill in. */
  readonly complete: (ctx: Context, effect: Effect) => Effect
  /**
   * Returns what must run before the effect, such as an approval, and then requests it. Null when the effect may proceed directly.
   * `asked` is the effect as its builtin made it, `effect` the result of `complete`.
   */
  readonly hold?: (ctx: Context, asked: Effect, effect: Effect) => Control | null
  /** The fault for an effect that is not permitted, or null. */
  readonly refuse: (ctx: Context, effect: Effect, mode: JudgeMode) => Fault | null
  /** The largest value that a tool argument may have when the script sets no limit; Infinity without one. */
  readonly limit: (ctx: Context, tool: string, argument: string) => number
  /** Null for an effect that traces do not show as a call. */
  readonly describe: (effect: Pick<Effect, 'kind' | 'args'>) => EffectAsCall | null
  /** Null for an effect that needs no span. `isCovered`: the task runs within a call whose span already describes the work. */
  readonly span: (effect: Effect, isCovered: boolean) => EffectSpan | null
  /** What the answer to an effect says of the piece of work that it is. */
  readonly spanEnd?: (effect: Effect, answer: Plain) => EffectSpan['facts']
  /** The error code of a category. */
  readonly codeOf: (category: string) => string
}

/** The function of an internal module that is the body of a builtin (interpreter/library.ts). */
export interface LibraryCall {
  /** Path below the sources of the library, without its extension: `agents/people/monitors`. */
  readonly module: string
  readonly function: string
  /** `drop`: the output of callbacks is discarded. */
  readonly output: 'keep' | 'drop'
}

/** The ceilings that importers put on a module, as its chunk lists them. The machine only finds which module is meant. */
export type Ceiling = NonNullable<ModuleChunk['ceilings']>[number]

/** What intrinsics may do beyond other builtins; implemented by the Machine. */
export interface MachineAccess {
  /** The host's configuration for the family of the slot. */
  hostData<T>(slot: HostSlot<T>): T
  /** Judges effects, if the host gave a judge. */
  readonly judge: EffectJudge | null
  /** Starts a task; it runs when the caller next waits. When it ends, tasks parked on `makeTaskKey(id)` are woken. */
  spawn(callee: HarnClosure | HarnBuiltin, args: readonly Value[], options?: SpawnOptions): number
  /** A function of an internal module. `starts`: the module's own code, which has just begun and must finish first. */
  libraryEntry(module: string, name: string): { readonly callee: Value; readonly starts: boolean }
  hashHex(bytes: Uint8Array): string
  /** SHA-256 of a string's UTF-8 bytes, in lower-case hex. */
  sha256Hex(text: string): string
  /** The host's id of the run; null if it gave none. */
  readonly runId: string | null
  /** Facts of the running task. */
  task(): TaskFacts
  taskOutcome(id: number): TaskOutcome
  /** Sets the cancel flag of a task. Does nothing for unknown and ended tasks. */
  requestCancel(id: number): void
  /** Ends a task at once; its frames leave, its outcome becomes `aborted`. */
  abortTask(id: number): void
  /** A closure (as scripts see it) that calls a builtin with `bound` values before its own arguments, named by `params`. */
  closureOver(builtin: string, bound: readonly Value[], params: readonly string[]): Value
  /** The number of the running task, 0 for the root. */
  readonly taskNumber: number
  /** Removes an ended task after its outcome was taken: another await gives nil. */
  forgetTask(id: number): void
  /** A stream that calls `builtin` with `bound` for each item until it returns END. */
  streamOver(builtin: string, bound: readonly Value[]): Value
  /** The ceilings that importers put on the module making the running call; null for no ceiling. */
  readonly importCeilings: readonly Ceiling[] | null
  /** Key of the module that makes the running call, if it has ceilings. */
  readonly narrowedCaller: string | null
  /** Faults with `Deadline exceeded` at `dueMs`, until endTimeLimit. In a step only, and one at a time. */
  beginTimeLimit(dueMs: number): void
  /** Ends the time limit that was started last. Returns whether it had expired. */
  endTimeLimit(): boolean
  /** Receives the start and end of spans; null when nobody records them. */
  readonly spans: ((mark: SpanMark) => void) | null
  /** Writes to the host's trace; null when it keeps none. Never influences the run. */
  readonly traced: ((record: TraceRecord) => void) | null
  /** Counts the groups of parallel children that the running task has made. */
  nextGroup(): number
  /** Whether a limit was hit. The run ends when the caller next waits or reaches a fuel point, so it should stop working. */
  readonly isStopping: boolean
  /** Ids of the permits that the machine can still reach; permits outside it are given back. Absent: none are. */
  reachablePermits?(): ReadonlySet<number>
  /** Whether an effect was requested and has no outcome yet. */
  isPending(effect: number): boolean
  /** Records units that were paid before a restore and are done again: they shorten the slice but use no fuel. */
  repeated?(units: number): void
}

export interface SpawnOptions {
  /** What `runtime_context` shows as task_name; `spawn` when absent. */
  readonly name?: string
  /** Task id as scripts see it; `<parent>:spawn:N` when absent. */
  readonly taskId?: string
  readonly group?: string
}

/** Position of a task in the tree of tasks. Ids are the strings that scripts see. */
export interface TaskFacts {
  readonly taskId: string
  readonly parentId: string | null
  readonly rootId: string
  readonly name: string
  readonly group: string | null
  readonly cancelled: boolean
  /** How many tasks this one has spawned. */
  readonly spawned: number
  /** Numbers of the children that were never awaited. */
  readonly unawaited: readonly number[]
  /** What runtime_context_set wrote; a child starts with a copy. Changed in place. */
  readonly values: Entries<string, Value>
  /** Other fields of runtime_context, by name (run_id, trace_id …), as agents and workflows set them; inherited like values. */
  readonly fields: Entries<string, Value>
}

export type TaskOutcome =
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly value: Value; readonly output: string }
  | { readonly kind: 'failed'; readonly fault: Fault; readonly output: string }
  | { readonly kind: 'aborted' }

/** The park key of the end of any task that task `id` started. */
export function makeChildrenKey(id: number): string {
  return `children:${id}`
}

/** The park key of a task's end. */
export function makeTaskKey(id: number): string {
  return `task:${id}`
}

export type FrameState = { [key: string]: unknown }

/** State of a running loop over a list (lists-callbacks.ts). `out` and `acc` belong to the row. */
export interface LoopState extends FrameState {
  list: HarnList
  fn: Value
  /** Element whose result is awaited, -1 before the first. */
  at: number
  out: Value[]
  acc: Value
}

export interface Loop {
  /** Handles the callback's result for `item`. A returned value ends the loop; undefined continues it. */
  readonly visit: (state: LoopState, item: Value, answer: Value) => Value | undefined
  /** The result; called once. */
  readonly end: (state: LoopState, ctx: Context) => Result
  /** Number of arguments of the call, 1 by default. */
  readonly count?: 2
  /** Arguments of the call, `[item]` by default. */
  readonly args?: (state: LoopState, item: Value) => readonly Value[]
}

export interface FrameDef {
  readonly kind: string
  /**
   * Functions that it calls are separate runs: they start with a fresh depth count, and faults that leave them gain the line
   * suffix. True for everything except control constructs.
   */
  readonly runBoundary: boolean
  /** `drop`: the output of called functions is discarded. */
  readonly output: 'keep' | 'drop'
  /** Whether a wait in it ends at once when the task is cancelled. Other waits last until the grace period ends. */
  readonly heedsCancel?: boolean
  // The machine only stores the state; its type is known to the definition.
  readonly step: (ctx: Context, state: never) => Result
  /** Makes the frame's loop for builtins that call a function for every element, so that compiled code can run the loop. */
  readonly loop?: Loop
  readonly onFault?: (ctx: Context, state: never, fault: Fault) => Result
  /** Runs when the frame leaves for any reason, to release locks and the like. Must not call, request or park. */
  readonly onLeave?: (ctx: Context, state: never) => void
}

export function frame<S extends FrameState>(def: {
  readonly kind: string
  readonly step: (ctx: Context, state: S) => Result
  readonly onFault?: (ctx: Context, state: S, fault: Fault) => Result
  readonly onLeave?: (ctx: Context, state: S) => void
  readonly runBoundary?: boolean
  readonly output?: 'keep' | 'drop'
  readonly heedsCancel?: boolean
  readonly loop?: Loop
}): FrameDef {
  return { runBoundary: true, output: 'keep', ...def } as unknown as FrameDef
}

/**
 * 'pure': same arguments, same result, no effect, no callback. Otherwise the kinds of effect it may request, or 'callback'. Compiled
 * code calls pure builtins, and those that only call back, while its callers have no frames on the stack.
 */
export type Effects = 'pure' | readonly string[]

// Arguments are padded with nil to the number of declared parameters; a rest parameter receives the remaining ones.
export type Run = (ctx: Context, ...args: Value[]) => Result

export type Quick = (self: Value, argument: Value) => Value | undefined

/** The frame with which a list method continues if the argument `fn` (from 0) is callable; the argument before it, if any, is the first `acc`. */
export interface Each {
  readonly frame: string
  readonly fn: 0 | 1
}

export type Shapes = { readonly [param: string]: string }

export interface BuiltinDef {
  readonly name: string
  /** Number of declared parameters without the rest parameter. */
  readonly arity: number
  readonly rest: boolean
  /** `name<T>(a: type, b?: type, ...rest: type) -> type`, the source of docs and checker signature. */
  readonly signature: string
  /**
   * The result type for the checker, where it is weaker than the signature (`?`: unknown). A check that stops
   * a run may rely only on this type; otherwise it would reject scripts that the language accepts.
   */
  readonly checkedAs: string | null
  /** The result comes from outside and has an unknown shape: strict checks require an annotation or a schema. */
  readonly fromOutside: boolean
  /** Keys of options dicts by parameter, in the notation of option-shapes.ts; null for none. */
  readonly shapes: Shapes | null
  readonly doc: string
  readonly effects: Effects
  /** True when arguments are neither kept nor returned, so the compiler may keep ownership of a container that it passes. */
  readonly borrows: boolean
  /** The JavaScript expression for a float argument, if the builtin does nothing else: compiled code calls it on raw doubles. null for none. */
  readonly real: ((x: number) => number) | null
  /**
   * The result for small arguments, for which it charges nothing, raises nothing and needs no context; undefined for all others.
   * Optional: compiled code tries it first and inlines it. null for none.
   */
  readonly quick: Quick | null
  /** For a method whose native frame calls its last argument for every element of the receiver; null for none. */
  readonly each: Each | null
  /** Whether it charges for its arguments itself, also in families whose arguments are charged by size (charging.ts). */
  readonly pays: boolean
  readonly run: Run
  readonly receiver: string | null
}

interface Options {
  readonly doc: string
  readonly fromOutside?: boolean
  readonly shapes?: Shapes
  readonly effects?: Effects
  readonly borrows?: boolean
  readonly pays?: boolean
  readonly quick?: Quick
  readonly each?: Each
}

/** The type behind the result for the checker: `len(value: any) -> int as ?`. */
const CHECKED_AS = ' as '

function parseSignature(signature: string): { name: string; arity: number; rest: boolean } {
  // A thousand signatures are read at every start, in code that is not optimised yet: one native call is cheaper
  // than a loop here, and most parameter lists have no brackets.
  const open = signature.indexOf('(')
  const end = signature.indexOf(')', open)
  const plain = signature.slice(open + 1, end)
  if (open > 0 && end > 0 && !BRACKET.test(plain)) {
    const rest = plain.includes('...')
    let arity = plain.length === 0 || rest ? 0 : 1
    for (let at = plain.indexOf(','); at >= 0; at = plain.indexOf(',', at + 1)) arity += 1
    return { name: readName(signature, open), arity, rest }
  }
  let params = 0
  let rest = false
  let between = true
  for (let at = open + 1, depth = 0; at > 0 && at < signature.length; at += 1) {
    const char = signature.charCodeAt(at)
    if (char === SPACE) continue
    if (char === QUOTE) {
      at = signature.indexOf('"', at + 1)
      continue
    }
    if (char === CLOSE && depth === 0) return { name: readName(signature, open), arity: params - (rest ? 1 : 0), rest }
    if (char === COMMA && depth === 0) {
      between = true
      continue
    }
    if (between) {
      between = false
      params += 1
      rest = signature.startsWith('...', at)
    }
    if (OPENING.includes(char)) depth += 1
    else if (CLOSING.includes(char) && signature.charCodeAt(at - 1) !== MINUS) depth -= 1
  }
  throw new Error(`bad builtin signature: ${signature}`)
}

/** The name in front of the parameters, without type parameters. */
function readName(signature: string, open: number): string {
  return signature.slice(0, signature.charCodeAt(open - 1) === ANGLE ? signature.indexOf('<') : open)
}

const BRACKET = /[(<[{"]/
const listCodes = (text: string): readonly number[] => [...text].map((char) => char.charCodeAt(0))
const OPENING = listCodes('(<[{')
const CLOSING = listCodes(')>]}')
const SPACE = 32
const COMMA = 44
const CLOSE = 41
const MINUS = 45
const ANGLE = 62
const QUOTE = 34

/**
 * Defines a builtin: `builtin('split(text: string, separator?: string) -> list<string>', { doc, effects }, run)`. A weaker type
 * for the checker may follow the result: `-> int as ?`.
 */
export function builtin(signature: string, options: Options, run: Run): BuiltinDef {
  return define(null, signature, options, run)
}

function define(receiver: string | null, signature: string, options: Options, run: Run): BuiltinDef {
  const { name, arity, rest } = parseSignature(signature)
  const as = signature.lastIndexOf(CHECKED_AS)
  return {
    name,
    arity,
    rest,
    signature: as < 0 ? signature : signature.slice(0, as),
    checkedAs: as < 0 ? null : signature.slice(as + CHECKED_AS.length),
    fromOutside: options.fromOutside ?? false,
    shapes: options.shapes ?? null,
    doc: options.doc,
    effects: options.effects ?? 'pure',
    borrows: options.borrows ?? false,
    pays: options.pays ?? false,
    quick: options.quick ?? null,
    each: options.each ?? null,
    real: null,
    run,
    receiver,
  }
}

/**
 * Defines a builtin whose body is a function of an internal module. `output` says whether the output of callbacks is kept; builtins
 * whose callbacks are separate runs drop it.
 */
export function harnBuiltin(
  signature: string,
  options: Options,
  body: { readonly module: string; readonly function: string; readonly output?: 'keep' | 'drop' },
): BuiltinDef {
  const call: LibraryCall = { output: 'keep', ...body }
  return define(null, signature, options, (ctx, ...args) =>
    // The function applies its own defaults to arguments that were not passed.
    ctx.library(call, args.length > ctx.argc ? args.slice(0, ctx.argc) : args),
  )
}

/** The same builtin with another `run`. Its shortcuts are removed, because they would bypass it. */
export function withRun(def: BuiltinDef, run: Run): BuiltinDef {
  return { ...def, quick: null, each: null, real: null, run }
}

/** The same builtin with the keys of its options. */
export function describeOptions(def: BuiltinDef, shapes: Shapes): BuiltinDef {
  return { ...def, shapes }
}

/** The same builtin, whose result comes from outside. */
export function markFromOutside(def: BuiltinDef): BuiltinDef {
  return { ...def, fromOutside: true }
}

/** Defines a method; the receiver is the first argument of `run` and not part of the signature: `method('list', 'map(f: closure) -> list', …)`. */
export function method(receiver: string, signature: string, options: Options, run: Run): BuiltinDef {
  return define(receiver, signature, options, run)
}

// What a function's code knows of its compiled form. FunctionCode holds it, so it belongs to the shared module and contains no script
// values. All other files here import FunctionCode, so this one knows of machines only what uncompiled code needs.

import type { LoopState } from '../builtins/builtin.js'
import type { Instr } from '../interpreter/linked.js'
import type { HarnClosure } from '../values/callable.js'
import type { HarnList } from '../values/list.js'
import type { Code, Value } from '../values/types.js'

declare module '../values/types.js' {
  interface Code {
    /** Calls from the base tier so far; permanently below zero if compiling was refused or did not pay. */
    heat: number
    enter: Enter | null
    jit: Compiled
    readonly compiled: CompiledState
  }
}

/** The machine that compiled code runs in. Generated code uses its full interface (compiled/runtime.ts). */
export interface Host {
  readonly tier: {
    callFirst(closure: HarnClosure, depth: number, args: readonly Value[]): Value | undefined
    leaveAtEntry(closure: HarnClosure, args: readonly Value[]): undefined
  } | null
}

/** A compiled function: the depth of its activation, then arguments. Returns undefined when it left, see runtime.ts. */
export type Compiled = (m: Host, closure: HarnClosure, depth: number, ...args: Value[]) => Value | undefined

/** The same with its slots in `regs` from `base` on; how the base tier enters a function or a loop. */
export type Enter = (m: Host, closure: HarnClosure, depth: number, regs: readonly Value[], base: number) => Value | undefined

/**
 * Continues after the element `at` (-1: none yet), for which the function returned `answer`; the function's activations are at `depth`.
 * The state, whose list and `acc` are passed separately, may be null at the beginning and is made when something needs it.
 * Returns the value of the builtin, or undefined as calls do: then a fault was raised, or the native frame is the last of `leaving`.
 */
export type ElementLoop = (
  m: Host,
  fn: HarnClosure,
  depth: number,
  list: HarnList,
  state: LoopState | null,
  at: number,
  answer: Value,
  acc: Value,
) => Value | undefined

/** What a slot must hold at the entry of a unit; a type of types.ts. */
export interface Expectation {
  readonly slot: number
  readonly type: number
  /** A list that floats are read from. */
  readonly reals: boolean
}

/** A compiled loop, in `Instr.cache` of its LOOP; or a generator's code up to its next yield, in that of the YIELD where it stopped. */
export interface EnteredUnit {
  readonly enter: Enter
  readonly expects: readonly Expectation[]
  readonly profit: Profit
}

/** Whether entering pays: fuel used inside, against the number of exits to the base tier for reasons other than fuel. */
export class Profit {
  leaves = 0
  work = 0
}

export class CompiledState {
  /** The flow graph (graph.ts), null until it is first needed. */
  graph: object | null = null
  /** Whether the code has guards. */
  guesses = true
  /** Whether the values at the entry of a unit are a hint for later ones. */
  entryGuesses = true
  /**
   * Whether the assignment that copies a list is left to the base tier, when a loop examines its lists only once: undecided, yes, or
   * no longer, because it happens all the time.
   */
  leavesToOwn: 'unasked' | 'yes' | 'no' = 'unasked'
  misses = 0
  /** A bug inside the compiler, null if there was none. */
  broken: unknown = null
  readonly profit = new Profit()
  /** Of the function and its loops together. */
  readonly all = new Profit()
  /** Functions into which this one is inlined: its wrong guesses count for them. */
  readonly hosts = new Set<Code>()
  /** LOOP and YIELD instructions with a unit. */
  readonly entered: Instr[] = []
  /** The code of a generator up to its first yield. */
  beginning: EnteredUnit | null = null
  /** Generators of this code that were started; permanently below zero if compiling does not pay. */
  begun = 0
  /** Loops that call this function for every element of a list, by kind of native frame; and the number of elements so far. */
  readonly loops = new Map<string, ElementLoop>()
  elements = 0
  /** The function that compiled code entered last, and its frame. */
  lastFrame = ''
  lastLoop: ElementLoop | null = null
  /** The value of `jit` while there is no compiled function. */
  first: Compiled = callUncompiled
}

/** Placeholder for a function that is not compiled: the first call from compiled code compiles it. */
export function callUncompiled(m: Host, closure: HarnClosure, depth: number, ...args: Value[]): Value | undefined {
  return m.tier!.callFirst(closure, depth, args)
}

/** Placeholder for a function that stays in the base tier. */
export function callRefused(m: Host, closure: HarnClosure, _depth: number, ...args: Value[]): Value | undefined {
  return m.tier!.leaveAtEntry(closure, args)
}

/** Discards the compiled code of a function. */
export function forget(code: Code): void {
  code.enter = null
  code.jit = code.compiled.first
  for (const instr of code.compiled.entered) instr.cache = null
  code.compiled.entered.length = 0
  code.compiled.beginning = null
  code.compiled.loops.clear()
  code.compiled.lastFrame = ''
  code.compiled.lastLoop = null
}

/** Keeps the function in the base tier permanently. */
export function giveUp(code: Code): void {
  code.heat = NEVER
  code.enter = null
  code.jit = callRefused
  code.compiled.first = callRefused
}

/** A count that never reaches a threshold; a small int, because a double in the field would slow the loop down. */
export const NEVER = -(2 ** 30)

// What a function's code knows of its compiled form. Held by FunctionCode, so it belongs to the shared module and holds no script
// values; everything else here sees FunctionCode, so this file knows of machines only what code asks that is not compiled.

import type { LoopState } from '../builtins/builtin.js'
import type { Instr } from '../interpreter/linked.js'
import type { HarnClosure } from '../values/callable.js'
import type { HarnList } from '../values/list.js'
import type { Code, Value } from '../values/types.js'

declare module '../values/types.js' {
  interface Code {
    /** Calls from the base tier so far; below zero for good where compiling was refused or did not pay. */
    heat: number
    enter: Enter | null
    jit: Compiled
    readonly compiled: CompiledState
  }
}

/** The machine that compiled code runs in. Text that was made for it knows it whole (compiled/runtime.ts). */
export interface Host {
  readonly tier: {
    callFirst(closure: HarnClosure, depth: number, args: readonly Value[]): Value | undefined
    leaveAtEntry(closure: HarnClosure, args: readonly Value[]): undefined
  } | null
}

/** A compiled function: the depth of its activation, then arguments. Undefined: it left, see runtime.ts. */
export type Compiled = (m: Host, closure: HarnClosure, depth: number, ...args: Value[]) => Value | undefined

/** The same with its slots in `regs` from `base` on; how the base tier enters a function or a loop. */
export type Enter = (m: Host, closure: HarnClosure, depth: number, regs: readonly Value[], base: number) => Value | undefined

/**
 * Goes on behind the element `at` (-1: none yet), for which the function gave `answer`; the function's activations are at `depth`.
 * The state, whose list and `acc` are given beside it, may be null at the beginning: then it is made where something needs it.
 * The value of the builtin, or undefined as calls have it: then a fault is raised, or the native frame is the last of `leaving`.
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

/** What a slot must hold where a unit is entered; a type of types.ts. */
export interface Expectation {
  readonly slot: number
  readonly type: number
  /** A list that floats are read from. */
  readonly reals: boolean
}

/** A compiled loop, in `Instr.cache` of its LOOP; or what a generator does up to its next yield, in that of the YIELD it stands at. */
export interface EnteredUnit {
  readonly enter: Enter
  readonly expects: readonly Expectation[]
  readonly profit: Profit
}

/** Whether entering pays: fuel that was used inside against the times it handed over to the base tier for another reason. */
export class Profit {
  leaves = 0
  work = 0
}

export class CompiledState {
  /** The flow graph (graph.ts), null until it is asked for. */
  graph: object | null = null
  /** Whether anything is taken for granted behind a guard. */
  guesses = true
  /** Whether values at hand where a unit is entered are a hint of what comes. */
  entryGuesses = true
  /**
   * Whether the assignment that copies a list is left to the base tier, where a loop looks at its lists once: not asked yet, so, or
   * no more, because it happens all the time.
   */
  leavesToOwn: 'unasked' | 'yes' | 'no' = 'unasked'
  misses = 0
  /** What went wrong inside the compiler, null when nothing did. */
  broken: unknown = null
  readonly profit = new Profit()
  /** That of the function and its loops together. */
  readonly all = new Profit()
  /** Functions in whose texts this one is taken in: its wrong guesses are theirs. */
  readonly hosts = new Set<Code>()
  /** LOOP and YIELD instructions with a unit. */
  readonly entered: Instr[] = []
  /** What a generator does up to its first yield. */
  beginning: EnteredUnit | null = null
  /** Generators of this code that were begun; below zero for good where that does not pay. */
  begun = 0
  /** Loops that call this function for every element of a list, by kind of native frame; and elements that it was called for. */
  readonly loops = new Map<string, ElementLoop>()
  elements = 0
  /** The one that compiled code entered last, and its frame. */
  lastFrame = ''
  lastLoop: ElementLoop | null = null
  /** What `jit` is while there is no compiled function. */
  first: Compiled = callUncompiled
}

/** Stands for a function that is not compiled: the first call from compiled code compiles it. */
export function callUncompiled(m: Host, closure: HarnClosure, depth: number, ...args: Value[]): Value | undefined {
  return m.tier!.callFirst(closure, depth, args)
}

/** Stands for a function that stays in the base tier. */
export function callRefused(m: Host, closure: HarnClosure, _depth: number, ...args: Value[]): Value | undefined {
  return m.tier!.leaveAtEntry(closure, args)
}

/** Throws away what was compiled of a function. */
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

/** The function stays in the base tier for good. */
export function giveUp(code: Code): void {
  code.heat = NEVER
  code.enter = null
  code.jit = callRefused
  code.compiled.first = callRefused
}

/** A count that no counting brings above a threshold; a small int, because a field that held a double would slow the loop down. */
export const NEVER = -(2 ** 30)

// What a driver needs of a machine, and its state of the calls that the machine requested. Apart from the drivers, since what works for
// them needs it too.

import { TOOL_CALLS } from '../tools/dispatch/branches.js'
import type { RunBranch } from '../tools/dispatch/branches.js'
import type { Context, Effect, EffectOutcome, RunExit, ScriptPlace, Value } from '@bridle/vm'

/** What the driver needs of a machine. */
export interface DrivenMachine {
  start(input: Value, now: number): RunExit
  resume(answer: { readonly id: number; readonly outcome: EffectOutcome } | null, now: number): RunExit
  snapshot(): Uint8Array
  /** Where the task that asks for an effect stands. */
  readonly place?: ScriptPlace | null
  /** Effects that were asked for and not answered, in order: what a restored run asks for again. */
  pendingEffects?(): readonly { readonly id: number; readonly effect: Effect }[]
  /** Effects that tasks still wait for. A deadline or a cancelled task abandons what it asked for. */
  pendingIds?(): readonly number[]
  /** State of builtin families, by name. */
  readonly families?: Pick<ReadonlyMap<string, unknown>, 'get'>
  /** Calls a function on behalf of the task that waits for an effect; null when none does. */
  onBehalfOf?<T>(effect: number, act: (ctx: Context) => T): T | null
  /** For what enters the run beside its answers; `units` are heap units of what is kept. */
  note?(act: (ctx: Context) => void, units?: number): void
  /** Number of the next effect. */
  readonly nextEffect?: number
  /** Ends the run from outside; what it still had to print leaves with the exit. */
  cancel?(reason: string): RunExit
}

/** Numbers of the next effect and the next tool call of a machine. */
export type NextNumbers = Pick<RunBranch, 'effect' | 'call'>

/** For a machine that does not report branches: all output belongs to the continuing run. */
export function readNextNumbers(machine: DrivenMachine): NextNumbers {
  const calls = machine.families?.get(TOOL_CALLS) as { readonly made: number } | undefined
  return { effect: machine.nextEffect ?? 1, call: (calls?.made ?? 0) + 1 }
}

/** How the machine asks: null means "pending, the answer comes by resume". */
export type AnswerEffect = (effect: Effect, id: number) => EffectOutcome | null

/** An answer that arrived and that the machine was not given yet. */
export interface ArrivedAnswer {
  readonly id: number
  readonly outcome: EffectOutcome
}

/** A call without an answer. */
export interface BegunCall {
  /** When it was asked for first, milliseconds since 1970. */
  readonly askedAt: number
  /** The token of its answer, if it waits for one from outside. */
  readonly token: string | null
}

/** By the number of the call. */
export type BegunCalls = ReadonlyMap<number, BegunCall>

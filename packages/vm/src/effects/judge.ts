// Who judges effects before they leave the machine. The machine has no policy of its own: a host that has one gives a judge with
// MachineOptions.

import type { Context } from '../builtins/builtin.js'
import type { Fault } from '../interpreter/fault.js'
import type { Effect, Plain } from './effect.js'
import type { NestedCall } from './tool-records.js'

/** An effect as the call of a tool: what traces and grants name. */
export interface EffectAsCall {
  readonly tool: string
  readonly args: { readonly [name: string]: Plain }
}

/** `judge` refuses and counts nothing; `count` counts only, for what a mock answers; `both` is for what is performed. */
export type JudgeMode = 'both' | 'judge' | 'count'

export interface EffectJudge {
  /** The effect with what grants fill in. */
  readonly complete: (ctx: Context, effect: Effect) => Effect
  /** The fault for an effect that may not happen, or null. */
  readonly refuse: (ctx: Context, effect: Effect, mode: JudgeMode) => Fault | null
  /** The largest value that an argument of a tool may have where the script names none; Infinity without a limit. */
  readonly limit: (ctx: Context, tool: string, argument: string) => number
  /** Null for an effect that traces do not show as a call. */
  readonly describe: (effect: Pick<Effect, 'kind' | 'args'>) => EffectAsCall | null
  /** The error code of a category. */
  readonly codeOf: (category: string) => string
  /** Counts and traces calls that came with an outcome; `parent` is the call around them. */
  readonly book: (ctx: Context, nested: readonly NestedCall[], parent: string | null) => void
}

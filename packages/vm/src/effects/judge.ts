// What a host that judges effects says and is asked. The machine has no policy of its own: a host that has one gives an EffectJudge
// (builtins/builtin.ts) with MachineOptions.

import type { Plain } from '../values/data.js'
import type { SpanWork } from './span-marks.js'

/** An effect as the call of a tool: what traces and grants name. */
export interface EffectAsCall {
  readonly tool: string
  readonly args: { readonly [name: string]: Plain }
  /** Arguments that nobody may read in a record, by name. */
  readonly secret?: readonly string[]
}

/** `judge` refuses and counts nothing; `count` counts only, for what a mock answers; `both` is for what is performed. */
export type JudgeMode = 'both' | 'judge' | 'count'

/** An effect as a piece of work (span-marks.ts). */
export interface EffectSpan {
  readonly work: SpanWork
  readonly name: string
  readonly facts: { readonly [name: string]: string | number }
}

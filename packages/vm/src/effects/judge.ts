// The interface of a host that judges effects. The machine has no policy: a host that has one passes an EffectJudge
// (builtins/builtin.ts) in MachineOptions.

import type { Plain } from '../values/data.js'
import type { SpanWork } from './span-marks.js'

/** An effect as a tool call: the names that traces and grants use. */
export interface EffectAsCall {
  readonly tool: string
  readonly args: { readonly [name: string]: Plain }
  /** Names of arguments that must not appear in a record. */
  readonly secret?: readonly string[]
}

/** `judge` decides without counting; `count` only counts, for effects that a mock answers; `both` is for effects that are performed. */
export type JudgeMode = 'both' | 'judge' | 'count'

/** The span of an effect (span-marks.ts). */
export interface EffectSpan {
  readonly work: SpanWork
  readonly name: string
  readonly facts: { readonly [name: string]: string | number }
}

// Calls that the provider of an effect makes through the machine's judge meanwhile: EffectJudge.book counts and traces them.

import type { Plain } from '../values/data.js'

/** A call by a tool of another tool, within the effect that requested the first. */
export interface NestedCall {
  /** Call id, such as `call_1/2`: the second one within `call_1`. */
  readonly id: string
  /** Id of the called tool, whatever name was used. */
  readonly tool: string
  readonly args: Plain
  /** The call of the calling tool. */
  readonly parent: string | null
  readonly task: number
  /** What it consumes, by name of the counter. */
  readonly counts: { readonly [counter: string]: number }
  readonly startedMs: number
  /** Absent: a call of a tool. Otherwise what the run stores for the tool, which is neither judged nor counted. */
  readonly kind?: NoteKind
}

/**
 * A step with a result, a wait for an external event or a time, an action at the commit that stores it, and a call that undoes
 * an earlier one: when the run fails (`undo`), or when it ends while the enclosing call is running (`cancel`).
 */
export const NOTE_KINDS = ['step', 'wait', 'linked', 'undo', 'cancel'] as const
export type NoteKind = (typeof NOTE_KINDS)[number]

// Calls that whoever answers an effect makes through the judge of the machine while it does: EffectJudge.book counts and traces them.

import type { Plain } from '../values/data.js'

/** A call that a tool makes of another one, within the effect that asked for the first. */
export interface NestedCall {
  /** `call_1/2`: the second one within `call_1`. */
  readonly id: string
  /** Id of the tool that is called, whatever name was used. */
  readonly tool: string
  readonly args: Plain
  /** The call that the task around it is part of. */
  readonly parent: string | null
  readonly task: number
  /** What it uses up, by name of the counter. */
  readonly counts: { readonly [counter: string]: number }
  readonly startedMs: number
  /** Absent: a call of a tool. Else what the tool has the run keep for it, which is neither judged nor counted. */
  readonly kind?: NoteKind
}

/**
 * A step with a result, a wait for somebody outside or for a time, something that happens with the commit that keeps it, and a call that undoes
 * what was done: when the run fails (`undo`), or when it ends while the call around it is under way (`cancel`).
 */
export const NOTE_KINDS = ['step', 'wait', 'linked', 'undo', 'cancel'] as const
export type NoteKind = (typeof NOTE_KINDS)[number]

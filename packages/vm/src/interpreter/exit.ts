// How a machine hands the thread back. Every exit carries the output that the root task committed since the exit before it,
// so that a host can print as the run goes and nothing is printed twice after a restore or a replay.

import type { EffectOutcome, PendingEffect } from '../effects/effect.js'
import type { Value } from '../values/value.js'
import type { Fault } from './fault.js'

/** In the order in which snapshots of runs have them. */
export const LIMIT_NAMES = ['fuel', 'heap', 'work', 'frames', 'output', 'tasks'] as const
export type LimitName = (typeof LIMIT_NAMES)[number]

export type RunExit =
  | { readonly kind: 'done'; readonly output: string; readonly value: Value }
  | { readonly kind: 'failed'; readonly output: string; readonly fault: Fault }
  /** Every task waits. `effects` are those asked for since the last exit; `wakeAt` is the earliest timer, null without one. */
  | {
      readonly kind: 'suspended'
      readonly output: string
      readonly effects: readonly PendingEffect[]
      readonly wakeAt: number | null
    }
  /** The slice is used up; `resume` goes on with the same task. `effects` as above: other tasks may have asked meanwhile. */
  | { readonly kind: 'yielded'; readonly output: string; readonly effects: readonly PendingEffect[] }
  | { readonly kind: 'limit'; readonly output: string; readonly limit: LimitName; readonly message: string }

/** An answer to a pending effect. */
export interface Answer {
  readonly id: number
  readonly outcome: EffectOutcome
}

export interface Limits {
  /** Units of work for the whole run: one per backward jump and call, and what builtins charge. */
  readonly fuel: number
  /** Units after which the machine yields to its host, at most 2^30. */
  readonly sliceFuel: number
  /**
   * Heap units asked for after which it yields: what is made is cheap to make, but a collection of garbage in the same slice may have
   * to move all of it.
   */
  readonly sliceHeap: number
  /**
   * Units that one operation may take. An operation is not cut into slices, so this bounds the time for which the host does not
   * have its thread: a unit is about 50 ns.
   */
  readonly work: number
  /** Activations on all stacks of the run. */
  readonly frames: number
  /** Heap units, roughly bytes. */
  readonly heap: number
  /** Bytes of output, root and children. */
  readonly output: number
  readonly tasks: number
}

export const DEFAULT_LIMITS: Limits = {
  // Hours of work: a bound that no honest script meets.
  fuel: 1e12,
  sliceFuel: 50_000,
  sliceHeap: 1 << 21,
  work: 250_000,
  frames: 100_000,
  heap: 1 << 26,
  output: 64 << 20,
  tasks: 100_000,
}

/**
 * Thrown in JavaScript, to get out of an operation that must not go on: the only way out of the middle of a builtin. The machine
 * catches it and ends the run, so that no state is looked at again.
 */
export class LimitReached extends Error {
  override readonly name = 'LimitReached'
}

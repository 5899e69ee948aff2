// How a machine returns control to the host. Every exit carries the output that the root task committed since the previous one,
// so that a host can print as the run proceeds and nothing is printed twice after a restore or a replay.

import type { EffectOutcome, PendingEffect } from '../effects/effect.js'
import type { Value } from '../values/value.js'
import type { Fault } from './fault.js'

/** In the order that snapshots of runs use. */
export const LIMIT_NAMES = ['fuel', 'heap', 'work', 'frames', 'output', 'tasks'] as const
export type LimitName = (typeof LIMIT_NAMES)[number]

export type RunExit =
  | { readonly kind: 'done'; readonly output: string; readonly value: Value }
  | { readonly kind: 'failed'; readonly output: string; readonly fault: Fault }
  /** Every task waits. `effects` are those requested since the last exit; `wakeAt` is the earliest timer, null without one. */
  | {
      readonly kind: 'suspended'
      readonly output: string
      readonly effects: readonly PendingEffect[]
      readonly wakeAt: number | null
    }
  /** The slice is used up; `resume` continues the same task. `effects` as above: other tasks may have requested some meanwhile. */
  | { readonly kind: 'yielded'; readonly output: string; readonly effects: readonly PendingEffect[] }
  | { readonly kind: 'limit'; readonly output: string; readonly limit: LimitName; readonly message: string }

/** The outcome of a pending effect. */
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
   * Heap units allocated after which it yields: allocating is cheap, but a garbage collection in the same slice may have
   * to move all of it.
   */
  readonly sliceHeap: number
  /**
   * Units that one operation may take. An operation is not split into slices, so this bounds the time for which the host's
   * thread is blocked: a unit is about 50 ns.
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
  // Hours of work: no legitimate script reaches it.
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
 * Thrown in JavaScript to leave an operation that must not continue: the only way out of the middle of a builtin. The machine
 * catches it and ends the run, so that inconsistent state is never read.
 */
export class LimitReached extends Error {
  override readonly name = 'LimitReached'
}

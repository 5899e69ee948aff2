// What a host watches the results of tools for (docs/tools/lock.md): shapes from a lock file, and what happens when one is not met.

import type { DriftReaction } from '../host-slots.js'
import type { DriftWatch } from '../host-slots.js'

export interface DriftGuardOptions {
  /** A lock file as data, as `bridle tools lock` writes it; its `shapes` count. Without one, what tools declare themselves. */
  readonly lock?: { readonly shapes?: { readonly [key: string]: unknown } }
  /** For tools that do not say themselves: `fail` when absent. */
  readonly onBreaking?: DriftReaction
}

/** For `createRuntime({ drift })`. */
export function driftGuard({ lock, onBreaking = 'fail' }: DriftGuardOptions = {}): DriftWatch {
  return { shapes: new Map(Object.entries(lock?.shapes ?? {})), onBreaking }
}

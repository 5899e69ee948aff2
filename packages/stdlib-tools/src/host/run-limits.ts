// The limits of a run, as data that its authority carries (run-authority.ts).

import { DEFAULT_LIMITS, LIMIT_NAMES } from '@bridle/vm'
import type { LimitName, Limits } from '@bridle/vm'

/** The limits that end a run. Slices do not end a run: the host decides how often the thread is yielded. */
export type RunLimits = Pick<Limits, LimitName>

/** Those of `limits`, and the defaults for what is not given. */
export function runLimits(limits: Partial<Limits>): RunLimits {
  return makeLimits((name) => limits[name] ?? DEFAULT_LIMITS[name])
}

/** The smaller of each; null means no limit. */
export function joinLimits<A extends RunLimits | null>(a: A, b: RunLimits | null): A | RunLimits {
  if (a === null || b === null) return a ?? b ?? a
  return makeLimits((name) => Math.min(a[name], b[name]))
}

export function makeLimits(give: (name: keyof RunLimits) => number): RunLimits {
  return Object.fromEntries(LIMIT_NAMES.map((name) => [name, give(name)])) as unknown as RunLimits
}

/** Of all workers alike: a journal says where a slice ended, so the run of another worker has the same slices. */
export const DURABLE_SLICES = { sliceFuel: DEFAULT_LIMITS.sliceFuel }

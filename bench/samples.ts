// Results of all rounds of a benchmark, by name: the input of the report, of the goals and of `--json`.

import type { Bulk } from './bulk.js'
import type { Growth } from './growth.js'
import type { Embedding } from './peers.js'
import type { ShapeTimes } from './shapes/measure.js'
import type { Figures } from './system.js'
import type { Timing } from './timing.js'

export interface ScriptSample {
  readonly engine: Timing
  /** With the base tier alone, in a separate process. */
  readonly base: Timing
  readonly js: Timing
  readonly lua: Timing | null
}

/** Milliseconds in one process after all other programs, taken in turn. */
export interface MixedTimes {
  readonly engine: number
  /** With the base tier alone. */
  readonly base: number
  readonly js: number
}

export interface Samples {
  readonly scripts: Record<string, ScriptSample[]>
  readonly mixed: Record<string, MixedTimes[]>
  /** Mixed times of another revision, if one is compared. */
  readonly other: Record<string, MixedTimes[]>
  /** By peer, then program. */
  readonly peers: Record<string, Record<string, (Timing | null)[]>>
  readonly embedding: Record<string, (Embedding | null)[]>
  readonly system: Record<string, Figures[]>
  readonly bulk: Bulk[][]
  readonly regexes: Bulk[][]
  readonly growth: Growth[][]
  readonly shapes: Record<string, ShapeTimes[]>
}

export function noSamples(): Samples {
  return {
    scripts: {},
    mixed: {},
    other: {},
    peers: {},
    embedding: {},
    system: {},
    bulk: [],
    regexes: [],
    growth: [],
    shapes: {},
  }
}

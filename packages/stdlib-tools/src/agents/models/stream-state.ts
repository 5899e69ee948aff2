// Answers of models that come in pieces and are not all here. A pull names one by a name that the machine made, and cannot say whom it asks.

import { family } from '@bridle/vm/families'
import type { HarnDict } from '@bridle/vm/families'
import type { Reservation } from '../../tools/policy/grants.js'

/** What was put aside for one attempt: plain data. */
export interface Reserved {
  readonly reservation: Reservation
  readonly inputTokens: number
  /** Dollars for one token. */
  readonly prices: { readonly input: number; readonly output: number }
  /** Reserved from the script's own budget (`llm_budget`). */
  readonly sessionUsd: number
  /** Whether the answer was made up. */
  readonly isMade: boolean
}

export interface OpenAnswer {
  readonly request: HarnDict
  readonly reserved: Reserved
  readonly startedMs: number
  /** Pieces that the script has. */
  delivered: number
  /** The task that passes the pieces on to a channel; null if the opener of the stream pulls. */
  feeder: number | null
}

export const openAnswers = family('model_streams', (): { made: number; open: Map<string, OpenAnswer> } => ({
  made: 0,
  open: new Map(),
}))

// What loops keep in the machine.

import { family } from '@bridle/vm/families'
import type { HarnDict, Value } from '@bridle/vm/families'

export interface LoopState {
  /** Feedback that waits for the next turn of a session. */
  readonly injected: Map<string, { kind: string; content: string }[]>
  /** Events of sub-agents for the transcript of the loop that called them, by its session. */
  readonly childEvents: Map<string, HarnDict[]>
  /** Closures that listen to a session. */
  readonly subscribers: Map<string, Value[]>
}

export const loopState = family<LoopState>('agent_loops', () => ({
  injected: new Map(),
  childEvents: new Map(),
  subscribers: new Map(),
}))

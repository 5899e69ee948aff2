// What loops keep in the machine, and how those who listen to a session are told.

import { HarnDict, family, here, tryCallBack } from '@bridle/vm/families'
import type { Script, Value } from '@bridle/vm/families'

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

/** Tells those who listen to a session; what they throw is no matter of the loop. */
export function* emitTo(sessionId: string, fields: Readonly<Record<string, Value>>): Script<null> {
  const listeners = yield* here((ctx) => [...(ctx.state(loopState).subscribers.get(sessionId) ?? [])])
  if (listeners.length === 0) return null
  const event = HarnDict.of({ ...fields, session_id: sessionId })
  for (const listener of listeners) yield* tryCallBack(listener, event)
  return null
}

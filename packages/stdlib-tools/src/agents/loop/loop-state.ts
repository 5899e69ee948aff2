// What an agent loop knows while it runs, what loops keep in the machine, and how those who listen to a session are told.

import { HarnDict, family, here, tryCallBack } from '@bridle/vm/families'
import type { Script, Value } from '@bridle/vm/families'
import type { Daemon } from './daemon.js'
import type { DispatchContext } from './dispatch.js'
import type { TaskLedger } from './ledger.js'
import type { LoopOptions } from './options.js'
import type { LoopSearch } from './search.js'
import type { ConnectedServer } from './servers.js'
import type { LoopSkills } from './skills.js'

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

/** What a loop knows while it runs. Made again from the answers after a restore, so it holds nothing that is not told. */
export interface Loop {
  /** What calls may have used whose model did not say; of `token_budget`. */
  unreportedTokens: number
  readonly options: LoopOptions
  readonly given: HarnDict
  readonly system: string | null
  /** All tools; while a search is on, the model is told of a part of them. */
  readonly tools: readonly HarnDict[]
  readonly search: LoopSearch | null
  readonly servers: readonly ConnectedServer[]
  readonly skills: LoopSkills | null
  readonly ledger: TaskLedger
  /** Null for loops that end instead of idling. */
  readonly daemon: Daemon | null
  /** How often the model asked to finish with something left in the ledger. */
  ledgerRejections: number
  readonly sessionId: string
  readonly stored: boolean
  messages: HarnDict[]
  readonly events: HarnDict[]
  summary: string | null
  text: string
  lastText: string
  status: string
  readonly called: string[]
  readonly successful: string[]
  readonly rejected: string[]
  readonly seen: DispatchContext['seen']
  verified: boolean
  actedOnce: boolean
  textTurns: number
  fallbacks: number
  singleToolTurns: number
  readonly deferred: string[]
}

export function addOnce(list: string[], name: string): void {
  if (!list.includes(name)) list.push(name)
}

export function* emit(loop: Loop, fields: Readonly<Record<string, Value>>): Script<null> {
  const listeners = yield* here((ctx) => {
    if (fields['type'] === 'turn_start')
      ctx.machine.spans?.({
        at: 'begin',
        work: 'agent_turn',
        id: null,
        name: `agent_turn ${Number(fields['iteration'] ?? 0) + 1}`,
        task: ctx.machine.taskNumber,
        ms: ctx.now,
      })
    return [...(ctx.state(loopState).subscribers.get(loop.sessionId) ?? [])]
  })
  if (listeners.length === 0) return null
  const event = HarnDict.of({ ...fields, session_id: loop.sessionId })
  for (const listener of listeners) yield* tryCallBack(listener, event)
  return null
}

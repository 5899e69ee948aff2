// State of model calls in the machine: the queue of mocked answers and what was asked of it, installed provider rules,
// and the cost of the session. Plain data and Values, so that a snapshot carries it.

import { family } from '@bridle/vm/families'
import type { HarnDict, HarnList } from '@bridle/vm/families'
import type { Rule } from './capabilities.js'
import type { LlmFailure } from './errors.js'

/** An answer of a model from any source. */
export interface LlmResponse {
  readonly text: string
  /** `{id, type: "tool_call", name, arguments}` each. */
  readonly toolCalls: readonly HarnDict[]
  readonly blocks: readonly HarnDict[]
  readonly model: string
  readonly provider: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly thinking: string | null
  readonly thinkingSummary: string | null
  readonly stopReason: string | null
  /**
   * What the service wants back with the next request, such as signed reasoning: `{provider, model, parts}`, which only the wire of that provider
   * reads.
   */
  readonly serviceState: HarnDict | null
}

export interface MockEntry {
  readonly match: string | null
  readonly consume: boolean
  readonly failure: LlmFailure | null
  /** Null for a mocked error. Token counts that were not given are null. */
  readonly answer: MockAnswer | null
}

export interface MockAnswer {
  readonly text: string
  readonly toolCalls: readonly HarnDict[]
  readonly blocks: readonly HarnDict[] | null
  readonly model: string
  readonly provider: string
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  readonly thinking: string | null
  readonly thinkingSummary: string | null
  readonly stopReason: string | null
}

/** A call that was answered here. Calls with the same system prompt share the object that holds it. */
export interface MockCall {
  readonly messages: HarnList
  readonly prompt: { readonly text: string } | null
  readonly tools: HarnList | null
  readonly thinking: HarnDict
}

export interface MockScope {
  readonly queue: MockEntry[]
  readonly calls: MockCall[]
  readonly cacheSeen: string[]
}

export interface LlmState {
  queue: MockEntry[]
  calls: MockCall[]
  /** Hashes of (model, system, messages) that a mocked prompt cache holds. */
  cacheSeen: string[]
  readonly scopes: MockScope[]
  /** Answers that the host laid down before the run (`--llm-mock`); null when there are none. */
  fixtures: MockEntry[] | null
  rules: Map<string, readonly Rule[]>
  /** Providers that scripts registered, by name. */
  readonly registered: Map<string, HarnDict>
  readonly rateLimits: Map<string, number>
  ceiling: number | null
  /** Dollars spent in this run. */
  cost: number
  /** Dollars that calls under way may cost. */
  reserved: number
  /** Calls that mocks answered, for their ids in traces. */
  mocked: number
  /** The same of answers that came in pieces. */
  streamed: number
  /** Events of the agent trace, oldest first. */
  readonly trace: HarnDict[]
}

export const llmState = family<LlmState>('llm', () => ({
  queue: [],
  calls: [],
  cacheSeen: [],
  scopes: [],
  fixtures: null,
  rules: new Map(),
  registered: new Map(),
  rateLimits: new Map(),
  ceiling: null,
  cost: 0,
  reserved: 0,
  mocked: 0,
  streamed: 0,
  trace: [],
}))

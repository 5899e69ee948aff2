// Failures of a model call: the error dict that scripts see, its reason and whether trying again can help.
// The message decides first, because services say more in it than in a status; the category only where the message is silent.

import { HarnDict, classify, toKnownCategory, lookup } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'

export interface LlmFailure {
  readonly category: string
  readonly message: string
  /** Raised by the runtime rather than by a service: scripts then read `Runtime error: ` before the message. */
  readonly isRuntime?: boolean
  /** The caller stopped waiting; the service may nevertheless have answered. */
  readonly wasStopped?: boolean
  /** Fields beyond the common ones (budget rejections). */
  readonly more?: Readonly<Record<string, Value>>
}

type Kind = 'transient' | 'terminal'
type Verdict = readonly [kind: Kind, reason: string]

const CONTEXT_OVERFLOW =
  /maximum context length|context length|context exceeded|context_length_exceeded|context_overflow|prompt is too long|prompt_tokens_exceeded|exceeds the maximum/
const CONTENT_POLICY = /content_policy|content policy|safety policy|moderation|responsible_ai_policy|blocked by policy/

// In order; the first whose pattern occurs in the lower-cased message decides.
const BY_MESSAGE: readonly (readonly [pattern: RegExp, verdict: Verdict])[] = [
  [CONTENT_POLICY, ['terminal', 'content_policy']],
  // The account has no money left: the same request keeps failing until the account is funded.
  [/insufficient_quota|billing_hard_limit_reached/, ['terminal', 'rate_limit']],
  [/invalid_api_key|authentication_error|auth_failure|unauthorized|forbidden/, ['terminal', 'auth_failure']],
  [/model_not_found|not_found_error|model unavailable|model is unavailable|model not found/, ['terminal', 'model_unavailable']],
  [/\[rate_limited\]|too many requests/, ['transient', 'rate_limit']],
  [/\[http_error\]|bad gateway|service unavailable|overloaded|api_error/, ['transient', 'server_error']],
  [/timed out|timeout/, ['transient', 'timeout']],
  [/connection (?:reset|refused|closed)|broken pipe|dns error|stream error|eof/, ['transient', 'network_error']],
  [/invalid_request|bad request/, ['terminal', 'invalid_request']],
]

const BY_CATEGORY: Readonly<Record<string, Verdict>> = lookup({
  rate_limit: ['transient', 'rate_limit'],
  timeout: ['transient', 'timeout'],
  overloaded: ['transient', 'server_error'],
  server_error: ['transient', 'server_error'],
  transient_network: ['transient', 'network_error'],
  auth: ['terminal', 'auth_failure'],
  not_found: ['terminal', 'model_unavailable'],
})

// A service that answers with its own `kind: transient` says so plainly.
const DECLARED: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/rate_limit/, 'rate_limit'],
  [/timeout/, 'timeout'],
  [/network_error|transient_network/, 'network_error'],
  [/server_error|overloaded/, 'server_error'],
]

function judgeFailure(category: string, message: string): Verdict {
  const text = message.toLowerCase()
  if (text.includes('kind') && text.includes('transient')) {
    const declared = DECLARED.find(([pattern]) => pattern.test(text))
    if (declared !== undefined) return ['transient', declared[1]]
  }
  const overflow =
    CONTEXT_OVERFLOW.test(text) || ((text.includes('context') || text.includes('max_tokens')) && text.includes('exceed'))
  if (overflow) return ['terminal', 'context_overflow']
  const found = BY_MESSAGE.find(([pattern]) => pattern.test(text))
  if (found !== undefined) return found[1]
  return BY_CATEGORY[category] ?? ['terminal', 'unknown']
}

const RETRY_AFTER_LIMIT_MS = 60_000

/** What a `retry-after: SECONDS` line of the message asks for, in milliseconds. */
export function retryAfterMs(message: string): number | null {
  const found = /retry-after:\s*([0-9]+(?:\.[0-9]+)?)/i.exec(message)
  return found === null ? null : Math.min(Math.trunc(Number(found[1]) * 1000), RETRY_AFTER_LIMIT_MS)
}

/** The error dict of a failed call; without a provider when the request itself could not be read. */
export function makeFailureDict(
  failure: LlmFailure,
  place: { readonly provider: string; readonly model: string } | null,
): HarnDict {
  // Only a budget of ours says which limit it was.
  const [kind, reason] =
    failure.more === undefined ? judgeFailure(failure.category, failure.message) : (['terminal', 'budget_exceeded'] as const)
  const message = failure.isRuntime === true ? `Runtime error: ${failure.message}` : failure.message
  const dict = HarnDict.of({ category: failure.category, kind, reason, message, ...failure.more })
  const after = retryAfterMs(failure.message)
  if (after !== null) dict.set('retry_after_ms', after)
  if (place !== null) {
    dict.set('provider', place.provider)
    dict.set('model', place.model)
  }
  return dict
}

const TRANSIENT_CATEGORIES: ReadonlySet<string> = new Set([
  'timeout',
  'rate_limit',
  'overloaded',
  'server_error',
  'transient_network',
])

/** Whether another attempt may help. */
export function isTransient(failure: LlmFailure): boolean {
  const [kind, reason] = judgeFailure(failure.category, failure.message)
  return reason === 'unknown' ? TRANSIENT_CATEGORIES.has(failure.category) : kind === 'transient'
}

/** A failure of an uncategorised text, as HTTP clients and services write them. */
export function makeFailure(message: string, category?: string): LlmFailure {
  return { category: category === undefined ? classify(message) : toKnownCategory(category), message }
}

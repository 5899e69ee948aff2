// When a failed tool call is tried again: the timing policy given with the tool or the call, and the safety
// rule that work which may have happened is repeated only for tools that declare it harmless. Delays are computed from the
// call id, so that a replay waits exactly as long.

import { HarnDict, HarnList, toMillis, toUtf8 } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { sha256 } from '@noble/hashes/sha2.js'
import { findCodeRow } from '../../library/tool-errors.js'
import { BACKOFFS } from '@bridle/compiler/signatures'
import type { Backoff } from '@bridle/compiler/signatures'

export interface RetryPolicy {
  readonly maxRetries: number
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  readonly backoff: Backoff
  readonly jitter: boolean
  /** Codes or condition names; null: all that are repeatable by the code table. */
  readonly retryOn: readonly string[] | null
}

const NEVER: RetryPolicy = {
  maxRetries: 0,
  baseDelayMs: 100,
  maxDelayMs: 10_000,
  backoff: 'exponential',
  jitter: true,
  retryOn: null,
}

/** Names of conditions as configuration writes them, beside plain codes. */
const CONDITIONS: Readonly<Record<string, string>> = {
  RateLimit: 'rate_limit',
  ServerError: 'server_error',
  Timeout: 'timeout',
  ConnectionError: 'connection',
  ProviderUnavailable: 'provider_unavailable',
}

/** The policy of a `retry` dict over `base`; without one nothing is repeated. */
function overlayPolicy(base: RetryPolicy, value: Value | undefined): RetryPolicy {
  if (!(value instanceof HarnDict)) return base
  const backoff = value.get('backoff')
  const jitter = value.get('jitter')
  const retryOn = value.get('retry_on')
  return {
    maxRetries: Math.max(0, toMillis(value.get('max_retries') ?? value.get('max')) ?? (base === NEVER ? 3 : base.maxRetries)),
    baseDelayMs: Math.max(0, toMillis(value.get('base_delay_ms')) ?? base.baseDelayMs),
    maxDelayMs: Math.max(0, toMillis(value.get('max_delay_ms')) ?? base.maxDelayMs),
    backoff: BACKOFFS.includes(backoff as Backoff) ? (backoff as Backoff) : base.backoff,
    jitter: typeof jitter === 'boolean' ? jitter : base.jitter,
    retryOn:
      retryOn instanceof HarnList
        ? retryOn
            .view()
            .filter((name) => typeof name === 'string')
            .map((name) => (Object.hasOwn(CONDITIONS, name) ? CONDITIONS[name]! : name))
        : base.retryOn,
  }
}

export function retryPolicy(entry: HarnDict, options: Value): RetryPolicy {
  const given = entry.get('retry')
  const own = given === undefined ? NEVER : overlayPolicy(NEVER, given)
  return overlayPolicy(own, options instanceof HarnDict ? options.get('retry') : undefined)
}

/** A grant may lower the number of retries, never raise it. */
export function capPolicy(policy: RetryPolicy, limit: number | null): RetryPolicy {
  return limit === null || limit >= policy.maxRetries ? policy : { ...policy, maxRetries: limit }
}

/** Whether the tool says that doing its work twice does no harm. */
export function isRepeatable(entry: HarnDict): boolean {
  const recovery = entry.get('recovery')
  if (recovery === 'safe' || recovery === 'idempotent') return true
  if (recovery !== undefined && recovery !== null) return false
  const annotations = entry.get('annotations')
  if (!(annotations instanceof HarnDict)) return false
  const kind = annotations.get('kind')
  return annotations.get('readOnlyHint') === true || kind === 'read' || kind === 'search' || kind === 'think' || kind === 'fetch'
}

export function mayRetry(policy: RetryPolicy, entry: HarnDict, error: HarnDict, retriesDone: number): boolean {
  if (retriesDone >= policy.maxRetries) return false
  const code = error.get('code') as string
  if (policy.retryOn !== null && !policy.retryOn.includes(code)) return false
  if (error.get('retryable') !== true && policy.retryOn === null) return false
  return findCodeRow(code).mayRepeat === 'unstarted' || isRepeatable(entry)
}

/** Wait before retry number `n`, which counts from 0, before jitter. */
export function computeBackoff(policy: Pick<RetryPolicy, 'backoff' | 'baseDelayMs' | 'maxDelayMs'>, n: number): number {
  const { baseDelayMs: base, maxDelayMs: cap } = policy
  switch (policy.backoff) {
    case 'constant':
      return Math.min(base, cap)
    case 'linear':
      return Math.min(base * (n + 1), cap)
    case 'exponential':
      return Math.min(base * 2 ** Math.min(n, 63), cap)
    case 'fibonacci': {
      let [before, current] = [1, 1]
      for (let at = 1; at < n; at++) [before, current] = [current, before + current]
      return Math.min(base * current, cap)
    }
  }
}

/** The wait that is really made: a hint of the failure as it is, else the backoff shifted by up to a quarter. */
export function retryDelay(policy: RetryPolicy, error: HarnDict, callId: string, n: number): number {
  const hint = toMillis(error.get('retry_after_ms'))
  if (hint !== null && hint >= 0) return Math.min(hint, policy.maxDelayMs)
  const delay = computeBackoff(policy, n)
  const reach = Math.floor(delay / 4)
  if (!policy.jitter || reach === 0) return delay
  const [a, b, c, d] = sha256(toUtf8(`${callId}:${n}`))
  const random = ((a! << 24) | (b! << 16) | (c! << 8) | d!) >>> 0
  return Math.min(delay - reach + (random % (2 * reach + 1)), policy.maxDelayMs)
}

// Ready-made retry policies for definitions of tools, and the delays of a policy as a pure function.

import { computeBackoff as rawDelay } from '../dispatch/retry.js'
import type { RetryDefinition } from './define.js'

export const retryPresets = {
  /** For services that count requests. */
  rateLimit: {
    maxRetries: 5,
    baseDelayMs: 1000,
    maxDelayMs: 60_000,
    backoff: 'exponential',
    jitter: true,
    retryOn: ['rate_limit'],
  },
  serverError: {
    maxRetries: 3,
    baseDelayMs: 500,
    maxDelayMs: 10_000,
    backoff: 'exponential',
    jitter: true,
    retryOn: ['server_error'],
  },
  aggressive: {
    maxRetries: 10,
    baseDelayMs: 50,
    maxDelayMs: 5000,
    backoff: 'linear',
    jitter: false,
    retryOn: ['rate_limit', 'server_error', 'timeout', 'connection'],
  },
  conservative: {
    maxRetries: 2,
    baseDelayMs: 2000,
    maxDelayMs: 30_000,
    backoff: 'exponential',
    jitter: true,
    retryOn: ['server_error', 'timeout'],
  },
} as const satisfies { readonly [name: string]: RetryDefinition }

/** Milliseconds before retry `n` (0 is the first), without jitter. */
export function backoffDelay(policy: RetryDefinition, n: number): number {
  return rawDelay(
    { backoff: policy.backoff ?? 'exponential', baseDelayMs: policy.baseDelayMs ?? 100, maxDelayMs: policy.maxDelayMs ?? 10_000 },
    n,
  )
}

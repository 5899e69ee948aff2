import { fromPlain } from '@bridle/vm/families'
import type { HarnDict, Plain } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { computeBackoff, capPolicy, isRepeatable, mayRetry, retryDelay, retryPolicy } from './retry.js'
import type { Backoff } from '@bridle/compiler/signatures'
import { TOOL_ERROR_CODES, makeToolError } from '../../library/tool-errors.js'

const readPolicy = (retry: Plain): ReturnType<typeof retryPolicy> => retryPolicy(fromPlain({ retry }) as HarnDict, null)
const makeError = (code: string, more: { readonly [key: string]: Plain } = {}): HarnDict => {
  const made = makeToolError(code, 'm', { tool: 't', callId: 'call_1', attempt: 1 })
  for (const [key, value] of Object.entries(more)) made.set(key, fromPlain(value))
  return made
}

test.each<[Backoff, readonly number[]]>([
  ['constant', [100, 100, 100, 100]],
  ['linear', [100, 200, 300, 400]],
  ['exponential', [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]],
  ['fibonacci', [100, 100, 200, 300, 500, 800, 1300]],
])('raw delays of %s', (backoff, delays) => {
  const policy = readPolicy({ backoff, max_retries: 20, base_delay_ms: 100, max_delay_ms: 10_000 })
  expect(delays.map((_, n) => computeBackoff(policy, n))).toEqual(delays)
})

test.each<Backoff>(['constant', 'linear', 'exponential', 'fibonacci'])('%s never waits longer than the cap', (backoff) => {
  const policy = readPolicy({ backoff, max_retries: 20, base_delay_ms: 700, max_delay_ms: 500 })
  expect([0, 1, 7].map((n) => computeBackoff(policy, n))).toEqual([500, 500, 500])
})

test('without a base delay there is no wait, for any number of retries', () => {
  const policy = readPolicy({ max_retries: 5000, base_delay_ms: 0 })
  expect([0, 63, 2000].map((n) => computeBackoff(policy, n))).toEqual([0, 0, 0])
})

test('far retries stay at the cap', () => {
  const policy = readPolicy({ max_retries: 1000 })
  expect([62, 63, 64, 500].map((n) => computeBackoff(policy, n))).toEqual([10_000, 10_000, 10_000, 10_000])
})

test('the wait that a failure asks for is taken as it is, up to the cap', () => {
  const policy = readPolicy({ max_retries: 3, max_delay_ms: 5000 })
  expect(retryDelay(policy, makeError('rate_limit', { retry_after_ms: 1234 }), 'call_1', 0)).toBe(1234)
  expect(retryDelay(policy, makeError('rate_limit', { retry_after_ms: 99_000 }), 'call_1', 0)).toBe(5000)
  expect(retryDelay(policy, makeError('rate_limit', { retry_after_ms: 0 }), 'call_1', 0)).toBe(0)
})

test('jitter differs between the retries of a call', () => {
  const policy = readPolicy({ backoff: 'constant', max_retries: 20, base_delay_ms: 1000 })
  const delays = Array.from({ length: 8 }, (_, n) => retryDelay(policy, makeError('timeout'), 'call_1', n))
  expect(new Set(delays).size).toBeGreaterThan(4)
})

test('jitter stays within a quarter and the cap, and is the same for the same call', () => {
  const policy = readPolicy({ max_retries: 20, base_delay_ms: 1000, max_delay_ms: 6000 })
  const seen = new Set<number>()
  for (let call = 0; call < 50; call++) {
    for (let n = 0; n < 6; n++) {
      const raw = computeBackoff(policy, n)
      const delay = retryDelay(policy, makeError('timeout'), `call_${call}`, n)
      expect(delay).toBeGreaterThanOrEqual(raw - Math.floor(raw / 4))
      expect(delay).toBeLessThanOrEqual(Math.min(raw + Math.floor(raw / 4), 6000))
      expect(retryDelay(policy, makeError('timeout'), `call_${call}`, n)).toBe(delay)
      seen.add(delay)
    }
  }
  expect(seen.size).toBeGreaterThan(100)
  expect(retryDelay(readPolicy({ jitter: false }), makeError('timeout'), 'call_1', 2)).toBe(400)
})

test.each<[string, Plain, boolean]>([
  ['safe', { recovery: 'safe' }, true],
  ['idempotent', { recovery: 'idempotent' }, true],
  ['once', { recovery: 'once', annotations: { readOnlyHint: true } }, false],
  ['undeclared', {}, false],
  ['read-only by its hint', { annotations: { readOnlyHint: true } }, true],
  ['a search', { annotations: { kind: 'search' } }, true],
  ['an edit', { annotations: { kind: 'edit' } }, false],
])('a tool that is %s may be repeated when its work may have happened: %s', (_name, entry, repeatable) => {
  const tool = fromPlain(entry) as HarnDict
  const policy = readPolicy({ max_retries: 3 })
  expect(isRepeatable(tool)).toBe(repeatable)
  expect(mayRetry(policy, tool, makeError('timeout'), 0)).toBe(repeatable)
  // Nothing was begun: anyone may try again.
  expect(mayRetry(policy, tool, makeError('rate_limit'), 0)).toBe(true)
  expect(mayRetry(policy, tool, makeError('invalid_args'), 0)).toBe(false)
  expect(mayRetry(policy, tool, makeError('rate_limit'), 3)).toBe(false)
})

test('conditions by their names', () => {
  const policy = readPolicy({ max_retries: 3, retry_on: ['RateLimit', 'circuit_open'] })
  const tool = fromPlain({ recovery: 'safe' }) as HarnDict
  expect(
    ['rate_limit', 'circuit_open', 'timeout', 'server_error'].map((code) => mayRetry(policy, tool, makeError(code), 0)),
  ).toEqual([true, true, false, false])
})

test('a grant lowers the number of retries and never raises it', () => {
  const policy = readPolicy({ max_retries: 3 })
  expect([null, 1, 9].map((limit) => capPolicy(policy, limit).maxRetries)).toEqual([3, 1, 3])
})

test('every code has its category and says whether a repeat may help', () => {
  const repeatable = Object.entries(TOOL_ERROR_CODES).filter(([, row]) => row.mayRepeat !== 'no')
  expect(repeatable.map(([code]) => code).sort()).toEqual([
    'circuit_open',
    'connection',
    'provider_unavailable',
    'quota_exceeded',
    'rate_limit',
    'server_error',
    'store_unavailable',
    'timeout',
  ])
  expect(makeError('egress_blocked').get('category')).toBe('egress_blocked')
  expect(makeError('policy_violation').get('category')).toBe('tool_rejected')
})

import { describe, expect, test } from 'vitest'
import {
  ToolError,
  backoffDelay,
  createRegistry,
  createRuntime,
  defineTool,
  errorFromResponse,
  retryPresets,
  stubTools,
} from '../../index.js'

describe('stubs', () => {
  test('answer by value or by function, in the place of standard tools too, and write down what they are asked', async () => {
    const stubs = stubTools({
      'http.get': { status: 200, body: 'page', headers: {} },
      'shop.price': ({ id }: { id: number }) => id * 10,
    })
    const source =
      'import { tool_call } from "std/tools"\nimport { price } from "host/shop"\nreturn [tool_call("http.get", {url: "https://a.test/"}).body, price({id: 4})]'
    expect(await createRuntime({ tools: stubs }).run(source)).toEqual(['page', 40])
    expect(stubs.calls.map(({ tool, args }) => [tool, args])).toEqual([
      ['http.get', { url: 'https://a.test/' }],
      ['shop.price', { id: 4 }],
    ])
    expect(stubs.callsOf('shop.price')).toHaveLength(1)
  })

  test('keep the schemas of the tools that they stand for', async () => {
    const real = defineTool({
      name: 'price',
      input: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
      output: { type: 'integer' },
      execute: () => {
        throw new Error('the real one')
      },
    })
    const stubs = stubTools({}, [real])
    const registry = createRegistry(stubs)
    expect(await registry.tryCall('price', {})).toMatchObject({ ok: false, error: { code: 'invalid_args' } })
    expect(await registry.tryCall('price', { id: 1 })).toMatchObject({ ok: false, error: { code: 'not_found' } })
    stubs.answer('price', 'forty')
    expect(await registry.tryCall('price', { id: 1 })).toMatchObject({ ok: false, error: { code: 'output_validation_failed' } })
    stubs.answer('price', 40)
    expect(await registry.call('price', { id: 1 })).toBe(40)
    expect(() => stubs.answer('other', 1)).toThrow(ToolError)
  })

  test('stubs fail as configured, and retries are visible', async () => {
    const stubs = stubTools({}, [defineTool({ name: 'flaky', retry: { maxRetries: 2, baseDelayMs: 0 }, execute: () => null })])
    stubs.answer('flaky', (_: unknown, { attempt }: { attempt: number }) => {
      if (attempt < 3) throw new ToolError('rate_limit', 'slow down')
      return 'done'
    })
    expect(await createRuntime({ tools: stubs }).run('import { flaky } from "host/tools"\nreturn flaky()')).toBe('done')
    expect(stubs.calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    expect(new Set(stubs.calls.map(({ callId }) => callId)).size).toBe(1)
  })
})

test.each([
  [429, '', { 'Retry-After': '2' }, 'rate_limit', 2000],
  [429, '', { 'retry-after': '0.5' }, 'rate_limit', 500],
  [429, '', { 'retry-after': 'Thu, 01 Jan 1970 00:00:10 GMT' }, 'rate_limit', 9000],
  [429, '', { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 'rate_limit', null],
  [429, '', { 'retry-after': '-5' }, 'rate_limit', null],
  [429, '', { 'retry-after-ms': '70', 'retry-after': '2' }, 'rate_limit', 70],
  [429, '', { 'x-ratelimit-reset-requests': '1m2s' }, 'rate_limit', 62_000],
  [401, 'no key', {}, 'auth', null],
  [403, '', {}, 'auth', null],
  [404, 'the model does not exist', {}, 'model_not_found', null],
  [404, 'no such page', {}, 'not_found', null],
  [400, '', {}, 'invalid_args', null],
  [422, '', {}, 'invalid_args', null],
  [408, '', {}, 'timeout', null],
  [503, '', {}, 'provider_unavailable', null],
  [529, '', {}, 'provider_unavailable', null],
  [500, '', {}, 'server_error', null],
  [504, '', {}, 'server_error', null],
  [418, '', {}, 'execution_failed', null],
] as const)('status %i %j %j is %s', (status, body, headers, code, retryAfterMs) => {
  const error = errorFromResponse({ status, body, headers }, { provider: 'p', model: 'm', now: 1000 })
  expect([error.code, error.retryAfterMs, (error.details as { status: number }).status]).toEqual([code, retryAfterMs, status])
  if (code === 'model_not_found') expect(error.message).toBe('model not found: m (provider: p)')
})

test('presets and their delays', () => {
  const listDelays = (policy: Parameters<typeof backoffDelay>[0], count: number): number[] =>
    Array.from({ length: count }, (_, n) => backoffDelay(policy, n))
  expect(listDelays({ backoff: 'fibonacci' }, 7)).toEqual([100, 100, 200, 300, 500, 800, 1300])
  expect(listDelays({}, 9)).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000])
  expect(listDelays(retryPresets.rateLimit, retryPresets.rateLimit.maxRetries)).toEqual([1000, 2000, 4000, 8000, 16_000])
  expect(listDelays(retryPresets.aggressive, 3)).toEqual([50, 100, 150])
})

// One contract for every executor, through the provider that scripts' calls go through: success, failure, throwing, time,
// cancellation, many at once, size. Rows that an executor cannot have (it never fails, it never runs) are left out by name.

import { effectOfData } from '../../test-support/effect-of-data.js'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { EffectOutcome, Plain } from '@bridle/vm'
import { makeEffectCall as context } from '../../test-support/effect-call.js'
import { McpConnections } from '../../mcp/provider.js'
import { defineTool, pending } from '../host-tools/define.js'
import { ToolError } from '../host-tools/errors.js'
import { Host } from '../host-tools/host.js'
import { createExecutors, toolProvider } from './index.js'
import { PendingResults } from './pending.js'
import type { ExecutorName } from './index.js'

const MCP_SERVER = `
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
const text = (id, value, isError) => send({ id, result: { content: [{ type: 'text', text: value }], isError } });
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line);
  if (m.method === 'initialize') return send({ id: m.id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });
  if (m.method === 'tools/list') return send({ id: m.id, result: { tools: [{ name: 'echo', annotations: { readOnlyHint: true } }, { name: 'fail' }] } });
  if (m.id === undefined) return;
  const { name, arguments: args } = m.params;
  if (name === 'echo') text(m.id, JSON.stringify(args));
  else if (name === 'fail') text(m.id, 'it failed', true);
  else if (name === 'throw') send({ id: m.id, error: { code: -32000, message: 'it threw' } });
  else if (name === 'big') text(m.id, 'x'.repeat(10_000_000));
  else if (name === 'hang') {}
  else send({ id: m.id, error: { code: -32602, message: 'Unknown tool: ' + name } });
});`

const host = new Host({
  tools: [
    defineTool({
      name: 'echo',
      input: z.object({ n: z.int().optional() }),
      sideEffect: 'read_only',
      execute: (args) => JSON.stringify(args),
    }),
    defineTool({
      name: 'fail',
      execute: () => {
        throw new ToolError('execution_failed', 'it failed')
      },
    }),
    defineTool({
      name: 'throw',
      execute: () => {
        throw new Error('it threw')
      },
    }),
    defineTool({ name: 'big', execute: () => 'x'.repeat(10_000_000) }),
    defineTool({
      name: 'hang',
      execute: (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(null))),
    }),
    defineTool({ name: 'deaf', execute: () => new Promise(() => {}) }),
    defineTool({
      name: 'coded',
      execute: () => {
        throw new ToolError('rate_limit', 'slow down', { retryAfterMs: 50 })
      },
    }),
    defineTool({ name: 'wrong', output: z.object({ n: z.int() }), execute: () => ({ n: 'x' }) as never }),
    defineTool({ name: 'function', execute: () => ({ f: () => 1 }) }),
    defineTool({ name: 'later', execute: () => pending('token-1') }),
    defineTool({ name: 'floats', output: z.object({ a: z.number(), b: z.int() }), execute: () => ({ a: 1, b: 1 }) }),
  ],
  capabilities: { box: { open: (params) => ({ opened: params }) } },
})

const scripts = {
  echo: { run: (args: object) => Promise.resolve(JSON.stringify(args)), readOnly: true },
  fail: { run: () => Promise.reject(new Error('it failed')) },
  throw: {
    run: () => {
      throw new Error('it threw')
    },
  },
  big: { run: () => Promise.resolve('x'.repeat(10_000_000)) },
  hang: {
    run: (_: object, signal: AbortSignal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
  },
}

const servers = new McpConnections({ servers: { s: { command: process.execPath, args: ['-e', MCP_SERVER] } } })
afterAll(() => servers.close())

const pendingResults = new PendingResults()
const provider = toolProvider({ executors: createExecutors({ host, mcp: servers, scripts }), pending: pendingResults })

async function call(
  executor: ExecutorName,
  tool: string,
  args: Plain = {},
  more: { readonly [key: string]: Plain } = {},
  signal?: AbortSignal,
): Promise<EffectOutcome> {
  return provider.perform(
    effectOfData('tool.call', { executor, tool, args, mcp_server: 's', mcp_tool: tool, call_id: 'call_1', attempt: 1, ...more }),
    context(signal),
  )
}

const readCode = (outcome: EffectOutcome): Plain | undefined =>
  outcome.ok ? 'no error' : (outcome.error.value as { readonly code?: Plain }).code

describe.each<ExecutorName>(['harn', 'host_bridge', 'mcp_server'])('%s', (executor) => {
  test('success', async () => {
    expect(await call(executor, 'echo', { n: 1 })).toEqual({ ok: true, value: '{"n":1}' })
  })

  test('a tool that says it failed', async () => {
    const outcome = await call(executor, 'fail')
    expect(outcome).toMatchObject({
      ok: false,
      error: { kind: 'thrown', message: 'it failed', value: { name: 'ToolError', code: 'execution_failed' } },
    })
  })

  test('a tool that throws', async () => {
    const outcome = await call(executor, 'throw')
    expect(readCode(outcome)).toBe('execution_failed')
    expect(outcome.ok ? '' : outcome.error.message).toContain('it threw')
  })

  test('an unknown tool', async () => {
    expect(readCode(await call(executor, 'nothing'))).toMatch(/^(not_registered|invalid_args)$/)
  })

  test('10 MB of output', async () => {
    const outcome = await call(executor, 'big')
    expect(outcome.ok && (outcome.value as string).length).toBe(10_000_000)
  })

  test('a call that takes too long', async () => {
    const outcome = await call(executor, 'hang', {}, { timeout_ms: 50 })
    expect(readCode(outcome)).toBe('timeout')
  })

  test('a cancelled call', async () => {
    const abort = new AbortController()
    const outcome = call(executor, 'hang', {}, {}, abort.signal)
    setImmediate(() => abort.abort())
    expect(readCode(await outcome)).toBe('cancelled')
    expect(readCode(await call(executor, 'hang', {}, {}, AbortSignal.abort()))).toBe('cancelled')
  })

  test('many calls at once', async () => {
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, n) => call(executor, 'echo', { n })))
    expect(outcomes.map((outcome) => outcome.ok && outcome.value)).toEqual(Array.from({ length: 40 }, (_, n) => `{"n":${n}}`))
  })

  test('what a dry run may carry out', async () => {
    const makeEffect = (tool: string) => effectOfData('tool.call', { executor, tool, args: {}, mcp_server: 's', mcp_tool: tool })
    expect(await provider.isReadOnly!(makeEffect('echo'), context())).toBe(true)
    expect(await provider.isReadOnly!(makeEffect('fail'), context())).toBe(false)
  })
})

describe('host_bridge', () => {
  test('arguments that do not fit the schema', async () => {
    expect(await call('host_bridge', 'echo', { n: 'x' })).toMatchObject({
      ok: false,
      error: { value: { code: 'invalid_args', details: { path: '$.n' } } },
    })
  })

  test('output that breaks its schema, and output that is not data', async () => {
    expect(readCode(await call('host_bridge', 'wrong'))).toBe('output_validation_failed')
    const outcome = await call('host_bridge', 'function')
    expect(outcome.ok ? '' : outcome.error.message).toBe("Tool 'function' returned what is not data: a function is not data")
  })

  test('codes and hints of the tool', async () => {
    expect(await call('host_bridge', 'coded')).toMatchObject({
      ok: false,
      error: { value: { code: 'rate_limit', retry_after_ms: 50 } },
    })
  })

  test('a tool that ignores its signal does not hold the run', async () => {
    expect(readCode(await call('host_bridge', 'deaf', {}, { timeout_ms: 20 }))).toBe('timeout')
  })

  test('a result that comes later', async () => {
    const outcome = call('host_bridge', 'later')
    setImmediate(() => pendingResults.complete('token-1', { kind: 'result', value: 'at last' }))
    expect(await outcome).toEqual({ ok: true, value: 'at last' })
    pendingResults.complete('token-1', { kind: 'result', value: 'early' })
    expect(await call('host_bridge', 'later')).toEqual({ ok: true, value: 'early' })
  })

  test('numbers by schema', async () => {
    const outcome = await call('host_bridge', 'floats')
    expect(outcome.ok && outcome.value).toEqual({ a: { v: 1 }, b: 1 })
  })

  test('a bridge identifier leads to a capability operation', async () => {
    expect(await call('host_bridge', 'anything', { x: 1 }, { host_capability: 'box.open' })).toEqual({
      ok: true,
      value: { opened: { x: 1 } },
    })
  })
})

test('dry_run records and does nothing', async () => {
  expect(await call('dry_run', 'write', { a: 1 })).toMatchObject({
    ok: true,
    value: { _type: 'synthesized_tool_result', status: 'dry_run', tool_id: 'call_1', name: 'write', args: { a: 1 } },
  })
})

test('provider_native refuses by name', async () => {
  const outcome = await call('provider_native', 'search')
  expect(outcome.ok ? '' : outcome.error.message).toContain('is executed by the model provider')
})

test('an executor that does not exist', async () => {
  expect(readCode(await call('pigeon' as ExecutorName, 'x'))).toBe('not_registered')
  expect(readCode(await call('constructor' as ExecutorName, 'x'))).toBe('not_registered')
})

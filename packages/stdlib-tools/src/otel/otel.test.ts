// The span tree of a run, with a recording tracer.

import { effectOfData } from '../test-support/effect-of-data.js'
import { expect, test } from 'vitest'
import { MemoryTrace, ToolError, VirtualClock, createRuntime, defineTool, verifyTrace } from '../index.js'
import type { Provider, RuntimeOptions, StartOptions } from '../index.js'
import type { Effect } from '@bridle/vm'
import type { EffectCall } from '../tools/executors/provider.js'
import { withPropagation } from '../host/trace/propagate.js'
import { otelTrace } from './index.js'
import type { OtelMeter, OtelOptions, OtelSpan } from './index.js'

interface Recorded extends OtelSpan {
  readonly name: string
  readonly children: Recorded[]
  readonly attributes: Record<string, unknown>
  readonly number: number
  readonly kind: number
  startMs: number
  endMs: number | null
  status: { readonly code: number; readonly message?: string } | null
}

interface Context {
  readonly span: Recorded
}

function makeRecorder(): {
  readonly root: Recorded
  readonly all: Recorded[]
  readonly tracer: Parameters<typeof otelTrace<Context>>[0]
} {
  const all: Recorded[] = []
  const make = (name: string, startMs: number, attributes: object, kind = 0): Recorded => {
    const span: Recorded = {
      name,
      number: all.length,
      kind,
      children: [],
      attributes: { ...attributes },
      startMs,
      endMs: null,
      status: null,
      setAttribute: (key, value) => {
        span.attributes[key] = value
      },
      setStatus: (status) => {
        span.status = status
      },
      end: (at = NaN) => {
        expect(span.endMs, `${name} ends once`).toBeNull()
        span.endMs = at
      },
      spanContext: () => ({ traceId: 'a'.repeat(32), spanId: String(span.number).padStart(16, '0'), traceFlags: 1 }),
    }
    all.push(span)
    return span
  }
  const root = make('root', 0, {})
  const tracer = {
    startSpan(name: string, given: { startTime?: number; attributes?: object; kind?: number } = {}, context?: Context): Recorded {
      const span = make(name, given.startTime ?? NaN, given.attributes ?? {}, given.kind)
      context!.span.children.push(span)
      return span
    },
  }
  return { root, all, tracer }
}

/** One line a span: its name, what came of it. */
function renderTree(span: Recorded, depth = 0): readonly string[] {
  const { attributes, status } = span
  const facts = ['error.type', 'bridle.tool.executor', 'bridle.tool.attempts'].flatMap((key) =>
    attributes[key] === undefined ? [] : [String(attributes[key])],
  )
  const state = status === null ? '' : ' error'
  const line = `${'  '.repeat(depth)}${span.name}${state}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`
  return [line, ...span.children.flatMap((child) => renderTree(child, depth + 1))]
}

async function recordSpans(
  source: string,
  { runtime = {}, start = {}, otel = {} }: { runtime?: RuntimeOptions; start?: StartOptions; otel?: OtelOptions<Context> } = {},
): Promise<{ readonly lines: readonly string[]; readonly all: readonly Recorded[]; readonly memory: MemoryTrace }> {
  const { root, all, tracer } = makeRecorder()
  const memory = new MemoryTrace()
  const sink = otelTrace(tracer, { context: { span: root }, setSpan: (_context, span) => ({ span }), ...otel })
  const host = createRuntime({ clock: new VirtualClock(), tracing: () => ({ sinks: [sink, memory] }), ...runtime })
  await host.start(host.compile(source), start).result
  expect(all.slice(1).filter((span) => span.endMs === null)).toEqual([])
  for (const span of all.slice(1)) expect(span.endMs).toBeGreaterThanOrEqual(span.startMs)
  return { lines: root.children.flatMap((child) => renderTree(child)), all: all.slice(1), memory }
}

test('an agent: its turns, the model and tools of each, the attempts of a tool', async () => {
  let tries = 0
  const price = defineTool({
    name: 'price',
    input: { type: 'object', properties: { id: { type: 'integer' } } },
    retry: { maxRetries: 2, baseDelayMs: 10, jitter: false },
    execute: () => {
      if (++tries < 2) throw new ToolError('provider_unavailable', 'busy')
      return 40
    },
  })
  const source = `
import { tool_call } from "std/tools"
llm_mock({tool_calls: [{name: "look", arguments: {id: 7}}, {name: "missing", arguments: {}}]})
llm_mock({text: "It costs 40. ##DONE##"})
let tools = tool_define(tool_registry(), "look", "Looks up", {parameters: {id: "int"}, handler: { args -> tool_call("price", {id: args.id}) }})
agent_loop("What is it?", nil, {tools: tools, provider: "mock", model: "small", loop_until_done: true, tool_format: "native"})
tool_call("crypto.sha256", {input: "x"})
`
  const { lines, all, memory } = await recordSpans(source, { runtime: { tools: [price] } })
  expect(lines).toMatchInlineSnapshot(`
    [
      "invoke_workflow script.harn",
      "  invoke_agent",
      "    execute_tool env.get error (policy_violation, builtin, 1)",
      "    agent_turn 1",
      "      execute_tool env.get error (policy_violation, builtin, 1)",
      "      chat Qwen/Qwen3.5-9B (mock, 1)",
      "      execute_tool look (harn, 1)",
      "        execute_tool price (host_bridge, 2)",
      "          attempt 1 error (provider_unavailable)",
      "          attempt 2",
      "      execute_tool missing error (policy_violation, harn, 0)",
      "    agent_turn 2",
      "      execute_tool env.get error (policy_violation, builtin, 1)",
      "      chat Qwen/Qwen3.5-9B (mock, 1)",
      "  execute_tool crypto.sha256 (builtin, 1)",
    ]
  `)
  const look = all.find(({ name }) => name === 'execute_tool price')!
  const event = memory.events.find(({ tool_id: id }) => id === 'price')!
  expect(look.attributes).toMatchObject({ 'bridle.trace.hash': event.hash, 'bridle.inputs_hash': event.inputs_hash })
  expect(verifyTrace(memory.events)).toMatchObject({ ok: true, complete: true })
})

test('tasks stand below the work that started them, and calls below their task', async () => {
  const source = `
import { tool_call } from "std/tools"
let tools = tool_define(tool_registry(), "fan", "", {handler: { _ ->
  parallel each ["a", "b"] { text -> tool_call("crypto.sha256", {input: text}) }
}})
tool_bind(tools)
tool_call("fan", {})
let left = spawn { tool_call("crypto.md5", {input: "c"}) }
let failing = spawn { throw "no" }
await(left)
try { await(failing) } catch (e) { nil }
`
  const { lines } = await recordSpans(source)
  expect(lines).toMatchInlineSnapshot(`
    [
      "invoke_workflow script.harn",
      "  execute_tool fan (harn, 1)",
      "    task parallel each",
      "      execute_tool crypto.sha256 (builtin, 1)",
      "    task parallel each",
      "      execute_tool crypto.sha256 (builtin, 1)",
      "  task spawn",
      "    execute_tool crypto.md5 (builtin, 1)",
      "  task spawn error (execution_failed)",
    ]
  `)
})

test('refusals and calls that were given up', async () => {
  const never = defineTool({ name: 'never', execute: () => new Promise(() => {}) })
  const source = `
import { tool_try } from "std/tools"
tool_try("never", {}, {timeout_ms: 50})
tool_try("nothing", {})
tool_try("crypto.md5", {input: 5})
let body = try { http_get("https://evil.test/") } catch (e) { nil }
let task = spawn { tool_try("never", {}) }
cancel(task)
`
  const { lines } = await recordSpans(source, {
    runtime: { tools: [never], toolGrants: { http: { domain: 'a.test' } }, grants: ['http'] },
  })
  expect(lines).toMatchInlineSnapshot(`
    [
      "invoke_workflow script.harn",
      "  execute_tool never error (timeout, host_bridge, 1)",
      "    attempt 1 error (timeout)",
      "  execute_tool crypto.md5 error (invalid_args, builtin, 0)",
      "  execute_tool env.get error (policy_violation, builtin, 1)",
      "  execute_tool http.get error (egress_blocked, builtin, 0)",
      "  task spawn error (cancelled)",
    ]
  `)
})

test('the context goes to services outside where the host says so', async () => {
  const asked: unknown[] = []
  const http: Provider = {
    kinds: ['http.request'],
    perform: ({ args }) => {
      asked.push(args['headers'])
      return { ok: true, value: { status: 200, headers: {}, body: new Uint8Array(), url: String(args['url']), bytesWritten: 0 } }
    },
  }
  const source = 'http_get("https://a.test/")\nhttp_get("https://a.test/", {headers: {Traceparent: "own"}})'
  const runtime: RuntimeOptions = { providers: [http], grants: ['http'] }
  const { all } = await recordSpans(source, { runtime, otel: { propagate: ['http'] } })
  const first = all.find(({ name }) => name === 'execute_tool http.get')!
  const parent = `00-${'a'.repeat(32)}-${String(first.number).padStart(16, '0')}-01`
  expect(asked).toEqual([expect.objectContaining({ traceparent: parent }), expect.not.objectContaining({ traceparent: parent })])
  asked.length = 0
  await recordSpans(source, { runtime })
  expect(asked).toEqual([expect.not.objectContaining({ traceparent: expect.anything() as unknown }), expect.anything()])
})

test('MCP servers get the context in _meta, and existing values stay', () => {
  const seen: Effect[] = []
  const perform = withPropagation({ findContext: (id, to) => ({ traceparent: `${to}-${id}` }) }, (effect) => {
    seen.push(effect)
    return { ok: true, value: null }
  })
  const call = { id: 7 } as EffectCall
  void perform(effectOfData('mcp.request', { method: 'tools/call', params: { name: 'x', _meta: { progressToken: 1 } } }), call)
  void perform(effectOfData('tool.call', { executor: 'mcp_server' }), call)
  void perform(effectOfData('tool.call', { executor: 'host_bridge' }), call)
  void perform(effectOfData('fs.read', { path: 'x' }), call)
  expect(seen.map(({ args }) => args)).toEqual([
    expect.objectContaining({ params: { name: 'x', _meta: { traceparent: 'mcp-7', progressToken: 1 } } }),
    expect.objectContaining({ executor: 'mcp_server', meta: { traceparent: 'mcp-7' } }),
    effectOfData('tool.call', { executor: 'host_bridge' }).args,
    effectOfData('fs.read', { path: 'x' }).args,
  ])
})

test('no secret is among names, attributes and messages', async () => {
  const login = defineTool({
    name: 'login',
    input: { type: 'object', properties: { password: { type: 'string', format: 'password' } } },
    execute: (args) => {
      throw new Error(`wrong password ${(args as { password: string }).password}`)
    },
  })
  const source = `
import { tool_try } from "std/tools"
tool_try("login", {password: "hunter2hunter2"})
let task = spawn { throw "it was hunter2hunter2" }
try { await(task) } catch (e) { nil }
`
  const { all } = await recordSpans(source, { runtime: { tools: [login] } })
  expect(all.some(({ status }) => status?.message?.includes('[redacted]') === true)).toBe(true)
  expect(JSON.stringify(all.map(({ name, attributes, status }) => [name, attributes, status]))).not.toContain('hunter2')
})

/** A service that answers, or fails with `category`. */
function makeModels(category: string | null): Provider {
  return {
    kinds: ['llm.call'],
    perform: () =>
      category === null
        ? {
            ok: true,
            value: {
              ...{ text: 'It costs 40. ##DONE##', tool_calls: [], model: 'gpt-5-2026', stop_reason: 'stop', thinking: null },
              ...{ input_tokens: 12, output_tokens: 5, cache_read_tokens: 8, cache_write_tokens: 0, service_state: [] },
            },
          }
        : { ok: false, error: { kind: 'categorized', category, message: 'the service said no' } },
  }
}

interface Measured {
  readonly name: string
  readonly value: number
  readonly attributes: object
}

function makeMeter(): { readonly measured: Measured[]; readonly meter: OtelMeter } {
  const measured: Measured[] = []
  const createHistogram: OtelMeter['createHistogram'] = (name) => ({
    record: (value, attributes = {}) => void measured.push({ name, value, attributes }),
  })
  return { measured, meter: { createHistogram } }
}

const ASK = 'let out = llm_call("What is it?", nil, {provider: "openai", model: "gpt-5", max_tokens: 50})'

test('a call of a model: kind, provider, models, usage and finish reason, as the conventions name them, and its metrics', async () => {
  const { measured, meter } = makeMeter()
  const runtime: RuntimeOptions = { providers: [makeModels(null)], grants: ['*'] }
  const { all } = await recordSpans(ASK, { runtime, otel: { meter } })
  const chat = all.find(({ name }) => name === 'chat gpt-5')!
  const shared = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-5',
    'gen_ai.response.model': 'gpt-5-2026',
    'server.address': 'api.openai.com',
    'server.port': 443,
  }
  expect(chat).toMatchObject({
    kind: 2,
    status: null,
    attributes: {
      ...shared,
      'gen_ai.request.max_tokens': 50,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 8,
    },
  })
  expect(measured).toEqual([
    { name: 'gen_ai.client.operation.duration', value: expect.any(Number) as number, attributes: shared },
    { name: 'gen_ai.client.token.usage', value: 12, attributes: { ...shared, 'gen_ai.token.type': 'input' } },
    { name: 'gen_ai.client.token.usage', value: 5, attributes: { ...shared, 'gen_ai.token.type': 'output' } },
  ])
})

test('a call that failed says so, in its span and its metrics', async () => {
  const { measured, meter } = makeMeter()
  const runtime: RuntimeOptions = { providers: [makeModels('context_window')], grants: ['*'] }
  const { all } = await recordSpans(`try { ${ASK} } catch (e) { nil }`, { runtime, otel: { meter } })
  const chat = all.find(({ name }) => name === 'chat gpt-5')!
  expect(chat.status).toEqual({ code: 2, message: 'the service said no' })
  expect(chat.attributes['error.type']).toBe(measured[0]!.attributes['error.type' as never])
  expect(measured.map(({ name }) => name)).toEqual(['gen_ai.client.operation.duration'])
})

test('an agent: its conversation, model and tokens; and its error when it fails', async () => {
  const source = (session: string): string =>
    `agent_loop("What is it?", nil, {provider: "openai", model: "gpt-5", max_iterations: 1, llm_retries: 0${session}})`
  const works: RuntimeOptions = { providers: [makeModels(null)], grants: ['*'] }
  const { all } = await recordSpans(source(', session_id: "s1"'), { runtime: works })
  const agent = all.find(({ name }) => name === 'invoke_agent')!
  expect(agent).toMatchObject({
    kind: 0,
    status: null,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-5',
      'gen_ai.conversation.id': 's1',
      'gen_ai.usage.input_tokens': 12,
    },
  })
  expect(all.find(({ name }) => name === 'chat gpt-5')!.attributes['gen_ai.conversation.id']).toBe('s1')
  const { all: unnamed } = await recordSpans(source(''), { runtime: works })
  const conversations = unnamed.flatMap(({ attributes }) => attributes['gen_ai.conversation.id'] ?? [])
  expect(conversations.length).toBe(3)
  expect(new Set(conversations).size).toBe(1)
  const fails: RuntimeOptions = { providers: [makeModels('auth')], grants: ['*'] }
  const { all: failed } = await recordSpans(`try { ${source('')} } catch (e) { nil }`, { runtime: fails })
  expect(failed.find(({ name }) => name === 'invoke_agent')).toMatchObject({
    status: { code: 2 },
    attributes: { 'error.type': 'auth' },
  })
})

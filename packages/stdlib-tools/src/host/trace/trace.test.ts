import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../library/time/host-clock.js'
import { hashSha256InScript } from '../hash.js'
import { MemoryJournal } from '../journal.js'
import { otelTrace } from '../../otel/index.js'
import type { OtelSpan } from '../../otel/index.js'
import { answered } from '../../tools/executors/provider.js'
import { MemoryFs, memoryProcess } from '../providers/memory.js'
import { createRuntime } from '../runtime.js'
import type { RuntimeOptions, StartOptions } from '../runtime-options.js'
import { defineTool } from '../../tools/host-tools/define.js'
import { ToolError } from '../../tools/host-tools/errors.js'
import { diffTraces } from './diff.js'
import { GENESIS, stringifyCanonical, hashEvent, verifyTrace } from './event.js'
import type { TraceEvent, TraceJson } from './event.js'
import { buildGraph } from './graph.js'
import { MemoryTrace } from './recorder.js'
import type { TraceSink } from './recorder.js'
import { approvalProvider } from '../../tools/policy/host-approval.js'
import type { Provider } from '../../tools/executors/provider.js'
import { Redactor, looksLikeKey } from './redact.js'

async function traceRun(
  source: string,
  options: RuntimeOptions = {},
  start: StartOptions = {},
): Promise<{ trace: MemoryTrace; output: string }> {
  const trace = new MemoryTrace()
  const runtime = createRuntime(options)
  const result = await runtime.start(runtime.compile(source), { tracing: { sinks: [trace] }, ...start }).result
  return { trace, output: result.status === 'failed' ? `${result.output}! ${result.error.message}` : result.output }
}

const listCalls = (trace: MemoryTrace): readonly TraceEvent[] => trace.events.filter(({ kind }) => kind === 'tool_call')

function makeCountingTool(name: string, seen: unknown[]): ReturnType<typeof defineTool> {
  return defineTool({
    name,
    version: '1.2.0',
    input: {
      type: 'object',
      properties: { url: { type: 'string' }, key: { type: 'string', writeOnly: true } },
      required: ['url'],
    },
    execute: (input) => {
      seen.push(input)
      return { got: (input as { url: string }).url }
    },
  })
}

describe('one event a call', () => {
  test('a request that a mock answers is one, whether by a builtin or by a tool', async () => {
    const source = `import { tool_call } from "std/tools"
http_mock("GET", "*", {status: 201, body: "tea"})
http_get("https://a.test/x")
tool_call("http.get", {url: "https://a.test/y"})`
    const { trace } = await traceRun(source)
    const requests = listCalls(trace).filter((event) => event.tool_id === 'http.get')
    expect(requests.map(({ details }) => [details?.['executor'], details?.['success'], details?.['args']])).toEqual([
      ['mock', true, { url: 'https://a.test/x', timeout_ms: 30_000 }],
      ['builtin', true, { url: 'https://a.test/y' }],
    ])
    expect(requests[0]?.details).toMatchObject({ output: { status: 201 }, call_id: 'mocked_http_1' })
  })

  test('what it holds', async () => {
    const { trace } = await traceRun('import { tool_call } from "std/tools"\ntool_call("web.get", {url: "u"})', {
      tools: [makeCountingTool('web.get', [])],
    })
    expect(trace.events.map(({ kind }) => kind)).toEqual(['run_start', 'tool_call', 'run_end'])
    expect(trace.events[1]).toMatchObject({
      seq: 2,
      prev_hash: trace.events[0]!.hash,
      tool_id: 'web.get',
      tool_version: '1.2.0',
      cached: false,
      details: {
        name: 'web.get',
        call_id: 'call_1',
        executor: 'host_bridge',
        attempts: 1,
        success: true,
        args: { url: 'u' },
        output: { got: 'u' },
      },
    })
    expect(trace.events[0]).toMatchObject({ prev_hash: GENESIS, details: { file: 'script.harn' } })
  })

  test('a denied call never reaches the tool, and is traced with latency 0 and without success', async () => {
    const seen: unknown[] = []
    const source =
      '// @bridle grants\nuse tool web.get as Fetch\ngrant Fetch domain "a.com"\nlet u = "https://b" + ".com"\nprintln(try { Fetch(url: u) } catch (e) { e.code })'
    const { trace, output } = await traceRun(source, { tools: [makeCountingTool('web.get', seen)] })
    expect(output).toBe('egress_blocked\n')
    expect(seen).toEqual([])
    const [call] = listCalls(trace)
    expect(call).toMatchObject({
      tool_id: 'web.get',
      latency_ms: 0,
      details: { name: 'Fetch', success: false, denied: true, attempts: 0, error: { code: 'egress_blocked' } },
    })
    expect(call!.policy_hash).toMatch(/^sha256:/)
  })

  test('a denied call has latency 0 also after a long approval', async () => {
    const clock = new VirtualClock()
    const source = `
import { with_policies } from "std/policy"
import { tool_try } from "std/tools"
let registry = tool_define(tool_registry(), "write", "", {handler: { a -> a }})
println(with_policies({approval_policy: {require_approval: ["write"]}}, { -> unwrap_err(tool_try("write", {}, {registry: registry})).code }))`
    const person = approvalProvider(() => {
      clock.advance(700)
      return { granted: false }
    })
    const { trace, output } = await traceRun(source, { clock, providers: [person], grants: ['approval'] })
    expect(output).toBe('approval_denied\n')
    const denied = listCalls(trace).find(({ tool_id }) => tool_id === 'write')
    expect(denied).toMatchObject({ latency_ms: 0, details: { denied: true, success: false } })
    // The time did pass, and is that of the question.
    expect(Date.parse(denied!.timestamp) - Date.parse(trace.events[0]!.timestamp)).toBe(700)
  })

  test('the ceiling of the host binds aliases, ids and builtins alike, and is not widened', async () => {
    const makeSource = [
      'import { tool_call } from "std/tools"',
      'import { with_grants } from "std/grants"',
      'fn attempt(f) { return try { f() } catch (e) { "${e.code}" } }',
      'println(attempt({ -> tool_call("fs.read", {path: "in/a"}) }))',
      'println(attempt({ -> read_file("in/a") }))',
      'println(attempt({ -> with_grants({"fs.read": {path: "in"}}, { -> read_file("in/a") }) }))',
      'println(attempt({ -> read_file("out/a") }))',
      'println(attempt({ -> write_file("out/b", "x") }))',
    ].join('\n')
    const fs = new MemoryFs({ '/w/in/a': 'secret', '/w/out/a': 'public' }, '/w')
    const options: RuntimeOptions = {
      providers: [fs, memoryProcess({ cwd: '/w' })],
      grants: ['*'],
      toolGrants: { 'fs.read': { path: ['out', '/w/out'] } },
      defaultDeny: true,
    }
    const { output, trace } = await traceRun(makeSource, options)
    expect(output.split('\n').slice(0, 5)).toEqual([
      'policy_violation',
      'policy_violation',
      'policy_violation',
      'public',
      'policy_violation',
    ])
    expect(listCalls(trace).map(({ details }) => details!['success'])).toEqual([false, false, false, true, false])
  })

  test('retries are one call; the error says how often', async () => {
    let tries = 0
    const tool = defineTool({
      name: 'flaky',
      execute: () => {
        tries++
        throw new ToolError('rate_limit', 'slow down', { retryAfterMs: 1 })
      },
    })
    const { trace } = await traceRun('import { tool_try } from "std/tools"\ntool_try("flaky", {}, {retry: {max_retries: 2}})', {
      tools: [tool],
    })
    expect(tries).toBe(3)
    expect(listCalls(trace)).toHaveLength(1)
    expect(listCalls(trace)[0]!.details).toMatchObject({
      attempts: 3,
      success: false,
      denied: false,
      error: { code: 'rate_limit', message: 'slow down' },
    })
  })

  test('calls made by a handler name the call around them', async () => {
    const makeSource = [
      'import { tool_call } from "std/tools"',
      'tool_bind(tool_define(tool_registry(), "outer", "", {handler: { a -> tool_call("crypto.sha256", {input: "x"}) }}))',
      'tool_call("outer", {})',
    ].join('\n')
    const { trace } = await traceRun(makeSource)
    expect(listCalls(trace).map(({ details }) => [details!['name'], details!['parent'] ?? null])).toEqual([
      ['crypto.sha256', 'call_1'],
      ['outer', null],
    ])
  })

  test('calls of an agent loop are there, also those that end before anything carries them out', async () => {
    const source = `
var tools = tool_define(tool_registry(), "add", "", {parameters: {n: "int"}, handler: { a -> a.n }})
tools = tool_define(tools, "drop", "", {handler: { a -> "dropped" }})
tools = tool_define(tools, "ask", "", {handler: { a -> "asked" }})
tools = tool_define(tools, "theirs", "", {executor: "provider_native"})
for name in ["add", "drop", "ask", "theirs", "nobody"] { llm_mock({text: "", tool_calls: [{name: name, arguments: {}}]}) }
for turn in [1, 2] { llm_mock({text: "", tool_calls: [{name: "add", arguments: {n: 1}}]}) }
llm_mock({text: "##DONE##"})
agent_loop("Do it", nil, {
  tools: tools, provider: "mock", tool_format: "native", loop_until_done: true, max_iterations: 9, loop_detect_skip: 2,
  policy: {tools: ["add", "ask", "theirs", "nobody"]}, approval_policy: {auto_deny: ["ask"]},
})`
    const { trace } = await traceRun(source)
    const ofModel = listCalls(trace).filter(({ tool_id }) => !tool_id!.includes('.'))
    const seen = ofModel.map(({ tool_id, details }) => {
      const { executor, attempts, success, denied, error } = details as { [key: string]: unknown; error?: { code: string } }
      return [tool_id, executor, attempts, success, denied ?? null, error?.code ?? null]
    })
    expect(seen).toEqual([
      ['add', 'harn', 0, false, true, 'invalid_args'],
      ['drop', 'harn', 0, false, true, 'policy_violation'],
      ['ask', 'harn', 0, false, true, 'approval_denied'],
      ['theirs', 'provider_native', 0, false, true, 'policy_violation'],
      ['nobody', 'harn', 0, false, true, 'policy_violation'],
      ['add', 'harn', 1, true, null, null],
      ['add', 'harn', 0, false, true, 'policy_violation'],
    ])
    expect(ofModel[1]!.details!['error']).toMatchObject({ message: expect.stringContaining("'drop' exceeds tool ceiling") })
  })

  test('an uncaught error is an event too', async () => {
    const { trace } = await traceRun('throw "no"')
    expect(trace.events.map(({ kind }) => kind)).toEqual(['run_start', 'error', 'run_end'])
    expect(trace.events[1]!.message).toContain('no')
  })

  test('effects of builtins, with what the host refuses', async () => {
    const source = 'write_file("a.txt", "x")\nprintln(try { http_get("https://x.com/") } catch (e) { "refused" })'
    const { trace } = await traceRun(source, { providers: [new MemoryFs({}, '/w')], grants: ['fs'] })
    const seen = listCalls(trace).map(({ tool_id, details }) => [tool_id, details!['success'], details!['denied'] ?? null])
    expect(seen).toContainEqual(['fs.write', true, null])
    expect(seen).toContainEqual(['http.get', false, true])
  })

  test('large data is set aside by its hash', async () => {
    const { trace } = await traceRun(
      'import { tool_call } from "std/tools"\ntool_call("crypto.sha256", {input: "x".repeat(9000)})',
    )
    const args = listCalls(trace)[0]!.details!['args'] as { $blob: string; size: number }
    expect(args.size).toBeGreaterThan(9000)
    expect(trace.blobs.get(args.$blob)).toContain('xxxx')
  })
})

describe('the chain', () => {
  const source = 'import { tool_call } from "std/tools"\nfor n in [1, 2, 3] { tool_call("crypto.sha256", {input: "${n}"}) }'

  test('verifies, and is equal for equal runs', async () => {
    const one = await traceRun(source)
    const other = await traceRun(source)
    expect(verifyTrace(one.trace.events)).toEqual({ ok: true, events: 5, complete: true })
    expect(one.trace.events.map(({ hash }) => hash)).toEqual(other.trace.events.map(({ hash }) => hash))
    expect(diffTraces(one.trace.events, other.trace.events)).toEqual({ kind: 'equal', events: 5 })
  })

  test('a replay gives the same chain without any call', async () => {
    const seen: unknown[] = []
    const runtime = createRuntime({ tools: [makeCountingTool('web.get', seen)] })
    const module = runtime.compile(
      'import { tool_call } from "std/tools"\nprintln(tool_call("web.get", {url: "u"}).got)\nprintln(uuid())',
    )
    const [live, again] = [new MemoryTrace(), new MemoryTrace()]
    const journal = new MemoryJournal()
    await runtime.start(module, { journal, tracing: { sinks: [live] } }).result
    runtime.replay(module, journal.entries, { tracing: { sinks: [again] } })
    expect(seen).toHaveLength(1)
    expect(again.events.map(({ hash }) => hash)).toEqual(live.events.map(({ hash }) => hash))
  })

  test.each<[string, (events: TraceEvent[]) => TraceEvent[], string, number]>([
    [
      'edited details',
      (events) => events.with(2, { ...events[2]!, details: { ...events[2]!.details, success: false } }),
      'hash',
      3,
    ],
    ['edited hash of the outputs', (events) => events.with(2, { ...events[2]!, outputs_hash: 'sha256:0' }), 'hash', 3],
    ['dropped', (events) => events.toSpliced(2, 1), 'sequence', 3],
    ['swapped', (events) => events.with(1, events[2]!).with(2, events[1]!), 'sequence', 2],
    ['dropped and renumbered', (events) => events.toSpliced(2, 1).map((event, at) => ({ ...event, seq: at + 1 })), 'chain', 3],
    [
      'edited with its hash',
      (events) => {
        const forged = { ...events[2]!, tool_id: 'other' }
        return events.with(2, { ...forged, hash: hashEvent(forged) })
      },
      'chain',
      4,
    ],
  ])('%s events are found', async (_name, change, code, seq) => {
    const { trace } = await traceRun(source)
    expect(verifyTrace(change(trace.events))).toMatchObject({ ok: false, code, seq })
  })

  test('a field that was added, of any name, is found', async () => {
    const { trace } = await traceRun(source)
    for (const name of ['zzz', '__proto__', '10', 'message']) {
      const text = JSON.stringify(trace.events[1]).replace(/^\{/, `{"${name}":"x",`)
      const forged = JSON.parse(text) as TraceEvent
      expect(verifyTrace(trace.events.with(1, forged))).toMatchObject({ ok: false, code: 'hash', seq: 2 })
    }
  })

  test('the hash is that of the canonical text of everything but the times', async () => {
    const { trace } = await traceRun(source)
    for (const { hash, timestamp, latency_ms, run_id, ...hashed } of trace.events) {
      void [timestamp, latency_ms, run_id]
      expect(hash).toBe(`sha256:${hashSha256InScript(stringifyCanonical(hashed as unknown as TraceJson))}`)
    }
  })

  test('what is cut off the end shows', async () => {
    const { trace } = await traceRun(source)
    expect(verifyTrace(trace.events.slice(0, -1))).toEqual({ ok: true, events: 4, complete: false })
  })

  test('times are outside the hash', async () => {
    const { trace } = await traceRun(source)
    expect(verifyTrace(trace.events.map((event) => ({ ...event, timestamp: 'later', latency_ms: 7 }))).ok).toBe(true)
  })

  test('continues after a resume', async () => {
    const trace = new MemoryTrace()
    const runtime = createRuntime()
    const run = runtime.start(
      runtime.compile(
        'import { tool_call } from "std/tools"\ntool_call("crypto.sha256", {input: "a"})\nsleep(5ms)\ntool_call("crypto.sha256", {input: "b"})',
      ),
      {
        tracing: { sinks: [trace] },
      },
    )
    const bytes = await run.snapshot()
    const before = trace.events.slice()
    await run.result
    const second = new MemoryTrace()
    second.events.push(...before)
    await runtime.resume(bytes, { tracing: { sinks: [second] } }).result
    expect(verifyTrace(second.events)).toMatchObject({ ok: true, complete: true })
    expect(second.events.filter(({ kind }) => kind === 'tool_call')).toHaveLength(2)
  })

  test('a sink that fails is removed, and the run continues', async () => {
    const runtime = createRuntime()
    const sink = {
      append() {
        throw new Error('disk full')
      },
    }
    const result = await runtime.start(runtime.compile('println(sha256("a") != "")'), { tracing: { sinks: [sink] } }).result
    expect(result).toMatchObject({ status: 'done', output: 'true\n' })
  })

  test('canonical JSON', () => {
    const data: TraceJson = { b: [1, 'ü', null], a: { '\u{1F600}': 1, '\uFFFF': 2 }, c: true }
    expect(stringifyCanonical(data)).toBe('{"a":{"\uFFFF":2,"\u{1F600}":1},"b":[1,"ü",null],"c":true}')
    expect(stringifyCanonical({ z: -0.5, a: '"\\\n' })).toBe('{"a":"\\"\\\\\\n","z":-0.5}')
  })
})

describe('secrets', () => {
  // A secret that is written out in a text is found by the name in front of it, and taken out of other texts, too.
  test.each([
    'https://ada:S3cret-99@api.test/x',
    'https://S3cret-99@git.test/x.git',
    'https://api.test/x?page=2&api_key=S3cret-99&z=1',
    'https://api.test/x?X-Amz-Signature=S3cret-99',
    'https://api.test/?next=https%3A%2F%2Fb.test%2F%3Ftoken%3DS3cret-99',
    'grant_type=x&client_secret=S3cret-99',
    '{"user": "ada", "refresh_token": "S3cret-99"}',
    'curl -H "Authorization: Bearer S3cret-99" https://api.test/',
    'MY_TOKEN=S3cret-99 make deploy',
    'login --password="S3cret-99" now',
  ])('in a text: %s', (text) => {
    const redactor = new Redactor()
    expect(JSON.stringify(redactor.clean({ body: text, list: [[text]] }))).not.toContain('S3cret-99')
    expect(redactor.text('rejected: S3cret-99')).toBe('rejected: [redacted]')
    expect(redactor.text(redactor.text(text))).toBe(redactor.text(text))
  })

  test('in an argument of a program, and nothing where there is none', () => {
    expect(new Redactor().clean({ args: ['--token', 'S3cret-99', '--user', 'ada'] })).toEqual({
      args: ['--token', '[redacted]', '--user', 'ada'],
    })
    for (const text of [
      'a=b',
      'mail me@x.org',
      'key: value',
      'x = y == z',
      'https://api.test/?q=token',
      '--max_tokens=5',
      'Basic idea',
    ])
      expect(new Redactor().text(text)).toBe(text)
  })

  test('never appear', async () => {
    const makeSource = [
      'import { tool_call } from "std/tools"',
      'let key = env("SERVICE_API_KEY")',
      'tool_call("web.get", {url: "https://x.com/?k=${key}", key: "marked-by-schema"})',
      'tool_call("crypto.sha256", {input: "Authorization: Bearer ${key}"})',
      'println(try { tool_call("crypto.sha256", {input: {password: "hunter2hunter2"}}) } catch (e) { 1 })',
      'println(try { tool_call("crypto.md5", {input: "hunter2hunter2 again, marked-by-schema"}) } catch (e) { 1 })',
      'throw "failed with ${key}"',
    ].join('\n')
    const { trace } = await traceRun(makeSource, {
      tools: [makeCountingTool('web.get', [])],
      providers: [memoryProcess({ env: { SERVICE_API_KEY: 'sk-very-secret-1' } })],
      grants: ['*'],
    })
    const text = JSON.stringify(trace.events)
    for (const secret of ['sk-very-secret-1', 'marked-by-schema', 'hunter2hunter2']) expect(text).not.toContain(secret)
    expect(text).toContain('[redacted]')
    expect(listCalls(trace).map(({ tool_id }) => tool_id)).toContain('env.get')
  })

  test.each([
    ['password', true],
    ['api_key', true],
    ['x-api-key', true],
    ['Authorization', true],
    ['access_token', true],
    ['max_tokens', false],
    ['input_tokens', false],
    ['author', false],
    ['path', false],
  ])('%s is a secret name: %s', (name, secret) => {
    expect(new Redactor().isSecretName(name)).toBe(secret)
  })

  test('the host has the last word', () => {
    const redactor = new Redactor({
      secrets: ['abcdef'],
      names: ['ssn'],
      custom: (value, path) => (path.at(-1) === 'email' ? 'x' : value),
    })
    expect(redactor.clean({ a: 'say abcdef', ssn: '123-45', email: 'me@x.org' })).toEqual({
      a: 'say [redacted]',
      ssn: '[redacted]',
      email: 'x',
    })
  })
})

describe('the graph', () => {
  const makeEvent = (seq: number, id: string, ms: number, more: { readonly [key: string]: TraceJson } = {}): TraceEvent => ({
    seq,
    kind: 'tool_call',
    prev_hash: '',
    hash: '',
    timestamp: '2026-01-01T00:00:00.000Z',
    doc_hash: '',
    latency_ms: ms,
    details: { name: id, call_id: id, task: 0, success: true, args: {}, ...more },
  })
  const events: readonly TraceEvent[] = [
    { ...makeEvent(1, 'x', 0), kind: 'run_start', run_id: 'r1', details: { file: 'a.harn' } },
    makeEvent(2, 'fast', 5, { task: 1, output: 'the page' }),
    makeEvent(3, 'inner', 20, { parent: 'slow', task: 2 }),
    makeEvent(4, 'slow', 50, { task: 2 }),
    makeEvent(5, 'use', 7, { args: { text: 'the page' } }),
    makeEvent(6, 'bad', 1, { success: false, denied: true }),
    { ...makeEvent(7, 'x', 0), kind: 'run_end', details: { status: 'done' } },
  ]

  test('the critical path of a parallel run', () => {
    const { path, durationMs } = buildGraph(events).criticalPath()
    expect(path.map(({ id }) => id)).toEqual(['run', 'slow', 'inner'])
    expect(durationMs).toBe(70)
  })

  test('the time of the run itself is not that of its longest call', () => {
    const late = events.map((each) => (each.kind === 'run_end' ? { ...each, timestamp: '2026-01-01T00:00:09.000Z' } : each))
    const graph = buildGraph(late)
    expect(graph.nodes[0]!.durationMs).toBe(9000)
    expect(graph.criticalPath().durationMs).toBe(70)
  })

  test('order is recorded within a task, not across tasks', () => {
    const { edges } = buildGraph(events)
    expect(edges.filter(({ kind }) => kind === 'temporal')).toEqual([{ kind: 'temporal', from: 'use', to: 'bad' }])
  })

  test("outputs that are short or kept secret are nobody's argument", () => {
    const countPassed = (output: string): number =>
      buildGraph([makeEvent(1, 'a', 1, { output }), makeEvent(2, 'b', 1, { args: { text: output } })]).edges.filter(
        ({ kind }) => kind === 'data',
      ).length
    expect(['yes', 'four', '[redacted]'].map(countPassed)).toEqual([0, 1, 0])
  })

  test('edges, queries and forms', () => {
    const graph = buildGraph(events)
    expect(graph.edges).toContainEqual({ kind: 'data', from: 'fast', to: 'use' })
    expect(graph.edges).toContainEqual({ kind: 'temporal', from: 'use', to: 'bad' })
    expect(graph.children('run').map(({ id }) => id)).toEqual(['fast', 'slow', 'use', 'bad'])
    expect(graph.descendants('run')).toHaveLength(5)
    expect(graph.parents('inner').map(({ id }) => id)).toEqual(['slow'])
    expect(graph.depth()).toBe(3)
    expect(graph.bottlenecks(10).map(({ id }) => id)).toEqual(['slow', 'inner'])
    expect(graph.toMermaid()).toContain('  run --> slow\n')
    expect(graph.toMermaid()).toContain('bad["bad 1ms"]:::denied')
    expect(graph.toDot()).toContain('"fast" -> "use" [style=bold];')
    expect(graph.toJSON()).toMatchObject({ run_id: 'r1', metadata: { node_count: 6, max_depth: 3 } })
    expect(graph.toText()).toBe('5 calls, 1 not successful, depth 3\ncritical path: a.harn → slow → inner (70 ms)')
  })

  test('of a real run', async () => {
    const { trace } = await traceRun(
      'import { tool_call } from "std/tools"\nparallel each [1, 2] { n -> tool_call("crypto.sha256", {input: "${n}"}) }',
    )
    const graph = buildGraph(trace.events)
    expect(new Set(graph.nodes.filter(({ kind }) => kind === 'tool').map(({ task }) => task)).size).toBe(2)
  })
})

test('the first difference of two traces', async () => {
  const makeSource = (word: string): string =>
    `import { tool_call } from "std/tools"\ntool_call("crypto.sha256", {input: "${word}"})`
  const [one, other] = [await traceRun(makeSource('a')), await traceRun(makeSource('b'))]
  const difference = diffTraces(one.trace.events, other.trace.events)
  expect(difference).toMatchObject({ kind: 'event', seq: 2 })
  expect(difference.kind === 'event' ? difference.fields.map(({ path }) => path) : []).toContain('details.args.input')
  expect(diffTraces(one.trace.events, one.trace.events.slice(0, 2))).toMatchObject({ kind: 'length', seq: 3, more: 'before' })
})

test('spans for OpenTelemetry: children within the call around them, at the times of the calls', async () => {
  interface Fake extends OtelSpan {
    readonly name: string
    readonly parent: string | null
    readonly attributes: Record<string, unknown>
  }
  const spans: Fake[] = []
  const tracer = {
    startSpan(name: string, options: { attributes?: object } = {}, context?: { readonly span: string | null }): Fake {
      const span: Fake = {
        name,
        parent: context?.span ?? null,
        attributes: { ...options.attributes },
        setAttribute: (key, value) => {
          span.attributes[key] = value
        },
        setStatus: ({ code }) => {
          span.attributes['status'] = code
        },
        end: () => {
          span.attributes['ended'] = true
        },
      }
      spans.push(span)
      return span
    },
  }
  const sink = otelTrace(tracer, {
    context: { span: null as string | null },
    setSpan: (_context, span) => ({ span: (span as Fake).name }),
  })
  const makeSource = [
    'import { tool_call, tool_try } from "std/tools"',
    'tool_bind(tool_define(tool_registry(), "outer", "", {handler: { a -> tool_call("crypto.sha256", {input: "x"}) }}))',
    'tool_call("outer", {})',
    'tool_try("crypto.md5", {})',
  ].join('\n')
  await traceRun(makeSource, {}, { tracing: { sinks: [sink] } })
  expect(spans.map(({ name, parent }) => [name, parent])).toEqual([
    ['invoke_workflow script.harn', null],
    ['execute_tool outer', 'invoke_workflow script.harn'],
    ['execute_tool crypto.sha256', 'execute_tool outer'],
    ['execute_tool crypto.md5', 'invoke_workflow script.harn'],
  ])
  expect(spans.every(({ attributes }) => attributes['ended'] === true)).toBe(true)
  expect(spans[3]!.attributes).toMatchObject({ 'gen_ai.tool.name': 'crypto.md5', 'error.type': 'invalid_args', status: 2 })
})

test('without tracing nothing is emitted', async () => {
  const runtime = createRuntime({ providers: [{ kinds: ['store.op'], perform: () => answered(null) }] })
  const result = await runtime.start(runtime.compile('println(sha256("a") != "")')).result
  expect(result.output).toBe('true\n')
})

describe('a trace that is required', () => {
  /** Keeps this many events, and then nothing. */
  function makeFailingSink(events: number) {
    const kept: TraceEvent[] = []
    const sink: TraceSink = {
      append(event) {
        if (kept.length >= events) throw new Error('the disk is full')
        kept.push(event)
      },
    }
    return { sink, kept }
  }
  const source =
    'import { tool_call } from "std/tools"\ntool_call("pay", {n: 1})\ntry { tool_call("pay", {n: 2}) } catch (e) { println(e) }\nprintln("on")'

  test('comes before what happens, and its chain verifies', async () => {
    const trace = new MemoryTrace()
    const pay = defineTool({ name: 'pay', execute: () => void trace.events.at(-1)!.kind })
    const runtime = createRuntime({ tools: [pay] })
    await runtime.start(runtime.compile(source), { tracing: { sinks: [trace], required: true } }).result
    expect(trace.events.map(({ kind }) => kind)).toEqual([
      'run_start',
      'call_intent',
      'tool_call',
      'call_intent',
      'tool_call',
      'run_end',
    ])
    expect(verifyTrace(trace.events)).toMatchObject({ ok: true, complete: true })
  })

  // run_start, intent, call, intent, call, run_end: what cannot be kept does not happen.
  test.each([
    [0, 0],
    [1, 0],
    [2, 1],
    [3, 1],
    [4, 2],
  ])('with room for %d events, %d calls are made and the run ends with an error', async (room, made) => {
    let calls = 0
    const { sink } = makeFailingSink(room)
    const runtime = createRuntime({ tools: [defineTool({ name: 'pay', execute: () => void calls++ })] })
    const run = runtime.start(runtime.compile(source), { tracing: { sinks: [sink], required: true } })
    await expect(run.result).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('the disk is full'),
    })
    expect(calls).toBe(made)
  })
})

describe('what is secret', () => {
  test('values that the host lends by name, with any name, wherever they occur', async () => {
    const lends: Provider = { ...memoryProcess({ env: {} }), secretValues: ['plain-word-value'] }
    const { trace } = await traceRun(
      'import { tool_call } from "std/tools"\nlet text = __TEXT__\nprintln(sha256(text))\ntool_call("web.get", {url: text})'.replace(
        '__TEXT__',
        '"https://x.test/${"plain-word"}-value"',
      ),
      {
        tools: [makeCountingTool('web.get', [])],
        providers: [lends],
        grants: ['*'],
      },
    )
    expect(JSON.stringify(trace.events)).not.toContain('plain-word-value')
    expect(JSON.stringify(trace.events)).toContain('https://x.test/[redacted]')
    expect(verifyTrace(trace.events)).toMatchObject({ ok: true })
  })

  test('what a schema marks within a record', async () => {
    const login = defineTool({
      name: 'web.login',
      input: {
        type: 'object',
        properties: {
          account: { type: 'object', properties: { pin: { type: 'string', writeOnly: true }, name: { type: 'string' } } },
          codes: { type: 'array', items: { type: 'object', properties: { code: { type: 'string', format: 'password' } } } },
        },
      },
      execute: (input) => JSON.stringify(input),
    })
    const source =
      'import { tool_call } from "std/tools"\ntool_call("web.login", {account: {pin: "pin-4711-x", name: "ada"}, codes: [{code: "code-4711-x"}]})'
    const { trace } = await traceRun(source, { tools: [login] })
    expect(JSON.stringify(trace.events)).not.toContain('4711')
    expect(JSON.stringify(trace.events)).toContain('ada')
  })

  test('a folder is not a secret, nor a variable whose value is not a key', async () => {
    const env = {
      PWD: '/home/ada/work',
      KEYBOARD: 'us-intl',
      AUTHOR: 'ada',
      API_URL: 'https://api.test/v1',
      SSH_AUTH_SOCK: '/run/agent',
    }
    const source = `import { tool_call } from "std/tools"\n${Object.keys(env)
      .map((name) => `println(env("${name}"))`)
      .join(
        '\n',
      )}\nprintln(tool_call("web.get", {url: "/home/ada/work/x https://api.test/v1 us-intl"}))\nprintln({pwd: "/home/ada/work"})`
    const { trace } = await traceRun(source, {
      tools: [makeCountingTool('web.get', [])],
      providers: [memoryProcess({ env })],
      grants: ['*'],
    })
    expect(JSON.stringify(trace.events)).not.toContain('[redacted]')
    expect(new Redactor().clean({ pwd: '/home/ada', text: '/home/ada/x' })).toEqual({ pwd: '/home/ada', text: '/home/ada/x' })
    expect(new Redactor().clean({ pwd: 'hunter22', text: 'hunter22' })).toEqual({ pwd: '[redacted]', text: '[redacted]' })
    expect(verifyTrace(trace.events)).toMatchObject({ ok: true })
  })

  test.each([
    ['sk-very-secret-1', true],
    ['hunter2hunter2', true],
    ['ghp_abcDEF123456', true],
    ['correcthorsebatterystaple', true],
    ['us-intl', false],
    ['https://api.test/v1', false],
    ['postgres://ada:S3cret-99@db/x', true],
    ['/run/agent.sock', false],
    ['8080', false],
    ['true', false],
    ['two words 99', false],
  ])('%s looks like a key: %s', (value, expected) => {
    expect(looksLikeKey(value)).toBe(expected)
  })
})

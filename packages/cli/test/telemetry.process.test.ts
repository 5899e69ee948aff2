// Export of the command's runs to a collector, configured by the standard variables of OpenTelemetry.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bundledCommand } from '../../../scripts/bundled-command.js'
import { startCollector } from './otlp-collector.js'
import type { Received } from './otlp-collector.js'

const SERVER = `
const send = (m) => console.log(JSON.stringify({ jsonrpc: '2.0', ...m }));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'demo', version: '1' } } });
  else if (method === 'tools/list') send({ id, result: { tools: [{ name: 'tell', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: params._meta?.traceparent ?? 'none' }], isError: params.arguments.fail === true } });
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } });
});`

const SCRIPT = `
let answer = llm_call("Greet me", nil, {provider: "openai", model: "gpt-4.1"}).text
let demo = mcp_ensure_active("demo")
let parent = mcp_call(demo, "tell", {})
let failed = try { mcp_call(demo, "tell", {fail: true}) } catch (e) { nil }
println(answer)
println(parent)
`

let command: { readonly path: string; readonly folder: string }
let service: Server
let collector: Awaited<ReturnType<typeof startCollector>>
const heard: (string | undefined)[] = []
const folder = mkdtempSync(join(tmpdir(), 'bridle-otel-'))

beforeAll(async () => {
  command = await bundledCommand()
  service = createServer((request, response) => {
    heard.push(request.headers['traceparent'] as string | undefined)
    response.writeHead(200, { 'content-type': 'application/json' })
    const message = { role: 'assistant', content: 'Hello' }
    const usage = { prompt_tokens: 9, completion_tokens: 2 }
    request
      .resume()
      .on('end', () =>
        response.end(
          JSON.stringify({ id: 'c1', model: 'gpt-4.1-2026', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }),
        ),
      )
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  writeFileSync(join(folder, 'server.cjs'), SERVER)
  writeFileSync(join(folder, 'main.harn'), SCRIPT)
  const server = { command: JSON.stringify(process.execPath), args: JSON.stringify([join(folder, 'server.cjs')]) }
  writeFileSync(
    join(folder, 'harn.toml'),
    `[[mcp]]\nname = "demo"\nlazy = true\ncommand = ${server.command}\nargs = ${server.args}\n`,
  )
})
afterAll(() => {
  service.close()
  service.closeAllConnections()
  rmSync(folder, { recursive: true, force: true })
  rmSync(command.folder, { recursive: true, force: true })
})
beforeEach(async () => {
  heard.length = 0
  collector = await startCollector()
})
afterEach(() => collector.close())

function run(
  variables: Readonly<Record<string, string>>,
  script = 'main.harn',
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('OTEL_') && !/^TRACE/.test(name))
  const address = `http://127.0.0.1:${(service.address() as AddressInfo).port}/v1`
  const env = { ...Object.fromEntries(own), OPENAI_API_KEY: 'k', OPENAI_BASE_URL: address, ...variables }
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [command.path, 'run', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (piece: Buffer) => (stdout += piece.toString()))
    child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

const find = ({ spans }: Received, name: string) => spans.find((span) => span.name === name)!

test('spans and metrics over OTLP/protobuf, below the span of the parent process', async () => {
  const { received, url } = collector
  const { code, stdout, stderr } = await run({
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-team=tea',
    OTEL_SERVICE_NAME: 'shop',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    TRACEPARENT: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`,
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(received.requests.map(({ path }) => path).toSorted()).toEqual(['/v1/metrics', '/v1/traces'])
  for (const { headers } of received.requests)
    expect(headers).toMatchObject({ 'content-type': 'application/x-protobuf', 'x-team': 'tea' })
  for (const resource of received.resources)
    expect(resource).toMatchObject({ 'service.name': 'shop', 'deployment.environment.name': 'test' })
  const root = find(received, 'invoke_workflow main.harn')
  expect(root).toMatchObject({ traceId: 'ab'.repeat(16), parentSpanId: 'cd'.repeat(8), kind: 1 })
  const chat = find(received, 'chat gpt-4.1')
  expect(chat).toMatchObject({
    parentSpanId: root.spanId,
    kind: 3,
    status: { code: 0 },
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4.1',
      'gen_ai.response.model': 'gpt-4.1-2026',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.output_tokens': 2,
    },
  })
  const call = find(received, 'tools/call tell')
  expect(call).toMatchObject({
    kind: 3,
    attributes: {
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': expect.stringMatching(/^20\d\d-/) as string,
      'network.transport': 'pipe',
      'gen_ai.tool.name': 'tell',
      'gen_ai.operation.name': 'execute_tool',
    },
  })
  expect(stdout).toBe(`Hello\n00-${'ab'.repeat(16)}-${call.spanId}-01\n`)
  expect(received.spans.filter(({ name }) => name === 'tools/call tell')[1]).toMatchObject({
    status: { code: 2 },
    attributes: { 'error.type': 'tool_error' },
  })
  const metrics = new Map(received.metrics.map((metric) => [metric.name, metric]))
  expect([...metrics.keys()].toSorted()).toEqual([
    'gen_ai.client.operation.duration',
    'gen_ai.client.token.usage',
    'mcp.client.operation.duration',
    'mcp.client.session.duration',
  ])
  const duration = metrics.get('gen_ai.client.operation.duration')!
  expect(duration).toMatchObject({ unit: 's', points: [{ count: 1 }] })
  expect(duration.points[0]!.bounds).toEqual(Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power))
  const tokens = metrics.get('gen_ai.client.token.usage')!
  expect(tokens.unit).toBe('{token}')
  expect(tokens.points.map(({ attributes, sum }) => [attributes['gen_ai.token.type'], sum])).toEqual([
    ['input', 9],
    ['output', 2],
  ])
  const calls = metrics
    .get('mcp.client.operation.duration')!
    .points.filter(({ attributes }) => attributes['mcp.method.name'] === 'tools/call')
  expect(calls.map(({ attributes }) => attributes['error.type'] ?? null)).toEqual([null, 'tool_error'])
  const session = metrics.get('mcp.client.session.duration')!.points[0]!
  expect(session.attributes).toMatchObject({ 'mcp.protocol.version': expect.any(String) as string })
})

test('JSON if the protocol variable says so, compressed on request', async () => {
  const { received, url } = collector
  const more = { OTEL_METRICS_EXPORTER: 'none', OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }
  await run({ ...more, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces`, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' })
  expect(received.requests).toMatchObject([
    { path: '/v1/traces', headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } },
  ])
  expect(find(received, 'chat gpt-4.1').kind).toBe(3)
})

test.each([
  ['OTEL_SDK_DISABLED', 'true'],
  ['OTEL_TRACES_EXPORTER', 'none'],
  ['OTEL_TRACES_SAMPLER', 'always_off'],
])('%s=%s sends no spans', async (name, value) => {
  const { code } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_METRICS_EXPORTER: 'none', [name]: value })
  expect(code).toBe(0)
  expect(collector.received.requests).toEqual([])
})

test('OTEL_PROPAGATORS=none suppresses the context', async () => {
  const { stdout } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_PROPAGATORS: 'none' })
  expect(stdout).toBe('Hello\nnone\n')
})

test('an unreachable collector is a warning, and does not affect the run', async () => {
  const { code, stdout, stderr } = await run({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '50',
  })
  expect({ code, stdout: stdout.split('\n')[0] }).toEqual({ code: 0, stdout: 'Hello' })
  expect(stderr.match(/^warning: OpenTelemetry: /gm)).toHaveLength(1)
})

test('a failing run, with its error', async () => {
  writeFileSync(join(folder, 'fails.harn'), 'throw "no tea"\n')
  const { code } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, 'fails.harn')
  expect(code).toBe(1)
  const root = find(collector.received, 'invoke_workflow fails.harn')
  expect(root.status.code).toBe(2)
  expect(root.status.message).toContain('no tea')
})

test('a served script: a span of the server below that of its client, and the run below it', async () => {
  writeFileSync(
    join(folder, 'served.harn'),
    '/** Twice. */\npub fn twice(n: int) -> int {\n  return 2 * n\n}\n\npub fn fails() {\n  throw "no tea"\n}\n',
  )
  const parent = `00-${'12'.repeat(16)}-${'34'.repeat(8)}-01`
  const messages = [
    {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'twice', arguments: { n: 4 }, _meta: { traceparent: parent } } },
    { id: 3, method: 'tools/call', params: { name: 'fails', arguments: {} } },
  ]
  const child = spawn(process.execPath, [command.path, 'serve', 'mcp', 'served.harn'], {
    cwd: folder,
    env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let heard = ''
  const ended = new Promise((resolve) => child.on('close', resolve))
  child.stdout.on('data', (piece: Buffer) => {
    heard += piece.toString()
    if (heard.includes('"id":2') && heard.includes('"id":3')) child.stdin.end()
  })
  for (const message of messages) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  await ended
  const { received } = collector
  const served = find(received, 'tools/call twice')
  expect(served).toMatchObject({
    traceId: '12'.repeat(16),
    parentSpanId: '34'.repeat(8),
    kind: 2,
    attributes: {
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2025-11-25',
      'network.transport': 'pipe',
      'gen_ai.tool.name': 'twice',
      'gen_ai.operation.name': 'execute_tool',
    },
  })
  expect(received.spans.filter(({ parentSpanId }) => parentSpanId === served.spanId).map(({ name }) => name)).toEqual([
    'invoke_workflow served.harn.call.harn',
  ])
  expect(find(received, 'tools/call fails')).toMatchObject({
    kind: 2,
    status: { code: 2 },
    attributes: { 'error.type': 'tool_error' },
  })
  const duration = received.metrics.find(({ name }) => name === 'mcp.server.operation.duration')!
  expect(new Set(duration.points.map(({ attributes }) => attributes['gen_ai.tool.name']))).toEqual(new Set(['fails', 'twice']))
})

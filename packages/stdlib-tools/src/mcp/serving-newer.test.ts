// What is served to clients of the revision 2026-07-28, seen by the SDK that other people write such clients with: over HTTP, over `fetch`
// and over streams. Requests stand for themselves; what a handler asks its client for ends the request, and continues with the next.

import { PassThrough } from 'node:stream'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ClientOptions, Transport } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { defineTool } from '../tools/host-tools/define.js'
import { createRegistry } from '../tools/host-tools/registry.js'
import { ApprovalDesk } from '../tools/policy/host-approval.js'
import { StreamTransport } from '../tools/executors/stream-transport.js'
import { toMcpServer } from './host-backend.js'
import { META, MODERN_VERSION } from './modern-wire.js'
import { McpConnections, mcpProvider } from './provider.js'
import { serveFetch } from './server-fetch.js'
import { serveHttp } from './server-http.js'
import type { HttpServerOptions } from './server-http.js'
import { ExportedBackend } from './server-exports.js'
import { RegisteredBackend } from './server-registered.js'
import { McpServerConnection } from './server.js'
import type { McpBackend } from './server-protocol.js'

const IDENTITY = { name: 'test', version: '1' }
const open: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

async function startScript(source: string): Promise<RegisteredBackend> {
  const runtime = createRuntime({ grants: ['*'] })
  const backend = await RegisteredBackend.start(runtime, runtime.compile(source), { desk: new ApprovalDesk() })
  open.push(() => backend.close())
  return backend
}

async function startHttp(backend: McpBackend, options: HttpServerOptions = {}): Promise<string> {
  const server = await serveHttp(backend, IDENTITY, options)
  open.push(() => server.close())
  return server.url
}

async function connect(transport: Transport, options: ClientOptions = {}): Promise<Client> {
  const client = new Client(
    { name: 'tester', version: '2' },
    { ...options, versionNegotiation: { mode: { pin: MODERN_VERSION } } },
  )
  if (options.capabilities?.elicitation !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => ({
      action: 'accept',
      content: { answer: `to ${params.message}` },
    }))
  if (options.capabilities?.roots !== undefined)
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///work' }] }))
  await client.connect(transport)
  open.push(() => client.close())
  return client
}

const connectHttp = (url: string, options: ClientOptions = {}): Promise<Client> =>
  connect(new StreamableHTTPClientTransport(new URL(url)), options)

const PERSON: ClientOptions = { capabilities: { elicitation: {}, roots: {} } }

const ASKING = `
import { mcp_elicit, mcp_roots, mcp_sample } from "std/mcp"

let worked = atomic(0)

fn once(name, handler) {
  return {name: name, handler: handler}
}

fn offer() {
  var reg = tool_registry()
  for each in [
    once("ask", { _ ->
      let calls = atomic_add(worked, 1) + 1
      let first = mcp_elicit("one", {type: "object", properties: {answer: {type: "string"}}}, "first")
      let second = mcp_elicit("two", {type: "object", properties: {answer: {type: "string"}}}, "second")
      "\${calls} \${first.content.answer}, \${second.content.answer}, \${mcp_roots()[0].uri}"
    }),
    once("sample", { _ -> mcp_sample({messages: [], maxTokens: 1}).content.text }),
    once("try_sample", { _ -> try { mcp_sample({messages: [], maxTokens: 1}).content.text } catch (_) { "without" } }),
    once("big", { args -> args.n + 1 }),
    once("steps", { _ ->
      progress("work", "half", 1, 2)
      log_info("a line")
      "done"
    }),
  ] {
    reg = tool_define(reg, each.name, each.name, {parameters: {}, handler: each.handler})
  }
  return reg
}

mcp_tools(offer())
mcp_resource({uri: "tea://green", name: "tea", text: "green", subscribe: true})
`

const readText = (result: { readonly content?: unknown }): unknown =>
  (result.content as readonly { readonly text?: string }[])[0]!.text

describe('over HTTP', () => {
  test('a client that shakes no hands finds out, lists, reads and calls', async () => {
    const client = await connectHttp(await startHttp(await startScript(ASKING)))
    expect(client.getServerVersion()).toEqual(IDENTITY)
    expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true }, resources: { subscribe: true } })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['ask', 'sample', 'try_sample', 'big', 'steps'])
    expect((await client.readResource({ uri: 'tea://green' })).contents).toEqual([{ uri: 'tea://green', text: 'green' }])
    await expect(client.readResource({ uri: 'tea://black' })).rejects.toMatchObject({
      code: -32602,
      data: { uri: 'tea://black' },
    })
  })

  test('input that a handler requests ends the request; the handler continues and does not restart', async () => {
    const client = await connectHttp(await startHttp(await startScript(ASKING)), PERSON)
    expect(readText(await client.callTool({ name: 'ask', arguments: {} }))).toBe('1 to one, to two, file:///work')
  })

  test('a capability that the client does not have is an error of its own, unless the code gets along without it', async () => {
    const client = await connectHttp(await startHttp(await startScript(ASKING)))
    const refused = client.callTool({ name: 'sample', arguments: {} })
    await expect(refused).rejects.toMatchObject({ code: -32021, data: { requiredCapabilities: { sampling: {} } } })
    expect(readText(await client.callTool({ name: 'try_sample', arguments: {} }))).toBe('without')
  })

  test('progress is sent on the stream of the request, log lines to clients that requested them', async () => {
    const client = await connectHttp(await startHttp(await startScript(ASKING)))
    const lines: unknown[] = []
    client.setNotificationHandler('notifications/message', ({ params }) => void lines.push(params.data))
    const steps: unknown[] = []
    const call = { name: 'steps', arguments: {} }
    await client.callTool(call, { onprogress: (step) => void steps.push(step) })
    expect(steps).toEqual([{ progress: 1, total: 2, message: 'half' }])
    expect(lines).toEqual([])
    await client.callTool({ ...call, _meta: { [META.logLevel]: 'info' } })
    expect(lines).toEqual(['a line'])
  })

  test('changes are heard by those who listen, and nothing else', async () => {
    const registry = createRegistry([defineTool({ name: 'a', input: { type: 'object' }, execute: () => 'a' })])
    const backend = toMcpServer(registry, { resources: [{ uri: 'tea://green', read: () => 'green' }] })
    const client = await connectHttp(await startHttp(backend))
    const heard: string[] = []
    const all = new Promise<void>((resolve) => {
      const note = (what: string): void => {
        heard.push(what)
        if (what === 'updated') resolve()
      }
      client.setNotificationHandler('notifications/tools/list_changed', () => note('tools'))
      client.setNotificationHandler('notifications/prompts/list_changed', () => note('prompts'))
      client.setNotificationHandler('notifications/resources/updated', () => note('updated'))
    })
    const listening = await client.listen({ toolsListChanged: true, resourceSubscriptions: ['tea://green', 'tea://none'] })
    expect(listening.honoredFilter).toEqual({ toolsListChanged: true, resourceSubscriptions: ['tea://green'] })
    backend.offer({ prompts: [{ name: 'p', get: () => 'p' }] })
    registry.use(defineTool({ name: 'b', input: { type: 'object' }, execute: () => 'b' }))
    backend.resourceUpdated('tea://none')
    backend.resourceUpdated('tea://green')
    await all
    expect(heard).toEqual(['tools', 'updated'])
    await listening.close()
  })

  test('a call that the client leaves is cancelled', async () => {
    const stopped = new Promise<void>((resolve) => {
      const execute = (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<string> =>
        new Promise((_resolve, reject) => {
          leave.abort()
          signal.addEventListener('abort', () => {
            resolve()
            reject(new Error('stopped'))
          })
        })
      void startHttp(toMcpServer([defineTool({ name: 'wait', input: { type: 'object' }, execute })]))
        .then((url) => connectHttp(url))
        .then((client) => client.callTool({ name: 'wait', arguments: {} }, { signal: leave.signal }))
        .catch(() => {})
    })
    const leave = new AbortController()
    await stopped
  })

  interface Raw {
    readonly status: number
    readonly body: {
      readonly result?: { readonly [key: string]: unknown }
      readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
    }
  }

  async function ask(url: string, method: string, params: object, headers: Readonly<Record<string, string>> = {}): Promise<Raw> {
    const name = (params as { readonly name?: string }).name
    const meta = { [META.version]: MODERN_VERSION, [META.capabilities]: { elicitation: {}, roots: {} } }
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': MODERN_VERSION,
        'mcp-method': method,
        ...(name === undefined ? {} : { 'mcp-name': name }),
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { _meta: meta, ...params } }),
    })
    return { status: response.status, body: (await response.json()) as Raw['body'] }
  }

  const answer = { action: 'accept', content: { answer: 'yes' } }

  test('the state of a call is good once, for the same request of the same client', async () => {
    const url = await startHttp(await startScript(ASKING), { apiKeys: ['k1', 'k2'] })
    const as = (key: string) => ({ 'x-api-key': key })
    const begun = await ask(url, 'tools/call', { name: 'ask', arguments: {} }, as('k1'))
    expect(begun.body.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { first: { method: 'elicitation/create' } },
    })
    const requestState = begun.body.result!['requestState']
    const next = { name: 'ask', arguments: {}, requestState, inputResponses: { first: answer } }
    for (const [params, key] of [
      [{ ...next, requestState: `${String(requestState)}x` }, 'k1'],
      [next, 'k2'],
      [{ ...next, arguments: { other: 1 } }, 'k1'],
    ] as const)
      expect((await ask(url, 'tools/call', params, as(key))).body.error).toMatchObject({ code: -32602 })
    const second = await ask(url, 'tools/call', next, as('k1'))
    expect(second.body.result).toMatchObject({ inputRequests: { second: {} } })
    expect((await ask(url, 'tools/call', next, as('k1'))).body.error).toMatchObject({ code: -32602 })
  })

  test('answers without a state are used by a new call; invalid answers are refused', async () => {
    const url = await startHttp(await startScript(ASKING))
    const inputResponses = { first: answer, second: answer, 'input-3': { roots: [{ uri: 'file:///w' }] }, other: answer }
    const all = await ask(url, 'tools/call', { name: 'ask', arguments: {}, inputResponses })
    expect(readText(all.body.result!)).toBe('1 yes, yes, file:///w')
    for (const wrong of [null, 5, { first: 5 }])
      expect((await ask(url, 'tools/call', { name: 'ask', arguments: {}, inputResponses: wrong })).body.error).toMatchObject({
        code: -32602,
      })
    // Not an answer to a form: it is requested again.
    const odd = await ask(url, 'tools/call', { name: 'ask', arguments: {}, inputResponses: { first: { roots: [] } } })
    expect(odd.body.result).toMatchObject({ resultType: 'input_required', inputRequests: { first: {} } })
  })

  test('a request that says of itself what it is not is refused before anything is done', async () => {
    const url = await startHttp(await startScript(ASKING))
    const call = { name: 'ask', arguments: {} }
    for (const [headers, code] of [
      [{ 'mcp-protocol-version': '2025-11-25' }, -32020],
      [{ 'mcp-method': 'tools/list' }, -32020],
      [{ 'mcp-name': 'sample' }, -32020],
      [{ 'mcp-name': '=?base64?bad?=' }, -32020],
    ] as const)
      expect(await ask(url, 'tools/call', call, headers)).toMatchObject({ status: 400, body: { error: { code } } })
    const later = { [META.version]: '2099-01-01', [META.capabilities]: {} }
    expect(await ask(url, 'tools/list', { _meta: later }, { 'mcp-protocol-version': '2099-01-01' })).toMatchObject({
      status: 400,
      body: { error: { code: -32022, data: { requested: '2099-01-01' } } },
    })
    expect(await ask(url, 'initialize', {})).toMatchObject({ status: 404, body: { error: { code: -32601 } } })
    expect(await ask(url, 'constructor', {})).toMatchObject({ status: 404, body: { error: { code: -32601 } } })
    expect((await fetch(url, { headers: { 'mcp-protocol-version': MODERN_VERSION } })).status).toBe(405)
    expect((await ask(url, 'tools/list', {}, { origin: 'https://evil.test' })).status).toBe(403)
  })

  test('integers beyond 2^53 stay exact', async () => {
    const url = await startHttp(await startScript(ASKING))
    const meta = JSON.stringify({ [META.version]: MODERN_VERSION, [META.capabilities]: {} })
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'mcp-protocol-version': MODERN_VERSION,
        'mcp-method': 'tools/call',
        'mcp-name': 'big',
      },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big","arguments":{"n":9007199254740993},"_meta":${meta}}}`,
    })
    expect(await response.text()).toContain('9007199254740994')
  })

  test('both kinds of client of one address, and our own client as one of them', async () => {
    const url = await startHttp(await startScript(ASKING))
    const run = (protocolVersion: string): Promise<unknown> => {
      const server = { url, protocolVersion }
      const handlers = {
        'elicitation/create': async () => answer,
        'roots/list': async () => ({ roots: [{ uri: 'file:///w' }] }),
      }
      const host = createRuntime({ providers: [mcpProvider({ servers: { s: server }, handlers })], grants: ['mcp'] })
      return host.run(`return mcp_call(mcp_ensure_active("s"), "ask", {})`)
    }
    expect(await run('2025-11-25')).toBe('1 yes, yes, file:///w')
    expect(await run('2026-07-28')).toBe('2 yes, yes, file:///w')
  })
})

test('over fetch', async () => {
  const serve = serveFetch(await startScript(ASKING), IDENTITY)
  open.push(() => serve.close())
  const transport = new StreamableHTTPClientTransport(new URL('http://here.test/mcp'), {
    fetch: (url, init) => serve(new Request(url, init)),
  })
  const client = await connect(transport, PERSON)
  expect(readText(await client.callTool({ name: 'ask', arguments: {} }))).toBe('1 to one, to two, file:///work')
})

test('over streams, without a handshake', async () => {
  const [there, back] = [new PassThrough(), new PassThrough()]
  const connection = new McpServerConnection(
    await startScript(ASKING),
    IDENTITY,
    new StreamTransport(there, back, { keepsIntegers: true }),
  )
  await connection.start()
  open.push(() => connection.close())
  const client = await connect(new StreamTransport(back, there) as unknown as Transport, PERSON)
  expect(readText(await client.callTool({ name: 'ask', arguments: {} }))).toBe('1 to one, to two, file:///work')
  const listening = await client.listen({ toolsListChanged: true })
  expect(listening.honoredFilter).toEqual({ toolsListChanged: true })
  await listening.close()
})

test('a question of a run to a person goes to the client as one that its call asks', async () => {
  const source = `mcp_tools(tool_define(tool_registry(), "order", "Orders", {parameters: {}, handler: { _ -> "ordered \${ask_user("How many?", {schema: {type: "string"}})}" }}))`
  const client = await connectHttp(await startHttp(await startScript(source)), PERSON)
  expect(readText(await client.callTool({ name: 'order', arguments: {} }))).toBe('ordered to How many?')
})

test('dicts and structs are structured results; of exported functions their types are schemas', async () => {
  const registered = await startScript(
    `mcp_tools(tool_define(tool_registry(), "sum", "", {parameters: {a: {type: "int", default: 2, enum: [1, 2]}}, handler: { _ -> {sum: 3} }}))`,
  )
  const client = await connectHttp(await startHttp(registered))
  expect((await client.callTool({ name: 'sum', arguments: {} })).structuredContent).toEqual({ sum: 3 })
  const [tool] = (await client.listTools()).tools
  expect(tool!.inputSchema.properties).toEqual({ a: { type: 'integer', default: 2, enum: [1, 2] } })

  const source = `
struct Point { x: int, y: int }
type Size = {w: int}
pub fn at(x: int, size: Size) -> Point { return Point { x: x, y: size.w } }`
  const runtime = createRuntime({ grants: ['*'], resolve: () => ({ kind: 'source', key: 'served.harn', text: source }) })
  const exported = await connectHttp(await startHttp(new ExportedBackend(runtime, 'served.harn', source)))
  const [at] = (await exported.listTools()).tools
  const size = { type: 'object', properties: { w: { type: 'integer' } }, required: ['w'] }
  expect(at!.inputSchema.properties).toEqual({ x: { type: 'integer' }, size })
  expect(at!.outputSchema).toEqual({
    type: 'object',
    properties: { x: { type: 'integer' }, y: { type: 'integer' } },
    required: ['x', 'y'],
  })
  const called = await exported.callTool({ name: 'at', arguments: { x: 1, size: { w: 2 } } })
  expect(called.structuredContent).toEqual({ x: 1, y: 2 })
})

describe('calls that are tasks', () => {
  const source = `
import { mcp_elicit } from "std/mcp"
fn offer() {
  let schema = {type: "object", properties: {answer: {type: "string"}}}
  var reg = tool_registry()
  for each in [
    ["asks", { _ -> mcp_elicit("one", schema).content.answer }, "required"],
    ["waits", { _ -> sleep(600s) }, "optional"],
    ["fails", { _ -> throw "no tea" }, "optional"],
  ] {
    reg = tool_define(reg, each[0], each[0], {parameters: {}, handler: each[1], task: each[2]})
  }
  return reg
}
mcp_tools(offer())`

  async function connectOwn(): Promise<McpConnections> {
    const connections = new McpConnections({
      servers: { s: { url: await startHttp(await startScript(source)), protocolVersion: MODERN_VERSION } },
      handlers: { 'elicitation/create': async () => ({ action: 'accept', content: { answer: 'yes' } }) },
    })
    open.push(() => connections.close())
    return connections
  }
  const NEVER = new AbortController().signal

  test('our own client waits for them, and answers what they ask', async () => {
    const connections = await connectOwn()
    const done = { ok: true, value: { content: [{ type: 'text', text: 'yes' }], isError: false } }
    expect(await connections.callTool('s', 'asks', {}, NEVER)).toEqual(done)
    const failed = { ok: true, value: { isError: true, content: [{ type: 'text', text: 'Thrown: no tea' }] } }
    expect(await connections.callTool('s', 'fails', {}, NEVER)).toEqual(failed)
  })

  test('a cancelled call cancels its task; a client without tasks gets the result, or an error', async () => {
    const connections = await connectOwn()
    expect(await connections.callTool('s', 'waits', {}, NEVER, 50)).toMatchObject({ ok: false })
    const client = await connectHttp(await startHttp(await startScript(source)), PERSON)
    expect((await client.callTool({ name: 'fails', arguments: {} })).isError).toBe(true)
    await expect(client.callTool({ name: 'asks', arguments: {} })).rejects.toMatchObject({ code: -32021 })
    expect((await client.listTools()).tools[0]).not.toHaveProperty('task')
  })
})

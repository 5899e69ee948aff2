// What served scripts can do beside answering: progress, log lines, questions to the client's model and person, binary
// resources, completion, subscriptions, streams that are fetched later. The SDK's client against backends in this process.

import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Grant } from '../host/authority.js'
import { ApprovalDesk } from '../tools/policy/host-approval.js'
import { createRuntime } from '../host/runtime.js'
import { defineTool } from '../tools/host-tools/define.js'
import { StreamTransport } from '../tools/executors/stream-transport.js'
import { mcpProvider } from './provider.js'
import type { McpOptions } from './provider.js'
import { EventLog } from './event-log.js'
import { ExportedBackend } from './server-exports.js'
import { serveHttp } from './server-http.js'
import type { HttpServerOptions } from './server-http.js'
import { RegisteredBackend } from './server-registered.js'
import { McpServerConnection } from './server.js'
import type { McpBackend } from './server-protocol.js'
import { toMcpServer } from './host-backend.js'

const IDENTITY = { name: 'test', version: '1' }
const open: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

async function startRegistered(source: string): Promise<RegisteredBackend> {
  const runtime = createRuntime({ grants: ['*'] })
  const backend = await RegisteredBackend.start(runtime, runtime.compile(source), { desk: new ApprovalDesk() })
  open.push(() => backend.close())
  return backend
}

async function makeExported(source: string): Promise<ExportedBackend> {
  const runtime = createRuntime({ grants: ['*'], resolve: () => ({ kind: 'source', key: 'served.harn', text: source }) })
  return new ExportedBackend(runtime, 'served.harn', source)
}

async function connectClient(backend: McpBackend, capabilities: ClientCapabilities = {}): Promise<Client> {
  const [here, there] = InMemoryTransport.createLinkedPair()
  const server = new McpServerConnection(backend, IDENTITY, there)
  await server.start()
  const client = new Client({ name: 'tester', version: '2' }, { capabilities })
  await client.connect(here)
  open.push(() => client.close())
  return client
}

const readText = (result: unknown): string =>
  (result as { content: readonly { text: string }[] }).content.map(({ text }) => text).join('|')

const makeTool = (name: string, handler: string): string =>
  `mcp_tools(tool_define(tool_registry(), "${name}", "", {handler: ${handler}}))`

describe('progress and log lines', () => {
  const source = `
fn work(_) {
  progress("load", "begun")
  parallel each [1] { _ -> progress("load", "half", 50, 100) }
  progress("store", "again", 10, 100)
  log_debug("not wanted")
  log_warn("careful", {n: 1, at: 2.5})
  return "ok"
}
${makeTool('work', 'work')}`

  test('of registered handlers and the tasks they start', async () => {
    const client = await connectClient(await startRegistered(source))
    const lines: unknown[] = []
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void lines.push(params))
    const steps: unknown[] = []
    const call = () =>
      client.callTool({ name: 'work', arguments: {} }, undefined, { onprogress: (step) => void steps.push(step) })

    await call()
    // A client that set no level gets no log lines; progress values always increase, whatever the script reports.
    expect([steps, lines]).toEqual([
      [
        { progress: 0, message: 'begun' },
        { progress: 50, total: 100, message: 'half' },
        { progress: 51, message: 'again' },
      ],
      [],
    ])
    await client.setLoggingLevel('info')
    await call()
    expect(lines).toEqual([{ level: 'warning', data: { message: 'careful', n: 1, at: 2.5 } }])
  })

  test('of exported functions', async () => {
    const client = await connectClient(
      await makeExported('pub fn work() {\n  progress("load", "half", 50, 100)\n  return "ok"\n}'),
    )
    const steps: unknown[] = []
    await client.callTool({ name: 'work', arguments: {} }, undefined, { onprogress: (step) => void steps.push(step) })
    expect(steps.at(-1)).toEqual({ progress: 50, total: 100, message: 'half' })
  })

  test('a run reports to its host', async () => {
    const reports: unknown[] = []
    await createRuntime().run('progress("a", "b", 1, 2)\nlog_error("no", {x: [1]})', {
      onEvent: (event) => (event.type === 'report' ? void reports.push(event.report) : undefined),
    })
    expect(reports).toEqual([
      { kind: 'progress', taskId: 'task_root', phase: 'a', message: 'b', current: 1, total: 2 },
      { kind: 'log', taskId: 'task_root', level: 'error', message: 'no', fields: { x: '[1]' } },
    ])
  })
})

describe('questions to the client', () => {
  const asking = `
import { mcp_client, mcp_elicit, mcp_roots, mcp_sample } from "std/mcp"
fn ask(args) {
  return try {
    if args.what == "sample" { mcp_sample({messages: [], maxTokens: 5}).content.text }
    else if args.what == "form" { mcp_elicit("name?", {type: "object", properties: {name: {type: "string"}}}).content.name }
    else if args.what == "roots" { mcp_roots().map({ root -> root.uri }).join(",") }
    else { mcp_client().info.name }
  } catch (e) { "caught: \${e}" }
}
`
  const source = `${asking}${makeTool('ask', 'ask')}\nprintln(mcp_client())`
  const ask = (client: Client, what: string) => client.callTool({ name: 'ask', arguments: { what } }).then(readText)

  test.each(['registered', 'exported'])('are answered, for %s code', async (kind) => {
    const backend =
      kind === 'registered'
        ? await startRegistered(source)
        : await makeExported(`${asking}pub fn ask_client(what) { return ask({what: what}) }`)
    const client = await connectClient(backend, { sampling: {}, elicitation: {}, roots: {} })
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
      role: 'assistant',
      model: 'm',
      content: { type: 'text', text: `${params.maxTokens} tokens` },
    }))
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }))
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///a' }, { uri: 'file:///b' }] }))
    const answers: string[] = []
    const name = kind === 'registered' ? 'ask' : 'ask_client'
    for (const what of ['sample', 'form', 'roots', 'who'])
      answers.push(readText(await client.callTool({ name, arguments: { what } })))
    expect(answers).toEqual(['5 tokens', 'Ada', 'file:///a,file:///b', 'tester'])
  })

  test('are refused by clients that do not offer it, and by clients that say no', async () => {
    const client = await connectClient(await startRegistered(source), { sampling: {} })
    client.setRequestHandler(CreateMessageRequestSchema, () => {
      throw new Error('not today')
    })
    expect(await ask(client, 'sample')).toBe('caught: MCP client error (-32603): not today')
    expect(await ask(client, 'form')).toBe('caught: MCP client error (-32601): the client does not offer elicitation')
  })

  test('end with the call that they are for', async () => {
    const client = await connectClient(await startRegistered(source), { sampling: {} })
    const seen: AbortSignal[] = []
    const asked = new Promise<void>((resolve) => {
      client.setRequestHandler(CreateMessageRequestSchema, (_, { signal }) => {
        seen.push(signal)
        resolve()
        return new Promise(() => {})
      })
    })
    const abort = new AbortController()
    const call = client.callTool({ name: 'ask', arguments: { what: 'sample' } }, undefined, { signal: abort.signal })
    await asked
    abort.abort()
    await expect(call).rejects.toThrow()
    await expect.poll(() => seen[0]?.aborted).toBe(true)
    expect(await ask(client, 'who')).toBe('tester')
  })

  test('outside of a server there is no client', async () => {
    const run = createRuntime({ grants: ['*'] }).run(
      'import { mcp_client, mcp_sample } from "std/mcp"\nreturn [mcp_client(), try { mcp_sample({}) } catch (e) { to_string(e) }]',
    )
    expect(await run).toEqual([null, 'MCP client: this run does not work for a client'])
  })
})

describe('requests to people are forms for clients that show forms', () => {
  test.each<[string, string, unknown, unknown, string]>([
    [
      'a question',
      'ask_user("name?")',
      { message: 'name?', requestedSchema: { properties: { answer: { type: 'string' } }, required: ['answer'] } },
      { action: 'accept', content: { answer: 'Ada' } },
      'Ada',
    ],
    [
      'a question with a default',
      'ask_user("how many?", {default: 3})',
      { requestedSchema: { properties: { answer: { type: 'integer', default: 3 } } } },
      { action: 'accept', content: { answer: 7 } },
      '7',
    ],
    [
      'a question with a schema',
      'ask_user("who?", {schema: {type: "object", properties: {age: {type: "int"}}, required: ["age"]}}).age',
      { requestedSchema: { properties: { age: { type: 'integer' } }, required: ['age'] } },
      { action: 'accept', content: { age: 40 } },
      '40',
    ],
    [
      'an approval',
      'request_approval("deploy", {detail: "to production"}).reason',
      { message: 'deploy\nto production', requestedSchema: { required: ['approved'] } },
      { action: 'accept', content: { approved: true, reason: 'fine' } },
      'fine',
    ],
    [
      'an approval that is declined',
      'try { request_approval("deploy") } catch (e) { e.name }',
      { message: 'deploy' },
      { action: 'decline' },
      'ApprovalDeniedError',
    ],
  ])('%s', async (_, call, form, answer, expected) => {
    const client = await connectClient(await startRegistered(makeTool('ask', `{ _ -> ${call} }`)), { elicitation: {} })
    const forms: unknown[] = []
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      forms.push(params)
      return answer as never
    })
    expect(readText(await client.callTool({ name: 'ask', arguments: {} }))).toBe(expected)
    expect(forms).toEqual([expect.objectContaining(withNested(form))])
  })
})

/** Objects inside match when they contain what is expected. */
function withNested(expected: unknown): object {
  return Object.fromEntries(
    Object.entries(expected as object).map(([key, value]) => [
      key,
      typeof value === 'object' && value !== null && !Array.isArray(value) ? expect.objectContaining(withNested(value)) : value,
    ]),
  )
}

test('incomplete or unknown content parts are sent as texts', async () => {
  const client = await connectClient(
    await startRegistered(`
${makeTool('parts', '{ args -> [{text: 5}, {text: nil}, {type: "text", text: [1]}, {type: "text"}, {type: "zz", n: 1}, nil] }')}
mcp_prompt({name: "p", handler: { args -> [{}, {content: nil}, {content: {text: 5}}, {content: {type: "image"}}, {content: []}] }})
`),
  )
  expect(readText(await client.callTool({ name: 'parts' }))).toBe('5|nil|[1]|{type: text}|{n: 1, type: zz}|nil')
  const { messages } = await client.getPrompt({ name: 'p' })
  expect(messages.map(({ content }) => content)).toEqual([
    { type: 'text', text: '' },
    { type: 'text', text: 'nil' },
    { type: 'text', text: '5' },
    { type: 'image', data: '', mimeType: 'application/octet-stream' },
  ])
})

describe('resources, completion, subscriptions', () => {
  test('bytes are binary contents', async () => {
    const client = await connectClient(
      await startRegistered(`
mcp_resource({uri: "a:1", name: "A", mime_type: "image/png", blob: bytes_from_string("fixed")})
mcp_resource_template({uri_template: "b:{id}", name: "B", handler: { v -> bytes_from_string(v.id) }})
mcp_resource_template({uri_template: "c:{id}", name: "C", handler: { v -> {blob: bytes_from_string(v.id), mime_type: "x/y"} }})
`),
    )
    const read = (uri: string) => client.readResource({ uri }).then(({ contents }) => contents)
    const encodeBase64 = (text: string): string => Buffer.from(text).toString('base64')
    expect(await read('a:1')).toEqual([{ uri: 'a:1', mimeType: 'image/png', blob: encodeBase64('fixed') }])
    expect(await read('b:made')).toEqual([{ uri: 'b:made', blob: encodeBase64('made') }])
    expect(await read('c:typed')).toEqual([{ uri: 'c:typed', mimeType: 'x/y', blob: encodeBase64('typed') }])
    expect(await client.listResources()).toEqual({ resources: [{ uri: 'a:1', name: 'A', mimeType: 'image/png' }] })
  })

  test('a resource that is registered again with subscribe: true notifies subscribers', async () => {
    const client = await connectClient(
      await startRegistered(`
fn put(text) { mcp_resource({uri: "a:1", name: "A", text: text, subscribe: true}) }
put("first")
${makeTool('change', '{ args -> put(args.text) }')}`),
    )
    const told: string[] = []
    let listsChanged = 0
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void told.push(params.uri))
    client.setNotificationHandler(ResourceListChangedNotificationSchema, () => void listsChanged++)
    const change = (text: string) => client.callTool({ name: 'change', arguments: { text } })
    await change('unheard')
    await client.subscribeResource({ uri: 'a:1' })
    await change('second')
    await change('second')
    await expect.poll(() => told).toEqual(['a:1'])
    expect((await client.readResource({ uri: 'a:1' })).contents).toEqual([{ uri: 'a:1', text: 'second' }])
    await client.unsubscribeResource({ uri: 'a:1' })
    await change('third')
    await client.ping()
    expect([told, listsChanged]).toEqual([['a:1'], 0])
    await expect(client.subscribeResource({ uri: 'none:1' })).rejects.toThrow('Resource not found: none:1')
  })

  test('arguments of prompts and templates are completed from lists and by closures', async () => {
    const client = await connectClient(
      await startRegistered(`
mcp_prompt({
  name: "p",
  handler: { _ -> "x" },
  arguments: [
    {name: "colour", complete: ["red", "rose", "blue"]},
    {name: "shade", complete: { value, context -> ["\${context.colour}-\${value}"] }},
    {name: "free"},
  ],
})
mcp_resource_template({uri_template: "u:{id}", name: "U", handler: { _ -> "" }, complete: {bad: { _ -> 1 }, id: { value -> range(0, 150).map({ n -> to_string(n) }).to_list() }}})
`),
    )
    const ref = { type: 'ref/prompt', name: 'p' } as const
    const complete = async (name: string, value: string, context?: { arguments: { [name: string]: string } }) =>
      (await client.complete({ ref, argument: { name, value }, ...(context && { context }) })).completion
    expect(await complete('colour', 'r')).toEqual({ values: ['red', 'rose'], total: 2, hasMore: false })
    expect(await complete('shade', 'dark', { arguments: { colour: 'red' } })).toMatchObject({ values: ['red-dark'] })
    expect(await complete('free', 'x')).toMatchObject({ values: [] })
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri: 'u:{id}' },
      argument: { name: 'id', value: '' },
    })
    expect([completion.values.length, completion.total, completion.hasMore]).toEqual([100, 150, true])
    await expect(
      client.complete({ ref: { type: 'ref/resource', uri: 'u:{id}' }, argument: { name: 'bad', value: '' } }),
    ).rejects.toThrow("completing 'bad' gave int, expected a list")
    expect((await client.listPrompts()).prompts[0]).toEqual({
      name: 'p',
      arguments: [
        { name: 'colour', required: false },
        { name: 'shade', required: false },
        { name: 'free', required: false },
      ],
    })
    await expect(client.complete({ ref: { type: 'ref/prompt', name: 'q' }, argument: { name: 'a', value: '' } })).rejects.toThrow(
      'Unknown prompt: q',
    )
  })

  test('a script that uses none of it refuses it by name', async () => {
    const client = await connectClient(await startRegistered('mcp_resource({uri: "a:1", name: "A", text: "t"})'))
    expect(client.getServerCapabilities()).toEqual({
      resources: { listChanged: true },
      prompts: { listChanged: true },
      logging: {},
    })
    for (const method of ['completion/complete', 'resources/subscribe', 'tasks/list'])
      await expect(client.request({ method, params: {} } as never, z.looseObject({}) as never)).rejects.toMatchObject({
        code: -32601,
        message: `MCP error -32601: Unsupported MCP method: ${method}`,
      })
  })
})

describe('tools of a host', () => {
  const tools = [defineTool({ name: 'half', input: z.object({ n: z.number() }), execute: ({ n }) => n / 2 })]

  test.each(['2025-06-18', '2025-03-26', '2024-11-05', '2025-11-25'])('speak %s with clients that do', async (version) => {
    const [here, there] = InMemoryTransport.createLinkedPair()
    const server = new McpServerConnection(toMcpServer(tools), IDENTITY, there)
    await server.start()
    const answers: { result?: { protocolVersion?: string } }[] = []
    here.onmessage = (message) => void answers.push(message as never)
    await here.start()
    await here.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: version } } as never)
    await expect.poll(() => answers[0]?.result?.protocolVersion).toBe(version)
    await server.close()
  })
})

describe('use tool mcp "URL" as Name', () => {
  const tools = [
    defineTool({ name: 'half', input: z.object({ n: z.number() }), execute: ({ n }) => `${n / 2}` }),
    defineTool({ name: 'break', execute: () => Promise.reject(new Error('broken')) }),
  ]
  const makeScript = (url: string): string => `// @bridle grants
use tool mcp "${url}" as Maths
fn attempt(f) { return try { f() } catch (e) { "\${e.code}: \${e.message}" } }
return [
  attempt({ -> Maths("half", {n: 3}) }),
  attempt({ -> Maths("break", {}) }),
  attempt({ -> Maths("none", {}) }),
]`

  async function run(grants: readonly Grant[], options: McpOptions = {}, address?: string): Promise<unknown> {
    const server = await serveHttp(toMcpServer(tools), IDENTITY)
    open.push(() => server.close())
    return createRuntime({ providers: [mcpProvider(options)], grants }).run(makeScript(address ?? server.url))
  }

  test('reaches an undeclared server, under the powers of mcp and http', async () => {
    expect(await run(['mcp', 'http'])).toEqual([
      '1.5',
      'execution_failed: broken',
      expect.stringMatching(/^invalid_args: .*none/),
    ])
  })

  test.each<[string, readonly Grant[], McpOptions, string | undefined, RegExp]>([
    ['no http', ['mcp'], {}, undefined, /must grant "http.request"/],
    ['no mcp', ['http'], {}, undefined, /must grant "mcp.request"/],
    ['a host that refuses it', ['mcp', 'http'], { allow: () => false }, undefined, /is not allowed by this host/],
    ['nobody there', ['mcp', 'http'], {}, 'http://127.0.0.1:1/mcp', /^connection: MCP HTTP request error: /],
  ])('%s', async (_, grants, options, address, message) => {
    const results = (await run(grants, options, address)) as readonly string[]
    expect(results).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(message)))
  })
})

describe('streams over HTTP', () => {
  async function serve(source: string, options: HttpServerOptions): Promise<Client> {
    const server = await serveHttp(await startRegistered(source), IDENTITY, options)
    open.push(() => server.close())
    const client = new Client({ name: 'tester', version: '2' })
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)) as Transport)
    open.push(() => client.close())
    return client
  }

  test('that were closed early are fetched later, and nothing is lost', async () => {
    const source = `
fn slow(_) {
  for n in [1, 2, 3] {
    sleep(60ms)
    progress("work", "step", n, 3)
  }
  return "late"
}
${makeTool('slow', 'slow')}`
    const client = await serve(source, { pollAfterMs: 30, retryMs: 20 })
    const steps: number[] = []
    const result = await client.callTool({ name: 'slow', arguments: {} }, undefined, {
      onprogress: ({ progress }) => void steps.push(progress),
    })
    expect([readText(result), steps]).toEqual(['late', [1, 2, 3]])
  })

  test('what was sent is kept within bounds', async () => {
    const log = new EventLog({ events: 3 })
    const makeMessage = (n: number) => ({ jsonrpc: '2.0', method: `m${n}` }) as const
    const ids: string[] = []
    for (const n of [1, 2, 3, 4]) ids.push(await log.storeEvent(n === 3 ? 'other' : 'one', makeMessage(n)))
    expect(await log.getStreamIdForEventId(ids[0]!)).toBeUndefined()
    const sent: string[] = []
    const stream = await log.replayEventsAfter(ids[1]!, { send: async (id) => void sent.push(id) })
    expect([stream, sent]).toEqual(['one', [ids[3]]])
    const short = new EventLog({ length: 10 })
    const [first, second] = [await short.storeEvent('one', makeMessage(1)), await short.storeEvent('one', makeMessage(2))]
    expect([await short.getStreamIdForEventId(first), await short.getStreamIdForEventId(second)]).toEqual([undefined, 'one'])
  })
})

describe('integers beyond 2^53 stay exact in arguments and results', () => {
  const MOST = '9223372036854775807'
  const makeMessage = (id: number, method: string, params: string): string =>
    `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`
  const hello = makeMessage(
    1,
    'initialize',
    '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}',
  )
  const call = makeMessage(2, 'tools/call', `{"name":"next","arguments":{"n":${MOST}},"_meta":{"progressToken":${MOST}}}`)
  const backends: readonly (readonly [string, () => Promise<McpBackend>])[] = [
    [
      'registered',
      () =>
        startRegistered(
          `fn next(args) { progress("a", "b", 1, 2)\n  return {n: args.n - 1, s: "${MOST}"} }\n${makeTool('next', 'next')}`,
        ),
    ],
    ['exported', () => makeExported(`pub fn next(n) { progress("a", "b", 1, 2)\n  return {n: n - 1, s: "${MOST}"} }`)],
  ]

  test.each(backends)('over streams, for %s code', async (_, made) => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const connection = new McpServerConnection(
      await made(),
      IDENTITY,
      new StreamTransport(input, output, { keepsIntegers: true }),
    )
    await connection.start()
    open.push(() => connection.close())
    const lines: string[] = []
    const answered = new Promise<void>((resolve) => {
      createInterface({ input: output }).on('line', (line) => {
        lines.push(line)
        if (line.includes('"id":1,')) input.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}\n${call}\n`)
        if (line.includes('"id":2,')) resolve()
      })
    })
    input.write(`${hello}\n`)
    await answered
    expect(lines.at(-1)).toContain(`9223372036854775806`)
    expect(lines.at(-1)).not.toContain('int:')
    expect(lines.find((line) => line.includes('notifications/progress'))).toContain(`"progressToken":${MOST}`)
  })

  test.each(backends)('over HTTP, for %s code', async (_, made) => {
    const server = await serveHttp(await made(), IDENTITY, {})
    open.push(() => server.close())
    const post = (body: string, headers: { readonly [name: string]: string } = {}): Promise<Response> =>
      fetch(server.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body,
      })
    const first = await post(hello)
    await first.text()
    const session = { 'mcp-session-id': first.headers.get('mcp-session-id')! }
    await (await post('{"jsonrpc":"2.0","method":"notifications/initialized"}', session)).text()
    const text = await (await post(call, session)).text()
    expect(text).toContain('9223372036854775806')
    expect(text).not.toContain('int:')
    expect(text).toContain(`"progressToken":${MOST}`)
  })

  test('a tool of a host gets them as bigints, and structured results have them', async () => {
    const next = defineTool({
      name: 'next',
      description: 'One less.',
      input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      execute: (args) => ({ n: (args as { readonly n: bigint }).n - 1n }),
    })
    const [input, output] = [new PassThrough(), new PassThrough()]
    const connection = new McpServerConnection(
      toMcpServer([next]),
      IDENTITY,
      new StreamTransport(input, output, { keepsIntegers: true }),
    )
    await connection.start()
    open.push(() => connection.close())
    const lines = createInterface({ input: output })[Symbol.asyncIterator]()
    input.write(`${hello}\n`)
    await lines.next()
    input.write(`${call}\n`)
    const { value } = await lines.next()
    expect(value).toContain('"structuredContent":{"n":9223372036854775806}')
    expect(value).toContain('{\\"n\\":9223372036854775806}')
  })
})

test('what @acp_tool says of an exported function are hints for clients', async () => {
  const backend = await makeExported(
    '@acp_tool(kind: "search")\npub fn find() {\n  return 1\n}\n\npub fn plain() {\n  return 2\n}\n',
  )
  expect(backend.list('tools').map(({ name, annotations }) => [name, annotations])).toEqual([
    ['find', { readOnlyHint: true }],
    ['plain', undefined],
  ])
})

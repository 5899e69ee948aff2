// Tools of a host as an MCP server, seen by the client of the protocol's SDK over HTTP and over a pair of pipes: what a tool asks of its
// client, what becomes of a call that is cancelled, resources, prompts, completion, and lists that change.

import { PassThrough } from 'node:stream'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  PromptListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { StreamTransport } from '../tools/executors/stream-transport.js'
import { defineTool } from '../tools/host-tools/define.js'
import type { Tool, ToolContext } from '../tools/host-tools/define.js'
import { createRegistry } from '../tools/host-tools/registry.js'
import { toMcpServer } from './host-backend.js'
import type { HostBackend } from './host-backend.js'
import { createRuntime } from '../host/runtime.js'
import { mcpProvider } from './provider.js'
import { McpServerConnection } from './server.js'
import { serveHttp } from './server-http.js'

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

const identity = { name: 'host', version: '1' }

async function connectOverHttp(backend: HostBackend): Promise<Transport> {
  const server = await serveHttp(backend, identity, { port: 0 })
  open.push(() => server.close())
  return new StreamableHTTPClientTransport(new URL(server.url)) as Transport
}

/** The client's end of two pipes, as a process on standard input and output has them. */
async function connectOverPipes(backend: HostBackend): Promise<Transport> {
  const [there, back] = [new PassThrough(), new PassThrough()]
  const connection = new McpServerConnection(backend, identity, new StreamTransport(there, back))
  await connection.start()
  open.push(() => connection.close())
  return new StreamTransport(back, there) as unknown as Transport
}

const WAYS = { HTTP: connectOverHttp, 'standard input and output': connectOverPipes } as const

async function connectClient(transport: Transport, capabilities: object = {}): Promise<Client> {
  const client = new Client({ name: 'stranger', version: '7' }, { capabilities })
  open.push(() => client.close())
  return client.connect(transport).then(() => client)
}

const makeTool = (name: string, execute: (context: ToolContext, args: { readonly [key: string]: unknown }) => unknown): Tool =>
  defineTool({
    name,
    sideEffect: 'none',
    input: { type: 'object' },
    execute: (args, context) => execute(context, args as { readonly [key: string]: unknown }),
  })

const readText = (result: unknown): string =>
  (result as { readonly content: readonly { readonly text: string }[] }).content[0]!.text

describe.each(Object.entries(WAYS))('over %s', (_, way) => {
  test('a tool uses its client: log, progress, model, person and roots', async () => {
    const ask = makeTool('ask', async ({ client, progress, tools }) => {
      client!.log('warn', { low: 'water' }, 'kettle')
      client!.log('debug', 'not heard')
      progress('boiling')
      progress({ progress: 5, total: 10, message: 'steeping' })
      const { content } = await client!.sample({
        messages: [{ role: 'user', content: { type: 'text', text: 'which?' } }],
        maxTokens: 9,
      })
      const form = await client!.elicit('How many?', { type: 'object', properties: { n: { type: 'integer' } } })
      const roots = await client!.roots()
      return { who: client!.info, content, form, roots, inner: await tools.call('inner') }
    })
    const inner = makeTool('inner', ({ client }) => client?.info['name'])
    const client = await connectClient(await way(toMcpServer([ask, inner])), { sampling: {}, elicitation: {}, roots: {} })
    const logged: unknown[] = []
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params))
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
      role: 'assistant',
      model: 'm',
      content: { type: 'text', text: `${params.maxTokens} leaves` },
    }))
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { n: 2 } }))
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///tea' }] }))
    await client.setLoggingLevel('info')
    const steps: unknown[] = []
    const result = await client.callTool({ name: 'ask', arguments: {} }, undefined, { onprogress: (step) => steps.push(step) })
    expect(result.structuredContent).toEqual({
      who: { name: 'stranger', version: '7' },
      content: { type: 'text', text: '9 leaves' },
      form: { action: 'accept', content: { n: 2 } },
      roots: [{ uri: 'file:///tea' }],
      inner: 'stranger',
    })
    expect(steps).toEqual([
      { progress: 1, message: 'boiling' },
      { progress: 5, total: 10, message: 'steeping' },
    ])
    expect(logged).toEqual([{ level: 'warning', logger: 'kettle', data: { low: 'water' } }])
  })

  test('what the client does not offer is an error of the tool, which it may catch', async () => {
    const bare = makeTool('bare', ({ client }) => client!.sample({ messages: [], maxTokens: 1 }))
    const careful = makeTool('careful', ({ client }) =>
      client!.elicit('?', { type: 'object', properties: {} }).catch((cause: Error) => `without: ${cause.message}`),
    )
    const client = await connectClient(await way(toMcpServer([bare, careful])))
    const refused = await client.callTool({ name: 'bare', arguments: {} })
    expect(refused).toMatchObject({ isError: true })
    expect(readText(refused)).toBe('MCP client error (-32601): the client does not offer sampling')
    expect(readText(await client.callTool({ name: 'careful', arguments: {} }))).toContain('without: MCP client error (-32601)')
  })

  test('a person says no; a form that is cancelled', async () => {
    const ask = makeTool('ask', ({ client }) => client!.elicit('?', { type: 'object', properties: {} }))
    const client = await connectClient(await way(toMcpServer([ask])), { elicitation: {} })
    for (const action of ['decline', 'cancel'] as const) {
      client.setRequestHandler(ElicitRequestSchema, () => ({ action }))
      const { structuredContent } = await client.callTool({ name: 'ask', arguments: {} })
      expect(structuredContent).toEqual({ action, content: null })
    }
  })

  test('a cancelled call ends the tool, and what it asked of the client', async () => {
    let aborted = false
    let asked: (() => void) | null = null
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    let failure = ''
    const slow = makeTool('slow', async ({ client, signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true
      })
      await client!.sample({ messages: [], maxTokens: 1 }).catch((cause: Error) => {
        failure = cause.message
      })
    })
    const client = await connectClient(await way(toMcpServer([slow])), { sampling: {} })
    client.setRequestHandler(CreateMessageRequestSchema, () => {
      asked!()
      return new Promise(() => {})
    })
    const stop = new AbortController()
    const call = client.callTool({ name: 'slow', arguments: {} }, undefined, { signal: stop.signal })
    await isAsked
    stop.abort('enough')
    await expect(call).rejects.toThrow('enough')
    await vi.waitFor(() => expect([aborted, failure]).toEqual([true, expect.stringContaining('cancelled')]))
  })

  test('resources, templates, prompts, completion', async () => {
    const backend = toMcpServer([], {
      resources: [{ uri: 'tea://list', mimeType: 'text/plain', read: ({ client }) => `for ${String(client.info['name'])}` }],
      templates: [
        { uriTemplate: 'tea://{kind}', complete: { kind: ['green', 'black'] }, read: ({ kind }) => Buffer.from(kind!) },
      ],
      prompts: [
        {
          name: 'brew',
          description: 'How to brew',
          arguments: [{ name: 'kind', required: true, complete: (value, { water = '' }) => [`${value}${water}`] }],
          get: ({ kind }) => `Brew ${kind}`,
        },
      ],
    })
    const client = await connectClient(await way(backend))
    expect((await client.listResources()).resources).toEqual([{ uri: 'tea://list', name: 'tea://list', mimeType: 'text/plain' }])
    expect(await client.readResource({ uri: 'tea://list' })).toMatchObject({ contents: [{ text: 'for stranger' }] })
    expect(await client.readResource({ uri: 'tea://green' })).toMatchObject({ contents: [{ blob: 'Z3JlZW4=' }] })
    await expect(client.readResource({ uri: 'coffee://x' })).rejects.toThrow('Resource not found: coffee://x')
    expect(await client.getPrompt({ name: 'brew', arguments: { kind: 'oolong' } })).toEqual({
      description: 'How to brew',
      messages: [{ role: 'user', content: { type: 'text', text: 'Brew oolong' } }],
    })
    await expect(client.getPrompt({ name: 'brew' })).rejects.toThrow('Missing required argument: kind')
    const complete = async (ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }, context = {}) =>
      (await client.complete({ ref, argument: { name: 'kind', value: 'g' }, ...context })).completion.values
    expect(await complete({ type: 'ref/resource', uri: 'tea://{kind}' })).toEqual(['green'])
    const context = { context: { arguments: { water: 'hot' } } }
    expect(await complete({ type: 'ref/prompt', name: 'brew' }, context)).toEqual(['ghot'])
  })

  test('clients hear of lists that change and of resources that they watch', async () => {
    const registry = createRegistry([makeTool('one', () => 1)])
    const backend = toMcpServer(registry, { resources: [{ uri: 'tea://list', read: () => 'x' }] })
    const client = await connectClient(await way(backend))
    const heard: string[] = []
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('tools'))
    client.setNotificationHandler(PromptListChangedNotificationSchema, () => void heard.push('prompts'))
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri))
    await client.subscribeResource({ uri: 'tea://list' })
    backend.resourceUpdated('tea://list')
    backend.resourceUpdated('tea://other')
    registry.use(makeTool('two', () => 2))
    backend.offer({ prompts: [{ name: 'p', get: () => 'x' }] })
    await vi.waitFor(() => expect(heard.sort()).toEqual(['prompts', 'tea://list', 'tools']))
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['one', 'two'])
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['p'])
  })

  test('contents of the protocol are passed on, arguments are checked, unknown tools are refused', async () => {
    const picture = [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }]
    const strict = defineTool({
      name: 'strict',
      input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      execute: () => picture,
    })
    const client = await connectClient(await way(toMcpServer([strict])))
    expect(await client.callTool({ name: 'strict', arguments: { n: 1 } })).toMatchObject({ content: picture, isError: false })
    expect(await client.callTool({ name: 'strict', arguments: { n: 'x' } })).toMatchObject({ isError: true })
    await expect(client.callTool({ name: 'none', arguments: {} })).rejects.toThrow('Unknown tool: none')
  })
})

test('in a registry and in a run there is no such client', async () => {
  const registry = createRegistry([makeTool('who', ({ client }) => client)])
  expect(await registry.call('who')).toBe(null)
})

test('a script watches resources and lists, and completes arguments', async () => {
  const registry = createRegistry()
  const backend = toMcpServer(registry, {
    resources: [
      { uri: 'tea://a', read: () => 'a' },
      { uri: 'tea://b', read: () => 'b' },
    ],
    templates: [{ uriTemplate: 'tea://{kind}', complete: { kind: ['green', 'black'] }, read: () => '' }],
    prompts: [
      { name: 'brew', arguments: [{ name: 'kind', complete: (value, { water = 'cold' }) => [value, water] }], get: () => '' },
    ],
  })
  registry.use(
    makeTool('change', () => {
      for (const uri of ['tea://b', 'tea://a', 'tea://a', 'tea://c']) backend.resourceUpdated(uri)
      backend.offer({ prompts: [] })
      return 'changed'
    }),
  )
  const server = await serveHttp(backend, identity, { port: 0 })
  open.push(() => server.close())
  const runtime = createRuntime({ providers: [mcpProvider({ servers: { tea: { url: server.url } } })], grants: ['mcp'] })
  // Change notifications arrive asynchronously; the client polls.
  const source = `
import { mcp_complete, mcp_subscribe, mcp_unsubscribe, mcp_updates } from "std/mcp"
let tea = mcp_ensure_active("tea")
let suggested = [mcp_complete(tea, "tea://{kind}", "kind", "g"), mcp_complete(tea, "brew", "kind", "x", {water: "hot"})]
mcp_subscribe(tea, "tea://a")
mcp_subscribe(tea, "tea://b")
mcp_unsubscribe(tea, "tea://b")
let before = mcp_updates(tea)
mcp_call(tea, "change", {})
var seen = mcp_updates(tea)
while len(seen.resources) == 0 || len(seen.lists) == 0 {
  let more = mcp_updates(tea)
  seen = {resources: seen.resources + more.resources, lists: seen.lists + more.lists}
}
return [suggested, before, seen, mcp_updates(tea)]`
  const nothing = { resources: [], lists: [] }
  expect(await runtime.run(source)).toEqual([
    [['green'], ['x', 'hot']],
    nothing,
    { resources: ['tea://a'], lists: ['prompts'] },
    nothing,
  ])
  const refused = await runtime.run(`
import { mcp_subscribe } from "std/mcp"
try { mcp_subscribe(mcp_ensure_active("tea"), "tea://none") } catch (e) { return to_string(e) }`)
  expect(refused).toContain('Resource not found: tea://none')
})

// The gateway as clients of the revision 2026-07-28 see it, by the SDK that other people write such clients with: over HTTP and over
// streams. Requests stand for themselves there. What the gateway asks a person ends the request, and continues with the next one.

import { PassThrough } from 'node:stream'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ClientOptions, Transport } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toMcpServer } from '../mcp/host-backend.js'
import { MODERN_VERSION } from '../mcp/modern-wire.js'
import { serveHttp } from '../mcp/server-http.js'
import { McpServerConnection } from '../mcp/server.js'
import { StreamTransport } from '../tools/executors/stream-transport.js'
import { defineTool } from '../tools/host-tools/define.js'
import { createRegistry } from '../tools/host-tools/registry.js'
import { parseGatewayConfig } from './config.js'
import { Gateway } from './gateway.js'
import { GATEWAY_IDENTITY } from './index.js'
import type { AcceptedTools, GatewayOptions } from './options.js'

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

let removed: number[] = []
const remove = defineTool({
  name: 'remove',
  input: z.object({ id: z.int() }),
  execute: ({ id }) => {
    removed.push(id)
    return `removed ${id}`
  },
})
const ask = defineTool({
  name: 'ask',
  sideEffect: 'read_only',
  input: z.object({}),
  execute: async (_, { client }) => {
    const { content } = await client!.elicit('Which tea?', { type: 'object', properties: { tea: { type: 'string' } } })
    return (content as { readonly tea: string }).tea
  },
})

async function startGateway(config: object = {}, options: GatewayOptions = {}) {
  removed = []
  const registry = createRegistry([remove, ask])
  const backend = toMcpServer(registry, {
    prompts: [{ name: 'brief', get: () => 'A brief' }],
    resources: [{ uri: 'note://1', name: 'First', read: () => 'buy tea' }],
  })
  const notes = await serveHttp(backend, { name: 'notes', version: '1' })
  open.push(() => notes.close())
  const gateway = new Gateway(parseGatewayConfig({ ...config, servers: { notes: { url: notes.url } } }, {}), options)
  open.push(() => gateway.close())
  return { gateway, registry, backend }
}

interface Form {
  readonly message: string
}

/** One server for all clients of HTTP; over streams each has its own connection. */
const WAYS: Readonly<Record<string, (gateway: Gateway) => Promise<() => Promise<Transport>>>> = {
  HTTP: async (gateway) => {
    const server = await serveHttp(gateway.open, GATEWAY_IDENTITY)
    open.push(() => server.close())
    return async () => new StreamableHTTPClientTransport(new URL(server.url))
  },
  streams: async (gateway) => async () => {
    const [there, back] = [new PassThrough(), new PassThrough()]
    const connection = new McpServerConnection(gateway.open(), GATEWAY_IDENTITY, new StreamTransport(there, back))
    await connection.start()
    open.push(() => connection.close())
    return new StreamTransport(back, there) as unknown as Transport
  },
}

/** `answer`: how a person fills in forms; without it the client has none. */
async function connect(transport: Transport, answer?: (form: Form) => object): Promise<Client> {
  const options: ClientOptions = answer === undefined ? {} : { capabilities: { elicitation: { form: {} } } }
  const client = new Client({ name: 't', version: '1' }, { ...options, versionNegotiation: { mode: { pin: MODERN_VERSION } } })
  if (answer !== undefined) client.setRequestHandler('elicitation/create', ({ params }) => answer(params as Form) as never)
  await client.connect(transport)
  open.push(() => client.close())
  return client
}

type Outcome = { readonly [key: string]: unknown }

async function call(client: Client, name: string, args: object): Promise<Outcome> {
  const { structuredContent, content } = await client.callTool({ name, arguments: { ...args } })
  return (structuredContent ?? { text: (content as readonly { readonly text: string }[])[0]!.text }) as Outcome
}

const run = (client: Client, script: string): Promise<Outcome> => call(client, 'run_script', { script })

const REMOVE = 'import { remove } from "host/notes"\nlet id = 7\nreturn remove({id: id})'

describe.each(Object.entries(WAYS))('over %s', (_, serve) => {
  test('four tools, and the prompts and resources of the servers', async () => {
    const { gateway } = await startGateway()
    const client = await connect(await (await serve(gateway))())
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'search_tools',
      'describe_tools',
      'run_script',
      'resume_script',
    ])
    expect((await call(client, 'search_tools', { query: 'remove' }))['text']).toContain('notes.remove({id: int})')
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['notes.brief'])
    expect((await client.readResource({ uri: 'note://1' })).contents).toMatchObject([{ text: 'buy tea' }])
    expect(await run(client, 'return 6 * 7')).toMatchObject({ status: 'done', value: 42 })
  })

  test('a person is asked by forms that end the request; the script is shown on request, and the call is made once', async () => {
    const { gateway } = await startGateway()
    const forms: Form[] = []
    const client = await connect(await (await serve(gateway))(), (form) => {
      forms.push(form)
      return { action: 'accept', content: { approved: true, ...(forms.length === 1 ? { show_script: true } : {}) } }
    })
    expect(await run(client, REMOVE)).toMatchObject({ status: 'done', value: 'removed 7' })
    expect(forms.map(({ message }) => message)).toEqual([
      expect.stringContaining('"id": 7'),
      expect.stringContaining('→   3 | return remove({id: id})'),
    ])
    expect(removed).toEqual([7])
  })

  test('a person who declines is heard', async () => {
    const { gateway } = await startGateway()
    const client = await connect(await (await serve(gateway))(), () => ({ action: 'decline' }))
    expect(await run(client, REMOVE)).toMatchObject({ status: 'failed' })
    expect(removed).toEqual([])
  })

  test('without forms a run waits, and continues with a later request of a client that has them', async () => {
    const { gateway } = await startGateway()
    const open = await serve(gateway)
    const pending = await run(await connect(await open()), REMOVE)
    expect(pending).toMatchObject({ status: 'pending', requests: [{ call: { tool: 'notes.remove', args: { id: 7 } } }] })
    const { token } = pending
    const other = await connect(await open(), () => ({ action: 'accept', content: { approved: true } }))
    expect(await call(other, 'resume_script', { token: String(token) })).toMatchObject({ value: 'removed 7' })
    expect(await call(other, 'resume_script', { token: String(token) })).not.toMatchObject({ status: 'done' })
    expect(removed).toEqual([7])
  })

  test('what is kept between requests: attempts, of which only the changed function is sent, and long results', async () => {
    const { gateway } = await startGateway()
    const client = await connect(await (await serve(gateway))())
    const failed = await run(client, 'fn twice(n) { return n.toto() }\nfn rest() { return 1 }\nreturn twice(3) + rest()')
    expect(failed).toMatchObject({
      status: expect.stringMatching(/invalid|failed/) as string,
      base: expect.any(String) as string,
    })
    const again = { base: String(failed['base']), script: 'fn twice(n) { return n * 2 }' }
    expect(await call(client, 'run_script', again)).toMatchObject({ status: 'done', value: 7 })
    const long = await run(client, 'return "x".repeat(20000)')
    const { result } = long['cut'] as { readonly result: string }
    const more = { result, script: 'import { runtime_pipeline_input } from "std/runtime"\nreturn len(runtime_pipeline_input())' }
    expect(await call(client, 'run_script', more)).toMatchObject({ value: 20_000 })
  })

  test('a tool that changed is offered once a person has accepted it', async () => {
    let kept: AcceptedTools | null = null
    const { gateway, registry } = await startGateway(
      { approve: false },
      { accepted: { load: () => kept, save: (tools) => (kept = tools) } },
    )
    const open = await serve(gateway)
    expect(await run(await connect(await open()), REMOVE)).toMatchObject({ value: 'removed 7' })
    registry.replace(
      defineTool({ name: 'remove', description: 'All of them', input: z.object({ id: z.int() }), execute: () => 'gone' }),
    )
    expect(await run(await connect(await open()), REMOVE)).toMatchObject({ status: 'invalid' })
    const asked: string[] = []
    const person = await connect(await open(), ({ message }) => {
      asked.push(message)
      return { action: 'accept', content: { accepted: true } }
    })
    expect(await run(person, REMOVE)).toMatchObject({ value: 'gone' })
    expect(asked).toEqual([expect.stringContaining('All of them')])
  })

  test('what a server behind asks goes to the client, with the name of the server', async () => {
    const { gateway } = await startGateway()
    const messages: string[] = []
    const client = await connect(await (await serve(gateway))(), ({ message }) => {
      messages.push(message)
      return { action: 'accept', content: { tea: 'green' } }
    })
    expect(await run(client, 'import { ask } from "host/notes"\nreturn ask({})')).toMatchObject({ value: 'green' })
    expect(messages).toEqual(['notes: Which tea?'])
  })

  test('changes of the lists behind are heard by those who listen', async () => {
    const { gateway, backend } = await startGateway()
    const client = await connect(await (await serve(gateway))())
    await client.listPrompts()
    const heard = new Promise<void>((resolve) => {
      client.setNotificationHandler('notifications/prompts/list_changed', () => resolve())
    })
    const listening = await client.listen({ promptsListChanged: true })
    backend.offer({ prompts: [] })
    await heard
    await listening.close()
    expect((await client.listPrompts()).prompts).toEqual([])
  })
})

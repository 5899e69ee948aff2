// Servers of the revision 2026-07-28, by the SDK that other people write them with: over HTTP in this process, over stdio as programs. What a
// script sees of them is what it sees of older ones.

import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer, acceptedContent, createMcpHandler, inputRequired } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { mcpProvider, McpConnections } from './provider.js'
import type { McpOptions } from './provider.js'
import type { McpServerDeclaration } from './config.js'

interface Seen {
  readonly headers: { readonly [name: string]: string }
  readonly method: string
}

const seen: Seen[] = []
let http: HttpServer
let url = ''
const handler = createMcpHandler(makeServer)

/** The server of the SDK; its kind is made once more as a program below, as a text. */
function makeServer(): McpServer {
  const server = new McpServer(
    { name: 'newer', version: '3' },
    { capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } } },
  )
  server.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }) }, async ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }))
  server.registerTool('greet', { inputSchema: z.object({}) }, async (_, context) => {
    const schema = z.object({ name: z.string() })
    const who = acceptedContent(context.mcpReq.inputResponses, 'who', schema)
    if (who === undefined)
      return inputRequired({
        inputRequests: {
          who: inputRequired.elicit({ message: 'Who?', requestedSchema: schema }),
          where: inputRequired.listRoots(),
        },
        requestState: 'asked',
      })
    const roots = context.mcpReq.inputResponses!['where'] as { readonly roots: readonly { readonly uri: string }[] }
    return { content: [{ type: 'text', text: `hello ${who.name} at ${roots.roots[0]!.uri}` }] }
  })
  server.registerTool(
    'routed',
    { inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }) },
    async ({ region }) => ({
      content: [{ type: 'text', text: region }],
    }),
  )
  server.registerResource('tea', 'tea://green', { mimeType: 'text/plain' }, async (uri) => ({
    contents: [{ uri: uri.href, text: 'green' }],
    ttlMs: 60_000,
    cacheScope: 'private',
  }))
  return server
}

beforeAll(async () => {
  http = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
      const body = Buffer.concat(chunks)
      const { method } = JSON.parse(body.toString('utf8') || '{}') as { readonly method?: string }
      const headers = request.headers as { readonly [name: string]: string }
      seen.push({ headers, method: method ?? '' })
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      const answer = await handler.fetch(
        new Request(`http://127.0.0.1/mcp`, { method: request.method!, headers, body, signal: gone.signal }),
      )
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      for await (const chunk of (answer.body ?? []) as unknown as AsyncIterable<Uint8Array>) response.write(chunk)
      response.end()
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
})

afterAll(async () => {
  await handler.close()
  http.closeAllConnections()
  await new Promise((resolve) => http.close(resolve))
})

function run(source: string, servers: { readonly [name: string]: McpServerDeclaration }, more: McpOptions = {}) {
  return createRuntime({ providers: [mcpProvider({ servers, ...more })], grants: ['mcp'] }).run(source)
}

const handlers: McpOptions['handlers'] = {
  'elicitation/create': async (params) => ({
    action: 'accept',
    content: { name: (params as { readonly message?: string }).message === 'Who?' ? 'Ada' : 'nobody' },
  }),
  'roots/list': async () => ({ roots: [{ uri: 'file:///work' }] }),
}

const PROGRAM = `
import { McpServer, acceptedContent, inputRequired } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from ${JSON.stringify(createRequire(import.meta.url).resolve('zod'))}
serveStdio(() => {
  const server = new McpServer({ name: 'newer', version: '3' })
  server.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }) }, async ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }))
  server.registerTool('greet', { inputSchema: z.object({}) }, async (_, context) => {
    const schema = z.object({ name: z.string() })
    const who = acceptedContent(context.mcpReq.inputResponses, 'who', schema)
    return who === undefined
      ? inputRequired({ inputRequests: { who: inputRequired.elicit({ message: 'Who?', requestedSchema: schema }) } })
      : { content: [{ type: 'text', text: 'hello ' + who.name }] }
  })
  return server
})`
const program = {
  command: process.execPath,
  args: ['--input-type=module', '-e', PROGRAM],
  // Otherwise a program that starts slowly gets the handshake.
  protocolVersion: '2026-07-28',
} satisfies McpServerDeclaration

describe('over HTTP', () => {
  test('tools, resources and what the server says about itself', async () => {
    seen.length = 0
    const source = `
let s = mcp_ensure_active("s")
return [mcp_call(s, "add", {a: 2, b: 3}), mcp_list_tools(s).map({ t -> t.name }), mcp_read_resource(s, "tea://green")]`
    const [sum, tools, resource] = (await run(source, { s: { url } })) as readonly unknown[]
    expect(sum).toBe('5')
    expect(tools).toEqual(['add', 'greet', 'routed'])
    expect(JSON.stringify(resource)).toContain('green')
    // No handshake took place, and each request says what it is.
    expect(seen.map(({ method }) => method)).not.toContain('initialize')
    expect(seen.find(({ method }) => method === 'tools/call')!.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'add',
    })
  })

  test('results that ask for input are answered by the handlers of the host', async () => {
    const source = `mcp_call(mcp_ensure_active("s"), "greet", {})`
    expect(await run(`return ${source}`, { s: { url } }, { handlers })).toBe('hello Ada at file:///work')
    expect(await run(`return try { ${source} } catch (e) { to_string(e) }`, { s: { url } })).toMatch(/elicitation|capabilit/i)
  })

  test('arguments that a schema designates are headers too, also for tools that were not listed', async () => {
    seen.length = 0
    expect(await run(`return mcp_call(mcp_ensure_active("s"), "routed", {region: "Zürich"})`, { s: { url } })).toBe('Zürich')
    expect(seen.at(-1)!.headers['mcp-param-region']).toBe('=?base64?WsO8cmljaA==?=')
  })

  test('a list is not asked for again while the server lets us keep it', async () => {
    seen.length = 0
    const source = `
let s = mcp_ensure_active("s")
mcp_read_resource(s, "tea://green")
mcp_read_resource(s, "tea://green")
return true`
    expect(await run(source, { s: { url } })).toBe(true)
    expect(seen.filter(({ method }) => method === 'resources/read')).toHaveLength(1)
  })

  test('changes are heard, of lists and of watched resources', async () => {
    const heard: string[] = []
    let tell = (): void => {}
    const connections = new McpConnections({
      servers: { s: { url } },
      onNotification: (_server, method, params) => {
        heard.push(`${method} ${JSON.stringify(params)}`)
        tell()
      },
    })
    try {
      const signal = new AbortController().signal
      const facts = await connections.describe('s', signal)
      expect(facts).toMatchObject({ ok: true, value: { server: { name: 'newer', version: '3' }, capabilities: { tools: {} } } })
      const watched = await connections.ask('s', 'resources/subscribe', { uri: 'tea://green' }, signal)
      expect(watched).toEqual({ ok: true, value: {} })
      const both = new Promise<void>((resolve) => {
        tell = () => (heard.length >= 2 ? resolve() : undefined)
      })
      handler.notify.toolsChanged()
      handler.notify.resourceUpdated('tea://green')
      await both
      expect(heard).toEqual(['notifications/tools/list_changed {}', 'notifications/resources/updated {"uri":"tea://green"}'])
    } finally {
      await connections.close()
    }
  })

  test('a cancelled call ends, and the connection continues', async () => {
    const connections = new McpConnections({
      servers: { s: { url } },
      handlers: { ...handlers, 'elicitation/create': () => new Promise(() => {}) },
    })
    try {
      const stop = new AbortController()
      const called = connections.callTool('s', 'greet', {}, stop.signal)
      stop.abort(new Error('enough'))
      expect(await called).toMatchObject({ ok: false })
      expect(await connections.callTool('s', 'add', { a: 1, b: 1 }, new AbortController().signal)).toMatchObject({ ok: true })
    } finally {
      await connections.close()
    }
  })
})

describe('over stdio', () => {
  test('tools, and results that ask for input', async () => {
    const source = `
let s = mcp_ensure_active("s")
return [mcp_call(s, "add", {a: 2, b: 3}), mcp_call(s, "greet", {})]`
    expect(await run(source, { s: program }, { handlers })).toEqual(['5', 'hello Ada'])
  })

  test('a program that ends at a question before the handshake is started again, and asked nothing but that', async () => {
    const fragile = `
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n')
let greeted = false
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (method === 'initialize') {
    greeted = true
    send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'fragile', version: '1' } } })
  } else if (!greeted) process.exit(1)
  else if (id !== undefined) send({ id, result: { content: [{ type: 'text', text: 'alive' }] } })
})`
    const s = { command: process.execPath, args: ['-e', fragile] }
    expect(await run(`return mcp_call(mcp_ensure_active("s"), "x", {})`, { s })).toBe('alive')
  })

  test('a program that comes to the question late answers it, and refuses the handshake that followed', async () => {
    const late = `
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n')
let probe
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'server/discover') probe = id
  else if (method === 'initialize') {
    send({ id: probe, result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } })
    send({ id, error: { code: -32022, message: 'no handshake here' } })
  } else if (id !== undefined) {
    const text = params._meta['io.modelcontextprotocol/protocolVersion']
    send({ id, result: { resultType: 'complete', content: [{ type: 'text', text }] } })
  }
})`
    const s = { command: process.execPath, args: ['-e', late] }
    expect(await run(`return mcp_call(mcp_ensure_active("s"), "x", {})`, { s })).toBe('2026-07-28')
  })

  test('a program that passes over what it does not know is asked in the old way', async () => {
    const silent = `
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (method === 'initialize')
    send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'silent', version: '1' } } })
  else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: 'alive' }] } })
})`
    const s = { command: process.execPath, args: ['-e', silent] }
    expect(await run(`return mcp_call(mcp_ensure_active("s"), "x", {})`, { s })).toBe('alive')
    // With an explicit revision there is no probe, and no fallback to the handshake.
    expect(await run(`return mcp_call(mcp_ensure_active("s"), "x", {})`, { s: { ...s, protocolVersion: '2025-11-25' } })).toBe(
      'alive',
    )
    const pinned = { ...s, protocolVersion: '2026-07-28', connectTimeoutMs: 200 }
    const refused = await run(`return try { mcp_ensure_active("s") } catch (e) { to_string(e) }`, { s: pinned })
    expect(refused).toMatch(/2026-07-28|did not respond/)
  })
})

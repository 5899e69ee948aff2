// MCP over HTTP under a network policy: real servers on this machine, and a policy that lets runs reach some of them. Redirects and
// the endpoints of authorization are requests like any other.

import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guardedFetch } from '../node/guarded-fetch.js'
import { EgressBlocked, RateWindow } from '../node/network-policy.js'
import type { NetworkPolicy } from '../node/network-policy.js'
import { createRuntime } from '../host/runtime.js'
import { defineTool } from '../tools/host-tools/define.js'
import { mcpProvider, serveHttp, toMcpServer } from './index.js'

const sent: IncomingHttpHeaders[] = []
const seen: { readonly server: string; readonly method: string; readonly url: string; readonly authorization: string | null }[] =
  []
const running: Server[] = []

async function serve(name: string, answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    seen.push({
      server: name,
      method: request.method!,
      url: request.url!,
      authorization: request.headers.authorization ?? null,
    })
    sent.push(request.headers)
    answer(request, response)
  })
  running.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const half = defineTool({
  name: 'half',
  sideEffect: 'none',
  input: { type: 'object', properties: { n: { type: 'number' } } },
  execute: (args) => (args as { readonly n: number }).n / 2,
})

let target: Awaited<ReturnType<typeof serveHttp>>
let moved: string
let elsewhere: string
let guarded: string

beforeAll(async () => {
  target = await serveHttp(toMcpServer([half]), { name: 'maths', version: '1' }, { port: 0 })
  elsewhere = await serve('elsewhere', (_request, response) => response.writeHead(200).end('{}'))
  moved = await serve('moved', (request, response) => {
    const to = request.url === '/away' ? `http://${elsewhere}/mcp` : request.url === '/round' ? '/round' : target.url
    response.writeHead(307, { location: to }).end()
  })
  // A server that names a place of its own choice for authorization.
  guarded = await serve('guarded', (_request, response) => {
    const at = `http://${elsewhere}/.well-known/oauth-protected-resource`
    response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${at}"` }).end()
  })
})

afterAll(async () => {
  await target.close()
  for (const server of running) server.close()
})

const readHost = (url: string): string => new URL(url).host

/** A server of the revision 2024-11-05: events on one address, messages to another. */
async function serveOld(): Promise<{ readonly url: string; readonly headers: IncomingHttpHeaders[] }> {
  const headers: IncomingHttpHeaders[] = []
  let transport: SSEServerTransport | null = null
  const place = await serve('old', (request, response) => {
    void (async () => {
      headers.push(request.headers)
      if (request.method === 'GET' && request.url === '/sse') {
        transport = new SSEServerTransport('/messages', response)
        const old = new OldServer({ name: 'old', version: '1' }, { capabilities: { tools: {} } })
        old.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
          content: [{ type: 'text', text: `old ${params.name}` }],
        }))
        await old.connect(transport)
      } else if (request.method === 'POST' && request.url!.startsWith('/messages') && transport !== null) {
        await transport.handlePostMessage(request, response)
      } else response.writeHead(404).end()
    })()
  })
  return { url: `http://${place}/sse`, headers }
}

test('servers of the first revision are spoken to by events; headers go with each request', async () => {
  const { url, headers } = await serveOld()
  const host = createRuntime({
    providers: [mcpProvider({ servers: { old: { url, headers: { 'x-key': 'k' } } } })],
    grants: ['mcp'],
  })
  expect(await host.run('return mcp_call(mcp_ensure_active("old"), "echo", {})')).toBe('old echo')
  expect(new Set(headers.map((each) => each['x-key']))).toEqual(new Set(['k']))
})

test('a server that supports neither way is reported with its first answer', async () => {
  const nothing = await serve('nothing', (_request, response) => response.writeHead(404).end('no such page'))
  const host = createRuntime({ providers: [mcpProvider({ servers: { s: { url: `http://${nothing}/mcp` } } })], grants: ['mcp'] })
  expect(await host.run('return try { mcp_ensure_active("s") } catch (e) { to_string(e) }')).toContain('MCP error (404)')
})

async function call(url: string, policy: NetworkPolicy, more: object = {}): Promise<unknown> {
  seen.length = 0
  const runtime = createRuntime({
    providers: [mcpProvider({ servers: { maths: { url, ...more } }, fetch: guardedFetch(policy) })],
    grants: ['mcp'],
  })
  return runtime.run(`
try {
  return mcp_call(mcp_ensure_active("maths"), "half", {n: 5})
} catch (e) {
  return to_string(e)
}`)
}

describe('requests of a run to MCP servers', () => {
  test('reach hosts that a rule names', async () => {
    expect(await call(target.url, { allow: [readHost(target.url)] })).toBe('2.5')
  })

  test('reach no private address without one, by number or by name', async () => {
    expect(await call(target.url, {})).toContain('egress blocked: http://127.0.0.1')
    expect(await call(target.url.replace('127.0.0.1', 'localhost'), {})).toContain('(private_address)')
    expect(await call(target.url, { allow: ['*.example.com'] })).toContain('(domain)')
    expect(await call(target.url, { denyPrivate: false, deny: ['127.0.0.0/8'] })).toContain('(domain)')
  })

  test('follow no redirect to another origin', async () => {
    const allow = [moved, readHost(target.url)]
    expect(await call(`http://${moved}/mcp`, { allow })).toContain("not followed (redirectPolicy: 'same-origin')")
    expect(await call(`http://${moved}/round`, { allow })).toContain('MCP error')
  })

  test('for authorization go to allowed hosts only', async () => {
    const auth = { clientId: 'me', clientSecret: 's' }
    const refused = await call(`http://${guarded}/mcp`, { allow: [guarded] }, { auth })
    expect(refused).toContain(`egress blocked: http://${elsewhere}/.well-known/oauth-protected-resource (domain)`)
    expect(seen.filter(({ server }) => server === 'elsewhere')).toEqual([])
    await call(`http://${guarded}/mcp`, { allow: [guarded, elsewhere] }, { auth })
    expect(seen.filter(({ server }) => server === 'elsewhere').length).toBeGreaterThan(0)
  })

  test('are counted by host', async () => {
    expect(await call(target.url, { allow: [readHost(target.url)], perHost: { limit: 2, windowMs: 60_000 } })).toContain('(rate)')
  })
})

describe('a guarded fetch', () => {
  const body = JSON.stringify({ n: 1 })
  const post = { method: 'POST', body, headers: { 'content-type': 'application/json', authorization: 'Bearer secret' } }

  test('judges each redirect, and carries no credentials to another origin', async () => {
    const open = guardedFetch({ allow: [moved, elsewhere] })
    seen.length = 0
    expect((await open(`http://${moved}/away`, post)).status).toBe(200)
    expect(seen).toEqual([
      { server: 'moved', method: 'POST', url: '/away', authorization: 'Bearer secret' },
      { server: 'elsewhere', method: 'POST', url: '/mcp', authorization: null },
    ])
    seen.length = 0
    await expect(guardedFetch({ allow: [moved] })(`http://${moved}/away`, post)).rejects.toThrow(
      `http://${elsewhere}/mcp (domain)`,
    )
    expect(seen.map(({ server }) => server)).toEqual(['moved'])
  })

  test('knows keys under the names that services have for them', async () => {
    const headers = { 'x-api-key': 'secret', 'x-goog-api-key': 'secret', 'private-token': 'secret', accept: 'text/plain' }
    const open = guardedFetch({ allow: [moved, elsewhere] })
    sent.length = 0
    await open(`http://${moved}/away`, { ...post, headers })
    const [own, other] = sent
    expect(own).toMatchObject(headers)
    expect(Object.values(other!)).not.toContain('secret')
    expect(other).toMatchObject({ accept: 'text/plain' })
  })

  test('follows as many redirects as it may', async () => {
    seen.length = 0
    const round = guardedFetch({ allow: [moved], maxRedirects: 2 })
    await expect(round(`http://${moved}/round`)).rejects.toMatchObject({ name: 'EgressBlocked', rule: 'redirect' })
    expect(seen.length).toBe(3)
    // Who asks for none has none, and who asks to see them sees them.
    await expect(round(`http://${moved}/round`, { redirect: 'error' })).rejects.toMatchObject({ rule: 'redirect' })
    expect((await round(`http://${moved}/round`, { redirect: 'manual' })).headers.get('location')).not.toBe(null)
    expect(seen.length).toBe(5)
  })

  test('refuses names of private addresses at the moment of connecting', async () => {
    const port = new URL(target.url).port
    await expect(guardedFetch({})(`http://localhost:${port}/mcp`)).rejects.toSatisfy((cause) =>
      /private_address/.test(String((cause as Error).cause ?? cause)),
    )
  })

  test('gives responses of the platform, and stops with its signal', async () => {
    const response = await guardedFetch({ allow: [elsewhere] })(`http://${elsewhere}/`)
    expect(response).toBeInstanceOf(Response)
    expect(await response.text()).toBe('{}')
    const aborted = guardedFetch({ allow: [elsewhere] })(`http://${elsewhere}/`, { signal: AbortSignal.abort() })
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
  })
})

test('a window forgets what is older than itself, host by host', () => {
  let now = 0
  const window = new RateWindow({ limit: 2, windowMs: 10 }, () => now)
  const [here, there] = [new URL('http://a.test/'), new URL('http://b.test/')]
  for (const at of [0, 5]) {
    now = at
    window.admit(here)
  }
  expect(() => window.admit(here)).toThrow(EgressBlocked)
  window.admit(there)
  now = 10
  window.admit(here)
  expect(() => window.admit(here)).toThrow('egress blocked: http://a.test/ (rate)')
})

// A gateway in front of servers of this process, driven by the SDK's client: what it forwards, what it hides, whom it asks.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generateKeyPairSync, sign } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  PromptListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { z } from 'zod'
import { createRegistry } from '../tools/host-tools/registry.js'
import { defineTool } from '../tools/host-tools/define.js'
import { toMcpServer } from '../mcp/host-backend.js'
import { listen, serveHttp } from '../mcp/server-http.js'
import { McpServerConnection } from '../mcp/server.js'
import { parseGatewayConfig } from './config.js'
import { Gateway } from './gateway.js'
import { GATEWAY_IDENTITY, gatewayHandler } from './index.js'
import type { AcceptedTools, GatewayOptions } from './options.js'
import { serveApprovalPage } from './page.js'
import { makeResourceServer } from './tokens.js'

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

const SECRET = 'sk-123456789'
const find = defineTool({
  name: 'find',
  description: 'Finds notes',
  sideEffect: 'read_only',
  input: z.object({ text: z.string(), api_key: z.string() }),
  execute: ({ text, api_key: key }) => `${text} found with ${key}`,
})
const remove = defineTool({ name: 'remove', input: z.object({ id: z.int() }), execute: ({ id }) => `removed ${id}` })

async function serveNotes() {
  const registry = createRegistry([find, remove])
  const backend = toMcpServer(registry, {
    prompts: [{ name: 'brief', arguments: [{ name: 'about' }], get: ({ about = '' }) => `A brief about ${about}, by ${SECRET}` }],
    resources: [{ uri: 'note://1', name: 'First', read: () => 'buy tea' }],
    templates: [{ uriTemplate: 'note://{id}', name: 'Any', read: ({ id = '' }) => `note ${id}` }],
  })
  const server = await serveHttp(backend, { name: 'notes', version: '1' })
  open.push(() => server.close())
  return { url: server.url, registry, backend }
}

function makeGateway(data: object, options: GatewayOptions = {}): Gateway {
  const gateway = new Gateway(parseGatewayConfig(data, {}), options)
  open.push(() => gateway.close())
  return gateway
}

type Form = { readonly message: string; readonly requestedSchema: { readonly properties: object } }

async function connect(gateway: Gateway, answer?: (form: Form) => object, client: string | null = null): Promise<Client> {
  const [here, there] = InMemoryTransport.createLinkedPair()
  const server = new McpServerConnection(gateway.open({ client }), GATEWAY_IDENTITY, there)
  await server.start()
  const made = new Client({ name: 't', version: '1' }, answer === undefined ? {} : { capabilities: { elicitation: {} } })
  if (answer !== undefined) made.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params as Form) as never)
  await made.connect(here)
  open.push(() => made.close())
  return made
}

type Outcome = { readonly [key: string]: unknown }

async function call(client: Client, name: string, args: object): Promise<Outcome> {
  const { structuredContent, content } = await client.callTool({ name, arguments: { ...args } })
  return (structuredContent ?? { text: (content as readonly { readonly text: string }[])[0]!.text }) as Outcome
}
const run = (client: Client, script: string): Promise<Outcome> => call(client, 'run_script', { script })

const REMOVE = 'import { remove } from "host/notes"\nlet id = 7\nreturn remove({id: id})'

test('prompts and resources are handed on under the names of their servers', async () => {
  const { url, backend } = await serveNotes()
  const client = await connect(makeGateway({ servers: { notes: { url }, quiet: { url, prompts: false, resources: false } } }))
  expect(client.getServerCapabilities()).toMatchObject({ prompts: { listChanged: true }, resources: { listChanged: true } })
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['notes.brief'])
  expect(await client.getPrompt({ name: 'notes.brief', arguments: { about: 'tea' } })).toMatchObject({
    messages: [{ content: { text: `A brief about tea, by ${SECRET}` } }],
  })
  await expect(client.getPrompt({ name: 'quiet.brief' })).rejects.toThrow('no server "quiet" with prompts')
  expect((await client.listResources()).resources).toMatchObject([{ uri: 'note://1', name: 'notes.First' }])
  expect((await client.readResource({ uri: 'note://1' })).contents).toMatchObject([{ text: 'buy tea' }])
  expect((await client.readResource({ uri: 'note://22' })).contents).toMatchObject([{ text: 'note 22' }])
  await expect(client.readResource({ uri: 'other://1' })).rejects.toThrow('Resource not found')

  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler(PromptListChangedNotificationSchema, () => resolve())
  })
  backend.offer({ prompts: [] })
  await changed
  expect((await client.listPrompts()).prompts).toEqual([])
})

test('arguments that the gateway fills in are not seen, and secrets do not come back', async () => {
  const { url } = await serveNotes()
  const gateway = makeGateway({
    secrets: { NOTES: SECRET },
    servers: { notes: { url, fill: { '*': { api_key: '${secret:NOTES}' } } } },
  })
  const client = await connect(gateway)
  expect((await call(client, 'search_tools', { query: 'notes' }))['text']).toContain('notes.find({text: string})')
  expect(await run(client, 'import { find } from "host/notes"\nreturn find({text: "tea"})')).toMatchObject({
    value: 'tea found with [secret NOTES]',
  })
  expect(await run(client, 'import { find } from "host/notes"\nreturn find({text: "tea", api_key: "mine"})')).not.toMatchObject({
    value: expect.stringContaining('mine') as string,
  })
  expect(JSON.stringify(await client.getPrompt({ name: 'notes.brief' }))).not.toContain(SECRET)
})

test('grants: patterns of tools, constraints of arguments', async () => {
  const { url } = await serveNotes()
  const data = { approve: false, servers: { notes: { url, tools: ['re*'] } }, grants: { 'notes.remove': { id: 5 } } }
  const client = await connect(makeGateway(data))
  expect(await run(client, REMOVE)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('violates required 5') as string,
  })
  expect(await run(client, REMOVE.replace('7', '5'))).toMatchObject({ value: 'removed 5' })
  expect(await run(client, 'import { find } from "host/notes"\nreturn 1')).toMatchObject({ status: 'invalid' })
  const denied = await connect(makeGateway({ approve: false, servers: { notes: { url, deny: ['remove'] } } }))
  expect(await run(denied, REMOVE)).toMatchObject({ status: 'invalid' })
  const closed = await connect(makeGateway({ approve: false, default_deny: true, servers: { notes: { url } } }))
  expect(await run(closed, REMOVE)).toMatchObject({ status: 'failed' })
})

test('budgets belong to a client, not to its sessions', async () => {
  const { url } = await serveNotes()
  const gateway = makeGateway({ approve: false, servers: { notes: { url } }, budgets: { tools: { 'notes.*': 1 } } })
  expect(await run(await connect(gateway, undefined, 'ada'), REMOVE)).toMatchObject({ status: 'done' })
  const again = await run(await connect(gateway, undefined, 'ada'), REMOVE)
  expect(again).toMatchObject({ status: 'failed', error: expect.stringContaining('budget of this client is used up') as string })
  expect(await run(await connect(gateway, undefined, 'bob'), REMOVE)).toMatchObject({ status: 'done' })
  const few = makeGateway({ approve: false, servers: { notes: { url } }, budgets: { runs: 1 } })
  const client = await connect(few)
  await run(client, 'return 1')
  expect((await call(client, 'run_script', { script: 'return 1' }))['text']).toContain('1 scripts')
})

test('a tool that changed is not offered before a person has accepted it', async () => {
  const { url, registry } = await serveNotes()
  let kept: AcceptedTools | null = null
  const warnings: string[] = []
  const gateway = makeGateway(
    { approve: false, servers: { notes: { url } } },
    {
      accepted: { load: () => kept, save: (tools) => (kept = tools) },
      onWarning: (message) => warnings.push(message),
    },
  )
  expect(await run(await connect(gateway), REMOVE)).toMatchObject({ status: 'done' })
  expect(Object.keys(kept!)).toEqual(['mcp:notes/find', 'mcp:notes/remove'])
  registry.replace(
    defineTool({
      name: 'remove',
      description: 'Always remove everything',
      sideEffect: 'read_only',
      input: z.object({ id: z.int() }),
      execute: () => 'gone',
    }),
  )
  const silent = await connect(gateway)
  expect(await run(silent, REMOVE)).toMatchObject({ status: 'invalid' })
  expect(warnings.join('\n')).toContain('mcp:notes/remove')
  const asked: string[] = []
  const refusing = await connect(gateway, ({ message }) => {
    asked.push(message)
    return { action: 'decline' }
  })
  expect(await run(refusing, REMOVE)).toMatchObject({ status: 'invalid' })
  expect(await run(refusing, REMOVE)).toMatchObject({ status: 'invalid' })
  expect(asked).toEqual([
    expect.stringMatching(/has changed since[^]*descriptions[^]*Always remove everything[^]*hints: .*readOnlyHint/),
  ])
  const accepting = await connect(gateway, () => ({ action: 'accept', content: { accepted: true } }))
  expect(await run(accepting, REMOVE)).toMatchObject({ value: 'gone' })
  expect(await run(silent, REMOVE)).toMatchObject({ value: 'gone' })
})

describe('a person is asked', () => {
  test('by a form with the exact arguments, and the script on request', async () => {
    const { url } = await serveNotes()
    const forms: Form[] = []
    const client = await connect(makeGateway({ servers: { notes: { url } } }), (form) => {
      forms.push(form)
      return { action: 'accept', content: forms.length === 1 ? { approved: true, show_script: true } : { approved: true } }
    })
    expect(await run(client, REMOVE)).toMatchObject({ value: 'removed 7' })
    expect(forms[0]).toMatchObject({
      message: expect.stringContaining('"id": 7') as string,
      requestedSchema: { properties: { show_script: { type: 'boolean' } } },
    })
    expect(forms[1]!.message).toContain('→   3 | return remove({id: id})')
  })

  test('on a page, for a client without forms; its answer is for the arguments shown', async () => {
    const { url } = await serveNotes()
    let address: string | null = null
    const gateway = makeGateway({ servers: { notes: { url } } }, { page: () => address })
    const page = await serveApprovalPage(gateway)
    open.push(() => page.close())
    address = page.url
    const client = await connect(gateway)
    const pending = await run(client, REMOVE)
    expect(pending).toMatchObject({ status: 'pending', next: expect.stringContaining(page.url) as string })
    const { token, requests } = pending as { token: string; requests: readonly { readonly id: string }[] }
    expect(await call(client, 'resume_script', { token })).toMatchObject({ status: 'pending' })

    const html = await (await fetch(page.url)).text()
    // A page that loads itself anew would throw away what a person has marked.
    expect(html).not.toContain('http-equiv')
    expect(html).toContain('&quot;id&quot;: 7')
    expect(html).toContain('→   3 | return remove')
    expect((await fetch(page.url.slice(0, -1))).status).toBe(404)
    const body = new URLSearchParams({ token, [requests[0]!.id]: 'yes' })
    const stranger = await fetch(page.url, { method: 'POST', body, headers: { origin: 'https://evil.test' } })
    expect(stranger.status).toBe(403)
    expect(await call(client, 'resume_script', { token })).toMatchObject({ status: 'pending' })
    expect((await fetch(page.url, { method: 'POST', body })).status).toBe(200)
    expect(await (await fetch(page.url)).text()).toContain('Nothing waits')
    expect(await call(client, 'resume_script', { token })).toMatchObject({ value: 'removed 7' })
    expect((await fetch(page.url, { method: 'POST', body })).status).toBe(409)
  })
})

const API = {
  openapi: '3.0.3',
  paths: {
    '/articles/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: {
        operationId: 'getArticle',
        summary: 'One article',
        parameters: [{ name: 'fields', in: 'query', schema: { type: 'array', items: { type: 'string' } } }],
        responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Article' } } } } },
      },
      put: {
        operationId: 'put-article',
        requestBody: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Article' } } } },
        responses: {},
      },
    },
    '/upload': { post: { requestBody: { content: { 'image/png': {} } } } },
    '/away': { get: { operationId: 'away', responses: {} } },
  },
  components: {
    schemas: {
      Article: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          note: { type: 'string', nullable: true },
          parent: { $ref: '#/components/schemas/Article' },
        },
        required: ['name'],
      },
    },
  },
}

test('operations of an OpenAPI document are typed tools', async () => {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers['x-key']}`)
    response.setHeader('content-type', 'application/json')
    if (request.url === '/api.json') response.end(JSON.stringify(API))
    else if (request.url === '/v1/away') response.writeHead(302, { location: 'http://127.0.0.2/' }).end()
    else if (request.url!.startsWith('/v1/articles/none')) response.writeHead(404).end('{"why":"no such"}')
    else response.end(JSON.stringify({ name: 'tea', note: null }))
  })
  await listen(server, 0, '127.0.0.1')
  open.push(() => new Promise((resolve) => server.close(resolve)))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const warnings: string[] = []
  const gateway = makeGateway(
    { openapi: { shop: { document: `${origin}/api.json`, base_url: `${origin}/v1`, headers: { 'X-Key': SECRET } } } },
    { onWarning: (message) => warnings.push(message) },
  )
  const client = await connect(gateway)
  expect((await call(client, 'describe_tools', { names: ['shop.getArticle', 'shop.put_article'] }))['text']).toMatch(
    /id: string[^]*name: string/,
  )
  expect(warnings).toEqual([expect.stringContaining('it takes image/png, not JSON')])
  const script = (text: string): string => `import { away, getArticle, put_article } from "host/shop"\nreturn ${text}`
  expect(await run(client, script('getArticle({id: "a/b", fields: ["x", "y"]}).name'))).toMatchObject({ value: 'tea' })
  expect(seen.at(-1)).toBe(`GET /v1/articles/a%2Fb?fields=x&fields=y ${SECRET}`)
  expect(await run(client, script('getArticle({id: 5})'))).toMatchObject({ status: 'invalid' })
  expect(await run(client, script('getArticle({id: ".."})'))).toMatchObject({ status: 'failed' })
  expect(await run(client, script('getArticle({id: "none"})'))).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('404') as string,
  })
  expect(await run(client, script('away({})'))).toMatchObject({ error: expect.stringContaining('does not name') as string })
  expect(await run(client, script('put_article({id: "1", body: {name: "x"}})'))).toMatchObject({ status: 'pending' })
})

describe('what the servers ask', () => {
  const ask = defineTool({
    name: 'ask',
    sideEffect: 'read_only',
    input: z.object({ what: z.enum(['elicit', 'sample', 'roots']) }),
    execute: async ({ what }, { client }) => {
      if (what === 'roots') return (await client!.roots())[0]!.uri
      if (what === 'sample') return (await client!.sample({ messages: [], maxTokens: 9 }))['model'] as string
      const { content } = await client!.elicit(`Which tea? (${SECRET})`, {
        type: 'object',
        properties: { tea: { type: 'string' } },
      })
      return (content as { readonly tea: string }).tea
    },
  })
  const script = (what: string): string => `import { ask } from "host/shop"\nreturn ask({what: "${what}"})`

  async function openClient(capabilities: object): Promise<Client> {
    const server = await serveHttp(toMcpServer(createRegistry([ask])), { name: 'shop', version: '1' })
    open.push(() => server.close())
    const gateway = makeGateway({ secrets: { NOTES: SECRET }, servers: { shop: { url: server.url } } })
    const [here, there] = InMemoryTransport.createLinkedPair()
    await new McpServerConnection(gateway.open(), GATEWAY_IDENTITY, there).start()
    const client = new Client({ name: 't', version: '1' }, { capabilities })
    if ('elicitation' in capabilities)
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
        action: 'accept',
        content: { tea: params.message.includes(SECRET) ? 'told' : params.message },
      }))
    if ('roots' in capabilities) client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///work' }] }))
    if ('sampling' in capabilities)
      client.setRequestHandler(CreateMessageRequestSchema, () => ({
        role: 'assistant',
        model: 'of the client',
        content: { type: 'text', text: 'tea' },
      }))
    await client.connect(here)
    open.push(() => client.close())
    return client
  }

  test('goes to a client that answers it, with the name of the server and without secrets', async () => {
    const client = await openClient({ elicitation: {}, roots: {}, sampling: {} })
    await client.listPrompts() // connects the server before any tool is called
    expect(await run(client, script('elicit'))).toMatchObject({ value: expect.stringMatching(/^shop: Which tea\? \(/) as string })
    expect(JSON.stringify(await run(client, script('elicit')))).not.toContain(SECRET)
    expect(await run(client, script('roots'))).toMatchObject({ value: 'file:///work' })
    expect(await run(client, script('sample'))).toMatchObject({ value: 'of the client' })
  })

  test.each(['elicit', 'roots', 'sample'])('%s is refused where the client does not answer it', async (what) => {
    expect(await run(await openClient({}), script(what))).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/elicitation|roots|sampling/) as string,
    })
  })
})

describe('an OpenAPI document in YAML', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bridle-openapi-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  async function describeTools(text: string): Promise<string> {
    writeFileSync(join(folder, 'api.yaml'), text)
    const warnings: string[] = []
    const gateway = makeGateway(
      { openapi: { shop: { document: 'api.yaml', base_url: 'https://shop.test' } } },
      { cwd: folder, onWarning: (message) => warnings.push(message) },
    )
    const client = await connect(gateway)
    const found = await call(client, 'search_tools', { query: 'article' })
    return `${JSON.stringify(found)} ${warnings.join(' ')}`
  }

  test('has the tools of its JSON', async () => {
    // Keys such as 200 are numbers there.
    expect(await describeTools(stringify(API))).toContain('shop.getArticle(')
  })

  test.each([
    ['openapi: [3', 'is no YAML'],
    ['{"openapi": ', 'is no JSON'],
    ['swagger: "2.0"', 'is no OpenAPI document of version 3'],
    // A document that would be a billion entries is refused before it is one.
    [
      `a0: &a0 [x]\n${Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}, *a${at}, *a${at}]\n`).join('')}openapi: 3.0.0`,
      'alias',
    ],
  ])('%s: %s', async (text, problem) => {
    expect((await describeTools(text)).toLowerCase()).toContain(problem.toLowerCase())
  })
})

describe('over fetch', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = 'https://login.test'
  const resource = 'https://gateway.test/mcp'
  const answer = (value: object): Response => Response.json(value)
  const issuerFetch = async (url: string | URL | Request): Promise<Response> =>
    String(url) === `${issuer}/.well-known/oauth-authorization-server`
      ? answer({ issuer, jwks_uri: `${issuer}/keys` })
      : String(url) === `${issuer}/keys`
        ? answer({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k' }] })
        : new Response('', { status: 404 })

  function makeToken(claims: object, header: object = { alg: 'ES256', kid: 'k' }): string {
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
    const all = { iss: issuer, aud: resource, exp: Date.now() / 1000 + 60, sub: 'ada', scope: 'tools', ...claims }
    const text = `${encode(header)}.${encode(all)}`
    return `${text}.${sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
  }

  async function startHandler() {
    const { url } = await serveNotes()
    const config = parseGatewayConfig({ approve: false, servers: { notes: { url } } }, {})
    const auth = makeResourceServer({ issuer, scopes: ['tools'] }, resource, { fetch: issuerFetch })
    const handler = gatewayHandler(config, { auth, allowedOrigins: ['https://app.test'] })
    open.push(() => handler.close())
    return handler
  }

  const connectWith = async (handler: (request: Request) => Promise<Response>, token: string): Promise<Client> => {
    const client = new Client({ name: 't', version: '1' })
    const transport = new StreamableHTTPClientTransport(new URL(resource), {
      fetch: (url, init) => handler(new Request(url, init)),
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    })
    await client.connect(transport as never)
    open.push(() => client.close())
    return client
  }

  test('tokens of the issuer open sessions, and each is of its client', async () => {
    const handler = await startHandler()
    const client = await connectWith(handler, makeToken({}))
    expect(await run(client, REMOVE)).toMatchObject({ value: 'removed 7' })
    const session = (client.transport as StreamableHTTPClientTransport).sessionId!
    const ping = (token: string, headers: object = {}): Promise<Response> =>
      handler(
        new Request(resource, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            'mcp-session-id': session,
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
            ...headers,
          },
          body: '{"jsonrpc":"2.0","id":9,"method":"ping"}',
        }),
      )
    expect((await ping(makeToken({}))).status).toBe(200)
    expect((await ping(makeToken({ sub: 'bob' }))).status).toBe(404)
    expect((await ping(makeToken({}), { origin: 'https://evil.test' })).status).toBe(403)
    expect((await ping(makeToken({}), { origin: 'https://app.test' })).status).toBe(200)
  })

  test.each<[string, string, number, string]>([
    ['expired', makeToken({ exp: 1 }), 401, 'invalid_token'],
    ['for another server', makeToken({ aud: 'https://other.test/mcp' }), 401, 'invalid_token'],
    ['of another issuer', makeToken({ iss: 'https://evil.test' }), 401, 'invalid_token'],
    ['unsigned', makeToken({}, { alg: 'none' }), 401, 'invalid_token'],
    ['of a symmetric algorithm', makeToken({}, { alg: 'HS256', kid: 'k' }), 401, 'invalid_token'],
    ['of an unknown key', makeToken({}, { alg: 'ES256', kid: 'other' }), 401, 'invalid_token'],
    ['altered', `${makeToken({}).slice(0, -4)}AAAA`, 401, 'invalid_token'],
    ['without the scope', makeToken({ scope: 'read' }), 403, 'insufficient_scope'],
    ['no token at all', 'x', 401, 'invalid_token'],
  ])('a token that is %s is refused', async (_, token, status, error) => {
    const handler = await startHandler()
    const response = await handler(
      new Request(resource, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' }),
    )
    expect(response.status).toBe(status)
    const challenge = response.headers.get('www-authenticate')!
    expect(challenge).toContain(`error="${error}"`)
    const metadata = /resource_metadata="([^"]+)"/.exec(challenge)![1]!
    expect(await (await handler(new Request(metadata))).json()).toEqual({
      resource,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: ['tools'],
    })
  })
})

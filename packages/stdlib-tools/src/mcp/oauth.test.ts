// Authorization of HTTP servers: a server of this file that is its own authorization server. The scenarios of the protocol's
// conformance package (`npm run test:mcp`) go through the many ways of discovery and registration; here is what hosts see.

import { createHash, createPublicKey, verify } from 'node:crypto'
import type { JsonWebKey } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { memoryAuthStore } from './oauth.js'
import type { McpAuth } from './oauth.js'
import { mcpProvider } from './provider.js'

interface Guarded {
  readonly url: string
  /** Paths in the order of their requests, `401` behind those that were refused. */
  readonly log: string[]
  /** Tokens given so far are of no use any more. */
  readonly revoke: () => void
  /** Asked before a renewal: whether it is refused because another process was faster, which is given the tokens. */
  wasFaster: (tokens: object) => boolean
  /** What the metadata say besides, or otherwise. */
  metadata: object
  /** The server that the answer of the authorization page names. */
  answersAs: string | null
  registered: object | null
  /** Tokens are bound to keys, and proofs have this nonce; null: bearer tokens. */
  nonce: string | null
  /** Of all proofs that were taken. */
  readonly proofs: string[]
}

const open: (() => void)[] = []
afterEach(() => open.splice(0).forEach((close) => close()))

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function startGuarded(): Promise<Guarded> {
  const log: string[] = []
  let valid = new Set<string>()
  let made = 0
  const challenges = new Map<string, string>()
  const guarded: Guarded = {
    url: '',
    log,
    revoke: () => (valid = new Set()),
    wasFaster: () => false,
    metadata: {},
    answersAs: null,
    registered: null,
    nonce: null,
    proofs: [],
  }
  const keys = new Map<string, string>()
  /** What is wrong with the proof of a request; null for a good one. */
  const judgeProof = (request: IncomingMessage, address: string, token: string | null): string | null => {
    const [head = '', body = '', signature = ''] = String(request.headers['dpop'] ?? '').split('.')
    const parse = (text: string): { readonly [key: string]: unknown } =>
      JSON.parse(Buffer.from(text, 'base64url').toString() || '{}') as { readonly [key: string]: unknown }
    const [{ typ, alg, jwk }, claims] = [parse(head), parse(body)]
    if (typ !== 'dpop+jwt' || alg !== 'ES256' || 'd' in (jwk as object)) return 'no proof'
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
    const bytes = Buffer.from(signature, 'base64url')
    if (!verify('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' }, bytes)) return 'signature'
    const hash = token === null ? undefined : createHash('sha256').update(token).digest('base64url')
    if (claims['htm'] !== request.method || claims['htu'] !== address || claims['ath'] !== hash) return 'claims'
    if (Math.abs(Number(claims['iat']) - Date.now() / 1000) > 60) return 'time'
    if (guarded.proofs.includes(String(claims['jti']))) return 'replayed'
    guarded.proofs.push(String(claims['jti']))
    if (token !== null && keys.get(token) !== JSON.stringify(jwk)) return 'another key'
    keys.set('last', JSON.stringify(jwk))
    return claims['nonce'] === guarded.nonce ? null : 'use_dpop_nonce'
  }
  const server = createServer((request, response) => {
    void (async () => {
      const { port } = server.address() as AddressInfo
      const origin = `http://127.0.0.1:${port}`
      const url = new URL(request.url!, origin)
      const writeJson = (status: number, body: unknown, headers = {}): void => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
      }
      const makeTokens = (): object => {
        const access = `token-${++made}`
        valid.add(access)
        if (guarded.nonce !== null) keys.set(access, keys.get('last')!)
        return { access_token: access, token_type: guarded.nonce === null ? 'Bearer' : 'DPoP', refresh_token: 'again' }
      }
      const text = await readBody(request)
      log.push(url.pathname)
      switch (url.pathname) {
        case '/.well-known/oauth-protected-resource':
          return writeJson(200, { resource: `${origin}/mcp`, authorization_servers: [origin] })
        case '/.well-known/oauth-authorization-server':
          return writeJson(200, {
            issuer: origin,
            authorization_endpoint: `${origin}/authorize`,
            token_endpoint: `${origin}/token`,
            registration_endpoint: `${origin}/register`,
            response_types_supported: ['code'],
            code_challenge_methods_supported: ['S256'],
            token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
            ...guarded.metadata,
          })
        case '/register':
          guarded.registered = JSON.parse(text) as object
          return writeJson(201, { ...(JSON.parse(text) as object), client_id: 'registered' })
        case '/authorize': {
          challenges.set('code-1', url.searchParams.get('code_challenge')!)
          const back = new URL(url.searchParams.get('redirect_uri')!)
          back.searchParams.set('code', 'code-1')
          back.searchParams.set('state', url.searchParams.get('state')!)
          if (guarded.answersAs !== null) back.searchParams.set('iss', guarded.answersAs)
          return void response.writeHead(302, { location: back.href }).end()
        }
        case '/token': {
          const form = new URLSearchParams(text)
          const problem = guarded.nonce === null ? null : judgeProof(request, `${origin}/token`, null)
          if (problem !== null) {
            log[log.length - 1] += ` ${problem}`
            return writeJson(400, { error: problem }, { 'dpop-nonce': guarded.nonce })
          }
          log.push(form.get('grant_type')!)
          if (form.get('grant_type') === 'authorization_code') {
            const digest = createHash('sha256').update(form.get('code_verifier')!).digest('base64url')
            if (digest !== challenges.get(form.get('code')!)) return writeJson(400, { error: 'invalid_grant' })
          }
          if (form.get('grant_type') === 'client_credentials' && request.headers.authorization === undefined)
            return writeJson(401, { error: 'invalid_client', error_description: 'who are you?' })
          const tokens = makeTokens()
          if (form.get('grant_type') === 'refresh_token' && guarded.wasFaster(tokens))
            return writeJson(400, { error: 'invalid_grant' })
          return writeJson(200, tokens)
        }
        case '/mcp': {
          if (guarded.nonce !== null) {
            const [scheme, token = ''] = (request.headers.authorization ?? '').split(' ')
            const problem = scheme !== 'DPoP' || !valid.has(token) ? 'invalid_token' : judgeProof(request, guarded.url, token)
            if (problem !== null) {
              log[log.length - 1] += ` ${problem}`
              const metadata = `${origin}/.well-known/oauth-protected-resource`
              const challenge = `DPoP error="${problem}", resource_metadata="${metadata}"`
              return writeJson(401, {}, { 'www-authenticate': challenge, 'dpop-nonce': guarded.nonce })
            }
          } else if (!valid.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) {
            log[log.length - 1] += ' 401'
            const metadata = `${origin}/.well-known/oauth-protected-resource`
            return writeJson(401, {}, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` })
          }
          if (request.method !== 'POST') return void response.writeHead(405).end()
          const { id, method } = JSON.parse(text) as { id?: number; method: string }
          if (id === undefined) return void response.writeHead(202).end()
          const initialized = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
          const called = { content: [{ type: 'text', text: 'called' }] }
          return writeJson(200, { jsonrpc: '2.0', id, result: method === 'initialize' ? initialized : called })
        }
        default:
          return writeJson(404, {})
      }
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(guarded, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` })
}

const CALL = `
let c = mcp_ensure_active("s")
let first = mcp_call(c, "x")
host_call("test.between", {})
return [first, mcp_call(c, "x")]`

function makeRuntime(server: Guarded, auth: McpAuth, between: () => void = () => {}) {
  return createRuntime({
    providers: [mcpProvider({ servers: { s: { url: server.url, auth } } })],
    grants: ['mcp'],
    capabilities: { test: { between } },
  })
}

async function agree(url: URL): Promise<string> {
  const response = await fetch(url, { redirect: 'manual' })
  return response.headers.get('location')!
}

const REDIRECT = 'http://127.0.0.1:1/callback'

test('a person agrees once; the token is renewed, and kept for the next run', async () => {
  const server = await startGuarded()
  let asked = 0
  const auth: McpAuth = {
    redirectUrl: REDIRECT,
    store: memoryAuthStore(),
    authorize: (url) => {
      asked++
      return agree(url)
    },
  }
  expect(await makeRuntime(server, auth, server.revoke).run(CALL)).toEqual(['called', 'called'])
  expect(server.log.filter((path) => !path.startsWith('/mcp'))).toEqual([
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-authorization-server',
    '/register',
    '/authorize',
    ...['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server'],
    ...['/token', 'authorization_code'],
    ...['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server'],
    ...['/token', 'refresh_token'],
  ])
  server.log.length = 0
  expect(await makeRuntime(server, auth).run(CALL)).toEqual(['called', 'called'])
  expect([asked, server.log.includes('/token')]).toEqual([1, false])
})

test('a server that asks for it gets tokens that are bound to a key, with a proof for each request', async () => {
  const server = await startGuarded()
  server.nonce = 'first'
  const store = memoryAuthStore()
  const auth: McpAuth = { ...PERSON, store }
  const change = (): void => {
    server.nonce = 'second'
    server.revoke()
  }
  expect(await makeRuntime(server, auth, change).run(CALL)).toEqual(['called', 'called'])
  expect(server.log.filter((path) => path.startsWith('/token'))).toEqual(['/token use_dpop_nonce', '/token', '/token'])
  expect(server.log).toContain('refresh_token')
  expect(new Set(server.proofs).size).toBe(server.proofs.length)
  // Another process has the key from the store, and its first proof is without a nonce.
  server.log.length = 0
  expect(await makeRuntime(server, auth).run(CALL)).toEqual(['called', 'called'])
  expect(server.log[0]).toBe('/mcp use_dpop_nonce')
  expect(server.log).not.toContain('/token')
})

test('a host that wants bound tokens only sends no others', async () => {
  const server = await startGuarded()
  expect(await tryToConnect(server, { ...PERSON, dpop: 'always' })).toContain('is not bound to a key')
  server.nonce = ''
  expect(await makeRuntime(server, { ...PERSON, dpop: 'always' }).run(CALL)).toEqual(['called', 'called'])
})

test('a process that loses every renewal race has the tokens of the others', async () => {
  const server = await startGuarded()
  const store = memoryAuthStore()
  const auth: McpAuth = { redirectUrl: REDIRECT, store, authorize: agree }
  server.wasFaster = (tokens) => {
    void store.set(`${server.url} tokens`, JSON.stringify(tokens))
    return true
  }
  expect(await makeRuntime(server, auth, server.revoke).run(CALL)).toEqual(['called', 'called'])
  expect(server.log.filter((entry) => entry === 'refresh_token')).toHaveLength(2)
})

const PERSON: McpAuth = { redirectUrl: REDIRECT, authorize: agree }

async function tryToConnect(server: Guarded, auth: McpAuth): Promise<unknown> {
  return makeRuntime(server, auth).run('return try { mcp_ensure_active("s") } catch (e) { to_string(e) }')
}

test('metadata of another authorization server are refused', async () => {
  const server = await startGuarded()
  server.metadata = { issuer: 'https://evil.test' }
  const { origin } = new URL(server.url)
  expect(await tryToConnect(server, PERSON)).toBe(
    `MCP authorization required: authorization failed: the metadata at ${origin}/.well-known/oauth-authorization-server is of the authorization server "https://evil.test", expected ${origin}`,
  )
  expect(server.log).not.toContain('/authorize')
})

test('an answer of another authorization server is refused, and one without a name where the server gives its name', async () => {
  const server = await startGuarded()
  const { origin } = new URL(server.url)
  server.answersAs = 'https://evil.test'
  expect(await tryToConnect(server, PERSON)).toContain(
    `the answer is from the authorization server https://evil.test, expected ${origin}`,
  )
  // Letter by letter: what differs in a slash may be another server.
  server.answersAs = `${origin}/`
  expect(await tryToConnect(server, PERSON)).toContain(`the answer is from the authorization server ${origin}/`)
  server.answersAs = null
  server.metadata = { authorization_response_iss_parameter_supported: true }
  expect(await tryToConnect(server, PERSON)).toContain('the answer does not name its authorization server')
  server.answersAs = origin
  expect(await makeRuntime(server, PERSON).run(CALL)).toEqual(['called', 'called'])
  expect(server.registered).toMatchObject({ application_type: 'native' })
})

test('credentials of the program need no person', async () => {
  const server = await startGuarded()
  expect(await makeRuntime(server, { clientId: 'me', clientSecret: 's3cret' }).run(CALL)).toEqual(['called', 'called'])
  expect(server.log).toContain('client_credentials')
})

test.each<[string, McpAuth | undefined, string]>([
  ['nobody to ask, no credentials', undefined, 'MCP authorization required'],
  ['credentials that are refused', { clientId: 'me' }, 'MCP authorization required: authorization failed: who are you?'],
  [
    'a person who does not agree',
    { redirectUrl: REDIRECT, authorize: async () => `${REDIRECT}?error=access_denied&error_description=no` },
    'MCP authorization required: authorization failed: no',
  ],
  [
    'an answer that somebody else made up',
    { redirectUrl: REDIRECT, authorize: async () => `${REDIRECT}?code=evil&state=guess` },
    'MCP authorization required: authorization failed: the state that came back is not ours',
  ],
])('%s', async (_, auth, expected) => {
  const server = await startGuarded()
  const host = createRuntime({
    providers: [mcpProvider({ servers: { s: { url: server.url, ...(auth === undefined ? {} : { auth }) } } })],
    grants: ['mcp'],
  })
  expect(await host.run('return try { mcp_ensure_active("s") } catch (e) { to_string(e) }')).toBe(expected)
  // Refused once or twice, not forever.
  expect(server.log.filter((path) => path === '/mcp 401').length).toBeLessThan(4)
})

// An authorization server and an MCP server that trusts it, on two local origins, as strict as the standards allow:
// redirect addresses must be registered, codes are valid once and only with the verifier (RFC 7636), tokens are for
// one resource (RFC 8707), each renewal replaces the token that it was made with.

import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Guarded {
  /** Of the MCP server. */
  readonly url: string
  /** Requests to the authorization server, in order: `register`, `authorize`, `token GRANT`, `revoke KIND`, with what it refused. */
  readonly log: string[]
  /** Invalidates the access tokens given so far; with `all` also the refresh tokens. */
  readonly revoke: (all?: boolean) => void
  /** Whether it has an endpoint for revocation, which answers with `status`. */
  readonly offers: { revocation: boolean; status: number }
  /** Number of valid tokens of each kind. */
  readonly valid: () => readonly [access: number, renewals: number]
  readonly close: () => void
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function serve(answer: (request: IncomingMessage, response: ServerResponse, body: string) => void): Promise<Server> {
  const server = createServer((request, response) => void readBody(request).then((body) => answer(request, response, body)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

const readOrigin = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

function writeJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: { readonly [name: string]: string } = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

export async function startGuardedServer(): Promise<Guarded> {
  const log: string[] = []
  const clients = new Map<string, readonly string[]>()
  /** Secrets of clients that registered to have one. */
  const secrets = new Map<string, string>()
  const codes = new Map<string, { readonly client: string; readonly challenge: string; readonly redirect: string }>()
  const access = new Set<string>()
  const renewals = new Set<string>()
  const offers = { revocation: true, status: 200 }

  const authorization = await serve((request, response, body) => {
    const origin = readOrigin(authorization)
    const url = new URL(request.url!, origin)
    const refuse = (error: string): void => {
      log.push(`refused ${error}`)
      writeJson(response, 400, { error })
    }
    const [scheme, credentials = ''] = request.headers.authorization?.split(' ') ?? []
    const [basicId, basicSecret] = Buffer.from(credentials, 'base64').toString().split(':')
    /** The authenticated client; null without its secret. */
    const readClient = (form: URLSearchParams): string | null => {
      const id = (scheme === 'Basic' ? basicId : form.get('client_id')) ?? ''
      return secrets.get(id) === (scheme === 'Basic' ? basicSecret : undefined) ? id : null
    }
    const giveTokens = (): void => {
      const [token, renewal] = [randomUUID(), randomUUID()]
      access.add(token)
      renewals.add(renewal)
      writeJson(response, 200, {
        access_token: token,
        token_type: 'Bearer',
        refresh_token: renewal,
        expires_in: 3600,
        scope: 'read',
      })
    }
    switch (url.pathname) {
      case '/.well-known/oauth-authorization-server':
        return writeJson(response, 200, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          ...(offers.revocation ? { revocation_endpoint: `${origin}/revoke` } : {}),
          response_types_supported: ['code'],
          grant_types_supported: ['authorization_code', 'refresh_token'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
        })
      case '/register': {
        const wanted = JSON.parse(body) as {
          readonly redirect_uris: readonly string[]
          readonly token_endpoint_auth_method?: string
        }
        const id = `client-${clients.size + 1}`
        clients.set(id, wanted.redirect_uris)
        if (wanted.token_endpoint_auth_method === 'client_secret_basic') secrets.set(id, randomUUID())
        log.push('register')
        return writeJson(response, 201, { ...wanted, client_id: id, client_secret: secrets.get(id) })
      }
      case '/authorize': {
        const asked = url.searchParams
        const [client, redirect] = [asked.get('client_id') ?? '', asked.get('redirect_uri') ?? '']
        log.push('authorize')
        if (clients.get(client)?.includes(redirect) !== true) return refuse('invalid_redirect_uri')
        if (asked.get('code_challenge_method') !== 'S256') return refuse('invalid_request')
        if (asked.get('resource') !== `${readOrigin(resource)}/mcp`) return refuse('invalid_target')
        const back = new URL(redirect)
        back.searchParams.set('state', asked.get('state') ?? '')
        if (url.searchParams.get('person') === 'no') back.searchParams.set('error', 'access_denied')
        else {
          const code = randomUUID()
          codes.set(code, { client, challenge: asked.get('code_challenge')!, redirect })
          back.searchParams.set('code', code)
        }
        return void response.writeHead(302, { location: back.href }).end()
      }
      case '/token': {
        const form = new URLSearchParams(body)
        log.push(`token ${form.get('grant_type')}`)
        const client = readClient(form)
        if (client === null) return refuse('invalid_client')
        if (form.get('grant_type') === 'refresh_token')
          return renewals.delete(form.get('refresh_token') ?? '') ? giveTokens() : refuse('invalid_grant')
        const code = codes.get(form.get('code') ?? '')
        codes.delete(form.get('code') ?? '')
        const digest = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url')
        const isRight = code?.challenge === digest && code.client === client && code.redirect === form.get('redirect_uri')
        return isRight ? giveTokens() : refuse('invalid_grant')
      }
      case '/revoke': {
        const form = new URLSearchParams(body)
        const [kind, token] = [form.get('token_type_hint'), form.get('token') ?? '']
        log.push(`revoke ${kind}`)
        if (!clients.has(readClient(form) ?? '')) return writeJson(response, 401, { error: 'invalid_client' })
        if (offers.status !== 200) return writeJson(response, offers.status, { error: 'server_error' })
        ;(kind === 'refresh_token' ? renewals : access).delete(token)
        return void response.writeHead(200).end()
      }
      default:
        return writeJson(response, 404, {})
    }
  })

  const resource = await serve((request, response, body) => {
    const origin = readOrigin(resource)
    if (request.url === '/.well-known/oauth-protected-resource/mcp')
      return writeJson(response, 200, { resource: `${origin}/mcp`, authorization_servers: [readOrigin(authorization)] })
    if (request.url !== '/mcp') return writeJson(response, 404, {})
    if (!access.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) {
      const at = `${origin}/.well-known/oauth-protected-resource/mcp`
      return writeJson(response, 401, {}, { 'www-authenticate': `Bearer resource_metadata="${at}"` })
    }
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method } = JSON.parse(body) as { readonly id?: number; readonly method: string }
    if (id === undefined) return void response.writeHead(202).end()
    const results: { readonly [method: string]: unknown } = {
      initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'vault', version: '1' } },
      'tools/list': { tools: [{ name: 'open', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'opened' }] },
    }
    writeJson(response, 200, { jsonrpc: '2.0', id, result: results[method] ?? {} })
  })

  return {
    url: `${readOrigin(resource)}/mcp`,
    log,
    offers,
    valid: () => [access.size, renewals.size],
    revoke: (all = false) => {
      access.clear()
      if (all) renewals.clear()
    },
    close: () => {
      for (const server of [authorization, resource]) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

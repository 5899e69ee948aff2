// Streamable HTTP for a server: one session a client, each with the SDK's transport. The listener answers on one path, refuses
// requests whose Host names another machine (so that a page in a browser cannot reach a server on this one under a name of its
// own), and wants a key or a token where one is set (http-rules.ts).

import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

import { hasMarks, markIntegers, unmarkIntegers } from '../tools/executors/exact-json.js'
import { HTTP_DEFAULTS, findResourceMetadata, judgeAccess } from './http-rules.js'
import type { AccessRules, Refusal, ResourceServer } from './http-rules.js'
import type { BackendSource, JsonObject, ServerIdentity } from './server-protocol.js'
import { ModernServer, isModernMessage, isModernVersion } from './server-modern.js'
import { isJsonType, respondModern } from './server-modern-http.js'
import { SessionTable, openSession } from './server-sessions.js'

export interface HttpServerOptions {
  readonly host?: string
  /** 0 takes a free one. */
  readonly port?: number
  readonly path?: string
  /** Any of these, as `Authorization: Bearer KEY` or `X-API-Key: KEY`; none means that everybody may ask. */
  readonly apiKeys?: readonly string[]
  /**
   * Milliseconds after which the stream of a request that is still being answered is closed; the client comes back for the rest.
   * For servers behind proxies that cut long connections. Streams stay open when absent.
   */
  readonly pollAfterMs?: number
  /** When a client whose stream ended should come back, milliseconds; 500 by default. */
  readonly retryMs?: number
  /**
   * Origins of web pages that may ask, as `https://app.example.com`. Others are refused, and so is any page while the list is empty,
   * except one that this machine serves when the server listens on loopback.
   */
  readonly allowedOrigins?: readonly string[]
  /** Sessions at a time; 1,000 by default. The one that is idle for longest makes room for a new one. */
  readonly maxSessions?: number
  /** Milliseconds after which an unused session ends; half an hour by default. */
  readonly sessionIdleMs?: number
  /** Bytes of a request; 4 MiB by default. */
  readonly maxBodyBytes?: number
  /** Tokens of an authorization server, beside `apiKeys`; the protocol's metadata say who gives them. */
  readonly auth?: ResourceServer
}

export interface HttpServer {
  readonly url: string
  readonly close: () => Promise<void>
}

export async function serveHttp(
  source: BackendSource,
  identity: ServerIdentity,
  options: HttpServerOptions = {},
): Promise<HttpServer> {
  const { host = '127.0.0.1', port = 0, path = '/mcp', apiKeys = [], allowedOrigins = [], retryMs = 500, pollAfterMs } = options
  const { maxSessions, sessionIdleMs, maxBodyBytes } = { ...HTTP_DEFAULTS, ...options }
  const rules: AccessRules = { host, path, apiKeys, allowedOrigins, maxBodyBytes, auth: options.auth }
  const sessions = new SessionTable<StreamableHTTPServerTransport>(maxSessions, sessionIdleMs)

  const modern = new ModernServer(source, identity, { most: maxSessions, idleMs: sessionIdleMs })

  const parts = {
    source,
    identity,
    sessions,
    retryMs,
    pollAfterMs,
    makeTransport: (made: ConstructorParameters<typeof StreamableHTTPServerTransport>[0]) =>
      new StreamableHTTPServerTransport(made),
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = (request.url ?? '').split('?', 1)[0]!
    const metadata = request.method === 'GET' ? findResourceMetadata(rules, asked) : null
    if (metadata !== null) {
      response.writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': '*' })
      response.end(JSON.stringify(metadata))
      return
    }
    const access = await judgeAccess(rules, {
      path: asked,
      header: (name) => {
        const value = request.headers[name]
        return typeof value === 'string' ? value : undefined
      },
    })
    if (!access.ok) return refuse(response, access.refusal)
    const version = request.headers['mcp-protocol-version']
    const isModern = typeof version === 'string' && isModernVersion(version)
    if (isModern && request.method !== 'POST')
      return refuse(response, { status: 405, message: 'Method not allowed', headers: { allow: 'POST' } })
    const id = request.headers['mcp-session-id']
    const session = typeof id === 'string' ? sessions.find(id, access.client) : null
    const body = request.method === 'POST' ? await readBody(request, maxBodyBytes) : null
    if (body !== null && !body.ok) return refuse(response, body)
    if (isModernMessage(body?.value, typeof version === 'string' ? version : undefined)) {
      if (!isJsonType(request.headers['content-type']))
        return refuse(response, { status: 415, message: 'A request is application/json' })
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      const header = (name: string): string | undefined => {
        const value = request.headers[name]
        return typeof value === 'string' ? value : undefined
      }
      return send(
        response,
        await respondModern(modern, { message: body!.value as JsonObject, client: access.client, header, signal: gone.signal }),
      )
    }
    if (session !== null) {
      session.begin()
      response.once('close', () => session.end())
      return session.transport.handleRequest(request, withoutMarks(response), body?.value)
    }
    if (id !== undefined) return refuse(response, { status: 404, message: 'Session not found' })
    if (!sessions.makeRoom()) return refuse(response, { status: 503, message: 'Too many sessions' })
    // Without a session only the handshake may come, which the transport sees to.
    return (await openSession(parts, access.client)).handleRequest(request, withoutMarks(response), body?.value)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((cause: unknown) => {
      if (response.headersSent) response.destroy()
      else refuse(response, { status: 500, message: cause instanceof Error ? cause.message : String(cause) })
    })
  })
  await listen(server, port, host)
  const address = server.address() as AddressInfo
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${shown}:${address.port}${path}`,
    close: async () => {
      await modern.close()
      await sessions.close()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** An answer made for `fetch`, through node:http. */
async function send(response: ServerResponse, answer: Response): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  for await (const chunk of (answer.body ?? []) as unknown as AsyncIterable<Uint8Array>) response.write(chunk)
  response.end()
}

/** The response with marked integers as integers in what is written to it: the SDK writes each message, and each event, in one piece. */
function withoutMarks(response: ServerResponse): ServerResponse {
  const restoreDigits = (chunk: unknown): unknown => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return chunk
    const text =
      typeof chunk === 'string' ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('utf8')
    return hasMarks(text) ? unmarkIntegers(text) : chunk
  }
  const write = response.write.bind(response) as (...args: readonly unknown[]) => boolean
  const end = response.end.bind(response) as (...args: readonly unknown[]) => ServerResponse
  response.write = (chunk: unknown, ...rest: readonly unknown[]) => write(restoreDigits(chunk), ...rest)
  response.end = (chunk?: unknown, ...rest: readonly unknown[]) => end(restoreDigits(chunk), ...rest)
  return response
}

type Body =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly status: number; readonly message: string }

/** The JSON of a request. */
async function readBody(request: IncomingMessage, most: number): Promise<Body> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) return { ok: false, status: 413, message: `The request is longer than ${most} bytes` }
    chunks.push(chunk)
  }
  try {
    return { ok: true, value: JSON.parse(markIntegers(Buffer.concat(chunks).toString('utf8'))) as unknown }
  } catch {
    return { ok: false, status: 400, message: 'Parse error: Invalid JSON' }
  }
}

/** Resolves when the server listens; rejects when it cannot. */
export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function refuse(response: ServerResponse, { status, message, headers }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }))
}

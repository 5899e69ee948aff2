// Streamable HTTP for a server: one session a client, each with the SDK's transport. The listener answers on one path, refuses
// requests whose Host names another machine (so that a page in a browser cannot reach a server on this one under a name of its
// own), and wants a key where one is set.

import { randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

import { EventLog } from './event-log.js'
import { hasMarks, markIntegers, unmarkIntegers } from '../tools/executors/exact-json.js'
import { McpServerConnection } from './server.js'
import type { McpBackend, ServerIdentity } from './server-protocol.js'

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
  /** Milliseconds after which a session that nobody uses ends; half an hour by default. */
  readonly sessionIdleMs?: number
  /** Bytes of a request; 4 MiB by default. */
  readonly maxBodyBytes?: number
}

export interface HttpServer {
  readonly url: string
  readonly close: () => Promise<void>
}

const DEFAULTS = { maxSessions: 1000, sessionIdleMs: 30 * 60_000, maxBodyBytes: 4 << 20 }
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])

export async function serveHttp(
  backend: McpBackend,
  identity: ServerIdentity,
  options: HttpServerOptions = {},
): Promise<HttpServer> {
  const { host = '127.0.0.1', port = 0, path = '/mcp', apiKeys = [], retryMs = 500, pollAfterMs } = options
  const { maxSessions, sessionIdleMs, maxBodyBytes } = { ...DEFAULTS, ...options }
  const sessions = new Map<string, Session>()

  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: new EventLog(),
      retryInterval: retryMs,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, connection, usedAt: performance.now(), requests: 0 })
      },
      onsessionclosed: (id) => {
        sessions.delete(id)
      },
    })
    const connection = new McpServerConnection(
      backend,
      identity,
      Object.assign(transport, { keepsIntegers: true }),
      pollAfterMs === undefined ? {} : { pollAfterMs },
    )
    await connection.start()
    return transport
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refusal = findRefusal(request, { host, path, apiKeys, allowedOrigins: options.allowedOrigins ?? [], maxBodyBytes })
    if (refusal !== null) return refuse(response, refusal.status, refusal.message)
    const id = request.headers['mcp-session-id']
    const session = typeof id === 'string' ? sessions.get(id) : undefined
    const body = request.method === 'POST' ? await readBody(request, maxBodyBytes) : null
    if (body !== null && !body.ok) return refuse(response, body.status, body.message)
    if (session !== undefined) {
      session.requests++
      response.once('close', () => {
        session.requests--
        session.usedAt = performance.now()
      })
      session.usedAt = performance.now()
      return session.transport.handleRequest(request, withoutMarks(response), body?.value)
    }
    if (id !== undefined) return refuse(response, 404, 'Session not found')
    endIdle(sessions, sessionIdleMs)
    if (sessions.size >= maxSessions && !makeRoom(sessions)) return refuse(response, 503, 'Too many sessions')
    // Without a session only the handshake may come, which the transport sees to.
    return (await open()).handleRequest(request, withoutMarks(response), body?.value)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((cause: unknown) => {
      if (response.headersSent) response.destroy()
      else refuse(response, 500, cause instanceof Error ? cause.message : String(cause))
    })
  })
  await listen(server, port, host)
  const address = server.address() as AddressInfo
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${shown}:${address.port}${path}`,
    close: async () => {
      const open = [...sessions.values()]
      sessions.clear()
      await Promise.all(open.map(({ connection }) => connection.close()))
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

interface Session {
  readonly transport: StreamableHTTPServerTransport
  readonly connection: McpServerConnection
  /** Of a clock that only goes forward. */
  usedAt: number
  /** Requests and streams that are open. */
  requests: number
}

function endSession(sessions: Map<string, Session>, id: string): void {
  const session = sessions.get(id)
  sessions.delete(id)
  void session?.connection.close().catch(() => {})
}

/** A client that went away without a word does not keep its session for ever. */
function endIdle(sessions: Map<string, Session>, idleMs: number): void {
  const before = performance.now() - idleMs
  for (const [id, { usedAt, requests }] of [...sessions]) if (requests === 0 && usedAt < before) endSession(sessions, id)
}

/** Ends the session that is idle for longest, false when all are at work. */
function makeRoom(sessions: Map<string, Session>): boolean {
  const idle = [...sessions].filter(([, { requests }]) => requests === 0).sort(([, a], [, b]) => a.usedAt - b.usedAt)
  const [oldest] = idle
  if (oldest === undefined) return false
  endSession(sessions, oldest[0])
  return true
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

function findRefusal(
  request: IncomingMessage,
  options: {
    readonly host: string
    readonly path: string
    readonly apiKeys: readonly string[]
    readonly allowedOrigins: readonly string[]
    readonly maxBodyBytes: number
  },
): { readonly status: number; readonly message: string } | null {
  const path = (request.url ?? '').split('?', 1)[0]
  if (path !== options.path) return { status: 404, message: 'Not found' }
  if (LOOPBACK.has(options.host) && !LOOPBACK.has(readHostName(request.headers.host ?? '')))
    return { status: 403, message: 'Invalid Host header' }
  // Only browsers say where a request comes from, and a page of a stranger is no client.
  const { origin } = request.headers
  if (origin !== undefined && !isAllowedOrigin(origin, options)) return { status: 403, message: 'Invalid Origin header' }
  if (Number(request.headers['content-length'] ?? 0) > options.maxBodyBytes)
    return { status: 413, message: `The request is longer than ${options.maxBodyBytes} bytes` }
  if (options.apiKeys.length > 0 && !hasKey(request, options.apiKeys)) return { status: 401, message: 'Unauthorized' }
  return null
}

function isAllowedOrigin(
  origin: string,
  options: { readonly host: string; readonly allowedOrigins: readonly string[] },
): boolean {
  if (options.allowedOrigins.includes(origin)) return true
  const name = /^https?:\/\/([^/]+)$/.exec(origin)?.[1]
  return name !== undefined && LOOPBACK.has(options.host) && LOOPBACK.has(readHostName(name))
}

function readHostName(header: string): string {
  const bracketed = /^\[([^\]]+)\]/.exec(header)
  return (bracketed?.[1] ?? header.replace(/:\d+$/, '')).toLowerCase()
}

function hasKey(request: IncomingMessage, keys: readonly string[]): boolean {
  const own = request.headers['x-api-key']
  const bearer = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const given = [typeof own === 'string' ? own : null, bearer ?? null].filter((key) => key !== null)
  // Every key is compared in full, so that the time taken tells nothing.
  return given.map((key) => keys.map((known) => isEqual(key, known)).includes(true)).includes(true)
}

function isEqual(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }))
}

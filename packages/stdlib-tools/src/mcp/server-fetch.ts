// Streamable HTTP for hosts that answer `fetch`: Hono, routes of Next, Workers. Sessions are in this process; a host of several processes sends a
// client to the one that has its session.

import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'

import { hasMarks, markIntegers, unmarkIntegers } from '../tools/executors/exact-json.js'
import { HTTP_DEFAULTS, findResourceMetadata, judgeAccess } from './http-rules.js'
import type { AccessRules, Refusal } from './http-rules.js'
import type { BackendSource, JsonObject, ServerIdentity } from './server-protocol.js'
import { ModernServer, isModernMessage, isModernVersion } from './server-modern.js'
import { isJsonType, respondModern } from './server-modern-http.js'
import { SessionTable, openSession } from './server-sessions.js'
import type { HttpServerOptions } from './server-http.js'

/** Host and port are those of the host around it. */
export type FetchHandlerOptions = Omit<HttpServerOptions, 'host' | 'port'>

export interface FetchHandler {
  (request: Request): Promise<Response>
  readonly close: () => Promise<void>
}

export function serveFetch(source: BackendSource, identity: ServerIdentity, options: FetchHandlerOptions = {}): FetchHandler {
  const { path = '/mcp', apiKeys = [], allowedOrigins = [], retryMs = 500, pollAfterMs, auth } = options
  const { maxSessions, sessionIdleMs, maxBodyBytes } = { ...HTTP_DEFAULTS, ...options }
  const rules: AccessRules = { host: null, path, apiKeys, allowedOrigins, maxBodyBytes, auth }
  const sessions = new SessionTable<WebStandardStreamableHTTPServerTransport>(maxSessions, sessionIdleMs)

  const modern = new ModernServer(source, identity, { most: maxSessions, idleMs: sessionIdleMs })

  const parts = {
    source,
    identity,
    sessions,
    retryMs,
    pollAfterMs,
    makeTransport: (made: ConstructorParameters<typeof WebStandardStreamableHTTPServerTransport>[0]) =>
      new WebStandardStreamableHTTPServerTransport(made),
  }

  const handle = async (request: Request): Promise<Response> => {
    const url = new URL(request.url)
    const metadata = request.method === 'GET' ? findResourceMetadata(rules, url.pathname) : null
    if (metadata !== null) return Response.json(metadata, { headers: { 'access-control-allow-origin': '*' } })
    const access = await judgeAccess(rules, {
      path: url.pathname,
      header: (name) => request.headers.get(name) ?? undefined,
    })
    if (!access.ok) return refuse(access.refusal)
    const version = request.headers.get('mcp-protocol-version') ?? undefined
    if (isModernVersion(version) && request.method !== 'POST')
      return refuse({ status: 405, message: 'Method not allowed', headers: { allow: 'POST' } })
    const id = request.headers.get('mcp-session-id')
    const body = request.method === 'POST' ? await readText(request, maxBodyBytes) : null
    if (body !== null && !body.ok) return refuse(body.refusal)
    if (isModernMessage(body?.value, version)) {
      if (!isJsonType(request.headers.get('content-type')))
        return refuse({ status: 415, message: 'A request is application/json' })
      const header = (name: string): string | undefined => request.headers.get(name) ?? undefined
      return respondModern(modern, { message: body!.value as JsonObject, client: access.client, header, signal: request.signal })
    }
    const parsedBody = body === null ? undefined : { parsedBody: body.value }
    const session = id === null ? null : sessions.find(id, access.client)
    if (id !== null && session === null) return refuse({ status: 404, message: 'Session not found' })
    if (session === null && !sessions.makeRoom()) return refuse({ status: 503, message: 'Too many sessions' })
    // Without a session only the handshake may come, which the transport sees to.
    const transport = session?.transport ?? (await openSession(parts, access.client))
    session?.begin()
    const response = await transport.handleRequest(request, parsedBody)
    return withoutMarks(response, () => session?.end())
  }

  return Object.assign(handle, {
    close: async () => {
      await modern.close()
      await sessions.close()
    },
  })
}

const refuse = ({ status, message, headers }: Refusal): Response =>
  Response.json(
    { jsonrpc: '2.0', error: { code: -32000, message }, id: null },
    { status, ...(headers === undefined ? {} : { headers }) },
  )

type Body = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly refusal: Refusal }

async function readText(request: Request, most: number): Promise<Body> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > most) return { ok: false, refusal: { status: 413, message: `The request is longer than ${most} bytes` } }
    chunks.push(chunk)
  }
  const decoder = new TextDecoder()
  const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('') + decoder.decode()
  try {
    return { ok: true, value: JSON.parse(markIntegers(text)) as unknown }
  } catch {
    return { ok: false, refusal: { status: 400, message: 'Parse error: Invalid JSON' } }
  }
}

/** With marked integers as integers: the transport writes each message, and each event, in one piece. */
function withoutMarks(response: Response, onEnd: () => void): Response {
  if (response.body === null) {
    onEnd()
    return response
  }
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) {
          onEnd()
          return controller.close()
        }
        const text = decoder.decode(value, { stream: true })
        controller.enqueue(hasMarks(text) ? encoder.encode(unmarkIntegers(text)) : value)
      } catch (cause) {
        onEnd()
        controller.error(cause)
      }
    },
    async cancel(reason) {
      onEnd()
      await reader.cancel(reason)
    },
  })
  return new Response(body, { status: response.status, headers: response.headers })
}

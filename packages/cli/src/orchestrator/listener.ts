// The HTTP side of the orchestrator: deliveries to the paths of triggers, health, metrics and the routes of administrators.

import { createHash, timingSafeEqual } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { verifySignature } from '@bridle/stdlib-tools'
import type { SignatureVariant } from '@bridle/stdlib-tools'
import { CommandError, readReason } from '../errors.js'
import { makeRecord } from './desk.js'
import type { Binding, Desk } from './desk.js'
import type { Inbox } from './inbox.js'
import { IngestLimits } from './ingest-limits.js'
import { verifyPush } from './a2a-push.js'
import { PENDING } from './pumps.js'
import type { EventRecord } from './pumps.js'
import { readSecret } from './secrets.js'

export interface Answer {
  readonly status: number
  readonly body: string | Uint8Array | object
  readonly headers?: { readonly [name: string]: string }
}

/** Callbacks of the surrounding process. */
export interface ListenerHooks {
  readonly isReady: () => boolean
  readonly metrics: () => string
  readonly reload: (source: string) => Promise<Answer>
  readonly onAccepted: () => void
  /** Further routes, such as those of MCP; null for none. */
  readonly extra?: (request: IncomingMessage, response: ServerResponse, path: string) => Promise<boolean>
}

interface Route {
  readonly path: string
  readonly id: string
}

export interface Credentials {
  readonly apiKeys: readonly string[]
  readonly hmacSecret: string | null
}

export function readCredentials(): Credentials {
  const keys = (process.env['HARN_ORCHESTRATOR_API_KEYS'] ?? '').split(',').map((key) => key.trim())
  const secret = (process.env['HARN_ORCHESTRATOR_HMAC_SECRET'] ?? '').trim()
  return { apiKeys: keys.filter((key) => key !== ''), hmacSecret: secret === '' ? null : secret }
}

class Refusal extends Error {
  readonly answer: Answer

  constructor(status: number, body: string, headers: { readonly [name: string]: string } = {}) {
    super(body)
    this.answer = { status, body, headers }
  }
}

const HTTP_KINDS = new Set(['webhook', 'stream', 'a2a-push'])
const LISTENED = new Set([
  'github',
  'slack',
  'linear',
  'notion',
  'webhook',
  'a2a-push',
  'kafka',
  'nats',
  'pulsar',
  'postgres-cdc',
  'email',
  'websocket',
])

export class Listener {
  private readonly desk: Desk
  private readonly inbox: Inbox
  private readonly hooks: ListenerHooks
  private readonly limits = new IngestLimits(process.env)
  private readonly credentials = readCredentials()
  private routes = new Map<string, Route>()
  private server: Server | null = null
  readonly counts = { requests: 0, accepted: 0, duplicates: 0, rejected: 0 }
  inFlight = 0

  constructor(desk: Desk, inbox: Inbox, hooks: ListenerHooks) {
    this.desk = desk
    this.inbox = inbox
    this.hooks = hooks
    this.routes = this.readRoutes()
  }

  /** Starts listening and returns the port. Throws CommandError. */
  async listen(bind: string, tls: { readonly cert: string; readonly key: string } | null): Promise<string> {
    const { host, port } = readBind(bind)
    const answer = (request: IncomingMessage, response: ServerResponse): void => void this.answer(request, response)
    const server =
      tls === null
        ? createHttpServer(answer)
        : createHttpsServer({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, answer)
    this.server = server
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) => reject(new CommandError(`cannot listen on ${bind}: ${readReason(cause)}`)))
      server.listen(port, host, resolve)
    })
    const address = server.address() as AddressInfo
    return `${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
  }

  /** Accepts no more requests; requests in progress are answered. */
  async close(): Promise<void> {
    const { server } = this
    if (server === null) return
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeIdleConnections()
    })
  }

  /** The triggers have changed. Throws CommandError, with nothing changed, if their routes are invalid. */
  reload(): void {
    this.routes = this.readRoutes()
  }

  private readRoutes(): Map<string, Route> {
    const routes = new Map<string, Route>()
    let needsAuth = false
    for (const binding of this.desk.bindings) {
      const { id, kind, provider, config, match } = binding
      if (!HTTP_KINDS.has(kind)) continue
      if (!LISTENED.has(provider) && !this.desk.project.connectors.has(provider))
        throw new CommandError(`HTTP listener does not yet support webhook provider '${provider}' on this branch`)
      const path = String(match['path'] ?? config['path'] ?? `/triggers/${id}`)
      if (!path.startsWith('/')) throw new CommandError(`trigger '${id}' path must start with '/'`)
      if (routes.has(path)) throw new CommandError(`trigger route '${path}' is configured more than once`)
      routes.set(path, { path, id })
      needsAuth ||= provider === 'a2a-push' && config['a2a_push'] === undefined
    }
    if (needsAuth) {
      const { apiKeys, hmacSecret } = this.credentials
      if (apiKeys.length === 0)
        throw new CommandError('HARN_ORCHESTRATOR_API_KEYS must contain at least one API key when a2a-push routes are configured')
      if (hmacSecret === null)
        throw new CommandError('HARN_ORCHESTRATOR_HMAC_SECRET must be set when a2a-push routes are configured')
    }
    return routes
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.inFlight++
    let answer: Answer | null
    try {
      answer = await this.route(request, response)
    } catch (cause) {
      answer =
        cause instanceof Refusal ? cause.answer : { status: 500, body: cause instanceof Error ? cause.message : String(cause) }
    } finally {
      this.inFlight--
    }
    if (answer === null || response.destroyed) return
    const isText = typeof answer.body === 'string' || answer.body instanceof Uint8Array
    const body = isText ? (answer.body as string | Uint8Array) : JSON.stringify(answer.body)
    response.writeHead(answer.status, {
      'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json',
      ...answer.headers,
    })
    response.end(body)
    // Discard the unread rest of a body that is too large.
    if (!request.complete) request.resume()
  }

  private async route(request: IncomingMessage, response: ServerResponse): Promise<Answer | null> {
    const method = request.method ?? 'GET'
    const [path = '/'] = (request.url ?? '/').split('?', 1)
    this.checkOrigin(request)
    if (path === '/health' || path === '/healthz') return method === 'GET' ? { status: 200, body: 'ok' } : NOT_ALLOWED
    if (path === '/readyz')
      return method === 'GET'
        ? this.hooks.isReady()
          ? { status: 200, body: 'ready' }
          : { status: 503, body: 'starting' }
        : NOT_ALLOWED
    if (path === '/metrics') return method === 'GET' ? { status: 200, body: this.hooks.metrics() } : NOT_ALLOWED
    if (path === '/admin/reload') return method === 'POST' ? this.reloadOnDemand(request) : NOT_ALLOWED
    if ((await this.hooks.extra?.(request, response, path)) === true) return null
    const route = this.routes.get(path)
    if (route === undefined) return { status: 404, body: 'trigger route not configured' }
    if (method !== 'POST') return NOT_ALLOWED
    this.counts.requests++
    return this.ingest(request, this.desk.find(route.id)!)
  }

  private checkOrigin({ headers: { origin } }: IncomingMessage): void {
    const allowed = this.desk.project.settings.allowed_origins
    if (origin !== undefined && allowed.length > 0 && !allowed.includes(origin) && !allowed.includes('*'))
      throw new Refusal(403, `origin '${origin}' is not allowed`)
  }

  private async reloadOnDemand(request: IncomingMessage): Promise<Answer> {
    const body = await this.readBody(request)
    this.authorize(request, body)
    let source = 'admin_api'
    try {
      const given = JSON.parse(Buffer.from(body).toString('utf8')) as { readonly source?: unknown } | null
      if (typeof given?.source === 'string') ({ source } = given as { source: string })
    } catch {
      // Without a body it is the request itself.
    }
    return this.hooks.reload(source)
  }

  /** Throws a refusal with status 401. */
  authorize(request: Pick<IncomingMessage, 'headers' | 'method' | 'url'>, body: Uint8Array): void {
    const { apiKeys, hmacSecret } = this.credentials
    const { authorization = '', 'x-api-key': given } = request.headers
    const key = typeof given === 'string' ? given : authorization.startsWith('Bearer ') ? authorization.slice(7).trim() : null
    if (key !== null && apiKeys.some((each) => isSameText(each, key))) return
    if (hmacSecret !== null && authorization.startsWith('HMAC-SHA256 ')) {
      const signed = { headers: request.headers, body, method: request.method ?? 'GET', path: request.url ?? '/' }
      if (verifySignature('canonical', signed, hmacSecret, { nowMs: Date.now() }).ok) return
    }
    throw new Refusal(401, 'auth failed')
  }

  private async readBody(request: IncomingMessage): Promise<Uint8Array> {
    const most = this.desk.project.settings.max_body_bytes
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > most) throw new Refusal(413, 'request body is too large')
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  }

  /** One delivery; its binding is fixed at the start, also when the triggers change meanwhile. */
  private async ingest(request: IncomingMessage, binding: Binding): Promise<Answer> {
    const acceptedAt = Date.now()
    const wait = this.limits.take(binding.provider)
    if (wait !== null) throw new Refusal(503, 'ingest saturated', { 'retry-after': String(Math.max(1, Math.ceil(wait / 1000))) })
    const body = await this.readBody(request)
    if (binding.provider === 'a2a-push' && binding.config['a2a_push'] === undefined) this.authorize(request, body)
    await waitForTest()
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
    )
    const verified = await this.verify(binding, request, body)
    const isConnector = this.desk.project.connectors.has(binding.provider)
    const normalized = (await this.desk.ask({
      action: isConnector ? 'normalize_connector' : 'normalize',
      bindings: [],
      delivery: {
        ...(isConnector ? describeForConnector(binding, request, body) : {}),
        provider: binding.provider,
        binding_id: binding.id,
        match_events: binding.events,
        config: binding.config,
        headers,
        raw: parseBody(body),
        body_base64: Buffer.from(body).toString('base64'),
        digest: createHash('sha256').update(body).digest('hex'),
        signature_status: verified.isSigned ? { state: 'verified' } : { state: 'unsigned' },
        claims: verified.claims,
        tenant_id: null,
      },
    })) as Normalized
    if (normalized.handshake !== undefined && normalized.handshake !== null)
      this.desk.append('connectors.notion.webhook.handshake', 'subscription.verification', {
        binding_id: binding.id,
        event: normalized.handshake,
      })
    const { response } = normalized
    const accepted = this.accept(binding, normalized.events, acceptedAt)
    if (response !== null && (normalized.events.length === 0 || isConnector))
      return { status: response.status, body: response.json ?? response.text ?? '', headers: response.headers ?? {} }
    return accepted
  }

  /** Stores events that were not accepted before; they are on disk when this returns. */
  accept(binding: Binding, events: readonly EventRecord[], acceptedAt: number): Answer {
    const { id, version } = binding
    const logIds = this.inbox.write((transaction) =>
      events.map((event) => {
        if (binding.dedupe_key !== null && !this.inbox.claim(transaction, binding, event.dedupe_key)) return null
        const record = { trigger_id: id, binding_version: version, event }
        return transaction.append(
          makeRecord(PENDING, 'trigger_event', record, {
            event_id: event.id,
            trace_id: event.trace_id,
            trigger_id: id,
            harn_trigger_accepted_at_ms: String(acceptedAt),
            harn_trigger_normalized_at_ms: String(Date.now()),
          }),
        )
      }),
    )
    const kept = logIds.filter((each) => each !== null)
    this.counts.accepted += kept.length
    this.counts.duplicates += logIds.length - kept.length
    if (kept.length > 0) this.hooks.onAccepted()
    if (logIds.length === 1)
      return kept.length === 1
        ? { status: 200, body: { status: 'accepted', event_id: String(kept[0]), trigger_id: id } }
        : { status: 200, body: { status: 'duplicate_dropped', trigger_id: id } }
    return {
      status: 200,
      body: {
        status: 'accepted',
        events_accepted: kept.length,
        duplicates_dropped: logIds.length - kept.length,
        trigger_id: id,
      },
    }
  }

  private async verify(
    binding: Binding,
    request: IncomingMessage,
    body: Uint8Array,
  ): Promise<{ readonly isSigned: boolean; readonly claims: object | null }> {
    const { provider, secrets, config } = binding
    if (provider === 'a2a-push') {
      if (config['a2a_push'] === undefined) return { isSigned: false, claims: null }
      const outcome = await verifyPush(config['a2a_push'] as object, request.headers, parseBody(body))
      if (!outcome.ok) throw this.reject(provider, 'jwt', outcome.reason, {})
      const { jti, exp } = outcome.claims
      if (typeof jti === 'string') {
        const isFirst = this.inbox.write((transaction) =>
          this.inbox.claim(transaction, binding, `jti:${jti}`, Math.max(0, Number(exp) * 1000 - Date.now())),
        )
        if (!isFirst) throw this.reject(provider, 'jwt', `a2a-push JWT jti \`${jti}\` has already been accepted`, {})
      }
      return { isSigned: outcome.isSigned, claims: outcome.claims }
    }
    const table = (config['webhook'] ?? {}) as {
      readonly signature_scheme?: string
      readonly timestamp_tolerance_secs?: number
    }
    const variants: { readonly [provider: string]: string } = {
      github: 'github',
      slack: 'slack',
      linear: 'linear',
      notion: 'notion',
      webhook: table.signature_scheme ?? 'standard',
    }
    const variant = variants[provider]
    // A connector in Harn validates its deliveries itself.
    if (variant === undefined || this.desk.project.connectors.has(provider)) return { isSigned: false, claims: null }
    if (provider === 'webhook' && !['standard', 'stripe', 'github', 'slack'].includes(variant))
      throw new Refusal(
        422,
        `unsupported generic webhook signature scheme \`${variant}\`; expected one of standard, stripe, github, slack`,
      )
    const body_ = parseBody(body) as { readonly verification_token?: unknown } | null
    // The handshake contains the secret that later deliveries are signed with.
    if (provider === 'notion' && typeof body_?.verification_token === 'string') return { isSigned: false, claims: null }
    const reference = secrets[provider === 'notion' ? 'verification_token' : 'signing_secret']
    if (reference === undefined)
      throw new Refusal(500, `generic webhook binding \`${binding.id}\` requires secrets.signing_secret`)
    const { timestamp_tolerance_secs: toleranceSeconds } = table
    const options = { nowMs: Date.now(), ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }) }
    const found = verifySignature(variant as SignatureVariant, { headers: request.headers, body }, readSecret(reference), options)
    if (!found.ok) throw this.reject(provider, variant, found.reason, found)
    return { isSigned: true, claims: null }
  }

  private reject(
    provider: string,
    style: string,
    reason: string,
    { signedAtMs = null, windowSeconds = null }: { readonly signedAtMs?: number | null; readonly windowSeconds?: number | null },
  ): Refusal {
    this.counts.rejected++
    this.desk.append('audit.signature_verify', 'signature_rejected', {
      provider,
      style,
      reason,
      observed_at: new Date().toISOString(),
      signed_at: signedAtMs === null ? null : new Date(signedAtMs).toISOString(),
      window_seconds: windowSeconds,
    })
    return new Refusal(400, reason, provider === 'slack' ? { 'x-slack-no-retry': '1' } : {})
  }
}

interface Normalized {
  readonly events: readonly EventRecord[]
  readonly response: {
    readonly status: number
    readonly text: string | null
    readonly json: object | null
    readonly headers?: { readonly [name: string]: string }
  } | null
  readonly handshake?: unknown
}

function describeForConnector(binding: Binding, request: IncomingMessage, body: Uint8Array): object {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://listener')
  const text = Buffer.from(body).toString('utf8')
  return {
    trigger_kind: binding.kind,
    binding_version: binding.version,
    path: pathname,
    query: Object.fromEntries(searchParams),
    body_text: text,
    is_json: isJson(text),
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const NOT_ALLOWED: Answer = { status: 405, body: 'method not allowed' }

function parseBody(body: Uint8Array): unknown {
  const text = Buffer.from(body).toString('utf8')
  try {
    return JSON.parse(text) as unknown
  } catch {
    return { raw_base64: Buffer.from(body).toString('base64'), raw_utf8: text }
  }
}

function isSameText(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

function readBind(text: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) throw new CommandError(`invalid listen address '${text}', expected HOST:PORT`)
  return { host: match[1] ?? (match[2] === '' ? '127.0.0.1' : match[2]!), port }
}

/** Tests delay a request between its route and its event, to change the triggers meanwhile. */
async function waitForTest(): Promise<void> {
  const entered = process.env['HARN_ORCHESTRATOR_TEST_REQUEST_ENTERED_FILE']
  const release = process.env['HARN_ORCHESTRATOR_TEST_REQUEST_RELEASE_FILE']
  if (entered !== undefined) writeFileSync(entered, 'entered\n')
  if (release === undefined) return
  while (!existsSync(release)) await delay(20)
}

// One connection to an MCP server, over stdio or streamable HTTP, with failures in the language's wording. The SDK does the
// protocol and is loaded when the first connection is made. Everything here settles: a request ends with its answer, at its
// timeout, when its signal aborts or when the server goes away.

import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { HarnFloat } from '@bridle/vm'
import type { EffectOutcome, Plain } from '@bridle/vm'
import { LONGEST_TIMER_MS, clampTimer } from '../library/time/host-clock.js'
import { describeOsError } from '../tools/executors/os-errors.js'
import { categorizedError, describeCause, runtimeError, thrownError } from '../tools/executors/provider.js'
import { VERSION } from '../version.js'
import { makeExactFetch } from './exact-fetch.js'
import { markInteger, withIntegers } from '../tools/executors/exact-json.js'
import { DEFAULT_LIMITS, McpLimitError } from './limits.js'
import type { McpLimits } from './limits.js'
import { AuthorizationError, makeAuthorizedFetch } from './oauth.js'
import type { McpAuth } from './oauth.js'
import { SpawnError, StdioTransport } from './stdio.js'

/** How to reach a server, checked: what scripts and manifests write is read by `readServerConfig`. */
export type McpServerConfig =
  | {
      readonly name: string
      readonly transport: 'stdio'
      readonly command: string
      /** The file that the command stands for, by the PATH of the host: what is started. Null where there is none. */
      readonly file: string | null
      readonly args: readonly string[]
      readonly env: { readonly [name: string]: string }
    }
  | {
      readonly name: string
      readonly transport: 'http'
      readonly url: string
      readonly authToken: string | null
      /** Sent with each request. */
      readonly headers: { readonly [name: string]: string }
      /** How to get a token when the server asks for one; null where the host did not say. */
      readonly auth: McpAuth | null
      /** Sent as `serverName` with each request, for a proxy in front of several servers. */
      readonly proxyServerName: string | null
    }

/** A request that the server makes of us, such as `sampling/createMessage`; the result goes back as it is. */
export type McpServerRequestHandler = (params: Plain, signal: AbortSignal) => Promise<{ readonly [key: string]: unknown }>

export interface McpConnectionOptions {
  readonly config: McpServerConfig
  readonly cwd: string | undefined
  readonly env: NodeJS.ProcessEnv
  readonly stderr: 'inherit' | 'ignore'
  readonly connectTimeoutMs: number
  readonly handlers: { readonly [method: string]: McpServerRequestHandler }
  readonly fetch: typeof globalThis.fetch | undefined
  readonly limits?: McpLimits | undefined
  /** Hears what the server says unasked, such as `notifications/tools/list_changed`; not progress, which belongs to its request. */
  readonly onNotification?: ((method: string, params: Plain) => void) | undefined
}

/** How far a request is, as the server tells it (`notifications/progress`). */
export interface McpProgress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** A failure that is told to the script; `outcome` is what the effect answers. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure'
  readonly outcome: EffectOutcome

  constructor(outcome: EffectOutcome, options?: ErrorOptions) {
    super(outcome.ok ? 'no failure' : outcome.error.message, options)
    this.outcome = outcome
  }
}

/** Methods a server may call that have no handler get an answer that says so, with the feature's name. */
const SERVER_FEATURES: ReadonlyMap<string, string> = new Map([
  ['roots/list', 'roots'],
  ['sampling/createMessage', 'sampling'],
  ['elicitation/create', 'elicitation'],
  ['tasks/get', 'tasks'],
  ['tasks/result', 'tasks'],
  ['tasks/list', 'tasks'],
  ['tasks/cancel', 'tasks'],
])

export class McpConnection {
  readonly config: McpServerConfig
  private readonly client: Client
  private readonly transport: Transport
  /** Ends what waits for a person. */
  private readonly stop: AbortController
  private readonly resultSchema: Parameters<Client['request']>[1]
  private closed = false
  private closing: Promise<void> | null = null
  /** The server does not know the session any more (HTTP 404); a new connection is needed. */
  private lost = false
  private tokens = 0
  /** By progress token. */
  private readonly listeners = new Map<unknown, (progress: McpProgress) => void>()

  private constructor(
    config: McpServerConfig,
    client: Client,
    transport: Transport,
    resultSchema: Parameters<Client['request']>[1],
    stop: AbortController,
  ) {
    this.stop = stop
    this.config = config
    this.client = client
    this.transport = transport
    this.resultSchema = resultSchema
    client.onclose = () => {
      this.closed = true
    }
  }

  /** Throws McpFailure; no process and no connection is left then. */
  static async open(options: McpConnectionOptions, signal: AbortSignal): Promise<McpConnection> {
    const limit = new Deadline(options.connectTimeoutMs, signal)
    try {
      return await McpConnection.openBy(options, makeTransport, limit)
    } catch (cause) {
      if (!isRefusedAsUnknown(cause)) throw cause
      // A server of the revision 2024-11-05 knows no POST at this address, and says where it takes them on a stream of events.
      return await McpConnection.openBy(options, makeEventTransport, limit).catch(() => {
        throw cause
      })
    } finally {
      limit.clear()
    }
  }

  private static async openBy(options: McpConnectionOptions, make: MakeTransport, limit: Deadline): Promise<McpConnection> {
    const { config } = options
    const [{ Client: ClientClass }, { ProgressNotificationSchema, ResultSchema }] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ])
    const client = new ClientClass({ name: 'bridle', version: VERSION }, { capabilities: listCapabilities(options.handlers) })
    client.onerror = () => {}
    client.fallbackNotificationHandler = async (notification) =>
      options.onNotification?.(notification.method, withIntegers((notification.params ?? {}) as Plain))
    client.fallbackRequestHandler = (request, extra) =>
      serve(options.handlers, request.method, withIntegers((request.params ?? {}) as Plain), extra.signal)
    const stop = new AbortController()
    const transport = await make(options, stop.signal)
    const connection = new McpConnection(config, client, transport, ResultSchema, stop)
    client.setNotificationHandler(ProgressNotificationSchema, ({ params: { progressToken, ...progress } }) =>
      connection.listeners.get(progressToken)?.(progress),
    )
    try {
      if (limit.signal.aborted) throw new Error('cancelled')
      await client.connect(transport, { timeout: LONGEST_TIMER_MS, signal: limit.signal })
    } catch (cause) {
      await connection.close()
      throw new McpFailure(connection.explain(cause, 'initialize', limit), { cause })
    }
    return connection
  }

  get isClosed(): boolean {
    return this.closed
  }

  get isSessionLost(): boolean {
    return this.lost
  }

  /** What the server said about itself. */
  facts(): Plain {
    const toPlain = (value: unknown): Plain => (value === undefined ? null : (value as Plain))
    return {
      server: toPlain(this.client.getServerVersion()),
      capabilities: toPlain(this.client.getServerCapabilities()),
      instructions: toPlain(this.client.getInstructions()),
    }
  }

  /** Always settles with an outcome: the result object, or the error a script sees. */
  async request(
    method: string,
    params: { readonly [key: string]: Plain },
    options: {
      readonly timeoutMs: number
      readonly signal: AbortSignal
      /** Asks the server to tell how far it is. */
      readonly onProgress?: ((progress: McpProgress) => void) | undefined
    },
  ): Promise<EffectOutcome> {
    // Who asked when it ended heard that; whoever writes afterwards writes into a broken pipe.
    if (this.closed)
      return runtimeError(
        this.config.transport === 'stdio' ? 'MCP write error: Broken pipe (os error 32)' : 'MCP: server closed connection',
      )
    const limit = new Deadline(options.timeoutMs, options.signal)
    const named =
      this.config.transport === 'http' && this.config.proxyServerName !== null ? { serverName: this.config.proxyServerName } : {}
    // The SDK's own listener is dropped with the answer, so progress that arrives together with it would be lost.
    const token = options.onProgress === undefined ? null : ++this.tokens
    if (token !== null) this.listeners.set(token, options.onProgress!)
    const given = toWire(params) as { readonly [key: string]: unknown }
    const meta =
      token === null
        ? {}
        : { _meta: { ...(given['_meta'] as { readonly [key: string]: unknown } | undefined), progressToken: token } }
    try {
      const result = await this.client.request({ method, params: { ...given, ...named, ...meta } }, this.resultSchema, {
        timeout: LONGEST_TIMER_MS,
        signal: limit.signal,
      })
      return { ok: true, value: withIntegers(result) as unknown as Plain }
    } catch (cause) {
      return this.explain(cause, method, limit)
    } finally {
      limit.clear()
      if (token !== null) this.listeners.delete(token)
    }
  }

  private get hasSession(): boolean {
    return 'sessionId' in this.transport && this.transport.sessionId !== undefined
  }

  /** Ends the conversation and the process behind it; resolves when it is gone. */
  close(): Promise<void> {
    this.closing ??= this.end()
    return this.closing
  }

  private async end(): Promise<void> {
    this.closed = true
    this.stop.abort(new Error('the connection was closed'))
    if ('terminateSession' in this.transport && typeof this.transport.terminateSession === 'function') {
      const goodbye = (this.transport.terminateSession as () => Promise<void>).call(this.transport).catch(() => {})
      await Promise.race([goodbye, new Promise((resolve) => setTimeout(resolve, 500).unref())])
    }
    await this.client.close().catch(() => {})
    await this.transport.close().catch(() => {})
  }

  private explain(cause: unknown, method: string, limit: Deadline): EffectOutcome {
    if (limit.timedOut) return runtimeError(`MCP: server did not respond to '${method}' within ${formatDuration(limit.ms)}`)
    const blocked = findPolicyRefusal(cause)
    if (blocked !== null) return categorizedError('egress_blocked', blocked)
    const limited = findLimit(cause) ?? findLimit(this.transport instanceof StdioTransport ? this.transport.failure?.cause : null)
    if (limited !== null) return runtimeError(limited.message)
    if (cause instanceof AuthorizationError) return thrownError(`MCP authorization required: ${cause.message}`)
    if (limit.signal.aborted) return runtimeError(`MCP: '${method}' was cancelled`)
    if (cause instanceof SpawnError) {
      const command = this.config.transport === 'stdio' ? this.config.command : this.config.name
      return thrownError(`mcp_connect: failed to spawn '${command}': ${describeOsError(cause.cause)}`)
    }
    const code = (cause as { readonly code?: unknown } | null)?.code
    const message = describeCause(cause)
    if (this.config.transport === 'http' && HTTP_ERRORS.has((cause as Error | null)?.constructor?.name ?? '')) {
      if (code === 404 && this.hasSession) this.lost = true
      return code === 401
        ? thrownError('MCP authorization required')
        : thrownError(`MCP error (${typeof code === 'number' && code >= 400 ? code : -1}): ${message}`)
    }
    // -32000 is what the SDK gives to requests that die with the connection, and also a code that servers use themselves.
    if (typeof code === 'number' && !(code === -32000 && this.closed))
      return thrownError(`MCP error (${code}): ${message.replace(/^MCP error -?\d+: /, '')}`)
    const failure = this.transport instanceof StdioTransport ? this.transport.failure : null
    if (failure !== null && !isBrokenPipe(failure.cause))
      return runtimeError(`MCP ${failure.during} error: ${describeOsError(failure.cause)}`)
    if (this.config.transport === 'http' && code !== -32000)
      return runtimeError(`MCP HTTP request error: ${readHttpReason(cause)}`)
    if (this.closed || isBrokenPipe(cause) || message === 'server closed connection')
      return runtimeError('MCP: server closed connection')
    return runtimeError(`MCP protocol error: ${message}`)
  }
}

/** Of the SDK, which is loaded with the first connection. */
const HTTP_ERRORS: ReadonlySet<string> = new Set(['StreamableHTTPError', 'SseError'])

/** What servers answer that do not know how requests are sent since the revision 2025-03-26. */
const UNKNOWN: readonly unknown[] = [400, 404, 405]

function isRefusedAsUnknown(failure: unknown): boolean {
  const cause = failure instanceof McpFailure ? (failure.cause as { readonly code?: unknown } | null) : null
  return cause?.constructor?.name === 'StreamableHTTPError' && UNKNOWN.includes(cause.code)
}

/** A write to a server that has just gone: the same thing as the end of its output, only noticed from the other side. */
function isBrokenPipe(cause: unknown): boolean {
  const code = (cause as { readonly code?: unknown } | null)?.code
  return code === 'EPIPE' || code === 'ECONNRESET' || code === 'ERR_STREAM_DESTROYED' || code === 'ERR_STREAM_WRITE_AFTER_END'
}

/** What the host's network policy says (EgressBlocked of the `/node` entry), through whatever wraps it. */
function findPolicyRefusal(cause: unknown): string | null {
  for (let at = cause, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth++)
    if (at.name === 'EgressBlocked') return at.message
  return null
}

/** A limit that the server met, through whatever wraps it. */
function findLimit(cause: unknown): McpLimitError | null {
  for (let at = cause, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth++)
    if (at instanceof McpLimitError) return at
  return null
}

/** fetch wraps the reason into "fetch failed". */
function readHttpReason(cause: unknown): string {
  const inner = (cause as { readonly cause?: unknown } | null)?.cause
  return inner instanceof Error ? describeOsError(inner) : describeCause(cause)
}

type MakeTransport = (options: McpConnectionOptions, stop: AbortSignal) => Promise<Transport>

async function makeTransport(options: McpConnectionOptions, stop: AbortSignal): Promise<Transport> {
  const { config } = options
  if (config.transport === 'stdio') {
    const spawned = {
      command: config.command,
      file: config.file ?? '',
      args: config.args,
      cwd: options.cwd,
      env: { ...options.env, ...config.env },
      stderr: options.stderr,
    }
    return new StdioTransport(spawned, makeBounds(options))
  }
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  return new StreamableHTTPClientTransport(new URL(config.url), await makeHttpOptions(options, config, stop)) as Transport
}

/** For servers of the revision 2024-11-05. */
async function makeEventTransport(options: McpConnectionOptions, stop: AbortSignal): Promise<Transport> {
  const { config } = options
  if (config.transport === 'stdio') return makeTransport(options, stop)
  const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js')
  return new SSEClientTransport(new URL(config.url), await makeHttpOptions(options, config, stop)) as Transport
}

const makeBounds = ({ config, limits }: McpConnectionOptions) => ({ ...DEFAULT_LIMITS, ...limits, server: config.name })

type HttpConfig = Extract<McpServerConfig, { readonly transport: 'http' }>

async function makeHttpOptions(options: McpConnectionOptions, config: HttpConfig, stop: AbortSignal) {
  const given =
    config.auth === null ? options.fetch : await makeAuthorizedFetch(new URL(config.url), config.auth, stop, options.fetch)
  const authorization = config.authToken === null ? {} : { authorization: `Bearer ${config.authToken}` }
  return {
    requestInit: { headers: { ...config.headers, ...authorization } },
    fetch: makeExactFetch(given ?? globalThis.fetch, makeBounds(options)) as never,
  }
}

function listCapabilities(handlers: { readonly [method: string]: McpServerRequestHandler }): { [name: string]: object } {
  const out: { [name: string]: object } = {}
  for (const [method, feature] of SERVER_FEATURES) if (handlers[method] !== undefined) out[feature] = {}
  return out
}

async function serve(
  handlers: { readonly [method: string]: McpServerRequestHandler },
  method: string,
  params: Plain,
  signal: AbortSignal,
): Promise<{ [key: string]: unknown }> {
  const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined
  if (handler !== undefined) {
    const result = await handler(params, signal)
    return method === 'elicitation/create' ? withDefaults(result, params) : { ...result }
  }
  const feature = SERVER_FEATURES.get(method)
  if (feature === undefined) throw Object.assign(new Error(`Method not found: ${method}`), { code: -32601 })
  throw Object.assign(new Error(`Unsupported MCP method: ${method}`), {
    code: -32601,
    data: {
      type: 'mcp.unsupportedFeature',
      protocolVersion: '2025-11-25',
      method,
      feature,
      role: 'client',
      status: 'unsupported',
      reason: `this host has no handler for ${feature}`,
    },
  })
}

/** An accepted form has the defaults of its schema where the person left something out. */
function withDefaults(result: { readonly [key: string]: unknown }, params: Plain): { [key: string]: unknown } {
  const { requestedSchema } = params as { readonly requestedSchema?: { readonly properties?: unknown } }
  if (result['action'] !== 'accept' || typeof requestedSchema?.properties !== 'object') return { ...result }
  const content = { ...(result['content'] as { readonly [key: string]: unknown } | undefined) }
  for (const [name, schema] of Object.entries(requestedSchema.properties as { readonly [name: string]: unknown })) {
    const given = (schema as { readonly default?: unknown } | null)?.default
    if (given !== undefined && !Object.hasOwn(content, name)) content[name] = given
  }
  return { ...result, content }
}

/** A time limit joined with the caller's signal; remembers which of the two struck. */
class Deadline {
  readonly ms: number
  readonly signal: AbortSignal
  timedOut = false
  private readonly controller = new AbortController()
  private readonly outer: AbortSignal
  private readonly timer: ReturnType<typeof setTimeout>
  private readonly onAbort = (): void => this.controller.abort(this.outer.reason)

  constructor(ms: number, outer: AbortSignal) {
    this.ms = ms
    this.outer = outer
    this.signal = this.controller.signal
    this.timer = setTimeout(() => {
      this.timedOut = true
      this.controller.abort(new Error('timeout'))
    }, clampTimer(ms))
    if (outer.aborted) this.onAbort()
    else outer.addEventListener('abort', this.onAbort, { once: true })
  }

  clear(): void {
    clearTimeout(this.timer)
    this.outer.removeEventListener('abort', this.onAbort)
  }
}

/** `60s`, `300ms`, `1.5s`. */
function formatDuration(ms: number): string {
  return ms >= 1000 ? `${ms / 1000}s` : `${ms}ms`
}

/** Data as it goes over the wire: floats are plain JSON numbers there, and so are large ints in the end; bytes have no form. */
function toWire(data: Plain): unknown {
  if (typeof data === 'bigint') return markInteger(data)
  if (data === null || typeof data !== 'object') return data
  if (data instanceof Uint8Array) return null
  if (Array.isArray(data)) return data.map((item: Plain) => toWire(item))
  if (data instanceof HarnFloat) return data.v
  const out = Object.create(null) as { [key: string]: unknown }
  for (const [key, item] of Object.entries(data as { readonly [key: string]: Plain })) out[key] = toWire(item)
  return out
}

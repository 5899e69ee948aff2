// One connection to an MCP server, over stdio or streamable HTTP, with failures in the language's wording. Which revision the server speaks
// is found out at the beginning (probe.ts); what follows is with the peer. Everything here settles: a request ends with its answer, at its
// timeout, when its signal aborts or when the server goes away.

import { listenForAbort } from '../library/abort.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { HarnFloat } from '@bridle/vm'
import type { EffectOutcome, Plain } from '@bridle/vm'
import { clampTimer } from '../library/time/host-clock.js'
import { describeOsError } from '../tools/executors/os-errors.js'
import { categorizedError, describeCause, runtimeError, thrownError } from '../tools/executors/provider.js'
import { makeExactFetch } from './exact-fetch.js'
import { markInteger, withIntegers } from '../tools/executors/exact-json.js'
import { LegacyPeer } from './legacy-peer.js'
import { DEFAULT_LIMITS, McpLimitError } from './limits.js'
import type { McpLimits } from './limits.js'
import { ModernPeer, makeEnvelope } from './modern-peer.js'
import { ModernHttp, ModernStdio } from './modern-transports.js'
import type { ModernTransport } from './modern-transports.js'
import { MODERN_VERSION } from './modern-wire.js'
import { AuthorizationError, makeAuthorizedFetch } from './oauth.js'
import type { McpAuth } from './oauth.js'
import type { Peer } from './peer.js'
import { LentPipe, discoverOverHttp, discoverOverPipe } from './probe.js'
import type { Discovery } from './probe.js'
import type { McpServerRequestHandler } from './server-requests.js'
import { SpawnError, StdioTransport } from './stdio.js'

/** How to reach a server, checked: what scripts and manifests write is read by `readServerConfig`. */
export type McpServerConfig = {
  /** With or without a handshake; null to probe the server. */
  readonly era?: 'legacy' | 'modern' | null | undefined
} & (
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
)

export type { McpServerRequestHandler } from './server-requests.js'

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
  /** Hears of tools that the server lists and that cannot be called. */
  readonly onWarning?: ((message: string) => void) | undefined
}

/** Progress of a request, reported by the server (`notifications/progress`). */
export interface McpProgress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** A failure that is raised in the script; `outcome` is the outcome of the effect. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure'
  readonly outcome: EffectOutcome

  constructor(outcome: EffectOutcome, options?: ErrorOptions) {
    super(outcome.ok ? 'no failure' : outcome.error.message, options)
    this.outcome = outcome
  }
}

export class McpConnection {
  readonly config: McpServerConfig
  private readonly options: McpConnectionOptions
  private peer: Peer | null = null
  /** The program behind it; null over HTTP. */
  private pipe: StdioTransport | null = null
  /** Ends what waits for a person. */
  private readonly stop = new AbortController()
  private closed = false
  private closing: Promise<void> | null = null
  /** The server does not know the session any more (HTTP 404); a new connection is needed. */
  private lost = false
  private tokens = 0
  /** By progress token. */
  private readonly listeners = new Map<unknown, (progress: McpProgress) => void>()

  private constructor(options: McpConnectionOptions) {
    this.options = options
    this.config = options.config
  }

  /** Throws McpFailure; then no process or connection remains. */
  static async open(options: McpConnectionOptions, signal: AbortSignal): Promise<McpConnection> {
    const limit = new Deadline(options.connectTimeoutMs, signal)
    const connection = new McpConnection(options)
    try {
      if (limit.signal.aborted) throw new Error('cancelled')
      await (options.config.transport === 'stdio'
        ? connection.openPipe(options.config, limit.signal)
        : connection.openHttp(options.config, limit.signal))
      return connection
    } catch (cause) {
      await connection.close()
      if (cause instanceof McpFailure) throw cause
      throw new McpFailure(connection.explain(cause, 'initialize', limit), { cause })
    } finally {
      limit.clear()
    }
  }

  private async openPipe(config: StdioConfig, signal: AbortSignal): Promise<void> {
    const { options } = this
    const pipe = this.startPipe(config)
    const program = JSON.stringify([config.file, config.args])
    if (config.era === 'legacy' || (config.era !== 'modern' && silentPrograms.has(program))) return this.useLegacy(pipe, signal)
    const patienceMs = config.era === 'modern' ? options.connectTimeoutMs : Math.min(SILENCE_MS, options.connectTimeoutMs / 4)
    const found = await discoverOverPipe(pipe, makeEnvelope(MODERN_VERSION, options.handlers), patienceMs, signal)
    if (typeof found === 'object') return this.useModern(new ModernStdio(pipe), found, false)
    if (config.era === 'modern') throw found === 'ended' ? new Error('server closed connection') : failForVersion()
    if (found === 'silent') return this.shakeHandsLate(pipe, program, signal)
    // A program that exits on a request before the handshake gets only the handshake.
    await this.useLegacy(found === 'ended' ? this.startPipe(config) : pipe, signal)
  }

  /** For a program that passes over what it does not know, or that has only not come to it yet. */
  private async shakeHandsLate(pipe: StdioTransport, program: string, signal: AbortSignal): Promise<void> {
    const lent = new LentPipe(pipe)
    try {
      await this.useLegacy(lent, signal)
    } catch (cause) {
      if (lent.late === null) throw cause
      this.useModern(new ModernStdio(pipe), lent.late, false)
      this.closed = false
      return
    }
    lent.keep()
    if (silentPrograms.size < MOST_NOTED) silentPrograms.add(program)
  }

  private startPipe(config: StdioConfig): StdioTransport {
    const { options } = this
    const { command, file, args } = config
    const env = { ...options.env, ...config.env }
    const spawned = { command, file: file ?? '', args, cwd: options.cwd, env, stderr: options.stderr }
    this.pipe = new StdioTransport(spawned, makeBounds(options))
    return this.pipe
  }

  private async openHttp(config: HttpConfig, signal: AbortSignal): Promise<void> {
    const http = await makeHttpOptions(this.options, config, this.stop.signal)
    const url = new URL(config.url)
    if (config.era !== 'legacy') {
      const modern = new ModernHttp(url, MODERN_VERSION, http)
      const found = await discoverOverHttp(modern, makeEnvelope(MODERN_VERSION, this.options.handlers), signal)
      if (found !== null) return this.useModern(modern, found, true)
      if (config.era === 'modern') throw failForVersion()
    }
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
    try {
      await this.useLegacy(new StreamableHTTPClientTransport(url, http as never) as Transport, signal)
    } catch (cause) {
      if (!isRefusedAsUnknown(cause)) throw cause
      // A server of the revision 2024-11-05 knows no POST at this address, and says where it takes them on a stream of events.
      const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js')
      await this.useLegacy(new SSEClientTransport(url, http as never) as Transport, signal).catch(() => {
        throw cause
      })
    }
  }

  private useModern(transport: ModernTransport, { version, discovered }: Discovery, usesHeaders: boolean): void {
    const { handlers, config, onWarning } = this.options
    transport.onclose = () => {
      this.closed = true
    }
    this.peer = new ModernPeer(transport, {
      version,
      discovered,
      handlers,
      usesHeaders,
      hear: (method, params) => this.hear(method, params),
      onWarning: (message) => onWarning?.(`MCP server '${config.name}': ${message}`),
    })
  }

  private async useLegacy(transport: Transport, signal: AbortSignal): Promise<void> {
    await this.peer?.close()
    const peer = await LegacyPeer.make(transport, {
      handlers: this.options.handlers,
      hear: (method, params) => this.hear(method, params),
      onClosed: () => {
        // One that was tried before has nothing to say about the connection.
        if (this.peer === peer) this.closed = true
      },
    })
    this.peer = peer
    this.closed = false
    await peer.shakeHands(signal)
  }

  private hear(method: string, params: { readonly [key: string]: unknown }): void {
    if (method !== 'notifications/progress') return this.options.onNotification?.(method, withIntegers(params) as Plain)
    const { progressToken, ...progress } = params
    if (typeof progress['progress'] === 'number') this.listeners.get(progressToken)?.(progress as unknown as McpProgress)
  }

  get isClosed(): boolean {
    return this.closed
  }

  get isSessionLost(): boolean {
    return this.lost
  }

  /** The server's info, the revision in use, and its URL unless it is a program. */
  facts(): Plain {
    const toPlain = (value: unknown): Plain => (value === undefined ? null : (value as Plain))
    const { server, capabilities, instructions, protocol } = this.peer!.facts()
    return {
      server: toPlain(server),
      capabilities: toPlain(capabilities),
      instructions: toPlain(instructions),
      protocol,
      address: this.config.transport === 'http' ? new URL(this.config.url).origin : null,
    }
  }

  /** Always settles with an outcome: the result object, or the error a script sees. */
  async request(
    method: string,
    params: { readonly [key: string]: Plain },
    options: {
      readonly timeoutMs: number
      readonly signal: AbortSignal
      /** Asks the server for progress notifications. */
      readonly onProgress?: ((progress: McpProgress) => void) | undefined
    },
  ): Promise<EffectOutcome> {
    // Requests in progress at its end failed; later writes go to a broken pipe.
    if (this.closed)
      return runtimeError(
        this.config.transport === 'stdio' ? 'MCP write error: Broken pipe (os error 32)' : 'MCP: server closed connection',
      )
    const limit = new Deadline(options.timeoutMs, options.signal)
    const named =
      this.config.transport === 'http' && this.config.proxyServerName !== null ? { serverName: this.config.proxyServerName } : {}
    const token = options.onProgress === undefined ? null : ++this.tokens
    if (token !== null) this.listeners.set(token, options.onProgress!)
    const given = toWire(params) as { readonly [key: string]: unknown }
    try {
      const result = await this.peer!.request({ method, params: { ...given, ...named }, token, signal: limit.signal })
      return { ok: true, value: withIntegers(result) as unknown as Plain }
    } catch (cause) {
      return this.explain(cause, method, limit)
    } finally {
      limit.clear()
      if (token !== null) this.listeners.delete(token)
    }
  }

  /** Ends the conversation and the process behind it; resolves when it is gone. */
  close(): Promise<void> {
    this.closing ??= this.end()
    return this.closing
  }

  private async end(): Promise<void> {
    this.closed = true
    this.stop.abort(new Error('the connection was closed'))
    await this.peer?.close()
    await this.pipe?.close()
  }

  private explain(cause: unknown, method: string, limit: Deadline): EffectOutcome {
    if (limit.timedOut) return runtimeError(`MCP: server did not respond to '${method}' within ${formatDuration(limit.ms)}`)
    const blocked = findPolicyRefusal(cause)
    if (blocked !== null) return categorizedError('egress_blocked', blocked)
    const limited = findLimit(cause) ?? findLimit(this.pipe?.failure?.cause)
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
      if (code === 404 && this.peer?.hasSession === true) this.lost = true
      return code === 401
        ? thrownError('MCP authorization required')
        : thrownError(`MCP error (${typeof code === 'number' && code >= 400 ? code : -1}): ${message}`)
    }
    // -32000 is what the SDK gives to requests that die with the connection, and also a code that servers use themselves.
    if (typeof code === 'number' && !(code === -32000 && this.closed))
      return thrownError(`MCP error (${code}): ${message.replace(/^MCP error -?\d+: /, '')}`)
    const failure = this.pipe?.failure ?? null
    if (failure !== null && !isBrokenPipe(failure.cause))
      return runtimeError(`MCP ${failure.during} error: ${describeOsError(failure.cause)}`)
    if (this.config.transport === 'http' && code !== -32000)
      return runtimeError(`MCP HTTP request error: ${readHttpReason(cause)}`)
    if (this.closed || isBrokenPipe(cause) || message === 'server closed connection')
      return runtimeError('MCP: server closed connection')
    return runtimeError(`MCP protocol error: ${message}`)
  }
}

const failForVersion = (): McpFailure =>
  new McpFailure(runtimeError(`MCP: the server does not speak the revision ${MODERN_VERSION}`))

/** Time after which a program that does not answer an unknown method gets the handshake. */
const SILENCE_MS = 1000
/** Programs that did so; they are not probed again. */
const silentPrograms = new Set<string>()
const MOST_NOTED = 1000

/** Of the SDK, which is loaded with the first connection. */
const HTTP_ERRORS: ReadonlySet<string> = new Set(['StreamableHTTPError', 'SseError', 'HttpStatusError'])

/** What servers answer that do not know how requests are sent since the revision 2025-03-26. */
const UNKNOWN: readonly unknown[] = [400, 404, 405]

function isRefusedAsUnknown(cause: unknown): boolean {
  return (
    cause instanceof Error &&
    cause.constructor.name === 'StreamableHTTPError' &&
    UNKNOWN.includes((cause as { readonly code?: unknown }).code)
  )
}

/** A write to a server that has just gone: the same thing as the end of its output, only noticed from the other side. */
function isBrokenPipe(cause: unknown): boolean {
  const code = (cause as { readonly code?: unknown } | null)?.code
  return code === 'EPIPE' || code === 'ECONNRESET' || code === 'ERR_STREAM_DESTROYED' || code === 'ERR_STREAM_WRITE_AFTER_END'
}

/** The host's network policy error (EgressBlocked of the `/node` entry), unwrapped from any cause chain. */
function findPolicyRefusal(cause: unknown): string | null {
  for (let at = cause, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth++)
    if (at.name === 'EgressBlocked') return at.message
  return null
}

/** A limit that the server exceeded, unwrapped from any cause chain. */
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

const makeBounds = ({ config, limits }: McpConnectionOptions) => ({ ...DEFAULT_LIMITS, ...limits, server: config.name })

type HttpConfig = Extract<McpServerConfig, { readonly transport: 'http' }>
type StdioConfig = Extract<McpServerConfig, { readonly transport: 'stdio' }>

async function makeHttpOptions(options: McpConnectionOptions, config: HttpConfig, stop: AbortSignal) {
  const given =
    config.auth === null ? options.fetch : await makeAuthorizedFetch(new URL(config.url), config.auth, stop, options.fetch)
  const authorization = config.authToken === null ? {} : { authorization: `Bearer ${config.authToken}` }
  return {
    requestInit: { headers: { ...config.headers, ...authorization } },
    fetch: makeExactFetch(given ?? globalThis.fetch, makeBounds(options)),
  }
}

/** A time limit combined with the caller's signal; records which of the two fired. */
class Deadline {
  readonly ms: number
  readonly signal: AbortSignal
  timedOut = false
  private readonly controller = new AbortController()
  private readonly timer: ReturnType<typeof setTimeout>
  private readonly ignore: () => void

  constructor(ms: number, outer: AbortSignal) {
    this.ms = ms
    this.signal = this.controller.signal
    this.timer = setTimeout(() => {
      this.timedOut = true
      this.controller.abort(new Error('timeout'))
    }, clampTimer(ms))
    this.ignore = listenForAbort(outer, () => this.controller.abort(outer.reason))
  }

  clear(): void {
    clearTimeout(this.timer)
    this.ignore()
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

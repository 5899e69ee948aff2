// HTTP (records HttpRequest, HttpStream) through undici, which is loaded with the first request. One exchange at a time, no
// redirects and no cookies: both are the builtin's. Refusals of the network are results; refusals of the policy are errors of
// category `egress_blocked`, raised before anything is sent.

import type { Readable } from 'node:stream'
import { createHash } from 'node:crypto'
import type { Agent, Dispatcher, ProxyAgent } from 'undici'
import type { Effect, EffectOutcome, Plain } from '@bridle/vm'
import { clampTimer } from '../library/time/host-clock.js'
import { readOsErrorCode, describeOsError } from '../tools/executors/os-errors.js'
import { answered, categorizedError, describeCause, refused, runtimeError } from '../tools/executors/provider.js'
import type { EffectCall, Provider } from '../tools/executors/provider.js'
import { ACCEPTED_ENCODINGS, unpackBody } from './content-encoding.js'
import { readFileIn, writeFileIn } from './fs.js'
import { RateWindow, findBlocked, checkUrl, guardedLookup, judgesAddresses } from './network-policy.js'
import type { NetworkPolicy } from './network-policy.js'
import { SandboxViolation } from './sandbox.js'
import { SecretKeeper } from '../host/secrets.js'
import type { Secrets } from '../host/secrets.js'
import { WebSockets } from './websocket.js'
import { makeViolation } from './workspace.js'
import type { Workspace } from './workspace.js'

export interface HttpOptions {
  /** Private addresses are refused unless the policy says otherwise. */
  readonly policy?: NetworkPolicy
  /** Largest body that is read into memory; 64 MiB by default. */
  readonly maxBodyBytes?: number
  /** Limit of a request that names none; 30 s by default. */
  readonly timeoutMs?: number
  /** Of requests that name none. */
  readonly userAgent?: string
  /** What scripts may have sent by name (`auth: {secret: "NAME"}`), to the origins that it is bound to. */
  readonly secrets?: Secrets
}

export function httpProvider(workspace: Workspace, options: HttpOptions = {}): Provider {
  const client = new HttpClient(workspace, options)
  return {
    kinds: ['http.request', 'net.stream'],
    perform: (effect, call) => client.perform(effect, call),
    close: () => client.close(),
  }
}

class SecretRefused extends Error {}

/** What the files of the `tls` option are, for errors. */
const TLS_FILES = {
  caBundlePath: 'CA bundle',
  clientCertPath: 'client certificate',
  clientKeyPath: 'client key',
  clientIdentityPath: 'client identity',
} as const

const DEFAULT_TIMEOUT_MS = 30_000
/** Of the headers of one response, all together. */
const MAX_HEADER_BYTES = 256 << 10

/** What is used of the library, which is loaded with the first request. */
interface Undici {
  readonly Agent: typeof Agent
  readonly ProxyAgent: typeof ProxyAgent
}

interface OpenStream {
  readonly body: AsyncIterator<Uint8Array>
  readonly source: Readable
  rest: Uint8Array
  /** The piece that is under way; a read that gave up leaves it to the next one. */
  next: Promise<IteratorResult<Uint8Array>> | null
  readonly finish: () => void
}

class HttpClient {
  private readonly workspace: Workspace
  private readonly options: HttpOptions
  private readonly agents = new Map<string, Dispatcher>()
  private readonly streams = new Map<string, OpenStream>()
  private readonly sockets: WebSockets
  private readonly rates: RateWindow
  private readonly secrets: SecretKeeper

  constructor(workspace: Workspace, options: HttpOptions) {
    this.workspace = workspace
    this.options = options
    this.rates = new RateWindow(options.policy?.perHost)
    this.secrets = new SecretKeeper(options.secrets)
    this.sockets = new WebSockets(options.policy ?? {}, (args, url) => this.makeSecretHeaders(args, url))
  }

  perform(effect: Effect, call: EffectCall): EffectOutcome | Promise<EffectOutcome> {
    if (effect.kind === 'http.request') return this.attempt(call, () => this.request(effect.args, call))
    const id = String(effect.args.id ?? '')
    const op = String(effect.args.op ?? '')
    switch (op) {
      case 'http_open':
        return this.attempt(call, () => this.openStream(id, effect.args, call))
      case 'http_read':
        return this.attempt(call, () => this.readStream(id, effect.args))
      case 'http_close':
        return this.closeStream(id)
      default:
        return this.attempt(call, async () => {
          const known = await this.sockets.perform(op, effect.args, call.signal)
          return known ?? runtimeError(`net.stream: operation ${JSON.stringify(op)} is not available on this host`)
        })
    }
  }

  private get mostBytes(): number {
    return this.options.maxBodyBytes ?? 64 << 20
  }

  async close(): Promise<void> {
    for (const id of [...this.streams.keys()]) this.closeStream(id)
    this.sockets.close()
    await Promise.allSettled([...this.agents.values()].map((agent) => agent.destroy()))
    this.agents.clear()
  }

  /** What the script says, and what it leaves open. */
  private makeHeaders(args: Effect['args'], url: URL): { readonly [name: string]: string } {
    const given = record(args.headers ?? null) as { readonly [name: string]: string }
    const usual: { [name: string]: string | undefined } = {
      'user-agent': this.options.userAgent,
      accept: '*/*',
      'accept-encoding': args.decompress === false ? undefined : ACCEPTED_ENCODINGS,
      authorization: url.username === '' && url.password === '' ? undefined : formatBasic(url),
    }
    for (const name of Object.keys(given)) delete usual[name.toLowerCase()]
    return { ...(usual as { [name: string]: string }), ...given, ...this.makeSecretHeaders(args, url) }
  }

  /** The headers that carry secrets; throws for one that may not go to this origin. */
  private makeSecretHeaders(args: Effect['args'], url: URL): { readonly [name: string]: string } {
    const found = this.secrets.headersFor(record(args.secrets ?? null), url)
    if (typeof found === 'string') throw new SecretRefused(found)
    return found
  }

  private async attempt(call: EffectCall, work: () => Promise<EffectOutcome>): Promise<EffectOutcome> {
    try {
      return await work()
    } catch (failure) {
      const cause = failure instanceof BodyFailure ? failure.cause : failure
      const blocked = findBlocked(cause)
      if (blocked !== null) return categorizedError('egress_blocked', blocked.message)
      if (cause instanceof SandboxViolation) return makeViolation(cause)
      if (cause instanceof SecretRefused) return categorizedError('tool_rejected', cause.message)
      if (call.signal.aborted) return runtimeError('http: the run was cancelled')
      return refused(readHttpCode(cause), describeHttpError(cause), failure instanceof BodyFailure ? { stage: 'body' } : {})
    }
  }

  private async request(args: Effect['args'], call: EffectCall): Promise<EffectOutcome> {
    const exchange = await this.exchange(args, call)
    try {
      const body = await readAll(exchange.body, this.mostBytes).catch((cause: unknown) => {
        throw new BodyFailure(cause)
      })
      const { saveTo } = args
      if (typeof saveTo !== 'string')
        return answered({ status: exchange.status, headers: exchange.headers, body, bytesWritten: 0 })
      try {
        writeFileIn(this.workspace, saveTo, body)
      } catch (cause) {
        if (cause instanceof SandboxViolation) throw cause
        return refused(readOsErrorCode(cause), describeOsError(cause), { path: this.workspace.shown(saveTo) })
      }
      return answered({ status: exchange.status, headers: exchange.headers, body: new Uint8Array(0), bytesWritten: body.length })
    } finally {
      exchange.finish()
    }
  }

  private async openStream(id: string, args: Effect['args'], call: EffectCall): Promise<EffectOutcome> {
    const exchange = await this.exchange(args, call)
    this.streams.set(id, {
      body: exchange.body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>,
      source: exchange.body,
      rest: new Uint8Array(0),
      next: null,
      finish: exchange.finish,
    })
    return answered({ status: exchange.status, headers: exchange.headers })
  }

  /** Bytes, nil at the end, or `{timeout: true}` when `timeoutMs` is given and nothing came; the next read continues waiting. */
  private async readStream(id: string, args: Effect['args']): Promise<EffectOutcome> {
    const stream = this.streams.get(id)
    if (stream === undefined) return answered(null)
    const { timeoutMs } = args
    while (stream.rest.length === 0) {
      stream.next ??= stream.body.next()
      const next = typeof timeoutMs === 'number' ? await awaitWithin(stream.next, timeoutMs) : await stream.next
      if (next === null) return answered({ timeout: true })
      stream.next = null
      if (next.done === true) return answered(null)
      stream.rest = next.value
    }
    const piece = stream.rest.subarray(0, Math.max(1, Number(args.maxBytes)))
    stream.rest = stream.rest.subarray(piece.length)
    return answered(new Uint8Array(piece))
  }

  private closeStream(id: string): EffectOutcome {
    const stream = this.streams.get(id)
    this.streams.delete(id)
    stream?.source.on('error', () => {}).destroy()
    stream?.finish()
    return answered(null)
  }

  private async exchange(
    args: Effect['args'],
    call: EffectCall,
  ): Promise<{
    readonly status: number
    readonly headers: { readonly [name: string]: string }
    readonly body: Readable
    readonly finish: () => void
  }> {
    const url = new URL(String(args.url))
    const policy = this.options.policy ?? {}
    checkUrl(url, policy)
    this.rates.admit(url)
    // The module is CommonJS: in a bundle only its default export has the members.
    const { default: undici } = await import('undici')
    const limit = new AbortController()
    const totalMs = typeof args.timeoutMs === 'number' ? args.timeoutMs : (this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS)
    const timer = setTimeout(() => limit.abort(makeTimeoutError()), clampTimer(totalMs))
    const onAbort = (): void => limit.abort(call.signal.reason)
    if (call.signal.aborted) onAbort()
    else call.signal.addEventListener('abort', onAbort, { once: true })
    const finish = (): void => {
      clearTimeout(timer)
      call.signal.removeEventListener('abort', onAbort)
    }
    try {
      const readMs = typeof args.readTimeoutMs === 'number' ? args.readTimeoutMs : undefined
      const { dispatcher, origin, path, headers } = this.route(undici, url, args, policy)
      const response = await dispatcher.request({
        origin,
        path,
        method: String(args.method) as Dispatcher.HttpMethod,
        headers: { ...this.makeHeaders(args, url), ...headers },
        body: toBody(args.body ?? null),
        signal: limit.signal,
        ...(readMs === undefined ? {} : { headersTimeout: readMs, bodyTimeout: readMs }),
      })
      const found = toPlainHeaders(response.headers)
      const content = args.decompress === false ? null : unpackBody(response.body, found['content-encoding'], this.mostBytes)
      // They describe the compressed body, which no longer exists.
      if (content !== null) for (const name of ['content-encoding', 'content-length']) delete found[name]
      return {
        status: response.statusCode,
        headers: found,
        body: content ?? response.body,
        finish,
      }
    } catch (cause) {
      finish()
      throw limit.signal.aborted && !call.signal.aborted ? makeTimeoutError() : cause
    }
  }

  /** The agent that leads to the host, directly or through a proxy, and what to ask it for. */
  private route(
    undici: Undici,
    url: URL,
    args: Effect['args'],
    policy: NetworkPolicy,
  ): {
    readonly dispatcher: Dispatcher
    readonly origin: string
    readonly path: string
    readonly headers: { readonly [name: string]: string }
  } {
    const connect = this.connectOptions(url, args, policy, judgesAddresses(url, policy))
    const proxy = record(args.proxy ?? null)
    const direct = { origin: url.origin, path: url.pathname + url.search, headers: {} }
    if (typeof proxy['url'] !== 'string' || isProxyBypassed(url, typeof proxy['noProxy'] === 'string' ? proxy['noProxy'] : '')) {
      return {
        dispatcher: this.getAgent(JSON.stringify(['direct', connect.key]), () => this.makePlainAgent(undici, connect.options)),
        ...direct,
      }
    }
    const proxyUrl = new URL(proxy['url'])
    // It is a host like any other: by it a script must not reach what it may not ask for. What the name of the target leads to is the
    // proxy's own matter, which resolves it.
    checkUrl(proxyUrl, policy)
    const judged = judgesAddresses(proxyUrl, policy)
    const user = typeof proxy['user'] === 'string' ? proxy['user'] : decodeOrKeep(proxyUrl.username)
    const password = typeof proxy['password'] === 'string' ? proxy['password'] : decodeOrKeep(proxyUrl.password)
    const token = user === '' ? null : `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    const lookup = judged ? { lookup: guardedLookup as never } : {}
    if (url.protocol === 'https:') {
      const { lookup: _unused, ...requestTls } = connect.options
      const make = (): Dispatcher =>
        new undici.ProxyAgent({
          uri: proxyUrl.origin,
          requestTls: requestTls as never,
          proxyTls: lookup as never,
          maxHeaderSize: MAX_HEADER_BYTES,
          ...(token === null ? {} : { token }),
        })
      return {
        dispatcher: this.getAgent(JSON.stringify(['tunnel', proxyUrl.origin, token, judged, connect.key]), make),
        ...direct,
      }
    }
    // Plain HTTP goes to the proxy itself, with the whole URL as the path.
    return {
      dispatcher: this.getAgent(JSON.stringify(['proxy', judged, connect.key]), () => this.makePlainAgent(undici, lookup)),
      origin: proxyUrl.origin,
      path: `${url.origin}${url.pathname}${url.search}`,
      headers: { host: url.host, ...(token === null ? {} : { 'proxy-authorization': token }) },
    }
  }

  private makePlainAgent(undici: Undici, connect: { readonly [name: string]: unknown }): Dispatcher {
    return new undici.Agent({ connect, maxHeaderSize: MAX_HEADER_BYTES })
  }

  private getAgent(key: string, make: () => Dispatcher): Dispatcher {
    const known = this.agents.get(key)
    if (known !== undefined) return known
    const made = make().compose(refuseOddStatuses)
    this.agents.set(key, made)
    return made
  }

  private connectOptions(
    url: URL,
    args: Effect['args'],
    policy: NetworkPolicy,
    judged: boolean,
  ): { readonly key: unknown; readonly options: { [name: string]: unknown } } {
    const options: { [name: string]: unknown } = {}
    if (typeof args.connectTimeoutMs === 'number') options['timeout'] = args.connectTimeoutMs
    if (judged) options['lookup'] = guardedLookup
    const tls = record(args.tls ?? null)
    const readTlsFile = (name: keyof typeof TLS_FILES): Buffer | null => {
      const path = tls[name]
      if (typeof path !== 'string') return null
      try {
        return Buffer.from(readFileIn(this.workspace, path))
      } catch (cause) {
        if (cause instanceof SandboxViolation) throw cause
        throw new Error(`failed to read ${TLS_FILES[name]} ${this.workspace.shown(path)}: ${describeOsError(cause)}`)
      }
    }
    const ca = readTlsFile('caBundlePath')
    if (ca !== null) options['ca'] = ca
    const cert = readTlsFile('clientCertPath') ?? readTlsFile('clientIdentityPath')
    if (cert !== null) options['cert'] = cert
    const key = readTlsFile('clientKeyPath') ?? readTlsFile('clientIdentityPath')
    if (key !== null) options['key'] = key
    const pins = Array.isArray(tls['pinnedSha256']) ? tls['pinnedSha256'].map(String) : []
    if (pins.length > 0) {
      options['checkServerIdentity'] = (_host: string, certificate: { readonly raw: Buffer }): Error | undefined =>
        isPinned(certificate.raw, pins) ? undefined : new Error('server certificate is not one of the pinned ones')
    }
    return { key: [args.connectTimeoutMs ?? null, judged, args.tls ?? null], options }
  }
}

/**
 * A status below 100 is no HTTP. The client's own answer to it is a failing assertion without words, for which Node reads the source of the
 * client: that takes seconds where it is bundled, and any server could ask for it.
 */
const refuseOddStatuses: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const judge = (status: unknown): void => {
    if (Number(status) < 100) throw new Error('Response does not match the HTTP/1.1 protocol (Invalid status code)')
  }
  // Which of its two interfaces a handler has is the client's matter.
  const judging = new Proxy(handler, {
    get(target, key) {
      const method: unknown = Reflect.get(target, key)
      if (typeof method !== 'function') return method
      return (...args: readonly unknown[]): unknown => {
        if (key === 'onResponseStart') judge(args[1])
        else if (key === 'onHeaders') judge(args[0])
        return Reflect.apply(method, target, args)
      }
    },
  })
  return dispatch(options, judging)
}

/** Credentials of a URL, which never go into the request line. */
function formatBasic(url: URL): string {
  return `Basic ${Buffer.from(`${decodeOrKeep(url.username)}:${decodeOrKeep(url.password)}`).toString('base64')}`
}

/** Percent-decoded; text that is not encoded in that way stands for itself. */
function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function isPinned(raw: Buffer, pins: readonly string[]): boolean {
  const digest = createHash('sha256').update(raw).digest()
  return pins.some((pin) => {
    const bare = pin.replace(/^sha256[/:]/i, '')
    return bare === digest.toString('base64') || bare.replaceAll(':', '').toLowerCase() === digest.toString('hex')
  })
}

function isProxyBypassed(url: URL, noProxy: string): boolean {
  const host = url.hostname.toLowerCase()
  return noProxy
    .split(',')
    .map((rule) => rule.trim().toLowerCase())
    .some((rule) => {
      if (rule === '') return false
      if (rule === '*') return true
      const bare = rule.replace(/^\*?\./, '').replace(/:\d+$/, '')
      return host === bare || host.endsWith(`.${bare}`)
    })
}

function toBody(body: Plain): string | Buffer | null {
  if (body instanceof Uint8Array) return Buffer.from(body)
  return typeof body === 'string' ? body : null
}

function toPlainHeaders(headers: { readonly [name: string]: string | string[] | undefined }): { [name: string]: string } {
  const out = Object.create(null) as { [name: string]: string }
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) out[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return out
}

async function readAll(body: Readable, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > most) {
      body.destroy()
      throw Object.assign(new Error(`response body is larger than ${most} bytes`), { code: 'EMSGSIZE' })
    }
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

/** null when the time ran out first. */
async function awaitWithin<T>(promise: Promise<T>, timeoutMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  try {
    return await Promise.race([
      promise,
      new Promise<null>((resolve) => {
        timer = setTimeout(() => resolve(null), clampTimer(timeoutMs))
      }),
    ])
  } finally {
    clearTimeout(timer)
  }
}

/** The response had begun: what its body did. */
class BodyFailure extends Error {
  constructor(cause: unknown) {
    super('body', { cause })
  }
}

function makeTimeoutError(): Error {
  return Object.assign(new Error('operation timed out'), { code: 'ETIMEDOUT_TOTAL' })
}

const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'ETIMEDOUT_TOTAL',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])

function readHttpCode(cause: unknown): string {
  const code = readOsErrorCode(findInnermost(cause))
  return TIMEOUT_CODES.has(code) ? 'ETIMEDOUT' : code
}

function describeHttpError(cause: unknown): string {
  const inner = findInnermost(cause)
  const code = readOsErrorCode(inner)
  if (TIMEOUT_CODES.has(code)) return 'operation timed out'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'dns error: failed to lookup address information'
  return code === 'EIO' ? describeCause(inner) : describeOsError(inner)
}

function findInnermost(cause: unknown): unknown {
  if (cause instanceof AggregateError && cause.errors.length > 0) return findInnermost(cause.errors[0])
  return cause instanceof Error && cause.cause instanceof Error && readOsErrorCode(cause) === 'EIO'
    ? findInnermost(cause.cause)
    : cause
}

function record(value: Plain): { readonly [key: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
    ? (value as { readonly [key: string]: Plain })
    : {}
}

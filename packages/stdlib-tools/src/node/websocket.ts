// WebSockets on the network: the `ws_…` operations of net.stream, through the ws library, which is loaded with the first one.
// Sockets and servers are named by keys that this file makes; the machine keeps the keys. What arrives waits here, numbered,
// until the machine says that it has it, so that an abandoned or repeated receive loses nothing.
//
// Outgoing connections obey the network policy as HTTP does: by URL, by name, and by the address at the moment of connecting.
// Servers listen on loopback addresses only, unless the policy lets private addresses be.

import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { URL } from 'node:url'
import ipaddr from 'ipaddr.js'
import type { RawData, WebSocket, WebSocketServer } from 'ws'
import type { Effect, EffectOutcome, Plain } from '@bridle/vm'
import { clampTimer } from '../library/time/host-clock.js'
import { describeOsError } from '../tools/executors/os-errors.js'
import { answered, refused } from '../tools/executors/provider.js'
import { checkUrl, guardedLookup, judgesAddresses } from './network-policy.js'
import type { NetworkPolicy } from './network-policy.js'

type Args = Effect['args']

type Message = { readonly [key: string]: Plain }

interface Waiter {
  readonly settle: () => void
}

interface Endpoint {
  readonly socket: WebSocket
  readonly inbox: { readonly seq: number; readonly message: Message }[]
  nextSeq: number
  waiter: Waiter | null
  /** Of the messages in `inbox`. */
  bytes: number
  /** No further message will come. */
  ended: boolean
}

interface Route {
  readonly bearer: string | null
  readonly maxBytes: number
  readonly idleMs: number
}

interface Listener {
  readonly server: Server
  readonly routes: Map<string, Route>
  readonly waiting: { readonly key: string; readonly path: string; readonly peer: string; readonly headers: Message }[]
  waiter: Waiter | null
}

const DEFAULT_CONNECT_MS = 30_000
/** Reading pauses for a socket whose messages are not received. */
const MOST_WAITING = 1024
const MOST_BYTES_WAITING = 8 << 20
/** Maximum of unaccepted connections; further ones are refused. */
const MOST_CONNECTIONS = 128

export class WebSockets {
  private readonly policy: NetworkPolicy
  private readonly endpoints = new Map<string, Endpoint>()
  private readonly listeners = new Map<string, Listener>()
  private made = 0

  private readonly secrets: (args: Args, url: URL) => { readonly [header: string]: string }

  /** `secrets`: headers that carry what the host lends; throws where it may not go. */
  constructor(policy: NetworkPolicy, secrets: (args: Args, url: URL) => { readonly [header: string]: string } = () => ({})) {
    this.policy = policy
    this.secrets = secrets
  }

  perform(op: string, args: Args, signal: AbortSignal): EffectOutcome | Promise<EffectOutcome> | null {
    switch (op) {
      case 'ws_connect':
        return this.connect(args, signal)
      case 'ws_send':
        return this.send(args)
      case 'ws_receive':
        return this.receive(args, signal)
      case 'ws_close':
        return answered(this.closeEndpoint(readText(args.key)))
      case 'ws_listen':
        return this.listen(args)
      case 'ws_route':
        return this.route(args)
      case 'ws_accept':
        return this.accept(args, signal)
      case 'ws_unlisten':
        return answered(this.closeListener(readText(args.key)))
      default:
        return null
    }
  }

  close(): void {
    for (const key of [...this.listeners.keys()]) this.closeListener(key)
    for (const key of [...this.endpoints.keys()]) this.closeEndpoint(key)
  }

  // ------------------------------------------------------------------------------------------------------------ sockets

  private async connect(args: Args, signal: AbortSignal): Promise<EffectOutcome> {
    const url = new URL(readText(args.url))
    const asHttp = new URL(url.href.replace(/^ws/, 'http'))
    checkUrl(asHttp, this.policy)
    const { default: ws } = await import('ws')
    const socket = new ws(url, {
      headers: { ...readStringRecord(args.headers ?? null), ...this.secrets(args, asHttp) },
      handshakeTimeout: readNumber(args.timeoutMs, DEFAULT_CONNECT_MS),
      maxPayload: readNumber(args.maxBytes, 1 << 20),
      perMessageDeflate: false,
      followRedirects: false,
      ...(judgesAddresses(asHttp, this.policy) ? { lookup: guardedLookup } : {}),
    })
    return await new Promise((resolve, reject) => {
      const onAbort = (): void => socket.terminate()
      signal.addEventListener('abort', onAbort, { once: true })
      const settle = (work: () => void): void => {
        signal.removeEventListener('abort', onAbort)
        work()
      }
      socket.once('unexpected-response', (request: { destroy: () => void }, response: IncomingMessage) => {
        request.destroy()
        const detail = `HTTP error: ${response.statusCode ?? 0} ${response.statusMessage ?? ''}`.trimEnd()
        settle(() => resolve(refused('EPROTO', detail)))
      })
      socket.once('error', (cause) => {
        settle(() => {
          if (isNetworkProblem(cause)) resolve(refused(readCode(cause), connectProblem(cause)))
          else reject(cause)
        })
      })
      // Listening begins with the socket, so that a message right behind the handshake is not missed.
      const key = this.adopt(socket, 'socket')
      socket.once('open', () => settle(() => resolve(answered({ key }))))
    })
  }

  private adopt(socket: WebSocket, kind: string): string {
    const key = `${kind}-${++this.made}`
    const endpoint: Endpoint = { socket, inbox: [], nextSeq: 1, waiter: null, bytes: 0, ended: false }
    this.endpoints.set(key, endpoint)
    const takeMessage = (message: Message): void => {
      if (endpoint.ended) return
      endpoint.inbox.push({ seq: endpoint.nextSeq++, message })
      endpoint.bytes += measureMessage(message)
      if (endpoint.inbox.length >= MOST_WAITING || endpoint.bytes >= MOST_BYTES_WAITING) socket.pause()
      endpoint.waiter?.settle()
    }
    socket.on('message', (data: RawData, isBinary: boolean) => {
      const bytes = toBytes(data)
      takeMessage(isBinary ? { type: 'binary', data: bytes } : { type: 'text', data: Buffer.from(bytes).toString('utf8') })
    })
    socket.on('ping', (data: Buffer) => takeMessage({ type: 'ping', data: new Uint8Array(data) }))
    socket.on('pong', (data: Buffer) => takeMessage({ type: 'pong', data: new Uint8Array(data) }))
    socket.on('error', (cause) => {
      if (readCode(cause) === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') takeMessage({ type: 'oversize' })
    })
    socket.on('close', (code: number, reason: Buffer) => {
      // 1005: the frame had no code. 1006: there was no frame at all; the connection is just gone.
      if (code === 1005) takeMessage({ type: 'close' })
      else if (code !== 1006) takeMessage({ type: 'close', code, reason: reason.toString('utf8') })
      endpoint.ended = true
      endpoint.waiter?.settle()
    })
    return key
  }

  private send(args: Args): EffectOutcome | Promise<EffectOutcome> {
    const endpoint = this.endpoints.get(readText(args.key))
    if (endpoint === undefined || endpoint.socket.readyState !== endpoint.socket.OPEN) return answered(false)
    const { socket } = endpoint
    const { data } = args
    const payload = data instanceof Uint8Array ? Buffer.from(data) : readText(data)
    return new Promise((resolve) => {
      const settleSent = (cause?: Error | null): void => resolve(answered(cause === undefined || cause === null))
      switch (args.type) {
        case 'ping':
          return socket.ping(payload, undefined, settleSent)
        case 'pong':
          return socket.pong(payload, undefined, settleSent)
        case 'close':
          socket.close(typeof args.code === 'number' ? args.code : 1000, readText(args.reason))
          return settleSent()
        default:
          socket.send(payload, { binary: args.type === 'binary' }, settleSent)
      }
    })
  }

  /** `{seq, …message}`, `{timeout: true}`, or nil when nothing more will come. Messages up to `after` are forgotten. */
  private receive(args: Args, signal: AbortSignal): EffectOutcome | Promise<EffectOutcome> {
    const endpoint = this.endpoints.get(readText(args.key))
    if (endpoint === undefined) return answered(null)
    const after = readNumber(args.after, 0)
    while ((endpoint.inbox[0]?.seq ?? Number.POSITIVE_INFINITY) <= after)
      endpoint.bytes -= measureMessage(endpoint.inbox.shift()!.message)
    const hasRoom = endpoint.inbox.length < MOST_WAITING / 2 && endpoint.bytes < MOST_BYTES_WAITING / 2
    if (endpoint.socket.isPaused && hasRoom) endpoint.socket.resume()
    const look = (): Plain | undefined => {
      const next = endpoint.inbox[0]
      if (next !== undefined) return { seq: next.seq, ...next.message }
      return endpoint.ended ? null : undefined
    }
    return waitFor(endpoint, look, readNumber(args.timeoutMs, DEFAULT_CONNECT_MS), signal)
  }

  private closeEndpoint(key: string): boolean {
    const endpoint = this.endpoints.get(key)
    if (endpoint === undefined) return false
    this.endpoints.delete(key)
    endpoint.ended = true
    endpoint.waiter?.settle()
    if (endpoint.socket.readyState === endpoint.socket.CONNECTING) endpoint.socket.terminate()
    else endpoint.socket.close()
    // The other side may never answer the closing frame; ws waits half a minute, a run that ends does not.
    const { socket } = endpoint
    setTimeout(() => socket.terminate(), 1000).unref()
    return true
  }

  // ------------------------------------------------------------------------------------------------------------ servers

  private async listen(args: Args): Promise<EffectOutcome> {
    const host = readText(args.host)
    const port = readNumber(args.port, 0)
    if (this.policy.denyPrivate !== false && !isLoopback(host)) return refused('EACCES', 'Permission denied (os error 13)')
    const { WebSocketServer: Wss } = await import('ws')
    const server = createServer((_request, response) => {
      response.writeHead(426, { 'content-type': 'text/plain' }).end('Upgrade Required')
    })
    const key = `server-${++this.made}`
    const listener: Listener = { server, routes: new Map(), waiting: [], waiter: null }
    server.on('upgrade', (request, socket, head) => this.upgrade(Wss, listener, request, socket, head))
    return await new Promise((resolve) => {
      server.once('error', (cause) => resolve(refused(readCode(cause), describeOsError(cause))))
      server.listen(port, host, () => {
        this.listeners.set(key, listener)
        const address = server.address() as AddressInfo // it listens on TCP
        resolve(
          answered({ key, address: `${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}` }),
        )
      })
    })
  }

  private upgrade(Wss: typeof WebSocketServer, listener: Listener, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => {})
    const path = (request.url ?? '/').split('?')[0]!
    const route = listener.routes.get(path)
    if (route === undefined) return reject(socket, '404 Not Found')
    if (route.bearer !== null && request.headers.authorization !== `Bearer ${route.bearer}`)
      return reject(socket, '401 Unauthorized')
    if (listener.waiting.length >= MOST_CONNECTIONS) return reject(socket, '503 Service Unavailable')
    const upgrader = new Wss({ noServer: true, maxPayload: route.maxBytes, perMessageDeflate: false })
    upgrader.handleUpgrade(request, socket, head, (accepted) => {
      const key = this.adopt(accepted, 'accepted')
      if (route.idleMs > 0) closeWhenIdle(accepted, route.idleMs)
      const { remoteAddress = '', remotePort = 0 } = request.socket
      listener.waiting.push({ key, path, peer: `${remoteAddress}:${remotePort}`, headers: makeHeadersMessage(request) })
      listener.waiter?.settle()
    })
  }

  private route(args: Args): EffectOutcome {
    const listener = this.listeners.get(readText(args.key))
    listener?.routes.set(readText(args.path), {
      bearer: typeof args.bearer === 'string' ? args.bearer : null,
      maxBytes: readNumber(args.maxBytes, 1 << 20),
      idleMs: readNumber(args.idleMs, 0),
    })
    return answered(listener !== undefined)
  }

  private accept(args: Args, signal: AbortSignal): EffectOutcome | Promise<EffectOutcome> {
    const listener = this.listeners.get(readText(args.key))
    if (listener === undefined) return answered(null)
    const look = (): Plain | undefined => listener.waiting.shift()
    return waitFor(listener, look, readNumber(args.timeoutMs, DEFAULT_CONNECT_MS), signal)
  }

  private closeListener(key: string): boolean {
    const listener = this.listeners.get(key)
    if (listener === undefined) return false
    this.listeners.delete(key)
    for (const each of listener.waiting.splice(0)) this.closeEndpoint(each.key)
    listener.server.close()
    listener.server.closeAllConnections()
    listener.waiter?.settle()
    return true
  }
}

/** Answers as soon as `look` finds something, with `{timeout: true}` when it does not in time. The newest waiter wins. */
function waitFor(
  holder: { waiter: Waiter | null },
  look: () => Plain | undefined,
  timeoutMs: number,
  signal: AbortSignal,
): EffectOutcome | Promise<EffectOutcome> {
  const found = look()
  if (found !== undefined) return answered(found)
  if (timeoutMs <= 0) return answered({ timeout: true })
  return new Promise((resolve) => {
    const finish = (value: Plain): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      if (holder.waiter === waiter) holder.waiter = null
      resolve(answered(value))
    }
    const waiter: Waiter = {
      settle: () => {
        const value = look()
        if (value !== undefined) finish(value)
      },
    }
    const onAbort = (): void => finish({ timeout: true })
    const timer = setTimeout(() => finish({ timeout: true }), clampTimer(timeoutMs))
    signal.addEventListener('abort', onAbort, { once: true })
    holder.waiter = waiter
  })
}

function reject(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
}

function closeWhenIdle(socket: WebSocket, idleMs: number): void {
  const timer = setTimeout(() => socket.close(1001, 'idle timeout'), clampTimer(idleMs))
  timer.unref()
  const touch = (): void => {
    timer.refresh()
  }
  for (const event of ['message', 'ping', 'pong'] as const) socket.on(event, touch)
  socket.on('close', () => clearTimeout(timer))
}

/** An address, for a name such as `127.example` leads wherever its owner wants. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')
}

function makeHeadersMessage(request: IncomingMessage): Message {
  const out = Object.create(null) as { [name: string]: Plain }
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) out[name] = Array.isArray(value) ? value.join(', ') : value
  return out
}

function toBytes(data: RawData): Uint8Array {
  if (Array.isArray(data)) return new Uint8Array(Buffer.concat(data))
  return new Uint8Array(data instanceof ArrayBuffer ? data : Buffer.from(data))
}

function readCode(cause: unknown): string {
  return String((cause as { readonly code?: unknown }).code ?? '')
}

function measureMessage({ data }: Message): number {
  return typeof data === 'string' || data instanceof Uint8Array ? data.length : 0
}

function isNetworkProblem(cause: Error): boolean {
  return cause.name !== 'EgressBlocked'
}

/** What follows `failed: ` in the message a script sees. */
function connectProblem(cause: unknown): string {
  const code = readCode(cause)
  const inner = cause instanceof AggregateError && cause.errors.length > 0 ? cause.errors[0] : cause
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'IO error: failed to lookup address information'
  if (/handshake has timed out/.test(String(cause))) return 'operation timed out'
  return code === '' || code.startsWith('WS_') ? String((cause as Error).message) : `IO error: ${describeOsError(inner)}`
}

function readText(value: Plain | undefined): string {
  return typeof value === 'string' ? value : ''
}

function readNumber(value: Plain | undefined, fallback: number): number {
  return typeof value === 'number' ? value : fallback
}

function readStringRecord(value: Plain): { [name: string]: string } {
  const out = Object.create(null) as { [name: string]: string }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) return out
  for (const [name, each] of Object.entries(value)) if (typeof each === 'string') out[name] = each
  return out
}

// WebSockets: mocked ones, those of the network, and, where the host gives no network, servers within the
// run that its own clients reach. Sockets of the network are the host's (`ws_…` operations of net.stream); limits, mocks and
// egress rules are judged here.

import {
  HarnBytes,
  HarnDict,
  builtin,
  builtinTaking,
  decodeBase64,
  decodeUtf8,
  display,
  encodeBase64,
  isInt,
  isTruthy,
  makeThrown,
  toMillis,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Effect, LibraryCall, Result, Value } from '@bridle/vm/families'
import { parseUrl } from '@bridle/compiler/grants'
import { checkEgress } from './egress.js'
import { readSecretHeaders, readSecret } from './options.js'
import { toDict } from './response.js'
import { isHandle, isPassedHandle, handleId, makeHandleId } from './state.js'
import { findRefusal, makeAsker, readTextField } from '../files/ask.js'
import { findHarnModule } from '../harn/modules.js'
import { definePrimitive } from '../harn/primitive.js'
import { addMock, readLimit, findMock, listMockMessages, recordCall } from './transport-state.js'
import { makeSocketKey, socketState } from './websocket-state.js'
import type { Message, Socket, SocketServer } from './websocket-state.js'

const DEFAULT_MESSAGES = 10_000
const DEFAULT_BYTES = 1 << 20
const DEFAULT_SEND_BUFFER = 64
const DEFAULT_WAIT_MS = 30_000

function readBearer(options: HarnDict): string | null {
  const token = toDict(options.get('auth')).get('bearer') ?? null
  return token === null || readSecret(token) !== null ? null : display(token)
}

// -------------------------------------------------------------------------------------------------------------- messages

/** A message from data and its options `{type, base64, code, reason}`; a text is the problem. */
function makeMessage(data: Value, options: HarnDict): Message | string {
  const type = display(options.get('type') ?? (data instanceof HarnBytes ? 'binary' : 'text'))
  const code = options.get('code') ?? null
  const reason = options.get('reason') ?? null
  const facts = { ...(isInt(code) ? { code: Number(code) } : {}), ...(reason === null ? {} : { reason: display(reason) }) }
  let bytes = data instanceof HarnBytes ? data.data : toUtf8(display(data))
  if (isTruthy(options.get('base64') ?? false)) {
    const decoded = decodeBase64(display(data))
    if (typeof decoded === 'string') return `invalid base64: ${decoded}`
    bytes = decoded
  }
  return { type, data: type === 'text' ? decodeUtf8(bytes) : encodeBase64(bytes), bytes: bytes.length, ...facts }
}

function makeMockMessage(given: Value): Message {
  const options = toDict(given)
  const data = given instanceof HarnDict ? (given.get('data') ?? '') : given
  const made = makeMessage(data, options)
  return typeof made === 'string' ? { type: 'text', data: display(data), bytes: 0 } : made
}

function encodeMessage(message: Message): HarnDict {
  if (message.type === 'close') {
    return HarnDict.of({
      type: 'close',
      ...(message.code === undefined ? {} : { code: message.code }),
      ...(message.reason === undefined ? {} : { reason: message.reason }),
    })
  }
  return HarnDict.of(
    message.type === 'text' ? { type: 'text', data: message.data } : { type: message.type, data_base64: message.data },
  )
}

// --------------------------------------------------------------------------------------------------------------- sockets

function makeSocket(url: string, more: Partial<Socket>): Socket {
  return {
    url,
    maxMessages: DEFAULT_MESSAGES,
    maxBytes: DEFAULT_BYTES,
    sendBuffer: DEFAULT_SEND_BUFFER,
    peer: null,
    remote: null,
    taken: 0,
    mocked: false,
    echo: false,
    inbox: [],
    received: 0,
    closed: false,
    ...more,
  }
}

function connect(ctx: Context, url: Value, given: Value): Result {
  const address = display(url ?? '')
  if (address === '') return ctx.throw('websocket_connect: URL is required')
  if (!/^wss?:\/\//.test(address)) return ctx.throw(`websocket_connect: URL must start with ws:// or wss://, got '${address}'`)
  const options = toDict(given)
  const limits = readLimits(options)
  const state = ctx.state(socketState)
  const mock = findMock(ctx, 'websocket', address)
  if (mock !== undefined) {
    const id = makeHandleId(ctx, 'websocket')
    state.sockets.set(
      id,
      makeSocket(address, { ...limits, mocked: true, echo: mock.echo, inbox: mock.messages.map(makeMockMessage) }),
    )
    recordCall(ctx, { kind: 'websocket_connect', handle: id, url: address })
    return id
  }
  const refused = checkEgress(ctx, 'websocket_connect', address)
  if (refused !== null) return refused
  const server = findServed(state, address)
  return server === undefined || server.remote !== null
    ? connectRemote(ctx, address, options)
    : connectWithin(ctx, address, options, limits)
}

function findServed(
  { servers }: { readonly servers: ReadonlyMap<string, SocketServer> },
  address: string,
): SocketServer | undefined {
  const host = parseUrl(address)?.host ?? null
  return [...servers.values()].find((each) => each.address === host)
}

function readLimits(options: HarnDict): { readonly maxMessages: number; readonly maxBytes: number } {
  return {
    maxMessages: readLimit(options, 'max_messages', DEFAULT_MESSAGES),
    maxBytes: readLimit(options, 'max_message_bytes', DEFAULT_BYTES),
  }
}

/** Connects over the network; the handle of the socket. */
function connectRemote(ctx: Context, address: string, options: HarnDict): Result {
  const secrets = readSecretHeaders(options)
  const wanted = options.get('timeout_ms') ?? options.get('timeout') ?? null
  const most = ctx.machine.judge?.limit(ctx, 'http.stream', 'timeout_ms') ?? Infinity
  const args = {
    op: 'ws_connect' as const,
    url: address,
    headers: readOwnHeaders(options),
    ...(secrets === null ? {} : { secrets }),
    timeoutMs: toMillis(wanted) ?? Math.min(DEFAULT_WAIT_MS, most),
    maxBytes: readLimits(options).maxBytes,
  }
  return connecting.ask(ctx, { kind: 'net.stream', args }, 'connected', address, options)
}

const connecting = makeAsker('websocket.connect', {
  connected: (ctx, answer, [address, options]) => {
    const refused = findRefusal(answer)
    if (refused !== null) return ctx.throw(`websocket_connect: failed: ${refused.detail}`)
    const limits = readLimits(options as HarnDict)
    const id = makeHandleId(ctx, 'websocket')
    const socket = makeSocket(address as string, { ...limits, remote: readTextField(answer, 'key') })
    ctx.state(socketState).sockets.set(id, socket)
    return id
  },
})

function readOwnHeaders(options: HarnDict): { readonly [name: string]: string } {
  const headers: { [name: string]: string } = Object.create(null)
  // What the host lends by name goes to its own origin, and to no server of this run.
  for (const [name, value] of toDict(options.get('headers')).entries())
    if (readSecret(value) === null) headers[name.toLowerCase()] = display(value)
  const token = readBearer(options)
  if (token !== null) headers['authorization'] = `Bearer ${token}`
  return headers
}

/** Connects to a server of this run: the two ends are made, and the server's waits to be accepted. */
function connectWithin(
  ctx: Context,
  address: string,
  options: HarnDict,
  limits: { readonly maxMessages: number; readonly maxBytes: number },
): Result {
  const state = ctx.state(socketState)
  const parsed = parseUrl(address)
  const [serverId, server] = [...state.servers].find(([, each]) => each.address === parsed?.host) ?? [null, null]
  if (parsed === null || server === null || serverId === null)
    return ctx.throw('websocket_connect: failed: IO error: Connection refused (os error 111)')
  const route = server.routes.get(parsed.pathname)
  if (route === undefined) return ctx.throw('websocket_connect: failed: HTTP error: 404 Not Found')
  const headers = requestHeaders(parsed, options)
  if (route.bearer !== null && headers.get('authorization') !== `Bearer ${route.bearer}`)
    return ctx.throw('websocket_connect: failed: HTTP error: 401 Unauthorized')
  const id = makeHandleId(ctx, 'websocket')
  const accepted = makeHandleId(ctx, 'websocket')
  const { maxMessages, maxBytes, sendBuffer } = route
  state.sockets.set(id, makeSocket(address, { ...limits, peer: accepted }))
  state.sockets.set(accepted, makeSocket(address, { maxMessages, maxBytes, sendBuffer, peer: id }))
  server.waiting.push({ id: accepted, path: parsed.pathname, peer: `127.0.0.1:${state.nextPort++}`, headers })
  ctx.wake(makeSocketKey(serverId))
  return id
}

function requestHeaders(url: URL, options: HarnDict): HarnDict {
  const headers = HarnDict.of({
    host: url.host,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': encodeBase64(toUtf8('in-process socket')),
  })
  for (const [name, value] of Object.entries(readOwnHeaders(options))) headers.set(name, value)
  return headers
}

function deliver(ctx: Context, id: string, message: Message): void {
  const socket = ctx.state(socketState).sockets.get(id)
  if (socket === undefined || socket.closed) return
  ctx.charge(1, 64 + message.data.length)
  socket.inbox.push(message)
  ctx.wake(makeSocketKey(id))
}

function send(ctx: Context, handle: Value, data: Value, given: Value): Result {
  const id = handleId(handle)
  const socket = ctx.state(socketState).sockets.get(id)
  if (socket === undefined) return ctx.throw(`websocket_send: unknown socket '${id}'`)
  if (socket.closed) return false
  const message = makeMessage(data, toDict(given))
  if (typeof message === 'string') return ctx.throw(`websocket_send: ${message}`)
  if (message.bytes > socket.maxBytes) return ctx.throw(`websocket_send: message exceeded max_message_bytes (${socket.maxBytes})`)
  if (socket.mocked)
    recordCall(ctx, { kind: 'websocket_send', handle: id, url: socket.url, type: message.type, data: message.data })
  else if (countQueued(ctx, socket) >= socket.sendBuffer) return ctx.throw('websocket_send: send buffer full')
  if (socket.remote !== null) return sendRemote(ctx, id, socket, message)
  if (message.type === 'close') {
    socket.closed = true
    socket.inbox.length = 0
    ctx.wake(makeSocketKey(id))
  } else if (socket.echo) socket.inbox.push(message)
  if (socket.peer !== null) {
    deliver(ctx, socket.peer, message)
    if (message.type === 'ping') deliver(ctx, id, { ...message, type: 'pong' })
  }
  return true
}

function sendRemote(ctx: Context, id: string, socket: Socket, message: Message): Result {
  if (message.type === 'close') {
    socket.closed = true
    ctx.wake(makeSocketKey(id))
  }
  const { type, data, code = null, reason = null } = message
  return ctx.perform({
    kind: 'net.stream',
    args: { op: 'ws_send', key: socket.remote, type, data: type === 'text' ? data : decodeOrEncode(data), code, reason },
  })
}

function decodeOrEncode(text: string): Uint8Array {
  const decoded = decodeBase64(text)
  return typeof decoded === 'string' ? toUtf8(text) : decoded // makeMessage made it
}

/** Messages that the other end has not taken yet. */
function countQueued(ctx: Context, socket: Socket): number {
  return socket.peer === null ? 0 : (ctx.state(socketState).sockets.get(socket.peer)?.inbox.length ?? 0)
}

/** What a receiver can have at once; null when it must wait. */
function take(ctx: Context, id: string): HarnDict | null {
  const socket = ctx.state(socketState).sockets.get(id)
  if (socket === undefined) throw makeThrown(`websocket_receive: unknown socket '${id}'`)
  if (socket.received >= socket.maxMessages) throw makeThrown(`websocket_receive: socket '${id}' exceeded max_messages`)
  if (socket.closed) {
    socket.received++
    return HarnDict.of({ value: null })
  }
  const message = socket.inbox.shift()
  if (message === undefined) return socket.mocked ? HarnDict.of({ value: HarnDict.of({ type: 'timeout' }) }) : null
  socket.received++
  if (message.type === 'close') socket.closed = true
  if (message.bytes <= socket.maxBytes) return HarnDict.of({ value: encodeMessage(message) })
  socket.closed = true
  throw makeThrown(`websocket_receive: message exceeded max_message_bytes (${socket.maxBytes})`)
}

/** What to ask the host for when a socket of the network has nothing to give; null for any other. */
function findRemoteInbox(ctx: Context, id: string): HarnDict | null {
  const socket = ctx.state(socketState).sockets.get(id)
  if (socket === undefined || socket.remote === null || socket.closed || socket.inbox.length > 0) return null
  return HarnDict.of({ key: socket.remote, after: socket.taken })
}

/** Puts what the network gave into the inbox; a connection that has ended gives no dict. */
function putIntoInbox(ctx: Context, id: string, answer: Value): null {
  const socket = ctx.state(socketState).sockets.get(id)
  if (socket === undefined) return null
  if (!(answer instanceof HarnDict)) {
    socket.closed = true
    return null
  }
  const message = readRemoteMessage(answer, socket)
  ctx.charge(1, 64 + message.data.length)
  socket.taken = Number(answer.get('seq') ?? 0)
  socket.inbox.push(message)
  return null
}

function readRemoteMessage(answer: HarnDict, socket: Socket): Message {
  const type = readTextField(answer, 'type')
  if (type === 'oversize') return { type, data: '', bytes: socket.maxBytes + 1 }
  const data = answer.get('data') ?? null
  const code = answer.get('code') ?? null
  const facts = isInt(code) ? { code: Number(code), reason: readTextField(answer, 'reason') } : {}
  if (data instanceof HarnBytes) return { type, data: encodeBase64(data.data), bytes: data.data.length, ...facts }
  const text = data === null ? '' : display(data)
  return { type, data: text, bytes: toUtf8(text).length, ...facts }
}

function close(ctx: Context, handle: Value): Result {
  const id = handleId(handle)
  const { sockets } = ctx.state(socketState)
  const socket = sockets.get(id)
  if (socket === undefined) return false
  if (socket.peer !== null && !socket.closed) deliver(ctx, socket.peer, { type: 'close', data: '', bytes: 0 })
  if (socket.mocked) recordCall(ctx, { kind: 'websocket_close', handle: id, url: socket.url })
  sockets.delete(id)
  ctx.wake(makeSocketKey(id))
  return socket.remote === null ? true : ctx.perform({ kind: 'net.stream', args: { op: 'ws_close', key: socket.remote } })
}

// --------------------------------------------------------------------------------------------------------------- servers

interface Place {
  readonly host: string
  readonly port: number
}

function readPlace(bind: Value): Place {
  const place = display(bind ?? '127.0.0.1:0')
  const colon = place.lastIndexOf(':')
  const host = (colon < 0 ? place : place.slice(0, colon)).replace(/^\[|\]$/g, '') || '127.0.0.1'
  return { host, port: colon < 0 ? 0 : Number(place.slice(colon + 1)) }
}

/** A server that listens on the network. */
function addRemoteServer(ctx: Context, answer: Value): Value {
  const id = makeHandleId(ctx, 'websocket-server')
  const address = readTextField(answer, 'address')
  ctx.state(socketState).servers.set(id, { address, remote: readTextField(answer, 'key'), routes: new Map(), waiting: [] })
  return HarnDict.of({ id, addr: address, url: `ws://${address}` })
}

/** A server that only this run reaches. */
function addOwnServer(ctx: Context, { host, port: wanted }: Place): Value {
  const state = ctx.state(socketState)
  const id = makeHandleId(ctx, 'websocket-server')
  const address = `${host}:${wanted > 0 ? wanted : state.nextPort++}`
  if ([...state.servers.values()].some((server) => server.address === address))
    throw makeThrown('websocket_server: bind failed: Address already in use (os error 98)')
  state.servers.set(id, { address, remote: null, routes: new Map(), waiting: [] })
  return HarnDict.of({ id, addr: address, url: `ws://${address}` })
}

function findServer(ctx: Context, handle: Value): SocketServer | undefined {
  return ctx.state(socketState).servers.get(handleId(handle))
}

function route(ctx: Context, handle: Value, path: Value, given: Value): Result {
  const server = findServer(ctx, handle)
  if (server === undefined) return ctx.throw(`websocket_route: unknown server '${handleId(handle)}'`)
  const effect = addRoute(ctx, server, display(path), toDict(given))
  return effect === null ? true : ctx.perform(effect)
}

/** Notes a route; what the host is to be told of it, when the server is the host's. */
function addRoute(ctx: Context, server: SocketServer, path: string, options: HarnDict): Effect | null {
  ctx.charge(1, 128)
  const bearer = readBearer(options)
  const maxBytes = readLimit(options, 'max_message_bytes', DEFAULT_BYTES)
  server.routes.set(path, {
    bearer,
    maxMessages: readLimit(options, 'max_messages', DEFAULT_MESSAGES),
    maxBytes,
    // None at all is a way to see what a full buffer does.
    sendBuffer: readLimit(options, 'send_buffer_messages', DEFAULT_SEND_BUFFER, 0),
  })
  if (server.remote === null) return null
  const idleMs = readLimit(options, 'idle_timeout_ms', DEFAULT_WAIT_MS)
  return { kind: 'net.stream', args: { op: 'ws_route', key: server.remote, path, bearer, maxBytes, idleMs } }
}

/** A connection of the network that the host accepted for a server; any other value means that there is no such server. */
function addAccepted(ctx: Context, serverId: string, answer: Value): Value {
  if (!(answer instanceof HarnDict)) throw makeThrown(`websocket_accept: unknown server '${serverId}'`)
  const url = readTextField(answer, 'path')
  const route = ctx.state(socketState).servers.get(serverId)?.routes.get(url)
  const id = makeHandleId(ctx, 'websocket')
  const { maxMessages = DEFAULT_MESSAGES, maxBytes = DEFAULT_BYTES, sendBuffer = DEFAULT_SEND_BUFFER } = route ?? {}
  const limits = { maxMessages, maxBytes, sendBuffer }
  ctx.state(socketState).sockets.set(id, makeSocket(url, { ...limits, remote: readTextField(answer, 'key') }))
  return HarnDict.of({ id, path: url, peer: readTextField(answer, 'peer'), headers: answer.get('headers') ?? new HarnDict() })
}

/** The next connection to a server of this run; null when there is none yet. */
function takeConnection(ctx: Context, id: string): Value {
  const server = ctx.state(socketState).servers.get(id)
  if (server === undefined) throw makeThrown(`websocket_accept: unknown server '${id}'`)
  const accepted = server.waiting.shift()
  return accepted === undefined ? null : HarnDict.of({ ...accepted })
}

/** What websocket.harn asks. */
const primitives: readonly BuiltinDef[] = [
  definePrimitive('__socket_place(bind: string?) -> dict', 'Where a server listens: {host, port}.', (_ctx, bind) => {
    const { host, port } = readPlace(bind ?? null)
    return HarnDict.of({ host, port: Number.isInteger(port) ? port : 0 })
  }),
  definePrimitive(
    '__add_remote_server(answer: dict) -> dict',
    'A server that listens on the network, as the host says.',
    (ctx, answer) => addRemoteServer(ctx, answer ?? null),
  ),
  definePrimitive('__add_own_server(bind: string?) -> dict', 'A server that only this run reaches.', (ctx, bind) =>
    addOwnServer(ctx, readPlace(bind ?? null)),
  ),
  definePrimitive(
    '__remote_inbox(id: string) -> dict?',
    'What to ask the host for when a socket of the network has nothing to give: {key, after}.',
    (ctx, id) => findRemoteInbox(ctx, id as string),
  ),
  definePrimitive(
    '__put_into_inbox(id: string, answer: any) -> nil',
    'Puts what the network gave into the inbox of a socket.',
    (ctx, id, answer) => putIntoInbox(ctx, id as string, answer ?? null),
  ),
  definePrimitive(
    '__take_message(id: string) -> dict?',
    'What a receiver can have at once: {value}; nil when it must wait.',
    (ctx, id) => take(ctx, id as string),
  ),
  definePrimitive(
    '__remote_server(id: string) -> string?',
    'Key of a server that listens on the network; nil for any other.',
    (ctx, id) => ctx.state(socketState).servers.get(id as string)?.remote ?? null,
  ),
  definePrimitive(
    '__add_accepted(id: string, answer: dict?) -> dict',
    'A connection of the network to a server, as the host says.',
    (ctx, id, answer) => addAccepted(ctx, id as string, answer ?? null),
  ),
  definePrimitive(
    '__take_connection(id: string) -> dict?',
    'The next connection to a server of this run; nil when there is none yet.',
    (ctx, id) => takeConnection(ctx, id as string),
  ),
  definePrimitive(
    '__socket_key(id: string) -> string',
    'What is woken when a socket or a server has something to give.',
    (_ctx, id) => makeSocketKey(id as string),
  ),
]

const defineCall = (name: string): LibraryCall => ({ module: 'library/http/websocket', function: name, output: 'keep' })
const OPEN_SERVER = defineCall('open_server')
const RECEIVE = defineCall('receive')
const ACCEPT = defineCall('accept')

const readWait = (timeout: Value): number => toMillis(timeout) ?? DEFAULT_WAIT_MS

const SEND_OPTIONS = `
  type: "text" | "binary" | "ping" | "pong" | "close" -- Kind of the message; text, or binary for bytes.
  base64: bool = false -- Whether the message is base64 of its bytes.
  code: int -- Why the socket is closed.
  reason: string -- The same in words.
`

const SERVER = { fits: { server: isPassedHandle('server') } } as const
const HERE = { effects: ['net.stream'] as readonly string[] }

export const websocketFamily: BuiltinFamily = {
  name: 'websocket',
  modules: findHarnModule,
  frames: [connecting.frame],
  primitives,
  builtins: [
    builtin(
      'websocket_mock(url_pattern: string, messages: list | dict) -> nil',
      { doc: 'Answers connections to matching URLs with these messages.', ...HERE },
      (ctx, pattern, given) => {
        if (display(pattern ?? '') === '') return ctx.throw('websocket_mock: URL pattern is required')
        const echo = given instanceof HarnDict && isTruthy(given.get('echo') ?? false)
        addMock(ctx, 'websocket', {
          pattern: display(pattern ?? ''),
          messages: listMockMessages(given ?? null, 'messages'),
          echo,
        })
        return null
      },
    ),
    builtin(
      'websocket_connect(url: string, options?: dict) -> string',
      { doc: 'Opens a socket.', ...HERE },
      (ctx, url, options) => connect(ctx, url ?? null, options ?? null),
    ),
    builtinTaking(
      'websocket_send(socket: string | dict, message: any, options?: dict) -> bool',
      { doc: 'Sends a message; false when the socket is closed.', ...HERE, shapes: { options: SEND_OPTIONS } },
      { fewer: '{f}: requires socket handle and message', fits: { socket: isHandle } },
      send,
    ),
    builtinTaking(
      'websocket_receive(socket: string | dict, timeout_ms?: int) -> dict | nil',
      { fromOutside: true, doc: 'The next message; nil when the socket is closed.', ...HERE },
      { fits: { socket: isPassedHandle('socket') } },
      (ctx, handle = null, timeout = null) => ctx.library(RECEIVE, [handleId(handle), readWait(timeout)]),
    ),
    builtinTaking(
      'websocket_close(socket: string | dict) -> bool',
      { doc: 'Closes a socket; whether it was known.', ...HERE },
      { fits: { socket: isPassedHandle('socket') } },
      close,
    ),
    builtin(
      'websocket_server(bind?: string, options?: dict) -> dict',
      { doc: 'A server for sockets: on the network, or within the run when the host has none.', ...HERE },
      (ctx, bind = null, options = null) => ctx.library(OPEN_SERVER, [bind, toDict(options)]),
    ),
    builtinTaking(
      'websocket_route(server: string | dict, path: string, options?: dict) -> bool',
      { doc: 'Lets a server take connections to a path.', ...HERE },
      { fewer: '{f}: requires server handle and route path', fits: { server: isHandle } },
      route,
    ),
    builtinTaking(
      'websocket_accept(server: dict | string, timeout_ms?: int) -> dict | nil',
      { fromOutside: true, doc: 'The next connection to a server.', ...HERE },
      SERVER,
      (ctx, server = null, timeout = null) => ctx.library(ACCEPT, [handleId(server), readWait(timeout)]),
    ),
    builtinTaking(
      'websocket_server_close(server: string | dict) -> bool',
      { doc: 'Ends a server; whether it was known.', ...HERE },
      SERVER,
      (ctx, server) => {
        const id = handleId(server)
        const { servers } = ctx.state(socketState)
        const remote = servers.get(id)?.remote ?? null
        ctx.wake(makeSocketKey(id))
        const known = servers.delete(id)
        return remote === null ? known : ctx.perform({ kind: 'net.stream', args: { op: 'ws_unlisten', key: remote } })
      },
    ),
  ],
}

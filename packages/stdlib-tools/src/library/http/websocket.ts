// WebSockets: mocked ones, those of the network, and, where the host gives no network, servers within the
// run that its own clients reach. Sockets of the network are the host's (`ws_…` operations of net.stream); limits, mocks and
// egress rules are judged here.

import {
  Fault,
  HarnBytes,
  HarnDict,
  ask,
  builtin,
  builtinTaking,
  decodeBase64,
  decodeUtf8,
  display,
  encodeBase64,
  failWith,
  runHere,
  isInt,
  isTruthy,
  toMillis,
  parkUntil,
  makeScripts,
  tryAsk,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, Effect, Result, Script, Value } from '@bridle/vm/families'
import { parseUrl } from '@bridle/compiler/grants'
import { checkEgress } from './egress.js'
import { readSecretHeaders, readSecret } from './options.js'
import { toDict } from './response.js'
import { isHandle, isPassedHandle, handleId, makeHandleId } from './state.js'
import { findRefusal, readTextField } from '../files/ask.js'
import { addMock, readLimit, findMock, listMockMessages, recordCall } from './transport-state.js'
import { acceptKey, makeInboxKey, socketState } from './websocket-state.js'
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
    ? machine.start(ctx, 'connect', address, options)
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
function* connectRemote(address: string, options: HarnDict): Script {
  const limits = readLimits(options)
  const secrets = readSecretHeaders(options)
  const wanted = options.get('timeout_ms') ?? options.get('timeout') ?? null
  const most = yield* runHere((ctx) => ctx.machine.judge?.limit(ctx, 'http.stream', 'timeout_ms') ?? Infinity)
  const answer = yield* ask({
    kind: 'net.stream',
    args: {
      op: 'ws_connect',
      url: address,
      headers: readOwnHeaders(options),
      ...(secrets === null ? {} : { secrets }),
      timeoutMs: toMillis(wanted) ?? Math.min(DEFAULT_WAIT_MS, most),
      maxBytes: limits.maxBytes,
    },
  })
  const refused = findRefusal(answer)
  if (refused !== null) return failWith(`websocket_connect: failed: ${refused.detail}`)
  return yield* runHere((ctx) => {
    const id = makeHandleId(ctx, 'websocket')
    ctx.state(socketState).sockets.set(id, makeSocket(address, { ...limits, remote: readTextField(answer, 'key') }))
    return id
  })
}

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
  ctx.wake(acceptKey(serverId))
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
  ctx.wake(makeInboxKey(id))
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
    ctx.wake(makeInboxKey(id))
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
    ctx.wake(makeInboxKey(id))
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

/** What a receiver can have at once; undefined when it must wait. */
function take(ctx: Context, id: string): Value | undefined {
  const socket = ctx.state(socketState).sockets.get(id)
  if (socket === undefined) return failWith(`websocket_receive: unknown socket '${id}'`)
  if (socket.received >= socket.maxMessages) return failWith(`websocket_receive: socket '${id}' exceeded max_messages`)
  if (socket.closed) {
    socket.received++
    return null
  }
  if (socket.remote !== null && socket.inbox.length === 0) return undefined
  const message = socket.inbox.shift()
  if (message === undefined) return socket.mocked ? HarnDict.of({ type: 'timeout' }) : undefined
  socket.received++
  if (message.type === 'close') socket.closed = true
  if (message.bytes <= socket.maxBytes) return encodeMessage(message)
  socket.closed = true
  return failWith(`websocket_receive: message exceeded max_message_bytes (${socket.maxBytes})`)
}

/** Waits for the next message of the network and lays it into the inbox; false when the time ran out. */
function* fetchRemote(id: string, remote: string, timeoutMs: number): Script<boolean> {
  const after = yield* runHere((ctx) => ctx.state(socketState).sockets.get(id)?.taken ?? 0)
  const answer = yield* ask({ kind: 'net.stream', args: { op: 'ws_receive', key: remote, after, timeoutMs } })
  return yield* runHere((ctx) => {
    const socket = ctx.state(socketState).sockets.get(id)
    if (answer instanceof HarnDict && answer.get('timeout') === true) return false
    if (socket === undefined) return true
    if (!(answer instanceof HarnDict)) {
      socket.closed = true
      return true
    }
    const message = readRemoteMessage(answer, socket)
    ctx.charge(1, 64 + message.data.length)
    socket.taken = Number(answer.get('seq') ?? 0)
    socket.inbox.push(message)
    return true
  })
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
  ctx.wake(makeInboxKey(id))
  return socket.remote === null ? true : ctx.perform({ kind: 'net.stream', args: { op: 'ws_close', key: socket.remote } })
}

function* awaitUntil<T>(timeout: Value, key: string, look: (ctx: Context) => T | undefined): Script<T | null> {
  const start = yield* runHere((ctx) => ctx.now)
  const due = start + (toMillis(timeout) ?? DEFAULT_WAIT_MS)
  for (;;) {
    const found = yield* runHere((ctx) => ({ value: look(ctx) }))
    if (found.value !== undefined) return found.value
    if (yield* parkUntil(key, due)) return null
  }
}

// --------------------------------------------------------------------------------------------------------------- servers

/** Listens on the network where the host has one; a server of this run only where it has none. */
function* createServer(bind: Value): Script {
  const place = display(bind ?? '127.0.0.1:0')
  const colon = place.lastIndexOf(':')
  const host = (colon < 0 ? place : place.slice(0, colon)).replace(/^\[|\]$/g, '') || '127.0.0.1'
  const port = colon < 0 ? 0 : Number(place.slice(colon + 1))
  const answer = yield* tryAsk({ kind: 'net.stream', args: { op: 'ws_listen', host, port: Number.isInteger(port) ? port : 0 } })
  if (answer instanceof Fault) return yield* runHere((ctx) => serveWithin(ctx, host, port))
  const refused = findRefusal(answer)
  if (refused !== null) return failWith(`websocket_server: bind failed: ${refused.detail}`)
  return yield* runHere((ctx) => {
    const id = makeHandleId(ctx, 'websocket-server')
    const address = readTextField(answer, 'address')
    ctx.state(socketState).servers.set(id, { address, remote: readTextField(answer, 'key'), routes: new Map(), waiting: [] })
    return HarnDict.of({ id, addr: address, url: `ws://${address}` })
  })
}

function serveWithin(ctx: Context, host: string, wanted: number): Value {
  const state = ctx.state(socketState)
  const id = makeHandleId(ctx, 'websocket-server')
  const address = `${host}:${wanted > 0 ? wanted : state.nextPort++}`
  if ([...state.servers.values()].some((server) => server.address === address))
    return failWith('websocket_server: bind failed: Address already in use (os error 98)')
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

/** The next connection of the network; null when the time ran out. */
function* acceptRemote(serverId: string, remote: string, timeoutMs: number): Script<HarnDict | null> {
  const answer = yield* ask({ kind: 'net.stream', args: { op: 'ws_accept', key: remote, timeoutMs } })
  if (!(answer instanceof HarnDict)) return failWith(`websocket_accept: unknown server '${serverId}'`)
  if (answer.get('timeout') === true) return null
  return yield* runHere((ctx) => {
    const route = ctx.state(socketState).servers.get(serverId)?.routes.get(readTextField(answer, 'path'))
    const id = makeHandleId(ctx, 'websocket')
    const { maxMessages = DEFAULT_MESSAGES, maxBytes = DEFAULT_BYTES, sendBuffer = DEFAULT_SEND_BUFFER } = route ?? {}
    const limits = { maxMessages, maxBytes, sendBuffer }
    const url = readTextField(answer, 'path')
    ctx.state(socketState).sockets.set(id, makeSocket(url, { ...limits, remote: readTextField(answer, 'key') }))
    return HarnDict.of({ id, path: url, peer: readTextField(answer, 'peer'), headers: answer.get('headers') ?? new HarnDict() })
  })
}

const machine = makeScripts('websocket.script', {
  *connect(address, options) {
    return yield* connectRemote(display(address ?? ''), toDict(options))
  },
  *server(bind, given) {
    const server = yield* createServer(bind ?? null)
    const options = toDict(given)
    const path = options.get('path') ?? null
    if (path === null) return server
    const effect = yield* runHere((ctx) => addRoute(ctx, findServer(ctx, server)!, display(path), options))
    if (effect !== null) yield* ask(effect)
    return server
  },
  *receive(handle, timeout) {
    const id = handleId(handle ?? null)
    const remote = yield* runHere((ctx) => {
      const socket = ctx.state(socketState).sockets.get(id)
      return socket === undefined || socket.closed || socket.inbox.length > 0 ? null : socket.remote
    })
    if (remote !== null && !(yield* fetchRemote(id, remote, toMillis(timeout ?? null) ?? DEFAULT_WAIT_MS)))
      return HarnDict.of({ type: 'timeout' })
    const taken = yield* awaitUntil(timeout ?? null, makeInboxKey(id), (ctx) => {
      const value = take(ctx, id)
      return value === undefined ? undefined : { value }
    })
    return taken === null ? HarnDict.of({ type: 'timeout' }) : taken.value
  },
  *accept(handle, timeout) {
    const id = handleId(handle ?? null)
    const remote = yield* runHere((ctx) => ctx.state(socketState).servers.get(id)?.remote ?? null)
    if (remote !== null)
      return (yield* acceptRemote(id, remote, toMillis(timeout ?? null) ?? DEFAULT_WAIT_MS)) ?? HarnDict.of({ type: 'timeout' })
    const accepted = yield* awaitUntil(timeout ?? null, acceptKey(id), (ctx) => {
      const server = findServer(ctx, handle ?? null)
      return server === undefined ? failWith(`websocket_accept: unknown server '${id}'`) : server.waiting.shift()
    })
    if (accepted === null) return HarnDict.of({ type: 'timeout' })
    return HarnDict.of({ id: accepted.id, path: accepted.path, peer: accepted.peer, headers: accepted.headers })
  },
})

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
  frames: [machine.frame],
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
      (ctx, handle, timeout) => machine.start(ctx, 'receive', handle, timeout),
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
      (ctx, bind, options) => machine.start(ctx, 'server', bind ?? null, options ?? null),
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
      (ctx, server, timeout) => machine.start(ctx, 'accept', server, timeout),
    ),
    builtinTaking(
      'websocket_server_close(server: string | dict) -> bool',
      { doc: 'Ends a server; whether it was known.', ...HERE },
      SERVER,
      (ctx, server) => {
        const id = handleId(server)
        const { servers } = ctx.state(socketState)
        const remote = servers.get(id)?.remote ?? null
        ctx.wake(acceptKey(id))
        const known = servers.delete(id)
        return remote === null ? known : ctx.perform({ kind: 'net.stream', args: { op: 'ws_unlisten', key: remote } })
      },
    ),
  ],
}

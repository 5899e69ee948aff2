// WebSockets (reference 03b §5.6): mocked ones, and servers within the run that its own clients reach. Nothing here opens a
// connection to another machine: a URL that is neither mocked nor served in this run cannot be reached.

import { builtin } from './builtin.js'
import type { Context, Result } from './builtin.js'
import { decodeBase64, encodeBase64 } from './codecs-alphabets.js'
import { decodeUtf8 } from './bytes.js'
import { checkEgress } from './http-egress.js'
import { dictOf } from './http-response.js'
import { handleId, nextHandle } from './http-state.js'
import { failWith, here, parkUntil, scripts } from './scripted.js'
import type { Script } from './scripted.js'
import { millisOf } from './tool-retry.js'
import { addMock, mockFor, mockMessages, recordCall } from './transport-state.js'
import { acceptKey, inboxKey, socketState } from './websocket-state.js'
import type { Message, Socket, SocketServer } from './websocket-state.js'
import { utf8 } from './tools-json.js'
import type { BuiltinFamily } from './registry.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnBytes } from '../values/scalars.js'
import { isInt, isTruthy } from '../values/value.js'
import type { Value } from '../values/value.js'

const DEFAULT_MESSAGES = 10_000
const DEFAULT_BYTES = 1 << 20
const DEFAULT_SEND_BUFFER = 64
const DEFAULT_WAIT_MS = 30_000

function limitOf(options: HarnDict, name: string, fallback: number): number {
  const value = options.get(name) ?? null
  return isInt(value) && value >= 0 ? Number(value) : fallback
}

function bearerOf(options: HarnDict): string | null {
  const token = dictOf(options.get('auth')).get('bearer') ?? null
  return token === null ? null : display(token)
}

// -------------------------------------------------------------------------------------------------------------- messages

/** A message from data and its options `{type, base64, code, reason}`; a text is the problem. */
function messageFrom(data: Value, options: HarnDict): Message | string {
  const type = display(options.get('type') ?? (data instanceof HarnBytes ? 'binary' : 'text'))
  const code = options.get('code') ?? null
  const reason = options.get('reason') ?? null
  const facts = { ...(isInt(code) ? { code: Number(code) } : {}), ...(reason === null ? {} : { reason: display(reason) }) }
  let bytes = data instanceof HarnBytes ? data.data : utf8(display(data))
  if (isTruthy(options.get('base64') ?? false)) {
    const decoded = decodeBase64(display(data))
    if (typeof decoded === 'string') return decoded
    bytes = decoded
  }
  return { type, data: type === 'text' ? decodeUtf8(bytes) : encodeBase64(bytes), bytes: bytes.length, ...facts }
}

function mockMessage(given: Value): Message {
  const options = given instanceof HarnDict && (given.has('type') || given.has('data')) ? given : new HarnDict()
  const data = options === given ? (options.get('data') ?? '') : given
  const made = messageFrom(data, options)
  return typeof made === 'string' ? { type: 'text', data: display(data), bytes: 0 } : made
}

function messageValue(message: Message): HarnDict {
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

function newSocket(url: string, more: Partial<Socket>): Socket {
  return {
    url,
    maxMessages: DEFAULT_MESSAGES,
    maxBytes: DEFAULT_BYTES,
    sendBuffer: DEFAULT_SEND_BUFFER,
    peer: null,
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
  if (ctx.argc === 0 || address === '') return ctx.throw('websocket_connect: URL is required')
  if (!/^wss?:\/\//.test(address)) return ctx.throw(`websocket_connect: URL must start with ws:// or wss://, got '${address}'`)
  const options = dictOf(given)
  const limits = {
    maxMessages: limitOf(options, 'max_messages', DEFAULT_MESSAGES),
    maxBytes: limitOf(options, 'max_message_bytes', DEFAULT_BYTES),
  }
  const state = ctx.state(socketState)
  const mock = mockFor(ctx, 'websocket', address)
  if (mock !== undefined) {
    const id = nextHandle(ctx, 'websocket')
    state.sockets.set(id, newSocket(address, { ...limits, mocked: true, echo: mock.echo, inbox: mock.messages.map(mockMessage) }))
    recordCall(ctx, { kind: 'websocket_connect', handle: id, url: address })
    return id
  }
  return checkEgress(ctx, 'websocket_connect', address) ?? connectWithin(ctx, address, options, limits)
}

/** Connects to a server of this run: the two ends are made, and the server's waits to be accepted. */
function connectWithin(
  ctx: Context,
  address: string,
  options: HarnDict,
  limits: { readonly maxMessages: number; readonly maxBytes: number },
): Result {
  const state = ctx.state(socketState)
  const parsed = URL.canParse(address) ? new URL(address) : null
  const [serverId, server] = [...state.servers].find(([, each]) => each.address === parsed?.host) ?? [null, null]
  if (parsed === null || server === null || serverId === null)
    return ctx.throw('websocket_connect: failed: IO error: Connection refused (os error 111)')
  const route = server.routes.get(parsed.pathname)
  if (route === undefined) return ctx.throw('websocket_connect: failed: HTTP error: 404 Not Found')
  const headers = requestHeaders(parsed, options)
  if (route.bearer !== null && headers.get('authorization') !== `Bearer ${route.bearer}`)
    return ctx.throw('websocket_connect: failed: HTTP error: 401 Unauthorized')
  const id = nextHandle(ctx, 'websocket')
  const accepted = nextHandle(ctx, 'websocket')
  const { maxMessages, maxBytes, sendBuffer } = route
  state.sockets.set(id, newSocket(address, { ...limits, peer: accepted }))
  state.sockets.set(accepted, newSocket(address, { maxMessages, maxBytes, sendBuffer, peer: id }))
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
    'sec-websocket-key': encodeBase64(utf8('in-process socket')),
  })
  for (const [name, value] of dictOf(options.get('headers')).map) headers.set(name.toLowerCase(), display(value))
  const token = bearerOf(options)
  if (token !== null) headers.set('authorization', `Bearer ${token}`)
  return headers
}

function deliver(ctx: Context, id: string, message: Message): void {
  const socket = ctx.state(socketState).sockets.get(id)
  if (socket === undefined || socket.closed) return
  ctx.charge(1, 64 + message.data.length)
  socket.inbox.push(message)
  ctx.wake(inboxKey(id))
}

function send(ctx: Context, handle: Value, data: Value, given: Value): Result {
  const id = handleId(handle)
  const socket = ctx.state(socketState).sockets.get(id)
  if (socket === undefined) return ctx.throw(`websocket_send: unknown socket '${id}'`)
  if (socket.closed) return false
  const message = messageFrom(data, dictOf(given))
  if (typeof message === 'string') return ctx.throw(`websocket_send: ${message}`)
  if (message.bytes > socket.maxBytes) return ctx.throw(`websocket_send: message exceeded max_message_bytes (${socket.maxBytes})`)
  if (socket.mocked)
    recordCall(ctx, { kind: 'websocket_send', handle: id, url: socket.url, type: message.type, data: message.data })
  else if (queued(ctx, socket) >= socket.sendBuffer) return ctx.throw('websocket_send: send buffer full')
  if (message.type === 'close') {
    socket.closed = true
    socket.inbox.length = 0
    ctx.wake(inboxKey(id))
  } else if (socket.echo) socket.inbox.push(message)
  if (socket.peer !== null) {
    deliver(ctx, socket.peer, message)
    if (message.type === 'ping') deliver(ctx, id, { ...message, type: 'pong' })
  }
  return true
}

/** Messages that the other end has not taken yet. */
function queued(ctx: Context, socket: Socket): number {
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
  const message = socket.inbox.shift()
  if (message === undefined) return socket.mocked ? HarnDict.of({ type: 'timeout' }) : undefined
  socket.received++
  if (message.type === 'close') socket.closed = true
  if (message.bytes <= socket.maxBytes) return messageValue(message)
  socket.closed = true
  return failWith(`websocket_receive: message exceeded max_message_bytes (${socket.maxBytes})`)
}

function close(ctx: Context, handle: Value): Result {
  const id = handleId(handle)
  const { sockets } = ctx.state(socketState)
  const socket = sockets.get(id)
  if (socket === undefined) return false
  if (socket.peer !== null && !socket.closed) deliver(ctx, socket.peer, { type: 'close', data: '', bytes: 0 })
  if (socket.mocked) recordCall(ctx, { kind: 'websocket_close', handle: id, url: socket.url })
  sockets.delete(id)
  ctx.wake(inboxKey(id))
  return true
}

function* until<T>(timeout: Value, key: string, look: (ctx: Context) => T | undefined): Script<T | null> {
  const start = yield* here((ctx) => ctx.now)
  const due = start + (millisOf(timeout) ?? DEFAULT_WAIT_MS)
  for (;;) {
    const found = yield* here((ctx) => ({ value: look(ctx) }))
    if (found.value !== undefined) return found.value
    if (yield* parkUntil(key, due)) return null
  }
}

// --------------------------------------------------------------------------------------------------------------- servers

function createServer(ctx: Context, bind: Value): Result {
  const state = ctx.state(socketState)
  const [host, port] = display(bind ?? '127.0.0.1:0').split(':')
  const id = nextHandle(ctx, 'websocket-server')
  const wanted = Number(port ?? 0)
  const address = `${host === undefined || host === '' ? '127.0.0.1' : host}:${wanted > 0 ? wanted : state.nextPort++}`
  if ([...state.servers.values()].some((server) => server.address === address))
    return ctx.throw(`websocket_server: failed to bind ${address}: Address already in use (os error 98)`)
  state.servers.set(id, { address, routes: new Map(), waiting: [] })
  return HarnDict.of({ id, addr: address, url: `ws://${address}` })
}

function serverOf(ctx: Context, handle: Value): SocketServer | undefined {
  return ctx.state(socketState).servers.get(handleId(handle))
}

function route(ctx: Context, handle: Value, path: Value, given: Value): Result {
  const server = serverOf(ctx, handle)
  if (server === undefined) return ctx.throw(`websocket_route: unknown server '${handleId(handle)}'`)
  const options = dictOf(given)
  server.routes.set(display(path), {
    bearer: bearerOf(options),
    maxMessages: limitOf(options, 'max_messages', DEFAULT_MESSAGES),
    maxBytes: limitOf(options, 'max_message_bytes', DEFAULT_BYTES),
    sendBuffer: limitOf(options, 'send_buffer_messages', DEFAULT_SEND_BUFFER),
  })
  return true
}

const machine = scripts('websocket.script', {
  *receive(handle, timeout) {
    const id = handleId(handle ?? null)
    const taken = yield* until(timeout ?? null, inboxKey(id), (ctx) => {
      const value = take(ctx, id)
      return value === undefined ? undefined : { value }
    })
    return taken === null ? HarnDict.of({ type: 'timeout' }) : taken.value
  },
  *accept(handle, timeout) {
    const id = handleId(handle ?? null)
    const accepted = yield* until(timeout ?? null, acceptKey(id), (ctx) => {
      const server = serverOf(ctx, handle ?? null)
      return server === undefined ? failWith(`websocket_accept: unknown server '${id}'`) : server.waiting.shift()
    })
    if (accepted === null) return HarnDict.of({ type: 'timeout' })
    return HarnDict.of({ id: accepted.id, path: accepted.path, peer: accepted.peer, headers: accepted.headers })
  },
})

const HERE = { effects: [] as readonly string[] }

export const websocketFamily: BuiltinFamily = {
  name: 'websocket',
  frames: [machine.frame],
  builtins: [
    builtin(
      'websocket_mock(url_pattern: string, messages: list | dict) -> nil',
      { doc: 'Answers connections to matching URLs with these messages.', ...HERE },
      (ctx, pattern, given) => {
        const echo = given instanceof HarnDict && isTruthy(given.get('echo') ?? false)
        addMock(ctx, 'websocket', { pattern: display(pattern ?? ''), messages: mockMessages(given ?? null, 'messages'), echo })
        return null
      },
    ),
    builtin(
      'websocket_connect(url: string, options?: dict) -> string',
      { doc: 'Opens a socket.', ...HERE },
      (ctx, url, options) => connect(ctx, url ?? null, options ?? null),
    ),
    builtin(
      'websocket_send(handle: string | dict, data: any, options?: dict) -> bool',
      { doc: 'Sends a message; false when the socket is closed. Options: type, base64, code, reason.', ...HERE },
      (ctx, handle, data, options) => send(ctx, handle ?? null, data ?? null, options ?? null),
    ),
    builtin(
      'websocket_receive(handle: string | dict, timeout?: int) -> dict | nil',
      { doc: 'The next message; nil when the socket is closed.', ...HERE },
      (ctx, handle, timeout) => machine.start(ctx, 'receive', handle ?? null, timeout ?? null),
    ),
    builtin(
      'websocket_close(handle: string | dict) -> bool',
      { doc: 'Closes a socket; whether it was known.', ...HERE },
      (ctx, handle) => close(ctx, handle ?? null),
    ),
    builtin(
      'websocket_server(bind?: string, options?: dict) -> dict',
      { doc: 'A server that sockets of this run connect to.', ...HERE },
      (ctx, bind) => createServer(ctx, bind ?? null),
    ),
    builtin(
      'websocket_route(server: dict, path: string, options?: dict) -> bool',
      { doc: 'Lets a server take connections to a path.', ...HERE },
      (ctx, server, path, options) => route(ctx, server ?? null, path ?? null, options ?? null),
    ),
    builtin(
      'websocket_accept(server: dict, timeout?: int) -> dict',
      { doc: 'The next connection to a server.', ...HERE },
      (ctx, server, timeout) => machine.start(ctx, 'accept', server ?? null, timeout ?? null),
    ),
    builtin(
      'websocket_server_close(server: dict) -> bool',
      { doc: 'Ends a server; whether it was known.', ...HERE },
      (ctx, server) => {
        const id = handleId(server ?? null)
        ctx.wake(acceptKey(id))
        return ctx.state(socketState).servers.delete(id)
      },
    ),
  ],
}

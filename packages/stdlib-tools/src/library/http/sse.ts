// Server-sent events: reading a stream, mocked or over HTTP, and writing one as a server. The text
// format is in sse-format.ts.

import { REQUEST_DEFAULTS } from './request-defaults.js'
import {
  HarnBytes,
  HarnDict,
  builtin,
  builtinTaking,
  display,
  family,
  frame,
  makeThrown,
  markFromOutside,
  toMillis,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Demands, FrameState, LibraryCall, Result, Value } from '@bridle/vm/families'
import { findHarnModule } from '../harn/modules.js'
import { definePrimitive } from '../harn/primitive.js'
import { readAnswerField, findRefusal } from '../files/ask.js'
import { checkEgress } from './egress.js'
import { REDIRECTS, readHeader, findRedirect, planRedirect } from './exchange.js'
import { toDict } from './response.js'
import { handleId, makeHandleId, isPassedHandle } from './state.js'
import { planRequest } from './options.js'
import type { RequestPlan } from './options.js'
import { EventReader, formatComment, formatEvent, parseFrame } from './sse-format.js'
import {
  addMock,
  clearTransports,
  readLimit,
  findMock,
  listMockMessages,
  recordCall,
  listRecordedCalls,
} from './transport-state.js'
import { forgetSockets } from './websocket-state.js'

interface Stream {
  readonly url: string
  readonly method: string
  readonly options: HarnDict
  readonly maxEvents: number
  readonly maxBytes: number
  /** Events of a mock that were not read yet; null for a stream of the network. */
  mocked: Value[] | null
  opened: boolean
  ended: boolean
  /** Everything that was received, the opening too. */
  received: number
  /** Text of the network that is not a whole event yet. */
  rest: string
}

interface ServerStream {
  readonly status: number
  readonly headers: HarnDict
  readonly maxEventBytes: number
  readonly maxBuffered: number
  readonly buffer: string[]
  sent: number
  flushed: number
  closed: boolean
  disconnected: boolean
  cancelled: boolean
  reason: Value
}

const sseState = family('sse', () => ({ streams: new Map<string, Stream>(), servers: new Map<string, ServerStream>() }))

const DEFAULT_EVENTS = 10_000
const DEFAULT_BYTES = 1 << 20
const DEFAULT_WAIT_MS = 30_000
const STREAM_LIMIT_MS = 24 * 3_600_000

// ------------------------------------------------------------------------------------------------------------ the reader

function connect(ctx: Context, method: Value, url: Value, given: Value): Result {
  const address = display(url ?? '')
  if (address === '') return ctx.throw('sse_connect: URL is required')
  // Refused connections take a number as well.
  const id = makeHandleId(ctx, 'sse')
  if (!/^https?:\/\//.test(address)) return ctx.throw(`sse_connect: URL must start with http:// or https://, got '${address}'`)
  const options = toDict(given)
  const mock = findMock(ctx, 'sse', address)
  const refused = mock === undefined ? checkEgress(ctx, 'sse_connect', address) : null
  if (refused !== null) return refused
  ctx.state(sseState).streams.set(id, {
    url: address,
    method: display(method),
    options,
    maxEvents: readLimit(options, 'max_events', DEFAULT_EVENTS),
    maxBytes: readLimit(options, 'max_message_bytes', DEFAULT_BYTES),
    mocked: mock === undefined ? null : [...mock.messages],
    opened: false,
    ended: false,
    received: 0,
    rest: '',
  })
  if (mock !== undefined) recordCall(ctx, { kind: 'sse_connect', handle: id, url: address })
  return id
}

/** A mock's event as scripts receive it. */
function makeMockEvent(given: Value): HarnDict {
  if (!(given instanceof HarnDict)) return HarnDict.of({ type: 'event', event: 'message', data: given, id: null, retry_ms: null })
  const data = given.has('data') ? given.get('data')! : ''
  return HarnDict.of({
    type: 'event',
    event: given.get('event') ?? given.get('type') ?? 'message',
    data,
    id: given.get('id') ?? null,
    retry_ms: given.get('retry_ms') ?? null,
  })
}

/** Counts what is about to be given out against the limits of the stream. */
function admitEvent(id: string, stream: Stream, event: HarnDict): HarnDict {
  stream.received++
  if (stream.received > stream.maxEvents) throw makeThrown(`sse_receive: stream '${id}' exceeded max_events`)
  const data = event.get('data') ?? null
  if (data !== null && toUtf8(display(data)).length > stream.maxBytes) {
    throw makeThrown(`sse_receive: message exceeded max_message_bytes (${stream.maxBytes})`)
  }
  return event
}

const makeOpenEvent = (): HarnDict => HarnDict.of({ type: 'open' })

interface OpenState extends FrameState {
  readonly id: string
  plan: RequestPlan
  hops: number
  stage: 'next' | 'asked' | 'closed'
  /** Of an answer that is not a stream of events, which is closed first; null before it, and when a redirect is followed. */
  problem: string | null
}

/** Connects, along redirects; what answers must be a stream of events. */
function stepOpen(ctx: Context, state: OpenState): Result {
  switch (state.stage) {
    case 'next':
      return openOnce(ctx, state)
    case 'asked':
      return takeOpened(ctx, state)
    case 'closed':
      return state.problem === null ? openOnce(ctx, state) : ctx.throw(state.problem)
  }
}

/** One exchange, whose body stays open under the id. */
function openOnce(ctx: Context, state: OpenState): Result {
  const { id, plan } = state
  for (const url of [plan.url, plan.proxy?.url]) {
    const refused = url === undefined ? null : checkEgress(ctx, 'sse_connect', url)
    if (refused !== null) return refused
  }
  state.stage = 'asked'
  return ctx.request({
    kind: 'net.stream',
    args: {
      op: 'http_open',
      id,
      method: plan.method,
      url: plan.url,
      headers: { accept: 'text/event-stream', ...plan.headers },
      body: plan.body,
      saveTo: null,
      // A stream lasts as long as its server likes; only connecting is limited.
      timeoutMs: STREAM_LIMIT_MS,
      connectTimeoutMs: plan.connectTimeoutMs,
      readTimeoutMs: plan.readTimeoutMs,
      proxy: plan.proxy,
      tls: plan.tls,
      decompress: plan.decompress,
      ...(plan.secrets === null ? {} : { secrets: plan.secrets }),
    },
  })
}

function takeOpened(ctx: Context, state: OpenState): Result {
  const answer = ctx.result
  const refused = findRefusal(answer)
  if (refused !== null) return ctx.throw(`sse_receive: stream error: ${refused.detail}`)
  const headers = toDict(readAnswerField(answer, 'headers'))
  const status = Number(readAnswerField(answer, 'status'))
  const { plan } = state
  const location = REDIRECTS.includes(status) ? findRedirect(plan, { headers }) : null
  if (location !== null && plan.redirects >= 0) {
    if (state.hops >= plan.redirects) state.problem = 'sse_receive: stream error: too many redirects'
    state.hops++
    state.plan = planRedirect(plan, status, location)
  } else {
    const type = readHeader(headers, 'content-type') ?? ''
    if (status === 200 && /^text\/event-stream\s*(;|$)/i.test(type)) return null
    const found = status === 200 ? `Invalid header value: "${type}"` : `Invalid status code: ${status}`
    state.problem = `sse_receive: stream error: ${found}`
  }
  state.stage = 'closed'
  return ctx.request({ kind: 'net.stream', args: { op: 'http_close', id: state.id } })
}

const openFrame = frame<OpenState>({
  kind: 'sse.open',
  step: stepOpen,
  // A connection that cannot be closed is none.
  onFault: (ctx, state, fault) => (state.stage === 'closed' ? stepOpen(ctx, state) : ctx.fail(fault)),
})

function openNetwork(ctx: Context, id: string): Result {
  const { method, url, options } = ctx.state(sseState).streams.get(id)!
  const plan = planRequest(method, url, options, ctx.machine.hostData(REQUEST_DEFAULTS).http ?? {})
  if (typeof plan === 'string') return ctx.throw(plan)
  return ctx.frame('sse.open', { id, plan, hops: 0, stage: 'next', problem: null } satisfies OpenState)
}

function describeStream(ctx: Context, id: string): Value {
  const stream = ctx.state(sseState).streams.get(id)
  if (stream === undefined) return null
  return HarnDict.of({
    is_open: stream.opened,
    is_ended: stream.ended,
    is_mocked: stream.mocked !== null,
    rest: stream.rest,
    max_bytes: stream.maxBytes,
  })
}

function takeMocked(ctx: Context, id: string): Value {
  const stream = ctx.state(sseState).streams.get(id)!
  if (!stream.opened) {
    stream.opened = true
    return admitEvent(id, stream, makeOpenEvent())
  }
  const next = stream.mocked!.shift()
  return next === undefined ? null : admitEvent(id, stream, makeMockEvent(next))
}

/** Notes how far a stream of the network was read; the event, if the limits of the stream allow it. */
function admitRead(ctx: Context, id: string, event: Value, rest: string): Value {
  const stream = ctx.state(sseState).streams.get(id)
  if (stream === undefined) return null
  stream.opened = true
  stream.rest = rest
  stream.ended = event === null
  if (!(event instanceof HarnDict) || event.get('type') === 'timeout') return event
  return admitEvent(id, stream, event)
}

function readEvent(rest: string, chunk: Value): HarnDict {
  const reader = new EventReader(rest)
  if (chunk instanceof HarnBytes) reader.append(chunk.data)
  return HarnDict.of({ event: reader.next(), rest: reader.rest })
}

/** What sse.harn asks. */
const primitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__event_stream(id: string) -> dict?',
    'How a stream stands: {is_open, is_ended, is_mocked, rest, max_bytes}.',
    (ctx, id) => describeStream(ctx, id as string),
  ),
  definePrimitive('__take_mocked_event(id: string) -> dict?', 'The next event of a mocked stream.', (ctx, id) =>
    takeMocked(ctx, id as string),
  ),
  definePrimitive('__open_events(id: string) -> nil', 'Connects a stream, along redirects.', (ctx, id) =>
    openNetwork(ctx, id as string),
  ),
  definePrimitive(
    '__read_event(rest: string, chunk: bytes?) -> dict',
    'The first whole event of what was received: {event, rest}. `rest` has one character a byte.',
    (_ctx, rest, chunk) => readEvent(rest as string, chunk ?? null),
  ),
  definePrimitive(
    '__admit_event(id: string, event: dict?, rest: string) -> dict?',
    'Notes how far a stream was read; the event, if the limits of the stream allow it.',
    (ctx, id, event, rest) => admitRead(ctx, id as string, event ?? null, rest as string),
  ),
  definePrimitive('__forget_stream(id: string) -> dict?', 'How a stream stood that is forgotten now.', (ctx, id) => {
    const stream = describeStream(ctx, id as string)
    ctx.state(sseState).streams.delete(id as string)
    return stream
  }),
]

const RECEIVE: LibraryCall = { module: 'library/http/sse', function: 'receive', output: 'keep' }
const CLOSE: LibraryCall = { module: 'library/http/sse', function: 'close', output: 'keep' }

// ------------------------------------------------------------------------------------------------------------ the server

const SERVER_HEADERS = HarnDict.of({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
})

/** Default headers, except those that are given, compared without case. */
function makeServerHeaders(given: HarnDict): HarnDict {
  const names = new Set(given.keys().map((name) => name.toLowerCase()))
  return HarnDict.of(Object.fromEntries([...SERVER_HEADERS.entries()].filter(([name]) => !names.has(name)))).merged(given)
}

function openServer(ctx: Context, given: Value): Result {
  const options = toDict(given)
  const id = makeHandleId(ctx, 'sse-server')
  const server: ServerStream = {
    status: Math.min(599, Math.max(100, readLimit(options, 'status', 200))),
    headers: makeServerHeaders(toDict(options.get('headers'))),
    maxEventBytes: readLimit(options, 'max_event_bytes', DEFAULT_BYTES),
    maxBuffered: readLimit(options, 'max_buffered_events', DEFAULT_EVENTS),
    buffer: [],
    sent: 0,
    flushed: 0,
    closed: false,
    disconnected: false,
    cancelled: false,
    reason: null,
  }
  ctx.state(sseState).servers.set(id, server)
  return HarnDict.of({
    id,
    type: 'sse_response',
    status: server.status,
    headers: server.headers,
    body: null,
    streaming: true,
    max_event_bytes: server.maxEventBytes,
    max_buffered_events: server.maxBuffered,
  })
}

function push(ctx: Context, server: ServerStream, text: string): Result {
  if (server.closed) return false
  if (toUtf8(text).length > server.maxEventBytes)
    return ctx.throw(`sse_server_send: event exceeded max_event_bytes (${server.maxEventBytes})`)
  if (server.buffer.length >= server.maxBuffered) {
    return ctx.throw(`sse_server_send: buffered events exceeded max_buffered_events (${server.maxBuffered})`)
  }
  ctx.charge(1, 32 + text.length)
  server.buffer.push(text)
  server.sent++
  return true
}

/** Ends the stream; false when it had ended before. */
function finish(server: ServerStream, how: Partial<Pick<ServerStream, 'disconnected' | 'cancelled' | 'reason'>>): boolean {
  if (server.closed) return false
  Object.assign(server, how, { closed: true })
  return true
}

function describeStatus(id: string, server: ServerStream): HarnDict {
  return HarnDict.of({
    id,
    status: server.status,
    headers: server.headers,
    buffered_events: server.buffer.length,
    sent_events: server.sent,
    flushed_events: server.flushed,
    closed: server.closed,
    disconnected: server.disconnected,
    cancelled: server.cancelled,
    cancel_reason: server.reason,
    max_event_bytes: server.maxEventBytes,
    max_buffered_events: server.maxBuffered,
  })
}

function receiveMocked(server: ServerStream): HarnDict {
  const text = server.buffer.shift()
  if (text !== undefined) return parseFrame(text).with('raw', text)
  return server.closed ? HarnDict.of({ type: 'close', server_closed: true }) : HarnDict.of({ type: 'timeout' })
}

const RESPONSE_OPTIONS = `
  status: int = 200 -- The status.
  headers: dict -- Header fields.
  max_event_bytes: int (bytes) -- Size of an event at most.
  max_buffered_events: int -- Events that wait for the reader at most.
`

const STREAM = { fits: { stream: isPassedHandle('stream') } } as const

type OnServer = (ctx: Context, server: ServerStream, args: readonly Value[], id: string) => Result

function onServer(signature: string, doc: string, run: OnServer, more: Demands = {}): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  return builtinTaking(signature, { doc, effects: [] }, { ...STREAM, ...more }, (ctx, handle = null, ...args) => {
    const id = handleId(handle)
    const server = ctx.state(sseState).servers.get(id)
    return server === undefined ? ctx.throw(`${name}: unknown stream '${id}'`) : run(ctx, server, args, id)
  })
}

function formatEventOrFail(ctx: Context, event: Value, options: Value): string | Result {
  const made = formatEvent(event, options)
  return typeof made === 'string' ? made : ctx.throw(`sse_event: ${made.problem}`)
}

export const sseFamily: BuiltinFamily = {
  name: 'sse',
  modules: findHarnModule,
  frames: [openFrame],
  primitives,
  builtins: [
    builtinTaking(
      'sse_mock(url_pattern: string, events: list | dict) -> nil',
      { doc: 'Answers connections to matching URLs with these events.', effects: [] },
      { text: { url_pattern: '{f}: URL pattern is required' } },
      (ctx, pattern, events) => {
        addMock(ctx, 'sse', { pattern, messages: listMockMessages(events, 'events'), echo: false })
        return null
      },
    ),
    builtin(
      'sse_connect(method: string, url: string, options?: dict) -> string',
      { doc: 'Opens a stream of events.', effects: [] },
      (ctx, method, url, options) => connect(ctx, method ?? null, url ?? null, options ?? null),
    ),
    builtinTaking(
      'sse_receive(stream: string, timeout_ms?: int) -> dict | nil',
      { fromOutside: true, doc: 'The next event of a stream; nil at its end.', effects: ['net.stream'] },
      STREAM,
      (ctx, handle = null, timeout = null) => ctx.library(RECEIVE, [handleId(handle), toMillis(timeout) ?? DEFAULT_WAIT_MS]),
    ),
    builtinTaking(
      'sse_close(stream: string) -> bool',
      { doc: 'Closes a stream; whether it was open.', effects: ['net.stream'] },
      STREAM,
      (ctx, handle = null) => ctx.library(CLOSE, [handleId(handle)]),
    ),
    builtinTaking(
      'sse_event(event: any, options?: dict) -> string',
      { doc: 'The text of an event as servers send it.' },
      { fewer: '{f}: requires event data or an event dict' },
      formatEventOrFail,
    ),
    builtin(
      'sse_server_response(options?: dict) -> dict',
      { fromOutside: true, doc: 'A response that is a stream of events.', effects: [], shapes: { options: RESPONSE_OPTIONS } },
      (ctx, options) => openServer(ctx, options ?? null),
    ),
    onServer(
      'sse_server_send(stream: string | dict, event: any, options?: dict) -> bool',
      'Sends an event; false once the stream has ended.',
      (ctx, server, [event, options]) => {
        if (server.closed) return false
        const text = formatEventOrFail(ctx, event ?? null, options ?? null)
        return typeof text === 'string' ? push(ctx, server, text) : text
      },
      { fewer: '{f}: requires stream and event' },
    ),
    onServer(
      'sse_server_heartbeat(stream: string | dict, comment?: string) -> bool',
      'Sends a comment, which keeps a connection alive.',
      (ctx, server, [comment]) => push(ctx, server, formatComment(display(comment ?? 'heartbeat'))),
    ),
    onServer(
      'sse_server_flush(stream: string | dict) -> bool',
      'Marks everything sent as flushed; false once the stream has ended.',
      (_ctx, server) => {
        if (server.closed) return false
        server.flushed = server.sent
        return true
      },
    ),
    onServer('sse_server_close(stream: string | dict) -> bool', 'Ends the stream; true the first time.', (_ctx, server) =>
      finish(server, {}),
    ),
    onServer(
      'sse_server_cancel(stream: string | dict, reason?: string) -> bool',
      'Ends the stream for a reason; true the first time.',
      (_ctx, server, [reason]) => finish(server, { cancelled: true, reason: reason ?? null }),
    ),
    onServer(
      'sse_server_mock_disconnect(stream: string | dict) -> bool',
      'Ends the stream as if the reader had gone.',
      (_ctx, server) => finish(server, { disconnected: true }),
    ),
    markFromOutside(
      onServer('sse_server_status(stream: string | dict) -> dict', 'How the stream stands.', (_ctx, server, _args, id) =>
        describeStatus(id, server),
      ),
    ),
    onServer(
      'sse_server_disconnected(stream: string | dict) -> bool',
      'Whether the reader has gone.',
      (_ctx, server) => server.disconnected,
    ),
    onServer(
      'sse_server_cancelled(stream: string | dict) -> bool',
      'Whether the stream was cancelled.',
      (_ctx, server) => server.cancelled,
    ),
    markFromOutside(
      onServer(
        'sse_server_mock_receive(stream: string | dict) -> dict | nil',
        'The next thing a reader of the stream would see.',
        (_ctx, server) => receiveMocked(server),
      ),
    ),
    builtin('transport_mock_calls() -> list', { doc: 'Mocked traffic of streams and sockets, in order.', effects: [] }, (ctx) =>
      listRecordedCalls(ctx),
    ),
    builtin(
      'transport_mock_clear() -> nil',
      { doc: 'Forgets mocks, streams, sockets and recorded traffic.', effects: [] },
      (ctx) => {
        clearTransports(ctx)
        ctx.state(sseState).streams.clear()
        forgetSockets(ctx)
        return null
      },
    ),
  ],
}

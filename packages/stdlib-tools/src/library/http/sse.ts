// Server-sent events: reading a stream, mocked or over HTTP, and writing one as a server. The text
// format is in sse-format.ts.

import { REQUEST_DEFAULTS } from './request-defaults.js'
import {
  Fault,
  HarnBytes,
  HarnDict,
  builtin,
  builtinTaking,
  display,
  failWith,
  family,
  runHere,
  markFromOutside,
  toMillis,
  makeScripts,
  tryAsk,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Demands, Result, Script, Value } from '@bridle/vm/families'
import { readAnswerField, findRefusal } from '../files/ask.js'
import { checkEgress, makeEgressRefusal } from './egress.js'
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
  /** Text of the network that is no whole event yet. */
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
const READ_BYTES = 65_536
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
  if (stream.received > stream.maxEvents) return failWith(`sse_receive: stream '${id}' exceeded max_events`)
  const data = event.get('data') ?? null
  if (data !== null && toUtf8(display(data)).length > stream.maxBytes) {
    return failWith(`sse_receive: message exceeded max_message_bytes (${stream.maxBytes})`)
  }
  return event
}

const makeOpenEvent = (): HarnDict => HarnDict.of({ type: 'open' })
const makeTimeoutEvent = (): HarnDict => HarnDict.of({ type: 'timeout' })

/** Connects, along redirects; what answers must be a stream of events. */
function* openNetwork(id: string, stream: Stream): Script<null> {
  const defaults = yield* runHere((ctx) => ctx.machine.hostData(REQUEST_DEFAULTS).http ?? {})
  let plan = planRequest(stream.method, stream.url, stream.options, defaults)
  for (let hops = 0; ; hops++) {
    if (typeof plan === 'string') return failWith(plan)
    const response = yield* openOnce(id, plan)
    const location: URL | null = REDIRECTS.includes(response.status) ? findRedirect(plan, response) : null
    if (location === null || plan.redirects < 0) {
      const type = readHeader(response.headers, 'content-type') ?? ''
      if (response.status === 200 && /^text\/event-stream\s*(;|$)/i.test(type)) return null
      yield* tryAsk({ kind: 'net.stream', args: { op: 'http_close', id } })
      return failWith(
        `sse_receive: stream error: ${response.status === 200 ? `Invalid header value: "${type}"` : `Invalid status code: ${response.status}`}`,
      )
    }
    yield* tryAsk({ kind: 'net.stream', args: { op: 'http_close', id } })
    if (hops >= plan.redirects) return failWith('sse_receive: stream error: too many redirects')
    plan = planRedirect(plan, response.status, location)
  }
}

/** One exchange, whose body stays open under `id`. */
function* openOnce(id: string, plan: RequestPlan): Script<{ readonly status: number; readonly headers: HarnDict }> {
  for (const url of [plan.url, plan.proxy?.url]) {
    const blocked = yield* runHere((ctx) => (url === undefined ? null : makeEgressRefusal(ctx, 'sse_connect', url)))
    if (blocked !== null) return failWith(blocked)
  }
  const answer = yield* tryAsk({
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
  if (answer instanceof Fault) throw answer
  const refused = findRefusal(answer)
  if (refused !== null) return failWith(`sse_receive: stream error: ${refused.detail}`)
  const headers = readAnswerField(answer, 'headers')
  return { status: Number(readAnswerField(answer, 'status')), headers: headers instanceof HarnDict ? headers : new HarnDict() }
}

/** The next event of the network; null at its end, a timeout event when none was whole in time. */
function* takeNextNetworkEvent(
  id: string,
  rest: string,
  timeoutMs: number,
  maxBytes: number,
): Script<{ readonly event: HarnDict | null; readonly rest: string }> {
  const reader = new EventReader(rest)
  const due = (yield* runHere((ctx) => ctx.now)) + timeoutMs
  for (;;) {
    const event = reader.next()
    if (event !== null) return { event, rest: reader.rest }
    if (reader.rest.length > maxBytes) return failWith(`sse_receive: message exceeded max_message_bytes (${maxBytes})`)
    const left = Math.max(0, due - (yield* runHere((ctx) => ctx.now)))
    const chunk = yield* tryAsk({ kind: 'net.stream', args: { op: 'http_read', id, maxBytes: READ_BYTES, timeoutMs: left } })
    if (chunk instanceof Fault) throw chunk
    const broken = findRefusal(chunk)
    if (broken !== null) return failWith(`sse_receive: stream error: ${broken.detail}`)
    if (chunk instanceof HarnDict) return { event: makeTimeoutEvent(), rest: reader.rest }
    if (!(chunk instanceof HarnBytes)) return { event: null, rest: '' }
    reader.append(chunk.data)
  }
}

function* receive(id: string, timeoutMs: number): Script {
  const stream = yield* runHere((ctx) => {
    const found = ctx.state(sseState).streams.get(id)
    if (found === undefined) return null
    const { opened, ended, rest, maxBytes } = found
    return { opened, ended, rest, maxBytes, mocked: found.mocked !== null }
  })
  if (stream === null) return failWith(`sse_receive: unknown stream '${id}'`)
  if (stream.ended) return null
  if (stream.mocked) {
    return yield* runHere((ctx): Value => {
      const own = ctx.state(sseState).streams.get(id)!
      if (!own.opened) {
        own.opened = true
        return admitEvent(id, own, makeOpenEvent())
      }
      const next = own.mocked!.shift()
      return next === undefined ? null : admitEvent(id, own, makeMockEvent(next))
    })
  }
  if (!stream.opened) {
    const full = yield* runHere((ctx) => ({ ...ctx.state(sseState).streams.get(id)! }))
    yield* openNetwork(id, full)
  }
  const found = stream.opened
    ? yield* takeNextNetworkEvent(id, stream.rest, timeoutMs, stream.maxBytes)
    : { event: makeOpenEvent(), rest: '' }
  return yield* runHere((ctx): Value => {
    const own = ctx.state(sseState).streams.get(id)
    if (own === undefined) return null
    own.opened = true
    own.rest = found.rest
    own.ended = found.event === null
    if (found.event?.get('type') === 'timeout') return found.event
    return found.event === null ? null : admitEvent(id, own, found.event)
  })
}

const machine = makeScripts('sse.script', {
  *receive(handle, timeout) {
    return yield* receive(handleId(handle ?? null), toMillis(timeout ?? null) ?? DEFAULT_WAIT_MS)
  },
  *close(handle) {
    const id = handleId(handle ?? null)
    const known = yield* runHere((ctx) => {
      const { streams } = ctx.state(sseState)
      const stream = streams.get(id)
      streams.delete(id)
      return stream === undefined ? null : stream.mocked === null && stream.opened
    })
    if (known === true) yield* tryAsk({ kind: 'net.stream', args: { op: 'http_close', id } })
    return known !== null
  },
})

// ------------------------------------------------------------------------------------------------------------ the server

const SERVER_HEADERS = HarnDict.of({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
})

/** The usual ones, but for those that are given in whatever case. */
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
  frames: [machine.frame],
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
      (ctx, handle, timeout) => machine.start(ctx, 'receive', handle, timeout),
    ),
    builtinTaking(
      'sse_close(stream: string) -> bool',
      { doc: 'Closes a stream; whether it was open.', effects: ['net.stream'] },
      STREAM,
      (ctx, handle) => machine.start(ctx, 'close', handle),
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

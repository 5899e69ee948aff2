// HTTP builtins: requests, sessions, downloads, streamed bodies, mocks and the egress policy.

import { METHOD_OPTION, REQUEST_OPTIONS } from './request-options.js'
import { REQUEST_DEFAULTS } from './request-defaults.js'
import { HarnBytes, HarnDict, HarnList, builtin, builtinTaking, display, isInt, isTruthy } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Result, Value } from '@bridle/vm/families'
import { Again, makeAsker, findRefusal } from '../files/ask.js'
import { readPolicyFromConfig, readPolicyFromEnvironment, encodePolicy } from './egress.js'
import { exchange, exchangeFrame } from './exchange.js'
import type { Purpose } from './exchange.js'
import { isHttpUrl, planRequest } from './options.js'
import {
  REDACTED,
  handleId,
  isHandle,
  isPassedHandle,
  httpState,
  isSensitiveHeader,
  makeHandleId,
  redactUrl,
  setMock,
} from './state.js'
import type { HttpCall } from './state.js'

function readOptions(value: Value | undefined): HarnDict {
  return value instanceof HarnDict ? value : new HarnDict()
}

/** Starts a request; options of a session named by `session` come first. */
function request(
  ctx: Context,
  surface: string,
  method: string,
  url: string,
  options: HarnDict,
  purpose: Purpose = { kind: 'text' },
): Result {
  const session = options.get('session') ?? null
  let merged = options
  if (session !== null) {
    const base = ctx.state(httpState).sessions.get(handleId(session))
    if (base === undefined) return ctx.throw(`http_session_request: unknown HTTP session '${handleId(session)}'`)
    // As a whole: headers of the call replace those of the session.
    merged = base.merged(options)
  }
  const plan = planRequest(method, url, merged, {
    ...ctx.machine.hostData(REQUEST_DEFAULTS).http,
    mostMs: ctx.machine.judge?.limit(ctx, `http.${method.toLowerCase()}`, 'timeout_ms') ?? Infinity,
  })
  return typeof plan === 'string' ? ctx.throw(plan) : exchange(ctx, surface, plan, purpose)
}

const URL_TEXT = { url: '{f}: URL is required' } as const
const STREAM = { fits: { stream: isPassedHandle('stream') } } as const

const REQUEST = { options: REQUEST_OPTIONS } as const
const BODY_OR_REQUEST = { body: REQUEST_OPTIONS, options: REQUEST_OPTIONS } as const
const METHOD_AND_REQUEST = { options: METHOD_OPTION + REQUEST_OPTIONS } as const
const CALLS_OPTIONS = `
  include_sensitive: bool = false -- Shows credentials in headers and URLs.
  redact_sensitive: bool = true -- Hides them.
`

const NETWORK = ['http.request', 'process.info', 'fs.read', 'callback']

function withoutBody(verb: string): BuiltinDef {
  const name = `http_${verb}`
  return builtinTaking(
    `${name}(url: string, options?: dict) -> dict`,
    { fromOutside: true, doc: `A ${verb.toUpperCase()} request.`, effects: NETWORK, shapes: REQUEST },
    { text: URL_TEXT },
    (ctx, url, options) => request(ctx, name, verb, url, readOptions(options)),
  )
}

/** A dict as second and last argument is the options, not the body. */
function withBody(verb: string): BuiltinDef {
  const name = `http_${verb}`
  return builtinTaking(
    // A request that may have a body and is given none has an empty one.
    `${name}(url: string, body?: any = "", options?: dict) -> dict`,
    { fromOutside: true, doc: `A ${verb.toUpperCase()} request.`, effects: NETWORK, shapes: BODY_OR_REQUEST },
    { text: URL_TEXT },
    (ctx, url, body, options) => {
      if (ctx.argc === 2 && body instanceof HarnDict) return request(ctx, name, verb, url, body)
      const given = readOptions(options)
      return request(ctx, name, verb, url, body === null ? given : given.with('body', body))
    },
  )
}

const requests: readonly BuiltinDef[] = [
  withoutBody('get'),
  withoutBody('delete'),
  withBody('post'),
  withBody('put'),
  withBody('patch'),
  builtinTaking(
    'http_request(method: string, url: string, options?: dict) -> dict',
    { fromOutside: true, doc: 'A request with any method.', effects: NETWORK, shapes: REQUEST },
    { text: { method: '{f}: {param} is required', ...URL_TEXT } },
    (ctx, method, url, options) => request(ctx, 'http_request', method, url, readOptions(options)),
  ),
  builtin(
    '__http_tool(method: string, url: string, options: dict) -> dict',
    {
      doc: 'A request as the standard tools `http.*` give it: with `url`, and `json` when the answer is some.',
      effects: ['http.request', 'process.info'],
    },
    (ctx, method, url, options) =>
      request(ctx, `http_${display(method!)}`, display(method!), display(url!), readOptions(options), { kind: 'record' }),
  ),
  builtin(
    '__connector_request(provider: string, method: string, url: string, options: dict) -> dict',
    { doc: 'A request of a connector: refusals name the connector.', effects: ['http.request', 'process.info'] },
    (ctx, provider, method, url, options) =>
      request(ctx, `connector_call:${display(provider!)}`, display(method!), display(url!), readOptions(options)),
  ),
  builtin(
    'http_session(options?: dict) -> string',
    { doc: 'A handle that remembers request options.', effects: [], shapes: REQUEST },
    (ctx, options) => {
      const handle = makeHandleId(ctx, 'http-session')
      ctx.state(httpState).sessions.set(handle, readOptions(options))
      return handle
    },
  ),
  builtinTaking(
    'http_session_request(session: string, method: string, url: string, options?: dict) -> dict',
    { fromOutside: true, doc: 'A request with the options of a session.', effects: NETWORK, shapes: REQUEST },
    {
      fewer: '{f}: requires session, method, and URL',
      fits: { session: isHandle },
      text: { method: null, url: null },
    },
    (ctx, session, method, url, options) =>
      request(ctx, 'http_session_request', method, url, readOptions(options).with('session', session)),
  ),
  builtinTaking(
    'http_session_close(session: string) -> bool',
    { doc: 'Forgets a session.', effects: [] },
    { fits: { session: isPassedHandle('session') } },
    (ctx, session) => ctx.state(httpState).sessions.delete(handleId(session)),
  ),
  builtinTaking(
    'http_download(url: string, dst_path: string, options?: dict) -> dict',
    { fromOutside: true, doc: 'Saves a response body to a file.', effects: [...NETWORK, 'fs.write'], shapes: METHOD_AND_REQUEST },
    { text: { ...URL_TEXT, dst_path: '{f}: destination path is required' } },
    (ctx, url, path, options) => {
      if (!isHttpUrl(url)) return ctx.throw(`http_download: URL must start with http:// or https://, got '${url}'`)
      const given = readOptions(options)
      return request(ctx, 'http_download', display(given.get('method') ?? 'GET'), url, given, { kind: 'download', path })
    },
  ),
]

// -------------------------------------------------------------------------------------------------------------- streams

const reads = makeAsker('http.read', {
  data: (ctx, answer, [handle]) => {
    const refused = findRefusal(answer)
    return refused === null ? answer : ctx.throw(`http_stream_read: ${refused.detail} (${display(handle!)})`)
  },
  closed: () => true,
})

const streams: readonly BuiltinDef[] = [
  builtinTaking(
    'http_stream_open(url: string, options?: dict) -> string',
    {
      doc: 'A handle to a response whose body is read in pieces.',
      effects: [...NETWORK, 'net.stream'],
      shapes: METHOD_AND_REQUEST,
    },
    { text: URL_TEXT },
    (ctx, url, options) => {
      if (!isHttpUrl(url)) return ctx.throw(`http_stream_open: URL must start with http:// or https://, got '${url}'`)
      const given = readOptions(options)
      return request(ctx, 'http_stream_open', display(given.get('method') ?? 'GET'), url, given, {
        kind: 'stream',
        handle: makeHandleId(ctx, 'http-stream'),
      })
    },
  ),
  builtinTaking(
    'http_stream_info(stream: string) -> dict',
    { fromOutside: true, doc: 'Status and headers of a stream.', effects: [] },
    STREAM,
    (ctx, handle) => {
      const stream = ctx.state(httpState).streams.get(handleId(handle))
      if (stream === undefined) return ctx.throw(`http_stream_info: unknown stream '${handleId(handle)}'`)
      return HarnDict.of({ status: stream.status, headers: stream.headers, ok: stream.status >= 200 && stream.status < 300 })
    },
  ),
  builtinTaking(
    'http_stream_read(stream: string, max_bytes?: int) -> bytes | nil',
    { doc: 'The next bytes of a stream, nil at the end.', effects: ['net.stream'] },
    STREAM,
    (ctx, handle, max) => {
      const id = handleId(handle)
      const stream = ctx.state(httpState).streams.get(id)
      if (stream === undefined) return ctx.throw(`http_stream_read: unknown stream '${id}'`)
      const maxBytes = isInt(max) ? Math.min(Math.max(1, Number(max)), 64 << 20) : 1 << 20
      if (stream.rest === null) return reads.ask(ctx, { kind: 'net.stream', args: { op: 'http_read', id, maxBytes } }, 'data', id)
      if (stream.rest.length === 0) return null
      const piece = stream.rest.slice(0, maxBytes)
      stream.rest = stream.rest.slice(maxBytes)
      return new HarnBytes(piece)
    },
  ),
  builtinTaking(
    'http_stream_close(stream: string) -> bool',
    { doc: 'Closes a stream.', effects: ['net.stream'] },
    STREAM,
    (ctx, handle) => {
      const id = handleId(handle)
      const { streams: open } = ctx.state(httpState)
      const stream = open.get(id)
      if (stream === undefined) return false
      open.delete(id)
      return stream.rest === null ? reads.ask(ctx, { kind: 'net.stream', args: { op: 'http_close', id } }, 'closed') : true
    },
  ),
]

// ------------------------------------------------------------------------------------------------------- mocks, egress

function callValue(call: HttpCall, open: boolean): HarnDict {
  const headers = new HarnDict()
  for (const [name, value] of call.headers) headers.set(name, open || !isSensitiveHeader(name) ? value : REDACTED)
  return HarnDict.of({ method: call.method, url: open ? call.url : redactUrl(call.url), headers, body: call.body })
}

function configure(ctx: Context, config: Value): Result {
  const http = ctx.state(httpState)
  const policy = readPolicyFromConfig(config)
  if (typeof policy === 'string') return ctx.throw(policy)
  if (http.egress !== null) return ctx.throw(`egress_policy: policy already configured from ${http.egress.source}`)
  http.egress = policy
  return encodePolicy(policy)
}

function askEnvironment(name: string, then: string, ...input: Value[]): Again {
  return new Again({ kind: 'process.info', args: { op: 'env', name }, own: true }, then, input)
}

/** The environment comes first, so it is asked before a script may set a policy. */
const egress = makeAsker('http.egress', {
  deny: (_ctx, allow, [config]) => askEnvironment('HARN_EGRESS_DENY', 'default', config!, allow),
  default: (_ctx, deny, [config, allow]) => askEnvironment('HARN_EGRESS_DEFAULT', 'decide', config!, allow!, deny),
  decide: (ctx, fallback, [config, allow, deny]) => {
    const http = ctx.state(httpState)
    http.egressAsked = true
    http.egress = readPolicyFromEnvironment(allow!, deny!, fallback)
    return configure(ctx, config!)
  },
})

const mocksAndPolicy: readonly BuiltinDef[] = [
  builtin(
    'http_mock(method: string, url_pattern: string, response: dict) -> nil',
    { doc: 'Answers matching requests without the network.', effects: [] },
    (ctx, method, pattern, response) => {
      setMock(ctx.state(httpState), display(method ?? ''), display(pattern ?? ''), response ?? null)
      return null
    },
  ),
  builtin(
    'http_mock_calls(options?: dict) -> list',
    { doc: 'The requests that mocks answered.', effects: [], shapes: { options: CALLS_OPTIONS } },
    (ctx, options) => {
      const given = readOptions(options)
      const redact = given.get('redact_sensitive')
      const open = isTruthy(given.get('include_sensitive') ?? false) || redact === false
      return new HarnList(ctx.state(httpState).calls.map((call) => callValue(call, open)))
    },
  ),
  builtin('http_mock_clear() -> nil', { doc: 'Forgets mocks and their calls.', effects: [] }, (ctx) => {
    const http = ctx.state(httpState)
    http.mocks.length = 0
    http.calls.length = 0
    return null
  }),
  builtin(
    'egress_policy(config: dict) -> dict',
    { doc: 'Sets which hosts requests may go to; once a run.', effects: ['process.info'] },
    (ctx, config) => {
      const http = ctx.state(httpState)
      if (http.egress !== null || http.egressAsked) return configure(ctx, config ?? null)
      return egress.ask(
        ctx,
        { kind: 'process.info', args: { op: 'env', name: 'HARN_EGRESS_ALLOW' }, own: true },
        'deny',
        config ?? null,
      )
    },
  ),
]

export const httpFamily: BuiltinFamily = {
  name: 'http',
  frames: [exchangeFrame, reads.frame, egress.frame],
  builtins: [...requests, ...streams, ...mocksAndPolicy],
}

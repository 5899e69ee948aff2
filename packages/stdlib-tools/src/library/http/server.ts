// Servers inside a run: routes and hooks that scripts register and ask directly. Nothing listens on the
// network. Handlers and hooks are child runs: what they return counts, what they print is lost.

import {
  HarnBytes,
  HarnDict,
  HarnList,
  builtin,
  builtinTaking,
  decodeUtf8,
  display,
  family,
  isInt,
  isTruthy,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, LibraryCall, Result, Value } from '@bridle/vm/families'
import { findHarnModule } from '../harn/modules.js'
import { definePrimitive } from '../harn/primitive.js'
import { parseQuery, decodePercent } from '../codecs/percent.js'
import { toDict, responseBuiltins, toResponse, makeTextResponse } from './response.js'
import { handleId, handleProblem, isHandle, makeHandleId } from './state.js'
import { tlsBuiltins, tlsPrimitives } from './server-tls.js'

interface Route {
  readonly method: string
  readonly segments: readonly string[]
  readonly handler: Value
  readonly maxBodyBytes: number
  readonly keepsRaw: boolean
}

interface Server {
  readonly maxBodyBytes: number
  readonly keepsRaw: boolean
  ready: boolean
  shutDown: boolean
  readiness: Value
  readonly routes: Route[]
  readonly before: Value[]
  readonly after: Value[]
  readonly onShutdown: Value[]
}

const serverState = family('http_servers', () => ({ servers: new Map<string, Server>() }))

const DEFAULT_BODY_LIMIT = 1 << 20

function handleValue(id: string): HarnDict {
  return HarnDict.of({ id, kind: 'http_server' })
}

/** Null when it is negative. */
function readLimit(options: HarnDict, fallback: number): number | null {
  const limit = options.get('max_body_bytes') ?? null
  if (!isInt(limit)) return fallback
  return limit >= 0 ? Number(limit) : null
}

function readFlag(options: HarnDict, name: string, fallback: boolean): boolean {
  return options.has(name) ? isTruthy(options.get(name)!) : fallback
}

function createServer(ctx: Context, given: Value): Result {
  const options = toDict(given)
  const maxBodyBytes = readLimit(options, DEFAULT_BODY_LIMIT)
  if (maxBodyBytes === null) return ctx.throw('http_server: max_body_bytes must be non-negative')
  const id = makeHandleId(ctx, 'http-server')
  ctx.state(serverState).servers.set(id, {
    maxBodyBytes,
    keepsRaw: readFlag(options, 'retain_raw_body', true),
    ready: readFlag(options, 'ready', true),
    shutDown: false,
    readiness: null,
    routes: [],
    before: [],
    after: [],
    onShutdown: [],
  })
  return handleValue(id)
}

function findServerByHandle(ctx: Context, handle: Value): Server | undefined {
  return ctx.state(serverState).servers.get(handleId(handle))
}

/** Slashes at either end make no segment. */
function splitSegments(path: string): string[] {
  let start = 0
  let end = path.length
  while (path[start] === '/') start++
  while (end > start && path[end - 1] === '/') end--
  return path.slice(start, end).split('/')
}

/** The server behind a handle, or the message that says why there is none. */
function findServer(ctx: Context, name: string, handle: Value): Server | string {
  return handleProblem(name, handle) ?? findServerByHandle(ctx, handle) ?? `${name}: unknown server '${handleId(handle)}'`
}

function addRoute(ctx: Context, handle: Value, method: Value, template: Value, handler: Value, given: Value): Result {
  const name = 'http_server_route'
  const path = display(template)
  if (!path.startsWith('/')) return ctx.throw(`${name}: path template must start with '/'`)
  const server = findServer(ctx, name, handle)
  if (typeof server === 'string') return ctx.throw(server)
  const options = toDict(given)
  const maxBodyBytes = readLimit(options, server.maxBodyBytes)
  if (maxBodyBytes === null) return ctx.throw(`${name}: max_body_bytes must be non-negative`)
  server.routes.push({
    method: display(method).toUpperCase(),
    segments: splitSegments(path),
    handler,
    maxBodyBytes,
    keepsRaw: readFlag(options, 'retain_raw_body', server.keepsRaw),
  })
  return handleValue(handleId(handle))
}

const ROUTE_OPTIONS = `
  max_body_bytes: int (bytes) -- Size of a body at most; larger ones are refused.
  retain_raw_body: bool = true -- Whether handlers see the body as it came.
`
const SERVER_OPTIONS = `${ROUTE_OPTIONS}  ready: bool = true -- Whether the server answers at once.
`

const ONE_SERVER = { fewer: '{f}: requires server' } as const
const NO_CLOSURE = '{f}: argument {n} must be a {type}, got {got}'

/** A builtin that gives a server one more function. */
function defineHook(name: string, doc: string, add: (server: Server, fn: Value) => void, what = 'handler'): BuiltinDef {
  const demands = {
    fewer: `{f}: requires server and ${what}`,
    fits: { server: isHandle },
    not: { handler: NO_CLOSURE },
  } as const
  return builtinTaking(
    `${name}(server: dict | string, handler: closure) -> dict`,
    { doc, effects: [] },
    demands,
    (ctx, handle, fn) => {
      const server = findServer(ctx, name, handle)
      if (typeof server === 'string') return ctx.throw(server)
      add(server, fn)
      return handleValue(handleId(handle ?? null))
    },
  )
}

// -------------------------------------------------------------------------------------------------------------- requests

interface Incoming {
  readonly method: string
  readonly path: string
  readonly query: HarnDict
  readonly headers: HarnDict
  readonly raw: Uint8Array
  readonly remote: Value
  readonly client: Value
}

function findFirst(given: HarnDict, ...names: readonly string[]): Value {
  for (const name of names) if ((given.get(name) ?? null) !== null) return given.get(name)!
  return null
}

function readIncoming(value: Value): Incoming {
  const given = toDict(value)
  const target = display(findFirst(given, 'path') ?? '/')
  const mark = target.indexOf('?')
  const query = new HarnDict()
  if (mark >= 0) for (const [key, item] of parseQuery(target.slice(mark + 1))) query.set(key, item)
  for (const [key, item] of toDict(given.get('query')).entries()) query.set(key, item)
  const headers = new HarnDict()
  for (const [name, item] of toDict(given.get('headers')).entries()) headers.set(name.toLowerCase(), display(item))
  const body = findFirst(given, 'raw_body', 'body')
  return {
    method: display(findFirst(given, 'method') ?? 'GET').toUpperCase(),
    path: (mark < 0 ? target : target.slice(0, mark)) || '/',
    query,
    headers,
    raw: body instanceof HarnBytes ? body.data : toUtf8(body === null ? '' : display(body)),
    remote: findFirst(given, 'remote_addr', 'remote'),
    client: findFirst(given, 'client_ip', 'remote_ip', 'ip'),
  }
}

/** Parameters of a path that fits a template, or null. */
function matchPath(segments: readonly string[], path: string): HarnDict | null {
  const parts = splitSegments(path)
  if (parts.length !== segments.length) return null
  const params = new HarnDict()
  for (const [at, segment] of segments.entries()) {
    const name = /^\{(\w+)\}$|^:(\w+)$/.exec(segment)
    if (name !== null) params.set(name[1] ?? name[2]!, decodePercent(parts[at]!))
    else if (segment !== decodePercent(parts[at]!)) return null
  }
  return params
}

function requestValue(incoming: Incoming, params: HarnDict, keepsRaw: boolean): HarnDict {
  return HarnDict.of({
    method: incoming.method,
    path: incoming.path,
    path_params: params,
    params,
    query: incoming.query,
    headers: incoming.headers,
    body: decodeUtf8(incoming.raw),
    raw_body: keepsRaw ? new HarnBytes(incoming.raw) : null,
    body_bytes: incoming.raw.length,
    remote_addr: incoming.remote,
    client_ip: incoming.client,
  })
}

/** What a request comes to before any script code runs: the route with its hooks, or the response that it is refused with. */
function choose(ctx: Context, server: Server, incoming: Incoming): HarnDict {
  ctx.charge(server.routes.length + (incoming.raw.length >> 6))
  for (const route of server.routes) {
    if (route.method !== '*' && route.method !== incoming.method) continue
    const params = matchPath(route.segments, incoming.path)
    if (params === null) continue
    const size = incoming.raw.length
    if (size > route.maxBodyBytes) {
      const headers = HarnDict.of({ connection: 'close', 'x-harn-body-limit': String(route.maxBodyBytes) })
      const text = `request body too large: ${size} > ${route.maxBodyBytes} bytes`
      return HarnDict.of({ response: makeTextResponse(413, text, headers) })
    }
    return HarnDict.of({
      request: requestValue(incoming, params, route.keepsRaw),
      handler: route.handler,
      before: new HarnList([...server.before]),
      after: new HarnList([...server.after]),
    })
  }
  return HarnDict.of({ response: makeTextResponse(404, `no route for ${incoming.method} ${incoming.path}`) })
}

function describeServer(ctx: Context, handle: Value): Value {
  const server = findServerByHandle(ctx, handle)
  if (server === undefined) return null
  return HarnDict.of({
    handle: handleValue(handleId(handle)),
    is_ready: server.ready && !server.shutDown,
    is_shut_down: server.shutDown,
    readiness: server.readiness,
  })
}

/** The hooks of a server that is shut down now; none of one that was before. */
function shutDown(ctx: Context, handle: Value): HarnList {
  const server = findServerByHandle(ctx, handle)
  if (server === undefined || server.shutDown) return new HarnList([])
  server.shutDown = true
  return new HarnList([...server.onShutdown])
}

/** What server.harn asks. */
const primitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__http_server(handle: dict | string) -> dict?',
    'How a server stands: {handle, is_ready, is_shut_down, readiness}.',
    (ctx, handle) => describeServer(ctx, handle ?? null),
  ),
  definePrimitive(
    '__http_route(handle: dict | string, request: any) -> dict',
    'The route of a request: {request, handler, before, after}, or {response}.',
    (ctx, handle, request) => choose(ctx, findServerByHandle(ctx, handle!)!, readIncoming(request ?? null)),
  ),
  definePrimitive('__http_response(value: any) -> dict', 'What a handler returned as a response.', (_ctx, value) =>
    toResponse(value ?? null),
  ),
  definePrimitive('__shut_down_server(handle: dict | string) -> list', 'Shuts a server down; its hooks.', (ctx, handle) =>
    shutDown(ctx, handle ?? null),
  ),
]

const defineCall = (name: string): LibraryCall => ({ module: 'library/http/server', function: name, output: 'drop' })
const SERVE = defineCall('serve')
const IS_READY = defineCall('is_ready')
const SHUT_DOWN = defineCall('shut_down')

function defineAsking(name: string): BuiltinDef {
  return builtinTaking(
    `${name}(server: dict | string, request: dict) -> dict`,
    { doc: 'The response of a server to a request.', effects: ['callback'] },
    { fewer: '{f}: requires server and request', fits: { server: isHandle } },
    (ctx, handle = null, request = null) =>
      findServerByHandle(ctx, handle) === undefined
        ? ctx.throw(`http_server_request: unknown server handle '${handleId(handle)}'`)
        : ctx.library(SERVE, [handle, request]),
  )
}

/** Continues with a server that exists. */
function onKnown(ctx: Context, name: string, call: LibraryCall, handle: Value): Result {
  const server = findServer(ctx, name, handle)
  return typeof server === 'string' ? ctx.throw(server) : ctx.library(call, [handle])
}

export const httpServerFamily: BuiltinFamily = {
  name: 'http_server',
  modules: findHarnModule,
  primitives: [...primitives, ...tlsPrimitives],
  builtins: [
    builtin(
      'http_server(options?: dict) -> dict',
      { doc: 'A server of this run.', effects: [], shapes: { options: SERVER_OPTIONS } },
      (ctx, options) => createServer(ctx, options ?? null),
    ),
    builtinTaking(
      'http_server_route(server: dict | string, method: string, path_template: string, handler: closure, options?: dict) -> dict',
      { doc: 'Lets a function answer requests of a method and path.', effects: [], shapes: { options: ROUTE_OPTIONS } },
      { fewer: '{f}: requires server, method, path template, and handler', not: { handler: NO_CLOSURE } },
      addRoute,
    ),
    defineHook(
      'http_server_before',
      'Runs before handlers: a dict with a status answers, another value replaces the request.',
      (server, fn) => server.before.push(fn),
    ),
    defineHook(
      'http_server_after',
      'Runs after handlers with response and request: a value replaces the response.',
      (server, fn) => server.after.push(fn),
    ),
    defineHook(
      'http_server_readiness',
      'Decides whether the server is ready.',
      (server, fn) => {
        server.readiness = fn
      },
      'readiness closure',
    ),
    defineHook('http_server_on_shutdown', 'Runs when the server is shut down.', (server, fn) => server.onShutdown.push(fn)),
    defineAsking('http_server_request'),
    defineAsking('http_server_test'),
    builtinTaking(
      'http_server_set_ready(server: dict | string, ready: bool) -> bool',
      { doc: 'Says whether the server is ready.', effects: [] },
      { fewer: '{f}: requires server and ready bool' },
      (ctx, handle, ready) => {
        const server = findServer(ctx, 'http_server_set_ready', handle)
        if (typeof server === 'string') return ctx.throw(server)
        server.ready = isTruthy(ready)
        return server.ready
      },
    ),
    builtinTaking(
      'http_server_ready(server: dict | string) -> bool',
      { doc: 'Whether the server answers requests.', effects: ['callback'] },
      ONE_SERVER,
      (ctx, handle = null) => onKnown(ctx, 'http_server_ready', IS_READY, handle),
    ),
    builtinTaking(
      'http_server_shutdown(server: dict | string) -> bool',
      { doc: 'Shuts the server down.', effects: ['callback'] },
      ONE_SERVER,
      (ctx, handle = null) => onKnown(ctx, 'http_server_shutdown', SHUT_DOWN, handle),
    ),
    ...responseBuiltins,
    ...tlsBuiltins,
  ],
}

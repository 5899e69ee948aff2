// A server for clients of the revision 2026-07-28: each request stands for itself, so there is nothing to remember but calls that wait for
// input (server-rounds.ts) and streams of changes. What is offered and done is behind McpBackend, as for older clients.

import { describeCause } from '../tools/executors/provider.js'
import type { ApprovalRequest } from '../tools/policy/approval-request.js'
import { answerFromForm, makeForm } from './elicitation.js'
import {
  HEADER_MISMATCH,
  META,
  MISSING_CAPABILITY,
  MODERN_VERSION,
  MODERN_VERSIONS,
  UNSUPPORTED_VERSION,
  decodeHeader,
  formatHeaderValue,
  readArgument,
  readHeaderArguments,
  TASKS,
  readSubject,
} from './modern-wire.js'
import { NEEDED, ServerTasks, takesTasks } from './server-tasks.js'
import { CallInRounds, WaitingCalls } from './server-rounds.js'
import type { Caller } from './server-rounds.js'
import { ServedMethods, readText } from './server-methods.js'
import {
  INTERNAL,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  NOT_FOUND,
  PROTOCOL_VERSIONS,
  RpcError,
  isObject,
  isRequestId,
  openBackend,
} from './server-protocol.js'
import { SKILL_METHODS } from './server-skills.js'
import type { BackendSource, Json, JsonObject, ListName, McpBackend, RequestId, ServerIdentity } from './server-protocol.js'

/** Every revision that is spoken here, newest first. */
const SPOKEN: readonly string[] = [...MODERN_VERSIONS, ...PROTOCOL_VERSIONS]
/** What may ask for input. */
const IN_ROUNDS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read'])
const PLAIN: ReadonlySet<string> = new Set([
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'prompts/list',
  'completion/complete',
  'harn.hitl.respond',
  ...SKILL_METHODS,
])
const TASK_METHODS: ReadonlySet<string> = new Set(['tasks/get', 'tasks/update', 'tasks/cancel'])
/** Whose results say how long they hold. */
const CACHEABLE: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  ...SKILL_METHODS,
])
const AREAS: { readonly [list in ListName]: string } = {
  tools: 'toolsListChanged',
  resources: 'resourcesListChanged',
  resourceTemplates: 'resourcesListChanged',
  prompts: 'promptsListChanged',
}
const BAD_REQUEST: ReadonlySet<number> = new Set([HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION, INVALID_REQUEST])

export interface ModernServerOptions {
  /** Calls that wait for input, streams of changes and clients with their own backend, at most. */
  readonly most: number
  /** Milliseconds after which unused state ends. */
  readonly idleMs: number
}

/** What a request comes with. */
export interface ModernContext {
  /** Its client; null without authentication. */
  readonly client: string | null
  /** Of a name in lower case; null where there are none (stdio). */
  readonly header: ((name: string) => string | undefined) | null
  readonly notify: (method: string, params: JsonObject) => void
  /** Aborts when the client cancels the request or goes away. */
  readonly signal: AbortSignal
}

export interface ModernAnswer {
  /** Of HTTP. */
  readonly status: number
  readonly message: JsonObject
}

const isModernVersion = (version: unknown): boolean =>
  typeof version === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= MODERN_VERSION

/** Whether a message is of these revisions: it says so itself, or its header does. */
export function isModernMessage(message: unknown, versionHeader: string | undefined): message is JsonObject {
  if (!isObject(message)) return false
  const params = message['params']
  const meta = isObject(params) ? params['_meta'] : undefined
  const says = isObject(meta) && (Object.hasOwn(meta, META.version) || Object.hasOwn(meta, META.capabilities))
  return says || isModernVersion(versionHeader)
}

export { isModernVersion }

interface OwnBackend {
  readonly methods: ServedMethods
  readonly stopListening: () => void
  usedAt: number
  requests: number
}

/** A failure that is reported before anything is done, with an HTTP status. */
class Refused extends RpcError {
  readonly status: number

  constructor(status: number, code: number, message: string, data?: Json) {
    super(code, message, data)
    this.status = status
  }
}

export class ModernServer {
  private readonly source: BackendSource
  private readonly identity: ServerIdentity
  private readonly options: ModernServerOptions
  /** By client; one for all where there is one backend for all. */
  private readonly backends = new Map<string, OwnBackend>()
  private readonly waiting: WaitingCalls
  private readonly tasks: ServerTasks
  private readonly running = new Set<CallInRounds>()
  private readonly closing = new AbortController()
  private streams = 0

  constructor(source: BackendSource, identity: ServerIdentity, options: ModernServerOptions) {
    this.source = source
    this.identity = identity
    this.options = options
    this.waiting = new WaitingCalls(options.most, options.idleMs)
    this.tasks = new ServerTasks(options.most, options.idleMs)
  }

  /** The answer; null to a notification. */
  async handle(message: JsonObject, context: ModernContext): Promise<ModernAnswer | null> {
    const { id, method } = message
    if (id === undefined && typeof method === 'string') return null
    const answerId = isRequestId(id) ? id : null
    try {
      if (typeof method !== 'string' || !isRequestId(id))
        throw new Refused(400, INVALID_REQUEST, 'a request has a method, which is a text, and an id, which is a text or a number')
      const params = isObject(message['params']) ? message['params'] : {}
      this.check(method, params, context)
      const result = await this.answer(id, method, params, context)
      return { status: 200, message: { jsonrpc: '2.0', id, result: this.finish(method, result) } }
    } catch (cause) {
      const error = toError(cause, isObject(message['params']) ? message['params']['uri'] : undefined)
      return { status: readStatus(cause), message: { jsonrpc: '2.0', id: answerId, error } }
    }
  }

  async close(): Promise<void> {
    this.closing.abort(new Error('the server is closing'))
    this.waiting.close()
    this.tasks.close()
    for (const call of [...this.running]) call.abort('the server is closing')
    const own = [...this.backends.values()]
    this.backends.clear()
    await Promise.all(own.map((each) => this.endBackend(each)))
  }

  // ---------------------------------------------------------------------------
  // what a request must say
  // ---------------------------------------------------------------------------

  /** Throws what is wrong with the request as such. */
  private check(method: string, params: JsonObject, { header }: ModernContext): void {
    const meta = isObject(params['_meta']) ? params['_meta'] : {}
    const version = meta[META.version]
    if (typeof version !== 'string') throw new Refused(400, INVALID_PARAMS, `_meta needs ${META.version}, a text`)
    if (!isObject(meta[META.capabilities])) throw new Refused(400, INVALID_PARAMS, `_meta needs ${META.capabilities}, an object`)
    if (header !== null) checkHeaders(method, params, version, header)
    if (!MODERN_VERSIONS.includes(version))
      throw new Refused(400, UNSUPPORTED_VERSION, `Unsupported protocol version: ${version}`, {
        supported: SPOKEN,
        requested: version,
      })
  }

  /** The arguments that the schema of a tool designates must stand in headers too. */
  private async checkArguments(
    methods: ServedMethods,
    params: JsonObject,
    header: NonNullable<ModernContext['header']>,
  ): Promise<void> {
    const tools = await methods.backend.list('tools')
    const tool = tools.find((each) => each['name'] === params['name'])
    const declared = readHeaderArguments(tool?.['inputSchema'])
    if (!declared.ok) return
    for (const { path, header: name, type } of declared.list) {
      const value = readArgument(params['arguments'], path)
      const expected = formatHeaderValue(value)
      if (expected === null) continue
      const full = `Mcp-Param-${name}`
      const given = header(full.toLowerCase())
      if (given === undefined) throw mismatch(`${full} is missing; the argument ${path.join('.')} is there`)
      const decoded = decodeHeader(given)
      const isNumber = type === 'integer' && typeof value === 'number' && decoded !== null && /^-?\d+(\.\d+)?$/.test(decoded)
      if (decoded === null || (isNumber ? Number(decoded) !== value : decoded !== expected))
        throw mismatch(`${full} is not the argument ${path.join('.')}`)
    }
  }

  // ---------------------------------------------------------------------------
  // answers
  // ---------------------------------------------------------------------------

  private async answer(id: RequestId, method: string, params: JsonObject, context: ModernContext): Promise<JsonObject> {
    const own = this.findBackend(context.client)
    own.requests += 1
    try {
      const { methods } = own
      if (method === 'server/discover') return await this.discover(methods)
      if (method === 'subscriptions/listen') return await this.listen(id, methods, params, context)
      if (PLAIN.has(method)) {
        const result = await methods.answer(method, params, makeQuietScope(context.signal))
        if (result !== null) return result
      }
      if (TASK_METHODS.has(method) && hasTasks(methods)) {
        if (!takesTasks(params)) throw new Refused(400, MISSING_CAPABILITY, `${method} needs the extension ${TASKS}`, NEEDED)
        return this.tasks.answer(method, params, context.client)
      }
      if (!IN_ROUNDS.has(method)) throw new Refused(404, METHOD_NOT_FOUND, `Method not found: ${method}`)
      if (method === 'tools/call' && context.header !== null) await this.checkArguments(methods, params, context.header)
      return await this.call(methods, method, params, context)
    } finally {
      own.requests -= 1
      own.usedAt = performance.now()
    }
  }

  private async discover(methods: ServedMethods): Promise<JsonObject> {
    const { instructions } = this.identity
    const capabilities = await methods.listCapabilities()
    const extensions = isObject(capabilities['extensions']) ? capabilities['extensions'] : {}
    return {
      supportedVersions: SPOKEN,
      capabilities: {
        ...capabilities,
        ...(hasTasks(methods) ? { extensions: { ...extensions, [TASKS]: {} } } : {}),
      },
      ...(instructions === undefined ? {} : { instructions }),
    }
  }

  private async call(methods: ServedMethods, method: string, params: JsonObject, context: ModernContext): Promise<JsonObject> {
    const { _meta: _, inputResponses: _responses, requestState: state, ...asked } = params
    const identity = JSON.stringify([method, asked])
    const caller: Caller = { client: context.client, params, notify: context.notify, signal: context.signal }
    const support = method === 'tools/call' ? (methods.backend.getTaskSupport?.(readText(params['name'])) ?? null) : null
    const asTask = support !== null && takesTasks(params)
    if (support !== null && support !== 'optional' && !asTask)
      throw new Refused(400, MISSING_CAPABILITY, `this tool works as a task only, which needs the extension ${TASKS}`, NEEDED)
    let call: CallInRounds
    if (state === undefined) {
      call = new CallInRounds(caller, identity)
      call.takeAnswers(params['inputResponses'])
      const { requestState: _state, inputResponses: _inputs, ...given } = params
      call.start(async (scope) => (await methods.answer(method, given, scope)) ?? {})
    } else call = this.waiting.take(state, context.client, identity)
    this.running.add(call)
    if (asTask && (state !== undefined || support !== 'after_input')) return this.beginTask(call, caller, state !== undefined)
    let waits = false
    try {
      const result = await call.go(state === undefined ? { ...caller, params: { ...params, inputResponses: {} } } : caller)
      if (result !== null) return result
      waits = true
      return { resultType: 'input_required', inputRequests: call.listQuestions(), requestState: this.waiting.keep(call) }
    } catch (cause) {
      // After an invalid answer the client may send a valid one.
      if (state !== undefined && !call.hasEnded && !call.isAborted) call.abort('the client answered what was not asked')
      throw cause
    } finally {
      if (!waits) this.running.delete(call)
    }
  }

  private beginTask(call: CallInRounds, caller: Caller, isLater: boolean): JsonObject {
    const { inputResponses, ...rest } = caller.params
    const onEnd = (): void => void this.running.delete(call)
    try {
      if (isLater) call.takeAnswers(inputResponses)
      const nobody: Caller = { ...caller, params: rest, notify: () => {}, signal: this.closing.signal }
      return this.tasks.begin(call, nobody, onEnd)
    } catch (cause) {
      call.abort('the call did not become a task')
      onEnd()
      throw cause
    }
  }

  /** Ends when the client wants no more of it, or the server closes. */
  private async listen(id: RequestId, methods: ServedMethods, params: JsonObject, context: ModernContext): Promise<JsonObject> {
    const { backend } = methods
    // Changes during the request are reported after the acknowledgement.
    const early: ListName[] = []
    let hear = (name: ListName): void => void early.push(name)
    const stopEarly = backend.onListChanged?.((name) => hear(name))
    try {
      return await this.listenTo(id, methods, params, context, (tell) => {
        hear = tell
        for (const name of early) tell(name)
      })
    } finally {
      stopEarly?.()
    }
  }

  private async listenTo(
    id: RequestId,
    methods: ServedMethods,
    params: JsonObject,
    context: ModernContext,
    onListChanged: (tell: (name: ListName) => void) => void,
  ): Promise<JsonObject> {
    const { backend } = methods
    const wanted = isObject(params['notifications']) ? params['notifications'] : {}
    const capabilities = await methods.listCapabilities()
    const offers = (area: string, what: string): boolean => {
      const each = capabilities[area]
      return isObject(each) && each[what] === true
    }
    const honored: { [key: string]: Json } = {}
    for (const area of ['tools', 'prompts', 'resources'])
      if (wanted[`${area}ListChanged`] === true && offers(area, 'listChanged')) honored[`${area}ListChanged`] = true
    const uris = new Set<string>()
    if (Array.isArray(wanted['resourceSubscriptions']) && offers('resources', 'subscribe')) {
      const known = new Set((await methods.listResources()).map((each) => each['uri']))
      for (const uri of wanted['resourceSubscriptions'] as readonly Json[])
        if (typeof uri === 'string' && known.has(uri)) uris.add(uri)
      honored['resourceSubscriptions'] = [...uris]
    }
    if (this.streams >= this.options.most) throw new RpcError(INTERNAL, 'too many streams of changes are open')
    const tell = (method: string, about: JsonObject): void =>
      context.notify(method, { ...about, _meta: { [META.subscription]: id } })
    const stop = backend.onResourceUpdated?.((uri) => {
      if (uris.has(uri)) tell('notifications/resources/updated', { uri })
    })
    this.streams += 1
    try {
      tell('notifications/subscriptions/acknowledged', { notifications: honored })
      onListChanged((name) => {
        const area = AREAS[name]
        if (honored[area] === true) tell(`notifications/${name === 'resourceTemplates' ? 'resources' : name}/list_changed`, {})
      })
      await new Promise<void>((resolve) => {
        for (const signal of [context.signal, this.closing.signal]) {
          if (signal.aborted) resolve()
          else signal.addEventListener('abort', () => resolve(), { once: true })
        }
      })
      return { _meta: { [META.subscription]: id } }
    } finally {
      this.streams -= 1
      stop?.()
    }
  }

  /** With what every result of these revisions says. */
  private finish(method: string, result: JsonObject): JsonObject {
    const { name, version } = this.identity
    const isComplete = result['resultType'] === undefined
    const meta = isObject(result['_meta']) ? result['_meta'] : {}
    return {
      ...(isComplete ? { resultType: 'complete' } : {}),
      // What is offered may change at any time, and may be for this client alone.
      ...(isComplete && CACHEABLE.has(method) ? { ttlMs: 0, cacheScope: 'private' } : {}),
      ...result,
      _meta: { ...meta, [META.serverInfo]: { name, version } },
    }
  }

  // ---------------------------------------------------------------------------
  // backends
  // ---------------------------------------------------------------------------

  private findBackend(client: string | null): OwnBackend {
    const key = typeof this.source === 'function' ? JSON.stringify(client) : ''
    const known = this.backends.get(key)
    if (known !== undefined) return known
    this.endIdle()
    if (this.backends.size >= this.options.most) throw new RpcError(INTERNAL, 'too many clients are at work')
    const backend = openBackend(this.source, { client })
    const stop = backend.desk?.onRequest((request) => this.tellQuestion(backend, request))
    const made: OwnBackend = {
      methods: new ServedMethods(backend, this.identity),
      stopListening: () => stop?.(),
      usedAt: performance.now(),
      requests: 0,
    }
    this.backends.set(key, made)
    return made
  }

  private endIdle(): void {
    const before = performance.now() - this.options.idleMs
    for (const [key, own] of [...this.backends]) {
      if (own.requests > 0 || own.usedAt > before) continue
      this.backends.delete(key)
      void this.endBackend(own).catch(() => {})
    }
  }

  private async endBackend({ methods, stopListening }: OwnBackend): Promise<void> {
    stopListening()
    if (typeof this.source === 'function') await methods.backend.close?.()
  }

  /** A question to a person goes to those whose calls are under way, as one that the call asks. */
  private tellQuestion(backend: McpBackend, request: ApprovalRequest): void {
    const form = makeForm(request)
    if (form === null) return
    for (const call of this.running) {
      if (!call.offersForms || call.hasEnded) continue
      call.ask('elicitation/create', form).then(
        (result) => {
          const answer = answerFromForm(request, result)
          if (answer !== null) backend.desk?.respond(request.id, answer)
        },
        () => {},
      )
    }
  }
}

function checkHeaders(method: string, params: JsonObject, version: string, header: NonNullable<ModernContext['header']>): void {
  const says = header('mcp-protocol-version')
  if (says !== version) throw mismatch(`MCP-Protocol-Version is ${says ?? 'missing'}, _meta says ${version}`)
  const said = header('mcp-method')
  if (said !== method) throw mismatch(`Mcp-Method is ${said ?? 'missing'}, the request is ${method}`)
  const subject = readSubject(method, params)
  const named = header('mcp-name')
  if (subject === null) return
  if (named === undefined || decodeHeader(named) !== subject)
    throw mismatch(`Mcp-Name is ${named ?? 'missing'}, the request is about ${JSON.stringify(subject)}`)
}

const hasTasks = ({ backend }: ServedMethods): boolean => backend.features?.().tasks === true

const mismatch = (what: string): Refused => new Refused(400, HEADER_MISMATCH, `Header mismatch: ${what}`)

const makeQuietScope = (signal: AbortSignal) => ({
  signal,
  progress: () => {},
  log: () => {},
  client: {
    info: {},
    capabilities: {},
    request: () => Promise.reject(new RpcError(INVALID_PARAMS, 'this request cannot ask its client')),
  },
})

function readStatus(cause: unknown): number {
  if (cause instanceof Refused) return cause.status
  return cause instanceof RpcError && BAD_REQUEST.has(cause.code) ? 400 : 200
}

function toError(cause: unknown, uri: Json | undefined): JsonObject {
  if (!(cause instanceof RpcError)) return { code: INTERNAL, message: describeCause(cause) }
  const { code, message, data } = cause
  // A missing item is an invalid parameter in these revisions.
  if (code === NOT_FOUND) return { code: INVALID_PARAMS, message, data: data ?? { uri: uri ?? null } }
  return { code, message, ...(data === undefined ? {} : { data }) }
}

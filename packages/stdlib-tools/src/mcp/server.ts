// An MCP server: one connection with one client, over any transport of the SDK. What is offered and done is behind McpBackend;
// here are the methods, the errors and the rules of the protocol.
//
// Requests are answered by hand rather than by the SDK's server class, because the texts and codes of refusals and the order of
// the handshake are part of what clients of served scripts rely on.

import { answerFromForm, makeForm } from './elicitation.js'
import { withDigits } from '../tools/executors/exact-json.js'
import { ClientRequests } from './server-client.js'
import { ServedMethods, readText } from './server-methods.js'
import { ModernServer, isModernMessage } from './server-modern.js'
import { LOG_LEVELS, makeReports } from './server-reports.js'
import { HTTP_DEFAULTS } from './http-rules.js'
import {
  INTERNAL,
  INVALID_PARAMS,
  INVALID_REQUEST,
  PARSE_ERROR,
  isRequestId,
  NOT_FOUND,
  PROTOCOL_VERSION,
  PROTOCOL_VERSIONS,
  RpcError,
  isObject,
  takeInputKey,
  toJson,
  refuseMethod,
  refuseTask,
} from './server-protocol.js'
import type {
  Json,
  JsonObject,
  ListName,
  McpBackend,
  McpTransport,
  RequestId,
  RequestScope,
  ServerIdentity,
} from './server-protocol.js'
import type { ApprovalRequest } from '../tools/policy/approval-request.js'
import { describeCause } from '../tools/executors/provider.js'

/** What a transport that can resume streams says beside a request. */
interface Extra {
  readonly closeSSEStream?: (() => void) | undefined
}

export interface ConnectionOptions {
  /**
   * Milliseconds after which the response stream of a request over HTTP is closed while the work continues; the client fetches the
   * rest later (SEP-1699). Streams stay open when absent. Only with a transport that can resume streams.
   */
  readonly pollAfterMs?: number
}

export class McpServerConnection {
  private readonly backend: McpBackend
  private readonly identity: ServerIdentity
  private readonly methods: ServedMethods
  private readonly transport: McpTransport
  private readonly options: ConnectionOptions
  private readonly running = new Map<RequestId, AbortController>()
  private readonly client: ClientRequests
  private readonly subscribed = new Set<string>()
  private readonly closing = new AbortController()
  /** Place in LOG_LEVELS; null until the client sets one. */
  private logLevel: number | null = null
  private initialized = false
  private closed = false
  /** For clients that shake no hands. */
  private modern: ModernServer | null = null
  private readonly stopListening: readonly (() => void)[]
  /** Settles when the connection has ended and everything it asked for has stopped. */
  readonly ended: Promise<void>
  private settleEnded: () => void = () => {}

  constructor(backend: McpBackend, identity: ServerIdentity, transport: McpTransport, options: ConnectionOptions = {}) {
    this.backend = backend
    this.identity = identity
    this.methods = new ServedMethods(backend, identity)
    this.transport = transport
    this.options = options
    this.client = new ClientRequests((message, related) => this.send(message, related))
    this.ended = new Promise((resolve) => {
      this.settleEnded = resolve
    })
    const stops = [
      backend.onListChanged?.((name) => this.tellListChanged(name)),
      backend.onResourceUpdated?.((uri) => {
        if (this.subscribed.has(uri))
          void this.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } })
      }),
      backend.desk?.onRequest((request) => this.tellQuestion(request)),
    ]
    this.stopListening = stops.filter((stop) => stop !== undefined)
  }

  async start(): Promise<void> {
    this.transport.onmessage = (message, extra?: Extra) => void this.receive(message, extra)
    this.transport.onclose = () => this.onClosed()
    this.transport.ondamage = (why) =>
      this.refuse(why === 'not JSON' ? PARSE_ERROR : INVALID_REQUEST, `a message was left out: it is ${why}`)
    await this.transport.start()
  }

  async close(): Promise<void> {
    await this.transport.close()
    this.onClosed()
  }

  private onClosed(): void {
    if (this.closed) return
    this.closed = true
    for (const stop of this.stopListening) stop()
    this.closing.abort(new Error('the client went away'))
    this.client.close()
    void this.modern?.close()
    for (const abort of this.running.values()) abort.abort(new Error('the client went away'))
    this.settleEnded()
  }

  private async receive(message: unknown, extra?: Extra): Promise<void> {
    if (!isObject(message)) return
    const method = message['method']
    if (method === undefined) return this.client.receive(message)
    const id = message['id']
    if (typeof method !== 'string') return this.refuse(INVALID_REQUEST, 'the method is not a string')
    if (id !== undefined && !isRequestId(id)) return this.refuse(INVALID_REQUEST, 'the id of a request is a string or a number')
    const params = isObject(message['params']) ? message['params'] : {}
    if (id === undefined) {
      if (method === 'notifications/cancelled') this.cancel(params['requestId'])
      return
    }
    const abort = new AbortController()
    this.running.set(id, abort)
    if (isModernMessage(message, undefined)) return this.receiveModern(message, id, abort)
    const toPolling = this.toPollingAfter(extra)
    try {
      const result = await this.answer(method, params, this.makeScope(id, params, abort.signal))
      if (!abort.signal.aborted) await this.send({ jsonrpc: '2.0', id, result })
    } catch (cause) {
      // A cancelled request gets no answer at all.
      if (!abort.signal.aborted) await this.send({ jsonrpc: '2.0', id, error: toErrorObject(cause) })
    } finally {
      clearTimeout(toPolling)
      if (this.running.get(id) === abort) this.running.delete(id)
    }
  }

  /** A request that stands for itself, from a client that shakes no hands. */
  private async receiveModern(message: JsonObject, id: RequestId, abort: AbortController): Promise<void> {
    this.modern ??= new ModernServer(this.backend, this.identity, {
      most: HTTP_DEFAULTS.maxSessions,
      idleMs: HTTP_DEFAULTS.sessionIdleMs,
    })
    const answer = await this.modern.handle(message, {
      client: null,
      header: null,
      notify: (method, params) => void this.send({ jsonrpc: '2.0', method, params }, id),
      signal: abort.signal,
    })
    if (this.running.get(id) === abort) this.running.delete(id)
    if (answer !== null && !abort.signal.aborted) await this.send(answer.message, id)
  }

  /** What was not a readable request has no id to answer to. */
  private refuse(code: number, message: string): void {
    void this.send({ jsonrpc: '2.0', id: null, error: { code, message } })
  }

  private toPollingAfter(extra: Extra | undefined): ReturnType<typeof setTimeout> | undefined {
    const { pollAfterMs } = this.options
    const close = extra?.closeSSEStream
    return pollAfterMs === undefined || close === undefined ? undefined : setTimeout(close, pollAfterMs).unref()
  }

  private cancel(id: Json | undefined): void {
    if (typeof id === 'string' || typeof id === 'number') this.running.get(id)?.abort(new Error('cancelled by the client'))
  }

  private makeScope(id: RequestId, params: JsonObject, signal: AbortSignal): RequestScope {
    const meta = params['_meta']
    const token = isObject(meta) ? meta['progressToken'] : undefined
    const { client } = this
    return {
      signal,
      ...makeReports({
        token: () => token,
        level: () => this.logLevel,
        notify: (method, about) => void this.send({ jsonrpc: '2.0', method, params: about }, id),
        signal,
      }),
      client: {
        get info() {
          return client.info
        },
        get capabilities() {
          return client.capabilities
        },
        get revision() {
          return client.revision
        },
        request: (method, about) => client.request(method, takeInputKey(about).params, id, signal),
      },
    }
  }

  private async send(message: JsonObject, relatedRequestId?: RequestId): Promise<void> {
    if (this.closed) return
    try {
      const sent = this.transport.keepsIntegers === true ? message : withDigits(message)
      await this.transport.send(sent, relatedRequestId === undefined ? undefined : { relatedRequestId })
    } catch {
      // The client has gone; its requests end with the connection.
    }
  }

  private tellListChanged(name: ListName): void {
    const area = name === 'resourceTemplates' ? 'resources' : name
    if (this.initialized) void this.send({ jsonrpc: '2.0', method: `notifications/${area}/list_changed` })
  }

  /** A question to a person goes to every client in the form that scripts know, and as a form to those that can show one. */
  private tellQuestion(request: ApprovalRequest): void {
    if (!this.initialized) return
    void this.send({ jsonrpc: '2.0', method: 'harn.hitl.requested', params: toJson(request.payload) })
    const form = this.client.has('elicitation') ? makeForm(request) : null
    if (form === null) return
    this.client.request('elicitation/create', form, undefined, this.closing.signal).then(
      (result) => {
        const answer = answerFromForm(request, result)
        if (answer !== null) this.backend.desk?.respond(request.id, answer)
      },
      // If the client cannot be asked this way, the other way remains.
      () => {},
    )
  }

  private async answer(method: string, params: JsonObject, scope: RequestScope): Promise<JsonObject> {
    if (method === 'initialize') return await this.initialize(params)
    if (method === 'ping') return {}
    if (this.backend.kind === 'exported' && !this.initialized) throw new RpcError(NOT_FOUND, 'server not initialized')
    const { subscriptions = false } = this.backend.features?.() ?? {}
    switch (method) {
      case 'logging/setLevel': {
        const level = LOG_LEVELS.indexOf(readText(params['level']))
        if (level < 0) throw new RpcError(INVALID_PARAMS, `logging/setLevel: the level is one of ${LOG_LEVELS.join(', ')}`)
        this.logLevel = level
        return {}
      }
      case 'tools/call':
        if (params['task'] !== undefined) throw refuseTask()
        break
      case 'resources/subscribe':
      case 'resources/unsubscribe': {
        if (!subscriptions) break
        const uri = readText(params['uri'])
        if (method === 'resources/unsubscribe') this.subscribed.delete(uri)
        else if ((await this.methods.listResources()).some((each) => each['uri'] === uri)) this.subscribed.add(uri)
        else throw new RpcError(NOT_FOUND, `Resource not found: ${uri}`)
        return {}
      }
    }
    const result = await this.methods.answer(method, params, scope)
    if (result !== null) return result
    throw refuseMethod(method)
  }

  private async initialize(params: JsonObject): Promise<JsonObject> {
    // A revision that is not known is answered by the newest; the client decides whether it can continue with that.
    const agreed = PROTOCOL_VERSIONS.find((version) => version === params['protocolVersion'])
    this.initialized = true
    this.client.revision = agreed ?? PROTOCOL_VERSION
    if (isObject(params['clientInfo'])) this.client.info = params['clientInfo']
    if (isObject(params['capabilities'])) this.client.capabilities = params['capabilities']
    const { name, version, card, instructions } = this.identity
    return {
      protocolVersion: agreed ?? PROTOCOL_VERSION,
      capabilities: await this.methods.listCapabilities(),
      serverInfo: { name, version, ...(card === undefined ? {} : { card }) },
      ...(instructions === undefined ? {} : { instructions }),
    }
  }
}

function toErrorObject(cause: unknown): JsonObject {
  if (cause instanceof RpcError)
    return { code: cause.code, message: cause.message, ...(cause.data === undefined ? {} : { data: cause.data }) }
  return { code: INTERNAL, message: describeCause(cause) }
}

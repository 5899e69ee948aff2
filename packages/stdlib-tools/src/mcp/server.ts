// A script as an MCP server: one connection with one client, over any transport of the SDK. What the script offers and does is
// behind McpBackend; here are the methods, the errors and the rules of the protocol (04a §3.5–3.7).
//
// Requests are answered by hand rather than by the SDK's server class, because the texts and codes of refusals, the order of
// the handshake and the fixed protocol version are part of what clients of such scripts rely on.

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { HarnFloat } from '@bridle/vm'
import type { Plain } from '@bridle/vm'
import type { ApprovalDesk } from '../policy/approval.js'

export const PROTOCOL_VERSION = '2025-11-25'
export const CARD_URI = 'well-known://mcp-card'
const PAGE_SIZE = 50

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** An answer that is an error of the protocol. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: Json | undefined

  constructor(code: number, message: string, data?: Json) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const INVALID_PARAMS = -32602
export const NOT_FOUND = -32002
export const INTERNAL = -32603

export type ListName = 'tools' | 'resources' | 'resourceTemplates' | 'prompts'

/** What a request may do beside being answered. */
export interface RequestScope {
  readonly signal: AbortSignal
  /** Tells the client how far the work is; nothing happens when it did not ask. */
  readonly progress: (progress: number, message: string) => void
}

export interface McpBackend {
  /** `exported` functions answer nothing before the handshake and insist on the protocol version. */
  readonly kind: 'registered' | 'exported'
  readonly list: (name: ListName) => readonly JsonObject[]
  readonly callTool: (name: string, params: JsonObject, scope: RequestScope) => Promise<JsonObject>
  readonly readResource: (uri: string, scope: RequestScope) => Promise<JsonObject>
  readonly getPrompt: (name: string, params: JsonObject, scope: RequestScope) => Promise<JsonObject>
  /** Who answers the requests to people; absent when nobody can. */
  readonly desk?: ApprovalDesk
  /** Calls back when lists changed; gives the way to stop. */
  readonly onListChanged?: (listener: (name: ListName) => void) => () => void
}

export interface ServerIdentity {
  readonly name: string
  readonly version: string
  /** Server card (04a §3.3), shown in the handshake and as a resource. */
  readonly card?: Json
}

interface Unsupported {
  readonly feature: string
  readonly role: 'server' | 'client'
  readonly reason: string
}

const unsupported = (feature: string, role: Unsupported['role'], reason: string): Unsupported => ({ feature, role, reason })
const TASKS = 'Tools run inline; there are no tasks to ask about.'

/** Methods of the protocol that this server has no part in; the refusal says so instead of denying that they exist. */
const UNSUPPORTED: ReadonlyMap<string, Unsupported> = new Map([
  ['completion/complete', unsupported('completions', 'server', 'Arguments of prompts and templates are not completed.')],
  [
    'resources/subscribe',
    unsupported('resource subscriptions', 'server', 'Resources are made when they are read; nothing watches them.'),
  ],
  [
    'resources/unsubscribe',
    unsupported('resource subscriptions', 'server', 'Resources are made when they are read; nothing watches them.'),
  ],
  ['roots/list', unsupported('roots', 'client', 'Roots are asked of clients, not of servers.')],
  ['sampling/createMessage', unsupported('sampling', 'client', 'Samples are asked of clients, not of servers.')],
  ['elicitation/create', unsupported('elicitation', 'client', 'People are asked through clients, not through servers.')],
  ['tasks/get', unsupported('tasks', 'server', TASKS)],
  ['tasks/result', unsupported('tasks', 'server', TASKS)],
  ['tasks/list', unsupported('tasks', 'server', TASKS)],
  ['tasks/cancel', unsupported('tasks', 'server', 'A call is cancelled with notifications/cancelled.')],
])

function unsupportedData(method: string, facts: Omit<Unsupported, 'role'> & { readonly role?: string }): JsonObject {
  const { feature, role, reason } = facts
  return {
    type: 'mcp.unsupportedFeature',
    protocolVersion: PROTOCOL_VERSION,
    method,
    feature,
    ...(role === undefined ? {} : { role }),
    status: 'unsupported',
    reason,
  }
}

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

export class McpServerConnection {
  private readonly backend: McpBackend
  private readonly identity: ServerIdentity
  private readonly transport: Transport
  private readonly running = new Map<RequestId, AbortController>()
  private initialized = false
  private closed = false
  private readonly stopListening: readonly (() => void)[]
  /** Settles when the connection has ended and everything it asked for has stopped. */
  readonly ended: Promise<void>
  private settleEnded: () => void = () => {}

  constructor(backend: McpBackend, identity: ServerIdentity, transport: Transport) {
    this.backend = backend
    this.identity = identity
    this.transport = transport
    this.ended = new Promise((resolve) => {
      this.settleEnded = resolve
    })
    const stops = [
      backend.onListChanged?.((name) => this.tellListChanged(name)),
      backend.desk?.onRequest(({ payload }) => {
        if (this.initialized) void this.send({ jsonrpc: '2.0', method: 'harn.hitl.requested', params: json(payload) })
      }),
    ]
    this.stopListening = stops.filter((stop) => stop !== undefined)
  }

  async start(): Promise<void> {
    this.transport.onmessage = (message: JSONRPCMessage) => void this.receive(message)
    this.transport.onclose = () => this.onClosed()
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
    for (const abort of this.running.values()) abort.abort(new Error('the client went away'))
    this.settleEnded()
  }

  private async receive(message: unknown): Promise<void> {
    if (!isObject(message) || typeof message['method'] !== 'string') return
    const method = message['method']
    const id = message['id']
    const params = isObject(message['params']) ? message['params'] : {}
    if (typeof id !== 'string' && typeof id !== 'number') {
      if (method === 'notifications/cancelled') this.cancel(params['requestId'])
      return
    }
    const abort = new AbortController()
    this.running.set(id, abort)
    try {
      const result = await this.answer(method, params, this.scopeOf(id, params, abort.signal))
      if (!abort.signal.aborted) await this.send({ jsonrpc: '2.0', id, result })
    } catch (cause) {
      // A cancelled request gets no answer at all.
      if (!abort.signal.aborted) await this.send({ jsonrpc: '2.0', id, error: errorOf(cause) })
    } finally {
      if (this.running.get(id) === abort) this.running.delete(id)
    }
  }

  private cancel(id: Json | undefined): void {
    if (typeof id === 'string' || typeof id === 'number') this.running.get(id)?.abort(new Error('cancelled by the client'))
  }

  private scopeOf(id: RequestId, params: JsonObject, signal: AbortSignal): RequestScope {
    const meta = params['_meta']
    const token = isObject(meta) ? meta['progressToken'] : undefined
    return {
      signal,
      progress: (progress, message) => {
        if (token === undefined || signal.aborted) return
        void this.send(
          { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress, message } },
          id,
        )
      },
    }
  }

  private async send(message: JsonObject, relatedRequestId?: RequestId): Promise<void> {
    if (this.closed) return
    try {
      await this.transport.send(message as JSONRPCMessage, relatedRequestId === undefined ? undefined : { relatedRequestId })
    } catch {
      // The client has gone; its requests end with the connection.
    }
  }

  private tellListChanged(name: ListName): void {
    const area = name === 'resourceTemplates' ? 'resources' : name
    if (this.initialized) void this.send({ jsonrpc: '2.0', method: `notifications/${area}/list_changed` })
  }

  private async answer(method: string, params: JsonObject, scope: RequestScope): Promise<JsonObject> {
    if (method === 'initialize') return this.initialize(params)
    if (method === 'ping') return {}
    if (this.backend.kind === 'exported' && !this.initialized) throw new RpcError(NOT_FOUND, 'server not initialized')
    switch (method) {
      case 'logging/setLevel':
        return {}
      case 'tools/list':
        return this.page('tools', this.backend.list('tools'), params)
      case 'resources/list':
        return this.page('resources', this.resources(), params)
      case 'resources/templates/list':
        return this.page('resourceTemplates', this.backend.list('resourceTemplates'), params)
      case 'prompts/list':
        return this.page('prompts', this.backend.list('prompts'), params)
      case 'tools/call':
        return this.callTool(params, scope)
      case 'resources/read':
        return this.readResource(textOf(params['uri']), scope)
      case 'prompts/get':
        return this.backend.getPrompt(textOf(params['name']), params, scope)
      case 'harn.hitl.respond':
        if (this.backend.desk === undefined) break
        if (typeof params['request_id'] !== 'string')
          throw new RpcError(INVALID_PARAMS, 'invalid harn.hitl.respond params: missing field `request_id`')
        this.backend.desk.respond(params['request_id'], params)
        return { ok: true }
    }
    const known = UNSUPPORTED.get(method)
    if (known !== undefined) throw new RpcError(-32601, `Unsupported MCP method: ${method}`, unsupportedData(method, known))
    throw new RpcError(-32601, `Method not found: ${method}`)
  }

  private initialize(params: JsonObject): JsonObject {
    const requested = params['protocolVersion']
    const { kind } = this.backend
    if (kind === 'exported' && typeof requested === 'string' && requested !== '' && requested !== PROTOCOL_VERSION) {
      throw new RpcError(INVALID_PARAMS, 'Unsupported protocol version', { supported: [PROTOCOL_VERSION], requested })
    }
    this.initialized = true
    const { name, version, card } = this.identity
    return {
      protocolVersion: PROTOCOL_VERSION,
      capabilities: this.capabilities(),
      serverInfo: { name, version, ...(card === undefined ? {} : { card }) },
    }
  }

  private capabilities(): JsonObject {
    const { backend } = this
    const has = (name: ListName): boolean => backend.list(name).length > 0
    // Exported functions are fixed when the server starts.
    const changing = backend.kind === 'registered' ? { listChanged: true } : {}
    const resources = has('resources') || has('resourceTemplates') || this.identity.card !== undefined
    return {
      ...(has('tools') ? { tools: changing } : {}),
      ...(resources ? { resources: changing } : {}),
      ...(has('prompts') ? { prompts: changing } : {}),
      logging: {},
    }
  }

  private resources(): readonly JsonObject[] {
    const own = this.backend.list('resources')
    if (this.identity.card === undefined) return own
    return [
      {
        uri: CARD_URI,
        name: 'Server Card',
        description: 'Identity and capabilities of this server',
        mimeType: 'application/json',
      },
      ...own,
    ]
  }

  private page(key: string, items: readonly JsonObject[], params: JsonObject): JsonObject {
    const cursor = params['cursor']
    const from = typeof cursor === 'string' ? Number.parseInt(Buffer.from(cursor, 'base64').toString('utf8'), 10) : 0
    const start = Number.isSafeInteger(from) && from > 0 ? from : 0
    const end = start + PAGE_SIZE
    return {
      [key]: items.slice(start, end),
      ...(end < items.length ? { nextCursor: Buffer.from(String(end)).toString('base64') } : {}),
    }
  }

  private async callTool(params: JsonObject, scope: RequestScope): Promise<JsonObject> {
    if (params['task'] !== undefined) {
      throw new RpcError(
        INVALID_PARAMS,
        'MCP task-augmented execution is not supported',
        unsupportedData('tools/call', { feature: 'tasks', reason: TASKS }),
      )
    }
    return this.backend.callTool(textOf(params['name']), params, scope)
  }

  private async readResource(uri: string, scope: RequestScope): Promise<JsonObject> {
    const { card } = this.identity
    if (uri === CARD_URI && card !== undefined) {
      return { contents: [{ uri, text: JSON.stringify(card), mimeType: 'application/json' }] }
    }
    return this.backend.readResource(uri, scope)
  }
}

function errorOf(cause: unknown): JsonObject {
  if (cause instanceof RpcError)
    return { code: cause.code, message: cause.message, ...(cause.data === undefined ? {} : { data: cause.data }) }
  return { code: INTERNAL, message: cause instanceof Error ? cause.message : String(cause) }
}

/** Plain data as JSON has it: exact ints beyond the doubles and bytes become texts. */
export function json(value: Plain): Json {
  return JSON.parse(
    JSON.stringify(value, (_key, each: unknown) => {
      if (typeof each === 'bigint') return String(each)
      if (each instanceof HarnFloat) return each.v
      if (each instanceof Uint8Array) return Buffer.from(each).toString('base64')
      return each
    }),
  ) as Json
}

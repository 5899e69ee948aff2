// What both sides of an MCP server of ours agree on: the data of the protocol, its errors, and what a backend (a script, or the
// tools of a host) does and receives. The connection (server.ts) knows the protocol but not the backends.

import { HarnFloat } from '@bridle/vm'
import type { Plain } from '@bridle/vm'
import type { ApprovalDesk } from '../tools/policy/host-approval.js'
import { markInteger } from '../tools/executors/exact-json.js'
import type { LogLevel } from '../library/effects/index.js'

/** The newest revision, for clients that name none that is known. */
export const PROTOCOL_VERSION = '2025-11-25'
/** Supported revisions of servers, newest first. */
export const PROTOCOL_VERSIONS = [PROTOCOL_VERSION, '2025-06-18', '2025-03-26', '2024-11-05'] as const
export const CARD_URI = 'well-known://mcp-card'

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
export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const NOT_FOUND = -32002
export const INTERNAL = -32603

export const LIST_NAMES = ['tools', 'resources', 'resourceTemplates', 'prompts'] as const
export type ListName = (typeof LIST_NAMES)[number]

/** The client of a connection, as seen by request handlers. */
export interface McpClientLink {
  /** `{name, version, title?}` as the client introduced itself. */
  readonly info: JsonObject
  /** What the client declared: `sampling`, `elicitation`, `roots` … */
  readonly capabilities: JsonObject
  /** The revision of the protocol that this request is in; absent where that is not known. */
  readonly revision?: string | undefined
  /**
   * Asks the client, such as `sampling/createMessage`. Rejects with RpcError when the client refuses, did not declare that it
   * answers such requests, or goes away; also when the request that is being answered was cancelled.
   */
  readonly request: (method: string, params: JsonObject) => Promise<JsonObject>
}

/** What a request may do beside being answered. */
export interface RequestScope {
  readonly signal: AbortSignal
  /** Tells the client how far the work is; nothing happens when it did not ask. `progress` null: one step further. */
  readonly progress: (progress: number | null, message?: string, total?: number) => void
  /** A line for the client's log; nothing happens below the level that it set, or when it set none. */
  readonly log: (level: LogLevel, data: Json, logger?: string) => void
  readonly client: McpClientLink
}

/**
 * `optional`: calls of clients that take part in tasks are tasks. `required`: so, and others may not call it. `after_input`: as `required`, and
 * initial questions are asked before the task begins.
 */
export type TaskSupport = 'optional' | 'required' | 'after_input'

export const isTaskSupport = (value: unknown): value is TaskSupport =>
  value === 'optional' || value === 'required' || value === 'after_input'

export interface McpBackend {
  /**
   * `exported` functions answer nothing before the handshake.
   */
  readonly kind: 'registered' | 'exported' | 'host'
  /** Without a scope where the list is not what was asked for. */
  readonly list: (name: ListName, scope?: RequestScope) => readonly JsonObject[] | Promise<readonly JsonObject[]>
  readonly callTool: (name: string, params: JsonObject, scope: RequestScope) => Promise<JsonObject>
  /** Whether calls of the tool are tasks, for clients that take part in tasks or for no others; absent when none ever is. */
  readonly getTaskSupport?: (tool: string) => TaskSupport | null
  readonly readResource: (uri: string, scope: RequestScope) => Promise<JsonObject>
  readonly getPrompt: (name: string, params: JsonObject, scope: RequestScope) => Promise<JsonObject>
  /** `{values, total?, hasMore?}` for an argument that is being written; absent when nothing is ever completed. */
  readonly complete?: (params: JsonObject, scope: RequestScope) => Promise<JsonObject>
  /** Whether clients may complete arguments and subscribe to resources; what is false is refused as unsupported. */
  readonly features?: () => {
    readonly completions?: boolean
    readonly subscriptions?: boolean
    /** Whether any tool works as a task. */
    readonly tasks?: boolean
    /** Lists that may have something later, declared in the handshake without being asked for; others are where they are not empty. */
    readonly lists?: readonly ListName[]
    /** Whether resources are skills; if absent, the handshake lists the resources to find out. */
    readonly skills?: boolean
  }
  /** The client that it was opened for has gone. */
  readonly close?: () => Promise<void>
  /** Answers requests to people; absent if that is impossible. */
  readonly desk?: ApprovalDesk
  /** Calls back when lists changed; gives the way to stop. */
  readonly onListChanged?: (listener: (name: ListName) => void) => () => void
  /** Calls back with the URI of a resource whose content changed; gives the way to stop. */
  readonly onResourceUpdated?: (listener: (uri: string) => void) => () => void
}

/** One backend for all clients, or what makes one for each; that is closed with its session. */
export type BackendSource = McpBackend | ((session: { readonly client: string | null }) => McpBackend)

export function openBackend(source: BackendSource, session: { readonly client: string | null }): McpBackend {
  return typeof source === 'function' ? source(session) : source
}

export interface ServerIdentity {
  readonly name: string
  readonly version: string
  /** Server card, shown in the handshake and as a resource. */
  readonly card?: Json
  /** How to use the server, for the model behind the client. */
  readonly instructions?: string
}

/** By which a message of the protocol is answered. */
export type RequestId = string | number

export function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id))
}

/** A method type: functions that take narrower messages than any object fit, as those of the SDK's transports do. */
type Receive = { receive(message: object, extra?: object): void }['receive']

/** Carries messages to one client and back: a StreamTransport, or any transport of the protocol's SDK. */
export interface McpTransport {
  onmessage?: Receive | undefined
  onclose?: (() => void) | undefined
  /** What was not a message; transports of the SDK skip it. */
  ondamage?: ((why: 'not JSON' | 'not an object') => void) | undefined
  /** Whether marked integers come and go as integers of JSON (exact-json.ts); those beyond 2^53 are texts of digits otherwise. */
  readonly keepsIntegers?: boolean
  start(): Promise<void>
  send(message: object, options?: { readonly relatedRequestId?: RequestId }): Promise<void>
  close(): Promise<void>
}

/** Where a request to a client says by which key it wants to be known (`std/mcp`); it goes no further. */
export const INPUT_KEY = 'bridle/key'

/** A request without the key that it wants. */
export function takeInputKey(params: JsonObject): { readonly key: string | null; readonly params: JsonObject } {
  const { [INPUT_KEY]: key, ...rest } = params
  return { key: typeof key === 'string' && key !== '' ? key : null, params: rest }
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Plain data as JSON has it: bytes become texts, and exact ints beyond the doubles marked ones (exact-json.ts). */
export function toJson(value: Plain): Json {
  return JSON.parse(
    JSON.stringify(value, (_key, each: unknown) => {
      if (typeof each === 'bigint') return markInteger(each)
      if (each instanceof HarnFloat) return each.v
      if (each instanceof Uint8Array) return Buffer.from(each).toString('base64')
      return each
    }),
  ) as Json
}

interface Unsupported {
  readonly feature: string
  readonly role: 'server' | 'client'
  readonly reason: string
}

const makeUnsupported = (feature: string, role: Unsupported['role'], reason: string): Unsupported => ({ feature, role, reason })
const TASKS = 'Tools run inline; there are no tasks to ask about.'
const UNWATCHED = 'No resource of this server is watched for changes.'

/** Methods of the protocol that this server has no part in; the refusal says so instead of denying that they exist. */
const UNSUPPORTED: ReadonlyMap<string, Unsupported> = new Map([
  [
    'completion/complete',
    makeUnsupported('completions', 'server', 'No prompt or template of this server completes its arguments.'),
  ],
  ['resources/subscribe', makeUnsupported('resource subscriptions', 'server', UNWATCHED)],
  ['resources/unsubscribe', makeUnsupported('resource subscriptions', 'server', UNWATCHED)],
  ['roots/list', makeUnsupported('roots', 'client', 'Roots are asked of clients, not of servers.')],
  ['sampling/createMessage', makeUnsupported('sampling', 'client', 'Samples are asked of clients, not of servers.')],
  ['elicitation/create', makeUnsupported('elicitation', 'client', 'People are asked through clients, not through servers.')],
  ['tasks/get', makeUnsupported('tasks', 'server', TASKS)],
  ['tasks/result', makeUnsupported('tasks', 'server', TASKS)],
  ['tasks/list', makeUnsupported('tasks', 'server', TASKS)],
  ['tasks/cancel', makeUnsupported('tasks', 'server', 'A call is cancelled with notifications/cancelled.')],
])

/** The refusal of a method that nothing here answers. */
export function refuseMethod(method: string): RpcError {
  const known = UNSUPPORTED.get(method)
  if (known === undefined) return new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`)
  return new RpcError(METHOD_NOT_FOUND, `Unsupported MCP method: ${method}`, makeUnsupportedData(method, known))
}

/** The refusal of a call that asks to become a task. */
export function refuseTask(): RpcError {
  return new RpcError(
    INVALID_PARAMS,
    'MCP task-augmented execution is not supported',
    makeUnsupportedData('tools/call', { feature: 'tasks', reason: TASKS }),
  )
}

function makeUnsupportedData(method: string, facts: Omit<Unsupported, 'role'> & { readonly role?: string }): JsonObject {
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

// One side of a JSON-RPC 2.0 connection: requests with ids from 1, notifications, an answer for every request of the
// other side. The other side is not trusted to behave: late, repeated and unexpected answers are dropped, and every
// request settles, at its time limit or with the connection at the latest.

import { clampTimer } from '../../library/time/host-clock.js'
import type { MessageTransport } from './stream-transport.js'

export type BridgeFault =
  /** The other side answered with an error. */
  | { readonly kind: 'answered'; readonly code: number; readonly message: string; readonly data: unknown }
  | { readonly kind: 'timeout' | 'closed' | 'cancelled' | 'dropped'; readonly message: string }

export class BridgeError extends Error {
  override readonly name = 'BridgeError'
  readonly fault: BridgeFault

  constructor(fault: BridgeFault) {
    super(fault.message)
    this.fault = fault
  }
}

/** Thrown by handlers to answer with their own code. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

type Id = string | number

export type Params = { readonly [key: string]: unknown }

export interface PeerOptions {
  /** Limit of a request to the other side; 300 s by default. */
  readonly timeoutMs?: number
  /** Answers a request; what it throws is the error. Unknown methods throw `methodNotFound`. */
  readonly onRequest?: (method: string, params: Params, signal: AbortSignal) => unknown
  readonly onNotification?: (method: string, params: Params) => void
  readonly onClose?: () => void
  /** Invalid messages get an error without an id. For the side that serves: what starts programs skips what they print. */
  readonly answersDamage?: boolean
  /** The notification for a cancelled request; `$/cancelRequest {id}` when absent. Either is understood. */
  readonly cancellation?: () => Cancellation
}

/** `$/cancelRequest {id}` of the reference, or `$/cancel_request {requestId}` of the Agent Client Protocol. */
export type Cancellation = 'reference' | 'acp'

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (cause: BridgeError) => void
}

const DEFAULT_TIMEOUT_MS = 300_000
const INTERNAL = -32603
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
const INVALID_PARAMS = -32602

export function methodNotFound(method: string): RequestError {
  return new RequestError(-32601, `Method not found: ${method}`)
}

export class JsonRpcPeer {
  private readonly transport: MessageTransport
  private readonly options: PeerOptions
  private readonly waiting = new Map<number, Waiting>()
  private readonly serving = new Map<Id, AbortController>()
  private made = 0
  private closed = false

  constructor(transport: MessageTransport, options: PeerOptions = {}) {
    this.transport = transport
    this.options = options
  }

  async start(): Promise<void> {
    this.transport.onmessage = (message) => this.receive(message as Params)
    this.transport.onclose = () => this.onClosed()
    // A message that was too long to take may be the answer to any request, so all of them end here.
    this.transport.onerror = (error) => {
      this.failAll({ kind: 'dropped', message: `Bridge: ${error.message}` })
      this.refuse(null, INVALID_REQUEST, error.message)
    }
    this.transport.ondamage = (why) =>
      this.refuse(null, why === 'not JSON' ? PARSE_ERROR : INVALID_REQUEST, `a message was left out: it is ${why}`)
    await this.transport.start()
  }

  get isClosed(): boolean {
    return this.closed
  }

  /** Rejects with BridgeError. A cancelled request is reported by a notification. */
  request(
    method: string,
    params: Params,
    options: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
  ): Promise<unknown> {
    const { signal, timeoutMs = this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS } = options
    const id = ++this.made
    return new Promise((resolve, reject) => {
      const limit: { timer?: ReturnType<typeof setTimeout> } = {}
      const settle = (): void => {
        clearTimeout(limit.timer)
        signal?.removeEventListener('abort', onAbort)
        this.waiting.delete(id)
      }
      const give = (fault: BridgeFault): void => {
        settle()
        if (fault.kind === 'timeout' || fault.kind === 'cancelled') this.giveUp(id)
        reject(new BridgeError(fault))
      }
      const onAbort = (): void => give({ kind: 'cancelled', message: 'Bridge: operation cancelled' })
      if (this.closed) return give({ kind: 'closed', message: 'Bridge: host closed connection before responding' })
      if (signal?.aborted === true) return give({ kind: 'cancelled', message: 'Bridge: operation cancelled' })
      this.waiting.set(id, {
        resolve: (result) => {
          settle()
          resolve(result)
        },
        reject: (cause) => {
          settle()
          reject(cause)
        },
      })
      signal?.addEventListener('abort', onAbort, { once: true })
      limit.timer = setTimeout(
        () =>
          give({ kind: 'timeout', message: `Bridge: host did not respond to '${method}' within ${formatSeconds(timeoutMs)}` }),
        clampTimer(timeoutMs),
      )
      this.transport.send({ jsonrpc: '2.0', id, method, params }).catch(() => this.onClosed())
    })
  }

  private giveUp(id: number): void {
    if (this.options.cancellation?.() === 'acp') void this.notify('$/cancel_request', { requestId: id })
    else void this.notify('$/cancelRequest', { id })
  }

  /** Settles when the message is on its way, for senders of much; there is nothing to wait for otherwise. */
  notify(method: string, params: Params): Promise<void> {
    if (this.closed) return Promise.resolve()
    return this.transport.send({ jsonrpc: '2.0', method, params }).catch(() => this.onClosed())
  }

  async close(): Promise<void> {
    await this.transport.close()
    this.onClosed()
  }

  private onClosed(): void {
    if (this.closed) return
    this.closed = true
    this.failAll({ kind: 'closed', message: 'Bridge: host closed connection before responding' })
    for (const abort of this.serving.values()) abort.abort(new Error('the connection was closed'))
    this.options.onClose?.()
  }

  private failAll(fault: BridgeFault): void {
    for (const { reject } of [...this.waiting.values()]) reject(new BridgeError(fault))
  }

  private receive(message: Params): void {
    const { id, method } = message
    const named = message['params'] ?? {}
    const params = isRecord(named) ? named : {}
    if (method !== undefined) {
      const isRequest = 'id' in message
      if (isRequest && !isId(id))
        return this.refuse(null, INVALID_REQUEST, 'the id of a request is a string or a number that is exact')
      if (typeof method !== 'string')
        return this.refuse(isRequest ? (id as Id) : null, INVALID_REQUEST, 'the method is not a string')
      const isByName = isRecord(named) || (Array.isArray(named) && named.length === 0)
      if (isRequest && !isByName) return this.refuse(id as Id, INVALID_PARAMS, `the parameters of ${method} are given by name`)
      if (isRequest) void this.serve(id as Id, method, params)
      else if (method === '$/cancelRequest') this.cancelServing(params['id'])
      else if (method === '$/cancel_request') this.cancelServing(params['requestId'])
      else this.options.onNotification?.(method, params)
      return
    }
    const waiting = typeof id === 'number' ? this.waiting.get(id) : undefined
    if (waiting === undefined) return
    const { error } = message
    if (error === undefined || error === null) return waiting.resolve(message['result'] ?? null)
    const given: Params = isRecord(error) ? error : {}
    waiting.reject(
      new BridgeError({
        kind: 'answered',
        code: typeof given['code'] === 'number' ? given['code'] : -1,
        message: typeof given['message'] === 'string' ? given['message'] : 'Unknown error',
        data: given['data'],
      }),
    )
  }

  private refuse(id: Id | null, code: number, message: string): void {
    if (this.closed || (id === null && this.options.answersDamage !== true)) return
    this.transport.send({ jsonrpc: '2.0', id, error: { code, message } }).catch(() => this.onClosed())
  }

  private cancelServing(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.serving.get(id)?.abort(new Error('cancelled by the other side'))
  }

  private async serve(id: Id, method: string, params: Params): Promise<void> {
    const abort = new AbortController()
    this.serving.set(id, abort)
    let answer: Params
    try {
      const { onRequest } = this.options
      if (onRequest === undefined) throw methodNotFound(method)
      answer = { result: (await onRequest(method, params, abort.signal)) ?? null }
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause)
      answer =
        cause instanceof RequestError
          ? { error: { code: cause.code, message, ...(cause.data === undefined ? {} : { data: cause.data }) } }
          : { error: { code: INTERNAL, message } }
    } finally {
      if (this.serving.get(id) === abort) this.serving.delete(id)
    }
    if (!this.closed) await this.transport.send({ jsonrpc: '2.0', id, ...answer }).catch(() => this.onClosed())
  }
}

/** An integer that no double holds would be answered under another one. */
function isId(id: unknown): id is Id {
  return (
    typeof id === 'string' || (typeof id === 'number' && (Number.isInteger(id) ? Number.isSafeInteger(id) : Number.isFinite(id)))
  )
}

function formatSeconds(ms: number): string {
  return ms >= 1000 ? `${ms / 1000}s` : `${ms}ms`
}

export function isRecord(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

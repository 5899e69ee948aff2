// Requests that a server makes of its client: model samples, forms for people, the client's roots. Each belongs to a request
// that is being answered and ends with it.

import { withIntegers } from '../tools/executors/exact-json.js'
import { INTERNAL, METHOD_NOT_FOUND, RpcError, isObject } from './server-protocol.js'
import type { Json, JsonObject, RequestId } from './server-protocol.js'

/** By method: the capability that a client declares when it answers it. */
const NEEDS: Readonly<Record<string, string>> = {
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
  'roots/list': 'roots',
}

interface Waiting {
  readonly resolve: (result: JsonObject) => void
  readonly reject: (cause: RpcError) => void
}

export class ClientRequests {
  info: JsonObject = {}
  capabilities: JsonObject = {}
  /** That the handshake agreed upon. */
  revision: string | undefined
  private readonly send: (message: JsonObject, relatedRequestId?: RequestId) => Promise<void>
  private readonly waiting = new Map<string, Waiting>()
  private made = 0

  constructor(send: (message: JsonObject, relatedRequestId?: RequestId) => Promise<void>) {
    this.send = send
  }

  has(capability: string): boolean {
    return Object.hasOwn(this.capabilities, capability)
  }

  /** `within` is the request of the client that this one is made for: over HTTP it goes back on the same stream. */
  request(method: string, params: JsonObject, within: RequestId | undefined, signal: AbortSignal): Promise<JsonObject> {
    const needed = Object.hasOwn(NEEDS, method) ? NEEDS[method]! : null
    if (needed !== null && !this.has(needed))
      return Promise.reject(new RpcError(METHOD_NOT_FOUND, `the client does not offer ${needed}`))
    // Texts, so that no client takes them for ids of its own.
    const id = `bridle-${++this.made}`
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        void this.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }, within)
        settle().reject(new RpcError(INTERNAL, `${method} was cancelled`))
      }
      const settle = (): Waiting => {
        signal.removeEventListener('abort', onAbort)
        this.waiting.delete(id)
        return { resolve, reject }
      }
      if (signal.aborted) return reject(new RpcError(INTERNAL, `${method} was cancelled`))
      this.waiting.set(id, { resolve: (result) => settle().resolve(result), reject: (cause) => settle().reject(cause) })
      signal.addEventListener('abort', onAbort, { once: true })
      void this.send({ jsonrpc: '2.0', id, method, params }, within)
    })
  }

  /** Receives an answer of the client; unexpected answers are ignored. */
  receive(message: JsonObject): void {
    const waiting = typeof message['id'] === 'string' ? this.waiting.get(message['id']) : undefined
    if (waiting === undefined) return
    const { error, result } = message
    if (error === undefined || error === null) return waiting.resolve(isObject(result) ? withIntegers(result) : {})
    const given: JsonObject = isObject(error) ? error : {}
    const code: Json = given['code'] ?? null
    const text: Json = given['message'] ?? null
    waiting.reject(
      new RpcError(typeof code === 'number' ? code : -1, typeof text === 'string' ? text : 'Unknown error', given['data']),
    )
  }

  close(): void {
    for (const { reject } of [...this.waiting.values()]) reject(new RpcError(INTERNAL, 'the client went away'))
  }
}

// Requests of the revision 2026-07-28 over HTTP: the answer is one message, or a stream of events if notifications precede it.

import { unmarkIntegers } from '../tools/executors/exact-json.js'
import type { JsonObject } from './server-protocol.js'
import type { ModernServer } from './server-modern.js'

/** A comment, so that no proxy takes a quiet stream for a dead one. */
const KEEP_ALIVE_MS = 15_000

export interface ModernHttpRequest {
  readonly message: JsonObject
  readonly client: string | null
  readonly header: (name: string) => string | undefined
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
}

export const isJsonType = (type: string | null | undefined): boolean => /^application\/json\s*(?:;|$)/i.test(type ?? '')

/** Resolves with the first thing that there is to say. */
export function respondModern(server: ModernServer, { message, client, header, signal }: ModernHttpRequest): Promise<Response> {
  const encoder = new TextEncoder()
  const gone = new AbortController()
  const onAbort = (): void => gone.abort(new Error('the client went away'))
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  return new Promise((resolve, reject) => {
    let stream: ReadableStreamDefaultController<Uint8Array> | null = null
    let keepAlive: ReturnType<typeof setInterval> | undefined
    const write = (text: string): void => {
      try {
        stream?.enqueue(encoder.encode(text))
      } catch {
        // The client has gone, and the request with it.
      }
    }
    const writeEvent = (event: JsonObject): void => write(`event: message\ndata: ${unmarkIntegers(JSON.stringify(event))}\n\n`)
    const notify = (method: string, params: JsonObject): void => {
      if (gone.signal.aborted) return
      if (stream === null) {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            stream = controller
          },
          cancel: onAbort,
        })
        keepAlive = setInterval(() => write(': \n\n'), KEEP_ALIVE_MS)
        keepAlive.unref?.()
        const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }
        resolve(new Response(body, { status: 200, headers }))
      }
      writeEvent({ jsonrpc: '2.0', method, params })
    }
    server
      .handle(message, { client, header, notify, signal: gone.signal })
      .then((answer) => {
        if (answer === null) return resolve(new Response(null, { status: 202 }))
        if (stream === null) {
          const headers = { 'content-type': 'application/json' }
          return resolve(new Response(unmarkIntegers(JSON.stringify(answer.message)), { status: answer.status, headers }))
        }
        writeEvent(answer.message)
        try {
          stream.close()
        } catch {
          // It was cancelled.
        }
      })
      .catch(reject)
      .finally(() => {
        clearInterval(keepAlive)
        signal.removeEventListener('abort', onAbort)
      })
  })
}

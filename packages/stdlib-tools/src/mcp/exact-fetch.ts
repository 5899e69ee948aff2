// fetch for a server over HTTP: integers of 64 bits stay exact (exact-json.ts), and no message is longer than it may be. An answer is one
// message, or a stream of them with a line for each, so it is read line by line; no number and no string of JSON goes over a line's end.

import { markIntegers, unmarkIntegers } from '../tools/executors/exact-json.js'
import { makeLimitError } from './limits.js'
import type { TransportBounds } from './stdio.js'

export function makeExactFetch(fetch: typeof globalThis.fetch, bounds: TransportBounds): typeof globalThis.fetch {
  return async (input, init) => {
    const body = typeof init?.body === 'string' ? unmarkIntegers(init.body) : null
    const response = await fetch(input, body === null ? init : { ...init, body })
    const type = response.headers.get('content-type') ?? ''
    if (response.body === null || !/^(?:application\/json|text\/event-stream)/i.test(type)) return response
    const headers = new Headers(response.headers)
    // The body is decoded, and of another length.
    headers.delete('content-length')
    headers.delete('content-encoding')
    const { status, statusText } = response
    return new Response(response.body.pipeThrough(makeLineStream(bounds)), { status, statusText, headers })
  }
}

function makeLineStream({ server, maxMessageBytes }: TransportBounds): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let parts: string[] = []
  let size = 0
  return new TransformStream({
    transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true })
      const end = text.lastIndexOf('\n')
      size = end < 0 ? size + text.length : text.length - end
      if (size > maxMessageBytes) {
        controller.error(makeLimitError(server, 'sent a message that is too long', 'maxMessageBytes', maxMessageBytes))
        return
      }
      if (end < 0) {
        parts.push(text)
        return
      }
      controller.enqueue(encoder.encode(markIntegers(parts.join('') + text.slice(0, end + 1))))
      parts = [text.slice(end + 1)]
    },
    flush(controller) {
      const rest = markIntegers(parts.join('') + decoder.decode())
      if (rest !== '') controller.enqueue(encoder.encode(rest))
    },
  })
}

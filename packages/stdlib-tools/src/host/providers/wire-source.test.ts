// What is read of a connection when: only what a script asks for.

import { expect, test } from 'vitest'
import { answered } from '../../tools/executors/provider.js'
import { readDeltas } from './wire-source.js'
import { findWire } from './wires/index.js'
import { readAsked } from './wires/wire.js'

test('a slow reader slows the service down: a chunk is read when a piece is requested', async () => {
  let pulls = 0
  const piece = new TextEncoder().encode('data: {"choices":[{"delta":{"content":"a"}}]}\n\n')
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulls++
        controller.enqueue(piece)
      },
    },
    { highWaterMark: 0 },
  )
  const source = readDeltas({
    wire: findWire('openai'),
    asked: readAsked({}),
    body,
    abort: new AbortController(),
    idleMs: 1000,
    describeTransport: () => answered(null),
  })
  expect(pulls).toBe(0)
  expect(await source.read()).toEqual({ deltas: [{ type: 'text', text: 'a' }], answer: null })
  expect(await source.read()).toEqual({ deltas: [{ type: 'text', text: 'a' }], answer: null })
  expect(pulls).toBe(2)
})

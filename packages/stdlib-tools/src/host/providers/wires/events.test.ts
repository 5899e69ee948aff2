// The framing of streamed answers: the events do not depend on how bytes are cut into chunks.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventTooLong, JsonLines, ServerSentEvents } from './events.js'
import type { EventReader, WireEvent } from './events.js'
import { findWire } from './index.js'
import { DONE, readAsked } from './wire.js'
import type { Delta } from './wire.js'

function readAll(reader: EventReader, bytes: Uint8Array, cuts: readonly number[]): WireEvent[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b)
  const events: WireEvent[] = []
  let from = 0
  for (const to of [...places, bytes.length]) {
    events.push(...reader.append(bytes.subarray(from, to)))
    from = to
  }
  return [...events, ...reader.finish()]
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

test.each([
  ['data: a\n\n', [{ event: null, data: 'a' }]],
  ['data: a\r\n\r\ndata: b\r\rdata: c\n\n', ['a', 'b', 'c'].map((data) => ({ event: null, data }))],
  ['\uFEFFdata:a\ndata: b\n\n', [{ event: null, data: 'a\nb' }]],
  [
    ': ping\n\n:\nid: 7\nretry: 5\n\nevent: x\ndata: a\n\ndata: b\n\n',
    [
      { event: 'x', data: 'a' },
      { event: null, data: 'b' },
    ],
  ],
  [
    'event: x\n\ndata\n\ndata:  a',
    [
      { event: null, data: '' },
      { event: null, data: ' a' },
    ],
  ],
])('%j', (text, events) => {
  expect(readAll(new ServerSentEvents(), encode(text), [])).toEqual(events)
})

test('an event without end ends the reading', () => {
  const reader = new ServerSentEvents()
  const piece = encode('x'.repeat(1 << 20))
  reader.append(encode('data: '))
  expect(() => {
    for (let at = 0; at < 17; at++) reader.append(piece)
  }).toThrow(EventTooLong)
})

const text = fc.string({ unit: 'binary' })

test('events do not depend on where chunks end', () => {
  const line = fc.oneof(
    text.map((data) => `data: ${JSON.stringify(data)}`),
    fc.constantFrom(': ping', 'event: message', 'id: 1', '', 'retry: 10'),
  )
  const end = fc.constantFrom('\n', '\r\n', '\r')
  const stream = fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(''))
  fc.assert(
    fc.property(stream, fc.array(fc.nat()), (given, cuts) => {
      const bytes = encode(given)
      for (const make of [() => new ServerSentEvents(), () => new JsonLines()])
        expect(readAll(make(), bytes, cuts)).toEqual(readAll(make(), bytes, []))
    }),
  )
})

const PIECES = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('text' as const), text }),
    fc.record({ kind: fc.constant('reasoning' as const), text }),
    fc.record({ kind: fc.constant('call' as const), text }),
  ),
  { minLength: 1 },
)

/** The same pieces as each service would send them. */
const SERVICES: { readonly [provider: string]: (pieces: readonly { kind: string; text: string }[]) => string } = {
  openai: (pieces) =>
    `${pieces
      .map(({ kind, text: said }, index) => {
        const delta =
          kind === 'text'
            ? { content: said }
            : kind === 'reasoning'
              ? { reasoning_content: said }
              : { tool_calls: [{ index, id: `c${index}`, function: { name: 'f', arguments: JSON.stringify({ said }) } }] }
        return `data: ${JSON.stringify({ choices: [{ delta }] })}\r\n\r\n`
      })
      .join('')}data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
  anthropic: (pieces) =>
    [
      { type: 'message_start', message: { usage: {} } },
      ...pieces.flatMap(({ kind, text: said }, index) => {
        const start = {
          text: { type: 'text', text: '' },
          reasoning: { type: 'thinking', thinking: '' },
          call: { type: 'tool_use', id: `c${index}`, name: 'f', input: {} },
        }[kind]
        const delta = {
          text: { type: 'text_delta', text: said },
          reasoning: { type: 'thinking_delta', thinking: said },
          call: { type: 'input_json_delta', partial_json: JSON.stringify({ said }) },
        }[kind]
        return [
          { type: 'content_block_start', index, content_block: start },
          { type: 'content_block_delta', index, delta },
        ]
      }),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  gemini: (pieces) =>
    [...pieces, null]
      .map((piece) => {
        if (piece === null) return { candidates: [{ finishReason: 'STOP' }] }
        const { kind, text: said } = piece
        const part =
          kind === 'call'
            ? { functionCall: { name: 'f', args: { said } } }
            : { text: said, ...(kind === 'text' ? {} : { thought: true }) }
        return { candidates: [{ content: { parts: [part] } }] }
      })
      .map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`)
      .join(''),
  ollama: (pieces) =>
    [...pieces, null]
      .map((piece) => {
        if (piece === null) return { message: {}, done: true }
        const { kind, text: said } = piece
        const key = kind === 'text' ? 'content' : 'thinking'
        return { message: kind === 'call' ? { tool_calls: [{ function: { name: 'f', arguments: { said } } }] } : { [key]: said } }
      })
      .map((event) => `${JSON.stringify(event)}\n`)
      .join(''),
}

function readDeltas(provider: string, bytes: Uint8Array, cuts: readonly number[]): { deltas: Delta[]; answer: unknown } {
  const wire = findWire(provider)
  const { framing, read } = wire.streaming
  const answer = read()
  const events = readAll(framing === 'sse' ? new ServerSentEvents() : new JsonLines(), bytes, cuts)
  const deltas = events
    .filter(({ data }) => data !== DONE)
    .flatMap(({ data, event }) => [...answer.take(JSON.parse(data) as never, event)])
  expect(answer.isWhole()).toBe(true)
  return { deltas, answer: wire.answer(answer.body(), readAsked({})) }
}

test.each(Object.keys(SERVICES))('deltas of %s do not depend on where chunks end, and add up to the answer', (provider) => {
  fc.assert(
    fc.property(PIECES, fc.array(fc.nat()), (pieces, cuts) => {
      const bytes = encode(SERVICES[provider]!(pieces))
      const cut = readDeltas(provider, bytes, cuts)
      expect(cut).toEqual(readDeltas(provider, bytes, []))
      const join = (type: string): string => cut.deltas.flatMap((delta) => (delta.type === type ? [delta.text] : [])).join('')
      const said = (kind: string): string => pieces.flatMap((piece) => (piece.kind === kind ? [piece.text] : [])).join('')
      const {
        text: whole,
        thinking,
        tool_calls: calls,
      } = cut.answer as { text: string; thinking: string | null; tool_calls: unknown[] }
      expect([join('text'), join('reasoning')]).toEqual([said('text'), said('reasoning')])
      expect([whole, thinking ?? '']).toEqual([said('text'), said('reasoning')])
      expect(calls).toHaveLength(pieces.filter(({ kind }) => kind === 'call').length)
    }),
    { numRuns: 60 },
  )
})

// The pieces of an answer from the body of a response: bytes, events, deltas. Bytes are read when pieces are asked for, so that a script
// which does not read stops the service within what sockets and one chunk hold.

import type { EffectOutcome, Plain } from '@bridle/vm'
import type { DeltaSource } from './model-streams.js'
import { makeFailure } from './model-failures.js'
import { EventTooLong, JsonLines, ServerSentEvents } from './wires/events.js'
import type { EventReader, WireEvent } from './wires/events.js'
import { record } from './wires/json.js'
import { DONE, StreamError } from './wires/wire.js'
import type { AnswerReader, Asked, Delta, Wire } from './wires/wire.js'

const MOST_ANSWER_BYTES = 64 << 20

export interface SourceParts {
  readonly wire: Wire
  readonly asked: Asked
  readonly body: ReadableStream<Uint8Array> | null
  /** Ends the request. */
  readonly abort: AbortController
  /** Between two chunks, in milliseconds. */
  readonly idleMs: number
  readonly describeTransport: (cause: unknown) => EffectOutcome
}

export function readDeltas(parts: SourceParts): DeltaSource {
  return new WireSource(parts)
}

class WireSource implements DeltaSource {
  private readonly parts: SourceParts
  private readonly reader: ReadableStreamDefaultReader<Uint8Array> | null
  private readonly events: EventReader
  private readonly answer: AnswerReader
  private size = 0
  private isDone = false
  /** What stopped the reading of a chunk whose first pieces are delivered before it. */
  private failure: unknown = null

  constructor(parts: SourceParts) {
    this.parts = parts
    this.reader = parts.body?.getReader() ?? null
    this.events = parts.wire.streaming.framing === 'sse' ? new ServerSentEvents() : new JsonLines()
    this.answer = parts.wire.streaming.read()
  }

  async read(): Promise<{ readonly deltas: readonly Delta[]; readonly answer: Plain | null }> {
    if (this.failure !== null) throw this.failure
    const chunk = await this.readChunk()
    const deltas = this.takeAll(chunk)
    if (this.failure !== null && deltas.length === 0) throw this.failure
    if (this.failure !== null) return { deltas, answer: null }
    const isEnded = this.isDone || this.answer.isEnded()
    if (chunk !== null && !isEnded) return { deltas, answer: null }
    if (!this.answer.isWhole()) {
      this.failure = new StreamError('transient_network', 'stream error: the answer broke off before its end')
      if (deltas.length === 0) throw this.failure
      return { deltas, answer: null }
    }
    return { deltas, answer: this.parts.wire.answer(this.answer.body(), this.parts.asked) as Plain }
  }

  close(): void {
    this.parts.abort.abort(new Error('the stream was left'))
  }

  describe(cause: unknown): EffectOutcome {
    if (cause instanceof StreamError) return makeFailure(cause.category, cause.message)
    if (!(cause instanceof BrokenConnection)) return this.parts.describeTransport(cause)
    const outcome = this.parts.describeTransport(cause.cause)
    const message = outcome.ok ? '' : outcome.error.message
    // A failure in the middle of an answer is a connection error, regardless of the runtime's message.
    return readCategory(outcome) === 'generic' ? makeFailure('transient_network', `connection closed: ${message}`) : outcome
  }

  /** Null at the end of the body. */
  private async readChunk(): Promise<Uint8Array | null> {
    if (this.reader === null) return null
    const { abort, idleMs } = this.parts
    const timer = setTimeout(() => abort.abort(new DOMException('no piece came in time', 'TimeoutError')), idleMs)
    try {
      const { done, value } = await this.reader.read()
      if (done) return null
      this.size += value.length
      if (this.size > MOST_ANSWER_BYTES)
        throw new StreamError('generic', `stream error: the answer has more than ${MOST_ANSWER_BYTES} bytes`)
      return value
    } catch (cause) {
      throw cause instanceof StreamError || abort.signal.aborted ? cause : new BrokenConnection(cause)
    } finally {
      clearTimeout(timer)
    }
  }

  private takeAll(chunk: Uint8Array | null): Delta[] {
    const deltas: Delta[] = []
    try {
      for (const event of chunk === null ? this.events.finish() : this.events.append(chunk)) {
        if (this.isDone || this.answer.isEnded()) break
        if (event.data.trim() === DONE) this.isDone = true
        else deltas.push(...this.answer.take(parseEvent(event), event.event))
      }
    } catch (cause) {
      this.failure = cause instanceof EventTooLong ? new StreamError('generic', `stream error: ${cause.message}`) : cause
    }
    return deltas
  }
}

/** The body of an answer could not be read on. */
class BrokenConnection extends Error {
  constructor(cause: unknown) {
    super('the connection broke', { cause })
  }
}

function readCategory(outcome: EffectOutcome): unknown {
  return outcome.ok ? null : record(outcome.error.value)['category']
}

function parseEvent({ data }: WireEvent): ReturnType<typeof record> {
  try {
    return record(JSON.parse(data))
  } catch {
    throw new StreamError('transient_network', `stream error: an event is no JSON: ${JSON.stringify(data.slice(0, 80))}`)
  }
}

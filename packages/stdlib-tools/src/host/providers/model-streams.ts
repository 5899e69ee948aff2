// Answers of models that are under way: a script pulls their pieces, one effect a pull, so that every piece is in the journal and a script
// that does not read holds the connection back. Connections live in this process and belong to one run in it. A run that continues in
// another process finds none: its next pull reports that the stream is lost, and the request is not silently repeated.

import type { EffectOutcome, Plain } from '@bridle/vm'
import { answered, thrownError } from '../../tools/executors/provider.js'
import type { EffectCall } from '../../tools/executors/provider.js'
import { makeFailure } from './model-failures.js'
import type { Delta } from './wires/wire.js'

/** Where pieces come from. */
export interface DeltaSource {
  /** What comes next; with an answer it was the last. Rejects when there is no more to come. */
  readonly read: () => Promise<{ readonly deltas: readonly Delta[]; readonly answer: Plain | null }>
  /** Gives the connection up; a read that waits rejects. */
  readonly close: () => void
  /** The error of a script for a rejected read. */
  readonly describe: (cause: unknown) => EffectOutcome
}

interface OpenStream {
  readonly source: DeltaSource
  readonly queue: Delta[]
  delivered: number
  /** What comes behind the queue. */
  end: EffectOutcome | null
}

/** Connections that one run may have open. */
const MOST_STREAMS = 64

/** Pieces that one pull is answered with. */
const MOST_PIECES = 256

export class ModelStreams {
  /** By the signal of the run, which is its identity here: a run that was resumed beside another one shares nothing with it. */
  private readonly runs = new WeakMap<AbortSignal, Map<string, OpenStream>>()

  /** Whether the run may open one more; the outcome says why not. */
  admit({ runSignal }: EffectCall): EffectOutcome | null {
    const open = runSignal === undefined ? 0 : (this.runs.get(runSignal)?.size ?? 0)
    return open < MOST_STREAMS ? null : thrownError(`too many answers of models are being read: the limit is ${MOST_STREAMS}`)
  }

  open({ runSignal }: EffectCall, id: string, source: DeltaSource): EffectOutcome {
    if (runSignal === undefined || runSignal.aborted) {
      source.close()
      return makeFailure('cancelled', 'the request was cancelled')
    }
    let streams = this.runs.get(runSignal)
    if (streams === undefined) {
      const made = new Map<string, OpenStream>()
      this.runs.set(runSignal, (streams = made))
      const closeAll = (): void => {
        for (const { source: each } of made.values()) each.close()
        made.clear()
      }
      runSignal.addEventListener('abort', closeAll, { once: true })
    }
    streams.set(id, { source, queue: [], delivered: 0, end: null })
    return answered({ streaming: true })
  }

  /** A pull, or the end of interest. */
  async serve(args: { readonly [name: string]: unknown }, call: EffectCall): Promise<EffectOutcome> {
    const id = String(args['stream'])
    const streams = call.runSignal === undefined ? undefined : this.runs.get(call.runSignal)
    const stream = streams?.get(id)
    if (args['op'] === 'close') {
      streams?.delete(id)
      stream?.source.close()
      return answered(null)
    }
    const index = Number(args['index'] ?? 0)
    if (stream === undefined || stream.delivered !== index) {
      const model = `${String(args['provider'])}/${String(args['model'])}`
      return makeFailure(
        'transient_network',
        `stream error: the connection to ${model} is lost after ${index} pieces: the run went on in another process`,
      )
    }
    const onAbort = (): void => stream.source.close()
    call.signal.addEventListener('abort', onAbort, { once: true })
    try {
      while (stream.queue.length === 0 && stream.end === null) await this.fill(stream)
    } finally {
      call.signal.removeEventListener('abort', onAbort)
    }
    return this.take(streams!, id, stream, Math.min(MOST_PIECES, Math.max(1, Number(args['most'] ?? 1))))
  }

  private async fill(stream: OpenStream): Promise<void> {
    try {
      const { deltas, answer } = await stream.source.read()
      stream.queue.push(...deltas)
      if (answer !== null) stream.end = answered(answer)
    } catch (cause) {
      stream.end = stream.source.describe(cause)
    }
  }

  private take(streams: Map<string, OpenStream>, id: string, stream: OpenStream, most: number): EffectOutcome {
    const deltas = stream.queue.splice(0, most)
    stream.delivered += deltas.length
    const { end } = stream
    // Pieces that came before a failure are delivered before it.
    const isLast = end !== null && stream.queue.length === 0 && (end.ok || deltas.length === 0)
    if (!isLast) return answered({ deltas: deltas as unknown as Plain })
    streams.delete(id)
    stream.source.close()
    return end.ok ? answered({ deltas: deltas as unknown as Plain, answer: end.value }) : end
  }
}

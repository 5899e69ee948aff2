// Events of a run for its host. Each listener has its own queue and sees what happens from the moment it
// began to listen; nothing is kept for those who come later, so a run without listeners costs nothing.

import type { EffectKind, Plain } from '@bridle/vm'
import type { ModelPiece } from '../agents/models/told-pieces.js'
import type { DryRunEntry } from './dry-run.js'
import type { TraceEvent } from './trace/event.js'
import type { Report } from '../library/effects/index.js'

export type RunEvent =
  | { readonly type: 'output'; readonly text: string }
  /** What the script writes to standard error when the host provides no terminal. */
  | { readonly type: 'stderr'; readonly text: string }
  | { readonly type: 'effect'; readonly id: number; readonly kind: EffectKind; readonly args: { readonly [key: string]: Plain } }
  | {
      readonly type: 'outcome'
      readonly id: number
      readonly kind: EffectKind
      readonly ok: boolean
      readonly message: string | null
    }
  | { readonly type: 'progress'; readonly callId: string; readonly tool: string; readonly data: unknown }
  /** What the script says of itself: `progress(…)`, `log_info(…)` and the like, beside the text that they print. */
  | { readonly type: 'report'; readonly report: Report }
  /** A piece of an answer of a model that is read in pieces (`llm_stream`, `stream: true`, `on_delta`). */
  | ({ readonly type: 'model_delta' } & ModelPiece)
  | { readonly type: 'dry_run'; readonly entry: DryRunEntry }
  /** Of a run that is traced; the first, `run_start`, comes before anyone can listen. */
  | { readonly type: 'trace'; readonly event: TraceEvent }
  /** The run did not end well, and not everything that tools asked for (`ctx.onUndo`) could be undone. */
  | { readonly type: 'undo_failed'; readonly message: string }
  | { readonly type: 'end'; readonly status: string }

export class EventStream {
  private readonly listeners = new Set<(event: RunEvent | null) => void>()
  private ended = false

  get isWatched(): boolean {
    return this.listeners.size > 0
  }

  emit(event: RunEvent): void {
    for (const listener of this.listeners) listener(event)
  }

  end(): void {
    this.ended = true
    for (const listener of this.listeners) listener(null)
    this.listeners.clear()
  }

  /** Ends with the run; leaving the loop early ends the listening. */
  listen(): AsyncIterableIterator<RunEvent> {
    const queue: RunEvent[] = []
    let finished = this.ended
    let wake: (() => void) | null = null
    const listener = (event: RunEvent | null): void => {
      if (event === null) finished = true
      else queue.push(event)
      wake?.()
    }
    if (!finished) this.listeners.add(listener)
    const stop = (): Promise<IteratorResult<RunEvent>> => {
      this.listeners.delete(listener)
      finished = true
      queue.length = 0
      wake?.()
      return Promise.resolve({ done: true, value: undefined })
    }
    const next = async (): Promise<IteratorResult<RunEvent>> => {
      while (queue.length === 0 && !finished) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        wake = null
      }
      const event = queue.shift()
      return event === undefined ? { done: true, value: undefined } : { done: false, value: event }
    }
    return {
      next,
      return: stop,
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }
}

// Durable runs as processes that a host starts, signals, awaits and cancels, whichever worker has them.

import { SIGNAL_TOKEN } from '../../tools/executors/completion-keys.js'
import { ToolError } from '../../tools/host-tools/errors.js'
import { plainFromHost } from '../../tools/host-tools/edge.js'
import { plainFromJson } from '../journal-codec.js'
import type { Module } from '../module.js'
import { encodeAnswer } from './answers.js'
import type { EndedRun } from './ended.js'
import { loadPipeline } from './link.js'
import type { SubmitOptions } from './submit-options.js'
import type { DurableStore, RunRow } from './store.js'
import type { Runtime } from '../runtime.js'

export interface ProcessStart<Input = unknown> extends SubmitOptions<Input> {
  readonly module: Module
  /** The pipeline to begin with, instead of the usual one. */
  readonly entry?: string
}

export interface ProcessEvent {
  readonly processId: string
  readonly sequence: number
  readonly type: string
  readonly payload: unknown
  /** Milliseconds since 1970. */
  readonly at: number
}

export interface ProcessesParts {
  readonly worker: {
    readonly submit: (module: Module, options: SubmitOptions) => Promise<{ readonly runId: string }>
    readonly kick: () => void
  }
  readonly store: DurableStore
  readonly runtime: Runtime
  readonly now: () => number
  /** Interval of polling the store. */
  readonly pollMs: number
}

const EVENTS_AT_ONCE = 100

/** What `worker.processes` is. Its functions reject with ToolError `process_not_visible`, `process_already_terminal`. */
export class Processes {
  private readonly parts: ProcessesParts

  constructor(parts: ProcessesParts) {
    this.parts = parts
  }

  /** Gives the id of the run, when that is kept. */
  async start({ module, entry, ...options }: ProcessStart): Promise<string> {
    const { worker, runtime } = this.parts
    const { runId } = await worker.submit(entry === undefined ? module : loadPipeline(runtime, module, entry), options)
    return runId
  }

  /** `await_signal(name)` gets them in order. */
  async signal(runId: string, name: string, payload: unknown = null): Promise<void> {
    const { store, now, worker } = this.parts
    const line = encodeAnswer({ ok: plainFromHost(payload) })
    const outcome = await store.signal(runId, `${SIGNAL_TOKEN}${name}`, line, now())
    if (outcome === 'gone') throw await this.explain(runId)
    worker.kick()
  }

  /** How the run ended, when it has. */
  async await(runId: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<EndedRun> {
    for (;;) {
      const row = await this.find(runId)
      if (row.state === 'ended') return JSON.parse(row.result!) as EndedRun
      await this.pause(signal)
    }
  }

  async cancel(runId: string, reason = 'cancelled'): Promise<void> {
    const { store, now, worker } = this.parts
    if (!(await store.cancel(runId, reason, now()))) throw await this.explain(runId)
    worker.kick()
  }

  status(runId: string): Promise<RunRow> {
    return this.find(runId)
  }

  /** Events behind a number, until the run has ended and all of them were read. */
  async *events(
    runId: string,
    { after = 0, signal }: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<ProcessEvent> {
    const { store } = this.parts
    if (store.events === undefined) throw new ToolError('process_registry_unavailable', 'this store keeps no events of runs')
    for (let behind = after; ;) {
      // Asked first: what comes before the end is read after it.
      const { state } = await this.find(runId)
      const found = await store.events(runId, { after: behind, most: EVENTS_AT_ONCE })
      for (const { sequence, type, line, at } of found) {
        behind = sequence
        yield { processId: runId, sequence, type, payload: plainFromJson(JSON.parse(line)), at }
      }
      if (found.length === EVENTS_AT_ONCE) continue
      if (state === 'ended') return
      await this.pause(signal)
    }
  }

  private async find(runId: string): Promise<RunRow> {
    const row = await this.parts.store.get(runId)
    if (row === null) throw makeInvisible(runId)
    return row
  }

  private async explain(runId: string): Promise<ToolError> {
    if ((await this.parts.store.get(runId)) === null) return makeInvisible(runId)
    return new ToolError('process_already_terminal', `the run ${runId} has ended`)
  }

  private async pause(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, this.parts.pollMs))
    signal?.throwIfAborted()
  }
}

function makeInvisible(runId: string): ToolError {
  return new ToolError('process_not_visible', `the store has no run ${JSON.stringify(runId)}`)
}

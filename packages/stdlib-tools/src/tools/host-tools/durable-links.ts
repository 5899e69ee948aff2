// What a tool does through the run that it works for, beside steps and waits of its own: events that the run emits, other runs, calls that undo
// what was done. Each is a note of the run that happens with the commit which keeps it, so a tool that is called again after a crash does none of
// it twice.

import { RUN_TOKEN, makeEmittedToken } from '../executors/completion-keys.js'
import { describeCause } from '../executors/provider.js'
import type { BegunNote, DurableGate, LinkedEvent, RunLink } from '../executors/provider.js'
import type { NoteKind, Plain } from '@bridle/vm/families'
import { NO_EVENTS, readIntents } from './intents.js'
import type { AnySchema } from './schema.js'
import type { Intent } from './intents.js'
import { plainFromHost } from './edge.js'
import { ToolError, isToolError } from './errors.js'

export interface EventWait {
  readonly timeoutMs?: number
  /** What the answer must be. */
  readonly schema?: AnySchema
}

export interface ToolEvents {
  /** False where no store keeps the run: `emit`, `waitAfter`, `subscribe` and `signal` raise then. */
  readonly available: boolean
  /** The key to answer an event from outside; the same for the same name (`durable.event`). */
  readonly start: (name: string) => string
  /** The answer to an event, by its name or key (`durable.waitFor`). */
  readonly wait: (event: string, options?: EventWait) => Promise<unknown>
  /** Sends a run a signal, which `await_signal(name)` gets. */
  readonly signal: (runId: string, name: string, value?: unknown) => Promise<void>
  /** Writes down that something has happened; readers of the store see it (`bridle runs events`). */
  readonly emit: (type: string, payload?: unknown, options?: { readonly processId?: string }) => Promise<ToolEvent>
  /** The first event that this run has emitted, or will, behind a number; of a type, or of any (null). */
  readonly waitAfter: (type: string | null, after: number, options?: { readonly timeoutMs?: number }) => Promise<ToolEvent>
  /** Events that this run emits, from its first one. */
  readonly subscribe: (options?: { readonly type?: string; readonly after?: number }) => AsyncIterable<ToolEvent>
}

export interface ToolEvent {
  readonly processId: string
  readonly sequence: number
  readonly type: string
  readonly payload: unknown
}

export interface ToolProcesses {
  readonly available: boolean
  /** Starts a run of another pipeline of the same program, and gives its id. It ends with this run unless it is abandoned. */
  readonly start: (asked: {
    readonly pipeline: string
    readonly input?: unknown
    readonly id?: string
    readonly onParentEnd?: 'cancel' | 'abandon'
  }) => Promise<string>
  /** The value of a run that this one has started; rejects with ToolError for one that did not end well. */
  readonly await: (runId: string, options?: { readonly timeoutMs?: number }) => Promise<unknown>
  readonly signal: ToolEvents['signal']
  readonly cancel: (runId: string, reason?: string) => Promise<void>
  /** `ready`, `running`, `parked`, `ended` or `stuck`, and who has started it. */
  readonly look: (runId: string) => Promise<{ readonly state: string; readonly parent: string | null }>
  /** What a run has published last under a name. */
  readonly query: (runId: string, name: string) => Promise<unknown>
}

/** What the calls of one attempt have in common. */
export interface LinkOwner {
  readonly runId: string
  readonly callId: string
  readonly idempotencyKey: string
  readonly gate: () => DurableGate
  readonly begin: (kind: NoteKind, id: string, args: Plain) => BegunNote
  readonly read: (note: BegunNote) => Plain
  readonly awaitToken: (
    token: string,
    id: string,
    timeoutMs: number | null,
    late: { readonly code: string; readonly message: string },
  ) => Promise<unknown>
}

export class RunLinks {
  private readonly owner: LinkOwner
  private emits = 0
  private operations = 0
  private undos = 0

  constructor(owner: LinkOwner) {
    this.owner = owner
  }

  get available(): boolean {
    try {
      return this.owner.gate().link !== null
    } catch {
      return false
    }
  }

  readonly emit: ToolEvents['emit'] = async (type, payload = null, { processId } = {}) => {
    const { owner } = this
    const link = this.link(NO_EVENTS)
    if (typeof type !== 'string' || type.trim() === '')
      throw new ToolError('durable_effect_empty_process_event_type', 'an event needs a type that is not blank')
    if (processId !== undefined && processId !== owner.runId)
      throw new ToolError(
        'durable_effect_process_event_process_mismatch',
        `the call is part of ${owner.runId} and cannot emit an event of ${JSON.stringify(processId)}`,
      )
    const number = this.emits++
    const what = 'durable_effect_process_event_append_failed'
    const data = takeData(payload, what, `the payload of the event ${JSON.stringify(type)}`)
    const sequence = await this.happen(`durable-process-event:${number}`, { type, payload: data }, () => {
      try {
        return link.emit(type, data)
      } catch (cause) {
        throw new ToolError(what, `the event ${JSON.stringify(type)} cannot be kept: ${describeCause(cause)}`, { cause })
      }
    })
    return { processId: owner.runId, sequence: Number(sequence), type, payload: data }
  }

  readonly waitAfter: ToolEvents['waitAfter'] = async (type, after, { timeoutMs } = {}) => {
    const { owner } = this
    const link = this.link(NO_EVENTS)
    const token = makeEmittedToken({ type, after })
    const note = owner.begin('wait', `await-${token}`, timeoutMs ?? null)
    if (note.before.kind === 'ended') return this.describe(owner.read(note) as unknown as LinkedEvent)
    const found = (await link.events(after)).find((event) => type === null || event.type === type)
    if (found !== undefined) {
      note.settle({ ok: true, value: { ...found } })
      return this.describe(found)
    }
    const late = { code: 'durable_effect_event_timeout', message: 'no such event was emitted in time' }
    return this.describe((await owner.awaitToken(token, `await-${token}`, timeoutMs ?? null, late)) as LinkedEvent)
  }

  async *subscribe({ type, after = 0 }: { readonly type?: string; readonly after?: number } = {}): AsyncGenerator<ToolEvent> {
    for (let behind = after; ;) {
      const event = await this.waitAfter(type ?? null, behind)
      behind = event.sequence
      yield event
    }
  }

  readonly signal: ToolEvents['signal'] = async (runId, name, value = null) => {
    const link = this.link(NO_PROCESSES)
    if (typeof name !== 'string' || name.trim() === '')
      throw new ToolError('durable_effect_empty_event_key', 'a signal needs a name that is not blank')
    const data = takeData(value, 'durable_step_unserializable', `the value of the signal ${JSON.stringify(name)}`)
    await this.checkOpen(link, runId)
    await this.happen(this.numberOperation(), { op: 'signal', run: runId, name, value: data }, () => {
      link.signal(runId, name, data)
      return null
    })
  }

  readonly start: ToolProcesses['start'] = async ({ pipeline, input = null, id, onParentEnd = 'cancel' }) => {
    const link = this.link(NO_PROCESSES)
    const data = takeData(input, 'invalid_args', 'the input of a run')
    const place = this.numberOperation()
    const run = id ?? `${this.owner.idempotencyKey}/${place}`
    await this.happen(place, { op: 'start', run, pipeline, input: data }, () => {
      link.start({ run, pipeline, input: data, on_parent_end: onParentEnd })
      return null
    })
    return run
  }

  readonly cancel: ToolProcesses['cancel'] = async (runId, reason = 'cancelled') => {
    const link = this.link(NO_PROCESSES)
    await this.checkOpen(link, runId)
    await this.happen(this.numberOperation(), { op: 'cancel', run: runId, reason }, () => {
      link.cancel(runId, reason)
      return null
    })
  }

  readonly awaitRun: ToolProcesses['await'] = async (runId, { timeoutMs } = {}) => {
    const { owner } = this
    const link = this.link(NO_PROCESSES)
    const { parent } = await link.look(runId)
    if (parent !== owner.runId) throw new ToolError('process_not_visible', `this run has not started ${runId}`)
    const late = { code: 'durable_effect_event_timeout', message: `the run ${JSON.stringify(runId)} did not end in time` }
    const ended = await owner.awaitToken(`${RUN_TOKEN}${runId}`, `await-run:${runId}`, timeoutMs ?? null, late)
    const { status, value, error } = ended as { readonly status: string; readonly value: unknown; readonly error: unknown }
    if (status === 'done') return value
    throw new ToolError('execution_failed', `the run ${runId} ended as ${status}: ${describeCause(error ?? '')}`, {
      details: { run: runId, status },
    })
  }

  readonly look: ToolProcesses['look'] = async (runId) => this.link(NO_PROCESSES).look(runId)

  readonly query: ToolProcesses['query'] = async (runId, name) => this.link(NO_PROCESSES).query(runId, name)

  /** The tool is called with these arguments when the run fails or is cancelled; the last one first. */
  readonly onUndo = async (tool: string, args: unknown = {}, isWhilePending = false): Promise<void> => {
    const data = takeData(args, 'invalid_args', `the arguments of ${tool}`)
    const kind = isWhilePending ? 'cancel' : 'undo'
    const note = this.owner.begin(kind, `${kind}:${this.undos++}`, { tool, args: data })
    // From now on a failure of the run would know of it.
    if (note.kept !== null) await note.kept
  }

  /** What follows from the result of the call; raises `intent_invalid`, `intent_limit`. */
  stageIntents(intents: readonly Intent[]): () => void {
    const { idempotencyKey } = this.owner
    return readIntents(intents, this.link(NO_PROCESSES), (at) => `${idempotencyKey}/intent:${at}`)
  }

  private numberOperation(): string {
    return `process:${this.operations++}`
  }

  /** Done together with the note that says so; what the note says when there is one. */
  private async happen(id: string, args: Plain, work: () => Plain): Promise<Plain> {
    const { owner } = this
    const note = owner.begin('linked', id, args)
    const { before } = note
    if (before.kind === 'differs')
      throw new ToolError('effect_input_mismatch', `${id} of the call has other arguments than when it was made first`, {
        details: { recorded: before.args, given: args },
      })
    if (before.kind === 'ended') return owner.read(note)
    try {
      const value = work()
      note.settle({ ok: true, value })
      return value
    } catch (cause) {
      const { code, message } = isToolError(cause) ? cause : { code: 'execution_failed', message: describeCause(cause) }
      note.settle({ ok: false, code, message, denied: false })
      throw cause
    }
  }

  private async checkOpen(link: RunLink, runId: string): Promise<void> {
    if (runId === this.owner.runId) return
    const { state } = await link.look(runId)
    if (state === 'ended') throw new ToolError('process_already_terminal', `the run ${runId} has ended`)
  }

  private describe({ sequence, type, payload }: LinkedEvent): ToolEvent {
    return { processId: this.owner.runId, sequence, type, payload }
  }

  private link(without: { readonly code: string; readonly message: string }): RunLink {
    const { link } = this.owner.gate()
    if (link === null) throw ToolError.of(without)
    return link
  }
}

const NO_PROCESSES = {
  code: 'process_registry_unavailable',
  message: 'no store keeps this run: there are no other runs to be reached from it',
}

function takeData(
  value: unknown,
  code: 'durable_effect_process_event_append_failed' | 'durable_step_unserializable' | 'invalid_args',
  what: string,
): Plain {
  try {
    return plainFromHost(value)
  } catch (cause) {
    throw new ToolError(code, `${what} cannot be kept: ${describeCause(cause)}`, { cause })
  }
}

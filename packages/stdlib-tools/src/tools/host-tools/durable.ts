// Services of a run for its tools: steps with recorded results, waits for outside answers. The code of a tool may be started again in another process; operations made through this interface then return their recorded results.

import { fromPlain, toPlain } from '@bridle/vm/families'
import type { NoteKind, Plain } from '@bridle/vm/families'
import { CALL_TOKEN, EVENT_TOKEN, readUnverified } from '../executors/completion-keys.js'
import { describeCause } from '../executors/provider.js'
import type { BegunNote, DurableGate } from '../executors/provider.js'
import type { NestedOutcome } from '../../library/effects/index.js'
import { RunLinks } from './durable-links.js'
import type { EventWait } from './durable-links.js'
import { plainFromHost } from './edge.js'
import { ToolError, toToolErrorData } from './errors.js'
import { Pending } from './pending.js'
import type { PendingLimits } from './pending.js'
import { compileSchema } from './schema.js'
import type { AnySchema } from './schema.js'

/** Handling of a step that was interrupted by the end of its process: it fails with `unknown_outcome`, is repeated, or is verified. */
export type StepRecovery =
  | 'once'
  | 'safe'
  | 'idempotent'
  | { readonly verify: (idempotencyKey: string) => StepFound | Promise<StepFound> }
type StepFound = { readonly done: unknown } | 'not_done' | 'unknown'

export interface StepOptions {
  /** `once` when absent. */
  readonly recovery?: StepRecovery
  /** What the result must be. */
  readonly schema?: AnySchema
}

export interface StepFacts {
  /** Equal whenever this step is made again, in any process. */
  readonly idempotencyKey: string
}

export type StepWork<Input> = (input: Input, facts: StepFacts) => unknown

export interface DurableSteps {
  /** False where no run is around the call; everything else raises `durable_effects_unavailable` then. */
  readonly available: boolean
  /** The result of `work`, which is executed once per `id` within the call, in any process. */
  readonly run: <Input>(id: string, input: Input, work: StepWork<Input>, options?: StepOptions) => Promise<unknown>
  /** The same without an input. */
  readonly runJson: (id: string, work: StepWork<null>, options?: StepOptions) => Promise<unknown>
  /** The key for an outside answer (`worker.resolve`, `runtime.resolveEvent`): equal for the same name in the run. */
  readonly event: (name: string) => string
  /** Waits for the answer to an event, by its name or key; the first answer counts, also one that came before. */
  readonly waitFor: (event: string, options?: EventWait) => Promise<unknown>
  /** Waits so long from when it was asked for first. */
  readonly sleep: (id: string, ms: number) => Promise<void>
}

/** Arguments and payload as every attempt sees them. */
export interface PreparedData {
  readonly args: unknown
  readonly payload: unknown
}

interface Owner {
  readonly runId: string
  readonly callId: string
  readonly idempotencyKey: string
  readonly tool: string
  readonly gate: DurableGate | null
}

export class DurableCalls implements DurableSteps {
  private readonly owner: Owner
  private readonly reserved = new Set<string>()

  constructor(owner: Owner) {
    this.owner = owner
  }

  get available(): boolean {
    return this.owner.gate !== null
  }

  readonly run = async <Input>(
    id: string,
    input: Input,
    work: StepWork<Input>,
    { recovery = 'once', schema }: StepOptions = {},
  ): Promise<unknown> => {
    this.gate()
    if (typeof id !== 'string' || id.trim() === '')
      throw new ToolError('durable_effect_empty_step_id', 'a durable step needs an id that is not blank')
    if (this.reserved.has(id))
      throw new ToolError(
        'durable_effect_duplicate_step_id',
        `the durable step ${JSON.stringify(id)} was begun in this call before`,
      )
    this.reserved.add(id)
    const args = takeData(input, `the input of the durable step ${JSON.stringify(id)}`)
    const note = this.begin('step', `durable-step:${id}`, args)
    const { before } = note
    if (before.kind === 'differs')
      throw new ToolError(
        'effect_input_mismatch',
        `the durable step ${JSON.stringify(id)} has another input than when it was begun`,
        { details: { recorded: before.args, given: args } },
      )
    if (before.kind === 'ended') return readEnd(before.outcome)
    const facts: StepFacts = { idempotencyKey: `${this.owner.idempotencyKey}:durable-step:${id}` }
    const make = async (): Promise<unknown> => {
      const made = takeData(await work(input, facts), `the result of the durable step ${JSON.stringify(id)}`)
      return schema === undefined ? made : checkData(schema, made, `the result of the durable step ${JSON.stringify(id)}`)
    }
    await note.kept
    return settle(note, before.kind === 'begun' ? () => makeAgain(id, recovery, facts, make) : make)
  }

  readonly runJson = (id: string, work: StepWork<null>, options?: StepOptions): Promise<unknown> =>
    this.run(id, null, work, options)

  readonly event = (name: string): string => this.gate().mint(`${EVENT_TOKEN}${checkEventName(name)}`)

  readonly waitFor = async (event: string, { timeoutMs, schema }: EventWait = {}): Promise<unknown> => {
    const gate = this.gate()
    const token = this.readEvent(event)
    const name = token.slice(EVENT_TOKEN.length)
    const value = await this.awaitToken(gate, token, `await-event:${name}`, timeoutMs ?? null, {
      code: 'durable_effect_event_timeout',
      message: `the event ${JSON.stringify(name)} was not answered in time`,
    })
    return schema === undefined ? value : checkData(schema, value as Plain, `the answer to the event ${JSON.stringify(name)}`)
  }

  readonly sleep = async (id: string, ms: number): Promise<void> => {
    const gate = this.gate()
    const note = this.begin('wait', `sleep:${id}`, ms)
    if (note.before.kind === 'ended') return
    // This token has no answer: the expired time is the answer.
    await gate.awaitEvent(`timer:${this.owner.callId}:${id}`, note.startedMs + ms)
    note.settle({ ok: true, value: null })
  }

  private isMinted = false
  private linked: RunLinks | null = null

  /** What the tool does through the run beside steps and waits. */
  get links(): RunLinks {
    const { runId, callId, idempotencyKey } = this.owner
    this.linked ??= new RunLinks({
      runId,
      callId,
      idempotencyKey,
      gate: () => this.gate(),
      begin: (kind, id, args) => this.begin(kind, id, args),
      read: (note) => (note.before.kind === 'ended' ? (readEnd(note.before.outcome) as Plain) : null),
      awaitToken: (token, id, timeoutMs, late) => this.awaitToken(this.gate(), token, id, timeoutMs, late),
    })
    return this.linked
  }

  get sessionId(): string | null {
    return this.owner.gate?.sessionId() ?? null
  }

  /** What the prepare step made of the call in another process; null when it did not get so far. */
  findPrepared(): PreparedData | null {
    const { gate, callId, tool } = this.owner
    const before = gate?.find({ callId, id: `${callId}:prepare`, kind: 'linked', tool, args: null })
    return before?.kind === 'ended' && before.outcome.ok
      ? (giveData(before.outcome.value ?? null) as unknown as PreparedData)
      : null
  }

  /** Values that are not data stay in this process; another process prepares the call again. */
  keepPrepared(prepared: PreparedData): void {
    if (this.owner.gate === null) return
    let value: Plain
    try {
      value = plainFromHost(prepared)
    } catch {
      return
    }
    this.begin('linked', 'prepare', null).settle({ ok: true, value })
  }

  mintCall(): string {
    if (this.owner.callId.trim() === '')
      throw new ToolError('tool_completion_key_missing_call_id', 'a completion key is that of a call, and this one has no id')
    const key = this.gate().mint(`${CALL_TOKEN}${this.owner.callId}`)
    this.isMinted = true
    return key
  }

  async announce({ announcement, onCancel }: PendingLimits): Promise<void> {
    if (typeof onCancel === 'object') await this.links.onUndo(onCancel.tool, onCancel.args, true)
    if (announcement === undefined) return
    try {
      await this.links.emit(announcement.type, announcement.payload)
    } catch (cause) {
      throw new ToolError(
        'pending_tool_announcement_failed',
        `that the call of ${this.owner.tool} waits cannot be announced: ${describeCause(cause)}`,
        { cause },
      )
    }
  }

  defer(isDeclared: boolean, limits: PendingLimits): Pending {
    const { callId, tool } = this.owner
    this.gate()
    if (!isDeclared)
      throw new ToolError('tool_deferral_not_declared', `the tool ${JSON.stringify(tool)} does not say mayDefer: true`)
    if (!this.isMinted)
      throw new ToolError(
        'pending_tool_missing_completion_key',
        `nobody can complete the call of ${tool}: call completionKey() before pending()`,
      )
    return new Pending(`${CALL_TOKEN}${callId}`, limits)
  }

  private async awaitToken(
    gate: DurableGate,
    token: string,
    id: string,
    timeoutMs: number | null,
    late: { readonly code: string; readonly message: string },
  ): Promise<unknown> {
    const note = this.begin('wait', id, timeoutMs)
    // The time of another attempt is its own.
    const dueAt = timeoutMs === null ? null : note.startedMs + timeoutMs
    if (note.before.kind === 'ended') return readEnd(note.before.outcome)
    const answer = await gate.awaitEvent(token, dueAt)
    const outcome: NestedOutcome =
      answer.kind === 'result'
        ? { ok: true, value: answer.value }
        : answer.kind === 'failed'
          ? { ok: false, code: answer.error.code, message: answer.error.message, denied: false }
          : { ok: false, ...late, denied: false }
    note.settle(outcome)
    return readEnd(outcome)
  }

  private readEvent(event: string): string {
    if (!event.startsWith('bk1.')) return `${EVENT_TOKEN}${checkEventName(event)}`
    // A key of this run is one that it would make again.
    const token = readUnverified(event)
    if (token?.startsWith(EVENT_TOKEN) === true && this.gate().mint(token) === event) return token
    throw new ToolError('invalid_await_event_wait_identity', 'this is no key of an event of the run')
  }

  private gate(): DurableGate {
    const { gate } = this.owner
    if (gate === null)
      throw new ToolError('durable_effects_unavailable', 'durable steps are kept by a run, and no run is around this call')
    if (this.owner.callId.trim() === '')
      throw new ToolError('durable_effects_missing_call_id', 'what is kept is kept for a call, and this one has no id')
    return gate
  }

  private begin(kind: NoteKind, id: string, args: Plain): BegunNote {
    const { callId, tool } = this.owner
    const note = this.gate().begin({ callId, id: `${callId}:${id}`, kind, tool, args })
    if (note === null) throw new ToolError('cancelled', `nobody waits for the call of ${tool} any more`)
    return note
  }
}

async function makeAgain(id: string, recovery: StepRecovery, facts: StepFacts, make: () => Promise<unknown>): Promise<unknown> {
  if (recovery === 'safe' || recovery === 'idempotent') return make()
  const makeUnknown = (why: string): ToolError =>
    new ToolError('unknown_outcome', `the outcome of the durable step ${JSON.stringify(id)} is unknown: ${why}`)
  if (recovery === 'once') throw makeUnknown('its process ended after it was begun')
  const found = await recovery.verify(facts.idempotencyKey)
  if (typeof found === 'object' && found !== null && 'done' in found)
    return takeData(found.done, 'what verify says of a durable step')
  if (found === 'not_done') return make()
  throw makeUnknown('verify cannot tell')
}

async function settle(note: BegunNote, work: () => Promise<unknown>): Promise<unknown> {
  let outcome: NestedOutcome
  try {
    outcome = { ok: true, value: (await work()) as Plain }
  } catch (cause) {
    const { code, message, details } = toToolErrorData(cause)
    outcome = { ok: false, code, message, ...(details === undefined ? {} : { details }), denied: false }
  }
  note.settle(outcome)
  return readEnd(outcome)
}

/** The same whether it was made now or before. */
function readEnd(outcome: NestedOutcome): unknown {
  if (!outcome.ok) throw ToolError.of(outcome)
  return giveData(outcome.value ?? null)
}

function giveData(data: Plain): Plain {
  return toPlain(fromPlain(data))
}

function takeData(value: unknown, what: string): Plain {
  try {
    return plainFromHost(value)
  } catch (cause) {
    throw new ToolError('durable_step_unserializable', `${what} cannot be kept: ${describeCause(cause)}`, { cause })
  }
}

async function checkData(schema: AnySchema, value: Plain, what: string): Promise<Plain> {
  const found = await compileSchema(schema, 'output').check(giveData(value))
  if (!found.ok) throw new ToolError('output_validation_failed', `${what} is not as asked for at ${found.path}: ${found.reason}`)
  return plainFromHost(found.value)
}

function checkEventName(name: string): string {
  if (typeof name !== 'string' || name.trim() === '')
    throw new ToolError('durable_effect_empty_event_key', 'an event needs a name that is not blank')
  return name
}

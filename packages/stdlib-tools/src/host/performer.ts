// Performs effects on behalf of a driver: makes the call for a provider, judges nested calls of a tool, and checks
// results before the machine sees them. The driver decides when an effect is performed and what happens with its outcome.

import type { RunBranch } from '../tools/dispatch/branches.js'
import { beginNested, endNested, judgeNested, leaveNested } from '../tools/dispatch/nested-calls.js'
import { findNote } from '../tools/dispatch/durable-notes.js'
import type { AskedNote } from '../tools/dispatch/durable-notes.js'
import { nestedCalls } from '../tools/dispatch/nested-state.js'
import { DEFAULT_LIMITS, OutcomeWalk, isPlainAnswer } from '@bridle/vm'
import type { Context } from '@bridle/vm/families'
import type { Effect, EffectOutcome, NestedCall } from '@bridle/vm'
import { awaitNextTurn } from '../library/time/host-clock.js'
import type { DrivenMachine } from './machine.js'
import { measureEntry } from './journal.js'
import type { JournalEntry, NestedEntry } from './journal.js'
import type { ToolOutcome } from '../tools/executors/outcome.js'
import { categorizedError, describeCause } from '../tools/executors/provider.js'
import type {
  AdmittedCall,
  BegunNote,
  DurableGate,
  EffectCall,
  NestedGate,
  PerformEffect,
  RunLink,
  TokenLimit,
} from '../tools/executors/provider.js'
import type { NestedOutcome } from '../library/effects/index.js'

/** What a performer needs of the driver that it works for. */
export interface PerformerParts {
  readonly perform: PerformEffect
  readonly runId: string
  readonly branches?: readonly RunBranch[] | undefined
  /** Heap units that an answer may have; those of the default limits when absent. */
  readonly heapLimit?: number | undefined
  readonly machine: () => DrivenMachine
  readonly now: () => number
  /** Whether the run has ended or cannot continue: nothing more is begun. */
  readonly isOver: () => boolean
  readonly isInMachine: () => boolean
  /** Throws if the entry cannot be recorded. */
  readonly log: (entry: JournalEntry) => void
  /** Resolves when what was logged so far is kept; null: it is when `log` returns. */
  readonly kept?: () => Promise<void>
  /** False if nested calls of a tool are not recorded: then any nested call of a repeated call may have been begun before. */
  readonly keepsNested?: boolean
  /** What was logged is lost: the run cannot continue. */
  readonly fail: (cause: unknown) => void
  readonly exit: (code: number) => void
  readonly link?: RunLink | undefined
  readonly onNested?: ((id: number, call: NestedCall) => boolean) | undefined
  readonly awaitToken: (id: number, token: string, signal: AbortSignal, limit: TokenLimit | null) => Promise<ToolOutcome>
  /** As DurableGate.awaitEvent says. */
  readonly awaitEvent: (id: number, token: string, dueAt: number | null) => Promise<ToolOutcome>
  /** Signs what answers from outside must show. */
  readonly mint: (token: string) => string
  /** A tool has done something that a waiting driver may want to know. */
  readonly changed?: () => void
}

/** Facts about a call besides its effect. */
export interface CallFacts {
  readonly askedAt: number
  readonly isAgain?: boolean
  readonly waitsFor?: string | null
}

export class Performer {
  private readonly parts: PerformerParts
  /** By effect id, for unsettled effects whose provider accessed its signal. */
  private readonly aborts = new Map<number, AbortController>()
  private whole: AbortController | null = null
  /** Answers that are being checked. */
  private checking = 0

  constructor(parts: PerformerParts) {
    this.parts = parts
  }

  get isChecking(): boolean {
    return this.checking > 0
  }

  perform(effect: Effect, id: number, facts: CallFacts): EffectOutcome | Promise<EffectOutcome> {
    this.intents.delete(id)
    if (facts.isAgain === true && this.parts.keepsNested === false) this.unsure.add(id)
    try {
      const result = this.parts.perform(effect, new Call(id, this.parts, facts, this.aborts, this))
      if (!(result instanceof Promise)) this.aborts.delete(id)
      return result instanceof Promise ? result : this.check(effect, result)
    } catch (cause) {
      this.aborts.delete(id)
      return makeFailure(effect, cause)
    }
  }

  /** The call has settled. */
  forget(id: number): void {
    this.aborts.delete(id)
    this.open.delete(id)
    this.unsure.delete(id)
  }

  abort(id: number, reason: unknown): void {
    this.aborts.get(id)?.abort(reason)
  }

  /** Of all that belongs to the run in this process. */
  get runSignal(): AbortSignal {
    this.whole ??= new AbortController()
    return this.whole.signal
  }

  abortAll(reason: unknown): void {
    this.whole ??= new AbortController()
    this.whole.abort(reason)
    for (const abort of this.aborts.values()) abort.abort(reason)
  }

  /**
   * What a provider answered, if the journal and the machine can take it in; an error that says why not, otherwise. A large answer is
   * looked at in pieces.
   */
  check(effect: Effect, outcome: EffectOutcome): EffectOutcome | Promise<EffectOutcome> {
    if (isPlainAnswer(outcome)) return outcome
    try {
      const walk = new OutcomeWalk(outcome, this.parts.heapLimit ?? DEFAULT_LIMITS.heap)
      return walk.step() ? accept(effect, outcome, walk) : this.checkInPieces(effect, outcome, walk)
    } catch (cause) {
      return makeFailure(effect, cause)
    }
  }

  private async checkInPieces(effect: Effect, outcome: EffectOutcome, walk: OutcomeWalk): Promise<EffectOutcome> {
    this.checking++
    try {
      do await awaitNextTurn()
      while (!walk.step() && !this.parts.isOver())
      return accept(effect, outcome, walk)
    } catch (cause) {
      return makeFailure(effect, cause)
    } finally {
      this.checking--
    }
  }

  /** The gate for calls that a tool makes of others while it answers an effect. */
  gateOf(id: number): NestedGate {
    return new Gate(this, id)
  }

  /** What a tool has the run keep while it answers the effect. */
  durableGateOf(id: number): DurableGate {
    const { parts } = this
    return {
      runId: parts.runId,
      now: () => parts.now(),
      begin: (asked) => this.beginNote(id, asked),
      find: (asked) => parts.machine().onBehalfOf?.(id, (ctx) => findNote(ctx, id, asked, 0).before) ?? { kind: 'none' },
      sessionId: () => parts.machine().onBehalfOf?.(id, (ctx) => readSession(ctx)) ?? null,
      intend: (happen) => void this.intents.set(id, happen),
      link: parts.link ?? null,
      mint: (token) => parts.mint(token),
      awaitEvent: (token, dueAt) => parts.awaitEvent(id, token, dueAt),
    }
  }

  /** Notes of an effect that were begun and have not ended. */
  countOpenNotes(id: number): number {
    return this.open.get(id) ?? 0
  }

  /** What follows from the answer to an effect; it happens with the commit that keeps the answer. */
  private readonly intents = new Map<number, () => void>()

  /** The answer has entered the run. */
  carryOutIntents(id: number): void {
    const happen = this.intents.get(id)
    this.intents.delete(id)
    happen?.()
  }

  private readonly open = new Map<number, number>()
  /** Repeated effects whose nested calls were not recorded. */
  private readonly unsure = new Set<number>()

  private beginNote(id: number, asked: AskedNote): BegunNote | null {
    const machine = this.parts.machine()
    if (this.parts.isOver() || machine.note === undefined) return null
    const now = this.parts.now()
    const found = machine.onBehalfOf?.(id, (ctx) => findNote(ctx, id, asked, now)) ?? null
    if (found === null) return null
    const { call, before } = found
    const isNew = before.kind === 'none'
    if (isNew) this.enterNested({ type: 'nested', id, inside: this.parts.isInMachine(), call })
    const isOpen = before.kind === 'none' || before.kind === 'begun'
    // Waits are not work: a run may leave this process while its tools only wait.
    const counts = isOpen && asked.kind === 'step'
    if (counts) this.open.set(id, this.countOpenNotes(id) + 1)
    const { kept } = this.parts
    return {
      before: isNew && this.unsure.has(id) ? { kind: 'begun' } : before,
      startedMs: call.startedMs,
      args: call.args,
      kept: isNew && kept !== undefined && asked.kind !== 'wait' && asked.kind !== 'linked' ? kept() : null,
      settle: (outcome) => {
        if (counts) this.open.set(id, this.countOpenNotes(id) - 1)
        this.endNested(id, call.id, outcome)
        this.parts.changed?.()
      },
    }
  }

  /** The run ends: what tools still call is not its affair. */
  leaveNested(): void {
    const now = this.parts.now()
    this.parts.machine().note?.((ctx) => {
      if (ctx.findState(nestedCalls) !== undefined) leaveNested(ctx, now)
    })
  }

  /** Null if no task waits for the effect any more: then the call is not made. */
  admitNested(id: number, asked: Parameters<NestedGate['admit']>[0]): AdmittedCall | null {
    const machine = this.parts.machine()
    // A machine that cannot count what it allowed allows nothing.
    if (this.parts.isOver() || machine.note === undefined) return null
    const startedMs = this.parts.now()
    const verdict = machine.onBehalfOf?.(id, (ctx) => judgeNested(ctx, id, { ...asked, now: startedMs })) ?? null
    if (verdict === null) return null
    if (verdict.ok && verdict.before !== 'none')
      return {
        ok: true,
        args: verdict.call.args,
        before: verdict.before,
        settle: (outcome) => this.endNested(id, verdict.call.id, outcome),
      }
    this.enterNested({ type: 'nested', id, inside: this.parts.isInMachine(), call: verdict.call })
    if (!verdict.ok) {
      const { code, message, details } = verdict
      this.endNested(id, verdict.call.id, { ok: false, code, message, denied: true })
      return { ok: false, code, message, details }
    }
    if (this.parts.onNested?.(id, verdict.call) === false) return null
    const { kept } = this.parts
    return {
      ok: true,
      args: verdict.call.args,
      before: this.unsure.has(id) ? 'begun' : 'none',
      ...(kept === undefined ? {} : { kept: kept() }),
      settle: (outcome) => this.endNested(id, verdict.call.id, outcome),
    }
  }

  private endNested(id: number, call: string, outcome: NestedOutcome): void {
    if (this.parts.isOver()) return
    this.enterNested({ type: 'nested_end', id, inside: this.parts.isInMachine(), call, outcome, now: this.parts.now() })
  }

  /** Recorded first; a failure to record is not reported to the caller of the tool. */
  private enterNested(entry: NestedEntry): void {
    try {
      this.parts.log(entry)
    } catch (cause) {
      this.parts.fail(cause)
      throw cause
    }
    noteNested(this.parts.machine(), entry)
  }
}

function readSession(ctx: Context): string | null {
  const session = ctx.machine.task().fields.get('agent_session_id')
  return typeof session === 'string' ? session : null
}

function accept(effect: Effect, outcome: EffectOutcome, { problem }: OutcomeWalk): EffectOutcome {
  return problem === null ? outcome : categorizedError('generic', `${effect.kind} failed: ${problem}`)
}

/** What a call that a tool makes of another one does to the machine: the same in a run and in a replay. */
export function noteNested(machine: DrivenMachine, entry: NestedEntry): void {
  machine.note?.(
    (ctx) => {
      if (entry.type === 'nested') beginNested(ctx, entry.id, entry.call)
      else endNested(ctx, entry.id, entry.call, entry.outcome, entry.now)
    },
    measureEntry(entry, Infinity),
  )
}

/** Created for every call, so its members are created on access. */
class Gate implements NestedGate {
  private readonly performer: Performer
  private readonly id: number
  private made: DurableGate | null = null

  constructor(performer: Performer, id: number) {
    this.performer = performer
    this.id = id
  }

  get admit(): NestedGate['admit'] {
    return (call) => this.performer.admitNested(this.id, call)
  }

  get durable(): DurableGate {
    return (this.made ??= this.performer.durableGateOf(this.id))
  }
}

/** The context of an effect. Most effects are answered synchronously and never use their signal, so it is created on access. */
class Call implements EffectCall {
  private readonly parts: PerformerParts
  private readonly performer: Performer
  private readonly aborts: Map<number, AbortController>
  private gate: NestedGate | null = null
  private abort: AbortController | null = null
  readonly id: number
  readonly runId: string
  readonly isAgain: boolean
  readonly askedAt: number
  readonly waitsFor: string | null
  readonly now: number

  constructor(
    id: number,
    parts: PerformerParts,
    { askedAt, isAgain = false, waitsFor = null }: CallFacts,
    aborts: Map<number, AbortController>,
    performer: Performer,
  ) {
    this.parts = parts
    this.performer = performer
    this.id = id
    this.runId = parts.runId
    this.isAgain = isAgain
    this.askedAt = askedAt
    this.waitsFor = waitsFor
    this.now = parts.now()
    this.aborts = aborts
  }

  get idempotencyKey(): string {
    return `${makeKeyPrefix(this.runId, this.parts.branches ?? [], this.id)}:${this.id}`
  }

  get nested(): NestedGate {
    return (this.gate ??= this.performer.gateOf(this.id))
  }

  get signal(): AbortSignal {
    if (this.abort === null) {
      this.abort = new AbortController()
      this.aborts.set(this.id, this.abort)
    }
    return this.abort.signal
  }

  get runSignal(): AbortSignal {
    return this.performer.runSignal
  }

  get exit(): (code: number) => void {
    return this.parts.exit
  }

  get link(): RunLink | undefined {
    return this.parts.link
  }

  get awaitToken(): NonNullable<EffectCall['awaitToken']> {
    return (token, signal, limit) => this.parts.awaitToken(this.id, token, signal, limit)
  }
}

/** What the key of an effect begins with: the run, and the branch that asked for it first. */
export function makeKeyPrefix(runId: string, branches: readonly RunBranch[], id: number): string {
  const branch = branches.findLast(({ effect }) => effect <= id)
  return branch === undefined ? runId : `${runId}~${branch.name}`
}

/** An error that a provider threw instead of answering. It is a bug of the provider or the host, and is raised in the script. */
export function makeFailure(effect: Effect, cause: unknown): EffectOutcome {
  return categorizedError('generic', `${effect.kind} failed: ${describeCause(cause)}`)
}

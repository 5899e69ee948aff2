// Common parts of all drivers: the machine, the providers of its effects, and whether the machine is running. In which order answers enter
// it, and where that is recorded, differs between drivers (driver.ts; durable/driver.ts).

import type { RunBranch } from '../tools/dispatch/branches.js'
import { listUndos } from '../tools/dispatch/note-state.js'
import type { UndoCall } from '../tools/dispatch/note-state.js'
import { readBudgetCounters } from '../tools/policy/grants.js'
import type { Effect, EffectOutcome, Fault, LimitName, Limits, NestedCall, Plain, RunExit, Value } from '@bridle/vm'
import type { CancelSignal } from './cancellation.js'
import type { Clock } from '../library/time/host-clock.js'
import type { Journal, JournalEntry } from './journal.js'
import type { AnswerEffect, ArrivedAnswer, BegunCalls, DrivenMachine, NextNumbers } from './machine.js'
import { Performer } from './performer.js'
import type { PerformerParts } from './performer.js'
import type { HashHex } from './journal-trace.js'
import type { PendingResults } from '../tools/executors/pending.js'
import { ToolError } from '../tools/host-tools/errors.js'
import type { PerformEffect, RunLink } from '../tools/executors/provider.js'
import type { RunAuthority } from './run-authority.js'

export type DriveEnd =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'failed'; readonly fault: Fault }
  | { readonly kind: 'limit'; readonly limit: LimitName; readonly message: string }
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'cancelled'; readonly reason: string }

export interface DriveObserver {
  /** The machine stopped and the run is not over; before its output. */
  readonly yielded?: () => void
  readonly output?: (text: string) => void
  readonly effect?: (id: number, effect: Effect) => void
  readonly outcome?: (id: number, effect: Effect, outcome: EffectOutcome) => void
  /** Records a nested call of a tool; false if that fails, and then the call is not made. */
  readonly nested?: (id: number, call: NestedCall) => boolean
  /** After every exit of the machine, before it is entered again; the place to take a snapshot. */
  readonly exit?: (kind: RunExit['kind']) => void
  /** Nothing can continue before an answer or a timer comes. */
  readonly waiting?: (pending: readonly number[], wakeAt: number | null) => void
}

/** What a start is recorded with beside its input. */
export interface StartFacts {
  readonly globals?: { readonly [name: string]: Plain }
  readonly limits?: Limits
}

export interface DriveOptions {
  readonly machine: (answer: AnswerEffect) => DrivenMachine
  /** A fresh run with its input, or one restored from a snapshot, with the answers that had arrived, in order. */
  readonly begin:
    | { readonly kind: 'start'; readonly input: Plain; readonly globals?: StartFacts['globals']; readonly limits?: Limits }
    | { readonly kind: 'restored'; readonly arrived: readonly ArrivedAnswer[] }
  readonly perform: PerformEffect
  /** Recorded where a run continues. */
  readonly authority?: RunAuthority | undefined
  readonly clock: Clock
  readonly runId: string
  /** Where the run was continued from a snapshot, oldest first. */
  readonly branches?: readonly RunBranch[] | undefined
  readonly journal?: Journal | undefined
  /** For the trace hash at the end of a journal; none is written without it. */
  readonly hashHex?: HashHex | undefined
  readonly signal?: CancelSignal | undefined
  /** Calls from this number on are asked for and not performed: the run waits in front of them, for a snapshot. */
  readonly holdFrom?: number | undefined
  /** Heap units that an answer may have; those of the default limits when absent. */
  readonly heapLimit?: number | undefined
  /** What the answer of a call waits for before it is delivered: for simulations of slow and fast services. */
  readonly latency?: ((id: number) => Promise<void>) | undefined
  readonly observer?: DriveObserver | undefined
  /** Milliseconds since 1970 that a fresh run begins at; its clock says so when absent. */
  readonly startAt?: number | undefined
  /** Waits of tools that answered `pending`. */
  readonly pendingResults?: Pick<PendingResults, 'wait' | 'resolve'> | undefined
  /** For a resumed run: the state of calls that were begun before. */
  readonly begun?: BegunCalls | undefined
  /** Signs what answers from outside must show. */
  readonly mint?: ((token: string) => string) | undefined
  /** What the run may ask of the store that keeps it. */
  readonly link?: RunLink | undefined
}

/** State of the driver for a snapshot. */
export interface DriverState {
  readonly machine: Uint8Array
  readonly next: NextNumbers
  readonly arrived: readonly ArrivedAnswer[]
  readonly begun: BegunCalls
}

/** What a run needs of its loop. */
export interface RunDriver {
  run(): Promise<DriveEnd>
  /** Records the start of the run before it begins, so that the caller knows that it is stored. */
  logStart(): void
  snapshot<T>(also: () => T): Promise<DriverState & { readonly also: T }>
  pendingCalls(): readonly { readonly id: number; readonly effect: Effect }[]
  budgetCounters(): ReadonlyMap<string, number>
  /** What is to be called when the run does not end well, in order. */
  undos(): readonly UndoCall[]
}

/** Raised by a driver whose run ends in this process only: it continues elsewhere, or later. */
export class RunLeft extends Error {}

/** Thrown by `snapshot` when there is nothing to take. */
export class NotSuspendedError extends Error {
  override readonly name = 'NotSuspendedError'
}

export abstract class MachineDriver implements RunDriver {
  protected readonly options: DriveOptions
  protected readonly machine: DrivenMachine
  protected readonly performer: Performer
  /** Whether the machine is running: entries recorded then belong to its present step. */
  protected inMachine = false
  /** Null until the script ends the run by itself. */
  protected exitCode: number | null = null
  /** The error of a failed record; raised when the run would continue. */
  protected broken: unknown = null

  constructor(options: DriveOptions, { now, kept, keepsNested = true }: Pick<PerformerParts, 'now' | 'kept' | 'keepsNested'>) {
    this.options = options
    this.performer = new Performer({
      perform: options.perform,
      runId: options.runId,
      branches: options.branches,
      heapLimit: options.heapLimit,
      machine: () => this.machine,
      now,
      isOver: () => this.isEnded || this.broken !== null,
      isInMachine: () => this.inMachine,
      log: (entry) => this.log(entry),
      ...(kept === undefined ? {} : { kept }),
      keepsNested,
      fail: (cause) => this.fail(cause),
      exit: (code) => this.exit(code),
      onNested: options.observer?.nested,
      awaitToken: (...asked) => this.awaitOutside(...asked),
      awaitEvent: (...asked) => this.awaitEvent(...asked),
      mint: (token) => options.mint?.(token) ?? refuseKeys(),
      link: options.link,
      changed: () => this.changed(),
    })
    this.machine = options.machine((effect, id) => this.answer(effect, id))
  }

  abstract run(): Promise<DriveEnd>
  abstract logStart(): void
  abstract snapshot<T>(also: () => T): Promise<DriverState & { readonly also: T }>

  protected abstract get isEnded(): boolean
  /** Called by the machine, from inside `enter`. */
  protected abstract answer(effect: Effect, id: number): EffectOutcome | null
  protected abstract log(entry: JournalEntry): void
  /** Of code of a tool that waits for an answer from outside, or for a time. */
  protected abstract awaitEvent(...asked: Parameters<PerformerParts['awaitEvent']>): ReturnType<PerformerParts['awaitEvent']>
  /** State of a call with an outside answer. */
  protected abstract awaitOutside(...asked: Parameters<PerformerParts['awaitToken']>): ReturnType<PerformerParts['awaitToken']>

  pendingCalls(): readonly { readonly id: number; readonly effect: Effect }[] {
    return this.machine.pendingEffects?.() ?? []
  }

  budgetCounters(): ReadonlyMap<string, number> {
    return readBudgetCounters(this.machine.families ?? new Map())
  }

  undos(): readonly UndoCall[] {
    return listUndos(this.machine.families ?? new Map())
  }

  protected enter(step: () => RunExit): RunExit {
    this.inMachine = true
    try {
      return step()
    } finally {
      this.inMachine = false
    }
  }

  /** A tool has ended a step, or begun to wait. */
  protected changed(): void {
    // Of interest to drivers that leave a process while tools wait.
  }

  protected fail(cause: unknown): void {
    this.broken = cause
  }

  protected exit(code: number): void {
    this.exitCode = Math.min(255, Math.max(0, Math.trunc(code)))
  }
}

function refuseKeys(): never {
  throw new ToolError('durable_effects_unavailable', 'this run has no secret to sign keys with')
}

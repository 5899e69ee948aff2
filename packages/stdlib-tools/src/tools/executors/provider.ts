// Providers answer effects: one provider for each kind of effect, chosen by the host. A provider answers at once with an
// outcome (the task continues without a switch) or with a promise (the task waits, others run).
//
// "The world refused" is an ordinary result, a Refused record (library/effects/records.ts); an outcome with
// `ok: false` says that nothing was tried and reaches the script as an error it can catch. Providers never reject for reasons
// of the world; the driver converts anything they throw to such an outcome.

import type { Effect, EffectKind, EffectOf, EffectOutcome, Plain } from '@bridle/vm'
import type { PinnedTools } from '../definitions/pins.js'
import type { AskedNote, NoteBefore } from '../dispatch/durable-notes.js'
import type { CallBefore } from '../dispatch/nested-calls.js'
import type { ToolErrorData, ToolOutcome } from './outcome.js'
import type { ToolErrorCode } from '../../library/tool-errors.js'
import type { NestedOutcome } from '../../library/effects/index.js'

/** The context of an effect for a provider. */
export interface EffectCall {
  /** Number of the effect within its run, from 1. */
  readonly id: number
  readonly runId: string
  /** Equal when the same effect is requested again after a restore, so that a service can recognise a repeat. */
  readonly idempotencyKey: string
  /** Asked for before the run was restored: it may have been carried out then. */
  readonly isAgain?: boolean
  /** When the run asked for it first, milliseconds since 1970: its time limit counts from there, also after a restore. */
  readonly askedAt?: number
  /** It was begun before the run was restored, and its answer comes under this token: it is waited for, and not made again. */
  readonly waitsFor?: string | null
  /** Waits for an answer from outside; absent outside of runs. `limit`: when the wait ends, and the error of the call then. */
  readonly awaitToken?: (token: string, signal: AbortSignal, limit: TokenLimit | null) => Promise<ToolOutcome>
  /** Aborts when the run is cancelled or ends; the provider must then stop and clean up all work in progress. */
  readonly signal: AbortSignal
  /**
   * Aborts when the run ends in this process: for what a provider keeps open longer than the effect that opened it. The same for all effects
   * of the run, and of no other run; absent outside of runs.
   */
  readonly runSignal?: AbortSignal
  /** Milliseconds since 1970 by the run's clock. */
  readonly now: number
  /** Judges and counts calls that a tool makes of others on behalf of this effect; null outside of runs. */
  readonly nested?: NestedGate | null
  /** Ends the run with a status, as `exit(code)` asks. */
  readonly exit: (code: number) => void
  /** What a run may ask of the store that keeps it; absent where none does. */
  readonly link?: RunLink | undefined
}

/**
 * What a run does through its store. Nothing of it happens before what entered the run so far is kept, and it happens with that: both, or
 * neither. Raises ToolError for what cannot be asked.
 */
export interface RunLink {
  readonly start: (asked: {
    readonly run: string
    readonly pipeline: string
    readonly input: Plain
    readonly on_parent_end: 'cancel' | 'abandon'
  }) => void
  /** The same in two parts: raises what is wrong with it, and gives what does it. */
  readonly prepareStart: (asked: Parameters<RunLink['start']>[0]) => () => void
  readonly signal: (runId: string, name: string, value: Plain) => void
  readonly cancel: (runId: string, reason: string) => void
  readonly publish: (name: string, value: Plain) => void
  /** The number of the event. */
  readonly emit: (type: string, payload: Plain) => number
  /** The run ends, and begins again with this input; `taken`: how many signals of each name it has had. */
  readonly again: (input: Plain, taken: { readonly [name: string]: number }) => void
  /** The state of another run of the same tenant; rejects with ToolError `process_not_visible`. */
  readonly look: (runId: string) => Promise<{ readonly state: string; readonly parent: string | null }>
  /** What another run has published last. */
  readonly query: (runId: string, name: string) => Promise<Plain>
  /** Events that this run has emitted, behind a number, in order. */
  readonly events: (after: number) => Promise<readonly LinkedEvent[]>
}

/** An event that a run has emitted. */
export interface LinkedEvent {
  readonly sequence: number
  readonly type: string
  readonly payload: Plain
}

export interface TokenLimit {
  /** Milliseconds since 1970. */
  readonly dueAt: number
  readonly error: ToolErrorData
  /** The run ends with the error, and not the call alone. */
  readonly endsRun?: boolean
}

/** The gate in front of calls that tools make of other tools (tools/invoke.ts); the machine of the run judges them. */
export interface NestedGate {
  /** Judges a call, counts it and writes it down; null when the run does not wait for the tool any more. */
  readonly admit: (call: { readonly id: string; readonly tool: string; readonly args: Plain }) => AdmittedCall | null
  /** What the tool has the run keep for it; null where nothing can be kept. */
  readonly durable: DurableGate | null
}

/** What a run keeps for a tool while that works for it (tools/dispatch/durable-notes.ts). */
export interface DurableGate {
  readonly runId: string
  /** Milliseconds since 1970 by the run's clock. */
  readonly now: () => number
  /** The state of a note; stores nothing. */
  readonly find: (asked: AskedNote) => NoteBefore
  /** Of the agent that makes the call; null outside of one. */
  readonly sessionId: () => string | null
  /** To be done in the moment in which the answer to the effect enters the run: both are kept, or neither. */
  readonly intend: (happen: () => void) => void
  /** What the run may ask of the store that keeps it; null where none does. */
  readonly link: RunLink | null
  /** Stores the start of a note, or returns its state; null if the run does not wait for the tool any more. */
  readonly begin: (asked: AskedNote) => BegunNote | null
  /** The credential for an answer: a signed token of this run. */
  readonly mint: (token: string) => string
  /** Waits for the answer to a token of this run. Never settles when the run continues elsewhere: the tool is called again there. */
  readonly awaitEvent: (token: string, dueAt: number | null) => Promise<ToolOutcome>
}

export interface BegunNote {
  readonly before: NoteBefore
  /** Milliseconds since 1970 when it was begun first. */
  readonly startedMs: number
  readonly args: Plain
  /** That it is begun is kept when this resolves. */
  readonly kept: Promise<void> | null
  readonly settle: (outcome: NestedOutcome) => void
}

export type AdmittedCall =
  | {
      readonly ok: true
      /** With what grants pin. */
      readonly args: Plain
      /** The state of the same nested call, if the outer call is repeated. */
      readonly before: CallBefore
      /** That it is made is kept when this resolves; absent: it is. */
      readonly kept?: Promise<void>
      /** Says how it ended. */
      readonly settle: (outcome: NestedOutcome) => void
    }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly details: Plain }

export type PerformEffect = (effect: Effect, call: EffectCall) => EffectOutcome | Promise<EffectOutcome>

/**
 * Answers effects of some kinds. Its functions are methods, so that TypeScript takes a provider of some kinds for a `Provider`: it is asked
 * for its own kinds only (makeProviderTable).
 */
export interface Provider<Kind extends EffectKind = EffectKind> {
  /** The kinds it answers. */
  readonly kinds: readonly Kind[]
  perform(effect: EffectOf<Kind>, call: EffectCall): EffectOutcome | Promise<EffectOutcome>
  /** Texts that no trace of the run may show: secrets that the host lends through the provider. */
  readonly secretValues?: readonly string[]
  /** Whether a dry run may carry the effect out; null leaves it to the effect's row in the table. */
  isReadOnly?(effect: EffectOf<Kind>, call: EffectCall): boolean | null | Promise<boolean | null>
  /** Of an effect on a file: its absolute path, or the outcome that refuses it before anything is tried; null for other effects. */
  locate?(effect: EffectOf<Kind>): string | EffectOutcome | null
  /** Ends what the provider keeps open for the run (processes, connections). Called once, also after a failure. */
  readonly close?: () => void | Promise<void>
}

/** A provider of the kinds that it names: its functions are given effects of these, and their types. */
export function provider<const Kind extends EffectKind>(own: Provider<Kind>): Provider {
  return own
}

/** Facts of a run for providers that keep state for it. */
export interface RunInfo {
  readonly runId: string
  readonly now: () => number
  /** When the run began, also for one that continues from a snapshot. */
  readonly startedAt: number
  /** What the lock file of the run says about tools of servers; absent or null in a run without one. */
  readonly pins?: PinnedTools | null
}

/** A provider shared by all runs, or a function that makes one for each run. */
export type ProviderSource = Provider | ((run: RunInfo) => Provider)

/** Those of a host; a function is called at the first effect of each run. */
export type ProviderSources = readonly ProviderSource[] | (() => readonly ProviderSource[])

/** One list after the other; later providers win. */
export function joinProviders(first: ProviderSources, second: ProviderSources): ProviderSources {
  if (typeof first !== 'function' && typeof second !== 'function') return [...first, ...second]
  return () => [...listSources(first), ...listSources(second)]
}

function listSources(sources: ProviderSources): readonly ProviderSource[] {
  return typeof sources === 'function' ? sources() : sources
}

export function answered(value: Plain): EffectOutcome {
  return { ok: true, value }
}

/** Fails the way `throw "message"` does. */
export function thrownError(message: string, value?: Plain): EffectOutcome {
  return { ok: false, error: value === undefined ? { kind: 'thrown', message } : { kind: 'thrown', message, value } }
}

export function runtimeError(message: string): EffectOutcome {
  return { ok: false, error: { kind: 'runtime', message } }
}

/** `code` for tool errors that are more precise than their category. */
export function categorizedError(category: string, message: string, code?: ToolErrorCode): EffectOutcome {
  return { ok: false, error: { kind: 'categorized', category, message, ...(code === undefined ? {} : { code }) } }
}

/** The world refused: a result, not an error. `detail` is what follows the colon in the messages scripts see. */
export function refused(code: string, detail: string, more: { readonly [key: string]: Plain } = {}): EffectOutcome {
  return { ok: true, value: { refused: true, code, detail, ...more } }
}

/** What something that was thrown says. Code of a host may throw anything: what cannot be asked has no message. */
export function describeCause(cause: unknown): string {
  try {
    return String(cause instanceof Error ? cause.message : cause)
  } catch {
    return 'something was thrown that cannot be shown'
  }
}

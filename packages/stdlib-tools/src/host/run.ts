// One run as its host holds it: events while it continues, a result that always resolves, snapshots, cancellation. The work is
// the driver's; this puts the providers of the run together and tells the host about it in the host's own data.

import { listenForAbort } from '../library/abort.js'
import type { UndoCall } from '../tools/dispatch/note-state.js'
import type { RunBranch } from '../tools/dispatch/branches.js'
import type { PieceListener } from '../agents/models/told-pieces.js'
import type { ReportListener } from '../library/logging/reports.js'
import { DEFAULT_LIMITS, EdgeError, PlainWalk, TooDeepError, makeRuntimeFault } from '@bridle/vm'
import type { Effect, Fault, Limits, MachineOptions, Plain, TraceEntry, Value } from '@bridle/vm'
import type { GrantCeiling } from '../tools/policy/grant-ceiling.js'
import type { HostBridge } from '../tools/executors/remote-host.js'
import { Cancellation } from './cancellation.js'
import { awaitNextTurn, systemClock } from '../library/time/host-clock.js'
import type { Clock } from '../library/time/host-clock.js'
import { Driver, appendTo } from './driver.js'
import { RunLeft } from './machine-driver.js'
import { ToolError } from '../tools/host-tools/errors.js'
import type { DriveEnd, DriveOptions, DriverState, RunDriver, StartFacts } from './machine-driver.js'
import type { AnswerEffect, ArrivedAnswer, BegunCalls, DrivenMachine, NextNumbers } from './machine.js'
import type { DryRunEntry } from './dry-run.js'
import { isToolError } from '../tools/host-tools/errors.js'
import { EventStream } from './events.js'
import type { RunEvent } from './events.js'
import { BudgetMeter } from '../tools/policy/host-budgets.js'
import type { Budgets } from '../tools/policy/host-budgets.js'
import type { ScriptTool } from '../tools/executors/index.js'
import type { PendingResults } from '../tools/executors/pending.js'
import type { RunAuthority } from './run-authority.js'
import { openServices, refuseUnprovided } from './run-services.js'
import type { Services } from './run-services.js'
import type { ManifestGuard } from './manifest-guard.js'
import { listToolSecrets } from './marked-secrets.js'
import { JOURNAL_FORMAT } from './journal-format.js'
import type { Journal } from './journal.js'
import type { HashHex } from './journal-trace.js'
import { withoutStd } from './modules.js'
import type { ProgramSources } from './modules.js'
import type { RandomSource } from './providers/basics.js'
import type { ProviderSources } from '../tools/executors/provider.js'
import type { CompiledSchema } from '../tools/host-tools/schema.js'
import type { Host } from '../tools/host-tools/host.js'
import { TraceRecorder } from './trace/recorder.js'
import type { TraceOptions } from './trace/recorder.js'
import { describeCause } from '../tools/executors/provider.js'

/** A script-level error that ended a run. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError'
  /** What `catch` would have bound. */
  readonly value: Plain
  /** Inner frame first. */
  readonly trace: readonly TraceEntry[]
  readonly fault: Fault

  /** `cause`: what was thrown in JavaScript, where the host or Bridle failed and not the script. */
  constructor(fault: Fault, cause?: unknown) {
    super(fault.text, cause === undefined ? undefined : { cause })
    this.fault = fault
    this.value = toPlain(fault.caught)
    this.trace = fault.trace ?? []
  }
}

interface Ended {
  /** Everything the run printed. */
  readonly output: string
  /** What a dry run did not do, in order; empty otherwise. */
  readonly wouldHaveDone: readonly DryRunEntry[]
}

/** `Output`: the type of the value, where the module was compiled with one. */
export type RunResult<Output = Plain> = Ended &
  (
    | { readonly status: 'done'; readonly value: Output; /** The value as the machine has it. */ readonly raw: Value }
    | { readonly status: 'failed'; readonly error: ScriptError }
    | { readonly status: 'limit'; readonly limit: keyof Limits; readonly message: string }
    | { readonly status: 'exit'; readonly code: number }
    | { readonly status: 'cancelled'; readonly reason: string }
  )

/** Notifications of a machine besides its exits; they do not influence it. */
export interface MachineListeners extends Pick<MachineOptions, 'trace' | 'spans'> {
  readonly report?: ReportListener
  readonly piece?: PieceListener
  /** Whether anybody keeps effects, or shows them; always when absent. */
  readonly keepsCalls?: () => boolean
}

/** What a run is made of; createRuntime and its methods put it together. */
export interface RunParts {
  readonly runId: string
  readonly program: { readonly hash: () => string; readonly label: string; readonly sources: ProgramSources }
  readonly machine: (answer: AnswerEffect, listeners: MachineListeners) => DrivenMachine
  readonly tracing?: TraceOptions | undefined
  /** For a resumed run: the state of calls that were begun before. */
  readonly begun?: BegunCalls | undefined
  readonly begin:
    | ({ readonly kind: 'start'; readonly input: Plain } & StartFacts)
    | { readonly kind: 'restored'; readonly arrived: readonly ArrivedAnswer[] }
  readonly input: Plain
  /** Where the run was continued from a snapshot, oldest first. */
  readonly branches: readonly RunBranch[]
  readonly host: Host
  readonly bridge?: HostBridge | undefined
  /** A function: they are made with the first effect. */
  readonly providers: ProviderSources
  /** Throws if the run needs kinds of effect without a provider. Providers are then created before the start. */
  readonly checkProviders?: (provided: ReadonlySet<string>) => void
  readonly authority: RunAuthority
  /** What the host allows of tools. */
  readonly ceiling: GrantCeiling
  /** Null: the run is not held to its manifest. */
  readonly guard: ManifestGuard | null
  readonly pendingResults: PendingResults
  /** Signs what answers from outside must show. */
  readonly mint: (token: string) => string
  readonly scripts: { readonly [name: string]: ScriptTool }
  readonly dryRun: boolean
  /** With their place among the scopes of the host. */
  readonly budgets: { readonly budgets: Budgets; readonly scope: number }
  readonly clock?: Clock | undefined
  readonly random?: RandomSource | undefined
  readonly trace?: ((name: string, attributes: unknown) => void) | undefined
  readonly journal?: Journal | undefined
  readonly hashHex?: HashHex | undefined
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  readonly onWaiting?: ((wait: Wait) => void) | undefined
  readonly onYield?: (() => void) | undefined
  /** Only `raw` of the result is needed: `value` is null, and nothing is converted. */
  readonly rawResult?: boolean | undefined
  /** What ints beyond ±2^53 are in the result. */
  readonly integers?: 'bigint' | 'number' | undefined
  /** What the result must be. */
  readonly output?: CompiledSchema | null
  /** Heap units of a run: what leaves and enters it at once is held to them, too. */
  readonly heapLimit?: number | undefined
  readonly holdFrom?: number | undefined
  readonly latency?: ((id: number) => Promise<void>) | undefined
  /** Another loop in the place of the driver: one whose calls and waits belong to what keeps the run. `pack` makes snapshots of it. */
  readonly drive?: ((options: DriveOptions, pack: (state: DriverState) => Uint8Array) => RunDriver) | undefined
  /** Output before the snapshot that the run continues from. */
  readonly outputBefore: string
  readonly dryRunBefore: readonly DryRunEntry[]
  /** When the run began, for one that continues; null for a fresh one. */
  readonly startedAt: number | null
  /** Calls tools that undo what was done; what could not be, as text. */
  readonly undo?: ((undos: readonly UndoCall[]) => Promise<string | null>) | undefined
  /** Wraps what the driver knows into the bytes of a snapshot. */
  readonly pack: (state: RunState, options: SnapshotOptions) => Uint8Array
}

/** What a run waits for. */
export interface Wait {
  /** Numbers of the calls that were made and not answered yet. */
  readonly pending: readonly number[]
  /** The earliest timer, milliseconds since 1970; null without one. */
  readonly wakeAt: number | null
}

export interface SnapshotOptions {
  /** `omit`: the module must be passed to `resume`, and the bytes contain only the state. Default `embed`. */
  readonly sources?: 'embed' | 'omit'
}

/** What a snapshot is made of, beside the program. */
export interface RunState {
  readonly machine: Uint8Array
  readonly next: NextNumbers
  readonly arrived: readonly ArrivedAnswer[]
  readonly begun: BegunCalls
  readonly startedAt: number
  readonly output: string
  readonly dryRun: readonly DryRunEntry[]
}

const TRACE_LOST = 'the trace of this run is required and cannot be written'

export class Run<Output = Plain> {
  readonly id: string
  /**
   * Resolves when the run has ended and everything it kept open is closed. What is thrown in JavaScript (a listener of the host, a bug)
   * is a failed run, whose error has it as its `cause`. Rejects only with a ToolError of the journal: `store_unavailable`, `journal_lease_lost`.
   */
  readonly result: Promise<RunResult<Output>>
  private readonly parts: RunParts
  private readonly stream = new EventStream()
  private readonly abort = new Cancellation()
  private readonly driver: RunDriver
  /** What answers effects: made for the first one, where no provider of the host begins with the run. */
  private services: Services | null
  private readonly entries: DryRunEntry[]
  private readonly startedAt: number
  private readonly clock: Clock
  private readonly recorder: TraceRecorder | null
  /** The remaining budgets of the start. */
  readonly budgets: BudgetMeter
  private text: string
  private isHeadLogged = false
  /** Why the run could not be kept, and does not begin; null: nothing stands against it. */
  private unkept: unknown = null

  constructor(parts: RunParts) {
    this.parts = parts
    this.id = parts.runId
    this.text = parts.outputBefore
    this.entries = [...parts.dryRunBefore]
    const clock = parts.clock ?? systemClock()
    this.startedAt = parts.startedAt ?? clock.now()
    this.clock = clock
    this.recorder =
      parts.tracing === undefined
        ? null
        : new TraceRecorder(
            parts.tracing,
            {
              runId: parts.runId,
              source: parts.program.sources.entry.text,
              label: parts.program.label,
              now: () => clock.now(),
              resumed: parts.begin.kind === 'restored',
            },
            (event) => {
              if (this.isWatched) this.emit({ type: 'trace', event })
            },
          )
    const { recorder } = this
    if (recorder !== null) recorder.onLost = () => this.abort.abort(new Error(TRACE_LOST))
    // A trace has to know what is secret before its first call.
    const isLate = typeof parts.providers === 'function' && recorder === null && parts.checkProviders === undefined
    this.services = isLate ? null : this.openServices()
    if (this.services !== null) refuseUnprovided(this.services, parts)
    const pack = (state: DriverState): Uint8Array => this.pack(state, { sources: 'omit' })
    const { journal, drive, holdFrom, dryRun } = parts
    const keepsAll = journal !== undefined || drive !== undefined || holdFrom !== undefined || dryRun || recorder !== null
    this.driver = (parts.drive ?? ((options) => new Driver(options)))(
      {
        machine: (answer) =>
          parts.machine(answer, {
            ...(recorder === null ? {} : recorder.makeListeners()),
            report: (report) => {
              if (this.isWatched) this.emit({ type: 'report', report })
            },
            piece: (piece) => {
              if (this.isWatched) this.emit({ type: 'model_delta', ...piece })
            },
            keepsCalls: () => keepsAll || this.isWatched || this.services === null || !this.services.answersTools,
          }),
        begin: parts.begin,
        authority: parts.authority,
        perform: (effect, call) => (this.services ??= this.openServices()).perform(effect, call),
        clock,
        runId: parts.runId,
        branches: parts.branches,
        journal: parts.journal,
        hashHex: parts.hashHex,
        signal: this.abort,
        holdFrom: parts.holdFrom,
        latency: parts.latency,
        heapLimit: parts.heapLimit,
        // Its record says when it began: a snapshot of it, and one of its replay, say the same.
        startAt: this.startedAt,
        pendingResults: parts.pendingResults,
        mint: parts.mint,
        begun: parts.begun,
        observer: {
          yielded: () => parts.onYield?.(),
          waiting: (pending, wakeAt) => parts.onWaiting?.({ pending, wakeAt }),
          output: (text) => {
            this.text += text
            this.emit({ type: 'output', text })
          },
          effect: (id, effect) => {
            if (this.isWatched) this.emit({ type: 'effect', id, kind: effect.kind, args: effect.args })
          },
          ...(recorder === null
            ? {}
            : { nested: (id, call) => recorder.intendNested(call, id, listToolSecrets(parts.host, call.tool)) }),
          outcome: (id, effect, outcome) => {
            if (this.isWatched)
              this.emit({
                type: 'outcome',
                id,
                kind: effect.kind,
                ok: outcome.ok,
                message: outcome.ok ? null : outcome.error.message,
              })
          },
        },
      },
      pack,
    )
    const { budgets, scope } = parts.budgets
    this.budgets = new BudgetMeter(budgets, scope, () => this.driver.budgetCounters())
    // Begins in a later turn, so that the caller can add listeners first.
    // The type of the value is what the module was compiled with.
    this.result = Promise.resolve().then(() => this.execute()) as Promise<RunResult<Output>>
    // A host that only listens to events must not die of an unhandled rejection; awaiting `result` still rejects.
    this.result.catch(() => {})
  }

  /** Everything that happens from now on; ends with the run. */
  events(): AsyncIterableIterator<RunEvent> {
    return this.stream.listen()
  }

  /** Text printed so far. */
  get output(): string {
    return this.text
  }

  /** `await using run = runtime.start(module)`: at the end of the block the run is cancelled and its resources are closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.cancel('the run was left')
    await this.result
  }

  /** Ends the run; effects in progress are aborted, processes and connections closed. */
  cancel(reason = 'cancelled by host'): void {
    this.abort.abort(new Error(reason))
  }

  /** Ends the run in this process only; another process can continue it. */
  release(reason: RunLeft): void {
    this.abort.abort(reason)
  }

  /** Calls that were made and not answered yet, in order; only between exits of the machine, as in `onWaiting`. */
  pendingCalls(): readonly { readonly id: number; readonly effect: Effect }[] {
    return this.driver.pendingCalls()
  }

  /** The whole run as bytes, at its present or next suspension; `runtime.resume` continues from them. The run itself continues too. */
  async snapshot(options: SnapshotOptions = {}): Promise<Uint8Array> {
    // At the same moment: until this function continues, the machine may have printed more.
    const { also, ...state } = await this.driver.snapshot(() => ({ output: this.text, dryRun: [...this.entries] }))
    return this.parts.pack({ ...state, startedAt: this.startedAt, ...also }, options)
  }

  /** Writes down that the run begins: it is kept when this returns. Raises what the journal raises. */
  keepStart(): void {
    try {
      this.logHead()
      this.driver.logStart()
    } catch (cause) {
      this.unkept = cause
      throw cause
    }
  }

  /** What tools asked to have undone when this run does not end well. */
  undos(): readonly UndoCall[] {
    return this.driver.undos()
  }

  /** A run that a store keeps is followed by another one instead. */
  private async undo(): Promise<void> {
    const { undo, drive, dryRun } = this.parts
    const undos = undo === undefined || drive !== undefined || dryRun ? [] : this.undos()
    if (undos.length === 0) return
    const problem = await undo!(undos)
    if (problem !== null) this.emit({ type: 'undo_failed', message: problem })
  }

  private pack(state: DriverState, options: SnapshotOptions): Uint8Array {
    return this.parts.pack({ ...state, startedAt: this.startedAt, output: this.text, dryRun: [...this.entries] }, options)
  }

  private get isWatched(): boolean {
    return this.parts.onEvent !== undefined || this.stream.isWatched
  }

  private emit(event: RunEvent): void {
    this.parts.onEvent?.(event)
    this.stream.emit(event)
  }

  private async execute(): Promise<RunResult> {
    const { signal, journal } = this.parts
    const ignore = listenForAbort(signal, () => this.abort.abort(signal?.reason))
    try {
      if (this.unkept !== null) throw this.unkept
      if (this.recorder?.isLost === true) this.abort.abort(new Error(TRACE_LOST))
      this.logHead()
      const end = await this.driver.run()
      const result = await this.makeResult(end)
      if (isUndone(end)) await this.undo()
      this.recorder?.end(result.status, findComplaint(result))
      if (this.recorder?.isLost === true)
        throw new ToolError('store_unavailable', `${TRACE_LOST}: ${describeCause(this.recorder.failure)}`, {
          cause: this.recorder.failure,
        })
      this.emit({ type: 'end', status: result.status })
      return result
    } catch (cause) {
      if (isToolError(cause) || cause instanceof RunLeft) throw cause
      const fault = makeRuntimeFault(`internal error: ${describeCause(cause)}`)
      return { ...this.describeEnded(), status: 'failed', error: new ScriptError(fault, cause) }
    } finally {
      ignore()
      await this.services?.close()
      this.stream.end()
      journal?.close?.()
    }
  }

  private logHead(): void {
    const { journal, runId, program, authority, branches, dryRun } = this.parts
    if (journal === undefined || this.isHeadLogged) return
    this.isHeadLogged = true
    // The hash is computed only here, because it loads a library that a plain run does not need.
    const head = { format: JOURNAL_FORMAT, runId, program: program.hash(), label: program.label }
    const sources = withoutStd(program.sources)
    const more = { sources, authority, ...(branches.length === 0 ? {} : { branches }), ...(dryRun ? { dryRun } : {}) }
    appendTo(journal, { type: 'run', ...head, ...more })
  }

  private openServices(): Services {
    const { recorder, entries, clock, startedAt } = this
    return openServices(this.parts, { recorder, entries, clock, startedAt, emit: (event) => this.emit(event) })
  }

  private describeEnded(): Ended {
    return { output: this.text, wouldHaveDone: this.entries }
  }

  private async makeResult(end: DriveEnd): Promise<RunResult> {
    const ended = this.describeEnded()
    switch (end.kind) {
      case 'done':
        return this.makeDoneResult(end.value)
      case 'failed':
        return { ...ended, status: 'failed', error: new ScriptError(end.fault) }
      case 'limit':
        return { ...ended, status: 'limit', limit: end.limit, message: end.message }
      case 'exit':
        return { ...ended, status: 'exit', code: end.code }
      case 'cancelled':
        return { ...ended, status: 'cancelled', reason: end.reason }
    }
  }

  /** The value as the schema of the program's result has it. */
  private async checked(result: Extract<RunResult, { readonly status: 'done' }>): Promise<RunResult> {
    const schema = this.parts.output ?? null
    if (schema === null) return result
    const found = await schema.check(result.value)
    // A schema may transform data to anything; its author knows the type.
    if (found.ok) return { ...result, value: found.value as Plain }
    const fault = makeRuntimeFault(`the result of ${this.parts.program.label} is not as declared: ${found.path}: ${found.reason}`)
    return { ...this.describeEnded(), status: 'failed', error: new ScriptError(fault) }
  }

  /** The value as the host's data, in pieces: it may be as large as the heap, and what is shared in it is copied each time. */
  private async makeDoneResult(raw: Value): Promise<RunResult> {
    const ended = this.describeEnded()
    if (this.parts.rawResult === true) return { ...ended, status: 'done', value: null, raw }
    try {
      const walk = new PlainWalk(raw, this.parts.heapLimit ?? DEFAULT_LIMITS.heap, {
        hasPrototype: true,
        integers: this.parts.integers ?? 'bigint',
      })
      while (!walk.step()) {
        await awaitNextTurn()
        if (this.abort.aborted) return { ...ended, status: 'cancelled', reason: describeCause(this.abort.reason) }
      }
      return await this.checked({ ...ended, status: 'done', value: walk.plain, raw })
    } catch (cause) {
      if (cause instanceof TooDeepError)
        return { ...ended, status: 'failed', error: new ScriptError(makeRuntimeFault(`the result is ${cause.message}`)) }
      if (!(cause instanceof EdgeError)) throw cause
      return { ...ended, status: 'limit', limit: 'heap', message: `out of memory: the result is ${cause.message}` }
    }
  }
}

function isUndone(end: DriveEnd): boolean {
  return end.kind !== 'done' && !(end.kind === 'exit' && end.code === 0)
}

/** What ended a run that did not end well. */
export function findComplaint(result: RunResult): string | null {
  switch (result.status) {
    case 'failed':
      return result.error.message
    case 'limit':
      return result.message
    case 'cancelled':
      return result.reason
    default:
      return null
  }
}

/** Host data of a thrown value; data that cannot be converted is reported as such. */
function toPlain(value: Value): Plain {
  try {
    const walk = new PlainWalk(value, MOST_THROWN, { hasPrototype: true })
    walk.step(Infinity)
    return walk.plain
  } catch (cause) {
    return `<${describeCause(cause)}>`
  }
}

/** Heap units of an error's value that a host is given; converting it holds the thread. */
const MOST_THROWN = 1 << 22

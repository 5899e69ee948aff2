// The only asynchronous loop: enters the machine, has its effects answered, waits for answers and timers, enters it again.
//
// The machine says what it wants through `answer` while it runs: an outcome given back at once is used at once, a promise
// becomes a pending effect. Answers of pending effects are delivered one at a time, in the order in which they arrived, each
// by one `resume`; a timer or the next slice is a `resume` without an answer. Everything that enters the machine is in the
// journal before the machine sees it. When the loop ends, for any reason, the signal passed to every effect aborts
// and the loop waits until all of them have settled: nothing outlives its run.

import { ValueWalk, makeRuntimeFault } from '@bridle/vm'
import type { Effect, EffectOutcome, Fault, RunExit, Value } from '@bridle/vm'
import type { CancelSignal } from './cancellation.js'
import { awaitNextTurn } from '../library/time/host-clock.js'
import type { Journal, JournalEntry } from './journal.js'
import { readNextNumbers } from './machine.js'
import { MachineDriver, NotSuspendedError } from './machine-driver.js'
import type { DriveEnd, DriveOptions, DriverState } from './machine-driver.js'
import { makeFailure } from './performer.js'
import { TraceHash } from './journal-trace.js'
import { isAnsweredOnce, isKeyToken } from '../tools/executors/completion-keys.js'
import { LATE, scopeToken } from '../tools/executors/pending.js'
import { describeCause, runtimeError } from '../tools/executors/provider.js'
import type { TokenLimit } from '../tools/executors/provider.js'
import { ToolError, isToolError } from '../tools/host-tools/errors.js'
import type { ToolOutcome } from '../tools/executors/outcome.js'
import { effectProblem } from '../library/effects/index.js'

/** Turns of the event loop that real answers get before virtual time moves on. */
const VIRTUAL_PATIENCE_TURNS = 50

export class Driver extends MachineDriver {
  /** Of calls that have no answer yet. */
  private readonly begun: Map<number, { askedAt: number; token: string | null }>
  /** When the machine was last entered. */
  private now = 0
  /** In order of being asked, with the answer once it arrived; an entry leaves when that is delivered. */
  private readonly pending = new Map<number, EffectOutcome | null>()
  /** Ids in order of arrival. */
  private readonly arrived: number[] = []
  private readonly underWay = new Set<Promise<void>>()
  private wake: (() => void) | null = null
  private isStartLogged = false
  private phase: 'new' | 'running' | 'ended' = 'new'
  /** What ends the run instead of its script. */
  private failure: Fault | null = null
  private snapshotWaiters: (() => void)[] = []
  /** The trace hash of the journal; null without one. */
  private readonly trace: TraceHash | null
  /** Printed so far, for the trace. */
  private output = ''

  constructor(options: DriveOptions) {
    super(options, { now: () => options.clock.now() })
    this.begun = new Map([...(options.begun ?? [])].map(([id, call]) => [id, { ...call }]))
    const { journal, hashHex } = options
    this.trace = journal === undefined || hashHex === undefined ? null : new TraceHash(hashHex)
  }

  protected get isEnded(): boolean {
    return this.phase === 'ended'
  }

  /** Records that a call waits for an outside answer, so that a resumed run does not repeat it. */
  protected async awaitOutside(id: number, token: string, signal: AbortSignal, limit: TokenLimit | null): Promise<ToolOutcome> {
    try {
      const call = this.begun.get(id)
      if (call?.token !== token) this.log({ type: 'token', id, token })
      if (call !== undefined) call.token = token
    } catch (cause) {
      this.fail(cause)
      throw cause
    }
    const { pendingResults } = this.options
    if (pendingResults === undefined) throw new Error('nobody can complete a tool of this run')
    if (!isKeyToken(token)) return pendingResults.wait(token, signal)
    const outcome = await this.awaitKey(token, limit?.dueAt ?? null)
    if (outcome !== LATE || limit === null) return outcome
    const { error, endsRun = false } = limit
    if (endsRun) {
      this.failure = makeRuntimeFault(`${error.code}: ${error.message}`)
      this.wake?.()
    }
    return { kind: 'failed', error }
  }

  protected awaitEvent(_id: number, token: string, dueAt: number | null): Promise<ToolOutcome> {
    return this.awaitKey(token, dueAt)
  }

  private async awaitKey(token: string, dueAt: number | null): Promise<ToolOutcome> {
    const { pendingResults, clock, runId } = this.options
    if (pendingResults === undefined) throw new Error('nobody can answer an event of this run')
    const done = new AbortController()
    const answer = pendingResults.wait(scopeToken(runId, token), done.signal)
    if (dueAt === null) return answer
    const late = clock.until(dueAt, done.signal).then((): ToolOutcome => LATE)
    try {
      const first = await Promise.race([answer, late])
      // Late answers are reported as such.
      if (first === LATE && isAnsweredOnce(token)) pendingResults.resolve(scopeToken(runId, token), LATE)
      return first
    } finally {
      done.abort()
    }
  }

  protected override fail(cause: unknown): void {
    super.fail(cause)
    this.wake?.()
  }

  protected override exit(code: number): void {
    super.exit(code)
    this.wake?.()
  }

  /** Records the start of the run before it begins, so that the caller knows that it is stored. */
  logStart(now: number = this.options.startAt ?? this.options.clock.now()): void {
    const { begin } = this.options
    if (begin.kind !== 'start') return
    const { input, globals, limits } = begin
    const more = { ...(globals === undefined ? {} : { globals }), ...(limits === undefined ? {} : { limits }) }
    this.log({ type: 'start', now, input, ...more })
    this.isStartLogged = true
  }

  /** Runs to the end. Rejects only for bugs and for a journal that cannot be written (ToolError `store_unavailable`). */
  async run(): Promise<DriveEnd> {
    if (this.phase !== 'new') throw new Error('a driver runs once')
    this.phase = 'running'
    const { signal } = this.options
    const onAbort = (): void => this.wake?.()
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      const end = await this.loop()
      this.performer.leaveNested()
      this.log({ type: 'end', kind: end.kind, ...(this.trace === null ? {} : { trace: this.trace.finish(this.output) }) })
      return end
    } finally {
      this.phase = 'ended'
      signal?.removeEventListener('abort', onAbort)
      const reason: unknown = signal?.aborted === true ? signal.reason : new Error('the run has ended')
      this.performer.abortAll(reason)
      await Promise.allSettled([...this.underWay])
      this.serveSnapshots()
    }
  }

  /**
   * The machine and what is under way, at its present or next suspension. Rejects with NotSuspendedError when the run ended
   * before that.
   */
  async snapshot<T>(also: () => T): Promise<DriverState & { readonly also: T }> {
    while (this.phase === 'new' || this.inMachine) await new Promise<void>((resolve) => this.snapshotWaiters.push(resolve))
    if (this.phase === 'ended') throw new NotSuspendedError('the run has ended; only a waiting run has a snapshot')
    const arrived = this.arrived.map((id) => ({ id, outcome: this.pending.get(id)! }))
    const begun = new Map([...this.begun].filter(([id]) => this.pending.get(id) === null))
    return { machine: this.machine.snapshot(), next: readNextNumbers(this.machine), arrived, begun, also: also() }
  }

  private async loop(): Promise<DriveEnd> {
    const { options } = this
    const input = options.begin.kind === 'start' ? new ValueWalk(options.begin.input) : null
    if (input !== null && !input.step()) await this.takeInput(input)
    let exit = this.begin(input?.value ?? null)
    for (;;) {
      if (exit.kind === 'suspended' || exit.kind === 'yielded') options.observer?.yielded?.()
      this.print(exit.output)
      options.observer?.exit?.(exit.kind)
      if (this.exitCode !== null) return { kind: 'exit', code: this.exitCode }
      if (this.failure !== null) return { kind: 'failed', fault: this.failure }
      switch (exit.kind) {
        case 'done':
          return { kind: 'done', value: exit.value }
        case 'failed':
          return { kind: 'failed', fault: exit.fault }
        case 'limit':
          return { kind: 'limit', limit: exit.limit, message: exit.message }
      }
      this.dropAbandoned()
      this.serveSnapshots()
      if (exit.kind === 'suspended') await this.waitFor(exit.wakeAt)
      else await awaitNextTurn()
      if (this.broken !== null) throw this.broken
      if (this.exitCode !== null) return { kind: 'exit', code: this.exitCode }
      if (this.failure !== null) return { kind: 'failed', fault: this.failure }
      if (options.signal?.aborted === true) return this.cancelDrive(options.signal)
      if (exit.kind === 'suspended' && this.isStuck(exit.wakeAt)) {
        return { kind: 'failed', fault: makeStuckFault() }
      }
      exit = this.resume()
    }
  }

  /** Makes a large input into values; a snapshot requested meanwhile waits, as for a running machine. */
  private async takeInput(walk: ValueWalk): Promise<void> {
    this.inMachine = true
    try {
      do await awaitNextTurn()
      while (this.options.signal?.aborted !== true && !walk.step())
    } finally {
      this.inMachine = false
    }
  }

  private begin(input: Value): RunExit {
    const { begin, clock, signal, startAt } = this.options
    if (signal?.aborted === true) return { kind: 'yielded', output: '', effects: [] }
    const now = (this.now = begin.kind === 'start' && startAt !== undefined ? startAt : clock.now())
    if (begin.kind === 'start') {
      if (!this.isStartLogged) this.logStart(now)
      return this.enter(() => this.machine.start(input, now))
    }
    const { authority } = this.options
    this.log({ type: 'restore', now, ...(authority === undefined ? {} : { authority }) })
    for (const { id, outcome } of begin.arrived) {
      this.pending.set(id, outcome)
      this.arrived.push(id)
    }
    for (const { id, effect } of this.machine.pendingEffects?.() ?? []) {
      if (this.pending.has(id) || this.isHeld(id)) continue
      this.log({ type: 'effect', id, kind: effect.kind, args: effect.args })
      // A snapshot may be from another version or forged, but providers rely on the types of the effect.
      const problem = effectProblem(effect)
      const result = problem === null ? this.perform(effect, id, true) : runtimeError(problem)
      if (result instanceof Promise) this.keepPending(id, effect, result)
      else {
        this.pending.set(id, result)
        this.arrived.push(id)
      }
    }
    return this.resume()
  }

  private resume(): RunExit {
    const now = (this.now = this.options.clock.now())
    const id = this.arrived.shift() ?? null
    const outcome = id === null ? null : this.pending.get(id)!
    if (id !== null) {
      this.pending.delete(id)
      this.begun.delete(id)
    }
    this.log({ type: 'resume', id, outcome, now })
    return this.enter(() => this.machine.resume(id === null ? null : { id, outcome: outcome! }, now))
  }

  protected answer(effect: Effect, id: number): EffectOutcome | null {
    if (this.isHeld(id)) return null
    if (this.isLogged) this.log({ type: 'effect', id, kind: effect.kind, args: effect.args })
    this.options.observer?.effect?.(id, effect)
    const result = this.perform(effect, id)
    if (result instanceof Promise) {
      this.keepPending(id, effect, result)
      return null
    }
    this.begun.delete(id)
    if (this.isLogged) this.log({ type: 'answer', id, outcome: result })
    this.options.observer?.outcome?.(id, effect, result)
    return result
  }

  private isHeld(id: number): boolean {
    if (id < (this.options.holdFrom ?? Infinity)) return false
    this.pending.set(id, null)
    return true
  }

  private perform(effect: Effect, id: number, isAgain = false): EffectOutcome | Promise<EffectOutcome> {
    const known = this.begun.get(id)
    if (known === undefined) this.begun.set(id, { askedAt: this.now, token: null })
    return this.performer.perform(effect, id, { askedAt: known?.askedAt ?? this.now, isAgain, waitsFor: known?.token ?? null })
  }

  /** Abandons effects whose task no longer waits: their signals abort, their answers are dropped. */
  private dropAbandoned(): void {
    if (this.pending.size === 0 || this.machine.pendingIds === undefined) return
    const wanted = new Set(this.machine.pendingIds())
    for (const id of [...this.pending.keys()]) {
      if (wanted.has(id)) continue
      this.pending.delete(id)
      this.begun.delete(id)
      this.performer.abort(id, new Error('nobody waits for this any more'))
      const at = this.arrived.indexOf(id)
      if (at >= 0) this.arrived.splice(at, 1)
    }
  }

  private keepPending(id: number, effect: Effect, result: Promise<EffectOutcome>): void {
    this.pending.set(id, null)
    const { latency } = this.options
    const answered = result.then(
      (outcome) => this.performer.check(effect, outcome),
      (cause: unknown) => makeFailure(effect, cause),
    )
    const settled = (latency === undefined ? answered : answered.then((outcome) => latency(id).then(() => outcome))).then(
      (outcome) => {
        this.underWay.delete(settled)
        this.performer.forget(id)
        if (this.phase === 'ended' || !this.pending.has(id)) return
        this.pending.set(id, outcome)
        this.arrived.push(id)
        this.options.observer?.outcome?.(id, effect, outcome)
        this.wake?.()
      },
    )
    this.underWay.add(settled)
  }

  /** Waits until an answer arrives, the time is reached, the run must exit, or it is cancelled. */
  private async waitFor(wakeAt: number | null): Promise<void> {
    const { clock, signal } = this.options
    const mustWait = (): boolean =>
      this.arrived.length === 0 &&
      this.exitCode === null &&
      this.failure === null &&
      this.broken === null &&
      signal?.aborted !== true
    if (clock.virtual) {
      // An answer that is being checked counts as arrived.
      for (
        let turn = 0;
        turn < VIRTUAL_PATIENCE_TURNS && this.pending.size > 0 && mustWait();
        turn += this.performer.isChecking ? 0 : 1
      )
        await awaitNextTurn()
    }
    if (!mustWait() || (this.isStuck(wakeAt) && this.exitCode === null)) return
    this.options.observer?.waiting?.([...this.pending.keys()], wakeAt)
    const arrival = new Promise<void>((resolve) => {
      this.wake = resolve
    })
    const woken = wakeAt === null ? null : new AbortController()
    try {
      await (woken === null ? arrival : Promise.race([arrival, clock.until(wakeAt!, woken.signal)]))
    } finally {
      this.wake = null
      woken?.abort()
    }
  }

  /** No answer is here or under way and no timer runs: waiting would last forever. */
  private isStuck(wakeAt: number | null): boolean {
    return wakeAt === null && this.arrived.length === 0 && this.pending.size === 0
  }

  private cancelDrive(signal: CancelSignal): DriveEnd {
    const reason = signal.reason === undefined ? 'cancelled' : describeCause(signal.reason)
    this.log({ type: 'cancel', reason, now: this.options.clock.now() })
    this.print(this.machine.cancel?.(reason).output ?? '')
    return { kind: 'cancelled', reason }
  }

  /** Whether the run is recorded; if not, no journal entries are built. */
  private get isLogged(): boolean {
    return this.options.journal !== undefined || this.trace !== null
  }

  protected log(entry: JournalEntry): void {
    this.trace?.add(entry)
    if (this.options.journal !== undefined) appendTo(this.options.journal, entry)
  }

  private print(text: string): void {
    if (text === '') return
    if (this.trace !== null) this.output += text
    this.options.observer?.output?.(text)
  }

  private serveSnapshots(): void {
    const waiters = this.snapshotWaiters
    this.snapshotWaiters = []
    for (const resolve of waiters) resolve()
  }
}

/** How a run ends whose tasks all wait for each other. */
export function makeStuckFault(): Fault {
  return makeRuntimeFault('deadlock: every task is waiting and nothing can wake one')
}

/**
 * Raises ToolError `store_unavailable` when it cannot be written. An effect is recorded before it is performed, so no effect has happened
 * that is not in the journal.
 */
export function appendTo(journal: Journal, entry: JournalEntry): void {
  try {
    journal.append(entry)
  } catch (cause) {
    if (isToolError(cause)) throw cause
    throw new ToolError('store_unavailable', `the journal cannot be written: ${describeCause(cause)}`, { cause })
  }
}

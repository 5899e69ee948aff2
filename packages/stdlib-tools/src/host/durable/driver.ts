// The loop of a durable run. As the plain driver (driver.ts of this room) it enters the machine, has effects answered and enters it again;
// but every call, timer and wait is a handle of its DurableHost, and the order in which they come is the host's choice, which it can repeat.
//
// Output commit: uncommitted steps may be lost and happen differently the next time, so no irreversible effect may follow from them.
// The host holds back each call that is not a read until everything that entered the run is kept; reads, time and output wait for nothing.

import { listenForAbort } from '../../library/abort.js'
import { ValueWalk, makeRuntimeFault } from '@bridle/vm'
import type { Effect, EffectOutcome, RunExit } from '@bridle/vm'
import { awaitNextTurn } from '../../library/time/host-clock.js'
import type { ToolOutcome } from '../../tools/executors/outcome.js'
import { isAnsweredOnce, isKeyToken } from '../../tools/executors/completion-keys.js'
import { LATE } from '../../tools/executors/pending.js'
import { describeCause, runtimeError } from '../../tools/executors/provider.js'
import type { TokenLimit } from '../../tools/executors/provider.js'
import { ToolError } from '../../tools/host-tools/errors.js'
import { effectProblem } from '../../library/effects/index.js'
import { makeStuckFault } from '../driver.js'
import { MachineDriver } from '../machine-driver.js'
import type { DriveEnd, DriveOptions, DriverState } from '../machine-driver.js'
import { readNextNumbers } from '../machine.js'
import type { ArrivedAnswer, BegunCall, BegunCalls } from '../machine.js'
import type { JournalEntry } from '../journal.js'
import { makeFailure } from '../performer.js'
import { CANCEL_TOKEN, RunParked, RunReleased } from './host.js'
import type { AwaitedToken, CallMode, DurableHost, Settled } from './host.js'
import { decodeAnswer } from './answers.js'
import { readCancelWatch } from './provider.js'

export interface DurablePolicy {
  /** How a call is made. */
  readonly judge: (effect: Effect) => CallMode
  /** For a resumed run: the time limits of tokens that it waits for. */
  readonly limits?: ReadonlyMap<number, TokenLimit>
  /** The whole run as bytes; `state` is the state of the driver. */
  readonly pack: (state: DriverState) => Uint8Array
  /** The answer for a call with an unknown outcome. */
  readonly unknown: (id: number, effect: Effect) => EffectOutcome
}

/** Answered at once and alike every time, for hosts that keep no journal. */
const ALIKE: ReadonlySet<Effect['kind']> = new Set(['clock.now', 'clock.monotonic', 'trace.emit', 'terminal.write'])

interface PendingCall<H> {
  readonly effect: Effect
  handle: H | null
  /** The time when its token is no longer awaited. */
  late: H | null
}

type Next =
  | { readonly kind: 'answer'; readonly id: number; readonly outcome: EffectOutcome }
  | { readonly kind: 'time' }
  | { readonly kind: 'end'; readonly end: DriveEnd }

/** Code of a tool that waits for an answer from outside, or for a time. */
interface EventWait<H> {
  readonly id: number
  readonly token: string
  readonly dueAt: number | null
  handle: H
  late: H | null
  readonly settle: (outcome: ToolOutcome) => void
}

/** Raised by a call that waits for an outside answer. */
class ParkedOn extends Error {
  readonly token: string
  readonly limit: TokenLimit | null

  constructor(token: string, limit: TokenLimit | null) {
    super(`waits for ${token}`)
    this.token = token
    this.limit = limit
  }
}

export class DurableDriver<H> extends MachineDriver {
  private readonly host: DurableHost<H>
  private readonly policy: DurablePolicy
  /** In order of being asked. */
  private readonly pending = new Map<number, PendingCall<H>>()
  private readonly arrived: ArrivedAnswer[] = []
  private readonly tokens = new Map<number, AwaitedToken>()
  /** Answers from outside, on their way through the provider. */
  private readonly resolved = new Map<number, ToolOutcome>()
  private readonly begun: Map<number, BegunCall>
  private readonly events = new Set<EventWait<H>>()
  /** Settles when something relevant to a wait has changed; null if the host has no such handles. */
  private change: { readonly handle: H; readonly settle: () => void } | null = null
  private cancelHandle: H | null = null
  /** The run is cancelled, and undoes what it did before it ends. */
  private cancelReason: string | null = null
  private timer: { readonly at: number; readonly handle: H } | null = null
  private steps = 0
  protected isEnded = false
  private interrupt: () => void = () => {}

  constructor(options: DriveOptions, host: DurableHost<H>, policy: DurablePolicy) {
    super(options, {
      now: () => host.now(),
      keepsNested: host.note !== undefined,
      ...(host.kept === undefined ? {} : { kept: () => host.kept!() }),
    })
    this.host = host
    this.policy = policy
    this.begun = new Map(options.begun)
  }

  /** A restarted call finds the stored answer; any other is parked. */
  protected awaitOutside(id: number, token: string, _signal: AbortSignal, limit: TokenLimit | null): Promise<ToolOutcome> {
    const outcome = this.resolved.get(id)
    if (outcome !== undefined) return Promise.resolve(outcome)
    if (token === CANCEL_TOKEN) return Promise.reject(new Error(`the token ${JSON.stringify(token)} is not for tools`))
    return Promise.reject(new ParkedOn(token, limit))
  }

  protected awaitEvent(id: number, token: string, dueAt: number | null): Promise<ToolOutcome> {
    if (this.host.local === undefined)
      return Promise.reject(
        new ToolError('await_event_unsupported', 'tools of this engine cannot wait: return pending() instead'),
      )
    return new Promise((settle) => {
      const handle = this.host.promise(token, id)
      this.events.add({ id, token, dueAt, handle, late: dueAt === null ? null : this.host.timer(dueAt), settle })
      this.changed()
    })
  }

  protected override changed(): void {
    this.change?.settle()
  }

  logStart(): void {
    // The start of the run was stored by `submit`.
  }

  /** Rejects with RunParked, RunReleased, and what the host raises. */
  async run(): Promise<DriveEnd> {
    const { signal } = this.options
    const interrupted = new Promise<null>((resolve) => {
      this.interrupt = () => resolve(null)
    })
    const ignore = listenForAbort(signal, this.interrupt)
    try {
      const ended = await this.loop(interrupted)
      const end: DriveEnd = this.cancelReason === null ? ended : { kind: 'cancelled', reason: this.cancelReason }
      this.performer.leaveNested()
      this.log({ type: 'end', kind: end.kind })
      return end
    } finally {
      this.isEnded = true
      ignore()
      this.performer.abortAll(signal?.aborted === true ? signal.reason : new Error('the run has ended'))
    }
  }

  snapshot<T>(also: () => T): Promise<DriverState & { readonly also: T }> {
    return Promise.resolve({ ...this.readState(), also: also() })
  }

  private readState(): DriverState {
    const { machine, arrived } = this
    const begun: BegunCalls = new Map([...this.begun].filter(([id]) => this.pending.has(id)))
    return { machine: machine.snapshot(), next: readNextNumbers(machine), arrived: [...arrived], begun }
  }

  private async loop(interrupted: Promise<null>): Promise<DriveEnd> {
    const { observer, signal } = this.options
    let exit = await this.begin()
    for (;;) {
      if (exit.kind === 'suspended' || exit.kind === 'yielded') observer?.yielded?.()
      if (exit.output !== '') observer?.output?.(exit.output)
      observer?.exit?.(exit.kind)
      if (this.exitCode !== null) return { kind: 'exit', code: this.exitCode }
      switch (exit.kind) {
        case 'done':
          return { kind: 'done', value: exit.value }
        case 'failed':
          return { kind: 'failed', fault: exit.fault }
        case 'limit':
          return { kind: 'limit', limit: exit.limit, message: exit.message }
        case 'yielded':
          await awaitNextTurn()
          this.checkGoesOn()
          if (signal?.aborted === true) return this.cancel(describeCause(signal.reason))
          exit = this.resume(null)
          continue
      }
      this.dropAbandoned()
      const next = await this.next(exit.wakeAt, interrupted)
      if (next.kind === 'end') return next.end
      exit = this.resume(next.kind === 'answer' ? next : null)
    }
  }

  /** Raises what keeps the run from going on here. */
  private checkGoesOn(): void {
    if (this.broken !== null) throw this.broken
    const { signal } = this.options
    if (signal?.aborted === true && signal.reason instanceof RunReleased) throw signal.reason
  }

  private async begin(): Promise<RunExit> {
    const { begin, authority } = this.options
    if (begin.kind === 'start') {
      const { input, globals, limits } = begin
      const more = { ...(globals === undefined ? {} : { globals }), ...(limits === undefined ? {} : { limits }) }
      this.log({ type: 'start', now: this.host.now(), input, ...more })
      const walk = new ValueWalk(input)
      while (!walk.step()) await awaitNextTurn()
      this.checkGoesOn()
      return this.enter(() => this.machine.start(walk.value, this.host.now()))
    }
    this.log({ type: 'restore', now: this.host.now(), ...(authority === undefined ? {} : { authority }) })
    const known = new Map(begin.arrived.map((each) => [each.id, each]))
    for (const { id, effect } of this.machine.pendingEffects?.() ?? []) {
      this.pending.set(id, { effect, handle: null, late: null })
      const before = this.begun.get(id)
      const answer = known.get(id)
      if (answer !== undefined) this.arrived.push(answer)
      else if (before !== undefined && before.token !== null) {
        this.awaitToken(id, { token: before.token, limit: this.policy.limits?.get(id) ?? null })
      } else {
        this.log({ type: 'effect', id, kind: effect.kind, args: effect.args })
        // A snapshot may be from another version or forged, but providers rely on the types of the effect.
        const problem = effectProblem(effect)
        if (problem === null) this.ask(effect, id, before !== undefined)
        else this.arrived.push({ id, outcome: runtimeError(problem) })
      }
    }
    // In order of arrival, which is not that of the calls.
    const order = new Map(begin.arrived.map(({ id }, at) => [id, at]))
    this.arrived.sort((a, b) => (order.get(a.id) ?? Infinity) - (order.get(b.id) ?? Infinity))
    return this.resume(this.takeArrived())
  }

  private takeArrived(): ArrivedAnswer | null {
    const answer = this.arrived.shift() ?? null
    if (answer !== null) this.settled(answer.id)
    return answer
  }

  private settled(id: number): void {
    const call = this.pending.get(id)
    for (const handle of [call?.handle, call?.late]) if (handle != null) this.host.drop?.(handle)
    this.pending.delete(id)
    this.begun.delete(id)
    this.tokens.delete(id)
    this.resolved.delete(id)
    for (const wait of this.events) if (wait.id === id) this.leave(wait)
    this.performer.forget(id)
  }

  private resume(answer: ArrivedAnswer | null): RunExit {
    const now = this.host.now()
    this.log({ type: 'resume', id: answer?.id ?? null, outcome: answer?.outcome ?? null, now })
    if (answer !== null) this.performer.carryOutIntents(answer.id)
    return this.enter(() => this.machine.resume(answer === null ? null : { id: answer.id, outcome: answer.outcome }, now))
  }

  protected answer(effect: Effect, id: number): EffectOutcome | null {
    this.options.observer?.effect?.(id, effect)
    this.log({ type: 'effect', id, kind: effect.kind, args: effect.args })
    const mode = this.policy.judge(effect)
    const isRead = this.host.note === undefined ? ALIKE.has(effect.kind) : mode === 'read'
    if (!isRead) {
      this.pending.set(id, { effect, handle: null, late: null })
      this.ask(effect, id, false)
      return null
    }
    const result = this.performer.perform(effect, id, { askedAt: this.host.now() })
    if (!(result instanceof Promise)) {
      this.log({ type: 'answer', id, outcome: result })
      this.performer.carryOutIntents(id)
      this.options.observer?.outcome?.(id, effect, result)
      return result
    }
    this.pending.set(id, { effect, handle: null, late: null })
    this.hand(effect, id, mode, () => result)
    return null
  }

  private ask(effect: Effect, id: number, isAgain: boolean): void {
    // Without a handle it is held back; the process that continues the run requests it.
    if (this.isFull && !isAgain) return
    const askedAt = this.begun.get(id)?.askedAt ?? this.host.now()
    this.begun.set(id, { askedAt, token: null })
    this.hand(effect, id, this.policy.judge(effect), (isRepeated) =>
      this.performer.perform(effect, id, { askedAt, isAgain: isAgain || isRepeated }),
    )
  }

  private hand(
    effect: Effect,
    id: number,
    mode: CallMode,
    work: (isRepeated: boolean) => EffectOutcome | Promise<EffectOutcome>,
  ): void {
    this.steps++
    if (!this.begun.has(id)) this.begun.set(id, { askedAt: this.host.now(), token: null })
    const { tool } = effect.args as { readonly tool?: unknown }
    const name = typeof tool === 'string' ? `${effect.kind} ${tool}` : effect.kind
    const { latency } = this.options
    this.pending.get(id)!.handle = this.host.call({ id, name, effect, mode }, async (isRepeated = false) => {
      const settled = await this.carryOut(effect, id, () => work(isRepeated))
      if (latency !== undefined) await latency(id)
      return settled
    })
  }

  private async carryOut(effect: Effect, id: number, work: () => EffectOutcome | Promise<EffectOutcome>): Promise<Settled> {
    try {
      const result = work()
      const outcome = result instanceof Promise ? await this.performer.check(effect, await result) : result
      if (this.exitCode !== null) return { kind: 'exit', code: this.exitCode }
      this.options.observer?.outcome?.(id, effect, outcome)
      return { kind: 'outcome', outcome }
    } catch (cause) {
      if (cause instanceof ParkedOn) return { kind: 'parked', token: cause.token, limit: cause.limit }
      return { kind: 'outcome', outcome: makeFailure(effect, cause) }
    }
  }

  private awaitToken(id: number, awaited: AwaitedToken): void {
    const call = this.pending.get(id)!
    this.tokens.set(id, awaited)
    this.begun.set(id, { askedAt: this.begun.get(id)?.askedAt ?? this.host.now(), token: awaited.token })
    call.handle = this.host.promise(awaited.token, id)
    call.late = awaited.limit === null ? null : this.host.timer(awaited.limit.dueAt)
  }

  private async next(wakeAt: number | null, interrupted: Promise<null>): Promise<Next> {
    const { signal, observer } = this.options
    for (;;) {
      this.checkGoesOn()
      if (signal?.aborted === true) return this.end(this.cancel(describeCause(signal.reason)))
      if (this.exitCode !== null) return this.end({ kind: 'exit', code: this.exitCode })
      const here = this.takeArrived()
      if (here !== null) return { kind: 'answer', ...here }
      if (this.pending.size === 0 && wakeAt === null) return this.end({ kind: 'failed', fault: makeStuckFault() })
      if (wakeAt !== null && wakeAt <= this.host.now()) return { kind: 'time' }
      // Before the run is parked: it may be cancelled already.
      if (this.cancelReason === null) this.cancelHandle ??= this.host.promise(CANCEL_TOKEN, 0)
      if (await this.park(wakeAt)) throw new RunParked()
      this.checkGoesOn()
      if (wakeAt !== null && this.timer?.at !== wakeAt) this.timer = { at: wakeAt, handle: this.host.timer(wakeAt) }
      observer?.waiting?.([...this.pending.keys()], wakeAt)
      const sources: {
        readonly kind: 'cancel' | 'call' | 'late' | 'time' | 'event' | 'event_late' | 'change'
        readonly id: number
        readonly handle: H
      }[] = this.cancelReason === null ? [{ kind: 'cancel', id: 0, handle: this.cancelHandle! }] : []
      for (const [id, { handle, late }] of this.pending) {
        if (handle !== null) sources.push({ kind: 'call', id, handle })
        if (late !== null) sources.push({ kind: 'late', id, handle: late })
      }
      const waits = [...this.events]
      for (const [at, { handle, late }] of waits.entries()) {
        sources.push({ kind: 'event', id: at, handle })
        if (late !== null) sources.push({ kind: 'event_late', id: at, handle: late })
      }
      this.change = this.host.local?.() ?? null
      if (this.change !== null) sources.push({ kind: 'change', id: 0, handle: this.change.handle })
      if (wakeAt !== null) sources.push({ kind: 'time', id: 0, handle: this.timer!.handle })
      const found = await Promise.race([this.host.first(sources.map(({ handle }) => handle)), interrupted])
      if (found === null) continue
      const source = sources[found.at]!
      if (source.kind === 'change') continue
      if (source.kind === 'event' || source.kind === 'event_late') {
        this.settleEvent(waits[source.id]!, source.kind === 'event_late' ? null : found.value)
        continue
      }
      if (source.kind === 'cancel') {
        const answer = this.tellCancel(decodeReason(found.value))
        if (answer !== null) return answer
        continue
      }
      if (source.kind === 'time') {
        this.timer = null
        return { kind: 'time' }
      }
      const limit = source.kind === 'late' ? this.tokens.get(source.id)?.limit : null
      if (limit?.endsRun === true) {
        const { code, message } = limit.error
        return this.end({ kind: 'failed', fault: makeRuntimeFault(`${code}: ${message}`) })
      }
      if (source.kind === 'late') this.closeToken(this.tokens.get(source.id)!.token)
      const answer = await this.settle(source.id, source.kind === 'late' ? 'late' : found.value)
      if (answer !== null) return answer
    }
  }

  private get isFull(): boolean {
    return this.host.mostSteps !== undefined && this.steps >= this.host.mostSteps
  }

  /** A script with undo code is notified and continues; any other run ends. Null: it was notified before and is still undoing. */
  private tellCancel(reason: string): Next | null {
    const watches = [...this.pending].map(([id, { effect }]) => [id, readCancelWatch(effect)] as const)
    const [waiting] = watches.find(([, kind]) => kind === 'await') ?? []
    if (waiting === undefined && watches.every(([, kind]) => kind !== 'hold')) return this.end(this.cancel(reason))
    this.cancelReason = reason
    if (waiting === undefined) return null
    this.settled(waiting)
    return { kind: 'answer', id: waiting, outcome: { ok: true, value: { value: reason } } }
  }

  private end(end: DriveEnd): Next {
    return { kind: 'end', end }
  }

  private park(wakeAt: number | null): Promise<boolean> {
    if (this.host.park === undefined) return Promise.resolve(false)
    let earliest = wakeAt
    for (const { limit } of this.tokens.values())
      if (limit !== null && (earliest === null || limit.dueAt < earliest)) earliest = limit.dueAt
    const events = [...this.events].filter(({ id }) => this.pending.has(id))
    for (const { dueAt } of events) if (dueAt !== null && (earliest === null || dueAt < earliest)) earliest = dueAt
    const waiting = new Set(events.map(({ id }) => id))
    const isIdle = [...this.pending].every(
      ([id, { effect, handle }]) =>
        this.tokens.has(id) ||
        readCancelWatch(effect) !== null ||
        (handle === null && this.isFull) ||
        (waiting.has(id) && this.mayLeave(id, effect)),
    )
    const snapshot = (): Uint8Array => this.policy.pack(this.readState())
    const awaited = events.map(({ token }) => ({ token, limit: null }))
    // A run that handles its cancellation is not ended by the cancellation itself.
    if (this.undos().length > 0 || [...this.pending.values()].some(({ effect }) => readCancelWatch(effect) !== null))
      awaited.push({ token: CANCEL_TOKEN, limit: null })
    const { tokens, steps, isFull } = this
    return this.host.park({ tokens, events: awaited, wakeAt: earliest, steps, isIdle, isFull, snapshot })
  }

  /** Whether its code may be abandoned while it waits: it is called again elsewhere, and does nothing else at the moment. */
  private mayLeave(id: number, effect: Effect): boolean {
    return this.performer.countOpenNotes(id) === 0 && this.policy.judge(effect) !== 'once'
  }

  /** A late signal is kept for the next receiver. */
  private closeToken(token: string): void {
    if (isAnsweredOnce(token) || !isKeyToken(token)) this.host.close?.(token)
  }

  private leave(wait: EventWait<H>): void {
    this.events.delete(wait)
    this.host.drop?.(wait.handle)
    if (wait.late !== null) this.host.drop?.(wait.late)
  }

  /** Null: no answer in time. */
  private settleEvent(wait: EventWait<H>, value: Settled | string | null): void {
    this.leave(wait)
    if (value === null) this.closeToken(wait.token)
    wait.settle(typeof value === 'string' ? decodeAnswer(value) : LATE)
  }

  /** Null if the call now waits for an outside answer. */
  private async settle(id: number, value: Settled | string | null): Promise<Next | null> {
    const call = this.pending.get(id)
    // Abandoned while it was on its way.
    if (call === undefined) return null
    const { effect } = call
    if (typeof value === 'string') {
      const awaited = this.tokens.get(id)!
      // A late answer is dropped.
      this.resolved.set(id, value === 'late' ? { kind: 'failed', error: awaited.limit!.error } : decodeAnswer(value))
      const facts = { askedAt: this.begun.get(id)!.askedAt, isAgain: true, waitsFor: awaited.token }
      const settled = await this.carryOut(effect, id, () => this.performer.perform(effect, id, facts))
      return this.settle(id, settled.kind === 'parked' ? { kind: 'unknown' } : settled)
    }
    switch (value?.kind) {
      case 'outcome':
        this.settled(id)
        return { kind: 'answer', id, outcome: value.outcome }
      case 'exit':
        return this.end({ kind: 'exit', code: value.code })
      case 'parked':
        this.log({ type: 'token', id, token: value.token, ...(value.limit === null ? {} : { limit: value.limit }) })
        this.awaitToken(id, value)
        return null
      default:
        this.settled(id)
        return { kind: 'answer', id, outcome: this.policy.unknown(id, effect) }
    }
  }

  /** Abandons effects whose task no longer waits: their signals abort, their answers are dropped. */
  private dropAbandoned(): void {
    if (this.pending.size === 0 || this.machine.pendingIds === undefined) return
    const wanted = new Set(this.machine.pendingIds())
    for (const id of [...this.pending.keys()]) {
      if (wanted.has(id)) continue
      this.performer.abort(id, new Error('nobody waits for this any more'))
      this.settled(id)
      const at = this.arrived.findIndex((each) => each.id === id)
      if (at >= 0) this.arrived.splice(at, 1)
    }
  }

  private cancel(reason: string): DriveEnd {
    this.log({ type: 'cancel', reason, now: this.host.now() })
    const output = this.machine.cancel?.(reason).output ?? ''
    if (output !== '') this.options.observer?.output?.(output)
    return { kind: 'cancelled', reason }
  }

  protected log(entry: JournalEntry): void {
    this.host.note?.(entry)
  }

  protected override fail(cause: unknown): void {
    super.fail(cause)
    this.interrupt()
  }
}

function decodeReason(value: Settled | string | null): string {
  return typeof value === 'string' ? value : 'cancelled'
}

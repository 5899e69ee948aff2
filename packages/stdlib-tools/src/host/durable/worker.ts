// A worker: takes runs that can continue from a store, drives each to the place where it waits or ends, and parks it there. Any number of them, in
// any number of processes, work on one store. Nothing that goes wrong here loses a run: what this worker cannot keep or cannot continue with is
// given back, or reported as stuck.

import type { Effect, Plain, Value } from '@bridle/vm'
import { awaitNextTurn, systemClock } from '../../library/time/host-clock.js'
import type { Clock } from '../../library/time/host-clock.js'
import { describeCause } from '../../tools/executors/provider.js'
import type { TokenLimit } from '../../tools/executors/provider.js'
import { isToolError } from '../../tools/host-tools/errors.js'
import { plainFromHost } from '../../tools/host-tools/edge.js'
import { EFFECTS } from '../../library/effects/index.js'
import { plainFromJson } from '../journal-codec.js'
import { LONGEST_TIMER_MS } from '../../library/time/host-clock.js'
import type { Module } from '../module.js'
import type { Run, RunParts } from '../run.js'
import type { StartOptions } from '../runtime-options.js'
import type { RunAuthority } from '../run-authority.js'
import type { Runtime } from '../runtime.js'
import { asksForFact, mayRepeat } from '../runs/worker.js'
import type { UnknownCall, UnknownDecision } from '../runs/worker.js'
import { SIGNAL_TOKEN, describeResolution, mintKey, readKey } from '../../tools/executors/completion-keys.js'
import type { KeyRing, Resolution, Resolved } from '../../tools/executors/completion-keys.js'
import { decodeAnswer, encodeAnswer } from './answers.js'
import { DurableDriver } from './driver.js'
import { RunParked, RunReleased } from './host.js'
import type { CallMode } from './host.js'
import { makeRunLink } from './link.js'
import { migrateRun } from './migrate.js'
import type { Migration } from './migrate.js'
import { answerUnknown } from './pieces.js'
import { summarizeEnd, summarizeResult } from './ended.js'
import type { EndedRun } from './ended.js'
import { isUndone, makeUndoRun, readHeadAuthority } from './undo.js'
import type { UndoCall } from '../../tools/dispatch/note-state.js'
import { renameSnapshot } from '../snapshot.js'
import { Processes } from './processes.js'
import type { SubmitOptions } from './submit-options.js'
import { Pacer } from './quotas.js'
import type { ToolLimit } from './quotas.js'
import { StoreHost } from './store-host.js'
import { WorkerFenced } from './store.js'
import type { DurableStore, LinkedChange, StoreWorker, TakenRun } from './store.js'

export interface DurableWorkerOptions {
  readonly store: DurableStore
  readonly runtime: Runtime
  /** For people. */
  readonly name?: string
  readonly clock?: Clock
  /** Runs in memory at once; 1,000 when absent. */
  readonly capacity?: number
  /** And of one tenant; as many as there is room for when absent. */
  readonly perTenant?: number
  /** Time without a heartbeat after which other workers take over its runs; default 10 s. */
  readonly leaseMs?: number
  /** How often is looked for changes by other processes; 5 ms when absent. */
  readonly pollMs?: number
  /** Waits for timers that are shorter stay in memory; 50 ms when absent. */
  readonly keepMs?: number
  /** After this many calls the journal is replaced by a snapshot; 200 when absent. */
  readonly checkpointAfter?: number
  /** What calls of a tool may use, by its name; further ones wait. */
  readonly toolLimits?: { readonly [tool: string]: ToolLimit }
  /** For metrics (`otelRuns`). */
  readonly onMetric?: (metric: WorkerMetric) => void
  /** Works on this run only. */
  readonly only?: string
  /** The exit status of a run that ended well; 0 when absent. */
  readonly readStatus?: (value: Value) => number
  readonly onUnknownOutcome?: (call: UnknownCall) => UnknownDecision
  /** What each run is started with here, beside what it was submitted with. */
  readonly start?: (runId: string) => Pick<StartOptions, 'onEvent' | 'providers' | 'bridge' | 'latency' | 'tier'>
  readonly onEnd?: (ended: EndedRun) => void
  readonly onParked?: (runId: string) => void
  readonly onStuck?: (runId: string, reason: string) => void
  /** The store fails, or the worker lost its lease; it keeps trying. */
  readonly onError?: (cause: unknown) => void
}

/** What a worker measures: how long a run was ready before it was taken, refused commits, calls with an unknown outcome. */
export type WorkerMetric =
  | { readonly kind: 'queued'; readonly tenant: string; readonly ms: number }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'unknown_outcome'; readonly tool: string }

interface ActiveRun {
  readonly tenant: string
  readonly host: StoreHost
  readonly release: (reason: RunReleased) => void
  readonly done: Promise<void>
}

/** Runs that are begun in one turn of the event loop, when many are taken at once. */
const LAUNCHES_A_TURN = 16
const TAKEN_AT_ONCE = 200
/** Turns of the event loop that real answers get before virtual time moves on. */
const VIRTUAL_PATIENCE_TURNS = 50
const MOST_PATIENCE_MS = 2000

export class DurableWorker {
  private readonly options: DurableWorkerOptions
  private readonly clock: Clock
  private readonly running = new Map<string, ActiveRun>()
  /** Runs that the store assigns to this worker but that it does not drive. */
  private readonly abandoned = new Set<string>()
  private readonly modules = new Map<string, Promise<Module>>()
  private readonly virtualTimers = new Set<{ readonly at: number; readonly fire: () => void }>()
  private worker: StoreWorker | null = null
  private beatAt = 0
  private lookedAt = -Infinity
  private nextWake: number | null = null
  private readonly pacer: Pacer
  private isKicked = false
  private isStopping = false
  private wake: (() => void) | null = null
  private looping: Promise<void> | null = null
  private quietTurns = 0
  private readonly idleWaiters: (() => void)[] = []

  constructor(options: DurableWorkerOptions) {
    this.options = options
    this.clock = options.clock ?? systemClock()
    const timer = (at: number, fire: () => void): (() => void) => this.setTimer(at, fire)
    this.pacer = new Pacer({ now: () => this.clock.now(), timer, tools: options.toolLimits ?? {} })
  }

  /** Runs by id, whichever worker has them. */
  get processes(): Processes {
    const { store, runtime, pollMs = 5 } = this.options
    return new Processes({ worker: this, store, runtime, now: () => this.clock.now(), pollMs })
  }

  /** Begins to work; continues until `stop`. */
  start(): void {
    this.isStopping = false
    this.looping ??= this.loop().finally(() => {
      this.looping = null
    })
  }

  /** Gives all runs back, for other workers or a later time; calls in progress are aborted. */
  async stop(): Promise<void> {
    this.isStopping = true
    this.kick()
    await this.looping
  }

  /** Something may be to be done: looks without waiting. */
  kick(): void {
    this.isKicked = true
    this.wake?.()
  }

  /** Runs in memory. */
  get size(): number {
    return this.running.size
  }

  /** Stored when it resolves; a known id is not an error, its run is not changed. Throws like `runtime.start`. */
  async submit(
    module: Module,
    { tenant = '', archive = false, ...options }: SubmitOptions = {},
  ): Promise<{ readonly runId: string; readonly isNew: boolean }> {
    const run = this.options.runtime.prepareRun(module, { ...options, now: this.clock.now() })
    const made = await this.options.store.submit([{ ...run, tenant, isArchived: archive }], this.clock.now())
    this.modules.set(run.program.hash, Promise.resolve(module))
    this.kick()
    return { runId: run.runId, isNew: made > 0 }
  }

  /** Answers what a run waits for, or will wait for. */
  async signal(
    runId: string,
    token: string,
    answer: { readonly ok: unknown } | { readonly error: string; readonly code?: string },
  ): Promise<'kept' | 'known' | 'gone'> {
    const line = encodeAnswer('ok' in answer ? { ok: plainFromHost(answer.ok) } : answer)
    const outcome = await this.options.store.signal(runId, token, line, this.clock.now())
    this.kick()
    return outcome
  }

  /** Answers what a key was handed out for: an event that a tool waits for, or a call that returned `pending()`. The first answer counts. */
  async resolve(key: string, resolution: Resolution): Promise<Resolved> {
    const target = readKey(await this.readRing(), key)
    if (target === null) return 'unknown'
    const { runId, token } = target
    const isValue = typeof resolution === 'object' && 'ok' in resolution
    const answer = isValue ? { ok: resolution.ok } : describeResolution(token, resolution)
    const kept = await this.signal(runId, token, answer)
    return kept === 'kept' ? 'accepted' : kept === 'known' ? 'already_resolved' : 'unknown'
  }

  private ring: KeyRing | null = null

  private async readRing(): Promise<KeyRing> {
    const { store, runtime } = this.options
    this.ring ??= runtime.keys ?? { current: 'store', secrets: { store: await store.secret() } }
    return this.ring
  }

  /** Sends a run a signal: `await_signal(name)` gets them in order. */
  send(runId: string, name: string, value: unknown = null): Promise<'kept' | 'known' | 'gone'> {
    return this.signal(runId, `${SIGNAL_TOKEN}${name}`, { ok: value })
  }

  /**
   * Decides a call of a run that the host holds (`onUnknownOutcome` said `hold`): its value, `retry` or `fail`. `call` is the number that the
   * reason of the stuck run names. The first decision counts; `gone` for a run that is not held.
   */
  async settle(runId: string, call: number, decision: Exclude<UnknownDecision, 'hold'>): Promise<'kept' | 'known' | 'gone'> {
    const told = typeof decision === 'string' ? decision : { done: decision.done }
    const kept = await this.signal(runId, `${SETTLE_TOKEN}${call}`, { ok: told })
    if (kept !== 'kept') return kept
    const isHeld = await this.options.store.retry(runId, this.clock.now())
    this.kick()
    return isHeld ? 'kept' : 'gone'
  }

  /** What a run has published under a name, without waking it; undefined when it has not. */
  async query(runId: string, name: string): Promise<unknown> {
    const row = await this.options.store.get(runId)
    const said = row?.published?.[name]
    return said === undefined ? undefined : plainFromJson(said)
  }

  /** Its own run that continues from the last snapshot of another one. */
  async fork(runId: string, to: string): Promise<'forked' | 'known' | 'gone'> {
    const outcome = await this.options.store.fork(runId, to, (snapshot) => renameSnapshot(snapshot, to), this.clock.now())
    this.kick()
    return outcome
  }

  /** The run continues as another program where that does the same so far. Raises what `migrateRun` raises. */
  async migrate(runId: string, module: Module): Promise<Migration> {
    const { store, runtime } = this.options
    const migration = await migrateRun({ store, runtime, now: this.clock.now() }, runId, module)
    this.kick()
    return migration
  }

  /** Resolves when there is nothing to do: every run has ended, is stuck, or waits for an outside answer or a later timer. */
  idle(): Promise<void> {
    this.kick()
    return new Promise((resolve) => this.idleWaiters.push(resolve))
  }

  // ------------------------------------------------------------------------------------------------------------- the loop

  private async loop(): Promise<void> {
    let patienceMs = 0
    while (!this.isStopping) {
      this.isKicked = false
      try {
        const isBusy = await this.turn()
        patienceMs = 0
        if (isBusy || this.isKicked) await awaitNextTurn()
        else await this.rest()
      } catch (cause) {
        this.options.onError?.(cause)
        if (cause instanceof WorkerFenced) this.options.onMetric?.({ kind: 'fenced' })
        if (cause instanceof WorkerFenced) this.forget(cause)
        else if (this.clock.now() - this.beatAt > this.leaseMs)
          this.forget(new WorkerFenced('the store was away longer than the lease'))
        patienceMs = Math.min(MOST_PATIENCE_MS, Math.max(10, patienceMs * 2))
        await this.pause(patienceMs)
      }
    }
    await this.leave()
  }

  private get leaseMs(): number {
    return this.options.leaseMs ?? 10_000
  }

  /** Whether something was done. */
  private async turn(): Promise<boolean> {
    const now = this.clock.now()
    const worker = await this.join(now)
    if (now - this.beatAt >= this.leaseMs / 3) {
      if (!(await worker.heartbeat(now))) throw new WorkerFenced()
      this.beatAt = now
    }
    if (this.abandoned.size > 0) await this.giveBack(worker, [...this.abandoned])
    const hasChanged = worker.hasChanged()
    const isDue = this.nextWake !== null && this.nextWake <= now
    if (!hasChanged && !this.wasKicked() && !isDue && now - this.lookedAt < this.leaseMs / 4) return false
    this.lookedAt = now
    if (this.running.size > 0)
      for (const { runId, token, line } of await worker.signals()) this.running.get(runId)?.host.signal(token, line)
    const free = (this.options.capacity ?? 1000) - this.running.size
    if (free <= 0) return false
    const { runs, nextWake } = await worker.take({
      now,
      most: Math.min(free, TAKEN_AT_ONCE),
      busy: this.listBusyTenants(),
      ...this.only,
    })
    this.nextWake = nextWake
    for (const [at, run] of runs.entries()) {
      if (at > 0 && at % LAUNCHES_A_TURN === 0) await awaitNextTurn()
      this.launch(worker, run)
    }
    this.mustLook = runs.length > 0
    return runs.length > 0
  }

  private mustLook = true

  private get only(): { readonly runId?: string } {
    const { only } = this.options
    return only === undefined ? {} : { runId: only }
  }

  private wasKicked(): boolean {
    const was = this.mustLook
    this.mustLook = false
    return was
  }

  private async join(now: number): Promise<StoreWorker> {
    if (this.worker !== null) return this.worker
    const { store, runtime, name = 'worker' } = this.options
    this.worker = await store.join({ name, leaseMs: this.leaseMs, tools: runtime.listToolNames() }, now)
    this.beatAt = now
    this.mustLook = true
    await this.readRing()
    return this.worker
  }

  private listBusyTenants(): readonly string[] {
    const { perTenant } = this.options
    if (perTenant === undefined) return []
    const counts = new Map<string, number>()
    for (const { tenant } of this.running.values()) counts.set(tenant, (counts.get(tenant) ?? 0) + 1)
    return [...counts].flatMap(([tenant, count]) => (count >= perTenant ? [tenant] : []))
  }

  private async rest(): Promise<void> {
    if (this.idleWaiters.length > 0 && this.running.size === 0) {
      // What was parked a moment ago may have been woken since.
      if (this.quietTurns++ < 2) {
        this.mustLook = true
        return awaitNextTurn()
      }
      const isVirtualDue = this.clock.virtual && this.nextWake !== null
      if (!isVirtualDue) {
        this.quietTurns = 0
        for (const resolve of this.idleWaiters.splice(0)) resolve()
      }
    }
    if (this.clock.virtual) return this.restVirtually()
    const untilWake = this.nextWake === null ? Infinity : Math.max(0, this.nextWake - this.clock.now())
    await this.pause(Math.min(this.options.pollMs ?? 5, untilWake))
  }

  /** Nothing is under way that is worth waiting for: time moves on to the next timer. */
  private async restVirtually(): Promise<void> {
    for (let turn = 0; turn < VIRTUAL_PATIENCE_TURNS; turn++) {
      await awaitNextTurn()
      if (this.isKicked || this.isStopping) return
    }
    const due = [...this.virtualTimers].map(({ at }) => at)
    if (this.nextWake !== null) due.push(this.nextWake)
    if (due.length === 0) return this.pause(this.options.pollMs ?? 5)
    await this.clock.until(Math.min(...due), new AbortController().signal)
    const now = this.clock.now()
    for (const timer of [...this.virtualTimers].sort((a, b) => a.at - b.at)) {
      if (timer.at > now) break
      this.virtualTimers.delete(timer)
      timer.fire()
    }
  }

  private async pause(ms: number): Promise<void> {
    if (this.isKicked || this.isStopping) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.wake = null
  }

  /** The store has given our runs to others, or will: their state is dropped. */
  private forget(cause: WorkerFenced): void {
    this.worker = null
    this.abandoned.clear()
    for (const run of this.running.values()) run.release(new RunReleased(cause.message))
  }

  private async leave(): Promise<void> {
    const active = [...this.running.values()]
    for (const run of active) run.release(new RunReleased())
    await Promise.allSettled(active.map(({ done }) => done))
    try {
      await this.worker?.leave()
    } catch (cause) {
      // The lease ends by itself.
      this.options.onError?.(cause)
    }
    this.worker = null
    for (const resolve of this.idleWaiters.splice(0)) resolve()
  }

  private async giveBack(worker: StoreWorker, runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) {
      await worker.commit([{ do: 'release', runId, tools: [] }])
      this.abandoned.delete(runId)
    }
    this.mustLook = true
  }

  // ---------------------------------------------------------------------------------------------------------------- a run

  private launch(worker: StoreWorker, taken: TakenRun): void {
    if (taken.queuedMs !== undefined) this.options.onMetric?.({ kind: 'queued', tenant: taken.tenant, ms: taken.queuedMs })
    let released: RunReleased | null = null
    let run: Run | null = null
    const signals = new Map<string, string>()
    const early: Pick<StoreHost, 'signal'> = { signal: (token, line) => void signals.set(token, line) }
    const entry = {
      tenant: taken.tenant,
      host: early as StoreHost,
      release: (reason: RunReleased): void => {
        released = reason
        run?.release(reason)
      },
    }
    const follow = async (): Promise<void> => {
      try {
        const module = await this.loadModule(taken.program)
        if (released !== null) return
        await this.drive(worker, taken, module, (made, host) => {
          run = made
          for (const [token, line] of signals) host.signal(token, line)
          const active = this.running.get(taken.runId)
          if (active !== undefined) this.running.set(taken.runId, { ...active, host })
          if (released !== null) made.release(released)
        })
      } catch (cause) {
        await this.giveUp(worker, taken.runId, cause)
      } finally {
        this.running.delete(taken.runId)
        this.mustLook = true
        this.kick()
      }
    }
    // In the list before anything of it happens.
    const done = Promise.resolve().then(follow)
    this.running.set(taken.runId, { ...entry, done })
  }

  /** Endings of a piece that do not end the run: it continues elsewhere, later, or after a decision. */
  private async giveUp(worker: StoreWorker, runId: string, cause: unknown): Promise<void> {
    const { onParked, onStuck, onError } = this.options
    if (cause instanceof RunParked) return onParked?.(runId)
    if (cause instanceof RunReleased) return
    if (cause instanceof WorkerFenced) {
      this.options.onMetric?.({ kind: 'fenced' })
      return onError?.(cause)
    }
    try {
      if (cause instanceof LackingTool) {
        await worker.commit([{ do: 'release', runId, tools: [cause.tool] }])
        return onStuck?.(runId, cause.message)
      }
      if (isToolError(cause) && cause.code === 'store_unavailable') throw cause
      const reason = describeCause(cause)
      await worker.commit([{ do: 'stuck', runId, reason }])
      onStuck?.(runId, reason)
    } catch (failure) {
      // Nothing of it is lost: it is in the store as it was when that last answered.
      if (this.worker === worker) this.abandoned.add(runId)
      onError?.(failure)
    }
  }

  private async loadModule(hash: string): Promise<Module> {
    let found = this.modules.get(hash)
    if (found === undefined) {
      found = this.options.store.program(hash).then((program) => {
        if (program === null) throw new Error(`the store has no program ${hash}`)
        return this.options.runtime.loadProgram(program.sources)
      })
      this.modules.set(hash, found)
    }
    try {
      return await found
    } catch (cause) {
      this.modules.delete(hash)
      throw cause
    }
  }

  private async drive(
    worker: StoreWorker,
    taken: TakenRun,
    module: Module,
    begun: (run: Run, host: StoreHost) => void,
  ): Promise<void> {
    const {
      runtime,
      keepMs = 50,
      checkpointAfter = 200,
      onUnknownOutcome: decide = () => 'fail',
      onEnd,
      start,
      readStatus,
    } = this.options
    const onUnknownOutcome = (call: UnknownCall): UnknownDecision => {
      const settled = taken.signals.find(({ token }) => token === `${SETTLE_TOKEN}${call.id}`)
      if (settled !== undefined) return readDecision(settled.line)
      this.options.onMetric?.({ kind: 'unknown_outcome', tool: call.name })
      this.options.store.count('unknown_outcomes').catch((cause: unknown) => this.options.onError?.(cause))
      return decide(call)
    }
    const { runId, head, snapshot, lines } = taken
    const own = start?.(runId) ?? {}
    const opened = runtime.openPiece({ module, head, snapshot, lines }, { ...own, decide: onUnknownOutcome })
    switch (opened.kind) {
      case 'stuck':
        throw new Error(opened.reason)
      case 'lacking':
        throw new LackingTool(opened.tool)
      case 'ended': {
        const ended = summarizeEnd(runId, opened, readStatus)
        const undo = isUndone(ended) ? this.makeUndo(runId, opened.undos, readHeadAuthority(head)) : null
        const before = undo === null ? [] : [{ ...undo, runId }]
        await worker.commit([...before, { do: 'end', runId, status: ended.status, result: JSON.stringify(ended) }])
        return onEnd?.(ended)
      }
    }
    const host: StoreHost = new StoreHost({
      worker,
      run: taken,
      used: readUsed(taken),
      lastNow: opened.lastNow,
      now: () => this.clock.now(),
      timer: (at, fire) => this.setTimer(at, fire),
      keepMs: this.clock.virtual ? 0 : keepMs,
      checkpointAfter,
      isArchived: taken.isArchived,
      admit: (tool) => this.pacer.admit(taken.tenant, taken.quota ?? {}, tool),
    })
    let next: NextGeneration | null = null
    let allowed: RunAuthority | undefined
    const drive: RunParts['drive'] = (options, pack) => {
      const { authority } = options
      allowed = authority
      const link = makeRunLink({
        runId,
        runtime,
        store: this.options.store,
        module,
        tenant: taken.tenant,
        authority,
        now: () => host.now(),
        link: (change) => host.link(change),
        numberEvent: () => host.numberEvent(),
        kept: () => host.kept(),
        again: (input, signals) => {
          next = { input, signals, authority }
        },
      })
      return new DurableDriver({ ...options, link, mint: (token) => mintKey(this.ring!, { runId, token }) }, host, {
        pack,
        judge: (effect) => judgeCall(effect, runtime),
        limits: readLimits(taken),
        unknown: (id, effect) => answerUnknown(runId, id, effect, onUnknownOutcome),
      })
    }
    try {
      const run = opened.begin(drive)
      begun(run, host)
      const result = await run.result
      const again = next as NextGeneration | null
      if (again !== null && result.status === 'exit') {
        const { input, signals, authority } = again
        const now = this.clock.now()
        await host.again(runtime.prepareRun(module, { runId, input, globals: opened.globals, now, as: authority }).head, signals)
        return
      }
      const ended = summarizeResult(runId, result, readStatus)
      const undo = isUndone(ended) ? this.makeUndo(runId, run.undos(), allowed) : null
      if (undo !== null) host.link(undo)
      await host.end(ended.status, JSON.stringify(ended))
      onEnd?.(ended)
    } finally {
      host.stop()
    }
  }

  private makeUndo(runId: string, undos: readonly UndoCall[], authority: RunAuthority | undefined): LinkedChange | null {
    return makeUndoRun(this.options.runtime, { runId, undos, authority, now: this.clock.now() })
  }

  private setTimer(at: number, fire: () => void): () => void {
    if (this.clock.virtual) {
      const timer = { at, fire }
      this.virtualTimers.add(timer)
      return () => void this.virtualTimers.delete(timer)
    }
    let handle: ReturnType<typeof setTimeout>
    const wait = (): void => {
      const left = at - this.clock.now()
      if (left <= 0) handle = setTimeout(fire, 0)
      else
        handle = setTimeout(
          left > LONGEST_TIMER_MS ? wait : () => (at <= this.clock.now() ? fire() : wait()),
          Math.min(left, LONGEST_TIMER_MS),
        )
    }
    wait()
    return () => clearTimeout(handle)
  }
}

/** Prefix of the token of a decision about a held call; its number follows. */
const SETTLE_TOKEN = 'settle:'

/** Anything that is not a decision leaves the run held. */
function readDecision(line: string): UnknownDecision {
  const answer = decodeAnswer(line)
  if (answer.kind !== 'result') return 'hold'
  const { value } = answer
  if (value === 'retry' || value === 'fail') return value
  return typeof value === 'object' && value !== null && 'done' in value ? { done: value['done'] } : 'hold'
}

/** What a run begins again with. */
interface NextGeneration {
  readonly input: Plain
  readonly signals: { readonly [name: string]: number }
  readonly authority: RunAuthority | undefined
}

/** Tokens whose answers are in the journal behind the snapshot. */
function readUsed({ tokens, lines }: Pick<TakenRun, 'tokens' | 'lines'>): readonly string[] {
  const awaited = new Map((JSON.parse(tokens) as readonly (readonly [number, string])[]).map(([id, token]) => [id, token]))
  const used: string[] = []
  for (const line of lines) {
    if (!line.includes('"type":"token"') && !line.includes('"type":"resume"')) continue
    const entry = JSON.parse(line) as { readonly type: string; readonly id: number | null; readonly token?: string }
    if (entry.id === null) continue
    const token = awaited.get(entry.id)
    if (entry.type === 'token') awaited.set(entry.id, entry.token!)
    else if (entry.type === 'resume' && token !== undefined) used.push(token)
  }
  return used
}

/** A tool that this worker does not have. */
class LackingTool extends Error {
  readonly tool: string

  constructor(tool: string) {
    super(`no worker here has the tool ${JSON.stringify(tool)}`)
    this.tool = tool
  }
}

/** How a call is made: what reads may be made at any time, what may be repeated after all before it is kept, the rest once. */
export function judgeCall(effect: Effect, { host }: Pick<Runtime, 'host'>): CallMode {
  // What a call of other runs changes happens with the commit.
  if (effect.kind === 'runs.op' || asksForFact(effect, host)) return 'read'
  if (effect.kind === 'tool.call') {
    const name = effect.args.host_capability ?? effect.args.tool
    const tool = typeof name === 'string' ? host.tool(name) : null
    if (tool !== null && tool.recovery !== 'once' && (tool.sideEffect === 'none' || tool.sideEffect === 'read_only'))
      return 'read'
  } else {
    const { sideEffect } = EFFECTS[effect.kind]
    if (sideEffect === 'none' || sideEffect === 'read_only') return 'read'
  }
  return mayRepeat(effect, host) ? 'repeat' : 'once'
}

/** Time limits of the tokens that the run waits for: those of its snapshot, and those that came behind it. */
function readLimits({ tokens, lines }: Pick<TakenRun, 'tokens' | 'lines'>): ReadonlyMap<number, TokenLimit> {
  const limits = new Map<number, TokenLimit>()
  for (const [id, , limit] of JSON.parse(tokens) as readonly (readonly [number, string, TokenLimit?])[])
    if (limit !== undefined) limits.set(id, limit)
  for (const line of lines) {
    if (!line.includes('"type":"token"')) continue
    const entry = JSON.parse(line) as { readonly type: string; readonly id: number; readonly limit?: TokenLimit }
    if (entry.type === 'token' && entry.limit !== undefined) limits.set(entry.id, entry.limit)
  }
  return limits
}

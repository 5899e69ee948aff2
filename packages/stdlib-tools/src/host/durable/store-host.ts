// DurableHost on a store of runs: the record of a run is a snapshot and Bridle's journal behind it. Lines are gathered and kept by group
// commit; before a call that is not a read, everything so far and the beginning of the call are on the disk.

import { readEmittedToken } from '../../tools/executors/completion-keys.js'
import type { EmittedToken } from '../../tools/executors/completion-keys.js'
import { encodeEntry } from '../journal.js'
import type { JournalEntry } from '../journal.js'
import type { AskedCall, DurableHost, ParkableWait, Settled } from './host.js'
import type { Change, LinkedChange, StoreWorker, TakenRun } from './store.js'

export interface StoreHandle {
  value: Settled | string | null
  isHere: boolean
  readonly token?: string
}

export interface StoreHostOptions {
  readonly worker: Pick<StoreWorker, 'commit'>
  readonly run: Pick<TakenRun, 'runId' | 'startedAt' | 'signals' | 'lastEvent'>
  /** Tokens whose answers the run has had. */
  readonly used: readonly string[]
  /** When a worker last entered the run; undefined for a new run. */
  readonly lastNow: number | null
  readonly now: () => number
  /** Calls back at a time; gives the way to stop. */
  readonly timer: (atMs: number, fire: () => void) => () => void
  /** Waits for timers that are shorter stay in memory. */
  readonly keepMs: number
  /** This many calls after the last one the journal is replaced by a snapshot. */
  readonly checkpointAfter: number
  /** Whether the whole journal is kept. */
  readonly isArchived: boolean
  /** Holds a call back; null: it may begin. What it gives is called when the call has ended. */
  readonly admit?: (tool: string | null) => Promise<() => void> | null
}

export class StoreHost implements DurableHost<StoreHandle> {
  private readonly options: StoreHostOptions
  private time: number
  /** Not handed to the store yet. */
  private lines: string[] = []
  /** There is something among them that was done to the world. */
  private isUrgent = false
  /** Calls that may have done something to the world. */
  private readonly done = new Set<number>()
  private readonly here: StoreHandle[] = []
  private wake: (() => void) | null = null
  private readonly waiting = new Map<string, StoreHandle[]>()
  private readonly answers: Map<string, string>
  private readonly used: Set<string>
  private readonly stops = new Map<StoreHandle, () => void>()
  private stepsBefore = 0
  /** Settled by this process itself. */
  private change: StoreHandle | null = null
  /** What the run does outside of itself with the next commit. */
  private linked: Change[] = []
  /** Tokens that are no longer awaited, not yet passed to the store. */
  private closed: string[] = []
  private broken: unknown = null

  constructor(options: StoreHostOptions) {
    this.options = options
    this.lastEvent = options.run.lastEvent
    this.used = new Set(options.used)
    this.answers = new Map(options.run.signals.map(({ token, line }) => [token, line]))
    this.time = options.lastNow === null ? options.run.startedAt : Math.max(options.lastNow, options.now())
  }

  now(): number {
    return this.time
  }

  note(entry: JournalEntry): void {
    // The beginning was kept when the run was submitted, and its end is its own change.
    if (entry.type === 'start' || entry.type === 'end') return
    if (entry.type === 'token' || (entry.type === 'resume' && entry.id !== null && this.done.delete(entry.id)))
      this.isUrgent = true
    this.lines.push(encodeEntry(entry))
  }

  call({ id, mode, effect }: AskedCall, given: () => Promise<Settled>): StoreHandle {
    const handle: StoreHandle = { value: null, isHere: false }
    if (mode !== 'read') this.done.add(id)
    const work = (): Promise<Settled> => {
      const { tool } = effect.args as { readonly tool?: unknown }
      const room = this.options.admit?.(typeof tool === 'string' ? tool : null) ?? null
      return room === null ? given() : room.then((leave) => given().finally(leave))
    }
    const begun = mode === 'read' ? work() : this.kept().then(work)
    begun.then(
      (value) => this.arrive(handle, value),
      (cause: unknown) => this.fail(cause),
    )
    return handle
  }

  timer(atMs: number): StoreHandle {
    const handle: StoreHandle = { value: null, isHere: false }
    const stop = this.options.timer(atMs, () => {
      this.stops.delete(handle)
      this.arrive(handle, null)
    })
    this.stops.set(handle, stop)
    return handle
  }

  promise(token: string): StoreHandle {
    const handle: StoreHandle = { value: null, isHere: false, token }
    const line = this.answers.get(token) ?? this.findEmitted(token)
    if (line === undefined) this.waiting.set(token, [...(this.waiting.get(token) ?? []), handle])
    else this.arrive(handle, line)
    return handle
  }

  private findEmitted(token: string): string | undefined {
    const wanted = readEmittedToken(token)
    const event = wanted === null ? undefined : this.emitted.find((each) => isWanted(wanted, each))
    return event === undefined ? undefined : describeEmitted(event)
  }

  /** An answer that came while the run is in memory. */
  signal(token: string, line: string): void {
    if (this.answers.has(token)) return
    this.answers.set(token, line)
    this.settleWaiting(token, line)
  }

  private settleWaiting(token: string, line: string): void {
    const handles = this.waiting.get(token)
    if (handles === undefined) return
    this.waiting.delete(token)
    for (const handle of handles) this.arrive(handle, line)
  }

  async first(waiting: readonly StoreHandle[]): Promise<{ readonly at: number; readonly value: Settled | string | null }> {
    // What was done to the world is kept soon, also where nothing follows that waits for it.
    if (this.isUrgent) this.kept().catch((cause: unknown) => this.fail(cause))
    for (;;) {
      if (this.broken !== null) throw this.broken
      const index = this.here.findIndex((each) => waiting.includes(each))
      if (index >= 0) {
        const [handle] = this.here.splice(index, 1)
        if (handle!.token !== undefined) this.used.add(handle!.token)
        this.time = Math.max(this.time, this.options.now())
        return { at: waiting.indexOf(handle!), value: handle!.value }
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  local(): { readonly handle: StoreHandle; readonly settle: () => void } {
    const handle: StoreHandle = { value: null, isHere: false }
    // The last one is no longer needed.
    const at = this.change === null ? -1 : this.here.indexOf(this.change)
    if (at >= 0) this.here.splice(at, 1)
    this.change = handle
    return {
      handle,
      settle: () => {
        if (!handle.isHere) this.arrive(handle, null)
      },
    }
  }

  private lastEvent: number

  /** The number of the next event of the run. */
  numberEvent(): number {
    return ++this.lastEvent
  }

  /** Happens with the commit of what entered the run so far. */
  link(change: LinkedChange): void {
    if (change.do === 'emit') this.tellEmitted(change)
    this.linked.push({ ...change, runId: this.options.run.runId })
    this.isUrgent = true
  }

  /** Since the run is in this process. */
  private readonly emitted: EmittedEvent[] = []

  private tellEmitted(event: EmittedEvent): void {
    this.emitted.push(event)
    if (this.emitted.length > MOST_EMITTED) this.emitted.shift()
    for (const token of [...this.waiting.keys()]) {
      const wanted = readEmittedToken(token)
      if (wanted !== null && isWanted(wanted, event)) this.settleWaiting(token, describeEmitted(event))
    }
  }

  drop(handle: StoreHandle): void {
    const at = this.here.indexOf(handle)
    if (at >= 0) this.here.splice(at, 1)
    this.stops.get(handle)?.()
    this.stops.delete(handle)
    if (handle.token === undefined) return
    const others = this.waiting.get(handle.token)?.filter((each) => each !== handle) ?? []
    if (others.length === 0) this.waiting.delete(handle.token)
    else this.waiting.set(handle.token, others)
  }

  close(token: string): void {
    this.closed.push(token)
    this.isUrgent = true
  }

  async park({ tokens, events, wakeAt, steps, isIdle, snapshot }: ParkableWait): Promise<boolean> {
    const { keepMs, checkpointAfter, worker, run, isArchived } = this.options
    if (this.broken !== null) throw this.broken
    if (this.here.some((each) => each !== this.change)) return false
    const mayPark = isIdle && (wakeAt === null || wakeAt - this.options.now() > keepMs)
    if (!mayPark && steps - this.stepsBefore < checkpointAfter) return false
    this.stepsBefore = steps
    // What a snapshot has is in no journal, unless that is kept whole.
    const append = this.takeAppend()
    const kept = { runId: run.runId, snapshot: snapshot(), tokens: encodeTokens(tokens, events), used: [...this.used] }
    const before = [...(isArchived ? append : []), ...this.takeClosed()]
    if (!mayPark) {
      worker.commit([...before, { do: 'checkpoint', ...kept }]).catch((cause: unknown) => this.fail(cause))
      return false
    }
    await worker.commit([...before, { do: 'park', wakeAt, ...kept }])
    this.stop()
    return true
  }

  async end(status: string, result: string): Promise<void> {
    this.stop()
    const { worker, run, isArchived } = this.options
    const lines = isArchived ? this.takeLines() : []
    const before = lines.length === 0 ? [] : [{ do: 'append', runId: run.runId, lines } as const]
    await worker.commit([...before, ...this.takeClosed(), { do: 'end', runId: run.runId, status, result }])
  }

  /** The run ends here, and begins anew. */
  async again(head: readonly string[], signals: { readonly [name: string]: number }): Promise<void> {
    this.stop()
    const { worker, run } = this.options
    this.takeLines()
    await worker.commit([...this.takeClosed(), { do: 'again', runId: run.runId, head, used: [...this.used], signals }])
  }

  /** Resolves when everything so far is on the disk. */
  kept(): Promise<void> {
    // Also when there is nothing: others of this run may be on their way.
    return this.options.worker.commit([...this.takeAppend(), ...this.takeClosed()])
  }

  stop(): void {
    for (const stop of this.stops.values()) stop()
    this.stops.clear()
  }

  private takeAppend(): readonly Change[] {
    const lines = this.takeLines()
    return lines.length === 0 ? [] : [{ do: 'append', runId: this.options.run.runId, lines }]
  }

  private takeClosed(): readonly Change[] {
    const { closed: tokens, linked } = this
    this.closed = []
    this.linked = []
    return tokens.length === 0 ? linked : [...linked, { do: 'close', runId: this.options.run.runId, tokens }]
  }

  private takeLines(): readonly string[] {
    const { lines } = this
    this.lines = []
    this.isUrgent = false
    return lines
  }

  private arrive(handle: StoreHandle, value: Settled | string | null): void {
    handle.value = value
    handle.isHere = true
    this.here.push(handle)
    this.wake?.()
    this.wake = null
  }

  private fail(cause: unknown): void {
    this.broken ??= cause
    this.wake?.()
    this.wake = null
  }
}

/** Tokens that the code of a tool waits for belong to no call: their limits are in the state of the machine. */
function encodeTokens(tokens: ParkableWait['tokens'], events: ParkableWait['events']): string {
  return JSON.stringify([
    ...[...tokens].map(([id, { token, limit }]) => (limit === null ? [id, token] : [id, token, limit])),
    ...events.map(({ token }) => [0, token]),
  ])
}

/** Events that a wait which begins later may still find here; older ones are in the store. */
const MOST_EMITTED = 1000

type EmittedEvent = Pick<LinkedChange & { readonly do: 'emit' }, 'sequence' | 'type' | 'line'>

function isWanted({ type, after }: EmittedToken, event: EmittedEvent): boolean {
  return event.sequence > after && (type === null || event.type === type)
}

function describeEmitted({ sequence, type, line }: EmittedEvent): string {
  return JSON.stringify({ ok: { sequence, type, payload: JSON.parse(line) as unknown } })
}

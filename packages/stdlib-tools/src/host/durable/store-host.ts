// DurableHost on a store of runs: the record of a run is a snapshot and Bridle's journal behind it. Lines are gathered and kept by group
// commit; before a call that is no read, everything so far and the beginning of the call are on the disk.

import { encodeEntry } from '../journal.js'
import type { JournalEntry } from '../journal.js'
import type { AskedCall, DurableHost, ParkableWait, Settled } from './host.js'
import type { Change, StoreWorker, TakenRun } from './store.js'

export interface StoreHandle {
  value: Settled | string | null
  isHere: boolean
}

export interface StoreHostOptions {
  readonly worker: Pick<StoreWorker, 'commit'>
  readonly run: Pick<TakenRun, 'runId' | 'startedAt' | 'signals'>
  /** When the run was last entered by whoever had it; nothing for one that begins. */
  readonly lastNow: number | null
  readonly now: () => number
  /** Calls back at a time; gives the way to stop. */
  readonly timer: (atMs: number, fire: () => void) => () => void
  /** Waits for timers that are shorter stay in memory. */
  readonly keepMs: number
  /** So many calls after the last one the journal is replaced by a snapshot. */
  readonly checkpointAfter: number
  /** Whether the whole journal is kept. */
  readonly isArchived: boolean
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
  private readonly used = new Set<string>()
  private readonly stops = new Set<() => void>()
  private stepsBefore = 0
  /** Settled by this process itself. */
  private change: StoreHandle | null = null
  /** Tokens that nobody waits for any more, not handed to the store yet. */
  private closed: string[] = []
  private broken: unknown = null

  constructor(options: StoreHostOptions) {
    this.options = options
    this.answers = new Map(options.run.signals.map(({ token, line }) => [token, line]))
    this.time = options.lastNow === null ? options.run.startedAt : Math.max(options.lastNow, options.now())
  }

  now(): number {
    return this.time
  }

  note(entry: JournalEntry): void {
    // The beginning was kept when the run was submitted, and its end is a change of its own.
    if (entry.type === 'start' || entry.type === 'end') return
    if (entry.type === 'token' || (entry.type === 'resume' && entry.id !== null && this.done.delete(entry.id)))
      this.isUrgent = true
    this.lines.push(encodeEntry(entry))
  }

  call({ id, mode }: AskedCall, work: () => Promise<Settled>): StoreHandle {
    const handle: StoreHandle = { value: null, isHere: false }
    if (mode !== 'read') this.done.add(id)
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
      this.stops.delete(stop)
      this.arrive(handle, null)
    })
    this.stops.add(stop)
    return handle
  }

  promise(token: string): StoreHandle {
    const handle: StoreHandle = { value: null, isHere: false }
    const line = this.answers.get(token)
    if (line === undefined) this.waiting.set(token, [...(this.waiting.get(token) ?? []), handle])
    else {
      this.used.add(token)
      this.arrive(handle, line)
    }
    return handle
  }

  /** An answer that came while the run is in memory. */
  signal(token: string, line: string): void {
    if (this.answers.has(token)) return
    this.answers.set(token, line)
    const handles = this.waiting.get(token)
    if (handles === undefined) return
    this.used.add(token)
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
    // The last one is asked for no more.
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
    await worker.commit([...before, { do: 'end', runId: run.runId, status, result }])
  }

  /** Resolves when everything so far is on the disk. */
  kept(): Promise<void> {
    // Also when there is nothing: others of this run may be on their way.
    return this.options.worker.commit([...this.takeAppend(), ...this.takeClosed()])
  }

  stop(): void {
    for (const stop of this.stops) stop()
    this.stops.clear()
  }

  private takeAppend(): readonly Change[] {
    const lines = this.takeLines()
    return lines.length === 0 ? [] : [{ do: 'append', runId: this.options.run.runId, lines }]
  }

  private takeClosed(): readonly Change[] {
    const tokens = this.closed
    this.closed = []
    return tokens.length === 0 ? [] : [{ do: 'close', runId: this.options.run.runId, tokens }]
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

/** Those that code of tools waits for are of no call: their limits are in the state of the machine. */
function encodeTokens(tokens: ParkableWait['tokens'], events: ParkableWait['events']): string {
  return JSON.stringify([
    ...[...tokens].map(([id, { token, limit }]) => (limit === null ? [id, token] : [id, token, limit])),
    ...events.map(({ token }) => [0, token]),
  ])
}

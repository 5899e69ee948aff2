// A durable run as a Durable Object: its storage keeps the journal and the snapshot, its alarm is the timer, and a run that waits is an object that is
// not in memory. The same driver and the same host as the stores of Bridle; what is written here is where the bytes are.
//
//   export class Run extends DurableObject {
//     private readonly run = new RunObject(this.ctx.storage, { runtime, module })
//     alarm() { return this.run.alarm() }
//     async fetch(request: Request) { … await this.run.start({ runId, input }) … await this.run.signal(token, line) … }
//   }

import { DurableDriver, RunParked, StoreHost, answerUnknown, judgeCall, summarizeResult } from '@bridle/stdlib-tools'
import type { Change, EndedRun, Module, Runtime } from '@bridle/stdlib-tools'

/** The part of `DurableObjectStorage` that is used. */
export interface ObjectStorage {
  get<T>(key: string): Promise<T | undefined>
  list<T>(options: { readonly prefix: string }): Promise<Map<string, T>>
  put(entries: { readonly [key: string]: unknown }): Promise<void>
  delete(keys: string[]): Promise<number>
  setAlarm(atMs: number): Promise<void>
  transaction<T>(work: (storage: ObjectStorage) => Promise<T>): Promise<T>
  sync(): Promise<void>
}

export interface RunObjectParts {
  readonly runtime: Runtime
  readonly module: Module
  readonly now?: () => number
}

interface Beginning {
  readonly runId: string
  readonly head: readonly string[]
  readonly startedAt: number
}

interface Kept {
  readonly snapshot: Uint8Array
  readonly used: readonly string[]
}

export interface RunObjectState {
  readonly state: 'none' | 'running' | 'parked' | 'ended'
  /** Tokens that it waits for. */
  readonly waitsFor: readonly string[]
  readonly wakeAt: number | null
  readonly ended: EndedRun | null
}

/** Lines are read in the order of their keys. */
const LINE = 'line:'
/** An answer, or null if the run has received it or no longer waits for it. */
const SIGNAL = 'signal:'

export class RunObject {
  private readonly storage: ObjectStorage
  private readonly parts: RunObjectParts
  /** While a piece of the run is in this process. */
  private host: StoreHost | null = null
  private piece: Promise<void> | null = null
  private lines = 0

  constructor(storage: ObjectStorage, parts: RunObjectParts) {
    this.storage = storage
    this.parts = parts
  }

  /** Kept when it resolves; one that has begun is no error. */
  async start({ runId, input }: { readonly runId: string; readonly input?: unknown }): Promise<void> {
    if ((await this.storage.get('beginning')) === undefined) {
      const { head, startedAt } = this.parts.runtime.prepareRun(this.parts.module, { runId, input, now: this.now() })
      await this.storage.put({ beginning: { runId, head, startedAt } satisfies Beginning })
      await this.storage.sync()
    }
    this.goOn()
  }

  /** `line` as `encodeAnswer` writes it; the first answer for a token counts. */
  async signal(token: string, line: string): Promise<'kept' | 'known' | 'gone'> {
    if ((await this.storage.get('beginning')) === undefined || (await this.storage.get('ended')) !== undefined) return 'gone'
    if ((await this.storage.get(`${SIGNAL}${token}`)) !== undefined) return 'known'
    await this.storage.put({ [`${SIGNAL}${token}`]: line })
    await this.storage.sync()
    this.host?.signal(token, line)
    this.goOn()
    return 'kept'
  }

  async alarm(): Promise<void> {
    this.goOn()
    await this.idle()
  }

  /** Resolves when the run has ended, or waits. */
  async idle(): Promise<void> {
    while (this.piece !== null) await this.piece
  }

  async state(): Promise<RunObjectState> {
    const ended = (await this.storage.get<EndedRun>('ended')) ?? null
    const parked = await this.storage.get<{ readonly tokens: readonly string[]; readonly wakeAt: number | null }>('parked')
    const isThere = (await this.storage.get('beginning')) !== undefined
    const state =
      ended !== null ? 'ended' : !isThere ? 'none' : this.piece === null && parked !== undefined ? 'parked' : 'running'
    return { state, waitsFor: parked?.tokens ?? [], wakeAt: parked?.wakeAt ?? null, ended }
  }

  private now(): number {
    return (this.parts.now ?? Date.now)()
  }

  private goOn(): void {
    if (this.piece !== null) return
    const piece = this.drive()
      .then((isDone) => {
        this.piece = null
        // Something came while it was being parked.
        if (!isDone) this.goOn()
      })
      .catch((cause: unknown) => {
        this.piece = null
        throw cause
      })
    // Raised by `idle`, for whoever waits.
    piece.catch(() => {})
    this.piece = piece
  }

  /** Whether nothing is to be done before the next answer or alarm. */
  private async drive(): Promise<boolean> {
    const { storage } = this
    const { runtime, module } = this.parts
    const beginning = await storage.get<Beginning>('beginning')
    if (beginning === undefined || (await storage.get('ended')) !== undefined) return true
    const { runId, head, startedAt } = beginning
    const kept = await storage.get<Kept>('kept')
    const lines = [...(await storage.list<string>({ prefix: LINE })).values()]
    this.lines = lines.length
    const found = await storage.list<string | null>({ prefix: SIGNAL })
    const signals = [...found].flatMap(([key, line]) => (line === null ? [] : [{ runId, token: key.slice(SIGNAL.length), line }]))
    const piece = { module, head: kept === undefined ? head : [], snapshot: kept?.snapshot ?? null, lines }
    const opened = runtime.openPiece(piece, { decide: () => 'fail' })
    if (opened.kind !== 'open') throw new Error(opened.kind === 'stuck' ? opened.reason : `the run cannot go on: ${opened.kind}`)
    const host = new StoreHost({
      worker: { commit: (changes) => this.commit(changes) },
      run: { runId, startedAt, signals, lastEvent: 0 },
      used: kept?.used ?? [],
      lastNow: opened.lastNow,
      now: () => this.now(),
      timer: (atMs, fire) => {
        const timer = setTimeout(() => fire(), Math.max(0, atMs - this.now()))
        return () => clearTimeout(timer)
      },
      keepMs: 50,
      checkpointAfter: 200,
      isArchived: false,
    })
    this.host = host
    const run = opened.begin(
      (options, pack) =>
        new DurableDriver(options, host, {
          pack,
          judge: (effect) => judgeCall(effect, runtime),
          unknown: (id, effect) => answerUnknown(runId, id, effect, () => 'fail'),
        }),
    )
    try {
      const ended = summarizeResult(runId, await run.result, undefined)
      await host.end(ended.status, JSON.stringify(ended))
      return true
    } catch (cause) {
      if (!(cause instanceof RunParked)) throw cause
      return !(await this.isAnswered())
    } finally {
      host.stop()
      this.host = null
    }
  }

  /** An answer that came in the moment in which the run was parked. */
  private async isAnswered(): Promise<boolean> {
    const { waitsFor, wakeAt } = await this.state()
    for (const token of waitsFor) if (typeof (await this.storage.get(`${SIGNAL}${token}`)) === 'string') return true
    return wakeAt !== null && wakeAt <= this.now()
  }

  /** All or nothing, kept when it resolves. */
  private async commit(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return
    await this.storage.transaction(async (storage) => {
      for (const change of changes) await this.apply(storage, change)
    })
    await this.storage.sync()
  }

  private async apply(storage: ObjectStorage, change: Change): Promise<void> {
    switch (change.do) {
      case 'append':
        for (const line of change.lines) await storage.put({ [`${LINE}${String(this.lines++).padStart(9, '0')}`]: line })
        return
      case 'close':
        for (const token of change.tokens)
          if ((await storage.get(`${SIGNAL}${token}`)) === undefined) await storage.put({ [`${SIGNAL}${token}`]: null })
        return
      case 'checkpoint':
      case 'park': {
        await this.dropLines(storage)
        const { snapshot, used } = change
        await storage.put({ kept: { snapshot, used } satisfies Kept })
        for (const token of used) await storage.put({ [`${SIGNAL}${token}`]: null })
        if (change.do === 'checkpoint') return
        const tokens = (JSON.parse(change.tokens) as readonly (readonly [number, string])[]).map(([, token]) => token)
        await storage.put({ parked: { tokens, wakeAt: change.wakeAt } })
        if (change.wakeAt !== null) await storage.setAlarm(change.wakeAt)
        return
      }
      case 'end':
        await this.dropLines(storage)
        await storage.delete(['kept', 'parked'])
        await storage.put({ ended: JSON.parse(change.result) as EndedRun })
        return
      default:
        throw new Error(`an object keeps one run: ${change.do} needs a store of runs`)
    }
  }

  private async dropLines(storage: ObjectStorage): Promise<void> {
    const keys = [...(await storage.list<string>({ prefix: LINE })).keys()]
    // The storage takes 128 keys at a time.
    for (let at = 0; at < keys.length; at += 128) await storage.delete(keys.slice(at, at + 128))
    this.lines = 0
  }
}

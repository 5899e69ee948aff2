// DurableHost on the context of a Restate invocation. Each call, timer and wait is an entry of Restate's journal, so that an invocation that is
// played again after a crash meets the same answers in the same order. A piece of a run must leave before that journal gets long.

import * as restate from '@restatedev/restate-sdk'
import { decodeSettled, encodeSettled } from '../host/durable/answers.js'
import { EngineFailed } from '../host/durable/host.js'
import type { AskedCall, AwaitedToken, DurableHost, ParkableWait, Settled } from '../host/durable/host.js'

/** What an entry of the journal holds: when it came, and what, as text. */
interface Entry {
  readonly now: number
  readonly call?: string
  readonly text?: string
}

export interface RestateHandle {
  /** What is waited for at the moment. */
  promise: restate.RestatePromise<Entry>
  /** For a call that is made once: the call itself, read after its start is stored. */
  behind: ((began: string) => restate.RestatePromise<Entry>) | null
  /** For an answer that arrived before the wait. */
  ready: Entry | null
  /** Of a timer. */
  readonly dueAt: number | null
}

/** Where a run that has left continues. */
export interface ParkedPiece {
  /** Base64. */
  readonly snapshot: string
  readonly tokens: readonly (readonly [call: number, token: string, limit?: AwaitedToken['limit']])[]
  readonly wakeAt: number | null
  readonly now: number
  /** It continues at once: only its journal was full. */
  readonly isFull: boolean
}

export interface RestateHostOptions {
  readonly context: restate.ObjectContext
  readonly startedAt: number
  /** Tells the inbox of the run that it waits for an answer. */
  readonly listen: (token: string, awakeableId: string) => void
  readonly close: (token: string) => void
  /** Answers that were there when the piece began. */
  readonly answers: ReadonlyMap<string, AnswerEntry>
  readonly mostSteps: number
  /** Waits for timers that are shorter stay in the piece. */
  readonly keepMs: number
  /** Differs in each attempt of each process: it distinguishes calls begun by this attempt from those of earlier attempts. */
  readonly attempt: string
}

export interface AnswerEntry {
  readonly now: number
  readonly line: string
}

export class RestateHost implements DurableHost<RestateHandle> {
  readonly mostSteps: number
  /** Set when the run has parked. */
  parked: ParkedPiece | null = null
  /** Tokens whose answers have entered the run. */
  readonly used: string[] = []
  private readonly options: RestateHostOptions
  private time: number
  private readonly unread = new Set<RestateHandle>()

  constructor(options: RestateHostOptions) {
    this.options = options
    this.mostSteps = options.mostSteps
    this.time = options.startedAt
  }

  now(): number {
    return this.time
  }

  call({ name, effect, mode }: AskedCall, work: (isRepeated?: boolean) => Promise<Settled>): RestateHandle {
    const { context, attempt } = this.options
    const perform = async (isRepeated?: boolean): Promise<Entry> => ({
      call: encodeSettled(await work(isRepeated)),
      now: Date.now(),
    })
    // Nested calls of a tool are not in a journal: the tool is informed if its call was begun before.
    if (mode === 'read' || (mode === 'repeat' && effect.kind !== 'tool.call'))
      return makeHandle(context.run(name, () => perform()))
    // Two entries: which attempt began it, and what it came to. An attempt that finds the beginning of another one must not begin a `once` call
    // again. The work starts only after its start is recorded.
    const begin = context.run(`begin ${name}`, (): Entry => ({ text: attempt, now: Date.now() }))
    const unknown: Entry = { call: encodeSettled({ kind: 'unknown' }), now: Date.now() }
    const behind = (began: string): restate.RestatePromise<Entry> => {
      const isRepeated = began !== attempt
      return context.run(name, async () => (isRepeated && mode === 'once' ? unknown : await perform(isRepeated)))
    }
    return { ...makeHandle(begin), behind }
  }

  timer(atMs: number): RestateHandle {
    const slept = this.options.context.sleep(Math.max(0, Math.ceil(atMs - this.time)))
    return { ...makeHandle(slept.map((): Entry => ({ now: atMs }))), dueAt: atMs }
  }

  promise(token: string): RestateHandle {
    const known = this.options.answers.get(token)
    const { id, promise } = this.options.context.awakeable<AnswerEntry>()
    const handle = makeHandle(promise.map((answer): Entry => ({ now: answer!.now, text: answer!.line })))
    if (known === undefined) this.options.listen(token, id)
    else {
      handle.ready = { now: known.now, text: known.line }
      this.unread.add(handle)
    }
    this.tokens.set(handle, token)
    return handle
  }

  private readonly tokens = new Map<RestateHandle, string>()

  async first(waiting: readonly RestateHandle[]): Promise<{ readonly at: number; readonly value: Settled | string | null }> {
    for (;;) {
      const ready = waiting.findIndex((handle) => handle.ready !== null)
      const { at, entry } = ready >= 0 ? { at: ready, entry: waiting[ready]!.ready! } : await raceHandles(waiting)
      const handle = waiting[at]!
      handle.ready = null
      this.unread.delete(handle)
      this.time = Math.max(this.time, entry.now)
      if (handle.behind !== null) {
        handle.promise = handle.behind(entry.text!)
        handle.behind = null
        continue
      }
      const token = this.tokens.get(handle)
      if (token !== undefined) this.used.push(token)
      return { at, value: entry.call === undefined ? (entry.text ?? null) : decodeSettled(entry.call) }
    }
  }

  close(token: string): void {
    this.options.close(token)
  }

  park({ tokens, events, wakeAt, isIdle, isFull, snapshot }: ParkableWait): Promise<boolean> {
    if (!isIdle || this.unread.size > 0) return Promise.resolve(false)
    const isShort = tokens.size === 0 && events.length === 0 && wakeAt !== null && wakeAt - this.time < this.options.keepMs
    if (isShort && !isFull) return Promise.resolve(false)
    this.parked = {
      snapshot: Buffer.from(snapshot()).toString('base64'),
      tokens: [...tokens].map(([id, { token, limit }]) => (limit === null ? [id, token] : [id, token, limit])),
      wakeAt,
      now: this.time,
      isFull,
    }
    return Promise.resolve(true)
  }
}

function makeHandle(promise: restate.RestatePromise<Entry>): RestateHandle {
  return { promise, behind: null, ready: null, dueAt: null }
}

async function raceHandles(waiting: readonly RestateHandle[]): Promise<{ readonly at: number; readonly entry: Entry }> {
  try {
    return await restate.RestatePromise.race(waiting.map(({ promise }, at) => promise.map((entry) => ({ at, entry: entry! }))))
  } catch (cause) {
    throw new EngineFailed(cause)
  }
}

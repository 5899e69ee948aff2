// DurableHost on the context of a DBOS workflow. Each call is a step, and so is each choice among what is waited for, so that a workflow that is played
// again after a crash meets the same answers in the same order. Functions of DBOS are numbered in the order in which they are called: whatever calls
// one may depend only on what earlier ones gave.

import { DBOS } from '@dbos-inc/dbos-sdk'
import { decodeSettled, encodeSettled } from '../host/durable/answers.js'
import { EngineFailed } from '../host/durable/host.js'
import type { AskedCall, DurableHost, Settled } from '../host/durable/host.js'
import { ANSWERS, WAITS_FOR } from './names.js'
import type { SentAnswer } from './names.js'

/** What a handle came to: when, and what, as text. */
interface Entry {
  readonly now: number
  readonly call?: string
  readonly text?: string
}

export interface DbosHandle {
  /** Null for one that only a message settles. */
  promise: Promise<Entry> | null
  /** For a call that is made once: the call itself, read after its start is stored. */
  behind: ((began: string) => Promise<Entry>) | null
  ready: Entry | null
}

/** How long a workflow waits for a message; it then waits again. */
const MOST_WAIT_S = 7 * 86_400

export class DbosHost implements DurableHost<DbosHandle> {
  private time: number
  private readonly attempt: string
  private readonly answers = new Map<string, Entry>()
  private readonly waiting = new Map<string, DbosHandle[]>()
  private readonly closed = new Set<string>()
  private message: Promise<SentAnswer | null> | null = null
  private told = ''

  /** `attempt` differs in each attempt of each process: it distinguishes calls begun by this attempt from those of earlier attempts. */
  constructor(startedAt: number, attempt: string) {
    this.time = startedAt
    this.attempt = attempt
  }

  now(): number {
    return this.time
  }

  call({ name, effect, mode }: AskedCall, work: (isRepeated?: boolean) => Promise<Settled>): DbosHandle {
    const perform = async (isRepeated?: boolean): Promise<Entry> => ({
      call: encodeSettled(await work(isRepeated)),
      now: Date.now(),
    })
    // Nested calls of a tool are not steps: the tool is informed if its call was begun before.
    if (mode === 'read' || (mode === 'repeat' && effect.kind !== 'tool.call'))
      return makeHandle(DBOS.runStep(() => perform(), { name }))
    // Two steps: which attempt began it, and what it came to. An attempt that finds the beginning of another one must not begin a `once` call again.
    const begin = (): Promise<Entry> => Promise.resolve({ text: this.attempt, now: Date.now() })
    const unknown: Entry = { call: encodeSettled({ kind: 'unknown' }), now: Date.now() }
    const behind = (began: string): Promise<Entry> => {
      const isRepeated = began !== this.attempt
      const make = (): Promise<Entry> => (isRepeated && mode === 'once' ? Promise.resolve(unknown) : perform(isRepeated))
      return DBOS.runStep(make, { name })
    }
    return { ...makeHandle(DBOS.runStep(begin, { name: `begin ${name}` })), behind }
  }

  timer(atMs: number): DbosHandle {
    return makeHandle(DBOS.sleep(Math.max(0, Math.ceil(atMs - this.time))).then(() => ({ now: atMs })))
  }

  promise(token: string): DbosHandle {
    const handle: DbosHandle = { promise: null, behind: null, ready: this.answers.get(token) ?? null }
    if (handle.ready === null) this.waiting.set(token, [...(this.waiting.get(token) ?? []), handle])
    return handle
  }

  async first(waiting: readonly DbosHandle[]): Promise<{ readonly at: number; readonly value: Settled | string | null }> {
    try {
      return await this.choose(waiting)
    } catch (cause) {
      throw new EngineFailed(cause)
    }
  }

  private async choose(
    waiting: readonly DbosHandle[],
  ): Promise<{ readonly at: number; readonly value: Settled | string | null }> {
    await this.tellWaits()
    for (;;) {
      const ready = waiting.findIndex((handle) => handle.ready !== null)
      const found = ready >= 0 ? { at: ready, entry: waiting[ready]!.ready! } : await this.race(waiting)
      if (found === null) continue
      const { at, entry } = found
      const handle = waiting[at]!
      handle.ready = null
      this.time = Math.max(this.time, entry.now)
      if (handle.behind === null)
        return { at, value: entry.call === undefined ? (entry.text ?? null) : decodeSettled(entry.call) }
      handle.promise = handle.behind(entry.text!)
      handle.behind = null
    }
  }

  close(token: string): void {
    this.closed.add(token)
    this.waiting.delete(token)
  }

  /** What the run leaves behind waits no longer. */
  async end(runId: string): Promise<void> {
    if (this.message === null) return
    await DBOS.send(runId, null, ANSWERS)
    await this.message
  }

  /** Null: a message came, which may have made a handle ready. */
  private async race(waiting: readonly DbosHandle[]): Promise<{ readonly at: number; readonly entry: Entry } | null> {
    this.message ??= DBOS.recv<SentAnswer | null>(ANSWERS, MOST_WAIT_S)
    const sources: Promise<unknown>[] = [this.message]
    const places: number[] = [-1]
    for (const [at, { promise }] of waiting.entries()) {
      if (promise === null) continue
      sources.push(promise)
      places.push(at)
    }
    const choose = (): Promise<number> => Promise.race(sources.map((source, at) => source.then(() => at)))
    const chosen = await DBOS.runStep(choose, { name: 'first' })
    const at = places[chosen]!
    if (at >= 0) return { at, entry: await waiting[at]!.promise! }
    const message = await this.message
    this.message = null
    if (message !== null) this.take(message)
    return null
  }

  /** The first answer for a token counts. */
  private take({ token, line, now }: SentAnswer): void {
    if (this.answers.has(token) || this.closed.has(token)) return
    const entry = { now, text: line }
    this.answers.set(token, entry)
    for (const handle of this.waiting.get(token) ?? []) handle.ready = entry
    this.waiting.delete(token)
  }

  private async tellWaits(): Promise<void> {
    const tokens = [...this.waiting.keys()].filter((token) => token !== CANCEL)
    const text = JSON.stringify(tokens)
    if (text === this.told || (this.told === '' && tokens.length === 0)) return
    this.told = text
    await DBOS.setEvent(WAITS_FOR, tokens)
  }
}

/** Everybody waits for it. */
const CANCEL = 'bridle:cancel'

function makeHandle(promise: Promise<Entry>): DbosHandle {
  // Raised where it is waited for.
  promise.catch(() => {})
  return { promise, behind: null, ready: null }
}

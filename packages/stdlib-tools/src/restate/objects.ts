// Two virtual objects of Restate, each by the id of the run. `BridleRun` drives it: an invocation of `wake` is one piece, from where the run begins
// or continues to where only people and timers are waited for, or its journal is full; the snapshot then lies in the state of the object. Handlers of
// an object run one after the other, and a piece may take long, so answers from outside go to `BridleInbox`, whose handlers are short.

import * as restate from '@restatedev/restate-sdk'
import { DurableDriver } from '../host/durable/driver.js'
import { EngineFailed, RunParked, RunReleased } from '../host/durable/host.js'
import { answerUnknown } from '../host/durable/pieces.js'
import { summarizeResult } from '../host/durable/ended.js'
import type { EndedRun } from '../host/durable/ended.js'
import { judgeCall } from '../host/durable/worker.js'
import type { DurableWorkerOptions } from '../host/durable/worker.js'
import type { NewProgram } from '../host/durable/store.js'
import type { Module } from '../host/module.js'
import type { Run, RunParts } from '../host/run.js'
import type { Runtime } from '../host/runtime.js'
import { describeCause } from '../tools/executors/provider.js'
import type { TokenLimit } from '../tools/executors/provider.js'
import { INBOX_OBJECT, RUN_OBJECT } from './names.js'
import type { RestateRunState } from './names.js'
import { RestateHost } from './restate-host.js'
import type { AnswerEntry, ParkedPiece } from './restate-host.js'

export interface RestateRunsOptions extends Pick<
  DurableWorkerOptions,
  'onUnknownOutcome' | 'start' | 'readStatus' | 'onEnd' | 'onParked' | 'onStuck'
> {
  readonly runtime: Runtime
  /** Calls after which a run leaves for a snapshot; 200 when absent. */
  readonly callsAPiece?: number
  /** Waits for timers that are shorter stay in the piece; one second when absent. */
  readonly keepMs?: number
}

/** What `submit` is given: what a store keeps of a new run. */
export interface SubmittedRun {
  readonly program: NewProgram
  readonly head: readonly string[]
  readonly tools: readonly string[]
  readonly startedAt: number
}

interface RunFields extends restate.TypedState {
  beginning: SubmittedRun
  parked: ParkedPiece
  stuck: string
  result: EndedRun
}

type RunContext = restate.ObjectContext<RunFields>

interface InboxFields extends restate.TypedState {
  state: 'open' | 'ended'
  /** Tokens of the run while no process works on it. */
  parked: readonly string[]
}

export type RunObject = ReturnType<typeof makeRunObject>
export type InboxObject = ReturnType<typeof makeInbox>

const inboxApi: InboxObject = { name: INBOX_OBJECT } as InboxObject
const runApi: RunObject = { name: RUN_OBJECT } as RunObject

let attempts = 0

/** The services that an endpoint binds: `endpoint().bind(each)`. */
export function restateRuns(options: RestateRunsOptions): readonly [RunObject, InboxObject] {
  return [makeRunObject(options), makeInbox()]
}

// --------------------------------------------------------------------------------------------------------------- BridleRun

function makeRunObject(options: RestateRunsOptions) {
  const modules = new Map<string, Module>()
  // A process that was killed and one that takes its place must not look alike.
  const process = globalThis.crypto.randomUUID()
  const load = ({ hash, sources }: NewProgram): Module => {
    const known = modules.get(hash)
    if (known !== undefined) return known
    const module = options.runtime.loadProgram(sources)
    modules.set(hash, module)
    return module
  }
  return restate.object({
    name: RUN_OBJECT,
    handlers: {
      submit: async (context: RunContext, run: SubmittedRun): Promise<{ readonly isNew: boolean }> => {
        if ((await context.get('beginning')) !== null) return { isNew: false }
        await context.objectClient(inboxApi, context.key).open()
        context.set('beginning', run)
        context.objectSendClient(runApi, context.key).wake({ at: null })
        return { isNew: true }
      },
      /** `at`: the timer that it is for. */
      wake: async (context: RunContext, { at }: { readonly at: number | null }): Promise<void> => {
        const beginning = await context.get('beginning')
        const parked = await context.get('parked')
        const isOver = (await context.get('result')) !== null || (await context.get('stuck')) !== null
        if (beginning === null || isOver || (at !== null && parked?.wakeAt !== at)) return
        await drivePiece(context, { options, beginning, parked, load, attempt: `${process} ${attempts++}` })
      },
      retry: async (context: RunContext): Promise<boolean> => {
        if ((await context.get('stuck')) === null) return false
        context.clear('stuck')
        context.objectSendClient(runApi, context.key).wake({ at: null })
        return true
      },
      get: restate.handlers.object.shared(
        async (context: restate.ObjectSharedContext<RunFields>): Promise<RestateRunState | null> => {
          const beginning = await context.get('beginning')
          if (beginning === null) return null
          const parked = await context.get('parked')
          const stuck = await context.get('stuck')
          const result = await context.get('result')
          const states = [
            [result !== null, 'ended'],
            [stuck !== null, 'stuck'],
            [parked !== null && !parked.isFull, 'parked'],
          ] as const
          return {
            state: states.find(([holds]) => holds)?.[1] ?? 'ready',
            program: { hash: beginning.program.hash, label: beginning.program.label },
            startedAt: beginning.startedAt,
            wakeAt: parked?.wakeAt ?? null,
            waitsFor: parked?.tokens.map(([, token]) => token) ?? [],
            reason: stuck,
            result,
            sizeBytes: Math.floor(((parked?.snapshot.length ?? 0) * 3) / 4),
          }
        },
      ),
    },
  })
}

interface PieceParts {
  readonly options: RestateRunsOptions
  readonly beginning: SubmittedRun
  readonly parked: ParkedPiece | null
  readonly load: (program: NewProgram) => Module
  readonly attempt: string
}

async function drivePiece(context: RunContext, { options, beginning, parked, load, attempt }: PieceParts): Promise<void> {
  const { runtime, onUnknownOutcome: decide = () => 'fail' as const, start } = options
  const { key } = context
  const now = parked === null ? beginning.startedAt : Math.max(parked.now, await context.date.now())
  const tokens = parked?.tokens.map(([, token]) => token) ?? []
  const answers = tokens.length === 0 ? {} : await context.objectClient(inboxApi, key).take({ tokens })
  const isDue = parked === null || parked.isFull || (parked.wakeAt !== null && parked.wakeAt <= now)
  // A message of an earlier wait.
  if (!isDue && Object.keys(answers).length === 0) return
  const setStuck = (reason: string): void => {
    context.set('stuck', reason)
    options.onStuck?.(key, reason)
  }
  let run: Run
  const host = new RestateHost({
    context: context as unknown as restate.ObjectContext,
    startedAt: now,
    listen: (token, awakeable) => context.objectSendClient(inboxApi, key).listen({ token, awakeable }),
    close: (token) => context.objectSendClient(inboxApi, key).close({ tokens: [token] }),
    answers: new Map(Object.entries(answers)),
    mostSteps: options.callsAPiece ?? 200,
    keepMs: options.keepMs ?? 1000,
    attempt,
  })
  try {
    const module = load(beginning.program)
    const piece = {
      module,
      head: beginning.head,
      snapshot: parked === null ? null : Buffer.from(parked.snapshot, 'base64'),
      lines: [],
    }
    const opened = runtime.openPiece(piece, { ...start?.(key), decide })
    if (opened.kind === 'lacking') return await retryElsewhere(opened.tool)
    if (opened.kind !== 'open') return setStuck(opened.kind === 'stuck' ? opened.reason : 'its journal says that it has ended')
    const drive: RunParts['drive'] = (driven, pack) =>
      new DurableDriver(driven, host, {
        pack,
        judge: (effect) => judgeCall(effect, runtime),
        limits: readLimits(parked),
        unknown: (id, effect) => answerUnknown(key, id, effect, decide),
      })
    run = opened.begin(drive)
  } catch (cause) {
    if (isOfEngine(cause)) throw cause
    return setStuck(describeCause(cause))
  }
  // The attempt is over, here: it was suspended, or another one has taken its place.
  context.request().attemptCompletedSignal.addEventListener('abort', () => run.release(new RunReleased()), { once: true })
  try {
    const ended = summarizeResult(key, await run.result, options.readStatus)
    context.set('result', ended)
    context.clear('parked')
    context.objectSendClient(inboxApi, key).end()
    options.onEnd?.(ended)
  } catch (cause) {
    const left = host.parked
    if (!(cause instanceof RunParked) || left === null) {
      if (cause instanceof EngineFailed) throw cause.cause
      if (cause instanceof RunReleased || isOfEngine(cause)) throw cause
      return setStuck(describeCause(cause))
    }
    context.set('parked', left)
    context.objectSendClient(inboxApi, key).park({ tokens: left.tokens.map(([, token]) => token), used: host.used })
    const self = context.objectSendClient(runApi, key)
    if (left.isFull) self.wake({ at: null })
    else if (left.wakeAt !== null) {
      const milliseconds = Math.max(0, Math.ceil(left.wakeAt - left.now))
      self.wake({ at: left.wakeAt }, restate.rpc.sendOpts({ delay: { milliseconds } }))
    }
    options.onParked?.(key)
  }
}

/** Restate asks again, here or at a worker that has the tool: the run waits, it does not fail. */
function retryElsewhere(tool: string): Promise<never> {
  const message = `no worker here has the tool ${JSON.stringify(tool)}`
  return Promise.reject(new restate.RetryableError(message, { retryAfter: { seconds: 1 } }))
}

/** What Restate raises within an invocation is its own affair: an attempt that ends, an invocation that is cancelled. */
function isOfEngine(cause: unknown): boolean {
  return cause instanceof restate.RestateError || cause instanceof restate.RetryableError
}

function readLimits(parked: ParkedPiece | null): ReadonlyMap<number, TokenLimit> {
  return new Map(
    (parked?.tokens ?? []).flatMap(([id, , limit]) => (limit === undefined || limit === null ? [] : [[id, limit] as const])),
  )
}

// ------------------------------------------------------------------------------------------------------------- BridleInbox

type InboxContext = restate.ObjectContext<InboxFields>

/** Keys of the state: an answer, who waits for one, and that a token has had its answer. */
const answerKey = (token: string): string => `answer:${token}`
const waiterKey = (token: string): string => `waiter:${token}`
const closedKey = (token: string): string => `closed:${token}`

function makeInbox() {
  const read = <T>(context: InboxContext, key: string): Promise<T | null> =>
    (context as unknown as restate.ObjectContext).get<T>(key)
  const write = (context: InboxContext, key: string, value: unknown): void =>
    (context as unknown as restate.ObjectContext).set(key, value)
  const drop = (context: InboxContext, key: string): void => (context as unknown as restate.ObjectContext).clear(key)
  return restate.object({
    name: INBOX_OBJECT,
    handlers: {
      open: async (context: InboxContext): Promise<void> => {
        if ((await context.get('state')) === null) context.set('state', 'open')
      },
      /** The first answer for a token counts. */
      put: async (
        context: InboxContext,
        { token, line }: { readonly token: string; readonly line: string },
      ): Promise<'kept' | 'known' | 'gone'> => {
        if ((await context.get('state')) !== 'open') return 'gone'
        if ((await read(context, answerKey(token))) !== null || (await read(context, closedKey(token))) !== null) return 'known'
        const entry: AnswerEntry = { line, now: await context.date.now() }
        write(context, answerKey(token), entry)
        const waiter = await read<string>(context, waiterKey(token))
        if (waiter !== null) context.resolveAwakeable(waiter, entry)
        if ((await context.get('parked'))?.includes(token) === true) wakeRun(context)
        return 'kept'
      },
      listen: async (
        context: InboxContext,
        { token, awakeable }: { readonly token: string; readonly awakeable: string },
      ): Promise<void> => {
        const entry = await read<AnswerEntry>(context, answerKey(token))
        if (entry === null) write(context, waiterKey(token), awakeable)
        else context.resolveAwakeable(awakeable, entry)
      },
      /** The run has left; `used` are the answers that it has. */
      park: async (
        context: InboxContext,
        { tokens, used }: { readonly tokens: readonly string[]; readonly used: readonly string[] },
      ): Promise<void> => {
        closeTokens(context, used)
        for (const key of await context.stateKeys()) if (key.startsWith('waiter:')) drop(context, key)
        context.set('parked', tokens)
        for (const token of tokens) if ((await read(context, answerKey(token))) !== null) return wakeRun(context)
      },
      /** The run continues, with the answers that are here. */
      take: async (
        context: InboxContext,
        { tokens }: { readonly tokens: readonly string[] },
      ): Promise<{ readonly [token: string]: AnswerEntry }> => {
        context.clear('parked')
        const found: (readonly [string, AnswerEntry])[] = []
        for (const token of tokens) {
          const entry = await read<AnswerEntry>(context, answerKey(token))
          if (entry !== null) found.push([token, entry])
        }
        return Object.fromEntries(found)
      },
      close: async (context: InboxContext, { tokens }: { readonly tokens: readonly string[] }): Promise<void> => {
        closeTokens(context, tokens)
      },
      end: async (context: InboxContext): Promise<void> => {
        context.clearAll()
        context.set('state', 'ended')
      },
    },
  })

  function closeTokens(context: InboxContext, tokens: readonly string[]): void {
    for (const token of tokens) {
      write(context, closedKey(token), true)
      drop(context, answerKey(token))
      drop(context, waiterKey(token))
    }
  }
}

function wakeRun(context: InboxContext): void {
  context.objectSendClient(runApi, context.key).wake({ at: null })
}

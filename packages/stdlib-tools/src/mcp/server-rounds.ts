// Calls of clients of the revision 2026-07-28, which take rounds: what needs the client's person, model or folders ends the request with a
// question, and continues when the same request comes back with the answer. Between the two the code waits in this process, and the state
// that goes to the client and back is only its unguessable name. A request with answers but without a name (another process
// may have had it) begins anew, with those answers to hand.

import { randomUUID } from 'node:crypto'
import { withIntegers } from '../tools/executors/exact-json.js'
import { INTERNAL, INVALID_PARAMS, RpcError, isObject, takeInputKey } from './server-protocol.js'
import type { Json, JsonObject, RequestScope } from './server-protocol.js'
import { INPUT_METHODS, META, MISSING_CAPABILITY } from './modern-wire.js'
import { LOG_LEVELS, makeReports } from './server-reports.js'

/** How long code that asks several things at once is given to ask all of them. */
const GATHER_MS = 10
const MOST_KEY = 200

/** The client, and its info from each request. */
export interface Caller {
  readonly client: string | null
  readonly params: JsonObject
  readonly notify: (method: string, params: JsonObject) => void
  readonly signal: AbortSignal
}

export type Work = (scope: RequestScope) => Promise<JsonObject>

interface Question {
  readonly method: string
  readonly params: JsonObject
  readonly resolve: (answer: JsonObject) => void
  readonly reject: (cause: RpcError) => void
}

type Outcome =
  | { readonly kind: 'done'; readonly result: JsonObject }
  | { readonly kind: 'failed'; readonly cause: unknown }
  | { readonly kind: 'asks' }

/** What the client declared with this request. */
export function readCapabilities(params: JsonObject): JsonObject {
  const meta = params['_meta']
  const declared = isObject(meta) ? meta[META.capabilities] : undefined
  return isObject(declared) ? declared : {}
}

const NEEDS: { readonly [method: string]: string } = {
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
  'roots/list': 'roots',
}

/** Whether an answer can be one to such a question; what is in it the code judges. */
function isAnswer(method: string, answer: JsonObject): boolean {
  switch (method) {
    case 'elicitation/create':
      return (
        answer['action'] === 'decline' || answer['action'] === 'cancel' || (answer['action'] === 'accept' && isContent(answer))
      )
    case 'sampling/createMessage':
      return isObject(answer['content']) || Array.isArray(answer['content'])
    case 'roots/list':
      return Array.isArray(answer['roots'])
    default:
      return true
  }
}
const isContent = ({ content }: JsonObject): boolean => content === undefined || isObject(content)

/** One call, from its first request to its result. */
export class CallInRounds {
  readonly client: string | null
  /** Identity of the call: a request with its state must match it. */
  readonly identity: string
  private readonly stop = new AbortController()
  private readonly questions = new Map<string, Question>()
  /** Answers that came before their questions. */
  private readonly early = new Map<string, JsonObject>()
  private caller: Caller
  private asked = 0
  private gathering: ReturnType<typeof setTimeout> | null = null
  private outcome: Outcome | null = null
  private settle: ((outcome: Outcome) => void) | null = null
  /** Whether a request is open, on which something can be said. */
  private isHeard = true
  /** A capability that was needed and not declared. */
  private missing: RpcError | null = null

  constructor(caller: Caller, identity: string) {
    this.client = caller.client
    this.identity = identity
    this.caller = caller
  }

  get offersForms(): boolean {
    return Object.hasOwn(readCapabilities(this.caller.params), 'elicitation')
  }

  start(work: Work): void {
    work(this.makeScope()).then(
      (result) => this.end({ kind: 'done', result }),
      (cause: unknown) => this.end({ kind: 'failed', cause }),
    )
  }

  /** Continues until there is a result, or a question; null for the latter. */
  async go(caller: Caller): Promise<JsonObject | null> {
    this.caller = caller
    this.isHeard = true
    const onAbort = (): void => this.abort('the client went away')
    caller.signal.addEventListener('abort', onAbort, { once: true })
    try {
      if (caller.signal.aborted) onAbort()
      this.takeAnswers(caller.params['inputResponses'])
      if (this.outcome === null && this.questions.size > 0 && this.gathering === null) return null
      const outcome = this.outcome ?? (await new Promise<Outcome>((resolve) => (this.settle = resolve)))
      if (outcome.kind === 'asks') return null
      if (outcome.kind === 'failed') throw outcome.cause
      const { result } = outcome
      // Code that did not get along without a capability ends with that; code that did has a result.
      if (this.missing !== null && result['isError'] === true && JSON.stringify(result).includes(this.missing.message))
        throw this.missing
      return result
    } finally {
      caller.signal.removeEventListener('abort', onAbort)
      this.settle = null
      this.isHeard = false
    }
  }

  /** Of the round that ended with questions. */
  listQuestions(): JsonObject {
    return Object.fromEntries([...this.questions].map(([key, { method, params }]) => [key, { method, params }]))
  }

  /** Answers to the questions of now; those to others wait for theirs. Throws RpcError if an answer is invalid. */
  takeAnswers(given: Json | undefined): void {
    if (given === undefined) return
    if (!isObject(given)) throw new RpcError(INVALID_PARAMS, 'inputResponses is an object with an answer for each key')
    for (const [key, answer] of Object.entries(given)) {
      const question = this.questions.get(key)
      if (question === undefined) {
        if (isObject(answer) && this.early.size < MOST_KEY) this.early.set(key, answer)
        else if (!isObject(answer)) throw new RpcError(INVALID_PARAMS, `inputResponses: ${JSON.stringify(key)} is no answer`)
        continue
      }
      if (!isObject(answer) || !isAnswer(question.method, answer))
        throw new RpcError(INVALID_PARAMS, `inputResponses: ${JSON.stringify(key)} is no answer to ${question.method}`)
      this.questions.delete(key)
      question.resolve(withIntegers(answer))
    }
  }

  abort(why: string): void {
    if (this.stop.signal.aborted) return
    this.stop.abort(new Error(why))
    const cause = new RpcError(INTERNAL, why)
    for (const { reject } of [...this.questions.values()]) reject(cause)
    this.questions.clear()
    this.end({ kind: 'failed', cause })
  }

  get isAborted(): boolean {
    return this.stop.signal.aborted
  }

  get hasEnded(): boolean {
    return this.outcome !== null
  }

  /** Asks the client; also what a run asks of a person. */
  ask(method: string, given: JsonObject): Promise<JsonObject> {
    const { key: named, params } = takeInputKey(given)
    const needed = Object.hasOwn(NEEDS, method) ? NEEDS[method]! : null
    if (needed === null || !INPUT_METHODS.has(method))
      return Promise.reject(new RpcError(INVALID_PARAMS, `a client cannot be asked for ${method}`))
    if (!Object.hasOwn(readCapabilities(this.caller.params), needed)) {
      const message = `the client does not offer ${needed}`
      this.missing = new RpcError(MISSING_CAPABILITY, message, { requiredCapabilities: { [needed]: {} } })
      return Promise.reject(this.missing)
    }
    if (this.stop.signal.aborted) return Promise.reject(new RpcError(INTERNAL, `${method} was cancelled`))
    this.asked += 1
    const key = named !== null && !this.questions.has(named) ? named : `input-${this.asked}`
    const early = this.early.get(key)
    if (early !== undefined) {
      this.early.delete(key)
      if (isAnswer(method, early)) return Promise.resolve(withIntegers(early))
    }
    return new Promise((resolve, reject) => {
      this.questions.set(key, { method, params, resolve, reject })
      this.gathering ??= setTimeout(() => {
        this.gathering = null
        if (this.questions.size > 0) this.settle?.({ kind: 'asks' })
      }, GATHER_MS)
    })
  }

  private end(outcome: Outcome): void {
    if (this.outcome !== null) return
    this.outcome = outcome
    if (this.gathering !== null) clearTimeout(this.gathering)
    this.gathering = null
    this.settle?.(outcome)
  }

  private makeScope(): RequestScope {
    const readMeta = (key: string): Json | undefined => {
      const meta = this.caller.params['_meta']
      return isObject(meta) ? meta[key] : undefined
    }
    const { signal } = this.stop
    const capabilities = (): JsonObject => readCapabilities(this.caller.params)
    const info = (): JsonObject => {
      const said = readMeta(META.clientInfo)
      return isObject(said) ? said : {}
    }
    return {
      signal,
      ...makeReports({
        token: () => readMeta('progressToken'),
        level: () => {
          const at = LOG_LEVELS.indexOf(String(readMeta(META.logLevel)))
          return at < 0 ? null : at
        },
        // Notifications between two requests are dropped.
        notify: (method, params) => (this.isHeard ? this.caller.notify(method, params) : undefined),
        signal,
      }),
      client: {
        get info() {
          return info()
        },
        get capabilities() {
          return capabilities()
        },
        get revision() {
          const version = readMeta(META.version)
          return typeof version === 'string' ? version : undefined
        },
        request: (method, params) => this.ask(method, params),
      },
    }
  }
}

interface Kept {
  readonly call: CallInRounds
  readonly until: ReturnType<typeof setTimeout>
}

/** Calls that wait for their clients. */
export class WaitingCalls {
  private readonly calls = new Map<string, Kept>()
  private readonly most: number
  private readonly patienceMs: number

  constructor(most: number, patienceMs: number) {
    this.most = most
    this.patienceMs = patienceMs
  }

  /** The name by which the call is known. */
  keep(call: CallInRounds): string {
    const [oldest] = this.calls.keys()
    if (this.calls.size >= this.most && oldest !== undefined) this.drop(oldest)
    const state = randomUUID()
    this.calls.set(state, { call, until: setTimeout(() => this.drop(state), this.patienceMs).unref() })
    return state
  }

  /** Throws RpcError if the name is not a call of this client. */
  take(state: Json, client: string | null, identity: string): CallInRounds {
    const kept = typeof state === 'string' ? this.calls.get(state) : undefined
    if (kept === undefined || kept.call.client !== client || kept.call.identity !== identity)
      throw new RpcError(
        INVALID_PARAMS,
        'requestState names no call of yours that waits for input: it ended, or this is another request',
      )
    clearTimeout(kept.until)
    this.calls.delete(String(state))
    return kept.call
  }

  close(): void {
    for (const state of [...this.calls.keys()]) this.drop(state)
  }

  private drop(state: string): void {
    const kept = this.calls.get(state)
    this.calls.delete(state)
    if (kept === undefined) return
    clearTimeout(kept.until)
    kept.call.abort('the client did not come back')
  }
}

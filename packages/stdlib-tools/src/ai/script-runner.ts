// One script of a model, from its text to an outcome that a model can read: what was found in it, what it gave, why it failed, or for whom it
// waits. A run that waits for a person ends here and continues from its snapshot once there is an answer, so that it makes no difference
// in which process that comes; nothing it did before is done again.

import { listenForAbort } from '../library/abort.js'
import { SourceFile } from '@bridle/parser'
import type { Plain } from '@bridle/vm'
import { typeName } from '@bridle/vm/families'
import { CompileError } from '../host/compile-errors.js'
import type { Run, RunResult } from '../host/run.js'
import type { Runtime } from '../host/runtime.js'
import type { CompileSettings, StartOptions } from '../host/runtime-options.js'
import { isToolError } from '../tools/host-tools/errors.js'
import { plainFromHost } from '../tools/host-tools/edge.js'
import { readAnswer } from '../tools/policy/answers.js'
import type { ApprovalRequest } from '../tools/policy/approval-request.js'
import type { Answer } from '../tools/policy/answers.js'
import { describeCause } from '../tools/executors/provider.js'
import { CallCounter } from './call-counter.js'
import type { CallSummary } from './call-counter.js'
import { decodePending, encodePending, memoryPendingStore } from './pending-runs.js'
import type { PendingRun, PendingStore } from './pending-runs.js'
import { renderFindings, renderScriptError } from './script-findings.js'
import { SCRIPT_FILE, replaceDeclarations } from './script-text.js'
import { Shelf, cutText, renderPlain, shortenText } from './shown.js'

/** What a model sends. */
export interface ScriptInput {
  /** The script; with `base` only the functions that change. */
  readonly script?: string | undefined
  /** An attempt before, in which the functions of `script` replace those of the same names. */
  readonly base?: string | undefined
  /** What the script gets by `runtime_pipeline_input()` of `std/runtime`. */
  readonly data?: unknown
  /** A result that was cut: it is the data of the script. Without a script more of it is shown. */
  readonly result?: string | undefined
  /** Where to continue showing a result. */
  readonly from?: number | undefined
  /** A run that waits for a person: what became of it. */
  readonly resume?: string | undefined
}

/** The requests to a person before a run continues. */
export interface ScriptRequest {
  readonly id: string
  readonly kind: ApprovalRequest['kind']
  readonly prompt: string
  /** Of a call: the tool and the exact arguments. */
  readonly call?: ApprovalRequest['call']
}

interface Told {
  /** What the script printed, cut where it is long. */
  readonly printed?: string
  /** What it called, with its cost. */
  readonly calls?: readonly CallSummary[]
}

/** What a model, or the program around it, gets. Plain JSON. */
export type ScriptOutcome =
  | ({ readonly status: 'done'; readonly value?: unknown; readonly cut?: CutValue } & Told)
  /** The script did not run. `base` names it for a next attempt. */
  | { readonly status: 'invalid'; readonly findings: string; readonly base?: string }
  | ({ readonly status: 'failed'; readonly error: string; readonly base?: string } & Told)
  | ({
      readonly status: 'pending'
      readonly token: string
      readonly requests: readonly ScriptRequest[]
      readonly next: string
    } & Told)

/** The beginning of a long value. */
export interface CutValue {
  readonly text: string
  readonly characters: number
  /** Handle of the whole: `{"result": "r1", "from": 4000}` shows more, and with a script it is its data. */
  readonly result: string
}

export interface RunnerOptions {
  /** Characters of a value or printed text that are shown; 8,000 when absent. */
  readonly maxCharacters?: number
  /** How runs start: limits, budgets, grants of tools. */
  readonly start?: Pick<
    StartOptions,
    'limits' | 'budgets' | 'grants' | 'toolGrants' | 'defaultDeny' | 'securityLevel' | 'providers' | 'tracing' | 'integers'
  >
  /** How long a script may run, in milliseconds; 60,000 when absent. Waiting for a person does not count. */
  readonly timeoutMs?: number
  /** Where runs that wait for a person are kept; in this process when absent. */
  readonly store?: PendingStore
  /** Several clients use the tool that do not know each other: handles of results and attempts are not to be guessed. */
  readonly isShared?: boolean
}

export interface ScriptCall {
  /** The token under which the run is kept when it waits; one is made when absent. */
  readonly token?: string | undefined
  readonly signal?: AbortSignal | undefined
}

const SETTINGS: CompileSettings = { file: SCRIPT_FILE, strictness: 'full', refuseMissing: true, checkTools: 'complete' }

const TIMEOUT_MS = 60_000
const CHARACTERS = 8_000

/** A run whose timers are due later than this is taken to wait for the person alone. */
const SOON_MS = 60_000

const NO_RUN =
  'no run waits under this token: it was answered, it expired, or it waits in another process (give scriptTool a store that all of them use)'

export class ScriptRunner {
  readonly store: PendingStore
  private readonly runtime: Runtime
  private readonly options: RunnerOptions
  private readonly attempts: Shelf<string>
  private readonly results: Shelf<{ readonly value: Plain; readonly text: string }>

  constructor(runtime: Runtime, options: RunnerOptions) {
    this.runtime = runtime
    this.options = options
    this.store = options.store ?? memoryPendingStore()
    const makeSuffix = options.isShared === true ? () => `_${makeRandomName()}` : () => ''
    this.attempts = new Shelf('s', 50, makeSuffix)
    this.results = new Shelf('r', 20, makeSuffix)
  }

  async run(input: ScriptInput, call: ScriptCall = {}): Promise<ScriptOutcome> {
    const { script, resume, result } = input
    if (typeof resume === 'string') return this.describePending(resume)
    if (typeof script !== 'string') return typeof result === 'string' ? this.showResult(result, input.from) : makeInvalid(NOTHING)
    const text = this.readScript(input)
    if (typeof text !== 'string') return text
    const data = this.readData(input)
    if (!('data' in data)) return data
    const base = this.attempts.put(text)
    const { signal, settle } = this.makeSignal(call.signal)
    const counter = new CallCounter((name) => this.findCost(name))
    try {
      const module = this.runtime.compile(text, SETTINGS)
      const watch = new Watch(this.runtime, counter)
      const run = this.runtime.start(module, {
        integers: 'number',
        ...this.options.start,
        input: data.data,
        signal,
        ...watch.options,
      })
      return await this.follow(watch, run, { text, base, counter, printed: 0, token: call.token })
    } catch (cause) {
      return this.describeRefusal(cause, text, base)
    } finally {
      settle()
    }
  }

  /**
   * Continues a run that waits. `answer` is for its only request, or `{answers: {id: answer}}` for each of several. An invalid answer
   * throws AnswerError, and the run continues waiting.
   */
  async resume(token: string, answer: Answer | ScriptAnswers, { signal: outer }: ScriptCall = {}): Promise<ScriptOutcome> {
    const waiting = await this.findPending(token)
    if (waiting === null) return makeFailed(NO_RUN)
    const answers = readAnswers(waiting.requests, answer)
    // Of several who answer at once one continues.
    const taken = await this.store.take(token)
    if (taken === null) return makeFailed(NO_RUN)
    const { snapshot, source, calls, printed } = decodePending(taken)
    const base = this.attempts.put(source)
    const { signal, settle } = this.makeSignal(outer)
    const counter = new CallCounter((name) => this.findCost(name), calls)
    try {
      const watch = new Watch(this.runtime, counter, answers)
      const run = this.runtime.resume(snapshot, { integers: 'number', ...this.options.start, signal, ...watch.options })
      return await this.follow(watch, run, { text: source, base, counter, printed, token: undefined })
    } catch (cause) {
      return this.describeRefusal(cause, source, base)
    } finally {
      settle()
    }
  }

  /** What a run waits for; null when none waits under the token. */
  async findPending(token: string): Promise<PendingRun | null> {
    const record = await this.store.load(token)
    return record === null ? null : decodePending(record)
  }

  async describePending(token: string): Promise<ScriptOutcome> {
    const waiting = await this.findPending(token)
    return waiting === null ? makeFailed(NO_RUN) : makePending(token, waiting.requests, {})
  }

  private readScript({ script = '', base }: ScriptInput): string | ScriptOutcome {
    if (base === undefined || base === '') return script
    const before = this.attempts.get(base)
    if (before === undefined) return makeInvalid(`there is no attempt ${JSON.stringify(base)} any more: send the whole script`)
    const replaced = replaceDeclarations(before, script)
    return 'text' in replaced ? replaced.text : makeInvalid(replaced.problem, base)
  }

  private readData({ data, result }: ScriptInput): { readonly data: unknown } | ScriptOutcome {
    if (typeof result !== 'string' || result === '') return { data: data ?? null }
    const whole = this.results.get(result)
    return whole === undefined ? makeInvalid(describeNoResult(result)) : { data: whole.value }
  }

  private showResult(result: string, from: unknown): ScriptOutcome {
    const whole = this.results.get(result)
    if (whole === undefined) return makeInvalid(describeNoResult(result))
    const start = typeof from === 'number' && from > 0 ? Math.min(Math.trunc(from), whole.text.length) : 0
    const text = cutText(whole.text, start, Math.min(start + this.mostCharacters, whole.text.length))
    return { status: 'done', cut: { text, characters: whole.text.length, result } }
  }

  private findCost(tool: string): number {
    const entry = this.runtime.host.entries.get(tool)
    const cost = typeof entry === 'object' && entry !== null ? Reflect.get(entry, 'cost_usd') : null
    return typeof cost === 'number' ? cost : 0
  }

  private get mostCharacters(): number {
    return this.options.maxCharacters ?? CHARACTERS
  }

  private makeSignal(outer: AbortSignal | undefined): { readonly signal: AbortSignal; readonly settle: () => void } {
    const controller = new AbortController()
    const { timeoutMs = TIMEOUT_MS } = this.options
    const timer = setTimeout(() => controller.abort(new Error(`it ran longer than ${timeoutMs} ms`)), timeoutMs)
    const ignore = listenForAbort(outer, () => controller.abort(outer?.reason))
    return {
      signal: controller.signal,
      settle: () => {
        clearTimeout(timer)
        ignore()
      },
    }
  }

  private async follow(watch: Watch, run: Run, facts: Facts): Promise<ScriptOutcome> {
    const suspended = watch.follow(run)
    for (;;) {
      const end = await Promise.race([run.result, suspended()])
      if (end !== null) return this.describeEnd(end, facts)
      const outcome = await this.suspend(watch, run, facts)
      if (outcome !== null) return outcome
    }
  }

  /** Stores the run as bytes and ends it in this process; null if an answer arrived meanwhile. */
  private async suspend(
    watch: Watch,
    run: Run,
    { text, counter, printed, token = makeToken() }: Facts,
  ): Promise<ScriptOutcome | null> {
    const asked = watch.listRequests()
    let snapshot: Uint8Array
    try {
      snapshot = await run.snapshot()
    } catch {
      return null
    }
    const requests = watch.listRequests()
    if (asked.length === 0 || requests.map(({ id }) => id).join('\n') !== asked.map(({ id }) => id).join('\n')) return null
    const { output } = run
    run.cancel('it waits for a person')
    await run.result
    const calls = counter.toPlain()
    await this.store.save(token, encodePending({ snapshot, requests, source: text, printed: output.length, calls }))
    return makePending(token, requests, this.describeTold(output.slice(printed), counter))
  }

  private describeEnd(result: RunResult, { text, base, counter, printed }: Facts): ScriptOutcome {
    const told = this.describeTold(result.output.slice(printed), counter)
    switch (result.status) {
      case 'done': {
        // It has no data: nothing would be left of it.
        const type = typeName(result.raw)
        if (type === 'iter' || type === 'generator')
          return {
            status: 'failed',
            error: `error: the script returned an ${type}\n  repair: return its items: \`.to_list()\`\n`,
            base,
            ...told,
          }
        return { status: 'done', ...this.describeValue(result.value), ...told }
      }
      case 'failed':
        return { status: 'failed', error: renderScriptError(result.error, text), base, ...told }
      case 'limit':
        return { status: 'failed', error: `error: ${result.message}\n  repair: do less at once\n`, base, ...told }
      case 'exit':
        return result.code === 0
          ? { status: 'done', value: null, ...told }
          : { status: 'failed', error: `error: the script ended with exit(${result.code})\n`, base, ...told }
      case 'cancelled':
        return { status: 'failed', error: `error: the script was stopped: ${result.reason}\n`, base, ...told }
    }
  }

  private describeValue(value: Plain): { readonly value: unknown } | { readonly cut: CutValue } {
    const text = renderPlain(value)
    if (text.length <= this.mostCharacters) return { value: JSON.parse(text) as unknown }
    const result = this.results.put({ value, text })
    return { cut: { text: cutText(text, 0, Math.floor(this.mostCharacters / 2)), characters: text.length, result } }
  }

  private describeTold(output: string, counter: CallCounter): Told {
    const calls = counter.list()
    return {
      ...(output === '' ? {} : { printed: shortenText(output, this.mostCharacters) }),
      ...(calls.length === 0 ? {} : { calls }),
    }
  }

  /** The findings that kept a script from running. Rethrows errors that the script did not cause. */
  private describeRefusal(cause: unknown, text: string, base: string): ScriptOutcome {
    if (cause instanceof CompileError)
      return {
        status: 'invalid',
        findings: renderFindings(cause.diagnostics, cause.file ?? new SourceFile(SCRIPT_FILE, text)),
        base,
      }
    if (isToolError(cause)) return { status: 'failed', error: `error[${cause.code}]: ${describeCause(cause)}\n`, base }
    throw cause
  }
}

interface Facts {
  readonly text: string
  readonly base: string
  readonly counter: CallCounter
  /** Output that was shown before. */
  readonly printed: number
  readonly token: string | undefined
}

/** Answers to several requests of one run, by their ids. */
export interface ScriptAnswers {
  readonly answers: { readonly [id: string]: Answer }
}

const NOTHING = 'give a script, or the result that you want to see more of'

const describeNoResult = (result: string): string => `there is no result ${JSON.stringify(result)} any more: run the script again`

const makeInvalid = (findings: string, base?: string): ScriptOutcome => ({
  status: 'invalid',
  findings,
  ...(base === undefined ? {} : { base }),
})
const makeFailed = (error: string): ScriptOutcome => ({ status: 'failed', error: `error: ${error}\n` })

function makePending(token: string, requests: readonly ApprovalRequest[], told: Told): ScriptOutcome {
  const asked = requests.map(({ id, kind, prompt, call }) => ({ id, kind, prompt, ...(call === undefined ? {} : { call }) }))
  const next = `a person is asked; the run goes on with the answer. {"resume": ${JSON.stringify(token)}} tells what became of it`
  return { status: 'pending', token, requests: asked, next, ...told }
}

function readAnswers(requests: readonly ApprovalRequest[], given: Answer | ScriptAnswers): ReadonlyMap<string, Plain> {
  const isMap = typeof given === 'object' && given !== null && 'answers' in given
  if (!isMap && requests.length !== 1)
    throw new TypeError(
      `the run waits for ${requests.length} answers: give {answers: {ID: answer}}, for ${requests.map(({ id }) => id).join(', ')}`,
    )
  const found = new Map<string, Plain>()
  for (const request of requests) {
    const answer = isMap ? (given as ScriptAnswers).answers[request.id] : (given as Answer)
    if (answer !== undefined && answer !== null) found.set(request.id, readAnswer(request, plainFromHost(answer)))
  }
  if (found.size === 0)
    throw new TypeError(`none of the answers is for what the run waits for: ${requests.map(({ id }) => id).join(', ')}`)
  return found
}

const makeToken = (): string => `run_${makeRandomName()}`

function makeRandomName(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Sees when a run waits for people only, and gives the answers that are there. */
class Watch {
  readonly options: Pick<StartOptions, 'onWaiting' | 'onEvent'>
  private readonly runtime: Runtime
  private readonly answers: Map<string, Plain>
  private run: Run | null = null
  private wake: (() => void) | null = null
  private isWaiting = false

  constructor(runtime: Runtime, counter: CallCounter, answers: ReadonlyMap<string, Plain> = new Map()) {
    this.runtime = runtime
    this.answers = new Map(answers)
    this.options = {
      onEvent: (event) => counter.count(event),
      onWaiting: ({ wakeAt }) => this.look(wakeAt),
    }
  }

  /** Gives a function that resolves to null each time the run waits for people. */
  follow(run: Run): () => Promise<null> {
    this.run = run
    return () =>
      new Promise((resolve) => {
        if (this.isWaiting) {
          this.isWaiting = false
          resolve(null)
        } else
          this.wake = () => {
            this.isWaiting = false
            resolve(null)
          }
      })
  }

  listRequests(): readonly ApprovalRequest[] {
    return this.runtime.approvals.pending().filter(({ runId }) => runId === this.run?.id)
  }

  private look(wakeAt: number | null): void {
    const requests = this.listRequests()
    const mine = requests.filter(({ id }) => this.answers.has(id))
    for (const { id } of mine) {
      const answer = this.answers.get(id)!
      this.answers.delete(id)
      this.runtime.approvals.respond(id, answer)
    }
    if (mine.length > 0 || requests.length === 0) return
    const calls = this.run?.pendingCalls() ?? []
    const onlyPeople = calls.length === requests.length && calls.every(({ effect }) => effect.kind === 'approval.ask')
    if (!onlyPeople || (wakeAt !== null && wakeAt - Date.now() < SOON_MS)) return
    this.isWaiting = true
    const { wake } = this
    this.wake = null
    wake?.()
  }
}

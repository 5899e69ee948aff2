// One attempt of a model call: judged, paid for in advance, answered by a mock (mock.ts) or, as one effect, by a provider outside the
// machine, and settled. It is a native frame: while it waits, a snapshot holds the request and what was put aside.

import { REQUEST_DEFAULTS } from '../../library/http/request-defaults.js'
import { Fault, HarnDict, HarnFloat, HarnList, display, frame, toPlain } from '@bridle/vm/families'
import type { Context, Effect, FrameState, Plain, Result, Value } from '@bridle/vm/families'
import { findBudgetProblem, estimateInput } from './budget.js'
import { makeFailure } from './errors.js'
import type { LlmFailure } from './errors.js'
import { answerMocked, makeBlocks, isMocked } from './mock.js'
import type { MockOutcome } from './mock.js'
import type { LlmRequest } from './options.js'
import { PROVIDERS, projectCost, findTokenPrices } from './providers.js'
import type { ProviderRow } from './providers.js'
import { findModelFacts } from './services.js'
import type { ModelFacts } from './services.js'
import { encodeFailure, decodeRequest, encodeResponse } from './request-value.js'
import { llmState } from './state.js'
import { openAnswers } from './stream-state.js'
import type { OpenAnswer, Reserved } from './stream-state.js'
import type { LlmResponse } from './state.js'
import { findEffectFault, reserveModelCall, settleModelCall } from '../../tools/policy/grants.js'
import { isGuarded } from '../../tools/policy/grant-ceiling.js'
import { readCallArguments } from '../../tools/definitions/model-arguments.js'
import { findCode, isInterruption } from '../../library/tool-errors.js'
import { listDicts } from '../transcripts/shape.js'

interface AttemptState extends FrameState {
  /** As the internal modules hold it. */
  readonly request: HarnDict
  /** The name under which the answer is to come in pieces; null: it is to come whole. */
  readonly stream: string | null
  stage: 'begin' | 'allowed' | 'asked'
  reserved: Reserved | null
  startedMs: number
}

export function makeAttempt(request: HarnDict, stream: string | null): AttemptState {
  return { request, stream, stage: 'begin', reserved: null, startedMs: 0 }
}

export const attemptFrame = frame<AttemptState>({
  kind: 'llm.attempt',
  step: (ctx, state) => {
    if (state.stage === 'begin') return begin(ctx, state)
    return state.stage === 'allowed' ? askProvider(ctx, state, ctx.result) : readAnswer(ctx, state)
  },
  onFault: (ctx, state, fault) =>
    state.stage === 'allowed'
      ? askProvider(ctx, state, null)
      : settleAttempt(ctx, state, { kind: 'failure', failure: toFailure(fault) }),
})

function begin(ctx: Context, state: AttemptState): Result {
  const request = decodeRequest(state.request)
  const answers = isMocked(ctx.state(llmState), request.provider)
  // A call that leaves the machine is counted there.
  const refused = isGuarded(ctx) ? findEffectFault(ctx, makeEffect(request, ctx), answers ? 'both' : 'judge') : null
  const reserved = refused ?? reserve(ctx, request, answers)
  if (reserved instanceof Fault) return encodeOutcome({ kind: 'failure', failure: toFailure(reserved) })
  if ('failure' in reserved) return encodeOutcome({ kind: 'failure', failure: reserved.failure })
  state.reserved = { ...reserved, isMade: answers }
  if (answers) {
    const outcome = answerMocked(ctx, request)
    traceCall(ctx, request, outcome, { executor: 'mock', startedMs: ctx.now })
    settle(ctx, request, state.reserved, outcome)
    return encodeOutcome(outcome)
  }
  state.stage = 'allowed'
  return ctx.request(DISABLED)
}

/** What the host says of all model calls. */
export const DISABLED: Effect = { kind: 'process.info', args: { op: 'env', name: 'HARN_LLM_CALLS_DISABLED' }, own: true }

const DISABLED_WORDS: ReadonlySet<string> = new Set(['1', 'true', 'yes', 'on'])

/** Why the host lets no model be asked; null when it does. */
export function findDisabled(word: Value, provider: string): LlmFailure | null {
  if (word === null || !DISABLED_WORDS.has(display(word).trim().toLowerCase())) return null
  const message = 'LLM calls are disabled by HARN_LLM_CALLS_DISABLED; ' + `provider \`${provider}\` would make a real LLM request`
  return { category: 'generic', message, isRuntime: true }
}

/** One request to a provider outside the machine. Keys are named, never carried. */
function askProvider(ctx: Context, state: AttemptState, disabled: Value): Result {
  const request = decodeRequest(state.request)
  const failure = findDisabled(disabled, request.provider)
  if (failure !== null) return settleAttempt(ctx, state, { kind: 'failure', failure })
  state.stage = 'asked'
  state.startedMs = ctx.now
  const asked = { ...request, maxTokens: state.reserved!.reservation.outputTokens }
  const facts = findModelFacts(request.provider, request.model, ctx.state(llmState).rules)
  const { base_url_option: address = null, ...args } = makeProviderRequest(asked, facts)
  return ctx.request({
    kind: 'llm.call',
    args: {
      provider: request.provider,
      ...describeWay(ctx, request.provider, address),
      ...args,
      ...(state.stream === null ? {} : { stream: state.stream }),
    },
  })
}

function readAnswer(ctx: Context, state: AttemptState): Result {
  const request = decodeRequest(state.request)
  const missing = findMissingKey(ctx.result, request.provider)
  if (missing !== null) return ctx.throw(missing)
  if (state.stream !== null && ctx.result instanceof HarnDict && ctx.result.get('streaming') === true) {
    const { reserved, startedMs } = state
    const opened = { request: state.request, reserved: reserved!, startedMs, delivered: 0, feeder: null }
    ctx.state(openAnswers).open.set(state.stream, opened)
    return HarnDict.of({ stream: state.stream, response: null, failure: null })
  }
  return settleAttempt(ctx, state, { kind: 'answer', response: readResponse(ctx.result, request) })
}

function settleAttempt(ctx: Context, state: AttemptState, outcome: MockOutcome): Result {
  const { request, reserved, startedMs } = state
  if (state.stream === null) settle(ctx, decodeRequest(request), reserved!, outcome)
  else settleAndTrace(ctx, { request, reserved: reserved!, startedMs, delivered: 0, feeder: null }, outcome)
  return encodeOutcome(outcome)
}

/** Accounts and traces a streamed answer, also a failed one, because its effects are not traced individually. */
export function settleAndTrace(
  ctx: Context,
  { request, reserved, startedMs, delivered }: OpenAnswer,
  outcome: MockOutcome,
): void {
  const asked = decodeRequest(request)
  settle(ctx, asked, reserved, outcome)
  traceCall(ctx, asked, outcome, { executor: 'builtin', startedMs, pieces: delivered })
}

function encodeOutcome(outcome: MockOutcome): HarnDict {
  const isAnswer = outcome.kind === 'answer'
  return HarnDict.of({
    response: isAnswer ? encodeResponse(outcome.response) : null,
    failure: isAnswer ? null : encodeFailure(outcome.failure),
  })
}

/** What a provider says in place of an answer when it has no key; null for an answer. */
export function findMissingKey(answer: Value, provider: string): string | null {
  const missing = answer instanceof HarnDict ? (answer.get('missing_key') ?? null) : null
  return missing === null ? null : `Missing API key: set ${display(missing)} environment variable (provider '${provider}')`
}

/** More than any service asked when this was written, for a million tokens. */
export const UNKNOWN_PRICE = { input: 30, output: 150 }

/** Puts aside what an attempt may use; a failure when budgets leave nothing. */
function reserve(
  ctx: Context,
  request: LlmRequest,
  isMade: boolean,
): Omit<Reserved, 'isMade'> | Fault | { readonly failure: LlmFailure } {
  const state = ctx.state(llmState)
  // Alone a call was judged before (`complete`); beside others it must fit with all of them.
  const beyond = state.reserved > 0 ? findBudgetProblem(request, state.cost + state.reserved, state.ceiling) : null
  if (beyond !== null) return { failure: beyond }
  const unknown = ctx.machine.hostData(REQUEST_DEFAULTS).unknownPrice ?? UNKNOWN_PRICE
  const prices =
    findTokenPrices(request.provider, request.model) ??
    (isMade ? { input: 0, output: 0 } : { input: unknown.input / 1e6, output: unknown.output / 1e6 })
  const limited = isGuarded(ctx)
  const inputTokens = limited ? estimateInput(request) : 0
  const estimate = { inputTokens, outputTokens: request.maxTokens, inputUsd: prices.input, outputUsd: prices.output }
  const reservation = limited
    ? reserveModelCall(ctx, makeEffect(request), estimate)
    : { tokens: 0, usd: 0, outputTokens: request.maxTokens, counters: [] }
  if (reservation instanceof Fault) return reservation
  const isBounded = state.ceiling !== null || request.budget !== null
  const sessionUsd = isBounded ? projectCost(request.provider, request.model, estimateInput(request), request.maxTokens) : 0
  state.reserved += sessionUsd
  return { reservation, inputTokens, prices, sessionUsd }
}

/** Failures after which the service may nevertheless have answered and charged. */
const MAY_HAVE_WORKED: ReadonlySet<string> = new Set(['timeout', 'cancelled', 'transient_network'])

/** Books what the attempt has used. A side that does not say what it used is taken to have used all that it might. */
function settle(ctx: Context, request: LlmRequest, reserved: Reserved, outcome: MockOutcome): null {
  const state = ctx.state(llmState)
  state.reserved = Math.max(0, state.reserved - reserved.sessionUsd)
  const { reservation, inputTokens, prices, isMade } = reserved
  if (reservation.counters.length === 0) return null
  if (outcome.kind === 'failure') {
    const { category, wasStopped = false } = outcome.failure
    if (!wasStopped && !MAY_HAVE_WORKED.has(category)) settleModelCall(ctx, reservation, { tokens: 0, usd: 0 })
    return null
  }
  const { response } = outcome
  const said = response.text !== '' || response.toolCalls.length > 0 || response.thinking !== null
  const input = response.inputTokens > 0 ? response.inputTokens : inputTokens
  const output = response.outputTokens > 0 ? response.outputTokens : said ? reservation.outputTokens : 0
  const own = findTokenPrices(request.provider, response.model)
  const dearer = own === null || isMade ? prices : { input: Math.max(own.input, 0), output: Math.max(own.output, 0) }
  settleModelCall(ctx, reservation, { tokens: input + output, usd: input * dearer.input + output * dearer.output })
  return null
}

/** The call as grants and traces see it; what traces show of it does not say how the provider is reached. */
function makeEffect({ provider, model, maxTokens, settings, baseUrl }: LlmRequest, ctx: Context | null = null): Effect {
  const temperature = settings.get('temperature')
  return {
    kind: 'llm.call',
    args: {
      ...(ctx === null ? {} : describeWay(ctx, provider, baseUrl)),
      provider,
      model,
      ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
      ...(temperature === undefined ? {} : { temperature: toPlain(temperature) }),
    },
  }
}

/** An answer that was made up, or came in pieces, is a call of the trace as any other. */
function traceCall(
  ctx: Context,
  request: LlmRequest,
  outcome: MockOutcome,
  { executor, startedMs, pieces }: { readonly executor: string; readonly startedMs: number; readonly pieces?: number },
): void {
  const { traced } = ctx.machine
  if (traced === null) return
  const state = ctx.state(llmState)
  const parent = ctx.machine.task().fields.get('tool.call')
  traced({
    kind: 'tool_call',
    tool: 'llm.chat',
    alias: null,
    version: null,
    executor,
    callId: pieces === undefined ? `mocked_${++state.mocked}` : `streamed_${++state.streamed}`,
    parent: typeof parent === 'string' ? parent : null,
    task: ctx.machine.taskNumber,
    args: makeEffect(request).args,
    policy: null,
    secret: [],
    attempts: 1,
    startedMs,
    endedMs: ctx.now,
    outcome:
      outcome.kind === 'answer'
        ? {
            ok: true,
            value: {
              text: outcome.response.text,
              model: outcome.response.model,
              input_tokens: outcome.response.inputTokens,
              output_tokens: outcome.response.outputTokens,
              tool_calls: outcome.response.toolCalls.map((call) => toPlain(call)),
              ...(outcome.response.thinking === null ? {} : { reasoning: outcome.response.thinking }),
              ...(pieces === undefined ? {} : { pieces, stop_reason: outcome.response.stopReason }),
            },
          }
        : { ok: false, code: findCode(outcome.failure.category), message: outcome.failure.message, denied: false },
  })
}

export function toFailure(fault: Fault): LlmFailure {
  const value = fault.kind === 'thrown' ? fault.value : null
  if (value instanceof HarnDict) {
    const category = value.get('category') ?? null
    const message = value.get('message') ?? null
    return makeFailure(message === null ? display(value) : display(message), category === null ? undefined : display(category))
  }
  const message = value === null ? fault.message : display(value)
  const failure = { ...makeFailure(message, fault.category ?? undefined), isRuntime: fault.kind === 'runtime' }
  return isInterruption(fault) ? { ...failure, wasStopped: true } : failure
}

function makeProviderRequest(request: LlmRequest, facts: ModelFacts): { [key: string]: Plain } {
  return {
    model_facts: { ...facts },
    model: request.model,
    ...(request.isUnnamed ? { unnamed: true } : {}),
    system: request.system,
    messages: listDicts(request.messages).map((message) => toPlain(message)),
    tools: request.tools.map((tool) => toPlain(tool)),
    tool_choice: toPlain(request.toolChoice),
    max_tokens: request.maxTokens,
    settings: toPlain(request.settings),
    thinking: chooseThinking(request.thinking, facts),
    cache: request.cache,
    output: { kind: request.outputKind, schema: request.schema === null ? null : toPlain(request.schema) },
    base_url_option: request.baseUrl,
  }
}

/** A model that decides itself how long it thinks takes no budget. */
function chooseThinking(thinking: HarnDict, { thinking: modes }: ModelFacts): Plain {
  const isOwnPace = thinking.get('mode') === 'enabled' && !modes.includes('enabled') && modes.includes('adaptive')
  return isOwnPace ? { mode: 'adaptive' } : toPlain(thinking)
}

/** How a provider is reached, with what the script says about it: its registration, and the address that a call names. */
export function describeWay(ctx: Context, provider: string, address: Plain = null): { [key: string]: Plain } {
  const registered = ctx.state(llmState).registered.get(provider) ?? null
  const row = PROVIDERS[provider]
  const said = registered === null ? {} : (toPlain(registered) as { readonly [key: string]: Plain })
  const config = address === null ? said : { ...said, base_url: address }
  const names = [config['auth_envs'], config['auth_env']].flat().filter((name) => typeof name === 'string')
  return {
    ...reach(row),
    config: registered === null && address === null ? null : config,
    ...(names.length === 0 ? {} : { key_origins: Object.fromEntries(names.map((name) => [name, listKeyPlaces(name)])) }),
    ...(row === undefined && config['base_url'] === undefined ? { known_providers: Object.keys(PROVIDERS) } : {}),
  }
}

/** Where providers are that have their key in a variable of this name. */
function listKeyPlaces(name: string): readonly string[] {
  return Object.values(PROVIDERS).flatMap(({ authEnvs, baseUrl }) => (authEnvs.includes(name) && baseUrl !== '' ? [baseUrl] : []))
}

/** How a provider is reached, as the outside needs it. */
export function reach(row: ProviderRow | undefined): { [key: string]: Plain } {
  return {
    base_url: row?.baseUrl ?? null,
    base_url_env: row?.baseUrlEnv ?? null,
    base_url_envs: [...(row?.baseUrlEnvs ?? [])],
    chat_endpoint: row?.chatEndpoint ?? null,
    auth_style: row?.authStyle ?? 'bearer',
    auth_header: row?.authHeader ?? null,
    auth_envs: [...(row?.authEnvs ?? [])],
    extra_headers: { ...row?.extraHeaders },
  }
}

/** What a provider answered, as plain data of the fields below. */
export function readResponse(answer: Value, request: LlmRequest): LlmResponse {
  const fields = answer instanceof HarnDict ? answer : new HarnDict()
  const readText = (key: string): string | null => {
    const value = fields.get(key) ?? null
    return value === null ? null : display(value)
  }
  const count = (key: string): number => {
    const value = fields.get(key)
    return typeof value === 'number' ? value : value instanceof HarnFloat ? Math.trunc(value.v) : 0
  }
  const calls = fields.get('tool_calls')
  const toolCalls =
    calls instanceof HarnList
      ? calls
          .view()
          .filter((call): call is HarnDict => call instanceof HarnDict)
          .map((call) => call.with('arguments', readCallArguments(call.get('arguments'))))
      : []
  const said = readText('text') ?? ''
  return {
    text: said,
    toolCalls,
    blocks: makeBlocks(said, toolCalls),
    model: readText('model') ?? request.model,
    provider: request.provider,
    inputTokens: count('input_tokens'),
    outputTokens: count('output_tokens'),
    cacheRead: count('cache_read_tokens'),
    cacheWrite: count('cache_write_tokens'),
    thinking: readText('thinking'),
    thinkingSummary: readText('thinking_summary'),
    stopReason: readText('stop_reason'),
    serviceState: readServiceState(fields.get('service_state') ?? null, request),
  }
}

/** What goes back to the service with the next request; only the model that it came from can read it. */
function readServiceState(parts: Value, { provider, model }: LlmRequest): HarnDict | null {
  return parts instanceof HarnList && parts.length > 0 ? HarnDict.of({ provider, model, parts }) : null
}

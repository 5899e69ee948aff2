// Calling a model: budget, experiment, attempts, structured answers and the result that scripts get. The
// answer comes from the mock (llm-mock.ts) or, as one effect an attempt, from a provider outside the machine.

import { REQUEST_DEFAULTS } from '../../library/http/request-defaults.js'
import {
  Fault,
  HarnClosure,
  HarnDict,
  HarnFloat,
  HarnList,
  callBack,
  display,
  failCategorized,
  failRuntime,
  failWith,
  here,
  parkUntil,
  sortedJson,
  toPlain,
  tracingState,
  tryAsk,
  utf8,
} from '@bridle/vm/families'
import type { Context, Effect, Plain, Script, Value } from '@bridle/vm/families'
import { failureDict, failureOf, isTransient, retryAfterMs } from './errors.js'
import type { LlmFailure } from './errors.js'
import { applyBuiltIn, experimentRecord, readTransformed } from './experiments.js'
import type { Prompt } from './experiments.js'
import { answerMocked, blocksOf, isMocked } from './mock.js'
import type { MockOutcome } from './mock.js'
import { CALL_DEFAULTS, readRequest, resolvePlace } from './options.js'
import type { Defaults, LlmEnvironment, LlmRequest } from './options.js'
import { faultOfEffect, limitOfGrants, reserveModelCall, settleModelCall } from '../../tools/policy/grants.js'
import { isGuarded } from '../../tools/policy/grant-ceiling.js'
import type { Reservation } from '../../tools/policy/grants.js'
import { PROVIDERS, cacheSavings, costOf, projectedCost, tokenPrices } from './providers.js'
import type { ProviderRow } from './providers.js'
import { llmState } from './state.js'
import type { LlmResponse } from './state.js'
import { codeOfCategory, isInterruption } from '../../library/tool-errors.js'
import { expectsData, extractData, judge, nudgeText } from './structured.js'
import type { Judged } from './structured.js'
import { readCallArguments } from '../../tools/definitions/model-arguments.js'
import { timeOrderedId } from '../../library/time/identity.js'
import { usageState } from '../../library/logging/tracing.js'
import { parseTagged, visibleText } from '../../library/formats/tagged-response.js'
import type { TaggedResponse } from '../../library/formats/tagged-response.js'
import { makeEvent, makeTranscript, storedMessage } from '../transcripts/shape.js'

// ------------------------------------------------------------------------------------------------------------- environment

/** A variable of the environment; null also where the host gives none. */
export function* optionalEnvironment(name: string): Script<string | null> {
  const answer = yield* tryAsk({ kind: 'process.info', args: { op: 'env', name }, own: true })
  return answer instanceof Fault || answer === null ? null : display(answer)
}

/** Whether there is a variable or a secret of this name: its value has no place in the machine, nor in a journal. */
function* isVariableSet(name: string): Script<boolean> {
  return (yield* tryAsk({ kind: 'process.info', args: { op: 'env_set', name }, own: true })) === true
}

function isSet(options: HarnDict, key: string): boolean {
  const value = options.get(key) ?? null
  return value !== null && display(value) !== ''
}

/** What the environment says, as far as the options leave it open. */
export function* readEnvironment(options: HarnDict): Script<LlmEnvironment> {
  const providerOpen = !isSet(options, 'provider') || options.get('provider') === 'auto'
  const modelOpen = !isSet(options, 'model')
  return {
    provider: providerOpen ? yield* optionalEnvironment('HARN_LLM_PROVIDER') : null,
    model: modelOpen ? yield* optionalEnvironment('HARN_LLM_MODEL') : null,
    fallbackProvider: (providerOpen ? yield* optionalEnvironment('HARN_DEFAULT_PROVIDER') : null) ?? 'anthropic',
    localBaseUrl: providerOpen ? yield* optionalEnvironment('LOCAL_LLM_BASE_URL') : null,
    anthropicKey: providerOpen && modelOpen ? yield* isVariableSet('ANTHROPIC_API_KEY') : false,
    experiment: options.has('structural_experiment') ? null : yield* optionalEnvironment('HARN_STRUCTURAL_EXPERIMENT'),
    mostTokens: yield* here((ctx) => limitOfGrants(ctx, 'llm.chat', 'max_tokens')),
    retries: yield* here((ctx) => ctx.machine.hostData(REQUEST_DEFAULTS).modelRetries ?? {}),
  }
}

/** The request, or the fault that its options raise. */
export function* prepare(
  prompt: Value,
  system: Value,
  options: HarnDict,
  defaults: Defaults = CALL_DEFAULTS,
): Script<LlmRequest | Fault> {
  const env = yield* readEnvironment(options)
  return yield* here((ctx) => {
    try {
      return readRequest(prompt, system, options, env, ctx.state(llmState), defaults)
    } catch (error) {
      if (error instanceof Fault) return error
      throw error
    }
  })
}

export function* placeOf(options: HarnDict): Script<{ readonly provider: string; readonly model: string }> {
  return resolvePlace(options, yield* readEnvironment(options))
}

// ------------------------------------------------------------------------------------------------------------------ budget

const BYTES_PER_TOKEN = 4

export function tokensOfText(text: string): number {
  return Math.ceil(utf8(text).length / BYTES_PER_TOKEN)
}

function tokensOfValue(value: Value): number {
  if (typeof value === 'string') return tokensOfText(value)
  if (value instanceof HarnList) return value.view().reduce((sum: number, item) => sum + tokensOfValue(item), 0)
  if (value instanceof HarnDict) {
    return value.keys().reduce((sum, key) => sum + tokensOfText(key) + tokensOfValue(value.get(key)!), 0)
  }
  return 1
}

export function estimateInput(request: LlmRequest): number {
  let tokens = request.system === null ? 0 : tokensOfText(request.system)
  for (const message of request.messages) tokens += tokensOfValue(message)
  for (const tool of request.tools) tokens += tokensOfText(sortedJson(tool))
  return tokens
}

/** Why the call must not be made, or null. */
export function budgetProblem(request: LlmRequest, spent: number, ceiling: number | null): LlmFailure | null {
  const budget = request.budget
  if (budget === null && ceiling === null) return null
  const input = estimateInput(request)
  const output = request.maxTokens
  const cost = projectedCost(request.provider, request.model, input, output)
  const total = budget?.total_budget_usd ?? ceiling
  const dollars = (value: number): string => `$${value.toFixed(6)}`
  const checks: readonly (readonly [key: string, limit: number | null | undefined, value: number, what: string])[] = [
    ['max_input_tokens', budget?.max_input_tokens, input, `projected input tokens ${input}`],
    ['max_output_tokens', budget?.max_output_tokens, output, `projected output tokens ${output}`],
    ['max_cost_usd', budget?.max_cost_usd, cost, `projected cost ${dollars(cost)}`],
    ['total_budget_usd', total, spent + cost, `projected session cost ${dollars(spent + cost)}`],
  ]
  for (const [key, limit, value, what] of checks) {
    if (limit === null || limit === undefined || value <= limit) continue
    return {
      category: 'budget_exceeded',
      message: `LLM budget exceeded before provider call: ${what} would exceed ${key}`,
      more: {
        limit: key,
        limit_value: new HarnFloat(limit),
        projected_cost_usd: new HarnFloat(cost),
        session_cost_usd: new HarnFloat(spent),
        projected_input_tokens: input,
        projected_output_tokens: output,
      },
    }
  }
  return null
}

// ---------------------------------------------------------------------------------------------------------------- attempts

const DISABLED_WORDS = new Set(['1', 'true', 'yes', 'on'])

function* attempt(request: LlmRequest): Script<MockOutcome> {
  const mocked = yield* here((ctx) => {
    const answers = isMocked(ctx.state(llmState), request.provider)
    // A call that leaves the machine is counted there.
    const refused = isGuarded(ctx) ? faultOfEffect(ctx, effectOf(request, ctx), answers ? 'both' : 'judge') : null
    if (refused !== null) return refused
    const reserved = reserve(ctx, request, answers)
    if (reserved instanceof Fault) return reserved
    if ('failure' in reserved || !answers) return reserved
    const outcome = answerMocked(ctx, request)
    traceMocked(ctx, request, outcome)
    return { ...reserved, outcome }
  })
  if (mocked instanceof Fault) return { kind: 'failure', failure: failureOfFault(mocked) }
  if ('failure' in mocked) return { kind: 'failure', failure: mocked.failure }
  const outcome = mocked.outcome ?? (yield* askProvider({ ...request, maxTokens: mocked.reservation.outputTokens }))
  yield* here((ctx) => settle(ctx, request, mocked, outcome))
  return outcome
}

/** What was put aside for one attempt: plain data. */
interface Reserved {
  readonly reservation: Reservation
  readonly inputTokens: number
  /** Dollars for one token. */
  readonly prices: { readonly input: number; readonly output: number }
  /** Of the budget that the script set itself (`llm_budget`). */
  readonly sessionUsd: number
  readonly outcome?: MockOutcome
}

/** More than any service asked when this was written, for a million tokens. */
export const UNKNOWN_PRICE = { input: 30, output: 150 }

/** Puts aside what an attempt may use; a failure when budgets leave nothing. */
function reserve(ctx: Context, request: LlmRequest, isMade: boolean): Reserved | Fault | { readonly failure: LlmFailure } {
  const state = ctx.state(llmState)
  // Alone a call was judged before (`complete`); beside others it must fit with all of them.
  const beyond = state.reserved > 0 ? budgetProblem(request, state.cost + state.reserved, state.ceiling) : null
  if (beyond !== null) return { failure: beyond }
  const unknown = ctx.machine.hostData(REQUEST_DEFAULTS).unknownPrice ?? UNKNOWN_PRICE
  const prices =
    tokenPrices(request.provider, request.model) ??
    (isMade ? { input: 0, output: 0 } : { input: unknown.input / 1e6, output: unknown.output / 1e6 })
  const limited = isGuarded(ctx)
  const inputTokens = limited ? estimateInput(request) : 0
  const estimate = { inputTokens, outputTokens: request.maxTokens, inputUsd: prices.input, outputUsd: prices.output }
  const reservation = limited
    ? reserveModelCall(ctx, effectOf(request), estimate)
    : { tokens: 0, usd: 0, outputTokens: request.maxTokens, counters: [] }
  if (reservation instanceof Fault) return reservation
  const isBounded = state.ceiling !== null || request.budget !== null
  const sessionUsd = isBounded ? projectedCost(request.provider, request.model, estimateInput(request), request.maxTokens) : 0
  state.reserved += sessionUsd
  return { reservation, inputTokens, prices, sessionUsd }
}

/** Failures after which the service may have worked, and be paid, all the same. */
const MAY_HAVE_WORKED: ReadonlySet<string> = new Set(['timeout', 'cancelled', 'transient_network'])

/** Books what the attempt has used. A side that does not say what it used is taken to have used all that it might. */
function settle(ctx: Context, request: LlmRequest, reserved: Reserved, outcome: MockOutcome): null {
  const state = ctx.state(llmState)
  state.reserved = Math.max(0, state.reserved - reserved.sessionUsd)
  const { reservation, inputTokens, prices } = reserved
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
  const isMade = reserved.outcome !== undefined
  const own = tokenPrices(request.provider, response.model)
  const dearer = own === null || isMade ? prices : { input: Math.max(own.input, 0), output: Math.max(own.output, 0) }
  settleModelCall(ctx, reservation, { tokens: input + output, usd: input * dearer.input + output * dearer.output })
  return null
}

/** The call as grants and traces see it; what traces show of it does not say how the provider is reached. */
function effectOf({ provider, model, maxTokens, settings, baseUrl }: LlmRequest, ctx: Context | null = null): Effect {
  const temperature = settings.get('temperature')
  return {
    kind: 'llm.call',
    args: {
      ...(ctx === null ? {} : wayTo(ctx, provider, baseUrl)),
      provider,
      model,
      ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
      ...(temperature === undefined ? {} : { temperature: toPlain(temperature) }),
    },
  }
}

/** An answer that was made up is a call of the trace all the same. */
function traceMocked(ctx: Context, request: LlmRequest, outcome: MockOutcome): void {
  const { traced } = ctx.machine
  if (traced === null) return
  const state = ctx.state(llmState)
  const parent = ctx.machine.task().fields.get('tool.call')
  traced({
    kind: 'tool_call',
    tool: 'llm.chat',
    alias: null,
    version: null,
    executor: 'mock',
    callId: `mocked_${++state.mocked}`,
    parent: typeof parent === 'string' ? parent : null,
    task: ctx.machine.taskNumber,
    args: effectOf(request).args,
    policy: null,
    secret: [],
    attempts: 1,
    startedMs: ctx.now,
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
            },
          }
        : { ok: false, code: codeOfCategory(outcome.failure.category), message: outcome.failure.message, denied: false },
  })
}

/** One request to a provider outside the machine. Keys are named, never carried. */
function* askProvider(request: LlmRequest): Script<MockOutcome> {
  const answer = yield* askOutside(request.provider, providerRequest(request))
  return answer.kind === 'failure' ? answer : { kind: 'answer', response: responseOf(answer.value, request) }
}

/** Any question to a provider: what it answered, unless calls are disabled, its key is missing or the request failed. */
export function* askOutside(
  provider: string,
  args: { readonly [key: string]: Plain },
): Script<{ readonly kind: 'value'; readonly value: Value } | { readonly kind: 'failure'; readonly failure: LlmFailure }> {
  const disabled = yield* optionalEnvironment('HARN_LLM_CALLS_DISABLED')
  if (disabled !== null && DISABLED_WORDS.has(disabled.trim().toLowerCase())) {
    const message =
      'LLM calls are disabled by HARN_LLM_CALLS_DISABLED; ' + `provider \`${provider}\` would make a real LLM request`
    return { kind: 'failure', failure: { category: 'generic', message, isRuntime: true } }
  }
  const place = yield* here((ctx) => wayTo(ctx, provider, args['base_url_option'] ?? null))
  const { base_url_option: _read, ...rest } = args
  const answer = yield* tryAsk({ kind: 'llm.call', args: { provider, ...place, ...rest } })
  if (answer instanceof Fault) return { kind: 'failure', failure: failureOfFault(answer) }
  const missing = answer instanceof HarnDict ? (answer.get('missing_key') ?? null) : null
  if (missing !== null) return failWith(`Missing API key: set ${display(missing)} environment variable (provider '${provider}')`)
  return { kind: 'value', value: answer }
}

function failureOfFault(fault: Fault): LlmFailure {
  const value = fault.kind === 'thrown' ? fault.value : null
  if (value instanceof HarnDict) {
    const category = value.get('category') ?? null
    const message = value.get('message') ?? null
    return failureOf(message === null ? display(value) : display(message), category === null ? undefined : display(category))
  }
  const message = value === null ? fault.message : display(value)
  const failure = { ...failureOf(message, fault.category ?? undefined), isRuntime: fault.kind === 'runtime' }
  return isInterruption(fault) ? { ...failure, wasStopped: true } : failure
}

function providerRequest(request: LlmRequest): { [key: string]: Plain } {
  return {
    model: request.model,
    system: request.system,
    messages: request.messages.map((message) => toPlain(message)),
    tools: request.tools.map((tool) => toPlain(tool)),
    tool_choice: toPlain(request.toolChoice),
    max_tokens: request.maxTokens,
    settings: toPlain(request.settings),
    thinking: toPlain(request.thinking),
    cache: request.cache,
    output: { kind: request.outputKind, schema: request.schema === null ? null : toPlain(request.schema) },
    base_url_option: request.baseUrl,
  }
}

/** How a provider is reached, with what the script says about it: its registration, and the address that a call names. */
export function wayTo(ctx: Context, provider: string, address: Plain = null): { [key: string]: Plain } {
  const registered = ctx.state(llmState).registered.get(provider) ?? null
  const row = PROVIDERS[provider]
  const said = registered === null ? {} : (toPlain(registered) as { readonly [key: string]: Plain })
  const config = address === null ? said : { ...said, base_url: address }
  const names = [config['auth_envs'], config['auth_env']].flat().filter((name) => typeof name === 'string')
  return {
    ...reach(row),
    config: registered === null && address === null ? null : config,
    ...(names.length === 0 ? {} : { key_origins: Object.fromEntries(names.map((name) => [name, placesOfKey(name)])) }),
    ...(row === undefined && config['base_url'] === undefined ? { known_providers: Object.keys(PROVIDERS) } : {}),
  }
}

/** Where providers are that have their key in a variable of this name. */
function placesOfKey(name: string): readonly string[] {
  return Object.values(PROVIDERS).flatMap(({ authEnvs, baseUrl }) => (authEnvs.includes(name) && baseUrl !== '' ? [baseUrl] : []))
}

/** How a provider is reached, as the outside needs it. */
export function reach(row: ProviderRow | undefined): { [key: string]: Plain } {
  return {
    base_url: row?.baseUrl ?? null,
    base_url_env: row?.baseUrlEnv ?? null,
    chat_endpoint: row?.chatEndpoint ?? null,
    auth_style: row?.authStyle ?? 'bearer',
    auth_header: row?.authHeader ?? null,
    auth_envs: [...(row?.authEnvs ?? [])],
    extra_headers: { ...row?.extraHeaders },
  }
}

/** What a provider answered, as plain data of the fields below. */
function responseOf(answer: Value, request: LlmRequest): LlmResponse {
  const fields = answer instanceof HarnDict ? answer : new HarnDict()
  const text = (key: string): string | null => {
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
  const said = text('text') ?? ''
  return {
    text: said,
    toolCalls,
    blocks: blocksOf(said, toolCalls),
    model: text('model') ?? request.model,
    provider: request.provider,
    inputTokens: count('input_tokens'),
    outputTokens: count('output_tokens'),
    cacheRead: count('cache_read_tokens'),
    cacheWrite: count('cache_write_tokens'),
    thinking: text('thinking'),
    thinkingSummary: text('thinking_summary'),
    stopReason: text('stop_reason'),
  }
}

const MAX_BACKOFF_SHIFT = 4

function isEmptyCompletion(message: string): boolean {
  const at = message.indexOf('completion_tokens=')
  return at >= 0 && message.includes('delivered no content', at)
}

/** The answer after as many attempts as the request allows, or the last failure. */
export function* transport(request: LlmRequest): Script<LlmResponse | LlmFailure> {
  for (let made = 0; ; made++) {
    const outcome = yield* attempt(request)
    if (outcome.kind === 'answer') return outcome.response
    const { failure } = outcome
    if (made >= request.retries || !isTransient(failure)) return failure
    if (isEmptyCompletion(failure.message)) {
      yield* traceEvent({ type: 'empty_completion_retry', iteration: 0, attempt: made + 1, error: failure.message })
    }
    const waits = yield* here((ctx) => !isMocked(ctx.state(llmState), request.provider))
    const delay = retryAfterMs(failure.message) ?? request.backoffMs * 2 ** Math.min(made, MAX_BACKOFF_SHIFT)
    if (waits) yield* pause(delay)
  }
}

export function* pause(ms: number): Script<null> {
  const due = yield* here((ctx) => ctx.now + ms)
  yield* parkUntil(null, due)
  return null
}

export function isFailure(answer: LlmResponse | LlmFailure): answer is LlmFailure {
  return 'category' in answer
}

export function* traceEvent(fields: Readonly<Record<string, Value>>): Script<null> {
  return yield* here((ctx) => {
    ctx.charge(1, 128)
    ctx.state(llmState).trace.push(HarnDict.of(fields))
    return null
  })
}

// --------------------------------------------------------------------------------------------------------------- experiment

/** The request with its experiment carried out, and what to remember of it. */
export function* experimented(
  request: LlmRequest,
  iteration: number | null,
): Script<{ readonly request: LlmRequest; readonly record: HarnDict | null }> {
  const { experiment } = request
  if (experiment === null) return { request, record: null }
  const before: Prompt = { messages: request.messages, system: request.system }
  if (!(experiment.transform instanceof HarnClosure)) {
    return { request: { ...request, ...applyBuiltIn(experiment, before) }, record: experimentRecord(experiment) }
  }
  const answer = yield* callBack(
    experiment.transform,
    HarnDict.of({
      messages: new HarnList([...before.messages]),
      system: before.system,
      iteration,
      label: experiment.label,
      name: experiment.name,
      args: experiment.args,
    }),
  )
  const { prompt, record } = readTransformed(answer, before, experiment)
  return { request: { ...request, ...prompt }, record }
}

// ---------------------------------------------------------------------------------------------------------------- the call

export interface Completed {
  readonly request: LlmRequest
  readonly response: LlmResponse
  readonly tagged: TaggedResponse | null
  readonly judged: Judged | null
  /** Calls made for the answer's shape: 1 and one for each schema retry. */
  readonly attempts: number
  readonly experiment: HarnDict | null
}

const TAGGED = /<assistant_prose>|<user_response>|<done>|<tool_call>/

/** The protocol's reading of an answer, where the protocol is in use. */
export function taggedOf(request: LlmRequest, response: LlmResponse): TaggedResponse | null {
  const used = request.toolNames.length > 0 || response.toolCalls.length > 0 || TAGGED.test(response.text)
  return used ? parseTagged(response.text, request.toolNames) : null
}

/** Books what an answer cost, and the event of the trace. */
export function* account(response: LlmResponse, iteration: number): Script<null> {
  yield* traceEvent({
    type: 'llm_call',
    call_id: yield* timeOrderedId(),
    model: response.model,
    input_tokens: response.inputTokens,
    output_tokens: response.outputTokens,
    cache_tokens: response.cacheRead,
    duration_ms: 0,
    iteration,
  })
  const problem = yield* here((ctx) => {
    const state = ctx.state(llmState)
    const usd = costOf(response.model, response.inputTokens, response.outputTokens)
    state.cost += usd
    if (ctx.state(tracingState).enabled) {
      const usage = ctx.state(usageState)
      usage.input_tokens += response.inputTokens
      usage.output_tokens += response.outputTokens
      usage.call_count += 1
    }
    if (state.ceiling === null || state.cost <= state.ceiling) return null
    return `LLM budget exceeded: spent $${state.cost.toFixed(4)} of $${state.ceiling.toFixed(4)} budget`
  })
  return problem === null ? null : failWith(problem)
}

/** The whole call: a result with its data judged, or why there is none. */
export function* complete(asked: LlmRequest): Script<Completed | LlmFailure> {
  const refused = yield* here((ctx) => {
    const state = ctx.state(llmState)
    return budgetProblem(asked, state.cost, state.ceiling)
  })
  if (refused !== null) return refused
  const { request, record } = yield* experimented(asked, null)
  let messages = request.messages
  for (let attempts = 1; ; attempts++) {
    const response = yield* transport({ ...request, messages })
    if (isFailure(response)) return response
    yield* account(response, 0)
    const tagged = taggedOf(request, response)
    const completed = { request, response, tagged, attempts, experiment: record }
    if (!expectsData(request)) return { ...completed, judged: null }
    const judged = judge(request, response, tagged?.violations ?? [])
    if (judged.errors.length === 0 || attempts > request.schemaRetries) return { ...completed, judged }
    const nudge = nudgeText(request, judged.errors)
    messages = nudge === null ? request.messages : [...request.messages, HarnDict.of({ role: 'user', content: nudge })]
    yield* traceEvent({
      type: 'schema_retry',
      attempt: attempts,
      errors: new HarnList([...judged.errors]),
      nudge_used: nudge !== null,
      correction_prompt: nudge ?? '',
    })
  }
}

/** The failure of an answer that breaks its schema where that is an error. */
export function validationFailure({ request, judged }: Completed): LlmFailure | null {
  if (request.validation !== 'error' || judged === null || judged.errors.length === 0) return null
  const hint =
    request.schemaRetries === 0
      ? 'set `schema_retries: N` in the llm_call options to automatically re-prompt the model with a corrective nudge'
      : 'schema_retries budget exhausted — the model did not produce conforming output after the configured retries; ' +
        'consider raising `schema_retries` or relaxing the schema'
  return {
    category: 'schema_validation',
    message: `LLM output failed schema validation: ${judged.errors.join('; ')} (hint: ${hint})`,
  }
}

// ------------------------------------------------------------------------------------------------------------------ result

export function usageFields(response: LlmResponse): Record<string, Value> {
  const { inputTokens, outputTokens, cacheRead, cacheWrite } = response
  const total = cacheRead + cacheWrite <= inputTokens ? inputTokens : inputTokens + cacheRead + cacheWrite
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_hit_ratio: new HarnFloat(total === 0 ? 0 : cacheRead / total),
    cache_savings_usd: new HarnFloat(cacheSavings(response.model, cacheRead, cacheWrite)),
  }
}

/** Calls of an answer: native ones if there are any, else those of the text. */
export function callsOf(response: LlmResponse, tagged: TaggedResponse | null): HarnDict[] {
  if (response.toolCalls.length > 0) return [...response.toolCalls]
  return (tagged?.calls ?? []).map((call) => HarnDict.of({ id: call.id, name: call.name, arguments: call.arguments }))
}

export function nativeAssistant(text: string, calls: readonly HarnDict[], reasoning: string | null): HarnDict {
  const written = calls.map((call) =>
    HarnDict.of({
      id: call.get('id') ?? '',
      type: 'function',
      function: HarnDict.of({ name: call.get('name') ?? '', arguments: sortedJson(call.get('arguments') ?? new HarnDict()) }),
    }),
  )
  const message = HarnDict.of({ role: 'assistant', content: text, tool_calls: new HarnList(written) })
  if (reasoning !== null) message.set('reasoning', reasoning)
  return message
}

function assistantMessage(response: LlmResponse): HarnDict {
  if (response.toolCalls.length > 0) return nativeAssistant(response.text, response.toolCalls, response.thinking)
  const content = response.blocks.length > 0 ? new HarnList([...response.blocks]) : response.text
  return HarnDict.of({ role: 'assistant', content })
}

/** Events of an answer: its facts, and what the model thought in private. */
export function* answerEvents(
  response: LlmResponse,
  experiment: HarnDict | null,
  more: Readonly<Record<string, Value>> = {},
): Script<HarnDict[]> {
  const metadata = HarnDict.of({
    model: response.model,
    input_tokens: response.inputTokens,
    output_tokens: response.outputTokens,
    tool_calls: new HarnList([...response.toolCalls]),
    structural_experiment: experiment,
    ...more,
  })
  if (response.thinkingSummary !== null) metadata.set('thinking_summary', response.thinkingSummary)
  const events = [yield* makeEvent('provider_payload', 'assistant', 'internal', '', metadata)]
  if (response.thinking !== null) {
    events.push(yield* makeEvent('private_reasoning', 'assistant', 'private', response.thinking, null))
  }
  if (response.thinkingSummary !== null) {
    events.push(yield* makeEvent('thinking_summary', 'assistant', 'private', response.thinkingSummary, null))
  }
  return events
}

/** The result dict of §1.4. */
export function* resultDict(completed: Completed): Script<HarnDict> {
  const { request, response, tagged, judged } = completed
  const prose = tagged === null ? response.text : tagged.prose === '' ? response.text : tagged.prose
  const hasTools = request.toolNames.length > 0
  const transcript = yield* makeTranscript({
    messages: [...request.messages, assistantMessage(response)].map(storedMessage),
    events: yield* answerEvents(response, completed.experiment),
    state: 'active',
  })
  const usage = usageFields(response)
  const result = HarnDict.of({
    text: response.text,
    model: response.model,
    provider: response.provider,
    ...usage,
    usage: HarnDict.of(usage),
    prose,
    transcript,
    visible_text: hasTools && response.toolCalls.length === 0 ? tagged!.prose : visibleText(response.text),
    blocks: new HarnList([...response.blocks]),
  })
  const data = judged === null ? undefined : (judged.data ?? extractData(response, request.toolNames))
  if (data !== undefined) result.set('data', data)
  const calls = callsOf(response, tagged)
  if (calls.length > 0) result.set('tool_calls', new HarnList(calls))
  if (tagged !== null) {
    if (tagged.violations.length > 0) result.set('protocol_violations', new HarnList([...tagged.violations]))
    if (tagged.errors.length > 0) result.set('tool_parse_errors', new HarnList([...tagged.errors]))
    if (tagged.doneMarker !== null) result.set('done_marker', tagged.doneMarker)
    if (tagged.canonical !== '') result.set('canonical_text', tagged.canonical)
  }
  if (response.thinking !== null) {
    result.set('thinking', response.thinking)
    result.set('private_reasoning', response.thinking)
  }
  if (response.thinkingSummary !== null) result.set('thinking_summary', response.thinkingSummary)
  if (response.stopReason !== null) result.set('stop_reason', response.stopReason)
  return result
}

/** `llm_call` and its like tell of a failure with a dict. */
export function failWithFailure(failure: LlmFailure, request: LlmRequest): never {
  return failWith(failureDict(failure, request))
}

/** What only calls a model on its way, as a loop does, hands the failure on as it was raised. */
export function failAsRaised(failure: LlmFailure): never {
  return failure.isRuntime === true ? failRuntime(failure.message) : failCategorized(failure.category, failure.message)
}

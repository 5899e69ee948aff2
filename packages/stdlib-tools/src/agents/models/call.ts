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
  callLibrary,
  display,
  failCategorized,
  failRuntime,
  failWith,
  here,
  parkUntil,
  sortedJson,
  tryAsk,
} from '@bridle/vm/families'
import type { Script, Value } from '@bridle/vm/families'
import { budgetProblem } from './budget.js'
import { failureDict } from './errors.js'
import type { LlmFailure } from './errors.js'
import { applyBuiltIn, experimentRecord, readTransformed } from './experiments.js'
import type { Prompt } from './experiments.js'
import { CALL_DEFAULTS, readRequest, resolvePlace } from './options.js'
import type { Defaults, LlmEnvironment, LlmRequest } from './options.js'
import { addTraceEvent } from './primitives.js'
import { limitOfGrants } from '../../tools/policy/grants.js'
import { cacheSavings } from './providers.js'
import { failureOfValue, requestValue, responseOfValue, responseValue } from './request-value.js'
import { llmState } from './state.js'
import type { LlmResponse } from './state.js'
import { expectsData, extractData, judge, nudgeText } from './structured.js'
import type { Judged } from './structured.js'
import { parseTagged, visibleText } from '../../library/formats/tagged-response.js'
import type { TaggedResponse } from '../../library/formats/tagged-response.js'
import { dictsOf, makeEvent, makeTranscript, storedMessage } from '../transcripts/shape.js'

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

// ---------------------------------------------------------------------------------------------------------------- attempts

const LIBRARY = 'agents/models/call'

/** The answer after as many attempts as the request allows, or the last failure. */
export function* transport(request: LlmRequest): Script<LlmResponse | LlmFailure> {
  const outcome = (yield* callLibrary(LIBRARY, 'transport', requestValue(request))) as HarnDict
  const failure = outcome.get('failure') ?? null
  return failure === null ? responseOfValue(outcome.get('response') as HarnDict) : failureOfValue(failure as HarnDict)
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
    addTraceEvent(ctx, HarnDict.of(fields))
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
      messages: before.messages,
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
  yield* callLibrary(LIBRARY, 'account', responseValue(response), iteration)
  return null
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
    messages = nudge === null ? request.messages : request.messages.append(HarnDict.of({ role: 'user', content: nudge }))
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
    messages: [...dictsOf(request.messages), assistantMessage(response)].map(storedMessage),
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

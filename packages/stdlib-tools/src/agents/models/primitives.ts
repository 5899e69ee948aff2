// Primitives of the internal module call.harn: reading a request, one attempt, accounting, and reports of answers.

import { REQUEST_DEFAULTS } from '../../library/http/request-defaults.js'
import { HarnDict, HarnList, builtin, chargeArguments, display, tracingState } from '@bridle/vm/families'
import type { BuiltinDef, Context, Value } from '@bridle/vm/families'
import { findBudgetProblem, estimateInput } from './budget.js'
import { applyBuiltIn, makeExperimentRecord, readTransformed } from './experiments.js'
import type { Prompt } from './experiments.js'
import { isMocked } from './mock.js'
import { CALL_DEFAULTS, readRequest } from './options.js'
import type { LlmEnvironment } from './options.js'
import { estimateCost } from './providers.js'
import { encodeFailure, decodeRequest, requestValue, decodeResponse } from './request-value.js'
import { llmState } from './state.js'
import { makeAttempt } from './attempt.js'
import { openAnswers } from './stream-state.js'
import { judge, nudgeText } from './structured.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { findGrantLimit } from '../../tools/policy/grants.js'
import { usageState } from '../../library/logging/tracing.js'
import { parseTagged, cutToVisible } from '../../library/formats/tagged-response.js'

function listTexts(value: Value | undefined): string[] {
  return value instanceof HarnList ? value.view().map(display) : []
}

/** A tool of a request. */
const UNITS_A_TOOL = 8

function countItems(value: Value | undefined): number {
  return value instanceof HarnList ? value.length : value instanceof HarnDict ? countItems(value.get('tools')) : 0
}

export function readLlmEnvironment(ctx: Context, read: HarnDict): LlmEnvironment {
  const readText = (key: string): string | null => (read.get(key) ?? null) as string | null
  return {
    provider: readText('provider'),
    model: readText('model'),
    fallbackProvider: readText('fallback_provider')!,
    localBaseUrl: readText('local_base_url'),
    anthropicKey: read.get('anthropic_key') === true,
    experiment: readText('experiment'),
    mostTokens: findGrantLimit(ctx, 'llm.chat', 'max_tokens'),
    retries: ctx.machine.hostData(REQUEST_DEFAULTS).modelRetries ?? {},
  }
}

/** Books what an answer cost; why it is too much, or null. */
export function bookAnswer(
  ctx: Context,
  response: { readonly model: string; readonly inputTokens: number; readonly outputTokens: number },
): string | null {
  const state = ctx.state(llmState)
  state.cost += estimateCost(response.model, response.inputTokens, response.outputTokens)
  if (ctx.state(tracingState).enabled) {
    const usage = ctx.state(usageState)
    usage.input_tokens += response.inputTokens
    usage.output_tokens += response.outputTokens
    usage.call_count += 1
    usage.models.set(response.model, (usage.models.get(response.model) ?? 0) + 1)
  }
  if (state.ceiling === null || state.cost <= state.ceiling) return null
  return `LLM budget exceeded: spent $${state.cost.toFixed(4)} of $${state.ceiling.toFixed(4)} budget`
}

export function addTraceEvent(ctx: Context, event: HarnDict): void {
  ctx.charge(1, 128)
  event.owned = false
  ctx.state(llmState).trace.push(event)
}

function withPrompt(request: HarnDict, prompt: Prompt, record: HarnDict): HarnDict {
  const changed = request.with('messages', prompt.messages).with('system', prompt.system)
  return HarnDict.of({ request: changed, record })
}

function findBudgetRefusal(ctx: Context, request: HarnDict): HarnDict | null {
  const state = ctx.state(llmState)
  if (state.ceiling === null && (request.get('budget') ?? null) === null) return null
  chargeArguments(ctx, [request])
  const problem = findBudgetProblem(decodeRequest(request), state.cost, state.ceiling)
  return problem === null ? null : encodeFailure(problem)
}

export const modelPrimitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__read_request(prompt: any, system: any, options: dict, environment: dict, retries: int?) -> dict',
    'The request that options make; raises what is wrong with them.',
    (ctx, prompt, system, options, environment, retries) => {
      const given = options as HarnDict
      ctx.charge(countItems(given.get('messages')) + UNITS_A_TOOL * countItems(given.get('tools')))
      const defaults = retries === null ? CALL_DEFAULTS : { ...CALL_DEFAULTS, retries: Number(retries) }
      const env = readLlmEnvironment(ctx, environment as HarnDict)
      return requestValue(readRequest(prompt!, system!, given, env, ctx.state(llmState), defaults))
    },
  ),
  definePrimitive(
    '__send_request(request: dict) -> dict',
    'One attempt: {response, failure}, of which one is nil.',
    (ctx, request) => ctx.frame('llm.attempt', makeAttempt(request as HarnDict, null)),
  ),
  definePrimitive(
    '__open_answer(request: dict) -> dict',
    'One attempt whose answer is to come in pieces: {stream, response, failure}; the stream is nil where there is a whole answer.',
    (ctx, request) => {
      const state = ctx.state(openAnswers)
      return ctx.frame('llm.attempt', makeAttempt(request as HarnDict, `answer_${++state.made}`))
    },
  ),
  definePrimitive(
    '__is_mocked(provider: string) -> bool',
    'Whether calls of the provider stay in the machine.',
    (ctx, provider) => isMocked(ctx.state(llmState), provider as string),
  ),
  definePrimitive('__budget_refusal(request: dict) -> dict?', 'Why budgets forbid the call, as a failure.', (ctx, request) =>
    findBudgetRefusal(ctx, request as HarnDict),
  ),
  builtin('__estimate_input(request: dict) -> int', { doc: 'About how many tokens a request has.' }, (_ctx, request) =>
    estimateInput(decodeRequest(request as HarnDict)),
  ),
  definePrimitive('__trace_event(event: dict) -> nil', 'Adds an event to the agent trace.', (ctx, event) => {
    addTraceEvent(ctx, event as HarnDict)
    return null
  }),
  definePrimitive('__book_answer(response: dict) -> string?', 'Books what an answer cost; why it is too much.', (ctx, response) =>
    bookAnswer(ctx, decodeResponse(response as HarnDict)),
  ),
  builtin('__model_calls() -> list', { doc: 'Calls of each model of this run, in the order of their first one.' }, (ctx) => {
    const models = ctx.state(usageState).models
    ctx.charge(models.size)
    return new HarnList([...models].map(([model, calls]) => HarnDict.of({ model, calls })))
  }),
  builtin(
    '__apply_experiment(request: dict) -> dict',
    { doc: 'The request as a built-in experiment changes it: {request, record}.' },
    (_ctx, given) => {
      const request = decodeRequest(given as HarnDict)
      const experiment = request.experiment!
      return withPrompt(given as HarnDict, applyBuiltIn(experiment, request), makeExperimentRecord(experiment))
    },
  ),
  definePrimitive(
    '__read_experiment(request: dict, answer: any) -> dict',
    'The request as a transformation of the script changed it: {request, record}.',
    (_ctx, given, answer) => {
      const request = decodeRequest(given as HarnDict)
      const { prompt, record } = readTransformed(answer!, request, request.experiment!)
      return withPrompt(given as HarnDict, prompt, record)
    },
  ),
  builtin(
    '__judge_answer(request: dict, response: dict, violations: list) -> dict',
    { doc: 'The data of an answer under its schema: {data, errors, missing}.' },
    (_ctx, request, response, violations) => {
      const { data, errors, missing } = judge(
        decodeRequest(request as HarnDict),
        decodeResponse(response as HarnDict),
        listTexts(violations),
      )
      return HarnDict.of({ data: data ?? null, errors: new HarnList([...errors]), missing })
    },
  ),
  builtin(
    '__nudge_text(request: dict, errors: list) -> string?',
    { doc: 'The message after an answer of the wrong shape; nil when there is to be none.' },
    (_ctx, request, errors) => nudgeText(decodeRequest(request as HarnDict), listTexts(errors)),
  ),
  builtin(
    '__parse_tagged(text: string, names: list) -> dict',
    { doc: 'The protocol of tagged answers: {calls, errors, violations, prose, done_marker, canonical, has_user_response}.' },
    (_ctx, text, names) => {
      const tagged = parseTagged(text as string, listTexts(names))
      return HarnDict.of({
        calls: new HarnList(tagged.calls.map((call) => HarnDict.of({ ...call }))),
        errors: new HarnList([...tagged.errors]),
        violations: new HarnList([...tagged.violations]),
        prose: tagged.prose,
        done_marker: tagged.doneMarker,
        canonical: tagged.canonical,
        has_user_response: tagged.hasUserResponse,
      })
    },
  ),
  builtin('__visible_text(text: string) -> string', { doc: 'What people are shown of an answer.' }, (_ctx, text) =>
    cutToVisible(text as string),
  ),
]

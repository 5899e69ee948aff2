// What the internal module call.harn is made with: reading a request, one attempt, the account, and what is said of answers.

import { REQUEST_DEFAULTS } from '../../library/http/request-defaults.js'
import { HarnDict, HarnList, builtin, chargeArguments, display, tracingState } from '@bridle/vm/families'
import type { BuiltinDef, Context, Value } from '@bridle/vm/families'
import { budgetProblem, estimateInput } from './budget.js'
import { applyBuiltIn, experimentRecord, readTransformed } from './experiments.js'
import type { Prompt } from './experiments.js'
import { isMocked } from './mock.js'
import { CALL_DEFAULTS, readRequest } from './options.js'
import type { LlmEnvironment } from './options.js'
import { costOf } from './providers.js'
import { failureValue, requestOfValue, requestValue, responseOfValue } from './request-value.js'
import { llmState } from './state.js'
import { judge, nudgeText } from './structured.js'
import { primitive } from '../../library/harn/primitive.js'
import { limitOfGrants } from '../../tools/policy/grants.js'
import { usageState } from '../../library/logging/tracing.js'
import { parseTagged, visibleText } from '../../library/formats/tagged-response.js'

function textsIn(value: Value | undefined): string[] {
  return value instanceof HarnList ? value.view().map(display) : []
}

/** Of a tool that goes with a request. */
const UNITS_A_TOOL = 8

function itemsOf(value: Value | undefined): number {
  return value instanceof HarnList ? value.length : value instanceof HarnDict ? itemsOf(value.get('tools')) : 0
}

export function environmentOf(ctx: Context, read: HarnDict): LlmEnvironment {
  const text = (key: string): string | null => (read.get(key) ?? null) as string | null
  return {
    provider: text('provider'),
    model: text('model'),
    fallbackProvider: text('fallback_provider')!,
    localBaseUrl: text('local_base_url'),
    anthropicKey: read.get('anthropic_key') === true,
    experiment: text('experiment'),
    mostTokens: limitOfGrants(ctx, 'llm.chat', 'max_tokens'),
    retries: ctx.machine.hostData(REQUEST_DEFAULTS).modelRetries ?? {},
  }
}

/** Books what an answer cost; why it is too much, or null. */
export function bookAnswer(
  ctx: Context,
  response: { readonly model: string; readonly inputTokens: number; readonly outputTokens: number },
): string | null {
  const state = ctx.state(llmState)
  state.cost += costOf(response.model, response.inputTokens, response.outputTokens)
  if (ctx.state(tracingState).enabled) {
    const usage = ctx.state(usageState)
    usage.input_tokens += response.inputTokens
    usage.output_tokens += response.outputTokens
    usage.call_count += 1
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

function budgetRefusal(ctx: Context, request: HarnDict): HarnDict | null {
  const state = ctx.state(llmState)
  if (state.ceiling === null && (request.get('budget') ?? null) === null) return null
  chargeArguments(ctx, [request])
  const problem = budgetProblem(requestOfValue(request), state.cost, state.ceiling)
  return problem === null ? null : failureValue(problem)
}

export const modelPrimitives: readonly BuiltinDef[] = [
  primitive(
    '__read_request(prompt: any, system: any, options: dict, environment: dict, retries: int?) -> dict',
    'The request that options make; raises what is wrong with them.',
    (ctx, prompt, system, options, environment, retries) => {
      const given = options as HarnDict
      ctx.charge(itemsOf(given.get('messages')) + UNITS_A_TOOL * itemsOf(given.get('tools')))
      const defaults = retries === null ? CALL_DEFAULTS : { ...CALL_DEFAULTS, retries: Number(retries) }
      const env = environmentOf(ctx, environment as HarnDict)
      return requestValue(readRequest(prompt!, system!, given, env, ctx.state(llmState), defaults))
    },
  ),
  primitive('__send_request(request: dict) -> dict', 'One attempt: {response, failure}, of which one is nil.', (ctx, request) =>
    ctx.frame('llm.attempt', { request: request as HarnDict, stage: 'begin', reserved: null }),
  ),
  primitive('__is_mocked(provider: string) -> bool', 'Whether calls of the provider stay in the machine.', (ctx, provider) =>
    isMocked(ctx.state(llmState), provider as string),
  ),
  primitive('__budget_refusal(request: dict) -> dict?', 'Why budgets forbid the call, as a failure.', (ctx, request) =>
    budgetRefusal(ctx, request as HarnDict),
  ),
  builtin('__estimate_input(request: dict) -> int', { doc: 'About how many tokens a request has.' }, (_ctx, request) =>
    estimateInput(requestOfValue(request as HarnDict)),
  ),
  primitive('__trace_event(event: dict) -> nil', 'Adds an event to the agent trace.', (ctx, event) => {
    addTraceEvent(ctx, event as HarnDict)
    return null
  }),
  primitive('__book_answer(response: dict) -> string?', 'Books what an answer cost; why it is too much.', (ctx, response) =>
    bookAnswer(ctx, responseOfValue(response as HarnDict)),
  ),
  builtin(
    '__apply_experiment(request: dict) -> dict',
    { doc: 'The request as a built-in experiment changes it: {request, record}.' },
    (_ctx, given) => {
      const request = requestOfValue(given as HarnDict)
      const experiment = request.experiment!
      return withPrompt(given as HarnDict, applyBuiltIn(experiment, request), experimentRecord(experiment))
    },
  ),
  primitive(
    '__read_experiment(request: dict, answer: any) -> dict',
    'The request as a transformation of the script changed it: {request, record}.',
    (_ctx, given, answer) => {
      const request = requestOfValue(given as HarnDict)
      const { prompt, record } = readTransformed(answer!, request, request.experiment!)
      return withPrompt(given as HarnDict, prompt, record)
    },
  ),
  builtin(
    '__judge_answer(request: dict, response: dict, violations: list) -> dict',
    { doc: 'The data of an answer under its schema: {data, errors, missing}.' },
    (_ctx, request, response, violations) => {
      const { data, errors, missing } = judge(
        requestOfValue(request as HarnDict),
        responseOfValue(response as HarnDict),
        textsIn(violations),
      )
      return HarnDict.of({ data: data ?? null, errors: new HarnList([...errors]), missing })
    },
  ),
  builtin(
    '__nudge_text(request: dict, errors: list) -> string?',
    { doc: 'The message after an answer of the wrong shape; nil when there is to be none.' },
    (_ctx, request, errors) => nudgeText(requestOfValue(request as HarnDict), textsIn(errors)),
  ),
  builtin(
    '__parse_tagged(text: string, names: list) -> dict',
    { doc: 'The protocol of tagged answers: {calls, errors, violations, prose, done_marker, canonical, has_user_response}.' },
    (_ctx, text, names) => {
      const tagged = parseTagged(text as string, textsIn(names))
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
    visibleText(text as string),
  ),
]

// Calling a model: budget, experiment, attempts, structured answers and the result that scripts get. The
// answer comes from the mock (llm-mock.ts) or, as one effect an attempt, from a provider outside the machine.

import { REQUEST_DEFAULTS } from '../../library/http/request-defaults.js'
import { Fault, callLibrary, display, failCategorized, failRuntime, runHere, tryAsk } from '@bridle/vm/families'
import type { HarnDict, Script, Value } from '@bridle/vm/families'
import type { LlmFailure } from './errors.js'
import { CALL_DEFAULTS, readRequest } from './options.js'
import type { Defaults, LlmEnvironment, LlmRequest } from './options.js'
import { findGrantLimit } from '../../tools/policy/grants.js'
import { decodeFailure, requestValue, decodeResponse, encodeResponse } from './request-value.js'
import { llmState } from './state.js'
import type { LlmResponse } from './state.js'

// ------------------------------------------------------------------------------------------------------------- environment

/** A variable of the environment; null also where the host gives none. */
function* readOptionalEnvironment(name: string): Script<string | null> {
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
function* readEnvironment(options: HarnDict): Script<LlmEnvironment> {
  const providerOpen = !isSet(options, 'provider') || options.get('provider') === 'auto'
  const modelOpen = !isSet(options, 'model')
  return {
    provider: providerOpen ? yield* readOptionalEnvironment('HARN_LLM_PROVIDER') : null,
    model: modelOpen ? yield* readOptionalEnvironment('HARN_LLM_MODEL') : null,
    fallbackProvider: (providerOpen ? yield* readOptionalEnvironment('HARN_DEFAULT_PROVIDER') : null) ?? 'anthropic',
    localBaseUrl: providerOpen ? yield* readOptionalEnvironment('LOCAL_LLM_BASE_URL') : null,
    anthropicKey: providerOpen && modelOpen ? yield* isVariableSet('ANTHROPIC_API_KEY') : false,
    experiment: options.has('structural_experiment') ? null : yield* readOptionalEnvironment('HARN_STRUCTURAL_EXPERIMENT'),
    mostTokens: yield* runHere((ctx) => findGrantLimit(ctx, 'llm.chat', 'max_tokens')),
    retries: yield* runHere((ctx) => ctx.machine.hostData(REQUEST_DEFAULTS).modelRetries ?? {}),
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
  return yield* runHere((ctx) => {
    try {
      return readRequest(prompt, system, options, env, ctx.state(llmState), defaults)
    } catch (error) {
      if (error instanceof Fault) return error
      throw error
    }
  })
}

// ---------------------------------------------------------------------------------------------------------------- attempts

const LIBRARY = 'agents/models/call'

/** The answer after as many attempts as the request allows, or the last failure. */
export function* sendRequest(request: LlmRequest): Script<LlmResponse | LlmFailure> {
  const outcome = (yield* callLibrary(LIBRARY, 'transport', requestValue(request))) as HarnDict
  const failure = outcome.get('failure') ?? null
  return failure === null ? decodeResponse(outcome.get('response') as HarnDict) : decodeFailure(failure as HarnDict)
}

export function isFailure(answer: LlmResponse | LlmFailure): answer is LlmFailure {
  return 'category' in answer
}

/** Books what an answer cost, and the event of the trace. */
export function* bookAnswerCost(response: LlmResponse, iteration: number): Script<null> {
  yield* callLibrary(LIBRARY, 'account', encodeResponse(response), iteration)
  return null
}

/** What only calls a model on its way, as a loop does, hands the failure on as it was raised. */
export function failAsRaised(failure: LlmFailure): never {
  return failure.isRuntime === true ? failRuntime(failure.message) : failCategorized(failure.category, failure.message)
}

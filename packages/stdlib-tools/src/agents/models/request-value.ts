// Requests, answers and failures of model calls as values: the form in which the internal modules (call.harn) hold them. All other
// TypeScript of this room has them as interfaces.

import { HarnDict, HarnFloat, HarnList, display } from '@bridle/vm/families'
import type { HarnClosure, Value } from '@bridle/vm/families'
import { isTransient, retryAfterMs } from './errors.js'
import type { LlmFailure } from './errors.js'
import type { Experiment } from './experiments.js'
import type { Budget, LlmRequest } from './options.js'
import type { LlmResponse } from './state.js'
import { dictsOf } from '../transcripts/shape.js'

/** Requests by their values, which are not changed in place: one request is asked for several times. */
const known = new WeakMap<HarnDict, LlmRequest>()

export function requestValue(request: LlmRequest): HarnDict {
  const { budget, experiment } = request
  const value = HarnDict.of({
    provider: request.provider,
    model: request.model,
    messages: request.messages,
    system: request.system,
    base_url: request.baseUrl,
    tools: new HarnList([...request.tools]),
    tool_names: new HarnList([...request.toolNames]),
    tool_format: request.toolFormat,
    tool_choice: request.toolChoice,
    max_tokens: request.maxTokens,
    settings: request.settings,
    output_kind: request.outputKind,
    schema: request.schema,
    output_schema: request.outputSchema,
    validation: request.validation,
    schema_retries: request.schemaRetries,
    nudge: request.nudge,
    retries: request.retries,
    backoff_ms: request.backoffMs,
    thinking: request.thinking,
    cache: request.cache,
    budget: budget === null ? null : budgetValue(budget),
    experiment: experiment === null ? null : HarnDict.of({ ...experiment }),
    repair: request.repair,
  })
  known.set(value, request)
  return value
}

/** Limits are floats: dollars have fractions, and as values all are of one kind. */
function budgetValue(budget: Budget): HarnDict {
  const value = new HarnDict()
  for (const [key, limit] of Object.entries(budget) as [string, number | null][])
    value.set(key, limit === null ? null : new HarnFloat(limit))
  return value
}

export function requestOfValue(value: HarnDict): LlmRequest {
  const before = value.owned ? undefined : known.get(value)
  if (before !== undefined) return before
  const read = readRequestValue(value)
  if (!value.owned) known.set(value, read)
  return read
}

function readRequestValue(value: HarnDict): LlmRequest {
  const field = (key: string): Value => value.get(key) ?? null
  const experiment = field('experiment')
  return {
    provider: field('provider') as string,
    model: field('model') as string,
    messages: field('messages') as HarnList,
    system: field('system') as string | null,
    baseUrl: field('base_url') as string | null,
    tools: dictsOf(field('tools')),
    toolNames: (field('tool_names') as HarnList).view() as readonly string[],
    toolFormat: field('tool_format') as string,
    toolChoice: field('tool_choice'),
    maxTokens: Number(field('max_tokens')),
    settings: field('settings') as HarnDict,
    outputKind: field('output_kind') as LlmRequest['outputKind'],
    schema: field('schema') as HarnDict | null,
    outputSchema: field('output_schema') as HarnDict | null,
    validation: field('validation') as LlmRequest['validation'],
    schemaRetries: Number(field('schema_retries')),
    nudge: field('nudge') as boolean | string,
    retries: Number(field('retries')),
    backoffMs: Number(field('backoff_ms')),
    thinking: field('thinking') as HarnDict,
    cache: field('cache') === true,
    budget: budgetOf(field('budget')),
    experiment: experiment instanceof HarnDict ? experimentOf(experiment) : null,
    repair: field('repair') as HarnDict | null,
  }
}

function budgetOf(value: Value): Budget | null {
  if (!(value instanceof HarnDict)) return null
  const limit = (key: keyof Budget): number | null => {
    const found = value.get(key)
    return found instanceof HarnFloat ? found.v : null
  }
  return {
    max_cost_usd: limit('max_cost_usd'),
    total_budget_usd: limit('total_budget_usd'),
    max_input_tokens: limit('max_input_tokens'),
    max_output_tokens: limit('max_output_tokens'),
  }
}

function experimentOf(value: HarnDict): Experiment {
  return {
    name: display(value.get('name')!),
    label: display(value.get('label')!),
    args: value.get('args') as HarnDict,
    transform: (value.get('transform') ?? null) as HarnClosure | null,
  }
}

// ----------------------------------------------------------------------------------------------------------------- answers

export function responseValue(response: LlmResponse): HarnDict {
  return HarnDict.of({
    text: response.text,
    tool_calls: new HarnList([...response.toolCalls]),
    blocks: new HarnList([...response.blocks]),
    model: response.model,
    provider: response.provider,
    input_tokens: response.inputTokens,
    output_tokens: response.outputTokens,
    cache_read: response.cacheRead,
    cache_write: response.cacheWrite,
    thinking: response.thinking,
    thinking_summary: response.thinkingSummary,
    stop_reason: response.stopReason,
  })
}

export function responseOfValue(value: HarnDict): LlmResponse {
  const field = (key: string): Value => value.get(key) ?? null
  return {
    text: field('text') as string,
    toolCalls: dictsOf(field('tool_calls')),
    blocks: dictsOf(field('blocks')),
    model: field('model') as string,
    provider: field('provider') as string,
    inputTokens: Number(field('input_tokens')),
    outputTokens: Number(field('output_tokens')),
    cacheRead: Number(field('cache_read')),
    cacheWrite: Number(field('cache_write')),
    thinking: field('thinking') as string | null,
    thinkingSummary: field('thinking_summary') as string | null,
    stopReason: field('stop_reason') as string | null,
  }
}

/** A failure with what those who try again look at. */
export function failureValue(failure: LlmFailure): HarnDict {
  return HarnDict.of({
    category: failure.category,
    message: failure.message,
    is_runtime: failure.isRuntime === true,
    was_stopped: failure.wasStopped === true,
    is_transient: isTransient(failure),
    retry_after_ms: retryAfterMs(failure.message),
    more: failure.more === undefined ? null : HarnDict.of(failure.more),
  })
}

export function failureOfValue(value: HarnDict): LlmFailure {
  const more = value.get('more')
  return {
    category: display(value.get('category')!),
    message: display(value.get('message')!),
    ...(value.get('is_runtime') === true ? { isRuntime: true } : {}),
    ...(value.get('was_stopped') === true ? { wasStopped: true } : {}),
    ...(more instanceof HarnDict ? { more: Object.fromEntries([...more.entries()]) } : {}),
  }
}

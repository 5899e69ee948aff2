// Requests, answers and failures of model calls as values: the form in which the internal modules (call.harn) hold them. All other
// TypeScript of this room has them as interfaces.

import { HarnDict, HarnFloat, HarnList, display } from '@bridle/vm/families'
import type { HarnClosure, Value } from '@bridle/vm/families'
import { isTransient, retryAfterMs } from './errors.js'
import type { LlmFailure } from './errors.js'
import type { Experiment } from './experiments.js'
import type { Budget, LlmRequest } from './options.js'
import type { LlmResponse } from './state.js'
import { listDicts } from '../transcripts/shape.js'

/** Requests by their values, which are not changed in place, because one request is read several times. */
const known = new WeakMap<HarnDict, LlmRequest>()

export function requestValue(request: LlmRequest): HarnDict {
  const { budget, experiment } = request
  const value = HarnDict.of({
    provider: request.provider,
    model: request.model,
    unnamed: request.isUnnamed,
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
    budget: budget === null ? null : encodeBudget(budget),
    experiment: experiment === null ? null : HarnDict.of({ ...experiment }),
    is_streamed: request.isStreamed,
    on_delta: request.onDelta,
    repair: request.repair,
  })
  known.set(value, request)
  return value
}

/** Limits are floats: dollars have fractions, and as values all are of one kind. */
function encodeBudget(budget: Budget): HarnDict {
  const value = new HarnDict()
  for (const [key, limit] of Object.entries(budget) as [string, number | null][])
    value.set(key, limit === null ? null : new HarnFloat(limit))
  return value
}

export function decodeRequest(value: HarnDict): LlmRequest {
  const before = value.owned ? undefined : known.get(value)
  if (before !== undefined) return before
  const read = readRequestValue(value)
  if (!value.owned) known.set(value, read)
  return read
}

function readRequestValue(value: HarnDict): LlmRequest {
  const readField = (key: string): Value => value.get(key) ?? null
  const experiment = readField('experiment')
  return {
    provider: readField('provider') as string,
    model: readField('model') as string,
    isUnnamed: readField('unnamed') === true,
    messages: readField('messages') as HarnList,
    system: readField('system') as string | null,
    baseUrl: readField('base_url') as string | null,
    tools: listDicts(readField('tools')),
    toolNames: (readField('tool_names') as HarnList).view() as readonly string[],
    toolFormat: readField('tool_format') as string,
    toolChoice: readField('tool_choice'),
    maxTokens: Number(readField('max_tokens')),
    settings: readField('settings') as HarnDict,
    outputKind: readField('output_kind') as LlmRequest['outputKind'],
    schema: readField('schema') as HarnDict | null,
    outputSchema: readField('output_schema') as HarnDict | null,
    validation: readField('validation') as LlmRequest['validation'],
    schemaRetries: Number(readField('schema_retries')),
    nudge: readField('nudge') as boolean | string,
    retries: Number(readField('retries')),
    backoffMs: Number(readField('backoff_ms')),
    thinking: readField('thinking') as HarnDict,
    cache: readField('cache') === true,
    budget: decodeBudget(readField('budget')),
    experiment: experiment instanceof HarnDict ? decodeExperiment(experiment) : null,
    isStreamed: readField('is_streamed') === true,
    onDelta: readField('on_delta'),
    repair: readField('repair') as HarnDict | null,
  }
}

function decodeBudget(value: Value): Budget | null {
  if (!(value instanceof HarnDict)) return null
  const readLimit = (key: keyof Budget): number | null => {
    const found = value.get(key)
    return found instanceof HarnFloat ? found.v : null
  }
  return {
    max_cost_usd: readLimit('max_cost_usd'),
    total_budget_usd: readLimit('total_budget_usd'),
    max_input_tokens: readLimit('max_input_tokens'),
    max_output_tokens: readLimit('max_output_tokens'),
  }
}

function decodeExperiment(value: HarnDict): Experiment {
  return {
    name: display(value.get('name')!),
    label: display(value.get('label')!),
    args: value.get('args') as HarnDict,
    transform: (value.get('transform') ?? null) as HarnClosure | null,
  }
}

// ----------------------------------------------------------------------------------------------------------------- answers

export function encodeResponse(response: LlmResponse): HarnDict {
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
    service_state: response.serviceState,
  })
}

export function decodeResponse(value: HarnDict): LlmResponse {
  const readField = (key: string): Value => value.get(key) ?? null
  return {
    text: readField('text') as string,
    toolCalls: listDicts(readField('tool_calls')),
    blocks: listDicts(readField('blocks')),
    model: readField('model') as string,
    provider: readField('provider') as string,
    inputTokens: Number(readField('input_tokens')),
    outputTokens: Number(readField('output_tokens')),
    cacheRead: Number(readField('cache_read')),
    cacheWrite: Number(readField('cache_write')),
    thinking: readField('thinking') as string | null,
    thinkingSummary: readField('thinking_summary') as string | null,
    stopReason: readField('stop_reason') as string | null,
    serviceState: readField('service_state') as HarnDict | null,
  }
}

/** A failure with the fields that retries use. */
export function encodeFailure(failure: LlmFailure): HarnDict {
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

export function decodeFailure(value: HarnDict): LlmFailure {
  const more = value.get('more')
  return {
    category: display(value.get('category')!),
    message: display(value.get('message')!),
    ...(value.get('is_runtime') === true ? { isRuntime: true } : {}),
    ...(value.get('was_stopped') === true ? { wasStopped: true } : {}),
    ...(more instanceof HarnDict ? { more: Object.fromEntries([...more.entries()]) } : {}),
  }
}

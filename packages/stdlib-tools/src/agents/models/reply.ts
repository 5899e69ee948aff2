// What the internal module chat.harn, one call of a model, is made with: the reading of an answer, the results that scripts get, the errors
// of calls that gave none, and their spans.

import {
  HarnDict,
  HarnFloat,
  HarnList,
  beginSpan,
  builtin,
  readCategory,
  display,
  endSpan,
  failRuntime,
  isInt,
  stringifySorted,
  toPlain,
  tracingState,
  typeName,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, Context, Plain, Value } from '@bridle/vm/families'
import { parseTagged, cutToVisible } from '../../library/formats/tagged-response.js'
import type { TaggedResponse } from '../../library/formats/tagged-response.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { listDicts, toStoredMessage } from '../transcripts/shape.js'
import { makeFailureDict, makeFailure, isTransient } from './errors.js'
import type { LlmFailure } from './errors.js'
import { resolvePlace } from './options.js'
import type { LlmRequest } from './options.js'
import { readLlmEnvironment } from './primitives.js'
import { computeCacheSavings, estimateCost } from './providers.js'
import { decodeFailure, encodeFailure, decodeRequest, decodeResponse } from './request-value.js'
import type { LlmResponse } from './state.js'
import { extractData, wasExtracted } from './structured.js'

// ------------------------------------------------------------------------------------------------------------------ answers

/** The protocol's reading of an answer, as chat.harn holds it. */
interface ReadProtocol {
  readonly prose: string
  readonly calls: readonly HarnDict[]
  readonly violations: readonly string[]
  readonly errors: readonly string[]
  readonly doneMarker: string | null
  readonly canonical: string
}

const TAGGED = /<assistant_prose>|<user_response>|<done>|<tool_call>/

/** The protocol's reading of an answer, where the protocol is in use. */
function readTagged(request: LlmRequest, response: LlmResponse): TaggedResponse | null {
  const used = request.toolNames.length > 0 || response.toolCalls.length > 0 || TAGGED.test(response.text)
  return used ? parseTagged(response.text, request.toolNames) : null
}

function protocolValue(tagged: TaggedResponse): HarnDict {
  const calls = tagged.calls.map((call) => HarnDict.of({ id: call.id, name: call.name, arguments: call.arguments }))
  return HarnDict.of({
    prose: tagged.prose,
    calls: new HarnList(calls),
    violations: new HarnList([...tagged.violations]),
    errors: new HarnList([...tagged.errors]),
    done_marker: tagged.doneMarker,
    canonical: tagged.canonical,
  })
}

function textsIn(value: Value | undefined): string[] {
  return value instanceof HarnList ? value.view().map(display) : []
}

function protocolOf(value: Value | undefined): ReadProtocol | null {
  if (!(value instanceof HarnDict)) return null
  return {
    prose: display(value.get('prose')!),
    calls: listDicts(value.get('calls')),
    violations: textsIn(value.get('violations')),
    errors: textsIn(value.get('errors')),
    doneMarker: (value.get('done_marker') ?? null) as string | null,
    canonical: display(value.get('canonical')!),
  }
}

interface Completed {
  readonly request: LlmRequest
  readonly response: LlmResponse
  readonly tagged: ReadProtocol | null
  /** nil where no data was asked for. */
  readonly judged: { readonly data: Value } | null
  readonly experiment: HarnDict | null
}

function completedOf(value: HarnDict): Completed {
  const judged = value.get('judged')
  const experiment = value.get('experiment')
  return {
    request: decodeRequest(value.get('request') as HarnDict),
    response: decodeResponse(value.get('response') as HarnDict),
    tagged: protocolOf(value.get('tagged')),
    judged: judged instanceof HarnDict ? { data: judged.get('data') ?? null } : null,
    experiment: experiment instanceof HarnDict ? experiment : null,
  }
}

// ------------------------------------------------------------------------------------------------------------------ results

function makeUsageFields(response: LlmResponse): Record<string, Value> {
  const { inputTokens, outputTokens, cacheRead, cacheWrite } = response
  const total = cacheRead + cacheWrite <= inputTokens ? inputTokens : inputTokens + cacheRead + cacheWrite
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_hit_ratio: new HarnFloat(total === 0 ? 0 : cacheRead / total),
    cache_savings_usd: new HarnFloat(computeCacheSavings(response.model, cacheRead, cacheWrite)),
  }
}

/** Calls of an answer: native ones if there are any, else those of the text. */
function callsOf(response: LlmResponse, tagged: ReadProtocol | null): HarnDict[] {
  if (response.toolCalls.length > 0) return [...response.toolCalls]
  return [...(tagged?.calls ?? [])]
}

export function makeNativeAssistant(
  text: string,
  calls: readonly HarnDict[],
  { reasoning = null, serviceState = null }: { readonly reasoning?: string | null; readonly serviceState?: HarnDict | null },
): HarnDict {
  const written = calls.map((call) =>
    HarnDict.of({
      id: call.get('id') ?? '',
      type: 'function',
      function: HarnDict.of({
        name: call.get('name') ?? '',
        arguments: stringifySorted(call.get('arguments') ?? new HarnDict()),
      }),
    }),
  )
  const message = HarnDict.of({ role: 'assistant', content: text, tool_calls: new HarnList(written) })
  if (reasoning !== null) message.set('reasoning', reasoning)
  if (serviceState !== null) message.set('service_state', serviceState)
  return message
}

function makeAssistantMessage(response: LlmResponse): HarnDict {
  const { text, toolCalls, thinking, serviceState } = response
  if (toolCalls.length > 0) return makeNativeAssistant(text, toolCalls, { reasoning: thinking, serviceState })
  const content = response.blocks.length > 0 ? new HarnList([...response.blocks]) : response.text
  return HarnDict.of({ role: 'assistant', content })
}

/** What `llm_call` gives. */
function replyOf({ request, response, tagged, judged }: Completed, transcript: Value): HarnDict {
  const prose = tagged === null ? response.text : tagged.prose === '' ? response.text : tagged.prose
  const hasTools = request.toolNames.length > 0
  const usage = makeUsageFields(response)
  const result = HarnDict.of({
    text: response.text,
    model: response.model,
    provider: response.provider,
    ...usage,
    usage: HarnDict.of(usage),
    prose,
    transcript,
    visible_text: hasTools && response.toolCalls.length === 0 ? tagged!.prose : cutToVisible(response.text),
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
  if (response.serviceState !== null) result.set('service_state', response.serviceState)
  return result
}

const COMPLETION_TOKENS = 16

/** What the mock makes of the text around a gap. */
function mockedCompletion(prefix: string, suffix: string): HarnDict {
  const text = `Mock completion after ${[...prefix].length} chars${suffix === '' ? '' : ` before ${[...suffix].length} chars`}`
  const response = {
    ...EMPTY_RESPONSE,
    text,
    blocks: [HarnDict.of({ type: 'output_text', text, visibility: 'public' })],
    model: 'mock',
    provider: 'mock',
    inputTokens: toUtf8(prefix + suffix).length,
    outputTokens: COMPLETION_TOKENS,
    cacheRead: 0,
    cacheWrite: 0,
    stopReason: 'stop',
  }
  return makeCompletionDict(response)
}

function makeCompletionDict(response: LlmResponse): HarnDict {
  const usage = makeUsageFields(response)
  const dict = HarnDict.of({
    text: response.text,
    prose: response.text,
    visible_text: response.text,
    model: response.model,
    provider: response.provider,
    ...usage,
    usage: HarnDict.of(usage),
    blocks: new HarnList([...response.blocks]),
  })
  if (response.stopReason !== null) dict.set('stop_reason', response.stopReason)
  const calls = callsOf(response, null)
  if (calls.length > 0) dict.set('tool_calls', new HarnList(calls))
  return dict
}

const EMPTY_RESPONSE = {
  text: '',
  toolCalls: [],
  blocks: [],
  model: '',
  provider: '',
  thinking: null,
  thinkingSummary: null,
  stopReason: null,
  serviceState: null,
} as const

// ------------------------------------------------------------------------------------------------------------------- errors

/** The failure of an answer that breaks its schema where that is an error. */
function findValidationFailure(request: LlmRequest, errors: readonly string[]): LlmFailure | null {
  if (request.validation !== 'error' || errors.length === 0) return null
  const hint =
    request.schemaRetries === 0
      ? 'set `schema_retries: N` in the llm_call options to automatically re-prompt the model with a corrective nudge'
      : 'schema_retries budget exhausted — the model did not produce conforming output after the configured retries; ' +
        'consider raising `schema_retries` or relaxing the schema'
  return {
    category: 'schema_validation',
    message: `LLM output failed schema validation: ${errors.join('; ')} (hint: ${hint})`,
  }
}

/** The error dict of a call that gave none of its own. */
function makeFaultDict(fault: HarnDict): HarnDict {
  const value = fault.get('value') ?? null
  const isThrown = fault.get('kind') === 'thrown'
  if (isThrown && value instanceof HarnDict) return value
  return makeFailureDict(makeFailure(display(fault.get(isThrown ? 'message' : 'text')!)), null)
}

// -------------------------------------------------------------------------------------------------------------- structured

const STRUCTURED_RETRIES = 3

/** Options of `llm_call_structured*`; raises what is wrong with the arguments. */
function readStructuredOptions(hasSchema: boolean, schema: Value, options: Value): HarnDict {
  if (!hasSchema)
    return failRuntime('llm_call_structured: missing required `schema` argument (expected (prompt, schema, options?))')
  if (!(schema instanceof HarnDict)) {
    return failRuntime(`llm_call_structured: \`schema\` must be a dict (JSON Schema), got ${typeName(schema)}`)
  }
  const merged = options instanceof HarnDict ? options.copy() : new HarnDict()
  const preset = (key: string, value: Value): void => {
    if (!merged.has(key)) merged.set(key, value)
  }
  preset('output_schema', schema)
  preset('json_schema', schema)
  preset('output_format', HarnDict.of({ kind: 'json_schema', schema, strict: true }))
  preset('response_format', 'json')
  preset('output_validation', 'error')
  const retries = merged.get('retries') ?? null
  preset('schema_retries', isInt(retries) ? retries : STRUCTURED_RETRIES)
  return merged
}

/** The span of an `llm_call`, with what its metadata say in the reference. */
function endCallSpan(ctx: Context, span: number, callId: string, prompt: Value, called: HarnDict): null {
  const facts: Record<string, Plain> = {
    call_id: callId,
    fallback_chain: [],
    prompt_chars: typeof prompt === 'string' ? toUtf8(prompt).length : 0,
    route_policy: 'manual',
  }
  const kind = called.get('kind')
  if (kind === 'done') {
    const { request, response, experiment } = completedOf(called.get('completed') as HarnDict)
    Object.assign(facts, {
      provider: request.provider,
      model: request.model,
      input_tokens: response.inputTokens,
      output_tokens: response.outputTokens,
      cost_usd: new HarnFloat(estimateCost(response.model, response.inputTokens, response.outputTokens)),
      structural_experiment: experiment === null ? null : toPlain(experiment),
      status: 'ok',
    })
  } else if (kind === 'failure') {
    const request = decodeRequest(called.get('request') as HarnDict)
    const failure = decodeFailure(called.get('failure') as HarnDict)
    Object.assign(facts, {
      provider: request.provider,
      model: request.model,
      attempt: request.retries,
      error: failure.category === 'generic' ? failure.message : `Error [${failure.category}]: ${failure.message}`,
      retryable: isTransient(failure),
      status: 'retries_exhausted',
    })
  }
  endSpan(ctx.state(tracingState), span, ctx.now, facts)
  return null
}

// -------------------------------------------------------------------------------------------------------------- primitives

export const replyPrimitives: readonly BuiltinDef[] = [
  builtin(
    '__read_protocol(request: dict, response: dict) -> dict?',
    { doc: 'The reading of an answer by the protocol of tagged answers; nil where it is not in use.' },
    (_ctx, request, response) => {
      const tagged = readTagged(decodeRequest(request as HarnDict), decodeResponse(response as HarnDict))
      return tagged === null ? null : protocolValue(tagged)
    },
  ),
  builtin(
    '__answered_messages(request: dict, response: dict) -> list',
    { doc: 'The messages of a request with its answer, as transcripts store them.' },
    (_ctx, request, response) => {
      const asked = listDicts((request as HarnDict).get('messages'))
      return new HarnList([...asked, makeAssistantMessage(decodeResponse(response as HarnDict))].map(toStoredMessage))
    },
  ),
  builtin('__reply(completed: dict, transcript: dict) -> dict', { doc: 'What llm_call gives.' }, (_ctx, completed, transcript) =>
    replyOf(completedOf(completed as HarnDict), transcript!),
  ),
  builtin('__usage(response: dict?) -> dict', { doc: 'Tokens of an answer.' }, (_ctx, response) => {
    const none = { ...EMPTY_RESPONSE, inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0 }
    return HarnDict.of(makeUsageFields(response instanceof HarnDict ? decodeResponse(response) : none))
  }),
  builtin('__was_extracted(text: string) -> bool', { doc: 'Whether data stands within other text.' }, (_ctx, text) =>
    wasExtracted(text as string),
  ),
  builtin('__completion_reply(response: dict) -> dict', { doc: 'What llm_completion gives.' }, (_ctx, response) =>
    makeCompletionDict(decodeResponse(response as HarnDict)),
  ),
  builtin(
    '__mock_completion(prefix: string, suffix: string) -> dict',
    { doc: 'What the mock completes.' },
    (_ctx, prefix, suffix) => mockedCompletion(prefix as string, suffix as string),
  ),
  builtin('__last_content(messages: list) -> string', { doc: 'The content of the last message.' }, (_ctx, messages) =>
    display(listDicts(messages).at(-1)?.get('content') ?? ''),
  ),
  builtin('__fault_error(fault: dict) -> dict', { doc: 'The error of a call that raised.' }, (_ctx, fault) =>
    makeFaultDict(fault as HarnDict),
  ),
  builtin(
    '__failure_error(failure: dict, request: dict) -> dict',
    { doc: 'The error of a call that failed.' },
    (_ctx, failure, request) => makeFailureDict(decodeFailure(failure as HarnDict), decodeRequest(request as HarnDict)),
  ),
  builtin(
    '__validation_failure(request: dict, errors: list) -> dict?',
    { doc: 'The failure of an answer that breaks its schema, where that is an error.' },
    (_ctx, request, errors) => {
      const failure = findValidationFailure(decodeRequest(request as HarnDict), textsIn(errors))
      return failure === null ? null : encodeFailure(failure)
    },
  ),
  builtin('__category_of_fault(fault: dict) -> string', { doc: 'The category of what a call raised.' }, (_ctx, given) => {
    const fault = given as HarnDict
    if (fault.get('kind') === 'thrown') return readCategory(fault.get('value') ?? null)
    const category = fault.get('category') ?? null
    return category === null ? readCategory(fault.get('message') ?? null) : display(category)
  }),
  definePrimitive(
    '__structured_options(has_schema: bool, schema: any, options: any) -> dict',
    'Options of a call for data; raises what is wrong with the arguments.',
    (_ctx, hasSchema, schema, options) => readStructuredOptions(hasSchema === true, schema ?? null, options ?? null),
  ),
  definePrimitive(
    '__resolve_place(options: dict, environment: dict) -> dict',
    'The provider and model of a call.',
    (ctx, options, environment) =>
      HarnDict.of({ ...resolvePlace(options as HarnDict, readLlmEnvironment(ctx, environment as HarnDict)) }),
  ),
  definePrimitive('__begin_call_span() -> int?', 'Begins the span of a call; nil while nobody looks.', (ctx) =>
    beginSpan(ctx.state(tracingState), 'llm_call', 'llm_call', ctx.now),
  ),
  definePrimitive(
    '__end_call_span(span: int, call_id: string, prompt: any, called: dict) -> nil',
    'Ends it.',
    (ctx, span, callId, prompt, called) => endCallSpan(ctx, Number(span), callId as string, prompt ?? null, called as HarnDict),
  ),
]

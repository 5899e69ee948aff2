// The builtins that call models and tell about them. The work is in the llm-* modules beside this one.

import {
  Fault,
  HarnBuiltin,
  HarnClosure,
  HarnDict,
  HarnFloat,
  HarnList,
  Problem,
  beginSpan,
  builtin,
  categoryOf,
  display,
  endSpan,
  failRuntime,
  here,
  isInt,
  makeChannel,
  scripts,
  sortTexts,
  toPlain,
  tracingState,
  tryCallBack,
  typeName,
  utf8,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, HarnChannel, Plain, Result, Script, Value } from '@bridle/vm/families'
import { MODEL_OPTIONS, RATE_OPTIONS, STRUCTURED_OPTIONS } from './option-shapes.js'
import { parseTomlText } from '../../library/formats/toml.js'
import {
  callsOf,
  complete,
  failAsRaised,
  failWithFailure,
  isFailure,
  optionalEnvironment,
  pause,
  placeOf,
  prepare,
  resultDict,
  transport,
  usageFields,
  validationFailure,
} from './call.js'
import type { Completed } from './call.js'
import { attemptFrame } from './attempt.js'
import { modelPrimitives } from './primitives.js'
import { harnModules } from '../../library/harn/modules.js'
import { capabilitiesOf, capabilityDict, readRules } from './capabilities.js'
import { failureDict, failureOf, isTransient } from './errors.js'
import type { LlmFailure } from './errors.js'
import { embed } from './embed.js'
import { mockBuiltins } from './mock.js'
import type { LlmRequest } from './options.js'
import { ALIASES, PROVIDERS, costOf, inferProvider, modelTier, resolveModel } from './providers.js'
import { llmState } from './state.js'
import { wasExtracted } from './structured.js'
import { toolError } from '../../library/tool-errors.js'
import { usageState } from '../../library/logging/tracing.js'
import { timeOrderedId } from '../../library/time/identity.js'
import { dictsOf } from '../transcripts/shape.js'
import {
  availableProviders,
  allProviders,
  catalogue,
  resolved,
  modelInfo,
  healthcheck,
  keyAvailable,
  names,
} from './catalogue.js'

const EFFECTS: readonly string[] = ['llm.call', 'process.info', 'random.bytes', 'clock.now', 'callback']

// ------------------------------------------------------------------------------------------------------------------- calls

/** The result of a call, or its failure; faults of the options are an answer too. */
function* callModel(prompt: Value, system: Value, options: HarnDict): Script<Called> {
  const request = yield* prepare(prompt, system, options)
  if (request instanceof Fault) return { kind: 'fault', fault: request }
  const completed = yield* complete(request)
  if ('category' in completed) return { kind: 'failure', failure: completed, request }
  const failure = validationFailure(completed)
  if (failure !== null) return { kind: 'failure', failure, request, completed }
  return { kind: 'done', completed }
}

type Called =
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'failure'; readonly failure: LlmFailure; readonly request: LlmRequest; readonly completed?: Completed }
  | { readonly kind: 'done'; readonly completed: Completed }

/** The error dict of a call that gave none of its own. */
function faultDict(fault: Fault): HarnDict {
  if (fault.kind === 'thrown' && fault.value instanceof HarnDict) return fault.value
  return failureDict(failureOf(fault.kind === 'thrown' ? fault.message : fault.text), null)
}

function errorOf(called: Exclude<Called, { kind: 'done' }>): HarnDict {
  return called.kind === 'fault' ? faultDict(called.fault) : failureDict(called.failure, called.request)
}

function orThrow(called: Called): Completed {
  if (called.kind === 'done') return called.completed
  if (called.kind === 'fault') throw called.fault
  return failWithFailure(called.failure, called.request)
}

// -------------------------------------------------------------------------------------------------------------- structured

const STRUCTURED_RETRIES = 3

/** Options of `llm_call_structured*`, or what is wrong with the arguments. */
function structuredOptions(argc: number, schema: Value, options: Value): HarnDict | string {
  if (argc < 2) return 'llm_call_structured: missing required `schema` argument (expected (prompt, schema, options?))'
  if (!(schema instanceof HarnDict)) {
    return `llm_call_structured: \`schema\` must be a dict (JSON Schema), got ${typeName(schema)}`
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

function* callStructured(argc: number, prompt: Value, schema: Value, options: Value): Script<Called> {
  const merged = structuredOptions(argc, schema, options)
  if (typeof merged === 'string') {
    try {
      failRuntime(merged)
    } catch (fault) {
      return { kind: 'fault', fault: fault as Fault }
    }
  }
  return yield* callModel(prompt, merged.get('system') ?? null, merged)
}

const REPAIR =
  'The following text was supposed to be JSON conforming to the configured schema, but it failed validation. Repair it and ' +
  'respond with ONLY the corrected JSON — no prose, no markdown fences, no commentary.'

const NO_USAGE = { inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0 } as const

function envelope(fields: Readonly<Record<string, Value>>): HarnDict {
  return HarnDict.of({
    ok: false,
    data: null,
    raw_text: '',
    error: '',
    error_category: null,
    attempts: 0,
    repaired: false,
    extracted_json: false,
    ...fields,
  })
}

function facts({ response, attempts }: Completed): Record<string, Value> {
  return {
    raw_text: response.text,
    attempts,
    usage: HarnDict.of(usageFields(response)),
    model: response.model,
    provider: response.provider,
  }
}

function success(completed: Completed, repaired: boolean): HarnDict {
  return envelope({
    ...facts(completed),
    ok: true,
    data: completed.judged?.data ?? null,
    repaired,
    extracted_json: wasExtracted(completed.response.text),
  })
}

function* structuredResult(argc: number, prompt: Value, schema: Value, options: Value): Script<HarnDict> {
  const called = yield* callStructured(argc, prompt, schema, options)
  if (called.kind === 'done') return success(called.completed, false)
  if (called.kind === 'fault' || called.completed === undefined) {
    const error = errorOf(called)
    const place =
      called.kind === 'failure' ? called.request : yield* placeOf(options instanceof HarnDict ? options : new HarnDict())
    return envelope({
      error: display(error.get('message') ?? ''),
      error_category: error.get('category') ?? 'generic',
      usage: HarnDict.of(usageFields({ ...NO_USAGE, ...EMPTY_RESPONSE })),
      model: place.model,
      provider: place.provider,
    })
  }
  const { completed } = called
  const judged = completed.judged!
  const problem = judged.errors.join('; ')
  const failed = { ...facts(completed), error: problem, error_category: judged.missing ? 'missing_json' : 'schema_validation' }
  if (completed.request.repair === null) return envelope(failed)
  const merged = (structuredOptions(argc, schema, options) as HarnDict).merged(completed.request.repair).with('schema_retries', 0)
  const text =
    `${REPAIR}\n\nValidation errors: ${problem}\n\nOriginal text:\n${completed.response.text}` + '\n\nReply with valid JSON only.'
  const repair = yield* callModel(text, null, merged)
  return repair.kind === 'done' ? success(repair.completed, true) : envelope({ ...failed, error_category: 'repair_failed' })
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
} as const

// -------------------------------------------------------------------------------------------------------------- rate limit

const RETRIED = new Set(['rate_limit', 'overloaded', 'transient_network', 'timeout'])
const MAX_BACKOFF_MS = 30_000

function* withRateLimit(provider: Value, callee: Value, options: Value): Script {
  if (provider === null || display(provider) === '') return failRuntime('with_rate_limit: provider name is required')
  if (!(callee instanceof HarnClosure || callee instanceof HarnBuiltin)) {
    return failRuntime('with_rate_limit: second argument must be a closure')
  }
  const given = options instanceof HarnDict ? options : new HarnDict()
  const retries = given.get('max_retries') ?? null
  const most = isInt(retries) ? Math.max(0, Number(retries)) : 5
  const first = given.get('backoff_ms') ?? null
  let backoff = isInt(first) ? Math.max(1, Number(first)) : 1000
  for (let made = 0; ; made++) {
    const answer = yield* tryCallBack(callee)
    if (!(answer instanceof Fault)) return answer
    const category = answer.kind === 'thrown' ? categoryOf(answer.value) : (answer.category ?? categoryOf(answer.message))
    if (made >= most || !RETRIED.has(category)) throw answer
    yield* pause(backoff)
    backoff = Math.min(backoff * 2, MAX_BACKOFF_MS)
  }
}

/** The span of an `llm_call`, with what its metadata say in the reference. */
function* endCallSpan(span: number, prompt: Value, called: Called): Script<null> {
  const facts: Record<string, Plain> = {
    call_id: yield* timeOrderedId(),
    fallback_chain: [],
    prompt_chars: typeof prompt === 'string' ? utf8(prompt).length : 0,
    route_policy: 'manual',
  }
  if (called.kind === 'done') {
    const { request, response, experiment } = called.completed
    Object.assign(facts, {
      provider: request.provider,
      model: request.model,
      input_tokens: response.inputTokens,
      output_tokens: response.outputTokens,
      cost_usd: new HarnFloat(costOf(response.model, response.inputTokens, response.outputTokens)),
      structural_experiment: experiment === null ? null : toPlain(experiment),
      status: 'ok',
    })
  } else if (called.kind === 'failure') {
    const { request, failure } = called
    Object.assign(facts, {
      provider: request.provider,
      model: request.model,
      attempt: request.retries,
      error: failure.category === 'generic' ? failure.message : `Error [${failure.category}]: ${failure.message}`,
      retryable: isTransient(failure),
      status: 'retries_exhausted',
    })
  }
  return yield* here((ctx) => {
    endSpan(ctx.state(tracingState), span, ctx.now, facts)
    return null
  })
}

// ----------------------------------------------------------------------------------------------------------------- scripts

const machine = scripts('llm.script', {
  *call(prompt, system, options) {
    const span = yield* here((ctx) => beginSpan(ctx.state(tracingState), 'llm_call', 'llm_call', ctx.now))
    const called = yield* callModel(prompt!, system!, options as HarnDict)
    if (span !== null) yield* endCallSpan(span, prompt!, called)
    return yield* resultDict(orThrow(called))
  },
  *callSafe(prompt, system, options) {
    const called = yield* callModel(prompt!, system!, options as HarnDict)
    const done = called.kind === 'done'
    return HarnDict.of({
      ok: done,
      response: done ? yield* resultDict(called.completed) : null,
      error: done ? null : errorOf(called),
    })
  },
  *structured(argc, prompt, schema, options) {
    const completed = orThrow(yield* callStructured(argc as number, prompt!, schema!, options!))
    return completed.judged?.data ?? null
  },
  *structuredSafe(argc, prompt, schema, options) {
    const called = yield* callStructured(argc as number, prompt!, schema!, options!)
    const done = called.kind === 'done'
    return HarnDict.of({
      ok: done,
      data: done ? (called.completed.judged?.data ?? null) : null,
      error: done ? null : errorOf(called),
    })
  },
  *structuredResult(argc, prompt, schema, options) {
    return yield* structuredResult(argc as number, prompt!, schema!, options!)
  },
  *completion(prefix, suffix, system, options) {
    return yield* completion(display(prefix!), suffix === null ? '' : display(suffix!), system!, options as HarnDict)
  },
  *stream(prompt, system, options, channel) {
    const request = yield* prepare(prompt!, system!, options as HarnDict)
    if (request instanceof Fault) throw request
    // The mock gives the prompt back, word by word.
    if (request.provider === 'mock') {
      const content = dictsOf(request.messages).at(-1)?.get('content') ?? ''
      return yield* fill(channel as HarnChannel, display(content))
    }
    const answer = yield* transport(request)
    return isFailure(answer) ? failWithFailure(answer, request) : yield* fill(channel as HarnChannel, answer.text)
  },
  withRateLimit,
  *info() {
    const provider = (yield* optionalEnvironment('HARN_LLM_PROVIDER')) ?? 'anthropic'
    const model = yield* optionalEnvironment('HARN_LLM_MODEL')
    const key = PROVIDERS[provider]?.authEnvs ?? []
    const keySet = key.length > 0 && (yield* keyAvailable(key))
    return HarnDict.of({ provider, model: model ?? '', api_key_set: keySet })
  },
  *config(name) {
    const all = yield* allProviders()
    return name === null ? all : (all.get(display(name!)) ?? null)
  },
  *available() {
    return yield* availableProviders()
  },
  *catalogue() {
    return yield* catalogue()
  },
  *modelInfo(selector) {
    return yield* modelInfo(selector!)
  },
  *embed(text, options) {
    return yield* embed(text!, options as HarnDict)
  },
  *healthcheck(target, options) {
    return yield* healthcheck(target!, options!)
  },
})

/** Puts the words of a text into a channel and closes it. */
function* fill(channel: HarnChannel, text: string): Script<HarnChannel> {
  return yield* here((ctx) => {
    ctx.charge(text.length >> 3, 2 * text.length)
    for (const word of text.split(/\s+/u)) if (word !== '') channel.buffer.push(word)
    channel.closed = true
    return channel
  })
}

const COMPLETION_TOKENS = 16

function* completion(prefix: string, suffix: string, system: Value, options: HarnDict): Script<HarnDict> {
  const place = yield* placeOf(options)
  if (place.provider === 'mock') {
    const text = `Mock completion after ${[...prefix].length} chars${suffix === '' ? '' : ` before ${[...suffix].length} chars`}`
    const response = {
      ...EMPTY_RESPONSE,
      text,
      blocks: [HarnDict.of({ type: 'output_text', text, visibility: 'public' })],
      model: 'mock',
      provider: 'mock',
      inputTokens: utf8(prefix + suffix).length,
      outputTokens: COMPLETION_TOKENS,
      cacheRead: 0,
      cacheWrite: 0,
      stopReason: 'stop',
    }
    return completionDict(response)
  }
  const asked = suffix === '' ? prefix : `${prefix}\n<fill in here>\n${suffix}`
  const request = yield* prepare(asked, system, options)
  if (request instanceof Fault) throw request
  const answer = yield* transport(request)
  return isFailure(answer) ? failAsRaised(answer) : completionDict(answer)
}

function completionDict(response: Completed['response']): HarnDict {
  const usage = usageFields(response)
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

// ---------------------------------------------------------------------------------------------------------------- builtins

function missingPrompt(): HarnDict {
  return toolError('invalid_args', 'Missing required parameter: prompt (or messages)', {
    tool: 'llm.chat',
    callId: null,
    attempt: 1,
  })
}

function dictOr(value: Value | undefined): HarnDict {
  return value instanceof HarnDict ? value : new HarnDict()
}

/** What a model answered; `data` is what the schema asked for. */
const REPLY =
  '{text: string, model: string, provider: string, input_tokens: int, output_tokens: int, data: T, ' +
  'visible_text?: string, tool_calls?: list, thinking?: string, stop_reason?: string}'

const USAGE = '{input_tokens: int, output_tokens: int, cache_read_tokens: int, cache_write_tokens: int}'

function calling(
  signature: string,
  doc: string,
  run: (ctx: Context, ...args: Value[]) => Result,
  options: string = MODEL_OPTIONS,
): BuiltinDef {
  return builtin(signature, { doc, effects: EFFECTS, shapes: { options } }, run)
}

/** As `calling`; the checker knows no shape of the result. */
function callingOutside(signature: string, doc: string, run: (ctx: Context, ...args: Value[]) => Result): BuiltinDef {
  return builtin(signature, { doc, effects: EFFECTS, fromOutside: true, shapes: { options: MODEL_OPTIONS } }, run)
}

function numberOf(value: Value | undefined): number | null {
  return isInt(value ?? null) ? Number(value) : value instanceof HarnFloat ? value.v : null
}

function rateLimit(ctx: Context, provider: Value, options: Value): Result {
  if (provider === null || display(provider) === '') return ctx.runtime('llm_rate_limit: provider name is required')
  const limits = ctx.state(llmState).rateLimits
  const name = display(provider)
  if (!(options instanceof HarnDict)) return limits.get(name) ?? null
  const rpm = options.get('rpm') ?? null
  if (!isInt(rpm)) return ctx.runtime("llm_rate_limit: options must include 'rpm' (integer)")
  if (rpm <= 0) limits.delete(name)
  else limits.set(name, Number(rpm))
  return true
}

export const llmFamily: BuiltinFamily = {
  name: 'llm',
  frames: [machine.frame, attemptFrame],
  modules: harnModules,
  primitives: modelPrimitives,
  builtins: [
    callingOutside(
      `llm_call<T>(prompt: string, system?: string | nil, options?: {output_schema?: Schema<T>}) -> ${REPLY} as dict`,
      'Asks a model; throws an error dict when it fails.',
      (ctx, prompt, system, options) => machine.start(ctx, 'call', prompt!, system!, dictOr(options)),
    ),
    callingOutside(
      'llm_call_safe(prompt: string, system?: string | nil, options?: dict) -> dict',
      'Asks a model; `{ok, response, error}`.',
      (ctx, prompt, system, options) => machine.start(ctx, 'callSafe', prompt!, system!, dictOr(options)),
    ),
    calling(
      'llm_call_structured<T>(prompt: string, schema: Schema<T>, options?: dict | nil) -> T',
      'Asks a model for data of a schema; throws when it gives none.',
      (ctx, prompt, schema, options) => machine.start(ctx, 'structured', ctx.argc, prompt!, schema!, options!),
      STRUCTURED_OPTIONS,
    ),
    calling(
      'llm_call_structured_safe(prompt: string, schema: Schema<T>, options?: dict | nil) -> dict',
      'Asks a model for data of a schema; `{ok, data, error}`.',
      (ctx, prompt, schema, options) => machine.start(ctx, 'structuredSafe', ctx.argc, prompt!, schema!, options!),
      STRUCTURED_OPTIONS,
    ),
    calling(
      `llm_call_structured_result<T>(prompt: string, schema: Schema<T>, options?: dict | nil) -> {ok: bool, data: T | nil, raw_text: string, ` +
        `error: string, error_category: string | nil, attempts: int, repaired: bool, extracted_json: bool, usage: ${USAGE}, model: string, provider: string}`,
      'Asks a model for data of a schema, repairs its answer if told to, and says all about it; never throws.',
      (ctx, prompt, schema, options) => machine.start(ctx, 'structuredResult', ctx.argc, prompt!, schema!, options!),
      STRUCTURED_OPTIONS,
    ),
    callingOutside(
      `llm_completion<T>(prefix: string, suffix?: string | nil, system?: string | nil, options?: {output_schema?: Schema<T>}) -> ${REPLY} as dict`,
      'Asks a model to go on with a text.',
      (ctx, prefix, suffix, system, options) => machine.start(ctx, 'completion', prefix!, suffix!, system!, dictOr(options)),
    ),
    builtin(
      '__llm_embed(text: string, options: dict) -> list',
      { doc: 'A text as a vector.', effects: ['llm.call', 'process.info'] },
      (ctx, text, options) => machine.start(ctx, 'embed', text!, dictOr(options)),
    ),
    builtin(
      '__llm_chat(args: dict) -> dict',
      { doc: 'What `llm_call` answers to the arguments of the tool `llm.chat`.', effects: EFFECTS },
      (ctx, given) => {
        if (!(given instanceof HarnDict)) return ctx.throw('__llm_chat: args must be a dict')
        const args = given
        const messages = args.get('messages') ?? null
        const prompt = args.get('prompt') ?? null
        if (prompt === null && messages === null) return ctx.throw(missingPrompt())
        const options = new HarnDict()
        for (const key of ['provider', 'model', 'temperature', 'max_tokens', 'messages'])
          if (args.has(key)) options.set(key, args.get(key)!)
        return ctx.call(ctx.builtinValue('llm_call'), [prompt ?? '', args.get('system') ?? null, options])
      },
    ),
    calling(
      'llm_stream(prompt: string, system?: string | nil, options?: dict) -> channel as ?',
      'A channel with the pieces of an answer, closed at its end.',
      (ctx, prompt, system, options) =>
        machine.start(ctx, 'stream', prompt!, system!, dictOr(options), makeChannel(ctx, 'llm_stream', STREAM_CAPACITY)),
    ),
    calling(
      'with_rate_limit(provider: string, fn: closure, options?: dict) -> any',
      'Calls a function, again after a pause when a rate limit or the network refused it.',
      (ctx, provider, fn, options) => machine.start(ctx, 'withRateLimit', provider!, fn!, options!),
      RATE_OPTIONS,
    ),
    ...mockBuiltins,
    builtin(
      'llm_cost(model: string, input_tokens: int, output_tokens: int) -> float',
      { doc: 'Dollars that so many tokens of a model cost; 0 for a model without a price.' },
      (_ctx, model, input, output) => new HarnFloat(costOf(display(model!), numberOf(input) ?? 0, numberOf(output) ?? 0)),
    ),
    builtin(
      'llm_budget(max_cost: float) -> nil',
      { doc: 'Sets what the calls of this run may cost in dollars.', effects: [] },
      (ctx, limit) => {
        const value = numberOf(limit)
        if (value === null) return ctx.throw('llm_budget: requires a numeric argument')
        ctx.state(llmState).ceiling = value
        return null
      },
    ),
    builtin(
      'llm_budget_remaining() -> float | nil as ?',
      { doc: 'What is left of the budget; nil without one.', effects: [] },
      (ctx) => {
        const { ceiling, cost } = ctx.state(llmState)
        return ceiling === null ? null : new HarnFloat(ceiling - cost)
      },
    ),
    builtin('llm_session_cost() -> dict', { doc: 'What the calls of this run cost.', effects: [] }, (ctx) => {
      const usage = ctx.state(usageState)
      return HarnDict.of({
        total_cost: new HarnFloat(ctx.state(llmState).cost),
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        call_count: usage.call_count,
      })
    }),
    builtin(
      'llm_rate_limit(provider: string, options?: dict) -> int | bool | nil as ?',
      { doc: 'Reads or sets the requests per minute of a provider.', effects: [] },
      (ctx, provider, options) => rateLimit(ctx, provider!, options!),
    ),
    builtin('llm_info() -> dict', { doc: 'The provider and model of calls that name none.', effects: ['process.info'] }, (ctx) =>
      machine.start(ctx, 'info'),
    ),
    builtin(
      'llm_config(provider?: string) -> dict | nil as ?',
      { doc: 'How a provider is reached, or all of them.', effects: ['process.info'] },
      (ctx, name) => machine.start(ctx, 'config', name!),
    ),
    builtin('llm_providers() -> list', { doc: 'Names of all providers.', effects: [] }, (ctx) => {
      const own = ctx.state(llmState).registered.keys()
      return new HarnList(sortTexts([...new Set([...Object.keys(PROVIDERS), ...own])]))
    }),
    builtin(
      'llm_available_providers() -> list',
      { doc: 'Names of the providers that need no key or have one.', effects: ['process.info'] },
      (ctx) => machine.start(ctx, 'available'),
    ),
    builtin('llm_known_models() -> list', { doc: 'Names that stand for a model.' }, () => names(ALIASES)),
    builtin(
      'llm_provider_catalog() -> dict',
      { doc: 'All that is known of providers and models.', effects: ['process.info'] },
      (ctx) => machine.start(ctx, 'catalogue'),
    ),
    builtin('llm_resolve_model(alias: string) -> dict', { doc: 'The model that a name or alias stands for.' }, (_ctx, selector) =>
      resolved(selector!),
    ),
    builtin(
      'llm_model_info(model: string) -> dict',
      { doc: 'What is known of a model.', effects: ['process.info'] },
      (ctx, selector) => machine.start(ctx, 'modelInfo', selector!),
    ),
    builtin(
      'llm_pick_model(target: string, options?: dict) -> dict',
      { doc: 'The model for an alias, a tier or a name.' },
      (ctx, target, options) => {
        const named = ctx.argc === 0 ? '' : display(target!)
        const found = resolveModel(named)
        const wanted = options instanceof HarnDict && found.alias === null ? (options.get('provider') ?? null) : null
        const inferred = inferProvider(named, wanted === null ? undefined : display(wanted))
        return HarnDict.of({
          id: found.id,
          provider: found.alias === null ? inferred : found.provider,
          tier: modelTier(found.id),
        })
      },
    ),
    builtin(
      'llm_infer_provider(model_id: string) -> string',
      { doc: "The provider that a model's name speaks of." },
      (_ctx, model) => inferProvider(display(model!)),
    ),
    builtin('llm_model_tier(model_id: string) -> string', { doc: 'small, mid or frontier.' }, (_ctx, model) =>
      modelTier(display(model!)),
    ),
    builtin(
      'llm_qc_default_model(provider: string) -> string | nil',
      { doc: 'The model of a provider for quick quality checks.' },
      (ctx, provider) =>
        ctx.argc === 0 || display(provider!) === ''
          ? ctx.runtime('llm_qc_default_model: provider name is required')
          : (PROVIDERS[display(provider!)]?.qcModel ?? null),
    ),
    builtin(
      'llm_healthcheck(provider?: string | dict, options?: dict) -> dict',
      { doc: 'Whether a provider answers.', effects: ['llm.call', 'process.info'] },
      (ctx, provider, options) => machine.start(ctx, 'healthcheck', provider!, options!),
    ),
    builtin(
      'provider_register(name: string, config: dict) -> bool',
      { doc: 'Adds a provider: base_url, auth_style, auth_envs, chat_endpoint.', effects: [] },
      (ctx, name, config) => {
        if (name === null || display(name!) === '') return ctx.runtime('provider_register: provider name is required')
        if (!(config instanceof HarnDict)) return ctx.runtime('provider_register: config must be a dict')
        ctx.charge(1, 128)
        ctx.state(llmState).registered.set(display(name!), config)
        return true
      },
    ),
    builtin(
      'provider_capabilities(provider: string, model?: string) -> dict',
      { doc: 'What a model of a provider can do.', effects: [] },
      (ctx, provider, model) => {
        if (provider === null || display(provider!) === '') {
          return ctx.runtime('provider_capabilities: provider name is required')
        }
        const name = display(provider!)
        const id = model === null ? '' : display(model!)
        return capabilityDict(name, id, capabilitiesOf(name, id, ctx.state(llmState).rules))
      },
    ),
    builtin(
      'provider_capabilities_install(toml_src: string) -> bool',
      { doc: 'Puts rules of a TOML text in front of the built-in ones.', effects: [] },
      (ctx, source) => {
        if (typeof source !== 'string') return ctx.runtime('provider_capabilities_install: TOML source string required')
        ctx.charge(INSTALL_UNITS + (source.length >> 3), 2 * source.length)
        let rules: ReturnType<typeof readRules>
        try {
          rules = readRules(parseTomlText(source))
        } catch (error) {
          // What formats refuse is a problem with a message, and no Error.
          rules = error instanceof Error || error instanceof Problem ? error.message : String(error)
        }
        if (typeof rules === 'string') return ctx.runtime(`provider_capabilities_install: parse error: ${rules}`)
        ctx.state(llmState).rules = rules
        return true
      },
    ),
    builtin('provider_capabilities_clear() -> bool', { doc: 'Forgets installed rules.', effects: [] }, (ctx) => {
      ctx.state(llmState).rules = new Map()
      return true
    }),
  ],
}

/** Units of reading any TOML text, which takes long most of all where it is none. */
const INSTALL_UNITS = 500

const STREAM_CAPACITY = 1 << 20

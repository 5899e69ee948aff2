// The builtins that call models and describe them. The work is in the llm-* modules beside this one.

import {
  builtinTaking,
  HarnDict,
  HarnFloat,
  HarnList,
  Problem,
  builtin,
  display,
  harnBuiltin,
  isInt,
  sortTexts,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, LibraryCall, Result, Value } from '@bridle/vm/families'
import { MODEL_OPTIONS, RATE_OPTIONS, STREAM_OPTIONS, STRUCTURED_OPTIONS } from './option-shapes.js'
import { parseTomlText } from '../../library/formats/toml.js'
import { attemptFrame } from './attempt.js'
import { modelPrimitives } from './primitives.js'
import { replyPrimitives } from './reply.js'
import { streamBuiltins, streamFrames, streamPrimitives } from './streams.js'
import { findHarnModule } from '../../library/harn/modules.js'
import { findCapabilities, makeCapabilityDict, readRules } from './capabilities.js'
import { embedFrame, embedPrimitives } from './embed.js'
import { mockBuiltins } from './mock.js'
import { ALIASES, PROVIDERS, estimateCost, inferProvider, classifyModelTier, resolveModel } from './providers.js'
import { llmState } from './state.js'
import { makeToolError } from '../../library/tool-errors.js'
import { usageState } from '../../library/logging/tracing.js'
import { cataloguePrimitives, listNames, resolveToDict } from './catalogue.js'

const EFFECTS: readonly string[] = ['llm.call', 'process.info', 'random.bytes', 'clock.now', 'callback']

/** Continues as a function of chat.harn. What callbacks print is lost, as in the reference. */
function goOn(ctx: Context, name: string, ...args: Value[]): Result {
  return ctx.library({ module: 'agents/models/chat', function: name, output: 'drop' }, args)
}

function inCatalogue(name: string): LibraryCall {
  return { module: 'agents/models/catalogue', function: name, output: 'drop' }
}

// ---------------------------------------------------------------------------------------------------------------- builtins

function makeMissingPromptError(): HarnDict {
  return makeToolError('invalid_args', 'Missing required parameter: prompt (or messages)', {
    tool: 'llm.chat',
    callId: null,
    attempt: 1,
  })
}

function toDict(value: Value | undefined): HarnDict {
  return value instanceof HarnDict ? value : new HarnDict()
}

/** What a model answered; `data` is what the schema asked for. */
const REPLY =
  '{text: string, model: string, provider: string, input_tokens: int, output_tokens: int, data: T, ' +
  'visible_text?: string, tool_calls?: list, thinking?: string, stop_reason?: string, service_state?: dict}'

const USAGE = '{input_tokens: int, output_tokens: int, cache_read_tokens: int, cache_write_tokens: int}'

function defineCalling(
  signature: string,
  doc: string,
  run: (ctx: Context, ...args: Value[]) => Result,
  options: string = MODEL_OPTIONS,
): BuiltinDef {
  return builtin(signature, { doc, effects: EFFECTS, shapes: { options } }, run)
}

/** As `defineCalling`; the checker knows no shape of the result. */
function defineCallingOutside(signature: string, doc: string, run: (ctx: Context, ...args: Value[]) => Result): BuiltinDef {
  return builtin(signature, { doc, effects: EFFECTS, fromOutside: true, shapes: { options: MODEL_OPTIONS } }, run)
}

function readNumber(value: Value | undefined): number | null {
  return isInt(value ?? null) ? Number(value) : value instanceof HarnFloat ? value.v : null
}

function setRateLimit(ctx: Context, provider: Value, options: Value): Result {
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
  frames: [attemptFrame, embedFrame, ...streamFrames],
  modules: findHarnModule,
  primitives: [...modelPrimitives, ...replyPrimitives, ...streamPrimitives, ...embedPrimitives, ...cataloguePrimitives],
  builtins: [
    defineCallingOutside(
      `llm_call<T>(prompt: string, system?: string | nil, options?: {output_schema?: Schema<T>}) -> ${REPLY} as dict`,
      'Asks a model; throws an error dict when it fails.',
      (ctx, prompt, system, options) => goOn(ctx, 'call', prompt!, system!, toDict(options)),
    ),
    defineCallingOutside(
      'llm_call_safe(prompt: string, system?: string | nil, options?: dict) -> dict',
      'Asks a model; `{ok, response, error}`.',
      (ctx, prompt, system, options) => goOn(ctx, 'call_safe', prompt!, system!, toDict(options)),
    ),
    defineCalling(
      'llm_call_structured<T>(prompt: string, schema: Schema<T>, options?: dict | nil) -> T',
      'Asks a model for data of a schema; throws when it gives none.',
      (ctx, prompt, schema, options) => goOn(ctx, 'structured', ctx.argc > 1, prompt!, schema!, options!),
      STRUCTURED_OPTIONS,
    ),
    defineCalling(
      'llm_call_structured_safe(prompt: string, schema: Schema<T>, options?: dict | nil) -> dict',
      'Asks a model for data of a schema; `{ok, data, error}`.',
      (ctx, prompt, schema, options) => goOn(ctx, 'structured_safe', ctx.argc > 1, prompt!, schema!, options!),
      STRUCTURED_OPTIONS,
    ),
    defineCalling(
      `llm_call_structured_result<T>(prompt: string, schema: Schema<T>, options?: dict | nil) -> {ok: bool, data: T | nil, raw_text: string, ` +
        `error: string, error_category: string | nil, attempts: int, repaired: bool, extracted_json: bool, usage: ${USAGE}, model: string, provider: string}`,
      'Asks a model for data of a schema, repairs its answer if told to, and says all about it; never throws.',
      (ctx, prompt, schema, options) => goOn(ctx, 'structured_result', ctx.argc > 1, prompt!, schema!, options!),
      STRUCTURED_OPTIONS,
    ),
    defineCallingOutside(
      `llm_completion<T>(prefix: string, suffix?: string | nil, system?: string | nil, options?: {output_schema?: Schema<T>}) -> ${REPLY} as dict`,
      'Asks a model to go on with a text.',
      (ctx, prefix, suffix, system, options) =>
        goOn(ctx, 'completion', display(prefix!), suffix === null ? '' : display(suffix!), system!, toDict(options)),
    ),
    builtin(
      '__llm_embed(text: string, options: dict) -> list',
      { doc: 'A text as a vector.', effects: ['llm.call', 'process.info'] },
      (ctx, text, options) => goOn(ctx, 'embed', text!, toDict(options)),
    ),
    builtin(
      '__llm_chat(args: dict) -> dict',
      { doc: 'What `llm_call` answers to the arguments of the tool `llm.chat`.', effects: EFFECTS },
      (ctx, given) => {
        if (!(given instanceof HarnDict)) return ctx.throw('__llm_chat: args must be a dict')
        const args = given
        const messages = args.get('messages') ?? null
        const prompt = args.get('prompt') ?? null
        if (prompt === null && messages === null) return ctx.throw(makeMissingPromptError())
        const options = new HarnDict()
        for (const key of ['provider', 'model', 'temperature', 'max_tokens', 'messages'])
          if (args.has(key)) options.set(key, args.get(key)!)
        return ctx.call(ctx.builtinValue('llm_call'), [prompt ?? '', args.get('system') ?? null, options])
      },
    ),
    defineCalling(
      'llm_stream(prompt: string, system?: string | nil, options?: dict) -> channel as ?',
      'A channel with the pieces of an answer, closed at its end.',
      (ctx, prompt, system, options) => goOn(ctx, 'open_stream', prompt!, system!, toDict(options)),
      STREAM_OPTIONS,
    ),
    defineCalling(
      'with_rate_limit(provider: string, fn: closure, options?: dict) -> any',
      'Calls a function, again after a pause when a rate limit or the network refused it.',
      (ctx, provider, fn, options) => goOn(ctx, 'with_rate_limit', provider!, fn!, options!),
      RATE_OPTIONS,
    ),
    ...mockBuiltins,
    ...streamBuiltins,
    builtin(
      'llm_cost(model: string, input_tokens: int, output_tokens: int) -> float',
      { doc: 'Dollars that so many tokens of a model cost; 0 for a model without a price.' },
      (_ctx, model, input, output) =>
        new HarnFloat(estimateCost(display(model!), readNumber(input) ?? 0, readNumber(output) ?? 0)),
    ),
    builtin(
      'llm_budget(max_cost: float) -> nil',
      { doc: 'Sets what the calls of this run may cost in dollars.', effects: [] },
      (ctx, limit) => {
        const value = readNumber(limit)
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
      (ctx, provider, options) => setRateLimit(ctx, provider!, options!),
    ),
    harnBuiltin(
      'llm_info() -> dict',
      { doc: 'The provider and model of calls that name none.', effects: ['process.info'] },
      inCatalogue('info'),
    ),
    harnBuiltin(
      'llm_config(provider?: string) -> dict | nil as ?',
      { doc: 'How a provider is reached, or all of them.', effects: ['process.info'] },
      inCatalogue('config'),
    ),
    builtin('llm_providers() -> list', { doc: 'Names of all providers.', effects: [] }, (ctx) => {
      const own = ctx.state(llmState).registered.keys()
      return new HarnList(sortTexts([...new Set([...Object.keys(PROVIDERS), ...own])]))
    }),
    harnBuiltin(
      'llm_available_providers() -> list',
      { doc: 'Names of the providers that need no key or have one.', effects: ['process.info'] },
      inCatalogue('available'),
    ),
    builtin('llm_known_models() -> list', { doc: 'Names that stand for a model.' }, () => listNames(ALIASES)),
    harnBuiltin(
      'llm_provider_catalog() -> dict',
      { doc: 'All that is known of providers and models.', effects: ['process.info'] },
      inCatalogue('catalogue'),
    ),
    builtin('llm_resolve_model(alias: string) -> dict', { doc: 'The model that a name or alias stands for.' }, (_ctx, selector) =>
      resolveToDict(selector!),
    ),
    harnBuiltin(
      'llm_model_info(model: string) -> dict',
      { doc: 'What is known of a model.', effects: ['process.info'] },
      inCatalogue('describe_model'),
    ),
    builtinTaking(
      'llm_pick_model(target: string, options?: dict) -> dict',
      { doc: 'The model for an alias, a tier or a name.' },
      { text: { target: null } },
      (_ctx, named, options) => {
        const found = resolveModel(named)
        const wanted = options instanceof HarnDict && found.alias === null ? (options.get('provider') ?? null) : null
        const inferred = inferProvider(named, wanted === null ? undefined : display(wanted))
        return HarnDict.of({
          id: found.id,
          provider: found.alias === null ? inferred : found.provider,
          tier: classifyModelTier(found.id),
        })
      },
    ),
    builtin(
      'llm_infer_provider(model_id: string) -> string',
      { doc: "The provider that a model's name speaks of." },
      (_ctx, model) => inferProvider(display(model!)),
    ),
    builtin('llm_model_tier(model_id: string) -> string', { doc: 'small, mid or frontier.' }, (_ctx, model) =>
      classifyModelTier(display(model!)),
    ),
    builtinTaking(
      'llm_qc_default_model(provider: string) -> string | nil',
      { doc: 'The model of a provider for quick quality checks.' },
      { raise: 'runtime', text: { provider: '{f}: provider name is required' } },
      (_ctx, provider) => PROVIDERS[provider]?.qcModel ?? null,
    ),
    harnBuiltin(
      'llm_healthcheck(provider?: string | dict, options?: dict) -> dict',
      { doc: 'Whether a provider answers.', effects: ['llm.call', 'process.info'] },
      inCatalogue('check_health'),
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
        return makeCapabilityDict(name, id, findCapabilities(name, id, ctx.state(llmState).rules))
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

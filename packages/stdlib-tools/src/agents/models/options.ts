// The options of a model call: read once, into a request that says everything the call needs. What is
// wrong is thrown from here, before anything is recorded or asked.

import {
  HarnDict,
  HarnDuration,
  HarnFloat,
  HarnList,
  display,
  failRuntime,
  failWith,
  isCallable,
  isInt,
  isTruthy,
  toPlain,
  typeName,
} from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { findCapabilities } from './capabilities.js'
import type { Capabilities } from './capabilities.js'
import { findSupport } from './services.js'
import { readExperiment } from './experiments.js'
import type { Experiment } from './experiments.js'
import {
  ALIASES,
  PROVIDERS,
  findDefaultModel,
  inferProvider,
  parseNamedPlace,
  namesNobody,
  resolveModel,
  stripProviderPrefix,
  findToolFormat,
} from './providers.js'
import { applyToolSearch, readToolSearch, readToolEntries, readToolName } from './tools.js'
import type { LlmState } from './state.js'
import { listDicts } from '../transcripts/shape.js'
import type { ToolSearch } from './tools.js'
import { describeModelOptionsProblem } from '../../library/effects/index.js'

export interface Budget {
  readonly max_cost_usd: number | null
  readonly total_budget_usd: number | null
  readonly max_input_tokens: number | null
  readonly max_output_tokens: number | null
}

export interface LlmRequest {
  readonly provider: string
  readonly model: string
  /** Neither the script nor the environment named a provider or a model: the host may choose. */
  readonly isUnnamed: boolean
  /** Dicts only. A list that needs no change is returned as it was passed, so callers that store it share its buffer. */
  readonly messages: HarnList
  readonly system: string | null
  /** The address that the call names for its provider; null for that of the provider. */
  readonly baseUrl: string | null
  /** Native JSON of the tools that go with the request. */
  readonly tools: readonly HarnDict[]
  /** Names that a text may call. */
  readonly toolNames: readonly string[]
  readonly toolFormat: string
  readonly toolChoice: Value
  readonly maxTokens: number
  /** Options that are passed on as they are: temperature, top_p, … */
  readonly settings: HarnDict
  readonly outputKind: 'text' | 'json_object' | 'json_schema'
  readonly schema: HarnDict | null
  readonly outputSchema: HarnDict | null
  readonly validation: 'off' | 'warn' | 'error'
  readonly schemaRetries: number
  /** True: the usual text; a text of the script's own; false: no message. */
  readonly nudge: boolean | string
  readonly retries: number
  readonly backoffMs: number
  /** `{mode: "disabled" | "enabled" | "adaptive" | "effort", …}` */
  readonly thinking: HarnDict
  readonly cache: boolean
  readonly budget: Budget | null
  readonly experiment: Experiment | null
  /** Whether the answer is read in pieces. */
  readonly isStreamed: boolean
  /** Receives each piece. */
  readonly onDelta: Value
  /** Set by `llm_call_structured_result`'s `repair`. */
  readonly repair: HarnDict | null
}

/** What the environment says of models; read once per call. */
export interface LlmEnvironment {
  readonly provider: string | null
  readonly model: string | null
  readonly fallbackProvider: string
  readonly localBaseUrl: string | null
  readonly anthropicKey: boolean
  readonly experiment: string | null
  /** What grants allow an answer; infinite without such a grant. */
  readonly mostTokens: number
  /** How often the host says that calls are repeated, by provider. */
  readonly retries: { readonly [provider: string]: number }
}

function readOption(options: HarnDict, key: string): Value {
  return options.get(key) ?? null
}

function readIntOption(options: HarnDict, key: string, fallback: number): number {
  const value = readOption(options, key)
  if (isInt(value)) return Number(value)
  return value instanceof HarnFloat ? Math.trunc(value.v) : fallback
}

function readRetries(provider: string, { retries }: LlmEnvironment): number | null {
  return Object.hasOwn(retries, provider) ? retries[provider]! : null
}

// ------------------------------------------------------------------------------------------------------- choice of the service

export interface Place {
  readonly provider: string
  readonly model: string
}

/** The provider and model of a call. */
export function resolvePlace(options: HarnDict, env: LlmEnvironment): Place {
  const named = readOption(options, 'model')
  const selector = named === null || display(named) === '' ? null : display(named)
  const tierOption = readOption(options, 'model_tier')
  const tier = tierOption === null ? null : display(tierOption)
  const provider = resolveProvider(options, selector, tier, env)
  if (selector !== null) {
    const named = parseNamedPlace(selector)
    // Another provider may have a model of that whole name, as routers do.
    return { provider, model: named === null || named.provider === provider ? resolveModel(selector).id : selector }
  }
  const byTier = tier === null ? undefined : ALIASES[tier]
  return { provider, model: byTier?.id ?? (env.model === null ? findDefaultModel(provider) : stripProviderPrefix(env.model)) }
}

/** Whether nothing says which model is meant. */
function isUnnamed(options: HarnDict, env: LlmEnvironment): boolean {
  const isOpen = (value: Value): boolean => value === null || value === '' || value === 'auto'
  return (
    ['provider', 'model', 'model_tier', 'base_url'].every((key) => isOpen(readOption(options, key))) &&
    isOpen(env.provider) &&
    isOpen(env.model)
  )
}

function resolveProvider(options: HarnDict, selector: string | null, tier: string | null, env: LlmEnvironment): string {
  const given = readOption(options, 'provider')
  const provider = given === null ? '' : display(given)
  if (provider !== '' && provider !== 'auto') return provider
  const named = selector === null ? null : parseNamedPlace(selector)
  if (named !== null && env.provider !== 'mock') return named.provider
  if (env.provider !== null && env.provider !== '' && env.provider !== 'auto') return env.provider
  // An address that the script gives names choice of the service.
  const hasAddress = display(readOption(options, 'base_url') ?? '') !== '' && selector?.split('/').length === 2
  if (selector !== null && !hasAddress && namesNobody(selector))
    failWith(
      `model '${selector}' names no provider; give the option provider, or write PROVIDER/MODEL with one of ${Object.keys(PROVIDERS).join(', ')}`,
    )
  if (env.localBaseUrl !== null && (selector ?? env.model) !== null) return 'local'
  if (selector !== null) return resolveModel(selector, env.fallbackProvider).provider
  const byTier = tier === null ? undefined : ALIASES[tier]
  if (byTier !== undefined) return byTier.provider
  if (env.model !== null) return inferProvider(env.model, env.fallbackProvider)
  return env.anthropicKey ? 'anthropic' : env.localBaseUrl === null ? 'ollama' : 'local'
}

// ---------------------------------------------------------------------------------------------------------------- messages

/** Messages of the option `messages`, or one of the user. */
function readMessages(prompt: Value, options: HarnDict): HarnList {
  const given = readOption(options, 'messages')
  if (!(given instanceof HarnList)) {
    return new HarnList([HarnDict.of({ role: 'user', content: display(prompt) })])
  }
  const items = given.view()
  const messages: HarnDict[] = []
  for (const item of items) {
    if (item instanceof HarnDict) messages.push(readMessage(item))
  }
  return messages.length === items.length && messages.every((each, at) => each === items[at]) ? given : new HarnList(messages)
}

function readMessage(message: HarnDict): HarnDict {
  if (message.get('role') === 'tool_result') {
    const result = HarnDict.of({
      type: 'tool_result',
      tool_use_id: message.get('tool_use_id') ?? '',
      content: message.get('content') ?? '',
    })
    return HarnDict.of({ role: 'user', content: new HarnList([result]) })
  }
  checkImages(message)
  const isWhole = (message.get('role') ?? null) !== null && (message.get('content') ?? null) !== null
  if (isWhole) return message
  const whole = message.copy()
  if ((whole.get('role') ?? null) === null) whole.set('role', 'user')
  if ((whole.get('content') ?? null) === null) whole.set('content', '')
  return whole
}

const IMAGE_DETAILS: readonly string[] = ['low', 'high', 'auto']

function listImageBlocks(message: HarnDict): HarnDict[] {
  const content = message.get('content')
  if (!(content instanceof HarnList)) return []
  return content
    .view()
    .filter(
      (block): block is HarnDict =>
        block instanceof HarnDict && (block.get('type') === 'image' || block.get('type') === 'input_image'),
    )
}

function checkImages(message: HarnDict): void {
  for (const image of listImageBlocks(message)) {
    const hasAny = (...keys: string[]): boolean => keys.some((key) => (image.get(key) ?? null) !== null)
    if (hasAny('url', 'file_uri') === hasAny('base64', 'data')) {
      failWith('llm_call image content requires exactly one of url or base64')
    }
    if (hasAny('base64', 'data') && !hasAny('media_type', 'mime_type')) {
      failWith('llm_call image content requires media_type')
    }
    const detail = image.get('detail') ?? null
    if (detail !== null && !IMAGE_DETAILS.includes(display(detail))) {
      failWith('llm_call image detail must be "low", "high", or "auto"')
    }
  }
}

// ----------------------------------------------------------------------------------------------------------------- output

interface Output {
  readonly kind: LlmRequest['outputKind']
  readonly schema: HarnDict | null
  readonly outputSchema: HarnDict | null
}

function readSchemaOption(options: HarnDict, key: string, label: string): HarnDict | null {
  const value = readOption(options, key)
  if (value === null) return null
  return value instanceof HarnDict ? value : failWith(`${label}: expected a JSON Schema object`)
}

function readOutput(options: HarnDict): Output {
  const responseFormat = readOption(options, 'response_format')
  const format = responseFormat === null ? null : display(responseFormat)
  if (format !== null && !['json', 'json_object', 'text'].includes(format)) {
    failWith(`response_format: expected "json", "json_object", or "text", got "${format}"`)
  }
  const schema = readSchemaOption(options, 'json_schema', 'json_schema') ?? readSchemaOption(options, 'schema', 'json_schema')
  const outputSchema = readSchemaOption(options, 'output_schema', 'output_schema') ?? schema
  const wanted = readOption(options, 'output_format')
  if (wanted !== null) return readOutputFormat(wanted, schema ?? outputSchema, outputSchema)
  const implied = schema ?? outputSchema
  if (implied !== null) return { kind: 'json_schema', schema: implied, outputSchema }
  return { kind: format === null || format === 'text' ? 'text' : 'json_object', schema: null, outputSchema: null }
}

function readOutputFormat(wanted: Value, schema: HarnDict | null, outputSchema: HarnDict | null): Output {
  if (typeof wanted !== 'string' && !(wanted instanceof HarnDict)) return failWith('output_format: expected string or dict')
  const name = typeof wanted === 'string' ? wanted : display(wanted.get('kind') ?? 'text')
  const own = typeof wanted === 'string' ? null : (wanted.get('schema') ?? null)
  if (own !== null && !(own instanceof HarnDict)) return failWith('output_format.schema: expected a JSON Schema object')
  switch (name) {
    case 'text':
    case 'none':
    case 'off':
      return { kind: 'text', schema: null, outputSchema }
    case 'json':
    case 'json_object':
      return { kind: 'json_object', schema: null, outputSchema }
    case 'json_schema':
    case 'schema': {
      const found = own ?? schema
      if (found === null) return failWith('output_format: kind "json_schema" requires a `schema` field')
      return { kind: 'json_schema', schema: found, outputSchema: outputSchema ?? found }
    }
    default:
      return failWith(`output_format.kind: expected "text" | "json_object" | "json_schema", got "${name}"`)
  }
}

// --------------------------------------------------------------------------------------------------------------- thinking

const DISABLED = 'disabled'
const LEVELS: readonly string[] = ['low', 'medium', 'high']

function makeEffort(level: string): HarnDict {
  return HarnDict.of({ mode: 'effort', level })
}

function makeThinkingMode(mode: string): HarnDict {
  return HarnDict.of({ mode })
}

export function readThinking(options: HarnDict): HarnDict {
  const thinking = readThinkingOption(readOption(options, 'thinking'))
  const reasoning = readOption(options, 'reasoning_effort')
  if (reasoning === null) return thinking
  if (thinking.get('mode') !== DISABLED) {
    failWith('reasoning_effort cannot be combined with a non-disabled thinking option')
  }
  const level = display(reasoning)
  return LEVELS.includes(level)
    ? makeEffort(level)
    : failWith(`reasoning_effort: expected "low", "medium", or "high", got "${level}"`)
}

function readThinkingOption(value: Value): HarnDict {
  if (value === null || value === false) return makeThinkingMode(DISABLED)
  if (value === true) return makeThinkingMode('enabled')
  if (typeof value === 'string') return parseThinkingWord(value)
  if (!(value instanceof HarnDict)) return makeThinkingMode(isTruthy(value) ? 'enabled' : DISABLED)
  if (value.get('enabled') === false) return makeThinkingMode(DISABLED)
  const mode = value.get('mode') ?? null
  const name = mode === null ? 'enabled' : display(mode)
  switch (name) {
    case DISABLED:
    case 'adaptive':
      return makeThinkingMode(name)
    case 'enabled': {
      const tokens = value.get('budget_tokens') ?? null
      if (tokens === null) return makeThinkingMode(name)
      if (!isInt(tokens) || tokens < 0) return failWith('thinking.budget_tokens: expected a non-negative int')
      return HarnDict.of({ mode: name, budget_tokens: tokens })
    }
    case 'effort': {
      const level = value.get('level') ?? null
      if (level === null) return failWith('thinking.level is required when thinking.mode is "effort"')
      if (!LEVELS.includes(display(level))) {
        return failWith(`thinking.level: expected "low" | "medium" | "high", got "${display(level)}"`)
      }
      return makeEffort(display(level))
    }
    default:
      return failWith(`thinking.mode: expected "disabled" | "enabled" | "adaptive" | "effort", got "${name}"`)
  }
}

function parseThinkingWord(word: string): HarnDict {
  if (LEVELS.includes(word)) return makeEffort(word)
  if (['disabled', 'off', 'none'].includes(word)) return makeThinkingMode(DISABLED)
  if (['enabled', 'on', 'true'].includes(word)) return makeThinkingMode('enabled')
  if (word === 'adaptive') return makeThinkingMode('adaptive')
  return failWith(`thinking: expected bool, dict, or one of "enabled" | "adaptive" | "low" | "medium" | "high", got "${word}"`)
}

// ----------------------------------------------------------------------------------------------------------------- budget

const BUDGET_KEYS = ['max_cost_usd', 'total_budget_usd', 'max_input_tokens', 'max_output_tokens'] as const

function readBudget(options: HarnDict): Budget | null {
  const given = readOption(options, 'budget')
  if (given !== null && !(given instanceof HarnDict)) {
    failWith('budget: expected a dict {max_cost_usd?, total_budget_usd?, max_input_tokens?, max_output_tokens?}')
  }
  const limits: Record<string, number | null> = {}
  for (const key of BUDGET_KEYS) {
    const own = given instanceof HarnDict ? (given.get(key) ?? null) : null
    limits[key] = readLimit(`budget.${key}`, own ?? readOption(options, key))
  }
  return BUDGET_KEYS.some((key) => limits[key] !== null) ? (limits as unknown as Budget) : null
}

/** A limit, or null for none; tokens are whole. */
function readLimit(label: string, value: Value): number | null {
  if (value === null) return null
  const number = isInt(value) ? Number(value) : value instanceof HarnFloat && label.endsWith('usd') ? value.v : NaN
  if (number >= 0) return number
  return failWith(`${label}: expected a non-negative ${label.endsWith('usd') ? 'number' : 'integer'}`)
}

// ------------------------------------------------------------------------------------------------------------------ gates

function requireSupport(name: string, supported: boolean, place: Place): void {
  if (supported) return
  failWith(
    `option \`${name}\` is not supported by \`${place.model}\` (provider \`${place.provider}\`). ` +
      'See `harn check --provider-matrix` for compatibility.',
  )
}

function checkGates(options: HarnDict, request: LlmRequest, capabilities: Capabilities): void {
  const images = listDicts(request.messages).some((message) => listImageBlocks(message).length > 0)
  if (isTruthy(readOption(options, 'vision')) || images) requireSupport('vision', capabilities.vision_supported === true, request)
  for (const name of ['audio', 'pdf'] as const) {
    if (isTruthy(readOption(options, name))) requireSupport(name, capabilities[name] === true, request)
  }
  if (request.cache) requireSupport('cache', capabilities.prompt_caching === true, request)
  const modes = capabilities.thinking_modes ?? []
  const mode = display(request.thinking.get('mode')!)
  const allowed = mode === 'enabled' ? modes.includes('enabled') || modes.includes('adaptive') : modes.includes(mode)
  if (mode !== DISABLED)
    requireSupport(readOption(options, 'reasoning_effort') === null ? 'thinking' : 'reasoning_effort', allowed, request)
  const nativeTools = capabilities.native_tools === true
  if (request.tools.length > 0 && request.toolFormat === 'native') requireSupport('tools', nativeTools, request)
  if (request.toolChoice !== null) requireSupport('tool_choice', nativeTools, request)
  if (readOption(options, 'output_format') !== null && request.provider !== 'mock' && request.outputKind === 'json_schema') {
    requireSupport('output_format', nativeTools, request)
  }
  if (isTruthy(readOption(options, 'interleaved_thinking'))) {
    requireSupport('interleaved_thinking', capabilities.interleaved_thinking_supported === true, request)
  }
}

// ------------------------------------------------------------------------------------------------------------ the request

const PASSED_ON = [
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'stream',
  'prefill',
  'anthropic_beta_features',
  'interleaved_thinking',
] as const

const DEFAULT_MAX_TOKENS = 16_384

/** How calls of different builtins differ. */
export interface Defaults {
  readonly retries: number
  readonly backoffMs: number
  readonly schemaRetries: number
  readonly toolFormat: string | null
}

export const CALL_DEFAULTS: Defaults = { retries: 0, backoffMs: 250, schemaRetries: 1, toolFormat: null }

/** Raises faults for invalid options. `mocked` says whether a queued answer keeps the call in the machine. */
export function readRequest(
  prompt: Value,
  system: Value,
  options: HarnDict,
  env: LlmEnvironment,
  state: LlmState,
  defaults: Defaults = CALL_DEFAULTS,
): LlmRequest {
  if (options.has('transcript')) {
    failWith(
      'llm_call / agent_loop: the `transcript` option was removed. Open or open-and-resume a session with ' +
        'agent_session_open(id) and pass `session_id: id` instead.',
    )
  }
  const place = resolvePlace(options, env)
  const capabilities = findCapabilities(place.provider, place.model, state.rules)
  const output = readOutput(options)
  const formatOption = readOption(options, 'tool_format')
  const toolFormat = formatOption === null ? (defaults.toolFormat ?? findToolFormat(place.provider)) : display(formatOption)
  const { tools, names } = readTools(options, place, capabilities)
  const settings = new HarnDict()
  for (const key of PASSED_ON) if (readOption(options, key) !== null) settings.set(key, readOption(options, key))
  for (const key of ['timeout', 'idle_timeout']) {
    const value = readOption(options, key)
    if (value !== null) settings.set(key, value instanceof HarnDuration ? toSeconds(value) : value)
  }
  const own = readOption(options, place.provider)
  if (own instanceof HarnDict) {
    const problem = describeModelOptionsProblem(place.provider, toPlain(own) as { readonly [name: string]: unknown })
    if (problem !== null) failWith(problem)
    settings.set('overrides', own)
  }
  const nudge = readOption(options, 'schema_retry_nudge')
  const validation = readOption(options, 'output_validation')
  readRoutePolicy(readOption(options, 'route_policy'))
  const request: LlmRequest = {
    ...place,
    isUnnamed: isUnnamed(options, env),
    baseUrl: readBaseUrl(options),
    messages: readMessages(prompt, options),
    system: system === null ? null : display(system),
    tools,
    toolNames: names,
    toolFormat,
    toolChoice: readOption(options, 'tool_choice'),
    maxTokens: readIntOption(options, 'max_tokens', Math.min(DEFAULT_MAX_TOKENS, env.mostTokens)),
    settings,
    outputKind: output.kind,
    schema: output.schema,
    outputSchema: output.outputSchema,
    validation: validation === 'error' || validation === 'warn' ? validation : 'off',
    schemaRetries: Math.max(0, readIntOption(options, 'schema_retries', defaults.schemaRetries)),
    nudge: nudge === false || typeof nudge === 'string' ? nudge : true,
    retries: Math.max(0, readIntOption(options, 'llm_retries', readRetries(place.provider, env) ?? defaults.retries)),
    backoffMs: Math.max(0, readIntOption(options, 'llm_backoff_ms', defaults.backoffMs)),
    thinking: readThinking(options),
    cache: isTruthy(readOption(options, 'cache')),
    budget: readBudget(options),
    experiment: readExperiment(readOption(options, 'structural_experiment') ?? env.experiment),
    isStreamed: isTruthy(readOption(options, 'stream')) || readOption(options, 'on_delta') !== null,
    onDelta: readListener(options),
    repair: readRepair(readOption(options, 'repair')),
  }
  if (state.queue.length === 0 && state.fixtures === null)
    checkGates(options, request, findSupport(place.provider, place.model, state.rules))
  return request
}

function toSeconds({ ms }: HarnDuration): Value {
  const seconds = Number(ms) / 1000
  return Number.isInteger(seconds) ? seconds : new HarnFloat(seconds)
}

export function readBaseUrl(options: HarnDict): string | null {
  const value = readOption(options, 'base_url')
  return value === null ? null : display(value)
}

function readListener(options: HarnDict): Value {
  const listener = readOption(options, 'on_delta')
  if (listener !== null && !isCallable(listener)) failWith(`on_delta: expected a function, got ${typeName(listener)}`)
  return listener
}

const ROUTE_POLICY = /^(?:manual|(?:always|cheapest_over_quality|fastest_over_quality)\((.*)\))?$/i

/** Only its spelling is checked here; the caller chooses the model. */
function readRoutePolicy(value: Value): void {
  if (value === null || value instanceof HarnDict) return
  if (typeof value !== 'string') failWith('route_policy: expected string or dict')
  const found = ROUTE_POLICY.exec(value.trim())
  if (found === null) {
    failWith(`route_policy: expected manual, always(id), cheapest_over_quality(t), or fastest_over_quality(t), got "${value}"`)
  }
  if (found[1]?.trim() === '') failWith('route_policy: target must not be empty')
}

function readRepair(value: Value): HarnDict | null {
  if (value === true) return new HarnDict()
  return value instanceof HarnDict && value.get('enabled') !== false ? value : null
}

function readTools(
  options: HarnDict,
  place: Place,
  capabilities: Capabilities,
): { readonly tools: readonly HarnDict[]; readonly names: readonly string[] } {
  // Nil does not mean "no tools", as in the reference, so that a missing registry is noticed.
  const given = options.get('tools')
  const entries = given === undefined ? [] : readToolEntries(given)
  if (typeof entries === 'string') return failWith(entries)
  const search = readToolSearch(readOption(options, 'tool_search'))
  if (typeof search === 'string') return failWith(search)
  if (given === undefined) return { tools: [], names: [] }
  const own = readOption(options, place.provider)
  const applied = applyToolSearch(entries, search satisfies ToolSearch | null, {
    ...place,
    capabilities,
    forceNative: own instanceof HarnDict && own.get('force_native_tool_search') === true,
    anthropic: place.provider === 'anthropic',
  })
  if (typeof applied === 'string') return failWith(applied)
  return { tools: applied.tools, names: entries.map(readToolName) }
}

/** Whether a registered or known provider has this name. */
export function isKnownProvider(state: LlmState, name: string): boolean {
  return PROVIDERS[name] !== undefined || state.registered.has(name) || name === 'mock'
}

/** Options of a builtin that takes a dict or nil. */
export function readOptions(label: string, value: Value): HarnDict {
  if (value === null) return new HarnDict()
  return value instanceof HarnDict ? value : failRuntime(`${label}: options must be a dict, got ${typeName(value)}`)
}

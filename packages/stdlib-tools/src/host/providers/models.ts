// Model services over HTTP (effect `llm.call`): Anthropic's Messages API, OpenAI's Chat Completions and everything that speaks
// it, Ollama's chat API, and Gemini's generateContent. The script's side says what it wants in one shape
// (packages/stdlib-tools/src/agents/models/call.ts); each wire format here turns that into a request and an answer back into one record:
//   {text, tool_calls: [{id, type, name, arguments}], model, input_tokens, output_tokens, cache_read_tokens,
//    cache_write_tokens, thinking, stop_reason}
// Keys come from the host's environment, its services and its secrets; they are in no effect, journal or message. A key is bound to the
// origin that the host set for it: that of the provider it belongs to, or the one that the host configured. A script may say where a
// provider is (`provider_register`, `base_url`), and then its prompt goes there, and no key goes with it that is not bound to that origin.
//
// Formats: docs.anthropic.com/en/api/messages, platform.openai.com/docs/api-reference/chat,
// github.com/ollama/ollama/blob/main/docs/api.md, ai.google.dev/api/generate-content.

import { suggest } from '@bridle/parser/suggest'
import { lookup } from '@bridle/vm'
import type { Effect, EffectOutcome, Plain } from '@bridle/vm'
import { clampTimer } from '../../library/time/host-clock.js'
import { answered, describeCause, thrownError } from '../../tools/executors/provider.js'
import { readOrigin, SecretKeeper } from '../secrets.js'
import type { Secrets } from '../secrets.js'
import { classifyStatus, makeFailure } from './model-failures.js'
import type { EffectCall, Provider } from '../../tools/executors/provider.js'
import { describeModelOptionsProblem, withModelOptions } from '../../library/effects/index.js'

export interface LlmProviderOptions {
  /** Where keys and base URLs are looked up; nothing by default. */
  readonly env?: { readonly [name: string]: string | undefined }
  /** What sends requests; the global `fetch` by default. */
  readonly fetch?: typeof fetch
  /** Limit of a call that names none, in milliseconds; two minutes by default. */
  readonly timeoutMs?: number
  /** Keys by the names of their variables; each goes where the provider of that name is, and to the origins that it is bound to. */
  readonly secrets?: Secrets
  /** By name of the provider; wins over the environment. */
  readonly services?: { readonly [provider: string]: LlmService }
}

export interface LlmService {
  /** Asked for at each call; what it throws ends the call. */
  readonly apiKey?: () => string
  readonly baseUrl?: string
  readonly organization?: string
  readonly timeoutMs?: number
}

const DEFAULT_TIMEOUT_MS = 120_000

export function llmProvider(options: LlmProviderOptions = {}): Provider {
  return {
    kinds: ['llm.call'],
    perform: (effect, call) => perform(options, effect, call),
    // Asking a model costs money and tells it things: a dry run leaves it out.
    isReadOnly: () => false,
  }
}

type Json = { readonly [key: string]: unknown }

/** A request in the shape of the script's side. */
interface Asked {
  readonly provider: string
  readonly model: string
  readonly system: string | null
  readonly messages: readonly Json[]
  readonly tools: readonly Json[]
  readonly toolChoice: unknown
  readonly maxTokens: number
  readonly settings: Json
  readonly thinking: Json
  readonly cache: boolean
  readonly output: { readonly kind: string; readonly schema: unknown }
}

/** One service's way of saying it. */
interface Wire {
  readonly path: (asked: Asked, endpoint: string) => string
  readonly body: (asked: Asked) => Json
  readonly answer: (body: Json) => Json
  /** A text as a vector, by the services that do that. */
  readonly embed?: {
    readonly path: (model: string) => string
    readonly body: (model: string, input: string) => Json
    readonly vector: (body: Json) => unknown
  }
  /** Where the list of models is, for a check of health. */
  readonly modelsPath: string
}

async function perform(options: LlmProviderOptions, effect: Effect, call: EffectCall): Promise<EffectOutcome> {
  const args = toPlainJson(effect.args as Plain) as Json
  const config = record(args.config)
  const provider = readWord(args.provider)
  const style = readWord(config['auth_style'] ?? args.auth_style, 'bearer')
  if (style === 'aws_sigv4') return thrownError(`provider '${provider}' needs signed requests, which this host does not make`)
  const service = findService(options, provider)
  const place = resolvePlace(options, args)
  if (typeof place === 'string') return thrownError(place)
  const key = findKey(options, args, place)
  if (key.kind === 'refused') return thrownError(key.reason)
  if (key.kind === 'missing' && style !== 'none' && !place.isOwn) return answered({ missing_key: key.names.join(' or ') })
  const wire = findWire(provider)
  const headers: Record<string, string> = { 'content-type': 'application/json', ...readStrings(args.extra_headers) }
  const value = key.kind === 'value' ? key.value : undefined
  const lentHeaders = record(config['extra_headers'])
  const lent = new SecretKeeper(options.secrets).headersFor(listSecretRefs(lentHeaders), new URL(place.base))
  if (typeof lent === 'string') return thrownError(lent)
  Object.assign(headers, lent)
  Object.assign(headers, makeAuthorization(style, readText(config['auth_header']) ?? readText(args.auth_header), value))
  if (service.organization !== undefined && !place.isOwn) headers['openai-organization'] = service.organization
  const { base } = place
  const send = makeSender(options, call, headers, place.origin)
  if (args.op === 'healthcheck') return await checkHealth(send, `${base}${wire.modelsPath}`, provider)
  if (args.op === 'embed') return await embed(send, wire, base, args)
  const asked = readAsked(args)
  const endpoint = readText(config['chat_endpoint']) ?? readText(args.chat_endpoint) ?? ''
  const url = `${base.replace(/\/$/, '')}${wire.path(asked, endpoint)}`
  const own = record(asked.settings['overrides'])
  const problem = describeModelOptionsProblem(provider, own)
  if (problem !== null) return thrownError(problem)
  return await send(
    url,
    withModelOptions(wire.body(asked), own),
    readTimeout(service.timeoutMs ?? options.timeoutMs, asked),
    (answer) => answered(wire.answer(answer) as Plain),
  )
}

interface Place {
  readonly base: string
  readonly origin: string
  /** The script's own address, not one of the host's or of the table of providers. */
  readonly isOwn: boolean
}

/** Where the host has the provider; null when it leaves that to the table. */
function findHostBase(options: LlmProviderOptions, args: Json): string | null {
  const variable = readText(args.base_url_env)
  const found = findService(options, readWord(args.provider)).baseUrl ?? (variable === null ? undefined : options.env?.[variable])
  return found === undefined || found === '' ? null : found
}

/** Where a request goes; the text says why nowhere. */
function resolvePlace(options: LlmProviderOptions, args: Json): Place | string {
  const provider = readWord(args.provider)
  const usual = findHostBase(options, args) ?? readText(args.base_url) ?? ''
  const own = readText(record(args.config)['base_url'])
  const base = own ?? usual
  if (base === '') {
    const known = [...listTexts(args.known_providers), ...Object.keys(options.services ?? {})]
    const near = suggest(provider, known)
    return readText(args.base_url) === null && !known.includes(provider)
      ? `there is no provider '${provider}'${near === null ? '' : ` (did you mean '${near}'?)`}; known are ${known.join(', ')}`
      : `provider '${provider}' has no base URL`
  }
  const origin = readOrigin(base)
  if (origin === null) return `provider '${provider}' has the base URL '${base}', which is no http or https address`
  if (/[?#]/.test(base)) return `provider '${provider}' has the base URL '${base}'; it must have no query and no fragment`
  const configured = findService(options, provider).baseUrl
  if (own !== null && configured !== undefined && readOrigin(configured) !== origin)
    return `provider '${provider}' is at ${readOrigin(configured) ?? configured} by the host's word; the script asks for ${origin}`
  return { base, origin, isOwn: own !== null && origin !== readOrigin(usual) }
}

/** Headers of a script whose values the host lends: `{secret: "NAME"}`. */
function listSecretRefs(headers: Json): { readonly [header: string]: Plain } {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof record(value)['secret'] === 'string' ? [[name, value as Plain] as const] : [],
    ),
  )
}

type Key =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'missing'; readonly names: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string }

/** The key for a request to this origin, of those that are bound to it. */
function findKey(options: LlmProviderOptions, args: Json, { origin, base }: Place): Key {
  const config = record(args.config)
  const service = findService(options, readWord(args.provider))
  const keeper = new SecretKeeper(options.secrets)
  const url = new URL(base)
  const configured = findHostBase(options, args)
  const official = readText(args.base_url)
  const isHere = (place: string | null): boolean => place !== null && readOrigin(place) === origin
  if (service.apiKey !== undefined && isHere(configured ?? official)) return { kind: 'value', value: service.apiKey() }
  const own = listTexts(config['auth_envs'] ?? config['auth_env'])
  const usual = listTexts(args.auth_envs)
  const elsewhere = record(args.key_origins)
  const isBound = (name: string): boolean =>
    keeper.isBound(name, url) ||
    // Where the host has put a provider, its key goes there and no longer to the usual place.
    (usual.includes(name) && isHere(configured ?? official)) ||
    listTexts(elsewhere[name]).some(isHere)
  const names = own.length > 0 ? own : usual
  for (const name of names) {
    const value = keeper.value(name) ?? options.env?.[name]
    if (value !== undefined && value !== '' && isBound(name)) return { kind: 'value', value }
  }
  const unbound = own.find((name) => !isBound(name))
  if (unbound !== undefined)
    return { kind: 'refused', reason: `the host did not bind the key ${unbound} to ${origin}, so it is not sent there` }
  return names.length === 0 ? { kind: 'none' } : { kind: 'missing', names }
}

async function embed(send: Send, wire: Wire, base: string, args: Json): Promise<EffectOutcome> {
  const model = readWord(args.model)
  if (wire.embed === undefined) return thrownError(`provider '${readWord(args.provider)}' gives no embeddings`)
  const { path, body, vector } = wire.embed
  return await send(
    `${base.replace(/\/$/, '')}${path(model)}`,
    body(model, readWord(args.input)),
    DEFAULT_TIMEOUT_MS,
    (answer) => {
      const numbers = list(vector(answer)).filter((item) => typeof item === 'number')
      return numbers.length === 0 ? thrownError('the answer has no embedding') : answered({ vector: numbers, model })
    },
  )
}

type Send = (url: string, body: Json | null, timeoutMs: number, finish: (body: Json) => EffectOutcome) => Promise<EffectOutcome>

/** Requests stay at `origin`: a path cannot change the host, and no redirect is followed, for it would carry prompt and key along. */
function makeSender(options: LlmProviderOptions, call: EffectCall, headers: Record<string, string>, origin: string): Send {
  const ask = options.fetch ?? fetch
  return async (url, body, timeoutMs, finish) => {
    if (readOrigin(url) !== origin) return thrownError(`the endpoint leads away from ${origin}: ${url}`)
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(clampTimer(timeoutMs))])
    try {
      const response = await ask(url, {
        method: body === null ? 'GET' : 'POST',
        headers,
        signal,
        redirect: 'manual',
        ...(body === null ? {} : { body: JSON.stringify(body) }),
      })
      if (!response.ok) return makeHttpFailure(response, await readBody(response, MOST_ERROR_BYTES))
      const raw = await readBody(response, MOST_ANSWER_BYTES)
      const parsed: unknown = JSON.parse(raw)
      return finish(record(parsed))
    } catch (cause) {
      return makeTransportFailure(cause, timeoutMs, call.signal.aborted)
    }
  }
}

const MOST_ERROR_BYTES = 64 << 10
const MOST_ANSWER_BYTES = 64 << 20

/** The beginning of a body. */
async function readBody(response: Response, most: number): Promise<string> {
  if (response.body === null) return ''
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let [out, size] = ['', 0]
  while (size < most) {
    const { done, value } = await reader.read()
    if (done) return out + decoder.decode()
    out += decoder.decode(value.subarray(0, most - size), { stream: true })
    size += value.length
  }
  await reader.cancel()
  return out
}

function readTimeout(usual: number | undefined, { settings }: Asked): number {
  const seconds = settings['timeout']
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : (usual ?? DEFAULT_TIMEOUT_MS)
}

// ---------------------------------------------------------------------------------------------------------------- failures

function makeHttpFailure(response: Response, raw: string): EffectOutcome {
  const { status } = response
  const mark = status === 429 ? '[rate_limited] ' : status >= 500 ? '[http_error] ' : ''
  const after = response.headers.get('retry-after')
  const tail = after === null ? '' : `\nretry-after: ${after}\n`
  return makeFailure(classifyStatus(status), `${mark}HTTP ${status}: ${readErrorText(raw)}${tail}`)
}

const MOST_ERROR_TEXT = 2000

/** The message inside an error body, or the body. */
function readErrorText(raw: string): string {
  try {
    const body = record(JSON.parse(raw))
    const error = record(body['error'])
    const message = readText(error['message']) ?? readText(body['error']) ?? readText(body['message'])
    const type = readText(error['type']) ?? readText(error['code'])
    if (message !== null) return (type === null ? message : `${type}: ${message}`).slice(0, MOST_ERROR_TEXT)
  } catch {
    // Not JSON: the text says it.
  }
  return raw.slice(0, MOST_ERROR_TEXT)
}

function makeTransportFailure(cause: unknown, timeoutMs: number, cancelled: boolean): EffectOutcome {
  if (cancelled) return makeFailure('cancelled', 'the request was cancelled')
  // The refusal of a network policy (node/network-policy.ts).
  const blocked = [cause, cause instanceof Error ? cause.cause : null].find(
    (each) => each instanceof Error && each.name === 'EgressBlocked',
  )
  if (blocked !== undefined) return makeFailure('egress_blocked', describeCause(blocked))
  if (cause instanceof DOMException && cause.name === 'TimeoutError') {
    return makeFailure('timeout', `request timed out after ${timeoutMs} ms`)
  }
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : null
  const code = inner !== null && 'code' in inner ? readWord(inner.code) : ''
  const words: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'connection refused',
    ECONNRESET: 'connection reset',
    ENOTFOUND: 'dns error',
    EAI_AGAIN: 'dns error',
    UND_ERR_SOCKET: 'connection closed',
  }
  const detail = inner?.message ?? describeCause(cause)
  const known = words[code]
  return makeFailure(known === undefined ? 'generic' : 'transient_network', known === undefined ? detail : `${known}: ${detail}`)
}

async function checkHealth(send: Send, url: string, provider: string): Promise<EffectOutcome> {
  const outcome = await send(url, null, DEFAULT_TIMEOUT_MS, () =>
    answered({ provider, valid: true, message: `${provider} answers`, metadata: { url } }),
  )
  if (outcome.ok) return outcome
  return answered({ provider, valid: false, message: outcome.error.message, metadata: { url, reason: 'request_failed' } })
}

// ------------------------------------------------------------------------------------------------------------------ shapes

/** What scripts and services name may be the name of a method of all objects. */
function findService({ services }: LlmProviderOptions, provider: string): LlmService {
  return services !== undefined && Object.hasOwn(services, provider) ? services[provider]! : {}
}

/** `String` would run the `toString` of an object, and what a stranger's JSON has by that name is no function. */
function readWord(value: unknown, missing = ''): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : missing
}

function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.trunc(value) : 0
}

function listTexts(value: unknown): string[] {
  return typeof value === 'string' ? [value] : list(value).filter((item): item is string => typeof item === 'string')
}

function readStrings(value: unknown): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [key, item] of Object.entries(record(value))) if (typeof item === 'string') out[key] = item
  return out
}

/** Effect data as JSON: marked floats are numbers, bytes are base64. */
function toPlainJson(value: Plain): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (value === null || typeof value !== 'object') return value
  if (value instanceof Uint8Array) return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(''))
  if (Array.isArray(value)) return (value as readonly Plain[]).map(toPlainJson)
  if ('v' in value && typeof (value as { v: unknown }).v === 'number' && Object.keys(value).length === 1) {
    return (value as { v: number }).v
  }
  return Object.fromEntries(Object.entries(value as { [key: string]: Plain }).map(([key, item]) => [key, toPlainJson(item)]))
}

function readAsked(args: Json): Asked {
  return {
    provider: readWord(args.provider),
    model: readWord(args.model),
    system: readText(args.system),
    messages: list(args.messages).map(record),
    tools: list(args.tools).map(record),
    toolChoice: args.tool_choice ?? null,
    maxTokens: count(args.max_tokens),
    settings: record(args.settings),
    thinking: record(args.thinking),
    cache: args.cache === true,
    output: { kind: readWord(record(args.output)['kind'], 'text'), schema: record(args.output)['schema'] ?? null },
  }
}

function makeAuthorization(style: string, header: string | null, key: string | undefined): Record<string, string> {
  if (key === undefined || style === 'none') return {}
  if (style === 'azure_openai') return { 'api-key': key }
  return style === 'header' && header !== null ? { [header]: key } : { authorization: `Bearer ${key}` }
}

/** Settings under the names of a service. */
function renameSettings(settings: Json, names: Readonly<Record<string, string>>): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const [ours, theirs] of Object.entries(names)) {
    const value = settings[ours]
    if (value !== undefined && value !== null) out[theirs] = value
  }
  return out
}

function readFunction(tool: Json): Json {
  return record(tool['function'])
}

function listCalls(message: Json): readonly Json[] {
  return list(message['tool_calls']).map(record)
}

/** Of a past call, for a service that wants an object; the machine has made one of what the model wrote. */
function parsePastArguments(call: Json): unknown {
  const given = readFunction(call)['arguments']
  if (typeof given !== 'string') return given ?? {}
  try {
    return JSON.parse(given) as unknown
  } catch {
    return {}
  }
}

/** Arguments are as the model wrote them: the machine reads them, keeps large ints, and refuses what is no object. */
function makeToolCall(id: string, name: unknown, args: unknown): Json {
  return { id, type: 'tool_call', name: readWord(name), arguments: args ?? null }
}

// --------------------------------------------------------------------------------------------------------------- Anthropic

const anthropic: Wire = {
  modelsPath: '/models',
  path: (_asked, endpoint) => endpoint || '/messages',
  body: (asked) => {
    const { settings, thinking } = asked
    const body: Record<string, unknown> = {
      model: asked.model,
      max_tokens: asked.maxTokens,
      messages: makeAnthropicMessages(asked.messages),
      ...renameSettings(settings, { temperature: 'temperature', top_p: 'top_p', top_k: 'top_k', stop: 'stop_sequences' }),
    }
    if (asked.system !== null) {
      body['system'] = asked.cache ? [{ type: 'text', text: asked.system, cache_control: { type: 'ephemeral' } }] : asked.system
    }
    if (asked.tools.length > 0) body['tools'] = asked.tools.map(makeAnthropicTool)
    if (asked.toolChoice !== null) body['tool_choice'] = makeAnthropicChoice(asked.toolChoice)
    if (thinking['mode'] === 'enabled') {
      body['thinking'] = { type: 'enabled', budget_tokens: thinking['budget_tokens'] ?? Math.floor(asked.maxTokens / 2) }
    }
    if (thinking['mode'] === 'adaptive') body['thinking'] = { type: 'adaptive' }
    const prefill = readText(settings['prefill'])
    if (prefill !== null) (body['messages'] as unknown[]).push({ role: 'assistant', content: prefill })
    return body
  },
  answer: (body) => {
    const blocks = list(body['content']).map(record)
    const usage = record(body['usage'])
    const joinBlocks = (type: string, key: string): string =>
      blocks
        .filter((block) => block['type'] === type)
        .map((block) => readText(block[key]) ?? '')
        .join('')
    const thinking = joinBlocks('thinking', 'thinking')
    return {
      text: joinBlocks('text', 'text'),
      tool_calls: blocks
        .filter((block) => block['type'] === 'tool_use')
        .map((block) => makeToolCall(readWord(block['id']), block['name'], block['input'])),
      model: readText(body['model']),
      input_tokens: count(usage['input_tokens']),
      output_tokens: count(usage['output_tokens']),
      cache_read_tokens: count(usage['cache_read_input_tokens']),
      cache_write_tokens: count(usage['cache_creation_input_tokens']),
      thinking: thinking === '' ? null : thinking,
      stop_reason: readText(body['stop_reason']),
    }
  },
}

function makeAnthropicTool(tool: Json): Json {
  const inner = readFunction(tool)
  if (Object.keys(inner).length === 0) return tool
  return { name: inner['name'], description: inner['description'], input_schema: inner['parameters'] }
}

function makeAnthropicChoice(choice: unknown): Json {
  if (choice === 'required' || choice === 'any') return { type: 'any' }
  if (typeof choice === 'string')
    return choice === 'none' || choice === 'auto' ? { type: choice } : { type: 'tool', name: choice }
  return record(choice)
}

/** Results of tools are blocks of a user message, those of one turn in one. */
function makeAnthropicMessages(messages: readonly Json[]): Json[] {
  const out: { role: string; content: unknown }[] = []
  for (const message of messages) {
    const role = readWord(message['role'], 'user')
    if (role === 'tool') {
      const block = { type: 'tool_result', tool_use_id: message['tool_call_id'], content: message['content'] ?? '' }
      const last = out.at(-1)
      if (last?.role === 'user' && Array.isArray(last.content)) last.content.push(block)
      else out.push({ role: 'user', content: [block] })
      continue
    }
    const calls = listCalls(message)
    if (calls.length === 0) {
      out.push({ role: role === 'assistant' ? 'assistant' : 'user', content: makeAnthropicContent(message['content']) })
      continue
    }
    const said = readText(message['content'])
    out.push({
      role: 'assistant',
      content: [
        ...(said === null || said === '' ? [] : [{ type: 'text', text: said }]),
        ...calls.map((call) => ({
          type: 'tool_use',
          id: call['id'],
          name: readFunction(call)['name'],
          input: parsePastArguments(call),
        })),
      ],
    })
  }
  return out
}

function makeAnthropicContent(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? ''
  return list(content).map((item) => {
    const block = record(item)
    if (block['type'] === 'output_text') return { type: 'text', text: block['text'] }
    if (block['type'] !== 'image') return block
    const data = block['base64'] ?? block['data']
    const media = block['media_type'] ?? block['mime_type']
    return data === undefined
      ? { type: 'image', source: { type: 'url', url: block['url'] ?? block['file_uri'] } }
      : { type: 'image', source: { type: 'base64', media_type: media, data } }
  })
}

// ------------------------------------------------------------------------------------------------------------------ OpenAI

const openai: Wire = {
  modelsPath: '/models',
  embed: {
    path: () => '/embeddings',
    body: (model, input) => ({ model, input }),
    vector: (body) => record(list(body['data'])[0])['embedding'],
  },
  path: (asked, endpoint) =>
    (endpoint || '/chat/completions')
      .replace('{deployment}', encodeURIComponent(asked.model))
      .replace('{api_version}', '2024-10-21'),
  body: (asked) => {
    const body: Record<string, unknown> = {
      model: asked.model,
      messages: makeOpenaiMessages(asked),
      ...renameSettings(asked.settings, {
        temperature: 'temperature',
        top_p: 'top_p',
        stop: 'stop',
        seed: 'seed',
        frequency_penalty: 'frequency_penalty',
        presence_penalty: 'presence_penalty',
      }),
    }
    // Reasoning models refuse the old name.
    body[/^(?:o\d|gpt-5)/.test(asked.model) ? 'max_completion_tokens' : 'max_tokens'] = asked.maxTokens
    if (asked.tools.length > 0) body['tools'] = asked.tools
    if (asked.toolChoice !== null) body['tool_choice'] = asked.toolChoice
    if (asked.thinking['mode'] === 'effort') body['reasoning_effort'] = asked.thinking['level']
    if (asked.output.kind === 'json_object') body['response_format'] = { type: 'json_object' }
    if (asked.output.kind === 'json_schema') {
      body['response_format'] = {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: asked.output.schema, strict: true },
      }
    }
    return body
  },
  answer: (body) => {
    const choice = record(list(body['choices'])[0])
    const message = record(choice['message'])
    const usage = record(body['usage'])
    return {
      text: readText(message['content']) ?? '',
      tool_calls: listCalls(message).map((call, at) =>
        makeToolCall(readText(call['id']) ?? `call_${at + 1}`, readFunction(call)['name'], readFunction(call)['arguments']),
      ),
      model: readText(body['model']),
      input_tokens: count(usage['prompt_tokens']),
      output_tokens: count(usage['completion_tokens']),
      cache_read_tokens: count(record(usage['prompt_tokens_details'])['cached_tokens']),
      cache_write_tokens: 0,
      thinking: readText(message['reasoning_content']) ?? readText(message['reasoning']),
      stop_reason: readText(choice['finish_reason']),
    }
  },
}

function makeOpenaiMessages(asked: Asked): Json[] {
  const messages = asked.messages.map((message) => {
    const { content } = message
    if (!Array.isArray(content)) return message
    const result = list(content)
      .map(record)
      .find((block) => block['type'] === 'tool_result')
    if (result !== undefined) return { role: 'tool', tool_call_id: result['tool_use_id'], content: result['content'] ?? '' }
    return { ...message, content: list(content).map((item) => makeOpenaiBlock(record(item))) }
  })
  return asked.system === null ? messages : [{ role: 'system', content: asked.system }, ...messages]
}

function makeOpenaiBlock(block: Json): Json {
  if (block['type'] === 'output_text') return { type: 'text', text: block['text'] }
  if (block['type'] !== 'image') return block
  const data = block['base64'] ?? block['data']
  const url =
    data === undefined
      ? (block['url'] ?? block['file_uri'])
      : `data:${readWord(block['media_type'] ?? block['mime_type'])};base64,${readWord(data)}`
  return { type: 'image_url', image_url: { url, ...renameSettings(block, { detail: 'detail' }) } }
}

// ------------------------------------------------------------------------------------------------------------------ Ollama

const ollama: Wire = {
  modelsPath: '/api/tags',
  embed: {
    path: () => '/api/embed',
    body: (model, input) => ({ model, input }),
    vector: (body) => list(body['embeddings'])[0],
  },
  path: (_asked, endpoint) => endpoint || '/api/chat',
  body: (asked) => {
    const body: Record<string, unknown> = {
      model: asked.model,
      stream: false,
      messages: makeOpenaiMessages(asked).map(makeOllamaMessage),
      options: {
        num_predict: asked.maxTokens,
        ...renameSettings(asked.settings, {
          temperature: 'temperature',
          top_p: 'top_p',
          top_k: 'top_k',
          stop: 'stop',
          seed: 'seed',
        }),
      },
    }
    if (asked.tools.length > 0) body['tools'] = asked.tools
    if (asked.thinking['mode'] === 'enabled') body['think'] = true
    if (asked.output.kind === 'json_object') body['format'] = 'json'
    if (asked.output.kind === 'json_schema') body['format'] = asked.output.schema
    return body
  },
  answer: (body) => {
    const message = record(body['message'])
    return {
      text: readText(message['content']) ?? '',
      tool_calls: listCalls(message).map((call, at) =>
        makeToolCall(`call_${at + 1}`, readFunction(call)['name'], readFunction(call)['arguments']),
      ),
      model: readText(body['model']),
      input_tokens: count(body['prompt_eval_count']),
      output_tokens: count(body['eval_count']),
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      thinking: readText(message['thinking']),
      stop_reason: readText(body['done_reason']),
    }
  },
}

/** Arguments are objects here, and images are a list beside the text. */
function makeOllamaMessage(message: Json): Json {
  const calls = listCalls(message)
  const blocks = list(message['content']).map(record)
  const plain: Record<string, unknown> = { ...message }
  if (calls.length > 0) {
    plain['tool_calls'] = calls.map((call) => ({
      function: { name: readFunction(call)['name'], arguments: parsePastArguments(call) },
    }))
  }
  if (blocks.length === 0) return plain
  const images = blocks.flatMap((block) => {
    const url = readText(record(block['image_url'])['url'])
    return url === null ? [] : [url.replace(/^data:[^,]*,/, '')]
  })
  plain['content'] = blocks.map((block) => readText(block['text']) ?? '').join('')
  if (images.length > 0) plain['images'] = images
  return plain
}

// ------------------------------------------------------------------------------------------------------------------ Gemini

const gemini: Wire = {
  modelsPath: '/v1beta/models',
  embed: {
    path: (model) => `/v1beta/models/${encodeURIComponent(model)}:embedContent`,
    body: (_model, input) => ({ content: { parts: [{ text: input }] } }),
    vector: (body) => record(body['embedding'])['values'],
  },
  path: (asked, endpoint) => `${endpoint || '/v1beta/models'}/${encodeURIComponent(asked.model)}:generateContent`,
  body: (asked) => {
    const generation: Record<string, unknown> = {
      maxOutputTokens: asked.maxTokens,
      ...renameSettings(asked.settings, {
        temperature: 'temperature',
        top_p: 'topP',
        top_k: 'topK',
        stop: 'stopSequences',
        seed: 'seed',
      }),
    }
    if (asked.output.kind !== 'text') generation['responseMimeType'] = 'application/json'
    const body: Record<string, unknown> = {
      contents: asked.messages.map((message) => makeGeminiContent(message, callNames(asked.messages))),
      generationConfig: generation,
    }
    if (asked.system !== null) body['systemInstruction'] = { parts: [{ text: asked.system }] }
    if (asked.tools.length > 0) {
      const declared = asked.tools.map(readFunction).map(({ name, description, parameters }) => ({
        name,
        description,
        parametersJsonSchema: parameters,
      }))
      body['tools'] = [{ functionDeclarations: declared }]
    }
    return body
  },
  answer: (body) => {
    const candidate = record(list(body['candidates'])[0])
    const parts = list(record(candidate['content'])['parts']).map(record)
    const usage = record(body['usageMetadata'])
    const joinParts = (thought: boolean): string =>
      parts
        .filter((part) => (part['thought'] === true) === thought)
        .map((part) => readText(part['text']) ?? '')
        .join('')
    const thinking = joinParts(true)
    const calls = parts.map((part) => record(part['functionCall'])).filter((call) => call['name'] !== undefined)
    return {
      text: joinParts(false),
      tool_calls: calls.map((call, at) => makeToolCall(`call_${at + 1}`, call['name'], call['args'])),
      model: readText(body['modelVersion']),
      input_tokens: count(usage['promptTokenCount']),
      output_tokens: count(usage['candidatesTokenCount']),
      cache_read_tokens: count(usage['cachedContentTokenCount']),
      cache_write_tokens: 0,
      thinking: thinking === '' ? null : thinking,
      stop_reason: readText(candidate['finishReason'])?.toLowerCase() ?? null,
    }
  },
}

/** Names of the called functions by the ids of the calls: results name the function here. */
function callNames(messages: readonly Json[]): ReadonlyMap<unknown, unknown> {
  return new Map(messages.flatMap(listCalls).map((call) => [call['id'], readFunction(call)['name']]))
}

function makeGeminiContent(message: Json, names: ReadonlyMap<unknown, unknown>): Json {
  const role = message['role'] === 'assistant' ? 'model' : 'user'
  if (message['role'] === 'tool') {
    const id = message['tool_call_id']
    const response = { name: names.get(id) ?? id, response: { result: message['content'] ?? '' } }
    return { role: 'user', parts: [{ functionResponse: response }] }
  }
  const calls = listCalls(message).map((call) => ({
    functionCall: { name: readFunction(call)['name'], args: parsePastArguments(call) },
  }))
  const { content } = message
  const blocks = Array.isArray(content) ? list(content).map(record) : [{ text: content ?? '' }]
  const parts = blocks.map((block) => {
    const data = block['base64'] ?? block['data']
    return data === undefined
      ? { text: readText(block['text']) ?? '' }
      : { inlineData: { mimeType: block['media_type'] ?? block['mime_type'], data } }
  })
  return { role, parts: [...parts, ...calls] }
}

// ----------------------------------------------------------------------------------------------------------------- choice

const WIRES: Readonly<Record<string, Wire>> = lookup({ anthropic, ollama, gemini })

/** Whoever has no wire of its own speaks OpenAI's. */
function findWire(provider: string): Wire {
  return Object.hasOwn(WIRES, provider) ? WIRES[provider]! : openai
}

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
import type { Effect, EffectOutcome, Plain } from '@bridle/vm'
import { clampTimer } from '../../library/time/host-clock.js'
import { answered, describeCause, thrownError } from '../../tools/executors/provider.js'
import { readOrigin, SecretKeeper } from '../secrets.js'
import type { Secrets } from '../secrets.js'
import { classifyStatus, makeFailure } from './model-failures.js'
import { ModelStreams } from './model-streams.js'
import { readDeltas } from './wire-source.js'
import { fillEndpoint, findPlace } from './places.js'
import { findWireOf } from './wires/index.js'
import { list, listTexts, readStrings, readText, readWord, record, toPlainJson } from './wires/json.js'
import type { Json } from './wires/json.js'
import { MOST_ERROR_TEXT, describeError } from './wires/stream-errors.js'
import { StreamError, readAsked } from './wires/wire.js'
import type { Asked, Wire } from './wires/wire.js'
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
  const streams = new ModelStreams()
  return {
    kinds: ['llm.call'],
    perform: (effect, call) =>
      effect.args.op === 'next' || effect.args.op === 'close'
        ? streams.serve(effect.args, call)
        : perform(options, streams, effect, call),
    // A model request costs money and discloses data, so a dry run omits it.
    isReadOnly: () => false,
  }
}

async function perform(
  options: LlmProviderOptions,
  streams: ModelStreams,
  effect: Effect,
  call: EffectCall,
): Promise<EffectOutcome> {
  const args = toPlainJson(effect.args as Plain) as Json
  const config = record(args.config)
  const provider = readWord(args.provider)
  const style = readWord(config['auth_style'] ?? args.auth_style, 'bearer')
  if (style === 'aws_sigv4')
    return thrownError(
      `provider '${provider}' needs signed requests, which this host does not make; give the runtime aiProvider({...}) of @bridle/stdlib-tools/ai ` +
        'with a model of @ai-sdk/amazon-bedrock',
    )
  const service = findService(options, provider)
  const place = resolvePlace(options, args)
  if (typeof place === 'string') return thrownError(place)
  const key = findKey(options, args, place)
  if (key.kind === 'refused') return thrownError(key.reason)
  if (key.kind === 'missing' && style !== 'none' && !place.isOwn) return answered({ missing_key: key.names.join(' or ') })
  const asked = readAsked(args)
  const own = record(asked.settings['overrides'])
  const said = readText(config['chat_endpoint'])
  // A service with a custom address uses the older interface.
  const wire = findWireOf(provider, said === null && !place.isOwn ? asked.facts.api : null)
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
  const { stream } = args
  const isStreamed = typeof stream === 'string' && call.runSignal !== undefined
  const filled = fillEndpoint(options.env ?? {}, said ?? readText(args.chat_endpoint) ?? '')
  if ('problem' in filled) return thrownError(filled.problem)
  const { endpoint } = filled
  Object.assign(headers, wire.headers?.(asked))
  const makePath = (isStreamed ? wire.streaming.path : undefined) ?? wire.path
  const url = `${base.replace(/\/$/, '')}${makePath(asked, endpoint)}`
  const problem = describeModelOptionsProblem(provider, own)
  if (problem !== null) return thrownError(problem)
  const body = withModelOptions(wire.body(asked), own)
  const timeoutMs = readSeconds(asked, 'timeout') ?? service.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS
  if (!isStreamed) return await send(url, body, timeoutMs, (answer) => answered(wire.answer(answer, asked) as Plain))
  const idleMs = readSeconds(asked, 'idle_timeout') ?? service.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS
  return await openStream({
    streams,
    id: stream,
    call,
    wire,
    asked,
    ask: (signal) => request(options, url, place.origin, { headers, signal, body: { ...body, ...wire.streaming.body } }),
    idleMs,
    totalMs: readSeconds(asked, 'timeout'),
  })
}

interface Place {
  readonly base: string
  readonly origin: string
  /** The script's own address, not one of the host's or of the table of providers. */
  readonly isOwn: boolean
}

/** Where the host has the provider; null when it leaves that to the table. */
function findHostBase(options: LlmProviderOptions, args: Json): string | null {
  const found = findService(options, readWord(args.provider)).baseUrl
  return found === undefined || found === '' ? findPlace(options.env ?? {}, args) : found
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
  const usual = listTexts(args.auth_envs).filter((name) => name !== NAME_OF_FILE)
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

/** Names a file with a key and is none. */
const NAME_OF_FILE = 'GOOGLE_APPLICATION_CREDENTIALS'

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

function makeSender(options: LlmProviderOptions, call: EffectCall, headers: Record<string, string>, origin: string): Send {
  return async (url, body, timeoutMs, finish) => {
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(clampTimer(timeoutMs))])
    try {
      const response = await request(options, url, origin, { headers, signal, body })
      if (!response.ok) return makeHttpFailure(response, await readBody(response, MOST_ERROR_BYTES))
      return finish(record(JSON.parse(await readBody(response, MOST_ANSWER_BYTES))))
    } catch (cause) {
      if (cause instanceof StreamError) return makeFailure(cause.category, cause.message)
      return makeTransportFailure(cause, timeoutMs, call.signal.aborted)
    }
  }
}

/** Raised for an endpoint that leaves its origin. */
class WrongOrigin extends Error {}

/** Requests stay at `origin`: a path cannot change the host, and no redirect is followed, for it would carry prompt and key along. */
function request(
  options: LlmProviderOptions,
  url: string,
  origin: string,
  {
    headers,
    signal,
    body,
  }: { readonly headers: Record<string, string>; readonly signal: AbortSignal; readonly body: Json | null },
): Promise<Response> {
  if (readOrigin(url) !== origin) throw new WrongOrigin(`the endpoint leads away from ${origin}: ${url}`)
  return (options.fetch ?? fetch)(url, {
    method: body === null ? 'GET' : 'POST',
    headers,
    signal,
    redirect: 'manual',
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  })
}

interface Opening {
  readonly streams: ModelStreams
  readonly id: string
  readonly call: EffectCall
  readonly wire: Wire
  readonly asked: Asked
  readonly ask: (signal: AbortSignal) => Promise<Response>
  readonly idleMs: number
  /** Time limit of the whole answer, if the script sets one. */
  readonly totalMs: number | null
}

/** The request lasts longer than the effect that makes it: until its answer is read, or the run ends. */
async function openStream({ streams, id, call, wire, asked, ask, idleMs, totalMs }: Opening): Promise<EffectOutcome> {
  const refused = streams.admit(call)
  if (refused !== null) return refused
  const abort = new AbortController()
  const onAbort = (): void => abort.abort(call.signal.reason)
  call.signal.addEventListener('abort', onAbort, { once: true })
  const limits = totalMs === null ? [abort.signal] : [abort.signal, AbortSignal.timeout(clampTimer(totalMs))]
  const describeTransport = (cause: unknown): EffectOutcome =>
    makeTransportFailure(cause, totalMs ?? idleMs, call.signal.aborted || call.runSignal?.aborted === true)
  const timer = setTimeout(() => abort.abort(new DOMException('no answer came in time', 'TimeoutError')), clampTimer(idleMs))
  try {
    if (call.signal.aborted) onAbort()
    const response = await ask(AbortSignal.any(limits))
    if (!response.ok) return makeHttpFailure(response, await readBody(response, MOST_ERROR_BYTES))
    // A service that does not know how to stream answers as it does otherwise.
    if (wire.streaming.framing === 'sse' && isJson(response))
      return answered(wire.answer(record(JSON.parse(await readBody(response, MOST_ANSWER_BYTES))), asked) as Plain)
    const body = response.body as ReadableStream<Uint8Array> | null
    return streams.open(call, id, readDeltas({ wire, asked, body, abort, idleMs: clampTimer(idleMs), describeTransport }))
  } catch (cause) {
    if (cause instanceof StreamError) return makeFailure(cause.category, cause.message)
    return describeTransport(cause)
  } finally {
    clearTimeout(timer)
    call.signal.removeEventListener('abort', onAbort)
  }
}

function isJson(response: Response): boolean {
  return /^application\/json\b/i.test(response.headers.get('content-type') ?? '')
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

/** Milliseconds; null where the script does not say. */
function readSeconds({ settings }: Asked, key: string): number | null {
  const seconds = settings[key]
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : null
}

// ---------------------------------------------------------------------------------------------------------------- failures

function makeHttpFailure(response: Response, raw: string): EffectOutcome {
  const { status } = response
  const mark = status === 429 ? '[rate_limited] ' : status >= 500 ? '[http_error] ' : ''
  const after = response.headers.get('retry-after')
  const tail = after === null ? '' : `\nretry-after: ${after}\n`
  return makeFailure(classifyStatus(status), `${mark}HTTP ${status}: ${readErrorText(raw)}${tail}`)
}

/** The message inside an error body, or the body. */
function readErrorText(raw: string): string {
  try {
    return describeError(record(JSON.parse(raw)), raw)
  } catch {
    return raw.slice(0, MOST_ERROR_TEXT)
  }
}

function makeTransportFailure(cause: unknown, timeoutMs: number, cancelled: boolean): EffectOutcome {
  if (cause instanceof WrongOrigin) return thrownError(cause.message)
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
  const code = [inner, cause]
    .map((each) => (each instanceof Error && 'code' in each ? readWord(each.code) : ''))
    .find((each) => each !== '')
  const detail = inner?.message ?? describeCause(cause)
  const known = code !== undefined && Object.hasOwn(NETWORK_ERRORS, code) ? NETWORK_ERRORS[code] : undefined
  return makeFailure(known === undefined ? 'generic' : 'transient_network', known === undefined ? detail : `${known}: ${detail}`)
}

/** Codes of runtimes for connections that fail; Bun has its own names. */
const NETWORK_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ConnectionRefused: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ENOTFOUND: 'dns error',
  EAI_AGAIN: 'dns error',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  UND_ERR_SOCKET: 'connection closed',
  ConnectionClosed: 'connection closed',
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

function makeAuthorization(style: string, header: string | null, key: string | undefined): Record<string, string> {
  if (key === undefined || style === 'none') return {}
  if (style === 'azure_openai') return { 'api-key': key }
  return style === 'header' && header !== null ? { [header]: key } : { authorization: `Bearer ${key}` }
}

// `aiProvider`: models of the AI SDK (package `ai`, specifications v2, v3 and v4) answer what scripts ask of models. Every provider package
// of that ecosystem makes such models. The types are structural: nothing of it is imported.

import { suggest } from '@bridle/parser/suggest'
import type { EffectOutcome, Plain } from '@bridle/vm'
import type { EffectCall, Provider } from '../tools/executors/provider.js'
import { answered, describeCause, thrownError } from '../tools/executors/provider.js'
import { classifyStatus, makeFailure } from '../host/providers/model-failures.js'
import { ModelStreams } from '../host/providers/model-streams.js'
import type { DeltaSource } from '../host/providers/model-streams.js'
import { isFailureText } from '../host/providers/wires/content.js'
import { StreamError } from '../host/providers/wires/wire.js'
import type { Delta } from '../host/providers/wires/wire.js'

/** `LanguageModelV2`, `V3` or `V4`: what `openai('gpt-5')` and the like give. */
export interface AiSdkModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<unknown>
  doStream(options: never): PromiseLike<unknown>
}

/** One model, or several by the names that scripts give them: `PROVIDER/MODEL`, or a name of yours. */
export type AiSdkModels = AiSdkModel | { readonly [name: string]: AiSdkModel }

export interface AiProviderOptions {
  /** Receives each piece of an answer as it arrives; enables streaming. A script that does not ask for pieces gets the whole answer. */
  readonly onDelta?: (delta: AiDelta, call: { readonly runId: string; readonly id: number }) => void | Promise<void>
}

export interface AiDelta {
  readonly type: 'text' | 'reasoning' | 'tool-input'
  readonly text: string
}

/**
 * Answers calls that name one of the models, or none: then it is the first. A call that names another one fails and says which there are: a
 * prompt goes nowhere else.
 */
export function aiProvider(models: AiSdkModels, options: AiProviderOptions = {}): Provider {
  const named = listModels(models)
  const streams = new ModelStreams()
  return {
    kinds: ['llm.call'],
    isReadOnly: () => false,
    async perform(effect, call): Promise<EffectOutcome> {
      if (effect.args.op === 'next' || effect.args.op === 'close') return streams.serve(effect.args, call)
      const asked = readJson(effect.args as Plain) as Json
      if (asked['op'] !== undefined && asked['op'] !== null)
        return thrownError(`models of the AI SDK do not answer ${String(asked['op'])}`)
      const model = findModel(named, asked)
      if (typeof model === 'string') return makeFailure('not_found', model)
      const { stream } = effect.args
      if (typeof stream !== 'string' || call.runSignal === undefined) return askModel(model, asked, call, options)
      return streams.admit(call) ?? openModelStream(streams, stream, model, asked, call, options)
    },
  }
}

type Json = { readonly [key: string]: unknown }

interface NamedModel {
  readonly names: readonly string[]
  readonly model: AiSdkModel
}

function listModels(models: AiSdkModels): readonly NamedModel[] {
  const list = isModel(models) ? [['', models] as const] : Object.entries(models)
  if (list.length === 0) throw new TypeError('aiProvider: give at least one model')
  return list.map(([name, model]) => {
    if (!isModel(model))
      throw new TypeError(
        `aiProvider: ${name === '' ? 'the model' : JSON.stringify(name)} is no model of the AI SDK: it has no doGenerate`,
      )
    // `openai.chat`, `anthropic.messages`: what stands before the dot is the provider.
    const provider = model.provider.split('.')[0]!
    return { names: [...(name === '' ? [] : [name]), `${provider}/${model.modelId}`, model.modelId], model }
  })
}

const isModel = (value: unknown): value is AiSdkModel =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'doGenerate') === 'function'

/** The model that a call names; the text instead that says which there are. */
function findModel(models: readonly NamedModel[], { provider, model, unnamed }: Json): AiSdkModel | string {
  if (unnamed === true) return models[0]!.model
  const asked = [`${String(provider)}/${String(model)}`, String(model)]
  const found =
    models.find(({ names }) => names[0] === asked[0] || names[0] === asked[1]) ??
    models.find(({ names }) => names.includes(asked[0]!))
  if (found !== undefined) return found.model
  const known = models.map(({ names }) => names[0]!)
  const near = suggest(asked[0]!, known)
  return `there is no model '${asked[0]}' here${near === null ? '' : ` (did you mean '${near}'?)`}; there is ${known.join(', ')}`
}

async function askModel(
  model: AiSdkModel,
  asked: Json,
  call: EffectCall,
  { onDelta }: AiProviderOptions,
): Promise<EffectOutcome> {
  const seconds = readNumber(record(asked['settings'])['timeout'])
  const abort = new AbortController()
  const limits = [call.signal, abort.signal, ...(seconds === undefined ? [] : [AbortSignal.timeout(seconds * 1000)])]
  const signal = AbortSignal.any(limits)
  const idle = makeIdleWatch(asked, abort)
  try {
    const options = { ...makeOptions(model, asked), abortSignal: signal }
    const answer =
      onDelta === undefined
        ? record(await model.doGenerate(options as never))
        : await readStream(record(await idle.hold(Promise.resolve(model.doStream(options as never)))), idle, (delta) =>
            onDelta(delta, { runId: call.runId, id: call.id }),
          )
    return answered(readAnswer(answer, model) as Plain)
  } catch (cause) {
    if (call.signal.aborted) return makeFailure('cancelled', 'the request was cancelled')
    return describeFailure(cause, seconds)
  }
}

/** The request lasts longer than the effect that makes it. */
async function openModelStream(
  streams: ModelStreams,
  id: string,
  model: AiSdkModel,
  asked: Json,
  call: EffectCall,
  { onDelta }: AiProviderOptions,
): Promise<EffectOutcome> {
  const abort = new AbortController()
  const seconds = readNumber(record(asked['settings'])['timeout'])
  const signal = seconds === undefined ? abort.signal : AbortSignal.any([abort.signal, AbortSignal.timeout(seconds * 1000)])
  const onAbort = (): void => abort.abort(call.signal.reason)
  call.signal.addEventListener('abort', onAbort, { once: true })
  const describe = (cause: unknown): EffectOutcome => {
    if (call.signal.aborted || call.runSignal?.aborted === true) return makeFailure('cancelled', 'the request was cancelled')
    return describeFailure(cause, seconds)
  }
  const idle = makeIdleWatch(asked, abort)
  try {
    const asking = Promise.resolve(model.doStream({ ...makeOptions(model, asked), abortSignal: signal } as never))
    const given = record(await idle.hold(asking))
    const reader = (given['stream'] as ReadableStream<unknown>).getReader()
    return streams.open(call, id, readModelStream({ reader, abort, model, describe, onDelta, call, idle }))
  } catch (cause) {
    return describe(cause)
  } finally {
    call.signal.removeEventListener('abort', onAbort)
  }
}

interface IdleWatch {
  /** Waits for the result, or throws a timeout. A model that ignores its signal is then abandoned. */
  readonly hold: <T>(waiting: Promise<T>) => Promise<T>
}

/** The time between two pieces, where the script says one (`idle_timeout`). */
function makeIdleWatch(asked: Json, abort: AbortController): IdleWatch {
  const seconds = readNumber(record(asked['settings'])['idle_timeout'])
  if (seconds === undefined || seconds <= 0) return { hold: (waiting) => waiting }
  return {
    async hold(waiting) {
      let timer: ReturnType<typeof setTimeout> | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => {
            const cause = new IdleTooLong(`no piece of the answer came within ${seconds} s`)
            reject(cause)
            abort.abort(cause)
          },
          Math.min(seconds * 1000, LONGEST_TIMER_MS),
        )
      })
      // Ignore the loser of the race.
      waiting.catch(() => {})
      try {
        return await Promise.race([waiting, late])
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

const LONGEST_TIMER_MS = 2 ** 31 - 1

class IdleTooLong extends Error {}

interface ModelStreamParts {
  readonly reader: ReadableStreamDefaultReader<unknown>
  readonly abort: AbortController
  readonly model: AiSdkModel
  readonly describe: (cause: unknown) => EffectOutcome
  readonly onDelta: AiProviderOptions['onDelta']
  readonly call: EffectCall
  readonly idle: IdleWatch
}

function readModelStream({ reader, abort, model, describe, onDelta, call, idle }: ModelStreamParts): DeltaSource {
  const { runId, id } = call
  const answer = new StreamedAnswer()
  return {
    async read() {
      for (;;) {
        const { done, value } = await idle.hold(reader.read())
        if (done) {
          if (!answer.isWhole) throw new StreamError('transient_network', 'stream error: the answer broke off before its end')
          return { deltas: [], answer: readAnswer(answer.body(), model) as Plain }
        }
        const delta = answer.take(record(value))
        if (delta === null) continue
        if (delta.text !== '')
          await onDelta?.({ type: delta.type === 'tool_call' ? 'tool-input' : delta.type, text: delta.text }, { runId, id })
        return { deltas: [delta], answer: null }
      }
    },
    close() {
      abort.abort(new Error('the stream was left'))
      // A model that ignores the signal is stopped by cancelling its stream.
      void reader.cancel().catch(() => {})
    },
    describe,
  }
}

function describeFailure(cause: unknown, seconds: number | undefined): EffectOutcome {
  if (cause instanceof DOMException && cause.name === 'TimeoutError')
    return makeFailure('timeout', `request timed out after ${seconds} s`)
  if (cause instanceof IdleTooLong) return makeFailure('timeout', `request timed out: ${cause.message}`)
  const category = cause instanceof StreamError ? cause.category : classify(cause)
  return makeFailure(category, describeCause(cause))
}

/** Of an APICallError. */
function classify(cause: unknown): string {
  const status: unknown = typeof cause === 'object' && cause !== null ? Reflect.get(cause, 'statusCode') : null
  return typeof status === 'number' ? classifyStatus(status) : 'generic'
}

// ----------------------------------------------------------------------------------------------------------------- asking

function makeOptions(model: AiSdkModel, asked: Json): Json {
  const settings = record(asked['settings'])
  const { stop } = settings
  const { thinking } = asked
  const tools = list(asked['tools']).map(record)
  return {
    prompt: makePrompt(model, asked),
    maxOutputTokens: readNumber(asked['max_tokens']),
    temperature: readNumber(settings['temperature']),
    topP: readNumber(settings['top_p']),
    topK: readNumber(settings['top_k']),
    seed: readNumber(settings['seed']),
    presencePenalty: readNumber(settings['presence_penalty']),
    frequencyPenalty: readNumber(settings['frequency_penalty']),
    stopSequences: stop === undefined || stop === null ? undefined : (Array.isArray(stop) ? stop : [stop]).map(String),
    responseFormat: makeFormat(record(asked['output'])),
    ...(tools.length === 0 ? {} : { tools: tools.map(makeTool), toolChoice: makeChoice(asked['tool_choice']) }),
    ...(record(thinking)['mode'] === 'effort' ? { reasoning: record(thinking)['level'] } : {}),
    providerOptions: makeProviderOptions(model, settings),
  }
}

/** What a script says to one provider (`openai: {…}` among the options). */
function makeProviderOptions({ provider }: AiSdkModel, settings: Json): Json | undefined {
  const own = settings['overrides']
  return typeof own === 'object' && own !== null ? { [provider.split('.')[0]!]: own } : undefined
}

function makeFormat({ kind, schema }: Json): Json {
  if (kind === 'json_schema') return { type: 'json', schema: schema ?? undefined, name: 'answer' }
  return kind === 'json_object' ? { type: 'json' } : { type: 'text' }
}

function makeTool(tool: Json): Json {
  const inner = Object.keys(record(tool['function'])).length === 0 ? tool : record(tool['function'])
  const parameters = inner['parameters'] ?? inner['input_schema'] ?? { type: 'object', properties: {} }
  return { type: 'function', name: inner['name'], description: inner['description'] ?? undefined, inputSchema: parameters }
}

function makeChoice(choice: unknown): Json {
  if (choice === null || choice === undefined) return { type: 'auto' }
  if (choice === 'any') return { type: 'required' }
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice }
  const name = typeof choice === 'string' ? choice : (record(record(choice)['function'])['name'] ?? record(choice)['name'])
  return { type: 'tool', toolName: String(name) }
}

function makePrompt(model: AiSdkModel, asked: Json): readonly Json[] {
  const prompt: Json[] = typeof asked['system'] === 'string' ? [{ role: 'system', content: asked['system'] }] : []
  const nameOfCall = new Map<unknown, unknown>()
  for (const message of list(asked['messages']).map(record)) {
    const { role, content } = message
    if (role === 'system') prompt.push({ role, content: readText(content) ?? joinTexts(content) })
    else if (role === 'tool') prompt.push({ role, content: [makeResult(message['tool_call_id'], content, nameOfCall)] })
    else if (role === 'assistant') {
      const calls = list(message['tool_calls']).map(record)
      for (const call of calls) nameOfCall.set(call['id'], record(call['function'])['name'] ?? call['name'])
      const text = readText(content) ?? joinTexts(content)
      const made = calls.map((call) => makePastCall(call, nameOfCall))
      prompt.push({ role, content: makeAnswerParts(text, made, readState(message, asked)) })
    } else {
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content).map(record)
      const results = blocks.filter((block) => block['type'] === 'tool_result')
      if (results.length > 0)
        prompt.push({
          role: 'tool',
          content: results.map((block) => makeResult(block['tool_use_id'], block['content'], nameOfCall)),
        })
      const parts = blocks.filter((block) => block['type'] !== 'tool_result').map((block) => makePart(model, block))
      if (parts.length > 0) prompt.push({ role: 'user', content: parts })
    }
  }
  return prompt
}

/** What this model sent with an earlier answer; another one cannot read it. */
function readState(message: Json, asked: Json): readonly Json[] {
  const state = record(message['service_state'])
  return state['provider'] === asked['provider'] && state['model'] === asked['model'] ? list(state['parts']).map(record) : []
}

/** The parts of a past answer in their order, with the texts and calls that the conversation has now. */
function makeAnswerParts(text: string, calls: readonly Json[], kept: readonly Json[]): readonly Json[] {
  const said = text === '' ? [] : [{ type: 'text', text }]
  const isSame = joinTexts(kept.filter((part) => part['type'] === 'text')) === text
  const ordered = kept.flatMap((part): readonly Json[] => {
    if (part['type'] === 'text') return isSame ? [part] : []
    if (part['type'] !== 'tool-call') return [part]
    return calls
      .filter((call) => call['toolCallId'] === part['toolCallId'])
      .map((call) => ({ ...call, ...part, type: 'tool-call' }))
  })
  const named = new Set(kept.map((part) => part['toolCallId']))
  const rest = calls.filter((call) => !named.has(call['toolCallId']))
  const at = isSame || kept.length === 0 ? -1 : ordered.findIndex((part) => part['type'] === 'tool-call')
  if (isSame && kept.length > 0) return [...ordered, ...rest]
  return at < 0 ? [...ordered, ...said, ...rest] : [...ordered.slice(0, at), ...said, ...ordered.slice(at), ...rest]
}

function makePastCall(call: Json, names: ReadonlyMap<unknown, unknown>): Json {
  const args = record(call['function'])['arguments'] ?? call['arguments'] ?? {}
  let input: unknown = args
  if (typeof args === 'string') {
    try {
      input = args.trim() === '' ? {} : JSON.parse(args)
    } catch {
      input = { __unreadable: args }
    }
  }
  return { type: 'tool-call', toolCallId: call['id'], toolName: names.get(call['id']) ?? '', input }
}

function makeResult(id: unknown, content: unknown, names: ReadonlyMap<unknown, unknown>): Json {
  const kind = typeof content === 'string' && isFailureText(content) ? 'error-text' : 'text'
  const output = typeof content === 'string' ? { type: kind, value: content } : { type: 'json', value: content ?? null }
  return { type: 'tool-result', toolCallId: id, toolName: names.get(id) ?? '', output }
}

function makePart({ specificationVersion }: AiSdkModel, block: Json): Json {
  if (block['type'] !== 'image') return { type: 'text', text: readText(block['text']) ?? JSON.stringify(block) }
  const data = block['base64'] ?? block['data']
  const url = data === undefined ? new URL(String(block['url'] ?? block['file_uri'])) : null
  const mediaType = readText(block['media_type'] ?? block['mime_type']) ?? 'image/*'
  const isTagged = !/^v[123]$/.test(specificationVersion)
  const plain = url ?? data
  return { type: 'file', mediaType, data: isTagged ? (url === null ? { type: 'data', data } : { type: 'url', url }) : plain }
}

// ---------------------------------------------------------------------------------------------------------------- answers

/** An answer as effects have it. */
function readAnswer(answer: Json, model: AiSdkModel): Json {
  const content = list(answer['content']).map(record)
  const joinParts = (type: string): string =>
    content
      .filter((part) => part['type'] === type)
      .map((part) => readText(part['text']) ?? '')
      .join('')
  const usage = record(answer['usage'])
  const { inputTokens, outputTokens, cachedInputTokens } = usage
  const reasoning = joinParts('reasoning')
  return {
    text: joinParts('text'),
    // What the service of the model carries out itself is no call for the script.
    tool_calls: content
      .filter((part) => part['type'] === 'tool-call' && part['providerExecuted'] !== true)
      .map((part) => ({ id: part['toolCallId'], type: 'tool_call', name: part['toolName'], arguments: part['input'] ?? null })),
    model: readText(record(answer['response'])['modelId']) ?? model.modelId,
    input_tokens: readCount(inputTokens, 'total'),
    output_tokens: readCount(outputTokens, 'total'),
    cache_read_tokens: readCount(cachedInputTokens, 'total') || readCount(record(inputTokens)['cacheRead'], ''),
    cache_write_tokens: readCount(record(inputTokens)['cacheWrite'], ''),
    thinking: reasoning === '' ? null : reasoning,
    stop_reason: readStop(answer['finishReason']),
    service_state: keepParts(content),
  }
}

/** Reasoning, and what providers attach to parts, such as signatures: both go back with the calls of the answer. */
function keepParts(content: readonly Json[]): readonly Json[] {
  const calls = content.filter((part) => part['type'] === 'tool-call' && part['providerExecuted'] !== true)
  const isPlain = content.every((part) => part['type'] !== 'reasoning' && part['providerMetadata'] === undefined)
  if (calls.length === 0 || isPlain) return []
  return content.flatMap((part): readonly Json[] => {
    const { providerMetadata } = part
    const more = providerMetadata === undefined ? {} : { providerOptions: providerMetadata }
    if (calls.includes(part)) return [{ type: 'tool-call', toolCallId: part['toolCallId'], ...more }]
    return part['type'] === 'reasoning' || part['type'] === 'text' ? [{ type: part['type'], text: part['text'], ...more }] : []
  })
}

/** A word, or since v3 `{unified, raw}`. */
function readStop(reason: unknown): string | null {
  const word = readText(reason) ?? readText(record(reason)['unified'])
  return word === null ? null : word.replaceAll('-', '_')
}

function readCount(value: unknown, key: string): number {
  return readNumber(value) ?? readNumber(record(value)[key]) ?? 0
}

/** The parts of a stream as one answer. */
async function readStream(result: Json, idle: IdleWatch, onDelta: (delta: AiDelta) => void | Promise<void>): Promise<Json> {
  const answer = new StreamedAnswer()
  const reader = (result['stream'] as ReadableStream<unknown>).getReader()
  for (;;) {
    const { done, value } = await idle.hold(reader.read())
    if (done) return answer.body()
    const delta = answer.take(record(value))
    if (delta !== null && delta.text !== '')
      await onDelta({ type: delta.type === 'tool_call' ? 'tool-input' : delta.type, text: delta.text })
  }
}

interface Grown {
  type: string
  id?: unknown
  text?: string
  [key: string]: unknown
}

/** What the parts of a stream have said so far. */
class StreamedAnswer {
  private readonly content: Grown[] = []
  /** Calls whose arguments come in pieces, in the order in which they began. */
  private readonly calls: { readonly id: unknown; readonly name: string }[] = []
  private end: Json | null = null
  private modelId: unknown = null

  get isWhole(): boolean {
    return this.end !== null
  }

  /** Null for a part that adds nothing. */
  take(part: Json): Delta | null {
    switch (part['type']) {
      case 'text-delta':
        return this.grow('text', part)
      case 'reasoning-delta':
        return this.grow('reasoning', part)
      case 'tool-input-start':
        this.calls.push({ id: part['id'], name: readText(part['toolName']) ?? '' })
        return this.makeCallDelta(this.calls.length - 1, '')
      case 'tool-input-delta':
        return this.makeCallDelta(
          this.calls.findIndex(({ id }) => id === part['id']),
          readText(part['delta']) ?? '',
        )
      case 'reasoning-start':
      case 'reasoning-end':
        this.attach(part)
        return null
      case 'tool-call':
        this.content.push(part as Grown)
        return this.takeWholeCall(part)
      case 'response-metadata':
        this.modelId = part['modelId'] ?? this.modelId
        return null
      case 'finish':
        this.end = part
        return null
      case 'error':
        throw part['error'] instanceof Error ? part['error'] : new Error(describeCause(part['error']))
      default:
        return null
    }
  }

  body(): Json {
    const { content, end, modelId } = this
    return { content, usage: end?.['usage'], finishReason: end?.['finishReason'], response: { modelId } }
  }

  private grow(type: 'text' | 'reasoning', part: Json): Delta {
    const text = readText(part['delta']) ?? ''
    if (type === 'reasoning' && part['providerMetadata'] !== undefined) this.attach(part)
    const last = this.content.find((each) => each.type === type && each.id === part['id'])
    if (last === undefined) this.content.push({ type, id: part['id'], text })
    else last.text = `${last.text ?? ''}${text}`
    return { type, text }
  }

  /** Signatures come with the beginning, a piece or the end of what they sign. */
  private attach(part: Json): void {
    const given = part['providerMetadata']
    let last = this.content.find((each) => each.type === 'reasoning' && each.id === part['id'])
    if (last === undefined) this.content.push((last = { type: 'reasoning', id: part['id'], text: '' }))
    if (given !== undefined) last['providerMetadata'] = given
  }

  private makeCallDelta(index: number, text: string): Delta {
    const call = this.calls[index]
    return { type: 'tool_call', index: Math.max(0, index), id: String(call?.id ?? ''), name: call?.name ?? '', text }
  }

  /** Pieces of a call whose arguments arrived whole. */
  private takeWholeCall(part: Json): Delta | null {
    if (part['providerExecuted'] === true || this.calls.some(({ id }) => id === part['toolCallId'])) return null
    this.calls.push({ id: part['toolCallId'], name: readText(part['toolName']) ?? '' })
    return this.makeCallDelta(this.calls.length - 1, readText(part['input']) ?? JSON.stringify(part['input'] ?? {}))
  }
}

// ----------------------------------------------------------------------------------------------------------------- shapes

function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

const readText = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const readNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

function joinTexts(content: unknown): string {
  return list(content)
    .map((block) => readText(record(block)['text']) ?? '')
    .join('')
}

/** Data of effects as JSON: marked floats and large ints are numbers. */
function readJson(value: Plain): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value
  if (Array.isArray(value)) return (value as readonly Plain[]).map(readJson)
  const entries = Object.entries(value as { readonly [key: string]: Plain })
  const only = entries[0]
  if (entries.length === 1 && only![0] === 'v' && typeof only![1] === 'number') return only![1]
  return Object.fromEntries(entries.map(([key, item]) => [key, readJson(item)]))
}

// The mocked model: `llm_mock` queues answers and errors, which are given to any provider's calls before
// one leaves the machine; the provider `mock` answers by itself when the queue is empty.

import {
  HarnDict,
  HarnFloat,
  HarnList,
  builtin,
  bytesToHex,
  countOr,
  display,
  equals,
  isInt,
  toKnownCategory,
  lookup,
  parseJson,
  stringifySorted,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, Context, Result, Value } from '@bridle/vm/families'
import { sha256 } from '@noble/hashes/sha2.js'
import { llmState } from './state.js'
import type { LlmFailure } from './errors.js'
import type { LlmResponse, LlmState, MockAnswer, MockCall, MockEntry } from './state.js'
import type { LlmRequest } from './options.js'
import { listDicts } from '../transcripts/shape.js'
import { readCallArguments } from '../../tools/definitions/model-arguments.js'

const DEFAULT_OUTPUT_TOKENS = 30
const TOOL_OUTPUT_TOKENS = 20
const PROMPT_PREVIEW = 100

// ------------------------------------------------------------------------------------------------------------------ config

function readText(dict: HarnDict, key: string): string | null {
  const value = dict.get(key) ?? null
  return value === null ? null : display(value)
}

function readTokens(dict: HarnDict, key: string): number | null {
  const value = dict.get(key) ?? null
  return value === null ? null : countOr(value, 0)
}

/** A queue entry from a config dict, or an error message. */
export function readMock(config: HarnDict): MockEntry | string {
  const match = readText(config, 'match')
  const consume = config.get('consume_match') === true
  const error = config.get('error') ?? null
  if (error !== null) {
    const failure = readError(error)
    return typeof failure === 'string' ? failure : { match, consume, failure, answer: null }
  }
  return { match, consume, failure: null, answer: readAnswer(config) }
}

function readError(error: Value): LlmFailure | string {
  if (!(error instanceof HarnDict)) return 'llm_mock: error must be a dict {category, message, retry_after_ms?}'
  const category = readText(error, 'category') ?? ''
  if (category === '') return 'llm_mock: error.category is required'
  if (toKnownCategory(category) !== category) return `llm_mock: unknown error category \`${category}\``
  const message = readText(error, 'message') ?? ''
  const after = error.get('retry_after_ms') ?? null
  if (after === null) return { category, message }
  if (!isInt(after) || after < 0) return 'llm_mock: error.retry_after_ms must be a non-negative int'
  return { category, message: `${message}\nretry-after: ${Number(after) / 1000}\n` }
}

/** A call without a name is one of a tool that there is not. */
function readName(call: HarnDict): string {
  const name = call.get('name')
  return typeof name === 'string' ? name : 'unknown'
}

function readAnswer(config: HarnDict): MockAnswer {
  const calls = config.get('tool_calls')
  const blocks = config.get('blocks')
  const verbatim = blocks instanceof HarnList
  const toolCalls =
    calls instanceof HarnList ? calls.view().map((call) => (call instanceof HarnDict ? call : new HarnDict())) : []
  return {
    text: readText(config, 'text') ?? '',
    toolCalls: toolCalls.map((call, at) =>
      HarnDict.of({
        id: verbatim ? (readText(call, 'id') ?? `mock_call_${at + 1}`) : `mock_call_${at + 1}`,
        type: 'tool_call',
        name: readName(call),
        arguments: readCallArguments(call.get('arguments')),
      }),
    ),
    blocks: verbatim ? blocks.view().filter((block): block is HarnDict => block instanceof HarnDict) : null,
    model: readText(config, 'model') ?? 'mock',
    provider: readText(config, 'provider') ?? 'mock',
    inputTokens: readTokens(config, 'input_tokens'),
    outputTokens: readTokens(config, 'output_tokens'),
    cacheRead: readTokens(config, 'cache_read_tokens'),
    cacheWrite: readTokens(config, 'cache_write_tokens') ?? readTokens(config, 'cache_creation_input_tokens'),
    thinking: readText(config, 'thinking'),
    thinkingSummary: readText(config, 'thinking_summary'),
    stopReason: readText(config, 'stop_reason'),
  }
}

/**
 * Answers that a host lays down before a run: JSON lines with the keys of `llm_mock`. While there are any, every model call is
 * answered from them or from the script's own queue. For `states` of a machine. Throws an Error for a line that cannot be read.
 */
export function modelFixtures(lines: string): () => ReadonlyMap<string, unknown> {
  const read = (): MockEntry[] =>
    lines.split('\n').flatMap((line, at) => {
      if (line.trim() === '') return []
      const parsed = parseJson(line)
      if (!parsed.ok) throw new Error(`line ${at + 1}: ${parsed.message}`)
      const entry = parsed.value instanceof HarnDict ? readMock(parsed.value) : 'it is not an object'
      if (typeof entry === 'string') throw new Error(`line ${at + 1}: ${entry}`)
      return [entry]
    })
  read()
  return () => new Map([[llmState.name, { ...llmState.state(), fixtures: read() }]])
}

// --------------------------------------------------------------------------------------------------------------- selection

/** All non-empty texts of the messages, dict values by key, joined by newlines: what `match` is compared with. */
function matchText(messages: readonly HarnDict[]): string {
  const texts: string[] = []
  const visit = (value: Value): void => {
    if (typeof value === 'string') {
      if (value !== '') texts.push(value)
    } else if (value instanceof HarnDict) for (const key of value.keys()) visit(value.get(key)!)
    else if (value instanceof HarnList) value.view().forEach(visit)
  }
  messages.forEach(visit)
  return texts.join('\n')
}

/** `*` matches any text; the first piece stands at the start, the last at the end. */
export function matchesGlob(pattern: string, text: string): boolean {
  if (!pattern.includes('*')) return pattern === text
  const pieces = pattern.split('*')
  const first = pieces[0]!
  const last = pieces.at(-1)!
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
  let at = first.length
  const end = text.length - last.length
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}

/** Takes the entry that answers: one without a pattern before any with one. */
function take(queue: MockEntry[], text: string): MockEntry | null {
  const plain = queue.findIndex((entry) => entry.match === null)
  const at = plain >= 0 ? plain : queue.findIndex((entry) => matchesGlob(entry.match!, text))
  if (at < 0) return null
  const entry = queue[at]!
  if (entry.match === null || entry.consume) queue.splice(at, 1)
  return entry
}

export type MockOutcome =
  | { readonly kind: 'answer'; readonly response: LlmResponse }
  | { readonly kind: 'failure'; readonly failure: LlmFailure }

/** Whether a call of this provider stays in the machine. */
export function isMocked(state: LlmState, provider: string): boolean {
  return provider === 'mock' || state.queue.length > 0 || state.fixtures !== null
}

/** The text of the queued answer that fits, null without one; queued errors are skipped. */
export function takeNextMockedText(state: LlmState, text: string): string | null {
  const entry = (state.fixtures === null ? null : take(state.fixtures, text)) ?? take(state.queue, text)
  return entry?.answer?.text ?? null
}

/** Answers one attempt, which is recorded. */
export function answerMocked(ctx: Context, request: LlmRequest): MockOutcome {
  const state = ctx.state(llmState)
  recordCall(state, request)
  const text = matchText(listDicts(request.messages))
  ctx.charge(text.length >> 6, text.length)
  const entry = (state.fixtures === null ? null : take(state.fixtures, text)) ?? take(state.queue, text)
  if (entry === null && state.fixtures !== null) {
    const message = `Runtime error: No --llm-mock fixture matched prompt: ${JSON.stringify(text)}`
    return { kind: 'failure', failure: { category: 'generic', message } }
  }
  if (entry?.failure != null) return { kind: 'failure', failure: entry.failure }
  const response = entry?.answer == null ? makeDefaultAnswer(request) : toResponse(entry.answer, text)
  return { kind: 'answer', response: withCache(state, request, response, entry?.answer ?? null) }
}

/**
 * Loops ask again and again with a conversation that grows: records share its buffer, the system prompt and the tools, so that what is
 * kept of a loop grows with its conversation, not with the square of it.
 */
function recordCall(state: LlmState, request: LlmRequest): void {
  const { messages, system, thinking } = request
  messages.owned = false
  const before = state.calls.at(-1)
  const tools = request.tools.length === 0 ? null : new HarnList([...request.tools])
  const prompt = system === null || before?.prompt?.text === system ? (before?.prompt ?? null) : { text: system }
  state.calls.push({
    messages,
    prompt: system === null ? null : prompt,
    tools: tools !== null && before?.tools != null && equals(tools, before.tools) ? before.tools : tools,
    thinking,
  })
}

function recordValue({ messages, prompt, tools, thinking }: MockCall): HarnDict {
  return HarnDict.of({ messages, system: prompt?.text ?? null, tools, thinking })
}

function toResponse(answer: MockAnswer, text: string): LlmResponse {
  return {
    ...answer,
    blocks: answer.blocks ?? makeBlocks(answer.text, answer.toolCalls),
    inputTokens: answer.inputTokens ?? toUtf8(text).length,
    outputTokens: answer.outputTokens ?? DEFAULT_OUTPUT_TOKENS,
    cacheRead: answer.cacheRead ?? 0,
    cacheWrite: answer.cacheWrite ?? 0,
    serviceState: null,
  }
}

export function makeBlocks(text: string, toolCalls: readonly HarnDict[]): HarnDict[] {
  const blocks = text === '' ? [] : [HarnDict.of({ type: 'output_text', text, visibility: 'public' })]
  for (const call of toolCalls) {
    blocks.push(
      HarnDict.of({
        type: 'tool_call',
        id: call.get('id')!,
        name: call.get('name')!,
        arguments: call.get('arguments')!,
        visibility: 'internal',
      }),
    )
  }
  return blocks
}

/** The text of the last message that has any. */
function findPromptText(messages: readonly HarnDict[]): string {
  for (let at = messages.length - 1; at >= 0; at--) {
    const text = readContentText(messages[at]!.get('content') ?? null)
    if (text.trim() !== '') return text
  }
  return ''
}

function readContentText(content: Value): string {
  if (typeof content === 'string') return content
  if (!(content instanceof HarnList)) return ''
  const texts = content.view().map((block) => (block instanceof HarnDict ? (block.get('text') ?? '') : block))
  return texts.filter((text): text is string => typeof text === 'string' && text !== '').join('\n')
}

const PLACEHOLDERS: Readonly<Record<string, () => Value>> = lookup({
  integer: () => 0,
  number: () => new HarnFloat(0),
  boolean: () => false,
  array: () => new HarnList([]),
  object: () => new HarnDict(),
})

/** The default answer of the provider `mock`: the first native tool, or a text about the prompt. */
function makeDefaultAnswer(request: LlmRequest): LlmResponse {
  const prompt = findPromptText(listDicts(request.messages))
  const base = {
    model: request.model,
    provider: 'mock',
    inputTokens: toUtf8(prompt).length,
    cacheRead: 0,
    cacheWrite: 0,
    thinking: null,
    thinkingSummary: null,
    stopReason: null,
    serviceState: null,
  }
  const tool = request.tools[0]
  if (tool !== undefined) {
    const toolCalls = [makePlaceholderCall(tool)]
    return { ...base, text: '', toolCalls, blocks: makeBlocks('', toolCalls), outputTokens: TOOL_OUTPUT_TOKENS }
  }
  const words = prompt.split(/\s+/u).filter((word) => word !== '').length
  const plain =
    prompt === ''
      ? 'Mock LLM response'
      : `Mock response to ${words}-word prompt: ${[...prompt].slice(0, PROMPT_PREVIEW).join('')}`
  const tagged = request.system?.includes('<done>') === true
  const text = tagged ? `<assistant_prose>${plain}</assistant_prose>\n<done>##DONE##</done>` : plain
  return { ...base, text, toolCalls: [], blocks: makeBlocks(text, []), outputTokens: DEFAULT_OUTPUT_TOKENS }
}

function makePlaceholderCall(tool: HarnDict): HarnDict {
  const nested = tool.get('function')
  const spec = nested instanceof HarnDict ? nested : tool
  const schema = spec.get('parameters') ?? spec.get('input_schema')
  const args = new HarnDict()
  if (schema instanceof HarnDict) {
    const properties = schema.get('properties')
    const required = schema.get('required')
    for (const name of required instanceof HarnList ? required.view() : []) {
      if (typeof name !== 'string') continue
      const property = properties instanceof HarnDict ? properties.get(name) : undefined
      const type = property instanceof HarnDict ? property.get('type') : undefined
      args.set(name, (typeof type === 'string' ? PLACEHOLDERS[type]?.() : undefined) ?? '')
    }
  }
  return HarnDict.of({
    id: 'mock_call_1',
    type: 'tool_call',
    name: spec.get('name') ?? spec.get('type') ?? '',
    arguments: args,
  })
}

/** With prompt caching the first call of a prompt fills the cache, later ones read it; counts that were given stand. */
function withCache(state: LlmState, request: LlmRequest, response: LlmResponse, given: MockAnswer | null): LlmResponse {
  if (!request.cache || given?.cacheRead != null || given?.cacheWrite != null) return response
  const prompt = HarnDict.of({
    model: request.model,
    system: request.system,
    messages: request.messages,
  })
  const key = bytesToHex(sha256(toUtf8(stringifySorted(prompt))))
  if (state.cacheSeen.includes(key)) return { ...response, cacheRead: response.inputTokens }
  state.cacheSeen.push(key)
  return { ...response, cacheWrite: response.inputTokens }
}

// ---------------------------------------------------------------------------------------------------------------- builtins

function addMock(ctx: Context, config: Value): Result {
  if (!(config instanceof HarnDict)) return ctx.runtime('llm_mock: expected a dict argument')
  const entry = readMock(config)
  if (typeof entry === 'string') return ctx.runtime(entry)
  ctx.charge(1, 256)
  ctx.state(llmState).queue.push(entry)
  return null
}

function clear(state: LlmState): void {
  state.queue = []
  state.calls = []
  state.cacheSeen = []
}

export const mockBuiltins: readonly BuiltinDef[] = [
  builtin(
    'llm_mock(config: dict) -> nil',
    { doc: 'Queues an answer or an error for a model call; with `match` for calls whose text fits the pattern.' },
    (ctx, config) => addMock(ctx, config ?? null),
  ),
  builtin(
    'llm_mock_calls() -> list',
    { doc: 'What model calls were answered here: messages, system, tools, thinking.', effects: [] },
    (ctx) => new HarnList(ctx.state(llmState).calls.map(recordValue)),
  ),
  builtin('llm_mock_clear() -> nil', { doc: 'Forgets queued answers, recorded calls and scopes.', effects: [] }, (ctx) => {
    const state = ctx.state(llmState)
    clear(state)
    state.scopes.length = 0
    return null
  }),
  builtin(
    'llm_mock_push_scope() -> nil',
    { doc: 'Sets queue and recorded calls aside and starts empty.', effects: [] },
    (ctx) => {
      const state = ctx.state(llmState)
      ctx.charge(1, 64)
      state.scopes.push({ queue: state.queue, calls: state.calls, cacheSeen: state.cacheSeen })
      clear(state)
      return null
    },
  ),
  builtin('llm_mock_pop_scope() -> nil', { doc: 'Takes back what the last push set aside.', effects: [] }, (ctx) => {
    const state = ctx.state(llmState)
    const scope = state.scopes.pop()
    if (scope === undefined) return ctx.throw('llm_mock_pop_scope: no scope to pop')
    state.queue = scope.queue
    state.calls = scope.calls
    state.cacheSeen = scope.cacheSeen
    return null
  }),
]

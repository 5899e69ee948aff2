// Gemini's generateContent: ai.google.dev/api/generate-content.

import { joinTexts, readTurns } from './content.js'
import type { Part, ToolResult, Turn } from './content.js'
import {
  count,
  list,
  listCalls,
  makeToolCall,
  parsePastArguments,
  pick,
  readFunction,
  readText,
  readWord,
  record,
  renameSettings,
} from './json.js'
import type { Json } from './json.js'
import { classifyStatus } from '../model-failures.js'
import { classifyErrorType, describeError } from './stream-errors.js'
import { StreamError, readState, renameSampling } from './wire.js'
import type { AnswerReader, Asked, Delta, Wire } from './wire.js'

const makePath = (asked: Asked, endpoint: string, verb: string): string => {
  const model = encodeURIComponent(asked.model.replace(/^models\//, ''))
  // Vertex names the model within its path.
  if (endpoint.includes('{model}')) return endpoint.replace('{model}', model).replace(':generateContent', `:${verb}`)
  return `${endpoint || '/v1beta/models'}/${model}:${verb}`
}

export const gemini: Wire = {
  modelsPath: '/v1beta/models',
  embed: {
    path: (model) => `/v1beta/models/${encodeURIComponent(model)}:embedContent`,
    body: (_model, input) => ({ content: { parts: [{ text: input }] } }),
    vector: (body) => record(body['embedding'])['values'],
  },
  path: (asked, endpoint) => makePath(asked, endpoint, 'generateContent'),
  body: (asked) => {
    const { settings } = asked
    const generation: Record<string, unknown> = {
      maxOutputTokens: asked.maxTokens,
      ...renameSampling(asked, {
        temperature: 'temperature',
        top_p: 'topP',
        top_k: 'topK',
        frequency_penalty: 'frequencyPenalty',
        presence_penalty: 'presencePenalty',
      }),
      ...renameSettings(settings, { stop: 'stopSequences', seed: 'seed' }),
    }
    if (typeof generation['stopSequences'] === 'string') generation['stopSequences'] = [generation['stopSequences']]
    if (asked.output.kind !== 'text') generation['responseMimeType'] = 'application/json'
    if (asked.output.kind === 'json_schema') generation['responseJsonSchema'] = asked.output.schema
    const thinking = makeThinking(asked)
    if (thinking !== null) generation['thinkingConfig'] = thinking
    const body: Record<string, unknown> = { contents: makeContents(asked), generationConfig: generation }
    const system = [asked.system ?? '', ...readTurns(asked.messages).flatMap(readSystem)].filter((text) => text !== '')
    if (system.length > 0) body['systemInstruction'] = { parts: system.map((text) => ({ text })) }
    if (asked.tools.length > 0) {
      body['tools'] = makeTools(asked.tools)
      const config = asked.toolChoice === null ? null : makeChoice(asked.toolChoice)
      if (config !== null) body['toolConfig'] = { functionCallingConfig: config }
    }
    return body
  },
  streaming: {
    framing: 'sse',
    path: (asked, endpoint) => `${makePath(asked, endpoint, 'streamGenerateContent')}?alt=sse`,
    body: {},
    read: makeReader,
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
    const calls = parts.filter((part) => record(part['functionCall'])['name'] !== undefined)
    const blocked = readText(record(body['promptFeedback'])['blockReason'])
    return {
      text: joinParts(false),
      tool_calls: calls.map((part, at) => {
        const call = record(part['functionCall'])
        return makeToolCall(makeCallId(call, at), call['name'], call['args'])
      }),
      model: readText(body['modelVersion']),
      input_tokens: count(usage['promptTokenCount']) + count(usage['toolUsePromptTokenCount']),
      // Thoughts are paid for as the answer is, and counted apart.
      output_tokens: count(usage['candidatesTokenCount']) + count(usage['thoughtsTokenCount']),
      cache_read_tokens: count(usage['cachedContentTokenCount']),
      cache_write_tokens: 0,
      thinking: thinking === '' ? null : thinking,
      stop_reason: (readText(candidate['finishReason']) ?? blocked)?.toLowerCase() ?? null,
      service_state: keepParts(parts),
    }
  },
}

/** Services before the third generation number no calls. */
function makeCallId(call: Json, at: number): string {
  return readText(call['id']) ?? `call_${at + 1}`
}

/** Signatures with what they are attached to; calls are named only, because the conversation has them. */
function keepParts(parts: readonly Json[]): readonly Json[] {
  if (parts.every((part) => part['thoughtSignature'] === undefined && record(part['functionCall'])['id'] === undefined)) return []
  let calls = 0
  return parts.flatMap((part): readonly Json[] => {
    const signature = pick(part, 'thoughtSignature')
    const call = record(part['functionCall'])
    if (call['name'] !== undefined) return [{ call: makeCallId(call, calls++), ...pick(call, 'id'), ...signature }]
    // Thoughts are summaries for people; only their signatures go back.
    return part['thought'] === true ? [] : [{ ...pick(part, 'text'), ...signature }]
  })
}

function makeTools(tools: readonly Json[]): readonly Json[] {
  const declared = tools.filter((tool) => Object.keys(readFunction(tool)).length > 0 || readText(tool['name']) !== null)
  const own = tools.filter((tool) => !declared.includes(tool))
  const functions = declared.map((tool) => {
    const inner = Object.keys(readFunction(tool)).length > 0 ? readFunction(tool) : tool
    const parameters = inner['parameters'] ?? inner['input_schema']
    // A function without parameters has none: an empty object is refused.
    const isEmpty = Object.keys(record(record(parameters)['properties'])).length === 0
    return { ...pick(inner, 'name', 'description'), ...(isEmpty ? {} : { parametersJsonSchema: parameters }) }
  })
  return functions.length === 0 ? own : [{ functionDeclarations: functions }, ...own]
}

function makeChoice(choice: unknown): Json | null {
  if (choice === 'auto' || choice === 'none') return { mode: choice.toUpperCase() }
  if (choice === 'any' || choice === 'required') return { mode: 'ANY' }
  const name = typeof choice === 'string' ? choice : (readFunction(record(choice))['name'] ?? record(choice)['name'])
  return typeof name === 'string' ? { mode: 'ANY', allowedFunctionNames: [name] } : null
}

const BUDGETS: Readonly<Record<string, number>> = { low: 1024, medium: 8192, high: 24_576 }

function makeThinking({ thinking, facts }: Asked): Json | null {
  const { mode, level, budget_tokens: budget } = thinking
  if (mode !== 'enabled' && mode !== 'adaptive' && mode !== 'effort') return null
  const shown = { includeThoughts: true }
  if (facts.style === 'budget') {
    const words = typeof level === 'string' ? BUDGETS[level] : undefined
    return { ...shown, thinkingBudget: mode === 'effort' ? (words ?? -1) : (budget ?? -1) }
  }
  return mode === 'effort'
    ? { ...shown, thinkingLevel: level }
    : { ...shown, ...pick({ thinkingBudget: budget }, 'thinkingBudget') }
}

// -------------------------------------------------------------------------------------------------------------- conversation

function readSystem(turn: Turn): readonly string[] {
  return turn.kind === 'message' && turn.role === 'system' ? [joinTexts(turn.parts)] : []
}

interface Content {
  readonly role: 'user' | 'model'
  readonly parts: Json[]
}

/** Turns of one side that follow each other are one: so are the results of calls that were made side by side. */
function makeContents(asked: Asked): Content[] {
  const turns = readTurns(asked.messages)
  const calls = new Map(
    turns.flatMap((turn) => (turn.kind === 'message' ? listCalls(turn.message) : [])).map((call) => [call['id'], call]),
  )
  const numbered = new Map<unknown, unknown>()
  const out: Content[] = []
  const add = (role: Content['role'], parts: readonly Json[]): void => {
    const last = out.at(-1)
    if (parts.length === 0) return
    if (last?.role === role) last.parts.push(...parts)
    else out.push({ role, parts: [...parts] })
  }
  for (const turn of turns) {
    if (turn.kind === 'results') {
      add(
        'user',
        turn.results.map((result) => makeFunctionResponse(result, calls.get(result.id), numbered.get(result.id))),
      )
      // Images cannot stand in a response.
      add(
        'user',
        turn.results.flatMap(({ parts }) => makeParts(parts.filter((part) => part.kind === 'image'))),
      )
    } else if (turn.role === 'user') add('user', makeParts(turn.parts))
    else if (turn.role === 'assistant') {
      const kept = readState(turn.message, asked)
      for (const part of kept) if (part['call'] !== undefined && part['id'] !== undefined) numbered.set(part['call'], part['id'])
      add('model', makeAnswer(turn.parts, listCalls(turn.message), kept, asked))
    }
  }
  return out
}

function makeFunctionResponse({ id, parts, isError }: ToolResult, call: Json | undefined, number: unknown): Json {
  const name = call === undefined ? id : readWord(readFunction(call)['name'] ?? call['name'])
  const text = joinTexts(parts)
  return {
    functionResponse: {
      name,
      response: isError ? { error: text } : { result: text },
      ...(number === undefined ? {} : { id: number }),
    },
  }
}

/** Stands for a signature in calls that another model made, by the word of the service's documents. */
const NO_SIGNATURE = 'skip_thought_signature_validator'

function makeAnswer(parts: readonly Part[], calls: readonly Json[], kept: readonly Json[], { facts }: Asked): readonly Json[] {
  const text = joinTexts(parts)
  const isSame = text === kept.map((part) => readText(part['text']) ?? '').join('')
  const isWanting = facts.style === 'level'
  const texts = isSame && kept.length > 0 ? kept.filter((part) => part['call'] === undefined) : makeParts(parts)
  const made = calls.map((call, at) => {
    const signed = kept.find((part) => part['call'] === call['id'])
    // Only the first of several calls side by side has a signature.
    const missing = isWanting && at === 0 && signed?.['thoughtSignature'] === undefined ? { thoughtSignature: NO_SIGNATURE } : {}
    const name = readFunction(call)['name'] ?? call['name']
    const functionCall = { name, args: parsePastArguments(call), ...pick(signed ?? {}, 'id') }
    return { functionCall, ...missing, ...pick(signed ?? {}, 'thoughtSignature') }
  })
  const isWritten = (part: Json): boolean => part['text'] !== undefined || part['thoughtSignature'] !== undefined
  const written = texts.filter(isWritten).map((part) => (part['text'] === undefined ? { text: '', ...part } : part))
  return [...written, ...made]
}

function makeParts(parts: readonly Part[]): readonly Json[] {
  return parts.flatMap((part): readonly Json[] => {
    if (part.kind === 'text') return part.text === '' ? [] : [{ text: part.text }]
    if (part.kind === 'other') return [part.block]
    if (part.kind === 'result') return []
    const { data, mediaType, url } = part
    return [data === null ? { fileData: { mimeType: mediaType, fileUri: url } } : { inlineData: { mimeType: mediaType, data } }]
  })
}

// ----------------------------------------------------------------------------------------------------------------- events

/** Each event is its own answer with the parts that are new. The connection ends behind the last one. */
function makeReader(): AnswerReader {
  const parts: Json[] = []
  let last: Json = {}
  let candidate: Json = {}
  let usage: Json = {}
  let calls = 0
  const describePart = (part: Json): Delta[] => {
    const call = record(part['functionCall'])
    if (call['name'] !== undefined) {
      const index = calls++
      const args = JSON.stringify(call['args'] ?? {})
      return [
        { type: 'tool_call', index, id: readText(call['id']) ?? `call_${index + 1}`, name: readWord(call['name']), text: args },
      ]
    }
    const text = readText(part['text']) ?? ''
    return text === '' ? [] : [{ type: part['thought'] === true ? 'reasoning' : 'text', text }]
  }
  return {
    take(event) {
      if (event['error'] !== undefined) {
        const { code, status } = record(event['error'])
        throw new StreamError(typeof code === 'number' ? classifyStatus(code) : classifyErrorType(status), describeError(event))
      }
      last = event
      const given = record(list(event['candidates'])[0])
      candidate = { ...candidate, ...given }
      usage = { ...usage, ...record(event['usageMetadata']) }
      const fresh = list(record(given['content'])['parts']).map(record)
      parts.push(...fresh)
      return fresh.flatMap(describePart)
    },
    isEnded: () => false,
    // A prompt that is refused has no candidate, and says why.
    isWhole: () => candidate['finishReason'] !== undefined || record(last['promptFeedback'])['blockReason'] !== undefined,
    body: () => ({ ...last, usageMetadata: usage, candidates: [{ ...candidate, content: { parts } }] }),
  }
}

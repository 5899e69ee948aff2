// Gemini's generateContent: ai.google.dev/api/generate-content.

import {
  count,
  list,
  listCalls,
  makeToolCall,
  parsePastArguments,
  readFunction,
  readText,
  readWord,
  record,
  renameSettings,
} from './json.js'
import type { Json } from './json.js'
import { classifyStatus } from '../model-failures.js'
import { classifyErrorType, describeError } from './stream-errors.js'
import { StreamError } from './wire.js'
import type { AnswerReader, Delta, Wire } from './wire.js'

export const gemini: Wire = {
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
  streaming: {
    framing: 'sse',
    path: (asked, endpoint) => `${endpoint || '/v1beta/models'}/${encodeURIComponent(asked.model)}:streamGenerateContent?alt=sse`,
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

// ----------------------------------------------------------------------------------------------------------------- events

/** Each event is an answer of its own with the parts that are new. The connection ends behind the last one. */
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

// OpenAI's Chat Completions, and compatible services: platform.openai.com/docs/api-reference/chat.

import { joinTexts, makeImageUrl, readTurns } from './content.js'
import type { Part, ToolResult } from './content.js'
import { count, list, listCalls, makeToolCall, pick, readFunction, readText, readWord, record, renameSettings } from './json.js'
import type { Json } from './json.js'
import { classifyErrorType, describeError } from './stream-errors.js'
import { isStrictSchema, makeStrictSchema, withoutNulls } from './strict-schema.js'
import { StreamError, readState, renameSampling } from './wire.js'
import type { AnswerReader, Asked, Delta, Wire } from './wire.js'

export const openai: Wire = {
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
      ...renameSampling(asked, {
        temperature: 'temperature',
        top_p: 'top_p',
        frequency_penalty: 'frequency_penalty',
        presence_penalty: 'presence_penalty',
      }),
      ...renameSettings(asked.settings, { stop: 'stop', seed: 'seed' }),
      [asked.facts.tokens]: asked.maxTokens,
    }
    if (asked.tools.length > 0) body['tools'] = asked.tools.map(makeOpenaiTool)
    if (asked.toolChoice !== null && asked.tools.length > 0) body['tool_choice'] = makeOpenaiChoice(asked.toolChoice)
    if (asked.thinking['mode'] === 'effort') body['reasoning_effort'] = asked.thinking['level']
    if (asked.output.kind === 'json_object') body['response_format'] = { type: 'json_object' }
    if (asked.output.kind === 'json_schema')
      body['response_format'] = { type: 'json_schema', json_schema: { name: 'answer', ...chooseSchema(asked.output.schema) } }
    return body
  },
  streaming: { framing: 'sse', body: { stream: true, stream_options: { include_usage: true } }, read: makeReader },
  answer: (body, asked) => {
    const choice = record(list(body['choices'])[0])
    const message = record(choice['message'])
    const usage = record(body['usage'])
    const refusal = readText(message['refusal'])
    const text = readText(message['content']) ?? refusal ?? ''
    const calls = listCalls(message)
    return {
      text: readStructured(text, asked),
      tool_calls: calls.map((call, at) =>
        makeToolCall(readText(call['id']) ?? `call_${at + 1}`, readFunction(call)['name'], readFunction(call)['arguments']),
      ),
      model: readText(body['model']),
      input_tokens: count(usage['prompt_tokens']),
      output_tokens: count(usage['completion_tokens']),
      cache_read_tokens: count(record(usage['prompt_tokens_details'])['cached_tokens']),
      cache_write_tokens: 0,
      thinking: readText(message['reasoning_content']) ?? readText(message['reasoning']),
      stop_reason: refusal === null ? readText(choice['finish_reason']) : 'refusal',
      service_state: calls.length === 0 ? [] : listReasoning(message, asked),
    }
  },
}

/** Services that think in the open want their thoughts back while they call tools; OpenAI's own has no such fields. */
function listReasoning(message: Json, { provider }: Asked): readonly Json[] {
  const kept = pick(message, 'reasoning_content', 'reasoning_details')
  return provider === 'openai' || provider === 'azure_openai' || Object.keys(kept).length === 0 ? [] : [kept]
}

/** Strict where the schema can be said so; strictness is not claimed for others. */
export function chooseSchema(schema: unknown): Json {
  const strict = makeStrictSchema(schema)
  return strict === null ? { schema, strict: false } : { schema: strict, strict: true }
}

/** The text of an answer to a schema that was made strict. */
export function readStructured(text: string, { output }: Asked): string {
  const isStrict = output.kind === 'json_schema' && makeStrictSchema(output.schema) !== null
  return isStrict ? withoutNulls(text, output.schema) : text
}

function makeOpenaiTool(tool: Json): Json {
  const inner = readFunction(tool)
  if (Object.keys(inner).length > 0) return { type: 'function', function: pickFunction(inner) }
  if (readText(tool['name']) === null) return tool
  return { type: 'function', function: pickFunction({ ...tool, parameters: tool['parameters'] ?? tool['input_schema'] }) }
}

/** A tool is claimed to be strict only where the service would take its schema: it refuses the whole request otherwise. */
function pickFunction(inner: Json): Json {
  const isStrict = inner['strict'] === true && isStrictSchema(inner['parameters'])
  return { ...pick(inner, 'name', 'description', 'parameters'), ...(isStrict ? { strict: true } : {}) }
}

export function makeOpenaiChoice(choice: unknown): unknown {
  if (choice === 'any') return 'required'
  if (typeof choice === 'string')
    return ['auto', 'none', 'required'].includes(choice) ? choice : { type: 'function', function: { name: choice } }
  const { type, name } = record(choice)
  if (type === 'any') return 'required'
  if (type === 'auto' || type === 'none') return type
  return type === 'tool' ? { type: 'function', function: { name } } : choice
}

export function makeOpenaiMessages(asked: Asked): Json[] {
  const system = asked.system === null ? [] : [{ role: 'system', content: asked.system }]
  return [
    ...system,
    ...readTurns(asked.messages).flatMap((turn): readonly Json[] => {
      if (turn.kind === 'results') return makeResults(turn.results)
      const { role, parts, message } = turn
      if (role === 'system') return [{ role, content: joinTexts(parts) }]
      const name = pick(message, 'name')
      if (role === 'user') return [{ role, content: makeContent(parts), ...name }]
      const calls = listCalls(message).map((call) => ({
        id: call['id'],
        type: 'function',
        function: { name: readFunction(call)['name'] ?? call['name'], arguments: writeArguments(call) },
      }))
      const text = joinTexts(parts)
      if (calls.length === 0) return [{ role, content: text, ...name }]
      const state = Object.assign({}, ...readState(message, asked)) as Json
      return [{ role, content: text === '' ? null : text, tool_calls: calls, ...name, ...state }]
    }),
  ]
}

function writeArguments(call: Json): string {
  const given = readFunction(call)['arguments'] ?? call['arguments'] ?? {}
  return typeof given === 'string' ? given : JSON.stringify(given)
}

/** Tool messages have text only: images of all results follow in a message of the user. */
function makeResults(results: readonly ToolResult[]): readonly Json[] {
  const images = results.flatMap(({ parts }) => parts.filter((part) => part.kind === 'image'))
  const seen = images.length === 0 ? [] : [{ role: 'user', content: makeContent(images) }]
  const messages = results.map(({ id, parts }) => ({ role: 'tool', tool_call_id: id, content: joinTexts(parts) }))
  return [...messages, ...seen]
}

/** A text where there is nothing but text. */
function makeContent(parts: readonly Part[]): unknown {
  if (parts.every((part) => part.kind === 'text') && parts.length <= 1) return joinTexts(parts)
  return parts.flatMap((part): readonly Json[] => {
    if (part.kind === 'text') return [{ type: 'text', text: part.text }]
    if (part.kind === 'other') return [part.block]
    if (part.kind === 'result') return []
    const detail = part.detail === null ? {} : { detail: part.detail }
    return [{ type: 'image_url', image_url: { url: makeImageUrl(part), ...detail } }]
  })
}

// ----------------------------------------------------------------------------------------------------------------- events

interface Call {
  id: string
  name: string
  arguments: string
}

/** The first choice; others are not requested. */
function makeReader(): AnswerReader {
  const calls: Call[] = []
  const message = { content: '', reasoning: '', refusal: '' }
  const details: unknown[] = []
  let model: unknown = null
  let usage: Json = {}
  let reason: string | null = null
  const growCall = (piece: Json, at: number): Delta => {
    const index = Math.min(typeof piece['index'] === 'number' ? count(piece['index']) : at, MOST_CALLS)
    const call = (calls[index] ??= { id: '', name: '', arguments: '' })
    const inner = readFunction(piece)
    const args = inner['arguments']
    // Some services send the arguments at once, as an object.
    const text = readText(args) ?? (args === null || args === undefined ? '' : JSON.stringify(args))
    call.id ||= readWord(piece['id'])
    call.name += readWord(inner['name'])
    call.arguments += text
    return { type: 'tool_call', index, id: call.id, name: call.name, text }
  }
  return {
    take(event) {
      if (event['error'] !== undefined && event['error'] !== null)
        throw new StreamError(
          classifyErrorType(record(event['error'])['type'] ?? record(event['error'])['code']),
          describeError(event),
        )
      model = readText(event['model']) ?? model
      if (typeof event['usage'] === 'object' && event['usage'] !== null) usage = record(event['usage'])
      const choice = record(list(event['choices'])[0])
      const delta = record(choice['delta'])
      const deltas: Delta[] = []
      const reasoning = readText(delta['reasoning_content']) ?? readText(delta['reasoning']) ?? ''
      const refusal = readText(delta['refusal']) ?? ''
      const text = readText(delta['content']) ?? refusal
      message.refusal += refusal
      details.push(...list(delta['reasoning_details']))
      if (reasoning !== '') deltas.push({ type: 'reasoning', text: reasoning })
      if (text !== '') deltas.push({ type: 'text', text })
      message.reasoning += reasoning
      message.content += text
      reason = readText(choice['finish_reason']) ?? reason
      return [...deltas, ...listCalls(delta).map(growCall)]
    },
    // The usage comes after the reason, and `[DONE]` after that.
    isEnded: () => false,
    isWhole: () => reason !== null,
    body: () => ({
      model,
      usage,
      choices: [
        {
          message: {
            content: message.content,
            reasoning_content: message.reasoning === '' ? null : message.reasoning,
            reasoning_details: details.length === 0 ? null : details,
            refusal: message.refusal === '' ? null : message.refusal,
            tool_calls: calls
              .filter((call) => call !== undefined)
              .map((call) => ({ id: call.id === '' ? null : call.id, function: { name: call.name, arguments: call.arguments } })),
          },
          finish_reason: reason,
        },
      ],
    }),
  }
}

/** Maximum calls of one answer; larger indexes are ignored. */
const MOST_CALLS = 10_000

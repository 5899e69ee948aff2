// OpenAI's Chat Completions, and whoever speaks them: platform.openai.com/docs/api-reference/chat.

import { count, list, listCalls, makeToolCall, readFunction, readText, readWord, record, renameSettings } from './json.js'
import type { Json } from './json.js'
import { classifyErrorType, describeError } from './stream-errors.js'
import { StreamError } from './wire.js'
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
  streaming: { framing: 'sse', body: { stream: true, stream_options: { include_usage: true } }, read: makeReader },
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

export function makeOpenaiMessages(asked: Asked): Json[] {
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

// ----------------------------------------------------------------------------------------------------------------- events

interface Call {
  id: string
  name: string
  arguments: string
}

/** The first choice; whatever else a service sends is not asked for. */
function makeReader(): AnswerReader {
  const calls: Call[] = []
  const message = { content: '', reasoning: '' }
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
      const text = readText(delta['content']) ?? ''
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

/** Of one answer; a service that counts further is not trusted. */
const MOST_CALLS = 10_000

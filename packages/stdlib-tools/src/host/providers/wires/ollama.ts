// Ollama's chat API: github.com/ollama/ollama/blob/main/docs/api.md.

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
import { makeOpenaiMessages } from './openai.js'
import { describeError } from './stream-errors.js'
import { StreamError } from './wire.js'
import type { AnswerReader, Delta, Wire } from './wire.js'

export const ollama: Wire = {
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
  streaming: { framing: 'ndjson', body: { stream: true }, read: makeReader },
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

// ----------------------------------------------------------------------------------------------------------------- events

/** Calls come whole; the last line has the counts. */
function makeReader(): AnswerReader {
  const calls: Json[] = []
  let content = ''
  let thinking = ''
  let last: Json = {}
  return {
    take(event) {
      if (event['error'] !== undefined) throw new StreamError('server_error', describeError(event))
      last = event
      const message = record(event['message'])
      const reasoning = readText(message['thinking']) ?? ''
      const text = readText(message['content']) ?? ''
      content += text
      thinking += reasoning
      const deltas: Delta[] = []
      if (reasoning !== '') deltas.push({ type: 'reasoning', text: reasoning })
      if (text !== '') deltas.push({ type: 'text', text })
      for (const call of listCalls(message)) {
        const index = calls.push(call) - 1
        const { name, arguments: args } = readFunction(call)
        deltas.push({
          type: 'tool_call',
          index,
          id: `call_${index + 1}`,
          name: readWord(name),
          text: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
        })
      }
      return deltas
    },
    isEnded: () => last['done'] === true,
    isWhole: () => last['done'] === true,
    body: () => ({ ...last, message: { content, tool_calls: calls, ...(thinking === '' ? {} : { thinking }) } }),
  }
}

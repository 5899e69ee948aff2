// Ollama's chat API: github.com/ollama/ollama/blob/main/docs/api.md.

import { joinTexts, readTurns } from './content.js'
import type { Turn } from './content.js'
import {
  count,
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
import { describeError } from './stream-errors.js'
import { StreamError } from './wire.js'
import type { AnswerReader, Asked, Delta, Wire } from './wire.js'

export const ollama: Wire = {
  modelsPath: '/api/tags',
  embed: {
    path: () => '/api/embed',
    body: (model, input) => ({ model, input }),
    vector: (body) => (Array.isArray(body['embeddings']) ? (body['embeddings'] as readonly unknown[])[0] : undefined),
  },
  path: (_asked, endpoint) => endpoint || '/api/chat',
  body: (asked) => {
    const messages = makeOllamaMessages(asked)
    const body: Record<string, unknown> = {
      model: asked.model,
      stream: false,
      messages,
      options: {
        num_predict: asked.maxTokens,
        ...chooseContext(asked, messages),
        ...renameSettings(asked.settings, {
          temperature: 'temperature',
          top_p: 'top_p',
          top_k: 'top_k',
          stop: 'stop',
          seed: 'seed',
        }),
      },
    }
    if (asked.tools.length > 0) body['tools'] = asked.tools.map((tool) => pick(tool, 'type', 'function'))
    if (asked.thinking['mode'] === 'enabled' || asked.thinking['mode'] === 'adaptive') body['think'] = true
    if (asked.thinking['mode'] === 'effort') body['think'] = asked.thinking['level']
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

/** What the server has without a word of ours. Longer prompts are cut by it, silently and from the front. */
const USUAL_CONTEXT = 4096

/** Room that an answer gets at most; the usual limit of an answer is far more than most answers need. */
const ANSWER_ROOM = 4096

const CHARACTERS_A_TOKEN = 3

/**
 * The context that a request needs, as a power of two: the server loads the model again when the number changes. An option of the script,
 * `ollama: {num_ctx: N}`, says it instead.
 */
function chooseContext({ tools, maxTokens, settings }: Asked, messages: readonly Json[]): Json {
  const own = record(settings['overrides'])['num_ctx']
  if (typeof own === 'number') return { num_ctx: own }
  const need = JSON.stringify([messages, tools]).length / CHARACTERS_A_TOKEN + Math.min(maxTokens, ANSWER_ROOM)
  return need <= USUAL_CONTEXT ? {} : { num_ctx: 2 ** Math.ceil(Math.log2(need)) }
}

/** Arguments are objects here, and images are a list beside the text. */
function makeOllamaMessages({ system, messages }: Asked): Json[] {
  const turns = readTurns(messages)
  const names = new Map(
    turns
      .flatMap((turn) => (turn.kind === 'message' ? listCalls(turn.message) : []))
      .map((call) => [call['id'], readFunction(call)['name'] ?? call['name']]),
  )
  const made = turns.flatMap((turn): readonly Json[] => {
    if (turn.kind === 'message') return [makeMessage(turn)]
    return turn.results.map(({ id, parts }) => {
      const name = names.get(id)
      return { role: 'tool', content: joinTexts(parts), ...pick({ tool_name: name }, 'tool_name'), ...listImages(parts) }
    })
  })
  return system === null ? made : [{ role: 'system', content: system }, ...made]
}

function listImages(parts: (Turn & { kind: 'message' })['parts']): Json {
  const images = parts.flatMap((part) => (part.kind === 'image' ? [part.data ?? part.url ?? ''] : []))
  return images.length === 0 ? {} : { images }
}

function makeMessage({ role, parts, message }: Turn & { kind: 'message' }): Json {
  const calls = listCalls(message)
  const made = calls.map((call) => ({
    function: { name: readFunction(call)['name'] ?? call['name'], arguments: parsePastArguments(call) },
  }))
  return { role, content: joinTexts(parts), ...(calls.length === 0 ? {} : { tool_calls: made }), ...listImages(parts) }
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

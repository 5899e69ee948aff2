// Anthropic's Messages API: docs.anthropic.com/en/api/messages.

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
import { classifyErrorType, describeError } from './stream-errors.js'
import { StreamError } from './wire.js'
import type { AnswerReader, Delta, Wire } from './wire.js'

export const anthropic: Wire = {
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
  streaming: { framing: 'sse', body: { stream: true }, read: makeReader },
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

// ----------------------------------------------------------------------------------------------------------------- events

type Block = { [key: string]: unknown }

/** Blocks grow by deltas. The arguments of a call come as pieces of JSON, and are kept as the model wrote them. */
function makeReader(): AnswerReader {
  let message: Json = {}
  let usage: Json = {}
  let stop: Json = {}
  const blocks: Block[] = []
  let isEnded = false
  const grow = (block: Block, key: string, more: unknown): string => {
    const text = readText(more) ?? ''
    block[key] = `${readWord(block[key])}${text}`
    return text
  }
  const growBlock = (index: number, delta: Json): Delta[] => {
    const block = (blocks[index] ??= {})
    switch (delta['type']) {
      case 'text_delta':
        block['type'] ??= 'text'
        return [{ type: 'text', text: grow(block, 'text', delta['text']) }]
      case 'thinking_delta':
        block['type'] ??= 'thinking'
        return [{ type: 'reasoning', text: grow(block, 'thinking', delta['thinking']) }]
      case 'signature_delta':
        grow(block, 'signature', delta['signature'])
        return []
      case 'input_json_delta':
        return [makeCallDelta(block, index, grow(block, 'json', delta['partial_json']))]
      default:
        return []
    }
  }
  const makeCallDelta = (block: Block, index: number, text: string): Delta => {
    const before = blocks.slice(0, index).filter((each) => each?.['type'] === 'tool_use').length
    return { type: 'tool_call', index: before, id: readWord(block['id']), name: readWord(block['name']), text }
  }
  return {
    take(event) {
      const index = Math.min(count(event['index']), MOST_BLOCKS)
      switch (event['type']) {
        case 'message_start':
          message = record(event['message'])
          usage = record(message['usage'])
          return []
        case 'content_block_start': {
          const block: Block = { ...record(event['content_block']) }
          blocks[index] = block
          if (block['type'] === 'tool_use') return [makeCallDelta(block, index, '')]
          const text = readText(block['text']) ?? ''
          return block['type'] === 'text' && text !== '' ? [{ type: 'text', text }] : []
        }
        case 'content_block_delta':
          return growBlock(index, record(event['delta']))
        case 'message_delta':
          stop = record(event['delta'])
          usage = { ...usage, ...record(event['usage']) }
          return []
        case 'message_stop':
          isEnded = true
          return []
        case 'error':
          throw new StreamError(classifyErrorType(record(event['error'])['type']), describeError(event))
        default:
          return []
      }
    },
    isEnded: () => isEnded,
    isWhole: () => isEnded,
    body: () => ({
      ...message,
      ...stop,
      usage,
      content: blocks.map(({ json, ...block }) => (json === undefined || json === '' ? block : { ...block, input: json })),
    }),
  }
}

/** Of one answer; a service that counts further is not trusted. */
const MOST_BLOCKS = 10_000

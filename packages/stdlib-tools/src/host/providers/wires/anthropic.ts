// Anthropic's Messages API: docs.anthropic.com/en/api/messages.

import { isFailureText, joinTexts, readParts, readTurns } from './content.js'
import type { Part, ToolResult } from './content.js'
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
import { classifyErrorType, describeError } from './stream-errors.js'
import { makeClosedSchema } from './strict-schema.js'
import { StreamError, readState, renameSampling } from './wire.js'
import type { AnswerReader, Asked, Delta, Wire } from './wire.js'

/** The least budget that the service takes. */
const LEAST_BUDGET = 1024

const CACHED = { type: 'ephemeral' } as const

export const anthropic: Wire = {
  modelsPath: '/models',
  path: (_asked, endpoint) => endpoint || '/messages',
  headers: ({ settings, thinking }) => {
    const wanted = list(settings['anthropic_beta_features']).filter((name): name is string => typeof name === 'string')
    // Models that think at their own pace do so between calls anyway.
    const interleaved =
      settings['interleaved_thinking'] === true && thinking['mode'] === 'enabled' ? ['interleaved-thinking-2025-05-14'] : []
    const names = [...new Set([...wanted, ...interleaved])]
    return names.length === 0 ? {} : { 'anthropic-beta': names.join(',') }
  },
  body: (asked) => {
    const { settings, thinking } = asked
    const messages = makeAnthropicMessages(asked)
    if (asked.cache) markTurns(messages)
    const body: Record<string, unknown> = {
      model: asked.model,
      max_tokens: asked.maxTokens,
      messages,
      ...renameSampling(asked, { temperature: 'temperature', top_p: 'top_p', top_k: 'top_k' }),
      ...renameSettings(settings, { stop: 'stop_sequences' }),
    }
    if (typeof body['stop_sequences'] === 'string') body['stop_sequences'] = [body['stop_sequences']]
    if (asked.system !== null && asked.system !== '')
      body['system'] = asked.cache ? [{ type: 'text', text: asked.system, cache_control: CACHED }] : asked.system
    if (asked.tools.length > 0) {
      const tools = asked.tools.map(makeAnthropicTool)
      body['tools'] = asked.cache ? markLastTool(tools) : tools
    }
    if (asked.toolChoice !== null && asked.tools.length > 0) body['tool_choice'] = makeAnthropicChoice(asked.toolChoice)
    if (thinking['mode'] === 'enabled') {
      const usual = Math.max(LEAST_BUDGET, Math.floor(asked.maxTokens / 2))
      body['thinking'] = { type: 'enabled', budget_tokens: thinking['budget_tokens'] ?? usual }
    }
    if (thinking['mode'] === 'adaptive' || thinking['mode'] === 'effort') body['thinking'] = { type: 'adaptive' }
    const output: Record<string, unknown> = {}
    if (thinking['mode'] === 'effort') output['effort'] = thinking['level']
    const schema = asked.output.kind === 'json_schema' && asked.facts.structured ? makeClosedSchema(asked.output.schema) : null
    if (schema !== null) output['format'] = { type: 'json_schema', schema }
    if (Object.keys(output).length > 0) body['output_config'] = output
    const prefill = readText(settings['prefill'])
    if (prefill !== null) messages.push({ role: 'assistant', content: prefill.trimEnd() })
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
      service_state: keepBlocks(blocks),
    }
  },
}

/**
 * The blocks of an answer in their order, where there is more than texts and calls: reasoning is signed together with its place. Calls are named
 * only, because the conversation has them.
 */
function keepBlocks(blocks: readonly Json[]): readonly Json[] {
  if (blocks.every((block) => block['type'] === 'text' || block['type'] === 'tool_use')) return []
  return blocks.map((block) => (block['type'] === 'tool_use' ? { type: 'tool_use', id: block['id'] } : block))
}

const TOOL_FIELDS = ['name', 'description', 'input_schema', 'defer_loading', 'cache_control', 'strict'] as const

function makeAnthropicTool(tool: Json): Json {
  const inner = readFunction(tool)
  if (Object.keys(inner).length > 0) {
    const { name, description, parameters } = inner
    return { ...pick({ name, description }, 'name', 'description'), input_schema: parameters ?? { type: 'object' } }
  }
  // Tools of the service itself have a type, and fields of their own.
  const isOfService = tool['type'] !== undefined && tool['type'] !== 'custom'
  return isOfService ? tool : pick(tool, ...TOOL_FIELDS)
}

/** Everything up to the last tool is cached; a tool that is found later is no part of the prompt. */
function markLastTool(tools: readonly Json[]): readonly Json[] {
  const last = tools.findLastIndex((tool) => tool['defer_loading'] !== true)
  return tools.map((tool, at) => (at === last ? { ...tool, cache_control: CACHED } : tool))
}

function makeAnthropicChoice(choice: unknown): unknown {
  if (choice === 'required' || choice === 'any') return { type: 'any' }
  if (typeof choice === 'string')
    return choice === 'none' || choice === 'auto' ? { type: choice } : { type: 'tool', name: choice }
  const name = readFunction(record(choice))['name']
  return name === undefined ? choice : { type: 'tool', name }
}

type Block = { [key: string]: unknown }

interface AnthropicMessage {
  readonly role: 'user' | 'assistant'
  content: string | Block[]
}

/** Results of tools are blocks of a user message, those of one turn in one. */
function makeAnthropicMessages(asked: Asked): AnthropicMessage[] {
  const { mode } = asked.thinking
  const isThinking = mode === 'enabled' || mode === 'adaptive' || mode === 'effort'
  return readTurns(asked.messages).flatMap((turn): readonly AnthropicMessage[] => {
    if (turn.kind === 'results') return [{ role: 'user', content: turn.results.map(makeResult) }]
    const { parts, message } = turn
    if (turn.role !== 'assistant') return [{ role: 'user', content: makeContent(parts) }]
    const content = makeAnswer(parts, message, isThinking ? readState(message, asked) : [])
    if (content.length === 0) return []
    const [only] = content
    // What was only text goes as it came.
    const isText = content.length === 1 && only!['type'] === 'text'
    return [{ role: 'assistant', content: isText ? readWord(only!['text']) : content }]
  })
}

function makeResult({ id, parts, isError }: ToolResult): Block {
  const content = parts.every((part) => part.kind === 'text') ? joinTexts(parts) : makeBlocks(parts)
  return { type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true } : {}) }
}

/** A past answer with its signed blocks where they were; texts that a script changed stand behind them. */
function makeAnswer(parts: readonly Part[], message: Json, kept: readonly Json[]): Block[] {
  const calls = listCalls(message).map((call) => ({
    type: 'tool_use',
    id: call['id'],
    name: readFunction(call)['name'] ?? call['name'],
    input: parsePastArguments(call),
  }))
  const isSame = joinTexts(parts) === kept.map((block) => (block['type'] === 'text' ? readWord(block['text']) : '')).join('')
  const texts = makeBlocks(parts)
  const isFirstCall = kept.findIndex((block) => block['type'] === 'tool_use')
  const place = isFirstCall < 0 ? kept.length : isFirstCall
  const ordered = kept.flatMap((block, at): readonly Block[] => {
    const before = !isSame && at === place ? texts : []
    if (block['type'] === 'text') return isSame && readWord(block['text']) !== '' ? [{ ...block }] : before
    if (block['type'] !== 'tool_use') return [...before, { ...block }]
    return [...before, ...calls.filter((call) => call.id === block['id'])]
  })
  const behind = kept.length === 0 || (!isSame && place === kept.length) ? texts : []
  const named = new Set(kept.map((block) => block['id']))
  return [...ordered, ...behind, ...calls.filter((call) => !named.has(call.id))]
}

function makeContent(parts: readonly Part[]): string | Block[] {
  return parts.every((part) => part.kind === 'text') && parts.length <= 1 ? joinTexts(parts) : makeBlocks(parts)
}

/** Empty texts are refused by the service. */
function makeBlocks(parts: readonly Part[]): Block[] {
  return parts.flatMap((part): readonly Block[] => {
    if (part.kind === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    if (part.kind === 'other') return [{ ...part.block }]
    if (part.kind === 'result') {
      const inner = readParts(part.content)
      return [makeResult({ id: part.id, parts: inner, isError: part.isError || isFailureText(joinTexts(inner)) })]
    }
    const { data, mediaType, url } = part
    return [{ type: 'image', source: data === null ? { type: 'url', url } : { type: 'base64', media_type: mediaType, data } }]
  })
}

/** Marks the ends of the last two turns of the user: the next request of a loop finds the first in the cache, and writes up to the second. */
function markTurns(messages: AnthropicMessage[]): void {
  const turns = messages.filter(({ role }) => role === 'user').slice(-2)
  for (const turn of turns) {
    if (turn.content === '') continue
    if (typeof turn.content === 'string') turn.content = [{ type: 'text', text: turn.content }]
    const last = turn.content.at(-1)
    if (last !== undefined) last['cache_control'] = CACHED
  }
}

// ----------------------------------------------------------------------------------------------------------------- events

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

/** Maximum blocks of one answer; larger indexes are ignored. */
const MOST_BLOCKS = 10_000

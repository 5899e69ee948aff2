// OpenAI's Responses API, through which its newest models are asked: platform.openai.com/docs/api-reference/responses. Nothing is stored at the
// service: reasoning comes back encrypted, and goes along with the next request.

import { joinTexts, makeImageUrl, readTurns } from './content.js'
import type { Part, ToolResult } from './content.js'
import { count, list, listCalls, makeToolCall, pick, readFunction, readText, readWord, record } from './json.js'
import type { Json } from './json.js'
import { chooseSchema, makeOpenaiChoice, openai, readStructured } from './openai.js'
import { classifyErrorType, describeError } from './stream-errors.js'
import { isStrictSchema } from './strict-schema.js'
import { StreamError, readState, renameSampling } from './wire.js'
import type { AnswerReader, Asked, Delta, Wire } from './wire.js'

export const responses: Wire = {
  modelsPath: '/models',
  ...(openai.embed === undefined ? {} : { embed: openai.embed }),
  path: () => '/responses',
  body: (asked) => {
    const body: Record<string, unknown> = {
      model: asked.model,
      input: makeInput(asked),
      max_output_tokens: asked.maxTokens,
      store: false,
      include: ['reasoning.encrypted_content'],
      ...renameSampling(asked, { temperature: 'temperature', top_p: 'top_p' }),
    }
    if (asked.system !== null) body['instructions'] = asked.system
    if (asked.tools.length > 0) body['tools'] = asked.tools.map(makeTool)
    if (asked.toolChoice !== null && asked.tools.length > 0) body['tool_choice'] = makeChoice(asked.toolChoice)
    if (asked.thinking['mode'] === 'effort') body['reasoning'] = { effort: asked.thinking['level'], summary: 'auto' }
    if (asked.output.kind === 'json_object') body['text'] = { format: { type: 'json_object' } }
    if (asked.output.kind === 'json_schema')
      body['text'] = { format: { type: 'json_schema', name: 'answer', ...chooseSchema(asked.output.schema) } }
    return body
  },
  streaming: { framing: 'sse', body: { stream: true }, read: makeReader },
  answer: (body, asked) => {
    const failed = record(body['error'])
    if (body['status'] === 'failed')
      throw new StreamError(classifyErrorType(failed['code'] ?? failed['type']), describeError(body))
    const items = list(body['output']).map(record)
    const usage = record(body['usage'])
    const parts = items.filter((item) => item['type'] === 'message').flatMap((item) => list(item['content']).map(record))
    const refusals = parts.flatMap((part) => readText(part['refusal']) ?? [])
    const text = parts.map((part) => readText(part['text']) ?? readText(part['refusal']) ?? '').join('')
    const calls = items.filter((item) => item['type'] === 'function_call')
    const thoughts = items.filter((item) => item['type'] === 'reasoning')
    const thinking = thoughts
      .flatMap((item) => list(item['summary']).map((each) => readText(record(each)['text']) ?? ''))
      .join('\n\n')
    const why = readText(record(body['incomplete_details'])['reason'])
    return {
      text: readStructured(text, asked),
      tool_calls: calls.map((call, at) =>
        makeToolCall(readText(call['call_id']) ?? `call_${at + 1}`, call['name'], call['arguments']),
      ),
      model: readText(body['model']),
      input_tokens: count(usage['input_tokens']),
      output_tokens: count(usage['output_tokens']),
      cache_read_tokens: count(record(usage['input_tokens_details'])['cached_tokens']),
      cache_write_tokens: 0,
      thinking: thinking === '' ? null : thinking,
      stop_reason: refusals.length > 0 ? 'refusal' : (why ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
      service_state: calls.length === 0 ? [] : keepItems(items),
    }
  },
}

/** Items of an answer in their order, but for what the conversation has itself. */
function keepItems(items: readonly Json[]): readonly Json[] {
  if (items.every((item) => item['type'] === 'function_call' || item['type'] === 'message')) return []
  return items.flatMap((item): readonly Json[] => {
    if (item['type'] === 'function_call') return [pick(item, 'type', 'id', 'call_id', 'namespace')]
    if (item['type'] === 'message') return [{ type: 'message' }]
    const { status: _, ...kept } = item
    return [kept]
  })
}

function makeTool(tool: Json): Json {
  const inner = readFunction(tool)
  const own = Object.keys(inner).length > 0 ? inner : tool
  if (readText(own['name']) === null || (tool['type'] !== undefined && tool['type'] !== 'function'))
    return tool['type'] === 'tool_search' ? { type: 'tool_search' } : tool
  const parameters = own['parameters'] ?? own['input_schema'] ?? { type: 'object', properties: {}, additionalProperties: false }
  // Without a word the service takes schemas as strict ones.
  return {
    type: 'function',
    ...pick(own, 'name', 'description'),
    parameters,
    strict: own['strict'] === true && isStrictSchema(parameters),
    ...pick(tool, 'defer_loading'),
  }
}

function makeChoice(choice: unknown): unknown {
  const made = makeOpenaiChoice(choice)
  const name = readFunction(record(made))['name']
  return name === undefined ? made : { type: 'function', name }
}

// -------------------------------------------------------------------------------------------------------------- conversation

function makeInput(asked: Asked): readonly Json[] {
  return readTurns(asked.messages).flatMap((turn): readonly Json[] => {
    if (turn.kind === 'results') return turn.results.map(makeOutput)
    const { role, parts, message } = turn
    if (role !== 'assistant') return [{ role, content: parts.flatMap(makePart) }]
    const text = joinTexts(parts)
    const said = text === '' ? [] : [{ role, content: text }]
    const calls = listCalls(message).map((call) => {
      const inner = readFunction(call)
      const args = inner['arguments'] ?? call['arguments'] ?? {}
      return {
        type: 'function_call',
        call_id: call['id'],
        name: inner['name'] ?? call['name'],
        arguments: typeof args === 'string' ? args : JSON.stringify(args),
      }
    })
    const kept = readState(message, asked)
    let isSaid = false
    const ordered = kept.flatMap((item): readonly Json[] => {
      if (item['type'] === 'message') {
        const first = isSaid ? [] : said
        isSaid = true
        return first
      }
      if (item['type'] !== 'function_call') return [item]
      return calls
        .filter((call) => call.call_id === item['call_id'])
        .map((call) => ({ ...call, ...pick(item, 'id', 'namespace') }))
    })
    const named = new Set(kept.map((item) => item['call_id']))
    return [...ordered, ...(isSaid ? [] : said), ...calls.filter((call) => !named.has(call.call_id))]
  })
}

function makeOutput({ id, parts }: ToolResult): Json {
  const isText = parts.every((part) => part.kind === 'text')
  return { type: 'function_call_output', call_id: id, output: isText ? joinTexts(parts) : parts.flatMap(makePart) }
}

function makePart(part: Part): readonly Json[] {
  if (part.kind === 'text') return [{ type: 'input_text', text: part.text }]
  if (part.kind === 'other') return [part.block]
  if (part.kind === 'result') return []
  return [{ type: 'input_image', image_url: makeImageUrl(part), detail: part.detail ?? 'auto' }]
}

// ----------------------------------------------------------------------------------------------------------------- events

/** The last event has the whole answer. */
function makeReader(): AnswerReader {
  const calls: { readonly item: unknown; readonly id: string; readonly name: string }[] = []
  let end: Json | null = null
  const makeDelta = (index: number, text: string): Delta[] => {
    const call = calls[index]
    return call === undefined ? [] : [{ type: 'tool_call', index, id: call.id, name: call.name, text }]
  }
  return {
    take(event) {
      switch (event['type']) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          return [{ type: 'text', text: readText(event['delta']) ?? '' }]
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          return [{ type: 'reasoning', text: readText(event['delta']) ?? '' }]
        case 'response.output_item.added': {
          const item = record(event['item'])
          if (item['type'] !== 'function_call') return []
          calls.push({ item: item['id'], id: readWord(item['call_id']), name: readWord(item['name']) })
          return makeDelta(calls.length - 1, '')
        }
        case 'response.function_call_arguments.delta': {
          const index = calls.findIndex(({ item }) => item === event['item_id'])
          return makeDelta(index, readText(event['delta']) ?? '')
        }
        case 'response.completed':
        case 'response.incomplete':
        case 'response.failed':
          end = record(event['response'])
          return []
        case 'error': {
          const problem = typeof event['error'] === 'object' ? event : { error: event }
          const { type, code } = record(problem['error'])
          throw new StreamError(classifyErrorType(code ?? type), describeError(problem))
        }
        default:
          return []
      }
    },
    isEnded: () => end !== null,
    isWhole: () => end !== null,
    body: () => end ?? {},
  }
}

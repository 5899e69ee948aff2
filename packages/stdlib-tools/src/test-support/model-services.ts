// Fakes of model services that refuse what the services refuse, with their bodies of errors. Each is a function from a request to what is wrong
// with it; the rules are those of the services' documents.

export type Json = { readonly [key: string]: unknown }

const record = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(record) : [])

/** The first field that is not among those that the service knows. */
function findExtra(given: Json, ...known: readonly string[]): string | null {
  return Object.keys(given).find((name) => !known.includes(name)) ?? null
}

export interface Refusal {
  readonly status: number
  readonly body: Json
}

/** A signature that fits the thought that it was made for. */
export const sign = (thought: string): string => `sig:${thought}`

// --------------------------------------------------------------------------------------------------------------- Anthropic

const anthropicError = (message: string): Refusal => ({
  status: 400,
  body: { type: 'error', error: { type: 'invalid_request_error', message } },
})

const BLOCK_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'citations'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
  tool_use: ['id', 'name', 'input'],
  tool_result: ['tool_use_id', 'content', 'is_error'],
  image: ['source'],
}

export function refuseAnthropic(body: Json): Refusal | null {
  const extra = findExtra(
    body,
    'model',
    'max_tokens',
    'messages',
    'system',
    'tools',
    'tool_choice',
    'thinking',
    'temperature',
    'top_p',
    'top_k',
    'stop_sequences',
    'stream',
    'output_config',
  )
  if (extra !== null) return anthropicError(`${extra}: Extra inputs are not permitted`)
  const thinking = record(body['thinking'])
  const isThinking = thinking['type'] === 'enabled' || thinking['type'] === 'adaptive'
  const isNewest = /opus-4-[7-9]/.test(String(body['model']))
  if (thinking['type'] === 'enabled') {
    if (isNewest) return anthropicError('thinking.type.enabled is not supported for this model. Use thinking.type.adaptive')
    if (Number(thinking['budget_tokens']) < 1024)
      return anthropicError('thinking.budget_tokens: Input should be greater than or equal to 1024')
    if (Number(thinking['budget_tokens']) >= Number(body['max_tokens']))
      return anthropicError('`max_tokens` must be greater than `thinking.budget_tokens`')
  }
  if (isNewest && ['temperature', 'top_p', 'top_k'].some((name) => body[name] !== undefined))
    return anthropicError('`temperature` is deprecated for this model.')
  let marks = Array.isArray(body['system']) && list(body['system']).some((block) => block['cache_control'] !== undefined) ? 1 : 0
  for (const [at, tool] of list(body['tools']).entries()) {
    const odd = findExtra(tool, 'name', 'description', 'input_schema', 'cache_control', 'type', 'defer_loading', 'strict')
    if (odd !== null) return anthropicError(`tools.${at}.custom.${odd}: Extra inputs are not permitted`)
    if (tool['cache_control'] !== undefined) marks += 1
  }
  const messages = list(body['messages'])
  let pending: readonly string[] = []
  for (const [at, message] of messages.entries()) {
    const odd = findExtra(message, 'role', 'content')
    if (odd !== null) return anthropicError(`messages.${at}.${odd}: Extra inputs are not permitted`)
    if (message['role'] !== 'user' && message['role'] !== 'assistant')
      return anthropicError(`messages: Unexpected role "${String(message['role'])}".`)
    if (message['content'] === '') return anthropicError('messages: text content blocks must be non-empty')
    const blocks = list(message['content'])
    for (const [index, block] of blocks.entries()) {
      const type = String(block['type'])
      const known = BLOCK_FIELDS[type]
      if (known === undefined)
        return anthropicError(
          `messages.${at}.content.${index}: Input tag '${type}' found using 'type' does not match any of the expected tags`,
        )
      const strange = findExtra(block, 'type', 'cache_control', ...known)
      if (strange !== null)
        return anthropicError(`messages.${at}.content.${index}.${type}.${strange}: Extra inputs are not permitted`)
      if (type === 'text' && block['text'] === '') return anthropicError('messages: text content blocks must be non-empty')
      if (block['cache_control'] !== undefined) marks += 1
      if (type === 'thinking' && block['signature'] !== sign(String(block['thinking'])))
        return anthropicError(`messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`)
    }
    const results = blocks.filter((block) => block['type'] === 'tool_result').map((block) => String(block['tool_use_id']))
    if (pending.some((id) => !results.includes(id)))
      return anthropicError(
        `messages.${at - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${pending.join(', ')}`,
      )
    if (results.some((id) => !pending.includes(id)))
      return anthropicError(`messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks`)
    pending = blocks.filter((block) => block['type'] === 'tool_use').map((block) => String(block['id']))
    const hasThoughts = blocks.some((block) => block['type'] === 'thinking' || block['type'] === 'redacted_thinking')
    if (hasThoughts && !isThinking)
      return anthropicError(
        `messages.${at}.content.0: When \`thinking\` is disabled, an \`assistant\` message cannot contain \`thinking\`.`,
      )
    if (
      isThinking &&
      pending.length > 0 &&
      at >= messages.length - 2 &&
      !['thinking', 'redacted_thinking'].includes(String(blocks[0]!['type']))
    )
      return anthropicError(
        `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(blocks[0]!['type'])}\`.`,
      )
  }
  if (marks > 4) return anthropicError(`A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`)
  return null
}

// ------------------------------------------------------------------------------------------------------------------ OpenAI

const openaiError = (message: string, param: string | null = null, code: string | null = null): Refusal => ({
  status: 400,
  body: { error: { message, type: 'invalid_request_error', param, code } },
})

const MESSAGE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  system: ['content', 'name'],
  developer: ['content', 'name'],
  user: ['content', 'name'],
  assistant: ['content', 'name', 'tool_calls', 'refusal', 'audio'],
  tool: ['content', 'tool_call_id'],
}

/** Why a schema is not strict. */
export function refuseStrictSchema(schema: Json, path: readonly string[] = []): string | null {
  const context = `In context=(${path.map((part) => `'${part}'`).join(', ')})`
  const odd = ['allOf', 'not', 'oneOf', 'default', 'patternProperties', 'minLength', 'maxLength', 'uniqueItems', '$schema'].find(
    (name) => name in schema,
  )
  if (odd !== undefined) return `${context}, '${odd}' is not permitted.`
  if (path.length === 0 && schema['type'] !== 'object')
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(schema['type'])}"'.`
  if ([schema['type']].flat().includes('object')) {
    if (schema['additionalProperties'] !== false)
      return `${context}, 'additionalProperties' is required to be supplied and to be false.`
    const names = Object.keys(record(schema['properties']))
    const missing = names.find((name) => !(schema['required'] as readonly string[] | undefined)?.includes(name))
    if (missing !== undefined)
      return `${context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`
  }
  for (const [name, each] of Object.entries(record(schema['properties']))) {
    const found = refuseStrictSchema(record(each), [...path, 'properties', name])
    if (found !== null) return found
  }
  if (schema['items'] !== undefined) return refuseStrictSchema(record(schema['items']), [...path, 'items'])
  return list(schema['anyOf']).reduce<string | null>((found, each) => found ?? refuseStrictSchema(each, [...path, 'anyOf']), null)
}

export function refuseOpenai(body: Json): Refusal | null {
  const extra = findExtra(
    body,
    'model',
    'messages',
    'tools',
    'tool_choice',
    'temperature',
    'top_p',
    'stop',
    'seed',
    'frequency_penalty',
    'presence_penalty',
    'max_tokens',
    'max_completion_tokens',
    'reasoning_effort',
    'response_format',
    'stream',
    'stream_options',
    'user',
  )
  if (extra !== null) return openaiError(`Unknown parameter: '${extra}'.`, extra, 'unknown_parameter')
  const model = String(body['model'])
  const isReasoning = /^(?:o\d|gpt-5|gpt-nova)/.test(model)
  if (isReasoning && body['max_tokens'] !== undefined)
    return openaiError(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
      'unsupported_parameter',
    )
  if (isReasoning && body['temperature'] !== undefined)
    return openaiError(
      "Unsupported value: 'temperature' does not support this value with this model.",
      'temperature',
      'unsupported_value',
    )
  if (!isReasoning && body['reasoning_effort'] !== undefined)
    return openaiError('Unrecognized request argument supplied: reasoning_effort')
  if (/^gpt-5\.[4-9]/.test(model) && body['tools'] !== undefined)
    return openaiError(
      `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. Please use /v1/responses instead.`,
    )
  const format = record(record(body['response_format'])['json_schema'])
  if (format['strict'] === true) {
    const why = refuseStrictSchema(record(format['schema']))
    if (why !== null) return openaiError(`Invalid schema for response_format 'answer': ${why}`, 'response_format')
  }
  for (const [at, tool] of list(body['tools']).entries()) {
    if (tool['type'] !== 'function')
      return openaiError(
        `Invalid value: '${String(tool['type'])}'. Supported values are: 'function' and 'custom'.`,
        `tools[${at}].type`,
      )
    const odd =
      findExtra(tool, 'type', 'function') ?? findExtra(record(tool['function']), 'name', 'description', 'parameters', 'strict')
    if (odd !== null) return openaiError(`Unknown parameter: 'tools[${at}].${odd}'.`, null, 'unknown_parameter')
  }
  let pending: readonly string[] = []
  for (const [at, message] of list(body['messages']).entries()) {
    const role = String(message['role'])
    const known = MESSAGE_FIELDS[role]
    if (known === undefined) return openaiError(`Invalid value: '${role}'.`, `messages[${at}].role`)
    const odd = findExtra(message, 'role', ...known)
    if (odd !== null) return openaiError(`Unknown parameter: 'messages[${at}].${odd}'.`, null, 'unknown_parameter')
    const parts = list(message['content'])
    const types = role === 'user' ? ['text', 'image_url', 'input_audio', 'file'] : ['text']
    const wrong = parts.find(
      (part) =>
        !types.includes(String(part['type'])) || findExtra(part, 'type', 'text', 'image_url', 'input_audio', 'file') !== null,
    )
    if (wrong !== undefined) return openaiError(`Invalid value: '${String(wrong['type'])}'.`, `messages[${at}].content[0].type`)
    if (role === 'tool') {
      if (!pending.includes(String(message['tool_call_id'])))
        return openaiError("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
      pending = pending.filter((id) => id !== message['tool_call_id'])
      continue
    }
    if (pending.length > 0)
      return openaiError(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${pending.join(', ')}`,
      )
    const calls = list(message['tool_calls'])
    if (calls.some((call) => call['type'] !== 'function' || typeof record(call['function'])['arguments'] !== 'string'))
      return openaiError(`Missing required parameter: 'messages[${at}].tool_calls[0].type'.`)
    pending = calls.map((call) => String(call['id']))
  }
  return null
}

export function refuseResponses(body: Json): Refusal | null {
  const extra = findExtra(
    body,
    'model',
    'input',
    'instructions',
    'tools',
    'tool_choice',
    'temperature',
    'top_p',
    'max_output_tokens',
    'store',
    'include',
    'reasoning',
    'text',
    'stream',
  )
  if (extra !== null) return openaiError(`Unknown parameter: '${extra}'.`, extra, 'unknown_parameter')
  if (body['temperature'] !== undefined)
    return openaiError("Unsupported parameter: 'temperature' is not supported with this model.")
  for (const [at, tool] of list(body['tools']).entries()) {
    if (tool['type'] === 'tool_search') continue
    const odd = findExtra(tool, 'type', 'name', 'description', 'parameters', 'strict', 'defer_loading')
    if (odd !== null) return openaiError(`Unknown parameter: 'tools[${at}].${odd}'.`)
    if (tool['strict'] !== false) {
      const why = refuseStrictSchema(record(tool['parameters']))
      if (why !== null) return openaiError(`Invalid schema for function '${String(tool['name'])}': ${why}`)
    }
  }
  let thought: Json | null = null
  const called = new Set<unknown>()
  for (const [at, item] of list(body['input']).entries()) {
    if (item['type'] === 'reasoning') {
      if (item['encrypted_content'] !== sign(String(item['id'])))
        return openaiError('The encrypted content could not be verified.', null, 'invalid_encrypted_content')
      thought = item
    } else if (item['type'] === 'function_call') {
      if (String(item['id']).startsWith('fc_') && thought === null)
        return openaiError(
          `Item '${String(item['id'])}' of type 'function_call' was provided without its required 'reasoning' item.`,
        )
      called.add(item['call_id'])
    } else if (item['type'] === 'function_call_output') {
      if (!called.has(item['call_id']))
        return openaiError(`No tool call found for function call output with call_id ${String(item['call_id'])}.`)
    } else {
      const odd = findExtra(item, 'type', 'role', 'content')
      if (odd !== null) return openaiError(`Unknown parameter: 'input[${at}].${odd}'.`)
    }
  }
  return null
}

// ------------------------------------------------------------------------------------------------------------------ Gemini

const geminiError = (message: string): Refusal => ({
  status: 400,
  body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } },
})

export function refuseGemini(body: Json, model: string): Refusal | null {
  const extra = findExtra(body, 'contents', 'generationConfig', 'systemInstruction', 'tools', 'toolConfig', 'safetySettings')
  if (extra !== null) return geminiError(`Invalid JSON payload received. Unknown name "${extra}": Cannot find field.`)
  const config = record(body['generationConfig'])
  const odd = findExtra(
    config,
    'maxOutputTokens',
    'temperature',
    'topP',
    'topK',
    'stopSequences',
    'seed',
    'frequencyPenalty',
    'presencePenalty',
    'responseMimeType',
    'responseJsonSchema',
    'thinkingConfig',
  )
  if (odd !== null)
    return geminiError(`Invalid JSON payload received. Unknown name "${odd}" at 'generation_config': Cannot find field.`)
  const thinking = record(config['thinkingConfig'])
  if (thinking['thinkingLevel'] !== undefined && !model.includes('gemini-3'))
    return geminiError('Thinking level is not supported for this model.')
  let calls = 0
  for (const [at, content] of list(body['contents']).entries()) {
    if (content['role'] !== 'user' && content['role'] !== 'model') return geminiError('Please use a valid role: user, model.')
    const parts = list(content['parts'])
    if (parts.length === 0)
      return geminiError(`* GenerateContentRequest.contents[${at}].parts: contents.parts must not be empty.`)
    const responses = parts.filter((part) => part['functionResponse'] !== undefined).length
    if (responses > 0 && responses !== calls)
      return geminiError(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
    if (calls > 0 && responses === 0)
      return geminiError(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      )
    const called = parts.filter((part) => part['functionCall'] !== undefined)
    calls = called.length
    const isSigned = [sign('0'), 'skip_thought_signature_validator'].includes(String(called[0]?.['thoughtSignature']))
    if (calls > 0 && model.includes('gemini-3') && !isSigned)
      return geminiError(
        'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.',
      )
  }
  return null
}

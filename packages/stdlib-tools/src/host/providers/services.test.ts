// Requests as the services want them: a script, the machine, the client, and fakes that refuse what the services refuse
// (test-support/model-services.ts). A request that the service would refuse fails its test with the words of the service.

import { expect, test } from 'vitest'
import {
  refuseAnthropic,
  refuseGemini,
  refuseOpenai,
  refuseResponses,
  refuseStrictSchema,
  sign,
} from '../../test-support/model-services.js'
import type { Json, Refusal } from '../../test-support/model-services.js'
import { createRuntime } from '../runtime.js'
import { memoryProcess } from './memory.js'
import { llmProvider } from './models.js'
import { makeStrictSchema, withoutNulls } from './wires/strict-schema.js'

const KEYS = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o', GEMINI_API_KEY: 'g', VERTEX_AI_ACCESS_TOKEN: 'v' }

interface World {
  readonly output: string
  readonly bodies: readonly Json[]
  readonly urls: readonly string[]
  readonly headers: readonly Json[]
}

function refuse(url: string, body: Json): Refusal | null {
  if (url.includes('/messages')) return refuseAnthropic(body)
  if (url.includes('/responses')) return refuseResponses(body)
  if (url.includes('generateContent') || url.includes('GenerateContent')) return refuseGemini(body, url)
  return url.includes('/chat/completions') ? refuseOpenai(body) : null
}

async function run(
  source: string,
  answers: readonly (Json | Refusal)[],
  env: Readonly<Record<string, string>> = KEYS,
): Promise<World> {
  const [bodies, urls, headers, left]: [Json[], string[], Json[], (Json | Refusal)[]] = [[], [], [], [...answers]]
  const fetch_: typeof fetch = (input, init) => {
    const [url, body] = [String(input), JSON.parse(String(init?.body)) as Json]
    urls.push(url)
    bodies.push(body)
    headers.push(init?.headers as unknown as Json)
    const next = refuse(url, body) ?? left.shift() ?? { status: 500, body: { error: { message: 'no answer left' } } }
    const isRefusal = typeof next['status'] === 'number' && 'body' in next
    const given = isRefusal ? (next['body'] as Json) : next
    return Promise.resolve(
      new Response(JSON.stringify(given), {
        status: isRefusal ? (next['status'] as number) : 200,
        headers: { 'content-type': 'application/json' },
      }),
    )
  }
  const runtime = createRuntime({ providers: [llmProvider({ env, fetch: fetch_ }), memoryProcess({ env })], grants: ['*'] })
  const result = await runtime.start(runtime.compile(source)).result
  const output = result.status === 'failed' ? `${result.output}! ${result.error.message}` : result.output
  return { output, bodies, urls, headers }
}

const loop = (options: string): string => `
var tools = tool_define(tool_registry(), "look", "Looks", {
  parameters: {path: "string", depth: {type: "integer", default: 2}},
  handler: { args -> "saw \${args.path} to \${args.depth}" },
})
tools = tool_define(tools, "fail", "Fails", {parameters: {}, handler: { args -> throw "no such thing" }})
let r = agent_loop("go", "Be brief.", {tools: tools, tool_format: "native", max_iterations: 3, ${options}})
println(r.status)
for message in r.transcript.messages { if message.role == "tool" { println(message.content) } }
`

const messagesOf = (body: Json | undefined): readonly Json[] => body!['messages'] as readonly Json[]

// --------------------------------------------------------------------------------------------------------------- Anthropic

const CLAUDE_CALLS = {
  model: 'claude-sonnet-4-5',
  content: [
    { type: 'thinking', thinking: 'hm', signature: sign('hm') },
    { type: 'redacted_thinking', data: 'zzz' },
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 't1', name: 'look', input: { path: 'a' } },
    { type: 'tool_use', id: 't2', name: 'fail', input: {} },
  ],
  usage: { input_tokens: 5, output_tokens: 5 },
  stop_reason: 'tool_use',
}
const CLAUDE_DONE = {
  model: 'm',
  content: [{ type: 'text', text: 'done ##DONE##' }],
  usage: { input_tokens: 1, output_tokens: 1 },
}

test('Anthropic: signed reasoning stays with the calls of a loop, failures are marked, and what stays is cached', async () => {
  const options = 'provider: "anthropic", model: "claude-sonnet-4-5", thinking: true, cache: true, max_tokens: 4000'
  const { output, bodies } = await run(loop(options), [CLAUDE_CALLS, CLAUDE_DONE])
  expect(output).toBe('done\nsaw a to 2\nError: Thrown: no such thing\n')
  expect(bodies).toHaveLength(2)
  expect(messagesOf(bodies[1]).slice(1)).toEqual([
    {
      role: 'assistant',
      content: [...CLAUDE_CALLS.content.slice(0, 3), { ...CLAUDE_CALLS.content[3] }, { ...CLAUDE_CALLS.content[4] }],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: 'saw a to 2' },
        {
          type: 'tool_result',
          tool_use_id: 't2',
          content: 'Error: Thrown: no such thing',
          is_error: true,
          cache_control: { type: 'ephemeral' },
        },
      ],
    },
  ])
  expect(bodies[1]).toMatchObject({
    thinking: { type: 'enabled', budget_tokens: 2000 },
    system: [{ cache_control: { type: 'ephemeral' } }],
  })
  expect((bodies[1]!['tools'] as readonly Json[]).map((tool) => tool['cache_control'])).toEqual([
    undefined,
    { type: 'ephemeral' },
  ])
  expect(messagesOf(bodies[1])[0]).toMatchObject({ content: [{ text: 'go', cache_control: { type: 'ephemeral' } }] })
})

test('parameters with defaults are none that the model must give', async () => {
  const { bodies } = await run(loop('provider: "anthropic", model: "claude-sonnet-4-5"'), [CLAUDE_DONE])
  expect((bodies[0]!['tools'] as readonly Json[])[0]).toEqual({
    name: 'look',
    description: 'Looks',
    input_schema: {
      type: 'object',
      properties: { path: { type: 'string' }, depth: { type: 'integer', default: 2 } },
      required: ['path'],
      additionalProperties: false,
    },
  })
})

test.each([
  ['claude-opus-4-7', 'thinking: true, temperature: 0.3', { thinking: { type: 'adaptive' } }],
  ['claude-opus-4-7', 'thinking: {mode: "effort", level: "high"}', { output_config: { effort: 'high' } }],
  ['claude-zeta-9', 'thinking: "low", cache: true, vision: true', { thinking: { type: 'adaptive' } }],
  ['claude-sonnet-4-5', 'interleaved_thinking: true, thinking: true, stop: ["END"]', { stop_sequences: ['END'] }],
])('Anthropic: %s with %s', async (model, options, expected) => {
  const { output, bodies } = await run(loop(`provider: "anthropic", model: "${model}", ${options}`), [CLAUDE_DONE])
  expect(output).toBe('done\n')
  expect(bodies[0]).toMatchObject(expected)
})

test('Anthropic: a conversation with images in results, of another model, and with what the machine adds for people', async () => {
  const messages = `[
    {role: "user", content: [{type: "text", text: "see", visibility: "public"}]},
    {role: "assistant", content: "", tool_calls: [{id: "c1", type: "function", function: {name: "shot", arguments: "{broken"}}],
      service_state: {provider: "anthropic", model: "claude-other", parts: [{type: "thinking", thinking: "x", signature: "of another"}]}},
    {role: "tool", tool_call_id: "c1", content: [{type: "text", text: "here"}, {type: "image", base64: "AAAA", media_type: "image/png"}]},
  ]`
  const ask = (model: string): string =>
    `println(llm_call("", nil, {model: "${model}", messages: ${messages}, tools: [{name: "shot"}]}).text)`
  const { output, bodies } = await run(ask('anthropic/claude-sonnet-4-5'), [CLAUDE_DONE])
  expect(output).toBe('done ##DONE##\n')
  expect(messagesOf(bodies[0]).slice(1)).toEqual([
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'shot', input: { __unreadable: '{broken' } }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c1',
          content: [
            { type: 'text', text: 'here' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
      ],
    },
  ])
  const other = await run(ask('openai/gpt-4o'), [{ choices: [{ message: { content: 'ok' } }] }])
  expect(other.output).toBe('ok\n')
  expect(messagesOf(other.bodies[0]).at(-1)).toEqual({
    role: 'user',
    content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
  })
  const third = await run(ask('gemini/gemini-3-pro'), [
    { candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] },
  ])
  expect(third.output).toBe('ok\n')
})

// ------------------------------------------------------------------------------------------------------------------ OpenAI

const SCHEMA = `{type: "object", properties: {name: {type: "string"}, age: {type: "integer", minimum: 0}, tags: {type: "array", items: {type: "string", minLength: 1}}}, required: ["name"]}`
const data = (model: string, schema = SCHEMA): string =>
  `println(llm_call("who", nil, {provider: "openai", model: "${model}", schema: ${schema}, output_validation: "error", schema_retries: 0}).data)`
const chat = (content: string): Json => ({ choices: [{ message: { content }, finish_reason: 'stop' }] })

test('OpenAI: a schema is made strict where that can be, and not claimed to be where it cannot', async () => {
  const strict = await run(data('gpt-4o'), [chat('{"name":"Ada","age":null,"tags":null}')])
  expect(strict.output).toBe('{name: Ada}\n')
  expect(strict.bodies[0]).toMatchObject({
    response_format: {
      json_schema: { strict: true, schema: { required: ['age', 'name', 'tags'], additionalProperties: false } },
    },
  })
  const open = await run(data('gpt-4o', '{type: "object", properties: {name: {type: "string"}}, additionalProperties: true}'), [
    chat('{"name":"Ada"}'),
  ])
  expect(open.output).toBe('{name: Ada}\n')
  expect(open.bodies[0]).toMatchObject({ response_format: { json_schema: { strict: false } } })
})

const deep = (levels: number): Json =>
  levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: deep(levels - 1) }, required: ['a'] }

test.each<[string, Json, boolean]>([
  [
    'optional of all kinds',
    {
      type: 'object',
      properties: { a: { enum: ['x'], type: 'string' }, b: { $ref: '#/$defs/b' }, c: { const: 1 } },
      $defs: { b: { type: 'object', properties: {} } },
    },
    true,
  ],
  [
    'one of',
    {
      type: 'object',
      properties: { a: { oneOf: [{ type: 'string' }, { type: 'object', properties: { b: { type: 'null' } } }] } },
    },
    true,
  ],
  [
    'defaults and formats',
    { $schema: 'x', type: 'object', properties: { a: { type: 'string', default: 'x', format: 'uri', minLength: 2 } } },
    true,
  ],
  ['a dict', { type: 'object', properties: { a: { type: 'object' } } }, false],
  ['anything', { type: 'object', properties: { a: {} } }, false],
  ['a list of anything', { type: 'object', properties: { a: { type: 'array' } } }, false],
  ['all of', { type: 'object', properties: { a: { allOf: [{ type: 'string' }] } } }, false],
  ['a union at the root', { anyOf: [{ type: 'object', properties: {} }] }, false],
  ['too deep', deep(12), false],
])('strict schemas: %s', (_name, schema, isStrict) => {
  const made = makeStrictSchema(schema)
  expect(made === null ? false : refuseStrictSchema(made)).toBe(isStrict ? null : false)
})

test.each<[string, Json, string]>([
  ['{"a":null,"b":null}', { properties: { a: {}, b: { type: ['string', 'null'] } } }, '{"b":null}'],
  ['{"a":9007199254740993,"b":null}', { properties: { b: { type: 'string' } } }, '{"a":9007199254740993}'],
  ['[{"a":null}]', { items: { properties: { a: { type: 'string' } } } }, '[{}]'],
  ['{ "a": null }', { properties: { a: { type: 'string' } }, required: ['a'] }, '{ "a": null }'],
  ['no null here, and no JSON', {}, 'no null here, and no JSON'],
])('nulls of %s that stand for nothing are left out', (text, schema, expected) => {
  expect(withoutNulls(text, schema)).toBe(expected)
})

test.each([
  ['gpt-4o', '{a: {type: "string"}}', 'required: ["a"], additionalProperties: false', true],
  ['gpt-4o', '{a: {type: "string"}}', 'additionalProperties: false', undefined],
  ['gpt-4o', '{a: {type: "string", minLength: 2}}', 'required: ["a"], additionalProperties: false', undefined],
  ['gpt-5.5', '{a: {type: "string"}}', 'required: ["a"], additionalProperties: false', true],
  ['gpt-5.5', '{a: {type: "string"}}', 'required: []', false],
])('OpenAI: %s is told that a tool with %s and %s is strict: %s', async (model, properties, more, isStrict) => {
  const tool = `{type: "function", function: {name: "t", strict: true, parameters: {type: "object", properties: ${properties}, ${more}}}}`
  const { bodies } = await run(`try { llm_call("hi", nil, {model: "openai/${model}", tools: [${tool}]}) } catch (e) { nil }`, [])
  const [sent] = bodies[0]!['tools'] as readonly Json[]
  expect(((sent!['function'] ?? sent) as Json)['strict']).toBe(isStrict)
})

test('OpenAI: an account without money is asked once', async () => {
  const poor: Refusal = {
    status: 429,
    body: {
      error: { message: 'You exceeded your current quota', type: 'insufficient_quota', param: null, code: 'insufficient_quota' },
    },
  }
  const ask =
    'println(try { llm_call("hi", nil, {model: "openai/gpt-4o", llm_retries: 3, llm_backoff_ms: 1}) } catch (e) { "${e.category} ${e.kind}" })'
  const { output, bodies } = await run(ask, [poor, poor])
  expect([output, bodies.length]).toEqual(['rate_limit terminal\n', 1])
})

test('OpenAI: arguments that are not JSON are reported to the model with their text', async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"path": "a' } }
  const answer = { choices: [{ message: { content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }] }
  const { output, bodies } = await run(loop('provider: "openai", model: "gpt-4o"'), [answer, chat('done ##DONE##')])
  expect(output).toContain('they are not JSON')
  expect(output).toContain('"{\\"path\\": \\"a"')
  expect(bodies).toHaveLength(2)
})

test.each([
  ['gpt-5', 'reasoning_effort: "low", temperature: 0.2', { reasoning_effort: 'low', max_completion_tokens: 16_384 }],
  ['gpt-nova-1', 'reasoning_effort: "high"', { reasoning_effort: 'high', max_completion_tokens: 16_384 }],
  ['gpt-4o', 'temperature: 0.2', { temperature: 0.2, max_tokens: 16_384 }],
  ['gpt-4o', 'tool_choice: "look"', { tool_choice: { type: 'function', function: { name: 'look' } } }],
])('OpenAI: %s with %s', async (model, options, expected) => {
  const { output, bodies } = await run(loop(`provider: "openai", model: "${model}", ${options}`), [chat('done ##DONE##')])
  expect(output).toBe('done\n')
  expect(bodies[0]).toMatchObject(expected)
})

test('OpenAI: a model of the Responses API is asked through it, and has its reasoning back', async () => {
  const calls = {
    model: 'gpt-5.5',
    status: 'completed',
    output: [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'hm' }],
        encrypted_content: sign('rs_1'),
        status: 'completed',
      },
      { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'look', arguments: '{"path":"a"}', status: 'completed' },
      { type: 'function_call', id: 'fc_2', call_id: 'c2', name: 'fail', arguments: '{}', status: 'completed' },
    ],
    usage: { input_tokens: 3, output_tokens: 4, input_tokens_details: { cached_tokens: 1 } },
  }
  const done = {
    model: 'gpt-5.5',
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'done ##DONE##' }] }],
  }
  const { output, bodies, urls } = await run(loop('provider: "openai", model: "gpt-5.5", reasoning_effort: "high"'), [
    calls,
    done,
  ])
  expect(output).toBe('done\nsaw a to 2\nError: Thrown: no such thing\n')
  expect(urls[0]).toBe('https://api.openai.com/v1/responses')
  expect(bodies[1]).toMatchObject({
    store: false,
    reasoning: { effort: 'high' },
    input: [
      { role: 'user' },
      { type: 'reasoning', id: 'rs_1', encrypted_content: sign('rs_1') },
      { type: 'function_call', id: 'fc_1', call_id: 'c1' },
      { type: 'function_call', id: 'fc_2', call_id: 'c2' },
      { type: 'function_call_output', call_id: 'c1', output: 'saw a to 2' },
      { type: 'function_call_output', call_id: 'c2' },
    ],
  })
})

// ------------------------------------------------------------------------------------------------------------------ Gemini

const geminiCalls = (id: boolean): Json => ({
  modelVersion: 'gemini-3-pro',
  candidates: [
    {
      content: {
        parts: [
          { text: 'hm', thought: true },
          { functionCall: { name: 'look', args: { path: 'a' }, ...(id ? { id: 'x1' } : {}) }, thoughtSignature: sign('0') },
          { functionCall: { name: 'fail', args: {}, ...(id ? { id: 'x2' } : {}) } },
        ],
      },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, thoughtsTokenCount: 5 },
})
const GEMINI_DONE = { candidates: [{ content: { parts: [{ text: 'done ##DONE##' }] }, finishReason: 'STOP' }] }

test.each([true, false])(
  'Gemini: results side by side are one turn, and signatures stay where they were (ids: %s)',
  async (id) => {
    const { output, bodies } = await run(
      loop('provider: "gemini", model: "gemini-3-pro", thinking: "high", tool_choice: "any"'),
      [geminiCalls(id), GEMINI_DONE],
    )
    expect(output).toBe('done\nsaw a to 2\nError: Thrown: no such thing\n')
    const numbered = (name: string): Json => (id ? { id: name } : {})
    expect((bodies[1]!['contents'] as readonly Json[]).slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'look', args: { path: 'a' }, ...numbered('x1') }, thoughtSignature: sign('0') },
          { functionCall: { name: 'fail', args: {}, ...numbered('x2') } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'look', response: { result: 'saw a to 2' }, ...numbered('x1') } },
          { functionResponse: { name: 'fail', response: { error: 'Error: Thrown: no such thing' }, ...numbered('x2') } },
        ],
      },
    ])
    expect(bodies[1]).toMatchObject({
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' } },
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    })
  },
)

test('Gemini: answers follow a schema, and older models have budgets', async () => {
  const ask = `println(llm_call("who", nil, {provider: "gemini", model: "gemini-2.5-flash", thinking: {mode: "effort", level: "low"}, schema: ${SCHEMA}}).data)`
  const answer = { candidates: [{ content: { parts: [{ text: '{"name":"Ada"}' }] }, finishReason: 'STOP' }] }
  const { output, bodies } = await run(ask, [answer])
  expect(output).toBe('{name: Ada}\n')
  expect(bodies[0]).toMatchObject({
    generationConfig: {
      responseMimeType: 'application/json',
      responseJsonSchema: { required: ['name'] },
      thinkingConfig: { thinkingBudget: 1024 },
    },
  })
})

test('Vertex: a project and a token are enough', async () => {
  const ask = 'println(llm_call("hi", nil, {provider: "vertex", model: "gemini-3-pro"}).text)'
  const env = { ...KEYS, GOOGLE_CLOUD_PROJECT: 'p', GOOGLE_CLOUD_LOCATION: 'europe-west4' }
  const { output, urls, headers } = await run(ask, [GEMINI_DONE], env)
  expect(output).toBe('done ##DONE##\n')
  expect(urls[0]).toBe(
    'https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-3-pro:generateContent',
  )
  expect(headers[0]).toMatchObject({ authorization: 'Bearer v' })
  expect((await run(ask, [])).output).toContain('set GOOGLE_CLOUD_PROJECT')
  // A path of a file with a key is not a key.
  const file = { GOOGLE_APPLICATION_CREDENTIALS: '/secret.json', GOOGLE_CLOUD_PROJECT: 'p' }
  expect((await run(ask, [], file)).output).toContain('Missing API key')
})

test('Bedrock is asked through the AI SDK, and says so', async () => {
  const { output } = await run(
    'println(llm_call("hi", nil, {provider: "bedrock", model: "m", base_url: "https://b.test"}).text)',
    [],
  )
  expect(output).toContain('aiProvider')
})

// ------------------------------------------------------------------------------------------------------------------ Ollama

test.each([
  ['"hi"', '', undefined],
  ['"x".repeat(60000)', '', 32_768],
  ['"x".repeat(60000)', ', ollama: {num_ctx: 9000}', 9000],
])('Ollama: the context of a prompt %s%s', async (prompt, more, expected) => {
  const ask = `println(llm_call(${prompt}, nil, {provider: "ollama", model: "qwen3", max_tokens: 100, tools: [{name: "look"}]${more}}).text)`
  const { output, bodies } = await run(ask, [{ message: { content: 'ok' }, done: true }])
  expect(output).toBe('ok\n')
  expect((bodies[0]!['options'] as Json)['num_ctx']).toBe(expected)
})

// --------------------------------------------------------------------------------------------------------------- addresses

test.each([
  ['openai', { OPENAI_BASE_URL: 'https://o.test/v1/' }, 'https://o.test/v1/chat/completions'],
  ['openai', { OPENAI_API_BASE: 'https://o.test/v2' }, 'https://o.test/v2/chat/completions'],
  ['anthropic', { ANTHROPIC_BASE_URL: 'https://a.test' }, 'https://a.test/v1/messages'],
  ['anthropic', { ANTHROPIC_BASE_URL: 'https://a.test/v1' }, 'https://a.test/v1/messages'],
  ['gemini', { GOOGLE_GEMINI_BASE_URL: 'https://g.test' }, 'https://g.test/v1beta/models/m:generateContent'],
  ['ollama', { OLLAMA_HOST: '0.0.0.0' }, 'http://127.0.0.1:11434/api/chat'],
  ['ollama', { OLLAMA_HOST: ':9999' }, 'http://127.0.0.1:9999/api/chat'],
  ['ollama', { OLLAMA_HOST: 'gpu:80' }, 'http://gpu/api/chat'],
  ['ollama', { OLLAMA_HOST: 'https://gpu.test' }, 'https://gpu.test/api/chat'],
])('%s at %j', async (provider, env, url) => {
  const ask = `llm_call("hi", nil, {provider: "${provider}", model: "m"})`
  const { urls, headers } = await run(ask, [], { ...KEYS, ...env })
  expect(urls[0]).toBe(url)
  // The key goes where the host has put the provider.
  if (provider !== 'ollama') expect(Object.values(headers[0]!).join(' ')).toMatch(/\b[aog]$/)
})

// Model services end to end: a script, the machine, the real client, and a server on this machine that speaks the protocol.

import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MemoryJournal, encodeEntry } from '../journal.js'
import { createRuntime } from '../runtime.js'
import type { Secrets } from '../secrets.js'
import { llmProvider } from './models.js'
import { memoryProcess } from './memory.js'

interface Seen {
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

let server: Server
let base: string
let seen: Seen[] = []
let answers: { status: number; headers?: Record<string, string>; body: unknown }[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece: Buffer) => (text += piece.toString()))
    request.on('end', () => {
      seen.push({ url: request.url ?? '', headers: request.headers, body: text === '' ? null : JSON.parse(text) })
      const answer = answers.shift() ?? { status: 500, body: { error: { message: 'no answer left' } } }
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
      response.end(JSON.stringify(answer.body))
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => new Promise((done) => server.close(done)))

async function run(
  source: string,
  env: Record<string, string> = {},
  given: typeof answers = [],
  secrets: Secrets = {},
): Promise<string> {
  seen = []
  answers = [...given]
  const toServer: typeof fetch = (input, init) => fetch(String(input).replace(/^https:\/\/[^/]+/, base), init)
  const runtime = createRuntime({
    providers: [llmProvider({ env, secrets, fetch: toServer }), memoryProcess({ env })],
    grants: ['*'],
  })
  const result = await runtime.start(runtime.compile(source)).result
  return result.status === 'failed' ? `${result.output}! ${result.error.message}` : result.output
}

const TOOLS = `[{name: "look", description: "Looks", parameters: {path: "string"}}]`
const CONVERSATION = `[
  {role: "user", content: "look at a"},
  {role: "assistant", content: "", tool_calls: [{id: "c1", type: "function", function: {name: "look", arguments: "{\\"path\\":\\"a\\"}"}}]},
  {role: "tool", tool_call_id: "c1", content: "seen"},
]`

function makeAskingScript(provider: string, model: string, more = ''): string {
  return `
let r = llm_call("", "Be brief.", {provider: "${provider}", model: "${model}", max_tokens: 50, temperature: 0.5, tools: ${TOOLS}, messages: ${CONVERSATION}${more}})
println("\${r.text} | \${r.tool_calls} | \${r.input_tokens} \${r.output_tokens} \${r.cache_read_tokens} | \${r.thinking} | \${r.stop_reason} | \${r.model}")
`
}

const DECLARED = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
  additionalProperties: false,
}

test('Anthropic', async () => {
  const output = await run(
    makeAskingScript('anthropic', 'claude-sonnet-4-20250514', ', thinking: {budget_tokens: 20}'),
    { ANTHROPIC_API_KEY: 'k1' },
    [
      {
        status: 200,
        body: {
          model: 'claude-sonnet-4-20250514',
          content: [
            { type: 'thinking', thinking: 'hm' },
            { type: 'text', text: 'done' },
            { type: 'tool_use', id: 't9', name: 'look', input: { path: 'b' } },
          ],
          usage: { input_tokens: 11, output_tokens: 7, cache_read_input_tokens: 3 },
          stop_reason: 'tool_use',
        },
      },
    ],
  )
  expect(output).toBe(
    'done | [{arguments: {path: b}, id: t9, name: look, type: tool_call}] | 11 7 3 | hm | tool_use | claude-sonnet-4-20250514\n',
  )
  expect(seen[0]!.url).toBe('/v1/messages')
  expect(seen[0]!.headers).toMatchObject({ 'x-api-key': 'k1', 'anthropic-version': '2023-06-01' })
  expect(seen[0]!.body).toEqual({
    model: 'claude-sonnet-4-20250514',
    max_tokens: 50,
    temperature: 0.5,
    system: 'Be brief.',
    thinking: { type: 'enabled', budget_tokens: 20 },
    tools: [{ name: 'look', description: 'Looks', input_schema: DECLARED }],
    messages: [
      { role: 'user', content: 'look at a' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: { path: 'a' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'seen' }] },
    ],
  })
})

test('OpenAI and what speaks it', async () => {
  const answer = {
    status: 200,
    body: {
      model: 'gpt-4o-2024',
      choices: [
        {
          message: { content: 'done', tool_calls: [{ id: 'x', function: { name: 'look', arguments: '{"path":"b"}' } }] },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 11, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 2 } },
    },
  }
  const output = await run(makeAskingScript('openai', 'gpt-4o'), { OPENAI_API_KEY: 'k2' }, [answer])
  expect(output).toBe(
    'done | [{arguments: {path: b}, id: x, name: look, type: tool_call}] | 11 7 2 | nil | tool_calls | gpt-4o-2024\n',
  )
  expect(seen[0]!.url).toBe('/v1/chat/completions')
  expect(seen[0]!.headers.authorization).toBe('Bearer k2')
  expect(seen[0]!.body).toMatchObject({
    model: 'gpt-4o',
    max_tokens: 50,
    temperature: 0.5,
    tools: [{ type: 'function', function: { name: 'look', parameters: DECLARED } }],
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', tool_call_id: 'c1' },
    ],
  })
  await run(
    `provider_register("mine", {base_url: "${base}/own", auth_style: "bearer", auth_envs: ["MY_KEY"], chat_endpoint: "/chat"})
println(llm_call("hi", nil, {provider: "mine", model: "m", response_format: "json"}).text)`,
    {},
    [answer],
    { MY_KEY: { value: 'k3', origins: [base] } },
  )
  expect(seen[0]!.headers.authorization).toBe('Bearer k3')
  expect(seen[0]!.url).toBe('/own/chat')
  expect(seen[0]!.body).toMatchObject({ model: 'm', response_format: { type: 'json_object' } })
})

test('Ollama', async () => {
  const output = await run(makeAskingScript('ollama', 'qwen3'), { OLLAMA_HOST: base }, [
    {
      status: 200,
      body: {
        model: 'qwen3',
        message: { content: 'done', thinking: 'hm', tool_calls: [{ function: { name: 'look', arguments: { path: 'b' } } }] },
        prompt_eval_count: 11,
        eval_count: 7,
        done_reason: 'stop',
      },
    },
  ])
  expect(output).toBe('done | [{arguments: {path: b}, id: call_1, name: look, type: tool_call}] | 11 7 0 | hm | stop | qwen3\n')
  expect(seen[0]!.url).toBe('/api/chat')
  expect(seen[0]!.body).toMatchObject({
    stream: false,
    options: { num_predict: 50, temperature: 0.5 },
    messages: [
      { role: 'system' },
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ function: { name: 'look', arguments: { path: 'a' } } }] },
      { role: 'tool', content: 'seen' },
    ],
  })
})

test('Gemini', async () => {
  const output = await run(
    `let r = llm_call("", nil, {provider: "gemini", model: "gemini-2.5-pro", messages: ${CONVERSATION}})\nprintln("\${r.text} \${r.tool_calls} \${r.input_tokens}")`,
    { GEMINI_API_KEY: 'k4' },
    [
      {
        status: 200,
        body: {
          candidates: [
            {
              content: { parts: [{ text: 'done' }, { functionCall: { name: 'look', args: { path: 'b' } } }] },
              finishReason: 'STOP',
            },
          ],
          usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7 },
        },
      },
    ],
  )
  expect(output).toBe('done [{arguments: {path: b}, id: call_1, name: look, type: tool_call}] 11\n')
  expect(seen[0]!.url).toBe('/v1beta/models/gemini-2.5-pro:generateContent')
  expect(seen[0]!.headers['x-goog-api-key']).toBe('k4')
  expect(seen[0]!.body).toMatchObject({
    contents: [
      { role: 'user', parts: [{ text: 'look at a' }] },
      { role: 'model' },
      { role: 'user', parts: [{ functionResponse: { name: 'look', response: { result: 'seen' } } }] },
    ],
  })
})

const CALL = `llm_call("hi", nil, {provider: "openai", model: "gpt-4o", llm_retries: 1, llm_backoff_ms: 1})`

test('what goes wrong is an error dict, tried again where that can help', async () => {
  const show = `println(try { ${CALL} } catch (e) { "\${e.category} \${e.kind} \${e.reason} \${e.retry_after_ms} \${e.message}" })`
  const env = { OPENAI_API_KEY: 'k' }
  const makeError = (status: number, message: string) => ({ status, body: { error: { message, type: 'some_type' } } })
  expect(await run(show, env, [makeError(401, 'bad key')])).toBe('auth terminal auth_failure nil HTTP 401: some_type: bad key\n')
  expect(seen).toHaveLength(1)
  expect(await run(show, env, [makeError(500, 'boom'), makeError(500, 'boom')])).toContain('server_error transient server_error')
  expect(seen).toHaveLength(2)
  const limited = { ...makeError(429, 'slow'), headers: { 'retry-after': '0.001' } }
  expect(await run(show, env, [limited, limited])).toContain('rate_limit transient rate_limit 1 [rate_limited] HTTP 429')
  expect(await run(`println(try { ${CALL} })`, {})).toBe(
    "Result.Err(Missing API key: set OPENAI_API_KEY environment variable (provider 'openai'))\n",
  )
  expect(seen).toHaveLength(0)
  expect(await run(`println(llm_healthcheck("openai"))`, env, [{ status: 200, body: { data: [] } }])).toContain('valid: true')
  expect(await run(`println(llm_healthcheck("openai"))`, env, [makeError(401, 'bad key')])).toContain('valid: false')
})

test('a time limit that no timer can hold is none', async () => {
  const body = { choices: [{ message: { content: 'there' } }] }
  const ask = 'println(llm_call("x", nil, {provider: "openai", model: "gpt-4o", timeout: 9000000}).text)'
  expect(await run(ask, { OPENAI_API_KEY: 'k' }, [{ status: 200, body }])).toBe('there\n')
})

test('a key is in no journal', async () => {
  const journal = new MemoryJournal()
  answers = [{ status: 200, body: { choices: [{ message: { content: 'x' } }] } }]
  const env = { OPENAI_API_KEY: 'very-secret' }
  const toServer: typeof fetch = (input, init) => fetch(String(input).replace(/^https:\/\/[^/]+/, base), init)
  const runtime = createRuntime({
    providers: [llmProvider({ env, fetch: toServer }), memoryProcess({ env })],
    grants: ['*'],
  })
  const result = await runtime.start(runtime.compile(`println(${CALL}.text)`), { journal }).result
  expect(result.output).toBe('x\n')
  const written = journal.entries.map(encodeEntry).join('\n')
  expect(written).toContain('llm.call')
  expect(written).not.toContain('very-secret')
})

describe('a key goes where the host has bound it', () => {
  const KEYS = { ANTHROPIC_API_KEY: 'sk-anthropic', OPENAI_API_KEY: 'sk-openai', DATABASE_URL: 'postgres://u:p@db/x' }
  const ok = { status: 200, body: { choices: [{ message: { content: 'done' } }], content: [{ type: 'text', text: 'done' }] } }
  const ask = (provider: string, more = ''): string =>
    `println(try { llm_call("hi", nil, {provider: "${provider}", model: "m"${more}}).text } catch (e) { e?.message ?? e })`
  const formatSeen = (): string => JSON.stringify(seen)

  test.each([
    ['anthropic', () => `{base_url: "${base}"}`],
    ['openai', () => `{base_url: "${base}/v1"}`],
    ['mine', () => `{base_url: "${base}", auth_env: "DATABASE_URL"}`],
    ['mine', () => `{base_url: "${base}", auth_envs: ["OPENAI_API_KEY"]}`],
    ['openai', () => `{base_url: "${base}", auth_style: "header", auth_header: "x-key", auth_envs: ["ANTHROPIC_API_KEY"]}`],
  ])('%s elsewhere gets none of the keys', async (provider, config) => {
    const output = await run(`provider_register("${provider}", ${config()})\n${ask(provider)}`, KEYS, [ok])
    for (const key of Object.values(KEYS)) expect(formatSeen() + output).not.toContain(key)
    // A prompt goes to the service that the script names, or the script gets an error.
    if (seen.length === 0) expect(output).toContain('did not bind the key')
    else expect(output).toBe('done\n')
  })

  test('an endpoint cannot lead to another host', async () => {
    const output = await run(
      `provider_register("gemini", {chat_endpoint: ".evil.test/x"})\n${ask('gemini')}`,
      { GEMINI_API_KEY: 'g' },
      [ok],
    )
    expect(output).toContain('leads away from https://generativelanguage.googleapis.com')
    expect(seen).toEqual([])
  })

  test('redirects are not followed', async () => {
    const output = await run(ask('openai'), KEYS, [{ status: 307, headers: { location: `${base}/elsewhere` }, body: {} }, ok])
    expect(seen.length).toBe(1)
    expect(output).toContain('HTTP 307')
  })

  test('the key of a provider at its usual place, and one of another name there', async () => {
    await run(ask('openai'), KEYS, [ok])
    expect(seen[0]!.headers.authorization).toBe('Bearer sk-openai')
    await run(
      `provider_register("mine", {base_url: "https://api.openai.com/v1", auth_env: "OPENAI_API_KEY"})\n${ask('mine')}`,
      KEYS,
      [ok],
    )
    expect(seen[0]!.headers.authorization).toBe('Bearer sk-openai')
  })

  test('where the host has put a provider, its key goes there and nowhere else', async () => {
    await run(ask('groq'), { GROQ_API_KEY: 'sk-groq', GROQ_BASE_URL: base }, [ok])
    expect(seen[0]!.headers.authorization).toBe('Bearer sk-groq')
  })

  test('the option base_url is where the prompt goes', async () => {
    const output = await run(ask('openai', `, base_url: "${base}/own"`), KEYS, [ok])
    expect([output, seen[0]!.url, seen[0]!.headers.authorization]).toEqual(['done\n', '/own/chat/completions', undefined])
  })

  test('error bodies are cut', async () => {
    const output = await run(ask('openai'), KEYS, [{ status: 400, body: { error: { message: 'x'.repeat(100_000) } } }])
    expect(output.length).toBeLessThan(3000)
  })
})

describe('a prompt goes where the script says or nowhere', () => {
  const KEYS = { OPENAI_API_KEY: 'o', OPENROUTER_API_KEY: 'r', ANTHROPIC_API_KEY: 'a' }
  const askModel = async (model: string): Promise<string> => {
    const urls: string[] = []
    const fetch_: typeof fetch = (input, init) => {
      urls.push(`${String(input)} ${(JSON.parse(String(init?.body)) as { model: string }).model}`)
      return Promise.resolve(new Response('{"choices":[{"message":{"content":"ok"}}]}'))
    }
    const runtime = createRuntime({
      providers: [llmProvider({ env: KEYS, fetch: fetch_ }), memoryProcess({ env: KEYS })],
      grants: ['*'],
    })
    const value = await runtime.run(`return try { llm_call("hi", nil, ${model}).text } catch (e) { e?.message ?? e }`)
    return urls[0] ?? String(value)
  }

  test.each([
    ['{model: "openai/gpt-4"}', 'https://api.openai.com/v1/chat/completions gpt-4'],
    ['{model: "openrouter/deepseek/chat"}', 'https://openrouter.ai/api/v1/chat/completions deepseek/chat'],
    ['{model: "openrouter/auto"}', 'https://openrouter.ai/api/v1/chat/completions openrouter/auto'],
    ['{model: "Qwen/Qwen3.5-9B"}', 'https://openrouter.ai/api/v1/chat/completions Qwen/Qwen3.5-9B'],
    ['{provider: "openrouter", model: "openai/gpt-4"}', 'https://openrouter.ai/api/v1/chat/completions openai/gpt-4'],
    ['{provider: "openai", model: "openai/gpt-4"}', 'https://api.openai.com/v1/chat/completions gpt-4'],
    [
      '{model: "a/b/c"}',
      "model 'a/b/c' names no provider; give the option provider, or write PROVIDER/MODEL with one of anthropic, ",
    ],
    [
      '{model: "acme/gpt-9"}',
      "model 'acme/gpt-9' names no provider; give the option provider, or write PROVIDER/MODEL with one of ",
    ],
    ['{model: "acme/gpt-9:free"}', "model 'acme/gpt-9:free' names no provider; "],
    ['{model: "openrouter/acme/gpt-9"}', 'https://openrouter.ai/api/v1/chat/completions acme/gpt-9'],
    ['{provider: "openrouter", model: "acme/gpt-9"}', 'https://openrouter.ai/api/v1/chat/completions acme/gpt-9'],
    ['{provider: "opneai", model: "gpt-4"}', "there is no provider 'opneai' (did you mean 'openai'?); known are anthropic, "],
  ])('%s', async (options, expected) => {
    expect(await askModel(options)).toContain(expected)
  })
})

describe('options of a provider', () => {
  const ANSWER = { status: 200, body: { choices: [{ message: { content: 'ok' } }] } }
  const ask = (more: string, provider = 'openai', model = 'gpt-4o'): string =>
    `println(try { llm_call("hi", nil, {provider: "${provider}", model: "${model}", max_tokens: 5, ${more}}).text } catch (e) { e?.message ?? e })`

  test.each([
    ['openai', '{max_tokens: 99999}', 'openai.max_tokens'],
    ['openai', '{max_completion_tokens: 99999}', 'openai.max_completion_tokens'],
    ['openai', '{model: "gpt-dear"}', 'openai.model'],
    ['openai', '{models: ["gpt-dear"]}', 'openai.models'],
    ['openai', '{temperature: 2}', 'openai.temperature'],
    ['openai', '{tools: []}', 'openai.tools'],
    ['openai', '{messages: []}', 'openai.messages'],
    ['openai', '{n: 100}', 'openai.n'],
    ['ollama', '{options: {num_predict: 99999}}', 'ollama.options.num_predict'],
    ['gemini', '{generationConfig: {maxOutputTokens: 99999}}', 'gemini.generationConfig.maxOutputTokens'],
    ['gemini', '{generation_config: {max_output_tokens: 9}}', 'gemini.generation_config.max_output_tokens'],
  ])('%s: %s replaces nothing that was judged', async (provider, own, path) => {
    const output = await run(ask(`${provider}: ${own}`, provider, 'm'), { OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' }, [ANSWER])
    expect(output).toContain(`option ${path} `)
    expect(seen).toEqual([])
  })

  test('others go along, also beside what the call says', async () => {
    await run(ask('openai: {user: "ada", seed: 4}'), { OPENAI_API_KEY: 'k' }, [ANSWER])
    expect(seen[0]!.body).toMatchObject({ user: 'ada', seed: 4, max_tokens: 5 })
    await run(ask('ollama: {options: {num_ctx: 64}}', 'ollama', 'm'), { OLLAMA_HOST: base }, [ANSWER])
    expect(seen[0]!.body).toMatchObject({ options: { num_ctx: 64, num_predict: 5 } })
  })

  test.each([
    ['', 'openai: {odd_option: 1}', { model: 'gpt-4o' }, 'odd_option'],
    ['', 'openai: {odd_option: 1}', { max_tokens: 9 }, 'odd_option'],
    ['provider_register("openai", {chat_endpoint: "/v2/other"})\n', '', { model: 'gpt-4o' }, 'endpoint'],
  ])('%s%s: what may change a judged value is refused where a grant constrains it', async (before, own, grant, reason) => {
    seen = []
    answers = [ANSWER]
    const toServer: typeof fetch = (input, init) => fetch(String(input).replace(/^https:\/\/[^/]+/, base), init)
    const env = { OPENAI_API_KEY: 'k' }
    const providers = [llmProvider({ env, fetch: toServer }), memoryProcess({ env })]
    const runtime = createRuntime({ providers, grants: ['*'], toolGrants: { 'llm.chat': grant } })
    const { output } = await runtime.start(runtime.compile(before + ask(own))).result
    expect(output).toContain(reason)
    expect(seen).toEqual([])
    expect((await runtime.start(runtime.compile(ask(''))).result).output).toBe('ok\n')
  })

  test('an address with a query takes no path of ours', async () => {
    const source = `provider_register("openai", {base_url: "https://api.openai.com/v1/other?"})\n${ask('')}`
    expect(await run(source, { OPENAI_API_KEY: 'k' }, [ANSWER])).toContain('base URL')
    expect(seen).toEqual([])
  })
})

test('the limit of a grant is the usual number of tokens', async () => {
  seen = []
  answers = [{ status: 200, body: { choices: [{ message: { content: 'ok' } }] } }]
  const env = { OPENAI_API_KEY: 'k' }
  const toServer: typeof fetch = (input, init) => fetch(String(input).replace(/^https:\/\/[^/]+/, base), init)
  const providers = [llmProvider({ env, fetch: toServer }), memoryProcess({ env })]
  const runtime = createRuntime({ providers, grants: ['*'], toolGrants: { llm: { max_tokens: 70 } } })
  expect(await runtime.run('return llm_call("hi", nil, {provider: "openai", model: "gpt-4o"}).text', { effects: 'off' })).toBe(
    'ok',
  )
  expect(seen[0]!.body).toMatchObject({ max_tokens: 70 })
  const more =
    'return try { llm_call("hi", nil, {provider: "openai", model: "gpt-4o", max_tokens: 71}) } catch (e) { e?.message ?? e }'
  expect(await runtime.run(more, { effects: 'off' })).toContain('max_tokens 71 exceeds allowed 70')
})

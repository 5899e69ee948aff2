// Models of the AI SDK as models of scripts, with the mock models of the real packages.

import { MockLanguageModelV4, convertArrayToReadableStream } from 'ai/test'
import { APICallError } from 'ai'
import { MockLanguageModelV3 } from 'ai6/test'
import { describe, expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { aiProvider } from './ai-provider.js'
import type { AiProviderOptions, AiSdkModels } from './ai-provider.js'

const usage = {
  inputTokens: { total: 12, noCache: 4, cacheRead: 8, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
}
type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool-call'; readonly toolCallId: string; readonly toolName: string; readonly input: string }

const say = (...content: readonly Content[]) => ({
  content: [...content],
  finishReason: {
    unified: content.some(({ type }) => type === 'tool-call') ? ('tool-calls' as const) : ('stop' as const),
    raw: undefined,
  },
  usage,
  warnings: [],
})
const text = (words: string): Content => ({ type: 'text', text: words })

async function run(models: AiSdkModels, source: string, options: AiProviderOptions = {}) {
  const runtime = createRuntime({ providers: [aiProvider(models, options)], grants: ['llm'] })
  const result = await runtime.start(runtime.compile(source)).result
  return result.status === 'failed' ? `! ${result.error.message}` : result.output
}

describe('a call', () => {
  test.each([
    ['v4', new MockLanguageModelV4({ provider: 'openai.chat', modelId: 'gpt-5', doGenerate: [say(text('Hello Ada'))] })],
    ['v3', new MockLanguageModelV3({ provider: 'openai.chat', modelId: 'gpt-5', doGenerate: [say(text('Hello Ada'))] })],
  ])('of a model of specification %s', async (_name, model) => {
    const output = await run(
      model,
      `let r = llm_call("Greet Ada", "Be short", {temperature: 0.5, max_tokens: 50, stop: ["!"]})
println(r.text)
println([r.model, r.input_tokens, r.output_tokens, r.cache_read_tokens])`,
    )
    expect(output).toBe('Hello Ada\n[gpt-5, 12, 5, 8]\n')
    expect(model.doGenerateCalls[0]).toMatchObject({
      prompt: [
        { role: 'system', content: 'Be short' },
        { role: 'user', content: [{ type: 'text', text: 'Greet Ada' }] },
      ],
      temperature: 0.5,
      maxOutputTokens: 50,
      stopSequences: ['!'],
    })
  })

  test('of one model among several, by its name', async () => {
    const make = (words: string, modelId: string) =>
      new MockLanguageModelV4({ provider: 'openai.chat', modelId, doGenerate: () => Promise.resolve(say(text(words))) })
    const models = { fast: make('fast', 'small'), 'openai/gpt-5': make('big', 'gpt-5') }
    const ask = (options: string) => run(models, `println(try { llm_call("x", nil, ${options}).text } catch (e) { e.message })`)
    expect(await ask('{}')).toBe('fast\n')
    expect(await ask('{model: "openai/gpt-5"}')).toBe('big\n')
    expect(await ask('{provider: "openai", model: "gpt-5"}')).toBe('big\n')
    expect(await ask('{provider: "anthropic", model: "fast"}')).toBe('fast\n')
    expect(await ask('{model: "openai/gpt-6"}')).toMatch(/there is no model 'openai\/gpt-6' here.*there is fast, openai\/gpt-5/)
    expect(await ask('{provider: "ollama"}')).toMatch(/there is no model 'ollama\//)
  })

  test('a failure has its category', async () => {
    const failWith = (statusCode: number) =>
      new MockLanguageModelV4({
        provider: 'p',
        modelId: 'm',
        doGenerate: () =>
          Promise.reject(
            new APICallError({
              message: `HTTP ${statusCode}`,
              url: 'https://p.test',
              requestBodyValues: {},
              statusCode,
              isRetryable: false,
            }),
          ),
      })
    const ask = (code: number) =>
      run(failWith(code), 'println(try { llm_call("x", nil, {llm_retries: 0}) } catch (e) { e.category })')
    expect(await ask(401)).toBe('auth\n')
    expect(await ask(429)).toBe('rate_limit\n')
    expect(await ask(500)).toBe('server_error\n')
  })

  test('a value that is not a model is refused', () => {
    expect(() => aiProvider({})).toThrow('give at least one model')
    expect(() => aiProvider({ a: {} as never })).toThrow('"a" is no model of the AI SDK')
  })
})

test('structured output', async () => {
  const model = new MockLanguageModelV4({ provider: 'p', modelId: 'm', doGenerate: [say(text('{"name": "Ada", "age": 36}'))] })
  const source = `let r = llm_call("Who?", nil, {output: "json_schema", response_format: "json", schema: {type: "object", properties: {name: {type: "string"}, age: {type: "integer"}}}})
println(r.data.name)`
  expect(await run(model, source)).toBe('Ada\n')
  expect(model.doGenerateCalls[0]!.responseFormat).toMatchObject({ type: 'json' })
})

test('tool calls, through an agent loop', async () => {
  const call: Content = { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a": 2, "b": 3}' }
  const model = new MockLanguageModelV4({
    provider: 'openai.chat',
    modelId: 'gpt-5',
    doGenerate: [say(call), say(text('It is 5.'))],
  })
  const source = `
var tools = tool_registry()
tools = tool_define(tools, "add", "Adds", {parameters: {a: "int", b: "int"}, handler: { x -> x.a + x.b }})
let r = agent_loop("2 + 3?", nil, {tools: tools, tool_format: "native", max_iterations: 3, model: "openai/gpt-5"})
println(r.text ?? r.visible_text)
`
  expect(await run(model, source)).toContain('It is 5.')
  expect(model.doGenerateCalls[0]!.tools).toMatchObject([{ type: 'function', name: 'add', inputSchema: { type: 'object' } }])
  expect(model.doGenerateCalls[1]!.prompt.slice(-2)).toMatchObject([
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: { a: 2, b: 3 } }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'add' }] },
  ])
})

test('streaming: the host sees the pieces, the script the whole', async () => {
  const parts = [
    { type: 'stream-start' as const, warnings: [] },
    { type: 'reasoning-start' as const, id: 'r' },
    { type: 'reasoning-delta' as const, id: 'r', delta: 'hm' },
    { type: 'reasoning-end' as const, id: 'r' },
    { type: 'text-start' as const, id: 't' },
    { type: 'text-delta' as const, id: 't', delta: 'Hello ' },
    { type: 'text-delta' as const, id: 't', delta: 'Ada' },
    { type: 'text-end' as const, id: 't' },
    { type: 'finish' as const, finishReason: { unified: 'stop' as const, raw: undefined }, usage },
  ]
  const model = new MockLanguageModelV4({
    provider: 'p',
    modelId: 'm',
    doStream: () => Promise.resolve({ stream: convertArrayToReadableStream(parts) as never }),
  })
  const seen: string[] = []
  const output = await run(model, 'let r = llm_call("x")\nprintln(r.text)\nprintln(r.thinking)', {
    onDelta: ({ type, text: piece }) => void seen.push(`${type}:${piece}`),
  })
  expect(output).toBe('Hello Ada\nhm\n')
  expect(seen).toEqual(['reasoning:hm', 'text:Hello ', 'text:Ada'])
})

describe('pieces', () => {
  const parts = [
    { type: 'stream-start' as const, warnings: [] },
    { type: 'reasoning-start' as const, id: 'r' },
    { type: 'reasoning-delta' as const, id: 'r', delta: 'hm' },
    { type: 'text-start' as const, id: 't' },
    { type: 'text-delta' as const, id: 't', delta: 'Hel' },
    { type: 'text-delta' as const, id: 't', delta: 'lo' },
    { type: 'tool-input-start' as const, id: 'c', toolName: 'look' },
    { type: 'tool-input-delta' as const, id: 'c', delta: '{"path":"a"}' },
    { type: 'tool-call' as const, toolCallId: 'c', toolName: 'look', input: '{"path":"a"}' },
    { type: 'finish' as const, finishReason: { unified: 'stop' as const, raw: undefined }, usage },
  ]
  const source = `try {
  for p in llm_stream("x", nil, {provider: "openai", model: "gpt-5", deltas: true}) {
    let r = p.response
    println(r == nil ? "\${p.type} <\${p.text}>" : "\${p.type} \${r.text} \${r.tool_calls} \${r.output_tokens}")
  }
} catch (e) { println("\${e.category} \${e.message}") }`
  const makeModel = (given: readonly (typeof parts)[number][]) =>
    new MockLanguageModelV4({
      provider: 'openai.chat',
      modelId: 'gpt-5',
      doStream: async () => ({ stream: convertArrayToReadableStream([...given]) }),
    })

  test('reach the script, then the answer', async () => {
    expect(await run(makeModel(parts), source)).toBe(
      'reasoning <hm>\ntext <Hel>\ntext <lo>\ntool_call <>\ntool_call <{"path":"a"}>\n' +
        'end Hello [{arguments: {path: a}, id: c, name: look, type: tool_call}] 5\n',
    )
  })

  test('a stream that breaks off is not an answer', async () => {
    expect(await run(makeModel(parts.slice(0, 5)), source)).toBe(
      'reasoning <hm>\ntext <Hel>\ntransient_network stream error: the answer broke off before its end\n',
    )
  })

  test('an abandoned stream ends the stream of the model', async () => {
    let isCancelled = false
    const model = new MockLanguageModelV4({
      provider: 'openai.chat',
      modelId: 'gpt-5',
      doStream: async () => ({
        stream: new ReadableStream({
          pull(controller) {
            controller.enqueue({ type: 'text-delta' as const, id: 't', delta: 'x' })
          },
          cancel() {
            isCancelled = true
          },
        }),
      }),
    })
    const output = await run(
      model,
      'let ch = llm_stream("x", nil, {provider: "openai", model: "gpt-5"})\nprintln(receive(ch))\nclose_channel(ch)',
    )
    expect(output).toBe('x\n')
    expect(isCancelled).toBe(true)
  })
})

const REASONED = [
  { type: 'reasoning' as const, text: 'hm', providerMetadata: { anthropic: { signature: 's1' } } },
  {
    type: 'tool-call' as const,
    toolCallId: 'c1',
    toolName: 'add',
    input: '{"a": 2}',
    providerMetadata: { google: { thoughtSignature: 's2' } },
  },
]
const LOOP = (more = ''): string => `
let tools = tool_define(tool_registry(), "add", "Adds", {parameters: {a: "int"}, handler: { x -> throw "too large" }})
let r = agent_loop("2?", nil, {tools: tools, tool_format: "native", max_iterations: 2, model: "openai/m"${more}})
println(r.status)`

test.each([false, true])(
  'signed reasoning goes back with its calls, and failures are marked (streamed: %s)',
  async (isStreamed) => {
    const end = { type: 'finish' as const, finishReason: { unified: 'tool-calls' as const, raw: undefined }, usage }
    const stream = (...parts: readonly unknown[]) => ({ stream: convertArrayToReadableStream([...parts, end] as never[]) })
    const model = new MockLanguageModelV4({
      provider: 'openai.chat',
      modelId: 'm',
      doGenerate: [{ ...say(), content: REASONED }, say(text('done ##DONE##'))] as never,
      doStream: [
        stream(
          { type: 'reasoning-start', id: 'r' },
          { type: 'reasoning-delta', id: 'r', delta: 'hm' },
          { type: 'reasoning-end', id: 'r', providerMetadata: REASONED[0]!.providerMetadata },
          REASONED[1],
        ),
        stream({ type: 'text-delta', id: 't', delta: 'done ##DONE##' }),
      ] as never,
    })
    expect(await run(model, LOOP(isStreamed ? ', stream: true' : ''))).toBe('done\n')
    const calls = isStreamed ? model.doStreamCalls : model.doGenerateCalls
    expect(calls[1]!.prompt.slice(-2)).toMatchObject([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 's1' } } },
          {
            type: 'tool-call',
            toolCallId: 'c1',
            toolName: 'add',
            input: { a: 2 },
            providerOptions: { google: { thoughtSignature: 's2' } },
          },
        ],
      },
      { role: 'tool', content: [{ output: { type: 'error-text', value: 'Error: Thrown: too large' } }] },
    ])
  },
)

test('a model that falls silent is left after idle_timeout', async () => {
  const model = new MockLanguageModelV4({
    provider: 'p',
    modelId: 'm',
    doStream: {
      stream: new ReadableStream({ start: (control) => control.enqueue({ type: 'text-delta', id: 't', delta: 'a' }) }),
    },
  })
  const ask =
    'println(try { llm_call("x", nil, {stream: true, idle_timeout: 0.01, llm_retries: 0}).text } catch (e) { "${e.category}" })'
  expect(await run(model, ask)).toBe('timeout\n')
})

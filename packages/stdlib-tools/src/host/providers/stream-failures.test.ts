// Answers that come in pieces and fail on the way, on each wire: what came stays, and the error has the category that the same error has where it
// comes at once.

import { expect, test } from 'vitest'
import { createRuntime } from '../runtime.js'
import { memoryProcess } from './memory.js'
import { llmProvider } from './models.js'

const KEYS = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o', GEMINI_API_KEY: 'g' }

async function run(model: string, pieces: readonly string[], failure: Error | null = null): Promise<string> {
  const lines = [...pieces]
  const respond: typeof fetch = () => {
    const type = model.startsWith('ollama') ? 'application/x-ndjson' : 'text/event-stream'
    const encoder = new TextEncoder()
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const next = lines.shift()
        if (next !== undefined) controller.enqueue(encoder.encode(next))
        else if (failure === null) controller.close()
        else controller.error(failure)
      },
    })
    return Promise.resolve(new Response(body, { headers: { 'content-type': type } }))
  }
  const source = `
try {
  for piece in llm_stream("hi", nil, {model: "${model}"}) { println("<\${piece}>") }
  println("whole")
} catch (e) { println("\${e.category} \${e.kind}") }`
  const runtime = createRuntime({
    providers: [llmProvider({ env: KEYS, fetch: respond }), memoryProcess({ env: KEYS })],
    grants: ['*'],
  })
  const result = await runtime.start(runtime.compile(source)).result
  return result.status === 'failed' ? `${result.output}! ${result.error.message}` : result.output
}

const data = (event: object, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`

const CLAUDE = [
  data({ type: 'message_start', message: { model: 'claude-sonnet-4-5', usage: { input_tokens: 1 } } }, 'message_start'),
  data({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, 'content_block_start'),
  data({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'tea' } }, 'content_block_delta'),
]
const RESPONSES = [
  data({ type: 'response.created', response: { status: 'in_progress' } }),
  data({ type: 'response.output_text.delta', delta: 'tea' }),
]
const GEMINI = [data({ candidates: [{ content: { parts: [{ text: 'tea' }] } }] })]
const OLLAMA = [`${JSON.stringify({ message: { content: 'tea' }, done: false })}\n`]
const OPENAI = [data({ choices: [{ delta: { content: 'tea' } }] })]

const BEGINNINGS: readonly (readonly [string, readonly string[]])[] = [
  ['anthropic/claude-sonnet-4-5', CLAUDE],
  ['openai/gpt-4o', OPENAI],
  ['openai/gpt-5.5', RESPONSES],
  ['gemini/gemini-3-pro', GEMINI],
  ['ollama/qwen3', OLLAMA],
]

test.each<[string, string, readonly string[], string]>([
  [
    'anthropic/claude-sonnet-4-5',
    'the service is overloaded',
    [...CLAUDE, data({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'error')],
    'overloaded transient',
  ],
  [
    'openai/gpt-4o',
    'too many requests',
    [...OPENAI, data({ error: { type: 'rate_limit_exceeded', message: 'slow down' } })],
    'rate_limit transient',
  ],
  [
    'openai/gpt-5.5',
    'an event for an error',
    [...RESPONSES, data({ type: 'error', code: 'server_error', message: 'it broke' })],
    'server_error transient',
  ],
  [
    'openai/gpt-5.5',
    'an answer that failed',
    [
      ...RESPONSES,
      data({ type: 'response.failed', response: { status: 'failed', error: { code: 'server_error', message: 'it broke' } } }),
    ],
    'server_error transient',
  ],
  [
    'gemini/gemini-3-pro',
    'the service is away',
    [...GEMINI, data({ error: { code: 503, message: 'away', status: 'UNAVAILABLE' } })],
    'overloaded transient',
  ],
  [
    'ollama/qwen3',
    'the model ended',
    [...OLLAMA, `${JSON.stringify({ error: 'runner process has terminated' })}\n`],
    'server_error transient',
  ],
])('%s: %s', async (model, _name, pieces, expected) => {
  expect(await run(model, pieces)).toBe(`<tea>\n${expected}\n`)
})

test.each(BEGINNINGS)('%s: an answer without its end, and a connection that breaks', async (model, pieces) => {
  expect(await run(model, pieces)).toBe('<tea>\ntransient_network transient\n')
  expect(await run(model, pieces, new TypeError('terminated'))).toBe('<tea>\ntransient_network transient\n')
})

test.each(BEGINNINGS)('%s: an event that is not JSON', async (model, pieces) => {
  const broken = model.startsWith('ollama') ? '{"message\n' : 'data: {"cho\n\n'
  expect(await run(model, [...pieces, broken])).toBe('<tea>\ntransient_network transient\n')
})

// Streamed answers end to end: a script, the machine, the real client, and a server on this machine that speaks the protocols in pieces.

import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MemoryJournal } from '../journal.js'
import { createRuntime } from '../runtime.js'
import type { Runtime } from '../runtime.js'
import { memoryProcess } from './memory.js'
import { llmProvider } from './models.js'

type Serve = (response: ServerResponse, body: { readonly [key: string]: unknown }, url: string) => void | Promise<void>

let server: Server
let base: string
let serve: Serve = (response) => void response.end()
let bodies: { readonly [key: string]: unknown }[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece: Buffer) => (text += piece.toString()))
    request.on('end', () => {
      const body = JSON.parse(text) as { readonly [key: string]: unknown }
      bodies.push(body)
      void serve(response, body, request.url ?? '')
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.closeAllConnections()
  return new Promise((done) => server.close(done))
})

const ENV = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k', GOOGLE_API_KEY: 'k' }

function makeRuntime(): Runtime {
  const toServer: typeof fetch = (input, init) => fetch(String(input).replace(/^https?:\/\/[^/]+/, base), init)
  return createRuntime({ providers: [llmProvider({ env: ENV, fetch: toServer }), memoryProcess({ env: ENV })], grants: ['*'] })
}

async function run(source: string, by: Serve, runtime = makeRuntime()): Promise<string> {
  bodies = []
  serve = by
  const result = await runtime.start(runtime.compile(source)).result
  return result.status === 'failed' ? `${result.output}! ${result.error.message}` : `${result.output}`
}

/** Sends bytes so that chunks end anywhere. */
function inPieces(text: string, size: number, type = 'text/event-stream'): Serve {
  return async (response) => {
    response.writeHead(200, { 'content-type': type })
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += size)
      await new Promise<void>((sent) => response.write(bytes.subarray(at, at + size), () => sent()))
    response.end()
  }
}

const sse = (...events: readonly unknown[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

function openaiText(...pieces: readonly string[]): string {
  const chunks = pieces.map((content) => ({ model: 'gpt-4o', choices: [{ index: 0, delta: { content } }] }))
  return `${sse(
    ...chunks,
    { model: 'gpt-4o', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { model: 'gpt-4o', choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } },
  )}data: [DONE]\n\n`
}

const ALL = (provider: string, model: string): string => `
for d in llm_stream("hi", nil, {provider: "${provider}", model: "${model}", deltas: true}) {
  if d.type == "end" {
    let r = d.response
    println("end \${r.text} | \${r.tool_calls} | \${r.input_tokens} \${r.output_tokens} | \${r.stop_reason} | \${r.model}")
  } else if d.type == "tool_call" {
    println("\${d.index} \${d.id} \${d.name} <\${d.text}>")
  } else {
    println("\${d.type} <\${d.text}>")
  }
}
`

test('OpenAI: text, reasoning and calls, with comments, CRLF and chunks that end anywhere', async () => {
  const call = (index: number, more: object): object => ({ choices: [{ delta: { tool_calls: [{ index, ...more }] } }] })
  const text = `: ping\n\n${sse(
    { model: 'gpt-4o', choices: [{ delta: { role: 'assistant', content: '' } }] },
    { choices: [{ delta: { reasoning_content: 'hm' } }] },
    { choices: [{ delta: { content: 'Grüße ' } }] },
    { choices: [{ delta: { content: '🙂' } }] },
    call(0, { id: 'a', function: { name: 'look', arguments: '' } }),
    call(0, { function: { arguments: '{"path":' } }),
    call(1, { id: 'b', function: { name: 'see', arguments: '{}' } }),
    call(0, { function: { arguments: '"x"}' } }),
    { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
    { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } },
  )}data: [DONE]\n\n`.replaceAll('\n', '\r\n')
  const output = await run(ALL('openai', 'gpt-4o'), inPieces(text, 7))
  expect(output).toBe(
    'reasoning <hm>\ntext <Grüße >\ntext <🙂>\n0 a look <>\n0 a look <{"path":>\n1 b see <{}>\n0 a look <"x"}>\n' +
      'end Grüße 🙂 | [{arguments: {path: x}, id: a, name: look, type: tool_call}, {arguments: {}, id: b, name: see, type: tool_call}]' +
      ' | 5 2 | tool_calls | gpt-4o\n',
  )
  expect(bodies[0]).toMatchObject({ stream: true, stream_options: { include_usage: true } })
})

test('Anthropic: thinking, text and a call', async () => {
  const text = [
    { type: 'message_start', message: { model: 'claude-sonnet-4', usage: { input_tokens: 9, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'ping' },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's1' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hello' } },
    { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 't1', name: 'look', input: {} } },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"pa' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: 'th":"ü"}' } },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
  const output = await run(ALL('anthropic', 'claude-sonnet-4-20250514'), inPieces(text, 5))
  expect(output).toBe(
    'reasoning <hm>\ntext <Hello>\n0 t1 look <>\n0 t1 look <{"pa>\n0 t1 look <th":"ü"}>\n' +
      'end Hello | [{arguments: {path: ü}, id: t1, name: look, type: tool_call}] | 9 7 | tool_use | claude-sonnet-4\n',
  )
})

test('Gemini', async () => {
  let asked = ''
  const text = sse(
    { candidates: [{ content: { parts: [{ text: 'hm', thought: true }] } }], modelVersion: 'gemini-2.5-pro' },
    { candidates: [{ content: { parts: [{ text: 'Hel' }] } }], modelVersion: 'gemini-2.5-pro' },
    {
      candidates: [
        { content: { parts: [{ text: 'lo' }, { functionCall: { name: 'look', args: { path: 'a' } } }] }, finishReason: 'STOP' },
      ],
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 3 },
      modelVersion: 'gemini-2.5-pro',
    },
  )
  const output = await run(ALL('gemini', 'gemini-2.5-pro'), (response, body, url) => {
    asked = url
    return inPieces(text, 11)(response, body, url)
  })
  expect(asked).toBe('/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse')
  expect(output).toBe(
    'reasoning <hm>\ntext <Hel>\ntext <lo>\n0 call_1 look <{"path":"a"}>\n' +
      'end Hello | [{arguments: {path: a}, id: call_1, name: look, type: tool_call}] | 4 3 | stop | gemini-2.5-pro\n',
  )
})

test('Ollama: lines of JSON', async () => {
  const lines = [
    { model: 'llama3', message: { thinking: 'hm', content: '' }, done: false },
    { model: 'llama3', message: { content: 'Hel' }, done: false },
    {
      model: 'llama3',
      message: { content: 'lo', tool_calls: [{ function: { name: 'look', arguments: { path: 'a' } } }] },
      done: false,
    },
    { model: 'llama3', message: { content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 4, eval_count: 3 },
  ]
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const output = await run(ALL('ollama', 'llama3'), inPieces(text, 9, 'application/x-ndjson'))
  expect(output).toBe(
    'reasoning <hm>\ntext <Hel>\ntext <lo>\n0 call_1 look <{"path":"a"}>\n' +
      'end Hello | [{arguments: {path: a}, id: call_1, name: look, type: tool_call}] | 4 3 | stop | llama3\n',
  )
})

const WORDS = `
try {
  for word in llm_stream("hi", nil, {provider: "openai", model: "gpt-4o"}) { println("<\${word}>") }
} catch (e) { println("\${e.category} \${e.kind} \${e.message}") }
`

test('what goes wrong in the midst is raised behind the pieces that came', async () => {
  const first = sse({ choices: [{ delta: { content: 'a' } }] })
  const failed = sse({ error: { type: 'overloaded_error', message: 'Overloaded' } })
  expect(await run(WORDS, inPieces(first + failed, 999))).toBe('<a>\noverloaded transient overloaded_error: Overloaded\n')
  expect(await run(WORDS, inPieces(first, 999))).toBe(
    '<a>\ntransient_network transient stream error: the answer broke off before its end\n',
  )
  expect(await run(WORDS, inPieces(`${first}data: {"choi\n\n`, 999))).toMatch(
    /^<a>\ntransient_network transient stream error: an event is no JSON/,
  )
  const cut: Serve = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(first, () => response.destroy())
  }
  expect(await run(WORDS, cut)).toMatch(/^<a>\ntransient_network transient connection (?:closed|reset)/)
})

test('what the service refuses is raised where the stream is opened', async () => {
  const refuse: Serve = (response) =>
    void response.writeHead(401).end('{"error":{"message":"bad key","type":"authentication_error"}}')
  expect(await run(WORDS, refuse)).toBe('auth terminal HTTP 401: authentication_error: bad key\n')
})

test('a service that does not stream answers at once', async () => {
  const whole: Serve = (response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ choices: [{ message: { content: 'a b' }, finish_reason: 'stop' }] }))
  expect(await run(WORDS, whole)).toBe('<a>\n< b>\n')
})

test('closing the channel ends the request', async () => {
  const piece = sse({ choices: [{ delta: { content: 'x'.repeat(64 << 10) } }] })
  let closed: () => void = () => {}
  const isClosed = new Promise<void>((resolve) => (closed = resolve))
  const endless: Serve = async (response) => {
    response.on('close', () => closed())
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    while (!response.destroyed) {
      if (!response.write(piece)) await Promise.race([new Promise((drained) => response.once('drain', drained)), isClosed])
    }
  }
  const output = await run(
    `let ch = llm_stream("hi", nil, {provider: "openai", model: "gpt-4o"})
println(len(receive(ch)))
close_channel(ch)
var left = 0
for x in ch { left = left + 1 }
println(left <= 16)`,
    endless,
  )
  await isClosed
  expect(output).toBe('65536\ntrue\n')
})

test('a host receives the pieces, their end, and the restart of an answer', async () => {
  let asked = 0
  serve = (response, body, url) =>
    inPieces(asked++ === 0 ? sse({ choices: [{ delta: { content: 'lo' } }] }) : openaiText('Hel', 'lo'), 999)(response, body, url)
  const runtime = makeRuntime()
  const source = `let r = llm_call("hi", nil, {provider: "openai", model: "gpt-4o", stream: true, llm_backoff_ms: 1, llm_retries: 2})
println(r.text)`
  const told: unknown[] = []
  const started = runtime.start(runtime.compile(source), {
    onEvent: (event) => {
      if (event.type === 'model_delta') told.push([event.answer, event.provider, event.model, event.delta])
    },
  })
  expect((await started.result).output).toBe('Hello\n')
  const [first, second] = ['answer_1', 'answer_2'].map((answer) => (delta: object) => [answer, 'openai', 'gpt-4o', delta])
  expect(told).toEqual([
    first!({ type: 'text', text: 'lo' }),
    first!({ type: 'end', ok: false }),
    first!({ type: 'restart' }),
    second!({ type: 'text', text: 'Hel' }),
    second!({ type: 'text', text: 'lo' }),
    second!({ type: 'end', ok: true }),
  ])
})

test('and of those that a mock gives whole: reasoning, text, calls', async () => {
  const runtime = makeRuntime()
  const source = `llm_mock({text: "Two words", thinking: "Hm", tool_calls: [{name: "add", arguments: {n: 1}}]})
llm_call("hi", nil, {provider: "mock", stream: true})`
  const told: unknown[] = []
  const started = runtime.start(runtime.compile(source), {
    onEvent: (event) => (event.type === 'model_delta' ? void told.push(event.delta) : undefined),
  })
  expect((await started.result).status).toBe('done')
  expect(told).toEqual([
    { type: 'reasoning', text: 'Hm' },
    { type: 'text', text: 'Two' },
    { type: 'text', text: ' words' },
    { type: 'tool_call', index: 0, id: expect.any(String) as string, name: 'add', text: '{"n":1}' },
    { type: 'end', ok: true },
  ])
})

test('a run that is cancelled ends its request', async () => {
  let closed: () => void = () => {}
  const isClosed = new Promise<void>((resolve) => (closed = resolve))
  serve = (response) => {
    response.on('close', () => closed())
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(sse({ choices: [{ delta: { content: 'a' } }] }))
  }
  const runtime = makeRuntime()
  const started = runtime.start(runtime.compile(`${WORDS}`))
  for await (const event of started.events()) if (event.type === 'output' && event.text.includes('<a>')) break
  started.cancel('enough')
  await isClosed
  expect((await started.result).status).toBe('cancelled')
})

test('the journal has the pieces: a replay makes no request', async () => {
  const journal = new MemoryJournal()
  const runtime = makeRuntime()
  serve = inPieces(openaiText('a', ' b'), 30)
  const module = runtime.compile(WORDS)
  const result = await runtime.start(module, { journal }).result
  expect(result.output).toBe('<a>\n< b>\n')
  bodies = []
  const again = runtime.replay(module, journal.entries)
  expect(again.output).toBe(result.output)
  expect(bodies).toEqual([])
})

test('a run that is resumed in another process gets an error for the lost stream', async () => {
  serve = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(sse({ choices: [{ delta: { content: 'a' } }] }))
  }
  const runtime = makeRuntime()
  const source = `try {
  for word in llm_stream("hi", nil, {provider: "openai", model: "gpt-4o"}) { println("<\${word}>") }
} catch (e) { println("\${e.category} \${e.kind} \${e.message}") }`
  const started = runtime.start(runtime.compile(source))
  for await (const event of started.events()) if (event.type === 'output') break
  const bytes = await started.snapshot()
  started.cancel('moved')
  await started.result
  const result = await makeRuntime().resume(bytes).result
  expect(result.output).toContain(
    'transient_network transient stream error: the connection to openai/gpt-4o is lost after 1 pieces: the run went on in another process',
  )
})

test('a loop hears the pieces, and asks again where a stream breaks off', async () => {
  let asked = 0
  const source = `
let id = agent_session_open("s")
let heard = channel("heard", 99)
agent_subscribe(id, { e -> if e.type == "message_delta" { send(heard, "\${e.delta.type} <\${e.delta.text}>") } })
let r = agent_loop("hi", nil, {provider: "openai", model: "gpt-4o", session_id: id, stream: true, llm_backoff_ms: 1})
close_channel(heard)
for line in heard { println(line) }
println("\${r.visible_text} \${r.llm.input_tokens} \${r.llm.output_tokens}")`
  const output = await run(source, (response, body, url) =>
    inPieces(asked++ === 0 ? sse({ choices: [{ delta: { content: 'lo' } }] }) : openaiText('Hel', 'lo'), 999)(
      response,
      body,
      url,
    ),
  )
  expect(output).toBe('text <lo>\nrestart <>\ntext <Hel>\ntext <lo>\nHello 5 2\n')
})

test('a traced run shows one call with what it used', async () => {
  serve = inPieces(openaiText('a', ' b'), 999)
  const runtime = makeRuntime()
  const started = runtime.start(runtime.compile(WORDS), { tracing: { sinks: [] } })
  const calls: unknown[] = []
  for await (const event of started.events())
    if (event.type === 'trace' && event.event.kind === 'tool_call' && event.event.tool_id === 'llm.chat')
      calls.push(event.event.details)
  await started.result
  expect(calls).toHaveLength(1)
  expect(calls[0]).toMatchObject({ success: true, executor: 'builtin' })
})

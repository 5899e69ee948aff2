// A served script against a client that means it no good: raw lines. After each attack it still answers, by JSON-RPC.

import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { StreamTransport } from '../tools/executors/stream-transport.js'
import { McpServerConnection } from './server.js'
import { ExportedBackend } from './server-exports.js'

interface Message {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

const SOURCE = `
pub fn add(a: int, constructor: string = "c") -> int { return a }
pub fn toString() { return "ts" }
pub fn constructor(x) { return "made" }
`

let input: PassThrough
let heard: Message[]
let wake: () => void
let asked: number
let server: McpServerConnection

const writeRaw = (line: string): void => void input.write(`${line}\n`)

async function waitUntil(accepts: (message: Message) => boolean): Promise<Message> {
  for (;;) {
    const found = heard.find(accepts)
    if (found !== undefined) return found
    await new Promise<void>((woken) => (wake = woken))
  }
}

/** `params` as JSON text. */
function request(method: string, params: string): Promise<Message> {
  const id = `q${++asked}`
  writeRaw(`{"jsonrpc":"2.0","id":"${id}","method":${JSON.stringify(method)},"params":${params}}`)
  return waitUntil((message) => message.id === id)
}

beforeEach(async () => {
  input = new PassThrough()
  heard = []
  asked = 0
  wake = () => {}
  const output = new PassThrough()
  let text = ''
  output.on('data', (chunk: Buffer) => {
    const lines = (text + chunk.toString()).split('\n')
    text = lines.pop()!
    heard.push(...lines.map((line) => JSON.parse(line) as Message))
    wake()
  })
  const runtime = createRuntime({ grants: ['*'], resolve: () => ({ kind: 'source', key: 'served.harn', text: SOURCE }) })
  const backend = new ExportedBackend(runtime, 'served.harn', SOURCE)
  server = new McpServerConnection(
    backend,
    { name: 's', version: '1' },
    new StreamTransport(input, output, { keepsIntegers: true }),
  )
  await server.start()
  await request('initialize', '{"capabilities":{},"clientInfo":{"name":"c","version":"1"}}')
})
afterEach(async () => {
  expect(await request('ping', '{}')).toHaveProperty('result')
  expect(JSON.stringify(heard)).not.toMatch(/Cannot (read|convert|mix)|is not (a function|iterable)|RangeError/)
  await server.close()
})

test.each<[string, string, number]>([
  ['no JSON', '{nope', -32_700],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32_600],
  ['null', 'null', -32_600],
  ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600],
  ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32_600],
  ['an endless id', '{"jsonrpc":"2.0","id":1e999,"method":"ping"}', -32_600],
  ['a method that is an object', '{"jsonrpc":"2.0","id":5,"method":{}}', -32_600],
])('%s is answered without an id', async (_, line, code) => {
  writeRaw(line)
  expect(await waitUntil(({ id }) => id === null)).toMatchObject({ error: { code } })
})

test.each<[string, string]>([
  ['__proto__', '{}'],
  ['constructor', '{}'],
  ['tools/call', '{"name":"__proto__"}'],
  ['tools/call', '{"name":"hasOwnProperty","arguments":{}}'],
  ['tools/call', '{"name":{"toString":5}}'],
  ['tools/call', '{"name":"add","arguments":{"a":{"toString":1}}}'],
  ['resources/read', '{"uri":{"toString":1}}'],
  ['resources/read', '{"uri":"__proto__"}'],
  ['prompts/get', '{"name":"__proto__"}'],
  ['prompts/get', '{"name":{"toString":1}}'],
  ['completion/complete', '{"ref":{"type":"ref/prompt","name":"__proto__"},"argument":{"name":"constructor","value":""}}'],
  ['completion/complete', '{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":{"toString":1},"value":[]}}'],
  ['completion/complete', '{}'],
  ['logging/setLevel', '{"level":"__proto__"}'],
  ['logging/setLevel', '{"level":{"toString":1}}'],
  ['tasks/get', '{"taskId":"__proto__"}'],
  ['harn.hitl.respond', '{"request_id":"__proto__"}'],
])('%s of %s is refused', async (method, params) => {
  const { error, result } = await request(method, params)
  expect(error !== undefined || (result as { readonly isError?: boolean }).isError === true).toBe(true)
})

test.each<[string, string]>([
  ['toString', '{}'],
  ['constructor', '{"x":1}'],
  ['add', '{"a":1,"constructor":"mine"}'],
])('a tool %s is a tool as any other', async (name, args) => {
  const { result } = await request('tools/call', `{"name":"${name}","arguments":${args}}`)
  expect(result).not.toMatchObject({ isError: true })
})

test.each(['null', '5', '[]', '"x"', '{"__proto__":{"a":5}}', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, '{"a":1e999}'])(
  'arguments that are %.30s are answered',
  async (args) => {
    expect(await request('tools/call', `{"name":"add","arguments":${args}}`)).toHaveProperty('id')
  },
)

test('answers and notices that belong to nothing', async () => {
  for (const line of [
    '{"jsonrpc":"2.0","id":5,"result":{}}',
    '{"jsonrpc":"2.0","id":{},"error":5}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"toString":1}}}',
    '{"jsonrpc":"2.0","method":"notifications/progress"}',
    '{"jsonrpc":"2.0","method":"__proto__"}',
    '{}',
  ])
    writeRaw(line)
  expect(await request('ping', '{}')).toHaveProperty('result')
  expect(await request('tools/list', '{"cursor":{"toString":1}}')).toHaveProperty('id')
})

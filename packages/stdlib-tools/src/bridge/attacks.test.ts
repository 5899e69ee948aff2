// An agent against a client that means it no good: raw lines on its standard input. After each attack it still answers, by JSON-RPC.

import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { StreamTransport } from '../tools/executors/stream-transport.js'
import { ACP_GLOBALS, AcpServer } from './acp.js'
import type { AcpSessionRecord } from './acp-sessions.js'

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly params?: { readonly [key: string]: unknown }
}

const MOST = 20

class Client {
  readonly heard: Message[] = []
  /** What is answered to requests of the agent: lines. */
  answer: (message: Message) => readonly string[] = ({ id }) => [
    JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'unknown' } }),
  ]
  readonly saved = new Map<string, AcpSessionRecord>()
  readonly server: AcpServer
  private readonly input = new PassThrough()
  private asked = 0
  private wake: () => void = () => {}

  constructor() {
    const output = new PassThrough()
    const runtime = createRuntime({ globals: ACP_GLOBALS, grants: ['approval'] })
    const module = runtime.compile('pipeline main() { println("got " + prompt) }')
    let made = 0
    this.server = new AcpServer(
      {
        runtime,
        module: () => module,
        newId: () => `s${++made}`,
        maxSessions: MOST,
        sessions: {
          save: (record) => void this.saved.set(record.id, record),
          load: (id) => this.saved.get(id) ?? null,
          list: () => [...this.saved.values()],
        },
      },
      new StreamTransport(this.input, output, { maxLineBytes: 1 << 20 }),
    )
    let text = ''
    output.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const lines = text.split('\n')
      text = lines.pop()!
      for (const line of lines) {
        const message = JSON.parse(line) as Message
        this.heard.push(message)
        if (message.method !== undefined && message.id !== undefined) for (const each of this.answer(message)) this.writeRaw(each)
      }
      this.wake()
    })
  }

  writeRaw(line: string): void {
    this.input.write(`${line}\n`)
  }

  async waitUntil(accepts: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.heard.find(accepts)
      if (found !== undefined) return found
      await new Promise<void>((woken) => (this.wake = woken))
    }
  }

  request(method: string, params?: unknown): Promise<Message> {
    const id = `q${++this.asked}`
    this.writeRaw(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return this.waitUntil((message) => message.id === id && message.method === undefined)
  }

  get complaints(): readonly number[] {
    return this.heard.flatMap(({ id, error }) => (id === null && error !== undefined ? [error.code] : []))
  }
}

let client: Client
beforeEach(async () => {
  client = new Client()
  await client.server.start()
})
afterEach(async () => {
  expect(await client.request('initialize', {})).toMatchObject({ result: { protocolVersion: 1 } })
  expect(JSON.stringify(client.heard)).not.toMatch(/Cannot (read|convert|destructure)|is not (a function|iterable)|RangeError/)
  await client.server.close()
})

test.each<[string, string, number]>([
  ['no JSON', '{nope', -32_700],
  ['bytes that are no text', '\u00ff\u00fe{', -32_700],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"initialize"}]', -32_600],
  ['null', 'null', -32_600],
  ['a text', '"initialize"', -32_600],
  ['an id that is an object', '{"jsonrpc":"2.0","id":{"a":1},"method":"session/new"}', -32_600],
  ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"session/new"}', -32_600],
  ['an id that no double holds', '{"jsonrpc":"2.0","id":9007199254740993,"method":"session/new"}', -32_600],
  ['an endless id', '{"jsonrpc":"2.0","id":1e999,"method":"session/new"}', -32_600],
  ['a method that is an object', '{"jsonrpc":"2.0","method":{"a":1}}', -32_600],
  ['a line of megabytes', `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"${'a'.repeat(3 << 20)}"}}`, -32_600],
])('%s is answered without an id', async (_, line, code) => {
  client.writeRaw(line)
  await client.waitUntil(({ id }) => id === null)
  expect(client.complaints).toEqual([code])
  expect(await client.request('session/list', {})).toMatchObject({ result: { sessions: [] } })
})

test.each<[string, unknown, number]>([
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty'].flatMap((name): [string, unknown, number][] => [
    [name, {}, -32_601],
    ['session/prompt', { sessionId: name }, -32_602],
    ['session/load', { sessionId: name }, -32_004],
    ['session/close', { sessionId: name }, -32_602],
    ['harn.hitl.respond', { request_id: name }, -32_000],
  ]),
  ['session/prompt', { sessionId: {} }, -32_602],
  ['session/prompt', ['s1'], -32_602],
  ['session/prompt', 5, -32_602],
  ['session/new', { cwd: 5 }, -32_602],
  ['session/new', { cwd: { toString: 5 } }, -32_602],
])('%s of %j is refused', async (method, params, code) => {
  expect(await client.request(method, params)).toMatchObject({ error: { code } })
})

test('keys that are doubled: the last one holds', async () => {
  client.writeRaw('{"jsonrpc":"2.0","id":1,"id":2,"method":"nope","method":"initialize"}')
  expect(await client.waitUntil(({ id }) => id === 2)).toHaveProperty('result')
  expect(client.heard.some(({ id }) => id === 1)).toBe(false)
})

test('unexpected answers, and answers to unknown requests', async () => {
  for (const id of [0, 1, 2, '__proto__', 'q1'])
    client.writeRaw(JSON.stringify({ jsonrpc: '2.0', id, result: { capabilities: {} } }))
  client.writeRaw('{"jsonrpc":"2.0","id":1,"error":5}')
  client.writeRaw('{"jsonrpc":"2.0","id":{},"result":5}')
  const { result } = (await client.request('session/new', {})) as { readonly result: { readonly sessionId: string } }
  expect(await client.request('session/prompt', { sessionId: result.sessionId, prompt: 'x' })).toMatchObject({
    result: { stopReason: 'completed' },
  })
})

describe('answers about capabilities', () => {
  test.each<[string, string]>([
    ['null', 'null'],
    ['a number', '5'],
    ['names of prototypes', '{"__proto__":{"operations":["x"]},"constructor":["toString","__proto__"]}'],
    ['texts that are no texts', '{"a":{"description":{"toString":5},"operations":{"b":{"description":{"toString":5}}}}}'],
    ['operations that are no names', '{"a":[{"toString":5},null,5,[]],"b":{"ops":[{"valueOf":1}]}}'],
    ['a deep answer', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ])('%s', async (_, result) => {
    // Each is given three times.
    client.answer = ({ id }) => Array.from({ length: 3 }, () => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`)
    await client.request('session/new', {})
    expect(await client.request('session/prompt', { sessionId: 's1', prompt: 'x' })).toMatchObject({
      result: { stopReason: 'completed' },
    })
  })

  test('an error that is none', async () => {
    client.answer = ({ id }) => [JSON.stringify({ jsonrpc: '2.0', id, error: { code: 'x', message: { toString: 5 } } })]
    await client.request('session/new', {})
    expect(await client.request('session/prompt', { sessionId: 's1', prompt: 'x' })).toHaveProperty('result')
  })
})

describe('sessions', () => {
  test('as many as are allowed, until one is closed', async () => {
    for (let at = 0; at < MOST; at++) expect(await client.request('session/new', {})).toHaveProperty('result')
    const refused = await client.request('session/new', {})
    expect(refused.error?.message).toBe('20 sessions are open, and no more may be; close one by session/close')
    expect(await client.request('session/fork', { sessionId: 's1' })).toMatchObject({ error: { code: -32_000 } })
    expect(await client.request('session/close', { sessionId: 's1' })).toMatchObject({ result: {} })
    expect(await client.request('session/prompt', { sessionId: 's1', prompt: 'x' })).toMatchObject({ error: { code: -32_602 } })
    expect(await client.request('session/new', {})).toHaveProperty('result')
  })

  test('a session that is closed while it works', async () => {
    await client.request('session/new', {})
    client.answer = () => []
    client.writeRaw('{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s1","prompt":"x"}}')
    const asked = await client.waitUntil(({ method }) => method === 'host/capabilities')
    await client.request('session/close', { sessionId: 's1' })
    client.writeRaw(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: {} }))
    expect(await client.waitUntil(({ id, method }) => id === 'p' && method === undefined)).toMatchObject({
      result: { stopReason: 'cancelled' },
    })
  })

  test('unread input is bounded', async () => {
    await client.request('session/new', {})
    const say = (content: string) => client.request('session/input', { sessionId: 's1', content })
    for (let at = 0; at < 5; at++) expect(await say('x'.repeat(1_000_000))).toHaveProperty('result')
    expect(await say('x')).toMatchObject({ error: { code: -32_000 } })
    await client.request('session/new', {})
    for (let at = 0; at < 1100; at++)
      client.writeRaw(JSON.stringify({ jsonrpc: '2.0', method: 'session/input', params: { sessionId: 's2', content: 'x' } }))
    expect(await client.request('session/input', { sessionId: 's2', content: 'x' })).toMatchObject({ error: { code: -32_000 } })
  })

  test('a fork takes no id that is taken, of a kept session neither, and no odd counts', async () => {
    client.saved.set('kept', { id: 'kept', cwd: '/', parent: null, branchedAt: null, title: null, turns: [] })
    await client.request('session/new', {})
    for (const more of [{ id: 'kept' }, { id: 's1' }, { id: {} }, { keep_first: 0.5 }, { keep_first: 'x' }, { branch_name: {} }])
      expect(await client.request('session/fork', { sessionId: 's1', ...more })).toMatchObject({ error: { code: -32_602 } })
    expect(await client.request('session/fork', { sessionId: 's1', id: '__proto__', keep_first: -5 })).toMatchObject({
      result: { sessionId: '__proto__', branched_at: 0 },
    })
    expect(client.saved.get('__proto__')).toMatchObject({ parent: 's1' })
  })

  test('an id that is used by three prompts at once', async () => {
    await client.request('session/new', {})
    for (let at = 0; at < 3; at++)
      client.writeRaw('{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s1","prompt":"x"}}')
    await client.waitUntil(({ id, result }) => id === 7 && result !== undefined)
    expect(client.heard.filter(({ id, error }) => id === 7 && error?.code === -32_602)).toHaveLength(2)
  })
})

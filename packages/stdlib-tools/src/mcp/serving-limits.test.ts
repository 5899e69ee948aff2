import { request } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { toMcpServer } from './host-backend.js'
import { serveHttp } from './server-http.js'
import type { HttpServer, HttpServerOptions } from './server-http.js'

let server: HttpServer | null = null
afterEach(async () => {
  await server?.close()
  server = null
})

async function serve(options: HttpServerOptions = {}): Promise<void> {
  server = await serveHttp(toMcpServer([]), { name: 's', version: '1' }, options)
}

interface Answer {
  readonly status: number
  readonly session: string | undefined
  readonly text: string
}

/** fetch does not let a test say what its Host and Origin are. */
function post(body: string, headers: { readonly [name: string]: string } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      server!.url,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      },
      (response) => {
        let text = ''
        response.on('data', (chunk) => (text += String(chunk)))
        response.on('end', () =>
          resolve({ status: response.statusCode!, session: response.headers['mcp-session-id'] as string | undefined, text }),
        )
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

const hello = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
})
const ping = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' })

describe('who may ask', () => {
  test.each<[string, { readonly [name: string]: string }, number]>([
    ['a program', {}, 200],
    ['a page of this machine', { origin: 'http://localhost:3000' }, 200],
    ['a page of a stranger', { origin: 'https://evil.example' }, 403],
    ['a page whose name begins alike', { origin: 'http://localhost.evil.example' }, 403],
    ['a page without a place', { origin: 'null' }, 403],
    ['a name that was bound anew', { host: 'evil.example' }, 403],
  ])('%s', async (_who, headers, status) => {
    await serve()
    expect((await post(hello, headers)).status).toBe(status)
  })

  test('origins that the host allows', async () => {
    await serve({ allowedOrigins: ['https://app.example'] })
    expect((await post(hello, { origin: 'https://app.example' })).status).toBe(200)
    expect((await post(hello, { origin: 'https://app.example.evil' })).status).toBe(403)
  })
})

test('the session that is idle for longest makes room', async () => {
  await serve({ maxSessions: 2 })
  const [first, second] = [await post(hello), await post(hello)]
  expect((await post(ping, { 'mcp-session-id': first.session! })).status).toBe(200)
  const third = await post(hello)
  expect(third.status).toBe(200)
  expect((await post(ping, { 'mcp-session-id': second.session! })).status).toBe(404)
  expect((await post(ping, { 'mcp-session-id': first.session! })).status).toBe(200)
  expect((await post(ping, { 'mcp-session-id': third.session! })).status).toBe(200)
})

describe('what a request may hold', () => {
  test('too many bytes', async () => {
    await serve({ maxBodyBytes: 1000 })
    const answer = await post(`"${'x'.repeat(2000)}"`)
    expect([answer.status, answer.text]).toEqual([413, expect.stringContaining('longer than 1000 bytes')])
    expect((await post(hello)).status).toBe(200)
  })
  test('no JSON', async () => {
    await serve()
    expect((await post('{')).status).toBe(400)
  })
})

// Misbehaving servers, reached by scripts: each takes a bounded time, and the run continues.

import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRuntime } from '@bridle/stdlib-tools'
import { mcpProvider } from '@bridle/stdlib-tools/mcp'
import { must, makeCases } from '../../attempt.js'

type Answer = (method: string, params: Readonly<Record<string, unknown>>) => unknown

/** An MCP server over HTTP that answers the handshake and then as `answer` says: a result, or the text of a whole body. */
async function listing(answer: Answer, script: string): Promise<string> {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { id, method, params } = JSON.parse(body === '' ? '{}' : body) as {
      id?: number
      method?: string
      params?: Record<string, unknown>
    }
    if (id === undefined) return response.writeHead(request.method === 'GET' ? 405 : 202).end()
    const result =
      method === 'initialize'
        ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'h', version: '1' } }
        : answer(method ?? '', params ?? {})
    response.writeHead(200, { 'content-type': 'application/json' })
    return response.end(typeof result === 'string' ? result : JSON.stringify({ jsonrpc: '2.0', id, result }))
  }
  const server = createServer((request, response) => void serve(request, response))
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  try {
    const runtime = createRuntime({
      providers: [mcpProvider({ servers: { peer: { url } }, timeoutMs: 2000, onWarning: () => {} })],
      grants: ['*'],
      enforceManifest: false,
    })
    const source = `let c = mcp_ensure_active("peer")\nprintln(try { ${script} } catch (e) { "refused: \${e}" })\nprintln("went on")`
    const result = await runtime.start(runtime.compile(source, { strict: false })).result
    return `${result.status}: ${result.output}${result.status === 'failed' ? result.error.message : ''}`
  } finally {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
}

const tool = (name: string, inputSchema: unknown): unknown => ({ name, inputSchema })

function nest(depth: number): unknown {
  let schema: unknown = { type: 'string' }
  for (let level = 0; level < depth; level++) schema = { type: 'object', properties: { a: schema } }
  return schema
}

/** Twice as many ways with each definition. */
const REFERENCES = {
  type: 'object',
  $defs: Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ]),
  ),
  properties: { a: { $ref: '#/$defs/d0' } },
}

const LISTS: Readonly<Record<string, Answer>> = {
  'a new cursor for ever': () => ({ tools: [], nextCursor: String(Math.random()) }),
  'one cursor for ever': () => ({ tools: [], nextCursor: 'x' }),
  'a hundred thousand tools': () => ({ tools: Array.from({ length: 100_000 }, (_, n) => ({ name: `t${n}` })) }),
  'no list': () => ({ tools: 'none' }),
  'tools that are none': () => ({ tools: [1, null, 'x', [], { name: 7 }] }),
  'no JSON': () => 'not JSON at all',
  'an answer to nobody': () => JSON.stringify({ jsonrpc: '2.0', id: 99_999, result: { tools: [] } }),
  nothing: () => ' ',
  'a schema of references that double': () => ({ tools: [tool('a', REFERENCES)] }),
  'a schema of itself': () => ({
    tools: [tool('a', { type: 'object', properties: { a: { $ref: '#' } }, allOf: [{ $ref: '#' }] })],
  }),
  'a schema nested too deep': () => ({ tools: [tool('a', nest(5000))] }),
  'a pattern that goes back': () => ({
    tools: [tool('a', { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } })],
  }),
  'a description of megabytes': () => ({ tools: [{ name: 'a', description: 'x'.repeat(4_000_000), inputSchema: {} }] }),
}

export const cases = [
  ...makeCases(
    'peers-are-bounded',
    Object.fromEntries(
      Object.entries(LISTS).map(([name, answer]) => [
        `a list: ${name}`,
        async () => {
          const text = await listing(answer, 'type_of(mcp_list_tools(c))')
          must(text.startsWith('done: ') && text.endsWith('went on\n'), text.slice(0, 500))
        },
      ]),
    ),
  ),
  ...makeCases(
    'peers-are-bounded',
    Object.fromEntries(
      Object.entries(LISTS)
        .filter(([name]) => name.includes('schema') || name.includes('pattern'))
        .map(([name, list]) => [
          `a call of a tool with ${name}`,
          async () => {
            const answer: Answer = (method, params) =>
              method === 'tools/list' ? list(method, params) : { content: [{ type: 'text', text: 'ok' }] }
            const text = await listing(answer, 'to_string(mcp_call(c, "a", {a: "a" * 30 + "b"}))')
            must(text.startsWith('done: ') && text.endsWith('went on\n'), text.slice(0, 500))
          },
        ]),
    ),
  ),
]

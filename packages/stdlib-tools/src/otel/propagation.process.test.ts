// The context of a trace as it arrives at real MCP servers, over stdio and HTTP: `traceparent` in `_meta` of each request, which names
// the span of the work that the request belongs to.

import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mcpProvider } from '../mcp/index.js'
import type { McpServerDeclaration } from '../mcp/index.js'
import { createRuntime } from '../host/runtime.js'
import { oddServers } from '../test-support/mcp-servers.js'
import { otelTrace } from './index.js'
import type { OtelSpan } from './index.js'

const TRACE_ID = 'ab'.repeat(16)

interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly _meta?: object; readonly name?: string }
}

/** The protocol by hand: assertions are about the bytes on the wire. */
function answerTo({ method, params }: Message): object {
  if (method === 'initialize')
    return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'wire', version: '1' } }
  if (method === 'tools/list') return { tools: [{ name: 'tell', inputSchema: {}, _meta: params?._meta }] }
  return { content: [{ type: 'text', text: JSON.stringify(params?._meta ?? null) }] }
}

let http: Server
let servers: { readonly [name: string]: McpServerDeclaration }

beforeAll(async () => {
  http = createServer((request, response) => {
    let text = ''
    request.on('data', (piece: Buffer) => (text += piece.toString()))
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const message = JSON.parse(text) as Message
      if (message.id === undefined) return void response.writeHead(202).end()
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answerTo(message) }))
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  servers = {
    stdio: oddServers.metadata,
    http: { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` },
  }
})

afterAll(() => new Promise((resolve) => http.close(resolve)))

/** Gives every span its own number, as its id. */
function makeNumbering(): { readonly names: string[]; readonly tracer: Parameters<typeof otelTrace<object>>[0] } {
  const names: string[] = []
  const tracer = {
    startSpan: (name: string): OtelSpan => {
      const spanId = String(names.push(name)).padStart(16, '0')
      return {
        setAttribute: () => {},
        setStatus: () => {},
        end: () => {},
        spanContext: () => ({ traceId: TRACE_ID, spanId, traceFlags: 1 }),
      }
    },
  }
  return { names, tracer }
}

async function listArrived(server: string, propagate: readonly ('http' | 'mcp')[]): Promise<readonly (string | null)[]> {
  const { names, tracer } = makeNumbering()
  const sink = otelTrace(tracer, { context: {}, setSpan: (_context, span) => ({ span }), propagate })
  const runtime = createRuntime({
    providers: [mcpProvider({ servers })],
    grants: ['mcp'],
    tracing: () => ({ sinks: [sink] }),
  })
  const value = (await runtime.run(`
import { tool_call } from "std/tools"
let client = mcp_ensure_active("${server}")
let listed = mcp_list_tools(client)[0]
return [
  json_stringify(listed._meta ?? nil),
  mcp_call(client, "tell", {}),
  tool_call({name: "tell", executor: "mcp_server", mcp_server: "${server}"}, {}),
]`)) as readonly string[]
  return value.map((text) => {
    const given = (JSON.parse(text) as { readonly traceparent?: string } | null)?.traceparent
    if (given === undefined) return null
    const [, trace, span] = /^00-([0-9a-f]{32})-(\d{16})-01$/.exec(given) ?? []
    expect(trace).toBe(TRACE_ID)
    return names[Number(span) - 1]!
  })
}

test.each(['stdio', 'http'])('a server over %s hears for which span each request is made', async (server) => {
  expect(await listArrived(server, ['mcp'])).toEqual(['tools/list', 'tools/call tell', 'tools/call tell'])
})

test.each(['stdio', 'http'])('and nothing over %s where the host does not say so', async (server) => {
  expect(await listArrived(server, ['http'])).toEqual([null, null, null])
})

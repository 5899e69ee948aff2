// The MCP server of an orchestrator on standard input and output, or over HTTP.

import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { randomUUID } from 'node:crypto'
import { readAddress } from '../commands/serve.js'
import { complain } from '../printable.js'
import { Stop } from '../stop.js'
import { withDesk } from './commands.js'
import type { Desk, DeskFlags } from './desk.js'
import { readCredentials } from './listener.js'
import { McpDesk } from './mcp-desk.js'
import type { RpcMessage } from './mcp-desk.js'

export interface McpServeFlags extends DeskFlags {
  readonly transport?: string
  readonly bind?: string
  readonly path?: string
}

const MOST_BODY_BYTES = 10 << 20
const MOST_SESSIONS = 1000

export async function mcpServeCommand(flags: McpServeFlags): Promise<number> {
  return withDesk(flags, async (desk) => {
    if (flags.transport === 'http') await serveHttp(desk, flags)
    else await serveStdio(desk)
    return 0
  })
}

/** One line per message; ends with the input. */
async function serveStdio(desk: Desk): Promise<void> {
  const server = new McpDesk(desk)
  complain('[harn] MCP stdio server ready\n')
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (line.trim() === '') continue
    const answer = await answerText(server, line)
    if (answer !== null) process.stdout.write(`${JSON.stringify(answer)}\n`)
  }
}

async function answerText(server: McpDesk, text: string): Promise<object | null> {
  let message: RpcMessage
  try {
    message = JSON.parse(text) as RpcMessage
  } catch {
    return { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'parse error' } }
  }
  return server.answer(message)
}

/** Sessions of MCP over HTTP: each client has its own. */
export class McpHttp {
  private readonly desk: Desk
  private readonly sessions = new Map<string, McpDesk>()

  constructor(desk: Desk) {
    this.desk = desk
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: object | null, headers: { readonly [name: string]: string } = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(body === null ? undefined : JSON.stringify(body))
    }
    const given = request.headers['mcp-session-id']
    const known = typeof given === 'string' ? given : null
    if (request.method === 'DELETE') {
      if (known !== null) this.sessions.delete(known)
      return send(200, {})
    }
    if (request.method !== 'POST') return send(405, { error: 'method not allowed' })
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > MOST_BODY_BYTES) return send(413, { error: 'request body is too large' })
      chunks.push(chunk)
    }
    const text = Buffer.concat(chunks).toString('utf8')
    const id = known ?? randomUUID()
    const server = this.sessions.get(id) ?? new McpDesk(this.desk)
    if (this.sessions.size >= MOST_SESSIONS) this.sessions.delete(this.sessions.keys().next().value!)
    this.sessions.set(id, server)
    const answer = await answerText(server, text)
    if (answer === null) send(202, null)
    else send(200, answer, { 'mcp-session-id': id })
  }
}

async function serveHttp(desk: Desk, { bind = '127.0.0.1:8765', path = '/mcp' }: McpServeFlags): Promise<void> {
  const { host, port } = readAddress(bind)
  const { apiKeys } = readCredentials()
  const mcp = new McpHttp(desk)
  const server = createServer((request, response) => {
    const { authorization = '', 'x-api-key': key } = request.headers
    const given = typeof key === 'string' ? key : authorization.replace(/^Bearer /, '')
    const isAllowed = apiKeys.length === 0 || apiKeys.includes(given)
    if ((request.url ?? '').split('?', 1)[0] !== path) response.writeHead(404).end()
    else if (isAllowed) void mcp.answer(request, response)
    else response.writeHead(401).end('auth failed')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  complain(`[harn] MCP HTTP server ready on http://${address.address}:${address.port}${path}\n`)
  const stop = new Stop(null)
  await new Promise<void>((resolve) => {
    stop.onCancel = () => resolve()
  })
  stop.end()
  server.closeAllConnections()
  server.close()
}

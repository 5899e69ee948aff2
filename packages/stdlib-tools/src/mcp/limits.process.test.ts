import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { McpConnections } from './provider.js'
import type { McpOptions } from './provider.js'
import { fromMcpServer } from './tools.js'
import { markIntegers, unmarkIntegers, withIntegers } from '../tools/executors/exact-json.js'

const NEVER = new AbortController().signal
const open: { close: () => Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

/** A real process that answers the handshake and then does what `body` says with `m` and `send`. */
const makeHostile = (body: string): { readonly command: string; readonly args: readonly string[] } => ({
  command: process.execPath,
  args: [
    '-e',
    `const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
     require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => { const m = JSON.parse(line);
       if (m.method === 'initialize') send({ id: m.id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'h', version: '1' } } });
       else if (m.id !== undefined) { ${body} } })`,
  ],
})

function makeConnections(body: string, options: McpOptions = {}): McpConnections {
  const made = new McpConnections({ ...options, servers: { hostile: makeHostile(body) } })
  open.push(made)
  return made
}

const listToText = async (made: McpConnections): Promise<string> => {
  const outcome = await made.listTools('hostile', NEVER)
  return outcome.ok ? `${(outcome.value as readonly unknown[]).length} tools` : outcome.error.message
}

describe('lists without end', () => {
  test('a new cursor for ever', async () => {
    const made = makeConnections(`send({ id: m.id, result: { tools: [], nextCursor: String(Math.random()) } })`)
    expect(await listToText(made)).toBe("MCP server 'hostile' has more pages of tools/list than it may (maxPages is 100)")
  })
  test('one cursor for ever', async () => {
    const made = makeConnections(`send({ id: m.id, result: { tools: [], nextCursor: 'x' } })`)
    expect(await listToText(made)).toBe("MCP server 'hostile' gave the same cursor of tools/list twice: its list would never end")
  })
  test('a hundred thousand tools', async () => {
    const made = makeConnections(
      `send({ id: m.id, result: { tools: Array.from({ length: 100000 }, (_, n) => ({ name: 't' + n })) } })`,
    )
    expect(await listToText(made)).toBe("MCP server 'hostile' lists more tools than it may (maxTools is 2000)")
  })
  test('a list is asked for again and again', async () => {
    const made = makeConnections(`send({ id: m.id, result: { tools: [{ name: 'a' }] } })`, {
      limits: { maxTools: 1, maxPages: 1 },
    })
    expect([await listToText(made), await listToText(made), await listToText(made)]).toEqual(['1 tools', '1 tools', '1 tools'])
  })
})

test('invalid tools are omitted and reported; the others remain', async () => {
  const tools = `[{ name: 'good', inputSchema: { type: 'object' } }, { name: 'good' }, { name: 'a b' }, { name: 7 }, 5, {},
    { name: 'wordy', description: 'x'.repeat(40000) }, { name: 'wide', inputSchema: { type: 'object', enum: Array(90000).fill('abc') } },
    { name: 'text', inputSchema: { type: 'string' } }, { name: 'back', inputSchema: { type: 'object', properties: { a: { pattern: '(a)\\\\1' } } } },
    { name: 'nowhere', inputSchema: { type: 'object', properties: { a: { $ref: '#/x' } } } }, { name: 'also', inputSchema: { type: 'object' } }]`
  const set = await fromMcpServer(makeHostile(`send({ id: m.id, result: { tools: ${tools} } })`), { prefix: 'files' })
  open.push(set)
  expect(set.tools.map((tool) => tool.name)).toEqual(['files.good', 'files.also'])
  const parts = [
    'listed twice',
    '"a b"',
    'without a name',
    'no object',
    'without a name',
    'maxDescriptionLength',
    'maxSchemaLength',
  ]
  for (const part of [...parts, '"text"', 'is not supported', 'leads nowhere'])
    expect(set.warnings.some((warning) => warning.includes(part) && warning.includes("'files'"))).toBe(true)
})

describe('floods', () => {
  test('a message that is too long', async () => {
    const made = makeConnections(`process.stdout.write('x'.repeat(200000))`, { limits: { maxMessageBytes: 100_000 } })
    expect(await listToText(made)).toBe("MCP server 'hostile' sent a message that is too long (maxMessageBytes is 100000)")
  })
  test('notifications and no answer', async () => {
    const made = makeConnections(`for (let n = 0; n < 2000; n++) send({ method: 'notifications/message', params: { n } })`, {
      limits: { maxNotifications: 1000 },
    })
    expect(await listToText(made)).toBe("MCP server 'hostile' sends notifications and answers nothing (maxNotifications is 1000)")
  })
  test('answers with wrong ids are ignored', async () => {
    const made = makeConnections(`send({ id: 99999, result: {} }); send({ id: 'x', result: {} })`, { timeoutMs: 300 })
    expect(await listToText(made)).toContain("did not respond to 'tools/list' within")
  })
})

describe('integers of 64 bits', () => {
  const big = 9_007_199_254_740_993n
  test('texts', () => {
    for (const given of ['{"a":9007199254740993}', '[-9223372036854775808,1.5,"9007199254740993"]', '"\\\\\\"9007199254740993"'])
      expect(unmarkIntegers(JSON.stringify(JSON.parse(markIntegers(given))))).toBe(given)
    expect(withIntegers(JSON.parse(markIntegers('[9007199254740993, "9007199254740993", 99999999999999999999]')))).toEqual([
      big,
      '9007199254740993',
      1e20,
    ])
  })

  test('go to a process and come back', async () => {
    const made = makeConnections(`const raw = line.match(/"n":(-?[0-9]+)/)[1];
      process.stdout.write('{"jsonrpc":"2.0","id":' + m.id + ',"result":{"content":[{"type":"text","text":"' + raw + '"}],"structuredContent":{"n":' + raw + '}}}\\n')`)
    const outcome = await made.callTool('hostile', 'echo', { n: big }, NEVER)
    expect(outcome).toMatchObject({ ok: true, value: { content: [{ text: String(big) }], structuredContent: { n: big } } })
  })

  test('go over HTTP and come back', async () => {
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<ServerResponse> => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      const id = /"id":(\d+)/.exec(body)?.[1]
      if (id === undefined) return response.writeHead(202).end()
      const raw = /"n":(-?\d+)/.exec(body)?.[1]
      const result =
        raw === undefined
          ? '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"h","version":"1"}}'
          : `{"content":[],"structuredContent":{"n":${raw}}}`
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`)
    }
    const server = createServer((request, response) => void answer(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
    const made = new McpConnections({ servers: { hostile: { url } } })
    open.push(made, { close: () => new Promise((resolve) => void server.close(() => resolve())) })
    const outcome = await made.callTool('hostile', 'echo', { n: big }, NEVER)
    expect(outcome).toMatchObject({ ok: true, value: { structuredContent: { n: big } } })
    server.closeAllConnections()
  })
})

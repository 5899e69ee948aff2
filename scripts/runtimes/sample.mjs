// The program that run.ts runs in each runtime as an embedder: tools, a snapshot that continues elsewhere, a replay, an MCP server behind the runtime's own
// `fetch` server, and clients of it and of a program.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createRuntime, defineTool, MemoryJournal, pending } from '../../packages/stdlib-tools/dist/index.js'
import { mcpProvider, serveFetch, toMcpServer } from '../../packages/stdlib-tools/dist/mcp/index.js'
import { nodeProviders } from '../../packages/stdlib-tools/dist/node/index.js'

const double = defineTool({
  name: 'double',
  input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  sideEffect: 'none',
  execute: (input) => 2 * /** @type {{ n: number }} */ (input).n,
})

// A run that waits, and continues from its bytes in another runtime object.
const later = defineTool({ name: 'later', execute: (_input, { idempotencyKey }) => pending(idempotencyKey) })
const first = createRuntime({ tools: [double, later] })
const source =
  'import { double, later } from "host/tools"\nlet before = double({n: 4})\nreturn [before, later({}), 9007199254740993]'
const run = first.start(first.compile(source), { runId: 'r1' })
const bytes = await run.snapshot()
run.cancel('goes on elsewhere')
await run.result
const second = createRuntime({ tools: [double, later] })
const resumed = second.resume(bytes)
second.completeTool('r1:call_2', { ok: 'now' })
const ended = await resumed.result
assert.equal(ended.status, 'done')
assert.equal(
  JSON.stringify(ended.value, (_key, value) => (typeof value === 'bigint' ? String(value) : value)),
  '[8,"now","9007199254740993"]',
)

// Hot code, a journal and its replay.
const journal = new MemoryJournal()
const hot = createRuntime({ providers: nodeProviders({ root: '.' }), grants: ['*'] })
const loop = hot.compile('fn fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }\nreturn [fib(20), len(uuid())]')
assert.deepEqual(await hot.start(loop, { journal }).result.then((result) => result.status === 'done' && result.value), [6765, 36])

// An MCP server that answers `fetch`.
const handler = serveFetch(toMcpServer([double]), { name: 'sample', version: '1.0.0' })
const server = await serve(handler)
const program = `
const send = (m) => console.log(JSON.stringify({ jsonrpc: '2.0', ...m }));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'p', version: '1' } } });
  else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: 'pong' }] } });
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } });
});`
const runtime = createRuntime({
  providers: [
    mcpProvider({
      servers: {
        old: { url: server.url, protocolVersion: '2025-11-25' },
        modern: { url: server.url, protocolVersion: '2026-07-28' },
        program: { command: process.argv[2] ?? 'node', args: ['-e', program] },
      },
    }),
  ],
  grants: ['mcp'],
})
const value = await runtime.run(`
return ["old", "modern"].map({ name -> mcp_call(mcp_ensure_active(name), "double", {n: 21}) }) + [mcp_call(mcp_ensure_active("program"), "ping", {})]`)
assert.deepEqual(value, ['42', '42', 'pong'])
await handler.close()
await server.close()
console.log('all is well')

/** The server of the runtime itself, or Node's with requests and responses of the web. @param {(request: Request) => Promise<Response>} answer */
async function serve(answer) {
  const { Deno: deno, Bun: bun } = /** @type {any} */ (globalThis)
  if (deno !== undefined) {
    const started = deno.serve({ port: 0, hostname: '127.0.0.1', onListen: () => {} }, answer)
    return { url: `http://127.0.0.1:${started.addr.port}/mcp`, close: () => started.shutdown() }
  }
  if (bun !== undefined) {
    const started = bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer, idleTimeout: 0 })
    return { url: `http://127.0.0.1:${started.port}/mcp`, close: () => started.stop(true) }
  }
  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  const respond = async (request, response) => {
    const pieces = []
    for await (const piece of request) pieces.push(piece)
    const body = pieces.length === 0 ? {} : { body: Buffer.concat(pieces) }
    const headers = /** @type {Record<string, string>} */ (request.headers)
    const given = await answer(
      new Request(`http://127.0.0.1${request.url}`, { method: request.method ?? 'GET', headers, ...body }),
    )
    response.writeHead(given.status, Object.fromEntries(given.headers))
    for await (const piece of given.body ?? []) response.write(piece)
    response.end()
  }
  const started = createServer((request, response) => void respond(request, response))
  await new Promise((resolve) => started.listen(0, '127.0.0.1', () => resolve(null)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (started.address())
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: async () => {
      started.closeAllConnections()
      started.close()
    },
  }
}

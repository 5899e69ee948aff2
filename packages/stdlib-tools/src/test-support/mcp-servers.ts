// Small MCP servers that misbehave, as texts for `node -e`: each answers the handshake (unless that is its fault) and then
// does one thing wrong. They are real processes, so that what is tested is the real way of dying.

import { spawnSync } from 'node:child_process'

const PRELUDE = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const hello = (id) => send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } } });
const lines = require('node:readline').createInterface({ input: process.stdin });
const on = (handler) => lines.on('line', (line) => { const message = JSON.parse(line); if (message.method === 'initialize') hello(message.id); else if (message.method === 'server/discover') send({ id: message.id, error: { code: -32601, message: 'Method not found' } }); else if (message.id !== undefined) handler(message); });
`

function makeServer(body: string): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: ['-e', PRELUDE + body] }
}

export const oddServers = {
  /** Answers every request, tools/call with the arguments as JSON text. */
  echo: makeServer(`on((m) => m.method === 'tools/list'
    ? send({ id: m.id, result: { tools: [{ name: 'echo', inputSchema: {}, annotations: { readOnlyHint: true } }, { name: 'write', inputSchema: {} }] } })
    : send({ id: m.id, result: { content: [{ type: 'text', text: JSON.stringify(m.params.arguments ?? m.params) }] } }))`),
  /** Answers with the `_meta` of what it is asked. */
  metadata: makeServer(`on((m) => m.method === 'tools/list'
    ? send({ id: m.id, result: { tools: [{ name: 'tell', inputSchema: {}, _meta: m.params?._meta }] } })
    : send({ id: m.id, result: { content: [{ type: 'text', text: JSON.stringify(m.params?._meta ?? null) }] } }))`),
  /** Answers with data and no content; prompts with the arguments as JSON text. */
  structured: makeServer(`on((m) => m.method === 'tools/list'
    ? send({ id: m.id, result: { tools: [{ name: 'data', inputSchema: {} }] } })
    : m.method === 'prompts/get' ? send({ id: m.id, result: { messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(m.params.arguments) } }] } })
    : send({ id: m.id, result: { content: [], structuredContent: { n: 5, list: [1] } } }))`),
  /** Dies on the first request, without an answer. */
  dies: makeServer(`on(() => process.exit(3))`),
  /** Dies when the tool `die` is called; otherwise tells how many calls it has had, and how far it is before that. */
  mortal: makeServer(`let calls = 0; on((m) => { if (m.params?.name === 'die') process.exit(3); calls++;
    const token = m.params?._meta?.progressToken;
    if (token !== undefined) send({ method: 'notifications/progress', params: { progressToken: token, progress: 1, total: 2, message: 'half' } });
    send({ method: 'notifications/tools/list_changed' });
    send({ id: m.id, result: { content: [{ type: 'text', text: String(calls) }] } }) })`),
  /** Never answers a request. */
  silent: makeServer(`on(() => {})`),
  /** Never answers the handshake, and ignores polite signals. */
  mute: makeServer(`process.on('SIGTERM', () => {}); lines.on('line', () => {}); setInterval(() => {}, 1000)`),
  /** Starts its own child that would live on. */
  parent:
    makeServer(`const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1000);
    on((m) => send({ id: m.id, result: { content: [{ type: 'text', text: String(child.pid) }] } }))`),
  /** Prints noise between messages, and errors without a code. */
  noisy: makeServer(`console.log('starting up'); console.log(''); on((m) => { console.log('[1]'); console.log('{ broken');
    if (m.params?.name === 'fail') process.stdout.write(JSON.stringify({ id: m.id, error: {} }) + '\\n');
    else if (m.params?.name === 'code') send({ id: m.id, error: { code: -32602, message: 'bad arguments' } });
    else if (m.params?.name === 'ask') { send({ id: 'q1', method: 'sampling/createMessage', params: {} }); lines.once('line', (line) => send({ id: m.id, result: { content: [{ type: 'text', text: line }] } })) }
    else process.stdout.write(JSON.stringify({ id: m.id, result: null }) + '\\n') })`),
  /** Asks the client's person to fill in a form, and answers with what came back. */
  asks: makeServer(`on((m) => { lines.once('line', (line) => send({ id: m.id, result: { content: [{ type: 'text', text: JSON.stringify(JSON.parse(line).result) }] } }));
    send({ id: 'q1', method: 'elicitation/create', params: { message: 'who?', requestedSchema: { type: 'object', properties: { name: { type: 'string', default: 'Ada' }, age: { type: 'integer' } } } } }) })`),
  /** Exits before the handshake. */
  stillborn: makeServer(`process.exit(1)`),
  /** Lists its tools on two pages. */
  paged: makeServer(
    `on((m) => send({ id: m.id, result: m.params?.cursor === 'two' ? { tools: [{ name: 'b' }] } : { tools: [{ name: 'a' }], nextCursor: 'two' } }))`,
  ),
} as const

/** True while a process with this id runs. One that ended but was not collected by its parent still has an id, and is a zombie. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z')
}

/** Resolves when the process is gone; rejects after a few seconds. */
export async function awaitGone(pid: number): Promise<void> {
  for (let turn = 0; turn < 500; turn++) {
    if (!isAlive(pid)) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error(`process ${pid} is still alive`)
}

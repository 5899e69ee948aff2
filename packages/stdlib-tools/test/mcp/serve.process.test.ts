// `bridle serve mcp` as its clients meet it: the SDK's client against a real child process, over stdio and over HTTP.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, URL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Client as OldClient } from 'mcp-sdk-1.17/client/index.js'
import { StdioClientTransport as OldTransport } from 'mcp-sdk-1.17/client/stdio.js'
import { createRuntime } from '@bridle/stdlib-tools'
import { ExportedBackend } from '@bridle/stdlib-tools/mcp'
import { bundledCommand } from '../../../../scripts/bundled-command.js'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
let command: Awaited<ReturnType<typeof bundledCommand>>
const folder = mkdtempSync(join(tmpdir(), 'bridle-serve-'))
const clients: Client[] = []
const children: ChildProcess[] = []

beforeAll(async () => {
  command = await bundledCommand()
})

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
  for (const child of children) child.kill()
  for (const each of [folder, command.folder]) rmSync(each, { recursive: true, force: true })
})

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const words = (script: string, ...more: readonly string[]): string[] => [command.path, 'serve', 'mcp', script, ...more]

async function connect(script: string, ...more: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  clients.push(client)
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: words(script, ...more), cwd: root, stderr: 'ignore' }),
  )
  return client
}

const readText = (result: unknown): string =>
  (result as { content: readonly { text: string }[] }).content.map(({ text }) => text).join('|')

const REGISTERED = `
println("this must not reach standard output")
let base = tool_define(tool_registry(), "add", "Adds", {
  parameters: {a: {type: "integer", description: "first", required: true}, b: "int"},
  handler: { args -> args.a + (args.b ?? 0) },
  annotations: {readOnlyHint: true, kind: "read"},
})
let more = tool_define(base, "fail", "Fails", {handler: { args -> throw "boom" }})
let shaped = tool_define(more, "shape", "", {output_schema: {type: "object", properties: {x: {type: "integer"}}, required: ["x"]}, handler: { args -> {x: 1} }})
let slow = tool_define(shaped, "slow", "", {handler: { args ->
  sleep(60s)
  "late"
}})
let asking = tool_define(slow, "ask", "", {handler: { args -> ask_user("colour?") }})
fn grow(args) {
  mcp_tools(tool_define(asking, "grown", "New", {handler: { a -> "here" }}))
  return "ok"
}
mcp_tools(tool_define(asking, "grow", "", {handler: grow}))
mcp_resource({uri: "res://a", name: "A", text: "text a", mime_type: "text/plain"})
mcp_resource_template({uri_template: "user://{id}", name: "User", handler: { v -> "user \${v.id}" }})
mcp_prompt({name: "greet", arguments: [{name: "who", required: true}], handler: { a -> "Hello \${a.who}" }})
`

const EXPORTED = `
var calls = 0
/**
 * Adds two ints.
 *
 * @param b what is added
 */
pub fn add(a: int, b: int = 5) -> int { return a + b }
pub fn shape(x) -> {n: int} { return {n: 1} }
pub fn fails(m) { throw m }
pub fn noisy() {
  println("printed")
  calls = calls + 1
  return calls
}
pub fn slow() { sleep(60s) }
fn hidden() { return 1 }
`

test('clients of older revisions are served in theirs', async () => {
  for (const text of [EXPORTED, REGISTERED]) {
    const client = new OldClient({ name: 'old', version: '1' })
    const script = file('old.harn', text)
    await client.connect(new OldTransport({ command: process.execPath, args: words(script), cwd: root, stderr: 'ignore' }))
    const result = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })
    expect(readText(result)).toBe('3')
    await client.close()
  }
})

test('defaults of exported functions are in their schemas, as far as they are known before a call', async () => {
  const source = 'pub fn f(a = -2.5, b = ["x", {n: nil}], c = today(), d = true, e = "t", g: int = 9007199254740993) { return a }'
  const tools = new ExportedBackend(
    createRuntime({
      grants: ['*'],
      resolve: () => ({ kind: 'source', key: 'f.harn', text: `fn today() { return 1 }\n${source}` }),
    }),
    'f.harn',
    source,
  ).list('tools')
  expect(tools[0]!['inputSchema']).toMatchObject({
    properties: { a: { default: -2.5 }, b: { default: ['x', { n: null }] }, c: {}, d: { default: true }, e: { default: 't' } },
  })
  expect(JSON.stringify(tools[0])).not.toContain('today')
})

describe.concurrent('a script that registers', () => {
  test('tools, resources, templates and prompts', async () => {
    const client = await connect(file('registered.harn', REGISTERED))
    expect(client.getServerVersion()?.name).toBe('registered')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['add', 'fail', 'shape', 'slow', 'ask', 'grow'])
    expect(tools[0]).toEqual({
      name: 'add',
      description: 'Adds',
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'integer', description: 'first' }, b: { type: 'integer' } },
        required: ['a'],
      },
      annotations: { readOnlyHint: true },
    })
    expect(await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).toEqual({
      content: [{ type: 'text', text: '3' }],
      isError: false,
    })
    expect(await client.callTool({ name: 'fail' })).toEqual({ content: [{ type: 'text', text: 'Thrown: boom' }], isError: true })
    expect((await client.callTool({ name: 'shape' })).structuredContent).toEqual({ x: 1 })
    await expect(client.callTool({ name: 'nope' })).rejects.toThrow('Unknown tool: nope')
    expect((await client.listResources()).resources).toEqual([{ uri: 'res://a', name: 'A', mimeType: 'text/plain' }])
    expect((await client.readResource({ uri: 'res://a' })).contents).toEqual([
      { uri: 'res://a', text: 'text a', mimeType: 'text/plain' },
    ])
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual([{ uriTemplate: 'user://{id}', name: 'User' }])
    expect((await client.readResource({ uri: 'user://7' })).contents).toEqual([{ uri: 'user://7', text: 'user 7' }])
    await expect(client.readResource({ uri: 'other://' })).rejects.toThrow('Resource not found: other://')
    expect((await client.listPrompts()).prompts).toEqual([{ name: 'greet', arguments: [{ name: 'who', required: true }] }])
    expect(await client.getPrompt({ name: 'greet', arguments: { who: 'Ann' } })).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'Hello Ann' } }],
    })
    await expect(
      client.complete({ ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'A' } }),
    ).rejects.toThrow()
  })

  test('results of prompts by display, variables of templates up to the next text', async () => {
    const client = await connect(
      file(
        'odd.harn',
        `mcp_prompt({name: "dict", handler: { args -> {x: 1} }})
mcp_prompt({name: "none", handler: { args -> nil }})
mcp_resource_template({uri_template: "t://{id}/x/{rest}", name: "T", handler: { vars -> "\${vars}" }})
mcp_resource_template({uri_template: "f:{name}.txt", name: "F", handler: { vars -> vars.name }})
`,
      ),
    )
    const text = async (name: string) => (await client.getPrompt({ name })).messages
    expect(await text('dict')).toEqual([{ role: 'user', content: { type: 'text', text: '{x: 1}' } }])
    expect(await text('none')).toEqual([{ role: 'user', content: { type: 'text', text: 'nil' } }])
    const read = async (uri: string) =>
      (await client.readResource({ uri })).contents.map((content) => ('text' in content ? content.text : ''))
    expect(await read('t://5/x/a/b')).toEqual(['{id: 5, rest: a/b}'])
    expect(await read('t:///x/')).toEqual(['{id: , rest: }'])
    expect(await read('f:a.txt.txt')).toEqual(['a.txt'])
    await expect(read('t://5/y/z')).rejects.toThrow('Resource not found')
    await expect(read('f:a.txt2')).rejects.toThrow('Resource not found')
  })

  test('what handlers register later is announced', async () => {
    const client = await connect(file('growing.harn', REGISTERED))
    const announced = new Promise<void>((resolve) =>
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
    )
    expect(readText(await client.callTool({ name: 'grow' }))).toBe('ok')
    await announced
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('grown')
    expect(readText(await client.callTool({ name: 'grown' }))).toBe('here')
  })

  test('a cancelled call stops, and the others go on', async () => {
    const client = await connect(file('cancelled.harn', REGISTERED))
    const abort = new AbortController()
    const slow = client.callTool({ name: 'slow' }, undefined, { signal: abort.signal })
    expect(readText(await client.callTool({ name: 'add', arguments: { a: 1 } }))).toBe('1')
    abort.abort('enough')
    await expect(slow).rejects.toThrow('enough')
    expect(readText(await client.callTool({ name: 'add', arguments: { a: 2 } }))).toBe('2')
  })

  test('a client answers what a handler asks a person', async () => {
    const client = await connect(file('asking.harn', REGISTERED))
    const Requested = z.object({ method: z.literal('harn.hitl.requested'), params: z.object({ request_id: z.string() }).loose() })
    client.setNotificationHandler(Requested, async ({ params }) => {
      await client.request(
        { method: 'harn.hitl.respond', params: { request_id: params.request_id, answer: 'green' } },
        z.object({ ok: z.boolean() }),
      )
    })
    expect(readText(await client.callTool({ name: 'ask' }))).toBe('green')
  })

  test('a server card', async () => {
    const client = await connect(file('carded.harn', REGISTERED), '--card', '{"title": "Card"}')
    expect((await client.listResources()).resources[0]).toMatchObject({
      uri: 'well-known://mcp-card',
      mimeType: 'application/json',
    })
    expect((await client.readResource({ uri: 'well-known://mcp-card' })).contents).toMatchObject([{ text: '{"title":"Card"}' }])
  })
})

describe.concurrent('a file with exported functions', () => {
  test('each is a tool, each call a run of its own', async () => {
    const client = await connect(file('exported.harn', EXPORTED))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['add', 'fails', 'noisy', 'shape', 'slow'])
    expect(tools[0]).toEqual({
      name: 'add',
      description: 'Adds two ints.',
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'integer' }, b: { type: 'integer', description: 'what is added', default: 5 } },
        required: ['a'],
      },
    })
    expect(tools[1]).toMatchObject({ description: "Invoke exported Harn function 'fails'." })
    expect(tools.find(({ name }) => name === 'shape')?.outputSchema).toEqual({
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
    })
    expect(readText(await client.callTool({ name: 'add', arguments: { a: 1 } }))).toBe('6')
    expect((await client.callTool({ name: 'shape', arguments: { x: null } })).structuredContent).toEqual({ n: 1 })
    expect(await client.callTool({ name: 'fails', arguments: { m: { code: 1 } } })).toEqual({
      content: [{ type: 'text', text: 'Thrown: {code: 1}' }],
      isError: true,
    })
    expect(readText(await client.callTool({ name: 'noisy' }))).toBe('1')
    expect(readText(await client.callTool({ name: 'noisy' }))).toBe('1')
    await expect(client.callTool({ name: 'add', arguments: { b: 1 } })).rejects.toThrow("missing required argument 'a' for 'add'")
    await expect(client.callTool({ name: 'hidden' })).rejects.toThrow('Unknown tool: hidden')
    const progress: (string | undefined)[] = []
    const abort = new AbortController()
    const slow = client.callTool({ name: 'slow' }, undefined, {
      signal: abort.signal,
      onprogress: ({ message }) => {
        if (progress.push(message) === 2) abort.abort('enough')
      },
    })
    await expect(slow).rejects.toThrow('enough')
    expect(progress).toEqual(['Starting slow', 'Running slow'])
    expect(readText(await client.callTool({ name: 'add', arguments: { a: 2 } }))).toBe('7')
  })
})

/** Lines in, lines out, without a client's help. */
function converse(
  script: string,
  lines: readonly string[],
): Promise<{ readonly code: number | null; readonly answers: readonly unknown[]; readonly stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words(script), { cwd: root, stdio: 'pipe' })
    children.push(child)
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
      if (stdout.split('\n').length > lines.filter((line) => line.includes('"id"')).length) child.stdin.end()
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({
        code,
        answers: stdout
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as unknown),
        stderr,
      }),
    )
    child.stdin.on('error', () => {})
    child.stdin.write(lines.map((line) => `${line}\n`).join(''))
  })
}

const request = (id: number, method: string, params: unknown = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

describe.concurrent('the protocol by hand', () => {
  test('before the handshake, and other versions', async () => {
    const { answers, code } = await converse(file('strict.harn', EXPORTED), [
      'not json',
      '[]',
      request(1, 'tools/list'),
      request(2, 'ping'),
      request(3, 'initialize', { protocolVersion: '2024-11-05' }),
      request(4, 'initialize', { protocolVersion: '2199-01-01' }),
      request(5, 'prompts/list'),
      request(6, 'tasks/list'),
      request(7, 'no/such'),
      request(8, 'tools/call', { name: 'add', arguments: 'x' }),
      request(9, 'tools/call', { name: 'add', arguments: { a: 1 }, task: {} }),
    ])
    expect(code).toBe(0)
    const inOrder = [...answers].sort((a, b) => (a as { id: number }).id - (b as { id: number }).id)
    expect(inOrder).toMatchObject([
      { id: null, error: { code: -32700, message: 'a message was left out: it is not JSON' } },
      { id: null, error: { code: -32600, message: 'a message was left out: it is not an object' } },
      { id: 1, error: { code: -32002, message: 'server not initialized' } },
      { id: 2, result: {} },
      { id: 3, result: { protocolVersion: '2024-11-05' } },
      {
        id: 4,
        result: { protocolVersion: '2025-11-25', capabilities: { tools: {}, logging: {} }, serverInfo: { name: 'strict' } },
      },
      { id: 5, result: { prompts: [] } },
      {
        id: 6,
        error: {
          code: -32601,
          message: 'Unsupported MCP method: tasks/list',
          data: { type: 'mcp.unsupportedFeature', feature: 'tasks', role: 'server' },
        },
      },
      { id: 7, error: { code: -32601, message: 'Method not found: no/such' } },
      { id: 8, error: { code: -32602, message: 'tool arguments must be an object, array, or null' } },
      { id: 9, error: { code: -32602, message: 'MCP task-augmented execution is not supported' } },
    ])
  })

  test('lists come in pages', async () => {
    const many = Array.from({ length: 60 }, (_, at) => `mcp_resource({uri: "r://${at}", name: "n", text: "t"})`).join('\n')
    const { answers } = await converse(file('many.harn', many), [
      request(1, 'resources/list'),
      request(2, 'resources/list', { cursor: 'NTA=' }),
    ])
    const lists = answers.map((answer) => (answer as { result: { resources: readonly unknown[]; nextCursor?: string } }).result)
    expect(lists.map(({ resources, nextCursor }) => [resources.length, nextCursor])).toEqual([
      [50, 'NTA='],
      [10, undefined],
    ])
  })

  test.each<[string, string, string]>([
    [
      'a tool without a handler',
      'mcp_tools(tool_define(tool_registry(), "x", "", {executor: "host_bridge", host_capability: "a.b"}))',
      "mcp_tools: tool 'x' has no handler closure",
    ],
    ['a script that fails', 'throw "early"', 'early'],
    ['a script that does not compile', 'let = 3', 'error'],
    ['exports that do not compile', 'pub fn f() { return nowhere( }', 'error'],
  ])('%s', async (name, source, message) => {
    const ended = await converse(file(`${name.replaceAll(' ', '-')}.harn`, source), [request(1, 'ping')])
    expect(ended.code).toBe(1)
    expect(ended.answers).toEqual([])
    expect(ended.stderr).toContain(message)
  })
})

describe.concurrent('over HTTP', () => {
  async function listening(script: string, ...more: readonly string[]): Promise<string> {
    const child = spawn(process.execPath, words(script, '--transport', 'http', '--bind', '127.0.0.1:0', ...more), {
      cwd: root,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    children.push(child)
    return new Promise((resolve, reject) => {
      let stderr = ''
      child.stderr.on('data', (chunk) => {
        stderr += chunk
        const url = /at (http:\S+)/.exec(stderr)?.[1]
        if (url !== undefined) resolve(url)
      })
      child.on('close', () => reject(new Error(stderr)))
    })
  }

  async function over(url: string, headers: Record<string, string> = {}): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' })
    clients.push(client)
    // The SDK's own types disagree under exactOptionalPropertyTypes.
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as Parameters<Client['connect']>[0],
    )
    return client
  }

  test('several clients of one script', async () => {
    const url = await listening(file('http.harn', REGISTERED))
    const [one, two] = await Promise.all([over(url), over(url)])
    const calls = [one!, two!].flatMap((client, at) =>
      [1, 2, 3].map((n) => client.callTool({ name: 'add', arguments: { a: 10 * at, b: n } })),
    )
    expect((await Promise.all(calls)).map(readText)).toEqual(['1', '2', '3', '11', '12', '13'])
    const foreign = await fetch(url.replace('/mcp', '/other'), { method: 'POST', body: '{}' })
    expect(foreign.status).toBe(404)
  })

  test('keys', async () => {
    const url = await listening(file('keyed.harn', EXPORTED), '--api-key', 'open sesame')
    await expect(over(url)).rejects.toThrow()
    const client = await over(url, { 'x-api-key': 'open sesame' })
    expect(readText(await client.callTool({ name: 'add', arguments: { a: 1 } }))).toBe('6')
    expect(
      readText(await (await over(url, { authorization: 'Bearer open sesame' })).callTool({ name: 'add', arguments: { a: 1 } })),
    ).toBe('6')
  })
})

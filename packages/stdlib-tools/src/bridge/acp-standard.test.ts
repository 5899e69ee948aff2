// An agent by the Agent Client Protocol, version 1, as the client of its official SDK sees it: what the protocol has is used, and nothing else is sent
// before the client asked for it.

import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk'
import type { ClientCapabilities, ContentBlock, McpServer, SessionNotification } from '@agentclientprotocol/sdk'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { connectAcpClient } from '../test-support/acp-client.js'
import type { AcpTestClient } from '../test-support/acp-client.js'
import { lazyMcpProvider } from '../mcp/lazy.js'
import { nodeProviders } from '../node/providers.js'
import { mcpGlobal } from '../tools/servers/mcp.js'
import { StreamTransport } from '../tools/executors/stream-transport.js'
import { ACP_GLOBALS, AcpServer } from './acp.js'
import type { AcpSessionRecord } from './acp-sessions.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-acp-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const opened: { close: () => Promise<void> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

interface Setup {
  readonly source: string
  readonly capabilities?: ClientCapabilities
  readonly client?: Partial<AcpTestClient>
  readonly kept?: Map<string, AcpSessionRecord>
  readonly sandbox?: 'none'
}

async function connect({ source, capabilities = {}, client: own = {}, kept }: Setup) {
  const [toAgent, toClient] = [new PassThrough(), new PassThrough()]
  const runtime = createRuntime({ globals: ACP_GLOBALS, grants: ['*'], limits: { work: 1e8 } })
  const module = runtime.compile(source)
  const server = new AcpServer(
    {
      runtime,
      module: () => module,
      mcp: (servers) => mcpGlobal(servers),
      start: ({ cwd, mcpServers }) => ({
        providers: [
          ...nodeProviders({ root: cwd, sandbox: 'none' }),
          lazyMcpProvider({ cwd, env: 'inherit', servers: mcpServers }),
        ],
      }),
      ...(kept === undefined
        ? {}
        : {
            sessions: {
              save: (record) => void kept.set(record.id, record),
              load: (id) => kept.get(id) ?? null,
              list: () => [...kept.values()],
              delete: (id) => void kept.delete(id),
            },
          }),
    },
    new StreamTransport(toAgent, toClient),
  )
  await server.start()
  opened.push(server)
  const updates: SessionNotification['update'][] = []
  const asked: string[] = []
  const connection = connectAcpClient(toAgent, toClient, {
    requestPermission: async () => ({ outcome: { outcome: 'cancelled' } }),
    sessionUpdate: ({ update }) => updates.push(update),
    extMethod: async (method) => {
      asked.push(method)
      throw RequestError.methodNotFound(method)
    },
    extNotification: (method) => asked.push(method),
    ...own,
  })
  const initialized = await connection.request('initialize', {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: capabilities,
  })
  const start = async (mcpServers: McpServer[] = []) => {
    const { sessionId, modes } = await connection.request('session/new', { cwd: folder, mcpServers })
    const send = (prompt: ContentBlock[]) => connection.request('session/prompt', { sessionId, prompt })
    return { sessionId, modes, send, ask: (text: string) => send([{ type: 'text', text }]) }
  }
  const readSaid = (): string =>
    updates
      .flatMap((update) =>
        update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : [],
      )
      .join('')
  return { connection, initialized, updates, asked, start, readSaid }
}

test('what the agent declares, and a session without clientInfo', async () => {
  const { initialized, start } = await connect({ source: 'println(prompt)' })
  expect(initialized).toMatchObject({
    protocolVersion: 1,
    authMethods: [],
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { embeddedContext: true, image: false, audio: false },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, close: {}, fork: {}, resume: {} },
    },
  })
  const { modes, ask } = await start()
  expect(modes).toEqual({
    currentModeId: 'default',
    availableModes: [expect.objectContaining({ id: 'default' }), expect.objectContaining({ id: 'dry_run' })],
  })
  expect(await ask('hi')).toEqual({ stopReason: 'end_turn' })
})

test('extensions of the reference are sent to clients that declare them only', async () => {
  const source = 'log_info("a")\nprogress("x", "y", 1, 2)\nprintln(try { host_call("lamp.on") } catch (e) { "none" })'
  const plain = await connect({ source })
  await (await plain.start()).ask('go')
  expect(plain.asked).toEqual([])
  expect(plain.updates).toEqual([{ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'none\n' } }])
  const asked: string[] = []
  const extended = await connect({
    source,
    capabilities: { _meta: { harn: true } },
    client: {
      extMethod: async (method) => {
        asked.push(method)
        return method === 'host/capabilities' ? { lamp: ['on'] } : { lit: true }
      },
    },
  })
  expect(await (await extended.start()).ask('go')).toEqual({ stopReason: 'end_turn' })
  expect(asked).toEqual(['host/capabilities', 'host/call'])
  expect(extended.readSaid()).toBe('{lit: true}\n')
})

test('resources of the prompt are read', async () => {
  const { start, readSaid } = await connect({ source: 'println(prompt)\nprintln(prompt_blocks.map({ b -> b.type }))' })
  const { send } = await start()
  await send([
    { type: 'text', text: 'Look at' },
    { type: 'resource_link', name: 'notes.md', uri: 'file:///w/notes.md' },
    { type: 'resource', resource: { uri: 'file:///w/a.txt', text: 'the content', mimeType: 'text/plain' } },
  ])
  expect(readSaid()).toBe(
    'Look at\n[@notes.md](file:///w/notes.md)\n[@a.txt](file:///w/a.txt)\n<resource uri="file:///w/a.txt">\nthe content\n</resource>\n[text, resource_link, resource]\n',
  )
  await expect(send([{ type: 'image', data: '', mimeType: 'image/png' }])).rejects.toMatchObject({ code: -32602 })
})

describe('stop reasons', () => {
  test.each([
    ['println(1)', 'end_turn'],
    ['pipeline default() {\n  return {stop_reason: "refusal"}\n}', 'refusal'],
    [
      'let tools = tool_define(tool_registry(), "look", "", {handler: { a -> "x" }})\nfor i in range(3) { llm_mock({text: "", tool_calls: [{name: "look", arguments: {}}]}) }\nlet r = agent_loop("go", nil, {tools: tools, provider: "mock", tool_format: "native", loop_until_done: true, max_iterations: 2})\nprintln(r.status)',
      'max_turn_requests',
    ],
  ])('%s', async (source, stopReason) => {
    const { start } = await connect({ source })
    expect(await (await start()).ask('go')).toEqual({ stopReason })
  })

  test('a failure is an error of the request', async () => {
    const { start } = await connect({ source: 'throw "no"' })
    await expect((await start()).ask('go')).rejects.toMatchObject({ code: -32000 })
  })
})

describe('permissions', () => {
  const source = `
import { with_policies } from "std/policy"
import { tool_call } from "std/tools"
tool_bind(tool_define(tool_registry(), "drop", "", {parameters: {table: "string"}, handler: { a -> "ran" }}))
for i in range(2) {
  println(try { with_policies({approval_policy: {require_approval: ["*"]}}, { -> tool_call("drop", {table: "t"}) }) } catch (e) { e.code })
}`
  test.each([
    ['allow-once', 2, 'ran\nran\n'],
    ['reject-once', 2, 'approval_denied\napproval_denied\n'],
    ['allow-always', 1, 'ran\nran\n'],
    ['reject-always', 1, 'approval_denied\napproval_denied\n'],
    ['something-else', 2, 'approval_denied\napproval_denied\n'],
  ])('%s', async (optionId, times, said) => {
    const requests: unknown[] = []
    const { start, readSaid } = await connect({
      source,
      client: {
        requestPermission: async (request) => {
          requests.push(request)
          return { outcome: { outcome: 'selected', optionId } }
        },
      },
    })
    expect(await (await start()).ask('go')).toEqual({ stopReason: 'end_turn' })
    expect(readSaid()).toBe(said)
    expect(requests).toHaveLength(times)
    expect(Object.keys(requests[0] as object).toSorted()).toEqual(['options', 'sessionId', 'toolCall'])
    expect(requests[0]).toMatchObject({
      toolCall: { title: 'drop', status: 'pending', rawInput: { table: 't' } },
      options: [{ kind: 'allow_once' }, { kind: 'allow_always' }, { kind: 'reject_once' }, { kind: 'reject_always' }],
    })
  })

  test('a question with choices is a choice; another is a form, where the client has forms', async () => {
    const { start, readSaid } = await connect({
      source: 'println(ask_user("which?", {schema: {type: "string", enum: ["red", "green"]}}))\nprintln(ask_user("name?"))',
      client: {
        requestPermission: async ({ options }) => ({ outcome: { outcome: 'selected', optionId: options[1]!.optionId } }),
        answers: {
          'elicitation/create': async ({ message }) => ({ action: 'accept', content: { answer: `Ada (${message})` } }),
        },
      },
      capabilities: { elicitation: { form: {} } },
    })
    await (await start()).ask('go')
    expect(readSaid()).toBe('green\nAda (name?)\n')
  })
})

describe('updates', () => {
  test('an agent loop: thoughts, calls with places and results, plans', async () => {
    const source = `
import { update_plan_tool } from "std/plan"
var tools = tool_define(tool_registry(), "edit_file", "", {parameters: {path: "string"}, handler: { a -> write_file(a.path, "new")
 "done" }})
tools = update_plan_tool(tools)
write_file("a.txt", "old")
llm_mock({text: "", thinking: "first the file", tool_calls: [{id: "c1", name: "edit_file", arguments: {path: "a.txt"}}]})
llm_mock({text: "", tool_calls: [{id: "c2", name: "update_plan", arguments: {plan: [{step: "edit", status: "completed"}, {step: "test", status: "in_progress"}]}}]})
llm_mock({text: "ready ##DONE##"})
let r = agent_loop("go", nil, {tools: tools, provider: "mock", tool_format: "native", loop_until_done: true, max_iterations: 5})
println(r.status)`
    const { start, updates } = await connect({ source })
    expect(await (await start()).ask('go')).toEqual({ stopReason: 'end_turn' })
    expect(updates).toContainEqual({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'first the file' } })
    const edit = updates.find((each) => each.sessionUpdate === 'tool_call' && each.title === 'edit_file')
    const calls = updates.filter(
      (each) => 'toolCallId' in each && edit !== undefined && 'toolCallId' in edit && each.toolCallId === edit.toolCallId,
    )
    expect(calls[0]).toMatchObject({
      sessionUpdate: 'tool_call',
      title: 'edit_file',
      status: 'pending',
      rawInput: { path: 'a.txt' },
      locations: [{ path: join(folder, 'a.txt') }],
    })
    expect(calls.at(-1)).toMatchObject({
      sessionUpdate: 'tool_call_update',
      status: 'completed',
      content: [
        { type: 'diff', path: join(folder, 'a.txt'), oldText: 'old', newText: 'new' },
        { type: 'content', content: { type: 'text', text: 'done' } },
      ],
    })
    expect(updates).toContainEqual({
      sessionUpdate: 'plan',
      entries: [
        { content: 'edit', priority: 'medium', status: 'completed' },
        { content: 'test', priority: 'medium', status: 'in_progress' },
      ],
    })
    // The file was written once outside of the loop, as its own call.
    const outside = updates.filter(
      (each) => each.sessionUpdate === 'tool_call' && each.kind === 'edit' && each.title.startsWith('Write'),
    )
    expect(outside).toHaveLength(1)
  })

  test('a script of its own: reads, changes and programs', async () => {
    writeFileSync(join(folder, 'b.txt'), 'one')
    const { start, updates } = await connect({
      source: 'let t = read_file("b.txt")\nwrite_file("b.txt", t + "!")\nexec("true")\ndelete_file("b.txt")',
    })
    await (await start()).ask('go')
    const calls = updates.filter((each) => each.sessionUpdate === 'tool_call')
    expect(calls.map(({ kind, locations }) => [kind, locations?.[0]?.path])).toEqual([
      ['read', join(folder, 'b.txt')],
      ['edit', join(folder, 'b.txt')],
      ['execute', undefined],
      ['delete', join(folder, 'b.txt')],
    ])
    const ends = updates.filter((each) => each.sessionUpdate === 'tool_call_update' && each.status === 'completed')
    expect(ends).toHaveLength(4)
    const diffs = updates.flatMap((each) => (each.sessionUpdate === 'tool_call_update' ? (each.content ?? []) : []))
    expect(diffs).toContainEqual({ type: 'diff', path: join(folder, 'b.txt'), oldText: 'one', newText: 'one!' })
  })
})

describe('files and terminals of the client', () => {
  test('what is open there is read, and what is written goes there', async () => {
    writeFileSync(join(folder, 'c.txt'), 'on disk')
    const written: unknown[] = []
    const { start, readSaid } = await connect({
      source:
        'println(read_file("c.txt"))\nwrite_file("c.txt", "new")\nprintln(try { read_file("missing.txt") } catch (e) { "missing" })',
      capabilities: { fs: { readTextFile: true, writeTextFile: true } },
      client: {
        answers: {
          'fs/read_text_file': async ({ path }) => {
            if (path.endsWith('missing.txt')) throw RequestError.resourceNotFound(path)
            return { content: 'not saved' }
          },
          'fs/write_text_file': async (request) => {
            written.push(request)
            return {}
          },
        },
      },
    })
    const { ask, sessionId } = await start()
    await ask('go')
    expect(readSaid()).toBe('not saved\nmissing\n')
    expect(written).toEqual([{ sessionId, path: join(folder, 'c.txt'), content: 'new' }])
    expect(readFileSync(join(folder, 'c.txt'), 'utf8')).toBe('on disk')
  })

  test('a client without files is not asked for them', async () => {
    writeFileSync(join(folder, 'd.txt'), 'here')
    const { start, readSaid } = await connect({ source: 'println(read_file("d.txt"))' })
    await (await start()).ask('go')
    expect(readSaid()).toBe('here\n')
  })

  test('programs run in its terminal, which the update of the call shows', async () => {
    const { start, readSaid, updates } = await connect({
      source: 'println(exec("ls").stdout)',
      capabilities: { terminal: true },
      client: {
        answers: {
          'terminal/create': async () => ({ terminalId: 't1' }),
          'terminal/wait_for_exit': async () => ({ exitCode: 0 }),
          'terminal/output': async () => ({ output: 'there', truncated: false }),
          'terminal/release': async () => ({}),
        },
      },
    })
    await (await start()).ask('go')
    expect(readSaid()).toBe('there\n')
    expect(updates).toContainEqual(
      expect.objectContaining({ sessionUpdate: 'tool_call_update', content: [{ type: 'terminal', terminalId: 't1' }] }),
    )
  })
})

test('servers of the client are connected', async () => {
  const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))
  const { start, readSaid } = await connect({ source: 'println(mcp_call(mcp.things, "echo", {message: "hello"}))' })
  const server = { name: 'things', command: process.execPath, args: [program, 'stdio'], env: [{ name: 'A', value: 'b' }] }
  await (await start([server])).ask('go')
  expect(readSaid()).toContain('hello')
  await expect(start([{ name: '', command: 'x', args: [], env: [] }])).rejects.toMatchObject({ code: -32602 })
}, 30_000)

test('a client with notices is shown what the script logs; others are not', async () => {
  const source = 'log_info("fetched")\nlog_warn("slow")\nlog_debug("detail")\nprintln("end")'
  const told = await connect({ source, capabilities: { session: { notices: {} } } })
  await (await told.start()).ask('go')
  const notices = told.updates.filter(({ sessionUpdate }) => sessionUpdate === 'notice')
  expect(notices).toEqual([
    { sessionUpdate: 'notice', severity: 'info', title: 'fetched' },
    { sessionUpdate: 'notice', severity: 'warning', title: 'slow' },
  ])
  const plain = await connect({ source })
  await (await plain.start()).ask('go')
  expect(plain.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual(['agent_message_chunk'])
})

test('a client with compactions is notified of them', async () => {
  const source = `
llm_mock({text: "summary"})
for i in range(3) { llm_mock({text: "answer " + "x ".repeat(400)}) }
let r = agent_loop("go", nil, {provider: "mock", max_iterations: 3, persistent: true, auto_compact: true, compact_threshold: 100, compact_keep_last: 1})
println(r.status)`
  const told = await connect({ source, capabilities: { session: { compaction: {} } } })
  await (await told.start()).ask('go')
  expect(told.updates).toContainEqual(expect.objectContaining({ sessionUpdate: 'compaction_update', status: 'completed' }))
})

describe('sessions', () => {
  test('are loaded with their past, and continued without it', async () => {
    const kept = new Map<string, AcpSessionRecord>()
    const source = 'println("heard ${prompt} in ${cwd}")'
    const first = await connect({ source, kept })
    const { sessionId, ask } = await first.start()
    await ask('one')
    const second = await connect({ source, kept })
    expect(await second.connection.request('session/load', { sessionId, cwd: '/other', mcpServers: [] })).toEqual({
      modes: expect.objectContaining({ currentModeId: 'default' }) as object,
    })
    expect(second.updates).toEqual([
      { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'one' } },
      { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `heard one in ${folder}\n` } },
    ])
    await second.connection.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'two' }] })
    expect(second.readSaid()).toContain('heard two in /other')
    await expect(
      second.connection.request('session/load', { sessionId: 'unknown', cwd: '/', mcpServers: [] }),
    ).rejects.toMatchObject({
      code: -32002,
    })
  })

  test('are deleted, open or kept, and stay so when their run ends', async () => {
    const kept = new Map<string, AcpSessionRecord>()
    const first = await connect({ source: 'if prompt == "hang" { sleep(1h) }\nprintln("x")', kept })
    expect(first.initialized.agentCapabilities?.sessionCapabilities).toMatchObject({ delete: {} })
    const past = await first.start()
    await past.ask('one')
    const { sessions } = await first.connection.request('session/list', {})
    expect(sessions).toEqual([{ sessionId: past.sessionId, cwd: folder, updatedAt: expect.stringMatching(/^20.*Z$/) as string }])
    const second = await connect({ source: '1', kept })
    await second.connection.request('session/delete', { sessionId: past.sessionId })
    expect(kept.size).toBe(0)
    expect(await second.connection.request('session/list', {})).toEqual({ sessions: [] })
    const open = await first.start()
    const answer = open.ask('hang')
    await first.connection.request('session/delete', { sessionId: open.sessionId })
    expect(await answer).toEqual({ stopReason: 'cancelled' })
    expect([...kept.keys()]).not.toContain(open.sessionId)
    await expect(open.ask('again')).rejects.toMatchObject({ code: -32602 })
  })

  test('are listed in pages', async () => {
    const kept = new Map<string, AcpSessionRecord>()
    const facts = { cwd: folder, parent: null, branchedAt: null, title: null, turns: [] }
    for (let i = 0; i < 450; i++) kept.set(`s${i}`, { ...facts, id: `s${i}` })
    const { connection } = await connect({ source: '1', kept })
    const found: string[] = []
    let cursor: string | null | undefined
    do {
      const page = await connection.request('session/list', cursor === undefined ? {} : { cursor })
      found.push(...page.sessions.map(({ sessionId }) => sessionId))
      cursor = page.nextCursor
    } while (typeof cursor === 'string')
    expect(found).toEqual([...kept.keys()])
    await expect(connection.request('session/list', { cursor: 'nowhere' })).rejects.toMatchObject({ code: -32602 })
  })

  test('have modes: a dry run changes nothing', async () => {
    const { connection, start, updates } = await connect({ source: 'write_file("never.txt", "x")\nprintln("end")' })
    const { sessionId, ask } = await start()
    await connection.request('session/set_mode', { sessionId, modeId: 'dry_run' })
    await ask('go')
    expect(() => readFileSync(join(folder, 'never.txt'))).toThrow('ENOENT')
    expect(updates).toContainEqual(expect.objectContaining({ sessionUpdate: 'tool_call', title: 'Not carried out: fs.write' }))
    await expect(connection.request('session/set_mode', { sessionId, modeId: 'none' })).rejects.toMatchObject({ code: -32602 })
  })

  test('have absolute folders', async () => {
    const { connection } = await connect({ source: '1' })
    await expect(connection.request('session/new', { cwd: 'relative', mcpServers: [] })).rejects.toMatchObject({ code: -32602 })
  })
})

// MCP as scripts use it, end to end: machine, driver, provider, real server processes.

import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mcpGlobal } from '../tools/servers/mcp.js'
import { MemoryJournal } from '../host/journal.js'
import { createRuntime } from '../host/runtime.js'
import type { RuntimeOptions, StartOptions } from '../host/runtime-options.js'
import { oddServers } from '../test-support/mcp-servers.js'
import { mcpProvider } from './provider.js'
import type { McpOptions } from './provider.js'

type Server = { readonly command: string; readonly args: readonly string[] }

/** `mcp_connect(…)` for a server of the test support. */
const connect = (server: Server): string =>
  `mcp_connect(${quoteText(server.command)}, [${server.args.map(quoteText).join(', ')}])`
const quoteText = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('${', '\\${')}"`

const makeHost = (options: McpOptions = {}, more: RuntimeOptions = {}) =>
  createRuntime({
    // What a run says of calls that compiling would refuse.
    strictness: 'language',
    providers: [mcpProvider(options)],
    grants: ['mcp', 'process', 'http'],
    ...more,
  })

async function runToOutput(source: string, options: McpOptions = {}, start: StartOptions = {}): Promise<string> {
  const runtime = makeHost(options)
  const result = await runtime.start(runtime.compile(source), start).result
  return result.status === 'failed' ? `${result.output}! ${result.error.message}` : result.output
}

const wrapCaught = (call: string): string => `try { println(${call}) } catch (e) { println("caught: " + to_string(e)) }`

describe('clients', () => {
  test('tools, calls, information, disconnecting', async () => {
    const output = await runToOutput(`
let c = ${connect(oddServers.echo)}
println(type_of(c) + " " + to_string(contains(to_string(c), "<mcp_client:")))
println(mcp_list_tools(c).map({ t -> t.name + " " + to_string(t._mcp_server == mcp_server_info(c).name) }))
println(mcp_call(c, "echo", {n: 1, f: 1.5, list: [1, nil, true], handler: { x -> x }}))
println(mcp_server_info(c).connected)
println(mcp_disconnect(c))
println(mcp_disconnect(c))
${wrapCaught('mcp_call(c, "echo")')}
`)
    expect(output.split('\n')).toEqual([
      'mcp_client true',
      '[echo true, write true]',
      '{"f":1.5,"handler":null,"list":[1,null,true],"n":1}',
      'true',
      'nil',
      'nil',
      'caught: Runtime error: MCP client is disconnected',
      '',
    ])
  })

  test('data without content arrive; arguments of prompts are texts', async () => {
    const output = await runToOutput(`
import { tool_call } from "std/tools"
let c = ${connect(oddServers.structured)}
println(mcp_call(c, "data"))
println(mcp_get_prompt(c, "p", {n: 5, list: [1, nil], text: "a"}).messages[0].content.text)
`)
    expect(output.split('\n')).toEqual(['{list: [1], n: 5}', '{"list":"[1, nil]","n":"5","text":"a"}', ''])
    const host = makeHost({ servers: { s: oddServers.structured } })
    expect(
      await host.run(
        'import { tool_call } from "std/tools"\nreturn tool_call({name: "data", executor: "mcp_server", mcp_server: "s"}, {})',
      ),
    ).toEqual({ n: 5, list: [1] })
  })

  test('lists on several pages', async () => {
    expect(await runToOutput(`println(mcp_list_tools(${connect(oddServers.paged)}).map({ t -> t.name }))`)).toBe('[a, b]\n')
  })

  test.each<[string, string, string, McpOptions]>([
    ['no command', 'mcp_connect("")', 'mcp_connect: command is required', {}],
    ['nothing at all', 'mcp_connect()', 'mcp_connect: command is required', {}],
    [
      'a command that does not exist',
      'mcp_connect("no-such-program-here")',
      "mcp_connect: failed to spawn 'no-such-program-here': No such file or directory (os error 2)",
      {},
    ],
    ['a server that dies at once', connect(oddServers.stillborn), 'Runtime error: MCP: server closed connection', {}],
    [
      'a server that dies in mid-call',
      `mcp_call(${connect(oddServers.dies)}, "x")`,
      'Runtime error: MCP: server closed connection',
      {},
    ],
    [
      'a server that never answers',
      `mcp_call(${connect(oddServers.silent)}, "x")`,
      "Runtime error: MCP: server did not respond to 'tools/call' within 100ms",
      { timeoutMs: 100, connectTimeoutMs: 20_000 },
    ],
    ['an error of the protocol', `mcp_call(${connect(oddServers.noisy)}, "code")`, 'MCP error (-32602): bad arguments', {}],
    ['not a client', 'mcp_call("x", "y")', 'mcp_call: first argument must be an MCP client', {}],
    ['not a client to list', 'mcp_list_tools({})', 'mcp_list_tools: argument must be an MCP client', {}],
    ['no tool', `mcp_call(${connect(oddServers.echo)})`, 'mcp_call: tool name is required', {}],
    ['no resource', `mcp_read_resource(${connect(oddServers.echo)}, "")`, 'mcp_read_resource: URI is required', {}],
    ['no prompt', `mcp_get_prompt(${connect(oddServers.echo)})`, 'mcp_get_prompt: prompt name is required', {}],
    [
      'an unknown declared server',
      'mcp_ensure_active("x")',
      "Runtime error: mcp: no server named 'x' is registered (check harn.toml)",
      {},
    ],
  ])('%s', async (_, call, expected, options) =>
    expect(await runToOutput(wrapCaught(call), options)).toBe(`caught: ${expected}\n`),
  )

  test('declared servers are shared and counted', async () => {
    const output = await runToOutput(
      `
println(mcp_registry_status())
let a = mcp_ensure_active("notes")
let b = mcp_ensure_active("notes")
println(mcp_registry_status())
mcp_release("notes")
println(mcp_call(b, "echo", {a: 1}))
mcp_release("notes")
mcp_release("notes")
${wrapCaught('mcp_call(a, "echo")')}
println(mcp_call(mcp_ensure_active("notes"), "echo", {b: 2}))
`,
      { servers: { notes: { ...oddServers.echo } } },
    )
    expect(output.split('\n')).toEqual([
      '[{active: false, lazy: true, name: notes, ref_count: 0}]',
      '[{active: true, lazy: true, name: notes, ref_count: 2}]',
      '{"a":1}',
      'caught: Runtime error: MCP client is disconnected',
      '{"b":2}',
      '',
    ])
  })

  test('a server that is not lazy is there from the start, and held', async () => {
    const servers = { notes: { ...oddServers.echo, lazy: false }, dead: { ...oddServers.stillborn, lazy: false } }
    const runtime = makeHost({ servers }, { globalValues: { mcp: mcpGlobal(servers) } })
    const source = `
println(keys(mcp))
println(mcp_call(mcp.notes, "echo", {a: 1}))
println(mcp_registry_status())
let c = mcp_ensure_active("notes")
mcp_release("notes")
${wrapCaught('mcp_call(c, "echo")')}
println(mcp_call(mcp.notes, "echo", {b: 2}))
${wrapCaught('mcp_call(mcp.dead, "echo")')}
`
    expect((await runtime.start(runtime.compile(source)).result).output.split('\n')).toEqual([
      '[dead, notes]',
      '{"a":1}',
      '[{active: true, lazy: false, name: notes, ref_count: 1}, {active: true, lazy: false, name: dead, ref_count: 1}]',
      'caught: Runtime error: MCP client is disconnected',
      '{"b":2}',
      'caught: Runtime error: MCP: server closed connection',
      '',
    ])
  })

  test('a declared server that died is started again for the next call, not for the one that it died of', async () => {
    const servers = { m: { ...oddServers.mortal } }
    const source = `
let c = mcp_ensure_active("m")
println(mcp_call(c, "x") + mcp_call(c, "x"))
${wrapCaught('mcp_call(c, "die")')}
println(mcp_call(c, "x"))
`
    expect(await runToOutput(source, { servers })).toBe('12\ncaught: Runtime error: MCP: server closed connection\n1\n')
    expect(
      await runToOutput(
        `let c = ${connect(oddServers.mortal)}\n${wrapCaught('mcp_call(c, "die")')}\n${wrapCaught('mcp_call(c, "x")')}`,
      ),
    ).toBe(
      'caught: Runtime error: MCP: server closed connection\ncaught: Runtime error: MCP write error: Broken pipe (os error 32)\n',
    )
  })

  test('progress and notifications reach the host', async () => {
    const heard: unknown[] = []
    await runToOutput('mcp_call(mcp_ensure_active("m"), "x")', {
      servers: { m: { ...oddServers.mortal } },
      onProgress: ({ server, method, progress, total, message }) => heard.push([server, method, progress, total, message]),
      onNotification: (server, method) => heard.push([server, method]),
    })
    expect(heard).toEqual([
      ['m', 'tools/call', 1, 2, 'half'],
      ['m', 'notifications/tools/list_changed'],
    ])
    const runtime = makeHost({ servers: { m: { ...oddServers.mortal } } })
    const source =
      'import { tool_call } from "std/tools"\nlet r = tool_define(tool_registry(), "x", "", {executor: "mcp_server", mcp_server: "m"})\ntool_call("x", {}, {registry: r})'
    const events: unknown[] = []
    const run = runtime.start(runtime.compile(source), { onEvent: (event) => event.type === 'progress' && events.push(event) })
    expect((await run.result).status).toBe('done')
    expect(events).toMatchObject([{ type: 'progress', tool: 'x', data: { progress: 1, total: 2, message: 'half' } }])
  })

  test('a server may ask for a form; what is left out has its default', async () => {
    const source = `println(mcp_call(${connect(oddServers.asks)}, "x"))`
    const handlers = { 'elicitation/create': async () => ({ action: 'accept', content: { age: 36 } }) }
    expect(await runToOutput(source, { handlers })).toBe('{"action":"accept","content":{"age":36,"name":"Ada"}}\n')
    const declined = { 'elicitation/create': async () => ({ action: 'decline' }) }
    expect(await runToOutput(source, { handlers: declined })).toBe('{"action":"decline"}\n')
  })

  test('tools with an MCP server behind them', async () => {
    const source =
      'import { tool_call } from "std/tools"\nlet r = tool_define(tool_registry(), "echo", "Echo", {executor: "mcp_server", mcp_server: "notes", parameters: {n: "int"}})\nprintln(tool_call("echo", {n: 1}, {registry: r}))'
    expect(await runToOutput(source, { servers: { notes: { ...oddServers.echo } } })).toBe('{"n":1}\n')
    expect(await runToOutput(source.replace('println(', 'try { ').replace(/\)$/, ' } catch (e) { println(e.code) }'))).toBe(
      'provider_unavailable\n',
    )
  })

  test('a synthesized tool calls a server', async () => {
    const source = `let c = ${connect(oddServers.echo)}\nlet t = tool_synthesize({name: "echo_it", description: "Echo", executor: "mcp_server", mcp_client: c, mcp_tool: "echo", parameters: {n: "int"}})\nprintln(t({n: 5}))`
    expect(await runToOutput(source)).toBe('{"n":5}\n')
  })

  test('what is registered to be served is only recorded', async () => {
    expect(
      await runToOutput('println(mcp_tools(tool_registry()))\nprintln(mcp_resource({uri: "u", name: "n", text: "t"}))'),
    ).toBe('nil\nnil\n')
    for (const [call, message] of [
      ['mcp_serve("x")', 'mcp_tools: argument must be a tool registry'],
      ['mcp_tools({})', 'mcp_tools: argument must be a tool registry (created with tool_registry())'],
      ['mcp_resource({uri: "u"})', "mcp_resource: 'name' is required"],
      ['mcp_prompt({name: "n"})', "mcp_prompt: 'handler' closure is required"],
      ['mcp_resource_template({uri_template: "u", name: "n"})', "mcp_resource_template: 'handler' closure is required"],
      ['mcp_prompt(1)', 'mcp_prompt: argument must be a dict with {name, handler}'],
    ])
      expect(await runToOutput(wrapCaught(call!))).toBe(`caught: Runtime error: ${message}\n`)
  })
})

describe('runs', () => {
  test('a dry run calls what is marked read-only and lists the rest', async () => {
    const runtime = makeHost()
    const module = runtime.compile(
      `let c = ${connect(oddServers.echo)}\nprintln(mcp_call(c, "echo", {a: 1}))\nprintln(mcp_call(c, "write", {b: 2}).status)`,
    )
    const result = await runtime.start(module, { dryRun: true }).result
    expect(result.output).toBe('{"a":1}\ndry_run\n')
    expect(result.wouldHaveDone.map((entry) => [entry.summary.replace(process.execPath, 'node'), entry.performed])).toEqual([
      ['connect to MCP server node', true],
      ['call write of MCP server node', false],
    ])
  })

  test('a snapshot taken during a call resumes with its own connection', async () => {
    const source = `let c = ${connect(oddServers.echo)}\nprintln(mcp_call(c, "echo", {n: 1}))\nprintln(host_call("test.wait"))\nprintln(mcp_call(c, "echo", {n: 2}))`
    let reached: () => void = () => {}
    const waiting = new Promise<void>((resolve) => void (reached = resolve))
    const first = makeHost(
      {},
      {
        capabilities: {
          test: {
            wait: () => {
              reached()
              return new Promise(() => {})
            },
          },
        },
      },
    )
    const run = first.start(first.compile(source))
    await waiting
    const bytes = await run.snapshot()
    run.cancel()
    await run.result
    const second = makeHost({}, { capabilities: { test: { wait: () => 'waited' } } })
    expect(await second.resume(bytes).result).toMatchObject({ status: 'done', output: '{"n":1}\nwaited\n{"n":2}\n' })
    // Under grants of now that do not cover it, the client is lost, and says so.
    const denied = await second.resume(bytes, { grants: [] }).result
    expect(denied.status === 'failed' && denied.error.message).toContain('mcp.request is not granted to this run')
  })

  test('a replay needs no server', async () => {
    const runtime = makeHost()
    const source = `let c = ${connect(oddServers.echo)}\nprintln(mcp_call(c, "echo", {n: 1}))\n${wrapCaught(`mcp_call(${connect(oddServers.dies)}, "x")`)}`
    const module = runtime.compile(source)
    const journal = new MemoryJournal()
    const result = await runtime.start(module, { journal }).result
    expect(createRuntime().replay(createRuntime().compile(source), journal.entries)).toMatchObject({
      kind: 'ended',
      output: result.output,
    })
  })

  test('cancelling in mid-call', async () => {
    const runtime = makeHost()
    const journal = new MemoryJournal()
    const run = runtime.start(runtime.compile(`let c = ${connect(oddServers.silent)}\nmcp_call(c, "x")`), { journal })
    for await (const event of run.events()) if (event.type === 'effect' && event.kind === 'mcp.request') run.cancel('stop')
    expect(await run.result).toMatchObject({ status: 'cancelled', reason: 'stop' })
  })
})

describe('streamable HTTP', () => {
  let base: string
  const seen: (string | undefined)[] = []
  let sessions = 0
  const used = new Set<unknown>()
  const server = createServer((request, response) => {
    void read(request).then((text) => {
      const message = text === '' ? {} : (JSON.parse(text) as { id?: number; method?: string; params?: { name?: string } })
      seen.push(request.headers.authorization)
      if (request.url === '/closed') return response.writeHead(401).end()
      if (request.url === '/broken') return response.writeHead(500).end('oops')
      if (request.url === '/forgets') {
        // Knows a session for one request only.
        if (message.method === 'initialize') response.setHeader('mcp-session-id', `s${++sessions}`)
        else if (message.method === 'tools/call' && used.has(request.headers['mcp-session-id']))
          return response.writeHead(404).end()
        else if (message.method === 'tools/call') used.add(request.headers['mcp-session-id'])
      }
      if (request.method !== 'POST' || message.id === undefined)
        return response.writeHead(request.method === 'POST' ? 202 : 405).end()
      const result =
        message.method === 'initialize'
          ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'h', version: '1' } }
          : { content: [{ type: 'text', text: `over http ${message.params?.name}` }] }
      const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, result })
      if (request.url === '/sse')
        return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`event: message\ndata: ${body}\n\n`)
      return response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    })
  })
  const read = async (request: IncomingMessage): Promise<string> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString()
  }

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  /** An address where nothing listens any more. */
  async function findUnusedAddress(): Promise<string> {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    await new Promise((resolve) => other.close(resolve))
    return `http://127.0.0.1:${port}/`
  }

  const use = (path: string): Promise<string> =>
    runToOutput(wrapCaught('mcp_call(mcp_ensure_active("web"), "t")'), {
      servers: { web: { url: base + path, authToken: 'secret' } },
    })

  test('answers as JSON and as an event stream', async () => {
    expect(await use('/json')).toBe('over http t\n')
    expect(await use('/sse')).toBe('over http t\n')
    expect(seen.every((header) => header === 'Bearer secret')).toBe(true)
  })

  test('a session that the server forgot is opened again, once', async () => {
    const source = `let c = mcp_ensure_active("web")\nprintln(mcp_call(c, "a"))\nprintln(mcp_call(c, "b"))`
    const output = await runToOutput(source, { servers: { web: { url: `${base}/forgets` } } })
    expect([output, sessions]).toEqual(['over http a\nover http b\n', 2])
  })

  test('what goes wrong', async () => {
    expect(await use('/closed')).toBe('caught: MCP authorization required\n')
    expect(await use('/broken')).toMatch(/^caught: MCP error \(500\): /)
    expect(
      await runToOutput(wrapCaught('mcp_ensure_active("web")'), { servers: { web: { url: await findUnusedAddress() } } }),
    ).toBe('caught: Runtime error: MCP HTTP request error: Connection refused (os error 111)\n')
  })
})

describe('agent loops', () => {
  test('tools of a server are called by their prefixed names, and the server is closed at the end', async () => {
    const { command, args } = oddServers.echo
    const words = [command, ...args].map(quoteText).join(', ')
    const output = await runToOutput(
      `
llm_mock({text: "", tool_calls: [{name: "e__echo", arguments: {n: 1}}, {name: "e__nothing"}]})
llm_mock({text: "finished"})
let r = agent_loop("go", nil, {provider: "mock", tool_format: "native", mcp_servers: [{name: "e", command: [${words}]}]})
println(r.status + " " + to_string(r.tools))
println(r.transcript.messages.filter({ m -> m.role == "tool" }).map({ m -> m.content })[0])
println(llm_mock_calls()[0].tools.map({ t -> t["function"].name }))
`,
      {},
      {},
    )
    expect(output.split('\n')).toEqual([
      'done {calls: [e__echo, e__nothing], mode: native, rejected: [e__nothing], successful: [e__echo]}',
      '{"n":1}',
      '[e__echo, e__write]',
      '',
    ])
  })

  test('the policy of a loop judges its tools; servers are connected under the policy of the caller', async () => {
    const { command, args } = oddServers.echo
    const spec = `{name: "e", command: [${[command, ...args].map(quoteText).join(', ')}]}`
    const output = await runToOutput(`
import { with_policies } from "std/policy"
fn go(policy) {
  llm_mock_clear()
  llm_mock({text: "", tool_calls: [{name: "e__echo", arguments: {n: 1}}]})
  llm_mock({text: "finished"})
  try {
    println(agent_loop("go", nil, {provider: "mock", tool_format: "native", mcp_servers: [${spec}], policy: policy}).tools)
  } catch (e) { println(e) }
}
go({capabilities: {workspace: []}})
go({tools: ["e__write"]})
go({side_effect_level: "read_only"})
with_policies({policy: {capabilities: {llm: ["call"]}}}, { -> go(nil) })
`)
    expect(output.split('\n')).toEqual([
      '{calls: [e__echo], mode: native, rejected: [], successful: [e__echo]}',
      '{calls: [], mode: native, rejected: [e__echo], successful: []}',
      "Runtime error: agent_loop tool surface validation failed: TOOL_SURFACE_SIDE_EFFECT_CEILING_EXCEEDED: tool 'e__echo' requires " +
        "side-effect level 'network' but policy ceiling is 'read_only'",
      "Error [tool_rejected]: builtin 'mcp_connect' exceeds process.exec ceiling",
      '',
    ])
  })
})

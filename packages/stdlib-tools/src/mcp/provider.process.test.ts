import { execFileSync } from 'node:child_process'
import { afterEach, describe, expect, test } from 'vitest'
import type { EffectOutcome, Plain, PlainRecord } from '@bridle/vm'
import { makeEffectCall as call } from '../test-support/effect-call.js'
import { awaitGone, isAlive, oddServers } from '../test-support/mcp-servers.js'
import { McpConnections } from './provider.js'
import type { McpOptions } from './provider.js'

const opened: McpConnections[] = []

function makeConnections(options: McpOptions = {}): McpConnections {
  const made = new McpConnections(options)
  opened.push(made)
  return made
}

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
  expect(listChildren()).toEqual([])
})

function listChildren(): string[] {
  const list = execFileSync('ps', ['-A', '-o', 'ppid=,stat=,args='], { encoding: 'utf8' })
  return list.split('\n').filter((line) => {
    const [parent, state, ...args] = line.trim().split(/\s+/)
    return parent === String(process.pid) && !state!.startsWith('Z') && args[0] !== 'ps'
  })
}

type Spec = { readonly command: string; readonly args: readonly string[] }
const makeSpec = (server: Spec): PlainRecord => ({ transport: 'stdio', command: server.command, args: [...server.args] })

async function open(mcp: McpConnections, server: Spec, client = 1, signal?: AbortSignal): Promise<EffectOutcome> {
  return mcp.perform(
    { kind: 'mcp.connect', args: { op: 'open', client, name: server.command, spec: makeSpec(server) } },
    call(signal),
  )
}

async function ask(
  mcp: McpConnections,
  server: Spec,
  method: string,
  params: PlainRecord,
  signal?: AbortSignal,
): Promise<EffectOutcome> {
  return mcp.perform(
    { kind: 'mcp.request', args: { client: 1, name: server.command, spec: makeSpec(server), method, params } },
    call(signal),
  )
}

const callTool = (
  mcp: McpConnections,
  server: Spec,
  name: string,
  args: Plain = {},
  signal?: AbortSignal,
): Promise<EffectOutcome> => ask(mcp, server, 'tools/call', { name, arguments: args }, signal)

const formatError = (outcome: EffectOutcome): string =>
  outcome.ok ? 'no error' : `${outcome.error.kind}: ${outcome.error.message}`
const readText = (outcome: EffectOutcome): string => {
  if (!outcome.ok) throw new Error(outcome.error.message)
  return (outcome.value as { content: { text: string }[] }).content[0]!.text
}

describe('servers that misbehave', () => {
  test('a command that does not exist', async () => {
    const outcome = await open(makeConnections(), { command: 'no-such-program-here', args: [] })
    expect(formatError(outcome)).toBe(
      "thrown: mcp_connect: failed to spawn 'no-such-program-here': No such file or directory (os error 2)",
    )
  })

  test('one that dies before the handshake', async () => {
    expect(formatError(await open(makeConnections(), oddServers.stillborn))).toBe('runtime: MCP: server closed connection')
  })

  test('one that dies in the middle of a call, and calls after that', async () => {
    const mcp = makeConnections()
    expect((await open(mcp, oddServers.dies)).ok).toBe(true)
    expect(formatError(await callTool(mcp, oddServers.dies, 'x'))).toBe('runtime: MCP: server closed connection')
    expect(formatError(await callTool(mcp, oddServers.dies, 'x'))).toBe('runtime: MCP write error: Broken pipe (os error 32)')
  })

  test('one that never answers a request', async () => {
    const mcp = makeConnections({ timeoutMs: 150, connectTimeoutMs: 20_000 })
    expect((await open(mcp, oddServers.silent)).ok).toBe(true)
    expect(formatError(await callTool(mcp, oddServers.silent, 'x'))).toBe(
      "runtime: MCP: server did not respond to 'tools/call' within 150ms",
    )
  })

  test('one that never answers the handshake and ignores SIGTERM', async () => {
    const outcome = await open(makeConnections({ connectTimeoutMs: 300 }), oddServers.mute)
    expect(formatError(outcome)).toBe("runtime: MCP: server did not respond to 'initialize' within 300ms")
  })

  test('its own children go with it', async () => {
    const mcp = makeConnections()
    await open(mcp, oddServers.parent)
    const grandchild = Number(readText(await callTool(mcp, oddServers.parent, 'pid')))
    expect(isAlive(grandchild)).toBe(true)
    await mcp.close()
    await awaitGone(grandchild)
  })

  test('noise, results that are null, errors without a code', async () => {
    const mcp = makeConnections()
    expect((await open(mcp, oddServers.noisy)).ok).toBe(true)
    expect(await callTool(mcp, oddServers.noisy, 'null')).toEqual({ ok: true, value: {} })
    expect(formatError(await callTool(mcp, oddServers.noisy, 'fail'))).toBe('thrown: MCP error (-1): Unknown MCP error')
    expect(formatError(await callTool(mcp, oddServers.noisy, 'code'))).toBe('thrown: MCP error (-32602): bad arguments')
  })

  test('a request for a feature without a handler is refused by name', async () => {
    const mcp = makeConnections()
    await open(mcp, oddServers.noisy)
    const answer = JSON.parse(readText(await callTool(mcp, oddServers.noisy, 'ask'))) as {
      error: { code: number; message: string; data: object }
    }
    expect(answer.error).toMatchObject({
      code: -32601,
      message: 'Unsupported MCP method: sampling/createMessage',
      data: { feature: 'sampling', status: 'unsupported' },
    })
  })

  test('cancelling ends a call and a handshake', async () => {
    const mcp = makeConnections()
    await open(mcp, oddServers.silent)
    const abort = new AbortController()
    const pending = callTool(mcp, oddServers.silent, 'x', {}, abort.signal)
    const other = open(makeConnections(), oddServers.mute, 1, abort.signal)
    setImmediate(() => abort.abort())
    expect(formatError(await pending)).toBe("runtime: MCP: 'tools/call' was cancelled")
    expect(formatError(await other)).toBe("runtime: MCP: 'initialize' was cancelled")
  })
})

describe('connections', () => {
  test('calls run side by side', async () => {
    const mcp = makeConnections()
    await open(mcp, oddServers.echo)
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => callTool(mcp, oddServers.echo, 'echo', { n })))
    expect(answers.map(readText)).toEqual(Array.from({ length: 50 }, (_, n) => `{"n":${n}}`))
  })

  test('an unknown number is opened again from its spec', async () => {
    const mcp = makeConnections()
    expect(readText(await callTool(mcp, oddServers.echo, 'echo', { a: 1 }))).toBe('{"a":1}')
    const outcome = await callTool(makeConnections(), { command: 'no-such-program-here', args: [] }, 'echo')
    expect(outcome).toMatchObject({ ok: false, error: { kind: 'categorized', category: 'handle_lost' } })
  })

  test('a closed connection ends its process', async () => {
    const mcp = makeConnections()
    await open(mcp, oddServers.echo)
    await mcp.perform({ kind: 'mcp.connect', args: { op: 'close', client: 1, name: 'x' } }, call())
    expect(listChildren()).toEqual([])
  })

  test('declared servers are found by name', async () => {
    const mcp = makeConnections({ servers: { notes: { ...oddServers.echo } } })
    expect(readText(await mcp.callTool('notes', 'echo', { x: 'y' }, call().signal))).toBe('{"x":"y"}')
    expect(formatError(await mcp.callTool('other', 'echo', {}, call().signal))).toBe(
      "runtime: mcp: no server named 'other' is registered (check harn.toml)",
    )
  })

  test('the host can refuse a server', async () => {
    const mcp = makeConnections({ allow: (config) => config.name === 'good' })
    expect(formatError(await open(mcp, oddServers.echo))).toContain('is not allowed by this host')
  })

  test('a dry run may use tools that are marked as read-only', async () => {
    const mcp = makeConnections()
    const makeEffect = (name: string) => ({
      kind: 'mcp.request' as const,
      args: { client: 1, name: 'x', spec: makeSpec(oddServers.echo), method: 'tools/call', params: { name, arguments: {} } },
    })
    expect(await mcp.isReadOnly(makeEffect('echo'), call())).toBe(true)
    expect(await mcp.isReadOnly(makeEffect('write'), call())).toBe(false)
  })

  test('malformed specs', async () => {
    const mcp = makeConnections()
    const bad = await mcp.perform(
      { kind: 'mcp.connect', args: { op: 'open', client: 1, name: 'x', spec: { transport: 'pigeon' } } },
      call(),
    )
    expect(formatError(bad)).toContain('runtime: Invalid MCP server config: unknown variant `pigeon`')
    const empty = await mcp.perform({ kind: 'mcp.connect', args: { op: 'open', client: 2, name: 'x', spec: {} } }, call())
    expect(formatError(empty)).toBe('runtime: Invalid MCP server config: transport "stdio" needs a command')
  })
})

describe('what the host says about a server of its own', () => {
  const listTools = async (mcp: McpConnections): Promise<unknown> => {
    const listed = await performDeclared(mcp, 'tools/list', {})
    return listed.ok ? (listed.value as { tools: { name: string }[] }).tools.map(({ name }) => name) : listed
  }
  const performDeclared = async (mcp: McpConnections, method: string, params: PlainRecord): Promise<EffectOutcome> =>
    mcp.perform({ kind: 'mcp.request', args: { client: 1, name: 'own', spec: { server: 'own' }, method, params } }, call())

  test('tools that it leaves out are neither listed nor called', async () => {
    const mcp = makeConnections({ servers: { own: { ...oddServers.echo, tools: ['echo', 'gone'] } } })
    await mcp.perform({ kind: 'mcp.connect', args: { op: 'open', client: 1, name: 'own', spec: { server: 'own' } } }, call())
    expect(await listTools(mcp)).toEqual(['echo'])
    expect(await performDeclared(mcp, 'tools/call', { name: 'echo', arguments: {} })).toMatchObject({ ok: true })
    const refusal = { ok: false, error: { message: "tool 'write' of MCP server 'own' is not allowed by this host" } }
    expect(await performDeclared(mcp, 'tools/call', { name: 'write', arguments: {} })).toMatchObject(refusal)
    expect(await mcp.callTool('own', 'write', {}, call().signal)).toMatchObject(refusal)
    expect(await mcp.listTools('own', call().signal)).toMatchObject({ ok: true, value: [{ name: 'echo' }] })
  })

  test('its requests have its time limit, and calls with one of their own have that', async () => {
    const mcp = makeConnections({ connectTimeoutMs: 60_000, servers: { own: { ...oddServers.silent, timeoutMs: 40 } } })
    expect(await performDeclared(mcp, 'ping', {})).toMatchObject({
      error: { message: "MCP: server did not respond to 'ping' within 40ms" },
    })
    expect(await mcp.callTool('own', 'x', {}, call().signal, 5)).toMatchObject({
      error: { message: "MCP: server did not respond to 'tools/call' within 5ms" },
    })
  })
})

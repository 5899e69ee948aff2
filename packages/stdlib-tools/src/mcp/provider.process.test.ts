import { execFileSync } from 'node:child_process'
import { afterEach, describe, expect, test } from 'vitest'
import type { EffectOutcome, Plain, PlainRecord } from '@bridle/vm'
import { effectCall as call } from '../test-support/effect-call.js'
import { gone, isAlive, oddServers } from '../test-support/mcp-servers.js'
import { McpConnections } from './provider.js'
import type { McpOptions } from './provider.js'

const opened: McpConnections[] = []

function connections(options: McpOptions = {}): McpConnections {
  const made = new McpConnections(options)
  opened.push(made)
  return made
}

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
  expect(childrenOfThisProcess()).toEqual([])
})

function childrenOfThisProcess(): string[] {
  const list = execFileSync('ps', ['-A', '-o', 'ppid=,stat=,args='], { encoding: 'utf8' })
  return list.split('\n').filter((line) => {
    const [parent, state, ...args] = line.trim().split(/\s+/)
    return parent === String(process.pid) && !state!.startsWith('Z') && args[0] !== 'ps'
  })
}

type Spec = { readonly command: string; readonly args: readonly string[] }
const specOf = (server: Spec): PlainRecord => ({ transport: 'stdio', command: server.command, args: [...server.args] })

async function open(mcp: McpConnections, server: Spec, client = 1, signal?: AbortSignal): Promise<EffectOutcome> {
  return mcp.perform(
    { kind: 'mcp.connect', args: { op: 'open', client, name: server.command, spec: specOf(server) } },
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
    { kind: 'mcp.request', args: { client: 1, name: server.command, spec: specOf(server), method, params } },
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

const error = (outcome: EffectOutcome): string => (outcome.ok ? 'no error' : `${outcome.error.kind}: ${outcome.error.message}`)
const text = (outcome: EffectOutcome): string => {
  if (!outcome.ok) throw new Error(outcome.error.message)
  return (outcome.value as { content: { text: string }[] }).content[0]!.text
}

describe('servers that misbehave', () => {
  test('a command that does not exist', async () => {
    const outcome = await open(connections(), { command: 'no-such-program-here', args: [] })
    expect(error(outcome)).toBe(
      "thrown: mcp_connect: failed to spawn 'no-such-program-here': No such file or directory (os error 2)",
    )
  })

  test('one that dies before the handshake', async () => {
    expect(error(await open(connections(), oddServers.stillborn))).toBe('runtime: MCP: server closed connection')
  })

  test('one that dies in the middle of a call, and calls after that', async () => {
    const mcp = connections()
    expect((await open(mcp, oddServers.dies)).ok).toBe(true)
    expect(error(await callTool(mcp, oddServers.dies, 'x'))).toBe('runtime: MCP: server closed connection')
    expect(error(await callTool(mcp, oddServers.dies, 'x'))).toBe('runtime: MCP write error: Broken pipe (os error 32)')
  })

  test('one that never answers a request', async () => {
    const mcp = connections({ timeoutMs: 150, connectTimeoutMs: 20_000 })
    expect((await open(mcp, oddServers.silent)).ok).toBe(true)
    expect(error(await callTool(mcp, oddServers.silent, 'x'))).toBe(
      "runtime: MCP: server did not respond to 'tools/call' within 150ms",
    )
  })

  test('one that never answers the handshake and ignores SIGTERM', async () => {
    const outcome = await open(connections({ connectTimeoutMs: 300 }), oddServers.mute)
    expect(error(outcome)).toBe("runtime: MCP: server did not respond to 'initialize' within 300ms")
  })

  test('its own children go with it', async () => {
    const mcp = connections()
    await open(mcp, oddServers.parent)
    const grandchild = Number(text(await callTool(mcp, oddServers.parent, 'pid')))
    expect(isAlive(grandchild)).toBe(true)
    await mcp.close()
    await gone(grandchild)
  })

  test('noise, results that are null, errors without a code', async () => {
    const mcp = connections()
    expect((await open(mcp, oddServers.noisy)).ok).toBe(true)
    expect(await callTool(mcp, oddServers.noisy, 'null')).toEqual({ ok: true, value: {} })
    expect(error(await callTool(mcp, oddServers.noisy, 'fail'))).toBe('thrown: MCP error (-1): Unknown MCP error')
    expect(error(await callTool(mcp, oddServers.noisy, 'code'))).toBe('thrown: MCP error (-32602): bad arguments')
  })

  test('a request for a feature without a handler is refused by name', async () => {
    const mcp = connections()
    await open(mcp, oddServers.noisy)
    const answer = JSON.parse(text(await callTool(mcp, oddServers.noisy, 'ask'))) as {
      error: { code: number; message: string; data: object }
    }
    expect(answer.error).toMatchObject({
      code: -32601,
      message: 'Unsupported MCP method: sampling/createMessage',
      data: { feature: 'sampling', status: 'unsupported' },
    })
  })

  test('cancelling ends a call and a handshake', async () => {
    const mcp = connections()
    await open(mcp, oddServers.silent)
    const abort = new AbortController()
    const pending = callTool(mcp, oddServers.silent, 'x', {}, abort.signal)
    const other = open(connections(), oddServers.mute, 1, abort.signal)
    setImmediate(() => abort.abort())
    expect(error(await pending)).toBe("runtime: MCP: 'tools/call' was cancelled")
    expect(error(await other)).toBe("runtime: MCP: 'initialize' was cancelled")
  })
})

describe('connections', () => {
  test('calls run side by side', async () => {
    const mcp = connections()
    await open(mcp, oddServers.echo)
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => callTool(mcp, oddServers.echo, 'echo', { n })))
    expect(answers.map(text)).toEqual(Array.from({ length: 50 }, (_, n) => `{"n":${n}}`))
  })

  test('an unknown number is opened again from its spec', async () => {
    const mcp = connections()
    expect(text(await callTool(mcp, oddServers.echo, 'echo', { a: 1 }))).toBe('{"a":1}')
    const outcome = await callTool(connections(), { command: 'no-such-program-here', args: [] }, 'echo')
    expect(outcome).toMatchObject({ ok: false, error: { kind: 'categorized', category: 'handle_lost' } })
  })

  test('a closed connection ends its process', async () => {
    const mcp = connections()
    await open(mcp, oddServers.echo)
    await mcp.perform({ kind: 'mcp.connect', args: { op: 'close', client: 1, name: 'x' } }, call())
    expect(childrenOfThisProcess()).toEqual([])
  })

  test('declared servers are found by name', async () => {
    const mcp = connections({ servers: { notes: { ...oddServers.echo } } })
    expect(text(await mcp.callTool('notes', 'echo', { x: 'y' }, call().signal))).toBe('{"x":"y"}')
    expect(error(await mcp.callTool('other', 'echo', {}, call().signal))).toBe(
      "runtime: mcp: no server named 'other' is registered (check harn.toml)",
    )
  })

  test('the host can refuse a server', async () => {
    const mcp = connections({ allow: (config) => config.name === 'good' })
    expect(error(await open(mcp, oddServers.echo))).toContain('is not allowed by this host')
  })

  test('a dry run may use tools that are marked as read-only', async () => {
    const mcp = connections()
    const effect = (name: string) => ({
      kind: 'mcp.request' as const,
      args: { client: 1, name: 'x', spec: specOf(oddServers.echo), method: 'tools/call', params: { name, arguments: {} } },
    })
    expect(await mcp.isReadOnly(effect('echo'), call())).toBe(true)
    expect(await mcp.isReadOnly(effect('write'), call())).toBe(false)
  })

  test('malformed specs', async () => {
    const mcp = connections()
    const bad = await mcp.perform(
      { kind: 'mcp.connect', args: { op: 'open', client: 1, name: 'x', spec: { transport: 'pigeon' } } },
      call(),
    )
    expect(error(bad)).toContain('runtime: Invalid MCP server config: unknown variant `pigeon`')
    const empty = await mcp.perform({ kind: 'mcp.connect', args: { op: 'open', client: 2, name: 'x', spec: {} } }, call())
    expect(error(empty)).toBe('runtime: Invalid MCP server config: transport "stdio" needs a command')
  })
})

describe('what the host says about a server of its own', () => {
  const tools = async (mcp: McpConnections): Promise<unknown> => {
    const listed = await declared(mcp, 'tools/list', {})
    return listed.ok ? (listed.value as { tools: { name: string }[] }).tools.map(({ name }) => name) : listed
  }
  const declared = async (mcp: McpConnections, method: string, params: PlainRecord): Promise<EffectOutcome> =>
    mcp.perform({ kind: 'mcp.request', args: { client: 1, name: 'own', spec: { server: 'own' }, method, params } }, call())

  test('tools that it leaves out are neither listed nor called', async () => {
    const mcp = connections({ servers: { own: { ...oddServers.echo, tools: ['echo', 'gone'] } } })
    await mcp.perform({ kind: 'mcp.connect', args: { op: 'open', client: 1, name: 'own', spec: { server: 'own' } } }, call())
    expect(await tools(mcp)).toEqual(['echo'])
    expect(await declared(mcp, 'tools/call', { name: 'echo', arguments: {} })).toMatchObject({ ok: true })
    const refusal = { ok: false, error: { message: "tool 'write' of MCP server 'own' is not allowed by this host" } }
    expect(await declared(mcp, 'tools/call', { name: 'write', arguments: {} })).toMatchObject(refusal)
    expect(await mcp.callTool('own', 'write', {}, call().signal)).toMatchObject(refusal)
    expect(await mcp.listTools('own', call().signal)).toMatchObject({ ok: true, value: [{ name: 'echo' }] })
  })

  test('its requests have its time limit, and calls with one of their own have that', async () => {
    const mcp = connections({ connectTimeoutMs: 60_000, servers: { own: { ...oddServers.silent, timeoutMs: 40 } } })
    expect(await declared(mcp, 'ping', {})).toMatchObject({
      error: { message: "MCP: server did not respond to 'ping' within 40ms" },
    })
    expect(await mcp.callTool('own', 'x', {}, call().signal, 5)).toMatchObject({
      error: { message: "MCP: server did not respond to 'tools/call' within 5ms" },
    })
  })
})

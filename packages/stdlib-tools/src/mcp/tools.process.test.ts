// MCP servers as tools of a host and back, over real processes and sockets.

import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createRuntime } from '../host/runtime.js'
import { oddServers } from '../test-support/mcp-servers.js'
import { defineTool } from '../tools/host-tools/define.js'
import { ToolError } from '../tools/host-tools/errors.js'
import { createRegistry } from '../tools/host-tools/registry.js'
import { serveHttp } from './server-http.js'
import { toMcpServer } from './host-backend.js'
import { fromMcpServer } from './tools.js'

const everything = {
  command: process.execPath,
  args: [createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
}

test('the tools of a server, in a registry and in a script', async () => {
  await using set = await fromMcpServer(everything, { prefix: 'demo', only: ['echo', 'get-sum'] })
  expect(set.tools.map((tool) => tool.name).sort()).toEqual(['demo.echo', 'demo.get-sum'])
  const registry = createRegistry(set.tools)
  expect(await registry.call('demo.get-sum', { a: 2, b: 3 })).toBe('The sum of 2 and 3 is 5.')
  expect(await registry.tryCall('demo.get-sum', { a: 'x' })).toMatchObject({ ok: false, error: { code: 'invalid_args' } })
  const runtime = createRuntime({ tools: registry })
  expect(await runtime.run('import { echo } from "host/demo"\nreturn echo({message: "hi"})')).toBe('Echo: hi')
})

test('several servers side by side, and one that cannot be reached', async () => {
  await using one = await fromMcpServer(oddServers.paged, { prefix: 'one' })
  await using two = await fromMcpServer(oddServers.echo, { prefix: 'two' })
  expect([...createRegistry([...one.tools, ...two.tools])].map((tool) => [tool.name, tool.sideEffect])).toEqual([
    ['one.a', 'network'],
    ['one.b', 'network'],
    ['two.echo', 'read_only'],
    ['two.write', 'network'],
  ])
  await expect(fromMcpServer(oddServers.stillborn)).rejects.toMatchObject({ code: 'provider_unavailable' })
})

test('tools of a host as a server, and back', async () => {
  const add = defineTool({
    name: 'add',
    description: 'Adds',
    input: z.object({ a: z.number(), b: z.number() }),
    output: z.object({ sum: z.number() }),
    sideEffect: 'none',
    execute: ({ a, b }, { progress }) => {
      progress('adding')
      return { sum: a + b }
    },
  })
  const fail = defineTool({
    name: 'fail',
    execute: () => {
      throw new ToolError('not_found', 'nothing there')
    },
  })
  const server = await serveHttp(toMcpServer([add, fail]), { name: 'demo', version: '1' }, { port: 0 })
  try {
    await using set = await fromMcpServer({ url: server.url })
    const registry = createRegistry(set.tools)
    const heard: unknown[] = []
    expect(await registry.call('add', { a: 1, b: 0.5 })).toEqual({ sum: 1.5 })
    expect(await registry.call('add', { a: 1, b: 2 }, { progress: (data) => heard.push(data) })).toEqual({ sum: 3 })
    expect(heard).toMatchObject([{ progress: 1, message: 'adding' }])
    expect(registry.get('add')).toMatchObject({ sideEffect: 'read_only', recovery: 'safe', description: 'Adds' })
    expect(await registry.tryCall('fail')).toMatchObject({ ok: false, error: { message: 'nothing there' } })
  } finally {
    await server.close()
  }
})

// `bridle gateway` in front of the protocol's reference servers, driven by the client of the TypeScript SDK.

import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, URL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { serveHttp } from '@bridle/stdlib-tools/mcp'
import { Client as OldClient } from 'mcp-sdk-1.17/client/index.js'
import { StdioClientTransport as OldTransport } from 'mcp-sdk-1.17/client/stdio.js'
import { bundledCommand } from '../../../scripts/bundled-command.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Gateway, fileStore } from '@bridle/stdlib-tools/gateway'
import { readGatewayConfig } from '../src/gateway/config.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const require = createRequire(join(root, 'package.json'))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-gateway-')))

function findProgram(name: string, ...args: readonly string[]) {
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`)
  const { bin } = require(manifest) as { bin: { [key: string]: string } }
  return { command: process.execPath, args: [join(dirname(manifest), Object.values(bin)[0]!), ...args] }
}

const config = join(folder, 'clients.json')
writeFileSync(
  config,
  JSON.stringify({
    mcpServers: {
      everything: findProgram('server-everything', 'stdio'),
      'my-files': findProgram('server-filesystem', folder),
      memory: { ...findProgram('server-memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
      off: { command: 'none', disabled: true },
    },
    approve: { tools: ['my_files.write_file', 'memory.create_entities'] },
  }),
)

let command: { readonly path: string; readonly folder: string }
beforeAll(async () => {
  command = await bundledCommand()
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
  rmSync(command.folder, { recursive: true, force: true })
})

async function callText(client: Client, name: string, args: { readonly [key: string]: unknown }): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args })
  return (content as readonly { readonly text: string }[])[0]!.text
}

async function runScript(client: Client, script: string): Promise<{ readonly [key: string]: unknown }> {
  const { structuredContent } = await client.callTool({ name: 'run_script', arguments: { script } })
  return structuredContent as { readonly [key: string]: unknown }
}

const WRITE = `
import { write_file } from "host/my_files"
import { create_entities } from "host/memory"
import { get_sum } from "host/everything"
let sum = get_sum({a: 2, b: 3})
write_file({path: ${JSON.stringify(join(folder, 'out.txt'))}, content: sum})
create_entities({entities: [{name: "Ada", entityType: "person", observations: []}]})
return sum
`

test('over stdio, with a client that supports forms', async () => {
  const asked: string[] = []
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { approved: true } }
  })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [command.path, 'gateway', config],
      stderr: 'ignore',
    }),
  )
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name).sort()).toEqual(['describe_tools', 'resume_script', 'run_script', 'search_tools'])
  expect(await callText(client, 'search_tools', { query: 'sum of numbers' })).toContain('everything.get_sum(')
  expect(await callText(client, 'describe_tools', { names: ['my_files.write_file'] })).toContain(
    'import { write_file } from "host/my_files"',
  )
  const wrong = await runScript(client, WRITE.replace('get_sum({', 'get_sums({'))
  expect(wrong).toMatchObject({ status: 'invalid', findings: expect.stringContaining('get_sum') as string })
  const done = await runScript(client, WRITE)
  expect(done).toMatchObject({ status: 'done', value: 'The sum of 2 and 3 is 5.' })
  expect(asked).toEqual([expect.stringMatching(/write_file[^]*out\.txt/), expect.stringMatching(/create_entities[^]*Ada/)])
  expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('The sum of 2 and 3 is 5.')
  await client.close()
})

test('the client of the SDK 1.17: its revision of the protocol, prompts and resources of the servers', async () => {
  const client = new OldClient({ name: 'old', version: '1' })
  const args = [command.path, 'gateway', config, '--lock-file', join(folder, 'gateway.lock.json'), '--page']
  await client.connect(new OldTransport({ command: process.execPath, args, stderr: 'ignore' }))
  const done = await client.callTool({
    name: 'run_script',
    arguments: { script: 'import { echo } from "host/everything"\nreturn echo({message: "hi"})' },
  })
  expect(done).toMatchObject({ structuredContent: { value: 'Echo: hi' } })
  const { prompts } = await client.listPrompts()
  expect(prompts.map(({ name }) => name)).toContain('everything.simple-prompt')
  expect(await client.getPrompt({ name: 'everything.simple-prompt' })).toHaveProperty('messages')
  const [first] = (await client.listResources()).resources
  expect((await client.readResource({ uri: first!.uri })).contents).toHaveLength(1)
  expect(readFileSync(join(folder, 'gateway.lock.json'), 'utf8')).toContain('mcp:everything/echo')
  await client.close()
})

test('over HTTP, with a client without forms: the run waits, and is answered after a restart', async () => {
  const runs = join(folder, 'runs')
  const settings = { store: fileStore(runs) }
  const one = new Gateway(readGatewayConfig(config), settings)
  const server = await serveHttp(one.open, { name: 'gateway', version: '1' }, {})
  const silent = new Client({ name: 'silent', version: '1' })
  await silent.connect(new StreamableHTTPClientTransport(new URL(server.url)) as never)
  const script = WRITE.replace('out.txt', 'later.txt')
  const pending = await runScript(silent, script)
  expect(pending).toMatchObject({ status: 'pending', requests: [{ call: { tool: 'my_files.write_file' } }] })
  expect(await silent.callTool({ name: 'resume_script', arguments: { token: pending['token'] } })).toMatchObject({
    structuredContent: { status: 'pending' },
  })
  await silent.close()
  await server.close()
  await one.close()

  const two = new Gateway(readGatewayConfig(config), settings)
  const again = await serveHttp(two.open, { name: 'gateway', version: '1' }, {})
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { approved: true } }))
  await client.connect(new StreamableHTTPClientTransport(new URL(again.url)) as never)
  expect(await client.callTool({ name: 'resume_script', arguments: { token: pending['token'] } })).toMatchObject({
    structuredContent: { status: 'done', value: 'The sum of 2 and 3 is 5.' },
  })
  expect(readFileSync(join(folder, 'later.txt'), 'utf8')).toBe('The sum of 2 and 3 is 5.')
  expect(await client.callTool({ name: 'resume_script', arguments: { token: pending['token'] } })).toMatchObject({
    structuredContent: { status: 'failed' },
  })
  await client.close()
  await again.close()
  await two.close()
})

/** As a client without a connection. */
async function callTool(gateway: Gateway, name: string, args: { readonly [key: string]: unknown }): Promise<unknown> {
  const scope = {
    signal: new AbortController().signal,
    progress: () => {},
    log: () => {},
    client: { info: {}, capabilities: {}, request: () => Promise.reject(new Error('no')) },
  }
  return gateway.open().callTool(name, { name, arguments: args } as never, scope)
}

test('an unreachable server does not affect the others', async () => {
  const path = join(folder, 'partly.json')
  writeFileSync(
    path,
    JSON.stringify({
      mcpServers: { gone: { command: join(folder, 'none') }, everything: findProgram('server-everything', 'stdio') },
    }),
  )
  const warnings: string[] = []
  const gateway = new Gateway(readGatewayConfig(path), { onWarning: (message) => warnings.push(message) })
  const found = await callTool(gateway, 'search_tools', { query: 'echo' })
  expect(JSON.stringify(found)).toContain('everything.echo(')
  expect(warnings.join('\n')).toContain('server gone')
  await gateway.close()
})

describe('the configuration', () => {
  test('as TOML', () => {
    const path = join(folder, 'gateway.toml')
    writeFileSync(
      path,
      'approve = false\n[servers.web]\nurl = "https://example.com/mcp"\ntools = ["search"]\n[servers.web.headers]\nAuthorization = "Bearer secret"\n',
    )
    expect(readGatewayConfig(path)).toEqual({
      approve: null,
      servers: {
        web: {
          transport: 'http',
          url: 'https://example.com/mcp',
          tools: ['search'],
          headers: { Authorization: 'Bearer secret' },
        },
      },
      apis: {},
      grants: {},
      defaultDeny: false,
      secrets: {},
      budgets: {},
      auth: null,
    })
  })

  test.each([
    ['{}', 'must have mcpServers'],
    ['{"mcpServers": {}}', 'at least one server'],
    ['{"mcpServers": {"a": {}}}', 'mcpServers.a must have a command or a url'],
    ['{"mcpServers": {"a": {"command": "x", "args": [1]}}}', 'args must be a list of strings'],
    ['{"mcpServers": {"a": {"url": "https://a.test", "headers": {"X-Key": 1}}}}', 'headers must be an object of strings'],
    ['{"mcpServers": {"a-b": {"command": "x"}, "a_b": {"command": "y"}}}', 'two servers'],
    ['{"servers": {"a": {"command": "x"}}, "aprove": []}', 'aprove is no key of a gateway'],
    ['{"mcpServers": {"a": {"command": "x"}}, "budgets": {"call": 5}}', 'budgets.call is no budget'],
    ['{"mcpServers": {"a": {"command": "x"}}, "secrets": {"K": {"env": "BRIDLE_TEST_UNSET"}}}', 'BRIDLE_TEST_UNSET'],
    ['{"openapi": {"shop": {}}}', 'must have a document'],
    ['{"mcpServers": {"a": {"command": "x"}}, "approve": 5}', 'approve must be'],
    ['{', 'JSON'],
  ])('that is none is refused: %s', (text, message) => {
    const path = join(folder, 'wrong.json')
    writeFileSync(path, text)
    expect(() => readGatewayConfig(path)).toThrow(message)
  })
})

test('files of runs: taken once, and no token leads out of the folder', () => {
  const store = fileStore(join(folder, 'kept'))
  void store.save('run_1', new Uint8Array([1, 2]))
  expect(store.load('run_1')).toEqual(new Uint8Array([1, 2]))
  expect([store.take('run_1'), store.take('run_1'), store.load('../out')]).toEqual([new Uint8Array([1, 2]), null, null])
  expect(() => store.save('../out', new Uint8Array())).toThrow('cannot be kept')
})

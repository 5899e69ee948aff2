// MCP servers that others wrote, as scripts use them: the protocol's own reference servers for everything, files and memory,
// over stdio and over HTTP.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import type { McpServerDeclaration } from './config.js'
import { mcpProvider } from './provider.js'
import type { McpOptions } from './provider.js'
import { fromMcpServer } from './tools.js'

const require = createRequire(join(process.cwd(), 'package.json'))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-real-')))

function findProgram(name: string, ...args: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`)
  const { bin } = require(manifest) as { bin: { [key: string]: string } }
  return { command: process.execPath, args: [join(dirname(manifest), Object.values(bin)[0]!), ...args] }
}

const everything = findProgram('server-everything', 'stdio')
const memory: McpServerDeclaration = {
  ...findProgram('server-memory'),
  env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
}
const files = findProgram('server-filesystem', folder)

function run(source: string, servers: { readonly [name: string]: McpServerDeclaration }, more: McpOptions = {}) {
  return createRuntime({ providers: [mcpProvider({ servers, ...more })], grants: ['mcp'] }).run(source)
}

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('server-memory keeps what a script tells it, across connections', async () => {
  const remember = `
let m = mcp_ensure_active("memory")
mcp_call(m, "create_entities", {entities: [{name: "Ada", entityType: "person", observations: ["likes engines"]}, {name: "Engine", entityType: "machine", observations: []}]})
mcp_call(m, "create_relations", {relations: [{from: "Ada", to: "Engine", relationType: "programs"}]})
mcp_call(m, "add_observations", {observations: [{entityName: "Ada", contents: ["wrote notes"]}]})
return len(mcp_list_tools(m))`
  const recall = `
let m = mcp_ensure_active("memory")
let graph = json_parse(mcp_call(m, "open_nodes", {names: ["Ada", "Engine"]}))
mcp_call(m, "delete_entities", {entityNames: ["Engine"]})
let rest = json_parse(mcp_call(m, "read_graph"))
return [graph.entities[0].observations, graph.relations[0].relationType, len(rest.entities), len(rest.relations)]`
  expect(await run(remember, { memory })).toBe(9)
  expect(await run(recall, { memory })).toEqual([['likes engines', 'wrote notes'], 'programs', 1, 0])
})

test('server-filesystem reads and writes in its folder, and refuses what is outside', async () => {
  writeFileSync(join(folder, 'a.txt'), 'hello')
  const source = `
let fs = mcp_ensure_active("files")
let here = ${JSON.stringify(folder)}
mcp_call(fs, "write_file", {path: "\${here}/b.txt", content: mcp_call(fs, "read_text_file", {path: "\${here}/a.txt"}) + "!"})
let denied = try { mcp_call(fs, "read_text_file", {path: "/etc/hosts"}) } catch (e) { e }
return [mcp_call(fs, "read_text_file", {path: "\${here}/b.txt"}), denied.starts_with("Access denied")]`
  expect(await run(source, { files })).toEqual(['hello!', true])
})

test('several servers side by side in one script', async () => {
  const source = `
let names = ["everything", "files", "memory"]
let counts = parallel each names { name -> len(mcp_list_tools(mcp_ensure_active(name))) }
let sums = parallel each range(0, 20).to_list() { n -> mcp_call(mcp_ensure_active("everything"), "get-sum", {a: n, b: 1}) }
return [counts.all({ n -> n > 5 }), len(sums), sums[7]]`
  expect(await run(source, { everything, files, memory })).toEqual([true, 20, 'The sum of 7 and 1 is 8.'])
})

/** What any client of server-everything can do; its own tools ask for more when the client offers more. */
function testEverything(server: () => McpServerDeclaration): void {
  const active = 'let e = mcp_ensure_active("e")\n'

  test('contents of every kind, resources, prompts, refusals', async () => {
    const source = `${active}
let image = mcp_call(e, "get-tiny-image")
let links = mcp_call(e, "get-resource-links", {count: 2})
let resources = mcp_list_resources(e)
return [
  mcp_call(e, "echo", {message: "hi"}),
  image.map({ part -> part.type }),
  len(links.filter({ part -> part.type == "resource_link" })),
  len(resources) > 3,
  len(mcp_list_resource_templates(e)),
  type_of(mcp_read_resource(e, resources[0].uri)),
  mcp_read_resource(e, "demo://resource/dynamic/blob/1")[0].blob.count > 10,
  len(mcp_list_prompts(e)),
  mcp_get_prompt(e, "args-prompt", {city: "Bern"}).messages[0].content.text.contains("Bern"),
  try { mcp_get_prompt(e, "no-such-prompt") } catch (x) { x.starts_with("MCP error (-326") },
  try { mcp_call(e, "no-such-tool") } catch (x) { x.contains("no-such-tool") },
]`
    expect(await run(source, { e: server() })).toEqual([
      'Echo: hi',
      ['text', 'image', 'text'],
      2,
      true,
      2,
      'string',
      true,
      4,
      true,
      true,
      true,
    ])
  })

  test('samples, forms and roots, when the host answers them', async () => {
    const asked: string[] = []
    const answer = (method: string, result: { readonly [key: string]: unknown }) => () => {
      asked.push(method)
      return Promise.resolve(result)
    }
    const handlers = {
      'sampling/createMessage': answer('sample', { role: 'assistant', model: 'm', content: { type: 'text', text: 'sampled' } }),
      'elicitation/create': answer('form', { action: 'accept', content: { name: 'Ada', check: true } }),
      'roots/list': answer('roots', { roots: [{ uri: 'file:///work', name: 'work' }] }),
    }
    const source = `${active}
let text = { result -> type_of(result) == "string" ? result : result.map({ part -> part.text ?? "" }).join("\\n") }
return [
  text(mcp_call(e, "trigger-sampling-request", {prompt: "x", maxTokens: 10})).contains("sampled"),
  text(mcp_call(e, "trigger-elicitation-request")).contains("Ada"),
  text(mcp_call(e, "get-roots-list")).contains("file:///work"),
  len(mcp_list_tools(e)),
]`
    expect(await run(source, { e: server() }, { handlers })).toEqual([true, true, true, 16])
    expect(new Set(asked)).toEqual(new Set(['sample', 'form', 'roots']))
    expect(await run(`${active}return len(mcp_list_tools(e))`, { e: server() })).toBe(13)
  })

  test('progress, structured results, cancelling', async () => {
    const set = await fromMcpServer(server())
    const findTool = (name: string) => set.tools.find((each) => each.name === name)!
    const { createRegistry } = await import('../tools/host-tools/registry.js')
    const registry = createRegistry(set.tools)
    const steps: unknown[] = []
    const call = (args: { duration: number; steps: number }, signal?: AbortSignal) =>
      registry.tryCall('trigger-long-running-operation', args, {
        progress: (data) => void steps.push((data as { progress: number }).progress),
        ...(signal === undefined ? {} : { signal }),
      })
    expect((await call({ duration: 0.2, steps: 4 })).ok).toBe(true)
    // Over HTTP the last step and the result may come in either order.
    expect(steps.slice(0, 3)).toEqual([1, 2, 3])
    expect(await registry.call('get-structured-content', { location: 'New York' })).toMatchObject({ temperature: 33 })
    expect(findTool('get-structured-content').output?.json['type']).toBe('object')
    const abort = new AbortController()
    const running = call({ duration: 30, steps: 100 }, abort.signal)
    await expect.poll(() => steps.length).toBeGreaterThan(4)
    abort.abort()
    expect(await running).toMatchObject({ ok: false, error: { code: 'cancelled' } })
    await set.close()
  })
}

// The other servers are met over stdio, this one over HTTP; the sweeps meet it over both.
describe.runIf(inject('isDense'))('server-everything over stdio', () => testEverything(() => everything))

describe('server-everything over HTTP', () => {
  let child: ChildProcess
  let url = ''

  beforeAll(async () => {
    const port = await freePort()
    const { command, args } = findProgram('server-everything', 'streamableHttp')
    child = spawn(command, args, { env: { ...process.env, PORT: String(port) }, stdio: ['ignore', 'ignore', 'pipe'] })
    await new Promise<void>((resolve, reject) => {
      child.stderr!.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes('listening')) resolve()
      })
      child.once('exit', () => reject(new Error('the server has ended')))
    })
    url = `http://127.0.0.1:${port}/mcp`
  })
  afterAll(() => void child.kill())

  testEverything(() => ({ url }))
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

// `npm run interop`: our implementation with peers of others, in their installed versions: MCP servers that our client uses from a script,
// clients that use `bridle serve mcp server.harn` and a gateway, and clients of the Agent Client Protocol that use `bridle serve acp agent.harn`. The
// results go into the table of docs/tools/interop.md. Python programs need `mcp`, `fastmcp` and `agent-client-protocol` of PyPI; BRIDLE_PYTHON names a Python
// that has them (`python3` by default), and without one they are skipped. `npm run interop -- acp` runs only that part.

import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createRuntime } from '@bridle/stdlib-tools'
import { mcpProvider } from '@bridle/stdlib-tools/mcp'
import type { McpServerDeclaration } from '@bridle/stdlib-tools/mcp'
import { root } from '../workspace.mjs'
import { useAgent } from './acp_client.js'
import { listLines, useExported, useRegistered } from './ts_clients.js'
import type { Line } from './ts_clients.js'

const here = join(root, 'scripts', 'interop')
const page = join(root, 'docs', 'tools', 'interop.md')
const bridle = join(root, 'packages', 'cli', 'dist', 'bridle.js')
const python = process.env['BRIDLE_PYTHON'] ?? 'python3'
const require = createRequire(join(root, 'package.json'))

interface Row {
  readonly program: string
  readonly version: string
  readonly feature: string
  readonly result: string
}

const rows: Row[] = []

function note(program: string, version: string, feature: string, got: unknown, wanted: unknown): void {
  const ok = JSON.stringify(got) === JSON.stringify(wanted)
  const result = ok ? 'works' : `fails: ${JSON.stringify(got)}`
  rows.push({ program, version, feature, result })
  process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${program} ${version}: ${feature}${ok ? '' : ` ${result}`}\n`)
}

async function findPort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** Starts a program that listens, and resolves when it accepts connections. */
async function startListener(
  command: string,
  args: readonly string[],
  url: string,
  env: NodeJS.ProcessEnv = {},
): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: 'ignore', env: { ...process.env, ...env } })
  for (let turn = 0; turn < 300; turn++) {
    const up = await fetch(url, { signal: AbortSignal.timeout(1000) }).then(
      async (response) => {
        await response.body?.cancel()
        return true
      },
      () => false,
    )
    if (up) return child
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  child.kill()
  throw new Error(`${command} ${args.join(' ')} does not listen at ${url}`)
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}

// ---------------------------------------------------------------------------------------------------- servers of others

function runScript(server: McpServerDeclaration, source: string, heard: unknown[] = []): Promise<unknown> {
  const host = createRuntime({
    providers: [
      mcpProvider({
        servers: { s: { ...server, connectTimeoutMs: 60_000 } },
        handlers: { 'elicitation/create': async () => ({ action: 'accept', content: { name: 'Ada' } }) },
        onProgress: ({ progress, total, message }) => heard.push([progress, total, message]),
      }),
    ],
    grants: ['mcp'],
  })
  return host.run(`let s = mcp_ensure_active("s")\n${source}`).catch((cause: unknown) => String(cause))
}

/** The fixture servers of this folder. */
async function tryServer(program: string, version: string, how: string, server: McpServerDeclaration): Promise<void> {
  const heard: unknown[] = []
  const check = async (feature: string, source: string, wanted: unknown): Promise<void> =>
    note(program, version, `${how}: ${feature}`, await runScript(server, source, heard), wanted)
  await check('lists tools', 'return mcp_list_tools(s).map({ t -> t.name })', ['add', 'point', 'fail', 'steps', 'ask'])
  await check('calls', 'return json_parse(mcp_call(s, "add", {a: 2, b: 3}))', 5)
  await check(
    'structured results, integers beyond 2^53',
    'return json_parse(mcp_call(s, "point", {})).y == 9007199254740993',
    true,
  )
  // The server decides what a failure message contains; some send none.
  const failed =
    'return try { mcp_call(s, "fail", {}) } catch (e) { contains(to_string(e), "fail") || contains(to_string(e), "no tea") }'
  await check('errors of tools', failed, true)
  heard.length = 0
  await runScript(server, 'return mcp_call(s, "steps", {})', heard)
  note(program, version, `${how}: progress`, heard, [[1, 2, 'half']])
  await check('asks the person', 'return mcp_call(s, "ask", {})', 'hello Ada')
  await check('resources', 'return mcp_read_resource(s, "tea://green")', 'green')
  await check('prompts', 'return mcp_get_prompt(s, "brew", {leaf: "green"}).messages[0].content.text', 'How is green tea brewed?')
}

async function tryPythonServer(program: string, version: string, file: string, transports: readonly string[]): Promise<void> {
  const path = join(here, file)
  for (const protocolVersion of ['2026-07-28', '2025-11-25', null])
    await tryServer(program, version, `server, stdio, ${protocolVersion ?? 'found out'}`, {
      command: python,
      args: [path, 'stdio'],
      ...(protocolVersion === null ? {} : { protocolVersion }),
    })
  for (const transport of transports) {
    const port = await findPort()
    const url = `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`
    const child = await startListener(python, [path, transport, String(port)], url)
    try {
      const revisions = transport === 'sse' ? [null] : ['2026-07-28', '2025-11-25']
      for (const protocolVersion of revisions) {
        const declared = protocolVersion === null ? {} : { protocolVersion }
        const how = `server, ${transport === 'sse' ? 'HTTP with server-sent events' : 'streamable HTTP'}, ${protocolVersion ?? 'found out'}`
        await tryServer(program, version, how, { url, ...declared })
      }
    } finally {
      await stop(child)
    }
  }
}

/** The reference server of the protocol, over each of its transports. */
async function tryEverything(): Promise<void> {
  const manifest = require.resolve('@modelcontextprotocol/server-everything/package.json')
  const { version, bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string; bin: { [name: string]: string } }
  const program = '@modelcontextprotocol/server-everything'
  const path = join(dirname(manifest), Object.values(bin)[0]!)
  const check = async (how: string, server: McpServerDeclaration): Promise<void> => {
    note(
      program,
      version,
      `server, ${how}: calls`,
      await runScript(server, 'return mcp_call(s, "echo", {message: "tea"})'),
      'Echo: tea',
    )
    note(program, version, `server, ${how}: lists tools`, await runScript(server, 'return len(mcp_list_tools(s)) > 5'), true)
    note(program, version, `server, ${how}: resources`, await runScript(server, 'return len(mcp_list_resources(s)) > 0'), true)
  }
  await check('stdio', { command: process.execPath, args: [path, 'stdio'] })
  for (const [transport, place, how] of [
    ['sse', 'sse', 'HTTP with server-sent events'],
    ['streamableHttp', 'mcp', 'streamable HTTP'],
  ] as const) {
    const port = await findPort()
    const url = `http://127.0.0.1:${port}/${place}`
    const child = await startListener(process.execPath, [path, transport], url, { PORT: String(port) })
    try {
      await check(how, { url })
    } finally {
      await stop(child)
    }
  }
}

// ---------------------------------------------------------------------------------------------------- clients of others

const WANTED: { readonly [feature: string]: unknown } = {
  tools: ['add', 'fail', 'ask', 'steps', 'change'],
  call: { sum: 5 },
  error: [true, 'Thrown: no tea'],
  ask: 'hello Ada',
  progress: [[1, 2, 'half']],
  resource: 'green',
  prompt: 'How is green tea brewed?',
  changes: 'tools',
}

function tryClient(
  program: string,
  version: string,
  how: string,
  file: string,
  args: readonly string[],
  features = WANTED,
): void {
  const ended = spawnSync(python, [join(here, file), ...args], { encoding: 'utf8', timeout: 90_000 })
  const said = ended.stdout.trim().split('\n').at(-1) ?? ''
  let seen: { readonly [feature: string]: unknown }
  try {
    seen = JSON.parse(said) as typeof seen
  } catch {
    return note(program, version, how, ended.stderr.trim().split('\n').at(-1) ?? 'no answer', 'an answer')
  }
  for (const [feature, wanted] of Object.entries(features))
    if (feature in seen) note(program, version, `${how}, ${String(seen['revision'])}: ${feature}`, seen[feature], wanted)
}

/** What clients of every SDK line see of exports.harn. */
const EXPORTED: { readonly [feature: string]: unknown } = {
  'descriptions and defaults': [
    'Where a place is.',
    { name: { type: 'string', description: 'How the place is called.' }, zoom: { type: 'integer', default: 3 } },
  ],
  'hints of annotations': [{ readOnlyHint: true }, { readOnlyHint: false, destructiveHint: true }],
  'structured results with their schema': [
    ['x', 'y'],
    ['x', 'y'],
  ],
  'progress of a function': [2, null, 'half'],
  logging: ['warning', { message: 'careful', name: 'pond' }],
}

async function tryTypeScriptClient(line: Line): Promise<void> {
  const { program, version, revision } = line
  const serve = async (file: string, wanted: typeof WANTED, use: typeof useExported): Promise<void> => {
    const words = [bridle, 'serve', 'mcp', join(here, file)]
    const attempt = async (how: string, transport: unknown): Promise<void> => {
      const seen = await use(line, transport).catch((cause: unknown) => String(cause))
      if (typeof seen === 'string') return note(program, version, `client, ${how}, ${revision}`, seen, 'an answer')
      for (const [feature, expected] of Object.entries(wanted))
        if (feature in seen) note(program, version, `client, ${how}, ${revision}: ${feature}`, seen[feature], expected)
    }
    await attempt('stdio', line.stdio(process.execPath, words))
    const port = await findPort()
    const url = `http://127.0.0.1:${port}/mcp`
    const child = await startListener(process.execPath, [...words, '--transport', 'http', '--bind', `127.0.0.1:${port}`], url)
    try {
      await attempt('streamable HTTP', line.http(url))
    } finally {
      await stop(child)
    }
  }
  await serve('server.harn', WANTED, useRegistered)
  await serve('exports.harn', EXPORTED, useExported)
}

async function tryPythonClient(program: string, version: string, file: string): Promise<void> {
  const serve = [bridle, 'serve', 'mcp', join(here, 'server.harn')]
  for (const mode of ['auto', 'legacy'])
    tryClient(program, version, 'client, stdio', file, ['-', mode, process.execPath, ...serve])
  const port = await findPort()
  const url = `http://127.0.0.1:${port}/mcp`
  const http = ['--transport', 'http', '--bind', `127.0.0.1:${port}`]
  const child = await startListener(process.execPath, [...serve, ...http], url)
  try {
    for (const mode of ['auto', 'legacy']) tryClient(program, version, 'client, streamable HTTP', file, [url, mode])
  } finally {
    await stop(child)
  }
}

// ---------------------------------------------------------------------------------------- clients of others, at a gateway

const GATEWAY_WANTED: { readonly [feature: string]: unknown } = {
  'four tools': ['describe_tools', 'resume_script', 'run_script', 'search_tools'],
  search: true,
  'one script, three servers': 'The sum of 2 and 3 is 5.',
  'approvals by forms': [true, true],
}

/** The program of a reference server, with its arguments. */
function findServer(name: string, ...args: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`)
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { [name: string]: string } }
  return { command: process.execPath, args: [join(dirname(manifest), Object.values(bin)[0]!), ...args] }
}

/** In front of server-everything, -filesystem and -memory; writing is approved by forms. */
async function tryGatewayClient(program: string, version: string, library: string): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-gateway-')))
  const config = join(folder, 'gateway.json')
  const servers = {
    everything: findServer('server-everything', 'stdio'),
    files: findServer('server-filesystem', folder),
    memory: { ...findServer('server-memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
  }
  const approve = { tools: ['files.write_file', 'memory.create_entities'] }
  writeFileSync(config, JSON.stringify({ mcpServers: servers, approve }))
  const script = `import { write_file } from "host/files"
import { create_entities } from "host/memory"
import { get_sum } from "host/everything"
let sum = get_sum({a: 2, b: 3})
write_file({path: ${JSON.stringify(join(folder, 'out.txt'))}, content: sum})
create_entities({entities: [{name: "Ada", entityType: "person", observations: []}]})
return sum`
  const gateway = [bridle, 'gateway', config]
  const attempt = (how: string, url: string, mode: string): void =>
    tryClient(
      program,
      version,
      how,
      'gateway_client.py',
      [library, url, mode, script, process.execPath, ...gateway],
      GATEWAY_WANTED,
    )
  try {
    for (const mode of ['auto', 'legacy']) attempt('client of a gateway, stdio', '-', mode)
    const port = await findPort()
    const url = `http://127.0.0.1:${port}/mcp`
    const http = ['--transport', 'http', '--bind', `127.0.0.1:${port}`]
    const child = await startListener(process.execPath, [...gateway, ...http], url)
    try {
      for (const mode of ['auto', 'legacy']) attempt('client of a gateway, streamable HTTP', url, mode)
    } finally {
      await stop(child)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

// ------------------------------------------------------------------------------- clients of the Agent Client Protocol

const ASKED = ['write new', 'drop', 'write new', 'drop']
const SAID = 'not saved\napproval_denied\nnot saved\nran\n'
/** The last one is of a session that was loaded again. */
const UPDATES_AND_PAST = ['agent_message_chunk', 'tool_call', 'tool_call_update', 'user_message_chunk']

async function withAgentFolder<T>(use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-acp-')))
  try {
    writeFileSync(join(folder, 'notes.txt'), 'on disk')
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function tryAcpTypeScript(): Promise<void> {
  const program = '@agentclientprotocol/sdk'
  const manifest = join(root, 'node_modules', program, 'package.json')
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  await withAgentFolder(async (folder) => {
    const seen = await useAgent(process.execPath, bridle, join(here, 'agent.harn'), folder)
    const wanted: { readonly [feature: string]: unknown } = {
      'version and modes': [1, 'default'],
      'stop reasons, cancel': ['end_turn', 'end_turn', 'cancelled'],
      'permissions, files of the client': [SAID, ASKED],
      updates: UPDATES_AND_PAST,
      'list, load, delete': [[folder], true, 0],
    }
    for (const [feature, expected] of Object.entries(wanted))
      note(program, version, `ACP client: ${feature}`, seen[feature], expected)
  })
}

async function tryAcpPython(version: string): Promise<void> {
  const program = 'agent-client-protocol (Python)'
  await withAgentFolder((folder) => {
    const words = [
      join(here, 'acp_client.py'),
      process.execPath,
      bridle,
      join(here, 'agent.harn'),
      folder,
      join(folder, 'sessions'),
    ]
    const ended = spawnSync(python, words, { encoding: 'utf8', timeout: 60_000 })
    let seen: { readonly [key: string]: unknown }
    try {
      seen = JSON.parse(ended.stdout) as typeof seen
    } catch {
      return note(program, version, 'ACP client', ended.stderr.trim().split('\n').at(-1) ?? 'no answer', 'an answer')
    }
    const check = (feature: string, keys: readonly string[], wanted: readonly unknown[]): void =>
      note(
        program,
        version,
        `ACP client: ${feature}`,
        keys.map((key) => seen[key]),
        wanted,
      )
    check('version and modes', ['version', 'mode'], [1, 'default'])
    check('stop reasons, cancel', ['reasons', 'cancelled'], [['end_turn', 'end_turn'], 'cancelled'])
    check('permissions, files of the client', ['said', 'asked'], [SAID, ASKED])
    check('updates', ['updates'], [UPDATES_AND_PAST])
    check('list, load', ['listed', 'loaded'], [[folder], true])
  })
}

// ------------------------------------------------------------------------------------------------------------- the table

function findPythonVersion(name: string): string | null {
  const asked = `import importlib.metadata as m; print(m.version('${name}'))`
  const { status, stdout } = spawnSync(python, ['-c', asked], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}

const BEGIN = '<!-- rows of scripts/interop/run.ts -->'
const END = '<!-- end of rows -->'

function writePage(): void {
  const text = readFileSync(page, 'utf8')
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (before < 0 || after < 0) throw new Error(`${page} has no place for the rows`)
  // Rows of programs that are not installed here are kept.
  const kept = readRows(text.slice(before, after)).filter(({ program }) => rows.every((row) => row.program !== program))
  const head = '| program | version | feature | result |\n| --- | --- | --- | --- |'
  const lines = [...rows, ...kept].map(
    ({ program, version, feature, result }) => `| ${program} | ${version} | ${feature} | ${result.replaceAll('|', '\\|')} |`,
  )
  writeFileSync(page, `${text.slice(0, before)}${BEGIN}\n\n${[head, ...lines].join('\n')}\n\n${text.slice(after)}`)
}

function readRows(text: string): readonly Row[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| program') && !line.startsWith('| ---'))
    .map((line) => {
      const [program = '', version = '', feature = '', result = ''] = line.slice(2, -2).split(' | ')
      return { program, version, feature, result: result.replaceAll('\\|', '|') }
    })
}

async function tryMcp(): Promise<void> {
  await tryEverything()
  for (const line of await listLines()) await tryTypeScriptClient(line)
  for (const [program, file] of [
    ['mcp', 'mcp'],
    ['fastmcp', 'fastmcp'],
  ] as const) {
    const version = findPythonVersion(program)
    if (version === null) {
      process.stdout.write(`interop: ${python} has no ${program}; name one that has by BRIDLE_PYTHON (pip install mcp fastmcp)\n`)
      continue
    }
    const label = `${program} (Python)`
    await tryPythonServer(label, version, `${file}_server.py`, [program === 'mcp' ? 'streamable-http' : 'http', 'sse'])
    await tryPythonClient(label, version, `${file}_client.py`)
    await tryGatewayClient(label, version, file)
  }
}

async function tryAcp(): Promise<void> {
  await tryAcpTypeScript()
  const version = findPythonVersion('agent-client-protocol')
  if (version !== null) await tryAcpPython(version)
  else process.stdout.write(`interop: ${python} has no agent-client-protocol (pip install agent-client-protocol)\n`)
}

const part = process.argv[2]
if (part !== undefined && part !== 'acp' && part !== 'mcp') throw new Error(`there is no part ${part}: acp, mcp`)
if (part !== 'acp') await tryMcp()
if (part !== 'mcp') await tryAcp()
const failed = rows.filter(({ result }) => result !== 'works').length
writePage()
process.stdout.write(`interop: ${rows.length - failed} work, ${failed} fail\n`)
process.exitCode = failed === 0 ? 0 : 1

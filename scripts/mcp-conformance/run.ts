// `npm run test:mcp [-- server|host|client|SCENARIO …]`: both sides of our MCP against the conformance package of the protocol, which nobody here wrote. Its
// server scenarios look at `bridle serve mcp server.harn` over HTTP, and at the same as tools of a host (host.ts); its client scenarios start client.ts against servers of
// their own, one process a scenario. Everything is on this machine. Warnings of the package are shown and are not failures.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createRuntime } from '@bridle/stdlib-tools'
import { RegisteredBackend, serveHttp } from '@bridle/stdlib-tools/mcp'
import type { McpBackend } from '@bridle/stdlib-tools/mcp'
import { nodeProviders } from '@bridle/stdlib-tools/node'
import { countsLine, writeCounts } from '../counts.mjs'
import { NEWER_NODE, findNewerNode } from '../newer-node.mjs'
import { root } from '../workspace.mjs'
import { hostFixture } from './host.js'

const here = join(root, 'scripts', 'mcp-conformance')
const conformance = join(
  dirname(createRequire(join(root, 'package.json')).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist',
  'index.js',
)
/** The package needs a newer Node than we do; our client and server run on this one. */
const packageNode = Number(process.versions.node.split('.')[0]) >= 22 ? process.execPath : (findNewerNode() ?? '')
if (packageNode === '') {
  process.stdout.write(
    `mcp: Node ${NEWER_NODE} cannot be installed here, which the conformance package needs; nothing was tested\n`,
  )
  writeCounts('mcp', { passed: 0, failed: 0 })
  process.exit(0)
}
const only = process.argv.slice(2)
const counts = { passed: 0, failed: 0 }
// The package writes a folder of results where it is started.
const folder = mkdtempSync(join(tmpdir(), 'bridle-mcp-'))

interface Ended {
  readonly code: number | null
  readonly text: string
}

function run(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(packageNode, [conformance, ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      // Clients run from source, wherever they are started.
      env: { ...process.env, TSX_TSCONFIG_PATH: join(root, 'tsconfig.json') },
    })
    let text = ''
    const take = (chunk: Buffer): void => {
      text += chunk.toString()
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.on('close', (code) => resolve({ code, text }))
  })
}

/**
 * Nothing is checked in these. server-sse-polling asks as a client of the revision 2025-03-26 for what servers do since 2025-11-25: a client of
 * that revision is answered with JSON, as the package itself notes.
 */
const EMPTY: ReadonlySet<string> = new Set(['server-sse-polling'])

/** `figures` begin with the checks that passed: a scenario in which nothing was checked has not passed. */
function report(side: string, scenario: string, isGood: boolean, figures: string, details: string): void {
  const ok = isGood && (!/^0\b/.test(figures) || EMPTY.has(scenario))
  counts[ok ? 'passed' : 'failed'] += 1
  process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${side} ${scenario}: ${figures}\n`)
  if (!ok) process.stdout.write(details.replace(/^/gm, '     '))
}

/** Scenario names, as the package lists them. */
async function scenarios(): Promise<Readonly<Record<'server' | 'host' | 'client', readonly string[]>>> {
  const { text } = await run(['list'])
  const [server = '', client = ''] = text.split('Client scenarios')
  const names = (side: string, part: string): readonly string[] =>
    [...part.matchAll(/^ {2}- (\S+)/gm)]
      .map((match) => match[1]!)
      .filter((name) => only.length === 0 || only.includes(side) || only.includes(name))
  return { server: names('server', server), host: names('host', server), client: names('client', client) }
}

async function testScript(names: readonly string[]): Promise<void> {
  const runtime = createRuntime({ grants: ['*'], providers: nodeProviders({ root: here }) })
  const source = readFileSync(join(here, 'server.harn'), 'utf8')
  const backend = await RegisteredBackend.start(runtime, runtime.compile(source, { file: 'server.harn' }))
  try {
    await testServer('server', backend, names)
  } finally {
    await backend.close()
  }
}

async function testServer(side: string, backend: McpBackend, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const server = await serveHttp(backend, { name: 'fixture', version: '1.0.0' }, { pollAfterMs: 200 })
  try {
    const before = counts.failed
    const { text } = await run(['server', '--url', server.url, '--suite', 'all'])
    const found = new Map(
      [...text.matchAll(/^([✓✗]) (\S+): (.*)$/gm)].map(([, mark, name, figures]) => [name, { mark, figures }]),
    )
    for (const name of names) {
      const { mark, figures = 'not run' } = found.get(name) ?? {}
      report(side, name, mark === '✓', figures, '')
    }
    if (counts.failed > before) process.stdout.write(text)
  } finally {
    await server.close()
  }
}

async function testClient(names: readonly string[]): Promise<void> {
  const loader = import.meta.resolve('tsx')
  const command = `${process.execPath} --import ${loader} ${join(here, 'client.ts')}`
  const waiting = [...names]
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const { code, text } = await run(['client', '--command', command, '--scenario', name])
      report('client', name, code === 0, /Passed: (.*)/.exec(text)?.[1] ?? 'no figures', text)
    }
  }
  // Most of the time is the start of processes.
  await Promise.all([work(), work()])
}

try {
  const { server, host, client } = await scenarios()
  if (server.length + host.length + client.length === 0) throw new Error(`no scenario has a name of: ${only.join(', ')}`)
  await testScript(server)
  await testServer('host', hostFixture(), host)
  await testClient(client)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
writeCounts('mcp', counts)
process.stdout.write(`mcp: ${countsLine(counts)}\n`)
process.exitCode = counts.failed === 0 ? 0 : 1

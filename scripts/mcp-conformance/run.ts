// `npm run test:mcp [-- server|host|client|SCENARIO …]`: both sides of our MCP against the protocol's independent conformance
// package. Each scenario runs in every revision of REVISIONS that it supports. Server scenarios test `bridle serve mcp server.harn` as a process
// over HTTP, and the same tools in a host (host.ts); client scenarios start client.ts against their own servers, one process per scenario.
// Everything is local. A scenario has passed when one of its own checks passed and none failed: the generic ones (that
// messages match the protocol's schema) are not enough. Warnings of the package are shown and are not failures.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { serveHttp } from '@bridle/stdlib-tools/mcp'
import { countsLine, writeCounts } from '../counts.mjs'
import { NEWER_NODE, findNewerNode } from '../newer-node.mjs'
import { root } from '../workspace.mjs'
import { hostFixture } from './host.js'
import { NOT_OFFERED } from './not-offered.js'

const REVISIONS = ['2025-11-25', '2026-07-28']

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
// The package writes folders of results.
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
      // Clients run from source, from any folder.
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

interface Scenario {
  readonly name: string
  /** The revision in which it runs; null if the package chooses. */
  readonly revision: string | null
}

type Side = 'server' | 'host' | 'client'

/** As the package lists them: `name [revision,revision]`, or `name [extension]`. */
async function listScenarios(): Promise<Readonly<Record<Side, readonly Scenario[]>>> {
  const { text } = await run(['list'])
  const [server = '', rest = ''] = text.split('Client scenarios')
  const [client = ''] = rest.split('Authorization server scenarios')
  const read = (side: Side, part: string): readonly Scenario[] =>
    [...part.matchAll(/^ {2}- (\S+) \[([^\]]*)\]/gm)]
      .filter(([, name]) => only.length === 0 || only.includes(side) || only.includes(name!))
      .flatMap(([, name, tags]) => {
        const revisions = REVISIONS.filter((each) => tags!.split(',').includes(each))
        return (revisions.length === 0 ? [null] : revisions).map((revision) => ({ name: name!, revision }))
      })
  return { server: read('server', server), host: read('host', server), client: read('client', client) }
}

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

/** Checks by scenario, from the result folder of a run. */
function readChecks(results: string): ReadonlyMap<string, readonly Check[]> {
  const found = new Map<string, readonly Check[]>()
  const visit = (at: string, name: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      if (entry.isDirectory()) visit(join(at, entry.name), name === '' ? entry.name : `${name}/${entry.name}`)
      else if (entry.name === 'checks.json') {
        const scenario = name.replace(/^(?:server|client)-(?=.*-\d{4}-\d\d-\d\dT)/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')
        found.set(scenario, JSON.parse(readFileSync(join(at, entry.name), 'utf8')) as readonly Check[])
      }
    }
  }
  visit(results, '')
  return found
}

function report(side: Side, { name, revision }: Scenario, checks: readonly Check[] | undefined, problem: string | null): void {
  const shown = `${side} ${name}${revision === null ? '' : ` ${revision}`}`
  const why = NOT_OFFERED[side === 'host' ? 'server' : side][name]
  if (why !== undefined) {
    process.stdout.write(`--   ${shown}: ${why}\n`)
    return
  }
  const own = (checks ?? []).filter(({ id }) => !id.startsWith('wire-schema'))
  const count = (list: readonly Check[], status: string): number => list.filter((each) => each.status === status).length
  const failed = count(checks ?? [], 'FAILURE')
  const passed = count(own, 'SUCCESS')
  const ok = failed === 0 && passed > 0 && problem === null
  counts[ok ? 'passed' : 'failed'] += 1
  const warnings = count(checks ?? [], 'WARNING')
  process.stdout.write(
    `${ok ? 'ok  ' : 'FAIL'} ${shown}: ${passed} passed, ${failed} failed${warnings === 0 ? '' : `, ${warnings} warnings`}\n`,
  )
  for (const { id, status, errorMessage = '' } of checks ?? [])
    if (status === 'FAILURE' || status === 'WARNING') process.stdout.write(`     ${status} ${id}: ${errorMessage}\n`)
  if (!ok && problem !== null) process.stdout.write(problem.replace(/^/gm, '     '))
}

/** The command, and its address. */
async function startCommand(): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const bridle = join(root, 'packages', 'cli', 'dist', 'bridle.js')
  const args = ['serve', 'mcp', join(here, 'server.harn'), '--transport', 'http', '--bind', '127.0.0.1:0', '--poll-after', '200']
  const child: ChildProcess = spawn(process.execPath, [bridle, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr!.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const at = /at (http:\S+)/.exec(said)?.[1]
      if (at !== undefined) resolve(at)
    })
    child.once('exit', () => reject(new Error(`bridle serve mcp ended: ${said}`)))
  })
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      child.once('exit', () => resolve())
      child.kill('SIGTERM')
    })
  return { url, close }
}

async function testServer(side: 'server' | 'host', scenarios: readonly Scenario[]): Promise<void> {
  if (scenarios.length === 0) return
  const server =
    side === 'server'
      ? await startCommand()
      : await serveHttp(hostFixture(), { name: 'fixture', version: '1.0.0' }, { pollAfterMs: 200 })
  try {
    for (const revision of new Set(scenarios.map((each) => each.revision))) {
      const results = join(folder, `${side}-${revision ?? 'all'}`)
      const chosen = revision === null ? [] : ['--spec-version', revision]
      const { text } = await run(['server', '--url', server.url, '--suite', 'all', '-o', results, ...chosen])
      const found = readChecks(results)
      for (const scenario of scenarios.filter((each) => each.revision === revision))
        report(side, scenario, found.get(scenario.name), found.has(scenario.name) ? null : `it did not run\n${text.slice(-400)}`)
    }
  } finally {
    await server.close()
  }
}

async function testClient(scenarios: readonly Scenario[]): Promise<void> {
  const loader = import.meta.resolve('tsx')
  const command = `${process.execPath} --import ${loader} ${join(here, 'client.ts')}`
  const waiting = [...scenarios.entries()]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, scenario] = next
      const results = join(folder, `client-${at}`)
      const chosen = scenario.revision === null ? [] : ['--spec-version', scenario.revision]
      if (NOT_OFFERED.client[scenario.name] !== undefined) {
        report('client', scenario, [], null)
        continue
      }
      const { text } = await run(['client', '--command', command, '--scenario', scenario.name, '-o', results, ...chosen])
      const [checks] = readChecks(results).values()
      const problem = /CLIENT EXITED WITH ERROR|CLIENT TIMED OUT/.test(text) ? text : null
      report('client', scenario, checks, problem)
    }
  }
  // Starting processes takes most of the time.
  await Promise.all([work(), work()])
}

try {
  const { server, host, client } = await listScenarios()
  if (server.length + host.length + client.length === 0) throw new Error(`no scenario has a name of: ${only.join(', ')}`)
  await testServer('server', server)
  await testServer('host', host)
  await testClient(client)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
writeCounts('mcp', counts)
process.stdout.write(`mcp: ${countsLine(counts)}\n`)
process.exitCode = counts.failed === 0 ? 0 : 1

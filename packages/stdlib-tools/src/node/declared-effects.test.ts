// A tool that declares its effects is held to them where it reaches the world through tools of the host: a server is not asked, a file is
// not written, a program is not started.

import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stdTools } from '../host/catalogue/index.js'
import { createRuntime, defineTool } from '../index.js'
import { nodeProviders } from './index.js'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-declared-')))
writeFileSync(join(root, 'there.txt'), 'made')
let asked = 0
const server = createServer((_request, response) => {
  asked++
  response.end('hello')
})
let url = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterAll(() => {
  server.close()
  rmSync(root, { recursive: true, force: true })
})

interface Case {
  readonly kind: string
  readonly tool: string
  readonly args: () => { readonly [name: string]: unknown }
  /** What happened in the world; it begins with nothing. */
  readonly look: () => unknown
}

const CASES: readonly Case[] = [
  { kind: 'http', tool: 'http_requester', args: () => ({ input: url }), look: () => asked > 0 },
  {
    kind: 'fs',
    tool: 'file_operations',
    args: () => ({ operation: 'cp', path: 'there.txt', target_path: 'made.txt' }),
    look: () => existsSync(join(root, 'made.txt')) && readFileSync(join(root, 'made.txt'), 'utf8') === 'made',
  },
  {
    kind: 'process',
    tool: 'process_executor',
    args: () => ({
      executable: process.execPath,
      arguments: ['-e', `require('node:fs').writeFileSync(${JSON.stringify(join(root, 'started.txt'))}, '')`],
    }),
    look: () => existsSync(join(root, 'started.txt')),
  },
]

test.each(CASES)('$kind', async ({ kind, tool, args, look }) => {
  const catalogue = stdTools({
    providers: nodeProviders({ root, sandbox: 'none', http: { policy: { denyPrivate: false } } }),
    grants: ['http', 'fs', 'process'],
    programs: [process.execPath],
  })
  const call = async (effects: readonly string[]): Promise<unknown> => {
    const relay = defineTool({ name: 'own.relay', effects, execute: (_args, { tools }) => tools.call(tool, args()) })
    const runtime = createRuntime({ tools: [...catalogue, relay] })
    const module = runtime.compile(
      'import { relay } from "host/own"\npipeline main() { return try { relay({}) } catch (e) { e.code } }',
      { allowEffects: effects },
    )
    expect(module.manifest.script.effects).toEqual(effects)
    return runtime.run(module)
  }
  const others = CASES.map((each) => each.kind)
    .filter((each) => each !== kind)
    .toSorted()
  expect(await call(others)).toBe('effect_violation')
  expect(look()).toBe(false)
  expect(await call([kind])).not.toMatchObject({ success: false })
  expect(look()).toBe(true)
})

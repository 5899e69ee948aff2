import type { PlainRecord } from '@bridle/vm'
import { effectOfData } from '../test-support/effect-of-data.js'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EffectOutcome, Plain } from '@bridle/vm'
import type { EffectCall } from '../tools/executors/provider.js'
import { makeEffectCall } from '../test-support/effect-call.js'
import { awaitGone } from '../test-support/mcp-servers.js'
import { createRuntime } from '../host/runtime.js'
import { nodeProviders } from './providers.js'
import { processProvider } from './process.js'
import type { ProcessOptions } from './process.js'
import { FileSandbox } from './sandbox.js'
import { Workspace } from './workspace.js'

let folder: string
beforeAll(() => void (folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-process-')))))
afterAll(() => rmSync(folder, { recursive: true }))

const exits: number[] = []
const call = (signal?: AbortSignal): EffectCall => ({ ...makeEffectCall(signal), exit: (code) => void exits.push(code) })

function makeWorld(options: ProcessOptions = {}) {
  const workspace = new Workspace({
    root: folder,
    sandbox: new FileSandbox({ roots: [folder] }),
    env: { PATH: process.env['PATH'], MARK: 'here' },
  })
  const { perform } = processProvider(workspace, options)
  return {
    workspace,
    exec: async (args: { readonly [key: string]: Plain }, signal?: AbortSignal): Promise<EffectOutcome> =>
      perform(
        {
          kind: 'process.exec',
          args: { program: null, args: [], shell: null, cwd: null, env: null, stdin: null, timeoutMs: null, ...args },
        },
        call(signal),
      ),
    info: (args: { readonly [key: string]: Plain }): Plain =>
      (perform(effectOfData('process.info', args), call()) as { value: Plain }).value,
    set: (args: { readonly [key: string]: Plain }) => perform(effectOfData('process.set', args), call()),
  }
}

const makeNode = (code: string): { readonly program: string; readonly args: readonly string[] } => ({
  program: process.execPath,
  args: ['-e', code],
})

test('output, status, standard input, environment, folder', async () => {
  const { exec } = makeWorld()
  expect(await exec(makeNode('console.log("out"); console.error("err"); process.exitCode = 3'))).toMatchObject({
    ok: true,
    value: { stdout: 'out\n', stderr: 'err\n', status: 3, timedOut: false },
  })
  expect(await exec({ ...makeNode('process.stdin.pipe(process.stdout)'), stdin: 'in' })).toMatchObject({
    value: { stdout: 'in' },
  })
  const facts = 'console.log(process.env.MARK, process.env.MORE, process.env.HOME, process.cwd())'
  expect(await exec({ ...makeNode(facts), env: { MORE: 'yes' } })).toMatchObject({
    value: { stdout: `here yes undefined ${folder}\n` },
  })
  expect(await exec({ ...makeNode(facts), env: { MORE: 'yes' }, clearEnv: true })).toMatchObject({
    value: { stdout: `undefined yes undefined ${folder}\n` },
  })
})

test('a shell', async () => {
  expect(await makeWorld().exec({ shell: 'echo one; echo $MARK' })).toMatchObject({ value: { stdout: 'one\nhere\n', status: 0 } })
})

test('a program that does not exist is refused in the words of the system', async () => {
  expect(await makeWorld().exec({ program: 'no-such-program-here' })).toEqual({
    ok: true,
    value: { refused: true, code: 'ENOENT', detail: 'No such file or directory (os error 2)' },
  })
})

test('out of time: it and its children are gone', async () => {
  const { exec } = makeWorld()
  const code = `const c = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }); console.log(c.pid); setInterval(() => {}, 1000)`
  const outcome = await exec({ ...makeNode(code), timeoutMs: 1000 })
  expect(outcome).toMatchObject({ value: { status: -1, timedOut: true } })
  const child = Number(outcome.ok && (outcome.value as { readonly stdout: string }).stdout)
  expect(child).toBeGreaterThan(0)
  await awaitGone(child)
})

test('cancelling', async () => {
  const abort = new AbortController()
  const outcome = makeWorld().exec(makeNode('setInterval(() => {}, 1000)'), abort.signal)
  setImmediate(() => abort.abort())
  expect(await outcome).toMatchObject({ ok: false, error: { message: 'process: the run was cancelled' } })
})

test('output beyond the limit is dropped and said so', async () => {
  const outcome = await makeWorld({ maxOutputBytes: 10 }).exec(makeNode('process.stdout.write("x".repeat(1000))'))
  expect(outcome).toMatchObject({ value: { stdout: `${'x'.repeat(10)}\n[990 bytes dropped]` } })
})

test('a host that says no', async () => {
  const { exec } = makeWorld({ allow: ({ program }) => program === 'git' || 'only git' })
  expect(await exec(makeNode('1'))).toMatchObject({
    ok: false,
    error: { category: 'tool_rejected', message: expect.stringContaining('only git') as string },
  })
})

test('folders outside the sandbox', async () => {
  expect(await makeWorld().exec({ ...makeNode('1'), cwd: '..' })).toMatchObject({
    ok: false,
    error: { category: 'tool_rejected' },
  })
})

test('facts, and changes that stay within the run', () => {
  const { info, set, workspace } = makeWorld({ args: ['a', 'b'] })
  expect(info({ op: 'args' })).toEqual(['a', 'b'])
  expect(info({ op: 'cwd' })).toBe(folder)
  expect(info({ op: 'env', name: 'MARK' })).toBe('here')
  expect(info({ op: 'env', name: 'HOME' })).toBe(null)
  expect(['linux', 'darwin', 'windows']).toContain(info({ op: 'platform' }))
  void set({ op: 'setenv', name: 'MARK', value: 'there' })
  expect(info({ op: 'env', name: 'MARK' })).toBe('there')
  expect(process.env['MARK']).toBe(undefined)
  expect(set({ op: 'chdir', path: 'none' })).toMatchObject({ ok: true, value: { refused: true } })
  expect(set({ op: 'chdir', path: '..' })).toMatchObject({ ok: false })
  expect(workspace.cwd).toBe(folder)
  void set({ op: 'exit', code: 7 })
  expect(exits).toEqual([7])
})

describe('what was judged is what runs', () => {
  /** A folder of the script's with a program that is called like one of the host's. */
  function makeDisguised(): { readonly evil: string; readonly fine: string } {
    const base = mkdtempSync(join(folder, 'judged-'))
    const [evil, fine] = ['evil', 'fine'].map((name) => {
      mkdirSync(join(base, name))
      writeFileSync(join(base, name, 'tool'), `#!/bin/sh\necho ${name}\n`, { mode: 0o755 })
      return join(base, name)
    }) as [string, string]
    return { evil, fine }
  }
  const start = async (options: ProcessOptions, env: Record<string, string>, args: PlainRecord, root: string) => {
    const provider = processProvider(new Workspace({ root, env }), options)
    const outcome = await provider.perform(effectOfData('process.exec', { program: 'tool', args: [], ...args }), call())
    return JSON.stringify(outcome)
  }

  test('the file is found by the PATH of the host, without its relative entries', async () => {
    const { evil, fine } = makeDisguised()
    const paths: (string | null)[] = []
    const allow: ProcessOptions['allow'] = ({ program, path }) => (paths.push(path), program === 'tool')
    expect(await start({ allow }, { PATH: `.::${fine}:/bin` }, {}, evil)).toContain('fine')
    expect(await start({}, { PATH: `.:${fine}:/bin` }, { judged: true }, evil)).toContain('fine')
    expect(paths).toEqual([join(fine, 'tool')])
    expect(await start({ allow }, { PATH: '.' }, {}, evil)).toContain('ENOENT')
  })

  test.each(['PATH', 'LD_PRELOAD', 'NODE_OPTIONS', 'BASH_ENV'])('a script sets no %s for it', async (name) => {
    const { evil, fine } = makeDisguised()
    const env = { PATH: `${fine}:/bin` }
    const allow: ProcessOptions['allow'] = () => true
    expect(await start({ allow }, env, { env: { [name]: evil } }, fine)).toContain(`the script has set ${name}`)
    expect(await start({ allow, allowEnv: ['LANG'] }, env, { env: { LANG: 'C' } }, fine)).toContain('fine')
    const workspace = new Workspace({ root: fine, env })
    workspace.env.set(name, evil)
    const outcome = await processProvider(workspace, { allow }).perform(effectOfData('process.exec', { program: 'tool' }), call())
    expect(JSON.stringify(outcome)).toContain(`the script has set ${name}`)
  })

  test('a grant of a program is one of that file too', async () => {
    const { evil, fine } = makeDisguised()
    const runtime = createRuntime({
      grants: ['process'],
      toolGrants: { 'process.exec': { program: 'tool' } },
      providers: () => nodeProviders({ root: evil, env: { PATH: `.:${fine}:/bin` } }),
    })
    expect(await runtime.run('return exec("tool").stdout', { effects: 'off' })).toBe('fine\n')
    for (const other of ['exec("./tool")', `exec("${evil}/tool")`, `exec_at("${evil}", "./tool")`, 'shell("tool")'])
      expect(await runtime.run(`return try { ${other}.stdout } catch (e) { "refused" }`, { effects: 'off' })).toBe('refused')
  })
})

// How commands end from outside: a reader that closes, no standard input, the interrupt key. Exit codes are those of
// docs/language/command.md; no exception is shown; and apart from the requested output, only the cache of compiled scripts remains.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundledCommand } from '../../../scripts/bundled-command.js'

let command: Awaited<ReturnType<typeof bundledCommand>>
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-ends-')))
const [work, home, temporary] = ['work', 'home', 'tmp'].map((name) => join(folder, name)) as [string, string, string]
const FILES = {
  'long.harn': 'for i in 1 to 20000 { println("line ${i} of many") }\n',
  'slow.harn': 'println("begun")\nsleep(10m)\n',
  'slow_test.harn': 'pipeline test_slow(task) { sleep(10m) }\n',
  'unlaid.harn': 'let  x=1\n',
}

beforeAll(async () => {
  command = await bundledCommand()
  for (const path of [work, home, temporary]) mkdirSync(path)
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(work, name), text)
})
afterAll(() => {
  for (const path of [folder, command.folder]) rmSync(path, { recursive: true, force: true })
})

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

interface How {
  /** Standard input; without it there is none. */
  readonly input?: string
  /** Press the interrupt key once this is printed. */
  readonly interruptAt?: string
  /** Close standard output after its first bytes. */
  readonly goesAway?: boolean
}

function runBridle(words: string, { input, interruptAt, goesAway = false }: How = {}): Promise<Ended> {
  const child = spawn(process.execPath, [command.path, ...words.split(' ')], {
    cwd: work,
    env: { PATH: process.env['PATH'], HOME: home, TMPDIR: temporary },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  if (input !== undefined) child.stdin!.write(input)
  let [out, err] = ['', '']
  let isInterrupted = false
  child.stdout!.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    if (goesAway) child.stdout!.destroy()
    if (interruptAt !== undefined && !isInterrupted && out.includes(interruptAt)) {
      isInterrupted = true
      child.kill('SIGINT')
    }
  })
  child.stderr!.on('data', (chunk: Buffer) => (err += chunk.toString()))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })))
}

const STACK = /this is a bug|^\s+at .*:\d+:\d+\)?$|node:internal|Unhandled/m

describe('a reader that goes away', () => {
  test.each([
    'run long.harn',
    'builtins --json',
    'explain',
    'tools list --no-servers --json',
    'check --json .',
    'disasm long.harn',
    'lint .',
    '--help',
  ])('%s', async (words) => {
    const { code, err } = await runBridle(words, { goesAway: true })
    expect(err).not.toMatch(STACK)
    expect(err).not.toContain('EPIPE')
    expect([0, 1]).toContain(code)
  })
})

describe('no standard input', () => {
  test.each([
    ['run -', 0],
    ['repl', 0],
    ['serve acp long.harn', 0],
    ['lsp', 1],
    ['fmt --stdin', 0],
  ])('%s', async (words, code) => {
    const ended = await runBridle(words)
    expect(ended.err).not.toMatch(STACK)
    expect(ended.code).toBe(code)
  })
})

describe('the interrupt key', () => {
  const HELLO = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n'
  test.each<[string, number, How]>([
    ['run slow.harn', 130, { interruptAt: 'begun' }],
    ['run --record run.jsonl slow.harn', 130, { interruptAt: 'begun' }],
    ['run --snapshot run.snap slow.harn', 130, { interruptAt: 'begun' }],
    ['test slow_test.harn', 130, { interruptAt: 'Running 1 test' }],
    ['serve acp long.harn', 0, { interruptAt: 'protocolVersion', input: HELLO }],
  ])('%s', async (words, code, how) => {
    const ended = await runBridle(words, how)
    expect(ended.err).not.toMatch(STACK)
    expect(ended.code).toBe(code)
  })

  test('written files are complete', async () => {
    const lines = readFileSync(join(work, 'run.jsonl'), 'utf8').trimEnd().split('\n')
    for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow()
    expect(await runBridle('replay --list run.jsonl')).toMatchObject({ code: 0 })
    expect((await runBridle('resume run.snap --timeout 1')).code).toBe(124)
  })
})

test('nothing else was left behind', () => {
  expect(readdirSync(work).sort()).toEqual([...Object.keys(FILES), 'run.jsonl', 'run.snap'].sort())
  for (const [name, text] of Object.entries(FILES)) expect(readFileSync(join(work, name), 'utf8')).toBe(text)
  expect(readdirSync(temporary)).toEqual([])
  const kept = readdirSync(home).flatMap((name) => readdirSync(join(home, name)).map((each) => `${name}/${each}`))
  expect(kept.filter((path) => path !== '.cache/bridle' && path !== '.local/state')).toEqual([])
  expect(existsSync(join(home, '.local', 'state')) ? readdirSync(join(home, '.local', 'state')) : []).toEqual([])
})

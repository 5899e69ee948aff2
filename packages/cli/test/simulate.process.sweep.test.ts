// `bridle simulate` as a person uses it: its findings, the command that reproduces a failure, threads, and the interrupt key.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundledCommand } from '../../../scripts/bundled-command.js'
import { runInProcess } from './in-process.js'
import type { Ended } from './in-process.js'

const folder = mkdtempSync(join(tmpdir(), 'bridle-simulate-'))
let command: Awaited<ReturnType<typeof bundledCommand>>

beforeAll(async () => {
  command = await bundledCommand()
  for (const [name, text] of Object.entries(SCRIPTS)) writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, 'data.txt'), 'from the disk')
})

afterAll(() => {
  for (const each of [folder, command.folder]) rmSync(each, { recursive: true, force: true })
})

const SCRIPTS = {
  'sound.harn': `
let first = random_int(1, 1000000)
sleep(1s)
println(read_file("data.txt"))
println(argv)
return parallel each [1, 2, 3] { n -> n * 2 }
`,
  'writes.harn': `
println(file_exists("out.txt"))
write_file("out.txt", "one")
sleep(5ms)
println(read_file("out.txt"))
`,
  'hurries.harn': `
let begun = now_ms()
sleep(5ms)
assert(now_ms() - begun < 1000, "too late")
`,
  'fails.harn': `
let n = random_int(0, 1)
assert(n == 2, "n is neither")
`,
  'calls.harn': 'println(http_get("http://example.com/"))\n',
  'asks.harn': 'let r = llm_call("hello")\nprintln(r.text)\n',
  'mocked.harn': `
http_mock("GET", "http://example.com/", {status: 200, body: "hi"})
println(http_get("http://example.com/").body)
`,
  'broken.harn': 'let x =\n',
}

const runBridle = (...words: readonly string[]): Promise<Ended> => runInProcess(folder, words)

interface Document {
  readonly status: string
  readonly exit_code: number
  readonly seeds: number
  readonly runs: number
  readonly failures: readonly { readonly [key: string]: unknown }[]
}

async function runSimulation(...words: readonly string[]): Promise<Document & { readonly code: number | null }> {
  const { code, stdout } = await runBridle('simulate', '--json', ...words)
  return { ...(JSON.parse(stdout) as Document), code }
}

test('a script that survives everything', async () => {
  const { code, stdout, stderr } = await runBridle('simulate', 'sound.harn', '--seeds', '3', '--', 'a', '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^No failure in \d+ runs of 3 seeds\n$/)
  // Every entry of the journal, with both faults.
  expect(Number(/(\d+) runs/.exec(stdout)![1])).toBeGreaterThan(3 * 2 * 7)
})

test('a crash in the middle of a write is found, and the shown command reproduces it', async () => {
  const first = await runBridle('simulate', 'writes.harn', '--seeds', '2')
  expect(first.code).toBe(1)
  expect(first.stdout).toContain('FAIL  same_end: seed 0, the process dies in front of entry')
  expect(first.stdout).toContain('the answer of call 2, fs.write write')
  expect(first.stdout).toMatch(/ now: \{"status":"failed".* unknown/)
  expect(first.stdout).toContain('--unknown retry')
  expect(existsSync(join(folder, 'out.txt'))).toBe(false)
  const [, again] = /again: bridle (.*)/.exec(first.stdout)!
  expect(again).toMatch(/^simulate writes\.harn --seed 0 --faults crash --points \d+$/)
  const second = await runBridle(...again!.split(' '))
  expect(second.code).toBe(1)
  expect(second.stdout).toContain('1 failure of 1 kind in 2 runs of 1 seed')
  // The reproduced failure shows the same command.
  expect(second.stdout).toContain(`again: bridle ${again}\n`)
  expect(await runSimulation('writes.harn', '--seeds', '2', '--unknown', 'retry')).toMatchObject({ code: 0, failures: [] })
})

test('the document; options that choose runs are replaced, all others stay, quoted for a shell', async () => {
  const { code, failures, ...rest } = await runSimulation(
    '-e',
    'let n = "it\'s"\nassert(n == argv[0])',
    '--seeds=2',
    '--faults',
    'none',
    '--',
    'a b',
  )
  expect({ code, ...rest }).toEqual({ code: 1, status: 'failed', exit_code: 1, seeds: 2, runs: 2 })
  expect(failures[1]).toEqual({
    seed: 1,
    oracle: 'script',
    fault: null,
    at: null,
    entry: null,
    message: expect.stringContaining('Assertion failed') as unknown,
    command: `bridle simulate -e 'let n = "it'\\''s"\nassert(n == argv[0])' --seed 1 --faults none -- 'a b'`,
  })
})

test('assertions of the script, in the undisturbed run and in disturbed ones with any outcome', async () => {
  expect((await runSimulation('fails.harn', '--seeds', '2')).failures).toMatchObject([
    { seed: 0, oracle: 'script', fault: null, message: expect.stringContaining('n is neither') as unknown },
    { seed: 1, oracle: 'script', fault: null },
  ])
  const late = await runSimulation('hurries.harn', '--seeds', '1', '--any-end')
  expect(late.code).toBe(1)
  expect(late.failures[0]).toMatchObject({
    oracle: 'script',
    fault: 'crash',
    message: expect.stringContaining('too late') as unknown,
  })
  expect((await runSimulation('sound.harn', '--seeds', '1', '--any-end', '--', 'x')).failures).toEqual([])
})

test('the network is not reached; mocks are', async () => {
  expect((await runSimulation('calls.harn', '--seeds', '1')).failures[0]).toMatchObject({
    oracle: 'script',
    message: expect.stringContaining('a simulated run reaches no network; answer the request with http_mock') as unknown,
  })
  expect((await runSimulation('mocked.harn', '--seeds', '1')).failures).toEqual([])
  expect((await runSimulation('asks.harn', '--seeds', '1')).failures[0]).toMatchObject({ oracle: 'script' })
  writeFileSync(join(folder, 'replies.jsonl'), '{"text": "hello yourself"}\n')
  expect((await runSimulation('asks.harn', '--seeds', '1', '--llm-mock', 'replies.jsonl')).failures).toEqual([])
  expect((await runSimulation('-e', 'println(exec("true"))', '--seeds', '1')).failures[0]).toMatchObject({
    message: expect.stringContaining('a simulated run starts no programs') as unknown,
  })
})

test('several threads find the same failures in the same order', async () => {
  const words = ['simulate', '--json', 'writes.harn', '--seeds', '4']
  // Threads start from the bundle: from source, each would compile everything that it loads.
  const child = spawn(process.execPath, [command.path, ...words, '--jobs', '2'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let stdout = ''
  child.stdout.on('data', (chunk) => (stdout += String(chunk)))
  await new Promise((resolve) => child.on('close', resolve))
  expect(JSON.parse(stdout)).toEqual(JSON.parse((await runBridle(...words)).stdout))
})

test('the journal of a failing run can be replayed, also past a crash', async () => {
  expect((await runBridle('simulate', 'writes.harn', '--seed', '5', '--record', 'failing.jsonl')).code).toBe(1)
  const { code, stderr } = await runBridle('replay', 'failing.jsonl')
  expect(code).toBe(1)
  expect(stderr).toContain('the outcome of fs.write write is unknown')
})

test('invalid options are reported', async () => {
  const runRefused = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runBridle('simulate', ...words)
    expect(stdout).toBe('')
    return `${code} ${stderr}`
  }
  expect(await runRefused('nothing.harn')).toBe('2 error: cannot read nothing.harn: no such file\n')
  expect(await runRefused('broken.harn')).toContain('broken.harn:')
  expect(await runRefused()).toBe('2 error: name a script: a file, - for standard input, or -e CODE\n')
  expect(await runRefused('sound.harn', '--seeds', '0')).toContain('2 error: "0" is not a number of seeds')
  expect(await runRefused('sound.harn', '--seed', 'x')).toBe('2 error: --seed x: write a whole number, 0 or more\n')
  expect(await runRefused('sound.harn', '--seeds', '2', '--seed', '1')).toBe('2 error: give either --seeds or --seed\n')
  expect(await runRefused('sound.harn', '--faults', 'flood')).toBe(
    '2 error: --faults flood: the faults are crash and store, or none\n',
  )
  expect(await runRefused('sound.harn', '--points', '1,0')).toBe('2 error: --points 0: write a whole number, 1 or more\n')
  expect(await runRefused('sound.harn', '--root', '.', '--root', '..')).toBe('2 error: a simulated run has one --root at most\n')
})

test.each([[['--jobs', '1']], [['--jobs', '2']]])('the interrupt key keeps what was found (%j)', async (more) => {
  const words = ['simulate', 'writes.harn', '--seeds', '1000000', ...more]
  const child = spawn(process.execPath, [command.path, ...words], { cwd: folder, stdio: 'pipe' })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => {
    if (stdout === '') child.kill('SIGINT')
    stdout += String(chunk)
  })
  child.stderr.on('data', (chunk) => (stderr += String(chunk)))
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(130)
  expect(stdout).toContain('again: bridle simulate writes.harn')
  expect(stdout).toMatch(/\n\d+ failures? of \d kinds? in \d+ runs of 1000000 seeds\n/)
  expect(stderr).toBe('error: interrupted\n')
})

// The program cache of the command, called in this process.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { cacheClearCommand } from './cache.js'
import { runCommand } from './run.js'

let folder = ''
let cache = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bridle-kept-'))
  cache = join(folder, 'cache')
  vi.stubEnv('BRIDLE_COMPILE_CACHE', cache)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

async function run(file: string | undefined, more: { readonly eval?: string } = {}): Promise<string> {
  let said = ''
  const streams = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((chunk) => ((said += String(chunk)), true)),
  )
  try {
    const code = await runCommand(file, { ...more, scriptArguments: [], build: 'test' })
    return `${said}${code}`
  } finally {
    for (const stream of streams) stream.mockRestore()
  }
}

const listKept = (): readonly string[] => (existsSync(cache) ? readdirSync(join(cache, 'scripts', 'test')) : [])

function writeScript(text: string): string {
  const path = join(folder, 'script.harn')
  writeFileSync(path, text)
  return path
}

test.each([
  ['a run that ends well', 'pipeline main() {\n  println(argv)\n  return 3\n}\n'],
  ['a failure with its place', 'fn f() {\n  throw "no"\n}\npipeline main() {\n  f()\n}\n'],
  ['an effect', `pipeline main() {\n  println(file_exists("/nowhere"))\n}\n`],
  ['a standard module', 'import { clear_host_mocks } from "std/testing"\npipeline main() {\n  clear_host_mocks()\n}\n'],
])('%s is the same from the kept script', async (_, text) => {
  const path = writeScript(text)
  const first = await run(path)
  expect(listKept()).toHaveLength(1)
  expect(await run(path)).toBe(first)
})

test('a changed script is compiled again', async () => {
  expect(await run(writeScript('println(1)'))).toBe('1\n0')
  expect(await run(writeScript('println(2)'))).toBe('2\n0')
  expect(listKept()).toHaveLength(1)
})

test('warnings are shown at every run', async () => {
  const path = writeScript('fn f(a) { return a }\npipeline main() { println(f(1, 2)) }\n')
  const first = await run(path)
  expect(first).toContain('expects 1 argument')
  expect(await run(path)).toBe(first)
  expect(listKept()).toEqual([])
})

test('nothing is cached for source that is not a file, or if the cache is off', async () => {
  await run(undefined, { eval: 'println(1)' })
  vi.stubEnv('BRIDLE_COMPILE_CACHE', 'off')
  expect(await run(writeScript('println(1)'))).toBe('1\n0')
  expect(existsSync(cache)).toBe(false)
})

test('a manifest that adds modules to the script takes effect in the next run', async () => {
  const path = writeScript('println(1)')
  await run(path)
  writeFileSync(join(folder, 'harn.toml'), '[[hooks]]\nevent = "nonsense"\nhandler = "x"\n')
  await expect(run(path)).rejects.toThrow('hooks')
})

test('`bridle cache clear` removes the cache, and no other files of its folder', async () => {
  await run(writeScript('println(1)'))
  const code = join(cache, '0123456789abcdef-v20.1.0-x64')
  mkdirSync(code)
  for (const path of [join(code, 'core.js.bin'), join(cache, 'scripts.txt')]) writeFileSync(path, '12345')
  const say = vi.spyOn(process.stdout, 'write').mockImplementation(() => true)
  try {
    expect(cacheClearCommand({})).toBe(0)
    expect(say).toHaveBeenLastCalledWith(expect.stringMatching(/^removed 2 files, \d+ bytes, from .*cache\n$/))
    expect(readdirSync(cache)).toEqual(['scripts.txt'])
    cacheClearCommand({})
    expect(say).toHaveBeenLastCalledWith(`nothing is kept in ${cache}\n`)
    cacheClearCommand({ json: true })
    expect(JSON.parse(String(say.mock.lastCall?.[0]))).toEqual({ folder: cache, files: 0, bytes: 0 })
    rmSync(cache, { recursive: true })
    cacheClearCommand({})
    expect(say).toHaveBeenLastCalledWith(`nothing is kept in ${cache}\n`)
    cacheClearCommand({}, { BRIDLE_COMPILE_CACHE: 'off' })
    expect(say).toHaveBeenLastCalledWith('nothing is kept: BRIDLE_COMPILE_CACHE is off\n')
  } finally {
    say.mockRestore()
  }
})

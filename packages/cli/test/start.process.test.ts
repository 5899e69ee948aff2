// The starter and its code cache: written by the first run, used by the next, and never a cause of failure.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterEach, beforeEach, expect, test } from 'vitest'

let folder = ''

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bridle-start-'))
  mkdirSync(join(folder, 'lib'))
  const wrapBody = (body: string): string => `(function(exports,require,module,__filename,__dirname){${body}})`
  writeFileSync(
    join(folder, 'lib', 'main.js'),
    wrapBody('const { twice } = require("./part.js"); console.log(twice(21), require("node:path").basename(__filename))'),
  )
  writeFileSync(join(folder, 'lib', 'part.js'), wrapBody('exports.twice = (n) => n * 2'))
  await build({
    entryPoints: [fileURLToPath(new URL('../src/start.ts', import.meta.url))],
    outfile: join(folder, 'bridle.cjs'),
    bundle: true,
    format: 'cjs',
    platform: 'node',
    define: { BRIDLE_ENTRY: '"main.js"', BRIDLE_BUILD: '"test"' },
  })
})

afterEach(() => rmSync(folder, { recursive: true }))

function start(cache: string, flags: readonly string[] = [], words: readonly string[] = []): string {
  const env = { ...process.env, BRIDLE_COMPILE_CACHE: cache, NODE_OPTIONS: '' }
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, join(folder, 'bridle.cjs'), ...words], {
    env,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
}

/** Files of the cache with their contents. */
function readCached(cache: string): Record<string, string> {
  const [name = ''] = readdirSync(cache)
  return Object.fromEntries(readdirSync(join(cache, name)).map((file) => [file, readFileSync(join(cache, name, file), 'base64')]))
}

test('the first run writes the cache, the next one uses it', () => {
  const cache = join(folder, 'cache')
  expect(start(cache)).toBe('42 main.js\n')
  const written = readCached(cache)
  expect(Object.keys(written).sort()).toEqual(['main.js.bin', 'part.js.bin'])
  expect(start(cache)).toBe('42 main.js\n')
  expect(readCached(cache)).toEqual(written)
})

test.skipIf(process.platform !== 'linux')('a cache folder that can neither be created nor found is not used', () => {
  expect(start('/proc/nowhere/cache')).toBe('42 main.js\n')
  writeFileSync(join(folder, 'file'), '')
  expect(start(join(folder, 'file', 'cache'))).toBe('42 main.js\n')
})

test('lazily loaded code is cached too', () => {
  const wrapBody = (body: string): string => `(function(exports,require,module,__filename,__dirname){${body}})`
  writeFileSync(
    join(folder, 'lib', 'main.js'),
    wrapBody('exports.begin = async (words, build) => { await null; console.log(build, require("./part.js").twice(2)) }'),
  )
  const cache = join(folder, 'cache')
  expect(start(cache)).toBe('test 4\n')
  const [name = ''] = readdirSync(cache)
  expect(readdirSync(join(cache, name)).sort()).toEqual(['main.js.bin', 'part.js.bin'])
  rmSync(join(cache, name, 'part.js.bin'))
  expect(start(cache)).toBe('test 4\n')
  expect(readdirSync(join(cache, name)).sort()).toEqual(['main.js.bin', 'part.js.bin'])
})

test('the cache is readable only by its owner, and named after the bundle and Node', () => {
  const cache = join(folder, 'cache')
  start(cache)
  const [name = ''] = readdirSync(cache)
  expect(name).toBe(`test-${process.version}-${process.arch}`)
  if (process.platform !== 'win32') expect(statSync(join(cache, name)).mode & 0o077).toBe(0)
})

test('a truncated cache or one of another program is not used, and replaced', () => {
  const cache = join(folder, 'cache')
  start(cache)
  const [name = ''] = readdirSync(cache)
  truncateSync(join(cache, name, 'main.js.bin'), 40)
  writeFileSync(join(cache, name, 'part.js.bin'), 'no code')
  expect(start(cache)).toBe('42 main.js\n')
  for (const file of Object.values(readCached(cache))) expect(file.length).toBeGreaterThan(200)
})

test('commands that read source have a separate cache, which the next one uses', () => {
  const cache = join(folder, 'cache')
  expect(start(cache, [], ['check'])).toBe('42 main.js\n')
  expect(readdirSync(cache)).toEqual([`test-${process.version}-${process.arch}-reading`])
  const written = readCached(cache)
  expect(start(cache, [], ['check'])).toBe('42 main.js\n')
  expect(readCached(cache)).toEqual(written)
  start(cache)
  expect(readdirSync(cache).length).toBe(2)
})

test('other flags neither use nor replace it', () => {
  const cache = join(folder, 'cache')
  expect(start(cache, ['--disallow-code-generation-from-strings'])).toBe('42 main.js\n')
  expect(() => readdirSync(cache)).toThrow()
})

test('it can be turned off, and a folder that cannot be created is not an error', () => {
  expect(start('off')).toBe('42 main.js\n')
  expect(readdirSync(folder).sort()).toEqual(['bridle.cjs', 'lib'])
  expect(start(join(folder, 'bridle.cjs', 'below a file'))).toBe('42 main.js\n')
})

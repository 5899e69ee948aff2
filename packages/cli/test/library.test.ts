// Runs the Harn tests of the standard modules, and of builtins that are written in Harn, as `bridle test` runs them
// (packages/stdlib-tools/test/std). Requirements for these files: there is one for each module, it uses all public
// names of the module, and `bridle check --strict` and `bridle fmt --check` report nothing.

import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SourceFile, parse } from '@bridle/parser'
import { afterAll, expect, test, vi } from 'vitest'
import { makeAuthority } from '../src/authority.js'
import { checkCommand } from '../src/commands/check.js'
import { fmtCommand } from '../src/commands/fmt.js'
import { makeCommandRuntime } from '../src/host.js'
import { discoverTests } from '../src/testing/discover.js'
import { runTests } from '../src/testing/runner.js'

const modules = fileURLToPath(new URL('../../stdlib-tools/src/std', import.meta.url))
const sources = fileURLToPath(new URL('../../stdlib-tools/test/std', import.meta.url))

/** Scripts write stores and checkpoints beside themselves, so copies are run. */
const folder = mkdtempSync(join(tmpdir(), 'bridle-library-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
for (const name of [...listScripts(sources), 'lib']) cpSync(join(sources, name), join(folder, name), { recursive: true })

const MINUTE = 60_000

/** Not `.harn`, the folder that scripts leave behind when they run in place. */
function listScripts(path: string): readonly string[] {
  return readdirSync(path).filter((name) => name.endsWith('.harn') && name !== '.harn')
}

/** Names of the public functions of a standard module. */
function listPublicFunctions(name: string): readonly string[] {
  const { program } = parse(new SourceFile(name, readFileSync(join(modules, name), 'utf8')))
  return (program?.items ?? []).flatMap((item) => (item.kind === 'FnDecl' && item.isPublic ? [item.name.text] : []))
}

/** Output of a failing command. */
async function readComplaints(command: () => number | Promise<number>): Promise<string> {
  let text = ''
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((part) => {
      text += String(part)
      return true
    }),
  )
  try {
    return (await command()) === 0 ? '' : text
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

test('every standard module has a test file that uses all its public functions', () => {
  const missing = listScripts(modules).flatMap((name) => {
    const path = join(sources, name)
    if (!existsSync(path)) return [name]
    const words = new Set(readFileSync(path, 'utf8').split(/\W/))
    return listPublicFunctions(name).flatMap((fn) => (words.has(fn) ? [] : [`${name}: ${fn}`]))
  })
  expect(missing).toEqual([])
})

test('the test files have no findings of check and lint, and are formatted', { timeout: MINUTE }, async () => {
  expect(await readComplaints(() => checkCommand([folder], { strict: true }))).toBe('')
  expect(await readComplaints(() => fmtCommand([folder], { check: true }))).toBe('')
})

test.each(listScripts(sources))('%s', { timeout: MINUTE }, async (name) => {
  const files = discoverTests([join(folder, name)])
  const results = await runTests({
    runtime: makeCommandRuntime({ terminal: false, standIns: 'script', authority: makeAuthority({}) }),
    files,
    timeLimitMs: MINUTE,
    failFast: false,
    signal: new AbortController().signal,
    onResult: () => {},
  })
  expect(results.length).toBeGreaterThan(0)
  expect(
    results.filter(({ status }) => status === 'failed').map(({ name: pipeline, report }) => `${pipeline}: ${report}`),
  ).toEqual([])
})

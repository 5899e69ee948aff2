// `check`, `lint`, `fmt` and `explain --invariant`: exit codes, streams, written files. The
// scripts under conformance/lint and conformance/format show what they find.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { CommandError, UsageError } from '../errors.js'
import { checkCommand, type CheckFlags } from './check.js'
import { explainInvariant } from './explain.js'
import { fmtCommand, type FmtFlags } from './fmt.js'
import { lintCommand, type LintFlags } from './lint.js'

const folder = mkdtempSync(join(tmpdir(), 'bridle-check-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function writeScript(name: string, text: string): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Output and exit code of a command, as in a process of its own. */
async function runToEnd(command: () => number | Promise<number>): Promise<Ended> {
  const text = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((part) => {
      text[name] += String(part)
      return true
    }),
  )
  try {
    return { code: await command(), ...text }
  } catch (cause) {
    if (cause instanceof UsageError) return { code: 2, stdout: text.stdout, stderr: `error: ${cause.message}\n` }
    if (cause instanceof CommandError) return { code: 1, stdout: text.stdout, stderr: `error: ${cause.message}\n` }
    throw cause
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

const runFmt = (flags: FmtFlags, ...paths: string[]): Promise<Ended> => runToEnd(() => fmtCommand(paths, flags))
const lint = (flags: LintFlags, ...paths: string[]): Promise<Ended> => runToEnd(() => lintCommand(paths, flags))
const check = (flags: CheckFlags, ...paths: string[]): Promise<Ended> => runToEnd(() => checkCommand(paths, flags))
const explain = (invariant: string, handler: string, path: string): Promise<Ended> =>
  runToEnd(() => explainInvariant(invariant, handler, path))

describe('bridle fmt', () => {
  test('writes and lists changed files, leaves the others alone', async () => {
    const path = writeScript('fmt/a.harn', 'let a=1\n')
    writeScript('fmt/b.harn', 'let b = 1\n')
    expect(await runFmt({}, join(folder, 'fmt'))).toEqual({ code: 0, stdout: `formatted ${path}\n`, stderr: '' })
    expect(readFileSync(path, 'utf8')).toBe('let a = 1\n')
  })

  test('--check writes nothing, and fails', async () => {
    const path = writeScript('fmt_check.harn', 'let a=1\n')
    expect(await runFmt({ check: true }, path)).toEqual({ code: 1, stdout: '', stderr: `${path}: would be reformatted\n` })
    expect(readFileSync(path, 'utf8')).toBe('let a=1\n')
  })

  test('a file that does not parse is reported and left alone', async () => {
    const path = writeScript('fmt_broken.harn', 'let = 1\n')
    const { code, stderr } = await runFmt({}, path)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `${path}: Expected variable name or destructuring pattern, got = at 1:5\n`,
    })
  })

  test('widths from flags and from harn.toml', async () => {
    writeScript('narrow/harn.toml', '[fmt]\nline-width = 8\n')
    const path = writeScript('narrow/a.harn', 'f(aaa, bbb)\n')
    expect((await runFmt({ check: true }, path)).code).toBe(1)
    expect((await runFmt({ check: true, lineWidth: 80 }, path)).code).toBe(0)
  })

  test('nothing to format', async () => {
    mkdirSync(join(folder, 'empty'), { recursive: true })
    expect(await runFmt({}, join(folder, 'empty'))).toEqual({ code: 1, stdout: '', stderr: 'No .harn files found\n' })
    expect((await runFmt({})).code).toBe(2)
  })
})

describe('bridle lint', () => {
  test('names clean files on standard output', async () => {
    const path = writeScript('clean.harn', 'println(1)\n')
    expect(await lint({}, path)).toEqual({ code: 0, stdout: `${path}: no issues found\n`, stderr: '' })
  })

  test('warnings do not fail, errors do', async () => {
    const warned = await lint({}, writeScript('warned.harn', 'let a = 1\n'))
    expect(warned).toMatchObject({ code: 0, stdout: '' })
    expect(warned.stderr).toContain('variable `a` is declared but never used')
    expect(warned.stderr).toContain('^^^^^^^^^ lint[unused-variable]')
    expect((await lint({}, writeScript('failed.harn', 'break\n'))).code).toBe(1)
  })

  test('--fix writes, counts, and shows the remaining findings', async () => {
    const path = writeScript('fix.harn', 'fn f() {\n  println("a" + true)\n  println("n: " + 1)\n}\n')
    const { code, stdout, stderr } = await lint({ fix: true }, path)
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${path}: applied 2 fix(es)\n` })
    expect(stderr).toContain('function `f` is declared but never used')
    expect(readFileSync(path, 'utf8')).toBe('fn f() {\n  println("a${true}")\n  println("n: ${1}")\n}\n')
  })

  test('project settings apply; names that another file imports count as used', async () => {
    writeScript('project/harn.toml', '[lint]\ndisabled = ["unused-variable"]\n')
    writeScript('project/a.harn', 'let a = 1\n\nfn shared() { return 1 }\n')
    writeScript('project/b.harn', 'import { shared } from "./a"\n\nprintln(shared())\n')
    const { code, stdout } = await lint({ json: true }, join(folder, 'project'))
    expect({ code, found: JSON.parse(stdout) as unknown }).toEqual({ code: 0, found: [] })
  })
})

describe('bridle check', () => {
  test('a clean file, and a folder without scripts', async () => {
    const path = writeScript('ok.harn', 'println(1)\n')
    expect(await check({}, path)).toEqual({ code: 0, stdout: `${path}: ok\n`, stderr: '' })
    mkdirSync(join(folder, 'none'), { recursive: true })
    const { code, stderr } = await check({}, join(folder, 'none'))
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'error: no .harn files found under the given target(s)\n' })
  })

  test('JSON has positions, hints and repairs', async () => {
    const path = writeScript('json.harn', 'println("n: " + 1)\n')
    const { code, stdout } = await check({ json: true }, path)
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toEqual([
      {
        path,
        rule: null,
        code: 'T001',
        severity: 'error',
        message: "can't add string and int",
        line: 1,
        column: 9,
        endLine: 1,
        endColumn: 18,
        hint: expect.any(String) as unknown,
        related: [],
        fix: {
          title: 'use string interpolation',
          edits: [{ line: 1, column: 9, endLine: 1, endColumn: 18, text: '"n: ${1}"' }],
        },
      },
    ])
  })

  test('--fix repairs and reports it', async () => {
    const path = writeScript('check_fix.harn', 'println("n: " + 1)\n')
    expect(await check({ fix: true }, path)).toEqual({
      code: 0,
      stdout: `${path}: applied 1 fix(es)\n${path}: ok\n`,
      stderr: '',
    })
  })

  test('--strict fails for warnings and requires validated values', async () => {
    const path = writeScript('strict.harn', 'fn _f() {\n  let data = json_parse("{}")\n  println(data.a)\n}\n')
    expect((await check({}, path)).code).toBe(0)
    const { code, stderr } = await check({ strict: true }, path)
    expect(code).toBe(1)
    expect(stderr).toContain('unvalidated value')
  })

  test('preflight can be a warning or off', async () => {
    const path = writeScript('pre.harn', 'host_call("no.such", {})\n')
    expect((await check({}, path)).code).toBe(1)
    expect((await check({ preflight: 'warning' }, path)).code).toBe(0)
    expect(await check({ preflight: 'off' }, path)).toMatchObject({ code: 0, stderr: '' })
    const capabilities = writeScript('host.json', '{"capabilities": {"no": {"operations": ["such"]}}}')
    expect(await check({ hostCapabilities: capabilities }, path)).toMatchObject({ code: 0, stderr: '' })
  })

  test('a module that does not parse is reported in its own file', async () => {
    const broken = writeScript('broken/lib.harn', 'fn broken( {\n')
    const path = writeScript('broken/main.harn', 'import "./lib"\n')
    const { code, stderr } = await check({ preflight: 'off' }, path)
    expect(code).toBe(1)
    expect(stderr).toContain('expected parameter name, found {')
    expect(stderr).toContain(broken)
  })

  test('a name that is re-exported twice is reported with its modules, direct or not', async () => {
    const one = writeScript('twice/one.harn', 'pub fn q() { return 1 }\n\npub struct T {\n  a: int\n}\n')
    const two = writeScript('twice/two.harn', 'pub import "./one"\n')
    const listConflicts = async (name: string, text: string): Promise<readonly string[]> => {
      const { stderr } = await check({}, writeScript(`twice/${name}.harn`, text))
      return stderr.split('\n').filter((line) => line.includes('re-export conflict'))
    }
    const formatConflict = (name: string, ...sources: string[]): string =>
      `error: preflight: re-export conflict — '${name}' is re-exported (or locally defined) by multiple sources: ${sources.join(', ')}`
    expect(await listConflicts('both', 'pub import "./one"\npub import "./two"\n')).toEqual([
      formatConflict('T', one, two),
      formatConflict('q', one, two),
    ])
    const own = join(folder, 'twice/own.harn')
    expect(await listConflicts('own', 'pub import { q } from "./one"\n\nfn q() { return 2 }\n')).toEqual([
      formatConflict('q', one, own),
    ])
    expect(await listConflicts('same', 'pub import { q } from "./one"\npub import { q } from "../twice/one"\n')).toEqual([])
  })

  test('--workspace', async () => {
    writeScript('space/harn.toml', '[workspace]\npipelines = ["flows"]\n')
    writeScript('space/flows/a.harn', 'println(1)\n')
    const { code, stdout } = await check({ workspace: true }, join(folder, 'space'))
    expect({ code, stdout }).toMatchObject({ code: 0 })
    expect(stdout).toContain('a.harn: ok\n')
    const { stderr } = await check({})
    expect(stderr).toContain('requires at least one target path')
  })
})

describe('bridle explain --invariant', () => {
  const text = '@invariant("fs.writes", "out/**")\nfn save(path) {\n  if path { return 1 }\n  write_file("a", "b")\n}\n'

  test('prints the steps', async () => {
    const path = writeScript('promise.harn', text)
    expect((await explain('writes', 'save', path)).stdout).toBe(
      [
        'fs.writes: write path `a` is outside the allowed glob(s): out/** (save)',
        `  1. ${path}:2:1 enter handler`,
        `  2. ${path}:3:3 if condition`,
        `  3. ${path}:3:3 if false`,
        `  4. ${path}:4:3 call write_file`,
        '  help: use a literal path that matches the declared glob, or narrow the dynamic path before writing',
        '',
      ].join('\n'),
    )
  })

  test('kept promises, unknown handlers, undeclared invariants', async () => {
    const path = writeScript('kept.harn', text.replace('"a"', '"out/a"'))
    expect((await explain('fs.writes', 'save', path)).stdout).toBe(`No \`fs.writes\` violations found for \`save\` in ${path}.\n`)
    expect((await explain('fs.writes', 'nobody', path)).stderr).toContain('handler `nobody` was not found')
    expect((await explain('budget', 'save', path)).stderr).toContain('does not declare `@invariant("budget")`')
  })
})

// `bridle init`, `--watch`, `--junit`, `primer` and `completions`: their output, and a watching process.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath, URL } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bundledCommand } from '../../../scripts/bundled-command.js'
import type { Command } from 'commander'
import { describeProgram } from '../src/program.js'
import { runInProcess } from './in-process.js'
import type { Ended } from './in-process.js'

let command: { readonly path: string; readonly folder: string }
const packages = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bridle-projects-'))
let project = ''
let projects = 0

beforeAll(async () => {
  command = await bundledCommand()
})
beforeEach(() => {
  project = join(folder, `project ${projects++}`)
  mkdirSync(project)
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
  rmSync(command.folder, { recursive: true, force: true })
})

const runBridle = (...words: readonly string[]): Promise<Ended> => runInProcess(project, words)

describe('init', () => {
  test('--agent writes instructions for coding assistants, alone or with a project', async () => {
    expect(await runBridle('init', '--agent')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^wrote AGENTS\.md, CLAUDE\.md/),
    })
    const guide = readFileSync(join(project, 'AGENTS.md'), 'utf8')
    expect(guide).toContain('Scripts in Harn')
    expect(guide).toContain('bridle check --strict')
    expect(readFileSync(join(project, 'CLAUDE.md'), 'utf8')).toBe('@AGENTS.md\n')
    expect(await runBridle('init', '--agent')).toMatchObject({ code: 1, stderr: expect.stringContaining('AGENTS.md') })
    expect((await runBridle('init', 'script', 'inner', '--agent', '--json')).stdout).toContain('"AGENTS.md"')
    expect(readFileSync(join(project, 'inner', 'AGENTS.md'), 'utf8')).toContain('npm test')
  })

  test.each(['script', 'agent'])('%s: it checks, is formatted, and its test passes', async (kind) => {
    expect(await runBridle('init', kind)).toMatchObject({ code: 0, stdout: expect.stringContaining('npm test') })
    expect(await runBridle('check', '--strict', '.')).toMatchObject({ code: 0 })
    expect(await runBridle('lint', '.')).toMatchObject({ code: 0 })
    expect(await runBridle('fmt', '--check', '.')).toMatchObject({ code: 0, stderr: '' })
    expect(await runBridle('test', 'tests')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/[1-9] passed, [1-9] total/),
    })
    expect(JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))).toMatchObject({
      scripts: { test: 'bridle test tests' },
    })
  })

  test('script: it runs', async () => {
    await runBridle('init', 'script')
    expect(await runBridle('run', 'main.harn')).toEqual({ code: 0, stdout: 'agent: 1\nscript: 1\ntool: 3\n', stderr: '' })
  })

  test('embed: it runs, and its test passes', async () => {
    await runBridle('init', 'embed')
    mkdirSync(join(project, 'node_modules', '@bridle'), { recursive: true })
    const library = join(packages, 'stdlib-tools')
    symlinkSync(library, join(project, 'node_modules', '@bridle', 'stdlib-tools'), 'junction')
    symlinkSync(join(library, 'node_modules', 'zod'), join(project, 'node_modules', 'zod'), 'junction')
    const runNode = (...words: string[]) => spawnSync(process.execPath, words, { cwd: project, encoding: 'utf8' })
    expect(runNode('main.js')).toMatchObject({ status: 0, stdout: '770\n' })
    expect(runNode('--test')).toMatchObject({ status: 0 })
  })

  test('gateway: it checks, is formatted, and its test reaches the server behind it', async () => {
    await runBridle('init', 'gateway')
    expect(await runBridle('check', '--strict', '.')).toMatchObject({ code: 0 })
    expect(await runBridle('fmt', '--check', '.')).toMatchObject({ code: 0, stderr: '' })
    // `npm test` finds an installed command.
    const programs = join(project, 'node_modules', '.bin')
    mkdirSync(programs, { recursive: true })
    writeFileSync(join(programs, 'bridle'), `#!/bin/sh\nexec '${process.execPath}' '${command.path}' "$@"\n`, { mode: 0o755 })
    writeFileSync(join(programs, 'bridle.cmd'), `@"${process.execPath}" "${command.path}" %*\r\n`)
    const tested = spawnSync(process.execPath, [command.path, 'test', 'tests'], {
      cwd: project,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${programs}${delimiter}${process.env['PATH']}` },
    })
    expect(tested).toMatchObject({ status: 0, stdout: expect.stringContaining('2 passed, 2 total') })
  })

  test('existing files stay unchanged', async () => {
    writeFileSync(join(project, 'main.harn'), 'println("mine")\n')
    expect(await runBridle('init', 'script')).toMatchObject({ code: 1, stderr: expect.stringContaining('main.harn is in') })
    expect(readFileSync(join(project, 'main.harn'), 'utf8')).toBe('println("mine")\n')
    expect(existsSync(join(project, 'package.json'))).toBe(false)
  })

  test.each([
    [['init'], 'name what to write'],
    [['init', 'scrpt'], 'did you mean script?'],
  ])('%j is refused', async (words, said) => {
    expect(await runBridle(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) })
  })
})

describe('test --junit', () => {
  test('passes and failures, with output', async () => {
    writeFileSync(
      join(project, 'a.harn'),
      'pipeline test_right() {\n  println("<&> \\u{1b}")\n}\n\npipeline test_wrong() {\n  assert_eq(1, 2, "a \\"b\\"")\n}\n',
    )
    expect((await runBridle('test', '--junit', 'out.xml', 'a.harn')).code).toBe(1)
    const report = readFileSync(join(project, 'out.xml'), 'utf8').replaceAll(/ time="[\d.]+"/g, '')
    expect(report).toContain('<testsuites tests="2" failures="1" errors="0" name="bridle test">')
    expect(report).toContain(
      '<testcase name="test_right" classname="a.harn">\n      <system-out>&lt;&amp;&gt; \\u{1b}\n</system-out>',
    )
    expect(report).toMatch(/<testcase name="test_wrong" classname="a.harn">\n {6}<failure message="[^"]*&quot;b&quot;[^"]*">/)
  })

  test('an unwritable report is an error', async () => {
    writeFileSync(join(project, 'a.harn'), 'pipeline test_right() {\n  assert(true)\n}\n')
    expect(await runBridle('test', '--junit', 'none/out.xml', 'a.harn')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot write none/out.xml'),
    })
  })
})

describe('--watch', () => {
  test('a changed script runs again, and a signal ends it all', async () => {
    const script = join(project, 'main.harn')
    writeFileSync(script, 'println("first")\n')
    const child = spawn(process.execPath, [command.path, 'run', '--watch', script], { cwd: project, stdio: 'pipe' })
    let output = ''
    let complaints = ''
    child.stderr.on('data', (chunk) => {
      complaints += chunk
      // After the first run has ended; before that the file may not be watched yet.
      if (complaints.includes('waiting for a change') && !output.includes('second')) writeFileSync(script, 'println("second")\n')
    })
    child.stdout.on('data', (chunk) => {
      output += chunk
      if (output.includes('second')) child.kill('SIGTERM')
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect(output).toMatch(/^first\n(second\n)+$/)
    expect(code).toBe(143)
  })

  test('source that is not a file cannot be watched', async () => {
    expect(await runBridle('run', '--watch', '-e', 'println(1)')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--watch'),
    })
    expect(await runBridle('run', '--watch', 'none.harn')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('none.harn'),
    })
  })
})

describe('primer', () => {
  test('the language, and tools of a file', async () => {
    expect(await runBridle('primer')).toMatchObject({ code: 0, stdout: expect.stringContaining('# Scripts in Harn') })
    writeFileSync(
      join(project, 'tools.json'),
      '[{"name": "shop.price", "parameters": {"type": "object", "properties": {"article": {"type": "string"}}}}]',
    )
    expect((await runBridle('primer', '--tools', 'tools.json')).stdout).toContain('shop.price({article?: string})')
    expect(await runBridle('primer', '--tools', 'none.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('none.json'),
    })
  })
})

describe('completions', () => {
  test.each(['bash', 'zsh', 'fish'])('%s: every command is there', async (shell) => {
    const { code, stdout } = await runBridle('completions', shell)
    expect(code).toBe(0)
    for (const word of ['run', 'check', 'conformance', 'simulate', 'lock']) expect(stdout).toContain(word)
  })

  test('another shell is refused', async () => {
    expect(await runBridle('completions', 'tcsh')).toMatchObject({ code: 2, stderr: expect.stringContaining('bash, zsh, fish') })
  })

  test('every command and flag, in each shell', async () => {
    const [bash, zsh, fish] = await Promise.all(
      ['bash', 'zsh', 'fish'].map(async (shell) => (await runBridle('completions', shell)).stdout),
    )
    const walk = (command: Command, path: string): void => {
      const own = (text: string): string => text.split('\n').find((line) => line.includes(`'${path}') `)) ?? ''
      for (const { long, hidden } of command.options) {
        if (hidden || long === undefined || long === null) continue
        expect(own(bash!.slice(bash!.indexOf('case "$place" in'))), `bash ${path}`).toContain(long)
        expect(own(zsh!.slice(zsh!.indexOf('case "$place" in'))), `zsh ${path}`).toContain(`'${long}:`)
        expect(fish, `fish ${path}`).toContain(` -l ${long.slice(2)}`)
      }
      for (const each of command.commands) walk(each, `${path} ${each.name()}`.trim())
    }
    walk(describeProgram(), '')
  })

  const hasBash = spawnSync('bash', ['--version']).status === 0
  test.skipIf(!hasBash).each([
    ['bridle che', ['check']],
    ['bridle tools de', ['describe']],
    ['bridle run --dry', ['--dry-run']],
    ['bridle conformance --mode sna', ['snapshot']],
    ['bridle init em', ['embed']],
    ['bridle completions z', ['zsh']],
    ['bridle explain tool_rej', ['tool_rejected']],
    ['bridle tools li', ['list']],
  ])('bash completes %j', async (line, wanted) => {
    writeFileSync(join(project, 'completions'), (await runBridle('completions', 'bash')).stdout)
    const words = line.split(' ').map((word) => `'${word}'`)
    const text = `source ./completions; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _bridle; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', text], { cwd: project, encoding: 'utf8' })
    expect({ found: stdout.trim().split('\n'), stderr }).toEqual({ found: wanted, stderr: '' })
  })
})

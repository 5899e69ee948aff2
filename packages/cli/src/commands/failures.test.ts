// What commands report when they fail: exit codes, the single document of --json, misspelt names, and text from outside.

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { begin } from '../begin.js'
import { toOneLine, toPrintable } from '../printable.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-failures-')))
const writeScript = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
beforeAll(() => {
  writeScript('broken.harn', 'let x = \n')
  writeScript('fine.harn', 'println(1)\n')
  writeScript('fine_test.harn', 'pipeline test_addition(task) { }\npipeline test_reading(task) { read_file("/etc/hosts") }\n')
  writeScript('noise.jsonl', 'noise\nnoise\n')
  writeScript('unknown-name.harn', 'nope_at_all(1)\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function runBridle(...words: readonly string[]): Promise<Said> {
  let [out, err] = ['', '']
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => ((out += String(chunk)), true))
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => ((err += String(chunk)), true))
  const before = process.exitCode
  try {
    await begin(words)
    return { code: Number(process.exitCode), out, err }
  } finally {
    process.exitCode = before
    stdout.mockRestore()
    stderr.mockRestore()
  }
}

describe('--json prints one document, also for a failure', () => {
  const MISSING = 'no-such-file.harn'
  test.each<[string, readonly string[], number, object]>([
    ['run, no file', ['run', MISSING], 2, { code: 'unreadable_file', file: MISSING }],
    ['run, what does not compile', ['run', '$/broken.harn'], 1, { file: '$/broken.harn', line: 2 }],
    ['run, an unknown name', ['run', '$/unknown-name.harn'], 1, { line: 1, column: 1 }],
    ['run, an unknown option', ['run', '--nope'], 2, { code: 'usage' }],
    ['run, no script', ['run'], 2, { code: 'usage' }],
    ['run, an unknown builtin', ['run', '--deny', 'read_fle', '$/fine.harn'], 2, { code: 'usage' }],
    ['run, no lock file', ['run', '--locked', '--lock-file', '$/no.lock', '$/fine.harn'], 2, { code: 'unreadable_file' }],
    ['run, no input', ['run', '--input', '@$/no.json', '$/fine.harn'], 2, { code: 'unreadable_file' }],
    ['check, no file', ['check', MISSING], 2, { code: 'unreadable_file' }],
    ['lint, no file', ['lint', MISSING], 2, { code: 'unreadable_file' }],
    ['check --effects, no file', ['check', '--effects', MISSING], 2, { code: 'unreadable_file' }],
    ['snapshot, no file', ['snapshot', '-o', '$/x.snap', MISSING], 2, { code: 'unreadable_file' }],
    ['snapshot, what does not compile', ['snapshot', '-o', '$/x.snap', '$/broken.harn'], 1, { line: 2 }],
    ['resume, no file', ['resume', MISSING], 2, { code: 'unreadable_file' }],
    ['resume, noise', ['resume', '$/noise.jsonl'], 1, { code: 'failed' }],
    ['replay, no file', ['replay', MISSING], 2, { code: 'unreadable_file' }],
    ['replay, noise', ['replay', '$/noise.jsonl'], 1, { code: 'failed' }],
    ['test, no folder', ['test', MISSING], 2, { code: 'unreadable_file' }],
    ['test, no match', ['test', '$/fine_test.harn', '--filter', 'zzz'], 2, { code: 'usage' }],
    ['conformance, no folder', ['conformance', MISSING], 2, { code: 'unreadable_file' }],
    ['simulate, no file', ['simulate', MISSING], 2, { code: 'unreadable_file' }],
    ['simulate, what does not compile', ['simulate', '$/broken.harn'], 1, { line: 2 }],
    ['tools list, no file', ['tools', 'list', MISSING], 2, { code: 'unreadable_file' }],
    ['tools list, what does not compile', ['tools', 'list', '$/broken.harn'], 1, { code: 'failed' }],
    ['tools describe, no tool', ['tools', 'describe', 'nope'], 1, { code: 'failed' }],
    ['tools call, what does not compile', ['tools', 'call', 'x', '$/broken.harn'], 1, { line: 2 }],
    ['tools diff, no lock', ['tools', 'diff', '--lock-file', '$/no.lock'], 2, { code: 'unreadable_file' }],
    ['trace show, no file', ['trace', 'show', '$/no.jsonl'], 2, { code: 'unreadable_file' }],
    ['an unknown command', ['frobnicate'], 2, { code: 'usage' }],
  ])('%s', async (_, words, code, error) => {
    const replaceOwn = (text: string): string => text.replaceAll('$', folder)
    const ended = await runBridle(...words.map(replaceOwn), '--json')
    const document = JSON.parse(ended.out) as { readonly error: object; readonly errors: readonly object[] }
    expect(ended.code).toBe(code)
    expect(document).toMatchObject({
      status: 'failed',
      exit_code: code,
      error: JSON.parse(replaceOwn(JSON.stringify(error))) as object,
    })
    expect(document.error).toMatchObject({ message: expect.stringMatching(/\S/) as string })
    expect(document.errors.length).toBeGreaterThan(0)
    expect(ended.err).toBe('')
  })

  test('arguments after -- belong to the script', async () => {
    expect(await runBridle('run', '$/no.harn', '--', '--json')).toMatchObject({ code: 2, out: '' })
  })
})

describe('a misspelt name neither grants nor denies', () => {
  test.each<[readonly string[], RegExp]>([
    [['--allow', 'nope'], /--allow nope: there is no builtin of that name; `bridle builtins` lists them/],
    [['--allow', 'read_fil'], /did you mean read_file\?/],
    [['--deny', 'read_file,exce'], /--deny exce: there is no builtin of that name; did you mean exec\?/],
    [['--grant', 'nope'], /--grant nope: unknown power/],
    [['--grant', 'fs.raed'], /--grant fs\.raed: unknown power; did you mean fs\.read\?/],
    [['--grant', 'htp'], /did you mean http\?/],
    [['--grant', 'http.get:domian=x.example'], /no constraint or argument "domian"; did you mean domain\?/],
    [['--grant', 'fs:pth=/tmp'], /no constraint or argument "pth"; did you mean path\?/],
    [['--grant', '*:max_cals=1'], /"max_cals"; did you mean max_calls\?/],
    [['--grant', 'fs:path'], /not of the form key=value/],
  ])('%j', async (flags, message) => {
    const ended = await runBridle('run', ...flags, join(folder, 'fine.harn'))
    expect(ended).toMatchObject({ code: 2, out: '' })
    expect(ended.err).toMatch(message)
  })

  describe.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'])('%s is an ordinary name', (name) => {
    test.each<[readonly string[], RegExp]>([
      [['--grant', name], /unknown power/],
      [['--grant', `${name}.read`], /unknown power/],
      [['--grant', `fs.${name}`], /unknown power/],
      [['--grant', `fs.read:${name}=1`], /no constraint or argument/],
      [['--allow', name], /no builtin of that name/],
      [['--deny', name], /no builtin of that name/],
    ])('run %j', async (flags, message) => {
      const ended = await runBridle('run', ...flags, join(folder, 'fine.harn'))
      expect(ended).toMatchObject({ code: 2, out: '' })
      expect(ended.err).toMatch(message)
    })

    test.each<readonly [string, number, RegExp]>([
      [`${name}`, 2, /unknown command/],
      [`explain ${name}`, 1, /no code|unknown|not a code/i],
      [`builtins ${name}`, 1, /no builtin/],
      [`tools describe ${name}`, 1, /there is no tool/],
      [`tools call ${name} $/fine.harn`, 1, /no tool|not_registered|unknown/i],
      [`tools ${name}`, 2, /unknown command/],
      [`run --${name} $/fine.harn`, 2, /unknown option/],
      [`conformance --mode ${name} $`, 2, /mode/],
      [`simulate --faults ${name} $/fine.harn`, 2, /faults|unknown/],
      [`mcp login ${name}`, 2, /server/],
      [`serve ${name}`, 2, /cannot read/],
      [`run --trace-detail ${name} $/fine.harn`, 2, /unknown option|Allowed choices|invalid/],
    ])('%s', async (words, code, message) => {
      const ended = await runBridle(...words.split(' ').map((word) => word.replace('$', folder)))
      expect(ended.err).toMatch(message)
      expect(ended.code).toBe(code)
    })
  })

  test.each([
    ['--allow', 'read_file,exec'],
    ['--grant', 'fs.read'],
    ['--grant', 'fs.*'],
    ['--grant', 'mcp.github'],
    ['--grant', 'process.exec:program=echo'],
    ['--grant', 'http.get:domain=*.example.com,timeout_ms=5000,max_calls=2'],
    ['--grant', 'llm.chat:model=x,max_tokens=10'],
    ['--grant', 'approval'],
  ])('%s %s is known', async (option, value) => {
    expect(await runBridle('run', option, value, join(folder, 'fine.harn'))).toMatchObject({ code: 0, out: '1\n' })
  })
})

describe('every command that runs scripts takes the flags', () => {
  const COMMANDS = [
    ['run'],
    ['replay'],
    ['snapshot'],
    ['resume'],
    ['repl'],
    ['serve', 'mcp'],
    ['serve', 'acp'],
    ['test'],
    ['simulate'],
    ['tools', 'list'],
    ['tools', 'describe'],
    ['tools', 'call'],
    ['tools', 'lock'],
    ['tools', 'diff'],
  ]
  test.each(COMMANDS.map((words) => [words.join(' '), words] as const))('%s', async (_, words) => {
    const { out } = await runBridle(...words, '--help')
    for (const flag of ['--allow', '--deny', '--grant', '--root', '--sandbox']) expect(out).toContain(flag)
  })

  test('they apply to test pipelines', async () => {
    const path = join(folder, 'fine_test.harn')
    expect(await runBridle('test', path)).toMatchObject({ code: 0 })
    const held = await runBridle('test', '--sandbox', path)
    expect(held.code).toBe(1)
    expect(held.out).toContain('fs.read is not granted')
  })

  test('a filter that selects nothing reports the number of tests and near names', async () => {
    const { err } = await runBridle('test', join(folder, 'fine_test.harn'), '--filter', 'test_adition')
    expect(err).toBe(
      'error: --filter test_adition does not select any of the 2 tests that were found; did you mean test_addition?\n',
    )
  })
})

describe('programs named by a manifest', () => {
  const project = join(folder, 'project')
  const proof = join(folder, 'started')
  const script = join(project, 'main.harn')
  beforeAll(() => {
    mkdirSync(project)
    writeFileSync(script, 'println("ran")\npub fn one() { return 1 }\n')
    // Not a server: the file that it leaves behind shows that it was started.
    writeFileSync(
      join(project, 'harn.toml'),
      `[[mcp]]\nname = "evil"\ncommand = "touch"\nargs = [${JSON.stringify(proof)}]\nlazy = false\n`,
    )
    writeFileSync(
      join(project, 'tools.lock.json'),
      JSON.stringify({ format: 3, tools: { 'mcp:evil/x': { schema: 'h', description: 'd', hints: 'a' } } }),
    )
  })

  test.each<[string, readonly string[]]>([
    ['run --root', ['run', '--root', project, script]],
    ['run --sandbox', ['run', '--sandbox', script]],
    ['run with another grant', ['run', '--grant', 'fs', script]],
    ['run with a grant of servers elsewhere', ['run', '--root', project, '--grant', 'mcp:domain=*.example.com', script]],
    ['a locked run', ['run', '--root', project, '--locked', '--lock-file', join(project, 'tools.lock.json'), script]],
    ['snapshot', ['snapshot', '--sandbox', '-o', join(folder, 'mcp.snap'), script]],
    ['simulate', ['simulate', '--sandbox', '--seeds', '1', '--faults', 'none', script]],
    ['tools list', ['tools', 'list', '--sandbox', script]],
    ['tools describe', ['tools', 'describe', '--root', project, 'evil.x', script]],
    ['tools lock', ['tools', 'lock', '--root', project, '--lock-file', join(folder, 'out.json'), script]],
    ['tools diff', ['tools', 'diff', '--root', project, '--lock-file', join(project, 'tools.lock.json'), script]],
    ['tools call', ['tools', 'call', '--sandbox', 'evil.x', script]],
    ['test', ['test', '--sandbox', project]],
  ])('%s starts none of them', async (_, words) => {
    await runBridle(...words)
    const isStarted = existsSync(proof)
    rmSync(proof, { force: true })
    expect(isStarted).toBe(false)
  })

  test('they are started with a grant', async () => {
    await runBridle('tools', 'list', '--root', project, '--grant', 'mcp', script)
    expect(existsSync(proof)).toBe(true)
    rmSync(proof)
  })
})

describe('text from outside', () => {
  test.each([
    ['\u001b[2J\u001b]0;title\u0007red', '␛[2J␛]0;title␇red'],
    ['a\u009b31mb\u007f', 'a\ufffd31mb␡'],
    ['a\rb\r\nc\td\n', 'a␍b\r\nc\td\n'],
    ['abc\u202etxt.exe\u2066', 'abc\ufffdtxt.exe\ufffd'],
    ['ñandú 日本 👍', 'ñandú 日本 👍'],
  ])('%j is shown as %j', (text, shown) => {
    expect(toPrintable(text)).toBe(shown)
    expect(toPrintable(text)).toHaveLength(text.length)
  })

  test('single-line output has no line breaks', () => {
    expect(toOneLine('a\r\nb')).toBe('a␍␊b')
  })

  test.each<[string, string]>([
    ['of what is thrown', 'throw "\u001b[31mred"'],
    ['in the excerpt of an error', 'let x = 1 // \u001b[2J\nlet y: int = "x" // \u001b[31m'],
    ['in the excerpt of a fault', 'let x = nil // \u001b[31m\nx.y.z() // \u001b[31m'],
    ['of a Result.Err', 'pipeline main() { return Err("\u001b[31mred") }'],
  ])('an error has no control characters: %s', async (_, text) => {
    const { code, err } = await runBridle('run', '-e', text)
    expect(code).toBe(1)
    expect(err).toContain('␛')
    // eslint-disable-next-line no-control-regex
    expect(err).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
  })

  test('neither names nor descriptions of tools contain them', async () => {
    const path = writeScript(
      'names.harn',
      'tool_define(tool_registry(), "x\u001b[2Jy", "d\u001b[31m\u009b31m", {parameters: {}, handler: { a -> 1 }})\n',
    )
    for (const words of [
      ['list', path],
      ['list', path, '--json'],
    ]) {
      const { out } = await runBridle('tools', ...words)
      expect(out).toContain('2Jy')
      // eslint-disable-next-line no-control-regex
      expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
    }
  })

  test('the output of a script is unchanged', async () => {
    expect((await runBridle('run', '-e', 'print("\u001b[31mred")', '--fuel', '1000', '--deny', 'exec')).out).toBe('\u001b[31mred')
  })
})

describe('--limit', () => {
  const folderOf = (name: string): string => join(folder, name)

  test.each([
    ['run', 'fine.harn'],
    ['snapshot', '-o', folderOf('x.snap'), 'fine.harn'],
    ['simulate', '--seeds', '1', 'fine.harn'],
    ['test', 'fine_test.harn'],
    ['serve', 'mcp', 'fine.harn'],
    ['serve', 'acp', 'fine.harn'],
    ['tools', 'call', 'x', 'fine.harn', '{}'],
  ])('holds for the compiling of `%s %s`', async (...words) => {
    const named = words.map((word) => (word.endsWith('.harn') ? folderOf(word) : word))
    const { code, out, err } = await runBridle(...named, '--limit', 'compile.tokens=2')
    expect(`${out}${err}`).toContain('the limit is 2')
    expect(code).not.toBe(0)
  })

  test.each([['run'], ['simulate'], ['test'], ['serve', 'mcp'], ['serve', 'acp'], ['repl'], ['replay']])(
    'a name that is none is refused by `%s`',
    async (...words) => {
      const journal = folderOf('limits.jsonl')
      await runBridle('run', folderOf('fine.harn'), '--record', journal)
      const given = words[0] === 'repl' ? [] : [words[0] === 'replay' ? journal : folderOf('fine.harn')]
      const { code, err } = await runBridle(...words, ...given, '--limit', 'compile.token=2')
      expect(err).toContain('did you mean compile.tokens?')
      expect(code).toBe(2)
    },
  )
})

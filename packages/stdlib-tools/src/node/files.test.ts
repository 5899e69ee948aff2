import { effectOfData } from '../test-support/effect-of-data.js'
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EffectArgs, EffectOutcome, Plain } from '@bridle/vm'
import { MemoryFs } from '../host/providers/memory.js'
import { makeEffectCall } from '../test-support/effect-call.js'
import { fsProvider } from './fs.js'
import { fileModules } from './resolver.js'
import { FileSandbox, SandboxViolation } from './sandbox.js'
import type { FileAccess, SandboxOptions } from './sandbox.js'
import { fileStore } from './store.js'
import { makeFolders } from './whole-file.js'
import { Workspace } from './workspace.js'

let box: string
let root: string

beforeEach(() => {
  box = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-fs-')))
  root = join(box, 'w')
  mkdirSync(join(root, 'dir'), { recursive: true })
  mkdirSync(join(box, 'other'))
  mkdirSync(join(box, 'wfoo'))
  writeFileSync(join(root, 'a.txt'), 'hello')
  writeFileSync(join(box, 'secret.txt'), 'secret')
  writeFileSync(join(box, 'wfoo', 'x'), 'x')
  symlinkSync(join(box, 'secret.txt'), join(root, 'link'))
  symlinkSync(join(box, 'other'), join(root, 'dirlink'))
  symlinkSync(join(box, 'other', 'nothing'), join(root, 'dangling'))
  symlinkSync('a.txt', join(root, 'inner'))
  symlinkSync('loop', join(root, 'loop'))
})

afterEach(() => rmSync(box, { recursive: true }))

const call = makeEffectCall()

/** An attacker who replaces a part of the path right after it was judged. */
class SwappingSandbox extends FileSandbox {
  swap: () => void = () => {}
  /** Before the opened thing is compared with the judged one. */
  swapBack: () => void = () => {}

  override recheck(...given: Parameters<FileSandbox['recheck']>): void {
    this.swapBack()
    super.recheck(...given)
  }

  override resolve(...given: Parameters<FileSandbox['resolve']>): string {
    const judged = super.resolve(...given)
    this.swap()
    return judged
  }
}

describe('between judging a path and opening it', () => {
  const perform = (swap: () => void, op: 'read' | 'write'): EffectOutcome => {
    const sandbox = new SwappingSandbox({ roots: [root] })
    const provider = fsProvider(new Workspace({ root, sandbox, env: {} }))
    sandbox.swap = swap
    const effect =
      op === 'read'
        ? ({ kind: 'fs.read', args: { path: 'dir/secret.txt', encoding: 'utf8' } } as const)
        : ({ kind: 'fs.write', args: { op: 'write', path: 'dir/secret.txt', data: 'changed' } } as const)
    return provider.perform(effect, call) as EffectOutcome
  }
  const exchangeFile = (): void => {
    rmSync(join(root, 'dir', 'secret.txt'), { force: true })
    symlinkSync(join(box, 'secret.txt'), join(root, 'dir', 'secret.txt'))
  }
  const exchangeFolder = (): void => {
    rmSync(join(root, 'dir'), { recursive: true })
    symlinkSync(box, join(root, 'dir'))
  }

  test.each([
    ['the file', 'read', exchangeFile],
    ['the file', 'write', exchangeFile],
    ['a folder above it', 'read', exchangeFolder],
    ['a folder above it', 'write', exchangeFolder],
  ] as const)('%s becomes a link that leads out: %s is refused', (_what, op, swap) => {
    writeFileSync(join(root, 'dir', 'secret.txt'), 'mine')
    const outcome = perform(swap, op)
    expect(JSON.stringify(outcome)).not.toContain('"secret"')
    expect(outcome.ok && (outcome.value as { refused?: boolean }).refused !== true).toBe(false)
    expect(readFileSync(join(box, 'secret.txt'), 'utf8')).toBe('secret')
  })
})

describe('between judging a path and using it', () => {
  /** Outside, with the names that the folder inside has. */
  let outside: string

  beforeEach(() => {
    outside = join(box, 'other')
    for (const folder of [outside, join(root, 'dir')]) {
      mkdirSync(join(folder, 'sub'), { recursive: true })
      writeFileSync(join(folder, 'file'), folder === outside ? 'outside' : 'inside')
      writeFileSync(join(folder, 'sub', 'deep'), folder === outside ? 'outside' : 'inside')
    }
  })

  const takeSnapshot = (folder: string): unknown =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => [name, statSync(join(folder, name)).isFile() ? readFileSync(join(folder, name), 'utf8') : null])

  test.each<[string, 'fs.query' | 'fs.write', { readonly [key: string]: Plain }]>([
    ['delete a file', 'fs.write', { op: 'delete', path: 'dir/file' }],
    ['delete a folder', 'fs.write', { op: 'delete', path: 'dir/sub' }],
    ['append', 'fs.write', { op: 'append', path: 'dir/file', data: 'x' }],
    ['write what is new', 'fs.write', { op: 'write', path: 'dir/new', data: 'x' }],
    ['make a folder', 'fs.write', { op: 'mkdir', path: 'dir/new/deeper' }],
    ['copy from', 'fs.write', { op: 'copy', path: 'dir/file', to: 'copy' }],
    ['copy to', 'fs.write', { op: 'copy', path: 'a.txt', to: 'dir/file' }],
    ['move from', 'fs.write', { op: 'move', path: 'dir/file', to: 'moved' }],
    ['move to', 'fs.write', { op: 'move', path: 'a.txt', to: 'dir/file' }],
    ['list', 'fs.query', { op: 'list', path: 'dir' }],
    ['list below', 'fs.query', { op: 'list', path: 'dir/sub' }],
    ['stat', 'fs.query', { op: 'stat', path: 'dir/file' }],
  ])('a folder becomes a link that leads out: %s is refused, and nothing outside has changed', (_what, kind, args) => {
    const sandbox = new SwappingSandbox({ roots: [root] })
    const makeProvider = fsProvider(new Workspace({ root, sandbox, env: {} }))
    let left = 'to' in args ? 2 : 1
    sandbox.swap = () => {
      if (--left !== 0) return
      rmSync(join(root, 'dir'), { recursive: true })
      symlinkSync(outside, join(root, 'dir'))
    }
    const before = takeSnapshot(outside)
    const outcome = makeProvider.perform(effectOfData(kind, args), call) as EffectOutcome
    expect(outcome.ok && (outcome.value as { refused?: boolean }).refused !== true).toBe(false)
    expect(takeSnapshot(outside)).toEqual(before)
    for (const name of ['copy', 'moved']) expect(readdirSync(root)).not.toContain(name)
  })

  test.each<[string, 'fs.read' | 'fs.query' | 'fs.write', { readonly [key: string]: Plain }]>([
    ['read', 'fs.read', { path: 'dir/sub/deep', encoding: 'utf8' }],
    ['write', 'fs.write', { op: 'write', path: 'dir/sub/deep', data: 'x' }],
    ['append', 'fs.write', { op: 'append', path: 'dir/sub/deep', data: 'x' }],
    ['delete a file', 'fs.write', { op: 'delete', path: 'dir/sub/deep' }],
    ['delete a folder', 'fs.write', { op: 'delete', path: 'dir/sub' }],
    ['copy from', 'fs.write', { op: 'copy', path: 'dir/sub/deep', to: 'copy' }],
    ['move from', 'fs.write', { op: 'move', path: 'dir/sub/deep', to: 'moved' }],
    ['list', 'fs.query', { op: 'list', path: 'dir/sub' }],
    ['stat', 'fs.query', { op: 'stat', path: 'dir/sub/deep' }],
  ])(
    'a folder is a link for the moment of opening and itself again when that is looked at: %s is refused',
    (_what, kind, args) => {
      const sandbox = new SwappingSandbox({ roots: [root] })
      const makeProvider = fsProvider(new Workspace({ root, sandbox, env: {} }))
      const [dir, away] = [join(root, 'dir'), join(root, 'away')]
      let isSwapped = false
      sandbox.swap = () => {
        if (isSwapped) return
        isSwapped = true
        renameSync(dir, away)
        symlinkSync(outside, dir)
      }
      sandbox.swapBack = () => {
        if (!existsSync(away)) return
        rmSync(dir)
        renameSync(away, dir)
      }
      const before = takeSnapshot(outside)
      const outcome = makeProvider.perform(effectOfData(kind, args), call) as EffectOutcome
      expect(existsSync(away)).toBe(false)
      expect(outcome.ok && (outcome.value as { refused?: boolean }).refused !== true).toBe(false)
      expect(takeSnapshot(outside)).toEqual(before)
      for (const name of ['copy', 'moved']) expect(readdirSync(root)).not.toContain(name)
    },
  )

  test('a file becomes a link that leads out: the result of stat is not revealed', () => {
    const sandbox = new SwappingSandbox({ roots: [root] })
    const makeProvider = fsProvider(new Workspace({ root, sandbox, env: {} }))
    sandbox.swap = () => {
      rmSync(join(root, 'dir', 'file'))
      symlinkSync(join(outside, 'file'), join(root, 'dir', 'file'))
    }
    expect(makeProvider.perform({ kind: 'fs.query', args: { op: 'stat', path: 'dir/file' } }, call)).toMatchObject({ ok: false })
  })
})

describe('sandbox', () => {
  const catchViolation = (path: string, options: Partial<SandboxOptions> = {}, access: FileAccess = 'write'): string => {
    try {
      new FileSandbox({ roots: [root], ...options }).resolve(path, access, root, access === 'delete')
      return 'ok'
    } catch (cause) {
      return cause instanceof SandboxViolation ? cause.type : String(cause)
    }
  }

  test.each<[string, () => string, string]>([
    ['up and down again', () => catchViolation('dir/../b.txt'), 'ok'],
    ['a new file', () => catchViolation('dir/new/deep.txt'), 'ok'],
    ['the root itself', () => catchViolation('.'), 'ok'],
    ['an absolute path inside', () => catchViolation(join(root, 'a.txt')), 'ok'],
    ['above the root', () => catchViolation('../x'), 'path_traversal'],
    ['a sibling whose name begins alike', () => catchViolation(join(box, 'wfoo', 'x')), 'file_access'],
    ['an absolute path elsewhere', () => catchViolation('/etc/passwd'), 'file_access'],
    ['a link that leads out', () => catchViolation('link'), 'symlink_denied'],
    ['a new file behind a link that leads out', () => catchViolation('dirlink/new.txt'), 'symlink_denied'],
    ['a link to a file that does not exist yet, outside', () => catchViolation('dangling'), 'symlink_denied'],
    ['a link that leads to itself', () => catchViolation('loop'), 'symlink_denied'],
    ['a link that stays inside', () => catchViolation('inner'), 'ok'],
    ['a link that stays inside, when links are denied', () => catchViolation('inner', { symlinks: 'deny' }), 'symlink_denied'],
    ['encoded traversal', () => catchViolation('a/%2e%2e/%2e%2e/x'), 'path_malformed'],
    ['doubly encoded traversal', () => catchViolation('%252e%252e/x'), 'path_malformed'],
    ['a NUL byte', () => catchViolation('a\0b'), 'path_malformed'],
    ['no path', () => catchViolation(''), 'path_malformed'],
    ['a hidden file where they are not allowed', () => catchViolation('.env', { hidden: false }), 'file_access'],
    ['a denied name', () => catchViolation('dir/key.pem', { deny: ['*.pem'] }), 'file_access'],
    ['a link of another name to a denied one', () => catchViolation('inner', { deny: ['a.txt'] }), 'file_access'],
    ['a link of a denied name to another one', () => catchViolation('inner', { deny: ['inner'] }), 'file_access'],
    ['deleting the root', () => catchViolation('.', {}, 'delete'), 'file_access'],
    ['deleting the root by a way round', () => catchViolation('dir/..', {}, 'delete'), 'file_access'],
    ['deleting the root by its name', () => catchViolation(root, {}, 'delete'), 'file_access'],
    [
      'deleting a folder with a root in it',
      () => catchViolation('dir', { roots: [root, join(root, 'dir', 'sub')] }, 'delete'),
      'file_access',
    ],
    ['deleting a folder', () => catchViolation('dir', {}, 'delete'), 'ok'],
    [
      'a root that is read-only',
      () => catchViolation('a.txt', { roots: [{ path: root, access: ['read', 'list'] }] }),
      'path_traversal',
    ],
    [
      'reading a root that is read-only',
      () => catchViolation('a.txt', { roots: [{ path: root, access: ['read', 'list'] }] }, 'read'),
      'ok',
    ],
  ])('%s', (_, run, expected) => expect(run()).toBe(expected))
})

function makeProvider(sandboxed: boolean, options: Partial<SandboxOptions> = {}) {
  const { perform } = fsProvider(
    new Workspace({ root, sandbox: sandboxed ? new FileSandbox({ roots: [root], ...options }) : undefined }),
  )
  const ask = (kind: 'fs.read' | 'fs.query' | 'fs.write', args: { readonly [key: string]: Plain }): EffectOutcome =>
    perform(effectOfData(kind, args), call) as EffectOutcome
  return ask
}

test('a chain of more links than a system follows is refused, wherever it ends', () => {
  for (let at = 0; at < 50; at++) symlinkSync(at === 49 ? 'nothing' : `chain${at + 1}`, join(root, `chain${at}`))
  expect(() => new FileSandbox({ roots: [root] }).resolve('chain0', 'write', root)).toThrow('a symbolic link leads outside')
  expect(new FileSandbox({ roots: [root] }).resolve('chain30', 'write', root)).toBe(join(root, 'nothing'))
})

test('a walk of a sandbox names links that stay inside, and none that lead out or to denied names', () => {
  const listNamed = (options: Partial<SandboxOptions>): readonly string[] => {
    const walked = makeProvider(true, options)('fs.query', { op: 'walk', path: '.', maxDepth: null, followSymlinks: false })
    const { entries } = (walked as unknown as { readonly value: { readonly entries: readonly { readonly path: string }[] } })
      .value
    return entries.map(({ path }) => path.slice(root.length + 1))
  }
  expect(listNamed({})).toEqual(['', 'a.txt', 'dir', 'inner'])
  expect(listNamed({ deny: ['a.txt'] })).toEqual(['', 'dir'])
})

test.each([
  ['delete', { path: '.' }],
  ['move', { path: '.', to: 'dir/x' }],
  ['move', { path: 'dir/..', to: 'dir/x' }],
])('the root of a sandbox is not taken away: %s %j', (op, args) => {
  const { ok, error } = makeProvider(true)('fs.write', { op, ...args }) as {
    readonly ok: boolean
    readonly error?: { message: string }
  }
  expect(ok).toBe(false)
  expect(error?.message).toBe(`File access violation: delete on '${args.path}' - it is an allowed root, or holds one`)
  expect(existsSync(join(root, 'a.txt'))).toBe(true)
})

describe.each([
  ['confined', true],
  ['free', false],
] as const)('files, %s', (_, sandboxed) => {
  test('read, as text and as bytes', () => {
    const ask = makeProvider(sandboxed)
    expect(ask('fs.read', { path: 'a.txt', encoding: 'utf8' })).toEqual({
      ok: true,
      value: { path: join(root, 'a.txt'), data: 'hello' },
    })
    const bytes = ask('fs.read', { path: 'a.txt', encoding: 'bytes' })
    expect(bytes.ok && [...(bytes.value as { data: Uint8Array }).data]).toEqual([104, 101, 108, 108, 111])
  })

  test('errors of the system keep its message', () => {
    const ask = makeProvider(sandboxed)
    expect(ask('fs.read', { path: 'none', encoding: 'utf8' })).toEqual({
      ok: true,
      value: { refused: true, code: 'ENOENT', detail: 'No such file or directory (os error 2)', path: join(root, 'none') },
    })
    expect(ask('fs.write', { op: 'write', path: 'none/x', data: '' })).toMatchObject({ value: { code: 'ENOENT' } })
    expect(ask('fs.read', { path: 'dir', encoding: 'utf8' })).toMatchObject({ value: { code: 'EISDIR' } })
    writeFileSync(join(root, 'bad'), Buffer.from([0xff, 0xfe]))
    expect(ask('fs.read', { path: 'bad', encoding: 'utf8' })).toMatchObject({
      value: { code: 'EILSEQ', detail: 'stream did not contain valid UTF-8' },
    })
  })

  test('write, append, copy, move, delete', () => {
    const ask = makeProvider(sandboxed)
    ask('fs.write', { op: 'mkdir', path: 'x/y' })
    ask('fs.write', { op: 'write', path: 'x/y/f', data: 'longer' })
    ask('fs.write', { op: 'write', path: 'x/y/f', data: 'one' })
    ask('fs.write', { op: 'append', path: 'x/y/f', data: ' two' })
    ask('fs.write', { op: 'copy', path: 'x/y/f', to: 'x/g' })
    ask('fs.write', { op: 'move', path: 'x/g', to: 'x/h' })
    expect(readFileSync(join(root, 'x/h'), 'utf8')).toBe('one two')
    expect(ask('fs.write', { op: 'delete', path: 'x' })).toEqual({ ok: true, value: { path: join(root, 'x'), isDir: true } })
    expect(ask('fs.query', { op: 'exists', path: 'x' })).toEqual({ ok: true, value: false })
    expect(ask('fs.write', { op: 'delete', path: 'x' })).toMatchObject({ ok: true, value: { refused: true, isDir: false } })
    // The link goes, not what it leads to.
    expect(ask('fs.write', { op: 'delete', path: 'inner' })).toMatchObject({ ok: true, value: { isDir: false } })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('hello')
  })

  test('a copy has the mode of its source', () => {
    const ask = makeProvider(sandboxed)
    chmodSync(join(root, 'a.txt'), 0o640)
    ask('fs.write', { op: 'copy', path: 'a.txt', to: 'dir/b.txt' })
    expect(statSync(join(root, 'dir/b.txt')).mode & 0o777).toBe(0o640)
    expect(ask('fs.write', { op: 'copy', path: 'dir', to: 'x' })).toMatchObject({
      value: { detail: 'the source path is neither a regular file nor a symlink to a regular file' },
    })
    expect(ask('fs.write', { op: 'copy', path: 'a.txt', to: 'a.txt' })).toMatchObject({ ok: true })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('hello')
  })

  test('folders with links in them go without what the links lead to', () => {
    const ask = makeProvider(sandboxed)
    mkdirSync(join(root, 'tree/sub'), { recursive: true })
    symlinkSync(join(box, 'other'), join(root, 'tree/out'))
    symlinkSync('..', join(root, 'tree/sub/up'))
    writeFileSync(join(root, 'tree/sub/f'), '')
    expect(ask('fs.write', { op: 'delete', path: 'tree' })).toMatchObject({ ok: true, value: { isDir: true } })
    expect(readdirSync(box)).toContain('other')
    expect(readdirSync(root)).not.toContain('tree')
  })

  test('links that lead in a circle, missing, special and long names', () => {
    const ask = makeProvider(sandboxed)
    mkdirSync(join(root, 'ring/in'), { recursive: true })
    symlinkSync('..', join(root, 'ring/in/back'))
    const walk = ask('fs.query', { op: 'walk', path: 'ring', maxDepth: null, followSymlinks: true })
    expect(walk.ok && (walk.value as { entries: readonly unknown[] }).entries).toHaveLength(3)
    expect(ask('fs.read', { path: 'x'.repeat(300), encoding: 'utf8' })).toMatchObject({
      value: { detail: 'File name too long (os error 36)' },
    })
    expect(ask('fs.read', { path: 'a.txt/x', encoding: 'utf8' })).toMatchObject({ value: { code: 'ENOTDIR' } })
    expect(ask('fs.query', { op: 'walk', path: 'dir', maxDepth: -1, followSymlinks: false })).toMatchObject({ ok: true })
  })

  test('a file that must be whole takes the place of the old one, and of what a link leads to', () => {
    const ask = makeProvider(sandboxed)
    const reader = openSync(join(root, 'a.txt'), 'r')
    expect(ask('fs.write', { op: 'write', path: 'inner', data: 'new', whole: true })).toMatchObject({ ok: true })
    expect(readFileSync(reader, 'utf8')).toBe('hello')
    closeSync(reader)
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new')
    expect(readdirSync(root).filter((name) => name.includes('tmp'))).toEqual([])
  })

  test('facts of a link itself, wherever it leads', () => {
    const ask = makeProvider(sandboxed)
    for (const path of ['inner', 'link', 'dangling', 'loop'])
      expect(ask('fs.query', { op: 'stat', path, ownLink: true })).toMatchObject({ value: { isFile: false, isDir: false } })
    expect(ask('fs.query', { op: 'stat', path: 'inner' })).toMatchObject({ value: { isFile: true, size: 5 } })
  })

  test('a line of its own, behind one that was cut short', () => {
    const ask = makeProvider(sandboxed)
    for (const data of ['{"cut', '1\n', '2\n']) ask('fs.write', { op: 'append', path: 'log', data, ownLine: data !== '{"cut' })
    expect(readFileSync(join(root, 'log'), 'utf8')).toBe('{"cut\n1\n2\n')
  })

  test('list and walk', () => {
    const ask = makeProvider(sandboxed)
    writeFileSync(join(root, 'dir', 'z'), '')
    const walk = ask('fs.query', { op: 'walk', path: 'dir', maxDepth: null, followSymlinks: false })
    expect(walk).toEqual({
      ok: true,
      value: {
        path: join(root, 'dir'),
        entries: [
          { path: join(root, 'dir'), isDir: true, isFile: false, depth: 0 },
          { path: join(root, 'dir', 'z'), isDir: false, isFile: true, depth: 1 },
        ],
      },
    })
    expect(ask('fs.query', { op: 'walk', path: 'none', maxDepth: null, followSymlinks: false })).toMatchObject({
      ok: true,
      value: { entries: [] },
    })
    expect(ask('fs.query', { op: 'list', path: 'dir' })).toEqual({ ok: true, value: { path: join(root, 'dir'), names: ['z'] } })
  })
})

test.skipIf(process.platform === 'win32')('a device without an end is read up to a limit, a small one whole', () => {
  const ask = makeProvider(false)
  expect(ask('fs.read', { path: '/dev/zero', encoding: 'bytes' })).toMatchObject({
    value: { refused: true, detail: 'File too large (os error 27)' },
  })
  expect(ask('fs.read', { path: '/dev/null', encoding: 'utf8' })).toMatchObject({ value: { data: '' } })
  expect(ask('fs.read', { path: '/dev', encoding: 'utf8' })).toMatchObject({ value: { code: 'EISDIR' } })
})

test('folders are created with their parents, and failures are reported', () => {
  for (let time = 0; time < 2; time++) makeFolders(join(root, 'p/q/r'), 0o700)
  expect(statSync(join(root, 'p/q/r')).isDirectory()).toBe(true)
  for (const name of ['a.txt', 'a.txt/x/y']) expect(() => makeFolders(join(root, name))).toThrow('ENOTDIR')
  if (process.platform === 'win32') return
  for (const name of ['p', 'p/q/r']) expect(statSync(join(root, name)).mode & 0o077).toBe(0)
  // Node's own way of making parents does not come back from here.
  if (process.platform === 'linux') expect(() => makeFolders('/proc/none/deeper')).toThrow('ENOENT')
})

test('a confined run sees nothing outside', () => {
  const ask = makeProvider(true)
  const denied = ask('fs.read', { path: 'link', encoding: 'utf8' })
  expect(denied).toMatchObject({ ok: false, error: { kind: 'categorized', category: 'tool_rejected' } })
  const walk = ask('fs.query', { op: 'walk', path: '.', maxDepth: null, followSymlinks: true })
  expect(walk.ok && JSON.stringify(walk.value)).not.toContain('secret')
})

describe.skipIf(process.platform === 'win32')('writing in a sandbox', () => {
  const write = (path: string, data: string): EffectOutcome => makeProvider(true)('fs.write', { op: 'write', path, data })

  test('puts a whole file in the place of another: readers of the old one keep it, and so do its other names', () => {
    writeFileSync(join(box, 'outside.txt'), 'old')
    linkSync(join(box, 'outside.txt'), join(root, 'linked.txt'))
    chmodSync(join(root, 'linked.txt'), 0o640)
    const reader = openSync(join(root, 'linked.txt'), 'r')
    expect(write('linked.txt', 'new')).toMatchObject({ ok: true })
    expect(readFileSync(reader, 'utf8')).toBe('old')
    closeSync(reader)
    expect(readFileSync(join(root, 'linked.txt'), 'utf8')).toBe('new')
    expect(readFileSync(join(box, 'outside.txt'), 'utf8')).toBe('old')
    expect(statSync(join(root, 'linked.txt')).mode & 0o777).toBe(0o640)
    expect(readdirSync(root).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('leaves nothing behind when it cannot be done', () => {
    expect(write('none/file.txt', 'x')).toMatchObject({ value: { refused: true, code: 'ENOENT' } })
    expect(write('dir', 'x')).toMatchObject({ value: { refused: true, code: 'EISDIR' } })
    expect(readdirSync(root).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })
})

test('limits of a sandbox', () => {
  const ask = makeProvider(true, { maxFileBytes: 4, maxWrittenBytes: 6, maxEntries: 2 })
  expect(ask('fs.read', { path: 'a.txt', encoding: 'utf8' })).toMatchObject({ ok: false })
  expect(ask('fs.write', { op: 'write', path: 'n1', data: '1234' })).toMatchObject({ ok: true })
  expect(ask('fs.write', { op: 'write', path: 'n2', data: '1234' })).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('as much as it may') as string },
  })
  expect(ask('fs.query', { op: 'list', path: '.' })).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('more than 2 entries') as string },
  })
})

test('the file system in memory answers like the real one', () => {
  const files = new MemoryFs({ 'a.txt': 'hello', 'dir/z': '' }, '/w')
  const ask = (kind: 'fs.read' | 'fs.query' | 'fs.write', args: { readonly [key: string]: Plain }): EffectOutcome =>
    files.perform(effectOfData(kind, args), call)
  expect(ask('fs.read', { path: 'a.txt', encoding: 'utf8' })).toEqual({ ok: true, value: { path: '/w/a.txt', data: 'hello' } })
  expect(ask('fs.read', { path: 'none', encoding: 'utf8' })).toEqual({
    ok: true,
    value: { refused: true, code: 'ENOENT', detail: 'No such file or directory (os error 2)', path: '/w/none' },
  })
  ask('fs.write', { op: 'append', path: 'dir/z', data: 'x' })
  ask('fs.write', { op: 'move', path: 'dir', to: 'moved' })
  expect(files.files()).toEqual(['/w/a.txt', '/w/moved/z'])
  expect(files.text('moved/z')).toBe('x')
  ask('fs.write', { op: 'append', path: 'moved/z', data: 'y\n', ownLine: true })
  ask('fs.write', { op: 'append', path: 'moved/z', data: 'z', ownLine: true })
  expect(files.text('moved/z')).toBe('x\ny\nz')
  expect(ask('fs.query', { op: 'list', path: '.' })).toEqual({ ok: true, value: { path: '/w', names: ['a.txt', 'moved'] } })
  expect(ask('fs.write', { op: 'delete', path: 'moved' })).toEqual({ ok: true, value: { path: '/w/moved', isDir: true } })
})

test('modules: beside, with the suffix added, from packages, not from outside', () => {
  const resolve = fileModules({ root })
  writeFileSync(join(root, 'lib.harn'), 'pub fn f() {}')
  mkdirSync(join(root, '.harn', 'packages', 'tool', 'src'), { recursive: true })
  writeFileSync(join(root, '.harn', 'packages', 'tool', 'lib.harn'), 'lib')
  writeFileSync(
    join(root, '.harn', 'packages', 'tool', 'harn.toml'),
    '[exports]\nextra = "src/extra.harn"\nout = "../../../../secret.txt"\n',
  )
  writeFileSync(join(root, '.harn', 'packages', 'tool', 'src', 'extra.harn'), 'extra')
  symlinkSync(join(box, 'secret.txt'), join(root, '.harn', 'packages', 'tool', 'leak.harn'))
  const from = join(root, 'main.harn')
  expect(resolve('./lib', from)).toEqual({ kind: 'source', key: join(root, 'lib.harn'), text: 'pub fn f() {}' })
  expect(resolve('lib.harn', from)).toMatchObject({ key: join(root, 'lib.harn') })
  expect(resolve('tool', from)).toMatchObject({ text: 'lib' })
  expect(resolve('tool/extra', from)).toMatchObject({ text: 'extra' })
  for (const path of ['tool/out', 'tool/leak', 'nothing']) {
    expect(resolve(path, from)).toEqual({
      kind: 'error',
      message: `Import error: cannot read '${path}': No such file or directory (os error 2)`,
    })
  }
})

test('modules of a confined run: not from outside, by no path or link, and existing files are not revealed', () => {
  const resolve = fileModules({ root, sandbox: new FileSandbox({ roots: [root] }) })
  writeFileSync(join(root, 'lib.harn'), 'pub fn f() {}')
  writeFileSync(join(box, 'other', 'm.harn'), 'pub let m = 1')
  symlinkSync(join(box, 'other', 'm.harn'), join(root, 'linked.harn'))
  symlinkSync(join(root, 'lib.harn'), join(root, 'within.harn'))
  mkdirSync(join(box, '.harn', 'packages', 'tool'), { recursive: true })
  writeFileSync(join(box, '.harn', 'packages', 'tool', 'lib.harn'), 'lib')
  const from = join(root, 'main.harn')
  expect(resolve('./lib', from)).toMatchObject({ key: join(root, 'lib.harn') })
  expect(resolve('./within', from)).toMatchObject({ key: join(root, 'lib.harn') })
  expect(resolve('tool', from)).toMatchObject({ text: 'lib' })
  const outside = [
    '../secret.txt',
    join(box, 'secret.txt'),
    '../other/m',
    '../other/m.harn',
    'linked',
    'link',
    'dirlink/m',
    'dirlink/m.harn',
    '/etc/hostname',
    '../wfoo/x',
  ]
  for (const path of outside) {
    const found = resolve(path, from)
    expect(found).toMatchObject({ kind: 'error' })
    // Existing and missing files give the same message.
    const absent = resolve(`${path.replace(/[a-z]+(\.[a-z]+)?$/, 'none')}`, from)
    if (!path.startsWith('l'))
      expect(JSON.stringify(found)).toMatch(/outside the allowed roots|cannot go above root|leads outside/)
    if (path.startsWith('..'))
      expect(absent).toMatchObject({ kind: 'error', message: expect.stringContaining('outside the allowed') })
  }
  expect(resolve('./nothing', from)).toEqual({
    kind: 'error',
    message: "Import error: cannot read './nothing': No such file or directory (os error 2)",
  })
})

test('the store keeps its records in a file', () => {
  const path = join(box, 'state', 'store.json')
  const ask = (args: EffectArgs['store.op']): EffectOutcome =>
    fileStore(path).perform({ kind: 'store.op', args }, call) as EffectOutcome
  ask({ op: 'set', namespace: 'n', key: 'k', value: 9007199254740993n })
  expect(ask({ op: 'get', namespace: 'n', key: 'k' })).toEqual({ ok: true, value: 9007199254740993n })
  expect(ask({ op: 'list', namespace: 'n' })).toEqual({ ok: true, value: ['k'] })
  expect(ask({ op: 'delete', namespace: 'n', key: 'k' })).toEqual({ ok: true, value: true })
  expect(ask({ op: 'get', namespace: 'n', key: 'k' })).toEqual({ ok: true, value: null })
})

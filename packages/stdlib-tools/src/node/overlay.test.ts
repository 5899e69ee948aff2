import { effectOfData } from '../test-support/effect-of-data.js'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Effect, EffectOutcome, Plain } from '@bridle/vm'
import { seededRandom } from '../host/providers/basics.js'
import type { EffectCall } from '../tools/executors/provider.js'
import { createRuntime } from '../host/runtime.js'
import { makeEffectCall } from '../test-support/effect-call.js'
import { fsProvider } from './fs.js'
import { overlayFs } from './overlay.js'
import { FileSandbox } from './sandbox.js'
import { Workspace } from './workspace.js'

let box: string
let root: string

beforeEach(() => {
  box = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-overlay-')))
  root = join(box, 'w')
  mkdirSync(join(root, 'dir', 'deep'), { recursive: true })
  writeFileSync(join(root, 'a.txt'), 'hello')
  writeFileSync(join(root, 'dir', 'b.txt'), 'below')
  writeFileSync(join(root, 'dir', 'deep', 'c.txt'), 'deep')
  writeFileSync(join(box, 'secret.txt'), 'secret')
})

afterEach(() => rmSync(box, { recursive: true }))

const call = makeEffectCall()

/** Content of a folder by path, null for folders. */
function readTree(folder: string): { readonly [path: string]: string | null } {
  const found: { [path: string]: string | null } = {}
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    found[path.slice(folder.length + 1)] = entry.isDirectory() ? null : readFileSync(path, 'utf8')
  }
  return found
}

test('the disk stays as it is; the run sees what it did; the host may carry it out', async () => {
  const before = readTree(root)
  const files = overlayFs(root)
  const runtime = createRuntime({ providers: [files], grants: ['fs'] })
  const value = await runtime.run(`
    write_file("a.txt", read_file("a.txt") + "!")
    mkdir("new")
    write_file("new/d.txt", "fresh")
    delete_file("dir/deep")
    return [read_file("a.txt"), list_dir("."), list_dir("dir"), file_exists("dir/deep/c.txt")]
  `)
  expect(value).toEqual(['hello!', ['a.txt', 'dir', 'new'], ['b.txt'], false])
  expect(readTree(root)).toEqual(before)
  expect(files.changes()).toEqual([
    { path: 'a.txt', change: 'modified', isDir: false },
    { path: 'dir/deep', change: 'deleted', isDir: true },
    { path: 'new', change: 'created', isDir: true },
    { path: 'new/d.txt', change: 'created', isDir: false },
  ])
  expect(files.text('new/d.txt')).toBe('fresh')
  files.apply()
  expect(readTree(root)).toEqual({ 'a.txt': 'hello!', dir: null, 'dir/b.txt': 'below', new: null, 'new/d.txt': 'fresh' })
  expect(files.changes()).toEqual([])
})

test('what is outside the folder stays outside, through links as well', () => {
  symlinkSync(join(box, 'secret.txt'), join(root, 'link'))
  symlinkSync('a.txt', join(root, 'inner'))
  const files = overlayFs(root)
  const ask = (kind: 'fs.read' | 'fs.query' | 'fs.write', args: { readonly [key: string]: Plain }): EffectOutcome =>
    files.perform(effectOfData(kind, args), call)
  for (const path of ['link', '../secret.txt', join(box, 'secret.txt')]) {
    expect(ask('fs.read', { path, encoding: 'utf8' })).toMatchObject({ ok: false, error: { category: 'tool_rejected' } })
    expect(ask('fs.write', { op: 'write', path, data: 'x' })).toMatchObject({ ok: false, error: { category: 'tool_rejected' } })
  }
  expect(ask('fs.query', { op: 'list', path: '.' })).toMatchObject({ value: { names: ['a.txt', 'dir', 'inner'] } })
  // A change through a link is one of its target.
  ask('fs.write', { op: 'write', path: 'inner', data: 'changed' })
  expect(files.text('a.txt')).toBe('changed')
  expect(files.changes()).toEqual([{ path: 'a.txt', change: 'modified', isDir: false }])
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('hello')
  // Facts of the link itself, as of the disk; otherwise a walk through folders could loop.
  symlinkSync('.', join(root, 'ring'))
  for (const path of ['inner', 'ring'])
    expect(ask('fs.query', { op: 'stat', path, ownLink: true })).toMatchObject({ value: { isFile: false, isDir: false } })
  expect(ask('fs.query', { op: 'stat', path: 'ring' })).toMatchObject({ value: { isDir: true } })
  const small = overlayFs(root, { maxFileBytes: 3 })
  expect(small.perform({ kind: 'fs.write', args: { op: 'write', path: 'n', data: 'éé' } }, call)).toMatchObject({
    error: { code: 'resource_limit' },
  })
  expect(small.perform({ kind: 'fs.read', args: { path: 'a.txt', encoding: 'utf8' } }, call)).toMatchObject({
    error: { code: 'resource_limit' },
  })
})

const PATHS = ['.', 'a.txt', 'dir', 'dir/b.txt', 'dir/deep', 'dir/deep/c.txt', 'n', 'n/x', 'dir/n', 'dir/n/x', 'a.txt/no']
const OPS = ['read', 'exists', 'stat', 'list', 'walk', 'write', 'append', 'mkdir', 'delete', 'copy', 'move'] as const

// Random operations on the overlay and on a copy of the folder: every answer is the same, and applying the changes makes the same tree.
test.each(Array.from({ length: 40 }, (_, seed) => seed))('as the disk answers, seed %i', (seed) => {
  const copy = join(box, 'copy')
  cpSync(root, copy, { recursive: true })
  const files = overlayFs(root)
  const disk = fsProvider(new Workspace({ root: copy, sandbox: new FileSandbox({ roots: [copy] }) }))
  const random = seededRandom(seed)
  const pick = <T>(items: readonly T[]): T => items[random(1)[0]! % items.length]!
  for (let step = 0; step < 60; step++) {
    const op = pick(OPS)
    const path = pick(PATHS)
    // Whole folders are moved and copied by `mv` and `cp`; over each other the systems differ.
    if ((op === 'delete' || op === 'move') && path === '.') continue
    const to = op === 'move' ? `moved${step}` : `copied${step}`
    const kind = op === 'read' ? 'fs.read' : ['exists', 'stat', 'list', 'walk'].includes(op) ? 'fs.query' : 'fs.write'
    const args = {
      path,
      ...(op === 'read' ? {} : { op }),
      ...(op === 'walk' ? { maxDepth: null, followSymlinks: false } : {}),
      ...(op === 'write' || op === 'append' ? { data: `${step}` } : {}),
      ...(op === 'copy' || op === 'move' ? { to } : {}),
    }
    const ask = (folder: string, perform: (effect: Effect, given: EffectCall) => unknown): unknown =>
      JSON.parse(
        JSON.stringify(perform(effectOfData(kind, args), call))
          .replaceAll(folder, '/R')
          .replace(/"modifiedMs":[\d.]+/, '')
          .replace(/"size":\d+,(?=.*"isDir":true)/, '')
          .replace(/,}/g, '}')
          .replace('/R/./', '/R/')
          .replace('/R/.', '/R'),
      )
    expect({ seed, step, op, path, answer: ask(root, files.perform) }).toEqual({
      seed,
      step,
      op,
      path,
      answer: ask(copy, disk.perform),
    })
  }
  files.apply()
  expect(readTree(root)).toEqual(readTree(copy))
})

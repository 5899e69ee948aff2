// Holders of a lock, and locks of processes that are gone. Processes that compete are in cli/test/store.process.test.ts.

import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FileLockError, withFileLock } from './file-lock.js'

let box: string
let lock: string
beforeEach(() => {
  box = mkdtempSync(join(tmpdir(), 'bridle-lock-'))
  lock = join(box, 'x.lock')
})
afterEach(() => rmSync(box, { recursive: true }))

/** What a lock of this process says: place, process, start, number. */
function readOwnText(): readonly string[] {
  return withFileLock(lock, () => readlinkSync(lock)).split('/')
}

/** Number of a process that has ended. */
function findDeadProcess(): number {
  return spawnSync(process.execPath, ['-e', '']).pid
}

test('the lock is there during the work, and gone after it, also after an error', () => {
  expect(withFileLock(lock, () => readdirSync(box))).toEqual(['x.lock'])
  expect(readdirSync(box)).toEqual([])
  expect(() =>
    withFileLock(lock, () => {
      throw new Error('no')
    }),
  ).toThrow('no')
  expect(readdirSync(box)).toEqual([])
})

test.each([
  ['a process that is gone', () => symlinkSync([readOwnText()[0], findDeadProcess(), '1', 'a'].join('/'), lock)],
  ['a process whose number another one has by now', () => symlinkSync([readOwnText()[0], process.pid, '1', 'a'].join('/'), lock)],
  [
    'somebody elsewhere, long ago',
    () => {
      symlinkSync('elsewhere[1]/1/1/a', lock)
      // Node changes no times of links to nowhere.
      spawnSync('touch', ['-h', '-d', '1 minute ago', lock])
    },
  ],
  [
    'one that removed a lock and died',
    () => {
      const dead = [readOwnText()[0], findDeadProcess(), '1', 'a'].join('/')
      symlinkSync(dead, lock)
      symlinkSync(dead, `${lock}.stale`)
    },
  ],
])('the lock of %s is taken over, and nothing stays', (_who, leave) => {
  leave()
  expect(withFileLock(lock, () => 'done')).toBe('done')
  expect(readdirSync(box)).toEqual([])
})

test('a lock that was created after ours was removed belongs to its creator', () => {
  withFileLock(lock, () => {
    rmSync(lock)
    symlinkSync('theirs', lock)
  })
  expect(readlinkSync(lock)).toBe('theirs')
})

test('a process that holds on is named', () => {
  symlinkSync(readOwnText().join('/'), lock)
  const clock = Date.now
  let now = clock()
  Date.now = () => (now += 3000)
  try {
    expect(() => withFileLock(lock, () => 'never')).toThrow(new FileLockError(`${lock} is held by process ${process.pid}`))
  } finally {
    Date.now = clock
  }
})

test('an invalid lock file is not a lock', () => {
  expect(() => withFileLock(join(box, 'nowhere', 'x.lock'), () => 'never')).toThrow('ENOENT')
  writeFileSync(join(box, 'file'), '')
  expect(() => withFileLock(join(box, 'file', 'x.lock'), () => 'never')).toThrow('ENOTDIR')
})

test.skipIf(process.getuid?.() === 0)('where nothing can be made, the work says what it cannot do', () => {
  chmodSync(box, 0o500)
  expect(withFileLock(lock, () => existsSync(lock))).toBe(false)
  chmodSync(box, 0o700)
})

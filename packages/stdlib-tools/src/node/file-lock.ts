// A lock between processes, for as long as one synchronous piece of work takes: reading a file, changing what it says and writing it
// back, without losing what another process writes meanwhile. Node cannot lock a file, so the lock is the name of one:
//
// - It is a symbolic link to nowhere, whose text says the holder: made and filled in one step, it is never there half.
// - A dead holder does not block: a waiting process sees that it is gone (or that its number belongs to another one by now) and
//   removes the lock. The state of a holder on another machine or in another container is unknown; its lock is valid for STALE_MS.
// - Two that wait must not both remove it, or the second would remove the lock that the first one has made since. So they do it under a
//   lock of its own, by this same function, and look again.

import { randomUUID } from 'node:crypto'
import { closeSync, lstatSync, openSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { readOsErrorCode } from '../tools/executors/os-errors.js'
import { NO_SIBLING } from './whole-file.js'

/** How long a lock is waited for, and how long one counts whose holder cannot be seen, milliseconds. */
const STALE_MS = 10_000
const PAUSE_MS = 2

/** Another process holds the lock and does not end. */
export class FileLockError extends Error {
  override readonly name = 'FileLockError'
  readonly code = 'ELOCKED'
}

/**
 * Runs `work` while no other process runs any under the lock `path`. Throws FileLockError, or what the operating system says. Where no
 * file can be made at all the work is done without: what it wants to replace cannot be replaced there either, and it says so itself.
 */
export function withFileLock<T>(path: string, work: () => T): T {
  const own = take(path)
  if (own === null) return work()
  try {
    return work()
  } finally {
    release(path, own)
  }
}

/** Not the lock of a process that considered ours gone. An unreadable lock is treated as ours. */
function release(path: string, own: string): void {
  let holder: string | null
  try {
    holder = readHolder(path)
  } catch {
    holder = own
  }
  if (holder === own) rmSync(path, { force: true })
}

/** What the lock says now, null where none can be made. */
function take(path: string): string | null {
  const own = `${describeMyself()}/${randomUUID().slice(0, 8)}`
  let seen: string | null = null
  let since = 0
  for (;;) {
    try {
      makeLock(path, own)
      return own
    } catch (cause) {
      const code = readOsErrorCode(cause)
      if (NO_SIBLING.has(code)) return null
      if (code !== 'EEXIST') throw cause
    }
    const holder = readHolder(path)
    if (holder === null) continue
    if (holder !== seen) {
      seen = holder
      since = Date.now()
    }
    const state = judgeHolder(holder)
    const isOverdue = Date.now() - since > STALE_MS
    if (state === 'gone' || (state === 'unknown' && (isOverdue || isOld(path)))) remove(path, holder)
    else if (isOverdue) throw new FileLockError(`${path} is held by process ${formatProcess(holder)}`)
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  }
}

function remove(path: string, holder: string): void {
  withFileLock(`${path}.stale`, () => {
    if (readHolder(path) === holder) rmSync(path, { force: true })
  })
}

function makeLock(path: string, text: string): void {
  try {
    symlinkSync(text, path)
  } catch (cause) {
    // Windows, and file systems without links. EPERM is also the answer of a folder that takes nothing, as the next line will find.
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(readOsErrorCode(cause))) throw cause
    const fd = openSync(path, 'wx')
    try {
      writeSync(fd, text)
    } finally {
      closeSync(fd)
    }
  }
}

/** What a lock says; null when it is gone. A file that is not a link and empty was made a moment ago, or by who died that moment. */
function readHolder(path: string): string | null {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : readFileSync(path, 'utf8')
  } catch (cause) {
    const code = readOsErrorCode(cause)
    if (code === 'ENOENT' || code === 'EINVAL') return null
    throw cause
  }
}

function isOld(path: string): boolean {
  return Date.now() - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > STALE_MS
}

// ------------------------------------------------------------------------------------------------------- the holder

/** Machine and container, process, when it started: a number that is given out again does not count as the same process. */
function describeMyself(): string {
  return `${place()}/${process.pid}/${readStart(process.pid) ?? '?'}`
}

let here: string | null = null

function place(): string {
  return (here ??= `${hostname()}${readProcessNamespace() ?? ''}`.replaceAll('/', '_'))
}

/** Linux: containers of one machine number their processes each for itself. */
function readProcessNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/^pid:/, '')
  } catch {
    return null
  }
}

/**
 * Linux: in clock ticks since the machine started, the 22nd field; the second, a name in brackets, may hold anything. The third says
 * whether the process is a zombie: then it never started.
 */
function readStart(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return /^[ZXx]/.test(fields[0] ?? '') ? 'never' : (fields[19] ?? null)
  } catch {
    return null
  }
}

function formatProcess(holder: string): string {
  const [where, pid] = holder.split('/')
  return where === place() ? String(pid) : `${pid} on ${where}`
}

function judgeHolder(holder: string): 'alive' | 'gone' | 'unknown' {
  const [where, pid, start] = holder.split('/')
  if (where !== place() || !/^[1-9]\d*$/.test(pid ?? '')) return 'unknown'
  try {
    process.kill(Number(pid), 0)
  } catch (cause) {
    return readOsErrorCode(cause) === 'ESRCH' ? 'gone' : 'alive'
  }
  const now = readStart(Number(pid))
  return now === null || start === '?' || now === start ? 'alive' : 'gone'
}

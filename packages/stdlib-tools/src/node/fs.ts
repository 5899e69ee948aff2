// Files (records FsRead, FsQuery, FsWrite). All operations are synchronous: a file operation is over before another task could
// run anyway, and an immediate answer costs the machine nothing. What the operating system refuses is a result, with its words.

import { randomUUID } from 'node:crypto'
import {
  accessSync,
  appendFileSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Effect, EffectOutcome, Plain } from '@bridle/vm'
import { osErrorCode, osErrorText } from '../os-errors.js'
import { answered, refused, runtimeError } from '../providers/provider.js'
import type { Provider } from '../providers/provider.js'
import { SandboxViolation } from './sandbox.js'
import type { FileSandbox } from './sandbox.js'
import { guarded } from './workspace.js'
import type { Workspace } from './workspace.js'

export function fsProvider(workspace: Workspace): Provider {
  return {
    kinds: ['fs.read', 'fs.query', 'fs.write'],
    perform: (effect) => guarded(() => perform(workspace, effect)),
  }
}

function perform(workspace: Workspace, effect: Effect): EffectOutcome {
  const { args } = effect
  const path = String(args['path'] ?? '')
  if (effect.kind === 'fs.read') return read(workspace, path, args['encoding'] === 'bytes')
  switch (args['op']) {
    case 'exists':
      return exists(workspace, path)
    case 'stat':
      return attempt(workspace, path, () => stat(workspace, path))
    case 'list':
      return attempt(workspace, path, () => list(workspace, path))
    case 'walk':
      return answered(
        walk(workspace, path, typeof args['maxDepth'] === 'number' ? args['maxDepth'] : null, args['followSymlinks'] === true),
      )
    case 'resolve':
      return answered(workspace.normalized(path))
    case 'find_up':
      return answered(findUp(workspace, path, String(args['name'])))
    case 'write':
      return attempt(workspace, path, () => write(workspace, path, bytesOf(args['data'] ?? ''), false))
    case 'append':
      return attempt(workspace, path, () => write(workspace, path, bytesOf(args['data'] ?? ''), true))
    case 'mkdir':
      return attempt(workspace, path, () => {
        makeFolders(workspace.usable(path, 'create'))
        return { path: workspace.shown(path) }
      })
    case 'delete':
      return remove(workspace, path)
    case 'copy':
    case 'move':
      return transfer(workspace, args['op'], path, String(args['to'] ?? ''))
    default:
      return runtimeError(`${effect.kind}: unknown operation ${JSON.stringify(args['op'] ?? null)}`)
  }
}

/** Runs an operation; what the operating system refuses becomes a Refused record with the path as it is shown. */
function attempt(
  workspace: Workspace,
  path: string,
  work: () => Plain,
  more: { readonly [key: string]: Plain } = {},
): EffectOutcome {
  try {
    return answered(work())
  } catch (cause) {
    if (cause instanceof SandboxViolation) throw cause
    return refused(osErrorCode(cause), osErrorText(cause), { path: workspace.shown(path), ...more })
  }
}

function read(workspace: Workspace, path: string, bytes: boolean): EffectOutcome {
  let text = true
  const outcome = attempt(workspace, path, () => {
    const data = readBytes(workspace, path)
    if (bytes) return { path: workspace.shown(path), data }
    try {
      return { path: workspace.shown(path), data: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data) }
    } catch {
      text = false
      return null
    }
  })
  return text ? outcome : refused('EILSEQ', 'stream did not contain valid UTF-8', { path: workspace.shown(path) })
}

function readBytes(workspace: Workspace, path: string): Uint8Array {
  const { sandbox } = workspace
  const target = workspace.usable(path, 'read')
  if (sandbox === null) return readFileSync(target)
  // Non-blocking, because opening a named pipe would wait for a writer.
  return withFile(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK, (fd) => {
    sandbox.recheck(fd, target, 'read')
    sandbox.checkSize(fstatSync(fd).size, path, 'read')
    return readFileSync(fd)
  })
}

function write(workspace: Workspace, path: string, data: Uint8Array, append: boolean): Plain {
  const { sandbox } = workspace
  const target = workspace.usable(path, 'write')
  if (sandbox === null) {
    if (append) appendFileSync(target, data)
    else writeFileSync(target, data)
    return { path: workspace.shown(path) }
  }
  sandbox.chargeWrite(data.length, path)
  if (!append && replaceFile(sandbox, target, data)) return { path: workspace.shown(path) }
  // Truncated only after the check: a path that changed in between loses nothing.
  const flags =
    constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK | (append ? constants.O_APPEND : 0)
  withFile(target, flags, (fd) => {
    sandbox.recheck(fd, target, 'write')
    if (append) sandbox.checkSize(fstatSync(fd).size + data.length, path, 'write')
    else ftruncateSync(fd, 0)
    for (let at = 0; at < data.length;) at += writeSync(fd, data, at)
  })
  return { path: workspace.shown(path) }
}

/** Cannot be written beside the file, and perhaps in it. */
const NO_SIBLING: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG', 'EBUSY'])

/**
 * Writes a file beside the target, which then takes its place: whoever reads sees the old content or the new one, and another name of
 * the old file, wherever it may be, keeps it. False when that cannot be done: for pipes and devices, or in a folder that cannot be written.
 */
function replaceFile(sandbox: FileSandbox, target: string, data: Uint8Array): boolean {
  const before = lstatSync(target, { throwIfNoEntry: false })
  if (before !== undefined) {
    if (!before.isFile()) return false
    accessSync(target, constants.W_OK)
  }
  const temporary = `${target}.${randomUUID().slice(0, 8)}.tmp`
  try {
    withFile(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, (fd) => {
      sandbox.recheck(fd, temporary, 'write')
      if (before !== undefined) fchmodSync(fd, before.mode & 0o7777)
      for (let at = 0; at < data.length;) at += writeSync(fd, data, at)
    })
    renameSync(temporary, target)
    return true
  } catch (cause) {
    rmSync(temporary, { force: true })
    if (NO_SIBLING.has(osErrorCode(cause))) return false
    throw cause
  }
}

function withFile<T>(path: string, flags: number, work: (fd: number) => T): T {
  const fd = openSync(path, flags, 0o644)
  try {
    return work(fd)
  } finally {
    closeSync(fd)
  }
}

/** Writes a file for other providers (downloads) under the same rules. Throws what the operating system or the sandbox says. */
export function writeFileIn(workspace: Workspace, path: string, data: Uint8Array): void {
  write(workspace, path, data, false)
}

export function readFileIn(workspace: Workspace, path: string): Uint8Array {
  return readBytes(workspace, path)
}

function exists(workspace: Workspace, path: string): EffectOutcome {
  try {
    statSync(workspace.usable(path, 'read'))
    return answered(true)
  } catch (cause) {
    if (cause instanceof SandboxViolation) throw cause
    return answered(false)
  }
}

function stat(workspace: Workspace, path: string): Plain {
  const found = statSync(workspace.usable(path, 'read'))
  return {
    path: workspace.shown(path),
    size: found.size,
    isFile: found.isFile(),
    isDir: found.isDirectory(),
    readonly: (found.mode & 0o222) === 0,
    modifiedMs: found.mtimeMs,
  }
}

function list(workspace: Workspace, path: string): Plain {
  const names = readdirSync(workspace.usable(path, 'list'))
  limitEntries(workspace, names.length, path)
  return { path: workspace.shown(path), names }
}

function limitEntries(workspace: Workspace, count: number, path: string): void {
  const most = workspace.sandbox?.maxEntries ?? Number.POSITIVE_INFINITY
  if (count > most) throw new SandboxViolation('limit', `File access violation: list on '${path}' - more than ${most} entries`)
}

/** Parents before children, names in order, so that two runs see the same. */
function walk(workspace: Workspace, path: string, maxDepth: number | null, followSymlinks: boolean): Plain {
  const root = workspace.usable(path, 'list')
  const entries: Plain[] = []
  const entered = new Set<string>()
  const stack: { readonly path: string; readonly depth: number }[] = [{ path: root, depth: 0 }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { path: at, depth } = next
    const found = entryAt(workspace, at, followSymlinks || depth === 0)
    if (found === null) continue
    entries.push({ path: at.replaceAll('\\', '/'), isDir: found.isDir, isFile: found.isFile, depth })
    limitEntries(workspace, entries.length, path)
    if (!found.isDir || (maxDepth !== null && depth >= maxDepth)) continue
    if (followSymlinks) {
      const real = tryReal(at)
      if (real === null || entered.has(real)) continue
      entered.add(real)
    }
    for (const name of childNames(at).reverse()) stack.push({ path: join(at, name), depth: depth + 1 })
  }
  return { path: root.replaceAll('\\', '/'), entries }
}

function entryAt(
  workspace: Workspace,
  path: string,
  follow: boolean,
): { readonly isDir: boolean; readonly isFile: boolean } | null {
  try {
    const own = lstatSync(path)
    if (!own.isSymbolicLink())
      return workspace.sandbox?.shows(path) === false ? null : { isDir: own.isDirectory(), isFile: own.isFile() }
    const real = tryReal(path)
    if (workspace.sandbox !== null && (real === null || !workspace.sandbox.shows(real))) return null
    if (!follow) return { isDir: false, isFile: false }
    const target = statSync(path)
    return { isDir: target.isDirectory(), isFile: target.isFile() }
  } catch {
    return null
  }
}

function childNames(path: string): string[] {
  try {
    return readdirSync(path).sort()
  } catch {
    return []
  }
}

function tryReal(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

function findUp(workspace: Workspace, path: string, name: string): string | null {
  for (let at = workspace.normalized(path); ; at = dirname(at)) {
    try {
      lstatSync(join(workspace.usable(at, 'list'), name))
      return at
    } catch (cause) {
      if (cause instanceof SandboxViolation) return null
    }
    if (dirname(at) === at) return null
  }
}

function remove(workspace: Workspace, path: string): EffectOutcome {
  const target = workspace.usable(path, 'delete', true)
  let isDir = false
  return attempt(
    workspace,
    path,
    () => {
      isDir = lstatSync(target).isDirectory()
      if (isDir) rmSync(target, { recursive: true })
      else unlinkSync(target)
      return { path: workspace.shown(path), isDir }
    },
    {
      get isDir() {
        return isDir
      },
    },
  )
}

function transfer(workspace: Workspace, op: 'copy' | 'move', path: string, to: string): EffectOutcome {
  const source = workspace.usable(path, op === 'move' ? 'delete' : 'read', op === 'move')
  const target = workspace.usable(to, 'write', op === 'move')
  const shownTo = workspace.shown(to)
  return attempt(
    workspace,
    path,
    () => {
      if (op === 'copy') copyOne(workspace, source, target)
      else {
        try {
          renameSync(source, target)
        } catch (cause) {
          if (osErrorCode(cause) !== 'EXDEV') throw cause
          copyOne(workspace, source, target)
          rmSync(source, { recursive: true })
        }
      }
      return { path: workspace.shown(path), to: shownTo }
    },
    { to: shownTo },
  )
}

function copyOne(workspace: Workspace, source: string, target: string): void {
  workspace.sandbox?.chargeWrite(statSync(source).size, source)
  if (statSync(source).isDirectory()) throw Object.assign(new Error('not a file'), { code: 'EINVAL' })
  copyFileSync(source, target)
}

function bytesOf(data: Plain): Uint8Array {
  return data instanceof Uint8Array ? data : Buffer.from(String(data))
}

/** With parents. Not Node's own `recursive`, which never returns where a parent can neither be made nor found (`/proc/x`). */
function makeFolders(path: string): void {
  const missing: string[] = []
  for (let at = path; !statSync(at, { throwIfNoEntry: false })?.isDirectory(); at = dirname(at)) {
    missing.push(at)
    if (dirname(at) === at) break
  }
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder)
    } catch (cause) {
      // Another program may have made it since.
      if ((cause as { readonly code?: unknown }).code !== 'EEXIST' || !statSync(folder).isDirectory()) throw cause
    }
  }
}

// Files (records FsRead, FsQuery, FsWrite). All operations are synchronous: a file operation is over before another task could
// run anyway, and an immediate answer costs the machine nothing. What the operating system refuses is a result, with its words.
// Named pipes and terminals are the exception (pipes.ts).

import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EffectOf, EffectOutcome, Plain } from '@bridle/vm'
import { CHANGED_SINCE_READ, NO_FILE_TO_COPY, readOsErrorCode, describeOsError } from '../tools/executors/os-errors.js'
import { answered, provider, refused } from '../tools/executors/provider.js'
import type { Provider } from '../tools/executors/provider.js'
import { withFileLock } from './file-lock.js'
import { isAwaited, isPipe, readAwaited, writeAwaited } from './pipes.js'
import { runInFolder, removeFolder, withFolder } from './pinned-folder.js'
import { SandboxViolation } from './sandbox.js'
import type { FileSandbox } from './sandbox.js'
import { NO_SIBLING, appendAll, resolveLinks, overwriteFile, replaceFile, writeAll } from './whole-file.js'
import { guardWork, makeViolation } from './workspace.js'
import type { Workspace } from './workspace.js'

type FileKind = 'fs.read' | 'fs.query' | 'fs.write'

export function fsProvider(workspace: Workspace): Provider {
  return provider({
    kinds: ['fs.read', 'fs.query', 'fs.write'],
    locate: ({ kind, args: { path } }) => {
      try {
        return workspace.sandbox === null
          ? workspace.normalized(path)
          : workspace.usable(path, kind === 'fs.write' ? 'write' : 'read')
      } catch (cause) {
        if (cause instanceof SandboxViolation) return makeViolation(cause)
        throw cause
      }
    },
    perform: (effect, call) => {
      const data = writtenBy(effect)
      if (data !== null && workspace.sandbox === null && isAwaitedAt(workspace, effect.args.path))
        return writeLater(workspace, effect.args.path, data, call.signal)
      try {
        return performFs(workspace, effect)
      } catch (cause) {
        if (cause instanceof Awaited && effect.kind === 'fs.read') return readLater(workspace, effect, cause.target, call.signal)
        throw cause
      }
    },
  })
}

/** What is to be written into a file; null for any other operation. */
function writtenBy({ kind, args }: EffectOf<FileKind>): string | Uint8Array | null {
  return kind === 'fs.write' && (args.op === 'write' || args.op === 'append') ? args.data : null
}

function isAwaitedAt(workspace: Workspace, path: string): boolean {
  try {
    return isPipe(workspace.usable(path, 'write'))
  } catch {
    return false // the operation itself says it
  }
}

async function writeLater(
  workspace: Workspace,
  path: string,
  data: string | Uint8Array,
  signal: AbortSignal,
): Promise<EffectOutcome> {
  try {
    await writeAwaited(workspace.usable(path, 'write'), toBytes(data), signal)
    return answered({ path: workspace.shown(path) })
  } catch (cause) {
    return failAs(workspace, path, cause)
  }
}

/** Continues with a read that would have held the thread. */
async function readLater(
  workspace: Workspace,
  { args: { path, encoding } }: EffectOf<'fs.read'>,
  target: string,
  signal: AbortSignal,
): Promise<EffectOutcome> {
  try {
    return makeContentRecord(workspace, path, await readAwaited(target, MOST_OF_A_DEVICE, signal), encoding)
  } catch (cause) {
    return failAs(workspace, path, cause)
  }
}

/** Says that a read would block; never leaves the provider. */
class Awaited extends Error {
  readonly target: string

  constructor(target: string) {
    super('a named pipe or a terminal cannot be read here')
    this.target = target
  }
}

/** What the provider answers, at once. */
export function performFs(workspace: Workspace, effect: EffectOf<FileKind>): EffectOutcome {
  return guardWork(() => perform(workspace, effect))
}

function perform(workspace: Workspace, effect: EffectOf<FileKind>): EffectOutcome {
  const { path } = effect.args
  if (effect.kind === 'fs.read') return read(workspace, path, effect.args.encoding)
  const { args } = effect
  switch (args.op) {
    case 'exists':
      return exists(workspace, path)
    case 'stat':
      return attempt(workspace, path, () => statPath(workspace, path, args.ownLink === true))
    case 'list':
      return attempt(workspace, path, () => list(workspace, path))
    case 'walk':
      return answered(
        walk(workspace, path, args.maxDepth !== null && args.maxDepth >= 0 ? args.maxDepth : null, args.followSymlinks),
      )
    case 'resolve':
      return answered(workspace.normalized(path))
    case 'find_up':
      return answered(findUp(workspace, path, args.name))
    case 'write':
      return attempt(workspace, path, () =>
        write(workspace, path, toBytes(args.data), args.whole === true ? 'whole' : 'write', args.expected),
      )
    case 'append':
      return attempt(workspace, path, () => write(workspace, path, toBytes(args.data), args.ownLine === true ? 'line' : 'append'))
    case 'mkdir':
      return attempt(workspace, path, () => {
        makeFolders(workspace, workspace.usable(path, 'create'))
        return { path: workspace.shown(path) }
      })
    case 'delete':
      return remove(workspace, path)
    case 'copy':
    case 'move':
      return transfer(workspace, args.op, path, args.to)
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
    return failAs(workspace, path, cause, more)
  }
}

function failAs(workspace: Workspace, path: string, cause: unknown, more: { readonly [key: string]: Plain } = {}): EffectOutcome {
  if (cause instanceof SandboxViolation || cause instanceof Awaited) throw cause
  return refused(readOsErrorCode(cause), describeOsError(cause), { path: workspace.shown(path), ...more })
}

function read(workspace: Workspace, path: string, encoding: Plain | undefined): EffectOutcome {
  try {
    return makeContentRecord(workspace, path, readBytes(workspace, path), encoding)
  } catch (cause) {
    return failAs(workspace, path, cause)
  }
}

function makeContentRecord(workspace: Workspace, path: string, data: Uint8Array, encoding: Plain | undefined): EffectOutcome {
  const shown = workspace.shown(path)
  if (encoding === 'bytes') return answered({ path: shown, data })
  try {
    return answered({ path: shown, data: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data) })
  } catch {
    return refused('EILSEQ', 'stream did not contain valid UTF-8', { path: shown })
  }
}

function readBytes(workspace: Workspace, path: string): Uint8Array {
  const { sandbox } = workspace
  const target = workspace.usable(path, 'read')
  // Non-blocking, because opening a named pipe would wait for a writer.
  if (sandbox === null)
    return withFile(target, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY, (fd) => {
      const facts = fstatSync(fd)
      if (facts.isFile()) return readFileSync(fd)
      if (isAwaited(fd, facts)) throw new Awaited(target)
      return readContent(fd, MOST_OF_A_DEVICE)
    })
  return withFile(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK, (fd) => {
    sandbox.recheck(fd, target, 'read')
    sandbox.checkSize(fstatSync(fd).size, path, 'read')
    return readContent(fd, sandbox.maxFileBytes)
  })
}

const MOST_OF_A_DEVICE = 256 << 20

/** A file that is not regular has no size and may be endless (`/dev/zero`): reads up to `mostBytes`. */
function readContent(fd: number, mostBytes: number): Uint8Array {
  if (fstatSync(fd).isFile()) return readFileSync(fd)
  const chunks: Buffer[] = []
  let size = 0
  for (;;) {
    const chunk = Buffer.alloc(64 << 10)
    const read = readSync(fd, chunk, 0, chunk.length, null)
    if (read === 0) return Buffer.concat(chunks)
    size += read
    if (size > mostBytes) throw Object.assign(new Error('too large'), { code: 'EFBIG' })
    chunks.push(chunk.subarray(0, read))
  }
}

function write(
  workspace: Workspace,
  path: string,
  given: Uint8Array,
  how: 'write' | 'whole' | 'append' | 'line',
  expected?: string | null,
): Plain {
  const { sandbox } = workspace
  const target = workspace.usable(path, 'write')
  const append = how === 'append' || how === 'line'
  const data = how === 'line' && endsWithinLine(target) ? Buffer.concat([Buffer.from('\n'), given]) : given
  if (sandbox !== null) writeConfined(sandbox, target, data, { append, path, expected })
  else if (append) withFile(target, 'a', (fd) => appendAll(fd, data))
  else if (expected !== undefined) replaceIfUnchanged(null, resolveLinks(target), data, expected)
  else overwriteFile(target, data, { evenIfShared: how === 'whole' })
  return { path: workspace.shown(path) }
}

/** Whether a file has content after its last line break; false for other things than files and unreadable files. */
function endsWithinLine(target: string): boolean {
  try {
    return withFile(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK, (fd) => {
      const facts = fstatSync(fd)
      const last = Buffer.alloc(1)
      return facts.isFile() && facts.size > 0 && readSync(fd, last, 0, 1, facts.size - 1) === 1 && last[0] !== 10
    })
  } catch {
    return false
  }
}

/** `mode` is that of a file that is made or replaced; by default a replaced one keeps its own. */
function writeConfined(
  sandbox: FileSandbox,
  target: string,
  data: Uint8Array,
  {
    append,
    path,
    mode,
    expected,
  }: { readonly append: boolean; readonly path: string; readonly mode?: number; readonly expected?: string | null | undefined },
): void {
  sandbox.chargeWrite(data.length, path)
  if (expected !== undefined) replaceIfUnchanged(sandbox, target, data, expected)
  else if (append || !replaceConfined(sandbox, target, data, { mode })) writeInPlace(sandbox, target, data, { append, path })
}

function writeInPlace(
  sandbox: FileSandbox | null,
  target: string,
  data: Uint8Array,
  { append, path }: { readonly append: boolean; readonly path: string },
): void {
  // Truncated only after the check: a path that changed in between loses nothing.
  const flags =
    constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK | (append ? constants.O_APPEND : 0)
  withFile(target, flags, (fd) => {
    sandbox?.recheck(fd, target, 'write')
    if (append) sandbox?.checkSize(fstatSync(fd).size + data.length, path, 'write')
    else ftruncateSync(fd, 0)
    if (append) appendAll(fd, data)
    else writeAll(fd, data)
  })
}

/** Readers see the old or the new content; hard links to the old file keep the old content. */
function replaceConfined(
  sandbox: FileSandbox,
  target: string,
  data: Uint8Array,
  more: { readonly mode?: number | undefined; readonly alone?: boolean } = {},
): boolean {
  try {
    return runInFolder(sandbox, target, 'write', (at) =>
      // In a folder that is pinned nothing can be exchanged; a new file in another one would stay there.
      replaceFile(at, data, at === target ? { ...more, check: (fd, path) => sandbox.recheck(fd, path, 'write') } : more),
    )
  } catch (cause) {
    // Where folders cannot be opened without the right to read them.
    if (NO_SIBLING.has(readOsErrorCode(cause))) return false
    throw cause
  }
}

/** Replaces what the caller read: `expected` is the hash of its content, null when there was none. */
function replaceIfUnchanged(sandbox: FileSandbox | null, target: string, data: Uint8Array, expected: string | null): void {
  const lock = `${target}.lock`
  const work = (): void => {
    if (hashContent(target) !== expected) throw Object.assign(new Error(CHANGED_SINCE_READ), { code: 'ECHANGED' })
    const done =
      sandbox === null
        ? replaceFile(target, data, { newMode: 0o666, alone: true })
        : replaceConfined(sandbox, target, data, { alone: true })
    if (!done) writeInPlace(sandbox, target, data, { append: false, path: target })
  }
  if (sandbox === null) withFileLock(lock, work)
  else runInFolder(sandbox, lock, 'write', (at) => withFileLock(at, work))
}

function hashContent(target: string): string | null {
  try {
    const bytes = withFile(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK, (fd) => readFileSync(fd))
    return createHash('sha256').update(bytes).digest('hex')
  } catch (cause) {
    if (readOsErrorCode(cause) === 'ENOENT') return null
    throw cause
  }
}

function withFile<T>(path: string, flags: number | 'a', work: (fd: number) => T): T {
  const fd = openSync(path, flags, flags === 'a' ? 0o666 : 0o644)
  try {
    return work(fd)
  } finally {
    closeSync(fd)
  }
}

/** Writes a file for other providers (downloads) under the same rules. Throws what the operating system or the sandbox says. */
export function writeFileIn(workspace: Workspace, path: string, data: Uint8Array): void {
  write(workspace, path, data, 'write')
}

export function readFileIn(workspace: Workspace, path: string): Uint8Array {
  return readBytes(workspace, path)
}

function exists(workspace: Workspace, path: string): EffectOutcome {
  try {
    readStat(workspace, path)
    return answered(true)
  } catch (cause) {
    if (cause instanceof SandboxViolation) throw cause
    return answered(false)
  }
}

/** Links were followed when the path was judged; one that stands there now was put there since. */
function readStat(workspace: Workspace, path: string, ownLink = false): Stats {
  const { sandbox } = workspace
  const target = workspace.usable(path, 'read', ownLink)
  if (sandbox === null) return ownLink ? lstatSync(target) : statSync(target)
  return runInFolder(sandbox, target, 'read', (at) => {
    const found = lstatSync(at)
    if (found.isSymbolicLink() && !ownLink) sandbox.changed(target, 'read')
    return found
  })
}

function statPath(workspace: Workspace, path: string, ownLink: boolean): Plain {
  const found = readStat(workspace, path, ownLink)
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
  const { sandbox } = workspace
  const target = workspace.usable(path, 'list')
  const names = sandbox === null ? readdirSync(target) : withFolder(sandbox, target, 'list', (folder) => readdirSync(folder))
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
    const found = readEntry(workspace, at, followSymlinks || depth === 0)
    if (found === null) continue
    // A root that is a link is entered, and is a link anyway.
    const isLink = depth === 0 && !followSymlinks && lstatSync(at).isSymbolicLink()
    entries.push({ path: at.replaceAll('\\', '/'), isDir: found.isDir && !isLink, isFile: found.isFile && !isLink, depth })
    limitEntries(workspace, entries.length, path)
    if (!found.isDir || (maxDepth !== null && depth >= maxDepth)) continue
    if (followSymlinks) {
      const real = tryReal(at)
      if (real === null || entered.has(real)) continue
      entered.add(real)
    }
    for (const name of listChildNames(workspace, at).reverse()) stack.push({ path: join(at, name), depth: depth + 1 })
  }
  return { path: root.replaceAll('\\', '/'), entries }
}

function readEntry(
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

/** None of a folder that cannot be read, and none of one that is another by now. */
function listChildNames({ sandbox }: Workspace, path: string): string[] {
  try {
    const real = sandbox === null ? path : realpathSync(path)
    return (sandbox === null ? readdirSync(path) : withFolder(sandbox, real, 'list', (folder) => readdirSync(folder))).sort()
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
  const { sandbox } = workspace
  const target = workspace.usable(path, 'delete', true)
  let isDir = false
  return attempt(
    workspace,
    path,
    () => {
      isDir = lstatSync(target).isDirectory()
      if (sandbox !== null) removeConfined(sandbox, target, isDir)
      else if (isDir) rmSync(target, { recursive: true })
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

function removeConfined(sandbox: FileSandbox, target: string, isDir: boolean): void {
  if (isDir) removeFolder(sandbox, target)
  else runInFolder(sandbox, target, 'delete', unlinkSync)
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
          rename(workspace, source, target)
        } catch (cause) {
          if (readOsErrorCode(cause) !== 'EXDEV') throw cause
          copyOne(workspace, source, target)
          if (workspace.sandbox === null) rmSync(source)
          else removeConfined(workspace.sandbox, source, false)
        }
      }
      return { path: workspace.shown(path), to: shownTo }
    },
    { to: shownTo },
  )
}

function rename({ sandbox }: Workspace, source: string, target: string): void {
  if (sandbox === null) renameSync(source, target)
  else runInFolder(sandbox, source, 'delete', (from) => runInFolder(sandbox, target, 'write', (to) => renameSync(from, to)))
}

/** With its mode. */
function copyOne({ sandbox }: Workspace, source: string, target: string): void {
  if (!statSync(source).isFile()) throw new Error(NO_FILE_TO_COPY)
  if (sandbox === null) {
    overwriteFile(target, { copyOf: source })
    return
  }
  withFile(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK, (fd) => {
    sandbox.recheck(fd, source, 'read')
    const { size, mode } = fstatSync(fd)
    sandbox.checkSize(size, source, 'read')
    writeConfined(sandbox, target, readFileSync(fd), { append: false, path: target, mode })
  })
}

function toBytes(data: Plain): Uint8Array {
  return data instanceof Uint8Array ? data : Buffer.from(String(data))
}

/** With parents. Not Node's own `recursive`, which never returns where a parent can neither be made nor found (`/proc/x`). */
function makeFolders({ sandbox }: Workspace, path: string): void {
  const missing: string[] = []
  for (let at = path; !statSync(at, { throwIfNoEntry: false })?.isDirectory(); at = dirname(at)) {
    missing.push(at)
    if (dirname(at) === at) break
  }
  for (const folder of missing.reverse()) {
    try {
      if (sandbox === null) mkdirSync(folder)
      else runInFolder(sandbox, folder, 'create', (at) => mkdirSync(at))
    } catch (cause) {
      // Another program may have made it since.
      if ((cause as { readonly code?: unknown }).code !== 'EEXIST' || !statSync(folder).isDirectory()) throw cause
    }
  }
}

// Files that are replaced as a whole: readers see the old content or the new one, also when the writer is killed or the disk is
// full, and what could not be written leaves nothing behind. The new content goes to a file beside the old one, which then takes its place.

import { randomUUID } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname } from 'node:path'
import { readOsErrorCode } from '../tools/executors/os-errors.js'

export interface WholeFileOptions {
  /** Permissions of the file, regardless of the umask. */
  readonly mode?: number | undefined
  /** Permissions of a new file before the process takes away what it does not give (umask); 0644 by default. */
  readonly newMode?: number | undefined
  /** Has the content on the disk before the name changes: it survives a power cut then. */
  readonly flush?: boolean | undefined
  /** Looks at the opened file before anything is written. */
  readonly check?: ((fd: number, path: string) => void) | undefined
  /** The only writer, because it holds a lock: what another one left half-written is replaced, and does not stay. */
  readonly alone?: boolean | undefined
}

/** What a file is to hold: bytes, a text, or what another file holds, with its permissions. */
export type WholeContent = string | Uint8Array | { readonly copyOf: string }

/** Throws what the operating system says, with the old file as it was. */
export function writeWholeFile(path: string, content: WholeContent, options: WholeFileOptions = {}): void {
  const temporary = options.alone === true ? `${path}.tmp` : `${path}.${randomUUID().slice(0, 8)}.tmp`
  if (options.alone === true) rmSync(temporary, { force: true })
  try {
    if (typeof content === 'string' || content instanceof Uint8Array) writeNew(temporary, content, options)
    else copyFileSync(content.copyOf, temporary, constants.COPYFILE_EXCL)
    renameSync(temporary, path)
  } catch (cause) {
    // Another one's file of that name is another one's business; with eight hex digits there is none.
    if (readOsErrorCode(cause) !== 'EEXIST') rmSync(temporary, { force: true })
    throw cause
  }
}

function writeNew(path: string, content: string | Uint8Array, { check, mode, newMode = 0o644, flush }: WholeFileOptions): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
  const fd = openSync(path, flags, mode ?? newMode)
  try {
    check?.(fd, path)
    if (mode !== undefined) fchmodSync(fd, mode & 0o7777)
    writeAll(fd, typeof content === 'string' ? Buffer.from(content) : content)
    if (flush === true) fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Codes of what keeps a file from being made beside another one, which itself can perhaps be written. */
export const NO_SIBLING: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG', 'EBUSY'])

/**
 * The same for a file that may be there: it keeps its permissions (of `copyOf` it gets the other's), and has to be one that the process may
 * write. False when it cannot be replaced: for pipes and devices, or in a folder that cannot be written. `isReplaceable` refuses more.
 */
export function replaceFile(
  path: string,
  content: WholeContent,
  options: WholeFileOptions & { readonly replaceable?: (file: Stats) => boolean } = {},
): boolean {
  const before = lstatSync(path, { throwIfNoEntry: false })
  if (before !== undefined) {
    if (!before.isFile() || options.replaceable?.(before) === false) return false
    accessSync(path, constants.W_OK)
  }
  try {
    writeWholeFile(path, content, { ...options, mode: options.mode ?? before?.mode })
    return true
  } catch (cause) {
    if (NO_SIBLING.has(readOsErrorCode(cause))) return false
    throw cause
  }
}

/**
 * Replaces the content of a file: atomically if possible, else in place. The latter also when it has other
 * names or another owner, for which it stays what it is, unless `evenIfShared`. Throws what the operating system says.
 */
export function overwriteFile(path: string, content: WholeContent, options: { readonly evenIfShared?: boolean } = {}): void {
  const isReplaceable = (file: Stats): boolean =>
    options.evenIfShared === true || (file.nlink === 1 && file.uid === (process.getuid?.() ?? file.uid))
  if (replaceFile(resolveLinks(path), content, { newMode: 0o666, replaceable: isReplaceable })) return
  if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(path, content)
  else copyFileSync(content.copyOf, path)
}

/** The file that a link to it stands for: replacing the link would not change it. One to nowhere is written through. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** The operating system may take a part of what it is given. */
export function writeAll(fd: number, data: Uint8Array): void {
  for (let at = 0; at < data.length;) at += writeSync(fd, data, at)
}

/** Appends all or nothing to a file opened for appending: when the disk is full in the middle, it gets its length back. */
export function appendAll(fd: number, data: Uint8Array): void {
  const before = fstatSync(fd).size
  let at = 0
  try {
    while (at < data.length) at += writeSync(fd, data, at)
  } catch (cause) {
    // When others append too, the end is not ours to cut off.
    if (at > 0 && fstatSync(fd).size === before + at) ftruncateSync(fd, before)
    throw cause
  }
}

/** Opens a file that begins anew and is appended to. Not with O_TRUNC beside O_APPEND, which Deno refuses. */
export function openAnew(path: string): number {
  const fd = openSync(path, 'a')
  try {
    // A device has no length; what opened with O_TRUNC was left alone as well.
    if (fstatSync(fd).isFile()) ftruncateSync(fd, 0)
    return fd
  } catch (cause) {
    closeSync(fd)
    throw cause
  }
}

/** With parents. Not Node's own `recursive`, which never returns where a parent can neither be made nor found (`/proc/x`). */
export function makeFolders(path: string, mode = 0o777): void {
  try {
    makeFolder(path, mode)
  } catch (cause) {
    if (readOsErrorCode(cause) !== 'ENOENT' || dirname(path) === path) throw cause
    makeFolders(dirname(path), mode)
    makeFolder(path, mode)
  }
}

/** Another process may make it at the same time. */
function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode })
  } catch (cause) {
    if (readOsErrorCode(cause) !== 'EEXIST') throw cause
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`, { cause }), { code: 'ENOTDIR' })
  }
}

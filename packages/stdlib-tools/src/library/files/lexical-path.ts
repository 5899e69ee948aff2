// Paths as text, without access to a file system. `\` counts as `/`, a drive prefix `X:` is kept.

import { SHORT_TEXT, work } from '@bridle/vm/families'

export interface ParsedPath {
  /** `C:`, or empty. */
  readonly drive: string
  readonly absolute: boolean
  /** Without `.`; `..` only at the start of a relative path. */
  readonly segments: readonly string[]
}

/** Every reading of a path begins here; no system knows paths so long that they cost anything. */
export function toPosix(path: string): string {
  if (path.length > SHORT_TEXT) work(path.length)
  return path.includes('\\') ? path.replaceAll('\\', '/') : path
}

export function isAbsolutePath(path: string): boolean {
  return /^(?:[A-Za-z]:)?\//.test(toPosix(path))
}

/** Why a text from outside cannot be a folder below another one, or null: it would name that one itself, or one beside it. */
export function describeFolderNameProblem(name: string): string | null {
  if (name.trim() === '') return 'must be a non-empty string'
  if (name.includes('\0')) return 'must not have a NUL character'
  if (isAbsolutePath(name)) return 'must be relative'
  const parts = name.split(/[\\/]/)
  if (parts.includes('..')) return 'must not have `..`'
  return parts.every((part) => part === '' || part === '.') ? 'must name a folder' : null
}

/**
 * The name of the folder that an id has: one component for each id. As a path, `a/b`, `a//b` and `a/./b` would be one folder, and that would
 * be the folder `b` in the one of the id `a`.
 */
export function encodeFolderName(id: string): string {
  return id.replaceAll('%', '%25').replaceAll('/', '%2F').replaceAll('\\', '%5C')
}

/** The id of such a folder. */
export function decodeFolderName(name: string): string {
  return name.replaceAll('%2F', '/').replaceAll('%5C', '\\').replaceAll('%25', '%')
}

export function parsePath(path: string): ParsedPath {
  const posix = toPosix(path)
  const drive = /^[A-Za-z]:/.exec(posix)?.[0] ?? ''
  const rest = posix.slice(drive.length)
  const absolute = rest.startsWith('/')
  const segments: string[] = []
  for (const part of rest.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') segments.push(part)
    else if (segments.length > 0 && segments.at(-1) !== '..') segments.pop()
    else if (!absolute) segments.push('..')
  }
  return { drive, absolute, segments }
}

/** As `parsePath`, but with `.` and `..` left where they stand: the parts of a path as it was written. */
export function splitPath(path: string): ParsedPath {
  const posix = toPosix(path)
  const drive = /^[A-Za-z]:/.exec(posix)?.[0] ?? ''
  const rest = posix.slice(drive.length)
  return { drive, absolute: rest.startsWith('/'), segments: rest.split('/').filter((part) => part !== '') }
}

export function showPath(path: ParsedPath): string {
  const body = path.segments.join('/')
  if (path.absolute) return `${path.drive}/${body}`
  return body === '' && path.drive === '' ? '.' : path.drive + body
}

export function normalizePath(path: string): string {
  return path === '' ? '' : showPath(parsePath(path))
}

/** All but the last segment: empty for a single relative one, the root for the root. */
export function getParentPath(path: string): string {
  const parsed = splitPath(path)
  const segments = parsed.segments.slice(0, -1)
  return segments.length === 0 && !parsed.absolute ? parsed.drive : showPath({ ...parsed, segments })
}

export function getBaseName(path: string): string {
  return splitPath(path).segments.at(-1) ?? ''
}

/** Where the extension begins in a base name; its length when there is none. */
function findDot(name: string): number {
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? name.length : dot
}

/** With its dot; empty for a name without one and for a name that only begins with one. */
export function getExtension(path: string): string {
  const name = getBaseName(path)
  return name.slice(findDot(name))
}

export function getStem(path: string): string {
  const name = getBaseName(path)
  return name.slice(0, findDot(name))
}

export function withBaseName(path: string, name: string): string {
  const parsed = splitPath(path)
  const shown = showPath({ ...parsed, segments: [...parsed.segments.slice(0, -1), name] })
  return shown === '.' && name === '' ? '' : shown
}

/** The way from `base` to `path` by their segments alone; null when only one is absolute or the drives differ. */
export function makeRelativePath(path: string, base: string): string | null {
  const target = parsePath(path)
  const from = parsePath(base)
  if (target.absolute !== from.absolute || target.drive.toLowerCase() !== from.drive.toLowerCase()) return null
  let shared = 0
  while (shared < target.segments.length && shared < from.segments.length && target.segments[shared] === from.segments[shared])
    shared++
  const up = from.segments.slice(shared)
  const steps = [...up.map(() => '..'), ...target.segments.slice(shared)]
  return steps.length === 0 ? '.' : steps.join('/')
}

/** Joins as the operating system's path type does: an absolute part starts over, an empty one only adds a final slash. */
export function joinPaths(parts: readonly string[]): string {
  // Of the last part that starts over; asking what is joined so far for its end would copy it each time.
  let from = 0
  for (const [at, part] of parts.entries()) if (part.startsWith('/')) from = at
  let path = ''
  let isOpen = true
  for (const part of parts.slice(from)) {
    path += isOpen ? part : `/${part}`
    isOpen = path === '' || part === '' || part.endsWith('/')
  }
  return path
}

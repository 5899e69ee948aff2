// Which files a run may touch. A path is resolved by text, compared with the allowed roots component by component, resolved
// again through the real file system (symbolic links of the deepest existing ancestor), and compared once more. A caller that
// opens the result checks the opened file with `recheck`, which closes the gap between checking and using.
//
// Violations are errors of category `tool_rejected`; nothing was touched then. Without a sandbox (the command line without
// `--root`) nothing here runs.

import { fstatSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { compileWildcards } from '@bridle/compiler/grants'
import { readOsErrorCode } from '../tools/executors/os-errors.js'

export type FileAccess = 'read' | 'write' | 'create' | 'delete' | 'list' | 'exec'

export type ViolationType = 'path_malformed' | 'path_traversal' | 'file_access' | 'symlink_denied' | 'limit'

export class SandboxViolation extends Error {
  override readonly name = 'SandboxViolation'
  readonly type: ViolationType

  constructor(type: ViolationType, message: string) {
    super(message)
    this.type = type
  }
}

export interface SandboxRoot {
  readonly path: string
  /** What may be done below it; everything by default. */
  readonly access?: readonly FileAccess[]
}

export interface SandboxOptions {
  readonly roots: readonly (string | SandboxRoot)[]
  /** Files and folders whose name begins with a dot; allowed by default. */
  readonly hidden?: boolean
  /** `within-roots` (default) follows links that stay inside, `deny` follows none. */
  readonly symlinks?: 'within-roots' | 'deny'
  /** Names or glob patterns (`*`, `?`) of path components that are never touched, such as `.env`; they win over roots. */
  readonly deny?: readonly string[]
  /** Largest file that may be read or written, bytes; 100 MiB by default. */
  readonly maxFileBytes?: number
  /** Most entries of one listing or walk; 10,000 by default. */
  readonly maxEntries?: number
  /** Most bytes written in the whole run; no limit by default. */
  readonly maxWrittenBytes?: number
}

const RESERVED_ON_WINDOWS = /^(con|prn|aux|nul|com[1-9]|lpt[1-9])(\..*)?$/i
const ENCODED_TRAVERSAL = /%(25)*2e|%(25)*2f|%(25)*5c|%(25)*00/i

export class FileSandbox {
  readonly maxFileBytes: number
  readonly maxEntries: number
  private readonly roots: readonly {
    readonly path: string
    readonly real: string
    readonly access: ReadonlySet<FileAccess> | null
  }[]
  private readonly hidden: boolean
  private readonly symlinks: 'within-roots' | 'deny'
  private readonly deny: readonly ((component: string) => boolean)[]
  private leftToWrite: number

  constructor(options: SandboxOptions) {
    this.roots = options.roots.map((root) => {
      const { path, access } = typeof root === 'string' ? { path: root, access: undefined } : root
      const absolute = resolve(path)
      return { path: absolute, real: resolveDeepest(absolute).path, access: access === undefined ? null : new Set(access) }
    })
    this.hidden = options.hidden ?? true
    this.symlinks = options.symlinks ?? 'within-roots'
    this.deny = (options.deny ?? []).map(compileComponentPattern)
    this.maxFileBytes = options.maxFileBytes ?? 100 << 20
    this.maxEntries = options.maxEntries ?? 10_000
    this.leftToWrite = options.maxWrittenBytes ?? Number.POSITIVE_INFINITY
  }

  /**
   * The real path behind `path`, which is relative to `cwd`. With `keepLast` the last component is not followed when it is a
   * link: what is deleted or moved is the link itself. Throws SandboxViolation.
   */
  resolve(path: string, access: FileAccess, cwd: string, keepLast = false): string {
    this.checkText(path)
    const absolute = isAbsolute(path) ? resolve(path) : resolve(cwd, path)
    if (!this.allows(absolute, access, 'path')) {
      if (!isAbsolute(path)) throw new SandboxViolation('path_traversal', 'Path traversal detected: cannot go above root')
      throw new SandboxViolation('file_access', `File access violation: ${access} on '${path}' - outside the allowed roots`)
    }
    this.checkNames(absolute, path, access)
    if (access === 'delete') this.checkRoots(absolute, path, 'path')
    const found = keepLast ? resolveDeepest(dirname(absolute)) : resolveDeepest(absolute)
    const real = keepLast ? join(found.path, basename(absolute)) : found.path
    if (found.loop || !this.allows(real, access, 'real')) {
      throw new SandboxViolation(
        'symlink_denied',
        `File access violation: ${access} on '${path}' - a symbolic link leads outside the allowed roots`,
      )
    }
    this.checkNames(real, path, access)
    if (access === 'delete') this.checkRoots(real, path, 'real')
    if (this.symlinks === 'deny' && this.isThroughLink(absolute, keepLast)) {
      throw new SandboxViolation(
        'symlink_denied',
        `File access violation: ${access} on '${path}' - symbolic links are not followed`,
      )
    }
    return real
  }

  /** Whether a real path that a walk came across may be shown. */
  shows(real: string): boolean {
    return this.allows(real, 'list', 'real') && !this.isDenied(real)
  }

  /** After opening `real`: the file behind the descriptor must be the one that was checked. */
  recheck(fd: number, real: string, access: FileAccess): void {
    const opened = fstatSync(fd)
    let now: { readonly dev: number; readonly ino: number } | null = null
    try {
      now = realpathSync(real) === real ? lstatSync(real) : null
    } catch (cause) {
      // It was moved away between opening and checking; other errors are reported unchanged.
      if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(readOsErrorCode(cause))) throw cause
    }
    if (now === null || now.dev !== opened.dev || now.ino !== opened.ino) this.changed(real, access)
  }

  /** The file is no longer the one that was judged. */
  changed(real: string, access: FileAccess): never {
    throw new SandboxViolation(
      'symlink_denied',
      `File access violation: ${access} on '${real}' - the path changed while it was opened`,
    )
  }

  checkSize(bytes: number, path: string, access: FileAccess): void {
    if (bytes > this.maxFileBytes)
      throw new SandboxViolation(
        'limit',
        `File access violation: ${access} on '${path}' - ${bytes} bytes are more than the ${this.maxFileBytes} allowed`,
      )
  }

  chargeWrite(bytes: number, path: string): void {
    this.checkSize(bytes, path, 'write')
    if (bytes > this.leftToWrite)
      throw new SandboxViolation('limit', `File access violation: write on '${path}' - the run has written as much as it may`)
    this.leftToWrite -= bytes
  }

  /** Roots as texts, for messages. */
  describe(): string {
    return this.roots.map((root) => root.path).join(', ')
  }

  private checkText(path: string): void {
    const makeMalformed = (reason: string): SandboxViolation =>
      new SandboxViolation('path_malformed', `File access violation: path '${path.replaceAll('\0', '\\0')}' - ${reason}`)
    if (path === '') throw makeMalformed('the path is empty')
    if (path.includes('\0')) throw makeMalformed('the path contains a NUL byte')
    if (ENCODED_TRAVERSAL.test(path)) throw makeMalformed('encoded traversal')
    if (process.platform !== 'win32') return
    if (/^[\\/]{2}/.test(path)) throw makeMalformed('UNC and device paths are not allowed')
    const components = path.split(/[\\/]/)
    if (
      components.some(
        (component, at) =>
          RESERVED_ON_WINDOWS.test(component) || (component.includes(':') && !(at === 0 && /^[a-z]:$/i.test(component))),
      )
    ) {
      throw makeMalformed('reserved name')
    }
  }

  private checkNames(absolute: string, path: string, access: FileAccess): void {
    if (this.isDenied(absolute))
      throw new SandboxViolation('file_access', `File access violation: ${access} on '${path}' - the name is denied`)
  }

  /** A root of the host may be emptied, but not removed or moved. */
  private checkRoots(absolute: string, path: string, form: 'path' | 'real'): void {
    if (this.roots.some((root) => isWithin(root[form], absolute)))
      throw new SandboxViolation(
        'file_access',
        `File access violation: delete on '${path}' - it is an allowed root, or holds one`,
      )
  }

  /** Only components below the root count: the root itself was chosen by the host. */
  private isDenied(absolute: string): boolean {
    const root = this.roots.find((each) => isWithin(absolute, each.real) || isWithin(absolute, each.path))
    if (root === undefined) return true
    const base = isWithin(absolute, root.real) ? root.real : root.path
    const components = absolute
      .slice(base.length)
      .split(sep)
      .filter((component) => component !== '')
    return components.some(
      (component) =>
        (!this.hidden && (component.startsWith('.') || foldName(component).startsWith('.'))) ||
        this.deny.some((denies) => denies(component)),
    )
  }

  private allows(absolute: string, access: FileAccess, form: 'path' | 'real'): boolean {
    return this.roots.some((root) => {
      const within = isWithin(absolute, root[form]) || (form === 'path' && isWithin(absolute, root.real))
      return within && (root.access === null || root.access.has(access) || (access === 'create' && root.access.has('write')))
    })
  }

  private isThroughLink(absolute: string, keepLast: boolean): boolean {
    const root =
      this.roots.find((each) => isWithin(absolute, each.path)) ?? this.roots.find((each) => isWithin(absolute, each.real))
    if (root === undefined) return true
    const base = isWithin(absolute, root.path) ? root.path : root.real
    const components = absolute
      .slice(base.length)
      .split(sep)
      .filter((component) => component !== '')
    if (keepLast) components.pop()
    let at = base
    for (const component of components) {
      at = join(at, component)
      try {
        if (lstatSync(at).isSymbolicLink()) return true
      } catch {
        return false
      }
    }
    return false
  }
}

/** By component: `/data` holds `/data/x` and itself, not `/database`. Both absolute and normalised. */
export function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

const MAX_LINKS = 40

/** Real path of a path whose tail may not exist yet. A link to nowhere counts as followed. */
function resolveDeepest(absolute: string): { readonly path: string; readonly loop: boolean } {
  let path = absolute
  const tail: string[] = []
  for (let links = 0; ;) {
    try {
      return { path: join(realpathSync(path), ...tail), loop: false }
    } catch (cause) {
      if ((cause as { readonly code?: unknown }).code === 'ELOOP') return { path, loop: true }
    }
    const target = findDanglingTarget(path)
    if (target !== null) {
      if (++links > MAX_LINKS) return { path, loop: true }
      path = resolve(dirname(path), target)
      continue
    }
    const parent = dirname(path)
    if (parent === path) return { path: absolute, loop: false }
    tail.unshift(basename(path))
    path = parent
  }
}

function findDanglingTarget(path: string): string | null {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null
  } catch {
    return null
  }
}

/**
 * A name as the least exact file system compares it: without case, composed or not, without characters that show nothing, and without dots
 * and blanks at its end. It is unknown whether a folder is on such a system; on others this denies some names unnecessarily.
 */
function foldName(name: string): string {
  return name.normalize('NFKD').replaceAll(UNSEEN, '').toUpperCase().toLowerCase().normalize('NFC').replace(ENDING, '')
}

const UNSEEN = /[\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g
const ENDING = /(?<![. ])[. ]+$/

/** Whether a component is one of the denied names; those of alternate streams (`name:stream`) are names of the file. */
function compileComponentPattern(pattern: string): (component: string) => boolean {
  const fits = compileWildcards(foldName(pattern), { separator: null, one: true })
  return (component) => {
    const name = foldName(component)
    const colon = name.indexOf(':')
    return fits(name) || fits(component) || (colon > 0 && fits(name.slice(0, colon)))
  }
}

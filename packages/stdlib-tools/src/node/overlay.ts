// A real folder that a run may change as it likes, without a byte on the disk changing: reads come from the folder, changes stay in
// memory and are seen by the run from then on. For dry runs, for trying out what a model wrote, and for tests on real data. The
// host looks at `changes()` and may `apply()` them.
//
// The folder is a root of a FileSandbox, so what lies outside cannot be read through a link either. Where a path leads through a link
// of the folder, the change is kept at the link's target, as the disk would.

import { readFileSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { Effect, EffectOutcome } from '@bridle/vm'
import { readOsErrorCode, describeOsError } from '../tools/executors/os-errors.js'
import { MemoryFs, makeMemoryNode } from '../host/providers/memory.js'
import type { FileNode, FileTree } from '../host/providers/memory.js'
import { refused } from '../tools/executors/provider.js'
import type { EffectCall, Provider } from '../tools/executors/provider.js'
import { performFs } from './fs.js'
import { FileSandbox, isWithin } from './sandbox.js'
import type { FileAccess, SandboxOptions } from './sandbox.js'
import { Workspace, guardWork } from './workspace.js'
import type { EffectArgs } from '@bridle/vm'
import { withArguments } from '../library/effects/index.js'

export interface OverlayOptions extends Omit<SandboxOptions, 'roots'> {
  /** Where relative paths begin, below the root; the root itself by default. */
  readonly cwd?: string
}

/** One difference between what the run sees and the disk. */
export interface OverlayChange {
  /** Relative to the root, with `/`. */
  readonly path: string
  readonly change: 'created' | 'modified' | 'deleted'
  readonly isDir: boolean
}

/** A copy-on-write view of a folder. Throws what the operating system says when the folder cannot be found. */
export function overlayFs(root: string, options: OverlayOptions = {}): OverlayFs {
  return new OverlayFs(root, options)
}

export class OverlayFs implements Provider {
  readonly kinds = ['fs.read', 'fs.query', 'fs.write'] as const
  private readonly root: string
  private readonly cwd: string
  private readonly sandbox: FileSandbox
  private readonly rules: SandboxOptions
  private readonly tree: OverlayTree
  private readonly files: MemoryFs

  constructor(root: string, { cwd = '.', ...rules }: OverlayOptions = {}) {
    this.root = realpathSync(root)
    this.rules = { ...rules, roots: [this.root] }
    this.sandbox = new FileSandbox(this.rules)
    this.cwd = this.sandbox.resolve(cwd, 'list', this.root)
    this.tree = new OverlayTree(this.root, this.sandbox)
    this.files = new MemoryFs({}, this.cwd, this.tree)
  }

  readonly perform = (effect: Effect, call: EffectCall): EffectOutcome =>
    guardWork(() => {
      const { to, data, ownLink } = effect.args
      const access = chooseAccess(effect)
      const path = this.resolveCanonical(String(effect.args.path ?? ''), access, access === 'delete' || ownLink === true)
      const there = to === undefined ? {} : { to: this.resolveCanonical(String(to), 'write', false) }
      if (data !== undefined) this.sandbox.chargeWrite(Buffer.byteLength(data as string | Uint8Array), path)
      try {
        return this.files.perform(withArguments(effect, { path, ...there }), call)
      } catch (cause) {
        if (!(cause instanceof Error) || !('syscall' in cause)) throw cause
        return refused(readOsErrorCode(cause), describeOsError(cause), { path })
      }
    })

  /** Content of a file as the run sees it, or null. Relative to the root. */
  text(path: string): string | null {
    return this.files.text(join(this.root, path))
  }

  /** What is otherwise than on the disk, by path. What lies in a deleted folder is not listed. */
  changes(): OverlayChange[] {
    return this.tree.changes().map(({ path, change, isDir }) => ({
      path: relative(this.root, path).replaceAll(sep, '/'),
      change,
      isDir,
    }))
  }

  /**
   * Carries the changes out on the disk, by the same rules, deletions first. Not atomic: each file is replaced whole, the set of them is not.
   * Throws SandboxViolation, and an Error that names the file when the operating system refuses. Nothing differs afterwards.
   */
  apply(): void {
    const disk = new Workspace({ root: this.root, sandbox: new FileSandbox(this.rules) })
    const act = (args: EffectArgs['fs.write']): void => {
      const { op, path } = args
      const outcome = performFs(disk, { kind: 'fs.write', args })
      const refusal = outcome.ok ? (outcome.value as { readonly refused?: true; readonly detail?: string }) : null
      if (!outcome.ok) throw new Error(outcome.error.message)
      if (refusal?.refused === true) throw new Error(`${op} ${path}: ${refusal.detail}`)
    }
    const changes = this.tree.changes()
    for (const { path, change } of changes) if (change === 'deleted' || this.tree.replacesKind(path)) act({ op: 'delete', path })
    for (const { path, change, isDir } of changes) {
      if (change === 'deleted') continue
      if (isDir) act({ op: 'mkdir', path })
      else act({ op: 'write', path, data: this.tree.get(path)!.read() })
    }
    this.tree.clear()
  }

  /** The path without links, with `keepLast` but for one at its end; judged as the disk would judge it. */
  private resolveCanonical(path: string, access: FileAccess, keepLast: boolean): string {
    const real = this.sandbox.resolve(path, access, this.cwd, keepLast)
    // Paths created by the run contain no links, whatever the disk has there.
    const written = join(path.startsWith(sep) ? sep : this.cwd, path)
    return this.tree.isShadowed(written) ? written : real
  }
}

function chooseAccess({ kind, args }: Effect): FileAccess {
  if (kind !== 'fs.write') return args.op === 'list' || args.op === 'walk' ? 'list' : 'read'
  switch (args.op) {
    case 'mkdir':
      return 'create'
    case 'delete':
    case 'move':
      return 'delete'
    case 'copy':
      return 'read'
    default:
      return 'write'
  }
}

/** What was written, over what is on the disk. Deleting leaves a mark, which hides the place and what is below it on the disk. */
class OverlayTree implements FileTree {
  private readonly root: string
  private readonly sandbox: FileSandbox
  private readonly written = new Map<string, FileNode>()
  private readonly deleted = new Set<string>()

  constructor(root: string, sandbox: FileSandbox) {
    this.root = root
    this.sandbox = sandbox
  }

  get(path: string): FileNode | undefined {
    return this.written.get(path) ?? (this.isDeleted(path) ? undefined : this.onDisk(path))
  }

  names(path: string): readonly string[] {
    const names = new Set<string>()
    const below = this.isDeleted(path) || this.onDisk(path)?.isDir !== true ? [] : readdirSync(path)
    for (const name of below) if (!this.deleted.has(join(path, name)) && this.isShown(join(path, name))) names.add(name)
    for (const each of this.written.keys()) if (each !== path && dirname(each) === path) names.add(basename(each))
    return [...names].sort()
  }

  put(path: string, data: Uint8Array | null, modifiedMs: number): void {
    this.written.set(path, makeMemoryNode(data, modifiedMs))
  }

  delete(path: string): void {
    for (const each of [...this.written.keys()]) if (isWithin(each, path)) this.written.delete(each)
    if (this.isDeleted(path) || readStat(path, lstatSync) === undefined) return
    for (const each of [...this.deleted]) if (isWithin(each, path)) this.deleted.delete(each)
    this.deleted.add(path)
  }

  /** Whether the run, not the disk, says what is at a path. */
  isShadowed(path: string): boolean {
    for (let at = path; ; at = dirname(at)) {
      if (this.written.has(at) || this.deleted.has(at)) return true
      if (at === this.root || dirname(at) === at) return false
    }
  }

  changes(): { readonly path: string; readonly change: OverlayChange['change']; readonly isDir: boolean }[] {
    const found: { path: string; change: OverlayChange['change']; isDir: boolean }[] = []
    for (const path of this.deleted) {
      const isDir = this.onDisk(path)?.isDir === true
      if (!this.written.has(path)) found.push({ path, change: 'deleted', isDir })
    }
    for (const [path, node] of this.written) {
      const before = this.onDisk(path)
      if (before === undefined || this.isDeletedAbove(path)) found.push({ path, change: 'created', isDir: node.isDir })
      else if (!node.isDir || !before.isDir || this.deleted.has(path)) found.push({ path, change: 'modified', isDir: node.isDir })
    }
    return found.sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** A place that was deleted and written again, where what is on the disk has to go first. */
  replacesKind(path: string): boolean {
    return (
      this.deleted.has(path) && this.written.has(path) && (this.written.get(path)!.isDir || this.onDisk(path)?.isDir === true)
    )
  }

  clear(): void {
    this.written.clear()
    this.deleted.clear()
  }

  private isDeleted(path: string): boolean {
    return this.deleted.has(path) || this.isDeletedAbove(path)
  }

  private isDeletedAbove(path: string): boolean {
    for (let at = dirname(path); ; at = dirname(at)) {
      if (this.deleted.has(at)) return true
      if (at === this.root || dirname(at) === at) return false
    }
  }

  private isShown(path: string): boolean {
    try {
      return this.sandbox.shows(realpathSync(path))
    } catch {
      return false
    }
  }

  private onDisk(path: string): FileNode | undefined {
    // Folders above the root exist for the walk up to it, and show nothing.
    if (!isWithin(path, this.root)) return isWithin(this.root, path) ? makeMemoryNode(null, 0) : undefined
    const own = readStat(path, lstatSync)
    const found = own?.isSymbolicLink() === true ? readStat(path, statSync) : own
    if (own === undefined || found === undefined || !this.isShown(path)) return undefined
    // Reading a pipe or a device would wait, or never end.
    if (!found.isFile() && !found.isDirectory()) return undefined
    return {
      isDir: found.isDirectory(),
      size: found.isDirectory() ? 0 : found.size,
      modifiedMs: found.mtimeMs,
      read: () => {
        this.sandbox.checkSize(found.size, path, 'read')
        return readFileSync(path)
      },
      ...(own.isSymbolicLink() ? { isLink: true as const } : {}),
    }
  }
}

/** Undefined if nothing exists there, also below a file. */
function readStat(path: string, stat: typeof lstatSync): Stats | undefined {
  try {
    return stat(path, { throwIfNoEntry: false })
  } catch (cause) {
    if (readOsErrorCode(cause) === 'ENOTDIR') return undefined
    throw cause
  }
}

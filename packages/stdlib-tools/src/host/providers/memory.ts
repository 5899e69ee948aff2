// In-memory providers: a file system, a terminal, a key-value store, an HTTP counterpart and process facts. For tests, browsers
// and hosts that want to give a script a playground. They answer with the same records as the real ones.

import { measurePlain } from '@bridle/vm'
import { isSecretVariable } from '../../library/processes/process.js'
import type { Effect, EffectArgs, EffectOf, EffectOutcome, Plain } from '@bridle/vm'
import { hashSha256Bytes } from '../hash.js'
import { CHANGED_SINCE_READ, NO_FILE_TO_COPY, describeOsError } from '../../tools/executors/os-errors.js'
import { answered, categorizedError, provider, refused, runtimeError } from '../../tools/executors/provider.js'
import type { Provider } from '../../tools/executors/provider.js'

/** A file or folder of a tree. */
export interface FileNode {
  readonly isDir: boolean
  /** Bytes; 0 for folders. */
  readonly size: number
  readonly modifiedMs: number
  /** The content of a file; must not be changed. May throw an error of the operating system. */
  readonly read: () => Uint8Array
  /** A symbolic link to what the rest describes: walks show it and do not follow it. */
  readonly isLink?: true
}

/** Where a MemoryFs keeps its files, by absolute normalised path. `/` is a folder. */
export interface FileTree {
  get(path: string): FileNode | undefined
  /** Names of what lies directly in a folder, in order. */
  names(path: string): readonly string[]
  /** `data` null makes a folder. */
  put(path: string, data: Uint8Array | null, modifiedMs: number): void
  /** With all that lies below. */
  delete(path: string): void
}

export function makeMemoryNode(data: Uint8Array | null, modifiedMs: number): FileNode {
  return { isDir: data === null, size: data?.length ?? 0, modifiedMs, read: () => data ?? new Uint8Array(0) }
}

/** Default limit in bytes of an in-memory provider, for files, records and texts each. */
export const MEMORY_WORLD_BYTES = 64 << 20

/** Bytes of a file or directory beside its content, about: a directory has a map of its names. */
const NODE_BYTES = 600

/** Bytes of a record beside its content, about. */
const RECORD_BYTES = 128

/** Longer paths have no place in operating systems either. */
const LONGEST_PATH = 4096

/** What a world in memory says instead of growing. */
class NoSpace extends Error {}

export class MemoryTree implements FileTree {
  private readonly nodes = new Map<string, FileNode>([['/', makeMemoryNode(null, 0)]])
  private readonly folders = new Map<string, Set<string>>([['/', new Set()]])
  private readonly most: number
  private bytes = 0

  /** `mostBytes`: what lies in it, with the paths; more is refused like a full disk (ENOSPC). */
  constructor(mostBytes: number = MEMORY_WORLD_BYTES) {
    this.most = mostBytes
  }

  get(path: string): FileNode | undefined {
    return this.nodes.get(path)
  }

  names(path: string): readonly string[] {
    return [...(this.folders.get(path) ?? [])].sort()
  }

  put(path: string, data: Uint8Array | null, modifiedMs: number): void {
    const node = makeMemoryNode(data, modifiedMs)
    const before = this.nodes.get(path)
    const bytes = this.bytes + measureNode(path, node) - (before === undefined ? 0 : measureNode(path, before))
    if (bytes > this.most) throw new NoSpace()
    this.bytes = bytes
    this.nodes.set(path, node)
    if (path !== '/') this.ensureFolder(findParent(path)).add(readName(path))
  }

  delete(path: string): void {
    const pending = [path]
    for (let each = pending.pop(); each !== undefined; each = pending.pop()) {
      for (const name of this.folders.get(each) ?? []) pending.push(each === '/' ? `/${name}` : `${each}/${name}`)
      const node = this.nodes.get(each)
      if (node !== undefined) this.bytes -= measureNode(each, node)
      this.nodes.delete(each)
      this.folders.delete(each)
    }
    if (path !== '/') this.folders.get(findParent(path))?.delete(readName(path))
  }

  private ensureFolder(path: string): Set<string> {
    const names = this.folders.get(path) ?? new Set<string>()
    this.folders.set(path, names)
    return names
  }
}

function measureNode(path: string, node: FileNode): number {
  return NODE_BYTES + 2 * path.length + node.size
}

function readName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** A tree of files below `/`; folders exist when made or when something lies in them. */
export class MemoryFs implements Provider {
  readonly kinds = ['fs.read', 'fs.query', 'fs.write'] as const
  private readonly tree: FileTree
  private readonly cwd: string

  /** `tree` keeps the files; in memory when absent. */
  constructor(files: { readonly [path: string]: string | Uint8Array } = {}, cwd = '/', tree: FileTree = new MemoryTree()) {
    this.cwd = cwd
    this.tree = tree
    this.makeFolders(this.absolute('.'), 0)
    for (const [path, data] of Object.entries(files))
      this.put(this.absolute(path), typeof data === 'string' ? new TextEncoder().encode(data) : data, 0)
  }

  /** Content of a file as text, or null. */
  text(path: string): string | null {
    const node = this.tree.get(this.absolute(path))
    return node === undefined || node.isDir ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(node.read())
  }

  /** Paths of all files, in order. */
  files(): string[] {
    return this.walk('/', Infinity)
      .flatMap((entry) => (entry.isFile ? [entry.path] : []))
      .sort()
  }

  readonly perform = (effect: Effect, call: { readonly now: number }): EffectOutcome => {
    const given = String(effect.args.path ?? '')
    const to = String(effect.args.to ?? '')
    if (given.length > LONGEST_PATH || to.length > LONGEST_PATH) return refuseWith('ENAMETOOLONG', given)
    try {
      return this.operate(effect, call, this.absolute(given))
    } catch (cause) {
      if (!(cause instanceof NoSpace)) throw cause
      return refuseWith('ENOSPC', this.absolute(given))
    }
  }

  private operate(effect: Effect, call: { readonly now: number }, path: string): EffectOutcome {
    const { args } = effect
    const node = this.tree.get(path)
    if (effect.kind === 'fs.read') {
      if (node === undefined) return this.refuseMissing(path)
      if (node.isDir) return refuseWith('EISDIR', path)
      const data = node.read()
      if (args.encoding === 'bytes') return answered({ path, data: data.slice() })
      try {
        return answered({ path, data: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data) })
      } catch {
        return refused('EILSEQ', 'stream did not contain valid UTF-8', { path })
      }
    }
    switch (args.op) {
      case 'exists':
        return answered(node !== undefined)
      case 'stat':
        return node === undefined
          ? this.refuseMissing(path)
          : answered({
              path,
              size: node.size,
              isFile: !node.isDir && !isOwnLink(node, args),
              isDir: node.isDir && !isOwnLink(node, args),
              readonly: false,
              modifiedMs: node.modifiedMs,
            })
      case 'list': {
        if (node === undefined) return this.refuseMissing(path)
        return node.isDir ? answered({ path, names: this.tree.names(path) }) : refuseWith('ENOTDIR', path)
      }
      case 'walk':
        return answered({ path, entries: this.walk(path, typeof args.maxDepth === 'number' ? args.maxDepth : Infinity) })
      case 'resolve':
        return answered(path)
      case 'find_up':
        return answered(this.findUp(path, String(args.name)))
      case 'write': {
        const { expected } = args
        if (expected !== undefined && (node === undefined || node.isDir ? null : hashSha256Bytes(node.read())) !== expected)
          return refused('ECHANGED', CHANGED_SINCE_READ, { path })
        return this.write(path, toBytes(args.data ?? ''), call.now)
      }
      case 'append': {
        const added = toBytes(args.data ?? '')
        const before = node === undefined || node.isDir ? new Uint8Array(0) : node.read()
        const isWithinLine = args.ownLine === true && before.length > 0 && before.at(-1) !== 10
        const from = before.length + (isWithinLine ? 1 : 0)
        const joined = new Uint8Array(from + added.length)
        joined.set(before)
        if (isWithinLine) joined[before.length] = 10
        joined.set(added, from)
        return this.write(path, joined, call.now)
      }
      case 'mkdir': {
        for (let at = path; at !== '/'; at = findParent(at))
          if (this.tree.get(at)?.isDir === false) return refuseWith(at === path ? 'EEXIST' : 'ENOTDIR', path)
        this.makeFolders(path, call.now)
        return answered({ path })
      }
      case 'delete': {
        if (node === undefined) {
          const code = this.chooseMissingCode(path)
          return refused(code, describeOsError({ code }), { path, isDir: false })
        }
        this.tree.delete(path)
        return answered({ path, isDir: node.isDir })
      }
      case 'copy':
      case 'move':
        return this.transfer(args.op, path, this.absolute(String(args.to ?? '')), call.now)
      default:
        return runtimeError(`${effect.kind}: unknown operation ${JSON.stringify(args.op ?? null)}`)
    }
  }

  private absolute(path: string): string {
    const parts: string[] = []
    for (const part of (path.startsWith('/') ? path : `${this.cwd}/${path}`).split('/')) {
      if (part === '..') parts.pop()
      else if (part !== '' && part !== '.') parts.push(part)
    }
    return `/${parts.join('/')}`
  }

  private put(path: string, data: Uint8Array, now: number): void {
    this.makeFolders(findParent(path), now)
    this.tree.put(path, data, now)
  }

  private makeFolders(path: string, now: number): void {
    for (let at = path; this.tree.get(at) === undefined; at = findParent(at)) this.tree.put(at, null, now)
  }

  private write(path: string, data: Uint8Array, now: number): EffectOutcome {
    const parent = this.tree.get(findParent(path))
    if (parent === undefined) return this.refuseMissing(path)
    if (!parent.isDir) return refuseWith('ENOTDIR', path)
    if (this.tree.get(path)?.isDir === true) return refuseWith('EISDIR', path)
    this.tree.put(path, data.slice(), now)
    return answered({ path })
  }

  private transfer(op: 'copy' | 'move', path: string, to: string, now: number): EffectOutcome {
    const node = this.tree.get(path)
    const fail = (code: string): EffectOutcome => refused(code, describeOsError({ code }), { path, to })
    if (node === undefined) return fail(this.chooseMissingCode(path))
    if (op === 'copy' && node.isDir) return refused('EIO', NO_FILE_TO_COPY, { path, to })
    if (this.tree.get(findParent(to)) === undefined) return fail(this.chooseMissingCode(to))
    if (op === 'copy') {
      this.tree.put(to, node.read().slice(), now)
      return answered({ path, to })
    }
    if (to === path) return answered({ path, to })
    if (to.startsWith(`${path}/`)) return fail('EINVAL')
    const moved = this.walk(path, Infinity).map((entry) => ({ path: entry.path, node: this.tree.get(entry.path)! }))
    const contents = moved.map(({ node: each }) => (each.isDir ? null : each.read()))
    this.tree.delete(path)
    moved.forEach(({ path: each, node: { modifiedMs } }, at) =>
      this.tree.put(to + each.slice(path.length), contents[at]!, modifiedMs),
    )
    return answered({ path, to })
  }

  private walk(root: string, maxDepth: number): WalkEntry[] {
    const entries: WalkEntry[] = []
    const visit = (path: string, depth: number): void => {
      const node = this.tree.get(path)
      if (node === undefined) return
      const isLink = node.isLink === true && depth > 0
      entries.push({ path, isDir: node.isDir && !isLink, isFile: !node.isDir && !isLink, depth })
      if (!node.isDir || isLink || depth >= maxDepth) return
      for (const name of this.tree.names(path)) visit(path === '/' ? `/${name}` : `${path}/${name}`, depth + 1)
    }
    visit(root, 0)
    return entries
  }

  private findUp(path: string, name: string): string | null {
    for (let at = path; ; at = findParent(at)) {
      if (this.tree.get(at === '/' ? `/${name}` : `${at}/${name}`) !== undefined) return at
      if (at === '/') return null
    }
  }

  private refuseMissing(path: string): EffectOutcome {
    return refuseWith(this.chooseMissingCode(path), path)
  }

  private chooseMissingCode(path: string): 'ENOENT' | 'ENOTDIR' {
    for (let at = findParent(path); at !== '/'; at = findParent(at)) if (this.tree.get(at)?.isDir === false) return 'ENOTDIR'
    return 'ENOENT'
  }
}

/** Whether a link itself was asked about, and not what it leads to. */
function isOwnLink(node: FileNode, { ownLink }: Effect['args']): boolean {
  return ownLink === true && node.isLink === true
}

type WalkEntry = { readonly path: string; readonly isDir: boolean; readonly isFile: boolean; readonly depth: number }

function refuseWith(code: string, path: string): EffectOutcome {
  return refused(code, describeOsError({ code }), { path })
}

function findParent(path: string): string {
  const at = path.lastIndexOf('/')
  return at <= 0 ? '/' : path.slice(0, at)
}

function toBytes(data: Plain): Uint8Array {
  return data instanceof Uint8Array ? data : new TextEncoder().encode(String(data))
}

/** A terminal whose input is given and whose standard error is kept. */
export class MemoryTerminal implements Provider<'terminal.read' | 'terminal.write'> {
  readonly kinds = ['terminal.read', 'terminal.write'] as const
  written = ''
  private readonly lines: string[]

  constructor(lines: readonly string[] = []) {
    this.lines = [...lines]
  }

  readonly perform = (effect: EffectOf<'terminal.read' | 'terminal.write'>): EffectOutcome => {
    if (effect.kind === 'terminal.write') {
      const { text } = effect.args
      if (this.written.length + text.length > MEMORY_WORLD_BYTES)
        return runtimeError(`terminal.write: a terminal in memory keeps ${MEMORY_WORLD_BYTES} characters, and no more`)
      this.written += text
      return answered(null)
    }
    switch (effect.args.op) {
      case 'line':
      case 'password':
        return answered(this.lines.shift() ?? null)
      case 'all':
        return answered(
          this.lines
            .splice(0)
            .map((line) => `${line}\n`)
            .join(''),
        )
      case 'tty':
        return answered(false)
    }
  }
}

/** Key-value records by namespace: get, set, delete, list, clear. */
export class MemoryStore implements Provider<'store.op'> {
  readonly kinds = ['store.op'] as const
  private readonly records = new Map<string, Map<string, Plain>>()
  private readonly most: number
  private units = 0

  /** `mostUnits`: heap units of its records with their keys. */
  constructor(mostUnits: number = MEMORY_WORLD_BYTES) {
    this.most = mostUnits
  }

  readonly perform = ({ args }: EffectOf<'store.op'>): EffectOutcome => {
    if (args.op === 'set' || args.op === 'delete' || args.op === 'clear') {
      const added = args.op === 'set' ? measureRecord(args.namespace, args.key, args.value) : 0
      const units = this.units + added - this.measureUnits(args.namespace, args.op === 'clear' ? null : args.key)
      if (args.op === 'set' && units > this.most)
        return runtimeError(`store.op: the store in memory is full: it keeps ${this.most} heap units, and this makes ${units}`)
      this.units = units
    }
    return storeOperation(this.records, args)
  }

  /** Of one record, or of all in the namespace. */
  private measureUnits(namespace: string, key: string | null): number {
    const space = this.records.get(namespace)
    if (space === undefined) return 0
    if (key !== null) return space.has(key) ? measureRecord(namespace, key, space.get(key)!) : 0
    let units = 0
    for (const [each, value] of space) units += measureRecord(namespace, each, value)
    return units
  }
}

function measureRecord(namespace: string, key: string, value: Plain): number {
  return RECORD_BYTES + namespace.length + key.length + measurePlain(value, Infinity)
}

/** One store operation on maps; shared with the store that keeps them in a file. */
export function storeOperation(records: Map<string, Map<string, Plain>>, args: EffectArgs['store.op']): EffectOutcome {
  const { namespace } = args
  const space = records.get(namespace)
  switch (args.op) {
    case 'get':
      return answered(space?.get(args.key) ?? null)
    case 'set': {
      if (space === undefined) records.set(namespace, new Map([[args.key, args.value]]))
      else space.set(args.key, args.value)
      return answered(null)
    }
    case 'delete':
      return answered(space?.delete(args.key) ?? false)
    case 'list':
      return answered([...(space?.keys() ?? [])].sort())
    case 'clear':
      return answered(records.delete(namespace))
  }
}

/** Answers HTTP requests with a function; what it returns is the response. */
export function scriptedHttp(
  respond: (request: {
    readonly method: string
    readonly url: string
    readonly headers: { readonly [name: string]: string }
    readonly body: string
  }) => { readonly status?: number; readonly headers?: { readonly [name: string]: string }; readonly body?: string } | null,
): Provider {
  return {
    kinds: ['http.request'],
    perform(effect) {
      const { method, url, headers, body } = effect.args
      const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : typeof body === 'string' ? body : ''
      const response = respond({
        method: String(method),
        url: String(url),
        headers: (headers ?? {}) as { [name: string]: string },
        body: text,
      })
      if (response === null) return refused('ECONNREFUSED', describeOsError({ code: 'ECONNREFUSED' }))
      return answered({
        status: response.status ?? 200,
        headers: { ...response.headers },
        body: new TextEncoder().encode(response.body ?? ''),
        bytesWritten: 0,
      })
    },
  }
}

/** Characters of a variable with its name, and number of variables, of an environment in memory. */
const LONGEST_VARIABLE = 1 << 17
const MOST_VARIABLES = 1 << 10

/** Facts of a process that does not exist: environment and arguments are given, nothing can be started. */
export function memoryProcess(
  options: { readonly env?: { readonly [name: string]: string }; readonly args?: readonly string[]; readonly cwd?: string } = {},
): Provider {
  const env = new Map(Object.entries(options.env ?? {}))
  const facts: { readonly [op: string]: Plain } = {
    cwd: options.cwd ?? '/',
    platform: 'linux',
    arch: 'x86_64',
    hostname: 'localhost',
    username: 'user',
    home: '/home/user',
    temp: '/tmp',
    exe: '/bin/bridle',
    pid: 1,
    shells: { shells: [], default: null, platform: 'unknown' },
    args: [...(options.args ?? [])],
  }
  return provider({
    kinds: ['process.info', 'process.set', 'process.exec'],
    perform(effect, call) {
      if (effect.kind === 'process.exec') return categorizedError('tool_rejected', 'process.exec: this host starts no programs')
      const { args } = effect
      switch (args.op) {
        case 'env':
          return answered(env.get(args.name) ?? null)
        case 'env_all':
          return answered(Object.fromEntries([...env].filter(([each]) => !isSecretVariable(each))))
        case 'env_set':
          return answered((env.get(args.name) ?? '') !== '')
        case 'setenv': {
          const { name, value } = args
          if (name.length + (value ?? '').length > LONGEST_VARIABLE || (env.size >= MOST_VARIABLES && !env.has(name)))
            return runtimeError(
              'process.set: the environment in memory takes no more: it has too many variables, or this one is too long',
            )
          if (value === null) env.delete(name)
          else env.set(name, value)
          return answered(null)
        }
        case 'exit':
          call.exit(args.code)
          return new Promise((resolve) =>
            call.signal.addEventListener('abort', () => resolve(runtimeError('the run has ended')), { once: true }),
          )
        default: {
          const fact = facts[args.op]
          return fact === undefined
            ? runtimeError(`${effect.kind}: unknown operation ${JSON.stringify(args.op)}`)
            : answered(fact)
        }
      }
    },
  })
}

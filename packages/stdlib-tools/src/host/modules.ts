// Where modules come from, in this order: `std/NAME` from the embedded table (and what the host adds to
// it), `host/NAME` made from the host's definitions, everything else from the host's resolver. What was resolved is kept with
// the compiled module, so that a snapshot can carry the sources it needs.

import type { Resolution } from '@bridle/compiler'
import { readStoredModule } from '@bridle/compiler/bytecode'
import type { CompiledModule, ModuleChunk, StoredModule } from '@bridle/compiler/bytecode'
import { isCeiling } from '@bridle/compiler/grants'
import type { ImportCeiling } from '@bridle/compiler/grants'
import { STD_COMPILED } from '../std-compiled.generated.js'
import { findStdText } from './std-texts.js'
import type { Host } from '../tools/host-tools/host.js'

/** Finds a module that a script names; null leaves the standard text for a missing file. Must answer at once. */
export type ResolveModule = (path: string, fromKey: string) => Resolution | null

export interface ModuleSource {
  readonly key: string
  readonly text: string
  /** What stands for the text where a program is named by its sources. */
  readonly hash?: string
}

/** Everything a program was made of. */
export interface ProgramSources {
  readonly entry: ModuleSource
  /** The pipeline that was chosen to run, when it was not the usual one. */
  readonly pipeline?: string
  /** What the host leaves to imported modules, by path or key. */
  readonly ceilings?: { readonly [path: string]: ImportCeiling }
  /** Without those of the standard library once they were packed: `std/` is the same everywhere. */
  readonly modules: readonly ModuleSource[]
  /** `[importing module, path as written, key or null, message of a failure]`. */
  readonly imports: readonly (readonly [from: string, path: string, key: string | null, message: string])[]
}

const STD_KEY = '<stdlib>/'

/** Of `host/NAME` when it is made from the host's definitions. */
const makeHostKey = (path: string): string => `<${path.slice(0, 'host'.length)}>${path.slice('host'.length)}.harn`

/** `std/NAME`; `added` is what the host puts beside or in place of the embedded table. */
export function stdModule(path: string, added: ReadonlyMap<string, string>): Resolution {
  const name = path.slice('std/'.length)
  const key = `${STD_KEY}${name}.harn`
  const stored = added.has(name) ? undefined : STD_COMPILED.get(name)
  if (stored !== undefined) return new StdModule(name, key, stored)
  const text = added.get(name) ?? findStdText(name)
  return text === undefined ? { kind: 'error', message: `Unknown stdlib module: ${path}` } : { kind: 'source', key, text }
}

/** Names of all modules `std/NAME`. */
export function listStdModules(added: ReadonlyMap<string, string>): readonly string[] {
  return [...new Set([...STD_COMPILED.keys(), ...added.keys()])]
}

/** The module `std/NAME` that alone exports a name; null when there is none, or several. */
export function findStdModule(name: string): string | null {
  exporting ??= readExporting()
  return exporting.get(name) ?? null
}

/** Of the embedded table, which never changes. */
let exporting: ReadonlyMap<string, string | null> | null = null

function readExporting(): ReadonlyMap<string, string | null> {
  const found = new Map<string, string | null>()
  for (const module of STD_COMPILED.keys()) {
    const resolution = stdModule(`std/${module}`, new Map())
    if (resolution.kind === 'error') continue
    for (const name of resolution.readCompiled?.()?.interface.exports ?? [])
      found.set(name, found.has(name) ? null : `std/${module}`)
  }
  return found
}

/** Compiled modules by what they are stored as: compilers of one process share them. */
const read = new WeakMap<StoredModule, { readonly module: CompiledModule | null }>()

type SourceResolution = Extract<Resolution, { kind: 'source' }>

/** A module of the embedded table: its source is loaded on request, its code for compiling. */
class StdModule implements SourceResolution {
  readonly kind = 'source'
  readonly key: string
  private readonly name: string
  private readonly stored: StoredModule

  constructor(name: string, key: string, stored: StoredModule) {
    this.name = name
    this.key = key
    this.stored = stored
  }

  get text(): string {
    return findStdText(this.name) ?? ''
  }

  readonly readCompiled = (): CompiledModule | null => {
    let known = read.get(this.stored)
    if (known === undefined) read.set(this.stored, (known = { module: readStoredModule(this.stored) }))
    return known.module
  }
}

/** The code of a standard module by its key; null where there is none that was compiled before. */
export function findStdChunk(key: string, added: ReadonlyMap<string, string>): ModuleChunk | null {
  if (!key.startsWith(STD_KEY)) return null
  const found = stdModule(`std/${key.slice(STD_KEY.length, -'.harn'.length)}`, added)
  return found.kind === 'source' ? (found.readCompiled?.()?.chunk ?? null) : null
}

/** A program's reference to a standard module: the key; source and hash on request. */
class StdSource implements ModuleSource {
  readonly key: string
  private readonly found: SourceResolution

  constructor(found: SourceResolution) {
    this.key = found.key
    this.found = found
  }

  get text(): string {
    return this.found.text
  }

  get hash(): string {
    return this.found.readCompiled?.()?.chunk.fingerprint ?? this.text
  }
}

export class SourceCollector {
  private readonly modules = new Map<string, ModuleSource>()
  private readonly imports = new Map<string, readonly [string, string, string | null, string]>()
  private readonly host: Host
  private readonly std: ReadonlyMap<string, string>
  private readonly outer: ResolveModule | null

  constructor(host: Host, std: ReadonlyMap<string, string>, outer: ResolveModule | null) {
    this.host = host
    this.std = std
    this.outer = outer
  }

  readonly resolve = (path: string, from: string): Resolution => {
    const found = this.find(path, from)
    if (found.kind === 'source')
      this.modules.set(found.key, found.readCompiled === undefined ? { key: found.key, text: found.text } : new StdSource(found))
    this.imports.set(JSON.stringify([from, path]), [
      from,
      path,
      found.kind === 'source' ? found.key : null,
      found.kind === 'error' ? found.message : '',
    ])
    return found
  }

  sources(entry: ModuleSource, { pipeline, ceilings }: Pick<ProgramSources, 'pipeline' | 'ceilings'>): ProgramSources {
    return {
      entry,
      ...(pipeline === undefined ? {} : { pipeline }),
      ...(ceilings === undefined ? {} : { ceilings }),
      modules: [...this.modules.values()],
      imports: [...this.imports.values()],
    }
  }

  private find(path: string, from: string): Resolution {
    if (path.startsWith('std/')) return stdModule(path, this.std)
    if (path.startsWith('host/')) {
      const name = path.slice('host/'.length)
      const text = this.host.moduleSource(name)
      if (text !== null) return { kind: 'source', key: makeHostKey(path), text }
    }
    return (
      this.outer?.(path, from) ?? {
        kind: 'error',
        message: `Import error: cannot read '${path}': ${path.startsWith('host/') ? 'the host offers nothing under this name' : 'this host gives no access to files'}`,
      }
    )
  }
}

/** Stored sources, checked field by field; null for anything else. */
export function parseSources(raw: unknown): ProgramSources | null {
  const data = raw as { [Name in keyof ProgramSources]?: unknown } | null
  if (typeof data !== 'object' || data === null || !isSource(data.entry)) return null
  const { entry, pipeline, ceilings, modules, imports } = data
  if (!Array.isArray(modules) || !modules.every(isSource) || !Array.isArray(imports) || !imports.every(isImport)) return null
  if (pipeline !== undefined && typeof pipeline !== 'string') return null
  // What narrows the program must not get lost on the way.
  if (ceilings !== undefined && !areCeilings(ceilings)) return null
  return {
    entry,
    ...(pipeline === undefined ? {} : { pipeline }),
    ...(ceilings === undefined ? {} : { ceilings }),
    modules,
    imports,
  }
}

function areCeilings(raw: unknown): raw is NonNullable<ProgramSources['ceilings']> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) && Object.values(raw).every(isCeiling)
}

function isSource(raw: unknown): raw is ModuleSource {
  const { key, text } = (raw ?? {}) as { readonly key?: unknown; readonly text?: unknown }
  return typeof key === 'string' && typeof text === 'string'
}

function isImport(raw: unknown): raw is ProgramSources['imports'][number] {
  if (!Array.isArray(raw)) return false
  const [from, path, key, message] = raw as unknown[]
  return [from, path, message].every((each) => typeof each === 'string') && (key === null || typeof key === 'string')
}

/** Those that are no part of the standard library. */
export function withoutStdModules(modules: readonly ModuleSource[]): readonly ModuleSource[] {
  return modules.filter(({ key }) => !key.startsWith(STD_KEY))
}

/** What a snapshot or a journal carries of the sources. */
export function withoutStd(sources: ProgramSources): ProgramSources {
  return {
    ...sources,
    modules: withoutStdModules(sources.modules),
    imports: sources.imports.filter(([, path]) => !path.startsWith('std/')),
  }
}

/** The same with empty texts for modules of the standard library, which come with the engine. */
export function withoutStdTexts(sources: ProgramSources): ProgramSources {
  return {
    ...sources,
    modules: sources.modules.map((module) => (module.key.startsWith(STD_KEY) ? { key: module.key, text: '' } : module)),
  }
}

/** Answers from what a snapshot carries, and `std/` from the table; nothing is read again. */
export function makeRecordedResolver(
  sources: ProgramSources,
  std: (path: string) => Resolution,
): (path: string, from: string) => Resolution {
  const texts = new Map(sources.modules.map((module) => [module.key, module.text]))
  const imports = new Map(sources.imports.map(([from, path, key, message]) => [JSON.stringify([from, path]), { key, message }]))
  return (path, from) => {
    if (path.startsWith('std/')) return std(path)
    const found = imports.get(JSON.stringify([from, path]))
    if (found === undefined) return { kind: 'error', message: `Import error: cannot read '${path}': not part of the snapshot` }
    if (found.key === null) return { kind: 'error', message: found.message }
    return { kind: 'source', key: found.key, text: texts.get(found.key) ?? '' }
  }
}

/** Tool families of the host when the sources were stored, as far as the program imported them. */
export function listRecordedFamilies({ imports }: ProgramSources): ReadonlySet<string> {
  return new Set(
    imports.flatMap(([, path, key]) =>
      key !== null && path.startsWith('host/') && key === makeHostKey(path) ? [path.slice('host/'.length)] : [],
    ),
  )
}

/** Modules in memory: keys are slash paths, a path is relative to the importing module and may leave out `.harn`. */
export function memoryModules(files: { readonly [path: string]: string }): ResolveModule {
  return (path, from) => {
    const folder = from.includes('/') ? from.slice(0, from.lastIndexOf('/')) : ''
    const parts: string[] = []
    for (const part of (path.startsWith('/') ? path : `${folder}/${path}`).split('/')) {
      if (part === '..') parts.pop()
      else if (part !== '' && part !== '.') parts.push(part)
    }
    const name = parts.join('/')
    for (const key of [name, `/${name}`, `${name}.harn`, `/${name}.harn`]) {
      if (Object.hasOwn(files, key)) return { kind: 'source', key, text: files[key]! }
    }
    return { kind: 'error', message: `Import error: cannot read '${path}': No such file or directory (os error 2)` }
  }
}

// Exports of imported modules, for the lint rules that need them: found as a run would find them, parsed on demand.

import { dirname, resolve as resolvePath } from 'node:path'
import { type ImportedInterface, readInterface, type Resolution } from '@bridle/compiler'
import { type Diagnostic, parse, type Program, SourceFile } from '@bridle/parser'
import { stdModule } from '@bridle/stdlib-tools'
import { fileModules } from '@bridle/stdlib-tools/node'
import { type FindOpenText, overlayModules } from './overlay.js'

export interface ResolvedModule {
  readonly key: string
  /** With the path that is displayed. */
  readonly file: SourceFile
  /** null when it does not parse; then `diagnostics` say why. */
  readonly program: Program | null
  readonly diagnostics: readonly Diagnostic[]
}

const NOTHING_ADDED: ReadonlyMap<string, string> = new Map()

/** Parsed when its tree is first read. */
class ParsedModule implements ResolvedModule {
  readonly key: string
  readonly file: SourceFile
  private parsed: ReturnType<typeof parse> | null = null

  constructor(found: Extract<Resolution, { kind: 'source' }>) {
    this.key = found.key
    this.file = new SourceFile(found.key, () => found.text)
  }

  get program(): Program | null {
    return this.tree.program
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.tree.diagnostics
  }

  private get tree(): ReturnType<typeof parse> {
    return (this.parsed ??= parse(this.file))
  }
}

/** The modules of the embedding program. */
export interface HostModules {
  /** `from` is the key of the importing module. */
  readonly moduleSource: (name: string, from: string) => string | null
}

/** Shared by the finders of one editor: parsed modules by key, valid while their source is unchanged. */
export class ModuleCache {
  private readonly modules = new Map<string, ResolvedModule>()
  readonly findOpenText: FindOpenText

  constructor(findOpenText: FindOpenText) {
    this.findOpenText = findOpenText
  }

  /** `isFixed`: the source of a module with this key never changes. */
  find(found: Extract<Resolution, { kind: 'source' }>, isFixed: boolean): ResolvedModule {
    const known = this.modules.get(found.key)
    if (known !== undefined && (isFixed || known.file.text === found.text)) return known
    const module = new ParsedModule(found)
    this.modules.set(found.key, module)
    return module
  }
}

export class ModuleFinder {
  private readonly files = fileModules({ root: process.cwd() })
  private readonly host: HostModules | null
  private readonly cache: ModuleCache | null
  private readonly modules = new Map<string, ResolvedModule>()
  private readonly interfaces = new Map<string, ImportedInterface | null>()

  /** `host`: provides the modules `host/NAME`; without it they are unknown. */
  constructor(host: HostModules | null = null, cache: ModuleCache | null = null) {
    this.host = host
    this.cache = cache
    if (cache !== null) this.files = overlayModules(this.files, cache.findOpenText)
  }

  /** The module of an import; null when there is none. `from` is the key of the importing module. */
  find(path: string, from: string): ResolvedModule | null {
    const found = this.resolve(path, from)
    if (found.kind === 'error') return null
    const known = this.modules.get(found.key)
    if (known !== undefined) return known
    const module = this.cache?.find(found, path.startsWith('std/')) ?? new ParsedModule(found)
    this.modules.set(found.key, module)
    return module
  }

  /** For a file of the given key: path → what an import of it declares; null if it cannot be found or does not parse. */
  makeImportLookup(from: string): (path: string) => ImportedInterface | null {
    return (path) => {
      const compiled = this.findCompiled(path, from)
      if (compiled !== null) return compiled
      const module = this.find(path, from)
      if (module === null || module.program === null) return null
      const known = this.interfaces.get(module.key)
      if (known !== undefined) return known
      this.interfaces.set(module.key, null) // for a module that imports itself indirectly
      const made = readInterface(module.program, this.makeImportLookup(module.key))
      this.interfaces.set(module.key, made)
      return made
    }
  }

  /** The interface of a compiled module; its source is not read. */
  private findCompiled(path: string, from: string): ImportedInterface | null {
    const found = this.resolve(path, from)
    return found.kind === 'error' ? null : (found.readCompiled?.()?.interface ?? null)
  }

  private resolve(path: string, from: string): Resolution {
    if (path.startsWith('std/')) return stdModule(path, NOTHING_ADDED)
    if (path.startsWith('host/') && this.host !== null) {
      const text = this.host.moduleSource(path.slice(5), from)
      if (text !== null) return { kind: 'source', key: `<${path}>`, text }
    }
    return this.files(path, from) ?? { kind: 'error', message: `Import error: cannot read '${path}'` }
  }
}

/** Modules of files that a program imports directly or indirectly, each once and without the program itself. */
export function listImportedModules(
  root: { readonly key: string; readonly program: Program },
  finder: ModuleFinder,
): readonly ResolvedModule[] {
  const found = new Map<string, ResolvedModule>()
  const visit = (key: string, program: Program): void => {
    for (const item of program.items) {
      if (item.kind !== 'ImportDecl' || item.path.startsWith('std/') || item.path.startsWith('host/')) continue
      const module = finder.find(item.path, key)
      if (module === null || module.key === root.key || found.has(module.key)) continue
      found.set(module.key, module)
      if (module.program !== null) visit(module.key, module.program)
    }
  }
  visit(root.key, root.program)
  return [...found.values()]
}

/** Names that files import by name from each other, by the key of the module they come from. */
export function listSelectiveImports(
  files: readonly { readonly key: string; readonly program: Program | null }[],
  finder: ModuleFinder,
): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>()
  for (const { key, program } of files) {
    for (const item of program?.items ?? []) {
      if (item.kind !== 'ImportDecl' || item.names === null || item.path.startsWith('std/')) continue
      const target = finder.find(item.path, key)
      if (target === null) continue
      const known = names.get(target.key) ?? new Set()
      names.set(target.key, known)
      for (const name of item.names) known.add(name.text)
    }
  }
  return names
}

/** Folder to which relative paths in a module are relative. */
export function findFolder(key: string): string {
  return key.startsWith('<') ? process.cwd() : dirname(resolvePath(key))
}

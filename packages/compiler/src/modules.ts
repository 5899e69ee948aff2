// The import graph: finds, parses and orders the modules of a program before anything is compiled. A failed import is stored as
// its run-time message; an import of a module that is still loading is a cycle and binds nothing.

import { parse, SourceFile } from '@bridle/parser'
import type { Diagnostic, ParseOptions, Program, Stmt } from '@bridle/parser'
import { lowerGrants, NO_GRANTS } from './grants/lower.js'
import type { ConstraintRules } from './grants/constraints.js'
import type { GrantDeclarations, Lowered } from './grants/lower.js'
import { importCeilings } from './grants/imports.js'
import type { DeclaredCeiling } from './grants/imports.js'
import type { ImportCeiling } from './grants/ceilings.js'
import type { CompiledModule } from './bytecode/compiled-module.js'

/** Result of the host's resolver for an import path. `key` identifies the module: equal keys are one module. */
export type Resolution =
  | {
      readonly kind: 'source'
      readonly key: string
      readonly text: string
      /** The precompiled module, null for one of another build; with it, `text` is read only on demand. */
      readonly readCompiled?: () => CompiledModule | null
    }
  /** `message` is the error message, such as `Import error: cannot read 'x': …`. */
  | { readonly kind: 'error'; readonly message: string }

export type Resolve = (path: string, fromKey: string) => Resolution

export interface LoadedModule {
  /** Key of this instance of the module: the resolver's name, with a number for a second instance (see Loader). */
  readonly key: string
  /** Ceilings of its importers; empty for none. */
  readonly ceilings: readonly ImportCeiling[]
  /** Its ceilings for its own imports, by path. */
  readonly narrowed: ReadonlyMap<string, readonly DeclaredCeiling[]>
  readonly file: SourceFile
  /** Without statements of the grants extension: they are lowered (grants/lower.ts), so later phases do not see them. */
  readonly program: Program
  readonly grants: GrantDeclarations
  readonly imports: ReadonlyMap<string, LoadedImport>
  /** Set if the module is precompiled; `program` is then parsed on demand. */
  readonly compiled?: CompiledModule
}

export type LoadedImport =
  | { readonly kind: 'module'; readonly key: string }
  | { readonly kind: 'cycle'; readonly key: string }
  | { readonly kind: 'error'; readonly message: string }

export interface ModuleGraph {
  /** Every module after its imports, except in cycles; the entry last. */
  readonly order: readonly LoadedModule[]
  readonly files: ReadonlyMap<string, SourceFile>
}

export interface LoadOptions extends ParseOptions {
  /** Modules that run before the entry and bind nothing in it. */
  readonly prelude?: readonly string[]
  /** The tree of the entry, if the caller has it. */
  readonly parsed?: Program
  /** Ceilings of the host for imported modules, by path as written or by key; not for imports of the standard library. */
  readonly imports?: { readonly [path: string]: ImportCeiling }
  /** Custom constraints of the host. */
  readonly constraints?: ConstraintRules
  /** Families of tools that the host has: names of its modules `host/NAME`. Undefined when the host is not known. */
  readonly hostFamilies?: ReadonlySet<string>
  /** Whether a builtin exists; precompiled modules require theirs. Without this, all are assumed to exist. */
  readonly hasBuiltin?: (name: string) => boolean
}

function withPrelude(program: Program, paths: readonly string[]): Program {
  const span = { start: 0, end: 0 }
  const imports = paths.map((path): Stmt => ({
    kind: 'ImportDecl',
    span,
    name: { text: path, span },
    path,
    pathSpan: span,
    names: [],
    isPublic: false,
    attributes: [],
    doc: null,
  }))
  return imports.length === 0 ? program : { ...program, items: [...imports, ...program.items] }
}

/** Loads an entry and what it imports. If the entry does not parse, `graph` is null and the diagnostics have the reason. */
export function loadModules(
  entry: { readonly key: string; readonly text: string },
  resolve: Resolve,
  options: LoadOptions = {},
): { readonly graph: ModuleGraph | null; readonly diagnostics: readonly Diagnostic[]; readonly file: SourceFile } {
  const file = new SourceFile(entry.key, entry.text)
  const { program, diagnostics } =
    options.parsed === undefined ? parse(file, options) : { program: options.parsed, diagnostics: [] }
  if (program === null || diagnostics.some((each) => each.severity === 'error')) return { graph: null, diagnostics, file }
  const lowered = lowerGrants(withPrelude(program, options.prelude ?? []), file.text, options)
  const loader = new Loader(resolve, options)
  const found = loader.load(entry.key, file, lowered, [])
  return {
    graph: { order: loader.order, files: loader.files },
    diagnostics: [...diagnostics, ...lowered.diagnostics, ...found],
    file,
  }
}

/** A precompiled module: its source is read and parsed when needed, for example by the analysis of effects. */
class LazyModule implements LoadedModule {
  readonly key: string
  readonly ceilings: readonly ImportCeiling[]
  readonly narrowed: LoadedModule['narrowed'] = new Map()
  readonly imports: ReadonlyMap<string, LoadedImport>
  readonly compiled: CompiledModule
  private readonly options: LoadOptions
  readonly file: SourceFile
  private lowered: Lowered | null = null

  constructor(
    key: string,
    found: Extract<Resolution, { kind: 'source' }>,
    compiled: CompiledModule,
    ceilings: readonly ImportCeiling[],
    imports: ReadonlyMap<string, LoadedImport>,
    options: LoadOptions,
  ) {
    this.key = key
    this.file = new SourceFile(found.key, () => found.text)
    this.compiled = compiled
    this.ceilings = ceilings
    this.imports = imports
    this.options = options
  }

  get program(): Program {
    return this.parsed.program
  }

  /** Modules with declarations of grants are never precompiled (scripts/generate-library.ts). */
  readonly grants = NO_GRANTS

  private get parsed(): Lowered {
    if (this.lowered !== null) return this.lowered
    const { program, diagnostics } = parse(this.file, this.options)
    if (program === null) throw new Error(`${this.key} does not parse: ${diagnostics[0]?.message}`)
    return (this.lowered = lowerGrants(program, this.file.text, this.options))
  }
}

/**
 * A module is loaded once for each set of ceilings under which it is imported: each instance has its own powers and its own variables. In
 * most programs there are no ceilings and the keys are those of the resolver.
 */
class Loader {
  readonly order: LoadedModule[] = []
  readonly files = new Map<string, SourceFile>()
  private readonly resolve: Resolve
  private readonly state = new Map<string, 'loading' | 'loaded' | { readonly message: string }>()
  /** Instances of a module by their ceilings. */
  private readonly instances = new Map<string, Map<string, string>>()

  private readonly options: LoadOptions

  constructor(resolve: Resolve, options: LoadOptions) {
    this.resolve = resolve
    this.options = options
  }

  /** Receives problems of the ceilings that the module declares. */
  load(
    key: string,
    file: SourceFile,
    { program, declarations }: Pick<Lowered, 'program' | 'declarations'>,
    ceilings: readonly ImportCeiling[],
  ): readonly Diagnostic[] {
    this.state.set(key, 'loading')
    this.files.set(file.name, file)
    const declared = importCeilings(program)
    const narrowed = new Map<string, readonly DeclaredCeiling[]>()
    const imports = new Map<string, LoadedImport>()
    for (const item of program.items) {
      if (!isImport(item) || imports.has(item.path)) continue
      const found = this.resolve(item.path, file.name)
      const given = found.kind === 'source' ? this.findGivenCeiling(item.path, found.key, file.name) : null
      const own = declared.ceilings.get(item.path)
      const added = [...(own === undefined ? [] : [own]), ...(given === null ? [] : [{ ceiling: given, span: null }])]
      if (added.length > 0) narrowed.set(item.path, added)
      const under = joinCeilings(
        ceilings,
        added.map(({ ceiling }) => ceiling),
      )
      imports.set(item.path, this.loadImport(found, under))
    }
    this.state.set(key, 'loaded')
    this.order.push({ key, file, program, ceilings, narrowed, grants: declarations, imports })
    return declared.diagnostics
  }

  private findGivenCeiling(path: string, key: string, from: string): ImportCeiling | null {
    const { imports } = this.options
    if (imports === undefined || from.startsWith('<')) return null
    const name = Object.hasOwn(imports, path) ? path : key
    return Object.hasOwn(imports, name) ? imports[name]! : null
  }

  /** The key of a module under ceilings: the plain key for the first set. */
  private nameInstance(source: string, ceilings: readonly ImportCeiling[]): string {
    let known = this.instances.get(source)
    if (known === undefined) this.instances.set(source, (known = new Map()))
    const under = formatCeilings(ceilings)
    let key = known.get(under)
    if (key === undefined) known.set(under, (key = this.state.has(source) ? `${source}#${known.size + 1}` : source))
    return key
  }

  private loadImport(found: Resolution, ceilings: readonly ImportCeiling[]): LoadedImport {
    if (found.kind === 'error') return found
    const key = this.nameInstance(found.key, ceilings)
    const known = this.state.get(key)
    if (known === 'loading') return { kind: 'cycle', key }
    if (known === 'loaded') return { kind: 'module', key }
    if (known !== undefined) return { kind: 'error', message: known.message }
    const compiled = this.findCompiled(found)
    if (compiled !== null) {
      this.loadCompiled(key, found, compiled, ceilings)
      return { kind: 'module', key }
    }
    const file = new SourceFile(found.key, found.text)
    const { program, diagnostics } = parse(file, found.key.startsWith('std/') ? {} : this.options)
    const lowered = program === null ? null : lowerGrants(program, found.text, this.options)
    const error = [...diagnostics, ...(lowered?.diagnostics ?? [])].find((each) => each.severity === 'error')
    if (lowered === null || error !== undefined) return this.failImport(key, error?.message ?? 'unreadable module')
    // An invalid ceiling must not count as a missing one.
    const wrong = this.load(key, file, lowered, ceilings).find((each) => each.severity === 'error')
    return wrong === undefined ? { kind: 'module', key } : this.failImport(key, wrong.message)
  }

  /** The precompiled module, if all its inputs are unchanged. */
  private findCompiled(found: Extract<Resolution, { kind: 'source' }>): CompiledModule | null {
    const compiled = found.readCompiled?.() ?? null
    const { hasBuiltin } = this.options
    if (compiled === null || (hasBuiltin !== undefined && !compiled.chunk.builtins.every((name) => hasBuiltin(name)))) return null
    const isWhole = compiled.imports.every(({ path, key, fingerprint }) => {
      const there = this.resolve(path, found.key)
      return there.kind === 'source' && there.key === key && this.findCompiled(there)?.chunk.fingerprint === fingerprint
    })
    return isWhole ? compiled : null
  }

  private loadCompiled(
    key: string,
    found: Extract<Resolution, { kind: 'source' }>,
    compiled: CompiledModule,
    ceilings: readonly ImportCeiling[],
  ): void {
    this.state.set(key, 'loading')
    const imports = new Map<string, LoadedImport>()
    for (const { path } of compiled.imports) imports.set(path, this.loadImport(this.resolve(path, found.key), ceilings))
    this.state.set(key, 'loaded')
    const module = new LazyModule(key, found, compiled, ceilings, imports, this.options)
    this.files.set(found.key, module.file)
    this.order.push(module)
  }

  private failImport(key: string, text: string): LoadedImport {
    const message = `Import ${/^(Unexpected character|Unterminated)/.test(text) ? 'lex' : 'parse'} error: ${text}`
    this.state.set(key, { message })
    return { kind: 'error', message }
  }
}

/** Equal ceilings on one path are merged, so cycles of imports terminate. */
function joinCeilings(outer: readonly ImportCeiling[], added: readonly ImportCeiling[]): readonly ImportCeiling[] {
  return added.reduce<readonly ImportCeiling[]>(
    (all, each) => (all.some((known) => formatCeilings([known]) === formatCeilings([each])) ? all : [...all, each]),
    outer,
  )
}

function formatCeilings(ceilings: readonly ImportCeiling[]): string {
  return JSON.stringify(ceilings)
}

export function isImport(item: Stmt): item is Extract<Stmt, { kind: 'ImportDecl' }> {
  return item.kind === 'ImportDecl'
}

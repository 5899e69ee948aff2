// The import graph: finds, parses and orders the modules of a program before anything is compiled. A failed import is kept as
// the run-time text it stands for; an import of a module that is still loading is a cycle and binds nothing (reference 01 §17).

import { parse, SourceFile } from '@bridle/parser'
import type { Diagnostic, ParseOptions, Program, Stmt } from '@bridle/parser'
import { lowerGrants } from './grants/lower.js'
import type { GrantDeclarations, Lowered } from './grants/lower.js'

/** What the host's resolver answers for an import path. `key` names the module: equal keys are one module. */
export type Resolution =
  | { readonly kind: 'source'; readonly key: string; readonly text: string }
  /** `message` is the text of the error, such as `Import error: cannot read 'x': …`. */
  | { readonly kind: 'error'; readonly message: string }

export type Resolve = (path: string, fromKey: string) => Resolution

export interface LoadedModule {
  readonly key: string
  readonly file: SourceFile
  /** Without statements of the grants extension: they are lowered (grants/lower.ts), so that no later phase meets them. */
  readonly program: Program
  readonly grants: GrantDeclarations
  readonly imports: ReadonlyMap<string, LoadedImport>
}

export type LoadedImport =
  | { readonly kind: 'module'; readonly key: string }
  | { readonly kind: 'cycle'; readonly key: string }
  | { readonly kind: 'error'; readonly message: string }

export interface ModuleGraph {
  /** Every module after those it imports, cycles apart; the entry last. */
  readonly order: readonly LoadedModule[]
  readonly files: ReadonlyMap<string, SourceFile>
}

export interface LoadOptions extends ParseOptions {
  /** Modules that run before the entry and bind nothing in it. */
  readonly prelude?: readonly string[]
  /** The tree of the entry, when the caller has it already. */
  readonly parsed?: Program
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

/** Loads an entry and what it imports. When the entry does not parse, `graph` is null and the diagnostics say why. */
export function loadModules(
  entry: { readonly key: string; readonly text: string },
  resolve: Resolve,
  options: LoadOptions = {},
): { readonly graph: ModuleGraph | null; readonly diagnostics: readonly Diagnostic[]; readonly file: SourceFile } {
  const file = new SourceFile(entry.key, entry.text)
  const { program, diagnostics } =
    options.parsed === undefined ? parse(file, options) : { program: options.parsed, diagnostics: [] }
  if (program === null || diagnostics.some((each) => each.severity === 'error')) return { graph: null, diagnostics, file }
  const lowered = lowerGrants(withPrelude(program, options.prelude ?? []), file.text)
  const loader = new Loader(resolve, options)
  loader.load(entry.key, file, lowered)
  return { graph: { order: loader.order, files: loader.files }, diagnostics: [...diagnostics, ...lowered.diagnostics], file }
}

class Loader {
  readonly order: LoadedModule[] = []
  readonly files = new Map<string, SourceFile>()
  private readonly resolve: Resolve
  private readonly state = new Map<string, 'loading' | 'loaded' | { readonly message: string }>()

  private readonly options: ParseOptions

  constructor(resolve: Resolve, options: ParseOptions) {
    this.resolve = resolve
    this.options = options
  }

  load(key: string, file: SourceFile, { program, declarations }: Lowered): void {
    this.state.set(key, 'loading')
    this.files.set(key, file)
    const imports = new Map<string, LoadedImport>()
    for (const item of program.items) {
      if (isImport(item) && !imports.has(item.path)) imports.set(item.path, this.loadImport(item.path, key))
    }
    this.state.set(key, 'loaded')
    this.order.push({ key, file, program, grants: declarations, imports })
  }

  private loadImport(path: string, from: string): LoadedImport {
    const found = this.resolve(path, from)
    if (found.kind === 'error') return found
    const { key } = found
    const known = this.state.get(key)
    if (known === 'loading') return { kind: 'cycle', key }
    if (known === 'loaded') return { kind: 'module', key }
    if (known !== undefined) return { kind: 'error', message: known.message }
    const file = new SourceFile(key, found.text)
    const { program, diagnostics } = parse(file, key.startsWith('std/') ? {} : this.options)
    const lowered = program === null ? null : lowerGrants(program, found.text)
    const error = [...diagnostics, ...(lowered?.diagnostics ?? [])].find((each) => each.severity === 'error')
    if (lowered === null || error !== undefined) {
      const text = error?.message ?? 'unreadable module'
      const message = `Import ${/^(Unexpected character|Unterminated)/.test(text) ? 'lex' : 'parse'} error: ${text}`
      this.state.set(key, { message })
      return { kind: 'error', message }
    }
    this.load(key, file, lowered)
    return { kind: 'module', key }
  }
}

export function isImport(item: Stmt): item is Extract<Stmt, { kind: 'ImportDecl' }> {
  return item.kind === 'ImportDecl'
}

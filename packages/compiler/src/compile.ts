// Entry point of the compiler: source → compiled program or diagnostics, through parsing, name resolution, checks and emission. Pure: modules come
// from the resolver, builtins are known by their signatures.

import { diagnose, MAX_NESTING, report, SourceFile } from '@bridle/parser'
import type { Diagnostic, Extension, ParseLimits, Program, TypeExpr } from '@bridle/parser'
import type { CompiledProgram, ModuleChunk } from './bytecode/chunk.js'
import { CompileError } from './emit/module.js'
import type { CoverageCounters } from './emit/coverage.js'
import { EMIT_CATALOG } from './emit/catalog.js'
import { listContents } from './contents.js'
import { emitProgram } from './emit/program.js'
import { EffectAnalysis, hasContracts } from './effects/analyze.js'
import type { HostToolEffects } from './effects/infer.js'
import { makeInstance } from './bytecode/compiled-module.js'
import { loadModules } from './modules.js'
import type { ConstraintRules } from './grants/constraints.js'
import type { GrantDeclarations } from './grants/lower.js'
import type { ImportCeiling } from './grants/ceilings.js'
import { checkProgram, type CheckLimits, type Strictness } from './types/check.js'
import { listImported, readInterface } from './types/module-interface.js'
import { checkGrantedKeys } from './types/tools/grants.js'
import type { Imports } from './types/module-interface.js'
import { listInterfaces, runtimeParamCheck } from './types/runtime-check.js'
import { lowerTypeToJsonSchema, type SchemaAliases, schemaAliases, lowerType } from './types/schema-of-type.js'
import type { StrictTypes } from './types/strict.js'
import type { ResolvedImport } from './emit/module.js'
import type { LoadedImport, LoadedModule, Resolve } from './modules.js'
import type { Signatures } from './signatures.js'
import type { BuiltinSignatures } from './types/builtins.js'
import type { ToolTypes } from './types/tools/declaration.js'
import type { ImportedInterface } from './types/module-interface.js'

export interface CompileOptions {
  readonly resolve: Resolve
  readonly signatures: Signatures
  /** Types of builtins for the checker; default: the language's own table. */
  readonly types?: BuiltinSignatures
  /** Constants that the host adds, such as `argv`. */
  readonly globals?: readonly string[]
  readonly strict?: StrictTypes
  /** `language` (the default) reports what stops a run; `full` also certain and nearly certain mistakes. */
  readonly strictness?: Strictness
  /** Whether calls of builtins that Bridle lacks are errors. */
  readonly refuseMissing?: boolean
  /** The pipeline to run, instead of `default` or the first. */
  readonly pipeline?: string
  /** `declared-only` (the default) checks rows and grants that the file declares; `strict` also reports hints about them. */
  readonly effects?: 'strict' | 'declared-only' | 'off'
  /** Modules that run before the program and bind nothing in it. */
  readonly prelude?: readonly string[]
  /** Extensions of the language that files may use without opting in. */
  readonly extensions?: readonly Extension[]
  /** The tree of the entry, if the caller has it. */
  readonly parsed?: Program
  /** Whether only diagnostics are needed: `program` is then null unless they required code. */
  readonly findingsOnly?: boolean
  /** Ceilings of the host for imported modules, by path or key (grants/imports.ts). */
  readonly imports?: { readonly [path: string]: ImportCeiling }
  /** Custom constraints of the host. */
  readonly constraints?: ConstraintRules
  /** Families of tools that the host has: names of its modules `host/NAME`. Undefined when the host is not known. */
  readonly hostFamilies?: ReadonlySet<string>
  /** Effects of the host's tools by each of their names, as the host declares them; null for a tool without a declaration. */
  readonly hostTools?: HostToolEffects
  /** Parameters and results of the host's tools, against which calls are checked; no check when absent. */
  readonly tools?: ToolTypes
  /** Names of the modules `std/NAME`, for suggestions. */
  readonly standardModules?: readonly string[]
  /** The standard module that alone exports a name. */
  readonly findStandard?: (name: string) => string | null
  /** Limits for each file; the default is generous. */
  readonly limits?: CompileLimits
  /** Makes the code of modules that come as source count what runs; the host defines the counting primitive. */
  readonly coverage?: CoverageCounters
}

/** Size of a file, number of diagnostics, and steps of type checking. */
export interface CompileLimits extends ParseLimits, CheckLimits {}

export interface CompileResult {
  /** null when there is an error, or when code was not requested. */
  readonly program: CompiledProgram | null
  readonly diagnostics: readonly Diagnostic[]
  /** What the program can reach, computed on request; null when it does not parse. */
  readonly effects: EffectAnalysis | null
  /** The file that diagnostics point into. */
  readonly file: SourceFile
  /** All files by module key, for error reports. */
  readonly files: ReadonlyMap<string, SourceFile>
  /** Tool declarations of the modules, by module key. */
  readonly grants: ReadonlyMap<string, GrantDeclarations>
}

interface Source {
  readonly key: string
  readonly text: string
}

/** Source that nests deeper than the host's stack allows is refused with a diagnostic, in any phase. */
export function compileProgram(entry: Source, options: CompileOptions): CompileResult {
  try {
    return compileSource(entry, options)
  } catch (error) {
    if (!(error instanceof Error) || !/call stack|too much recursion/i.test(error.message)) throw error
    const file = new SourceFile(entry.key, entry.text)
    const diagnostics = [diagnose('P013', { start: 0, end: 1 }, { limit: MAX_NESTING, at: null })]
    return { program: null, diagnostics, effects: null, file, files: new Map([[entry.key, file]]), grants: new Map() }
  }
}

function compileSource(entry: Source, options: CompileOptions): CompileResult {
  const loaded = loadModules(entry, options.resolve, {
    ...(options.extensions === undefined ? {} : { extensions: options.extensions }),
    ...(options.prelude === undefined ? {} : { prelude: options.prelude }),
    ...(options.parsed === undefined ? {} : { parsed: options.parsed }),
    ...(options.imports === undefined ? {} : { imports: options.imports }),
    ...(options.constraints === undefined ? {} : { constraints: options.constraints }),
    ...(options.hostFamilies === undefined ? {} : { hostFamilies: options.hostFamilies }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    hasBuiltin: options.signatures.has,
  })
  const { file } = loaded
  if (loaded.graph === null) {
    return {
      program: null,
      diagnostics: loaded.diagnostics,
      effects: null,
      file,
      files: new Map([[entry.key, file]]),
      grants: new Map(),
    }
  }
  const { order, files } = loaded.graph
  const grants = new Map(order.map((module) => [module.key, module.grants]))
  const interfaces = new Map<string, ImportedInterface>()
  const makeImports =
    (module: LoadedModule) =>
    (path: string): ImportedInterface | null => {
      const found = module.imports.get(path)
      return found === undefined || found.kind === 'error' ? null : (interfaces.get(found.key) ?? EMPTY_INTERFACE)
    }
  for (const module of order)
    if (module.key !== entry.key)
      interfaces.set(module.key, module.compiled?.interface ?? readInterface(module.program, makeImports(module)))
  const main = order.at(-1)!
  const effects = new EffectAnalysis(order, main, {
    signatures: options.signatures,
    pipeline: options.pipeline ?? null,
    constraints: options.constraints ?? null,
    hostTools: options.hostTools ?? new Map(),
  })
  const mode = options.effects ?? 'declared-only'
  const diagnostics = [
    ...loaded.diagnostics,
    ...checkProgram(main.program, {
      file,
      imports: makeImports(main),
      ...(options.types === undefined ? {} : { signatures: options.types }),
      ...(options.globals === undefined ? {} : { extraGlobals: options.globals }),
      ...(options.strict === undefined ? {} : { strict: options.strict }),
      ...(options.refuseMissing === undefined ? {} : { refuseMissing: options.refuseMissing }),
      ...(options.strictness === undefined ? {} : { strictness: options.strictness }),
      constants: options.signatures.constants,
      ...(options.standardModules === undefined ? {} : { standardModules: options.standardModules }),
      ...(options.findStandard === undefined ? {} : { findStandard: options.findStandard }),
      ...(options.limits === undefined ? {} : { limits: options.limits }),
      ...(options.tools === undefined ? {} : { tools: options.tools, toolAliases: listToolAliases(main.grants) }),
    }),
    ...(options.tools === undefined || options.strictness !== 'full'
      ? []
      : checkGrantedKeys(main.grants, options.tools, options.constraints)),
    ...(mode === 'off' || main.narrowed.size === 0 ? [] : effects.importFindings()),
    ...(mode === 'strict' || (mode === 'declared-only' && hasContracts(main)) ? effects.findings(mode === 'strict') : []),
  ]
  if (diagnostics.some((each) => each.severity === 'error')) return { program: null, diagnostics, effects, file, files, grants }
  if (
    options.findingsOnly === true &&
    order.every((module) => module.compiled !== undefined || listContents(module.program).isSureToEmit)
  )
    return { program: null, diagnostics, effects, file, files, grants }

  const chunks = new Map<string, ModuleChunk>()
  const failures = new Map<string, string>()
  for (const module of order) {
    try {
      chunks.set(
        module.key,
        emitModule({ module, isMain: module === main, order, chunks, failures, imports: makeImports(module) }, options),
      )
    } catch (error) {
      if (!(error instanceof CompileError)) throw error
      const message = `Compile error at line ${module.file.lineAt(error.span.start)}: ${error.message}`
      if (module === main)
        return { program: null, diagnostics: [...diagnostics, compileDiagnostic(message, error)], effects, file, files, grants }
      failures.set(module.key, `Import compile error: ${message}`)
    }
  }
  return { program: { modules: [...chunks.values()], main: entry.key }, diagnostics, effects, file, files, grants }
}

/** Aliases of tools; those of servers have no static name. */
function listToolAliases({ aliases }: GrantDeclarations): ReadonlyMap<string, string> {
  return new Map(aliases.filter(({ server }) => !server).map(({ name, tool }) => [name, tool]))
}

const EMPTY_INTERFACE: ImportedInterface = {
  exports: new Set(),
  declared: new Set(),
  functions: new Map(),
  types: new Map(),
  methods: new Map(),
}

function compileDiagnostic(message: string, error: CompileError): Diagnostic {
  return report(EMIT_CATALOG, 'C001', error.span, { message })
}

interface EmitParts {
  readonly module: LoadedModule
  readonly isMain: boolean
  readonly order: readonly LoadedModule[]
  readonly chunks: ReadonlyMap<string, ModuleChunk>
  readonly failures: ReadonlyMap<string, string>
  readonly imports: Imports
}

function emitModule(
  { module, isMain, order, chunks, failures, imports: makeImports }: EmitParts,
  options: CompileOptions,
): ModuleChunk {
  if (module.compiled !== undefined) {
    const keys = new Map<string, string>()
    for (const { path, key } of module.compiled.imports) keys.set(key, readImportKey(module.imports.get(path)) ?? key)
    return makeInstance(module.compiled, { key: module.key, ceilings: module.ceilings, keys })
  }
  const imports = new Map<string, ResolvedImport>()
  for (const [path, found] of module.imports) {
    if (found.kind !== 'module') {
      imports.set(path, found)
      continue
    }
    const failure = failures.get(found.key)
    const loaded = order.find((each) => each.key === found.key)
    const chunk = chunks.get(found.key)
    if (failure !== undefined || chunk === undefined || loaded === undefined)
      imports.set(path, { kind: 'error', message: failure ?? `Import error: cannot read '${path}'` })
    else
      imports.set(path, {
        kind: 'module',
        key: found.key,
        file: loaded.file.name,
        functions: chunk.exports,
        wildcard: wildcardNames(loaded, chunk),
        types: listTypesWithoutValue(makeImports(path)),
      })
  }
  const interfaces = listInterfaces(module.program)
  const lowerAlias = aliasLowering(module.program, makeImports)
  const json = (data: unknown): string | null => (data === null ? null : JSON.stringify(data))
  return emitProgram(module.program, {
    key: module.key,
    file: module.file,
    ceilings: module.ceilings,
    isMain,
    ...(isMain && options.pipeline !== undefined ? { pipeline: options.pipeline } : {}),
    imports,
    signatures: options.signatures,
    paramCheck: (type: TypeExpr) => json(runtimeParamCheck(type, { interfaces })),
    schemaOfAlias: (name) => json(lowerAlias(name)),
    toolSchemaOf: (type: TypeExpr) => json(lowerTypeToJsonSchema(type)),
    ...(options.coverage === undefined ? {} : { coverage: options.coverage }),
  })
}

function listTypesWithoutValue(source: ImportedInterface | null): ReadonlySet<string> {
  const types = [...(source?.types ?? [])]
  return new Set(types.flatMap(([name, { kind }]) => (kind === 'TypeDecl' || kind === 'InterfaceDecl' ? [name] : [])))
}

/** Aliases that a file imports, each with those of its module, which its type may reference. */
function importedAliases(program: Program, imports: Imports): ReadonlyMap<string, readonly [TypeExpr, SchemaAliases]> {
  const found = new Map<string, readonly [TypeExpr, SchemaAliases]>()
  for (const item of program.items) {
    const source = item.kind === 'ImportDecl' ? imports(item.path) : null
    if (item.kind !== 'ImportDecl' || source === null) continue
    const aliases = new Map<string, TypeExpr>()
    for (const [name, decl] of source.types)
      if (decl.kind === 'TypeDecl' && decl.typeParams.length === 0) aliases.set(name, decl.type)
    for (const name of listImported(item, () => source)) {
      const type = aliases.get(name)
      if (type !== undefined) found.set(name, [type, aliases])
    }
  }
  return found
}

/** Schemas of the aliases that a file declares or imports, by name. */
function aliasLowering(program: Program, imports: Imports): (name: string) => ReturnType<typeof lowerType> {
  const aliases = schemaAliases(program)
  const own = new Map(program.items.flatMap((item) => (item.kind === 'TypeDecl' ? [[item.name.text, item.type]] : [])))
  let imported: ReturnType<typeof importedAliases> | null = null
  return (name) => {
    const type = own.get(name)
    if (type !== undefined) return lowerType(type, aliases)
    imported ??= importedAliases(program, imports)
    const found = imported.get(name)
    return found === undefined ? null : lowerType(...found)
  }
}

function readImportKey(found: LoadedImport | undefined): string | null {
  return found === undefined || found.kind === 'error' ? null : found.key
}

/** Public functions if the module has any, otherwise all of its own; always with re-exports. */
export function wildcardNames(module: LoadedModule, chunk: ModuleChunk): readonly string[] {
  if (module.compiled !== undefined) return module.compiled.wildcard
  const own = module.program.items.filter((item) => item.kind === 'FnDecl')
  const anyPublic = own.some((item) => item.isPublic)
  const hidden = new Set(anyPublic ? own.filter((item) => !item.isPublic).map((item) => item.name.text) : [])
  return Object.keys(chunk.exports).filter((name) => !hidden.has(name))
}

// A compiled program, and the TypeScript types of its input and result.

import type { CompileResult, EffectManifest, GrantDeclarations, HostImport } from '@bridle/compiler'
import type { Diagnostic, SourceFile } from '@bridle/parser'
import { linkProgram } from '@bridle/vm'
import type { LinkedProgram, Plain, Registry } from '@bridle/vm'
import { withoutStdModules } from './modules.js'
import type { ProgramSources } from './modules.js'
import type { AnySchema, CompiledSchema, InputOf, OutputOf } from '../tools/host-tools/schema.js'
import { EffectCeilingError } from './compile-errors.js'

/** What a program is given and gives, for TypeScript: `runtime.compile<{ input: { id: number }; output: string }>(source)`. */
export interface ProgramTypes {
  readonly input?: unknown
  readonly output?: unknown
}

/** For a program without declared types. */
export interface AnyProgram {
  readonly input: unknown
  readonly output: Plain
}

export type InputOfProgram<Types extends ProgramTypes> = Types extends { readonly input: infer Input } ? Input : unknown
export type OutputOfProgram<Types extends ProgramTypes> = Types extends { readonly output: infer Output } ? Output : Plain

/** Schemas of the input and the result of a program: runs are held to them. */
export interface ProgramSchemas<Input extends AnySchema = AnySchema, Output extends AnySchema = AnySchema> {
  readonly input?: Input
  readonly output?: Output
}

export type TypesOf<S extends ProgramSchemas> = {
  readonly input: S extends { readonly input: infer Input } ? InputOf<Input> : unknown
  readonly output: S extends { readonly output: infer Output } ? OutputOf<Output> : Plain
}

interface CompiledSchemas {
  readonly input: CompiledSchema | null
  readonly output: CompiledSchema | null
}

const NO_SCHEMAS: CompiledSchemas = { input: null, output: null }

/** The extension has no other way to declare an alias, or the version of a tool. */
const MENTIONS_TOOLS = /\b(?:use\s+tool|grant)\b/

/** A compiled program, good for any number of runs. */
export class Module<Types extends ProgramTypes = ProgramTypes> {
  /** For TypeScript only; there is no such value. */
  declare readonly types?: Types
  readonly file: string
  readonly warnings: readonly Diagnostic[]
  readonly program: LinkedProgram
  readonly sources: ProgramSources
  /** What its input and its result must be. */
  readonly schemas: CompiledSchemas
  private readonly hashOf: (sources: ProgramSources) => string
  private readonly compiled: () => CompileResult
  private knownHash: string | null = null
  private result: CompileResult | null = null

  constructor(parts: {
    readonly warnings: readonly Diagnostic[]
    readonly program: LinkedProgram
    readonly sources: ProgramSources
    readonly schemas?: CompiledSchemas
    readonly hashOf: (sources: ProgramSources) => string
    /** What the compiler said; asked for at most once, and not before it is needed. */
    readonly compiled: () => CompileResult
  }) {
    this.file = parts.sources.entry.key
    this.warnings = parts.warnings
    this.program = parts.program
    this.sources = parts.sources
    this.schemas = parts.schemas ?? NO_SCHEMAS
    this.hashOf = parts.hashOf
    this.compiled = parts.compiled
  }

  /** All source files by key, for error reports. */
  get files(): ReadonlyMap<string, SourceFile> {
    return this.said.files
  }

  /** What its files declare about tools: aliases and grants, by module key. */
  get grants(): ReadonlyMap<string, GrantDeclarations> {
    return this.said.grants
  }

  /** Hash of the sources; journals and snapshots identify the program by it. */
  get hash(): string {
    return (this.knownHash ??= this.hashOf(this.sources))
  }

  /** What the program can reach: effects, tools and grants of each function and of the whole. Runs are held to it. */
  get manifest(): EffectManifest {
    return this.analysis.manifest
  }

  /** Whether its texts can have aliases of tools or imports from the host, seen without compiling them. */
  get declaresTools(): boolean {
    const { entry, modules, imports } = this.sources
    if (imports.some(([, path]) => path.startsWith('host/'))) return true
    const own = modules.length === 0 ? [] : withoutStdModules(modules)
    return [entry, ...own].some(({ text }) => MENTIONS_TOOLS.test(text))
  }

  get hostImports(): readonly HostImport[] {
    return this.analysis.hostImports
  }

  /** Where the program can reach a kind of effect; the beginning of the file for what only its modules reach. */
  findCause(kind: string): { readonly text: string; readonly file: SourceFile; readonly span: Diagnostic['span'] } {
    const { text, span } = this.analysis.findCause(kind) ?? { text: 'a module that it imports', span: { start: 0, end: 0 } }
    return { text, span, file: this.files.get(this.file)! }
  }

  /** Whether the program may put a tool of that name into its own registry. */
  mayDefineTool(name: string): boolean {
    return this.analysis.mayDefineTool(name)
  }

  /**
   * Throws EffectCeilingError when the program can reach effects beyond those of `ceiling`. A text does not say everything: a name may be put
   * together as the program runs (`x |> name`). So runs are limited to the compared manifest, regardless of the runtime's settings.
   */
  checkCeiling(ceiling: readonly string[]): void {
    const above = this.analysis.above(ceiling)
    if (above.length > 0) throw new EffectCeilingError(above, this.files.get(this.file)!)
    this.hasCeiling = true
  }

  /** Whether a ceiling was compared with what its text can reach. */
  hasCeiling = false

  /** The same program with other builtins behind their names. */
  linkedTo(registry: Registry): Module<Types> {
    return this.copy({ program: linkProgram(this.said.program!, registry) })
  }

  /** The same program, whose runs are held to schemas. */
  withSchemas(schemas: CompiledSchemas): Module<Types> {
    return this.copy({ schemas })
  }

  private copy(changes: { readonly program?: LinkedProgram; readonly schemas?: CompiledSchemas }): Module<Types> {
    const { warnings, program, sources, schemas, hashOf } = this
    const copied = new Module<Types>({ warnings, program, sources, schemas, hashOf, ...changes, compiled: () => this.said })
    copied.hasCeiling = this.hasCeiling
    return copied
  }

  private get said(): CompileResult {
    return (this.result ??= this.compiled())
  }

  private get analysis(): NonNullable<CompileResult['effects']> {
    return this.said.effects!
  }
}

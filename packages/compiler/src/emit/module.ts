// Tables of one module under construction, and facts about the whole file: enum and struct names, type aliases, imports.

import type { ImportCeiling } from '../grants/ceilings.js'
import { SuggestionBudget } from '@bridle/parser'
import type { Program, SourceFile, Span, TypeExpr } from '@bridle/parser'
import type { Constant, FunctionChunk, ModuleChunk } from '../bytecode/chunk.js'
import type { Signatures } from '../signatures.js'
import type { CoverageCounters } from './coverage.js'
import { Nesting } from './names.js'

/** What the loader found for one import path. */
export type ResolvedImport =
  | {
      readonly kind: 'module'
      readonly key: string
      /** For messages. */
      readonly file: string
      /** Module slot by function name: every function, or for a builtin-backed host module its functions. */
      readonly functions: Readonly<Record<string, number>>
      /** Names of a wildcard import, in order. */
      readonly wildcard: readonly string[]
      /** Names of its types that have no value: aliases and interfaces. */
      readonly types: ReadonlySet<string>
    }
  /** The module is still loading: nothing is bound. */
  | { readonly kind: 'cycle' }
  /** The run-time message of the failed import. */
  | { readonly kind: 'error'; readonly message: string }

export interface EmitOptions {
  readonly key: string
  readonly file: SourceFile
  readonly isMain: boolean
  /** The pipeline to run instead of the default; for the test runner. */
  readonly pipeline?: string
  readonly signatures: Signatures
  /** Ceilings of the module's functions; empty for none. */
  readonly ceilings: readonly ImportCeiling[]
  readonly imports: ReadonlyMap<string, ResolvedImport>
  /** JSON of the run-time check of a parameter type, null when it is not checked. */
  readonly paramCheck: (type: TypeExpr) => string | null
  /** JSON of the schema dict of a type alias of the file, or one that it imports; null for other names. */
  readonly schemaOfAlias: (name: string) => string | null
  /** JSON of the JSON Schema of a type, for tool declarations. */
  readonly toolSchemaOf: (type: TypeExpr) => string | null
  /** Emit coverage counters. */
  readonly coverage?: CoverageCounters
}

export class ModuleEmitter {
  readonly options: EmitOptions
  readonly functions: FunctionChunk[] = []
  readonly units: string[] = []
  readonly moduleSlots: string[] = []
  readonly exports = Object.create(null) as Record<string, number> // names are the script's
  /** The entry is a pipeline, or this is an imported module: only variables and definitions run at top level. */
  pipelineMode = false
  readonly nesting: Nesting
  readonly enumNames: ReadonlySet<string>
  readonly structFields: ReadonlyMap<string, readonly string[]>
  /** For the suggestions that run-time errors carry. */
  readonly suggestions = new SuggestionBudget()
  private readonly constantIndex = new Map<string, number>()
  private readonly constants: Constant[] = []
  private readonly nameIndex = new Map<string, number>()
  private readonly builtinIndex = new Map<string, number>()

  constructor(program: Program, options: EmitOptions) {
    this.options = options
    this.nesting = new Nesting(program)
    this.enumNames = new Set(['Result', ...this.nesting.enums.map((decl) => decl.name.text)])
    this.structFields = new Map(this.nesting.structs.map((decl) => [decl.name.text, decl.fields.map((field) => field.name.text)]))
  }

  constant(value: Constant): number {
    const key =
      typeof value === 'bigint'
        ? `i${value}`
        : typeof value === 'string'
          ? `s${value}`
          : typeof value === 'object' && value !== null
            ? JSON.stringify(value, (_, part: unknown) =>
                typeof part === 'bigint'
                  ? `${part}n`
                  : (typeof part === 'number' && !Number.isFinite(part)) || Object.is(part, -0)
                    ? String(part) + '#'
                    : part,
              )
            : `p${String(value)}`
    const known = this.constantIndex.get(key)
    if (known !== undefined) return known
    this.constants.push(value)
    this.constantIndex.set(key, this.constants.length - 1)
    return this.constants.length - 1
  }

  data(json: unknown): number {
    return this.constant({ tag: 'data', json: JSON.stringify(json) })
  }

  name(text: string): number {
    return intern(this.nameIndex, text)
  }

  builtin(name: string): number {
    return intern(this.builtinIndex, name)
  }

  unit(key: string): number {
    const known = this.units.indexOf(key)
    return known >= 0 ? known : this.units.push(key) - 1
  }

  position(span: Span): { line: number; column: number } {
    return this.options.file.position(span.start)
  }

  finish(): ModuleChunk {
    const { key, file, ceilings } = this.options
    return {
      key,
      ...(file.name === key ? {} : { file: file.name }),
      ...(ceilings.length === 0 ? {} : { ceilings }),
      functions: this.functions,
      constants: this.constants,
      names: [...this.nameIndex.keys()],
      builtins: [...this.builtinIndex.keys()],
      units: this.units,
      moduleSlots: this.moduleSlots,
      exports: this.exports,
    }
  }
}

function intern(table: Map<string, number>, text: string): number {
  const known = table.get(text)
  if (known !== undefined) return known
  table.set(text, table.size)
  return table.size - 1
}

/** A compile-phase error: `Compile error at line N: <message>`. */
export class CompileError extends Error {
  readonly span: Span
  constructor(message: string, span: Span) {
    super(message)
    this.span = span
  }
}

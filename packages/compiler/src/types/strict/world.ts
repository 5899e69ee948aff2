// What the strict passes know beyond the file's own source, and where they report.

import type { Program, SourceFile, Span, SuggestionBudget } from '@bridle/parser'
import type { BuiltinSignatures } from '../builtins.js'
import type { CheckContext, Fix } from '../context.js'
import type { Imports } from '../module-interface.js'
import type { Scope } from '../scope.js'

export interface StrictWorld {
  readonly file: SourceFile
  readonly program: Program
  /** The outermost scope of the language's own checks: types that are declared or imported, aliases, methods. */
  readonly root: Scope
  readonly builtins: BuiltinSignatures
  readonly imports: Imports
  /** Names that imports bring; null when one of them could not be resolved. */
  readonly importedNames: ReadonlySet<string> | null
  /** Names that exist without a declaration: constants of the language, globals of the host. */
  readonly globals: ReadonlySet<string>
  /** Missing builtins that may be named anyway. */
  readonly toleratedNames: ReadonlySet<string>
  /** Names of the modules `std/NAME`, for suggestions. */
  readonly standardModules: readonly string[]
  /** The standard module that alone exports a name. */
  readonly findStandard: (name: string) => string | null
  readonly budget: SuggestionBudget
  readonly report: CheckContext['report']
}

/** A repair that replaces one word by another. */
export function replaceWord(span: Span, text: string | null): Fix | undefined {
  return text === null ? undefined : { title: `write \`${text}\``, edits: [{ span, text }] }
}

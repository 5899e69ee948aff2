// State shared by the checking functions of one file: diagnostics, facts about the file, and the mutual calls between expressions,
// statements and declarations.

import { report } from '@bridle/parser'
import type { Block, Diagnostic, Expr, FnDecl, Severity, SourceFile, Span, Stmt, SuggestionBudget } from '@bridle/parser'
import { type ArgsOf, type CheckCode, CHECK_CATALOG } from './catalog.js'
import { type FnSignature, readSignature } from './declarations.js'
import type { Scope } from './scope.js'

export type Fix = NonNullable<Diagnostic['fix']>

export interface Deprecation {
  readonly since: string | null
  readonly use: string | null
}

export interface CheckContext {
  readonly file: SourceFile
  readonly root: Scope
  /** `severity` replaces that of the code. */
  readonly report: <C extends CheckCode>(code: C, span: Span, args: ArgsOf<C>, fix?: Fix, severity?: Severity) => void
  /** Names that imports bring; null when an import could not be resolved, which turns the checks of unknown names off. */
  readonly importedNames: ReadonlySet<string> | null
  /** Names that imports list, whether the modules have them or not. */
  readonly askedNames: ReadonlySet<string>
  /** Declared under an attribute: known only as call targets. */
  readonly otherNames: ReadonlySet<string>
  /** Missing builtins, whose calls are allowed. */
  readonly toleratedNames: ReadonlySet<string>
  /** Whether unknown keys of options are reported; the language does not. */
  readonly reportsOptions: boolean
  readonly deprecated: ReadonlyMap<string, Deprecation>
  readonly strict: boolean
  /** Strict types accept the fields that a builtin lists in its result type. */
  readonly trustsResults: boolean
  /** Of the file. */
  readonly suggestions: SuggestionBudget
  readonly observe: ((span: Span, type: string) => void) | null
  /** The only top-level function to check; null for all of them. */
  readonly only: Stmt | null
  readonly probe: { readonly stmt: Stmt; readonly found: (type: string | null) => void } | null
  readonly signature: (decl: FnDecl) => FnSignature
  readonly checkExpr: (expr: Expr, scope: Scope) => void
  readonly checkStmt: (stmt: Stmt, scope: Scope) => void
  /** Checks the statements of a block in `scope`, which the caller made for it. */
  readonly checkBlock: (block: Block, scope: Scope) => void
}

/** Appends to `diagnostics`, in order of emission. */
export function reporter(diagnostics: Diagnostic[]): CheckContext['report'] {
  return <C extends CheckCode>(code: C, span: Span, args: ArgsOf<C>, fix?: Fix, severity?: Severity): void => {
    diagnostics.push(
      report(CHECK_CATALOG, code, span, args, { fix: fix ?? null, ...(severity === undefined ? {} : { severity }) }),
    )
  }
}

/** Signatures are needed when a name is registered, called and checked; a body is searched for `yield` once. */
export function signatureCache(): (decl: FnDecl) => FnSignature {
  const known = new Map<FnDecl, FnSignature>()
  return (decl) => {
    const found = known.get(decl)
    if (found !== undefined) return found
    const made = readSignature(decl)
    known.set(decl, made)
    return made
  }
}

// Entry point of the pass: from one file's tree to likely mistakes, in source order. It uses the
// tree and the source, beside the checker, which knows types. Nothing of it stops a run; strict checks report it.

import type { Diagnostic, Program, SourceFile } from '@bridle/parser'
import { listContents } from '../contents.js'
import { BUILTINS, type BuiltinSignatures } from '../types/builtins.js'
import type { Imports } from '../types/module-interface.js'
import { isNamed } from '../types/type.js'
import { type MistakeContext, mistakeReporter, Scopes } from './context.js'
import { checkEntry } from './entry.js'
import { readKind, readNames } from './names.js'
import { Purity } from './purity.js'
import { findSemicolons } from './semicolons.js'
import { findLostValues } from './values.js'

export interface MistakeOptions {
  readonly file: SourceFile
  readonly signatures?: BuiltinSignatures
  readonly imports?: Imports
  /** Names that the host puts into the outermost scope. */
  readonly globals?: readonly string[]
}

export function findMistakes(program: Program, options: MistakeOptions): readonly Diagnostic[] {
  const signatures = options.signatures ?? BUILTINS
  const names = readNames(program, options.imports ?? (() => null))
  const found: Diagnostic[] = []
  const scopes = new Scopes(names.structs)
  let foreign = 0
  const globals = new Set(options.globals)
  const context: MistakeContext = {
    file: options.file,
    contents: listContents(program),
    names,
    scopes,
    purity: new Purity(names, (expr) =>
      expr.kind === 'Identifier' ? (scopes.find(expr.name)?.kind ?? null) : readKind(expr, names.structs),
    ),
    hasResult: (name) => {
      const returns = signatures.get(name)?.returns ?? null
      return returns !== null && !isNamed(returns, 'nil') && !isNamed(returns, 'never')
    },
    isBuiltin: (name) => signatures.has(name),
    isGlobal: (name) => signatures.has(name) || globals.has(name),
    inForeignText: () => foreign > 0,
    asForeignText: (visit) => {
      foreign += 1
      visit()
      foreign -= 1
    },
    report: mistakeReporter(found),
  }
  try {
    findLostValues(program, context)
    findSemicolons(context)
    checkEntry(program, context)
  } catch (error) {
    // A tree too deep for the call stack is left to the phases that have an error for it.
    if (!(error instanceof RangeError)) throw error
  }
  return found.toSorted((one, other) => one.span.start - other.span.start)
}

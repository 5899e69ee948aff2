// Lint: valid code that a careful author avoids. It uses the tree and the source, not
// types. Order of its diagnostics: rules about the source, then about the tree, then about names of the whole file.

import { type Diagnostic, lexFile, type Program, type SourceFile } from '@bridle/parser'
import { listContents } from '../contents.js'
import { BUILTINS, type BuiltinSignatures } from '../types/builtins.js'
import type { Imports } from '../types/module-interface.js'
import { type LintContext, lintReporter } from './context.js'
import { lintNames } from './names.js'
import { lintFileHeader, lintText } from './text.js'
import { lintTree } from './tree.js'

export interface LintOptions {
  readonly file: SourceFile
  /** Names of rules that are off. */
  readonly disabled?: Iterable<string>
  /** Without style rules. */
  readonly skipsStyle?: boolean
  /** Omits findings that a rule infers from a name alone: `check` must not be wrong if a list has a method of that name, too. */
  readonly isSure?: boolean
  /** Turns the rule about file headers on. */
  readonly requireFileHeader?: boolean
  /** Default 25. */
  readonly complexityThreshold?: number
  readonly signatures?: BuiltinSignatures
  /** Interface of an imported path; null when it cannot be resolved, which turns the rule about unknown functions off. */
  readonly imports?: Imports
  /** Names that other linted files import from this one by name. */
  readonly importedElsewhere?: ReadonlySet<string>
}

export const DEFAULT_COMPLEXITY_THRESHOLD = 25

export function lintProgram(program: Program, options: LintOptions): Diagnostic[] {
  const findings: Diagnostic[] = []
  const tokens = lexFile(options.file)
  const threshold = options.complexityThreshold ?? DEFAULT_COMPLEXITY_THRESHOLD
  const hasStyle = options.skipsStyle !== true
  const context: LintContext = {
    file: options.file,
    findings,
    settings: `${hasStyle} ${options.isSure === true} ${options.requireFileHeader === true} ${threshold} ${[...(options.disabled ?? [])].join()}`,
    tokens,
    comments: tokens.comments,
    contents: listContents(program),
    hasStyle,
    isSure: options.isSure === true,
    report: lintReporter(
      findings,
      new Set(options.disabled),
      (row) => (hasStyle || row.style !== true) && (row.optIn !== true || options.requireFileHeader === true),
    ),
    complexityThreshold: threshold,
  }
  if (hasStyle) lintText(program, context)
  lintTree(program, context)
  if (hasStyle) lintFileHeader(context)
  lintNames(program, context, {
    signatures: options.signatures ?? BUILTINS,
    imports: options.imports ?? (() => null),
    importedElsewhere: options.importedElsewhere ?? new Set(),
  })
  return findings
}

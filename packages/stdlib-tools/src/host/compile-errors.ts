// Errors of compiling, with their diagnostics.

import type { CompileResult } from '@bridle/compiler'
import type { Diagnostic, SourceFile } from '@bridle/parser'
import { renderDiagnostic } from './front-end.js'

/** The source does not compile. `diagnostics` has everything that was found. */
export class CompileError extends Error {
  override readonly name = 'CompileError'
  readonly diagnostics: readonly Diagnostic[]
  readonly file: SourceFile

  constructor(result: CompileResult) {
    const first = result.diagnostics.find((each) => each.severity === 'error')
    super(first === undefined ? 'the source does not compile' : `${first.message} (${formatPlace(first, result.file)})`)
    this.diagnostics = result.diagnostics
    this.file = result.file
  }

  /** As a person reads it: excerpts with carets. */
  render(): string {
    return this.diagnostics.map((each) => renderDiagnostic(each, this.file)).join('\n')
  }
}

function formatPlace({ span }: Diagnostic, file: SourceFile): string {
  const { line, column } = file.position(span.start)
  return `${file.name}:${line}:${column}`
}

/** The program can reach effects that the host does not allow. `diagnostics` has one finding for each. */
export class EffectCeilingError extends Error {
  override readonly name = 'EffectCeilingError'
  readonly diagnostics: readonly Diagnostic[]
  readonly file: SourceFile

  constructor(diagnostics: readonly Diagnostic[], file: SourceFile) {
    super(diagnostics.map((each) => each.message).join('; '))
    this.diagnostics = diagnostics
    this.file = file
  }
}

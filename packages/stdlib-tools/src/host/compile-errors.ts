// Errors of compiling, with their diagnostics.

import type { CompileResult } from '@bridle/compiler'
import type { Diagnostic, SourceFile } from '@bridle/parser'
import { renderDiagnostic } from './front-end.js'

/** The source does not compile. `diagnostics` has everything that was found. */
export class CompileError extends Error {
  override readonly name: 'CompileError' | 'EffectCeilingError' = 'CompileError'
  readonly diagnostics: readonly Diagnostic[]
  readonly file: SourceFile

  constructor({ diagnostics, file }: Pick<CompileResult, 'diagnostics' | 'file'>, message = describeFirst(diagnostics, file)) {
    super(message)
    this.diagnostics = diagnostics
    this.file = file
  }

  /** As a person reads it: excerpts with carets. */
  render(): string {
    return this.diagnostics.map((each) => renderDiagnostic(each, this.file)).join('\n')
  }
}

function describeFirst(diagnostics: readonly Diagnostic[], file: SourceFile): string {
  const first = diagnostics.find((each) => each.severity === 'error')
  return first === undefined ? 'the source does not compile' : `${first.message} (${formatPlace(first, file)})`
}

function formatPlace({ span }: Diagnostic, file: SourceFile): string {
  const { line, column } = file.position(span.start)
  return `${file.name}:${line}:${column}`
}

/** The program can reach effects that the host does not allow. `diagnostics` has one finding for each. */
export class EffectCeilingError extends CompileError {
  override readonly name = 'EffectCeilingError'

  constructor(diagnostics: readonly Diagnostic[], file: SourceFile) {
    super({ diagnostics, file }, diagnostics.map((each) => each.message).join('; '))
  }
}

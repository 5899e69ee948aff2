// Findings of the compiler as excerpts on stderr.

import { renderDiagnostic } from '@bridle/parser'
import type { Diagnostic, SourceFile } from '@bridle/parser'
import type { Script } from './load.js'
import { guardStreams } from './output.js'

export function showDiagnostics(diagnostics: readonly Diagnostic[], file: SourceFile, script: Script): void {
  guardStreams()
  const color = process.stderr.isTTY === true && process.env['NO_COLOR'] === undefined
  for (const diagnostic of diagnostics) {
    process.stderr.write(renderDiagnostic(diagnostic, file, { color }).replaceAll(file.name, script.shown))
  }
}

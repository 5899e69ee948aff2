// Findings of the compiler as excerpts on stderr.

import type { Diagnostic, SourceFile } from '@bridle/parser'
import type { Script } from './script.js'
import { guardStreams } from './output.js'
import { renderFinding } from './printable.js'

export function showDiagnostics(diagnostics: readonly Diagnostic[], file: SourceFile, script: Script): void {
  guardStreams()
  for (const diagnostic of diagnostics) process.stderr.write(renderFinding(diagnostic, file, { shown: script.shown }))
}

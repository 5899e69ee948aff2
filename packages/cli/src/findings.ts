// Findings of `check` and `lint`, as text for people and as data for programs.

import { type Diagnostic, diagnosticToJson, type JsonDiagnostic, type SourceFile } from '@bridle/parser'
import { nameInvariant, lintRule } from '@bridle/compiler'
import { renderFinding } from './printable.js'

export interface Finding {
  readonly diagnostic: Diagnostic
  /** The displayed name of its file. */
  readonly file: SourceFile
}

export function showFindings(findings: readonly Finding[]): void {
  for (const { diagnostic, file } of findings) {
    const label = findLabel(diagnostic.code)
    process.stderr.write(renderFinding(diagnostic, file, label === null ? {} : { label }))
  }
}

/** Label after the carets: the rule or check. */
function findLabel(code: string): string | null {
  const rule = lintRule(code)
  if (rule !== null) return `lint[${rule}]`
  const invariant = nameInvariant(code)
  if (invariant !== null) return `invariant[${invariant}]`
  return code.startsWith('H') ? 'preflight' : null
}

export interface JsonFinding extends Omit<JsonDiagnostic, 'file'> {
  readonly path: string
  /** Name of the lint rule; null for other findings. */
  readonly rule: string | null
}

export function findingToJson({ diagnostic, file }: Finding): JsonFinding {
  const { file: path, ...rest } = diagnosticToJson(diagnostic, file)
  return { path, rule: lintRule(diagnostic.code), ...rest }
}

export function isError({ diagnostic }: Finding): boolean {
  return diagnostic.severity === 'error'
}

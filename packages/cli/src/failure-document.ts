// The one JSON document of a command that could not do its work: it has the fields that the document of a success has in common
// (`status`, `exit_code`), what went wrong first as `error`, and everything that was found as `errors`.

import { diagnosticToJson } from '@bridle/parser'
import type { Diagnostic, SourceFile } from '@bridle/parser'
import { CommandError, EXIT_FAILURE, UsageError } from './errors.js'

export interface JsonError {
  readonly code: string
  readonly message: string
  readonly file: string | null
  readonly line: number | null
  readonly column: number | null
  readonly hint: string | null
}

export interface FailureDocument {
  readonly status: 'failed'
  readonly exit_code: number
  readonly output: ''
  readonly error: JsonError
  readonly errors: readonly unknown[]
}

/** Of a script that does not compile. `shown` is what the caller called it. */
export function makeUncompiledDocument(diagnostics: readonly Diagnostic[], file: SourceFile, shown: string): FailureDocument {
  const errors = diagnostics
    .filter(({ severity }) => severity === 'error')
    .map((diagnostic) => ({ ...diagnosticToJson(diagnostic, file), file: shown }))
  const first = errors[0]
  const { code, message, line, column, hint } = first ?? { code: 'failed', message: '', line: null, column: null, hint: null }
  return {
    status: 'failed',
    exit_code: EXIT_FAILURE,
    output: '',
    error: { code, message, file: shown, line, column, hint },
    errors,
  }
}

/** One error without a place, in the form that all documents have. */
export function makeJsonError(code: string, message: string, more: Partial<JsonError> = {}): JsonError {
  return { code, message, file: null, line: null, column: null, hint: null, ...more }
}

/** Of what a command throws. */
export function makeRefusalDocument(cause: unknown, exitCode: number): FailureDocument {
  const isTold = cause instanceof UsageError || cause instanceof CommandError
  const { file, hint } = isTold ? cause.facts : { file: undefined, hint: undefined }
  const error = makeJsonError(isTold ? cause.code : 'bug', cause instanceof Error ? cause.message : String(cause), {
    file: file ?? null,
    hint: hint ?? null,
  })
  return { status: 'failed', exit_code: exitCode, output: '', error, errors: [error] }
}

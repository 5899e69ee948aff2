// The one JSON document of a failed command: the fields common with the document of a success
// (`status`, `exit_code`), the first error as `error`, and all findings as `errors`.

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

/** For a script that does not compile. `shown` is the caller's name for it. */
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

/** One error without a position, in the format of all documents. */
export function makeJsonError(code: string, message: string, more: Partial<JsonError> = {}): JsonError {
  return { code, message, file: null, line: null, column: null, hint: null, ...more }
}

/** For an error thrown by a command. */
export function makeRefusalDocument(cause: unknown, exitCode: number): FailureDocument {
  const isTold = cause instanceof UsageError || cause instanceof CommandError
  const { file, hint } = isTold ? cause.facts : { file: undefined, hint: undefined }
  const error = makeJsonError(isTold ? cause.code : 'bug', cause instanceof Error ? cause.message : String(cause), {
    file: file ?? null,
    hint: hint ?? null,
  })
  return { status: 'failed', exit_code: exitCode, output: '', error, errors: [error] }
}

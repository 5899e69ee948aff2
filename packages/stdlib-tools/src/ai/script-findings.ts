// What went wrong, for a model: place, excerpt, cause, repair. A few at a time: the first error is often the cause of those that follow.

import { renderDiagnostic } from '@bridle/parser'
import type { Diagnostic, SourceFile } from '@bridle/parser'
import { renderPlain } from './shown.js'
import type { ScriptError } from '../host/run.js'
import { SCRIPT_FILE } from './script-text.js'

const MOST_FINDINGS = 3

/** Errors of compiling, the first ones in the order of their places. */
export function renderFindings(diagnostics: readonly Diagnostic[], file: SourceFile): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').sort((a, b) => a.span.start - b.span.start)
  const shown = errors.slice(0, MOST_FINDINGS).map((each) => renderDiagnostic(each, file) + renderRepair(each, file))
  const more = errors.length - shown.length
  return shown.join('\n') + (more === 0 ? '' : `\n${more} more, which may have the same cause.\n`)
}

/** The lines of the script as they would be. */
function renderRepair({ fix }: Diagnostic, file: SourceFile): string {
  if (fix === null || fix.edits.length === 0) return ''
  const [first, last] = [
    file.lineAt(Math.min(...fix.edits.map(({ span }) => span.start))),
    file.lineAt(Math.max(...fix.edits.map(({ span }) => span.end))),
  ]
  if (last - first > 4) return `  repair: ${fix.title}\n`
  let text = file.text
  for (const { span, text: replacement } of [...fix.edits].sort((a, b) => b.span.start - a.span.start))
    text = text.slice(0, span.start) + replacement + text.slice(span.end)
  const grown = text.split('\n').length - file.text.split('\n').length
  const lines = text.split('\n').slice(first - 1, last + grown)
  return `  repair: ${fix.title}\n${lines.map((line) => `    ${line.trim()}\n`).join('')}`
}

/** What to do about an error of a tool, by its code. */
const REPAIRS: { readonly [code: string]: string } = {
  approval_denied: 'a person refused this call: do not make it again, and do what can be done without it',
  policy_violation: 'this call is not allowed: do without it',
  security_violation: 'this call is not allowed: do without it',
  egress_blocked: 'this address is not allowed: do without it',
  budget_exhausted: 'no more of these calls are allowed: do with what is there',
  invalid_args: 'give the arguments that the tool takes',
  not_registered: 'call a tool that there is',
  timeout: 'ask for less at once, or catch the error',
}

/** An error that ended the run. */
export function renderScriptError({ message, value, trace }: ScriptError, source: string): string {
  const code = readText(value, 'code')
  const lines = [`error${code === null ? '' : `[${code}]`}: ${readText(value, 'message') ?? describe(message, value)}`]
  const [innermost, ...callers] = trace.filter(({ file }) => file === SCRIPT_FILE)
  if (innermost !== undefined) {
    const { line, column } = innermost
    const pad = ' '.repeat(String(line).length + 1)
    const text = source.split(/\r?\n/)[line - 1] ?? ''
    lines.push(`${pad}--> ${SCRIPT_FILE}:${line}:${Math.max(column, 1)}`, `${pad} |`, ` ${line} | ${text}`)
    if (column > 0) lines.push(`${pad} | ${' '.repeat(column - 1)}^`)
    for (const caller of callers.slice(0, 3)) lines.push(`${pad} = called from line ${caller.line}`)
  }
  if (code !== null && Object.hasOwn(REPAIRS, code)) lines.push(`  repair: ${REPAIRS[code]}`)
  return `${lines.join('\n')}\n`
}

function describe(message: string, value: unknown): string {
  return typeof value === 'object' && value !== null ? `${message}`.slice(0, 500) || renderPlain(value).slice(0, 500) : message
}

function readText(value: unknown, key: string): string | null {
  if (typeof value !== 'object' || value === null) return null
  const found: unknown = Reflect.get(value, key)
  return typeof found === 'string' ? found : null
}

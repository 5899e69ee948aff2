// Renders a diagnostic for people (header, position, source line with carets, help and notes) and as JSON for programs.
// Columns and carets count code points. A tab in the source line is kept, and repeated in the line of carets, so that both
// line up.

import type { SourceFile, Span } from '../source.js'
import type { Diagnostic, Severity } from './diagnostic.js'

export interface RenderOptions {
  readonly color?: boolean
  /** Carets under the span; without them only the line is shown. */
  readonly carets?: boolean
  /** Label after the carets, such as the broken rule; syntax errors have their own. */
  readonly label?: string
  /** A last line with the code, and the command that explains it. */
  readonly withCode?: boolean
}

const STYLE = {
  error: '\u001b[1;31m',
  warning: '\u001b[1;33m',
  info: '\u001b[1;36m',
  frame: '\u001b[1;34m',
  bold: '\u001b[1m',
  end: '\u001b[0m',
} as const

/** Several lines, each ended by a line break. */
export function renderDiagnostic(diagnostic: Diagnostic, source: SourceFile, options: RenderOptions = {}): string {
  const paint = (style: keyof typeof STYLE, text: string): string =>
    options.color === true ? `${STYLE[style]}${text}${STYLE.end}` : text
  const places = [
    { span: diagnostic.span, note: null, label: options.label ?? syntaxLabel(diagnostic, source) },
    ...diagnostic.related.map((one) => ({ span: one.span, note: one.message, label: '' })),
  ]
  const width = Math.max(...places.map(({ span }) => String(source.lineAt(span.start)).length))
  const margin = ' '.repeat(width + 1)
  const bar = paint('frame', '|')
  const lines = [`${paint(diagnostic.severity, diagnostic.severity)}: ${paint('bold', headline(diagnostic))}`]
  for (const { span, note, label } of places) {
    const { line, column } = source.position(span.start)
    if (note !== null) lines.push(`${margin} = note: ${note}`)
    lines.push(`${margin}${paint('frame', '-->')} ${source.name}:${line}:${column}`, `${margin} ${bar}`)
    const text = source.lineText(line)
    // After the last line break there is no line to show.
    if (text === '' && line > 1 && span.start >= source.text.length) continue
    lines.push(` ${paint('frame', String(line).padStart(width))} ${bar} ${text}`)
    if (options.carets !== false) {
      const marks = `${blanksTo(text, column)}${'^'.repeat(caretCount(source, span))}`
      lines.push(`${margin} ${bar} ${paint(diagnostic.severity, label === '' ? marks : `${marks} ${label}`)}`)
    }
  }
  if (diagnostic.hint !== null) lines.push(`${margin} = help: ${diagnostic.hint}`)
  if (options.withCode === true)
    lines.push(`${margin} = code: ${diagnostic.code}, explained by \`bridle explain ${diagnostic.code}\``)
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

/** Above an excerpt, which shows the position, syntax errors omit the position. */
function headline(diagnostic: Diagnostic): string {
  if (!diagnostic.code.startsWith('P')) return diagnostic.message
  // `Expected A, got B at 1:2`; A and B may be any part of the source.
  const { message } = diagnostic
  const [at, got] = [message.lastIndexOf(' at '), message.lastIndexOf(', got ')]
  if (message.startsWith('Expected ') && got > 0 && at > got && /^\d+:\d+$/.test(message.slice(at + 4)))
    return `expected ${message.slice('Expected '.length, got)}, found ${message.slice(got + ', got '.length, at)}`
  return message.replace(/^Unexpected end of file/, 'unexpected end of file')
}

function syntaxLabel(diagnostic: Diagnostic, source: SourceFile): string {
  switch (diagnostic.code) {
    case 'P002':
      return 'file ends here'
    case 'P003':
    case 'P004':
    case 'P005':
      return 'here'
    default:
      if (!diagnostic.code.startsWith('P')) return ''
      return source.text[diagnostic.span.start] === '\n' ? 'line break not allowed here' : 'unexpected token'
  }
}

/** All of them, with an empty line between. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], source: SourceFile, options: RenderOptions = {}): string {
  return diagnostics.map((one) => renderDiagnostic(one, source, options)).join('\n')
}

function blanksTo(line: string, column: number): string {
  return [...line]
    .slice(0, column - 1)
    .map((letter) => (letter === '\t' ? '\t' : ' '))
    .join('')
    .padEnd(column - 1)
}

/** Characters of the span on its first line, at least one. */
function caretCount(source: SourceFile, span: Span): number {
  const text = source.text.slice(span.start, span.end)
  const firstLine = text.split(/\r?\n/, 1)[0] ?? ''
  return Math.max(1, [...firstLine].length)
}

export interface JsonPlace {
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
}

export interface JsonDiagnostic extends JsonPlace {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  readonly file: string
  readonly hint: string | null
  readonly related: readonly (JsonPlace & { readonly message: string })[]
  readonly fix: { readonly title: string; readonly edits: readonly (JsonPlace & { readonly text: string })[] } | null
}

/** Plain data with lines and columns (from 1, in code points) instead of offsets. */
export function diagnosticToJson(diagnostic: Diagnostic, source: SourceFile): JsonDiagnostic {
  return {
    code: diagnostic.code,
    severity: diagnostic.severity,
    message: diagnostic.message,
    file: source.name,
    ...jsonPlace(source, diagnostic.span),
    hint: diagnostic.hint,
    related: diagnostic.related.map((one) => ({ ...jsonPlace(source, one.span), message: one.message })),
    fix:
      diagnostic.fix === null
        ? null
        : {
            title: diagnostic.fix.title,
            edits: diagnostic.fix.edits.map((edit) => ({ ...jsonPlace(source, edit.span), text: edit.text })),
          },
  }
}

function jsonPlace(source: SourceFile, span: Span): JsonPlace {
  const start = source.position(span.start)
  const end = source.position(span.end)
  return { line: start.line, column: start.column, endLine: end.line, endColumn: end.column }
}

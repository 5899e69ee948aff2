// Literals → source. With the old source, raw strings, strings over several lines and expressions in strings are
// copied; all others are printed from their value.

import type { Expr, ExprOf } from '../ast.js'
import { lex } from '../lexer.js'
import { commonIndent, escape, writeFloat } from '../literals.js'
import { printExpr } from './expressions.js'
import type { Layout } from './layout.js'

export function printFloat(value: number): string {
  // Only an int literal far past 64 bits is an infinite float.
  return Number.isFinite(value) ? writeFloat(value) : `1${'0'.repeat(309)}`
}

const DURATION_UNITS = [
  ['h', 3_600_000n],
  ['m', 60_000n],
  ['s', 1_000n],
] as const

export function printDuration(ms: bigint): string {
  const unit = DURATION_UNITS.find(([, size]) => ms !== 0n && ms % size === 0n)
  return unit === undefined ? `${ms}ms` : `${ms / unit[1]}${unit[0]}`
}

export function printStringLiteral(layout: Layout, expr: ExprOf<'String'> | ExprOf<'Interpolation'>): string {
  const written = layout.text(expr.span)
  if (written !== null) return isCopied(written) ? written : reescape(written)
  return expr.kind === 'String' ? printString(expr.value, expr.quote) : printInterpolation(layout, expr.parts, expr.quote)
}

function isCopied(written: string): boolean {
  return written.startsWith('r') || written.includes('\n')
}

/** A one-line literal with normalised escapes; the source in `${…}` is copied. */
function reescape(written: string): string {
  const payload = lex(written, { whole: false }).payloads[0]
  if (typeof payload === 'string') return `"${escape(payload)}"`
  if (payload === null || payload === undefined) return written
  return `"${payload.map((piece) => (typeof piece === 'string' ? escape(piece) : `\${${piece.source}}`)).join('')}"`
}

function printString(value: string, quote: 'double' | 'raw' | 'triple'): string {
  if (quote === 'raw' && !/["\n]/.test(value)) return `r"${value}"`
  if (quote === 'triple' && !value.includes('"""') && !value.includes('${')) {
    const indent = commonIndent(value.split('\n'))
    if (indent === null) return value === '' ? '""""""' : `"""\n${value}"""`
    if (indent === 0) return `"""\n${value}\n"""`
  }
  return `"${escape(value)}"`
}

function printInterpolation(layout: Layout, parts: readonly (string | Expr)[], quote: 'double' | 'triple'): string {
  const pieces = quote === 'triple' ? triplePieces(parts) : null
  const text = parts.map((part, at) => {
    if (typeof part !== 'string') return `\${${printExpr(layout, part, 0)}}`
    return pieces === null ? escape(part) : pieces[at]
  })
  return pieces === null ? `"${text.join('')}"` : `"""\n${text.join('')}"""`
}

/**
 * Pieces of a triple-quoted string, printed so that dedent restores them; null when impossible. Without indentation pieces are printed
 * unchanged, but a blank last one would vanish; with indentation blank lines lose their blanks.
 */
function triplePieces(parts: readonly (string | Expr)[]): string[] | null {
  const texts = parts.map((part) => (typeof part === 'string' ? part : ''))
  if (texts.some((text) => text.includes('"""') || text.includes('${'))) return null
  const last = parts.at(-1)
  // A quote right before the closing three would end the string one character early.
  if (typeof last === 'string' && last.endsWith('"')) return null
  const indent = commonIndent(texts.join('').split('\n')) ?? 0
  if (indent === 0 && !(typeof last === 'string' && last.trim() === '')) return texts
  if (texts.some((text) => text.split('\n').some((line) => line !== '' && line.trim() === ''))) return null
  const written = texts.map((text) => {
    const lines = text.split('\n').map((line) => (line === '' ? '' : `  ${line}`))
    return lines.join('\n') + (text.endsWith('\n') ? '\n' : '')
  })
  return commonIndent(written.join('').split('\n')) === 2 ? written : null
}

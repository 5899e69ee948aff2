// Mechanical repairs that the checker offers with its messages.

import type { Expr, ExprOf, SourceFile } from '@bridle/parser'
import type { Fix } from './context.js'
import { isNamed, type Type } from './type.js'

/**
 * `"n=" + x` → `"n=${x}"` and `x + "!"` → `"${x}!"`: only for a plain double-quoted literal beside a value that is not a string,
 * and only when the value's source can be inside `${…}` unchanged.
 */
export function addFix(node: ExprOf<'Binary'>, left: Type, right: Type, file: SourceFile): Fix | null {
  if (isNamed(left, 'string') === isNamed(right, 'string')) return null
  const text = interpolate(node, isNamed(left, 'string'), file)
  return text === null ? null : { title: 'use string interpolation', edits: [{ span: node.span, text }] }
}

/** The interpolated string equal to a sum with one plain literal; null when there is none. */
export function stringAddFix(node: ExprOf<'Binary'>, file: SourceFile): string | null {
  const leading = plainText(node.left, file) !== null
  return leading && plainText(node.right, file) !== null ? null : interpolate(node, leading, file)
}

function interpolate(node: ExprOf<'Binary'>, leading: boolean, file: SourceFile): string | null {
  const literal = leading ? node.left : node.right
  const value = leading ? node.right : node.left
  const text = plainText(literal, file)
  const code = file.text.slice(value.span.start, value.span.end)
  if (text === null || code === '' || /[}"]/.test(code)) return null
  return leading ? `"${text}\${${code}}"` : `"\${${code}}${text}"`
}

/** The source between the quotes of a plain string literal. */
function plainText(expr: Expr, file: SourceFile): string | null {
  if (expr.kind !== 'String' || expr.quote !== 'double') return null
  const text = file.text.slice(expr.span.start, expr.span.end)
  return text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : null
}

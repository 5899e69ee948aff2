// Strings that look like interpolation but are not: `$name`, `{name}`, `#{name}`, `%d`, `{}`. Plain text may contain
// these for good reasons, so the name must be visible, and `{name}` counts only in output for people.

import type { Argument, Expr, ExprOf, Span } from '@bridle/parser'
import type { Fix, MistakeContext } from './context.js'

/** Print or send their first argument unchanged. */
const OUTPUT: ReadonlySet<string> = new Set([
  'print', 'println', 'eprint', 'eprintln', 'log', 'log_info', 'log_warn', 'log_error', 'log_debug', 'llm_call', 'agent_loop', 'ask_user',
]) // prettier-ignore

/** `$x` has its own meaning in the arguments of these. */
const OWN_DOLLAR = /^(?:exec|shell|run_command|spawn_process|process|render|jq|regex|sql|prompt|format|replace|graphql)/

export function checkText(expr: ExprOf<'String'> | ExprOf<'Interpolation'>, context: MistakeContext): void {
  if (expr.quote === 'raw' || (expr.kind === 'String' && !hasSign(expr.value)) || context.inForeignText()) return
  for (const piece of plainPieces(expr, context)) {
    if (!hasSign(piece.text)) continue
    for (const match of piece.text.matchAll(/([#$])(\{?)([A-Za-z_][A-Za-z0-9_]*)(\}?)/g)) {
      const [text, sign, open, name, close] = match as unknown as [string, string, string, string, string]
      const isHash = sign === '#'
      if (isHash !== (open === '{') || (isHash && close !== '}')) continue
      const at = piece.start + match.index
      if (context.file.text[at - 1] === '\\' || context.scopes.find(name) === null) continue
      const shown = isHash ? text : `$${name}`
      const span = { start: at, end: at + shown.length }
      context.report('M011', span, { text: shown, name }, { title: 'interpolate it', edits: [{ span, text: `\${${name}}` }] })
    }
  }
}

/** `{name}`, `{user.name}`, `{price:.2f}`: a name, and a format of other languages. */
const BRACED = /\{([A-Za-z_][A-Za-z0-9_.]*)((?::[<>^]?[0-9]*,?(?:\.[0-9]+)?[bdeEfgsxX%]|:[<>^][0-9]+|:,)?)\}/g

/** `{name}` in output for people. */
export function checkBraces(expr: Expr, context: MistakeContext): void {
  if ((expr.kind !== 'String' && expr.kind !== 'Interpolation') || expr.quote !== 'double') return
  for (const piece of plainPieces(expr, context)) {
    for (const match of piece.text.matchAll(BRACED)) {
      const [text, name, layout] = match as unknown as [string, string, string]
      const at = piece.start + match.index
      if (/[\\$#{]/.test(context.file.text[at - 1] ?? '') || context.file.text[at + text.length] === '}') continue
      if (name.endsWith('.') || context.scopes.find(name.split('.', 1)[0]!) === null) continue
      const span = { start: at, end: at + text.length }
      // Rounding and padding are functions here, and a repair would drop them.
      const fix = layout === '' ? { title: 'interpolate it', edits: [{ span, text: `$${text}` }] } : null
      context.report('M011', span, { text, name }, fix)
    }
  }
}

/** The literal parts of a string's source. */
function plainPieces(
  expr: ExprOf<'String'> | ExprOf<'Interpolation'>,
  { file }: MistakeContext,
): readonly { readonly text: string; readonly start: number }[] {
  const pieces: { readonly text: string; readonly start: number }[] = []
  let from = expr.span.start
  if (expr.kind === 'Interpolation') {
    for (const part of expr.parts) {
      if (typeof part === 'string') continue
      const open = file.text.lastIndexOf('${', part.span.start)
      if (open >= from) pieces.push({ text: file.text.slice(from, open), start: from })
      from = file.text.indexOf('}', part.span.end) + 1
      if (from === 0) return pieces
    }
  }
  pieces.push({ text: file.text.slice(from, expr.span.end), start: from })
  return pieces
}

/** A character that other languages use for interpolation: most strings have none. */
function hasSign(text: string): boolean {
  return text.includes('$') || text.includes('#')
}

export function isOutput(call: ExprOf<'Call'>, { names }: MistakeContext): boolean {
  return OUTPUT.has(call.callee.text) && !names.declared.has(call.callee.text)
}

export function hasForeignText(name: string): boolean {
  return OWN_DOLLAR.test(name)
}

// ---- formats -----------------------------------------------------------------------------------------------------------

const PERCENT = /%(?:[0-9]*[sdif]|\.[0-9]+f)/g
const BRACES = /\{[0-9]*\}/g

/** `"n = %d" % n` */
export function checkPercent(expr: ExprOf<'Binary'>, context: MistakeContext): void {
  const { left, right } = expr
  if (expr.operator !== '%' || (left.kind !== 'String' && left.kind !== 'Interpolation')) return
  const source = context.file.text.slice(left.span.start, left.span.end)
  const [placeholder] = source.match(PERCENT) ?? []
  const values =
    right.kind === 'List'
      ? readValues(right.items, context)
      : readValues([{ spread: false, value: right, span: right.span }], context)
  const fix = placeholder === undefined ? null : filled(expr.span, source, PERCENT, values)
  context.report('M012', expr.span, { placeholder: placeholder ?? '%' }, fix)
}

/** `println("n = %d", n)`, `println("n = {}", n)` */
export function checkPlaceholders(call: ExprOf<'Call'>, context: MistakeContext): void {
  const [first, ...rest] = call.args
  if (first === undefined || rest.length === 0 || first.value.kind !== 'String') return
  const source = context.file.text.slice(first.span.start, first.span.end)
  for (const pattern of [PERCENT, BRACES]) {
    const [placeholder] = source.match(pattern) ?? []
    if (placeholder === undefined) continue
    const span = { start: first.span.start, end: call.args.at(-1)!.span.end }
    const args = { name: call.callee.text, placeholder }
    context.report('M013', call.span, args, filled(span, source, pattern, readValues(rest, context)))
    return
  }
}

/** `"{}".format(n)` → `format("{}", n)` */
export function formatFix(call: ExprOf<'MethodCall'>, { file }: MistakeContext): Fix | null {
  const { object, args, span } = call
  if (object.kind !== 'String') return null
  const receiver = file.text.slice(object.span.start, object.span.end)
  const rest = args.map((arg) => `, ${file.text.slice(arg.span.start, arg.span.end)}`).join('')
  return { title: 'call `format`', edits: [{ span, text: `format(${receiver}${rest})` }] }
}

function readValues(args: readonly Argument[], { file }: MistakeContext): readonly string[] | null {
  const values = args.map(({ span }) => file.text.slice(span.start, span.end))
  return args.some(({ spread }) => spread) || values.some((value) => /["{}\n]/.test(value)) ? null : values
}

/** The string with a value in each placeholder, if their numbers agree. */
function filled(span: Span, source: string, pattern: RegExp, values: readonly string[] | null): Fix | null {
  const places = source.match(pattern) ?? []
  if (values === null || places.length !== values.length || places.some((place) => place.includes('.') || /[0-9]/.test(place)))
    return null
  let next = 0
  const text = source.replace(pattern, () => `\${${values[next++]}}`)
  return { title: 'use string interpolation', edits: [{ span, text }] }
}

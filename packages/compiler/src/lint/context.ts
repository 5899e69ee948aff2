// State shared by the rules: the file, where to report, and edits of its source.

import { report } from '@bridle/parser'
import type { Comment, Declaration, Diagnostic, Expr, SourceFile, Span, TokenStream } from '@bridle/parser'
import type { Contents } from '../contents.js'
import { LINT_CATALOG, type LintArgs, type LintCode, type LintRow } from './catalog.js'

export type Fix = NonNullable<Diagnostic['fix']>
export type Edit = Fix['edits'][number]

export interface LintContext {
  readonly file: SourceFile
  readonly tokens: TokenStream
  readonly comments: readonly Comment[]
  readonly report: <C extends LintCode>(
    code: C,
    span: Span,
    args: LintArgs<C>,
    edits?: readonly Edit[] | null,
    related?: Diagnostic['related'],
  ) => void
  /** Receives what `report` is given. */
  readonly findings: Diagnostic[]
  /** Settings on which the findings of a tree depend. */
  readonly settings: string
  readonly complexityThreshold: number
  readonly contents: Contents
  /** Whether style rules are on; what only they need is not computed otherwise. */
  readonly hasStyle: boolean
  /** Whether rules omit findings that they infer from a name alone. */
  readonly isSure: boolean
}

/** Appends the findings of enabled rules to `findings`. `off` holds names of rules. */
export function lintReporter(
  findings: Diagnostic[],
  off: ReadonlySet<string>,
  isOn: (row: LintRow<never>) => boolean,
): LintContext['report'] {
  return <C extends LintCode>(
    code: C,
    span: Span,
    args: LintArgs<C>,
    edits: readonly Edit[] | null = null,
    related: Diagnostic['related'] = [],
  ): void => {
    const row: LintRow<never> = LINT_CATALOG[code]
    if (off.has(row.rule) || (row.alias !== undefined && off.has(row.alias)) || !isOn(row)) return
    const finding = report(LINT_CATALOG, code, span, args, { related })
    const fix = edits === null || edits.length === 0 ? null : { title: finding.hint ?? row.title, edits }
    findings.push({ ...finding, fix })
  }
}

export function readText(context: LintContext, span: Span): string {
  return context.file.text.slice(span.start, span.end)
}

/**
 * Text of an expression for use as an operand. Its span excludes enclosing parentheses, so an expression that binds more loosely than a
 * postfix operator gets new ones.
 */
export function operandText(context: LintContext, expr: Expr): string {
  const text = readText(context, expr.span)
  return ATOMS.has(expr.kind) ? text : `(${text})`
}

const ATOMS: ReadonlySet<Expr['kind']> = new Set([
  'Int',
  'Float',
  'Bool',
  'Nil',
  'Duration',
  'String',
  'Interpolation',
  'Identifier',
  'List',
  'Dict',
  'Call',
])

/**
 * One edit that replaces a span, or none when the span has unbalanced parentheses: those around the first or the
 * last operand are outside of it.
 */
export function replace(context: LintContext, span: Span, text: string): readonly Edit[] | null {
  return isBalanced(readText(context, span)) ? [{ span, text }] : null
}

function isBalanced(text: string): boolean {
  let open = 0
  for (const char of text.replace(/"(?:[^"\\\n]|\\.?)*"?/g, '')) {
    if (char === '(') open += 1
    else if (char === ')') open -= 1
    if (open < 0) return false
  }
  return open === 0
}

/** A declaration without its attributes and `pub`: where findings about it point. */
export function bareSpan(decl: Declaration, { file }: Pick<LintContext, 'file'>): Span {
  const last = decl.attributes.at(-1)
  if (last === undefined) return decl.span
  const rest = file.text.slice(last.span.end, decl.span.end)
  let at = skipBlanks(rest, 0)
  if (/pub\b/y.test(rest.slice(at, at + 4))) at = skipBlanks(rest, at + 3, false)
  return { start: last.span.end + at, end: decl.span.end }
}

/** Skips blanks, and comments if `comments` is set. */
function skipBlanks(text: string, from: number, comments = true): number {
  for (let at = from; ;) {
    const end = text.startsWith('//', at) ? text.indexOf('\n', at) : text.startsWith('/*', at) ? text.indexOf('*/', at) + 2 : at
    if (comments && end > at) at = end
    else if (at < text.length && /\s/.test(text[at]!)) at++
    else return at
  }
}

/** Whether evaluating it has no side effect. */
export function isPure(expr: Expr): boolean {
  switch (expr.kind) {
    case 'Int':
    case 'Float':
    case 'Bool':
    case 'Nil':
    case 'Duration':
    case 'String':
    case 'Identifier':
      return true
    case 'Unary':
      return isPure(expr.operand)
    case 'Binary':
      return isPure(expr.left) && isPure(expr.right)
    case 'Ternary':
      return isPure(expr.condition) && isPure(expr.whenTrue) && isPure(expr.whenFalse)
    case 'Range':
      return isPure(expr.from) && isPure(expr.to)
    case 'Member':
      return isPure(expr.object)
    case 'Index':
      return isPure(expr.object) && isPure(expr.index)
    case 'Slice':
      return isPure(expr.object) && (expr.start === null || isPure(expr.start)) && (expr.end === null || isPure(expr.end))
    default:
      return false
  }
}

/** Trees are equal when their sources are, except for blanks and quotes; positions do not count. */
export function isSameTree(one: Expr, other: Expr): boolean {
  if (one.kind !== other.kind) return false
  if (one.kind === 'Identifier') return one.name === (other as typeof one).name
  return fingerprint(one) === fingerprint(other)
}

/** A key that exactly equal trees share. */
export function fingerprint(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? ''
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += `${fingerprint(item)},`
    return `[${text}]`
  }
  for (const [key, part] of Object.entries(value)) if (isCompared(key)) text += `${key}:${fingerprint(part)},`
  return `{${text}}`
}

const compared = new Map<string, boolean>()

/** Whether a field of a node carries meaning, and not only position or spelling. */
function isCompared(key: string): boolean {
  let found = compared.get(key)
  if (found === undefined) compared.set(key, (found = !/span$/i.test(key) && key !== 'quote' && key !== 'quoted'))
  return found
}

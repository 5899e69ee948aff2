// Rules about single expressions.

import type { Argument, Expr, ExprOf, Span } from '@bridle/parser'
import { stringAddFix } from '../types/fixes.js'
import { type Edit, fingerprint, isPure, isSameTree, type LintContext, operandText, replace, readText } from './context.js'

export function lintExpression(expr: Expr, context: LintContext): void {
  switch (expr.kind) {
    case 'Call':
      lintClones(expr.args, expr.callee.text === 'drop' ? 'dropped' : 'passed by value', context)
      lintCast(expr, context)
      if (expr.callee.text === 'llm_call' && expr.args[1]?.value.kind === 'Interpolation') context.report('L042', expr.span, {})
      return
    case 'MethodCall':
      return lintClones(expr.args, 'passed by value', context)
    case 'Binary':
      return lintBinary(expr, context)
    case 'Ternary':
      return lintNilTernary(expr, context)
    case 'Member':
    case 'Index':
      return lintAccess(expr, context)
    case 'Match':
      return lintArms(expr, context)
    default:
      return
  }
}

// ---- calls ---------------------------------------------------------------------------------------------------------

function lintClones(args: readonly Argument[], method: string, context: LintContext): void {
  for (const { value, spread } of args) {
    if (spread || value.kind !== 'MethodCall' || value.method.text !== 'clone' || value.args.length > 0) continue
    context.report('L030', value.span, { method }, replace(context, value.span, readText(context, value.object.span)))
  }
}

/** The result type of each conversion, and the literals that already have it. */
const CASTS: Readonly<Record<string, { readonly kind: string; readonly literals: readonly Expr['kind'][] } | undefined>> = {
  to_string: { kind: 'string', literals: ['String', 'Interpolation'] },
  to_int: { kind: 'int', literals: ['Int'] },
  to_float: { kind: 'float', literals: ['Float'] },
  to_list: { kind: 'list', literals: ['List'] },
  to_dict: { kind: 'dict', literals: ['Dict'] },
}

function lintCast(call: ExprOf<'Call'>, context: LintContext): void {
  const name = call.callee.text
  const cast = Object.hasOwn(CASTS, name) ? CASTS[name] : undefined
  const [arg, more] = call.args
  if (cast === undefined || arg === undefined || arg.spread || more !== undefined) return
  const { value } = arg
  const isSame = value.kind === 'Call' && value.callee.text === name && value.args.length === 1
  if (!isSame && !cast.literals.includes(value.kind)) return
  const article = cast.kind === 'int' ? 'an' : 'a'
  context.report('L031', call.span, { name, kind: cast.kind, article }, [
    { span: call.span, text: readText(context, value.span) },
  ])
}

const RAW_SOURCES: ReadonlySet<string> = new Set(
  (
    'json_parse json_extract yaml_parse toml_parse llm_call llm_completion http_get http_post http_put http_patch http_delete ' +
    'http_request http_session_request sse_receive sse_server_mock_receive sse_server_response sse_server_status ' +
    'websocket_accept websocket_receive host_call mcp_call'
  ).split(' '),
)

function lintAccess(expr: ExprOf<'Member'> | ExprOf<'Index'>, context: LintContext): void {
  const { object } = expr
  if (object.kind !== 'Call' || !RAW_SOURCES.has(object.callee.text)) return
  context.report('L046', expr.span, { access: expr.kind === 'Member' ? 'property' : 'subscript', name: object.callee.text })
}

// ---- operators -----------------------------------------------------------------------------------------------------

const ARITHMETIC: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%'])

function lintBinary(expr: ExprOf<'Binary'>, context: LintContext): void {
  const { operator, left, right } = expr
  if (operator === '==' || operator === '!=') {
    if (isPure(left) && isSameTree(left, right)) {
      const text = `expression is compared to itself with \`${operator}\``
      context.report('L032', expr.span, { text, fixed: true }, replace(context, expr.span, String(operator === '==')))
    } else if (left.kind === 'Bool' || right.kind === 'Bool') {
      lintBoolComparison(expr, operator, context)
    }
  } else if (ARITHMETIC.has(operator) && (isBoolOrNil(left) || isBoolOrNil(right))) {
    const text = operator === '+' ? stringAddFix(expr, context.file) : null
    context.report('L034', expr.span, { operator }, text === null ? null : replace(context, expr.span, text))
  }
}

function isBoolOrNil(expr: Expr): boolean {
  return expr.kind === 'Bool' || expr.kind === 'Nil'
}

function lintBoolComparison(expr: ExprOf<'Binary'>, operator: '==' | '!=', context: LintContext): void {
  const [literal, other] = expr.right.kind === 'Bool' ? [expr.right, expr.left] : [expr.left, expr.right]
  if (literal.kind !== 'Bool') return
  const negated = literal.value !== (operator === '==')
  const text =
    operator === '==' ? `comparison to \`${String(literal.value)}\` is redundant` : `\`!= ${String(literal.value)}\` is redundant`
  const value = operandText(context, other)
  // The operand may be in parentheses, which its own span excludes.
  const span = withParentheses(expr, context)
  const edits: readonly Edit[] = [{ span, text: negated ? `!${value}` : value }]
  context.report('L033', expr.span, { text, negated }, edits)
}

/** The span of an operator expression with the parentheses around its operands. */
function withParentheses(expr: ExprOf<'Binary'>, { file }: LintContext): Span {
  const between = (from: number, to: number, paren: string): number => file.text.slice(from, to).split(paren).length - 1
  let { start, end } = expr.span
  for (let count = between(expr.left.span.end, expr.operatorSpan.start, ')'); count > 0; count -= 1) {
    start = file.text.lastIndexOf('(', start - 1)
  }
  for (let count = between(expr.operatorSpan.end, expr.right.span.start, '('); count > 0; count -= 1) {
    end = file.text.indexOf(')', end) + 1
  }
  return { start, end }
}

function lintNilTernary(expr: ExprOf<'Ternary'>, context: LintContext): void {
  const { condition, whenTrue, whenFalse } = expr
  if (condition.kind !== 'Binary' || (condition.operator !== '==' && condition.operator !== '!=')) return
  const tested = condition.left.kind === 'Nil' ? condition.right : condition.right.kind === 'Nil' ? condition.left : null
  if (tested?.kind !== 'Identifier') return
  const [fallback, kept] = condition.operator === '==' ? [whenTrue, whenFalse] : [whenFalse, whenTrue]
  if (kept.kind !== 'Identifier' || kept.name !== tested.name) return
  const text = `${tested.name} ?? ${operandText(context, fallback)}`
  context.report('L035', expr.span, { name: tested.name }, replace(context, expr.span, text))
}

function lintArms(expr: ExprOf<'Match'>, context: LintContext): void {
  const seen = new Map<string, Span>()
  for (const { patterns, guard } of expr.arms) {
    const key = fingerprint([patterns, guard])
    const { span } = patterns[0]! // an arm has a pattern
    const first = seen.get(key)
    if (first === undefined) seen.set(key, span)
    else context.report('L037', span, {}, null, [{ span: first, message: 'the first arm with this pattern' }])
  }
}

// Expressions → source. The tree has no parentheses, so the printer adds them: by the levels of operators.ts, between `&&`
// and `||`, around control expressions used as operands, and where the source would otherwise parse differently (a postfix
// `?` that would become a ternary, a capitalised name before a block, `<` and `>` that look like type
// arguments). Control expressions are in control.ts.

import type { Argument, BinaryOperator, DictEntry, Expr, ExprOf, Param } from '../ast.js'
import { lex } from '../lexer.js'
import { escape } from '../literals.js'
import { copyWith } from '../nodes.js'
import { BINARY_OPERATORS, LEVEL } from '../operators.js'
import { isIdentifierUnit, TOKEN, WORDS } from '../tokens.js'
import { commentLines, splitTrailing } from './comments.js'
import { printControl } from './control.js'
import { byteLength, type Layout, pad } from './layout.js'
import { type Item, type Sequence, sequence } from './lines.js'
import { printDuration, printFloat, printStringLiteral } from './literals.js'
import { printBody, printSimple } from './statements.js'
import { printAnnotation, printType } from './types.js'

/** An expression in a position without precedence: a value, an argument, a statement. */
export function printExpr(layout: Layout, expr: Expr, depth: number): string {
  switch (expr.kind) {
    case 'Int':
      return String(expr.value)
    case 'Float':
      return printFloat(expr.value)
    case 'Bool':
      return String(expr.value)
    case 'Nil':
      return 'nil'
    case 'Duration':
      return printDuration(BigInt(expr.value))
    case 'String':
    case 'Interpolation':
      return printStringLiteral(layout, expr)
    case 'Identifier':
      return expr.name
    case 'List':
      return printArgs(layout, expr.items, depth, {
        open: '[',
        close: ']',
        from: expr.span.start + 1,
        to: expr.span.end,
        prefix: 1,
      })
    case 'Dict':
      return printDict(layout, expr, depth)
    case 'StructLiteral':
      return printStructLiteral(layout, expr, depth)
    case 'Unary':
      return `${expr.operator}${operand(layout, expr.operand, LEVEL.unary, depth)}`
    case 'Binary':
      return printBinary(layout, expr, depth)
    case 'Pipe':
      return printPipe(layout, expr, depth)
    case 'Ternary':
      return printTernary(layout, expr, depth)
    case 'Range': {
      const to = operand(layout, expr.to, LEVEL.ternary, depth)
      return `${operand(layout, expr.from, LEVEL.ternary, depth)} to ${to}${expr.exclusive ? ' exclusive' : ''}`
    }
    case 'Member':
      return `${receiver(layout, expr.object, depth)}${expr.optional ? '?.' : '.'}${expr.property.text}`
    case 'MethodCall':
      return printMethodCall(layout, expr, depth)
    case 'Index':
      return `${receiver(layout, expr.object, depth)}${expr.optional ? '?' : ''}[${printExpr(layout, expr.index, depth)}]`
    case 'Slice': {
      const start = expr.start === null ? '' : printExpr(layout, expr.start, depth)
      const end = expr.end === null ? '' : printExpr(layout, expr.end, depth)
      return `${receiver(layout, expr.object, depth)}[${start}:${end}]`
    }
    case 'Call': {
      const types = expr.typeArgs.length === 0 ? '' : `<${expr.typeArgs.map(printType).join(', ')}>`
      const open = `${expr.callee.text}${types}(`
      return printArgs(layout, expr.args, depth, {
        open,
        close: ')',
        from: expr.callee.span.end,
        to: expr.span.end,
        prefix: byteLength(open),
      })
    }
    case 'Propagate':
      return `${receiver(layout, expr.operand, depth)}?`
    case 'TryStar':
      return `try* ${operand(layout, expr.operand, LEVEL.unary, depth)}`
    case 'Closure':
      return printClosure(layout, expr, depth)
    default:
      return printControl(layout, expr, depth)
  }
}

/**
 * How tightly the outermost construct of an expression binds. Control expressions count as loose, so that they get
 * parentheses.
 */
function readLevel(expr: Expr): number {
  switch (expr.kind) {
    case 'Pipe':
      return LEVEL.pipe
    case 'Range':
      return LEVEL.range
    case 'Ternary':
      return LEVEL.ternary
    case 'Binary':
      return BINARY_OPERATORS[expr.operator].level
    case 'Unary':
      return LEVEL.unary
    case 'TryStar':
    case 'If':
    case 'Match':
    case 'Try':
    case 'Retry':
    case 'Deadline':
    case 'Spawn':
    case 'Parallel':
      return 0
    default:
      return LEVEL.postfix
  }
}

/** An expression that gets parentheses if it binds more loosely than `level`. */
export function operand(layout: Layout, expr: Expr, level: number, depth: number): string {
  const text = printExpr(layout, expr, depth)
  return readLevel(expr) < level ? `(${text})` : text
}

function parenthesize(text: string): string {
  return text.endsWith('?') ? `(${text})` : text
}

/** The operand of a postfix operator. */
export function receiver(layout: Layout, expr: Expr, depth: number): string {
  return parenthesize(operand(layout, expr, LEVEL.postfix, depth))
}

const ENDS_IN_CAPITALISED_NAME = /(?:^|[^.\p{Alphabetic}\p{N}_])\p{Uppercase}[\p{Alphabetic}\p{N}_]*$/u

/** An expression followed by `{` or a keyword. */
export function beforeBlock(layout: Layout, expr: Expr, depth: number): string {
  const text = operand(layout, expr, LEVEL.pipe, depth)
  return ENDS_IN_CAPITALISED_NAME.test(text) ? `(${text})` : parenthesize(text)
}

// ---- operators -----------------------------------------------------------------------------------------------------

/** Operators that cannot start a line, unless the break before it is hidden. */
const NEVER_FIRST: ReadonlySet<string> = new Set(['-', 'in', 'not in'])

function printPipe(layout: Layout, expr: ExprOf<'Pipe'>, depth: number): string {
  const callee = operand(layout, expr.callee, LEVEL.range, depth)
  return joinOperands(layout, expr, operand(layout, expr.value, LEVEL.pipe, depth), '|>', callee, depth)
}

function printBinary(layout: Layout, expr: ExprOf<'Binary'>, depth: number): string {
  const { operator } = expr
  const { side } = BINARY_OPERATORS[operator]
  const right = operand(layout, expr.right, operandLevel(expr.right, operator, side === 'right'), depth)
  const left = parenthesize(operand(layout, expr.left, operandLevel(expr.left, operator, side === 'left'), depth))
  // `a < b > (c)` is a call with type arguments.
  const isCallLike = operator === '>' && left.includes('<') && right.startsWith('(')
  return joinOperands(layout, expr, isCallLike ? `(${left})` : left, operator, right, depth)
}

/** Below this level an operand gets parentheses; `own` means that an operand of the operator's own level needs none. */
function operandLevel(child: Expr, operator: BinaryOperator, own: boolean): number {
  const isMixed = child.kind === 'Binary' && LOGICAL.has(child.operator) && LOGICAL.has(operator) && child.operator !== operator
  const { level } = BINARY_OPERATORS[operator]
  return isMixed ? LEVEL.unary : own ? level : level + 1
}

const LOGICAL: ReadonlySet<BinaryOperator> = new Set(['&&', '||'])

/** `left op right`, broken before the operator where the source was, or if too long. Both sides are printed for `depth`. */
function joinOperands(
  layout: Layout,
  expr: ExprOf<'Binary'> | ExprOf<'Pipe'>,
  left: string,
  operator: string,
  right: string,
  depth: number,
): string {
  const [first, second] = expr.kind === 'Pipe' ? [expr.value, expr.callee] : [expr.left, expr.right]
  const comments = layout.gap(first.span.end, second.span.start)
  // After a first operand of several lines the second is on a later line, so formatting again would break here.
  const isBroken = comments.length > 0 || left.includes('\n') || layout.line(second.span.start) > layout.line(first.span.start)
  if (!isBroken) {
    const inline = `${left} ${operator} ${right}`
    if (2 * depth + byteLength(inline) <= layout.lineWidth) return inline
  }
  const next = pad(depth + 1)
  const { trailing, leading } = splitTrailing(layout, comments, first.span.end)
  const above = commentLines(layout, leading, depth + 1)
  if (!NEVER_FIRST.has(operator)) return `${left}${trailing}\n${above}${next}${operator} ${right}`
  if (comments.length === 0) return `${left} \\\n${next}${operator} ${right}`
  return `${left} ${operator}${trailing}\n${above}${next}${right}`
}

function printTernary(layout: Layout, expr: ExprOf<'Ternary'>, depth: number): string {
  const condition = parenthesize(operand(layout, expr.condition, LEVEL.binary, depth))
  const whenTrue = operand(layout, expr.whenTrue, LEVEL.binary, depth)
  const whenFalse = operand(layout, expr.whenFalse, LEVEL.binary, depth)
  return `${condition} ? ${startsTernary(whenTrue) ? whenTrue : `(${whenTrue})`} : ${whenFalse}`
}

/** Whether a `?` before this source is the ternary operator. KEEP WITH: ternaryStart in harn.ohm, except for the bracket. */
function startsTernary(text: string): boolean {
  const unit = lex(text, { whole: false }).units.charCodeAt(0)
  if (isIdentifierUnit(unit)) return true
  return (
    unit !== TOKEN['<duration>'] &&
    unit !== TOKEN['<rawString>'] &&
    (TERNARY_STARTS.has(unit) || (unit >= TOKEN.true && unit <= TOKEN['<triple>']))
  )
}

const TERNARY_STARTS: ReadonlySet<number> = new Set((['fn', '(', '{', '{->', '!', '-'] as const).map((name) => TOKEN[name]))

// ---- calls and collections -----------------------------------------------------------------------------------------

type Brackets = Pick<Sequence, 'open' | 'close' | 'from' | 'to' | 'prefix'>

function printArgs(layout: Layout, args: readonly Argument[], depth: number, brackets: Brackets): string {
  const items = args.flatMap(({ spread, value, span }): readonly Item[] => {
    // The named arguments of the grants extension are a dict without braces.
    if (value.kind === 'Dict' && layout.text(value.span)?.startsWith('{') === false)
      return entryItems(layout, value, depth, false)
    return [{ span, render: () => `${spread ? '...' : ''}${printExpr(layout, value, depth + 1)}` }]
  })
  return sequence(layout, { ...brackets, items, depth })
}

/**
 * A call goes on the next line when the source has its end on a later line than its object. It also does so when its arguments take several
 * lines, because formatting again would see such a source.
 */
function printMethodCall(layout: Layout, expr: ExprOf<'MethodCall'>, depth: number): string {
  const object = receiver(layout, expr.object, depth)
  const comments = layout.gap(expr.object.span.end, expr.method.span.start)
  const access = `${expr.optional ? '?.' : '.'}${expr.method.text}`
  const args = printArgs(layout, expr.args, depth, {
    open: '(',
    close: ')',
    from: expr.method.span.end,
    to: expr.span.end,
    prefix: byteLength(object) + byteLength(access) + 1,
  })
  const isLater = layout.line(expr.span.end) > layout.line(expr.object.span.end)
  if (comments.length === 0 && !isLater && !args.includes('\n')) return `${object}${access}${args}`
  const { trailing, leading } = splitTrailing(layout, comments, expr.object.span.end)
  return `${object}${trailing}\n${commentLines(layout, leading, depth + 1)}${pad(depth + 1)}${access}${args}`
}

function printDict(layout: Layout, expr: ExprOf<'Dict'>, depth: number): string {
  const brackets = { open: '{', close: '}', from: expr.span.start + 1, to: expr.span.end, prefix: 1 }
  const print = (guarded: boolean): string => {
    const items = entryItems(layout, expr, depth, guarded)
    return sequence(layout, { ...brackets, items, depth })
  }
  const text = print(false)
  // An arrow at the depth of the dict, from the type arguments of a call, would make it a closure.
  return !text.includes('->') || lex(text, { whole: false }).units.charCodeAt(0) === TOKEN['{'] ? text : print(true)
}

function entryItems(layout: Layout, dict: ExprOf<'Dict'>, depth: number, guarded: boolean): readonly Item[] {
  return dict.entries.map((entry) => ({ span: entry.span, render: () => printEntry(layout, entry, depth + 1, guarded) }))
}

function printEntry(layout: Layout, entry: DictEntry, depth: number, guarded: boolean): string {
  const value = guarded ? `(${printExpr(layout, entry.value, depth)})` : printExpr(layout, entry.value, depth)
  switch (entry.kind) {
    case 'named':
      return `${entry.quoted && !isBareKey(entry.key.text) ? `["${escape(entry.key.text)}"]` : entry.key.text}: ${value}`
    case 'computed':
      if (entry.key.kind === 'String' && isBareKey(entry.key.value)) return `${entry.key.value}: ${value}`
      return `[${printExpr(layout, entry.key, depth)}]: ${value}`
    case 'spread':
      return `...${value}`
  }
}

function isBareKey(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) && !isPureKeyword(text)
}

/** Keywords that cannot be keys. */
function isPureKeyword(text: string): boolean {
  const unit = WORDS.get(text)
  return unit !== undefined && unit >= TOKEN.finally && unit <= TOKEN.skill
}

function printStructLiteral(layout: Layout, expr: ExprOf<'StructLiteral'>, depth: number): string {
  const items = expr.entries.map((entry): Item => ({
    span: entry.span,
    render: () => {
      // The token after the brace distinguishes a struct literal from a block: a name that is not a keyword, or a string.
      if (entry.kind !== 'named' || !entry.quoted || WORDS.has(entry.key.text)) return printField(layout, entry, depth + 1)
      return printField(layout, copyWith(entry, { quoted: !isBareKey(entry.key.text) }), depth + 1)
    },
  }))
  const open = `${expr.name.text} {`
  return sequence(layout, {
    open,
    close: '}',
    from: expr.name.span.end,
    to: expr.span.end,
    prefix: byteLength(open),
    items,
    depth,
  })
}

function printField(layout: Layout, entry: DictEntry, depth: number): string {
  if (entry.kind !== 'named') return printEntry(layout, entry, depth, false)
  const key = entry.quoted ? `"${escape(entry.key.text)}"` : entry.key.text
  return `${key}: ${printExpr(layout, entry.value, depth)}`
}

function printClosure(layout: Layout, expr: ExprOf<'Closure'>, depth: number): string {
  const params = expr.params.map((param) => printParam(layout, param, depth)).join(', ')
  const head = expr.form === 'fn' ? `fn(${params}) {` : params === '' ? '{ ->' : `{ ${params} ->`
  const { body } = expr.body
  // Comments between parameters go above the statement and do not count for the width.
  const from = expr.form === 'fn' ? expr.body.span.start + 1 : (expr.params.at(-1)?.span.end ?? expr.span.start + 1)
  const simple = layout.hasComments({ start: from, end: expr.span.end }) ? null : printSimple(layout, body, depth)
  if (simple !== null) return `${head} ${simple} }`
  const block = printBody(layout, body, from, expr.span.end, depth)
  return `${head}${block.slice(1)}`
}

export function printParam(layout: Layout, param: Param, depth: number): string {
  const value = param.defaultValue === null ? '' : ` = ${printExpr(layout, param.defaultValue, depth)}`
  return `${param.rest ? '...' : ''}${param.name.text}${printAnnotation(param.type)}${value}`
}

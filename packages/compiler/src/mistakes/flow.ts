// Control flow and operators that cannot be intended: unreachable code, constant conditions,
// duplicate keys, division by zero, values compared with themselves. What a lint rule or the checker already reports is left to it.

import type { Block, Expr, ExprOf, Stmt } from '@bridle/parser'
import { fingerprint, isPure, isSameTree } from '../lint/context.js'
import { stmtExits } from '../types/exits.js'
import type { MistakeContext } from './context.js'

// ---- code that is never reached --------------------------------------------------------------------------------------

/** Reports the first unreachable statement, if only this pass can tell. */
export function checkReachable(body: readonly Stmt[], context: MistakeContext): void {
  for (let at = 0; at + 1 < body.length; at++) {
    const stmt = body[at]!
    const next = body[at + 1]!
    if (stmtExits(stmt)) return // the checker reports it
    const before = describeEnd(stmt, context)
    if (before === null) continue
    context.report('M004', next.span, { before })
    return
  }
}

/** Why control never leaves a statement; null when it may. */
function describeEnd(stmt: Stmt, context: MistakeContext): string | null {
  switch (stmt.kind) {
    case 'Return':
    case 'Throw':
    case 'Break':
    case 'Continue':
      return `\`${stmt.kind.toLowerCase()}\` leaves before it`
    case 'While':
      return stmt.condition.kind === 'Bool' && stmt.condition.value && !leavesLoop(stmt.body)
        ? 'the loop before it has no `break`'
        : null
    case 'ExprStmt':
      return describeExprEnd(stmt.value, context)
    default:
      return null
  }
}

function describeExprEnd(expr: Expr, context: MistakeContext): string | null {
  switch (expr.kind) {
    case 'Call':
      return NEVER.has(expr.callee.text) && !context.names.declared.has(expr.callee.text)
        ? `\`${expr.callee.text}\` never returns`
        : null
    case 'Match':
      // A value without an arm raises an error.
      return expr.arms.length > 0 && expr.arms.every(({ body }) => endsBlock(body, context)) ? 'all arms before it leave' : null
    case 'If':
      return expr.otherwise !== null && endsBlock(expr.then, context) && endsOther(expr.otherwise, context)
        ? 'all branches before it leave'
        : null
    case 'Try':
      if (expr.finalizer !== null && endsBlock(expr.finalizer, context)) return '`finally` before it leaves'
      return endsBlock(expr.body, context) && expr.handler !== null && endsBlock(expr.handler.body, context)
        ? 'both `try` and `catch` before it leave'
        : null
    default:
      return null
  }
}

const NEVER: ReadonlySet<string> = new Set(['unreachable', 'throw_error', 'exit'])

/** Whether control never reaches the end of a block. */
export function endsBlock(block: Block, context: MistakeContext): boolean {
  return block.body.some((stmt) => describeEnd(stmt, context) !== null)
}

function endsOther(otherwise: Block | ExprOf<'If'>, context: MistakeContext): boolean {
  return otherwise.kind === 'If' ? describeExprEnd(otherwise, context) !== null : endsBlock(otherwise, context)
}

/** Whether a loop is left from inside by its own `break`; `return` and `throw` leave the code after it unreachable. */
function leavesLoop(block: Block): boolean {
  return block.body.some((stmt) => stmtBreaks(stmt))
}

function stmtBreaks(stmt: Stmt): boolean {
  switch (stmt.kind) {
    case 'Break':
      return true
    case 'Guard':
      return leavesLoop(stmt.otherwise)
    case 'Mutex':
    case 'Defer':
      return leavesLoop(stmt.body)
    case 'Select':
      return stmt.arms.some(({ body }) => leavesLoop(body))
    case 'ExprStmt':
    case 'Let':
    case 'Assign':
    case 'Return':
      return stmt.value !== null && exprBreaks(stmt.value)
    default:
      return false
  }
}

function exprBreaks(expr: Expr): boolean {
  switch (expr.kind) {
    case 'If':
      return (
        leavesLoop(expr.then) ||
        (expr.otherwise !== null && (expr.otherwise.kind === 'If' ? exprBreaks(expr.otherwise) : leavesLoop(expr.otherwise)))
      )
    case 'Match':
      return expr.arms.some(({ body }) => leavesLoop(body))
    case 'Try':
      return [expr.body, expr.handler?.body, expr.finalizer].some(
        (block) => block !== null && block !== undefined && leavesLoop(block),
      )
    case 'Retry':
    case 'Deadline':
      return leavesLoop(expr.body)
    case 'Ternary':
      return exprBreaks(expr.whenTrue) || exprBreaks(expr.whenFalse)
    default:
      return false
  }
}

// ---- conditions --------------------------------------------------------------------------------------------------------

/** `isLoop`: `while true` is the idiom for an endless loop. */
export function checkCondition(condition: Expr, what: string, context: MistakeContext, isLoop = false): void {
  if (condition.kind === 'Bool') {
    // For an `if`, a lint rule reports it.
    if (what !== 'the `if` condition' && !(isLoop && condition.value))
      context.report('M005', condition.span, { what, value: String(condition.value) })
    return
  }
  checkTested(condition, what, context)
}

/** Two comparisons of one value with literals that cannot both hold, or of which one always holds. */
function checkPair(expr: ExprOf<'Binary'>, context: MistakeContext): void {
  const isAnd = expr.operator === '&&'
  const wanted = isAnd ? '==' : '!='
  const parts = listOperands(expr, expr.operator).filter((part) => part.kind === 'Binary' && part.operator === wanted)
  const seen = new Map<string, string>()
  for (const part of parts) {
    if (part.kind !== 'Binary' || !isPure(part.left) || literalValue(part.left) !== undefined) continue
    const value = literalValue(part.right)
    if (value === undefined) continue
    const key = fingerprint(part.left)
    const text = `${typeof value} ${String(value)}`
    const before = seen.get(key)
    if (before !== undefined && before !== text) {
      context.report('M005', part.span, { what: 'this, with the comparison before it,', value: String(!isAnd) })
      return
    }
    seen.set(key, text)
  }
}

function listOperands(expr: Expr, operator: string): readonly Expr[] {
  const found: Expr[] = []
  let at = expr
  while (at.kind === 'Binary' && at.operator === operator) {
    found.unshift(at.right)
    at = at.left
  }
  return [at, ...found]
}

function checkTested(expr: Expr, what: string, context: MistakeContext): void {
  if (expr.kind === 'Unary' && expr.operator === '!') return checkTested(expr.operand, what, context)
  if (expr.kind === 'Binary' && (expr.operator === '||' || expr.operator === '&&')) {
    if (what !== 'this operand') checkPair(expr, context)
    checkTested(expr.left, 'this operand', context)
    return checkTested(expr.right, 'this operand', context)
  }
  if (expr.kind === 'Identifier') {
    const { declared, functions, knowsImports } = context.names
    const isBuiltin = knowsImports && !declared.has(expr.name) && context.isBuiltin(expr.name)
    const isFunction = context.scopes.find(expr.name) === null && (isBuiltin || functions.has(expr.name))
    if (isFunction) context.report('M006', expr.span, { name: expr.name })
    return
  }
  const value = constantTruth(expr)
  if (value !== null) context.report('M005', expr.span, { what, value: String(value) })
}

/** Whether a literal is truthy; null if it is not a literal. */
function constantTruth(expr: Expr): boolean | null {
  switch (expr.kind) {
    case 'Bool':
      return expr.value
    case 'Nil':
      return false
    case 'String':
      return expr.value !== ''
    case 'Int':
    case 'Float':
      return Number(expr.value) !== 0
    case 'List':
      return expr.items.length > 0 && expr.items.some(({ spread }) => !spread) ? true : null
    case 'Closure':
      return true
    case 'Binary': {
      const { left, operator, right } = expr
      const length = lengthTruth(expr)
      if (length !== null) return length
      const one = literalValue(left)
      const other = literalValue(right)
      if (one === undefined || other === undefined) return null
      if (operator === '==') return one === other
      return operator === '!=' ? one !== other : null
    }
    default:
      return null
  }
}

/** A length is 0 or more. */
function lengthTruth({ left, operator, right }: ExprOf<'Binary'>): boolean | null {
  const isLength =
    (left.kind === 'Call' && left.callee.text === 'len') ||
    (left.kind === 'MethodCall' && left.method.text === 'len') ||
    (left.kind === 'Member' && left.property.text === 'count')
  if (!isLength || right.kind !== 'Int' || Number(right.value) !== 0) return null
  return operator === '<' ? false : operator === '>=' ? true : null
}

function literalValue(expr: Expr): string | number | bigint | boolean | null | undefined {
  switch (expr.kind) {
    case 'Nil':
      return null
    case 'Bool':
    case 'String':
    case 'Int':
      return expr.value
    default:
      return undefined
  }
}

/** A condition that an earlier branch of the chain already tested. */
export function checkChain(first: ExprOf<'If'>, context: MistakeContext): void {
  if (first.otherwise?.kind !== 'If') return
  const seen = new Set<string>()
  for (let at: Block | ExprOf<'If'> | null = first; at !== null && at.kind === 'If'; at = at.otherwise) {
    if (!isPure(at.condition)) continue
    const key = fingerprint(at.condition)
    if (seen.has(key))
      context.report('M005', at.condition.span, { what: 'this condition was asked before, so here it', value: 'false' })
    seen.add(key)
  }
}

// ---- expressions -------------------------------------------------------------------------------------------------------

export function checkOperator(expr: ExprOf<'Binary'>, isTried: boolean, context: MistakeContext): void {
  const { operator, left, right } = expr
  if ((operator === '/' || operator === '%') && isZero(right) && left.kind !== 'Float' && !isTried)
    context.report('M008', expr.span, { operator })
  // `==` and `!=` have a lint rule.
  const isOrder = operator === '<' || operator === '>' || operator === '<=' || operator === '>='
  if (isOrder && left.kind === right.kind && left.kind !== 'Int' && isPure(left) && isSameTree(left, right))
    context.report('M009', expr.span, { operator, value: String(operator.endsWith('=')) })
}

/** `x =- 1`: the sign stands at the `=` and apart from what is behind it. */
export function checkTurned(
  { target, operator, value }: Extract<Stmt, { kind: 'Assign' }>,
  { file, report }: MistakeContext,
): void {
  if (operator !== null || value.kind !== 'Unary' || value.operator !== '-') return
  const { text } = file
  const sign = value.span.start
  if (text[sign - 1] !== '=' || text[sign] !== '-' || text[sign + 1] !== ' ') return
  const span = { start: sign - 1, end: sign + 1 }
  report(
    'M028',
    span,
    { operator: '-', name: text.slice(target.span.start, target.span.end) },
    {
      title: 'write `-=`',
      edits: [{ span, text: '-=' }],
    },
  )
}

function isZero(expr: Expr): boolean {
  return expr.kind === 'Int' && Number(expr.value) === 0
}

export function checkKeys(expr: ExprOf<'Dict'> | ExprOf<'StructLiteral'>, context: MistakeContext): void {
  let seen = new Set<string>()
  for (const entry of expr.entries) {
    // The second may be meant to replace what is spread between.
    if (entry.kind === 'spread') seen = new Set()
    if (entry.kind !== 'named') continue
    const key = entry.key.text
    if (seen.has(key)) context.report('M007', entry.span, { key })
    seen.add(key)
  }
}

/** Literals with an arm of their own that also occur as an alternative of a later arm. */
export function checkArms(expr: ExprOf<'Match'>, context: MistakeContext): void {
  const seen = new Set<string>()
  const all = expr.arms.findIndex(({ patterns, guard }) => guard === null && patterns.some(isCatchAll))
  const behind = all < 0 ? undefined : expr.arms[all + 1]?.patterns[0]
  if (behind !== undefined) {
    const name = expr.arms[all]!.patterns.map((pattern) => patternText(pattern, context)).join(' | ')
    const advice = name === '_' ? {} : { advice: `a name binds the value; compare with a guard: \`x if x == ${name}\`` }
    context.report('M004', behind.span, { before: `the arm \`${name}\` before it takes everything`, ...advice })
  }
  for (const { patterns, guard } of expr.arms) {
    for (const pattern of patterns) {
      const key = fingerprint(pattern)
      // An entirely equal arm has a lint rule.
      if (seen.has(key) && patterns.length > 1) context.report('M007', pattern.span, { key: patternText(pattern, context) })
      if (guard === null && isLiteral(pattern)) seen.add(key)
    }
  }
}

/** `_`, or a name: it binds any value, whatever else the name means. */
function isCatchAll(pattern: Expr): boolean {
  return pattern.kind === 'Identifier'
}

function isLiteral({ kind }: Expr): boolean {
  return ['Int', 'Float', 'String', 'Bool', 'Nil', 'Duration'].includes(kind)
}

function patternText({ span }: Expr, { file }: MistakeContext): string {
  return file.text.slice(span.start, span.end)
}

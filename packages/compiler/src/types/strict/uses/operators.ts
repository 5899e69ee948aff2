// Operands of operators and pipes, and subjects of loops.

import type { BinaryOperator, Expr, ExprOf, Span, Stmt } from '@bridle/parser'
import { resolveHead } from '../../aliases.js'
import { operatorProblem } from '../../operators.js'
import { show } from '../../show.js'
import { type Known, type Type, isNamed } from '../../type.js'
import { describe, group, plain, present } from '../describe.js'
import {
  ARITHMETIC,
  FUNCTIONS,
  HOLDS_NOTHING,
  NOTHING_TO_ITERATE,
  NO_ARITHMETIC,
  NO_PIPE,
  NO_RESULT,
  OPERANDS,
} from '../facts.js'
import { isDisjoint, isWithin } from '../kinds.js'
import { isExactShape } from '../signatures.js'
import { asksType, checkTypeName } from './arms.js'
import type { Uses } from './context.js'
import { checkLoopPattern } from './patterns.js'

export function checkBinary(uses: Uses, expr: ExprOf<'Binary'>): void {
  const { operator } = expr
  const left = uses.types.infer(expr.left)
  const right = uses.types.infer(expr.right)
  switch (operator) {
    case '==':
    case '!=':
      if (asksType(expr.left, uses.types) && expr.right.kind === 'String') checkTypeName(uses, expr.right)
      else if (asksType(expr.right, uses.types) && expr.left.kind === 'String') checkTypeName(uses, expr.left)
      checkEqual(uses, expr, left, right)
      return
    case 'in':
    case 'not in':
      if (right !== null && isWithin(uses.kinds(right), HOLDS_NOTHING)) {
        uses.world.report('T090', expr.right.span, { item: null, type: describe(right) })
      } else checkHeld(uses, expr.left, right, expr.span)
      return
    default:
      checkOperator(uses, expr, left, right)
  }
}

/** Whether a list can contain the searched value. */
export function checkHeld(uses: Uses, item: Expr, holder: Known, span: Span): void {
  if (holder?.kind !== 'list') return
  const given = uses.types.infer(item)
  const one = uses.kinds(given)
  const other = uses.kinds(holder.element)
  if (given === null || one === null || other === null || one.has('nil') || !isDisjoint(group(one), group(other))) return
  uses.world.report('T090', span, { item: describe(given), type: show(holder) })
}

export function checkEqual(uses: Uses, expr: ExprOf<'Binary'>, left: Known, right: Known): void {
  const { operator } = expr
  const one = uses.kinds(left)
  const other = uses.kinds(right)
  if (left === null || right === null || one === null || other === null) return
  if (operator !== '==' && operator !== '!=') return
  // The result of `try` is never nil.
  const isResultAndNil =
    (isNamed(left, 'Result') && expr.right.kind === 'Nil') || (isNamed(right, 'Result') && expr.left.kind === 'Nil')
  if (isResultAndNil) {
    uses.world.report('T086', expr.span, { left: describe(left), right: describe(right), operator })
    return
  }
  if (one.has('nil') || other.has('nil')) return
  if (!isDisjoint(group(one), group(other)) && !areOtherDeclarations(uses, left, right)) return
  uses.world.report('T086', expr.span, { left: describe(left), right: describe(right), operator })
}

/** Structs and enums equal only those of their own declaration. */
export function areOtherDeclarations(uses: Uses, left: Type, right: Type): boolean {
  const one = declarationName(uses, left)
  const other = declarationName(uses, right)
  return one !== null && other !== null && one !== other
}

export function declarationName(uses: Uses, type: Type): string | null {
  const { root } = uses.world
  const head = resolveHead(type, root)
  if (head.kind !== 'named' && head.kind !== 'applied') return null
  return root.struct(head.name) !== undefined || root.enumNamed(head.name) !== undefined ? head.name : null
}

/** The language's own check of operators, in the places that it skips: the top level and `${…}`. */
export function checkOperator(uses: Uses, expr: ExprOf<'Binary'>, leftType: Known, rightType: Known): void {
  const { operator, span } = expr
  if (operator !== '&&' && operator !== '||' && operator !== '??') {
    checkOperand(uses, expr.left, leftType)
    checkOperand(uses, expr.right, rightType)
  }
  const isNilPossible = mayBeNil(uses, expr.left, leftType) || mayBeNil(uses, expr.right, rightType)
  checkOperands(
    uses,
    operator,
    isNilPossible ? present(leftType) : leftType,
    isNilPossible ? present(rightType) : rightType,
    span,
  )
  if (!isNilPossible || !ARITHMETIC.has(operator)) return
  const operand = mayBeNil(uses, expr.left, leftType) ? expr.left : expr.right
  uses.world.report('T095', operand.span, { name: operand.kind === 'Identifier' ? operand.name : '', operator })
}

/** A variable whose type includes nil and that was not tested for it. */
export function mayBeNil(uses: Uses, expr: Expr, type: Known): boolean {
  if (expr.kind !== 'Identifier' || type?.kind !== 'union' || !type.members.some((member) => isNamed(member, 'nil'))) return false
  const decl = uses.types.target(expr)
  return decl !== undefined && (decl.kind === 'let' || decl.kind === 'param') && decl.type !== null && !decl.isTested
}

export function checkOperands(uses: Uses, operator: BinaryOperator, leftType: Known, rightType: Known, span: Span): void {
  const plainLeft = plain(leftType)
  const plainRight = plain(rightType)
  if (plainLeft === null || plainRight === null) {
    checkKinds(uses, operator, leftType, rightType, span)
    return
  }
  const problem = operatorProblem(operator, plainLeft, plainRight)
  const left = describe(plainLeft)
  const right = describe(plainRight)
  if (problem === 'add') uses.world.report('T001', span, { left, right })
  else if (problem === 'numeric') uses.world.report('T002', span, { operator, left, right })
  else if (problem === 'multiply') uses.world.report('T003', span, { left, right })
  else if (problem === 'not-comparable' && !(left === 'pair' && right === 'pair'))
    uses.world.report('T004', span, { operator, left, right })
  else if (problem === 'mixed-comparison') uses.world.report('T005', span, { operator, left, right })
}

/** Operands that may have several kinds, none of which is valid. */
function checkKinds(uses: Uses, operator: BinaryOperator, left: Known, right: Known, span: Span): void {
  const one = uses.kinds(left)
  const other = uses.kinds(right)
  if (!ARITHMETIC.has(operator) || left === null || right === null || one === null || other === null) return
  if (!isWithin(one, OPERANDS) || !isWithin(other, OPERANDS)) return
  // A finding about a function is reported at the operand.
  if (isWithin(one, FUNCTIONS) || isWithin(other, FUNCTIONS)) return
  for (const l of one) for (const r of other) if (isOperable(operator, l, r)) return
  const names = { left: describe(left), right: describe(right) }
  if (operator === '+') uses.world.report('T001', span, names)
  else if (operator === '*') uses.world.report('T003', span, names)
  else uses.world.report('T002', span, { operator, ...names })
}

function isOperable(operator: BinaryOperator, left: string, right: string): boolean {
  const isNumber = (kind: string): boolean => kind === 'int' || kind === 'float'
  if (isNumber(left) && isNumber(right)) return true
  const isRecord = (kind: string): boolean => kind === 'dict' || kind === 'struct'
  if (operator === '+') return (left === right && (left === 'string' || left === 'list')) || (isRecord(left) && isRecord(right))
  return operator === '*' && ((left === 'string' && right === 'int') || (left === 'int' && right === 'string'))
}

export function checkOperand(uses: Uses, operand: Expr, type: Known): void {
  if (type === null || !isWithin(uses.kinds(type), FUNCTIONS)) return
  uses.world.report('T093', operand.span, { what: 'a function is no operand: call it' })
}

export function checkUnary(uses: Uses, expr: ExprOf<'Unary'>): void {
  if (expr.operator !== '-') return
  const type = uses.types.infer(expr.operand)
  if (type === null || !isWithin(uses.kinds(type), NO_ARITHMETIC)) return
  uses.world.report('T093', expr.span, { what: `\`-\` of ${describe(type)} is an error` })
}

export function checkPipe(uses: Uses, { callee }: ExprOf<'Pipe'>): void {
  const type = uses.types.infer(callee)
  if (type === null || !isWithin(uses.kinds(type), NO_PIPE)) return
  uses.world.report('T093', callee.span, { what: `a pipe calls what is behind it, and ${describe(type)} cannot be called` })
}

export function checkFor(uses: Uses, stmt: Extract<Stmt, { kind: 'For' }>): void {
  const type = uses.types.infer(stmt.iterable)
  if (type !== null && isWithin(uses.kinds(type), NOTHING_TO_ITERATE)) {
    uses.world.report('T087', stmt.iterable.span, { type: describe(type) })
    return
  }
  checkLoopPattern(uses, stmt)
}

/** Attempts are a count, and a deadline is a time. For any other value a run makes no attempts, and waits 30 seconds. */
export function checkRetry(uses: Uses, { count }: ExprOf<'Retry'>): void {
  const type = uses.types.infer(count)
  const kinds = uses.kinds(type)
  if (type === null || kinds === null || kinds.has('int') || kinds.has('float')) return
  uses.world.report('T093', count.span, { what: `\`retry\` takes a number of attempts, got ${describe(type)}` })
}

export function checkDeadline(uses: Uses, { duration }: ExprOf<'Deadline'>): void {
  const type = uses.types.infer(duration)
  const kinds = uses.kinds(type)
  if (type === null || kinds === null || kinds.has('int') || kinds.has('float') || kinds.has('duration')) return
  uses.world.report('T093', duration.span, {
    what: `\`deadline\` takes a duration such as \`5s\`, or milliseconds, got ${describe(type)}`,
  })
}

/** `read_file(path)?`: a value that is not a Result passes unchanged, and an error is thrown before `?` applies. */
export function checkPropagate(uses: Uses, { operand, span }: ExprOf<'Propagate'>): void {
  const type = uses.types.infer(operand)
  if (type === null || !isWithin(uses.kinds(type), NO_RESULT)) return
  uses.world.report('T093', span, { what: `\`?\` takes the value out of a Result, and this is ${describe(type)}` })
}

/** A result or a record in place of one of its fields. */
export function checkCondition(uses: Uses, condition: Expr): void {
  const type = uses.types.infer(condition)
  if (isNamed(type, 'Result')) {
    uses.world.report('T103', condition.span, { type: 'Result', field: null })
    return
  }
  // An empty dict is falsy.
  if (type?.kind !== 'shape' || condition.kind === 'Dict' || !isExactShape(type)) return
  if (type.fields.every(({ optional }) => optional)) return
  const field = type.fields.find((each) => isNamed(each.type, 'bool'))?.name ?? null
  uses.world.report('T103', condition.span, { type: 'this dict', field })
}

// Types of operators: the result of `l op r`, and the pairs that are errors. Both use plain names only and ignore shapes,
// lists with an element type, unions and literal types.

import type { BinaryOperator } from '@bridle/parser'
import { BOOL, FLOAT, INT, isNamed, type Known, STRING, makeUnion, withoutNil } from './type.js'

export function binaryType(operator: BinaryOperator, left: Known, right: Known): Known {
  switch (operator) {
    case '==':
    case '!=':
    case '<':
    case '>':
    case '<=':
    case '>=':
    case 'in':
    case 'not in':
    case '&&':
    case '||':
      return BOOL
    case '??':
      return coalesce(left, right)
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
    case '**':
      return arithmeticType(operator, left, right)
  }
}

function coalesce(left: Known, right: Known): Known {
  if (left === null || isNamed(left, 'nil')) return right
  if (left.kind !== 'union') return left
  const rest = withoutNil(left.members)
  return rest.length === 0 ? right : makeUnion(rest)
}

function arithmeticType(operator: string, left: Known, right: Known): Known {
  const l = plainName(left)
  const r = plainName(right)
  if (l === null || r === null) return null
  if (l === 'int' && r === 'int') return INT
  if (l === 'float' || r === 'float') return FLOAT
  if (operator === '+' && l === r && (l === 'string' || l === 'list' || l === 'dict')) return left
  if (operator === '*' && repeats(l, r)) return STRING
  return null
}

export type OperatorProblem = 'add' | 'numeric' | 'multiply' | 'not-comparable' | 'mixed-comparison'

/** The problem of `l op r`; null when there is none or it is unknown. */
export function operatorProblem(operator: BinaryOperator, left: Known, right: Known): OperatorProblem | null {
  const l = plainName(left)
  const r = plainName(right)
  if (l === null || r === null) return null
  const numeric = isNumber(l) && isNumber(r)
  switch (operator) {
    case '+':
      return numeric || (l === r && (l === 'string' || l === 'list' || l === 'dict')) ? null : 'add'
    case '-':
    case '/':
    case '%':
    case '**':
      return numeric ? null : 'numeric'
    case '*':
      return numeric || repeats(l, r) ? null : 'multiply'
    case '<':
    case '>':
    case '<=':
    case '>=':
      if (!isComparable(l) || !isComparable(r)) return 'not-comparable'
      return (l === 'string') === (r === 'string') ? null : 'mixed-comparison'
    default:
      return null
  }
}

/** The name of a plainly named type; null for everything else and for a hole. */
function plainName(type: Known): string | null {
  return type !== null && type.kind === 'named' && type.name !== '_' ? type.name : null
}

function isNumber(name: string): boolean {
  return name === 'int' || name === 'float'
}

function isComparable(name: string): boolean {
  return isNumber(name) || name === 'string'
}

function repeats(left: string, right: string): boolean {
  return (left === 'string' && right === 'int') || (left === 'int' && right === 'string')
}

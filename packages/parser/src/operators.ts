// One row for each operator. The grammar matches operands and operators as a flat list; build-ast.ts folds such a list by this
// table and format/ sets parentheses by it. Higher levels bind tighter.

import type { BinaryOperator } from './ast.js'

export interface OperatorRow {
  readonly level: number
  readonly side: 'left' | 'right'
}

export const BINARY_OPERATORS: Readonly<Record<BinaryOperator, OperatorRow>> = {
  '||': { level: 4, side: 'left' },
  '&&': { level: 5, side: 'left' },
  '==': { level: 6, side: 'left' },
  '!=': { level: 6, side: 'left' },
  '<': { level: 7, side: 'left' },
  '>': { level: 7, side: 'left' },
  '<=': { level: 7, side: 'left' },
  '>=': { level: 7, side: 'left' },
  in: { level: 7, side: 'left' },
  'not in': { level: 7, side: 'left' },
  '+': { level: 8, side: 'left' },
  '-': { level: 8, side: 'left' },
  '??': { level: 9, side: 'left' },
  '*': { level: 10, side: 'left' },
  '/': { level: 10, side: 'left' },
  '%': { level: 10, side: 'left' },
  '**': { level: 11, side: 'right' },
}

/** Levels of forms that are not binary operators; harn.ohm has separate rules for them. */
export const LEVEL = { pipe: 1, range: 2, ternary: 3, binary: 4, unary: 12, postfix: 13 } as const

export interface FlatTail<Operand, Operator> {
  readonly operator: Operator
  readonly operand: Operand
}

/**
 * Folds `first (operator operand)*` into a tree; `join` makes a node from two operands. Iterative, because chains may be
 * long.
 */
export function foldOperators<Operand, Operator>(
  first: Operand,
  tails: readonly FlatTail<Operand, Operator>[],
  rowOf: (operator: Operator) => OperatorRow,
  join: (left: Operand, operator: Operator, right: Operand) => Operand,
): Operand {
  const operands: Operand[] = [first]
  const operators: Operator[] = []
  const reduce = (): void => {
    const right = operands.pop()!
    const left = operands.pop()! // one operand more than operators, always
    operands.push(join(left, operators.pop()!, right))
  }
  for (const { operator, operand } of tails) {
    const row = rowOf(operator)
    while (operators.length > 0) {
      const before = rowOf(operators.at(-1)!)
      if (before.level < row.level || (before.level === row.level && row.side === 'right')) break
      reduce()
    }
    operators.push(operator)
    operands.push(operand)
  }
  while (operators.length > 0) reduce()
  return operands[0]!
}

import { expect, test } from 'vitest'
import type { BinaryOperator } from './ast.js'
import { BINARY_OPERATORS, foldOperators } from './operators.js'

test.each<[string, string]>([
  ['a - b - c', '((a - b) - c)'],
  ['a ** b ** c', '(a ** (b ** c))'],
  ['a + b * c ** d - e', '((a + (b * (c ** d))) - e)'],
  ['a ?? b + c', '((a ?? b) + c)'],
  ['a + b ?? c * d', '(a + (b ?? (c * d)))'],
  ['a || b && c == d < e', '(a || (b && (c == (d < e))))'],
  ['a < b == c < d', '((a < b) == (c < d))'],
  ['a in b + c', '(a in (b + c))'],
])('%s', (text, expected) => {
  const [first, ...rest] = text.split(' ')
  const tails = rest.flatMap((word, at) => (at % 2 === 0 ? [{ operator: word as BinaryOperator, operand: rest[at + 1]! }] : []))
  expect(
    foldOperators(
      first!,
      tails,
      (operator) => BINARY_OPERATORS[operator],
      (a, operator, b) => `(${a} ${operator} ${b})`,
    ),
  ).toBe(expected)
})

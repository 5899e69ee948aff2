import { expect, test } from 'vitest'
import type { Expr } from './ast.js'
import { copyWith } from './nodes.js'
import { parseExpression } from './parse.js'

function expr(text: string): Expr {
  return parseExpression(text).expression!
}

test('a node as JSON has its spans, without their internal fields', () => {
  expect(JSON.parse(JSON.stringify(expr('a + f(7)')))).toEqual({
    kind: 'Binary',
    span: { start: 0, end: 8 },
    operator: '+',
    operatorSpan: { start: 2, end: 3 },
    left: { kind: 'Identifier', span: { start: 0, end: 1 }, name: 'a' },
    right: {
      kind: 'Call',
      span: { start: 4, end: 8 },
      callee: { text: 'f', span: { start: 4, end: 5 } },
      typeArgs: [],
      args: [{ spread: false, value: { kind: 'Int', span: { start: 6, end: 7 }, value: 7 }, span: { start: 6, end: 7 } }],
    },
  })
})

test('a copy has the span of its original, which stays unchanged', () => {
  const original = expr('  name') as Extract<Expr, { kind: 'Identifier' }>
  const copy = copyWith(original, { name: 'other' })
  expect([copy.kind, copy.name, copy.span]).toEqual(['Identifier', 'other', { start: 2, end: 6 }])
  expect(original.name).toBe('name')
})

// The static table itself: readable, sorted, and joined with the generic signatures.

import { SuggestionBudget } from '@bridle/parser'
import { describe, expect, test } from 'vitest'
import { BUILTIN_ROWS } from './builtin-signatures.js'
import { BUILTINS, isReservedCallName, paramsOf, withBuiltins } from './builtins.js'
import { readParams, readType } from './signature-text.js'
import { show, showStructure } from './show.js'
import { closest } from './suggest.js'

test('rows are sorted, unique, and have plausible counts', () => {
  const names = BUILTIN_ROWS.map(([name]) => name)
  expect(names).toEqual([...names].sort())
  expect(new Set(names).size).toBe(names.length)
  for (const [name, min, max] of BUILTIN_ROWS) expect(max === null || min <= max, name).toBe(true)
})

test('every parameter list can be read', () => {
  for (const signature of BUILTINS.values()) {
    const params = paramsOf(signature)
    if (signature.maxArgs !== null && signature.maxArgs > 0) expect(params.length, signature.name).toBeGreaterThan(0)
  }
})

test.each([
  ['string | nil', 'string | nil'],
  ['{a: int, b?: list<string>}|nil', '{a: int, b?: list<string>} | nil'],
  ['fn(int) -> T', 'fn(int) -> T'],
  ['dict<string, int>', 'dict<string, int>'],
  ['Result<T, string>', 'Result<T, string>'],
  ['never', 'never'],
])('type text %s', (text, shown) => {
  expect(show(readType(text))).toBe(shown)
})

test('parameter text', () => {
  const params = readParams('[rng?: rng,] min: int, ...rest: any, bare')
  expect(params.map((param) => [param.name, param.optional, param.rest])).toEqual([
    ['rng', true, false],
    ['min', false, false],
    ['rest', false, true],
    ['bare', false, false],
  ])
  expect(() => readType('{a int}')).toThrow('signature text')
})

test('structural notation', () => {
  expect(showStructure(readType('{a?: list<int>} | fn(string) -> nil'))).toBe(
    'Union([Shape([ShapeField { name: "a", type_expr: List(Named("int")), optional: true }]), ' +
      'FnType { params: [Named("string")], return_type: Named("nil") }])',
  )
})

describe('suggestions', () => {
  test.each<[string, string | null]>([
    ['printl', 'print'],
    ['println', null],
    ['xyzzyq', null],
    ['lenn', 'len'],
    ['to_sting', 'to_string'],
  ])('%s', (name, expected) => {
    const candidates = name === 'println' ? ['println'] : BUILTINS.keys()
    expect(closest(name, candidates, new SuggestionBudget())).toBe(expected)
  })

  test('the first of equally close names wins, and bytes are counted', () => {
    expect(closest('ab', ['ac', 'ad'], new SuggestionBudget())).toBe('ac')
    expect(closest('a', ['ééé'], new SuggestionBudget())).toBe(null)
  })

  test('comparisons are bounded for all suggestions of a file', () => {
    const budget = new SuggestionBudget()
    const candidates = Array.from({ length: 1000 }, (_, at) => `name_${at}`)
    expect(closest('nam_1', candidates, budget)).toBe('name_1')
    while (!budget.isSpent) closest('nam_1', candidates, budget)
    expect(closest('nam_1', candidates, budget)).toBe(null)
  })
})

test('a host may add builtins', () => {
  const table = withBuiltins(['aaa_first', 'println', 'zzz_last'])
  expect([...table.keys()]).toEqual([...BUILTINS.keys(), 'aaa_first', 'zzz_last'].sort())
  expect(table.get('println')).toBe(BUILTINS.get('println'))
})

test('names that need no declaration', () => {
  expect(['Ok', 'None', '__x', 'hostlib_y'].map(isReservedCallName)).toEqual([true, true, true, true])
  expect(isReservedCallName('other')).toBe(false)
})

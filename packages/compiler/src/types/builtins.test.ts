// The table generated from the definitions: valid, sorted, without missing builtins.

import { SuggestionBudget } from '@bridle/parser'
import { describe, expect, test } from 'vitest'
import { BUILTIN_ROWS } from './builtins.generated.js'
import { BUILTINS, isReservedCallName, withBuiltins } from './builtins.js'
import { TOLERATED_NAMES } from './missing-builtins.js'
import { readParams, readType } from './signature-text.js'
import { show, showStructure } from './show.js'
import { closest } from './suggest.js'

test('rows are sorted and unique, and no missing builtin is among them', () => {
  const names = [...BUILTINS.keys()]
  expect(names).toEqual([...names].sort())
  expect(names.length).toBe(BUILTIN_ROWS.length)
  expect(names.filter((name) => TOLERATED_NAMES.has(name))).toEqual([])
})

test('every signature parses', () => {
  for (const { name, params, returns, generic } of BUILTINS.values()) {
    expect([params, returns, generic], name).toBeDefined()
  }
})

test('the signature, and the result type for the checker', () => {
  const table = withBuiltins([
    { signature: 'host_plain(x: int, ...rest: any) -> string | nil' },
    { signature: 'host_less(x: fn(int) -> bool) -> list<int>', checkedAs: 'list' },
    { signature: 'host_unknown(x: int) -> int', checkedAs: '?' },
    { signature: 'host_any() -> any' },
    { signature: 'host_bound<T>(schema: Schema<T>) -> list<T>', checkedAs: 'list' },
    { signature: 'host_unbound<T>(schema: Schema<T>) -> T' },
    { signature: 'host_name' },
    { signature: 'host_unreadable(x: -> int' },
  ])
  const render = (name: string): unknown => {
    const { params, returns, generic } = table.get(name)!
    return [
      params.map((param) => param.name).join(),
      returns === null ? null : show(returns),
      generic === null ? null : show(generic.returns),
    ]
  }
  expect(render('host_plain')).toEqual(['x,rest', 'string | nil', null])
  expect(render('host_less')).toEqual(['x', 'list', null])
  expect(render('host_unknown')).toEqual(['x', null, null])
  expect(render('host_any')).toEqual(['', null, null])
  expect(render('host_bound')).toEqual(['schema', 'list', 'list<T>'])
  expect(render('host_unbound')).toEqual(['schema', null, 'T'])
  expect(render('host_name')).toEqual(['', null, null])
  expect(render('host_unreadable')).toEqual(['', null, null])
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
  const params = readParams('rng?: rng = nil, min: int, text?: string = ", ", ...rest: any, bare')
  expect(params.map((param) => [param.name, param.optional, param.rest])).toEqual([
    ['rng', true, false],
    ['min', false, false],
    ['text', true, false],
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
  const table = withBuiltins(['aaa_first', 'println', 'zzz_last'].map((signature) => ({ signature })))
  expect([...table.keys()]).toEqual([...BUILTINS.keys(), 'aaa_first', 'zzz_last'].sort())
  expect(table.get('println')).toBe(BUILTINS.get('println'))
})

test('names that need no declaration', () => {
  expect(['Ok', 'None', '__x', 'hostlib_y'].map(isReservedCallName)).toEqual([true, true, true, true])
  expect(isReservedCallName('other')).toBe(false)
})

// Lists, dicts, sets, ranges, iterators: results and the language's messages, through the fake context.

import { describe, expect, test } from 'vitest'
import { coreFamily } from './core.js'
import { dictsFamily } from './dicts.js'
import { iterFamily } from './iter-methods.js'
import { listsFamily } from './lists.js'
import { rangesFamily } from './ranges.js'
import { resultsFamily } from './results.js'
import { setsFamily } from './sets.js'
import { stringsFamily } from './strings.js'
import { callBuiltin, callMethod, makeFakeMachine, faultText } from './test-support/fake-machine.js'
import { HarnBuiltin } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnIter } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { HarnFloat, HarnPair, HarnRange } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { isTruthy } from '../values/value.js'
import type { Value } from '../values/value.js'

const machine = makeFakeMachine(
  coreFamily,
  stringsFamily,
  listsFamily,
  dictsFamily,
  setsFamily,
  rangesFamily,
  iterFamily,
  resultsFamily,
)

/** A script function backed by a JavaScript one. */
function makeFn(body: (...args: never[]) => Value): Value {
  const name = `fn${machine.functions.size}`
  machine.functions.set(name, body as (...args: Value[]) => Value)
  return new HarnBuiltin(name)
}

/** JavaScript data as values: arrays are lists, objects dicts, other values themselves. */
function toValue(data: unknown): Value {
  if (Array.isArray(data)) return new HarnList(data.map(toValue))
  if (data !== null && typeof data === 'object' && Object.getPrototypeOf(data) === Object.prototype) {
    return new HarnDict(new Map(Object.entries(data).map(([key, item]) => [key, toValue(item)])))
  }
  return data as Value
}

const m = (receiver: unknown, name: string, ...args: unknown[]): string =>
  display(callMethod(machine, toValue(receiver), name, ...args.map(toValue)))
const f = (name: string, ...args: unknown[]): string => display(callBuiltin(machine, name, ...args.map(toValue)))
const fault = (run: () => unknown): string => faultText(run)
const float = (v: number): HarnFloat => new HarnFloat(v)
const set = (...items: Value[]): HarnSet => new HarnSet(items)

const even = makeFn((x: number) => x % 2 === 0)
const double = makeFn((x: number) => x * 2)
const parity = makeFn((x: number) => (x % 2 === 0 ? 'even' : 'odd'))
const negative = makeFn((x: number) => -x)

describe('list methods', () => {
  test.each<[string, unknown, string, unknown[]]>([
    ['3', [1, 2, 3], 'count', []],
    ['nil', [1, 2, 3], 'len', []],
    ['true', [], 'empty', []],
    ['[2, 4]', [1, 2], 'map', [double]],
    ['nil', [1, 2], 'map', []],
    ['nil', [1, 2], 'map', [5]],
    ['[2]', [1, 2], 'filter', [even]],
    ['6', [1, 2, 3], 'reduce', [0, makeFn((a: number, b: number) => a + b)]],
    ['nil', [1], 'reduce', [0]],
    ['2', [1, 2, 4], 'find', [even]],
    ['nil', [1], 'find', [even]],
    ['1', [1, 2, 4], 'find_index', [even]],
    ['-1', [1], 'find_index', [even]],
    ['true', [1, 2], 'any', [even]],
    ['false', [1, 2], 'any', []],
    ['true', [1, 2], 'all', []],
    ['false', [1, 2], 'every', [even]],
    ['true', [1], 'none', [even]],
    ['true', [], 'none', []],
    ['false', [1], 'none', []],
    [
      '[1, 1, [2], 2, [4]]',
      [1, 2],
      'flat_map',
      [makeFn((x: number) => new HarnList([x, ...(x === 1 ? [1, new HarnList([2])] : [new HarnList([4])])]))],
    ],
    ['[1, 2, 10]', [10, 1, 2], 'sort', []],
    ['[B, a, b]', ['b', 'B', 'a'], 'sort', []],
    ['[0.5, 1, 2]', [2, float(0.5), 1], 'sort', []],
    ['[3, 2, 1]', [1, 3, 2], 'sort_by', [negative]],
    ['[3, 2, 1]', [1, 2, 3], 'reverse', []],
    ['[1, 2, [3]]', [[1], 2, [[3]]], 'flatten', []],
    ['[1, 2]', [1, null, 2], 'compact', []],
    ['[1, 1.0, 2]', [1, float(1), 1, 2, 2], 'unique', []],
    ['1-2', [1, 2], 'join', ['-']],
    ['12', [1, 2], 'join', []],
    ['true', [float(1)], 'contains', [1]],
    ['1', ['a', 'b'], 'index_of', ['b']],
    ['-1', ['a', 'b'], 'index_of', ['c']],
    ['[{index: 0, value: a}]', ['a'], 'enumerate', []],
    ['[[1, a], [2, b]]', [1, 2, 3], 'zip', [['a', 'b']]],
    ['[]', [1], 'zip', [5]],
    ['[2, 3]', [1, 2, 3, 4], 'slice', [1, -1]],
    ['[3, 4]', [1, 2, 3, 4], 'slice', [-2]],
    ['[]', [1], 'slice', [3, 2]],
    ['[1]', [1, 2], 'take', [1]],
    ['[]', [1, 2], 'take', [-1]],
    ['[2]', [1, 2], 'skip', [1]],
    ['1', [1, 2], 'first', []],
    ['[1]', [1, 2], 'first', [1]],
    ['nil', [], 'last', []],
    ['[1, 2]', [1, 2], 'last', [9]],
    ['[2]', [1, 2], 'last', [1]],
    ['6', [1, 2, 'x', 3], 'sum', []],
    ['3.0', [1, float(2)], 'sum', []],
    ['0', [], 'sum', []],
    ['1', [2, 1, 3], 'min', []],
    ['nil', [], 'max', []],
    ['3', [1, 3, 2], 'min_by', [negative]],
    ['1', [1, 3, 2], 'max_by', [negative]],
    ['[1, 2]', [1], 'push', [2]],
    ['[1]', [1, 2], 'pop', []],
    ['[]', [], 'pop', []],
    ['[[2], [1, 3]]', [1, 2, 3], 'partition', [even]],
    ['{even: [2], odd: [1, 3]}', [1, 2, 3], 'group_by', [parity]],
    ['{1: 2, a: 1}', [1, 'a', 1], 'tally', []],
    ['[[1, 2], [3]]', [1, 2, 3], 'chunk', [2]],
    ['[[1], [2]]', [1, 2], 'each_slice', [0]],
    ['[[1, 2], [2, 3]]', [1, 2, 3], 'window', []],
    ['[[1, 2], [3, 4]]', [1, 2, 3, 4, 5], 'sliding_window', [2, 2]],
    ['nil', [1], 'no_such_method', []],
  ])('%s', (expected, receiver, name, args) => expect(m(receiver, name, ...args)).toBe(expected))

  test('elements past the end of a shared buffer are invisible', () => {
    const short = new HarnList(['a'])
    short.append('b')
    expect(m(short, 'index_of', 'b')).toBe('-1')
    expect(m(short, 'last')).toBe('a')
    expect(m(short, 'reverse')).toBe('[a]')
  })
})

describe('collection functions', () => {
  test.each<[string, string, unknown[]]>([
    ['[[1], [2]]', 'chunk', [[1, 2]]],
    ['[[1, 2], [2, 3]]', 'window', [[1, 2, 3]]],
    ['{even: [2], odd: [1]}', 'group_by', [[1, 2], parity]],
    ['{match: [2], no_match: [1]}', 'partition', [[1, 2], even]],
    ['[1, 2]', 'dedup_by', [[1, 2, 3], parity]],
    ['[2, 4]', 'flat_map', [[1, 2], double]],
    ['1, 2', 'join', [[1, 2], ', ']],
    ['', 'join', [set(1), ', ']],
    ['[a, b]', 'keys', [{ b: 1, a: 2 }]],
    ['[2, 1]', 'values', [{ b: 1, a: 2 }]],
    ['[{key: a, value: 2}]', 'entries', [{ a: 2 }]],
    ['[]', 'entries', [5]],
  ])('%s', (expected, name, args) => expect(f(name, ...args)).toBe(expected))

  test.each<[string, string, unknown[]]>([
    ['Runtime error: group_by: first argument must be a list', 'group_by', []],
    ['Type error: group_by: first argument must be a list, got int', 'group_by', [1]],
    ['Runtime error: partition: callback is required', 'partition', [[]]],
    ['Type error: dedup_by: callback must be callable, got int', 'dedup_by', [[], 1]],
    ['Type error: chunk: first argument must be a list, got nil', 'chunk', [null]],
  ])('%s', (expected, name, args) => expect(fault(() => f(name, ...args))).toBe(expected))
})

describe('dict methods', () => {
  const d = { b: 1, a: 2 }
  test.each<[string, string, unknown[]]>([
    ['[a, b]', 'keys', []],
    ['[2, 1]', 'values', []],
    ['[{key: a, value: 2}, {key: b, value: 1}]', 'entries', []],
    ['2', 'count', []],
    ['true', 'has', ['a']],
    ['false', 'has', [1]],
    ['nil', 'get', ['x']],
    ['7', 'get', ['x', 7]],
    ['{a: 3, b: 1, c: 4}', 'merge', [{ a: 3, c: 4 }]],
    ['{a: 2, b: 1}', 'merge', [5]],
    ['{a: 4, b: 2}', 'map_values', [double]],
    ['{k: 1}', 'map_keys', [makeFn(() => 'k')]],
    ['{a!: 2, b!: 1}', 'rekey', [makeFn((k: string) => `${k}!`)]],
    ['{a: 2}', 'filter', [even]],
    ['{b: 1}', 'remove', ['a']],
    ['nil', 'map_values', []],
    ['nil', 'nothing', []],
  ])('%s', (expected, name, args) => expect(m(d, name, ...args)).toBe(expected))

  test('a key bound to nil is present', () => {
    expect(m({ a: null }, 'has', 'a')).toBe('true')
    expect(m({ a: null }, 'get', 'a', 1)).toBe('nil')
  })
})

describe('sets', () => {
  test.each<[string, string, unknown[]]>([
    ['set(1, 2, 3)', 'set', [1, [2, 3], set(1)]],
    ['set(1, 1.0)', 'set', [1, float(1), 1]],
    ['set(1, 2)', 'set_add', [set(1), 2]],
    ['set(1)', 'set_remove', [set(1, 2), 2]],
    ['false', 'set_contains', [[1], 1]],
    ['false', 'set_contains', [set(1), float(1)]],
    ['set(1, 2, 3)', 'set_union', [set(1, 2), set(2, 3)]],
    ['set(2)', 'set_intersect', [set(1, 2), set(2, 3)]],
    ['set(1)', 'set_difference', [set(1, 2), set(2, 3)]],
    ['set(1, 3)', 'set_symmetric_difference', [set(1, 2), set(2, 3)]],
    ['true', 'set_is_subset', [set(1), set(1, 2)]],
    ['true', 'set_is_superset', [set(1, 2), set(1)]],
    ['true', 'set_is_disjoint', [set(1), set(2)]],
  ])('function %s', (expected, name, args) => expect(f(name, ...args)).toBe(expected))

  test.each<[string, string, unknown[]]>([
    ['2', 'count', []],
    ['2', 'len', []],
    ['true', 'contains', [float(1)]],
    ['set(1, 2)', 'add', [float(1)]],
    ['set(2)', 'remove', [float(1)]],
    ['set(1, 2)', 'union', [7]],
    ['set()', 'intersect', [7]],
    ['set(2)', 'intersection', [set(2)]],
    ['set(1, 2)', 'difference', [[1]]],
    ['set(1, 3)', 'symmetric_difference', [set(2, 3)]],
    ['false', 'is_subset', [7]],
    ['false', 'is_superset', [7]],
    ['true', 'is_disjoint', [7]],
    ['[1, 2]', 'to_list', []],
    ['set(odd, even)', 'map', [parity]],
    ['set(2)', 'filter', [even]],
    ['true', 'any', [even]],
    ['false', 'every', [even]],
    ['nil', 'map', []],
  ])('method %s', (expected, name, args) => expect(m(set(1, 2), name, ...args)).toBe(expected))

  test('messages', () => {
    expect(fault(() => f('set_add', [1], 2))).toBe('set_add: first argument must be a set')
    expect(fault(() => f('set_union', set(1), [2]))).toBe('set_union: arguments must be sets')
  })
})

describe('ranges', () => {
  const r = new HarnRange(2, 6, false)
  test.each<[string, string, unknown[]]>([
    ['5', 'len', []],
    ['5', 'count', []],
    ['false', 'empty', []],
    ['true', 'contains', [6]],
    ['false', 'contains', [float(3)]],
    ['2', 'first', []],
    ['6', 'last', []],
    ['2 to 6', 'to_string', []],
    ['<iter>', 'map', [double]],
    ['[2, 3, 4, 5, 6]', 'to_list', []],
    ['20', 'sum', []],
    ['nil', 'sort', []],
  ])('%s', (expected, name, args) => expect(m(r, name, ...args)).toBe(expected))

  test('empty and half-open', () => {
    expect(f('range', 3)).toBe('0 to 3 exclusive')
    expect(m(new HarnRange(0, 0, true), 'last')).toBe('nil')
    expect(m(new HarnRange(0, 3, true), 'last')).toBe('2')
    expect(m(new HarnRange(9223372036854775806n, 9223372036854775807n, false), 'to_list')).toBe(
      '[9223372036854775806, 9223372036854775807]',
    )
    expect(m(new HarnRange(-9223372036854775808n, 5, false), 'count')).toBe('-9223372036854775802')
  })

  test('messages', () => {
    expect(fault(() => f('range'))).toBe('Type error: range expects 1 or 2 integer arguments, got 0')
    expect(fault(() => f('range', 'a'))).toBe('Type error: range(n): expected integer argument')
    expect(fault(() => f('range', 1, float(2)))).toBe('Type error: range(a, b): expected integer arguments')
  })
})

describe('iterators', () => {
  const makeIter = (source: unknown): Value => callBuiltin(machine, 'iter', toValue(source))
  const list = (source: Value): string => display(callMethod(machine, source, 'to_list'))
  const chainSteps = (source: unknown, ...steps: [string, ...unknown[]][]): string =>
    list(steps.reduce((now, [name, ...args]) => callMethod(machine, now, name, ...args.map(toValue)), makeIter(source)))

  test.each<[string, unknown, [string, ...unknown[]][]]>([
    ['[2, 4, 6]', [1, 2, 3], [['map', double]]],
    ['[2]', [1, 2, 3], [['filter', even]]],
    [
      '[8]',
      [1, 2, 3, 4],
      [
        ['filter', even],
        ['map', double],
        ['skip', 1],
      ],
    ],
    ['[1, 1, 2, 2]', [1, 2], [['flat_map', makeFn((x: number) => new HarnList([x, x]))]]],
    ['[1]', [1, 2], [['take', 1]]],
    ['[3]', [1, 2, 3], [['skip', 2]]],
    ['[1]', [1, 2, 3], [['take_while', makeFn((x: number) => x < 2)]]],
    ['[2, 1]', [1, 2, 1], [['skip_while', makeFn((x: number) => x < 2)]]],
    ['[(1, a), (2, b)]', [1, 2, 3], [['zip', 'ab']]],
    ['[(0, a), (1, 😀)]', 'a😀', [['enumerate']]],
    ['[1, 2, 3]', [1], [['chain', [2, 3]]]],
    ['[[1, 2], [3]]', [1, 2, 3], [['chunks', 2]]],
    ['[[1, 2], [2, 3]]', [1, 2, 3], [['windows', 2]]],
    [
      '[[2, 4], [4, 6]]',
      [1, 2, 3],
      [
        ['map', double],
        ['windows', 2],
      ],
    ],
    [
      '[[2, 4], [6]]',
      [1, 2, 3],
      [
        ['map', double],
        ['chunks', 2],
      ],
    ],
    [
      '[(2, a)]',
      [1, 2],
      [
        ['filter', even],
        ['zip', ['a']],
      ],
    ],
    ['[(a, 1), (b, 2)]', { b: 2, a: 1 }, []],
  ])('%s', (expected, source, steps) => expect(chainSteps(source, ...steps)).toBe(expected))

  test.each<[string, unknown, string, unknown[]]>([
    ['set(1, 2)', [1, 2, 1], 'to_set', []],
    ['{a: 1}', { a: 1 }, 'to_dict', []],
    ['3', [1, 2, 3], 'count', []],
    ['6', [1, 2, 3], 'sum', []],
    ['1.5', [1, float(0.5)], 'sum', []],
    ['1', [2, 1], 'min', []],
    ['nil', [], 'max', []],
    ['6', [1, 2, 3], 'reduce', [0, makeFn((a: number, b: number) => a + b)]],
    ['1', [1, 2], 'first', []],
    ['2', [1, 2], 'last', []],
    ['nil', [], 'first', []],
    ['true', [1, 2], 'any', [even]],
    ['false', [1, 2], 'all', [even]],
    ['2', [1, 2], 'find', [even]],
    ['nil', [1, 2], 'for_each', [even]],
    ['nil', [1, 2], 'join', []],
  ])('sink %s', (expected, source, name, args) => expect(m(makeIter(source), name, ...args)).toBe(expected))

  test('combinators share their source, and take pulls no extra item', () => {
    const source = makeIter([1, 2, 3])
    expect(list(callMethod(machine, source, 'take', 2))).toBe('[1, 2]')
    expect(list(source)).toBe('[3]')
    expect(display(source)).toBe('<iter (exhausted)>')
  })

  test('a sink that ends early leaves the remaining items', () => {
    const source = makeIter([1, 2, 3])
    expect(m(source, 'find', even)).toBe('2')
    expect(list(source)).toBe('[3]')
  })

  test('an iterator is its own iterator', () => expect(makeIter(makeIter([1]))).toBeInstanceOf(HarnIter))

  test('drains long sources', () => {
    expect(m(new HarnRange(0, 5000, true), 'sum')).toBe('12497500')
    expect(m(callMethod(machine, new HarnRange(0, 5000, true), 'filter', even), 'count')).toBe('2500')
  })

  test.each<[string, () => unknown]>([
    ['Type error: iter: value of type int is not iterable', () => makeIter(1)],
    ['Type error: iter.take: expected non-negative int', () => m(makeIter([]), 'take', -1)],
    ['Type error: iter.map: expected callable', () => m(makeIter([]), 'map')],
    ['Type error: iter.chunks: chunk size must be positive', () => m(makeIter([]), 'chunks', 0)],
    ['Type error: iter.windows: window size must be positive', () => m(makeIter([]), 'windows', 0)],
    ['Type error: iter.zip: expected iterable argument', () => m(makeIter([]), 'zip')],
    ['Type error: iter: value of type int is not iterable', () => m(makeIter([]), 'chain', 5)],
    ['Type error: iter.to_dict: expected pair, got int', () => m(makeIter([1]), 'to_dict')],
    ['Type error: iter.to_dict: expected string key, got int', () => m(makeIter([new HarnPair(1, 2)]), 'to_dict')],
    ['Type error: iter.sum: expected number, got string', () => m(makeIter(['a']), 'sum')],
    ['Type error: iter.reduce: expected (init, fn)', () => m(makeIter([]), 'reduce')],
    ['Type error: iter.reduce: second arg must be callable', () => m(makeIter([]), 'reduce', 1, 2)],
    ['Type error: iter: value of type int is not iterable', () => chainSteps([1], ['flat_map', double])],
    ['Type error: pair: expected 2 arguments, got 1', () => f('pair', 1)],
  ])('%s', (expected, run) => expect(fault(run)).toBe(expected))
})

test('filter uses the truthiness of the language', () => {
  expect(isTruthy(new HarnRange(0, 0, true))).toBe(true)
  expect(
    m(
      [0, 1],
      'filter',
      makeFn((x: number) => (x === 0 ? '' : 'yes')),
    ),
  ).toBe('[1]')
})

describe('results', () => {
  test('unwrapping', () => {
    const failure = callBuiltin(machine, 'Err', 'boom')
    expect(display(failure)).toBe('Result.Err(boom)')
    expect(f('unwrap', callBuiltin(machine, 'Ok', 1))).toBe('1')
    expect(f('unwrap', 5)).toBe('5')
    expect(f('unwrap_or', failure, 2)).toBe('2')
    expect(f('unwrap_err', failure)).toBe('boom')
    expect(fault(() => f('unwrap', failure))).toBe('Runtime error: unwrap called on Err: boom')
    expect(fault(() => f('unwrap_err', 1))).toBe('Runtime error: unwrap_err called on non-Err')
    expect([f('is_ok', failure), f('is_err', failure), f('is_err', 1)]).toEqual(['false', 'true', 'false'])
  })
})

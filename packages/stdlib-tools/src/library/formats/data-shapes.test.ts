// One row for each kind of drift, and the sources of a shape.

import { fromPlain } from '@bridle/vm/families'
import { describe, expect, test } from 'vitest'
import { compareShapes, formatDrift, readShape, readSchemaShape, inferShape, showShape } from './data-shapes.js'
import type { Shape } from './data-shapes.js'

const listDrifts = (expected: Shape, actual: Shape, observed = false): string[] =>
  compareShapes(expected, actual, { observed }).map(formatDrift)

describe('drift', () => {
  test.each<[string, Shape, Shape, string[]]>([
    ['Any on the left', 'Any', 'Int', []],
    ['Any on the right', 'Int', 'Any', []],
    ['optional, and null came', { optional: 'Int' }, 'Null', []],
    ['optional, and the value came', { optional: 'Int' }, 'Int', []],
    ['null came', 'Int', 'Null', ["[Breaking] NullabilityChange at 'root': expected Int, got Null"]],
    ['optional came', 'Int', { optional: 'Int' }, ["[Breaking] NullabilityChange at 'root': expected Int, got Optional<Int>"]],
    [
      'a required field is absent',
      { record: { a: 'Int' } },
      { record: {} },
      ["[Breaking] MissingField at 'root.a': expected Int, got nothing"],
    ],
    [
      'an optional field is absent',
      { record: { 'a?': 'Int' } },
      { record: {} },
      ["[Warning] MissingField at 'root.a': expected Int, got nothing"],
    ],
    [
      'a field nobody expects',
      { record: {} },
      { record: { b: 'String' } },
      ["[Info] ExtraField at 'root.b': expected nothing, got String"],
    ],
    [
      'a union lost a member',
      { union: ['Int', 'String'] },
      'Int',
      ["[Breaking] TypeNarrowed at 'root': expected Int | String, got Int"],
    ],
    [
      'a union gained a member',
      { union: ['Int', 'String'] },
      { union: ['Int', 'String', 'Bool'] },
      ["[Warning] TypeWidened at 'root': expected Int | String, got Int | String | Bool"],
    ],
    [
      'a type became a union with it',
      'Int',
      { union: ['Int', 'String'] },
      ["[Warning] TypeWidened at 'root': expected Int, got Int | String"],
    ],
    [
      'a field was renamed',
      { record: { user_name: 'String' } },
      { record: { userNames: 'String' } },
      ["[Breaking] FieldRenamed at 'root.user_name': expected user_name, got userNames (89 % alike)"],
    ],
    ['another type', 'Int', 'String', ["[Breaking] TypeMismatch at 'root': expected Int, got String"]],
    ['an int for a number', 'Float', 'Int', []],
    ['a float for an int', 'Int', 'Float', ["[Breaking] TypeMismatch at 'root': expected Int, got Float"]],
    ['in a list', { list: 'Int' }, { list: 'String' }, ["[Breaking] TypeMismatch at 'root[]': expected Int, got String"]],
    [
      'in a map',
      { record: { m: { map: 'Int' } } },
      { record: { m: { record: { x: 'Bool' } } } },
      ["[Breaking] TypeMismatch at 'root.m<value>': expected Int, got Bool"],
    ],
  ])('%s', (_, expected, actual, drifts) => {
    expect(listDrifts(expected, actual)).toEqual(drifts)
  })

  test('one answer says nothing of what it lacks', () => {
    expect(listDrifts({ union: ['Int', 'String'] }, 'Int', true)).toEqual([])
    expect(listDrifts({ record: { 'a?': 'Int' } }, { record: {} }, true)).toEqual([])
  })
})

describe('shapes', () => {
  const showValueShape = (data: unknown): string => showShape(inferShape(fromPlain(data as never)))
  const showSchemaShape = (data: unknown): string => showShape(readSchemaShape(fromPlain(data as never)))

  test.each<[unknown, string]>([
    [[], 'List<Any>'],
    [[1, null, 2], 'List<Optional<Int>>'],
    [[1, 'x', 1.5], 'List<Int | String | Float>'],
    [[{ a: 1 }, { a: 2, b: 'x' }], 'List<Record{a: Int, b?: String}>'],
    [[[], [1]], 'List<List<Int>>'],
    [{ b: true, a: null }, 'Record{a: Null, b: Bool}'],
    [new Uint8Array(2), 'Bytes'],
  ])('of the value %j', (data, shown) => {
    expect(showValueShape(data)).toBe(shown)
  })

  test('drift in the middle of a list is seen', () => {
    expect(showValueShape([...Array.from({ length: 500 }, () => 1), 'x', 1])).toBe('List<Int | String>')
  })

  test.each<[unknown, string]>([
    [{}, 'Any'],
    [{ type: 'integer' }, 'Int'],
    [{ type: ['string', 'null'] }, 'Optional<String>'],
    [{ type: 'array', items: { type: 'number' } }, 'List<Float>'],
    [{ type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a'] }, 'Record{a: String, b?: Any}'],
    [{ type: 'object', additionalProperties: { type: 'boolean' } }, 'Map<String, Bool>'],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, 'Int | String'],
    [{ enum: ['a', 'b'] }, 'String'],
    [{ $ref: '#/$defs/x', $defs: { x: { type: 'string' } } }, 'String'],
  ])('of the schema %j', (data, shown) => {
    expect(showSchemaShape(data)).toBe(shown)
  })

  test('survive JSON, and a field may be called anything', () => {
    const shape = inferShape(fromPlain(JSON.parse('{"__proto__": [1], "a": {"b": null}}') as never))
    expect(readShape(JSON.parse(JSON.stringify(shape)))).toEqual(shape)
    expect(showShape(shape)).toBe('Record{__proto__: List<Int>, a: Record{b: Null}}')
    expect(readShape({ nonsense: 1 })).toBe(null)
  })
})

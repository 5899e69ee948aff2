import { display, parseJson } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { schemaFamily } from './schema.js'
import { callBuiltin, makeFakeMachine, faultText } from '../../../../vm/src/builtins/test-support/fake-machine.js'

const machine = makeFakeMachine(schemaFamily)
const readJson = (text: string): Value => {
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.value
}
const call = (name: string, ...args: string[]): string => display(callBuiltin(machine, name, ...args.map(readJson)))
const fault = (name: string, ...args: string[]): string => faultText(() => call(name, ...args))

test('errors come in order with their places', () => {
  const schema =
    '{"type":"object","properties":{"a":{"type":"int","min":3},"b":{"type":"list","items":{"properties":{"c":{"type":"string"}}}}},"required":["z","a"],"additionalProperties":false}'
  expect(fault('json_validate', '{"a":1,"b":[{"c":1}],"q":1}', schema)).toBe(
    "at root: missing required key 'z'; at a: expected value >= 3, got 1; at b[0].c: expected type 'string', got 'int'; at root: unexpected key 'q'",
  )
  expect(call('schema_check', '{"a":1}', '{"type":"dict","required":["b"]}')).toBe(
    "Result.Err({errors: [at root: missing required key 'b'], message: at root: missing required key 'b', value: {a: 1}})",
  )
  expect(call('schema_check', '1', '"x"')).toBe('Result.Err({errors: [schema must be a dict], message: schema must be a dict})')
  expect(fault('schema_expect', '[1,"x"]', '{"type":"list","items":{"type":"int"}}')).toBe(
    "at [1]: expected type 'int', got 'string'",
  )
})

test('rules', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['"abc"', '{"enum":["x","y"]}', 'at root: value must be one of [x, y]'],
    ['"abc"', '{"const":5}', 'at root: expected constant 5, got abc'],
    ['"abc"', '{"minLength":5}', 'at root: expected length >= 5, got 3'],
    ['"abc"', '{"max_length":2}', 'at root: expected length <= 2, got 3'],
    ['"abc"', '{"pattern":"^x"}', "at root: value does not match pattern '^x'"],
    ['[1]', '{"min_items":2}', 'at root: expected at least 2 items, got 1'],
    ['[1,2]', '{"maxItems":1}', 'at root: expected at most 1 items, got 2'],
    ['2.5', '{"max":2}', 'at root: expected value <= 2, got 2.5'],
    ['true', '{"anyOf":[{"type":"int"},{"type":"string"}]}', 'at root: value did not match any union branch'],
    ['true', '{"type":["integer","string"]}', 'at root: value did not match any union branch'],
    ['1', '{"type":"number"}', "at root: expected type 'float', got 'int'"],
    ['1', '{"$ref":"#/definitions/X"}', "at root: unresolved schema reference '#/definitions/X'"],
    ['1', '{"$ref":"#"}', 'at root: schema is nested too deeply'],
    [
      '1',
      '{"all_of":[{"type":"string"},{"max":0}]}',
      "at root: expected type 'string', got 'int'; at root: expected value <= 0, got 1",
    ],
    ['1', '{"union":5}', 'schema union/all_of must be a list'],
  ]
  for (const [value, schema, text] of cases) expect(fault('json_validate', value, schema)).toBe(text)
  expect(call('schema_is', 'null', '{"type":"string","nullable":true}')).toBe('true')
  expect(
    call(
      'schema_is',
      '{"v":{"v":{}}}',
      '{"$ref":"#/definitions/N","definitions":{"N":{"properties":{"v":{"$ref":"#/definitions/N"}},"additional_properties":false}}}',
    ),
  ).toBe('true')
  expect(fault('schema_is', '1')).toBe('schema_is requires 2 arguments')
})

test('defaults', () => {
  const schema = '{"properties":{"a":{"type":"int","default":7},"o":{"properties":{"b":{"default":true}}}},"required":["a"]}'
  expect(call('schema_parse', '{"o":{}}', schema)).toBe('Result.Ok({a: 7, o: {b: true}})')
  expect(call('schema_is', '{"o":{}}', schema)).toBe('false')
  expect(display(callBuiltin(machine, 'schema_expect', readJson('{}'), readJson(schema), true))).toBe('{a: 7}')
})

test('transformations', () => {
  expect(
    call(
      'schema_from_json_schema',
      '{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"uniqueItems":true,"$schema":"x"}',
    ),
  ).toBe('{properties: {n: {min: 1, type: int}}, type: dict}')
  expect(
    call(
      'schema_to_json_schema',
      '{"type":"dict","properties":{"n":{"type":"int","min":1,"nullable":true},"f":{"type":"closure"},"s":{"type":"set"}},"required":["n"]}',
    ),
  ).toBe(
    '{properties: {f: {type: string, x-harn-type: closure}, n: {minimum: 1.0, type: [integer, null]}, s: {type: array, uniqueItems: true}}, required: [n], type: object}',
  )
  expect(call('schema_to_openapi_schema', '{"type":"string","nullable":true}')).toBe('{nullable: true, type: string}')
  expect(call('schema_extend', '{"type":"string","required":true}', '{"minLength":2}')).toBe(
    '{min_length: 2, required: [], type: string}',
  )
  expect(call('schema_partial', '{"required":["a"],"items":{"required":["b"]}}')).toBe('{items: {}}')
  expect(call('schema_pick', '{"properties":{"a":{},"b":{}},"required":["a","b"]}', '["b"]')).toBe(
    '{properties: {b: {}}, required: [b]}',
  )
  expect(call('schema_omit', '{"properties":{"a":{},"b":{}},"required":["a","b"]}', '["b"]')).toBe(
    '{properties: {a: {}}, required: [a]}',
  )
  expect(fault('schema_pick', '{}', '5')).toBe('schema_pick: keys must be a list')
  expect(fault('schema_of', '5')).toBe('schema_of: expected a type alias or schema dict, got int')
})

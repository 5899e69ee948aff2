// Annotations as run-time checks and as schemas: one row per type, both results as JSON.

import { parse, type Program, SourceFile, type TypeExpr } from '@bridle/parser'
import { describe, expect, test } from 'vitest'
import { listInterfaces, runtimeParamCheck } from './runtime-check.js'
import { lowerTypeToJsonSchema, schemaAliases, lowerType, toolParamSchema } from './schema-of-type.js'

function parseProgram(text: string): Program {
  const { program, diagnostics } = parse(new SourceFile('t.harn', text))
  if (program === null) throw new Error(diagnostics[0]?.message)
  return program
}

function typeExpr(text: string): TypeExpr {
  const [item] = parseProgram(`type T = ${text}`).items
  if (item?.kind !== 'TypeDecl') throw new Error('no type')
  return item.type
}

const json = (value: unknown): string => JSON.stringify(value)
const interfaces = new Set(['Named'])

describe('run-time checks', () => {
  test.each<[string, string]>([
    ['int', '{"kind":"prim","name":"int"}'],
    ['bytes', '{"kind":"prim","name":"bytes"}'],
    ['any', 'null'],
    ['unknown', 'null'],
    ['duration', 'null'],
    ['Alias', 'null'],
    ['iter<int>', 'null'],
    ['Box<int>', 'null'],
    ['list<int, int>', 'null'],
    ['true', '{"kind":"prim","name":"bool"}'],
    ['fn(int) -> int', '{"kind":"prim","name":"closure"}'],
    ['list<int>', '{"kind":"list","element":{"kind":"prim","name":"int"}}'],
    ['[string]', '{"kind":"list","element":{"kind":"prim","name":"string"}}'],
    ['list<Alias>', '{"kind":"prim","name":"list"}'],
    ['dict<string, int>', '{"kind":"dict","value":{"kind":"prim","name":"int"}}'],
    ['dict<int, int>', '{"kind":"prim","name":"dict"}'],
    ['dict<string, any>', '{"kind":"prim","name":"dict"}'],
    [
      '{a: int, b?: string}',
      '{"kind":"shape","fields":[{"name":"a","optional":false,"check":{"kind":"prim","name":"int"}},' +
        '{"name":"b","optional":true,"check":{"kind":"prim","name":"string"}}]}',
    ],
    ['{a: int, b: Alias}', 'null'],
    ['{}', '{"kind":"shape","fields":[]}'],
    ['int | nil', '{"kind":"union","members":[{"kind":"prim","name":"int"},{"kind":"prim","name":"nil"}]}'],
    ['Alias | nil', 'null'],
    ['Alias | any', 'null'],
    ['"a" | "b"', '{"kind":"enum","base":"string","values":["a","b"]}'],
    ['1 | -2', '{"kind":"enum","base":"int","values":[1,-2]}'],
    [
      '"a" | 1',
      '{"kind":"union","members":[{"kind":"const","base":"string","value":"a"},' + '{"kind":"const","base":"int","value":1}]}',
    ],
    ['"a"', '{"kind":"const","base":"string","value":"a"}'],
    ['9007199254740993', '{"kind":"const","base":"int","value":"9007199254740993"}'],
    ['Named', '{"kind":"interface","name":"Named"}'],
    ['Named | nil', 'null'],
    ['list<Named>', '{"kind":"prim","name":"list"}'],
  ])('%s', (text, expected) => {
    expect(json(runtimeParamCheck(typeExpr(text), { interfaces }))).toBe(expected)
  })

  test('no annotation, no check', () => {
    expect(runtimeParamCheck(null, { interfaces })).toBe(null)
  })

  test('interfaces are found at any position', () => {
    const program = parseProgram('interface A { fn a(self) }\nfn f() { interface B { fn b(self) } }')
    expect([...listInterfaces(program)]).toEqual(['A', 'B'])
  })
})

const aliases = schemaAliases(
  parseProgram(
    'type Id = int\ntype User = {id: Id, name?: string}\ntype Loop = {next: Loop}\n' +
      '@deprecated type Old = int\ntype Box<T> = {v: T}',
  ),
)

describe('schemas', () => {
  test.each<[string, string, string]>([
    ['int', '{"type":"int"}', '{"type":"integer"}'],
    ['float', '{"type":"float"}', '{"type":"number"}'],
    ['bool', '{"type":"bool"}', '{"type":"boolean"}'],
    ['nil', '{"type":"nil"}', '{"type":"null"}'],
    ['list', '{"type":"list"}', '{"type":"array"}'],
    ['dict', '{"type":"dict"}', '{"type":"object"}'],
    ['set', '{"type":"set"}', '{"type":"array","uniqueItems":true}'],
    ['closure', '{"type":"closure"}', '{"type":"string","x-harn-type":"closure"}'],
    ['fn() -> int', '{"type":"closure"}', '{"type":"string","x-harn-type":"closure"}'],
    ['list<int>', '{"type":"list","items":{"type":"int"}}', '{"type":"array","items":{"type":"integer"}}'],
    ['list<any>', '{"type":"list"}', '{"type":"array"}'],
    [
      'dict<string, int>',
      '{"type":"dict","additional_properties":{"type":"int"}}',
      '{"type":"object","additionalProperties":{"type":"integer"}}',
    ],
    ['dict<int, int>', '{"type":"dict"}', '{"type":"object"}'],
    [
      '{a: int, b?: bool}',
      '{"type":"dict","properties":{"a":{"type":"int"},"b":{"type":"bool"}},"required":["a"]}',
      '{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"boolean"}},"required":["a"]}',
    ],
    [
      '{b?: bool}',
      '{"type":"dict","properties":{"b":{"type":"bool"}}}',
      '{"type":"object","properties":{"b":{"type":"boolean"}}}',
    ],
    ['{a: any}', 'null', 'null'],
    ['"a" | "b"', '{"type":"string","enum":["a","b"]}', '{"type":"string","enum":["a","b"]}'],
    ['1 | 2', '{"type":"int","enum":[1,2]}', '{"type":"integer","enum":[1,2]}'],
    ['"a"', '{"type":"string","const":"a"}', '{"type":"string","const":"a"}'],
    ['int | nil', '{"union":[{"type":"int"},{"type":"nil"}]}', '{"oneOf":[{"type":"integer"},{"type":"null"}]}'],
    ['Id', '{"type":"int"}', 'null'],
    ['User', '{"type":"dict","properties":{"id":{"type":"int"},"name":{"type":"string"}},"required":["id"]}', 'null'],
    [
      'list<User>',
      '{"type":"list","items":{"type":"dict","properties":{"id":{"type":"int"},"name":{"type":"string"}},' +
        '"required":["id"]}}',
      '{"type":"array"}',
    ],
    ['Loop', 'null', 'null'],
    ['Old', 'null', 'null'],
    ['Box<int>', 'null', 'null'],
    ['duration', 'null', 'null'],
    [
      '{__proto__: int}',
      '{"type":"dict","properties":{"__proto__":{"type":"int"}},"required":["__proto__"]}',
      '{"type":"object","properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}',
    ],
  ])('%s', (text, own, standard) => {
    expect(json(lowerType(typeExpr(text), aliases))).toBe(own)
    expect(json(lowerTypeToJsonSchema(typeExpr(text)))).toBe(standard)
  })

  test('a tool parameter always has a schema', () => {
    expect(json(toolParamSchema(null))).toBe('{"type":"any"}')
    expect(json(toolParamSchema(typeExpr('User')))).toBe('{"type":"any"}')
    expect(json(toolParamSchema(typeExpr('int')))).toBe('{"type":"integer"}')
  })
})

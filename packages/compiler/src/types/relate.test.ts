// Compatibility, rule by rule: [expected, actual, fits]. Types in the notation of signature tables, over a few declarations.

import { parse, SourceFile } from '@bridle/parser'
import { describe, expect, test } from 'vitest'
import { BUILTINS } from './builtins.js'
import { registerType, RESULT } from './declarations.js'
import { fits } from './relate.js'
import { Scope } from './scope.js'
import { isTypeDeclaration } from './module-interface.js'
import { type Type, readType } from './type.js'

const scope = Scope.outermost(BUILTINS)
scope.declareTypeParam('T')
registerType(scope, RESULT)
const declarations = parse(
  new SourceFile(
    't',
    `type Id = int
type Name = string | nil
type Tree = {v: int, kids: list<Tree>}
type Wood = {v: int, kids: list<Wood>}
type Grow<T> = {v: T, next?: Grow<list<T>>, more: list<Grow<list<T>>>}
type Box<T> = {v: T, f: fn(T) -> nil}
enum Out<out T> { A(v: T) }
enum In<in T> { A(f: fn(T) -> nil) }
enum Same<T> { A(v: T) }
struct P { x: int }
struct Q { x: int }
interface Named { fn label(self) -> string }
interface Empty { type Item }
impl P { fn label(self) -> string { return "p" } }`,
  ),
).program
for (const item of declarations?.items ?? []) if (isTypeDeclaration(item) || item.kind === 'ImplDecl') registerType(scope, item)

function type(text: string): Type {
  const [item] = parse(new SourceFile('t', `type X = ${text}`)).program?.items ?? []
  if (item?.kind !== 'TypeDecl') throw new Error(`not a type: ${text}`)
  return readType(item.type)
}

describe('fits', () => {
  test.each<[string, string, boolean]>([
    ['int', 'int', true],
    ['float', 'int', true],
    ['int', 'float', false],
    ['_', 'int', true],
    ['list<_>', 'list<int>', true],
    ['T', 'int', true],
    ['string', 'T', true],
    ['any', 'nil', true],
    ['int', 'any', true],
    ['unknown', 'int', true],
    ['int', 'unknown', false],
    ['unknown', 'unknown', true],
    ['int', 'never', true],
    ['never', 'any', false],
    ['never', 'never', true],
    ['Id', 'int', true],
    ['int', 'Id', true],
    ['Name', 'string', true],
    ['string', 'Name', false],
    ['int | string', 'string | int', true],
    ['int | string', 'string | nil', false],
    ['float | nil', 'int', true],
    ['int', 'int | nil', false],
    ['nil', 'nil', true],
    ['dict', 'nil', false],
    ['list', 'list<int>', true],
    ['list<int>', 'list', true],
    ['list<float>', 'list<int>', false],
    ['list<Id>', 'list<int>', true],
    ['iter<float>', 'iter<int>', true],
    ['iter<int>', 'iter', true],
    ['iter', 'iter<int>', true],
    ['Stream<float>', 'Stream<int>', true],
    ['stream', 'Stream<int>', true],
    ['Stream', 'stream', true],
    ['Generator<int>', 'generator', true],
    ['Stream<int>', 'Generator<int>', false],
    ['dict', 'dict<string, int>', true],
    ['dict<string, int>', 'dict', true],
    ['dict<string, float>', 'dict<string, int>', false],
    ['dict<string, float>', '{a: int}', true],
    ['dict<int, int>', '{a: int}', false],
    ['dict', '{a: int}', true],
    ['{a: int}', 'dict', true],
    ['{a: int}', 'dict<string, string>', true],
    ['{a: int}', '{a: int, b: int}', true],
    ['{a: int}', '{a?: int}', true],
    ['{a?: int}', '{a: string}', true],
    ['{a: int}', '{}', false],
    ['{a: float}', '{a: int}', true],
    ['fn(int) -> float', 'fn(float) -> int', true],
    ['fn(float) -> int', 'fn(int) -> int', false],
    ['fn(int) -> int', 'fn() -> int', false],
    ['fn(int) -> int', 'closure', true],
    ['closure', 'fn(int) -> int', true],
    ['"a"', '"a"', true],
    ['"a"', '"b"', false],
    ['"a" | "b"', 'string', true],
    ['string', '"a"', true],
    ['int', '1', true],
    ['float', '1', true],
    ['1', 'int', true],
    ['1', 'float', false],
    ['Out<float>', 'Out<int>', true],
    ['In<int>', 'In<float>', true],
    ['In<float>', 'In<int>', false],
    ['Same<float>', 'Same<int>', false],
    ['Same', 'Same<int>', true],
    ['Same<int>', 'Same<_>', true],
    ['Unknown<float>', 'Unknown<int>', false],
    ['Result<float, string>', 'Result<int, _>', true],
    ['Result<int, string>', 'Result<float, _>', false],
    ['Named', 'P', true],
    ['Named', 'Q', false],
    ['Named', '{x: int}', false],
    ['Named', 'any', false],
    ['Named', 'nil', false],
    ['Named | nil', 'nil', true],
    ['Empty', 'Q', true],
    ['P', 'Q', false],
    ['P', '{x: int}', false],
    ['Box<"a" | "b">', 'Box<"a">', true],
    ['Box<"a">', 'Box<"b">', false],
    ['list<Box<"a" | "b">>', 'list<Box<"a"> | Box<"b">>', true],
    ['Tree', 'Wood', true],
    ['Tree', '{v: string, kids: list}', false],
    ['Grow<int>', 'Grow<float>', false],
    ['Grow<int>', 'Grow<int>', true],
    ['Nope', 'int', false],
    ['list<int, int>', 'list<int>', false],
  ])('%s <- %s: %s', (expected, actual, answer) => {
    expect(fits(type(expected), type(actual), scope)).toBe(answer)
  })

  test('nested unions are looked through', () => {
    const nested: Type = { kind: 'union', members: [type('string | int'), type('string')] }
    expect(fits(type('string | int'), nested, scope)).toBe(true)
    expect(fits(type('string'), nested, scope)).toBe(false)
  })
})

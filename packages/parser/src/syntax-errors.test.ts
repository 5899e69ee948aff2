// Exact messages of the first error, with their positions.

import { describe, expect, test } from 'vitest'
import { parse } from './parse.js'
import { SourceFile } from './source.js'

const first = (text: string): { code: string; message: string; hint: string | null } => {
  const { program, diagnostics } = parse(new SourceFile('test', text))
  expect(program).toBeNull()
  expect(diagnostics).not.toHaveLength(0)
  const { code, message, hint } = diagnostics[0]!
  return { code, message, hint }
}

const TOP = 'Expected top-level item separator (`;` or newline)'
const INNER = 'Expected statement separator (`;` or newline)'
const END = 'Unexpected end of file, expected'

describe('messages', () => {
  test.each<[string, string]>([
    ['let x = )', 'Expected expression, got ) at 1:9'],
    [';;', 'Expected expression, got ; at 1:1'],
    ['a\n;;', 'Expected expression, got ; at 2:1'],
    ['a;;b', 'Expected expression, got ; at 1:3'],
    ['fn f() {\n  let x = 1\n', `${END} }`],
    ['let x =', `${END} expression`],
    ['let x = // nothing\n /* here */ \n', `${END} expression`],
    ['"abc', 'Unterminated string at 1:1'],
    ['let x = 1\n  /* abc', 'Unterminated block comment at 2:3'],
    ['let x = )\n "abc', 'Unterminated string at 2:2'],
    ['a § b', "Unexpected character '§' at 1:3"],
    ['let é = "${}"', "Unexpected character '}' at 1:13"],
    ['fn f(a = 1, b) { }', 'Expected Required parameter cannot follow a parameter with a default value, got ) at 1:14'],
    ['let f = fn(a = 1, b) { a }', 'Expected Required parameter cannot follow a parameter with a default value, got ) at 1:20'],
    ['let f = { ...a, b -> a }', 'Expected Rest parameter must be the last parameter, got , at 1:15'],
    ['a not b', `${TOP}, got id(not) at 1:3`],
    ['fn f(...a, b) { }', 'Expected Rest parameter must be the last parameter, got , at 1:10'],
    ['else { }', 'Expected expression, got else at 1:1'],
    ['catch (e) { }', 'Expected expression, got catch at 1:1'],
    ['}', 'Expected expression, got } at 1:1'],
    ['let tool = 1', "Expected variable name or destructuring pattern, got 'tool' (reserved keyword) at 1:5"],
    ['let 5 = 1', 'Expected variable name or destructuring pattern, got int(5) at 1:5'],
    ['let', `${END} variable name or destructuring pattern`],
    ['let x 5', 'Expected =, got int(5) at 1:7'],
    ['let [1] = x', 'Expected element name, got int(1) at 1:6'],
    ['let {...} = x', 'Expected rest variable name, got } at 1:9'],
    ['import x', 'Expected import path string, got id(x) at 1:8'],
    ['try { } catch (1) { }', 'Expected error variable, got int(1) at 1:16'],
    ['let x: = 5', 'Expected type name, got = at 1:8'],
    ['let x = tool', 'Expected expression, got tool at 1:9'],
    ['let r = yield 1', 'Expected expression, got yield at 1:9'],
    ['a b', `${TOP}, got id(b) at 1:3`],
    ['fn f() { a b }', `${INNER}, got id(b) at 1:12`],
    ['f(1)(2)', `${TOP}, got ( at 1:5`],
    ['d["k"](x)', `${TOP}, got ( at 1:7`],
    ['a + b = c', `${TOP}, got = at 1:7`],
    ['fn f() { a?.b = 3 }', `${INNER}, got = at 1:15`],
    ['f() += 1', `${TOP}, got += at 1:5`],
    ['c ? [1] : [2]', `${TOP}, got : at 1:9`],
    ['a ? b : c ? d : e', `${TOP}, got ? at 1:11`],
    ['if a { } + 1', `${TOP}, got + at 1:10`],
    ['(1 2)', 'Expected ), got int(2) at 1:4'],
    ['[1, 2)', 'Expected expression, got ) at 1:6'],
    ['f(a ]', 'Expected expression, got ] at 1:5'],
    ['f(a', `${END} )`],
    ['f(', `${END} )`],
    ['[1, 2', `${END} ]`],
    ['xs[1', `${END} ]`],
    ['xs[1:2:3]', 'Expected ], got : at 1:7'],
    ['{ x ->', `${END} }`],
    ['{a: 1', `${END} }`],
    ['{a 1}', 'Expected :, got int(1) at 1:4'],
    ['a.require', 'Expected member name, got require at 1:3'],
    ['a.5', 'Expected member name, got int(5) at 1:3'],
    ['a.', `${END} member name`],
    ['a ? b', `${END} :`],
    ['fn 5() { }', 'Expected function name, got int(5) at 1:4'],
    ['fn f(5) { }', 'Expected parameter name, got int(5) at 1:6'],
    ['fn f(a, tool) { }', "Expected parameter name, got 'tool' (reserved keyword) at 1:9"],
    ['fn f(', `${END} )`],
    ['fn f', `${END} (`],
    ['fn f() -> int', `${END} {`],
    ['struct if { }', "Expected struct name, got 'if' (reserved keyword) at 1:8"],
    ['struct S { type: int }', "Expected field name, got 'type' (reserved keyword) at 1:12"],
    ['enum E { A, in }', "Expected variant name, got 'in' (reserved keyword) at 1:13"],
    ['import { a, if } from "x"', "Expected import name, got 'if' (reserved keyword) at 1:13"],
    ['import { a } "x"', 'Expected from, got str(x) at 1:14'],
    ['for x y { }', 'Expected in, got id(y) at 1:7'],
    ['guard x { }', 'Expected else, got { at 1:9'],
    ['match x { 1 { } }', 'Expected ->, got { at 1:13'],
    ['match x { 1 -> 2 }', 'Expected {, got int(2) at 1:16'],
    ['if x', `${END} {`],
    ['if x y', 'Expected {, got id(y) at 1:6'],
    ['spawn 5', 'Expected {, got int(5) at 1:7'],
    ['retry f() { }', 'Expected {, got ( at 1:8'],
    ['pub let x = 1', 'Expected fn, tool, skill, struct, enum, pipeline, or import after pub, got let at 1:5'],
    [
      '@a let y = 1',
      'Expected fn/tool/skill/eval_pack/pipeline/struct/enum/type/interface/impl declaration after `@attr`, got non-declaration statement at 1:4',
    ],
    ['@a\nimport "x"', 'Expected expression, got import at 2:1'],
    ['select { }', 'Unexpected end of file, expected at least one select case'],
    ['select { default { } timeout 5s { } }', 'Unexpected end of file, expected select cannot have both timeout and default'],
    [
      'eval_pack e { summarize { }\n summarize { } }',
      'Expected only one summarize block per eval_pack, got id(summarize) at 2:2',
    ],
    ['parallel settle a { } as stream', 'Expected `as stream` only after `parallel each`, got id(as) at 1:23'],
    [
      'parallel 2 with { limit: 3 } { }',
      'Expected known option (only `max_concurrent` is supported in `parallel ... with { ... }`; got `limit`), got limit at 1:19',
    ],
    ['parallel 2 with { 3 } { }', 'Expected option name in `parallel ... with { ... }` block, got int(3) at 1:19'],
    ['impl P { let x = 1 }', 'Expected fn, got let at 1:10'],
    ['impl P { pub x }', 'Expected fn, got id(x) at 1:14'],
    ['interface I { x }', 'Expected fn, got id(x) at 1:15'],
    ['interface I { type 1 }', 'Expected associated type name, got int(1) at 1:20'],
    ['@a(x: )\nfn f() {}', 'Expected attribute argument value (literal or identifier), got ) at 1:7'],
    ['@a([1, +])\nfn f() {}', 'Expected attribute argument value (literal or identifier), got + at 1:8'],
    ['@a(1 +)\nfn f() {}', 'Expected ), got + at 1:6'],
    ['@a(-x)\nfn f() {}', "Expected number after '-' in attribute argument, got id(x) at 1:5"],
    ['@a(', 'Unexpected end of file, expected attribute argument value (literal or identifier)'],
    ['for (1, b) in c {}', 'Expected pair pattern element, got int(1) at 1:6'],
    ['try {} catch (let) {}', "Expected error variable, got 'let' (reserved keyword) at 1:15"],
    ['fn f() where T: 1 {}', 'Expected type bound, got int(1) at 1:17'],
    ['fn f() where T: S\n if {}', 'Expected {, got if at 2:2'],
    ['select { 1 from c {} }', 'Expected select case variable, got int(1) at 1:10'],
    ['pipeline p() extends { }', 'Expected parent pipeline name, got { at 1:22'],
    ['skill s { a 1 b 2 }', 'Expected skill field separator (`;` or newline), got id(b) at 1:15'],
    ['skill s {', 'Unexpected end of file, expected skill field name'],
    ['fn f() { import "x" }', 'Expected expression, got import at 1:10'],
    ['fn f() { pipeline p() { } }', 'Expected expression, got pipeline at 1:10'],
    ['😀', "Unexpected character '😀' at 1:1"],
    ['"😀" x', `${TOP}, got id(x) at 1:5`],
  ])('%j', (text, expected) => {
    expect(first(text).message).toBe(expected)
  })
})

describe('tokens in messages', () => {
  test.each<[string, string]>([
    ['a 5', 'int(5)'],
    ['a 007', 'int(7)'],
    ['a 1.5', 'float(1.5)'],
    ['a 2.0', 'float(2)'],
    ['a 2s', 'duration(2000ms)'],
    ['a "x\\ty"', 'str(x\ty)'],
    ['a """x"""', 'str(x)'],
    ['a "${x}"', 'istr(...)'],
    ['a r"x\\n"', 'rstr(x\\n)'],
    ['a Foo', 'id(Foo)'],
    ['a each', 'id(each)'],
    ['a fn', 'fn'],
    ['a ->', '->'],
    ['a ...b', '.'],
    ['a { x -> 1 }', '{'],
  ])('%j', (text, expected) => {
    expect(first(text).message).toBe(`${TOP}, got ${expected} at 1:3`)
  })
})

describe('codes and hints', () => {
  test.each<[string, string, string | null]>([
    ['f(1)(2)', 'P001', 'only `name(…)` and `value.name(…)` are calls: bind the function to a name first'],
    ['const x = 1', 'P001', 'constants are declared with `let`'],
    ['a and b', 'P001', 'logical and is `&&`'],
    ['(1 2)', 'P001', 'add a closing `)` to finish this expression or parameter list'],
    ['fn f() {', 'P002', 'add a closing `}` to finish this block'],
    ['pub let x = 1', 'P001', 'use `pub fn`, `pub pipeline`, `pub enum`, or `pub struct`'],
    ['impl S { let x = 1 }', 'P001', 'also possible here: `}`, `pub`'],
    ["'a'", 'P003', 'strings are written with double quotes: `"text"`'],
    ['let x = )', 'P001', null],
    ['a + b = c', 'P014', 'only a name, a property or an index can be assigned to; compare with `==`'],
  ])('%j', (text, code, hint) => {
    const found = first(text)
    expect([found.code, found.hint]).toEqual([code, hint])
  })
})

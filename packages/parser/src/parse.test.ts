// Every construct once, as the compact text of its tree; then the rules of the grammar for line breaks, names and leniencies.

import { describe, expect, test } from 'vitest'
import { isSameProgram } from './format/same-program.js'
import { parse, parseExpression } from './parse.js'
import { SourceFile } from './source.js'
import { dump } from './test-support/dump.js'
import { listChildren, walk } from './visit.js'
import type { Node, Program } from './ast.js'

const program = (text: string): Program => {
  const result = parse(new SourceFile('test', text))
  if (result.program === null) throw new Error(result.diagnostics[0]?.message)
  return result.program
}
const stmts = (text: string): string => program(text).items.map(dump).join(' ')
const expr = (text: string): string => {
  const { expression, diagnostics } = parseExpression(text)
  if (expression === null) throw new Error(diagnostics[0]?.message)
  return dump(expression)
}
const rejects = (text: string): string => parse(new SourceFile('test', text)).diagnostics[0]?.message ?? 'accepted'

const id = (name: string): string => `Identifier(name: "${name}")`
const int = (value: number): string => `Int(value: ${value})`
const binary = (left: string, operator: string, right: string): string =>
  `Binary(operator: "${operator}" left: ${left} right: ${right})`
const A = id('a')
const B = id('b')
const C = id('c')

describe('expressions', () => {
  test.each<[string, string]>([
    ['007', int(7)],
    ['9223372036854775807', 'Int(value: 9223372036854775807n)'],
    ['9223372036854775808', 'Float(value: 9223372036854776000)'],
    ['1.5', 'Float(value: 1.5)'],
    ['1500ms', 'Duration(value: 1500)'],
    ['true', 'Bool(value: true)'],
    ['nil', 'Nil'],
    ['"a\\n"', 'String(value: "a\\n" quote: "double")'],
    ['r"a\\n"', 'String(value: "a\\\\n" quote: "raw")'],
    ['"""a"""', 'String(value: "a" quote: "triple")'],
    ['"a${b}c"', `Interpolation(parts: ["a" ${B} "c"] quote: "double")`],
    ['[a, ...b,]', `List(items: [{value: ${A}} {spread: true value: ${B}}])`],
    ['[a b\nc]', `List(items: [{value: ${A}} {value: ${B}} {value: ${C}}])`],
    ['{}', 'Dict'],
    [
      '{a: 1, "k y": 2, [b]: 3, ...c}',
      `Dict(entries: [named(key: a value: ${int(1)}) named(key: k y quoted: true value: ${int(2)}) computed(key: ${B} value: ${int(3)}) spread(value: ${C})])`,
    ],
    [
      '{type: 1\n if: 2 nil: 3}',
      `Dict(entries: [named(key: type value: ${int(1)}) named(key: if value: ${int(2)}) named(key: nil value: ${int(3)})])`,
    ],
    ['{"x${a}": 1}', `Dict(entries: [computed(key: Interpolation(parts: ["x" ${A}] quote: "double") value: ${int(1)})])`],
    ['P {}', 'StructLiteral(name: P)'],
    [
      'P {x: 1,\n"y": 2}',
      `StructLiteral(name: P entries: [named(key: x value: ${int(1)}) named(key: y quoted: true value: ${int(2)})])`,
    ],
    ['(((a)))', A],
    ['!-a', `Unary(operator: "!" operand: Unary(operator: "-" operand: ${A}))`],
    ['-2 ** 2', binary(`Unary(operator: "-" operand: ${int(2)})`, '**', int(2))],
    ['a not in b', binary(A, 'not in', B)],
    ['a in b', binary(A, 'in', B)],
    ['a ?? b > c', binary(binary(A, '??', B), '>', C)],
    ['a ? b : c', `Ternary(condition: ${A} whenTrue: ${B} whenFalse: ${C})`],
    ['a ?b\n : c', `Ternary(condition: ${A} whenTrue: ${B} whenFalse: ${C})`],
    [
      'a ? (b ? c : 1) : 2',
      `Ternary(condition: ${A} whenTrue: Ternary(condition: ${B} whenTrue: ${C} whenFalse: ${int(1)}) whenFalse: ${int(2)})`,
    ],
    ['1 to 2 + 3', `Range(from: ${int(1)} to: ${binary(int(2), '+', int(3))})`],
    ['a to b exclusive', `Range(from: ${A} to: ${B} exclusive: true)`],
    ['a |> b\n |>\n c', `Pipe(value: Pipe(value: ${A} callee: ${B}) callee: ${C})`],
    ['a to b |> c', `Pipe(value: Range(from: ${A} to: ${B}) callee: ${C})`],
    ['x in 1 to 3', `Range(from: ${binary(id('x'), 'in', int(1))} to: ${int(3)})`],
    ['a.b?.c', `Member(object: Member(object: ${A} property: b) property: c optional: true)`],
    ['a.type.in', `Member(object: Member(object: ${A} property: type) property: in)`],
    [
      'a\n  .b(1)\n  ?.c()',
      `MethodCall(object: MethodCall(object: ${A} method: b args: [{value: ${int(1)}}]) method: c optional: true)`,
    ],
    ['a[1]?[b]', `Index(object: Index(object: ${A} index: ${int(1)}) index: ${B} optional: true)`],
    ['a[1:b]', `Slice(object: ${A} start: ${int(1)} end: ${B})`],
    ['a[1:]', `Slice(object: ${A} start: ${int(1)})`],
    ['a[:b]', `Slice(object: ${A} end: ${B})`],
    ['a[:]', `Slice(object: ${A})`],
    ['f(a, ...b)', `Call(callee: f args: [{value: ${A}} {spread: true value: ${B}}])`],
    ['f(\n a\n b,\n)', `Call(callee: f args: [{value: ${A}} {value: ${B}}])`],
    ['((f))(a)', `Call(callee: f args: [{value: ${A}}])`],
    [
      'f<int, list<T>>(a)',
      `Call(callee: f typeArgs: [NamedType(name: int) NamedType(name: list args: [NamedType(name: T)])] args: [{value: ${A}}])`,
    ],
    ['a < b', binary(A, '<', B)],
    ['a < b > c', binary(binary(A, '<', B), '>', C)],
    ['f()?', 'Propagate(operand: Call(callee: f))'],
    ['f()?\n', 'Propagate(operand: Call(callee: f))'],
    ['f()? ?? a', binary('Propagate(operand: Call(callee: f))', '??', A)],
    ['[a?, b]', `List(items: [{value: Propagate(operand: ${A})} {value: ${B}}])`],
    [
      'a ? -1 : !b',
      `Ternary(condition: ${A} whenTrue: Unary(operator: "-" operand: ${int(1)}) whenFalse: Unary(operator: "!" operand: ${B}))`,
    ],
    ['try* f()?', 'TryStar(operand: Propagate(operand: Call(callee: f)))'],
    ['{ -> }', 'Closure(form: "brace" body: Block)'],
    [
      '{ a, b = 1, c: int, ...d -> a }',
      `Closure(form: "brace" params: [{name: a} {name: b defaultValue: ${int(1)}} {name: c type: NamedType(name: int)} {name: d rest: true}] body: Block(body: [ExprStmt(value: ${A})]))`,
    ],
    [
      '{ a\n b ->\n a\n b }',
      `Closure(form: "brace" params: [{name: a} {name: b}] body: Block(body: [ExprStmt(value: ${A}) ExprStmt(value: ${B})]))`,
    ],
    ['fn(a) { a }', `Closure(form: "fn" params: [{name: a}] body: Block(body: [ExprStmt(value: ${A})]))`],
    [
      'if a { b } else if b { c }\nelse { a }',
      `If(condition: ${A} then: Block(body: [ExprStmt(value: ${B})]) otherwise: If(condition: ${B} then: Block(body: [ExprStmt(value: ${C})]) otherwise: Block(body: [ExprStmt(value: ${A})])))`,
    ],
    [
      'match a { 1 | 2 -> { b } n if n -> { c }\n _ -> {} }',
      `Match(subject: ${A} arms: [{patterns: [${int(1)} ${int(2)}] body: Block(body: [ExprStmt(value: ${B})])} {patterns: [${id('n')}] guard: ${id('n')} body: Block(body: [ExprStmt(value: ${C})])} {patterns: [${id('_')}] body: Block}])`,
    ],
    [
      'try { a } catch (e: E) { b } finally { c }',
      `Try(body: Block(body: [ExprStmt(value: ${A})]) handler: {variable: e type: NamedType(name: E) body: Block(body: [ExprStmt(value: ${B})])} finalizer: Block(body: [ExprStmt(value: ${C})]))`,
    ],
    ['try { }\ncatch e { }', 'Try(body: Block handler: {variable: e body: Block})'],
    ['try { } catch { }', 'Try(body: Block handler: {body: Block})'],
    ['retry 3 { a }', `Retry(count: ${int(3)} body: Block(body: [ExprStmt(value: ${A})]))`],
    ['retry n { }', `Retry(count: ${id('n')} body: Block)`],
    ['deadline (a + 1) { }', `Deadline(duration: ${binary(A, '+', int(1))} body: Block)`],
    ['spawn { a }', `Spawn(body: Block(body: [ExprStmt(value: ${A})]))`],
    [
      'parallel 3 { i -> i }',
      `Parallel(mode: "count" subject: ${int(3)} variable: i body: Block(body: [ExprStmt(value: ${id('i')})]))`,
    ],
    [
      'parallel each a with { max_concurrent: 2 } { }  as stream',
      `Parallel(mode: "each" subject: ${A} maxConcurrent: ${int(2)} body: Block asStream: true)`,
    ],
    ['parallel settle a { x -> }', `Parallel(mode: "settle" subject: ${A} variable: x body: Block)`],
  ])('%s', (text, expected) => {
    expect(expr(text)).toBe(expected)
  })

  test.each([
    'gen',
    'each',
    'settle',
    'with',
    'max_concurrent',
    'as',
    'stream',
    'timeout',
    'default',
    'description',
    'summarize',
    'not',
    'where',
    'out',
    '_',
  ])('%s is an ordinary name', (word) => {
    expect(expr(word)).toBe(id(word))
    expect(stmts(`let ${word} = ${word}(${word}.${word})`)).toContain(`callee: ${word}`)
  })
})

describe('interpolation', () => {
  test.each(['a', 'a.b', ' a.b.c ', 'A.b', 'a.timeout', 'a.nil', 'a.match.b', `a${'.b'.repeat(150)}`])(
    'of a path of names is what the grammar makes of it: %s',
    (path) => {
      const strip = (node: unknown, from: number): unknown =>
        JSON.parse(JSON.stringify(node), (key, value: unknown) =>
          (key === 'start' || key === 'end') && typeof value === 'number' ? value - from : value,
        )
      const [text] = program(`"\${${path}}"\n`).items
      const [plain] = program(`(${path})\n`).items
      const value = text?.kind === 'ExprStmt' && text.value.kind === 'Interpolation' ? text.value.parts[0] : null
      expect(strip(value, 3)).toEqual(strip(plain?.kind === 'ExprStmt' ? plain.value : null, 1))
    },
  )

  test.each<[string, string]>([
    ['"${ a }"', `Interpolation(parts: [${A}] quote: "double")`],
    [
      '"${a.b}${f(1)}"',
      `Interpolation(parts: [Member(object: ${A} property: b) Call(callee: f args: [{value: ${int(1)}}])] quote: "double")`,
    ],
    ['"${"x${a}"}"', `Interpolation(parts: [Interpolation(parts: ["x" ${A}] quote: "double")] quote: "double")`],
    [
      '"${d["k"]}"',
      `Interpolation(parts: [Index(object: ${id('d')} index: String(value: "k" quote: "double"))] quote: "double")`,
    ],
    // What follows the first expression is ignored …
    ['"${a b}"', `Interpolation(parts: [${A}] quote: "double")`],
    ['"${a = b}"', `Interpolation(parts: [${A}] quote: "double")`],
    ['"${a : 5}"', `Interpolation(parts: [${A}] quote: "double")`],
    ['"${f(1)(2)}"', `Interpolation(parts: [Call(callee: f args: [{value: ${int(1)}}])] quote: "double")`],
    // … text that is not an expression is kept unchanged …
    ['"x${a +}y"', 'String(value: "xa +y" quote: "double")'],
    ['"${f(}"', 'String(value: "f(" quote: "double")'],
    ['"${a.}"', 'String(value: "a." quote: "double")'],
    ['"${let x}${a}"', `Interpolation(parts: ["let x" ${A}] quote: "double")`],
    ['"${a[}"', 'String(value: "a[" quote: "double")'],
    ['"${fn(a = 1, b) { a }}"', 'String(value: "fn(a = 1, b) { a }" quote: "double")'],
    ['"""${ }x"""', 'String(value: " x" quote: "triple")'],
    // … and text that cannot be tokenized becomes empty.
    ['"x${a # b}y"', 'String(value: "xy" quote: "double")'],
    [String.raw`"x${'${'}f(\"a\")}y"`, 'String(value: "xy" quote: "double")'],
  ])('%s', (text, expected) => {
    expect(expr(text)).toBe(expected)
  })

  test('spans are offsets in the file', () => {
    const [item] = program('let s = "é${a + bc}"').items
    const found: [string, string][] = []
    walk(item!, {
      enter: (node) => {
        found.push([node.kind, 'let s = "é${a + bc}"'.slice(node.span.start, node.span.end)])
      },
    })
    expect(found).toEqual([
      ['Let', 'let s = "é${a + bc}"'],
      ['Interpolation', '"é${a + bc}"'],
      ['Binary', 'a + bc'],
      ['Identifier', 'a'],
      ['Identifier', 'bc'],
    ])
  })
})

describe('statements', () => {
  test.each<[string, string]>([
    [
      'let a: int | nil = 1',
      `Let(binding: NameBinding(name: a type: UnionType(members: [NamedType(name: int) NilType])) value: ${int(1)})`,
    ],
    ['var\n a\n = 1', `Let(mutable: true binding: NameBinding(name: a) value: ${int(1)})`],
    [
      'let {a, b: c, d = 1, e: f = 2, ...r} = x',
      `Let(binding: DictBinding(fields: [{key: a} {key: b alias: c} {key: d defaultValue: ${int(1)}} {key: e alias: f defaultValue: ${int(2)}}] rest: r) value: ${id('x')})`,
    ],
    [
      'let [a, b = 1, ...r] = x',
      `Let(binding: ListBinding(items: [{name: a} {name: b defaultValue: ${int(1)}}] rest: r) value: ${id('x')})`,
    ],
    [
      'a = 1; a.b += 2\na[b] %= 3',
      `Assign(target: ${A} value: ${int(1)}) Assign(target: Member(object: ${A} property: b) operator: "+" value: ${int(2)}) Assign(target: Index(object: ${A} index: ${B}) operator: "%" value: ${int(3)})`,
    ],
    ['while a { break; continue }', `While(condition: ${A} body: Block(body: [Break Continue]))`],
    ['for a in b { }', `For(binding: NameBinding(name: a) iterable: ${B} body: Block)`],
    ['for (a, b) in c { }', `For(binding: PairBinding(first: a second: b) iterable: ${C} body: Block)`],
    ['for {a, b} in c { }', `For(binding: DictBinding(fields: [{key: a} {key: b}]) iterable: ${C} body: Block)`],
    ['for [a, b] in c { }', `For(binding: ListBinding(items: [{name: a} {name: b}]) iterable: ${C} body: Block)`],
    ['return\nreturn a; return', `Return Return(value: ${A}) Return`],
    ['throw a', `Throw(value: ${A})`],
    ['yield\nyield a', `Yield Yield(value: ${A})`],
    ['emit a', `Emit(value: ${A})`],
    ['guard a else { return }', `Guard(condition: ${A} otherwise: Block(body: [Return]))`],
    ['require a, b', `Require(condition: ${A} message: ${B})`],
    ['require a', `Require(condition: ${A})`],
    ['defer { a }', `Defer(body: Block(body: [ExprStmt(value: ${A})]))`],
    ['mutex { }', 'Mutex(body: Block)'],
    [
      'select { v from a { b } timeout 5s { } }',
      `Select(arms: [receive(variable: v channel: ${A} body: Block(body: [ExprStmt(value: ${B})])) timeout(duration: Duration(value: 5000) body: Block)])`,
    ],
    [
      'select { timeout from a { } default { } }',
      `Select(arms: [receive(variable: timeout channel: ${A} body: Block) default(body: Block)])`,
    ],
    ['if a { }\nb', `ExprStmt(value: If(condition: ${A} then: Block)) ExprStmt(value: ${B})`],
    ['if Flag { } { }', 'ExprStmt(value: If(condition: StructLiteral(name: Flag) then: Block))'],
    ['if flag { }', `ExprStmt(value: If(condition: ${id('flag')} then: Block))`],
    ['{ -> 1 }', `ExprStmt(value: Closure(form: "brace" body: Block(body: [ExprStmt(value: ${int(1)})])))`],
    ['fn(a) { }', 'ExprStmt(value: Closure(form: "fn" params: [{name: a}] body: Block))'],
  ])('%s', (text, expected) => {
    expect(stmts(text)).toBe(expected)
  })
})

describe('declarations', () => {
  test.each<[string, string]>([
    ['fn f() { }', 'FnDecl(name: f body: Block)'],
    [
      'pub fn f<T, in U, out V>(a: T = 1, ...r) -> list<T> where T: I, U: J { a }',
      `FnDecl(isPublic: true name: f typeParams: [{name: T} {name: U variance: "in"} {name: V variance: "out"}] params: [{name: a type: NamedType(name: T) defaultValue: ${int(1)}} {name: r rest: true}] returns: NamedType(name: list args: [NamedType(name: T)]) where: [{param: T bound: I} {param: U bound: J}] body: Block(body: [ExprStmt(value: ${A})]))`,
    ],
    ['gen fn f() { emit 1 }', `FnDecl(name: f isStream: true body: Block(body: [Emit(value: ${int(1)})]))`],
    ['fn f<out>() { }', 'FnDecl(name: f typeParams: [{name: out}] body: Block)'],
    ['fn\nf\n(\na,\nb\n)\n{ }', 'FnDecl(name: f params: [{name: a} {name: b}] body: Block)'],
    [
      'tool t(p: int) -> string {\n description "d"\n p\n}',
      `ToolDecl(name: t params: [{name: p type: NamedType(name: int)}] returns: NamedType(name: string) description: "d" body: Block(body: [ExprStmt(value: ${id('p')})]))`,
    ],
    ['tool t() { description }', `ToolDecl(name: t body: Block(body: [ExprStmt(value: ${id('description')})]))`],
    [
      'skill s { a 1\n b "x"; c [1] }',
      `SkillDecl(name: s fields: [{name: a value: ${int(1)}} {name: b value: String(value: "x" quote: "double")} {name: c value: List(items: [{value: ${int(1)}}])}])`,
    ],
    [
      'eval_pack e "my-id" { k: 1\n a\n summarize { b } }',
      `EvalPackDecl(name: e packId: "my-id" fields: [{name: k value: ${int(1)}}] body: [ExprStmt(value: ${A})] summarize: Block(body: [ExprStmt(value: ${B})]))`,
    ],
    ['eval_pack e { }', 'EvalPackDecl(name: e packId: "e")'],
    ['eval_pack "My-Pack 1" { }', 'EvalPackDecl(name: my_pack_1 packId: "My-Pack 1")'],
    [
      'pipeline p(a, b) -> int extends q { }',
      'PipelineDecl(name: p params: [a b] returns: NamedType(name: int) parent: q body: Block)',
    ],
    ['override o(a) { }', 'OverrideDecl(name: o params: [a] body: Block)'],
    ['import "std/x"', 'ImportDecl(name: std/x path: "std/x")'],
    ['pub import { a,\n b } from "x"', 'ImportDecl(isPublic: true name: x path: "x" names: [a b])'],
    [
      'type A<T> = {a: int, type?: T} | [int] | nil',
      'TypeDecl(name: A typeParams: [{name: T}] type: UnionType(members: [ShapeType(fields: [{name: a type: NamedType(name: int)} {name: type optional: true type: NamedType(name: T)}]) ListType(element: NamedType(name: int)) NilType]))',
    ],
    [
      'type F = fn(int, string) -> int | nil',
      'TypeDecl(name: F type: FnType(params: [NamedType(name: int) NamedType(name: string)] returns: UnionType(members: [NamedType(name: int) NilType])))',
    ],
    [
      'type L = "a" | r"b" | 1 | -2 | true',
      'TypeDecl(name: L type: UnionType(members: [LiteralType(value: "a") LiteralType(value: "b") LiteralType(value: 1) LiteralType(value: -2) LiteralType(value: true)]))',
    ],
    [
      'enum E<T> { A, B(x: int)\n C }',
      'EnumDecl(name: E typeParams: [{name: T}] variants: [{name: A} {name: B params: [{name: x type: NamedType(name: int)}]} {name: C}])',
    ],
    [
      'struct S { a: int, b?: string\n c }',
      'StructDecl(name: S fields: [{name: a type: NamedType(name: int)} {name: b optional: true type: NamedType(name: string)} {name: c}])',
    ],
    [
      'interface I<T> { type Item\n type K = int\n fn m<U>(self, x: int) -> string }',
      'InterfaceDecl(name: I typeParams: [{name: T}] assocTypes: [{name: Item} {name: K type: NamedType(name: int)}] methods: [{name: m typeParams: [{name: U}] params: [{name: self} {name: x type: NamedType(name: int)}] returns: NamedType(name: string)}])',
    ],
    [
      'impl S { pub fn m(self) { }\n fn n() { } }',
      'ImplDecl(name: S methods: [FnDecl(isPublic: true name: m params: [{name: self}] body: Block) FnDecl(name: n body: Block)])',
    ],
    [
      '@a\n@b(1, k: "v", [x, -1, 1.5, nil, true])\npub fn f() { }',
      'FnDecl(isPublic: true attributes: [{name: a} {name: b args: [{value: 1} {name: k value: "v"} {value: ["x" -1 {float: 1.5} null true]}]}] name: f body: Block)',
    ],
    ['/// top\n@a\n/// near\nfn f() { }', 'FnDecl(attributes: [{name: a}] doc: "near" name: f body: Block)'],
    ['/// doc\npub fn f() { }', 'FnDecl(isPublic: true doc: "doc" name: f body: Block)'],
  ])('%s', (text, expected) => {
    expect(stmts(text)).toBe(expected)
  })

  test('spans: pub is outside, attributes are inside', () => {
    const text = '@a pub fn f() { }\npub fn g() { }'
    expect(program(text).items.map((item) => text.slice(item.span.start, item.span.end))).toEqual([
      '@a pub fn f() { }',
      'fn g() { }',
    ])
  })
})

describe('line breaks', () => {
  test.each<[string, string]>([
    ['a\n+ b', `ExprStmt(value: ${binary(A, '+', B)})`],
    ['a\n- b', `ExprStmt(value: ${A}) ExprStmt(value: Unary(operator: "-" operand: ${B}))`],
    ['a -\n b', `ExprStmt(value: ${binary(A, '-', B)})`],
    ['a\n|| b\n&& c', `ExprStmt(value: ${binary(A, '||', binary(B, '&&', C))})`],
    ['a\n?? b', `ExprStmt(value: ${binary(A, '??', B)})`],
    ['a\n[b]', `ExprStmt(value: ${A}) ExprStmt(value: List(items: [{value: ${B}}]))`],
    ['a\n(b)', `ExprStmt(value: ${A}) ExprStmt(value: ${B})`],
    ['a \\\n - b', `ExprStmt(value: ${binary(A, '-', B)})`],
    ['f(a\n- b)', `ExprStmt(value: Call(callee: f args: [{value: ${A}} {value: Unary(operator: "-" operand: ${B})}]))`],
    ['\n\n;\n'.slice(0, 2), ''],
    ['a;\n\nb;', `ExprStmt(value: ${A}) ExprStmt(value: ${B})`],
    ['let x =\n a', `Let(binding: NameBinding(name: x) value: ${A})`],
    ['if a\n{ }', `ExprStmt(value: If(condition: ${A} then: Block))`],
  ])('%j', (text, expected) => {
    expect(stmts(text)).toBe(expected)
  })

  test.each<[string, string]>([
    ['a\nin b', 'Expected expression, got in at 2:1'],
    ['a\nto b', 'Expected expression, got to at 2:1'],
    ['a ?\n b : c', 'Expected top-level item separator (`;` or newline), got : at 2:4'],
    ['let x: int\n| nil = 1', 'Expected =, got | at 2:1'],
    ['if a { };\nelse { }', 'Expected expression, got else at 2:1'],
    ['try { };\ncatch { }', 'Expected expression, got catch at 2:1'],
    ['!\na', 'Expected expression, got \\n at 1:2'],
  ])('%j is refused', (text, expected) => {
    expect(rejects(text)).toBe(expected)
  })
})

describe('depth', () => {
  test.each<[string, (count: number) => string]>([
    ['(', (n) => '('.repeat(n) + '1' + ')'.repeat(n)],
    ['[', (n) => '['.repeat(n) + ']'.repeat(n)],
    ['f(', (n) => 'f('.repeat(n) + ')'.repeat(n)],
    ['{a: ', (n) => `let x = ${'{a: '.repeat(n)}1${'}'.repeat(n)}`],
    ['if a { ', (n) => 'if a { '.repeat(n) + '}'.repeat(n)],
    ['!', (n) => `${'!'.repeat(n)}a`],
    ['try* ', (n) => `${'try* '.repeat(n / 2)}a`],
    ['"${', (n) => '"${['.repeat(n / 2) + '1' + ']}"'.repeat(n / 2)],
  ])('%s', (_name, nest) => {
    expect(rejects(nest(90))).toBe('accepted')
    expect(rejects(nest(230))).toMatch(/^Nesting deeper than 200 levels at \d+:\d+$/)
    expect(rejects(nest(20_000))).toMatch(/^Nesting deeper than 200 levels/)
  })

  test.each<[string, (count: number) => string]>([
    ['else if', (n) => `if a { } ${'else if a { } '.repeat(n)}`],
    ['+', (n) => `a${' + a'.repeat(n)}`],
    ['.b', (n) => `a${'.b'.repeat(n)}`],
    ['|>', (n) => `a${' |> a'.repeat(n)}`],
  ])('a row of %s', (_name, row) => {
    expect(rejects(row(1000))).toBe('accepted')
    expect(rejects(row(1500))).toMatch(/^Nesting deeper than 1000 levels at \d+:\d+$/)
  })

  test('nesting without brackets is refused and does not crash', () => {
    expect(rejects(`let x: ${'fn() -> '.repeat(20_000)}int = 1`)).toMatch(/^Nesting deeper/)
    expect(rejects(`let x: ${'list<'.repeat(20_000)}`)).toMatch(/^Nesting deeper/)
  })
})

describe('hidden line breaks', () => {
  test.each<[string, string]>([
    ['a /*\n*/ b', `ExprStmt(value: ${A}) ExprStmt(value: ${B})`],
    ['a \\\nb', `ExprStmt(value: ${A}) ExprStmt(value: ${B})`],
    ['a /*\n*/ + b', `ExprStmt(value: ${binary(A, '+', B)})`],
    ['a \\\n- b', `ExprStmt(value: ${binary(A, '-', B)})`],
    ['a /*\n*/ b /*\n*/ c', `ExprStmt(value: ${A}) ExprStmt(value: ${B}) ExprStmt(value: ${C})`],
  ])('%j', (text, expected) => {
    expect(stmts(text)).toBe(expected)
  })

  test('end a statement only where it is complete', () => {
    expect(rejects('a /* */ b')).toBe('Expected top-level item separator (`;` or newline), got id(b) at 1:9')
    expect(rejects('let x /*\n*/ y')).toBe('Expected =, got id(y) at 2:4')
  })
})

test('an expression alone', () => {
  expect(parseExpression('a +').diagnostics[0]?.message).toBe('Unexpected end of file, expected expression')
  expect(parseExpression('').diagnostics[0]?.message).toBe('Unexpected end of file, expected expression')
  expect(parseExpression('let a = 1').diagnostics[0]?.message).toBe('Expected expression, got let at 1:1')
})

test('children come in source order, and walk visits all of them', () => {
  const text = 'fn f(a = 1) { match a { b if c -> { [d, ...e] } } }\nlet {x = g} = {k: h, [i]: j}'
  const tree = program(text)
  const seen: Node[] = []
  walk(tree, { enter: (node) => void seen.push(node) })
  expect(seen.flatMap((node) => (node.kind === 'Identifier' ? [node.name] : []))).toEqual([
    'a',
    'b',
    'c',
    'd',
    'e',
    'g',
    'h',
    'i',
    'j',
  ])
  for (const node of seen) {
    const starts = listChildren(node).map((child) => child.span.start)
    expect(starts).toEqual(starts.toSorted((a, b) => a - b))
  }
})

test.each([
  ['let y = {..x}', 'let y = {...x}'],
  ['let y = {a: 1, ..x, b: 2}', 'let y = {a: 1, ...x, b: 2}'],
  ['let y = {\n  ..x,\n  ..z,\n}', 'let y = {\n  ...x,\n  ...z,\n}'],
  ['let {a, ..rest} = x', 'let {a, ...rest} = x'],
])('two points spread a dict as three do: %s', (short, long) => {
  const [one, other] = [short, long].map((text) => parse(new SourceFile('dict', `${text}\n`)).program)
  expect(one).not.toBeNull()
  expect(isSameProgram(one!, other!)).toBe(true)
})

test.each(['let y = [..x]', 'let y = 1..2', 'f(..x)', 'let y = {a: ..x}', 'let y = {a..x}'])(
  'elsewhere they are an error: %s',
  (text) => {
    expect(parse(new SourceFile('dict', `${text}\n`)).program).toBeNull()
  },
)

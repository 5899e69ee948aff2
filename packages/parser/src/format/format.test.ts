import { describe, expect, test } from 'vitest'
import { lex } from '../lexer.js'
import { parse } from '../parse.js'
import { SourceFile } from '../source.js'
import { randomProgram } from '../test-support/random-program.js'
import { TOKEN } from '../tokens.js'
import { format, print } from './format.js'
import { canonical } from './same-program.js'
import type { FormatOptions } from './layout.js'

function formatText(text: string, options: FormatOptions = {}): string {
  const result = format(new SourceFile('test', text), options)
  if (result.kind === 'failed') throw new Error(result.diagnostics[0]?.message)
  return result.text
}

/** Formatting is idempotent; this is checked for each row. */
function check(text: string, expected: string, options: FormatOptions = {}): void {
  expect(formatText(text, options)).toBe(expected)
  expect(formatText(expected, options)).toBe(expected)
}

/** Lines of a body, in a function. */
const inBody = (...lines: string[]): string => `fn f() {\n${lines.map((line) => `${line}\n`).join('')}}\n`
const body = (...lines: string[]): string => inBody(...lines.map((line) => `  ${line}`))

describe('top level', () => {
  test.each<[string, string, string]>([
    ['an empty file', '', ''],
    ['one empty line between items', 'let a=1;let b=2\n\n\n\nfn c(){}', 'let a = 1\n\nlet b = 2\n\nfn c() {\n}\n'],
    ['a first line for the shell', '#!/usr/bin/env bridle\nlet a = 1', '#!/usr/bin/env bridle\nlet a = 1\n'],
    [
      'imports are sorted, the library first',
      'import "b"\nimport { z, y } from "std/json"\n\nimport "a"\nimport { q } from "a"\nimport "std/json"\nlet x = 1',
      'import "std/json"\nimport { y, z } from "std/json"\nimport "a"\nimport { q } from "a"\nimport "b"\n\nlet x = 1\n',
    ],
    [
      'comments go with their import',
      '// of b\nimport "b" // and here\nimport "a"',
      'import "a"\n// of b\nimport "b" // and here\n',
    ],
    ['a header stays first', '// header\n\nimport "b"\nimport "a"', '// header\n\nimport "a"\nimport "b"\n'],
    [
      'documentation of the file stays first',
      '/** Header. */\nimport "b"\n// of a\nimport "a"',
      '/** Header. */\n\n// of a\nimport "a"\nimport "b"\n',
    ],
    [
      'a comment of several lines stays first',
      '// This file\n// does things.\nimport "b"\nimport "a"',
      '// This file\n// does things.\n\nimport "a"\nimport "b"\n',
    ],
    [
      'a header of sorted imports stays where it is',
      '// One\n// two.\nimport "a"\nimport "b"',
      '// One\n// two.\nimport "a"\nimport "b"\n',
    ],
    ['a pragma stays first', '// @bridle grants\nimport "b"\nimport "a"', '// @bridle grants\n\nimport "a"\nimport "b"\n'],
    [
      'grants',
      '// @bridle grants\nuse tool a.b@1.2 as T\ngrant T path "x" max 3\ngrant T {a:1}\nbind effect http to T\nT(x:1,y:[2,],)',
      '// @bridle grants\nuse tool a.b@1.2 as T\ngrant T path "x" max 3\ngrant T {a: 1}\nbind effect http to T\n\nT(x: 1, y: [2])\n',
    ],
    ['public imports keep their word', 'pub import { b, a } from "x"', 'pub import { a, b } from "x"\n'],
    ['documentation becomes a block', '/// one\n/// two\nfn f() {}', '/**\n * one\n * two\n */\nfn f() {\n}\n'],
    ['short documentation is one line', '/** one\n */\nfn f() {}', '/** one */\nfn f() {\n}\n'],
    ['empty documentation', '///\nfn f() {}', '/** */\nfn f() {\n}\n'],
    ['a comment set apart stays apart', '// licence\n\n// about f\nfn f() {}', '// licence\n\n// about f\nfn f() {\n}\n'],
    ['a comment at the end', 'let a = 1\n// end\n', 'let a = 1\n\n// end\n'],
    ['documentation behind an attribute', '@test\n/// doc\npipeline p() {}', '@test\n/** doc */\npipeline p() {\n}\n'],
  ])('%s', (_, text, expected) => check(text, expected))

  const bar = `// ${'-'.repeat(77)}`
  test.each<[string, string]>([
    ['let a = 1\n// ------\nlet b = 2', `let a = 1\n\n${bar}\n\nlet b = 2\n`],
    ['// ---- Title ----\nlet b = 2', `${bar}\n// Title\n${bar}\n\nlet b = 2\n`],
    ['// -----\n// Title\n// -----\nlet b = 2', `${bar}\n// Title\n${bar}\n\nlet b = 2\n`],
  ])('bars over sections: %j', (text, expected) => check(text, expected))

  test('the width of bars', () => {
    check('// ------\nlet a = 1', '// -------\n\nlet a = 1\n', { separatorWidth: 10 })
  })
})

describe('comma sequences', () => {
  test.each<[string, string, string]>([
    ['fits', 'f(aaa, bbb)', 'f(aaa, bbb)\n'],
    ['too long', 'f(aaaaaaaa, bbbbbbbbb)', 'f(\n  aaaaaaaa,\n  bbbbbbbbb,\n)\n'],
    ['the indentation does not count', '[aaaaaaaaaaaaaa, b]', '[aaaaaaaaaaaaaa, b]\n'],
    ['bytes are counted', '["ééééééé", "b"]', '[\n  "ééééééé",\n  "b",\n]\n'],
    ['an item with lines', '[fn() { a\nb }]', '[\n  fn() {\n    a\n    b\n  },\n]\n'],
    ['comments', '[1, // one\n2]', '[\n  1, // one\n  2,\n]\n'],
    ['comments at the brackets', '[ // list\n  1\n  // end\n]', '[ // list\n  1,\n  // end\n]\n'],
    ['dict', '{a: 1, "b c": 2, "d": 3, ["e"]: 4}', '{\n  a: 1,\n  ["b c"]: 2,\n  d: 3,\n  e: 4,\n}\n'],
    ['struct literal', 'P {a: 1, "b": 2}', 'P {a: 1, b: 2}\n'],
    ['parameters', 'fn ff(aaaaaa, bbbbbbb) {}', 'fn ff(\n  aaaaaa,\n  bbbbbbb,\n) {\n}\n'],
    ['names of an import', 'import { aaa, bbb } from "c"', 'import {\n  aaa,\n  bbb,\n} from "c"\n'],
  ])('%s', (_, text, expected) => check(text, expected, { lineWidth: 20 }))
})

describe('expressions', () => {
  test.each<[string, string]>([
    ['(1 + 2) * 3', '(1 + 2) * 3'],
    ['(1 * 2) + 3', '1 * 2 + 3'],
    ['1 - (2 - 3)', '1 - (2 - 3)'],
    ['2 ** (3 ** 4)', '2 ** 3 ** 4'],
    ['(2 ** 3) ** 4', '(2 ** 3) ** 4'],
    ['a && b || c', '(a && b) || c'],
    ['a && (b || c)', 'a && (b || c)'],
    ['!(a == b)', '!(a == b)'],
    ['(c ? a : b) + 1', '(c ? a : b) + 1'],
    ['(1 to 3) == q', '(1 to 3) == q'],
    ['(try* e) + 1', '(try* e) + 1'],
    ['{-> 1}', '{ -> 1 }'],
    ['{ x->x }', '{ x -> x }'],
    ['fn(a){a}', 'fn(a) { a }'],
    ['"a\\u${ x }\\${y}"', '"a\\\\u${ x }\\${y}"'],
    ['r"a\\b"', 'r"a\\b"'],
    ['1d', '24h'],
    ['90s', '90s'],
    ['120s', '2m'],
    ['0s', '0ms'],
    ['1.50', '1.5'],
    ['x [ 1 ]', 'x[1]'],
    ['f<int>( x )', 'f<int>(x)'],
  ])('%s', (text, expected) => check(`let v = ${text}`, `let v = ${expected}\n`))

  test('strings over several lines are copied', () => {
    check('let s = """\n    a  \n  b"""', 'let s = """\n    a  \n  b"""\n')
  })

  test.each<[string, string]>([
    ['primary() ??\n  secondary() ?? "none"', 'primary()\n    ?? secondary()\n    ?? "none"'],
    ['a +\n  b', 'a\n    + b'],
    ['a -\n  b', 'a \\\n    - b'],
    ['a // why\n  + b', 'a // why\n    + b'],
    ['a - // why\n  b', 'a - // why\n    b'],
    ['x |>\n  f', 'x\n    |> f'],
    ['a.b()\n.c().d()', 'a.b()\n    .c().d()'],
    ['a // of a\n// of b\n.b()', 'a // of a\n    // of b\n    .b()'],
    [
      'if a { 1 } else if b { 2 } else { 3 }',
      'if a {\n    1\n  } else {\n    if b {\n      2\n    } else {\n      3\n    }\n  }',
    ],
  ])('over lines: %j', (text, expected) => check(inBody(`let v = ${text}`), inBody(`  let v = ${expected}`)))

  test('a call whose arguments take several lines goes on the next line', () => {
    check(inBody('xs.each({ x -> a(x)\n b(x) })'), body('xs', '  .each(', '  { x ->', '    a(x)', '    b(x)', '  },', ')'))
  })

  test('operators break at the width, which includes the indentation', () => {
    check(inBody('aaaa + bbbb'), body('aaaa', '  + bbbb'), { lineWidth: 12 })
    check(inBody('aaaa + bbbb'), body('aaaa + bbbb'), { lineWidth: 13 })
  })
})

describe('statements', () => {
  test.each<[string, readonly string[]]>([
    ['a();b()', ['a()', 'b()']],
    ['a()\n\n\nb()', ['a()', 'b()']],
    ['while (c) { }', ['while c {', '}']],
    ['if (a) { b } else { if c { d } }', ['if a {', '  b', '} else if c {', '  d', '}']],
    ['if a { b } // x\nelse { c }', ['if a {', '  b', '} else {', '  // x', '  c', '}']],
    [
      'match v { 1 | 2 if v > 1 -> { a } _ -> { throw b } }',
      ['match v {', '  1 | 2 if v > 1 -> { a }', '  _ -> {', '    throw b', '  }', '}'],
    ],
    ['try { a } catch e { b } finally { c }', ['try {', '  a', '} catch (e) {', '  b', '} finally {', '  c', '}']],
    [
      'parallel each xs with { max_concurrent: 2 } { x -> x } as stream',
      ['parallel each xs with { max_concurrent: 2 } { x ->', '  x', '} as stream'],
    ],
    ['let {a,b:c=1,...r} = d', ['let {a, b: c = 1, ...r} = d']],
    ['for (k,v) in d { }', ['for (k, v) in d {', '}']],
    ['a() // x\n// y\nb() /* z */', ['a() // x', '// y', 'b() /* z */']],
    ['a()\n// end', ['a()', '// end']],
    ['let a = // why\n 1', ['// why', 'let a = 1']],
    ['x+=1', ['x += 1']],
    ['retry 3 { a }', ['retry 3 {', '  a', '}']],
    [
      'select { v from ch { a } timeout 5s { b } }',
      ['select {', '  v from ch {', '    a', '  }', '  timeout 5s {', '    b', '  }', '}'],
    ],
  ])('%j', (text, lines) => check(inBody(text), body(...lines)))

  test('a comment after the brace stays there', () => {
    check('fn f() { // why\n  a\n}', 'fn f() { // why\n  a\n}\n')
  })
})

describe('declarations', () => {
  test.each<[string, string]>([
    [
      'pub gen fn g<T,out U>(a:int,b=2,...r)->Stream<int> where T:I,U:J{emit 1}',
      'pub gen fn g<T, out U>(a: int, b = 2, ...r) -> Stream<int> where T: I, U: J {\n  emit 1\n}\n',
    ],
    ['pipeline p(a,b)->int extends q{}', 'pipeline p(a, b) -> int extends q {\n}\n'],
    ['struct S{a?:int,b}', 'struct S {\n  a?: int\n  b\n}\n'],
    ['enum E<T>{A,B(x:int,y:T) // b\n}', 'enum E<T> {\n  A\n  B(x: int, y: T) // b\n}\n'],
    ['interface I{fn f(self)->int\ntype T=int}', 'interface I {\n  type T = int\n  fn f(self) -> int\n}\n'],
    ['impl S{fn a(self){}\n\nfn b(self){}}', 'impl S {\n  fn a(self) {\n  }\n  fn b(self) {\n  }\n}\n'],
    ['type A<T> =[T]|{a?:T}', 'type A<T> = list<T> | {a?: T}\n'],
    ['tool t(a:int)->string{description "d"\na}', 'tool t(a: int) -> string {\n  description "d"\n  a\n}\n'],
    ['skill s{short "x"\ntools [a]}', 'skill s {\n  short "x"\n  tools [a]\n}\n'],
    ['eval_pack p "id"{a:1;b();summarize{c}}', 'eval_pack p "id" {\n  a: 1\n  b()\n  summarize {\n    c\n  }\n}\n'],
    ['eval_pack "My Pack"{}', 'eval_pack "My Pack" {\n}\n'],
    ['@complexity( allow )\n@test(a:[1,b,],"c") pub fn f(){}', '@complexity(allow)\n@test(a: [1, b], "c")\npub fn f() {\n}\n'],
  ])('%j', (text, expected) => check(text, expected))
})

test('source that does not parse is left unchanged', () => {
  expect(format(new SourceFile('test', 'let = 1'))).toMatchObject({ kind: 'failed', diagnostics: [{ code: 'P001' }] })
})

describe('random programs with comments anywhere', () => {
  /** A small generator, so that a seed gives the same positions everywhere. */
  function chance(seed: number): () => number {
    let state = seed * 2_654_435_761
    return () => {
      state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x297a2d39) | 0
      return (state >>> 8) / 2 ** 24
    }
  }

  /** Block comments may be between any two tokens, line comments where a line ends. */
  function withComments(text: string, seed: number): string {
    const random = chance(seed)
    const { starts, units } = lex(text)
    let result = ''
    let from = 0
    for (const [at, start] of starts.entries()) {
      result += text.slice(from, start)
      from = start
      if (random() > 0.1) continue
      result += units.charCodeAt(at) === TOKEN['\n'] ? ` // c${at}` : ` /* c${at} */ `
    }
    return result + text.slice(from)
  }

  const listComments = (text: string): string[] =>
    lex(text)
      .comments.map((comment) => text.slice(comment.start, comment.end))
      .sort()

  test.each([1, 2, 3, 4])('seeds %d000 and up', (thousand) => {
    for (let seed = thousand * 1000; seed < thousand * 1000 + 50; seed += 1) {
      const text = withComments(print(randomProgram(seed)), seed)
      const before = parse(new SourceFile('before', text))
      if (before.program === null) continue // a comment between `-` and its operand, say, may end a statement
      const result = formatText(text)
      const after = parse(new SourceFile('after', result))
      const about = `seed ${seed}\n${text}\n----\n${result}`
      expect(after.diagnostics, about).toEqual([])
      expect(canonical(after.program), about).toEqual(canonical(before.program))
      expect(
        listComments(result).filter((one) => /c\d+/.test(one)),
        about,
      ).toEqual(listComments(text).filter((one) => /c\d+/.test(one)))
      expect(formatText(result), about).toBe(result)
    }
  })
})

// Findings of the pass, by line and code, and the results of its repairs; the scripts of conformance/mistakes show the rest.

import { applyFixes, parse, SourceFile } from '@bridle/parser'
import { expect, test } from 'vitest'
import { findMistakes } from './mistakes.js'

function check(text: string): { readonly found: string[]; readonly fixed: string } {
  const file = new SourceFile('script', text)
  const { program, diagnostics } = parse(file)
  expect(diagnostics).toEqual([])
  const found = findMistakes(program!, { file }) // it parses
  return {
    found: found.map(({ code, span }) => `${file.lineAt(span.start)} ${code}`),
    fixed: applyFixes(text, found).text,
  }
}

const WRONG: readonly (readonly [text: string, found: string, fixed?: string])[] = [
  // ---- values that are lost
  ['fn f(a) {\n  a + 1\n}', '2 M001', 'fn f(a) {\n  return a + 1\n}'],
  ['impl P {\n  fn f(self) {\n    self.x\n  }\n}', '3 M001', 'impl P {\n  fn f(self) {\n    return self.x\n  }\n}'],
  ['fn f(n) {\n  if n { 1 } else { 2 }\n}', '2 M001', 'fn f(n) {\n  return if n { 1 } else { 2 }\n}'],
  ['fn f(n) {\n  match n { 1 -> { "a" } _ -> { throw "x" } }\n}', '2 M001'],
  ['fn f(p) {\n  read_file(p)\n}\nprintln(f("a"))', '2 M001', 'fn f(p) {\n  return read_file(p)\n}\nprintln(f("a"))'],
  ['fn f(p) -> string {\n  read_file(p)\n}', '2 M001'],
  ['tool t(x: int) -> int {\n  x * 2\n}', '2 M010', 'tool t(x: int) -> int {\n  return x * 2\n}'],
  ['var xs = [1]\nxs.push(4)', '2 M002', 'var xs = [1]\nxs = xs.push(4)'],
  ['var s = {a: []}\ns.a.push(4)', '2 M002', 'var s = {a: []}\ns.a = s.a.push(4)'],
  ['let xs = [1]\nxs.push(4)', '2 M002', 'var xs = [1]\nxs = xs.push(4)'],
  ['for x in [1] { abs(x) }', '1 M002'],
  ['var a = 1\na == 2', '2 M003', 'var a = 1\na = 2'],
  ['var a = 1\na + 2', '2 M003'],
  // ---- control flow
  ['fn f(x) {\n  match x { 1 -> { return 1 } _ -> { throw 2 } }\n  println(1)\n}', '3 M004'],
  ['while true {\n  println(1)\n}\nprintln(2)', '4 M004'],
  ['let x = 1\nif x == 1 || 2 { println(1) }', '2 M005'],
  ['fn ready() { return true }\nif ready { println(1) }', '2 M006'],
  ['println({a: 1, a: 2})', '1 M007'],
  ['let n = 1\nprintln(n / 0)', '2 M008'],
  ['let n = 1\nprintln(n < n)', '2 M009'],
  ['let a = 1\nif a == 1 && a == 2 { println(1) }', '2 M005'],
  ['let a = 1\nif a != 1 || a != 2 { println(1) }', '2 M005'],
  ['let a = 1\nif a == 1 { println(1) } else if a == 1 { println(2) }', '2 M005'],
  ['if len("a") < 0 { println(1) }', '1 M005'],
  ['match 1 { _ -> { println(1) } 1 -> { println(2) } }', '1 M004'],
  ['fn f(x) -> int {\n  if x { return 1 }\n}\nprintln(f(1))', '1 M014'],
  ['fn f() -> string {\n  println(1)\n}\nprintln(f())', '1 M014'],
  ['if now_ms { println(1) }', '1 M006'],
  // ---- strings
  ['let n = 1\nprintln("a $n")', '2 M011', 'let n = 1\nprintln("a ${n}")'],
  ['let n = 1\nprintln("a #{n}")', '2 M011', 'let n = 1\nprintln("a ${n}")'],
  ['let n = 1\nprintln("a {n} ${n}")', '2 M011', 'let n = 1\nprintln("a ${n} ${n}")'],
  ['let n = 1\nprintln("n = %d" % n)', '2 M012', 'let n = 1\nprintln("n = ${n}")'],
  ['let n = 1\nprintln("n = {}", n)', '2 M013', 'let n = 1\nprintln("n = ${n}")'],
  // ---- names
  ['println(null)', '1 M020', 'println(nil)'],
  ['println(True)', '1 M020', 'println(true)'],
  ['println(str(4))', '1 M020', 'println(to_string(4))'],
  ['console.log(1)', '1 M020', 'println(1)'],
  ['println(JSON.parse("1"))', '1 M020', 'println(json_parse("1"))'],
  ['println(Math.PI)', '1 M020', 'println(pi)'],
  ['println(sorted([1]))', '1 M020', 'println([1].sort())'],
  ['let n = 1\nprintln(f"a {n}")', '2 M020', 'let n = 1\nprintln("a ${n}")'],
  ['struct P { x: int }\nprintln(P(1))', '2 M020', 'struct P { x: int }\nprintln(P {x: 1})'],
  ['println([1].length)', '1 M021', 'println([1].count)'],
  ['println("a".toUpperCase())', '1 M021', 'println("a".uppercase())'],
  ['struct P { x: int }\nlet p = P {x: 1}\nprintln(p["x"])', '3 M022', 'struct P { x: int }\nlet p = P {x: 1}\nprintln(p.x)'],
  ['let a = 1;\nprintln(a)', '1 M023', 'let a = 1\nprintln(a)'],
  ['let d = {a: 1}\nfor k in d.keys { println(k) }', '2 M024', 'let d = {a: 1}\nfor k in d.keys() { println(k) }'],
]

test.each(WRONG.map(([text, wanted, wantedText]) => ({ text, wanted, wantedText })))('$text', ({ text, wanted, wantedText }) => {
  const { found, fixed } = check(text)
  expect(found).toEqual([wanted])
  if (wantedText !== undefined) expect(fixed).toBe(wantedText)
})

const RIGHT: readonly string[] = [
  // A closure returns its last value, and so do blocks whose value is used.
  'let f = { x -> x + 1 }\nprintln(f(1))',
  'let n = 1\nlet x = if n == 2 { 1 } else { 2 }\nprintln(x)',
  'println(try { to_int("x") } catch (e) { 0 })',
  // The result of these is not needed, or is nil.
  'fn f() { println(1) }\nf()',
  'fn f(p) { write_file(p, "a") }\nlet x = f("a")\nprintln(x)',
  // A declared method, a field that is a function, a function with side effects.
  'struct S { x: int }\nimpl S { fn push(self, x) { println(x) } }\nlet s = S {x: 1}\ns.push(3)',
  'let d = {push: { x -> println(x) }}\nd.push(3)',
  'let xs = [1]\nxs.map({ x -> println(x) })',
  'try { to_int("x") } catch (e) { println(e) }',
  'gen fn g() { emit 1 }\nprintln(g().to_list())',
  // Loops that end, arms that do not all leave.
  'while true { break }\nprintln(1)',
  'fn f(x) { match x { 1 -> { return 1 } _ -> { } }\n return 2 }\nprintln(f(1))',
  'println({a: 1, ...{a: 2}, a: 3})',
  'println(1.0 / 0)',
  'println(try { 1 / 0 } catch (e) { e })',
  // Text that is intended.
  'let name = "x"\nprintln(exec("echo $name"))',
  'let name = "x"\nprintln("costs \\$name and $HOME, {other}")',
  'let a = 1\nprintln("{\\"a\\": 1}", a)',
  'println(format("{} and {}", 1, 2))',
  // Names that the file declares.
  'fn str(x) { return x }\nprintln(str(1))',
  'let console = {log: { x -> println(x) }}\nconsole.log(1)',
  'let d = {length: 3}\nprintln(d.length)',
  'struct P { x: int }\nlet fields = {x: 1}\nprintln(P(fields))',
]

test.each(RIGHT)('no finding in %j', (text) => {
  expect(check(text).found).toEqual([])
})

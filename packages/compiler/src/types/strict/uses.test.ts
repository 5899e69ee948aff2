// Uses of values whose types are known: what is found, and above all what stays silent.

import { describe, expect, test } from 'vitest'
import { check, diagnose } from '../test-support/check-source.js'

const full = { strictness: 'full' } as const

const FOUND: readonly (readonly [source: string, finding: string])[] = [
  ['"a".toUpperCase()', 'E string has no method `toUpperCase` — did you mean `uppercase`?'],
  ['[1].pushh(3)', 'E list has no method `pushh` — did you mean `push`?'],
  ['let n = 4\nn.toFixed(2)', 'E int has no method `toFixed`'],
  ['var xs = [1]\nxs = xs.append(3)', 'E list<int> | nil has no method `append` — did you mean `push`?'],
  [
    'struct C { n: int }\nimpl C { fn next(self) { return 1 } }\nC {n: 1}.nxt()',
    'E C has no method `nxt` — did you mean `next`?',
  ],
  ['println("abc".lenght)', 'E string has no property `lenght`'],
  ['struct R { id: int }\nlet rs: list<R> = [R {id: 1}]\nfor r in rs { println(r.ident) }', 'E R has no property `ident`'],
  ['let c = {host: "a", port: 80}\nprintln(c.prot)', 'E the dict has no property `prot` — did you mean `port`?'],
  ['type T = {total: float}\nfn f(t: T) { println(t.totl) }', 'E T has no property `totl` — did you mean `total`?'],
  ['println("sum:", 3)', 'E `println` takes 1 argument, got 2'],
  ['fn add(a, b) { return a + b }\nadd(1, 2, 3)', 'E `add` takes 2 arguments, got 3'],
  ['let add = { a, b -> a + b }\nadd(1)', 'E `add` takes 2 arguments, got 1'],
  ['enum E { V(x, y) }\nprintln(E.V(1))', 'E `E.V` takes 2 arguments, got 1'],
  ['split(",", ["a"])', 'E `split` takes string for `sep`, got list'],
  ['to_int(["4"])', 'E `to_int` takes a number or a string for `value`, got list'],
  ['llm_call("hi", nil, {max_token: 5})', 'E `llm_call` has no option `max_token` — did you mean `max_tokens`?'],
  ['llm_call("hi", nil, {max_tokens: "5"})', 'E option `max_tokens` of `llm_call` is int, got string'],
  ['let n = 3\nprintln(n == "3")', 'E int and string are never equal: `==` is always false'],
  ['println(len([1]) != "2")', 'E int and string are never equal: `!=` is always true'],
  ['for i in len([1]) { println(i) }', 'E cannot loop over int'],
  ['let name = "a"\nname()', 'E `name` is string and cannot be called'],
  ['fn log_it(x) { println(x) }\nlet n = log_it(3) + 1', 'E `log_it` returns no value, so its result is always nil'],
  ['println(1 in 12)', 'E nothing is ever in int'],
  ['println("${"a" * "b"}")', "E can't multiply string and string (try string * int)"],
]

const SILENT: readonly string[] = [
  'let d = {a: 1}\nprintln(d.missing ?? 2)',
  'fn f(x) { return x.anything }\nprintln(f(1))',
  'var x = nil\nx = [1]\nprintln(x.count)\nprintln(x.count())',
  'var d = {a: 1}\nd.b = 2\nprintln(d.b)',
  'let d = json_parse("{}")\nprintln(d.a == 1)',
  'println(1 == 1.0)\nprintln([1] == [1.0])',
  'let n: int | nil = nil\nprintln(n == nil)\nfn g(n: int) { return n }\nif n != nil { println(g(n)) }',
  'println()\nlog()',
  'let f = { ...xs -> xs }\nprintln(f(1, 2, 3))',
  'fn opt(a, b = 2) { return a + b }\nprintln(opt(1))',
  'fn run(f) { return f(1) }\nprintln(run({ x -> x }))',
  'println(read_file("x").split("\\n").map({ line -> line.trim() }).filter({ line -> !line.empty }).count())',
  'fn log_it(x) { println(x) }\nlog_it(1)\n[1].map({ x -> log_it(x) })',
  'for (k, v) in {a: 1} { println("${k}${v}") }\nfor c in "abc" { println(c.uppercase()) }',
  'let {a} = {a: "x"}\nprintln(a == 1)',
  'struct S { f: closure }\nprintln(S {f: { -> 1 }}.f())',
  'match [1].first() { 1 -> { println(1) } _ -> { println(2) } }',
]

describe('uses', () => {
  test.each(FOUND)('%s', (source, finding) => {
    expect(check(source, { ...full, imports: () => null })).toContain(finding)
  })

  test.each(SILENT)('nothing in %s', (source) => {
    expect(check(source, full)).toEqual([])
  })

  test('nothing of it stops a run', () => {
    for (const [source] of FOUND) {
      expect(diagnose(source).filter(({ code }) => code >= 'T080' && code < 'T100')).toEqual([])
    }
  })

  test('one near name is a repair', () => {
    const [finding] = diagnose('[1].pushh(3)', full)
    expect(finding?.fix?.edits).toEqual([{ span: { start: 4, end: 9 }, text: 'push' }])
  })

  test('a long chain of variables takes no long time', () => {
    const lines = Array.from({ length: 400 }, (_, at) => `var v${at + 1} = 1\nv${at + 1} = v${at} + v${at}`)
    expect(check(`var v0 = 1\n${lines.join('\n')}`, full)).toEqual([])
  })
})

// Uses of values whose types are known: findings, and above all the absence of false positives.

import { describe, expect, test } from 'vitest'
import { check, diagnose } from '../test-support/check-source.js'

const full = { strictness: 'full' } as const

const FOUND: readonly (readonly [source: string, finding: string])[] = [
  ['"a".toUpperCase()', 'E string has no method `toUpperCase` — did you mean `uppercase`?'],
  ['[1].pushh(3)', 'E list has no method `pushh` — did you mean `push`?'],
  ['let n = 4\nn.toFixed(2)', 'E int has no method `toFixed`'],
  ['var xs = [1]\nxs = xs.append(3)', 'E list has no method `append` — did you mean `push`?'],
  [
    'struct C { n: int }\nimpl C { fn next(self) { return 1 } }\nC {n: 1}.nxt()',
    'E C has no method `nxt` — did you mean `next`?',
  ],
  [
    'enum S { A(x), B(y) }\nfn f(s: S) { return match s { S.A(x) -> { x } } }\nprintln(f(S.A(1)))',
    'E Non-exhaustive match on enum S: missing variants "B"',
  ],
  [
    'struct D { n: string }\nimpl D { fn bark(self) { println(self.n) } }\nlet d = D.new("x")',
    'E `D` is a struct, and `new` is called on its values only',
  ],
  ['let ch = channel("c")\nch.send(1)', 'E channel has no method `send` — did you mean `send(ch, 1)`?'],
  ['let t = spawn { 1 }\nprintln(t.result())', 'E task_handle has no method `result` — did you mean `await(t)`?'],
  ['println("abc".lenght)', 'E string has no property `lenght` — did you mean `count`?'],
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
  ['[1, 2].map({ a, b -> a })', 'E `list.map` calls its function with 1 argument, not 2'],
  ['let xs = ["a"]\nprintln(xs.map({ x -> x.uper() }))', 'E string has no method `uper` — did you mean `upper`?'],
  ['parallel each ["a"] { x -> x.uper() }', 'E string has no method `uper` — did you mean `upper`?'],
  ['struct P { x: int }\nimpl P { fn f(self) { return self.y } }\nprintln(P {x: 1}.f())', 'E P has no property `y`'],
  ['struct P { x: int }\nlet ps = [P {x: 1}]\nprintln(ps[0].y)', 'E P has no property `y`'],
  ['struct P { x: int }\nfn f(p: P) { return p["x"] }\nprintln(f(P {x: 1}))', 'E P has no items to index'],
  ['println({a: 1}.b)', 'E the dict has no property `b`'],
  ['let d = {name: 1}\nprintln(d["nmae"])', 'E the dict has no property `nmae` — did you mean `name`?'],
  ['println([1]["a"])', 'E an index of list is int, got string'],
  ['println([1, 2][5])', 'E the list has 2 items: there is nothing at this position'],
  ['println(to_int("four"))', 'E `to_int` takes the text of a number for `value`, got "four"'],
  ['println(to_int(true))', 'E `to_int` takes a number or a string for `value`, got bool'],
  ['println(len(5))', 'E `len` takes string | list | dict | set | bytes | range | nil for `value`, got int'],
  ['for c in "abc" { println(c) }', 'E cannot loop over string'],
  ['var x: int = 1\nx = "a"', "E can't assign string to 'x' (declared as int)"],
  ['let x: "a" | "b" = "c"\nprintln(x)', 'E \'x\' declared as "a" | "b", but assigned string'],
  ['fn f(n: int = "a") { return n }\nprintln(f())', "E can't assign string to 'n' (declared as int)"],
  ['struct P { x: int }\nvar p = P {x: 1}\np.x = "a"', "E can't assign string to 'x' (declared as int)"],
  ['enum E { V(x: int) }\nprintln(E.V("a"))', "E Argument 1 ('x'): expected int, got string"],
  ['var s = "a"\ns += 1', "E can't add string and int"],
  ['println([1] * 2)', "E can't multiply list and int (try string * int)"],
  ['println(-"a")', 'E `-` of string is an error'],
  ['println(1 |> 2)', 'E a pipe calls what is behind it, and int cannot be called'],
  ['println("${now_ms}")', 'E `now_ms` is a function and not its result: call it'],
  ['println(now_ms + 1)', 'E a function is no operand: call it'],
  ['if type_of(1) == "integer" { println(1) }', 'E `type_of` never gives "integer" — did you mean `int`?'],
  [
    'match type_of(1) { "array" -> { println(1) } _ -> { println(2) } }',
    'E `type_of` never gives "array" — did you mean `list`?',
  ],
  ['fn f(x: int | nil) { return x + 1 }\nprintln(f(1))', 'E `x` may be nil, with which `+` fails'],
  ['println("a" in [1, 2])', 'E string is never in list<int>'],
  ['println([1].contains("a"))', 'E string is never in list<int>'],
  ['let n = println(1)\nprintln(n)', 'E `println` returns no value, so its result is always nil'],
  ['let d = {a: 1}\nprintln(d("a"))', 'E `d` is dict and cannot be called'],
  ['read_file(1)', 'E `read_file` takes string for `path`, got int'],
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
  'for (k, v) in {a: 1}.iter() { println("${k}${v}") }\nfor c in "abc".chars() { println(c.uppercase()) }',
  'let {a} = {a: "x"}\nprintln(a == 1)',
  'struct S { f: closure }\nprintln(S {f: { -> 1 }}.f())',
  'match [1].first() { 1 -> { println(1) } _ -> { println(2) } }',
  'write_file("n.txt", 42)\nprintln("a" + to_string(1))',
  'println((1 to 3)[0])\nprintln(4 |> "to_string")\nlet n = nil\nprintln(n?.a)',
  'let d = {a: 1}\nprintln(d.b == nil)\nprintln(d.b?.c)\nprintln(d["b"] ?? 1)',
  'fn f(x: int | nil) { if x == nil { return 0 }\nreturn x + 1 }\nprintln(f(1))',
  'fn f(x: int | nil) { return (x ?? 0) + 1 }\nprintln(f(1))',
  'if type_of(1) == "mcp_client" { println(1) }',
  'struct P { x: int }\nimpl P { fn f(self) { return self.x }\nfn g(self) { return self.f() } }\nprintln(P {x: 1}.g())',
  'fn f(m: "fast" | "slow" = "fast") { return m }\nprintln(f("slow"))',
  'fn apply(g: fn(int) -> int) { return g(1) }\nprintln(apply({ -> 1 }))\nprintln([1].map({ -> 1 }))',
  'var xs = []\nxs = xs.push("a")\nprintln(xs[0])\nprintln(xs.contains(1))',
  'var out = {}\nfor i in 1 to 3 { out = out.merge({a: i}) }\nprintln(out.a)',
]

describe('uses', () => {
  test.each(FOUND)('%s', (source, finding) => {
    expect(check(source, { ...full, imports: () => null })).toContain(finding)
  })

  test.each(SILENT)('no finding in %s', (source) => {
    expect(check(source, full)).toEqual([])
  })

  test('the findings do not stop a run', () => {
    for (const [source] of FOUND) {
      expect(diagnose(source).filter(({ code }) => code >= 'T080' && code < 'T100')).toEqual([])
    }
  })

  test('one near name is a repair', () => {
    const [finding] = diagnose('[1].pushh(3)', full)
    expect(finding?.fix?.edits).toEqual([{ span: { start: 4, end: 9 }, text: 'push' }])
  })

  test('a long chain of variables is fast', () => {
    const lines = Array.from({ length: 400 }, (_, at) => `var v${at + 1} = 1\nv${at + 1} = v${at} + v${at}`)
    expect(check(`var v0 = 1\n${lines.join('\n')}`, full)).toEqual([])
  })
})

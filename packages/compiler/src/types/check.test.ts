// Each row of the catalogue, positive and negative, and the behaviour that programs rely on. Fragments are in a pipeline.

import { describe, expect, test } from 'vitest'
import { check, checkBody, diagnose } from './test-support/check-source.js'

type Row = readonly [source: string, ...findings: string[]]

function table(name: string, rows: readonly Row[], run: (source: string) => readonly string[] = checkBody): void {
  describe(name, () => {
    test.each(rows.map(([source, ...findings]) => ({ source, findings })))('$source', ({ source, findings }) => {
      expect(run(source)).toEqual(findings)
    })
  })
}

table('annotated bindings', [
  ['let n: int = "five"', "E 'n' declared as int, but assigned string"],
  ['let f: float = 1'],
  ['let i: int = 1.5', "E 'i' declared as int, but assigned float"],
  ['let xs: list<float> = [1]', "E 'xs' declared as list<float>, but assigned list<int>"],
  ['let ys: list<string | int> = [1]', "E 'ys' declared as list<string | int>, but assigned list<int>"],
  ['let ys: list<int | nil> = [1, nil]'],
  ['let xs: list<int> = []'],
  ['let xs: list<int> = [1, some]'],
  ['let xs: [int] = ["a"]', "E 'xs' declared as list<int>, but assigned list<string>"],
  [
    'let u: {name: string, age: int} = {age: 3}',
    "E 'u' declared as {name: string, age: int}, but assigned {age: int} (missing field 'name' (string))",
  ],
  [
    'let u: {name: string, age: int} = {name: 1, age: 3}',
    "E 'u' declared as {name: string, age: int}, but assigned {name: int, age: int} " +
      "(field 'name' has type int, expected string)",
  ],
  ['let u: {name: string, age: int} = {}'],
  [
    'let u: {a: int, b: int} = {c: 1}',
    "E 'u' declared as {a: int, b: int}, but assigned {c: int} (missing field 'a' (int); missing field 'b' (int))",
  ],
  ['let u: {a: int, b?: int} = {a: 1, b: "text"}'],
  ['let u: {a: int} = {a: 1, more: 2}'],
  ['let v: string | int = 3.0', "E 'v' declared as string | int, but assigned float"],
  ['let m: "on" | "off" = "auto"'],
  ['let m: "on" | "off" = 1', `E 'm' declared as "on" | "off", but assigned int`],
  ['let m: 1 | -2 = "a"', "E 'm' declared as 1 | -2, but assigned string"],
  ['let x: Nope = 1', "E 'x' declared as Nope, but assigned int"],
  ['let d: dict<string, int> = {a: 1}'],
  ['let d: dict<string, int> = {a: "x"}', "E 'd' declared as dict<string, int>, but assigned {a: string}"],
  ['let d: dict = {a: 1}'],
  ['let d: bool = !1'],
  ['let t: string = 5ms'],
  ['let t: int = r"raw"'],
  ['let t: string = "a ${1}"'],
  ['let r: range = 1 to 3'],
  ['let a: any = 1\nlet n: int = a'],
  ['let u: unknown = 1\nlet n: int = u', "E 'n' declared as int, but assigned unknown"],
  ['let n: never = 1', "E 'n' declared as never, but assigned int"],
  ['let b: true = 1', "E 'b' declared as bool, but assigned int"],
  ['let f: fn(int) -> int | nil = 1', "E 'f' declared as fn(int) -> int | nil, but assigned int"],
  ['let {a} = 1\nlet n: int = a'],
  ['let s: string = task.count()', "E 's' declared as string, but assigned int"],
  ['let s: int = "a".trim()', "E 's' declared as int, but assigned string"],
  ['let d: dict = task.filter({ x -> x })\nlet r: list = task.reverse()'],
  ['for x in [1] { let s: string = x }', "E 's' declared as string, but assigned int"],
  ['for i in 1 to 3 { let s: string = i }', "E 's' declared as string, but assigned int"],
  ['for (i, x) in ["a"].iter().enumerate() { let n: int = i\nlet m: int = x }', "E 'm' declared as int, but assigned string"],
  [
    'let u = {a: 1, b: task}\nlet s: string = u.a\nlet t: string = u["a"]\nlet n: nil = u.b\nlet q: int = u.c',
    "E 's' declared as string, but assigned int",
    "E 't' declared as string, but assigned int",
  ],
  ['let u = {a: 1}\nlet s: string = u?.a\nlet t: string = u?["a"]'],
  [
    'let xs = [1]\nlet s: string = xs[0]\nlet t: string = xs[0:1]',
    "E 's' declared as string, but assigned int",
    "E 't' declared as string, but assigned list<int>",
  ],
  ['let s: string = x ?? 1', "E 's' declared as string, but assigned int"],
  ['let s: string = true ? 1 : 2', "E 's' declared as string, but assigned int"],
  ['let s: string = true ? 1 : "a"', "E 's' declared as string, but assigned int | string"],
  ['let i: iter = [1].iter()\nlet xs: list<int> = [1].iter().map({ x -> x })', "E 'xs' declared as list<int>, but assigned iter"],
  ['let s: string = if true { 1 } else { 2 }', "E 's' declared as string, but assigned int"],
  ['let s: string = try { 1 }', "E 's' declared as string, but assigned Result<int, _>"],
  ['let s: string = parallel 3 { i -> i }', "E 's' declared as string, but assigned list<int>"],
  ['let s: Stream<int> = parallel each [1] { x -> x } as stream'],
  ['let s: string = parallel settle [1] { x -> x }', "E 's' declared as string, but assigned dict"],
  ['let s: int = Ok(1)?\nlet t: string = Ok(1)?', "E 't' declared as string, but assigned int"],
])

table('operators', [
  ['let s = "a" + 1', "E can't add string and int"],
  ['let s = 1 + 2.0 + 3'],
  ['let s = [1] + [2]'],
  ['let s = {a: 1} + {b: 1}'],
  ['let a: any = 1\nlet b = a + 1', "E can't add any and int"],
  ['let u: unknown = 1\nlet b = u + 1', "E can't add unknown and int"],
  ['let b = task + 1'],
  ['let b = "a" - 1', "E can't use '-' on string and int (needs numeric operands)"],
  ['let b = "a" / 1', "E can't use '/' on string and int (needs numeric operands)"],
  ['let b = "a" % 1', "E can't use '%' on string and int (needs numeric operands)"],
  ['let b = true ** 1', "E can't use '**' on bool and int (needs numeric operands)"],
  ['let b = [1] * 2'],
  ['let b = "a" * 2'],
  ['let b = 2 * "a"'],
  ['let b = "a" * 2.0', "E can't multiply string and float (try string * int)"],
  ['let b = 1 < "a"', "W Comparing int with string using '<' may give unexpected results"],
  ['let b = true >= 1', "W Comparison '>=' may not be meaningful for types bool and int"],
  ['let b = 1 < 2.0'],
  ['let b = "a" < "b"'],
  ['let b = 1 == "a"'],
  ['let b = 1 in [1]'],
  ['let d = duration_ms(1) + duration_ms(2)', "E can't add duration and duration"],
  ['let d = 1ms + 2ms'],
  ['println(len([1]) + "!")'],
  ['println(to_int("1") + "!")', "E can't add int and string"],
])

table('assignment', [
  ['let k = 1\nk = 2', "W Cannot assign to 'k': variable is immutable (declared with 'let')"],
  ['var n: int = 1\nn = "x"', "E can't assign string to 'n' (declared as int)"],
  ['var n = 1\nn = "x"', "E can't assign string to 'n' (declared as int)"],
  ['var n = 1\nn += 2'],
  ['var n = 1\nn += 2.0', "E can't assign float to 'n' (declared as int)"],
  ['var s = "a"\ns += 1'],
  ['var best = nil\nbest = {id: 1}\nbest = {id: 2}'],
  ['var best = nil\nbest = 1\nbest = "x"', "E can't assign string to 'best' (declared as int | nil)"],
  ['var best = nil\nbest = task\nlet s: string = best'],
  ['fn f(x) {\n  var best = {a: ""}\n  best = {a: x}\n  return best\n}'],
  ['fn f(x) {\n  let d = {a: x}\n  let n: int = d.a\n  return n + d["a"]\n}'],
  ['fn g(u: {a: string}) { return u.a }\nfn f(x) { return g({a: x}) }'],
  ['var best = {a: ""}\nbest = {a: nil}', "E can't assign {a: nil} to 'best' (declared as {a: string})"],
  ['var best = nil\nfor x in [1] { best = x }\nprintln(best + 1)'],
  ['var xs = []\nxs = [1]'],
  ['var d = {a: 1}\nd.a = "x"\nd["b"] = 2'],
  ['undeclared = 1'],
  ['for i in [1] { i = 2 }', "W Cannot assign to 'i': variable is immutable (declared with 'let')"],
  ['var q = 1\nif true { let q = 2\n q = 3 }'],
])

table('functions', [
  ['fn dbl(n: int) -> int { return n * 2 }\ndbl("a")', "E Argument 1 ('n'): expected int, got string"],
  ['fn name() -> string { return 4 }', "E return type doesn't match: expected string, got int"],
  ['fn name() -> string { let y = 4\nreturn y }'],
  ['fn name() -> string { return }'],
  ['fn name() -> string { 4 }'],
  [
    'fn f(c) -> string { if c { return 1 } else { return 2 } }',
    "E return type doesn't match: expected string, got int",
    "E return type doesn't match: expected string, got int",
  ],
  ['fn f(x: int | nil) -> int { if x == nil { return 0 }\nreturn x }'],
  ['fn f(x: int | nil) -> int { if x != nil { return x } else { return 0 } }'],
  ['fn f(x: int | nil) -> int { return x }', "E return type doesn't match: expected int, got int | nil"],
  ['fn f(x: int | nil) -> int { guard x != nil else { return 0 }\nreturn x }'],
  ['fn g() { yield 1\nreturn 2 }', "E return type doesn't match: expected Generator<any>, got int"],
  ['fn g() { let c = { -> yield 1 }\nreturn 2 }'],
  ['fn two(a, b) { }\ntwo(1)', "W Function 'two' expects 2 arguments, got 1"],
  ['fn two(a, b = 1) { }\ntwo(1)\ntwo(1, 2, 3)', "W Function 'two' expects 1-2 arguments, got 3"],
  ['fn two(a, b) { }\ntwo(...[1])'],
  ['fn many(a, ...b) { }\nmany(1, 2, 3)\nmany()'],
  ['fn print(a, b) { }\nprint(1)'],
  ['tool look(q: string) -> string { q }\nlook("a")\nlet d: dict = look'],
  ['tool look(q: string) -> string { return 5 }', "E return type doesn't match: expected string, got int"],
  [
    'fn f(cb: fn(int) -> int) { }\nfn g(n: int) -> int { return n }\nfn h(n) { }\nf(g)\nf(h)',
    "E Argument 1 ('cb'): expected fn(int) -> int, got fn(_) -> nil",
  ],
  [
    'fn go(f: fn(float) -> float) { }\ngo({ x: int -> 1.0 })',
    "E Argument 1 ('f'): expected fn(float) -> float, got fn(int) -> float",
  ],
  ['fn go(f: fn(int) -> float) { }\ngo({ x: float -> 1.0 })\ngo({ x -> 1 })\ngo({ -> 1 })'],
  ['fn f(xs: list<float>) {}\nlet ys: list<int> = [1]\nf(ys)', "E Argument 1 ('xs'): expected list<float>, got list<int>"],
  ['fn f(xs: iter<float>) {}\nlet ys: list<int> = [1]\nf(ys.iter())'],
  ['fn f(n: int) {}\nlet f = { x -> x }\nf("a")'],
  ['fn outer() { let x = 1\nfn inner() -> string { return x }\n}'],
  ['fn f(x: int = "a") { }'],
  ['fn f(x = prnt(1)) { }', 'E call target `prnt` is not defined or imported — did you mean `print`?'],
  [
    'fn f(n: int) {}\nf(prnt(1))\nf("a", prnt(1))',
    'E call target `prnt` is not defined or imported — did you mean `print`?',
    "W Function 'f' expects 1 arguments, got 2",
    "E Argument 1 ('n'): expected int, got string",
    'E call target `prnt` is not defined or imported — did you mean `print`?',
  ],
])

table('type parameters', [
  [
    'fn pick<T>(a: T, b: T) -> T { return a }\npick(1, "x")',
    "E type parameter 'T' was inferred as both int and string",
    "E Argument 2 ('b'): expected int, got string",
  ],
  ['fn pick<T>(a: T, b: T) -> T { return a }\nlet s: string = pick(1, 2)', "E 's' declared as string, but assigned int"],
  [
    'fn pick<T>(a: T) -> T { return a }\npick<string>(1)',
    "E type parameter 'T' was inferred as both string and int",
    "E Argument 1 ('a'): expected string, got int",
  ],
  ['fn pick<T>(a: T) -> T { return a }\npick<string, int>("a")', "E Function 'pick' expects 1 type arguments, got 2"],
  ['fn one(a) { }\none<int>(1)', "E Function 'one' does not declare type parameters"],
  ['to_string<int>(1)', "E Builtin function 'to_string' does not declare type parameters"],
  ['schema_expect<int, int>(1, {})', "E Builtin function 'schema_expect' expects 1 type arguments, got 2"],
  ['fn first<T>(xs: list<T>) -> T { return xs[0] }\nlet s: string = first([1])', "E 's' declared as string, but assigned int"],
  ['fn make<T>() -> T { return 1 }\nlet s: string = make()'],
  ['fn make<T>() -> list<T> { return [] }\nlet s: list<string> = make()'],
  ['fn sum<T>(a: T, b: T) { return a + b }', "E can't add T and T"],
  ['fn less<T>(a: T, b: T) { return a < b }', "W Comparison '<' may not be meaningful for types T and T"],
  ['fn id<T>(a: T) -> T { return a }\nfn twice<T>(a: T) -> T { return id(a) }'],
  [
    'fn apply<A, B>(f: fn(A) -> B, x: A) -> B { return f(x) }\nlet s: string = apply({ n: int -> 1 }, 2)',
    "E 's' declared as string, but assigned int",
  ],
])

const NAMED = `interface Named { fn label(self) -> string }
struct A { n: int }
struct B { n: int }
impl B { fn label(self) -> string { return "b" } }
fn show<T>(t: T) -> nil where T: Named { t.label()
t.other() }
fn plain(item: Named) { }
`

table(
  'interfaces',
  [
    [
      'impl A { fn label(self) -> int { return 1 } }\nfn main() { show(A({n: 1})) }',
      "W Method 'other' not found in interface 'Named' (constraint on 'T')",
      "E Type 'A' does not satisfy interface 'Named': method 'label' returns 'int', expected 'string' " +
        '(required by constraint `where T: Named`)',
    ],
    [
      'fn main() { show(A({n: 1})) }',
      "W Method 'other' not found in interface 'Named' (constraint on 'T')",
      "E Type 'A' does not satisfy interface 'Named': missing method(s): label (required by constraint `where T: Named`)",
    ],
    [
      'impl A { fn label(self, a) { } }\nfn main() { show(A({n: 1})) }',
      "W Method 'other' not found in interface 'Named' (constraint on 'T')",
      "E Type 'A' does not satisfy interface 'Named': method 'label' has 1 parameter(s), expected 0 " +
        '(required by constraint `where T: Named`)',
    ],
    [
      'fn main() { show(B {n: 1})\nplain(B {n: 1})\nplain(A {n: 1})\nplain({n: 1})\nshow({n: 1}) }',
      "W Method 'other' not found in interface 'Named' (constraint on 'T')",
      "E Argument 1 ('item'): expected Named, got A",
      "E Argument 1 ('item'): expected Named, got {n: int}",
      "E Type '{n: int}' does not satisfy interface 'Named': only named types can satisfy interfaces " +
        '(required by constraint `where T: Named`)',
    ],
    ['fn main(x: Named) { plain(x)\nplain(task) }', "W Method 'other' not found in interface 'Named' (constraint on 'T')"],
  ],
  (source) => check(NAMED + source),
)

table(
  'associated types',
  [
    [
      'interface Src { type Item = string\nfn next(self) -> Item }\nstruct S { n: int }\n' +
        'impl S { fn next(self) -> int { return 1 } }\nfn take(s: Src) {}\nfn go<T>(s: T) where T: Src {}\ngo(S {n: 1})',
      "E Type 'S' does not satisfy interface 'Src': associated type 'Item' resolves to 'int', expected 'string' " +
        '(required by constraint `where T: Src`)',
    ],
    [
      'interface Src { type Item\nfn next(self) -> Item\nfn put(self, x: Item) }\nstruct S { n: int }\n' +
        'impl S { fn next(self) -> int { return 1 }\nfn put(self, x: string) {} }\nfn go<T>(s: T) where T: Src {}\ngo(S {n: 1})',
      "E Type 'S' does not satisfy interface 'Src': type parameter 'Item' was inferred as both int and string " +
        '(required by constraint `where T: Src`)',
    ],
  ],
  check,
)

table('structs', [
  ['struct P { x: int, y?: int }\nlet p = P {x: 1}'],
  ['struct P { x: int, y?: int }\nlet p = P {x: 1, z: 2}', "W Unknown field 'z' in struct 'P'"],
  ['struct P { x: int, y?: int }\nlet p = P {y: 2}', "W Missing field 'x' in struct 'P' construction"],
  ['struct P { x: int, y?: int }\nlet p = P {x: "a"}', "E Field 'x' in struct 'P' expects int, got string"],
  ['struct P { x: int, y?: int }\nlet p = P({x: "a"})'],
  ['struct Point { x: int }\nlet p = Poin {x: 1}', 'E unknown struct type `Poin` — did you mean `Point`?'],
  ['let p = Thing {x: 1}', 'E unknown struct type `Thing`'],
  ['struct Box<T> { v: T }\nlet b: Box<string> = Box {v: 1}', "E 'b' declared as Box<string>, but assigned Box<int>"],
  ['struct Two<T> { a: T, b: T }\nlet b = Two {a: 1, b: "x"}', "E Field 'b' in struct 'Two' expects int, got string"],
  ['fn f() { return P {x: 1} }\nstruct P { x: int }'],
])

table('enums', [
  ['enum Opt<T> { Some(v: T), None }\nlet o: Opt<int> = Opt.Some("s")', "E 'o' declared as Opt<int>, but assigned Opt<string>"],
  ['enum Opt<T> { Some(v: T), None }\nlet o: Opt<int> = Opt.None'],
  ['enum Job { Run, Stop }\nlet j: Job = Job.Nope\nlet k: Job = Job.Run(1, 2)'],
  ['enum Job { Run, Stop }\nlet j: int = Job.Run', "E 'j' declared as int, but assigned Job"],
  ['let r: Result<int, string> = Result.Ok("a")', "E 'r' declared as Result<int, string>, but assigned Result<string, _>"],
  ['let r: Result<float, string> = Ok(1)'],
])

table(
  'variance',
  [
    [
      'interface Cell<out T> { fn put(self, v: T) }',
      "E type parameter 'T' is declared 'out' (covariant) but appears in a contravariant position in interface 'Cell'",
    ],
    ['type R<out T> = fn() -> T'],
    ['type W<in T> = fn(T) -> nil'],
    [
      'type W<in T> = fn() -> T',
      "E type parameter 'T' is declared 'in' (contravariant) but appears in a covariant position in type alias 'W'",
    ],
    [
      'struct S<out T> { v: T }',
      "E type parameter 'T' is declared 'out' (covariant) but appears in a invariant position in struct 'S'",
    ],
    [
      'enum L<out T> { Many(vs: list<T>) }',
      "E type parameter 'T' is declared 'out' (covariant) but appears in a invariant position in enum 'L'",
    ],
    ['enum L<out T> { Many(vs: iter<T>) }'],
    ['fn top<out T>(v: T) { }'],
    [
      'pipeline p() { fn inner<out T>(v: T) { } }',
      "E type parameter 'T' is declared 'out' (covariant) but appears in a contravariant position in function 'inner'",
    ],
    ['enum Src<out T> { A(v: T) }\nlet s: Src<float> = Src.A(1)'],
    ['enum Src<T> { A(v: T) }\nlet s: Src<float> = Src.A(1)', "E 's' declared as Src<float>, but assigned Src<int>"],
  ],
  check,
)

table('aliases', [
  ['type Id = int\nlet a: Id = 1\nlet b: Id = "x"', "E 'b' declared as Id, but assigned string"],
  ['type Tree = {v: int, kids: list<Tree>}\nfn f(t: Tree) { g(t) }\nfn g(t: Tree) { f(t) }\nf({v: 1, kids: []})'],
  ['type Loop = Loop\nlet x: Loop = 1', "E 'x' declared as Loop, but assigned int"],
  ['type A = B\ntype B = A\nlet x: A = 1', "E 'x' declared as A, but assigned int"],
  ['type Box<T> = {v: T, f: fn(T) -> nil}\nfn one(b: Box<"a">) {}\nfn two(b: Box<"a" | "b">) { }\nfn go(b: Box<"a">) { two(b) }'],
  ['type M = {s: string} | nil\nlet m: M = 1', "E 'm' declared as M, but assigned int"],
])

const EVENT = 'type Ev = {kind: "a", x: int} | {kind: "b", y: string}\n'

table('match', [
  [
    'enum Job { Run, Stop, Wait }\nfn f(j: Job) { match j.variant { "Run" -> { 1 }\n"Stop" -> { 2 } } }',
    'E Non-exhaustive match on enum Job: missing variants "Wait"',
  ],
  [
    'enum Job { Run, Stop, Wait }\nfn f(j: Job) { match j { Job.Run -> { 1 } } }',
    'E Non-exhaustive match on enum Job: missing variants "Stop", "Wait"',
  ],
  ['enum Job { Run, Stop }\nfn f(j: Job) { match j { Job.Run -> { 1 }\n_ -> { 2 } } }'],
  ['enum Job { Run, Stop(n) }\nfn f(j: Job) { match j { Job.Run -> { 1 }\nJob.Stop(n) -> { n } } }'],
  ['enum Job { Run(n), Stop }\nfn f(j: Job) { match j { Job.Run(n) -> { 1 } } }'],
  ['enum Opt<T> { Some(v: T), None }\nfn f(o: Opt<int>) { match o { Opt.None -> { 1 } } }'],
  [
    `${EVENT}fn f(e: Ev) { match e.kind { "a" -> { e.x } } }`,
    'E Non-exhaustive match on tagged shape union: missing variants "b"',
  ],
  [`${EVENT}fn f(e: Ev) { match e.kind { "a" -> { e.x }\n_ -> { 1 } } }`],
  [`${EVENT}fn f(e: Ev) { match e.kind { "a" | "b" -> { 1 } } }`],
  [`${EVENT}fn f(e: Ev) { match e.kind { "a" -> { let n: int = e.x }\n"b" -> { let s: string = e.y } } }`],
  [
    `${EVENT}fn f(e: Ev) { match e.kind { "a" -> { let n: string = e.x }\n"b" -> { 1 } } }`,
    "E 'n' declared as string, but assigned int",
  ],
  [`${EVENT}fn f(e: Ev) { if e.kind != "a" { let s: string = e.y } }`],
  [`${EVENT}fn f(e: Ev) { if e.kind == "a" { let s: string = e.x } }`, "E 's' declared as string, but assigned int"],
  [
    'fn f(e: {op: 1, x: int} | {op: 2}) { match e.op { 1 -> { 1 } } }',
    'E Non-exhaustive match on tagged shape union: missing variants 2',
  ],
  ['fn f(x: "a" | "b" | 2) { match x { "a" -> { 1 } } }', 'E Non-exhaustive match on literal union: missing "b", 2'],
  ['fn f(x: string | int | nil) { match x { "a" -> { 1 } } }', 'E Non-exhaustive match on union type: missing int, nil'],
  ['fn f(x: string | {a: int}) { match x { "a" -> { 1 } } }'],
  [
    'fn f(x: string | nil) { match x { nil -> { 1 }\n_ -> { let s: string = x } } }',
    "E 's' declared as string, but assigned string | nil",
  ],
  ['fn f(x: string | nil) { match x { nil -> { let n: nil = x }\n"a" | "b" -> { let s: string = x }\n_ -> { 1 } } }'],
  [
    'fn f(x: int) { match x { "a" -> { 1 }\n1.5 -> { 2 }\nnil -> { 3 } } }',
    'W Match pattern type mismatch: matching int against string literal',
  ],
  [
    'match task { 1 | x -> { 1 } }',
    'E Or-pattern alternatives must be literal patterns (string, int, float, bool, nil, or `_`). ' +
      'Identifier bindings and destructuring patterns are not allowed inside `|`.',
  ],
  ['match task { 1 | "a" | true | nil | 1.5 | _ -> { 1 } }'],
  ['match task { Result.Ok(g) -> { g(1) }\n{a: h} -> { h(1) }\n[k] -> { k(1) } }'],
])

table('narrowing', [
  ['fn f(x: string | nil) { if x == nil { return }\nlet s: string = x }'],
  ['fn f(x: string | nil) { let s: string = x }', "E 's' declared as string, but assigned string | nil"],
  ['fn f(x: string | nil) { if x != nil && x == "q" { let s: string = x } }'],
  ['fn f(x: string | nil, other) { if x == nil || other { return }\nlet s: string = x }'],
  ['fn f(x: string | nil) { guard x != nil else { return }\nlet s: string = x }'],
  ['fn f(x: string | nil) { if x { let s: string = x } else { let n: nil = x } }'],
  ['fn f(x: string | nil) { while x != nil { let s: string = x } }'],
  ['fn f(x: string | nil) { if !(x == nil) { let s: string = x } }'],
  ['fn f(x: string | nil) { let s: string = x == nil ? "" : x }'],
  ['fn f(v: string | int | nil) { if type_of(v) == "int" { let n: int = v } else { let s: string | nil = v } }'],
  ['fn f(v: string | int) { if "int" != type_of(v) { let s: string = v } }'],
  ['let u: unknown = 1\nif type_of(u) == "int" { let n: int = u }'],
  ['fn f(v: {a: int, b?: int}) { fn g(x: {b: int}) {}\nif v.has("b") { let y: {b: int} = v } }'],
  ['var x: int | nil = 1\nif x == nil { return }\nx = nil\nlet n: int = x', "E 'n' declared as int, but assigned int | nil"],
  ['var x: int | nil = 1\nif x != nil { x = "s" }', "E can't assign string to 'x' (declared as int | nil)"],
  ['fn f(x: int | nil, y: int | nil) { if x == nil { return } else if y == nil { return }\nlet n: int = x }'],
  ['type Maybe = int | nil\nfn f(x: Maybe) { if x != nil { let n: int = x } }'],
  [
    'type V = {ok: bool}\nfn f(v: {ok: bool} | string) ' +
      '{ if schema_is(v, V) { let o: {ok: bool} = v } else { let s: string = v } }',
  ],
  [
    'fn f(v: string | int) { if type_of(v) == "string" { unreachable(v) } }',
    'E unreachable() argument has type `string` — not all cases are handled',
  ],
  ['fn f(v: string | int) { if type_of(v) == "string" { return }\nif type_of(v) == "int" { return }\nunreachable(v) }'],
  [
    'fn f(v: string | int) { if type_of(v) == "string" { return }\nunreachable(v) }',
    'E unreachable() argument has type `int` — not all cases are handled',
  ],
])

const NINE = ['int', 'string', 'float', 'bool', 'nil', 'list', 'dict', 'closure', 'bytes']
const exclude = (names: readonly string[]): string => names.map((name) => `if type_of(v) == "${name}" { return }`).join('\n')

table('unknown', [
  [`fn f(v: unknown) { ${exclude(NINE)}\nunreachable("never") }`],
  [
    `fn f(v: unknown) { ${exclude(NINE.slice(0, 8))}\nunreachable("never") }`,
    'W `unreachable()` reached but `v: unknown` was not fully narrowed — uncovered concrete type(s): bytes',
  ],
  [
    `fn f(v: unknown) { ${exclude(NINE.slice(2))}\nthrow "x" }`,
    'W `throw` reached but `v: unknown` was not fully narrowed — uncovered concrete type(s): int, string',
  ],
  [
    `fn stop() -> never { throw 1 }\nfn f(v: unknown) { ${exclude(NINE.slice(1))}\nstop() }`,
    'W `stop()` reached but `v: unknown` was not fully narrowed — uncovered concrete type(s): int',
  ],
  ['fn f(v: unknown) { throw "x" }'],
  [`fn f(v: unknown) { ${exclude(['int'])}\nreturn 1 }`],
])

table('streams', [
  ['gen fn g() -> Stream<int> { yield 1 }', 'E `yield` is not a stream emit; use `emit` inside `gen fn`'],
  ['gen fn g() -> Stream<int> { emit 1 }\ngen fn h() { emit "a" }'],
  ['gen fn g() -> Stream<int> { emit "a" }', "E emit type doesn't match: expected int, got string"],
  ['fn g() { emit 1 }', 'E `emit` can only be used inside a `gen fn`'],
  ['gen fn g() { let c = { x -> emit x } }', 'E `emit` can only be used inside a `gen fn`'],
  ['gen fn g() -> int { emit 1 }', 'E `gen fn` must return Stream<T>, got int'],
  [
    'fn plain_generator() -> Generator<int> { yield 1 }\nlet s: Stream<int> = plain_generator()',
    "E 's' declared as Stream<int>, but assigned Generator<int>",
  ],
])

table(
  'functions at module level',
  [
    ['fn f() { }\ntry* f()', 'E try* requires an enclosing function (fn, tool, or pipeline) so the rethrow has a target'],
    ['fn f() { try* g() }\nfn g() { }'],
    ['let limit: int = 3\nlet s: string = limit'],
    ['let limit: int = 3\nfn f() -> string { return limit }'],
    ['fn f() -> int { return g() }\nfn g() -> string { return "a" }', "E return type doesn't match: expected int, got string"],
    ['pipeline p() -> int { return "a" }', "E return type doesn't match: expected int, got string"],
    ['var n = 0\nfn f() { n = 1 }'],
  ],
  check,
)

table('others', [
  [
    'parallel each [1] with { max_concurrent: "a" } { x -> x }',
    'E `max_concurrent` on `parallel` must be int, got Named("string")',
  ],
  ['parallel each [1] with { max_concurrent: 2 } { x -> x }'],
  ['fn f() { return 1\nprintln(2)\nprintln(prnt(3)) }', 'W unreachable code'],
  ['fn f(c) { if c { return 1 } else { throw 2 }\nprintln(2) }', 'W unreachable code'],
  ['while true { break\nprintln(1) }', 'W unreachable code'],
])

table('names', [
  ['prnt("x")', 'E call target `prnt` is not defined or imported — did you mean `print`?'],
  ['printl("x")', 'E call target `printl` is not defined or imported — did you mean `print`?'],
  ['totally_unknown(1)', 'E call target `totally_unknown` is not defined or imported'],
  ['fn helper() {}\nhelpr()', 'E call target `helpr` is not defined or imported — did you mean `helper`?'],
  ['let f = { x -> x }\nf(1)\nOk(1)\nErr(1)\n__internal()\nhostlib_x()'],
  ['println("${nope(1)}")'],
  ['1 |> nope'],
  ['1 |> nope(_)', 'E call target `nope` is not defined or imported'],
  ['fn two(a, b) { }\n1 |> two(2)', "W Function 'two' expects 2 arguments, got 1"],
  ['match 1 { n -> { n = 2 } }'],
  ['task.nope()'],
  ['if true { let gather_all = { x -> x } }\nfn h() { gather_all(1) }', 'E call target `gather_all` is not defined or imported'],
  ['fn h() { inner() }\nfn outer() { fn inner() { } }'],
  ['println(reponse)'],
])

table(
  'attributes',
  [
    ['@strange fn f() {}', 'W unknown attribute `@strange`'],
    ['@test fn f() {}', 'W `@test` only applies to pipeline declarations'],
    ['@test pipeline p() {}'],
    ['@acp_tool(name: "x") struct S { a: int }', 'W `@acp_tool` only applies to function declarations'],
    ['@invariant("fs.writes") struct S { a: int }', 'W `@invariant` only applies to function, tool, or pipeline declarations'],
    [
      '@deprecated(since: "1.2", use: "g") fn f() {}\nfn g() { f() }',
      'W `f` is deprecated (since 1.2)',
      'W `f` is deprecated (since 1.2)',
    ],
    [
      '@deterministic @semantic fn f() {}',
      'W `@deterministic` and `@semantic` are mutually exclusive; a Flow predicate is one mode or the other',
    ],
    [
      '@invariant fn f() {}',
      'W Flow `@invariant` requires exactly one of `@deterministic` (default) or `@semantic`',
      'W Flow `@invariant` is missing `@archivist(...)` provenance (evidence, confidence, source_date, coverage_examples)',
    ],
    ['@invariant @semantic @archivist(evidence: ["a"], confidence: 0.5) fn f() {}'],
    [
      '@invariant @semantic @archivist(confidence: 2.5, odd: 1) fn f() {}',
      'W `@archivist(confidence: ...)` must be a float in [0.0, 1.0]',
      'W unknown `@archivist` argument `odd`; expected one of ["evidence", "confidence", "source_date", "coverage_examples"]',
      'W `@archivist(...)` should declare `evidence: [...]` so predicates can be audited',
    ],
    [
      '@archivist("a") @retroactive fn f() {}',
      'W `@archivist(...)` only applies to Flow predicates marked with `@invariant`',
      'W `@retroactive` only applies to Flow predicates marked with `@invariant`',
      'W `@archivist(...)` arguments must be named (e.g. `evidence: [...], confidence: 0.9`)',
      'W `@archivist(...)` should declare `evidence: [...]` so predicates can be audited',
    ],
    ['@complexity(allow) @unknown_thing struct P { x: int }\nlet p = P {x: 1}', 'W unknown attribute `@unknown_thing`'],
  ],
  check,
)

table('schemas as types', [
  [
    'type Verdict = {ok: bool, why: string}\nlet bad: int = schema_expect(task, Verdict)',
    "E 'bad' declared as int, but assigned {ok: bool, why: string}",
  ],
  [
    'type Verdict = {ok: bool}\nlet r: int = schema_parse(task, Verdict)',
    "E 'r' declared as int, but assigned Result<{ok: bool}, string>",
  ],
  [
    'let s: int = schema_expect(task, {type: "dict", properties: {a: {type: "integer"}}, required: ["a"]})',
    "E 's' declared as int, but assigned {a: int}",
  ],
  [
    'let S = {type: "string", nullable: true}\nlet s: int = schema_expect(task, S)',
    "E 's' declared as int, but assigned string | nil",
  ],
  ['let s: int = schema_expect(task, {items: {type: "string"}})', "E 's' declared as int, but assigned list<string>"],
  [
    'let s: int = schema_expect(task, {oneOf: [{type: "string"}, {type: "null"}]})',
    "E 's' declared as int, but assigned string | nil",
  ],
  [
    'let s: int = schema_expect(task, {type: "object", additionalProperties: {type: "integer"}})',
    "E 's' declared as int, but assigned dict<string, int>",
  ],
  ['let s: int = schema_expect(task, task)'],
  ['let r = llm_call("p")\nlet s: int = r', "E 's' declared as int, but assigned dict"],
  [
    'fn take<T>(raw, s: Schema<T>) -> T { return raw }\ntype V = {a: int}\nlet x: string = take(1, V)',
    "E 'x' declared as string, but assigned {a: int}",
  ],
  ['fn take<T>(raw, s: Schema<T>) -> T { return raw }\ntake(1, {type: "int"})\ntake(1, {other: 1})'],
])

test('a repair for adding a string and a value of another type', () => {
  expect(
    diagnose('let x = 1\nfn f(x: int) { let s = "n=" + x\nlet t = x + "!"\nlet u = "a}" + x\nlet v = "a" + f("b") }').map(
      (finding) => finding.fix?.edits[0]?.text ?? null,
    ),
  ).toEqual(['"n=${x}"', '"${x}!"', '"a}${x}"', null])
})

test('positions, codes and hints', () => {
  const [first] = diagnose('let p = Poin {x: 1}\nstruct Point { x: int }')
  expect(first).toMatchObject({
    code: 'N002',
    severity: 'error',
    span: { start: 8, end: 12 },
    hint: 'declare `struct Point { ... }` or fix the type name',
  })
})

test('strict types warn about unvalidated values', () => {
  const strict = (source: string): readonly string[] => checkBody(source, { strict: true })
  expect(strict('let d = json_parse("1")\nprintln(d.a)\nprintln(d[0])')).toEqual([
    "W Accessing property on unvalidated value 'd' from `json_parse`",
    "W Subscript access on unvalidated value 'd' from `json_parse`",
  ])
  expect(strict('println(json_parse("1").a)')).toEqual(['W Direct property access on unvalidated `json_parse()` result'])
  expect(strict('println(json_parse("1")[0])')).toEqual(['W Direct subscript access on unvalidated `json_parse()` result'])
  expect(strict('let d: {a: int} = json_parse("1")\nprintln(d.a)')).toEqual([])
  expect(strict('let d = json_parse("1")\nlet e = d\nschema_expect(e, {type: "dict"})\nprintln(e.a)')).toEqual([])
  expect(strict('let d = json_parse("1")\nif schema_is(d, {type: "dict"}) { println(d.a) }')).toEqual([])
  expect(strict('type T = {a: int}\nlet d = llm_call("p", nil, {output_schema: T})\nprintln(d.data)')).toEqual([])
  expect(checkBody('let d = json_parse("1")\nprintln(d.a)')).toEqual([])
})

test('a call of a constant is an error on request, and does not stop a run', () => {
  const calls = 'stream({})\npi()'
  expect(checkBody(calls)).toEqual([])
  expect(checkBody(calls, { refuseMissing: true })).toEqual([
    'E call target `stream` is not defined or imported',
    'E call target `pi` is not defined or imported',
  ])
  expect(check('fn stream(x) { return x }\nstream(1)', { refuseMissing: true })).toEqual([])
})

test('unknown options', () => {
  const thorough = (source: string): readonly string[] => checkBody(source, { strictness: 'full' })
  expect(thorough('agent_loop("x", nil, {max_iteration: 1})')).toEqual([
    'E `agent_loop` has no option `max_iteration` — did you mean `max_iterations`?',
  ])
  expect(thorough('http_get("u", {timeout_mss: 100, zzz: 1, "headers": {}})')).toEqual([
    'E `http_get` has no option `timeout_mss` — did you mean `timeout_ms`?',
    'E `http_get` has no option `zzz`',
  ])
  // Other keys are options of providers.
  expect(thorough('llm_call("x", nil, {mock: {a: 1}, temprature: 3})')).toEqual([
    'E `llm_call` has no option `temprature` — did you mean `temperature`?',
  ])
  expect(thorough('let o = {zzz: 1}\nhttp_get("u", o)\nhttp_get("u", o + {zzz: 1})')).toEqual([])
  expect(check('fn http_get(u, o) { return o }\nhttp_get("u", {zzz: 1})', { strictness: 'full' })).toEqual([])
  expect(checkBody('http_get("u", {zzz: 1})')).toEqual([])
})

test('a long chain of operators has the type of its operands', () => {
  expect(checkBody(`let n: string = 1${' + 1'.repeat(900)}`)).toEqual(["E 'n' declared as string, but assigned int"])
})

test('nested generic calls stay linear', () => {
  const nested = `${'id('.repeat(60)}1${')'.repeat(60)}`
  expect(check(`fn id<T>(a: T) -> T { return a }\nfn f() -> string { return ${nested} }`)).toEqual([
    "E return type doesn't match: expected string, got int",
  ])
})

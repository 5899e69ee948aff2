// Names under the full strictness: findings, suggestions, and above all the absence of false positives.

import { describe, expect, test } from 'vitest'
import { check, diagnose } from '../test-support/check-source.js'

const full = { strictness: 'full', imports: () => null, constants: ['pi'], extraGlobals: ['argv'] } as const

const FOUND: readonly (readonly [source: string, finding: string])[] = [
  ['let price = 3\nprintln(prise + 1)', 'E `prise` is not defined here — did you mean `price`?'],
  ['println(foo)', 'E `foo` is not defined here'],
  ['for n in [1] { println(n) }\nprintln(n)', 'E `n` is not defined here'],
  ['fn f() { let a = 1 }\nprintln(a)', 'E `a` is not defined here'],
  ['let x = 1\nprintln("${y}")', 'E `y` is not defined here'],
  ['fn f(a, b = "${c}") { return b }', 'E `c` is not defined here'],
  ['match 1 { n -> { println(n) } }\nprintln(n)', 'E `n` is not defined here'],
  ['try { println(1) } catch (e) { println(e) }\nprintln(e1)', 'E `e1` is not defined here'],
  ['println(later)\nlet later = 1', 'E `later` is used before its declaration'],
  ['countr = 5', 'E `countr` is assigned but never declared'],
  ['var counter = 0\ncountr = 5', 'E `countr` is assigned but never declared — did you mean `counter`?'],
  ['let a = 1\na = 2', 'E `a` is a `let` and cannot be assigned'],
  ['fn f(p) { p = 1 }', 'E `p` is a parameter and cannot be assigned'],
  ['let a = 1\nlet a = 2', 'E `a` is declared twice in the same scope'],
  ['fn f(a, a) { return a }', 'E parameter `a` is declared twice'],
  ['enum Color { Red }\nprintln(Color.Rde)', 'E enum `Color` has no variant `Rde` — did you mean `Red`?'],
  ['struct Order { id: int }\nfn show(o: Ordr) { println(o) }', 'E type `Ordr` is not defined — did you mean `Order`?'],
  ['fn is_even(n) { return n % 2 == 0 }\n[1].filter(isEven)', 'E `isEven` is not defined here — did you mean `is_even`?'],
  ['parse_json("{}")', 'E call target `parse_json` is not defined or imported — did you mean `json_parse`?'],
  ['pipeline default(task) { println(task) }', 'E `task` has no value: the parameters of a pipeline are names only'],
  [
    'fn make() { return 1 }\nlet a = make()\npub fn get() { return a }',
    'E `make` is not there yet: variables of this file are made before its functions',
  ],
  [
    'fn make() { return 1 }\nlet a = make()\npipeline default() { println(a) }',
    'E `make` is not there yet: variables of this file are made before its functions',
  ],
  ['enum Color { Red, Green }\nlet c = Red', 'E `Red` is not defined here — did you mean `Color.Red`?'],
  ['fn f(x: str) { return x }\nprintln(f("a"))', 'E type `str` is not defined — did you mean `string`?'],
  ['foo(1)', 'E call target `foo` is not defined or imported'],
  ['var n = 0\nlet f = { -> n += 1 }\nf()', 'W the change of `n` is lost: a closure has its own copy of the variables around it'],
]

const SILENT: readonly string[] = [
  'println(pi)\nprintln(argv)',
  'let f = { n -> n > 0 ? f(n - 1) : 0 }\nf(1)',
  'fn a() { return b() }\nfn b() { return later }\nlet later = 1\na()',
  'let {a, b: c, ...rest} = {a: 1, b: 2}\nprintln(a + c)\nprintln(rest)',
  'let [x, y = 2, ...zs] = [1]\nprintln("${x} ${y} ${zs}")',
  'for (k, v) in {a: 1}.iter() { println("${k} ${v}") }',
  'match {a: 1} { {a: v} -> { println(v) } _ -> { println(0) } }',
  '[3, 1] |> _.sort() |> println',
  'var n = 1\nvar n = 2\nprintln(n)',
  'let a = 1\nfn f() { let a = 2\n return a }\nprintln(f() + a)',
  'let ns = [1].map(to_string)\nprintln(ns)',
  'fn f() { var n = 0\n let g = { -> n += 1\n return n }\n return g() }\nf()',
  'pipeline default(task) { println(1) }',
  'let task = 1\npipeline default(task) { println(task) }',
  'pipeline default(argv) { println(argv) }',
  'fn make() { return 1 }\nlet a = make()\nprintln(a)',
  'fn make() { return 1 }\nlet f = { -> make() }\npub fn get() { return f() }',
  'struct Box<T> { value: T }\nfn f<T>(b: Box<T>) -> T { return b.value }',
]

describe('names', () => {
  test.each(FOUND)('%s', (source, finding) => {
    expect(check(source, full)).toContain(finding)
  })

  test.each(SILENT)('no finding in %s', (source) => {
    expect(check(source, full).filter((each) => each.startsWith('E'))).toEqual([])
  })

  test('the findings do not stop a run', () => {
    for (const [source] of FOUND) expect(diagnose(source).filter(({ code }) => code >= 'N040' && code < 'N060')).toEqual([])
  })

  test('one near name is a repair', () => {
    const [finding] = diagnose('let price = 3\nprintln(prise)', full)
    expect(finding?.fix?.edits).toEqual([{ span: { start: 22, end: 27 }, text: 'price' }])
  })
})

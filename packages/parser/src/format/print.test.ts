import { describe, expect, test } from 'vitest'
import { parse } from '../parse.js'
import { SourceFile } from '../source.js'
import { randomProgram } from '../test-support/random-program.js'
import { print } from './format.js'
import { canonical } from './same-program.js'

const reprint = (text: string): string => {
  const { program, diagnostics } = parse(new SourceFile('test', text))
  if (program === null) throw new Error(diagnostics[0]?.message)
  return print(program)
}

describe('canonical text', () => {
  test.each<[string, string]>([
    ['let x=1;let y  =  2', 'let x = 1\n\nlet y = 2\n'],
    ['let f={->1}', 'let f = { -> 1 }\n'],
    ['let f={a,b=2->a;b}', 'let f = { a, b = 2 ->\n  a\n  b\n}\n'],
    ['let f = fn(a) { a }', 'let f = fn(a) { a }\n'],
    ['let x = (1 + 2) * 3', 'let x = (1 + 2) * 3\n'],
    ['let x = ((1 * 2) + 3)', 'let x = 1 * 2 + 3\n'],
    ['let x = (a ? b : c) + 1', 'let x = (a ? b : c) + 1\n'],
    ['let x = (1 to 3) == q', 'let x = (1 to 3) == q\n'],
    ['let x = (try* e) + 1', 'let x = (try* e) + 1\n'],
    ['let x = (f()?) - 1', 'let x = (f()?) - 1\n'],
    ['let x = (f()?).y', 'let x = (f()?).y\n'],
    ['let x = c ? ([1]) : [2]', 'let x = c ? ([1]) : [2]\n'],
    ['let x = (a < b) > (c || d)', 'let x = (a < b) > (c || d)\n'],
    ['if (Flag) { }', 'if (Flag) {\n}\n'],
    ['while (c) { break }', 'while c {\n  break\n}\n'],
    ['if a { 1 } else if b { 2 } else { 3 }', 'if a {\n  1\n} else if b {\n  2\n} else {\n  3\n}\n'],
    ['let d = {type: 1, "x y": 2, [k]: 3, ...s}', 'let d = {type: 1, ["x y"]: 2, [k]: 3, ...s}\n'],
    ['let d = {a: (f<fn() -> int>(1))}', 'let d = {a: (f<fn() -> int>(1))}\n'],
    ['let d = 1d + 90s + 1500ms', 'let d = 24h + 90s + 1500ms\n'],
    ['let s = "a\\n${x}\\${y}"', 'let s = "a\\n${x}\\${y}"\n'],
    ['let s = """\n  a\n  b\n"""', 'let s = """\na\nb\n"""\n'],
    ['let s = """\n  a\n    ${x}\n\n"""', 'let s = """\n  a${x}\n\n"""\n'],
    [
      '@test(a: [1, b], "c") pub fn f<T>(...r) -> T where T: I { }',
      '@test(a: [1, "b"], "c")\npub fn f<T>(...r) -> T where T: I {\n}\n',
    ],
    [
      '/** doc */ tool t(p: int = 1) -> string { description "d"; p }',
      '/** doc */\ntool t(p: int = 1) -> string {\n  description "d"\n  p\n}\n',
    ],
    // A quote at the very end cannot precede the closing three.
    ['f("""\n  a${1}"\n  """)', 'f("a${1}\\"")\n'],
  ])('%s', (text, expected) => {
    expect(reprint(text)).toBe(expected)
    expect(reprint(expected)).toBe(expected)
  })
})

describe('parse ∘ print is the identity on trees', () => {
  test.each([1, 2, 3, 4, 5, 6])('seeds %d000 and up', (thousand) => {
    for (let seed = thousand * 1000; seed < thousand * 1000 + 100; seed += 1) {
      const tree = randomProgram(seed)
      const text = print(tree)
      const { program, diagnostics } = parse(new SourceFile('random', text))
      expect(diagnostics, `seed ${seed}\n${text}`).toEqual([])
      expect(canonical(program), `seed ${seed}\n${text}`).toEqual(canonical(tree))
    }
  })
})

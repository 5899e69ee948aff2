// One walk over a tree finds the same as separate passes.

import { expect, test } from 'vitest'
import { parse, SourceFile } from '@bridle/parser'
import { callsAny, type Contents, listContents } from './contents.js'

function read(text: string): Contents {
  const { program } = parse(new SourceFile('main.harn', text))
  expect(program).not.toBeNull()
  return listContents(program!)
}

test('calls are found everywhere, also in string interpolations', () => {
  const found = read('@a\nfn f(x = one()) {\n  return { y -> [two(y)] }\n}\nprintln("${three(1)} ${{ z -> four(z) }}")\n')
  expect([...found.calls].sort()).toEqual(['four', 'one', 'println', 'three', 'two'])
  expect([...found.attributes]).toEqual(['a'])
  expect(callsAny(found, ['none', 'two'])).toBe(true)
  expect(callsAny(found, ['none'])).toBe(false)
})

test('declarations in string interpolations are not names of the file', () => {
  const found = read(
    'fn f(x) {\n  let [a, b] = x\n  return { y -> a + b + y }\n}\nprintln("${[1].map({ z -> z })} ${f([1, 2])}")\n',
  )
  expect([...found.declared].sort()).toEqual(['a', 'b', 'f', 'x', 'y'])
})

test('types declared in functions are types of the file', () => {
  expect([...read('struct A {\n  x: int\n}\nfn f() {\n  enum B {\n    C\n  }\n}\ntype D = int\n').types].sort()).toEqual([
    'A',
    'B',
    'D',
  ])
})

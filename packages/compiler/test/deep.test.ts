// Nesting: up to the parser's limit, everything is parsed, printed, checked and compiled; beyond it there is a diagnostic.

import { compileProgram } from '@bridle/compiler'
import { MAX_NESTING, parse, print, SourceFile } from '@bridle/parser'
import { expect, test } from 'vitest'

const DEEP = MAX_NESTING - 2
const LONG = 999

function compile(text: string): string {
  const { program, diagnostics } = compileProgram(
    { key: 'main.harn', text },
    {
      resolve: () => ({ kind: 'error', message: '' }),
      signatures: {
        has: () => false,
        effects: () => undefined,
        methodEffects: () => undefined,
        borrows: () => true,
        borrowsMethod: () => false,
        constants: [],
        names: [],
      },
    },
  )
  return program === null ? (diagnostics.find((one) => one.severity === 'error')?.message ?? 'no reason') : 'compiled'
}

const nest = (opening: string, core: string, closing: string, times: number, before = ''): string =>
  before + opening.repeat(times) + core + closing.repeat(times)

test.each([
  ['(', '1', ')'],
  ['[', '1', ']'],
  ['{ a: ', '1', '}', 'let x = '],
  ['{ -> ', '1', ' }', 'let x = '],
  ['if true { ', '1', ' }'],
  ['if ', 'true', ' { true }'],
  ['while false { ', '1', ' }'],
  ['for i in [] { ', '1', ' }'],
  ['!', 'true', '', 'let x = '],
  ['- ', '1', '', 'let x = '],
  ['f(', '1', ')', 'fn f(a) { a }\n'],
  ['a[', '0', ']', 'let a = [0]\n'],
  ['fn f() { ', '1', ' }'],
  ['try { ', '1', ' } catch e { 1 }'],
  ['retry 1 { ', '1', ' }'],
  ['parallel 1 { ', '1', ' }'],
  ['spawn { ', '1', ' }'],
  ['A { x: ', '1', ' }', 'struct A { x: any }\nlet v = '],
])('%s at the limit and far beyond it', (opening, core, closing, before = '') => {
  const text = nest(opening, core, closing, DEEP, before)
  expect(compile(text)).toBe('compiled')
  expect(print(parse(new SourceFile('x', text)).program!)).not.toBe('')
  expect(compile(nest(opening, core, closing, 10_000, before))).toMatch(/^Nesting deeper than/)
})

test.each([
  ['1 + ', '1'],
  ['true && ', 'true'],
  ['2 ** ', '1'],
  ['nil ?? ', '1'],
])('a chain of %s', (link, last) => {
  const text = `let x = ${link.repeat(LONG)}${last}`
  expect(compile(text)).toBe('compiled')
  expect(print(parse(new SourceFile('x', text)).program!)).not.toBe('')
  expect(compile(`let x = ${link.repeat(10_000)}${last}`)).toMatch(/^Nesting deeper than/)
})

test.each([
  ['fn f(a) { a }\nlet x = 1', ' |> f'],
  ['let a = {}\nlet x = a', '?.b'],
  ['let x = "a"', '.trim()'],
  ['if false { 1 }', ' else if false { 2 }'],
])('%s and a chain of%s', (first, link) => {
  expect(compile(first + link.repeat(LONG))).toBe('compiled')
  expect(compile(first + link.repeat(10_000))).toMatch(/^Nesting deeper than/)
})

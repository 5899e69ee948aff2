// What conformance/lint does not show: settings, and repairs that must not happen. The scripts there
// show the rules themselves, one each.

import { applyFixes, parse, SourceFile } from '@bridle/parser'
import { describe, expect, test } from 'vitest'
import { lintRule, lintRuleNames } from './catalog.js'
import { lintProgram, type LintOptions } from './lint.js'
import { pascalCase, snakeCase } from './naming.js'

function lint(text: string, options: Partial<LintOptions> = {}): { readonly rules: string[]; readonly fixed: string } {
  const file = new SourceFile('some-file.harn', text)
  const { program } = parse(file)
  const found = lintProgram(program!, { file, ...options })
  return { rules: found.map(({ code }) => lintRule(code) ?? code), fixed: applyFixes(text, found).text }
}

describe('settings', () => {
  test('rules are switched off by their name, or by an earlier one', () => {
    const text = 'fn _f() {\n  return 1\n  return 2\n}\n'
    expect(lint(text).rules).toEqual(['dead-code-after-return'])
    expect(lint(text, { disabled: ['dead-code-after-return'] }).rules).toEqual([])
    expect(lint(text, { disabled: ['unreachable-code'] }).rules).toEqual([])
    expect(lintRuleNames()).toContain('unreachable-code')
  })

  test('a header is required on request, and generated from the file name', () => {
    expect(lint('println(1)\n').rules).toEqual([])
    const { rules, fixed } = lint('println(1)\n', { requireFileHeader: true })
    expect(rules).toEqual(['require-file-header'])
    expect(fixed).toBe('/**\n * Some file.\n */\n\nprintln(1)\n')
    expect(lint(fixed, { requireFileHeader: true }).rules).toEqual([])
  })

  test('the limit of complexity', () => {
    const text = 'fn _f(x) {\n  if x { println(1) }\n}\n'
    expect(lint(text, { complexityThreshold: 2 }).rules).toEqual([])
    expect(lint(text, { complexityThreshold: 1 }).rules).toEqual(['cyclomatic-complexity'])
  })

  test('names that other files import count as used', () => {
    expect(lint('fn f() { return 1 }\n').rules).toEqual(['unused-function'])
    expect(lint('fn f() { return 1 }\n', { importedElsewhere: new Set(['f']) }).rules).toEqual([])
  })
})

test.each<[string, string]>([
  ['let _a = 1\n\nfn _f(_a) { return 1 }\n', '_a'],
  ['fn _f(x) {\n  match x {\n    1 -> { 2 }\n    1 -> { 3 }\n  }\n}\n', '1'],
])('%j points at the earlier place', (text, first) => {
  const file = new SourceFile('t', text)
  const [found] = lintProgram(parse(file).program!, { file })
  const at = text.indexOf(first)
  expect(found?.related.map(({ span }) => span)).toEqual([{ start: at, end: at + first.length }])
})

describe('repairs', () => {
  test.each<[string, string]>([
    // The span of an operand excludes parentheses around it.
    ['println(((a || b)) == false)', 'println(!(a || b))'],
    ['println(true != (a || b) && c)', 'println(!(a || b) && c)'],
    ['println((a + b).clone())', 'println((a + b).clone())'],
    ['println((a ? b : c) == (a ? b : c))', 'println((a ? b : c) == (a ? b : c))'],
    ['let _v = x == nil ? a || b : x', 'let _v = x ?? (a || b)'],
    ['if a { } else { b() }', 'if a { } else { b() }'],
    ['let {a} = b', 'let {a} = b'],
    ['fn _f(a) {\n  let x = (a)\n  return x\n}', 'fn _f(a) {\n  let x = (a)\n  return x\n}'],
    [
      'fn _f(a) {\n  if a { return 1 } /* why */ else { return 2 }\n}',
      'fn _f(a) {\n  if a { return 1 } /* why */ else { return 2 }\n}',
    ],
    [
      'fn _f(a) {\n  let x = if a { return 1 } else { return 2 }\n  x()\n}',
      'fn _f(a) {\n  let x = if a { return 1 } else { return 2 }\n  x()\n}',
    ],
  ])('%j', (text, expected) => {
    expect(lint(`${text}\n`).fixed).toBe(`${expected}\n`)
  })
})

test.each<[string, string]>([
  ['HTTPServer', 'http_server'],
  ['fooBar2Baz', 'foo_bar2_baz'],
  ['BadName', 'bad_name'],
])('%s in snake_case', (name, expected) => {
  expect(snakeCase(name)).toBe(expected)
})

test.each<[string, string]>([
  ['bad_struct', 'BadStruct'],
  ['HTTP_thing', 'HttpThing'],
  ['_Foo', 'Foo'],
  ['badEnum', 'BadEnum'],
])('%s in PascalCase', (name, expected) => {
  expect(pascalCase(name)).toBe(expected)
})

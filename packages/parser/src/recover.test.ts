// Reports for a source with several syntax errors: each certain error, in source order, and none that disappears
// when another is repaired.

import { describe, expect, test } from 'vitest'
import { parse } from './parse.js'
import { SourceFile } from './source.js'

function messages(text: string): readonly string[] {
  const { program, diagnostics } = parse(new SourceFile('test', text))
  expect(program).toBeNull()
  return diagnostics.map(({ message }) => message.replace(/^Expected /, ''))
}

const INNER = 'statement separator (`;` or newline)'

describe('several errors', () => {
  test.each<[string, string, readonly string[]]>([
    [
      'go on with the next statement of the block',
      'fn f() {\n  let a = )\n  let b = ]\n  return 1 +\n}\nlet = 5',
      [
        'expression, got ) at 2:11',
        'expression, got ] at 3:11',
        'expression, got } at 5:1',
        'variable name or destructuring pattern, got = at 6:5',
      ],
    ],
    [
      'parameters that are not closed',
      'fn f( {\n  println("x")\n}\nlet = 5',
      ['parameter name, got { at 1:7', 'variable name or destructuring pattern, got = at 4:5'],
    ],
    [
      'a statement that breaks off at the end of its line',
      'fn f() {\n  let a =\n  let b = [1, 2\n  let c = )\n}',
      ['expression, got let at 3:3', 'expression, got let at 4:3', 'expression, got ) at 4:11'],
    ],
    [
      'an entry of a dict',
      'let d = {\n  a: 1,\n  b 2,\n}\nlet = 1',
      [':, got int(2) at 3:5', 'variable name or destructuring pattern, got = at 5:5'],
    ],
    [
      'an arm of a match',
      'fn f() {\n  match x {\n    1 => { 2 }\n  }\n  let y = ]\n}',
      ['->, got = at 3:7', 'expression, got ] at 5:11'],
    ],
    ['a closure', 'xs.map({ x -> x. })\nlet y = ]', ['member name, got } at 1:18', 'expression, got ] at 2:9']],
    [
      'statements of which nothing is left',
      'fn f() {\n  while { x }\n  let s = 1\n  a b\n}',
      [':, got } at 2:13', `${INNER}, got id(b) at 4:5`],
    ],
    [
      'names of an import',
      'import { a from "x"\nfn f(a = 1, b) { }\nfn g(...r, b) { }',
      [
        "import name, got 'from' (reserved keyword) at 1:12",
        'Required parameter cannot follow a parameter with a default value, got ) at 2:14',
        'Rest parameter must be the last parameter, got , at 3:10',
      ],
    ],
    [
      'what the grammar cannot say comes in its place',
      'fn f(a = 1, b) { }\nlet x = )',
      ['Required parameter cannot follow a parameter with a default value, got ) at 1:14', 'expression, got ) at 2:9'],
    ],
    [
      'the end of the file, where all braces are seen',
      'fn f() {\n  let a = )\n  let b = 1\n',
      ['expression, got ) at 2:11', 'Unexpected end of file, expected }'],
    ],
    ['a brace too many', 'fn f() {\n  let a = )\n}\nlet b = 1\n}', ['expression, got ) at 2:11', 'expression, got } at 5:1']],
    ['no brace where one went with a cut', 'fn f() {\n  if a b {\n    c(\n  }\n}\nlet x = 1', ['{, got id(b) at 2:8']],
    [
      'no arm of a select that was cut',
      'fn f() {\n  select {\n    1 from c { }\n  }\n}',
      ['select case variable, got int(1) at 3:5'],
    ],
    [
      'a missing separator at the top stands alone',
      'let x = 1 let y = )',
      ['top-level item separator (`;` or newline), got let at 1:11'],
    ],
    ['as does what cannot be read at all', 'let x = )\nlet y = §', ["Unexpected character '§' at 2:9"]],
  ])('%s', (_, text, expected) => {
    expect(messages(text)).toEqual(expected)
  })

  test('twenty at most', () => {
    expect(messages('let x = )\n'.repeat(30))).toEqual(Array.from({ length: 20 }, (_, at) => `expression, got ) at ${at + 1}:9`))
  })

  test('few in a large file, where each requires matching the whole file again', () => {
    expect(messages(`${'let x = )\n'.repeat(2)}${'let y = [1, 2, 3]\n'.repeat(20_000)}`)).toEqual(['expression, got ) at 1:9'])
  })

  test('words within an expression do not begin a statement', () => {
    expect(messages('let a = (1 +\n  if b { 1 } else { 2 } 3)\nlet b = ]')).toEqual([
      '), got int(3) at 2:25',
      'expression, got ] at 3:9',
    ])
  })
})

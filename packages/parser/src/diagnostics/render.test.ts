import { describe, expect, test } from 'vitest'
import { parse } from '../parse.js'
import { SourceFile } from '../source.js'
import { CATALOG } from './catalog.js'
import type { Diagnostic } from './diagnostic.js'
import { diagnosticToJson, renderDiagnostic } from './render.js'

const render = (text: string): string => {
  const source = new SourceFile('demo.harn', text)
  return renderDiagnostic(parse(source).diagnostics[0]!, source)
}

const example: Diagnostic = {
  code: 'N001',
  severity: 'error',
  message: 'call target `prnt` is not defined or imported',
  span: { start: 4, end: 8 },
  hint: 'did you mean `print`?',
  related: [],
  fix: null,
}

describe('text', () => {
  test('in the layout of the language, without carets', () => {
    const source = new SourceFile('demo.harn', '\n \n  prnt("x")\n')
    expect(renderDiagnostic({ ...example, span: { start: 5, end: 9 } }, source, { carets: false })).toBe(
      [
        'error: call target `prnt` is not defined or imported',
        '  --> demo.harn:3:3',
        '   |',
        ' 3 |   prnt("x")',
        '   = help: did you mean `print`?',
        '',
      ].join('\n'),
    )
  })

  test('an unexpected token', () => {
    expect(render('let x = )')).toBe(
      [
        'error: expected expression, found )',
        '  --> demo.harn:1:9',
        '   |',
        ' 1 | let x = )',
        '   |         ^ unexpected token',
        '',
      ].join('\n'),
    )
  })

  test('the end of the file, with the open bracket', () => {
    expect(render('fn f() {\n  g()\n')).toBe(
      [
        'error: unexpected end of file, expected }',
        '  --> demo.harn:3:1',
        '   |',
        '   = note: opened here',
        '  --> demo.harn:1:8',
        '   |',
        ' 1 | fn f() {',
        '   |        ^',
        '   = help: add a closing `}` to finish this block',
        '',
      ].join('\n'),
    )
  })

  test('a line break in the wrong place', () => {
    expect(render('let x = a ?\n b : c')).toContain('^')
    expect(render('a.f(1) -> \n')).toContain('unexpected token')
    expect(render('for')).toContain('file ends here')
  })

  test('a lexical error, wide characters and tabs', () => {
    expect(render('\tlet é = "😀\n')).toBe(
      [
        'error: Unterminated string at 1:10',
        '  --> demo.harn:1:10',
        '   |',
        ' 1 | \tlet é = "😀',
        '   | \t        ^ here',
        '   = help: close it on the same line, or use """ for text of several lines',
        '',
      ].join('\n'),
    )
  })

  test('line numbers of different width share a margin, colour is optional', () => {
    const source = new SourceFile('x', '\n'.repeat(11) + 'abc')
    const text = renderDiagnostic(
      { ...example, span: { start: 11, end: 14 }, related: [{ span: { start: 0, end: 0 }, message: 'here too' }] },
      source,
    )
    expect(text).toContain('   --> x:12:1\n    |\n 12 | abc\n    | ^^^\n')
    expect(text).toContain('    = note: here too\n   --> x:1:1\n    |\n  1 |\n')
    expect(renderDiagnostic(example, source, { color: true })).toContain('\u001b[1;31merror\u001b[0m')
  })
})

test('JSON has lines and columns instead of offsets', () => {
  const source = new SourceFile('demo.harn', 'let x = )')
  expect(diagnosticToJson(parse(source).diagnostics[0]!, source)).toEqual({
    code: 'P001',
    severity: 'error',
    message: 'Expected expression, got ) at 1:9',
    file: 'demo.harn',
    line: 1,
    column: 9,
    endLine: 1,
    endColumn: 10,
    hint: null,
    related: [],
    fix: null,
  })
})

test('every code is documented', () => {
  for (const [code, row] of Object.entries(CATALOG)) {
    expect(code).toMatch(/^[PNTCL]\d{3}$/)
    expect(row.title.length, code).toBeGreaterThan(5)
    expect(row.doc.length, code).toBeGreaterThan(30)
  }
})

import { describe, expect, test } from 'vitest'
import { lex, type Payload } from './lexer.js'
import { tokenName } from './tokens.js'

const names = (text: string): string[] => [...lex(text).units].map((unit) => tokenName(unit.charCodeAt(0)))
const payload = (text: string): Payload | undefined => lex(text).payloads[0]
const value = (text: string): unknown => {
  const first = payload(text)
  return Array.isArray(first)
    ? first.map((piece: unknown) => (typeof piece === 'string' ? piece : (piece as { source: string }).source))
    : first
}

describe('tokens', () => {
  test.each<[string, string]>([
    ['let x = 1', 'let <ident> = <int>'],
    ['Foo größe _x', '<Ident> <ident> <ident>'],
    ['Éa', '<Ident>'],
    ['1.5 42.name 1e3', '<float> <int> . <ident> <int> <ident>'],
    ['5ms 5s 5m 5h 5d 5w', '<duration> <duration> <duration> <duration> <duration> <duration>'],
    ['5msx', '<duration> <ident>'],
    ['5sx 5s1 5s_', '<int> <ident> <int> <ident> <duration> <ident>'],
    ['1.5s', '<float> <ident>'],
    ['r"a" bar"x" r', '<rawString> <ident> <string> <ident>'],
    ['"" "a" """b""" "${a}" """${b}"""', '<string> <string> <triple> <interpolated> <interpolated>'],
    [
      'a==b!=c&&d||e|>f??g**h?.i->j<=k>=l',
      '<ident> == <ident> != <ident> && <ident> || <ident> |> <ident> ?? <ident> ** <ident> ?. <ident> -> <ident> <= <ident> >= <ident>',
    ],
    ['+= -= *= /= %= = ! . + - * / % < > ? | ( ) [ ] , : ; @ ...', '+= -= *= /= %= = ! . + - * / % < > ? | ( ) [ ] , : ; @ ...'],
    ['**= ??=', '** = ?? ='],
    ['interface in int', 'interface in <ident>'],
    ['const switch do class and or', '<ident> <ident> <ident> <ident> <ident> <ident>'],
  ])('%s', (text, expected) => {
    expect(names(text).join(' ')).toBe(expected)
  })

  test('line breaks, joined lines and comments', () => {
    expect(names('a\n\n  // c\n\t\nb \\\n c \\\r\n d /* x\n y */ e\r\n')).toEqual([
      '<ident>',
      '\n',
      '<ident>',
      '<ident>',
      '<ident>',
      '<ident>',
      '\n',
    ])
  })

  test('block comments nest', () => {
    expect(names('a /* x /* y */ z */ b')).toEqual(['<ident>', '<ident>'])
  })

  test('a #! line is skipped at the very start only', () => {
    expect(names('#!/usr/bin/env harn\nx')).toEqual(['\n', '<ident>'])
    expect(lex('\n#!x').error).toEqual({ kind: 'character', offset: 1, character: '#' })
    expect(lex('a # b').error).toEqual({ kind: 'character', offset: 2, character: '#' })
  })

  test.each<[string, string]>([
    ['{ x -> 1 }', '{->'],
    ['{ -> 1 }', '{->'],
    ['{a: 1}', '{'],
    ['{a: { x -> 1 }}', '{'],
    ['{a: f({ x -> 1 })}', '{'],
    ['{}', '{'],
  ])('brace of %s', (text, expected) => {
    expect(names(text)[0]).toBe(expected)
  })

  test('offsets are those of the file', () => {
    const stream = lex('ab "c" 😀', { base: 100 })
    expect([...stream.starts]).toEqual([100, 103])
    expect([...stream.ends]).toEqual([102, 106])
    expect(stream.error).toEqual({ kind: 'character', offset: 107, character: '😀' })
  })
})

describe('strings', () => {
  test.each<[string, unknown]>([
    [String.raw`"\n\t\\\"\$"`, '\n\t\\"$'],
    [String.raw`"\r\x41\u{1}\0"`, String.raw`\r\x41\u{1}\0`],
    ['"\\${x}"', '${x}'],
    ['"$ $x $"', '$ $x $'],
    ['"a\\\nb"', 'a\\\nb'],
    ['r"\\n${x}"', '\\n${x}'],
    ['"a${b}c"', ['a', 'b', 'c']],
    ['"${d["k"]}${len("x y")}"', ['', 'd["k"]', '', 'len("x y")', '']],
    ['"${{a: {b: 1}}.a}"', ['', '{a: {b: 1}}.a', '']],
    ['"${a +\n b}"', ['', 'a +\n b', '']],
    ['"\\\\${x}"', ['\\', 'x', '']],
    ['"${ x }"', ['', ' x ', '']],
  ])('%s', (text, expected) => {
    expect(value(text)).toEqual(expected)
  })

  test('an interpolation has its position', () => {
    expect(payload('"ab${cd}"')).toEqual(['ab', { source: 'cd', start: 5, depth: 1 }, ''])
  })

  test.each<[string, object]>([
    ['x = "abc', { kind: 'string', offset: 4, character: '' }],
    ['"abc\ndef"', { kind: 'string', offset: 0, character: '' }],
    ['"abc${x', { kind: 'string', offset: 0, character: '' }],
    ['"abc\\', { kind: 'string', offset: 0, character: '' }],
    ['r"abc\n"', { kind: 'string', offset: 0, character: '' }],
    ['"""abc"', { kind: 'string', offset: 0, character: '' }],
    ['"""a${b"""', { kind: 'string', offset: 0, character: '' }],
    ['a /* b /* c */', { kind: 'comment', offset: 2, character: '' }],
    ['"a${}"', { kind: 'character', offset: 5, character: '}' }],
    ['"a${ \n }"', { kind: 'character', offset: 8, character: '}' }],
    ['a & b', { kind: 'character', offset: 2, character: '&' }],
    ["'a'", { kind: 'character', offset: 0, character: "'" }],
    ['a \\ b', { kind: 'character', offset: 2, character: '\\' }],
    ['a ~ b', { kind: 'character', offset: 2, character: '~' }],
  ])('error in %s', (text, expected) => {
    expect(lex(text).error).toEqual(expected)
  })
})

describe('triple-quoted strings', () => {
  test.each<[string, string, unknown]>([
    ['empty', '""""""', ''],
    ['one line', '"""a "quoted" \\n b"""', 'a "quoted" \\n b'],
    ['first line break is dropped, indentation and last one too', '"""\n    hello\n      deep\n    """', 'hello\n  deep'],
    ['least indentation of lines that are not blank', '"""\n  a\n\n \t \n    b\n"""', 'a\n\n\n  b'],
    ['no indentation: blank lines stay, one line break goes', '"""\na\n  \n b\n"""', 'a\n  \n b'],
    ['all blank: kept as it is', '"""\n   \n  """', '   \n  '],
    ['text on the first line counts', '"""a\n  b"""', 'a\n  b'],
    ['tabs count like blanks', '"""\n\ta\n\t\tb\n"""', 'a\n\tb'],
    ['only one final line break goes', '"""\n  a\n\n"""', 'a\n'],
    ['interpolation: a piece before an expression loses its line break', '"""\n  a\n  ${n}\n  b\n"""', ['a', 'n', '\nb']],
    ['interpolation inside a line', '"""\n    hello\n      deep ${n}\n    end\n    """', ['hello\n  deep ', 'n', '\nend']],
    ['interpolation without indentation: pieces stay', '"""\na\n${n}\n  b\n"""', ['a\n', 'n', '\n  b\n']],
    ['interpolation without indentation: a blank last piece goes', '"""\na ${n}\n"""', ['a ', 'n', '']],
    ['interpolation with nothing but blanks', '"""\n  ${a} ${b}\n"""', ['  ', 'a', ' ', 'b', '']],
    ['interpolation: blanks between expressions are a blank line', '"""\n  x ${a} ${b}\n"""', ['x ', 'a', '', 'b', '']],
    ['a quote inside an expression', '"""${d["""k"""]}"""', ['', 'd["""k"""]', '']],
    ['blank interpolation is allowed', '"""a${ }b"""', ['a', ' ', 'b']],
  ])('%s', (_name, text, expected) => {
    expect(value(text)).toEqual(expected)
  })
})

describe('doc comments', () => {
  const doc = (text: string): string | undefined =>
    lex(text).docs.get([...lex(text).units].findIndex((unit) => tokenName(unit.charCodeAt(0)) === 'fn'))
  test.each<[string, string | undefined]>([
    ['/// one\nfn', 'one'],
    ['/// one\n/// two\nfn', 'one\ntwo'],
    ['/** one */ fn', 'one'],
    ['/**\n * one\n *\n *  two\n */\nfn', 'one\n\n two'],
    ['//// no\nfn', undefined],
    ['/*** no */\nfn', undefined],
    ['/**/\nfn', undefined],
    ['/// far\n\nfn', undefined],
    ['/// one\n// aside\nfn', 'one'],
    ['/// far\n\n/// near\nfn', 'near'],
  ])('%s', (text, expected) => {
    expect(doc(text)).toBe(expected)
  })
})

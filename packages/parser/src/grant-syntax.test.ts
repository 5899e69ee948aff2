import { describe, expect, test } from 'vitest'
import type { GrantStmt, Stmt } from './ast.js'
import { parse } from './parse.js'
import { print } from './format/format.js'
import { SourceFile } from './source.js'

const PRAGMA = '// @bridle grants\n'

function parseItems(text: string, extensions: readonly 'grants'[] = []): readonly Stmt[] {
  const { program, diagnostics } = parse(new SourceFile('t.harn', text), { extensions })
  expect(diagnostics.map(({ message }) => message)).toEqual([])
  return program!.items
}

function only(text: string): Omit<GrantStmt, 'span'> {
  const items = parseItems(PRAGMA + text)
  expect(items).toHaveLength(1)
  return plain(items[0]) as GrantStmt
}

/** Without spans, names as strings. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  if ('text' in value && 'span' in value) return value.text
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (/span$/i.test(key) ? [] : [[key, plain(item)] as const])),
  )
}

describe('statements', () => {
  test.each([
    ['use tool http.get as Fetch', { tool: 'http.get', server: false, version: null, alias: 'Fetch' }],
    ['use tool llm.chat@2 as Chat', { tool: 'llm.chat', server: false, version: '2', alias: 'Chat' }],
    ['use tool a.b@1.2.0 as Chat', { tool: 'a.b', server: false, version: '1.2.0', alias: 'Chat' }],
    ['use tool a.b@"^1.2" as Chat', { tool: 'a.b', server: false, version: '^1.2', alias: 'Chat' }],
    ['use tool mcp "http://x/mcp" as Docs', { tool: 'http://x/mcp', server: true, version: null, alias: 'Docs' }],
    ['use tool http as *', { tool: 'http', server: false, version: null, alias: null }],
  ])('%s', (text, expected) => {
    expect(only(text)).toEqual({ kind: 'UseTool', ...expected })
  })

  const entries = (list: readonly (readonly [string, unknown])[]): unknown => list.map(([key, value]) => ({ key, value }))

  test.each<[string, readonly (readonly [string, unknown])[]]>([
    ['grant Fetch domain "*.example.com"', [['domain', '*.example.com']]],
    [
      'grant Fetch domain "a.com" timeout_ms 5000',
      [
        ['domain', 'a.com'],
        ['timeout_ms', 5000],
      ],
    ],
    [
      'grant Fetch\n  domain "a.com"\n  timeout_ms 5000',
      [
        ['domain', 'a.com'],
        ['timeout_ms', 5000],
      ],
    ],
    [
      'grant Fetch { domain: ["a.com", "b.com"], temperature: 0.5 }',
      [
        ['domain', ['a.com', 'b.com']],
        ['temperature', { float: 0.5 }],
      ],
    ],
    [
      'grant Fetch effects ["http", "llm"] effect http',
      [
        ['effects', ['http', 'llm']],
        ['effect', 'http'],
      ],
    ],
    [
      'grant http.get shift -3 strict true',
      [
        ['shift', -3],
        ['strict', true],
      ],
    ],
  ])('%s', (text, expected) => {
    expect(only(text)).toMatchObject({ kind: 'Grant', entries: entries(expected) })
  })

  test('bind effect', () => {
    expect(only('bind effect database.read to Query')).toEqual({ kind: 'BindEffect', effect: 'database.read', alias: 'Query' })
  })

  test('a statement after the lines of a grant is not part of it', () => {
    const items = parseItems(`${PRAGMA}grant Fetch\n  domain "a.com"\nprintln(1)\nlet x = 1`)
    expect(items.map(({ kind }) => kind)).toEqual(['Grant', 'ExprStmt', 'Let'])
  })

  test('inside a function', () => {
    const [, fn] = parseItems(
      `${PRAGMA}use tool http.get as Fetch\nfn f() {\n  grant Fetch domain "a.com"\n  return Fetch(url: "x", n: 1)\n}`,
    )
    expect(fn).toMatchObject({ kind: 'FnDecl', body: { body: [{ kind: 'Grant' }, { kind: 'Return' }] } })
  })

  test('named arguments are the fields of one dict', () => {
    const items = parseItems(`${PRAGMA}use tool http.get as Fetch\nFetch(\n  url: "x",\n  headers: {a: 1},\n)`)
    expect(items[1]).toMatchObject({
      value: {
        kind: 'Call',
        args: [{ value: { kind: 'Dict', entries: [{ key: { text: 'url' } }, { key: { text: 'headers' } }] } }],
      },
    })
  })

  test('inside a string too', () => {
    const items = parseItems(`${PRAGMA}use tool http.get as Fetch\n"${'${Fetch(url: "x").body}'}"`)
    expect(JSON.stringify(items[1])).toContain('"kind":"Dict"')
  })

  test('with `as *` any call may have them, but not other constructs that look like calls', () => {
    const items = parseItems(
      `${PRAGMA}use tool http as *\nenum E {\n  A(x: int)\n  B(y: int)\n}\nfn f(a: int) { return get(url: "x") }\ntool g(a: int) -> int {\n  a\n}\n@note(a: 1)\nfn h() { }`,
    )
    expect(items.map(({ kind }) => kind)).toEqual(['UseTool', 'EnumDecl', 'FnDecl', 'ToolDecl', 'FnDecl'])
  })

  test('printed source means the same', () => {
    const text = [
      'use tool http.get@2 as Fetch',
      'grant Fetch domain "a.com" n [1, 2.5, "x"]',
      'bind effect http to Fetch',
      'use tool mcp "u" as Docs',
      'use tool http as *',
      '',
    ].join('\n')
    const { program } = parse(new SourceFile('t.harn', text), { extensions: ['grants'] })
    // A printed program enables the extension itself.
    expect(print(program!)).toBe(`${PRAGMA}\n${text}`)
  })
})

describe('files that do not enable it', () => {
  const names = 'let use = 1\nlet grant = use\nlet bind = {effect: grant}\nprintln(use + grant, bind.effect)\nuse = 2'

  test('the words are names', () => {
    expect(parseItems(names.replaceAll('let use', 'var use'))).toHaveLength(5)
  })

  test('the words stay names elsewhere in a file that enables it', () => {
    expect(parseItems(names, ['grants']).map(({ kind }) => kind)).not.toContain('Grant')
  })

  test.each([
    'use tool http.get as Fetch',
    'grant Fetch domain "x"',
    'bind effect http to Fetch',
    '\n\nlet x = 1\n// @bridle grants\ngrant F a 1',
  ])('%j is a syntax error', (text) => {
    expect(parse(new SourceFile('t.harn', text)).diagnostics.map(({ code }) => code)).toEqual(['P001'])
  })

  test('no message mentions the extension', () => {
    const texts = ['let x = )', 'fn f( {', 'f(x y)', 'f(a: 1)', '@', 'if', 'let x = 1 let y', '']
    for (const text of texts) {
      const { diagnostics } = parse(new SourceFile('t.harn', text))
      expect(diagnostics.map(({ message }) => message).join()).not.toMatch(/<|grant|bind/)
    }
  })
})

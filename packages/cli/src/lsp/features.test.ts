// Answers of the server, as a client based on the protocol's own library receives them.

import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type {
  CallHierarchyIncomingCall,
  CallHierarchyItem,
  CallHierarchyOutgoingCall,
  CodeLens,
  DocumentHighlight,
  DocumentLink,
  DocumentSymbol,
  FoldingRange,
  Hover,
  InlayHint,
  Location,
  SelectionRange,
  SignatureHelp,
  SymbolInformation,
  TextEdit,
  WorkspaceEdit,
} from 'vscode-languageserver/node'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import { applyTo, placeOf, TestClient, textAt } from './test-support/client.js'

let client: TestClient
let names: Record<string, unknown>
beforeAll(async () => {
  client = new TestClient()
  const { capabilities } = await client.start({ textDocument: { rename: { prepareSupport: true } } })
  names = capabilities as Record<string, unknown>
})
afterAll(() => client.stop())

let files = 0
const open = (text: string): Promise<TextDocument> => client.open(`script${++files}.harn`, text)
const showPlaces = (document: TextDocument, found: readonly Location[]): string[] =>
  found.map(({ uri, range }) => `${uri.slice(uri.lastIndexOf('/') + 1)}:${range.start.line}:${range.start.character}`)

test('every capability is declared', () => {
  expect(names).toMatchObject({
    signatureHelpProvider: { triggerCharacters: expect.arrayContaining(['(']) as string[] },
    semanticTokensProvider: { full: { delta: true }, range: true },
    renameProvider: { prepareProvider: true },
    diagnosticProvider: { interFileDependencies: true, workspaceDiagnostics: true },
    codeActionProvider: {
      codeActionKinds: expect.arrayContaining([
        'quickfix',
        'refactor.extract',
        'refactor.inline',
        'source.fixAll',
        'source.organizeImports',
      ]) as string[],
    },
  })
  for (const name of [
    'inlayHint',
    'foldingRange',
    'documentHighlight',
    'workspaceSymbol',
    'selectionRange',
    'callHierarchy',
    'codeLens',
    'typeDefinition',
    'implementation',
    'documentLink',
    'documentRangeFormatting',
    'documentOnTypeFormatting',
  ])
    expect(names, name).toHaveProperty(`${name}Provider`)
})

describe('across files', () => {
  const LIBRARY = `/** Adds up the cents. */
pub fn total(orders: list) -> int {
  return orders.count
}
pub struct Order {
  cents: int
}
fn own() {
  return total([])
}
`
  const USER = `import { total } from "./library"
println(total([1]))
fn more() {
  return total([])
}
println(more())
`
  const WILD = `import "./library"
println(total([2]))
`
  let library: TextDocument
  let user: TextDocument
  beforeAll(async () => {
    library = await client.open('library.harn', LIBRARY)
    user = await client.open('user.harn', USER)
    // The file is not open.
    client.write('folder/../wild.harn', WILD)
  })

  test('the hover of an imported function has its signature and documentation', async () => {
    const { contents } = await client.ask<Hover>('hover', user, placeOf(user, 'total', 1))
    const { value } = contents as { value: string }
    expect(value).toContain('fn total(orders: list) -> int')
    expect(value).toContain('Adds up the cents.')
    expect(value).toContain('./library')
  })

  test('so does the hover of a function of the library', async () => {
    const document = await open('import { tool_call } from "std/tools"\nprintln(tool_call("a", {}))\n')
    const { contents } = await client.ask<Hover>('hover', document, placeOf(document, 'tool_call', 1))
    expect((contents as { value: string }).value).toMatch(/fn tool_call\([\s\S]*std\/tools`/)
  })

  test('definition of a function of the library, in a copy that is for reading', async () => {
    const cache = mkdtempSync(join(tmpdir(), 'bridle-lsp-std-'))
    const before = process.env['BRIDLE_COMPILE_CACHE']
    process.env['BRIDLE_COMPILE_CACHE'] = cache
    try {
      const document = await open('import { tool_call } from "std/tools"\nprintln(tool_call("a", {}))\n')
      const found = await client.ask<Location>('definition', document, placeOf(document, 'tool_call', 1))
      const path = fileURLToPath(found.uri)
      expect(path.startsWith(cache)).toBe(true)
      expect(basename(path)).toBe('tools.harn')
      expect(readFileSync(path, 'utf8').split('\n')[found.range.start.line]).toContain('fn tool_call(')
      expect(statSync(path).mode & 0o222).toBe(0)
      expect(await client.ask<Location>('definition', document, placeOf(document, 'tool_call', 1))).toEqual(found)
      process.env['BRIDLE_COMPILE_CACHE'] = 'off'
      expect(await client.ask<Location>('definition', document, placeOf(document, 'tool_call', 1))).toBeNull()
    } finally {
      if (before === undefined) delete process.env['BRIDLE_COMPILE_CACHE']
      else process.env['BRIDLE_COMPILE_CACHE'] = before
      rmSync(cache, { recursive: true, force: true })
    }
  })

  test('definition', async () => {
    const found = await client.ask<Location>('definition', user, placeOf(user, 'total', 1))
    expect(showPlaces(user, [found])).toEqual(['library.harn:1:7'])
  })

  test('references are found in files that are not open', async () => {
    const found = await client.ask<Location[]>('references', library, placeOf(library, 'total'), {
      context: { includeDeclaration: true },
    })
    expect(showPlaces(library, found).toSorted()).toEqual([
      'library.harn:1:7',
      'library.harn:8:9',
      'user.harn:0:9',
      'user.harn:1:8',
      'user.harn:3:9',
      'wild.harn:1:8',
    ])
    const without = await client.ask<Location[]>('references', user, placeOf(user, 'total', 2), {
      context: { includeDeclaration: false },
    })
    expect(without).toHaveLength(5)
  })

  test('rename changes all of them, from any occurrence', async () => {
    expect(await client.ask('prepareRename', user, placeOf(user, 'total', 1))).toMatchObject({ placeholder: 'total' })
    const { changes } = await client.ask<WorkspaceEdit>('rename', user, placeOf(user, 'total', 1), { newName: 'sum_up' })
    const counts = Object.entries(changes!).map(([uri, edits]) => [uri.slice(uri.lastIndexOf('/') + 1), edits.length])
    expect(Object.fromEntries(counts)).toEqual({ 'library.harn': 2, 'user.harn': 3, 'wild.harn': 1 })
    expect(applyTo(user, { changes: changes! })).toBe(USER.replaceAll('total', 'sum_up'))
  })

  test('a name that another file already has is refused', async () => {
    await expect(client.ask('rename', library, placeOf(library, 'total'), { newName: 'more' })).rejects.toThrow(
      /`more` is already a function here .*user\.harn/,
    )
  })

  test('a name that the files do not declare cannot be renamed', async () => {
    expect(await client.ask('prepareRename', user, placeOf(user, 'println'))).toBeNull()
    const document = await open('import { tool_call } from "std/tools"\nprintln(tool_call("a", {}))\n')
    expect(await client.ask('prepareRename', document, placeOf(document, 'tool_call', 1))).toBeNull()
  })

  test('symbols of the workspace', async () => {
    const found = await client.request<SymbolInformation[]>('workspace/symbol', { query: 'ttl' })
    expect(found.map(({ name, location }) => [name, location.uri])).toEqual([['total', client.toUri('library.harn')]])
    const all = await client.request<SymbolInformation[]>('workspace/symbol', { query: 'cents' })
    expect(all).toMatchObject([{ name: 'cents', containerName: 'Order' }])
  })

  test('calls', async () => {
    const [item] = await client.ask<CallHierarchyItem[]>('prepareCallHierarchy', user, placeOf(user, 'total', 1))
    expect(item).toMatchObject({ name: 'total', uri: client.toUri('library.harn') })
    const incoming = await client.request<CallHierarchyIncomingCall[]>('callHierarchy/incomingCalls', { item })
    const shown = incoming.map(({ from, fromRanges }) => `${from.name} ${fromRanges.length}`)
    expect(shown.toSorted()).toEqual(['more 1', 'own 1', 'user.harn 1', 'wild.harn 1'])
    const [more] = await client.ask<CallHierarchyItem[]>('prepareCallHierarchy', user, placeOf(user, 'more'))
    const outgoing = await client.request<CallHierarchyOutgoingCall[]>('callHierarchy/outgoingCalls', { item: more })
    expect(outgoing).toMatchObject([{ to: { name: 'total' }, fromRanges: [{ start: { line: 3 } }] }])
  })

  test('signature help of imported functions', async () => {
    const help = await client.ask<SignatureHelp>('signatureHelp', user, { line: 1, character: 14 })
    expect(help).toMatchObject({
      activeParameter: 0,
      signatures: [{ label: 'total(orders: list) -> int', documentation: 'Adds up the cents.' }],
    })
  })

  test('links', async () => {
    client.write('greeting.harn.prompt', 'Hello\n')
    const document = await open('import "./library"\nprintln(render_prompt("greeting.harn.prompt", {}), total([]))\n')
    const found = await client.ask<DocumentLink[]>('documentLink', document)
    expect(found.map(({ target, range }) => [textAt(document, range), target])).toEqual([
      ['./library', client.toUri('library.harn')],
      ['greeting.harn.prompt', client.toUri('greeting.harn.prompt')],
    ])
  })
})

describe('in one file', () => {
  const SHAPES = `interface Area {
  fn area(self) -> int
}
struct Square {
  side: int
}
impl Square {
  fn area(self) -> int {
    return self.side * self.side
  }
}
enum Colour {
  Red
  Green
}
fn grow(shape: Square) -> Square {
  return Square({side: shape.side + 1})
}
let first = Square({side: 2})
let second = grow(first)
println(second.area(), Colour.Red)
`
  let shapes: TextDocument
  beforeAll(async () => {
    shapes = await open(SHAPES)
  })

  test('the outline contains nested declarations', async () => {
    const found = await client.ask<DocumentSymbol[]>('documentSymbol', shapes)
    const show = ({ name, children }: DocumentSymbol): string =>
      children === undefined ? name : `${name}(${children.map(show).join(' ')})`
    expect(found.map(show)).toEqual([
      'Area(area)',
      'Square(side)',
      'impl Square(area)',
      'Colour(Red Green)',
      'grow',
      'first',
      'second',
    ])
  })

  test('type definition', async () => {
    const found = await client.ask<Location[]>('typeDefinition', shapes, placeOf(shapes, 'second', 1))
    expect(showPlaces(shapes, found)).toEqual([`${shapes.uri.slice(shapes.uri.lastIndexOf('/') + 1)}:3:7`])
    const parameter = await client.ask<Location[]>('typeDefinition', shapes, placeOf(shapes, 'shape.side'))
    expect(parameter).toMatchObject([{ range: { start: { line: 3 } } }])
  })

  test('implementations of an interface, of its method, and of a struct', async () => {
    const lines = async (word: string, nth = 0): Promise<number[]> =>
      (await client.ask<Location[]>('implementation', shapes, placeOf(shapes, word, nth))).map(({ range }) => range.start.line)
    expect(await lines('Area')).toEqual([6])
    expect(await lines('area')).toEqual([7])
    expect(await lines('Square')).toEqual([6])
  })

  test('highlights distinguish reads from writes', async () => {
    const document = await open('var n = 1\nn = n + 1\nprintln(n)\n')
    const found = await client.ask<DocumentHighlight[]>('documentHighlight', document, placeOf(document, 'n'))
    expect(found.map(({ range, kind }) => [range.start.line, range.start.character, kind])).toEqual([
      [0, 4, 3],
      [1, 0, 3],
      [1, 4, 2],
      [2, 8, 2],
    ])
  })

  test('a field that a pattern names keeps its name when the variable is renamed', async () => {
    const document = await open('let {a, b} = {a: 1, b: 2}\nprintln(a + b)\n')
    const edit = await client.ask<WorkspaceEdit>('rename', document, placeOf(document, 'a +'), { newName: 'first' })
    expect(applyTo(document, edit)).toBe('let {a: first, b} = {a: 1, b: 2}\nprintln(first + b)\n')
  })

  test('a new name that an inner scope declares is refused', async () => {
    const document = await open('let a = 1\nfn f(b) {\n  return a + b\n}\nprintln(f(a))\n')
    await expect(client.ask('rename', document, placeOf(document, 'a'), { newName: 'b' })).rejects.toThrow('already a parameter')
  })

  test('folding', async () => {
    const document = await open(`import "std/math"
import "std/text"

// One
// two
fn f() {
  let x = [
    1,
    2
  ]
  return x
}
/* three
   lines
*/
println(f())
`)
    const found = await client.ask<FoldingRange[]>('foldingRange', document)
    expect(found.map(({ startLine, endLine, kind }) => [startLine, endLine, kind ?? 'code'])).toEqual([
      [0, 1, 'imports'],
      [3, 4, 'comment'],
      [5, 10, 'code'],
      [6, 8, 'code'],
      [12, 14, 'comment'],
    ])
  })

  test('selections grow', async () => {
    const document = await open('fn f(a) {\n  return a + g(a, 1)\n}\nfn g(a, b) {\n  return a * b\n}\nprintln(f(1))\n')
    const [found] = await client.ask<SelectionRange[]>('selectionRange', document, null, {
      positions: [placeOf(document, 'a, 1')],
    })
    const texts: string[] = []
    for (let at = found; at !== undefined; at = at.parent) texts.push(textAt(document, at.range))
    expect(texts.slice(0, 4)).toEqual(['a', 'g(a, 1)', 'a + g(a, 1)', 'return a + g(a, 1)'])
    expect(texts.at(-1)).toBe(document.getText())
  })

  test('lenses run the script and its tests', async () => {
    const script = await open('println(1)\n')
    expect(await client.ask<CodeLens[]>('codeLens', script)).toMatchObject([
      { command: { command: 'bridle.run', arguments: [script.uri] } },
    ])
    const tests = await open('pipeline test_one() {\n  assert(true)\n}\n@test\npipeline two() {\n  assert(true)\n}\n')
    const found = await client.ask<CodeLens[]>('codeLens', tests)
    expect(found.map(({ command, range }) => [range.start.line, command!.command, command!.arguments!.slice(1)])).toEqual([
      [0, 'bridle.testFile', []],
      [0, 'bridle.test', ['test_one']],
      [4, 'bridle.test', ['two']],
    ])
    const library = await open('pub fn f() {\n  return 1\n}\n')
    expect(await client.ask('codeLens', library)).toEqual([])
  })

  test('inlay hints', async () => {
    const document = await open(
      'fn area(width: int, height: int) -> int {\n  return width * height\n}\nlet a = area(2, 3)\nlet b = 4\nprintln(a + b)\n',
    )
    const found = await client.ask<InlayHint[]>('inlayHint', document, null, {
      range: { start: { line: 0, character: 0 }, end: { line: 6, character: 0 } },
    })
    expect(found.map(({ label, position }) => [label, position.line, position.character])).toEqual([
      [': int', 3, 5],
      ['width:', 3, 13],
      ['height:', 3, 16],
    ])
    const none = await client.ask<InlayHint[]>('inlayHint', document, null, {
      range: { start: { line: 4, character: 0 }, end: { line: 6, character: 0 } },
    })
    expect(none).toEqual([])
  })

  test('signature help of functions of the file, builtins and methods', async () => {
    const document = await open('fn area(width: int, height: int) -> int {\n  return width * height\n}\nprintln(area(2, 3))\n')
    const help = await client.ask<SignatureHelp>('signatureHelp', document, { line: 3, character: 16 })
    expect(help).toMatchObject({ activeParameter: 1, signatures: [{ label: 'area(width: int, height: int) -> int' }] })
    const broken = await client.change(document, `${document.getText()}let x = [1].slice(\n`)
    const method = await client.ask<SignatureHelp>('signatureHelp', broken, { line: 4, character: 18 })
    expect(method.signatures.map(({ label }) => label)).toContainEqual(expect.stringContaining('list.slice('))
  })
})

describe('layout', () => {
  const UGLY = 'fn f(a){\nreturn a+1\n}\nfn g(a){\nreturn a+2\n}\nprintln(f(1)+g(2))\n'

  test('of a range', async () => {
    const document = await open(UGLY)
    const edits = await client.ask<TextEdit[]>('rangeFormatting', document, null, {
      range: { start: { line: 3, character: 0 }, end: { line: 5, character: 1 } },
      options: { tabSize: 2, insertSpaces: true },
    })
    const made = applyTo(document, edits)
    expect(made).toContain('fn g(a) {\n  return a + 2\n}')
    expect(made).toContain('fn f(a){\nreturn a+1\n}')
    expect(made).toContain('println(f(1)+g(2))')
  })

  test('of a block when its brace is closed, and of a new line', async () => {
    const document = await open(UGLY)
    const options = { tabSize: 2, insertSpaces: true }
    const edits = await client.ask<TextEdit[]>('onTypeFormatting', document, { line: 2, character: 1 }, { ch: '}', options })
    const made = applyTo(document, edits)
    expect(made).toContain('fn f(a) {\n  return a + 1\n}')
    expect(made).toContain('fn g(a){')
    const typing = await open('fn f() {\n  if true {\n\n')
    const line = await client.ask<TextEdit[]>('onTypeFormatting', typing, { line: 2, character: 0 }, { ch: '\n', options })
    expect(applyTo(typing, line)).toBe('fn f() {\n  if true {\n    \n')
    const closing = await open('fn f() {\n  if true {\n    }\n')
    const brace = await client.ask<TextEdit[]>('onTypeFormatting', closing, { line: 2, character: 5 }, { ch: '}', options })
    expect(applyTo(closing, brace)).toBe('fn f() {\n  if true {\n  }\n')
  })
})

// The language server with a hostile editor and hostile documents: after each attack it still answers, and its messages follow
// the protocol. In this process, over a pair of streams.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FrameCutter } from './frames.js'
import { serveLanguage } from './server.js'

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly params?: { readonly [key: string]: unknown }
}

interface Published {
  readonly uri: string
  readonly version: number
  readonly diagnostics: readonly { readonly message: string; readonly code?: string; readonly range: unknown }[]
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-lsp-')))
mkdirSync(join(folder, '.git'))
const OK = pathToFileURL(join(folder, 'ok.harn')).href
afterAll(() => rmSync(folder, { recursive: true, force: true }))

class Editor {
  readonly heard: Message[] = []
  readonly ended: Promise<number>
  private readonly input = new PassThrough()
  private asked = 0
  private wake: () => void = () => {}

  constructor() {
    const output = new PassThrough()
    const cutter = new FrameCutter({
      onMessage: (text) => {
        this.heard.push(JSON.parse(text) as Message)
        this.wake()
      },
      onDamage: (why) => {
        throw new Error(why)
      },
    })
    output.on('data', (chunk: Buffer) => cutter.push(chunk))
    this.ended = serveLanguage(this.input, output)
  }

  writeRaw(text: string | Buffer): void {
    this.input.write(text)
  }

  writeFrame(text: string): void {
    this.writeRaw(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }

  send(message: object): void {
    this.writeFrame(JSON.stringify(message))
  }

  notify(method: string, params?: unknown): void {
    this.send({ jsonrpc: '2.0', method, params })
  }

  async waitUntil(accepts: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.heard.find(accepts)
      if (found !== undefined) return found
      await new Promise<void>((woken) => (this.wake = woken))
    }
  }

  request(method: string, params?: unknown): Promise<Message> {
    const id = `request ${++this.asked}`
    this.send({ jsonrpc: '2.0', id, method, params })
    return this.waitUntil((message) => message.id === id && message.method === undefined)
  }

  open(uri: string, text: string, version = 1): Promise<Published> {
    this.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'harn', version, text } })
    return this.awaitPublished(uri, version)
  }

  async awaitPublished(uri: string, version: number): Promise<Published> {
    const { params } = await this.waitUntil(
      ({ method, params: of }) =>
        method === 'textDocument/publishDiagnostics' && of?.['uri'] === uri && of['version'] === version,
    )
    return params as unknown as Published
  }

  /** Codes of the errors that belong to no request. */
  get complaints(): readonly number[] {
    return this.heard.flatMap(({ id, error }) => (id === null && error !== undefined ? [error.code] : []))
  }

  /** Messages of the server for people. */
  get logged(): string {
    return this.heard
      .flatMap(({ method, params }) => (method === 'window/logMessage' ? [String(params?.['message'])] : []))
      .join('\n')
  }

  end(): Promise<number> {
    this.input.end()
    return this.ended
  }
}

let editor: Editor
beforeEach(async () => {
  editor = new Editor()
  await editor.request('initialize', { processId: null, rootUri: null, capabilities: {} })
  editor.notify('initialized', {})
  await editor.open(OK, 'let x = 1\nprintln(x)\n')
})
/** After every attack. */
afterEach(async () => {
  const { result } = await editor.request('textDocument/documentSymbol', { textDocument: { uri: OK } })
  expect(result).toMatchObject([{ name: 'x' }])
  expect(JSON.stringify(editor.heard)).not.toMatch(/Cannot (read|convert|destructure)|is not (a function|iterable)|RangeError/)
  expect(await editor.end()).toBe(1)
})

const REQUEST = '{"jsonrpc":"2.0","id":5,"method":"textDocument/nothing"}'

describe('frames', () => {
  const frameText = (text: string): string => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  test.each<[string, string]>([
    ['a length that is no number', 'Content-Length: abc\r\n\r\n{}'],
    ['a negative length', 'Content-Length: -5\r\n\r\n{}'],
    ['a length beyond all messages', 'Content-Length: 999999999999\r\n\r\n{}'],
    ['a length in another notation', 'Content-Length: 0x10\r\n\r\n{}'],
    ['no length', 'Foo: bar\r\n\r\n{}'],
    ['an endless header', `X: ${'a'.repeat(100_000)}`],
    ['an endless header that ends', `X: ${'a'.repeat(100_000)}\r\n\r\n`],
    ['another charset', 'Content-Length: 2\r\nContent-Type: x; charset=utf-7\r\n\r\n{}'],
    ['no JSON', frameText('{nope')],
    ['nothing', frameText('')],
  ])('%s is answered with a parse error, and the next message is read', async (_, bytes) => {
    editor.writeRaw(bytes)
    editor.writeFrame(REQUEST)
    expect(await editor.waitUntil(({ id }) => id === 5)).toMatchObject({ error: { code: -32_601 } })
    expect(editor.complaints).toEqual([-32_700])
  })

  test('a message may arrive byte by byte, and two in one chunk', async () => {
    for (const byte of Buffer.from(frameText(REQUEST))) editor.writeRaw(Buffer.from([byte]))
    await editor.waitUntil(({ id }) => id === 5)
    editor.writeRaw(frameText(REQUEST.replace('5', '6')) + frameText(REQUEST.replace('5', '7')))
    await editor.waitUntil(({ id }) => id === 7)
    expect(editor.complaints).toEqual([])
  })

  test('a message that is too long is not buffered', () => {
    const heard: string[] = []
    const cutter = new FrameCutter({ onMessage: (text) => heard.push(text), onDamage: (why) => heard.push(`damage: ${why}`) })
    const mega = Buffer.alloc(1 << 20, 'a')
    cutter.push(Buffer.from(`Content-Length: ${300 << 20}\r\n\r\n`))
    for (let at = 0; at < 300; at++) cutter.push(mega)
    cutter.push(Buffer.from(frameText('{}')))
    expect(heard).toEqual(['damage: a message of 314572800 bytes was left out; 67108864 is the limit', '{}'])
  })
})

describe('messages', () => {
  test.each<[string, string]>([
    ['a batch', `[${REQUEST}]`],
    ['null', 'null'],
    ['a number', '5'],
    ['an empty object', '{}'],
    ['a deep object', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"shutdown"}'],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"shutdown"}'],
    ['an id that no double holds', '{"jsonrpc":"2.0","id":9007199254740993,"method":"shutdown"}'],
    ['an endless id', '{"jsonrpc":"2.0","id":1e999,"method":"shutdown"}'],
    ['an answer without an id', '{"jsonrpc":"2.0","result":1}'],
  ])('%s is an invalid request', async (_, text) => {
    editor.writeFrame(text)
    await editor.request('textDocument/nothing')
    expect(editor.complaints).toEqual([-32_600])
  })

  test.each<[string, string, number]>([
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":5,"method":"shutdown"}', -32_600],
    ['a method that is no string', '{"jsonrpc":"2.0","id":5,"method":{}}', -32_600],
    ['initialize a second time', '{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"capabilities":{}}}', -32_600],
    ['a method of another name', REQUEST, -32_601],
    ...['__proto__', 'constructor', 'toString'].map((name): [string, string, number] => [
      name,
      REQUEST.replace('textDocument/nothing', name),
      -32_601,
    ]),
    ['parameters that are a number', REQUEST.replace('}', ',"params":5}'), -32_602],
    // Of duplicate keys the last one counts, as in every JSON parser.
    ['keys twice', '{"jsonrpc":"2.0","id":4,"id":5,"method":"shutdown","method":"textDocument/nothing"}', -32_601],
  ])('%s', async (_, text, code) => {
    editor.writeFrame(text)
    expect(await editor.waitUntil(({ id }) => id === 5)).toMatchObject({ error: { code } })
  })

  test('an id that is already in use', async () => {
    const hover = { jsonrpc: '2.0', id: 5, method: 'textDocument/documentSymbol', params: { textDocument: { uri: OK } } }
    editor.send(hover)
    editor.send(hover)
    await editor.request('textDocument/nothing')
    const answers = editor.heard.filter(({ id }) => id === 5)
    expect(new Set(answers.map(({ error }) => error?.code ?? 0))).toEqual(new Set([-32_600, 0]))
  })

  test('responses to no request, and cancellation of unknown requests', async () => {
    for (const id of [1, 'x', '__proto__']) editor.send({ jsonrpc: '2.0', id, result: {} })
    for (const id of [1, '__proto__', {}, null]) editor.notify('$/cancelRequest', { id })
    editor.notify('$/cancelRequest', null)
    editor.notify('$/setTrace', null)
    await editor.request('textDocument/nothing')
    expect(editor.complaints).toEqual([])
  })

  const at = { textDocument: { uri: OK }, position: { line: 0, character: 4 } }
  test.each<[string, unknown]>([
    ['hover', null],
    ['hover', [1]],
    ['hover', {}],
    ['hover', { textDocument: { uri: OK } }],
    ['hover', { textDocument: { uri: 5 }, position: at.position }],
    ['completion', { ...at, position: { line: 'a', character: {} } }],
    ['definition', { ...at, position: { line: -1, character: 0.5 } }],
    ['references', at],
    ['rename', at],
    ['rename', { ...at, newName: {} }],
    ['documentSymbol', {}],
    ['formatting', null],
    ['codeAction', { textDocument: { uri: OK } }],
    ['codeAction', { textDocument: { uri: OK }, range: { start: null } }],
  ])('%s with %j is refused as such', async (method, params) => {
    expect(await editor.request(`textDocument/${method}`, params)).toMatchObject({
      error: { code: -32_602, message: expect.stringContaining(`textDocument/${method}: params`) as string },
    })
  })

  test('positions beyond the text mean its end', async () => {
    const far = { line: 2_000_000_000, character: 2_000_000_000 }
    for (const method of ['hover', 'completion', 'definition', 'rename'])
      expect(await editor.request(`textDocument/${method}`, { ...at, position: far, newName: 'y' })).not.toMatchObject({
        error: { code: -32_603 },
      })
  })

  test('requests before initialize and after shutdown', async () => {
    const other = new Editor()
    expect(await other.request('textDocument/hover', at)).toMatchObject({ error: { code: -32_002 } })
    other.notify('textDocument/didOpen', { textDocument: { uri: OK, languageId: 'harn', version: 1, text: '' } })
    await other.request('initialize', { processId: null, rootUri: null, capabilities: {} })
    expect(await other.request('shutdown')).toMatchObject({ result: null })
    expect(await other.request('textDocument/hover', at)).toMatchObject({ error: { code: -32_600 } })
    expect(await other.end()).toBe(0)
  })
})

describe('documents', () => {
  test('invalid changes leave the document unchanged', async () => {
    const change = (params: unknown): void => editor.notify('textDocument/didChange', params)
    const textDocument = { uri: OK, version: 2 }
    for (const contentChanges of [
      5,
      [{}],
      [{ text: {} }],
      [{ text: 'z', range: {} }],
      [{ text: 'z', range: { start: makePosition(0.5), end: makePosition(1) } }],
    ])
      change({ textDocument, contentChanges })
    change({ textDocument: { uri: OK }, contentChanges: [{ text: 'z' }] })
    change({ textDocument: { uri: 'file:///unopened.harn', version: 2 }, contentChanges: [{ text: 'z' }] })
    editor.notify('textDocument/didOpen', { textDocument: { uri: OK, languageId: 'harn', version: 1, text: 5 } })
    editor.notify('textDocument/didClose', {})
    const { result } = await editor.request('textDocument/documentSymbol', { textDocument: { uri: OK } })
    expect(result).toMatchObject([{ name: 'x' }])
    expect(editor.logged).toContain('textDocument/didChange: params.contentChanges')

    function makePosition(line: number): object {
      return { line, character: 0 }
    }
  })

  test('reversed ranges and ranges beyond the end are corrected', async () => {
    editor.notify('textDocument/didChange', {
      textDocument: { uri: OK, version: 2 },
      contentChanges: [
        { text: 'let x = 2', range: { start: { line: 0, character: 9 }, end: { line: 0, character: 0 } } },
        { text: '\nlet y = x\n', range: { start: { line: 99, character: 9 }, end: { line: 999, character: 0 } } },
      ],
    })
    const { diagnostics } = await editor.awaitPublished(OK, 2)
    expect(diagnostics.map(({ message }) => message.split('\n')[0])).toContain('variable `y` is declared but never used')
    editor.notify('textDocument/didChange', { textDocument: { uri: OK, version: 3 }, contentChanges: [{ text: 'let x = 1\n' }] })
  })

  test.each([
    'file://evil.example/x.harn',
    'file:///a%00b.harn',
    'file:///a%2Fb.harn',
    'file:///%E0%A4%A.harn',
    'file:x.harn',
    'file://',
    'file:///etc/',
    'FILE:///etc/x.harn',
    'untitled:Untitled-1',
    'http://example.com/y.harn',
    '__proto__',
    'constructor',
    '',
  ])('a document at %j is looked at as any other', async (uri) => {
    const { diagnostics } = await editor.open(uri, 'let unused = 1\n')
    expect(diagnostics.map(({ code }) => code)).toContain('L050')
    const format = { textDocument: { uri }, options: { tabSize: 2, insertSpaces: true } }
    expect(await editor.request('textDocument/formatting', format)).toHaveProperty('result')
  })

  test.each<[string, string, string]>([
    ['500 levels', `let x = ${'('.repeat(500)}1${')'.repeat(500)}\n`, 'Nesting deeper'],
    ['100,000 levels', `let x = ${'['.repeat(100_000)}`, 'Nesting deeper'],
    ['500 blocks', 'if true {'.repeat(500) + '}'.repeat(500), 'Nesting deeper'],
    ['5 million characters', 'let x = 1\n'.repeat(500_000), 'The file has 5000000 characters'],
    ['a line of a megabyte', `let x = "${'a'.repeat(1 << 20)}"\n`, 'never used'],
    ['half of a surrogate pair', 'let x = "\ud800"\nlet \ud800 = 1\n', 'Unexpected character'],
    ['NUL and line separators', '\0\0let x = 1\n\u2028\ufeff', 'Unexpected character'],
    ['comments that open only', '/*'.repeat(50_000), 'Unterminated block comment'],
    ['a carriage return as a line break', 'let x = 1\r\nlet y = 2\rlet z = 3\n', 'top-level item separator'],
  ])('%s', async (_, text, message) => {
    const { diagnostics } = await editor.open(`${OK}2`, text)
    expect(diagnostics.map((each) => each.message).join('\n')).toContain(message)
    for (const method of ['hover', 'completion', 'definition', 'documentSymbol', 'formatting']) {
      const params = { textDocument: { uri: `${OK}2` }, position: { line: 0, character: 5 }, options: {} }
      expect(await editor.request(`textDocument/${method}`, params)).toHaveProperty('result')
    }
  })

  test('names of prototype members are ordinary names', async () => {
    const text =
      'fn constructor(toString) { return toString }\nstruct hasOwnProperty { __proto__: int }\nenum valueOf { constructor, __proto__ }\n' +
      'let __proto__ = 1\nlet d = {__proto__: 1, constructor: 2}\nprintln(__proto__, constructor(d))\n'
    await editor.open(`${OK}3`, text)
    const { result } = await editor.request('textDocument/documentSymbol', { textDocument: { uri: `${OK}3` } })
    expect((result as { name: string }[]).map(({ name }) => name)).toEqual([
      'constructor',
      'hasOwnProperty',
      'valueOf',
      '__proto__',
      'd',
    ])
    for (const line of [0, 1, 2, 3]) {
      const position = { line, character: 8 }
      expect(await editor.request('textDocument/hover', { textDocument: { uri: `${OK}3` }, position })).toHaveProperty('result')
    }
  })

  test('of ten thousand findings the first thousand are shown, errors first, and the others counted', async () => {
    const lines = Array.from({ length: 10_000 }, (_, at) => `let v${at} = 1`)
    const { diagnostics } = await editor.open(`${OK}4`, `${lines.join('\n')}\nlet bad: int = "x"\n`)
    expect(diagnostics).toHaveLength(1001)
    expect(diagnostics[0]!.message).toContain('declared as int')
    expect(diagnostics.at(-1)!.message).toMatch(/^\d+ more findings are not shown$/)
    const everywhere = { start: { line: 0, character: 0 }, end: { line: 10_001, character: 0 } }
    const { result } = await editor.request('textDocument/codeAction', { textDocument: { uri: `${OK}4` }, range: everywhere })
    expect((result as unknown[]).length).toBeLessThanOrEqual(1000)
  })

  test('a hundred changes at once are analysed once', async () => {
    for (let version = 2; version <= 101; version++)
      editor.notify('textDocument/didChange', {
        textDocument: { uri: `${OK}`, version },
        contentChanges: [{ text: `let x = 1\nprintln(x)\n${'// a\n'.repeat(version)}` }],
      })
    await editor.awaitPublished(OK, 101)
    const versions = editor.heard.flatMap(({ params, method }) =>
      method === 'textDocument/publishDiagnostics' ? [params?.['version'] as number] : [],
    )
    expect(versions.length).toBeLessThan(100)
    expect(versions.at(-1)).toBe(101)
  })

  test('cyclic imports, imports of devices and of unreadable files', async () => {
    for (const [name, other] of [
      ['a', 'b'],
      ['b', 'a'],
      ['self', 'self'],
    ])
      writeFileSync(join(folder, `${name}.harn`), `import "${other}"\npub fn f${name}() { return f${other}() }\n`)
    const text =
      'import "a"\nimport "self"\nimport "/dev/zero"\nimport "/dev/stdin"\nimport "../../../../../../etc/hosts"\nprintln(fa())\n'
    await editor.open(`${OK}5`, text)
    const params = { textDocument: { uri: `${OK}5` }, position: { line: 5, character: 9 } }
    expect(await editor.request('textDocument/definition', params)).toHaveProperty('result')
  })

  test('a document that was opened just before the end is not analysed', async () => {
    const other = new Editor()
    await other.request('initialize', { processId: null, rootUri: null, capabilities: {} })
    other.notify('textDocument/didOpen', { textDocument: { uri: OK, languageId: 'harn', version: 1, text: 'let x = 1' } })
    expect(await other.end()).toBe(1)
    // Nothing is thrown when its timer fires: the test runner would report it.
    await editor.open(`${OK}6`, '')
  })

  test('an invalid manifest is a finding, and the others are still shown', async () => {
    mkdirSync(join(folder, 'project'))
    writeFileSync(join(folder, 'project', 'harn.toml'), '[check]\nstrict = "__proto__"\n')
    const { diagnostics } = await editor.open(pathToFileURL(join(folder, 'project', 'x.harn')).href, 'let unused = 1\n')
    expect(diagnostics[0]!.message).toContain('harn.toml: check.strict')
    expect(diagnostics.map(({ code }) => code)).toContain('L050')
  })
})

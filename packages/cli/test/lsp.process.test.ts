// The language server as an editor sees it: a client of the protocol's own library, talking to the command over its standard
// input and output.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProtocolConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver/node'
import type {
  CodeAction,
  CompletionItem,
  Diagnostic,
  DocumentSymbol,
  Hover,
  Location,
  ProtocolConnection,
  PublishDiagnosticsParams,
  TextEdit,
  WorkspaceEdit,
} from 'vscode-languageserver/node'
import { bundledCommand } from '../../../scripts/bundled-command.js'

let command: Awaited<ReturnType<typeof bundledCommand>>
let folder: string
let child: ChildProcess
let client: ProtocolConnection
const published = new Map<string, Diagnostic[]>()
let listeners: ((params: PublishDiagnosticsParams) => void)[] = []

beforeAll(async () => {
  command = await bundledCommand()
  folder = mkdtempSync(join(tmpdir(), 'bridle-lsp-'))
  child = spawn(process.execPath, [command.path, 'lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'], cwd: folder })
  client = createProtocolConnection(new StreamMessageReader(child.stdout!), new StreamMessageWriter(child.stdin!))
  client.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => {
    published.set(params.uri, params.diagnostics)
    for (const listener of listeners) listener(params)
  })
  client.listen()
  const { capabilities } = await client.sendRequest<{ capabilities: object }>('initialize', {
    processId: null,
    rootUri: null,
    capabilities: {},
  })
  expect(capabilities).toMatchObject({ hoverProvider: true, renameProvider: true, documentFormattingProvider: true })
  await client.sendNotification('initialized', {})
})

afterAll(async () => {
  await client.sendRequest('shutdown')
  const ended = new Promise((done) => child.on('exit', done))
  await client.sendNotification('exit')
  expect(await ended).toBe(0)
  client.dispose()
  for (const each of [folder, command.folder]) rmSync(each, { recursive: true, force: true })
})

/** Diagnostics of a version of a file. */
function awaitDiagnostics(uri: string, version: number): Promise<Diagnostic[]> {
  return new Promise((found) => {
    const listener = (params: PublishDiagnosticsParams): void => {
      if (params.uri !== uri || params.version !== version) return
      listeners = listeners.filter((each) => each !== listener)
      found(params.diagnostics)
    }
    listeners.push(listener)
  })
}

let files = 0

async function open(text: string): Promise<{ uri: string; diagnostics: Diagnostic[] }> {
  files += 1
  const path = join(folder, `script${files}.harn`)
  writeFileSync(path, text)
  const uri = pathToFileURL(path).href
  const waiting = awaitDiagnostics(uri, 1)
  await client.sendNotification('textDocument/didOpen', { textDocument: { uri, languageId: 'harn', version: 1, text } })
  return { uri, diagnostics: await waiting }
}

/** Position of `mark` in the text, as the protocol counts. */
function place(text: string, mark: string, plus = 0): { line: number; character: number } {
  const before = text.slice(0, text.indexOf(mark) + plus)
  return { line: before.split('\n').length - 1, character: before.length - (before.lastIndexOf('\n') + 1) }
}

const SCRIPT = `/** Adds up the cents. */
fn total(orders: list) -> int {
  var sum = 0
  for order in orders { sum = sum + order.cents }
  return sum
}

let orders = [{cents: 5}]
println(total(orders))
println(len(orders))
`

test('findings are sent for every version, and disappear with their cause', async () => {
  const { uri, diagnostics } = await open(SCRIPT)
  expect(diagnostics.map(({ message }) => message)).toEqual([])
  const broken = awaitDiagnostics(uri, 2)
  await client.sendNotification('textDocument/didChange', {
    textDocument: { uri, version: 2 },
    contentChanges: [{ range: { start: { line: 8, character: 8 }, end: { line: 8, character: 13 } }, text: 'totl' }],
  })
  expect((await broken)[0]).toMatchObject({
    severity: 1,
    code: 'N001',
    source: 'bridle',
    range: { start: { line: 8, character: 8 } },
    message: expect.stringContaining('did you mean `total`'),
  })
  const unparsed = awaitDiagnostics(uri, 3)
  await client.sendNotification('textDocument/didChange', {
    textDocument: { uri, version: 3 },
    contentChanges: [{ text: 'let x = )\n' }],
  })
  expect((await unparsed)[0]).toMatchObject({ severity: 1, message: expect.stringContaining('Expected expression') })
  const fine = awaitDiagnostics(uri, 4)
  await client.sendNotification('textDocument/didChange', {
    textDocument: { uri, version: 4 },
    contentChanges: [{ text: SCRIPT }],
  })
  expect(await fine).toEqual([])
})

test('hover: declarations with their comment, types of names, builtins', async () => {
  const { uri } = await open(SCRIPT)
  const requestHover = async (mark: string, plus = 0): Promise<string> => {
    const found = await client.sendRequest<Hover | null>('textDocument/hover', {
      textDocument: { uri },
      position: place(SCRIPT, mark, plus),
    })
    return found === null ? '' : (found.contents as { value: string }).value
  }
  expect(await requestHover('total(orders))')).toBe('```harn\nfn total(orders: list) -> int\n```\n\nAdds up the cents.')
  expect(await requestHover('var sum', 4)).toBe('```harn\nsum: int\n```')
  expect(await requestHover('len(')).toContain('len(')
  expect(await requestHover('0\n')).toBe('')
})

test('options of builtins: hover of a key, completion of missing keys', async () => {
  const text = 'println(walk_dir("a", {max_depth: 1}))\nprintln(waitpoint_wait("a", {timeout: 1s}))\n'
  const { uri } = await open(text)
  const requestHover = async (mark: string): Promise<string> => {
    const at = { textDocument: { uri }, position: place(text, mark) }
    const found = await client.sendRequest<Hover | null>('textDocument/hover', at)
    return found === null ? '' : (found.contents as { value: string }).value
  }
  expect(await requestHover('max_depth')).toContain('max_depth: int')
  expect(await requestHover('timeout')).toContain('timeout: duration|int')
  const at = { textDocument: { uri }, position: place(text, 'timeout') }
  const items = await client.sendRequest<CompletionItem[]>('textDocument/completion', at)
  expect(items.map(({ label }) => label)).toContain('wait_id')
})

test('definition, references, rename, outline', async () => {
  const { uri } = await open(SCRIPT)
  const at = { textDocument: { uri }, position: place(SCRIPT, 'total(orders))') }
  const found = await client.sendRequest<Location>('textDocument/definition', at)
  expect(found).toEqual({ uri, range: { start: { line: 1, character: 3 }, end: { line: 1, character: 8 } } })
  const sum = { textDocument: { uri }, position: place(SCRIPT, 'sum + order') }
  const mentions = await client.sendRequest<Location[]>('textDocument/references', {
    ...sum,
    context: { includeDeclaration: true },
  })
  expect(mentions.map(({ range }) => range.start.line)).toEqual([2, 3, 3, 4])
  const edit = await client.sendRequest<WorkspaceEdit>('textDocument/rename', { ...sum, newName: 'cents' })
  expect(edit.changes![uri]).toHaveLength(4)
  await expect(client.sendRequest('textDocument/rename', { ...sum, newName: 'while' })).rejects.toThrow(
    '`while` cannot be a name',
  )
  await expect(client.sendRequest('textDocument/rename', { ...sum, newName: 'orders' })).rejects.toThrow('already a parameter')
  const symbols = await client.sendRequest<DocumentSymbol[]>('textDocument/documentSymbol', { textDocument: { uri } })
  expect(symbols.map(({ name }) => name)).toEqual(['total', 'orders'])
})

test('definitions in imported files', async () => {
  writeFileSync(join(folder, 'lib.harn'), 'fn first() { return 1 }\nfn second() { return 2 }\n')
  const text = 'import { second } from "lib"\nprintln(second())\n'
  const { uri, diagnostics } = await open(text)
  expect(diagnostics).toEqual([])
  const found = await client.sendRequest<Location>('textDocument/definition', {
    textDocument: { uri },
    position: place(text, 'second())'),
  })
  expect(found).toMatchObject({ range: { start: { line: 1, character: 3 } } })
  expect(found.uri).toContain('lib.harn')
})

test('completion: names in scope, builtins, keywords, methods', async () => {
  const { uri } = await open(SCRIPT)
  const requestLabels = async (position: object): Promise<string[]> => {
    const items = await client.sendRequest<CompletionItem[]>('textDocument/completion', { textDocument: { uri }, position })
    return items.map(({ label }) => label)
  }
  const inside = await requestLabels(place(SCRIPT, 'return sum', 7))
  expect(inside).toEqual(expect.arrayContaining(['sum', 'orders', 'total', 'println', 'json_parse', 'while']))
  expect(await requestLabels(place(SCRIPT, 'order.cents', 6))).toEqual(expect.arrayContaining(['map', 'trim', 'keys']))
  expect(await requestLabels(place(SCRIPT, 'let orders'))).not.toContain('sum')
})

test('formatting and repairs', async () => {
  const text = 'var  x=1\nprintln( x )\n'
  const { uri, diagnostics } = await open(text)
  const [edit] = await client.sendRequest<TextEdit[]>('textDocument/formatting', {
    textDocument: { uri },
    options: { tabSize: 2, insertSpaces: true },
  })
  expect(edit!.newText).toBe('var x = 1\n\nprintln(x)\n')
  const never = diagnostics.find(({ code }) => code === 'L054')!
  const actions = await client.sendRequest<CodeAction[]>('textDocument/codeAction', {
    textDocument: { uri },
    range: never.range,
    context: { diagnostics: [never] },
  })
  expect(actions[0]!.edit!.changes![uri]).toEqual([
    { range: { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } }, newText: 'let' },
  ])
})

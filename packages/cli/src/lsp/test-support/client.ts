// An editor for tests: a client based on the protocol's own library that talks to the server over a pair of streams in this process.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { createProtocolConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver/node'
import type {
  ClientCapabilities,
  Diagnostic,
  InitializeResult,
  Position,
  ProtocolConnection,
  PublishDiagnosticsParams,
  Range,
  TextEdit,
  WorkspaceEdit,
} from 'vscode-languageserver/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { serveLanguage } from '../server.js'

export class TestClient {
  readonly folder: string
  readonly connection: ProtocolConnection
  readonly ended: Promise<number>
  /** In the order of their arrival. */
  readonly published: PublishDiagnosticsParams[] = []
  /** Methods of requests of the server. */
  readonly asked: { readonly method: string; readonly params: unknown }[] = []
  private readonly documents = new Map<string, TextDocument>()
  private readonly input = new PassThrough()
  private wake: () => void = () => {}

  constructor() {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-lsp-')))
    mkdirSync(join(this.folder, '.git'))
    const output = new PassThrough()
    this.ended = serveLanguage(this.input, output)
    this.connection = createProtocolConnection(new StreamMessageReader(output), new StreamMessageWriter(this.input))
    this.connection.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => {
      this.published.push(params)
      this.wake()
    })
    for (const method of ['client/registerCapability', 'workspace/diagnostic/refresh'])
      this.connection.onRequest(method, (params: unknown) => {
        this.asked.push({ method, params })
        this.wake()
        return null
      })
    this.connection.listen()
  }

  async start(capabilities: ClientCapabilities = {}): Promise<InitializeResult> {
    const uri = pathToFileURL(this.folder).href
    const params = { processId: null, rootUri: uri, capabilities, workspaceFolders: [{ uri, name: 'test' }] }
    const result = await this.connection.sendRequest<InitializeResult>('initialize', params)
    await this.connection.sendNotification('initialized', {})
    return result
  }

  async stop(): Promise<void> {
    await this.connection.sendRequest('shutdown')
    // `exit` would end the process, which is that of the tests.
    this.input.end()
    await this.ended
    this.connection.dispose()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Writes a file of the workspace and returns its URI. */
  write(name: string, text: string): string {
    const path = join(this.folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return pathToFileURL(path).href
  }

  toUri(name: string): string {
    return pathToFileURL(join(this.folder, name)).href
  }

  /** Opens a file, which is also written. */
  async open(name: string, text: string): Promise<TextDocument> {
    const uri = this.write(name, text)
    const document = TextDocument.create(uri, 'harn', 1, text)
    this.documents.set(uri, document)
    await this.connection.sendNotification('textDocument/didOpen', {
      textDocument: { uri, languageId: 'harn', version: 1, text },
    })
    return document
  }

  /** The next version, in full. */
  async change(document: TextDocument, text: string): Promise<TextDocument> {
    const { uri, version } = this.documents.get(document.uri)!
    const next = TextDocument.create(uri, 'harn', version + 1, text)
    this.documents.set(uri, next)
    await this.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri, version: next.version },
      contentChanges: [{ text }],
    })
    return next
  }

  request<T>(method: string, params: unknown): Promise<T> {
    return this.connection.sendRequest<T>(method, params)
  }

  /** A request about a document, or a position in it. */
  ask<T>(method: string, document: TextDocument, position: Position | null = null, more: object = {}): Promise<T> {
    const at = position === null ? {} : { position }
    return this.request<T>(`textDocument/${method}`, { textDocument: { uri: document.uri }, ...at, ...more })
  }

  /** Findings of a file, as soon as they contain what is expected. */
  async awaitFindings(uri: string, accepts: (found: readonly Diagnostic[]) => boolean): Promise<readonly Diagnostic[]> {
    for (let seen = 0; ;) {
      for (; seen < this.published.length; seen++) {
        const each = this.published[seen]!
        if (each.uri === uri && accepts(each.diagnostics)) return each.diagnostics
      }
      await new Promise<void>((woken) => (this.wake = woken))
    }
  }

  async awaitRequest(method: string): Promise<unknown> {
    for (;;) {
      const found = this.asked.find((each) => each.method === method)
      if (found !== undefined) return found.params
      await new Promise<void>((woken) => (this.wake = woken))
    }
  }
}

/** Removes the marks `‹` and `›` from a text, and returns their positions. */
export function readMarks(marked: string): { readonly text: string; readonly spans: readonly { start: number; end: number }[] } {
  const spans: { start: number; end: number }[] = []
  let text = ''
  for (const char of marked) {
    if (char === '‹') spans.push({ start: text.length, end: text.length })
    else if (char === '›') spans.findLast(({ end, start }) => end === start)!.end = text.length
    else text += char
  }
  return { text, spans }
}

export function toRangeIn(document: TextDocument, { start, end }: { readonly start: number; readonly end: number }): Range {
  return { start: document.positionAt(start), end: document.positionAt(end) }
}

/** The position of a word, counted from 0. */
export function placeOf(document: TextDocument, word: string, nth = 0): Position {
  let at = -1
  for (let count = 0; count <= nth; count++) at = document.getText().indexOf(word, at + 1)
  if (at < 0) throw new Error(`${word} is not there`)
  return document.positionAt(at)
}

export function textAt(document: TextDocument, range: Range): string {
  return document.getText(range)
}

export function applyTo(document: TextDocument, edit: WorkspaceEdit | readonly TextEdit[]): string {
  const edits = 'changes' in edit ? (edit.changes?.[document.uri] ?? []) : (edit as readonly TextEdit[])
  return TextDocument.applyEdits(document, [...edits])
}

// The language server: keeps the open files, sends what was found in them, and passes questions on to answers.ts. Speaks the
// Language Server Protocol (microsoft.github.io/language-server-protocol, 3.17) over standard input and output.

import { createConnection, ProposedFeatures, ResponseError, TextDocumentSyncKind } from 'vscode-languageserver/node'
import type { Connection } from 'vscode-languageserver/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { CheckingRuntimes } from '../checking/runtimes.js'
import { NO_CONFIG } from '../config.js'
import { VERSION } from '../version.js'
import {
  listCodeActions,
  listCompletions,
  findDefinition,
  toDiagnostics,
  formatDocument,
  makeHover,
  makeOutline,
  findReferences,
  rename,
  makeSignatureHelp,
} from './answers.js'
import { OpenDocument, toPath } from './document.js'
import { openEditorStreams } from './streams.js'

/** JSON-RPC: the request cannot be carried out, with a reason for the person (LSP, `RequestFailed`). */
const REQUEST_FAILED = -32_803

/** A change is looked at when it comes; those that come within this time behind it are looked at together, in milliseconds. */
const PAUSE_MS = 30

interface Open {
  document: OpenDocument
  /** The newest earlier version that parsed. */
  before: OpenDocument | null
}

/** Ends when the client closes the connection, with the exit code that the protocol wants then. */
export async function serveLanguage(
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
  tools?: string,
): Promise<number> {
  const { reader, writer, gate } = openEditorStreams(input, output)
  const connection = createConnection(ProposedFeatures.all, reader, writer)
  const server = new LanguageServer(connection, new CheckingRuntimes({ flag: tools }))
  server.listen()
  await new Promise<void>((ended) => {
    connection.onExit(() => ended())
    input.on('close', () => ended())
    input.on('end', () => ended())
  })
  server.stop()
  return gate.isShutDown ? 0 : 1
}

class LanguageServer {
  private readonly connection: Connection
  private readonly open = new Map<string, Open>()
  private readonly waiting = new Map<string, NodeJS.Timeout>()
  /** When findings were sent last, by `performance.now()`. */
  private publishedAt = -PAUSE_MS
  private hasStopped = false
  private readonly runtimes: CheckingRuntimes

  constructor(connection: Connection, runtimes: CheckingRuntimes) {
    this.connection = connection
    this.runtimes = runtimes
  }

  listen(): void {
    const { connection } = this
    connection.onInitialize(() => ({
      serverInfo: { name: 'bridle', version: VERSION },
      capabilities: {
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
        hoverProvider: true,
        completionProvider: { triggerCharacters: ['.', '{', ','] },
        signatureHelpProvider: { triggerCharacters: ['(', '{', ','] },
        definitionProvider: true,
        referencesProvider: true,
        renameProvider: true,
        documentSymbolProvider: true,
        documentFormattingProvider: true,
        codeActionProvider: { codeActionKinds: ['quickfix'] },
      },
    }))
    connection.onDidOpenTextDocument(({ textDocument: { uri, languageId, version: at, text } }) => {
      this.update(TextDocument.create(uri, languageId, at, text))
    })
    connection.onDidChangeTextDocument(({ textDocument, contentChanges }) => {
      const open = this.open.get(textDocument.uri)
      if (open === undefined) return
      this.update(TextDocument.update(open.document.text, contentChanges, textDocument.version))
    })
    connection.onDidCloseTextDocument(({ textDocument: { uri } }) => {
      this.open.delete(uri)
      if (!this.hasStopped) void connection.sendDiagnostics({ uri, diagnostics: [] })
    })
    this.answer()
    connection.listen()
  }

  /** Nothing can be sent any more. */
  stop(): void {
    this.hasStopped = true
    for (const timer of this.waiting.values()) clearTimeout(timer)
    this.waiting.clear()
  }

  private answer(): void {
    const { connection } = this
    const { registry } = this.runtimes.getRuntime(NO_CONFIG)
    connection.onHover(({ textDocument, position }) => {
      const found = this.findParsed(textDocument.uri)
      return found === null ? null : makeHover(found, registry, found.text.offsetAt(position))
    })
    connection.onCompletion(({ textDocument, position }) => {
      const open = this.open.get(textDocument.uri)
      if (open === undefined) return []
      const last = open.document.symbols === null ? open.before : open.document
      return listCompletions(open.document, last, registry, open.document.text.offsetAt(position))
    })
    connection.onSignatureHelp(({ textDocument, position }) => {
      const open = this.open.get(textDocument.uri)
      if (open === undefined) return null
      const last = open.document.symbols === null ? open.before : open.document
      return makeSignatureHelp(open.document, last, registry, open.document.text.offsetAt(position))
    })
    connection.onDefinition(({ textDocument, position }) => {
      const found = this.findParsed(textDocument.uri)
      return found === null ? null : findDefinition(found, found.text.offsetAt(position))
    })
    connection.onReferences(({ textDocument, position, context }) => {
      const found = this.findParsed(textDocument.uri)
      return found === null ? [] : findReferences(found, found.text.offsetAt(position), context.includeDeclaration)
    })
    connection.onRenameRequest(({ textDocument, position, newName }) => {
      const found = this.findParsed(textDocument.uri)
      const edit = found === null ? 'the file does not parse' : rename(found, found.text.offsetAt(position), newName)
      return typeof edit === 'string' ? new ResponseError(REQUEST_FAILED, edit) : edit
    })
    connection.onDocumentSymbol(({ textDocument }) => {
      const found = this.findParsed(textDocument.uri)
      return found === null ? [] : makeOutline(found)
    })
    connection.onDocumentFormatting(({ textDocument }) => {
      const found = this.findParsed(textDocument.uri)
      return found === null ? [] : formatDocument(found)
    })
    connection.onCodeAction(({ textDocument, range }) => {
      const open = this.open.get(textDocument.uri)
      return open === undefined ? [] : listCodeActions(open.document, open.document.listFindings, range)
    })
  }

  /** The document, when its text parses. */
  private findParsed(uri: string): OpenDocument | null {
    const open = this.open.get(uri)
    return open === undefined || open.document.symbols === null ? null : open.document
  }

  private update(text: TextDocument): void {
    const known = this.open.get(text.uri)
    const before = known === undefined ? null : known.document.isKnownToParse ? known.document : known.before
    this.open.set(text.uri, { document: new OpenDocument(text, this.runtimes, known?.document ?? null), before })
    // Messages that were read before the end are still handed on.
    if (this.hasStopped) return
    clearTimeout(this.waiting.get(text.uri))
    const isFirst = performance.now() - this.publishedAt >= PAUSE_MS
    this.waiting.set(
      text.uri,
      setTimeout(() => this.publish(text.uri), isFirst ? 0 : PAUSE_MS),
    )
  }

  private publish(uri: string): void {
    this.waiting.delete(uri)
    const open = this.open.get(uri)
    if (open === undefined) return
    const { text } = open.document
    try {
      const findings = open.document.listFindings
      const diagnostics = toDiagnostics(text, findings, open.document.settingsProblem)
      void this.connection.sendDiagnostics({ uri, version: text.version, diagnostics })
      this.publishedAt = performance.now()
    } catch (cause) {
      this.connection.console.error(`${toPath(uri)}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`)
    }
  }
}

// The language server: keeps the open files, sends what was found in them, and passes questions on to answers.ts. Speaks the
// Language Server Protocol (microsoft.github.io/language-server-protocol, 3.17) over standard input and output.

import { createConnection, ProposedFeatures, ResponseError, TextDocumentSyncKind } from 'vscode-languageserver/node'
import type { Connection } from 'vscode-languageserver/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { commandRuntime } from '../host.js'
import { VERSION } from '../version.js'
import { codeActions, completions, definition, diagnosticOf, formatting, hover, outline, references, rename } from './answers.js'
import { OpenDocument, pathOf } from './document.js'

/** JSON-RPC: the request cannot be carried out, with a reason for the person (LSP, `RequestFailed`). */
const REQUEST_FAILED = -32_803

interface Open {
  document: OpenDocument
  /** The newest version that parsed. */
  last: OpenDocument | null
}

/** Ends when the client closes the connection. */
export async function serveLanguage(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Promise<void> {
  const connection = createConnection(ProposedFeatures.all, input, output)
  const server = new LanguageServer(connection)
  server.listen()
  await new Promise<void>((ended) => {
    connection.onExit(() => ended())
    input.on('close', () => ended())
    input.on('end', () => ended())
  })
}

class LanguageServer {
  private readonly connection: Connection
  private readonly open = new Map<string, Open>()
  private readonly waiting = new Map<string, NodeJS.Immediate>()
  private readonly runtime = commandRuntime({ terminal: false, args: [] })

  constructor(connection: Connection) {
    this.connection = connection
  }

  listen(): void {
    const { connection } = this
    connection.onInitialize(() => ({
      serverInfo: { name: 'bridle', version: VERSION },
      capabilities: {
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
        hoverProvider: true,
        completionProvider: { triggerCharacters: ['.'] },
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
      void connection.sendDiagnostics({ uri, diagnostics: [] })
    })
    this.answer()
    connection.listen()
  }

  private answer(): void {
    const { connection } = this
    const { registry } = this.runtime
    connection.onHover(({ textDocument, position }) => {
      const found = this.parsed(textDocument.uri)
      return found === null ? null : hover(found, registry, found.text.offsetAt(position))
    })
    connection.onCompletion(({ textDocument, position }) => {
      const open = this.open.get(textDocument.uri)
      if (open === undefined) return []
      return completions(open.document, open.last, registry, open.document.text.offsetAt(position))
    })
    connection.onDefinition(({ textDocument, position }) => {
      const found = this.parsed(textDocument.uri)
      return found === null ? null : definition(found, found.text.offsetAt(position))
    })
    connection.onReferences(({ textDocument, position, context }) => {
      const found = this.parsed(textDocument.uri)
      return found === null ? [] : references(found, found.text.offsetAt(position), context.includeDeclaration)
    })
    connection.onRenameRequest(({ textDocument, position, newName }) => {
      const found = this.parsed(textDocument.uri)
      const edit = found === null ? 'the file does not parse' : rename(found, found.text.offsetAt(position), newName)
      return typeof edit === 'string' ? new ResponseError(REQUEST_FAILED, edit) : edit
    })
    connection.onDocumentSymbol(({ textDocument }) => {
      const found = this.parsed(textDocument.uri)
      return found === null ? [] : outline(found)
    })
    connection.onDocumentFormatting(({ textDocument }) => {
      const found = this.parsed(textDocument.uri)
      return found === null ? [] : formatting(found)
    })
    connection.onCodeAction(({ textDocument, range }) => {
      const open = this.open.get(textDocument.uri)
      return open === undefined ? [] : codeActions(open.document, open.document.findings(this.runtime), range)
    })
  }

  /** The document, when its text parses. */
  private parsed(uri: string): OpenDocument | null {
    const open = this.open.get(uri)
    return open === undefined || open.document.symbols === null ? null : open.document
  }

  private update(text: TextDocument): void {
    const document = new OpenDocument(text)
    const before = this.open.get(text.uri)
    this.open.set(text.uri, { document, last: document.parsed.program === null ? (before?.last ?? null) : document })
    // Changes that came together are looked at once.
    const pending = this.waiting.get(text.uri)
    if (pending !== undefined) clearImmediate(pending)
    this.waiting.set(
      text.uri,
      setImmediate(() => this.publish(text.uri)),
    )
  }

  private publish(uri: string): void {
    this.waiting.delete(uri)
    const open = this.open.get(uri)
    if (open === undefined) return
    const { text } = open.document
    try {
      const diagnostics = open.document.findings(this.runtime).map((finding) => diagnosticOf(text, finding))
      void this.connection.sendDiagnostics({ uri, version: text.version, diagnostics })
    } catch (cause) {
      this.connection.console.error(`${pathOf(uri)}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`)
    }
  }
}

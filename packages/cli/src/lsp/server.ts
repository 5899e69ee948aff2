// The language server: keeps the open files and dispatches requests. Speaks the Language Server Protocol
// (microsoft.github.io/language-server-protocol, 3.17) over standard input and output.

import {
  createConnection,
  DidChangeWatchedFilesNotification,
  FileChangeType,
  ProposedFeatures,
  ResponseError,
  TextDocumentSyncKind,
} from 'vscode-languageserver/node'
import type { Connection, FileEvent, InitializeParams, ServerCapabilities } from 'vscode-languageserver/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { CheckingRuntimes } from '../checking/runtimes.js'
import { VERSION } from '../version.js'
import { ACTION_KINDS, listCodeActions } from './actions.js'
import { answerQuestions } from './features.js'
import { FindingsService } from './findings-service.js'
import { TOKEN_MODIFIERS, TOKEN_TYPES } from './semantic-tokens.js'
import { openEditorStreams } from './streams.js'
import { Workspace } from './workspace.js'

const CAPABILITIES: ServerCapabilities = {
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
  hoverProvider: true,
  completionProvider: { triggerCharacters: ['.', '{', ','] },
  signatureHelpProvider: { triggerCharacters: ['(', '{', ','] },
  definitionProvider: true,
  typeDefinitionProvider: true,
  implementationProvider: true,
  referencesProvider: true,
  documentHighlightProvider: true,
  renameProvider: true,
  documentSymbolProvider: true,
  workspaceSymbolProvider: true,
  callHierarchyProvider: true,
  codeLensProvider: {},
  documentLinkProvider: {},
  foldingRangeProvider: true,
  selectionRangeProvider: true,
  inlayHintProvider: true,
  semanticTokensProvider: {
    legend: { tokenTypes: [...TOKEN_TYPES], tokenModifiers: [...TOKEN_MODIFIERS] },
    full: { delta: true },
    range: true,
  },
  documentFormattingProvider: true,
  documentRangeFormattingProvider: true,
  documentOnTypeFormattingProvider: { firstTriggerCharacter: '}', moreTriggerCharacter: ['\n', ']', ')'] },
  codeActionProvider: { codeActionKinds: ACTION_KINDS },
  diagnosticProvider: { identifier: 'bridle', interFileDependencies: true, workspaceDiagnostics: true },
  workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
}

/** Resolves when the client closes the connection, with the exit code that the protocol requires. */
export async function serveLanguage(
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
  tools?: string,
): Promise<number> {
  const { reader, writer, gate } = openEditorStreams(input, output)
  const connection = createConnection(ProposedFeatures.all, reader, writer)
  const server = new LanguageServer(connection, tools)
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
  private readonly workspace: Workspace
  private readonly findings: FindingsService

  constructor(connection: Connection, tools: string | undefined) {
    this.connection = connection
    this.workspace = new Workspace((findOpenText) => new CheckingRuntimes({ flag: tools, findOpenText }))
    this.findings = new FindingsService(connection, this.workspace)
  }

  listen(): void {
    const { connection, workspace, findings } = this
    connection.onInitialize((params) => this.initialize(params))
    connection.onDidOpenTextDocument(({ textDocument: { uri, languageId, version: at, text } }) => {
      this.update(TextDocument.create(uri, languageId, at, text))
    })
    connection.onDidChangeTextDocument(({ textDocument, contentChanges }) => {
      const open = workspace.find(textDocument.uri)
      if (open === null) return
      this.update(TextDocument.update(open.document.text, contentChanges, textDocument.version))
    })
    connection.onDidCloseTextDocument(({ textDocument: { uri } }) => {
      const open = workspace.find(uri)
      if (open === null) return
      const key = open.document.key
      workspace.close(uri)
      findings.forget(uri)
      // Importers see the file on disk again, which may differ from unsaved text.
      this.announce(key, uri)
    })
    connection.onDidChangeWatchedFiles(({ changes }) => this.takeChanges(changes))
    connection.onRequest('textDocument/codeAction', (params: Parameters<Parameters<Connection['onCodeAction']>[0]>[0]) => {
      const open = workspace.find(params.textDocument.uri)
      return open === null ? [] : listCodeActions(open.document, params.range, params.context?.only ?? null)
    })
    answerQuestions(connection, workspace)
    const unknown = (): never => {
      throw new ResponseError(-32_602, 'the document is neither open nor a file')
    }
    connection.languages.diagnostics.on(({ textDocument, previousResultId }) =>
      findings.reportDocument(workspace.findByUri(textDocument.uri) ?? unknown(), previousResultId),
    )
    connection.languages.diagnostics.onWorkspace(({ previousResultIds }, token) =>
      findings.reportWorkspace(previousResultIds, () => token.isCancellationRequested),
    )
    connection.listen()
  }

  /** The connection is closed: nothing can be sent. */
  stop(): void {
    this.findings.stop()
  }

  private initialize({ capabilities, workspaceFolders, rootUri }: InitializeParams): {
    readonly serverInfo: { readonly name: string; readonly version: string }
    readonly capabilities: ServerCapabilities
  } {
    const { connection, workspace, findings } = this
    workspace.setFolders(workspaceFolders?.map(({ uri }) => uri) ?? (rootUri == null ? [] : [rootUri]))
    // A client that pulls findings and cannot be told to pull again would miss the effects of changes in other files.
    findings.isFetched =
      capabilities.textDocument?.diagnostic !== undefined && capabilities.workspace?.diagnostics?.refreshSupport === true
    const watches = capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true
    connection.onInitialized(() => {
      if (watches) void connection.client.register(DidChangeWatchedFilesNotification.type, { watchers: WATCHED })
      if (capabilities.workspace?.workspaceFolders === true)
        connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
          workspace.changeFolders(
            added.map(({ uri }) => uri),
            removed.map(({ uri }) => uri),
          )
        })
    })
    // By the protocol, only clients that declare it accept more than `true`.
    const preparesRename = capabilities.textDocument?.rename?.prepareSupport === true
    return {
      serverInfo: { name: 'bridle', version: VERSION },
      capabilities: { ...CAPABILITIES, ...(preparesRename ? { renameProvider: { prepareProvider: true } } : {}) },
    }
  }

  private update(text: TextDocument): void {
    const { workspace, findings } = this
    const isNew = workspace.find(text.uri) === null
    workspace.set(text)
    findings.schedule(text.uri)
    const { document } = workspace.find(text.uri)!
    const key = document.key
    this.announce(isNew ? null : key, text.uri)
  }

  /** Other files may import it. null: an import that was not found may exist now. */
  private announce(key: string | null, uri: string): void {
    if (this.workspace.openDocuments.some(({ document }) => document.text.uri !== uri)) this.findings.refreshImporters(key, uri)
    this.workspace.noteChange(key)
  }

  private takeChanges(changes: readonly FileEvent[]): void {
    const { workspace, findings } = this
    if (changes.some(({ uri }) => !uri.endsWith('.harn'))) {
      workspace.noteChange(null)
      return findings.refreshAll()
    }
    for (const { uri, type } of changes) {
      // For open documents, the editor's text counts.
      if (workspace.find(uri) !== null) continue
      const key = type === FileChangeType.Changed ? workspace.readKeyOfUri(uri) : null
      workspace.noteChange(key)
      findings.refreshImporters(key, uri)
    }
  }
}

/** Scripts, templates, settings, and files of tool declarations. */
const WATCHED = ['**/*.harn', '**/*.harn.prompt', '**/harn.toml', '**/*.json'].map((globPattern) => ({ globPattern }))

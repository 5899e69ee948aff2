// Pushes findings to the editor, or answers its pulls: for the current version, and again when an imported module has changed.

import type { Connection, Diagnostic } from 'vscode-languageserver/node'
import { DocumentDiagnosticReportKind } from 'vscode-languageserver/node'
import type {
  DocumentDiagnosticReport,
  PreviousResultId,
  WorkspaceDocumentDiagnosticReport,
  WorkspaceDiagnosticReport,
} from 'vscode-languageserver/node'
import { toDiagnostics } from './answers.js'
import { toPath } from './document.js'
import type { OpenDocument } from './document.js'
import type { Workspace } from './workspace.js'

/** A change is analysed at once; further changes within this time, in milliseconds, are analysed together. */
const PAUSE_MS = 30

export class FindingsService {
  private readonly connection: Connection
  private readonly workspace: Workspace
  private readonly waiting = new Map<string, NodeJS.Timeout>()
  /** When findings were sent last, by `performance.now()`. */
  private publishedAt = -PAUSE_MS
  private hasStopped = false
  /** The client pulls findings, and pulls again on request. */
  isFetched = false

  constructor(connection: Connection, workspace: Workspace) {
    this.connection = connection
    this.workspace = workspace
  }

  /** The connection is closed: nothing can be sent. */
  stop(): void {
    this.hasStopped = true
    for (const timer of this.waiting.values()) clearTimeout(timer)
    this.waiting.clear()
  }

  /** A document has a new version. */
  schedule(uri: string): void {
    // Messages that were read before the end are still handled.
    if (this.hasStopped || this.isFetched) return
    clearTimeout(this.waiting.get(uri))
    const isFirst = performance.now() - this.publishedAt >= PAUSE_MS
    this.waiting.set(
      uri,
      setTimeout(() => this.publish(uri), isFirst ? 0 : PAUSE_MS),
    )
  }

  forget(uri: string): void {
    clearTimeout(this.waiting.get(uri))
    this.waiting.delete(uri)
    if (!this.hasStopped && !this.isFetched) void this.connection.sendDiagnostics({ uri, diagnostics: [] })
  }

  /** A module has changed: its importers are analysed again. null: any module may have changed. */
  refreshImporters(key: string | null, except: string): void {
    let count = 0
    for (const { document } of this.workspace.openDocuments) {
      const { uri } = document.text
      if (uri === except || !document.importsFiles || (key !== null && !document.imports(key))) continue
      this.workspace.refresh(uri)
      this.schedule(uri)
      count++
    }
    if (this.isFetched && !this.hasStopped && count > 0) this.askAgain()
  }

  /** Settings have changed. */
  refreshAll(): void {
    for (const { document } of this.workspace.openDocuments) {
      this.workspace.refresh(document.text.uri)
      this.schedule(document.text.uri)
    }
    if (this.isFetched && !this.hasStopped) this.askAgain()
  }

  private askAgain(): void {
    // A client that refuses will pull at its own time.
    this.connection.languages.diagnostics.refresh().catch(() => {})
  }

  private publish(uri: string): void {
    this.waiting.delete(uri)
    const open = this.workspace.find(uri)
    if (open === null) return
    const { document } = open
    try {
      const diagnostics = toDiagnostics(document)
      void this.connection.sendDiagnostics({ uri, version: document.text.version, diagnostics })
      this.publishedAt = performance.now()
    } catch (cause) {
      this.connection.console.error(`${toPath(uri)}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`)
    }
  }

  // ---- pulls ------------------------------------------------------------------------------------------------------------

  reportDocument(document: OpenDocument, previous: string | undefined): DocumentDiagnosticReport {
    const items = toDiagnostics(document)
    const resultId = makeResultId(items)
    return resultId === previous
      ? { kind: DocumentDiagnosticReportKind.Unchanged, resultId }
      : { kind: DocumentDiagnosticReportKind.Full, resultId, items }
  }

  /** For all scripts of the workspace. Other requests are answered between two files. */
  async reportWorkspace(previous: readonly PreviousResultId[], isCancelled: () => boolean): Promise<WorkspaceDiagnosticReport> {
    const known = new Map(previous.map(({ uri, value }) => [uri, value]))
    const items: WorkspaceDocumentDiagnosticReport[] = []
    for (const document of this.workspace.listDocuments()) {
      await new Promise<void>((next) => setImmediate(next))
      if (isCancelled() || this.hasStopped) break
      const { uri } = document.text
      const version = this.workspace.find(uri) === null ? null : document.text.version
      items.push({ ...this.reportDocument(document, known.get(uri)), uri, version })
      known.delete(uri)
    }
    return { items }
  }
}

/** Same findings, same id, also in another process. */
function makeResultId(items: readonly Diagnostic[]): string {
  const text = JSON.stringify(items)
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
  return `${text.length}-${hash.toString(16)}`
}

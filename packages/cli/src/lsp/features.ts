// Requests about open documents, and their handlers.

import { ResponseError } from 'vscode-languageserver/node'
import type { Connection, Position } from 'vscode-languageserver/node'
import { NO_CONFIG } from '../config.js'
import { listCompletions, makeHover } from './answers.js'
import { listIncomingCalls, listOutgoingCalls, prepareCalls } from './calls.js'
import type { OpenDocument } from './document.js'
import { listInlayHints, makeSignatureHelp } from './hints.js'
import { formatDocument, formatRange, formatTyped } from './layout.js'
import {
  findDefinition,
  findImplementations,
  findReferences,
  findTypeDefinitions,
  listHighlights,
  listWorkspaceSymbols,
  prepareRename,
  rename,
} from './navigation.js'
import { listFoldingRanges, listLenses, listLinks, listSelections, makeOutline } from './outline.js'
import { listSemanticTokens, TokenHistory } from './semantic-tokens.js'
import type { Workspace } from './workspace.js'

/** JSON-RPC: the request failed, with a reason for the person (LSP, `RequestFailed`). */
const REQUEST_FAILED = -32_803

export function answerQuestions(connection: Connection, workspace: Workspace): void {
  const { registry } = workspace.runtimes.getRuntime(NO_CONFIG)
  const history = new TokenHistory()

  /** A handler for an open document; returns `otherwise` if it is not open. */
  const about =
    <P extends { readonly textDocument: { readonly uri: string } }, T>(
      otherwise: T,
      answer: (document: OpenDocument, params: P) => T,
    ) =>
    (params: P): T => {
      const open = workspace.find(params.textDocument.uri)
      return open === null ? otherwise : answer(open.document, params)
    }
  const at = ({ text }: OpenDocument, position: Position): number => text.offsetAt(position)
  const findLast = (document: OpenDocument): OpenDocument | null =>
    document.symbols === null ? (workspace.find(document.text.uri)?.before ?? null) : document

  connection.onHover(about(null, (document, { position }) => makeHover(document, registry, at(document, position))))
  connection.onCompletion(
    about([], (document, { position }) => listCompletions(document, findLast(document), registry, at(document, position))),
  )
  connection.onSignatureHelp(
    about(null, (document, { position }) => makeSignatureHelp(document, findLast(document), registry, at(document, position))),
  )

  connection.onDefinition(about(null, (document, { position }) => findDefinition(workspace, document, at(document, position))))
  connection.onTypeDefinition(
    about([], (document, { position }) => findTypeDefinitions(workspace, document, at(document, position))),
  )
  connection.onImplementation(
    about([], (document, { position }) => findImplementations(workspace, document, at(document, position))),
  )
  connection.onReferences(
    about([], (document, { position, context }) =>
      findReferences(workspace, document, at(document, position), context.includeDeclaration),
    ),
  )
  connection.onDocumentHighlight(about([], (document, { position }) => listHighlights(document, at(document, position))))
  connection.onPrepareRename(({ textDocument, position }) => {
    const open = workspace.find(textDocument.uri)
    if (open === null) return null
    const found = prepareRename(open.document, at(open.document, position))
    return typeof found === 'string' ? null : found
  })
  connection.onRenameRequest(({ textDocument, position, newName }) => {
    const open = workspace.find(textDocument.uri)
    const edit = open === null ? 'the file is not open' : rename(workspace, open.document, at(open.document, position), newName)
    return typeof edit === 'string' ? new ResponseError(REQUEST_FAILED, edit) : edit
  })
  connection.onWorkspaceSymbol(({ query }) => listWorkspaceSymbols(workspace, query))
  connection.languages.callHierarchy.onPrepare(
    about([], (document, { position }) => prepareCalls(workspace, document, at(document, position))),
  )
  connection.languages.callHierarchy.onIncomingCalls(({ item }) => listIncomingCalls(workspace, item))
  connection.languages.callHierarchy.onOutgoingCalls(({ item }) => listOutgoingCalls(workspace, item))

  connection.onDocumentSymbol(about([], makeOutline))
  connection.onFoldingRanges(about([], listFoldingRanges))
  connection.onSelectionRanges(
    about([], (document, { positions }) =>
      listSelections(
        document,
        positions.map((position) => at(document, position)),
      ),
    ),
  )
  connection.onDocumentLinks(about([], (document) => listLinks(workspace, document)))
  connection.onCodeLens(about([], listLenses))
  connection.languages.inlayHint.on(
    about([], (document, { range }) =>
      listInlayHints(document, registry, { start: at(document, range.start), end: at(document, range.end) }),
    ),
  )

  const { semanticTokens } = connection.languages
  const list = (document: OpenDocument): number[] => listSemanticTokens(document, findLast(document), registry)
  semanticTokens.on(about({ data: [] }, (document, { textDocument }) => history.keep(textDocument.uri, list(document))))
  semanticTokens.onDelta(({ textDocument, previousResultId }) => {
    const open = workspace.find(textDocument.uri)
    return open === null ? { data: [] } : history.compare(textDocument.uri, previousResultId, list(open.document))
  })
  semanticTokens.onRange(
    about({ data: [] }, (document, { range }) => ({
      data: listSemanticTokens(document, findLast(document), registry, { from: range.start.line, to: range.end.line + 1 }),
    })),
  )

  connection.onDocumentFormatting(about([], (document) => formatDocument(document)))
  connection.onDocumentRangeFormatting(about([], (document, { range }) => formatRange(document, range)))
  connection.onDocumentOnTypeFormatting(
    about([], (document, { position, ch, options }) => formatTyped(document, position, ch, options)),
  )
}

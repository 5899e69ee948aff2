// Call hierarchy: callers of a function, and what it calls.

import type { Span } from '@bridle/parser'
import { SymbolKind } from 'vscode-languageserver/node'
import type { CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, Range } from 'vscode-languageserver/node'
import { toRange } from './answers.js'
import type { OpenDocument } from './document.js'
import { findOrigin, isFileKey, listMentions } from './origins.js'
import { OUTLINE_KINDS } from './outline.js'
import type { FileSymbol } from './symbols.js'
import type { Workspace } from './workspace.js'

const CALLABLE: ReadonlySet<string> = new Set(['FnDecl', 'ToolDecl', 'PipelineDecl'])

export function prepareCalls(workspace: Workspace, document: OpenDocument, offset: number): CallHierarchyItem[] {
  const found = findCallable(workspace, document, offset)
  return found === null ? [] : [makeItem(found.document, found.symbol)]
}

interface Callable {
  readonly document: OpenDocument
  readonly symbol: FileSymbol
}

function findCallable(workspace: Workspace, document: OpenDocument, offset: number): Callable | null {
  const origin = findOrigin(document, offset)
  if (origin === null || !CALLABLE.has(origin.symbol.declaration?.kind ?? '')) return null
  const home = origin.file === null ? document : isFileKey(origin.key) ? workspace.findByKey(origin.key) : null
  const symbol = home?.symbols?.all.find(
    ({ span, name }) => span.start === origin.symbol.span.start && name === origin.symbol.name,
  )
  return home === null || symbol === undefined ? null : { document: home, symbol }
}

function makeItem({ text }: OpenDocument, { name, kind, whole, span }: FileSymbol): CallHierarchyItem {
  return { name, kind: OUTLINE_KINDS[kind], uri: text.uri, range: toRange(text, whole), selectionRange: toRange(text, span) }
}

export function listIncomingCalls(workspace: Workspace, item: CallHierarchyItem): CallHierarchyIncomingCall[] {
  const found = reopen(workspace, item)
  const origin = found === null ? null : findOrigin(found.document, found.symbol.span.start)
  if (found === null || origin === null) return []
  const calls = new Map<string, { readonly from: CallHierarchyItem; readonly fromRanges: Range[] }>()
  for (const { document, span, symbol } of listMentions(workspace, found.document, origin)) {
    // The name in an import, and in the declaration itself, is not a call.
    if (span === symbol?.span) continue
    const caller = findCaller(document, span)
    const from = caller === null ? makeFileItem(document) : makeItem(document, caller)
    const key = `${from.uri} ${from.selectionRange.start.line} ${from.selectionRange.start.character} ${from.name}`
    const known = calls.get(key) ?? { from, fromRanges: [] }
    calls.set(key, known)
    known.fromRanges.push(toRange(document.text, span))
  }
  return [...calls.values()]
}

export function listOutgoingCalls(workspace: Workspace, item: CallHierarchyItem): CallHierarchyOutgoingCall[] {
  const found = reopen(workspace, item)
  if (found === null) return []
  const { document, symbol } = found
  const { symbols, text } = document
  const within = ({ start, end }: Span): boolean => symbol.whole.start <= start && end <= symbol.whole.end
  const mentions = [
    ...symbols!.all.flatMap((each) => each.references.filter(within)),
    ...symbols!.unresolved.map(({ span }) => span).filter(within),
  ].toSorted((one, other) => one.start - other.start)
  const calls = new Map<string, { readonly to: CallHierarchyItem; readonly fromRanges: Range[] }>()
  for (const span of mentions) {
    const callee = findCallable(workspace, document, span.start)
    if (callee === null) continue
    const to = makeItem(callee.document, callee.symbol)
    const key = `${to.uri} ${callee.symbol.span.start}`
    const known = calls.get(key) ?? { to, fromRanges: [] }
    calls.set(key, known)
    known.fromRanges.push(toRange(text, span))
  }
  return [...calls.values()]
}

/** Items come back from the client after edits that may have moved their functions. */
function reopen(workspace: Workspace, item: CallHierarchyItem): Callable | null {
  const open = workspace.find(item.uri)?.document
  const document = open ?? workspace.findByUri(item.uri)
  const { symbols } = document ?? { symbols: null }
  if (document == null || symbols === null) return null
  const start = document.text.offsetAt(item.selectionRange.start)
  const callables = symbols.all.filter(({ name, declaration }) => name === item.name && CALLABLE.has(declaration?.kind ?? ''))
  const symbol = callables.find(({ span }) => span.start === start) ?? callables[0]
  return symbol === undefined ? null : { document, symbol }
}

/** The innermost function, tool or pipeline at a position. */
function findCaller(document: OpenDocument, span: Span): FileSymbol | null {
  const around = document.symbols!.all.filter(
    ({ declaration, whole }) => CALLABLE.has(declaration?.kind ?? '') && whole.start <= span.start && span.end <= whole.end,
  )
  return around.toSorted((one, other) => other.whole.start - one.whole.start)[0] ?? null
}

function makeFileItem({ text }: OpenDocument): CallHierarchyItem {
  const top = { start: text.positionAt(0), end: text.positionAt(0) }
  const range = { start: top.start, end: text.positionAt(text.getText().length) }
  return {
    name: text.uri.slice(text.uri.lastIndexOf('/') + 1),
    kind: SymbolKind.File,
    uri: text.uri,
    range,
    selectionRange: top,
  }
}

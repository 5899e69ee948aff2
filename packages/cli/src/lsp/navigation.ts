// Declarations, references and implementations of a name, and renaming.

import { KEYWORDS } from '@bridle/parser'
import type { Declaration, ImplDecl, Program, Span } from '@bridle/parser'
import { DocumentHighlightKind } from 'vscode-languageserver/node'
import type { DocumentHighlight, Location, Range, SymbolInformation, TextEdit, WorkspaceEdit } from 'vscode-languageserver/node'
import { toRange } from './answers.js'
import type { OpenDocument } from './document.js'
import { findOrigin, findOriginOfName, isFileKey, listMentions, locateOrigin, toFileRange } from './origins.js'
import type { Mention, Origin } from './origins.js'
import { listTopSymbols, OUTLINE_KINDS } from './outline.js'
import { listWriteSpans } from './writes.js'
import type { Workspace } from './workspace.js'

export function findDefinition(workspace: Workspace, document: OpenDocument, offset: number): Location | null {
  const origin = findOrigin(document, offset)
  return origin === null ? null : locateOrigin(workspace, document, origin)
}

export function findReferences(
  workspace: Workspace,
  document: OpenDocument,
  offset: number,
  withDeclaration: boolean,
): Location[] {
  const origin = findOrigin(document, offset)
  if (origin === null) return []
  const mentions = listMentions(workspace, document, origin)
  return mentions.filter(({ isDeclaration }) => withDeclaration || !isDeclaration).map(locateMention)
}

const locateMention = ({ document: { text }, span }: Mention): Location => ({ uri: text.uri, range: toRange(text, span) })

/** The mentions in this file. */
export function listHighlights(document: OpenDocument, offset: number): DocumentHighlight[] {
  const { symbols, text } = document
  if (symbols === null) return []
  const symbol = symbols.at(offset)
  const name = symbols.nameAt(offset)?.text
  const same = name === undefined ? [] : symbols.unresolved.filter((each) => each.text === name).map(({ span }) => span)
  const spans = symbol === null ? same : [symbol.span, ...symbol.references]
  if (spans.length === 0) return []
  const writes = listWriteSpans(document.parsed.program!)
  return spans.map((span) => ({
    range: toRange(text, span),
    kind: span === symbol?.span || writes.has(span.start) ? DocumentHighlightKind.Write : DocumentHighlightKind.Read,
  }))
}

/** What would be renamed; a string says why renaming is impossible. */
export function prepareRename(
  document: OpenDocument,
  offset: number,
): { readonly range: Range; readonly placeholder: string } | string {
  const { symbols, text } = document
  const origin = symbols === null ? null : findOrigin(document, offset)
  if (origin === null) return 'there is no name of this file, or of a file that it imports, here'
  const problem = findHomeProblem(origin)
  if (problem !== null) return problem
  const symbol = symbols!.at(offset)
  const spans = symbol === null ? [symbols!.nameAt(offset)!.span] : [symbol.span, ...symbol.references]
  const here = spans.find((span) => span.start <= offset && offset <= span.end)!
  return { range: toRange(text, here), placeholder: origin.symbol.name }
}

function findHomeProblem({ key, symbol, file, path }: Origin): string | null {
  if (file !== null && !isFileKey(key)) return `${symbol.name} is declared in ${path}; rename it there`
  return /[\\/]\.harn[\\/]packages[\\/]/.test(key) ? `${symbol.name} is declared in an installed package` : null
}

/** In all files of the workspace. A string says why the name cannot be changed. */
export function rename(workspace: Workspace, document: OpenDocument, offset: number, name: string): WorkspaceEdit | string {
  const origin = document.symbols === null ? null : findOrigin(document, offset)
  if (origin === null) return 'there is no name of this file, or of a file that it imports, here'
  const problem = findHomeProblem(origin)
  if (problem !== null) return problem
  if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) || KEYWORDS.includes(name)) return `\`${name}\` cannot be a name`
  const mentions = listMentions(workspace, document, origin)
  const changes: { [uri: string]: TextEdit[] } = {}
  for (const mention of mentions) {
    const clash = findClash(mention, name)
    if (clash !== null) return clash
    const { text } = mention.document
    const newText =
      mention.symbol?.isField === true && mention.span === mention.symbol.span ? `${mention.symbol.name}: ${name}` : name
    ;(changes[text.uri] ??= []).push({ range: toRange(text, mention.span), newText })
  }
  return { changes }
}

/** Whether the new name already has a meaning where the old one is mentioned, or would be captured there. */
function findClash({ document, span, symbol }: Mention, name: string): string | null {
  const { symbols, text } = document
  const visible = symbols!.visibleAt(span.start)
  const inner = symbol === null || span !== symbol.span ? [] : symbols!.all.filter((each) => isWithin(each.scope, symbol.scope))
  const clash = [...visible, ...inner].find((each) => each.name === name && each !== symbol)
  if (clash === undefined) return null
  const isHere = visible.includes(clash)
  const isHit = isHere || [symbol!.span, ...symbol!.references].some(({ start }) => isWithin({ start, end: start }, clash.scope))
  if (!isHit) return null
  const line = text.positionAt(clash.span.start).line + 1
  return `\`${name}\` is already a ${clash.kind} here (line ${line} of ${text.uri.slice(text.uri.lastIndexOf('/') + 1)})`
}

const isWithin = (inner: Span, outer: Span): boolean => outer.start <= inner.start && inner.end <= outer.end

/** Declarations of the types in the type of the name at an offset. */
export function findTypeDefinitions(workspace: Workspace, document: OpenDocument, offset: number): Location[] {
  const { symbols } = document
  const symbol = symbols?.at(offset) ?? null
  if (symbol === null) return []
  const here = [symbol.span, ...symbol.references].find((span) => span.start <= offset && offset <= span.end) ?? symbol.span
  const shown = TYPE_KINDS.has(symbol.declaration?.kind ?? '')
    ? symbol.name
    : (document.findTypeAt(here) ?? document.findTypeAt(symbol.span) ?? readWrittenType(document, symbol.whole, symbol.span))
  const names = new Set(shown?.match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? [])
  return [...names].flatMap((name) => {
    const origin = findOriginOfName(document, name, offset)
    const isType = origin !== null && TYPE_KINDS.has(origin.symbol.declaration?.kind ?? '')
    const location = isType ? locateOrigin(workspace, document, origin) : null
    return location === null ? [] : [location]
  })
}

const TYPE_KINDS: ReadonlySet<string> = new Set(['StructDecl', 'EnumDecl', 'InterfaceDecl', 'TypeDecl'])

/** The annotation after a name, as parameters have. */
function readWrittenType(document: OpenDocument, whole: Span, name: Span): string | null {
  const rest = document.text.getText().slice(name.end, whole.end)
  return /^\s*:\s*([^=,)]*)/.exec(rest)?.[1] ?? null
}

/** `impl` blocks of a type; for an interface, those of the types with all its methods; for one of its methods, these methods. */
export function findImplementations(workspace: Workspace, document: OpenDocument, offset: number): Location[] {
  const { program } = document.parsed
  if (program === null) return []
  const method = findInterfaceMethod(program, offset)
  const origin = method === null ? findOrigin(document, offset) : null
  const owner = method?.owner ?? origin?.symbol.declaration ?? null
  if (owner === null || !TYPE_KINDS.has(owner.kind)) return []
  const wanted = owner.kind === 'InterfaceDecl' ? owner.methods.map(({ name }) => name.text) : null
  return workspace.listDocuments().flatMap((each) => {
    const items = each.parsed.program?.items ?? []
    const impls = items.filter((item): item is ImplDecl => item.kind === 'ImplDecl')
    const fitting = impls.filter((impl) => {
      const own = impl.methods.map(({ name }) => name.text)
      return wanted === null ? impl.name.text === owner.name.text : wanted.every((name) => own.includes(name))
    })
    const spans = fitting.flatMap((impl) =>
      method === null
        ? [impl.name.span]
        : impl.methods.filter(({ name }) => name.text === method.name).map(({ name }) => name.span),
    )
    return spans.map((span) => ({ uri: each.text.uri, range: toRange(each.text, span) }))
  })
}

function findInterfaceMethod(program: Program, offset: number): { readonly owner: Declaration; readonly name: string } | null {
  for (const item of program.items) {
    if (item.kind !== 'InterfaceDecl') continue
    const found = item.methods.find(({ name: { span } }) => span.start <= offset && offset <= span.end)
    if (found !== undefined) return { owner: item, name: found.name.text }
  }
  return null
}

const MOST_SYMBOLS = 1000

/** Declarations of all files whose name contains the letters of the query, in order. */
export function listWorkspaceSymbols(workspace: Workspace, query: string): SymbolInformation[] {
  const letters = [...query.toLowerCase()]
  const matches = (name: string): boolean => {
    let at = 0
    for (const char of name.toLowerCase()) if (char === letters[at]) at++
    return at === letters.length
  }
  const found: SymbolInformation[] = []
  for (const document of workspace.listDocuments()) {
    for (const { name, kind, span, container } of listTopSymbols(document)) {
      if (found.length >= MOST_SYMBOLS) return found
      if (!matches(name)) continue
      const location = { uri: document.text.uri, range: toFileRange(document.parsed.file, span) }
      found.push({ name, kind: OUTLINE_KINDS[kind], location, ...(container === null ? {} : { containerName: container }) })
    }
  }
  return found
}

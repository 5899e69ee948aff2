// The declaration of a name across files, and all its mentions: imports are resolved as a run resolves them.

import type { Program, SourceFile, Span } from '@bridle/parser'
import type { Location, Range } from 'vscode-languageserver/node'
import type { ModuleFinder } from '../checking/imports.js'
import type { OpenDocument } from './document.js'
import { collectSymbols } from './symbols.js'
import type { FileSymbol, FileSymbols } from './symbols.js'
import { findStdUri } from './std-sources.js'
import type { Workspace } from './workspace.js'

export interface Origin {
  /** Of the module. */
  readonly key: string
  readonly symbol: FileSymbol
  /** null: the requested document. */
  readonly file: SourceFile | null
  /** The path from which the requested document imports it. */
  readonly path: string | null
}

export interface Mention {
  readonly document: OpenDocument
  readonly span: Span
  readonly isDeclaration: boolean
  /** The symbol of that file. */
  readonly symbol: FileSymbol | null
}

const symbolsOf = new WeakMap<Program, FileSymbols>()

/** Of a module whose tree does not change. */
function readSymbols(program: Program): FileSymbols {
  let known = symbolsOf.get(program)
  if (known === undefined) symbolsOf.set(program, (known = collectSymbols(program)))
  return known
}

/** The declaration of the name at an offset; null for names that no file declares. */
export function findOrigin(document: OpenDocument, offset: number): Origin | null {
  const { symbols } = document
  if (symbols === null) return null
  const symbol = symbols.at(offset)
  if (symbol !== null) return findOriginOf(document, symbol)
  const name = symbols.nameAt(offset)?.text
  return name === undefined ? null : findThroughWildcards(document.finder, symbols, name, document.parsed.target.key)
}

/** The declaration of a symbol, which may be imported. */
export function findOriginOf(document: OpenDocument, symbol: FileSymbol): Origin | null {
  if (symbol.importPath === null) return { key: document.key, symbol, file: null, path: null }
  return followImport(document.finder, symbol.importPath, symbol.name, document.parsed.target.key)
}

/** The declaration of a name, looked up by name: for a call in text that does not parse. */
export function findOriginOfName(document: OpenDocument, name: string, offset: number): Origin | null {
  const { symbols } = document
  const symbol = symbols?.visibleAt(offset).find((each) => each.name === name)
  if (symbol !== undefined) return findOriginOf(document, symbol)
  return symbols === null ? null : findThroughWildcards(document.finder, symbols, name, document.parsed.target.key)
}

export function findThroughWildcards(finder: ModuleFinder, symbols: FileSymbols, name: string, from: string): Origin | null {
  for (const path of symbols.wildcards) {
    const found = followImport(finder, path, name, from)
    if (found !== null) return found
  }
  return null
}

export function followImport(
  finder: ModuleFinder,
  path: string,
  name: string,
  from: string,
  seen: ReadonlySet<string> = new Set(),
): Origin | null {
  const module = finder.find(path, from)
  if (module === null || module.program === null || seen.has(module.key)) return null
  const symbols = readSymbols(module.program)
  const further = new Set([...seen, module.key])
  const symbol = symbols.topLevel.find((each) => each.name === name)
  if (symbol !== undefined && symbol.importPath === null) return { key: module.key, symbol, file: module.file, path }
  const paths = symbol?.importPath == null ? symbols.wildcards : [symbol.importPath]
  for (const next of paths) {
    const found = followImport(finder, next, name, module.key, further)
    if (found !== null) return { ...found, path }
  }
  return null
}

/** For a standard module, in a copy of its source; null for other modules without a file. */
export function locateOrigin(workspace: Workspace, document: OpenDocument, { key, symbol, file }: Origin): Location | null {
  if (file === null) return { uri: document.text.uri, range: toFileRange(document.parsed.file, symbol.span) }
  const uri = isFileKey(key) ? workspace.readUri(key) : findStdUri(key, file.text)
  return uri === null ? null : { uri, range: toFileRange(file, symbol.span) }
}

export const isFileKey = (key: string): boolean => !key.startsWith('<')

/** Lines and characters as the protocol counts them: from 0, in UTF-16 units. */
export function toFileRange(file: SourceFile, { start, end }: Span): Range {
  const place = (offset: number): Range['start'] => ({
    line: file.lineAt(offset) - 1,
    character: offset - (file.text.lastIndexOf('\n', offset - 1) + 1),
  })
  return { start: place(start), end: place(end) }
}

/** Every mention of a declaration in open documents and in the files of the workspace, and the declaration itself. */
export function listMentions(workspace: Workspace, document: OpenDocument, origin: Origin): readonly Mention[] {
  const { symbol, key } = origin
  const isLocal = origin.file === null && !document.symbols!.topLevel.includes(symbol)
  if (isLocal) return mentionsOf(document, symbol, true)
  const known = new Map(workspace.listDocuments(symbol.name).map((each) => [each.key, each]))
  known.set(document.key, document)
  const home = isFileKey(key) ? workspace.findByKey(key) : null
  if (home !== null) known.set(key, home)
  return [...known].flatMap(([at, each]) => {
    const { symbols } = each
    if (symbols === null) return []
    if (at === key) {
      const own = symbols.topLevel.find(({ span, importPath }) => importPath === null && span.start === symbol.span.start)
      return own === undefined ? [] : mentionsOf(each, own, true)
    }
    const isIt = (found: Origin | null): boolean => found?.key === key && found.symbol.span.start === symbol.span.start
    const from = each.parsed.target.key
    const imports = symbols.topLevel.filter(({ name, importPath }) => name === symbol.name && importPath !== null)
    const named = imports.filter(({ importPath }) => isIt(followImport(each.finder, importPath!, symbol.name, from)))
    const loose = symbols.unresolved.filter(({ text }) => text === symbol.name)
    const isWild = loose.length > 0 && isIt(findThroughWildcards(each.finder, symbols, symbol.name, from))
    return [
      ...named.flatMap((one) => mentionsOf(each, one, false)),
      ...(isWild ? loose.map(({ span }) => ({ document: each, span, isDeclaration: false, symbol: null })) : []),
    ]
  })
}

function mentionsOf(document: OpenDocument, symbol: FileSymbol, isDeclared: boolean): Mention[] {
  const own = { document, span: symbol.span, isDeclaration: isDeclared, symbol }
  return [own, ...symbol.references.map((span) => ({ document, span, isDeclaration: false, symbol }))]
}

// Answers of the server, as data of the protocol: made from symbols, types, findings and the registry of builtins, the same
// tables that check, docs and the machine read. Nothing here talks to an editor.

import { pathToFileURL } from 'node:url'
import { KEYWORDS, type Declaration, type Span } from '@bridle/parser'
import { listParameters } from '@bridle/compiler'
import { findOptionShapes, harnTypes } from '@bridle/stdlib-tools'
import { type OptionRow, listParamNames, readShape } from '@bridle/vm/families'
import type { BuiltinDef, Registry } from '@bridle/vm'
import { CompletionItemKind, DiagnosticSeverity, DiagnosticTag, MarkupKind } from 'vscode-languageserver/node'
import type { CompletionItem, Diagnostic, Hover, Range } from 'vscode-languageserver/node'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import type { Finding } from '../findings.js'
import type { OpenDocument } from './document.js'
import { findThroughWildcards, followImport, toFileRange } from './origins.js'
import type { Origin } from './origins.js'
import type { FileSymbol, SymbolKind } from './symbols.js'
import { findOpenCall, findTool } from './tool-calls.js'
import type { OpenCall } from './tool-calls.js'

export function toRange(text: TextDocument, { start, end }: Span): Range {
  return { start: text.positionAt(start), end: text.positionAt(end) }
}

// ------------------------------------------------------------------------------------------------------------ diagnostics

const SEVERITIES = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
} as const

/** Findings about unnecessary code: editors show it faded. */
const UNUSED = new Set(['L050', 'L051', 'L052', 'L053', 'L055', 'L056', 'L021'])

export function toDiagnostic(document: OpenDocument, { diagnostic, file }: Finding): Diagnostic {
  const { text, parsed } = document
  const { span, severity, code, message, hint, related } = diagnostic
  const isOwn = file === parsed.file
  const uri = isOwn ? text.uri : pathToFileURL(file.name).href
  const place = (at: Span): Range => (isOwn ? toRange(text, at) : toFileRange(file, at))
  const further = related.map((each) => ({ location: { uri, range: place(each.span) }, message: each.message }))
  const information = isOwn ? further : [{ location: { uri, range: place(span) }, message }, ...further]
  return {
    range: isOwn ? place(span) : findImportRange(document, file.name),
    severity: SEVERITIES[severity],
    code,
    source: 'bridle',
    message: hint === null ? message : `${message}\n${hint}`,
    ...(UNUSED.has(code) ? { tags: [DiagnosticTag.Unnecessary] } : {}),
    ...(information.length === 0 ? {} : { relatedInformation: information }),
  }
}

/** Errors of an imported module are shown at its import; of an indirectly imported one, at the top. */
function findImportRange({ text, parsed, finder }: OpenDocument, key: string): Range {
  const item = parsed.program?.items.find(
    (each) => each.kind === 'ImportDecl' && finder.find(each.path, parsed.target.key)?.key === key,
  )
  return item?.kind === 'ImportDecl' ? toRange(text, item.pathSpan) : toRange(text, { start: 0, end: 0 })
}

/** Editors show no more than this, and request repairs for what they show. */
export const MOST_FINDINGS = 1000

/** The diagnostics of a file, errors first; if there are too many, the last one says how many were left out. A problem of its settings comes first. */
export function toDiagnostics(document: OpenDocument): Diagnostic[] {
  const findings = document.listFindings
  const { text, settingsProblem: problem } = document
  const ranks = { error: 0, warning: 1, info: 2 }
  const isTooMany = findings.length > MOST_FINDINGS
  const shown = isTooMany
    ? findings.toSorted((a, b) => ranks[a.diagnostic.severity] - ranks[b.diagnostic.severity]).slice(0, MOST_FINDINGS)
    : findings
  const top = { start: text.positionAt(0), end: text.positionAt(0) }
  const say = (severity: DiagnosticSeverity, message: string): Diagnostic => ({ range: top, severity, source: 'bridle', message })
  return [
    ...(problem === null ? [] : [say(DiagnosticSeverity.Error, problem)]),
    ...shown.map((finding) => toDiagnostic(document, finding)),
    ...(isTooMany ? [say(DiagnosticSeverity.Information, `${findings.length - MOST_FINDINGS} more findings are not shown`)] : []),
  ]
}

// ------------------------------------------------------------------------------------------------------------------ hover

export function makeHover(document: OpenDocument, registry: Registry, offset: number): Hover | null {
  const { symbols, text } = document
  if (symbols === null) return null
  const symbol = symbols.at(offset)
  if (symbol !== null) {
    const here = [symbol.span, ...symbol.references].find((span) => span.start <= offset && offset <= span.end) ?? symbol.span
    const own = symbol.importPath?.startsWith('host/') === true ? makeHostHover(document, symbol.importPath, symbol.name) : null
    if (own !== null) return { contents: { kind: MarkupKind.Markdown, value: own }, range: toRange(text, here) }
    const origin =
      symbol.importPath === null
        ? null
        : followImport(document.finder, symbol.importPath, symbol.name, document.parsed.target.key)
    const value = origin === null ? describeSymbol(document, symbol, here) : describeOrigin(origin)
    return { contents: { kind: MarkupKind.Markdown, value }, range: toRange(text, here) }
  }
  const word = findWordAt(text.getText(), offset)
  if (word === null) return null
  const option = optionHover(text.getText(), registry, word)
  if (option !== null) return { contents: { kind: MarkupKind.Markdown, value: option }, range: toRange(text, word.span) }
  const path = word.afterDot ? null : document.findImportPath(word.text)
  const wild = path?.startsWith('host/') === true ? makeHostHover(document, path, word.text) : null
  if (wild !== null) return { contents: { kind: MarkupKind.Markdown, value: wild }, range: toRange(text, word.span) }
  const origin = word.afterDot ? null : findThroughWildcards(document.finder, symbols, word.text, document.parsed.target.key)
  if (origin !== null)
    return { contents: { kind: MarkupKind.Markdown, value: describeOrigin(origin) }, range: toRange(text, word.span) }
  const defs = findBuiltins(registry, word.text, word.afterDot)
  if (defs.length === 0) return null
  const value = defs.map((def) => `${formatCode(formatSignature(def))}\n\n${def.doc}${formatOptions(def)}`).join('\n\n---\n\n')
  return { contents: { kind: MarkupKind.Markdown, value }, range: toRange(text, word.span) }
}

/** The key of an option, in a call of a builtin. */
function optionHover(text: string, registry: Registry, { text: name, span }: Word): string | null {
  if (!/^\s*:/.test(text.slice(span.end, span.end + 20))) return null
  const call = findOpenCall(text, span.start)
  if (call?.path?.length !== 0 || call.key !== null) return null
  const row = optionRows(registry.builtins.get(call.callee), call.argument)?.find((each) => each.name === name)
  return row === undefined ? null : `${formatCode(optionText(row))}\n\n${row.doc}`
}

/** The declaration of a tool of the host. */
function makeHostHover(document: OpenDocument, path: string, name: string): string | null {
  const tool = document.tools.ofModule(path.slice(5), name)
  return tool === null ? null : formatCode(harnTypes([tool.declaration]).trimEnd())
}

function formatCode(text: string): string {
  return `\`\`\`harn\n${text}\n\`\`\``
}

function describeSymbol(document: OpenDocument, symbol: FileSymbol, here: Span): string {
  const shown = [formatCode(formatHeading(document, symbol, here))]
  if (symbol.doc !== null) shown.push(symbol.doc)
  if (symbol.importPath !== null) shown.push(`from \`${symbol.importPath}\``)
  return shown.join('\n\n')
}

/** The declaration in the module that it is imported from. */
function describeOrigin({ symbol, file, path }: Origin): string {
  const { declaration, doc } = symbol
  const heading = declaration === null || file === null ? symbol.name : formatDeclaration(declaration, file.text)
  const shown = [formatCode(heading)]
  if (doc !== null) shown.push(doc)
  if (path !== null) shown.push(`from \`${path}\``)
  return shown.join('\n\n')
}

/** The whole declaration for a type, the first line for anything else. */
function formatDeclaration(declaration: Declaration, source: string): string {
  const text = source.slice(declaration.span.start, declaration.span.end)
  const isWhole = declaration.kind === 'StructDecl' || declaration.kind === 'EnumDecl' || declaration.kind === 'InterfaceDecl'
  if (isWhole) return text
  const end =
    'body' in declaration && declaration.kind !== 'EvalPackDecl'
      ? declaration.body.span.start - declaration.span.start
      : text.search(/[{\n]/)
  return end < 0 ? text : text.slice(0, end).trimEnd()
}

/** The declaration, or the name with its type. */
function formatHeading(document: OpenDocument, symbol: FileSymbol, here: Span): string {
  if (symbol.declaration !== null) return formatDeclaration(symbol.declaration, document.text.getText())
  const type = document.findTypeAt(here) ?? document.findTypeAt(symbol.span)
  return type === null ? symbol.name : `${symbol.name}: ${type}`
}

interface Word {
  readonly text: string
  readonly span: Span
  readonly afterDot: boolean
}

function findWordAt(text: string, offset: number): Word | null {
  let start = offset
  let end = offset
  while (start > 0 && /[\p{L}\p{N}_]/u.test(text[start - 1]!)) start--
  while (end < text.length && /[\p{L}\p{N}_]/u.test(text[end]!)) end++
  if (start === end) return null
  return { text: text.slice(start, end), span: { start, end }, afterDot: text[start - 1] === '.' }
}

function findBuiltins(registry: Registry, name: string, method: boolean): readonly BuiltinDef[] {
  if (method) return [...registry.methods.values()].flatMap((table) => table.get(name) ?? [])
  const found = registry.builtins.get(name)
  return found === undefined ? [] : [found]
}

/** The options of a builtin as a list, after its description. */
function formatOptions(def: BuiltinDef): string {
  const rows = [...new Set(Object.values(findOptionShapes(def) ?? {}))].flatMap((shape) => readShape(shape))
  if (rows.length === 0) return ''
  const lines = rows.map((row) => `- \`${optionText(row)}\` ${row.doc}`)
  return `\n\n${lines.join('\n')}`
}

function formatSignature(def: BuiltinDef): string {
  return def.receiver === null ? def.signature : `${def.receiver}.${def.signature}`
}

// ------------------------------------------------------------------------------------------------------------- completion

const ITEM_KINDS: Readonly<Record<SymbolKind, CompletionItemKind>> = {
  variable: CompletionItemKind.Variable,
  parameter: CompletionItemKind.Variable,
  function: CompletionItemKind.Function,
  tool: CompletionItemKind.Function,
  pipeline: CompletionItemKind.Module,
  struct: CompletionItemKind.Struct,
  enum: CompletionItemKind.Enum,
  interface: CompletionItemKind.Interface,
  type: CompletionItemKind.TypeParameter,
  import: CompletionItemKind.Function,
  constant: CompletionItemKind.Constant,
}

/** `last` is the newest version that parsed: while a name is being typed, the text often does not. */
export function listCompletions(
  document: OpenDocument,
  last: OpenDocument | null,
  registry: Registry,
  offset: number,
): CompletionItem[] {
  const text = document.text.getText()
  const word = findWordAt(text, offset)
  const start = word?.span.start ?? offset
  if (text[start - 1] === '.') return listMemberItems(registry, last)
  const keys = listArgumentItems(document, last, registry, start)
  if (keys !== null) return keys
  const items = new Map<string, CompletionItem>()
  const add = (item: CompletionItem): void => {
    if (!items.has(item.label)) items.set(item.label, item)
  }
  for (const symbol of last?.symbols?.visibleAt(Math.min(offset, last.text.getText().length)) ?? []) {
    const doc = symbol.doc === null ? {} : { documentation: symbol.doc }
    add({ label: symbol.name, kind: ITEM_KINDS[symbol.kind], sortText: `0${symbol.name}`, ...doc })
  }
  for (const def of registry.builtins.values()) {
    if (def.name.startsWith('__') || def.name.includes('.')) continue
    add({
      label: def.name,
      kind: CompletionItemKind.Function,
      detail: def.signature,
      documentation: def.doc,
      sortText: `1${def.name}`,
    })
  }
  for (const keyword of KEYWORDS) add({ label: keyword, kind: CompletionItemKind.Keyword, sortText: `2${keyword}` })
  return [...items.values()]
}

/** Names of the arguments of a tool or of the options of a builtin, if one is expected here; otherwise null. */
function listArgumentItems(
  document: OpenDocument,
  last: OpenDocument | null,
  registry: Registry,
  offset: number,
): CompletionItem[] | null {
  const call = findOpenCall(document.text.getText(), offset)
  if (call?.path == null || call.key !== null) return null
  const tool = findTool(call, document.tools, (name) => last?.findImportPath(name) ?? null)
  if (tool === null) return optionItems(call, registry)
  const items = listParameters(tool, call.path).filter(({ name }) => !call.given.includes(name))
  return items.map(({ name, type, isRequired, description }) => ({
    label: name,
    kind: CompletionItemKind.Field,
    detail: `${name}${isRequired ? '' : '?'}: ${type}`,
    insertText: `${name}: `,
    sortText: `${isRequired ? '0' : '1'}${name}`,
    ...(description === '' ? {} : { documentation: description }),
  }))
}

function optionItems(call: OpenCall, registry: Registry): CompletionItem[] | null {
  if (call.path?.length !== 0) return null
  const rows = optionRows(registry.builtins.get(call.callee), call.argument)
  if (rows === null) return null
  const open = rows.filter(({ name }) => name !== '*' && !call.given.includes(name))
  return open.map((row) => ({
    label: row.name,
    kind: CompletionItemKind.Field,
    detail: optionText(row),
    insertText: `${row.name}: `,
    documentation: row.doc,
  }))
}

/** The options that an argument of a builtin takes; null when it takes none. */
function optionRows(def: BuiltinDef | undefined, argument: number): readonly OptionRow[] | null {
  if (def === undefined) return null
  const param = listParamNames(def.signature)[argument]
  const shape = param === undefined ? undefined : findOptionShapes(def)?.[param]
  return shape === undefined ? null : readShape(shape)
}

function optionText({ name, type, unit, default: otherwise }: OptionRow): string {
  return `${name}: ${type}${unit === null ? '' : ` (${unit})`}${otherwise === null ? '' : ` = ${otherwise}`}`
}

/** Methods of all types, and fields and variants that the file declares. */
function listMemberItems(registry: Registry, last: OpenDocument | null): CompletionItem[] {
  const items = new Map<string, CompletionItem>()
  for (const symbol of last?.symbols?.all ?? []) {
    const { declaration } = symbol
    if (declaration?.kind === 'StructDecl') {
      for (const field of declaration.fields) {
        items.set(field.name.text, { label: field.name.text, kind: CompletionItemKind.Field, detail: symbol.name })
      }
    }
    if (declaration?.kind === 'EnumDecl') {
      for (const variant of declaration.variants) {
        items.set(variant.name.text, { label: variant.name.text, kind: CompletionItemKind.EnumMember, detail: symbol.name })
      }
    }
  }
  for (const [receiver, table] of registry.methods) {
    for (const def of table.values()) {
      const known = items.get(def.name)
      if (known?.kind === CompletionItemKind.Method) known.detail = `${known.detail ?? ''}, ${receiver}`
      else if (known === undefined) {
        items.set(def.name, { label: def.name, kind: CompletionItemKind.Method, detail: receiver, documentation: def.doc })
      }
    }
  }
  return [...items.values()]
}

// The structure of a file: outline, folding ranges, selection ranges, links to other files, and code lenses.

import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { tokenize, walk } from '@bridle/parser'
import type { Name, Node, Program, Span, Stmt } from '@bridle/parser'
import { FoldingRangeKind, SymbolKind as LspSymbolKind } from 'vscode-languageserver/node'
import type { CodeLens, DocumentLink, DocumentSymbol, FoldingRange, Range, SelectionRange } from 'vscode-languageserver/node'
import { toRange } from './answers.js'
import { toPath } from './document.js'
import type { OpenDocument } from './document.js'
import { isFileKey } from './origins.js'
import type { SymbolKind } from './symbols.js'
import type { Workspace } from './workspace.js'

export const OUTLINE_KINDS: Readonly<Record<SymbolKind | 'field' | 'variant' | 'method' | 'impl', LspSymbolKind>> = {
  variable: LspSymbolKind.Variable,
  parameter: LspSymbolKind.Variable,
  function: LspSymbolKind.Function,
  tool: LspSymbolKind.Function,
  pipeline: LspSymbolKind.Module,
  struct: LspSymbolKind.Struct,
  enum: LspSymbolKind.Enum,
  interface: LspSymbolKind.Interface,
  type: LspSymbolKind.TypeParameter,
  import: LspSymbolKind.Package,
  constant: LspSymbolKind.Constant,
  field: LspSymbolKind.Field,
  variant: LspSymbolKind.EnumMember,
  method: LspSymbolKind.Method,
  impl: LspSymbolKind.Class,
}

interface Part {
  readonly name: string
  readonly kind: keyof typeof OUTLINE_KINDS
  readonly span: Span
  readonly whole: Span
}

/** Declarations at the top level with their nested declarations. */
export function makeOutline(document: OpenDocument): DocumentSymbol[] {
  const { symbols, text, parsed } = document
  if (symbols === null || parsed.program === null) return []
  const toSymbol = ({ name, kind, span, whole }: Part, parts: readonly Part[] = []): DocumentSymbol => ({
    name,
    kind: OUTLINE_KINDS[kind],
    range: toRange(text, whole),
    selectionRange: toRange(text, span),
    ...(parts.length === 0 ? {} : { children: parts.map((part) => toSymbol(part)) }),
  })
  const own = symbols.topLevel.map((symbol) => ({
    at: symbol.whole.start,
    made: toSymbol(symbol, symbol.declaration === null ? [] : listParts(symbol.declaration)),
  }))
  const impls = parsed.program.items.flatMap((item) =>
    item.kind === 'ImplDecl'
      ? [
          {
            at: item.span.start,
            made: toSymbol(
              { name: `impl ${item.name.text}`, kind: 'impl', span: item.name.span, whole: item.span },
              listParts(item),
            ),
          },
        ]
      : [],
  )
  return [...own, ...impls].toSorted((one, other) => one.at - other.at).map(({ made }) => made)
}

function listParts(declaration: Stmt): readonly Part[] {
  const toParts = (names: readonly Name[], kind: Part['kind']): readonly Part[] =>
    names.map(({ text, span }) => ({ name: text, kind, span, whole: span }))
  switch (declaration.kind) {
    case 'StructDecl':
      return toParts(
        declaration.fields.map(({ name }) => name),
        'field',
      )
    case 'EnumDecl':
      return toParts(
        declaration.variants.map(({ name }) => name),
        'variant',
      )
    case 'InterfaceDecl':
    case 'ImplDecl':
      return declaration.methods.map(({ name, span }) => ({ name: name.text, kind: 'method', span: name.span, whole: span }))
    default:
      return []
  }
}

/** Workspace symbols of a file: declarations, and nested ones with the name of their container. */
export function listTopSymbols(document: OpenDocument): readonly (Part & { readonly container: string | null })[] {
  const { symbols, parsed } = document
  if (symbols === null || parsed.program === null) return []
  const own = symbols.topLevel.filter(({ importPath }) => importPath === null)
  const inner = parsed.program.items.flatMap((item) =>
    'name' in item ? listParts(item).map((part) => ({ ...part, container: item.name.text })) : [],
  )
  return [...own.map(({ name, kind, span, whole }) => ({ name, kind, span, whole, container: null })), ...inner]
}

// ---------------------------------------------------------------------------------------------------------------- folding

const FOLDED: ReadonlySet<Node['kind']> = new Set([
  'Block',
  'Match',
  'Dict',
  'StructLiteral',
  'List',
  'Call',
  'MethodCall',
  'String',
  'Interpolation',
  'Select',
  'StructDecl',
  'EnumDecl',
  'InterfaceDecl',
  'ImplDecl',
  'SkillDecl',
  'EvalPackDecl',
])

/** One per first line: the outermost range that begins there. */
export function listFoldingRanges({ text, parsed }: OpenDocument): FoldingRange[] {
  const found = new Map<number, FoldingRange>()
  const add = (span: Span, kind: FoldingRangeKind | null, keepsLastLine: boolean): void => {
    const startLine = text.positionAt(span.start).line
    const endLine = text.positionAt(span.end).line - (keepsLastLine ? 1 : 0)
    const known = found.get(startLine)
    if (endLine <= startLine || (known !== undefined && known.endLine >= endLine)) return
    found.set(startLine, { startLine, endLine, ...(kind === null ? {} : { kind }) })
  }
  const source = text.getText()
  const { program } = parsed
  if (program !== null) {
    walk(program, {
      enter: (node) => {
        // Keep the closing bracket visible.
        if (FOLDED.has(node.kind)) add(node.span, null, /[\])}"]/.test(source[node.span.end - 1] ?? ''))
      },
    })
    for (const group of groupImports(program, text)) add(group, FoldingRangeKind.Imports, false)
  }
  for (const group of groupComments(source, text)) add(group, FoldingRangeKind.Comment, false)
  return [...found.values()].toSorted((one, other) => one.startLine - other.startLine)
}

function groupImports(program: Program, text: OpenDocument['text']): readonly Span[] {
  return joinNeighbours(
    program.items.filter(({ kind }) => kind === 'ImportDecl').map(({ span }) => span),
    text,
  )
}

function groupComments(source: string, text: OpenDocument['text']): readonly Span[] {
  const comments = tokenize(source).filter(({ kind }) => kind === 'comment' || kind === 'doc')
  const isAlone = ({ start }: Span): boolean => source.slice(source.lastIndexOf('\n', start - 1) + 1, start).trim() === ''
  return joinNeighbours(comments.map(({ span }) => span).filter(isAlone), text)
}

/** Adjacent lines form one range. */
function joinNeighbours(spans: readonly Span[], text: OpenDocument['text']): readonly Span[] {
  const joined: Span[] = []
  for (const span of spans) {
    const last = joined.at(-1)
    const isNext = last !== undefined && text.positionAt(span.start).line - text.positionAt(last.end).line <= 1
    if (isNext) joined[joined.length - 1] = { start: last.start, end: span.end }
    else joined.push(span)
  }
  return joined
}

// -------------------------------------------------------------------------------------------------------------- selection

/** Word, expression, statement, block and so on up to the file. */
export function listSelections({ text, parsed }: OpenDocument, offsets: readonly number[]): SelectionRange[] {
  const tokens = tokenize(text.getText())
  return offsets.map((offset) => {
    const spans: Span[] = []
    if (parsed.program !== null) {
      walk(parsed.program, {
        enter: ({ span }) => {
          if (span.start > offset || span.end < offset) return false
          spans.push(span)
          return true
        },
      })
    } else spans.push({ start: 0, end: text.getText().length })
    const touching = tokens.filter(({ span, kind }) => kind !== 'newline' && span.start <= offset && offset <= span.end)
    const token = touching.find(({ kind }) => kind !== 'operator') ?? touching.at(-1)
    if (token !== undefined) spans.push(token.span)
    let made: SelectionRange | null = null
    for (const span of spans) {
      const range: Range = toRange(text, span)
      const outer: Range | undefined = made?.range
      const isSame = outer !== undefined && text.offsetAt(outer.start) >= span.start && text.offsetAt(outer.end) <= span.end
      if (!isSame) made = { range, ...(made === null ? {} : { parent: made }) }
    }
    return made ?? { range: toRange(text, { start: offset, end: offset }) }
  })
}

// ------------------------------------------------------------------------------------------------------ links, code lenses

const TEMPLATE_BUILTINS: ReadonlySet<string> = new Set(['render', 'render_prompt'])

/** Imports of files, and templates named by literals. */
export function listLinks(workspace: Workspace, { text, parsed, finder }: OpenDocument): DocumentLink[] {
  const { program, target } = parsed
  if (program === null) return []
  const links: DocumentLink[] = []
  const folder = dirname(toPath(text.uri))
  walk(program, {
    enter: (node) => {
      if (node.kind === 'ImportDecl') {
        const module = finder.find(node.path, target.key)
        if (module !== null && isFileKey(module.key))
          links.push({ range: toRange(text, inside(node.pathSpan)), target: workspace.readUri(module.key) })
        return
      }
      if (node.kind !== 'Call' || !TEMPLATE_BUILTINS.has(node.callee.text)) return
      const path = node.args[0]?.value
      if (path?.kind !== 'String') return
      const file = resolve(folder, path.value)
      if (existsSync(file) && statSync(file).isFile())
        links.push({ range: toRange(text, inside(path.span)), target: pathToFileURL(file).href })
    },
  })
  return links
}

const inside = ({ start, end }: Span): Span => ({ start: start + 1, end: end - 1 })

/** Commands of the editor for code lenses; the extension runs `bridle run` and `bridle test`. */
export const COMMANDS = { run: 'bridle.run', test: 'bridle.test', testFile: 'bridle.testFile' } as const

/** Runnable items: the tests of the file, each and together, and a script or its pipeline. */
export function listLenses({ text, parsed }: OpenDocument): CodeLens[] {
  const { program } = parsed
  if (program === null || program.items.length === 0) return []
  const lenses: CodeLens[] = []
  const add = (span: Span, title: string, command: string, ...more: string[]): void => {
    lenses.push({ range: toRange(text, span), command: { title, command, arguments: [text.uri, ...more] } })
  }
  const top = { start: 0, end: 0 }
  const pipelines = program.items.filter((item) => item.kind === 'PipelineDecl')
  const tests = pipelines.filter(
    ({ name, attributes }) => name.text.startsWith('test_') || attributes.some((attribute) => attribute.name.text === 'test'),
  )
  if (tests.length > 1) add(top, `Test all ${tests.length}`, COMMANDS.testFile)
  for (const { name } of tests) add(name.span, 'Test', COMMANDS.test, name.text)
  // A run starts the pipeline `default`, or the first one; without a pipeline, the statements of the file.
  const others = pipelines.filter((each) => !tests.includes(each))
  const entry = others.find(({ name }) => name.text === 'default') ?? others[0]
  const hasStatements = program.items.some(({ kind }) => !DECLARATIONS.has(kind))
  if (entry !== undefined) add(entry.name.span, 'Run', COMMANDS.run)
  else if (hasStatements && pipelines.length === 0) add(top, 'Run', COMMANDS.run)
  return lenses
}

const DECLARATIONS: ReadonlySet<string> = new Set([
  'ImportDecl',
  'FnDecl',
  'ToolDecl',
  'PipelineDecl',
  'OverrideDecl',
  'StructDecl',
  'EnumDecl',
  'InterfaceDecl',
  'ImplDecl',
  'TypeDecl',
  'SkillDecl',
  'EvalPackDecl',
  'Let',
])

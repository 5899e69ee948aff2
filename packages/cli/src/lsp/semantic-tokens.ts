// Semantic tokens: by declarations and types if the file parses, otherwise by the newest version that did.

import { tokenize, walk } from '@bridle/parser'
import type { Node, Program, Span, TypeExpr } from '@bridle/parser'
import type { Registry } from '@bridle/vm'
import type { SemanticTokens, SemanticTokensDelta } from 'vscode-languageserver/node'
import type { OpenDocument } from './document.js'
import type { FileSymbol, FileSymbols, SymbolKind } from './symbols.js'
import { listWriteSpans } from './writes.js'

export const TOKEN_TYPES = [
  'namespace',
  'type',
  'struct',
  'enum',
  'interface',
  'enumMember',
  'typeParameter',
  'parameter',
  'variable',
  'property',
  'function',
  'method',
  'keyword',
  'comment',
  'string',
  'number',
  'operator',
  'decorator',
] as const
export const TOKEN_MODIFIERS = ['declaration', 'readonly', 'modification', 'documentation', 'defaultLibrary'] as const

type TokenType = (typeof TOKEN_TYPES)[number]
type Modifier = (typeof TOKEN_MODIFIERS)[number]

interface Word {
  readonly type: TokenType
  readonly modifiers: readonly Modifier[]
}

const SYMBOL_TYPES: Readonly<Record<SymbolKind, TokenType>> = {
  variable: 'variable',
  parameter: 'parameter',
  function: 'function',
  tool: 'function',
  pipeline: 'function',
  struct: 'struct',
  enum: 'enum',
  interface: 'interface',
  type: 'type',
  import: 'function',
  constant: 'variable',
}

/** Types of the language itself. */
const OWN_TYPES: ReadonlySet<string> = new Set(
  'int float string bool list dict set bytes duration any closure nil never unknown Result Option'.split(' '),
)

/** Numbers of the protocol, five per token. `lines`: only these, the last excluded. */
export function listSemanticTokens(
  document: OpenDocument,
  last: OpenDocument | null,
  registry: Registry,
  lines: { readonly from: number; readonly to: number } | null = null,
): number[] {
  const { text } = document
  const source = text.getText()
  const words =
    document.symbols !== null && document.parsed.program !== null
      ? classify(document.parsed.program, document.symbols, registry)
      : null
  const names = words === null ? classifyNames(last?.symbols ?? null) : null
  const data: number[] = []
  let line = 0
  let character = 0
  const add = (span: Span, { type, modifiers }: Word): void => {
    // A token is on one line: clients need not support others.
    for (let start = span.start; start < span.end;) {
      const found = source.indexOf('\n', start)
      const end = found < 0 || found > span.end ? span.end : found
      const at = text.positionAt(start)
      if (end > start && (lines === null || (at.line >= lines.from && at.line < lines.to))) {
        const bits = modifiers.reduce((sum, each) => sum | (1 << TOKEN_MODIFIERS.indexOf(each)), 0)
        const column = at.line === line ? at.character - character : at.character
        data.push(at.line - line, column, end - start, TOKEN_TYPES.indexOf(type), bits)
        line = at.line
        character = at.character
      }
      start = end + 1
    }
  }
  const holes = listHoles(document)
  const within = (span: Span): readonly Span[] => holes.filter((hole) => span.start <= hole.start && hole.end <= span.end)
  const emit = (from: number, tokens: ReturnType<typeof tokenize>): void => {
    for (const { kind, span } of tokens) {
      const at = { start: from + span.start, end: from + span.end }
      if (lines !== null && (text.positionAt(at.end).line < lines.from || text.positionAt(at.start).line >= lines.to)) continue
      if (kind === 'string') {
        let start = at.start
        for (const hole of within(at)) {
          if (hole.start < start) continue
          add({ start, end: hole.start }, plainWord('string'))
          emit(hole.start, tokenize(source.slice(hole.start, hole.end)))
          start = hole.end
        }
        add({ start, end: at.end }, plainWord('string'))
        continue
      }
      if (kind === 'newline') continue
      if (kind === 'comment') add(at, plainWord('comment'))
      else if (kind === 'doc') add(at, { type: 'comment', modifiers: ['documentation'] })
      else if (kind === 'number' || kind === 'operator') {
        if (kind === 'number' || !BRACKETS.test(source[at.start]!)) add(at, plainWord(kind))
      } else {
        const found = words?.get(at.start) ?? names?.get(source.slice(at.start, at.end))
        if (found !== undefined) add(at, found)
        else if (kind === 'keyword') add(at, plainWord('keyword'))
      }
    }
  }
  emit(0, tokenize(source))
  return data
}

const BRACKETS = /[()[\]{},;:.]/
const plainWord = (type: TokenType): Word => ({ type, modifiers: [] })

/** Expressions in strings, in source order. */
function listHoles({ parsed }: OpenDocument): readonly Span[] {
  const holes: Span[] = []
  if (parsed.program === null) return holes
  walk(parsed.program, {
    enter: (node) => {
      if (node.kind === 'Interpolation') for (const part of node.parts) if (typeof part !== 'string') holes.push(part.span)
    },
  })
  return holes.toSorted((one, other) => one.start - other.start)
}

function readKind(symbol: FileSymbol): Word {
  const isFixed = (symbol.kind === 'variable' && !symbol.isMutable) || symbol.kind === 'constant'
  const isType = symbol.kind === 'import' && /^\p{Lu}/u.test(symbol.name)
  return { type: isType ? 'type' : SYMBOL_TYPES[symbol.kind], modifiers: isFixed ? ['readonly'] : [] }
}

function classifyNames(symbols: FileSymbols | null): ReadonlyMap<string, Word> {
  return new Map(symbols?.all.map((symbol) => [symbol.name, readKind(symbol)]))
}

/** Names by start offset. */
function classify(program: Program, symbols: FileSymbols, registry: Registry): ReadonlyMap<number, Word> {
  const words = new Map<number, Word>()
  const set = ({ start }: Span, type: TokenType, ...modifiers: Modifier[]): void => void words.set(start, { type, modifiers })
  const called = new Set<number>()
  const visitType = (type: TypeExpr | null): void => {
    switch (type?.kind) {
      case 'NamedType':
        if (OWN_TYPES.has(type.name.text)) set(type.name.span, 'type', 'defaultLibrary')
        else if (!words.has(type.name.span.start)) set(type.name.span, 'type')
        return type.args.forEach(visitType)
      case 'ShapeType':
        for (const { name, type: inner } of type.fields) {
          set(name.span, 'property')
          visitType(inner)
        }
        return
      case 'ListType':
        return visitType(type.element)
      case 'FnType':
        type.params.forEach(visitType)
        return visitType(type.returns)
      case 'UnionType':
        return type.members.forEach(visitType)
    }
  }
  const visitParams = (params: readonly { readonly type: TypeExpr | null }[]): void =>
    params.forEach(({ type }) => visitType(type))
  const visitEntries = (entries: Extract<Node, { kind: 'Dict' }>['entries']): void => {
    for (const entry of entries) if (entry.kind === 'named' && !entry.quoted) set(entry.key.span, 'property')
  }
  walk(program, {
    enter: (node) => {
      if ('attributes' in node)
        for (const { span, name } of node.attributes) {
          set(span, 'decorator')
          set(name.span, 'decorator')
        }
      switch (node.kind) {
        case 'Call':
          called.add(node.callee.span.start)
          return node.typeArgs.forEach(visitType)
        case 'Pipe':
          called.add(node.callee.span.start)
          return
        case 'Member':
          return set(node.property.span, isVariantOwner(node.object, symbols) ? 'enumMember' : 'property')
        case 'MethodCall':
          return set(node.method.span, isVariantOwner(node.object, symbols) ? 'enumMember' : 'method')
        case 'Dict':
        case 'StructLiteral':
          return visitEntries(node.entries)
        case 'Let':
          if (node.binding.kind === 'NameBinding') visitType(node.binding.type)
          return
        case 'Closure':
          return visitParams(node.params)
        case 'Try':
          return visitType(node.handler?.type ?? null)
        case 'FnDecl':
        case 'ToolDecl':
          visitParams(node.params)
          visitType(node.returns)
          if (node.kind === 'FnDecl') for (const { name } of node.typeParams) set(name.span, 'typeParameter', 'declaration')
          return
        case 'PipelineDecl':
          return visitType(node.returns)
        case 'TypeDecl':
          return visitType(node.type)
        case 'StructDecl':
          for (const { name, type } of node.fields) {
            set(name.span, 'property', 'declaration')
            visitType(type)
          }
          return
        case 'EnumDecl':
          for (const { name, params } of node.variants) {
            set(name.span, 'enumMember', 'declaration')
            for (const param of params) set(param.name.span, 'parameter', 'declaration')
            visitParams(params)
          }
          return
        case 'InterfaceDecl':
          for (const { name, params, returns } of node.methods) {
            set(name.span, 'method', 'declaration')
            for (const param of params) set(param.name.span, 'parameter', 'declaration')
            visitParams(params)
            visitType(returns)
          }
          return
        case 'ImplDecl':
          if (!words.has(node.name.span.start)) set(node.name.span, 'type')
          return
        case 'Grant':
          for (const { key } of node.entries) set(key.span, 'property')
      }
    },
  })
  const writes = listWriteSpans(program)
  for (const symbol of symbols.all) {
    const { type, modifiers } = readKind(symbol)
    words.set(symbol.span.start, { type, modifiers: ['declaration', ...modifiers] })
    for (const { start } of symbol.references) {
      words.set(start, { type, modifiers: writes.has(start) ? ['modification', ...modifiers] : modifiers })
    }
  }
  for (const item of program.items) {
    if (item.kind === 'ImplDecl') for (const { name } of item.methods) set(name.span, 'method', 'declaration')
  }
  for (const { text, span } of symbols.unresolved) {
    if (registry.builtins.has(text)) set(span, 'function', 'defaultLibrary')
    else if (called.has(span.start)) set(span, 'function')
    else if (!words.has(span.start)) set(span, 'variable')
  }
  return words
}

function isVariantOwner(object: Node, symbols: FileSymbols): boolean {
  return object.kind === 'Identifier' && symbols.topLevel.some(({ name, kind }) => kind === 'enum' && name === object.name)
}

/** What a client was sent, to compute the difference. */
export class TokenHistory {
  private readonly last = new Map<string, { readonly id: string; readonly data: readonly number[] }>()
  private count = 0

  keep(uri: string, data: number[]): SemanticTokens {
    const id = String(++this.count)
    this.last.set(uri, { id, data })
    return { resultId: id, data }
  }

  forget(uri: string): void {
    this.last.delete(uri)
  }

  /** All tokens if the client has a result other than the last one. */
  compare(uri: string, previous: string, data: number[]): SemanticTokens | SemanticTokensDelta {
    const known = this.last.get(uri)
    const { resultId } = this.keep(uri, data)
    if (known?.id !== previous) return { resultId: resultId!, data }
    const before = known.data
    const most = Math.min(before.length, data.length)
    let start = 0
    while (start < most && before[start] === data[start]) start++
    let tail = 0
    while (tail < most - start && before[before.length - 1 - tail] === data[data.length - 1 - tail]) tail++
    const isSame = start === before.length && start === data.length
    const edit = { start, deleteCount: before.length - start - tail, data: data.slice(start, data.length - tail) }
    return { resultId: resultId!, edits: isSame ? [] : [edit] }
  }
}

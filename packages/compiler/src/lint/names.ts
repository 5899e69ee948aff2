// Rules about names of the whole file. They go by the name alone and not by scope, so a name that is used anywhere counts as used
// everywhere: such a rule misses cases but is never wrong.

import { listFamilyTools } from '../grants/families.js'
import {
  type Declaration,
  type Expr,
  boundNames,
  forEachChild,
  forEachTypeName,
  isDeclaration,
  isStatement,
  type Name,
  type Node,
  type Param,
  type Program,
  type SourceFile,
  type Span,
  type Stmt,
  type TypeExpr,
  SuggestionBudget,
} from '@bridle/parser'
import { type BuiltinSignatures, isReservedCallName } from '../types/builtins.js'
import { TOLERATED_NAMES } from '../types/missing-builtins.js'
import type { Imports } from '../types/module-interface.js'
import { rememberItems } from '../items.js'
import { closest } from '../types/suggest.js'
import { bareSpan, type Edit, type LintContext } from './context.js'

export interface NameOptions {
  readonly signatures: BuiltinSignatures
  readonly imports: Imports
  readonly importedElsewhere: ReadonlySet<string>
}

type ImportDecl = Extract<Declaration, { kind: 'ImportDecl' }>

interface Declared {
  readonly name: Name
  /** What a diagnostic is about: the whole statement or declaration. */
  readonly node: Node
}

export function lintNames(program: Program, context: LintContext, options: NameOptions): void {
  if (!context.hasStyle && areCallsDeclared(context, options)) return
  const names = new Names(
    context.file,
    program.items.map((item) => listItemNames(item, context.file)),
  )
  // The cache holds nodes, so positions are computed from them now.
  const locate = (node: Node): Span => (isBareNode(node) ? bareSpan(node, context) : node.span)
  reportVariables(names, context)
  for (const { name, node } of names.params) {
    if (isUnused(name.text, names.used)) context.report('L052', locate(node), { name: name.text })
  }
  reportImports(names, context)
  for (const { name, node } of names.mutable) {
    if (names.assigned.has(name.text)) continue
    const { start } = node.span
    context.report('L054', node.span, { name: name.text }, [{ span: { start, end: start + 'var'.length }, text: 'let' }])
  }
  for (const { name, node } of names.functions) {
    if (isUnused(name.text, names.used) && !options.importedElsewhere.has(name.text))
      context.report('L055', locate(node), { name: name.text })
  }
  for (const { name, node, kind } of names.types) {
    if (isUnused(name.text, names.usedTypes) && !options.importedElsewhere.has(name.text)) {
      context.report('L056', locate(node), { kind, name: name.text })
    }
  }
  reportUndefined(program, names, context, options)
}

/** Whether every callee certainly exists: the only rule here that is not about style. */
function areCallsDeclared({ contents }: LintContext, { signatures }: NameOptions): boolean {
  for (const name of contents.calls) {
    if (!signatures.has(name) && !contents.declared.has(name) && !isReservedCallName(name)) return false
  }
  return true
}

function isUnused(name: string, used: ReadonlySet<string>): boolean {
  return !name.startsWith('_') && !used.has(name)
}

function reportVariables(names: Names, context: LintContext): void {
  for (const { name, node, isPattern } of names.variables) {
    if (!isUnused(name.text, names.used)) continue
    if (isPattern) context.report('L051', node.span, { name: name.text })
    else context.report('L050', node.span, { name: name.text }, [{ span: name.span, text: `_${name.text}` }])
  }
}

function reportImports(names: Names, context: LintContext): void {
  for (const decl of names.imports) {
    const list = decl.names ?? []
    const unused = list.map((name) => isUnused(name.text, names.used) && !names.usedTypes.has(name.text))
    for (const [at, name] of list.entries()) {
      if (!unused[at]!) continue
      context.report('L053', decl.span, { name: name.text }, [
        unused.every(Boolean) ? wholeLine(decl, context) : without(list, unused, at),
      ])
    }
  }
}

function wholeLine(decl: ImportDecl, { file }: LintContext): Edit {
  const end = file.text.indexOf('\n', decl.span.end)
  const isAlone = end >= 0 && file.text.slice(decl.span.end, end).trim() === ''
  return { span: { start: decl.span.start, end: isAlone ? end + 1 : decl.span.end }, text: '' }
}

/** Removes one name and a comma, such that the edits of several names do not overlap. */
function without(list: readonly Name[], unused: readonly boolean[], at: number): Edit {
  const { span } = list[at]!
  const opensList = unused.slice(0, at).every(Boolean)
  return opensList
    ? { span: { start: span.start, end: list[at + 1]!.span.start }, text: '' } // not all are unused
    : { span: { start: list[at - 1]!.span.end, end: span.end }, text: '' }
}

function reportUndefined(program: Program, names: Names, context: LintContext, options: NameOptions): void {
  const known = new Set(names.declared)
  for (const item of program.items) {
    if (item.kind === 'UseTool' && item.alias === null) {
      const tools = listFamilyTools(item.tool.text)
      if (tools.length === 0) return // a family of some host, or reported elsewhere
      for (const { name } of tools) known.add(name)
    }
    if (item.kind !== 'ImportDecl') continue
    if (item.names !== null) for (const name of item.names) known.add(name.text)
    else {
      const found = options.imports(item.path)
      if (found === null) return
      for (const name of found.exports) known.add(name)
    }
  }
  let candidates: readonly string[] | null = null
  const suggestions = new SuggestionBudget()
  for (const { name, node } of names.calls) {
    const { text } = name
    if (options.signatures.has(text) || known.has(text) || isReservedCallName(text)) continue
    candidates ??= [...[...options.signatures.keys()].filter((each) => !each.includes('.')), ...[...known].sort()]
    const suggestion = TOLERATED_NAMES.has(text) ? null : closest(text, candidates, suggestions)
    context.report('L057', node.span, { name: text, suggestion })
  }
}

type BareNode = Parameters<typeof bareSpan>[0]

function isBareNode(node: Node): node is BareNode & Node {
  return isStatement(node) && isDeclaration(node)
}

/** What a file declares and what it mentions. */
class Names {
  readonly used = new Set<string>()
  readonly usedTypes = new Set<string>()
  readonly assigned = new Set<string>()
  /** All names that a call may mean. */
  readonly declared = new Set<string>()
  readonly variables: (Declared & { readonly isPattern: boolean })[] = []
  readonly params: Declared[] = []
  readonly mutable: Declared[] = []
  readonly functions: Declared[] = []
  readonly types: (Declared & { readonly kind: string })[] = []
  readonly imports: ImportDecl[] = []
  readonly calls: Declared[] = []

  private readonly file: SourceFile

  /** Of some items together. `file` provides the code in their strings. */
  constructor(file: SourceFile, parts: readonly Names[] = []) {
    this.file = file
    for (const part of parts) {
      for (const name of part.used) this.used.add(name)
      for (const name of part.usedTypes) this.usedTypes.add(name)
      for (const name of part.assigned) this.assigned.add(name)
      for (const name of part.declared) this.declared.add(name)
      for (const each of part.variables) this.variables.push(each)
      for (const each of part.params) this.params.push(each)
      for (const each of part.mutable) this.mutable.push(each)
      for (const each of part.functions) this.functions.push(each)
      for (const each of part.types) this.types.push(each)
      for (const each of part.imports) this.imports.push(each)
      for (const each of part.calls) this.calls.push(each)
    }
  }

  stmt(stmt: Stmt, place: 'file' | 'body' | 'impl'): void {
    switch (stmt.kind) {
      case 'Let':
        return this.binding(stmt)
      case 'Assign': {
        const root = findRoot(stmt.target)
        if (root !== null) this.assigned.add(root)
        break
      }
      case 'For':
        for (const name of boundNames(stmt.binding)) this.mention(name)
        break
      case 'Select':
        for (const arm of stmt.arms) if (arm.kind === 'receive') this.mention(arm.variable)
        break
      case 'FnDecl':
        this.callable(stmt, place)
        for (const bound of stmt.where) this.usedTypes.add(bound.bound.text)
        this.type(stmt.returns)
        this.parameters(stmt.params, stmt)
        break
      case 'ToolDecl':
        this.callable(stmt, place)
        this.type(stmt.returns)
        this.parameters(stmt.params, stmt)
        break
      case 'SkillDecl':
      case 'EvalPackDecl':
        this.callable(stmt, place)
        break
      case 'PipelineDecl':
        this.declared.add(stmt.name.text)
        if (stmt.parent !== null) this.used.add(stmt.parent.text)
        for (const param of stmt.params) this.mention(param)
        this.type(stmt.returns)
        break
      case 'OverrideDecl':
        for (const param of stmt.params) this.mention(param)
        break
      case 'ImportDecl':
        if (!stmt.isPublic && stmt.names !== null) this.imports.push(stmt)
        return
      case 'TypeDecl':
        this.declared.add(stmt.name.text)
        return this.type(stmt.type)
      case 'StructDecl':
        this.typeDeclaration(stmt, 'struct')
        for (const field of stmt.fields) this.type(field.type)
        return
      case 'EnumDecl':
        this.typeDeclaration(stmt, 'enum')
        for (const variant of stmt.variants) for (const param of variant.params) this.type(param.type)
        return
      case 'InterfaceDecl':
        this.typeDeclaration(stmt, 'interface')
        for (const assoc of stmt.assocTypes) this.type(assoc.type)
        for (const method of stmt.methods) {
          this.type(method.returns)
          for (const param of method.params) this.type(param.type)
        }
        return
      case 'ImplDecl':
        this.usedTypes.add(stmt.name.text)
        for (const method of stmt.methods) this.stmt(method, 'impl')
        return
      case 'UseTool':
        if (stmt.alias !== null) this.mention(stmt.alias)
        return
      case 'Grant':
      case 'BindEffect':
        this.used.add(stmt.alias.text)
        return
      default:
        break
    }
    this.children(stmt)
  }

  private children(node: Node): void {
    forEachChild(node, (child) => this.node(child))
  }

  private node(node: Node): void {
    switch (node.kind) {
      case 'Block':
        for (const stmt of node.body) this.stmt(stmt, 'body')
        return
      case 'Program':
        return
      case 'Identifier':
        this.used.add(node.name)
        return
      case 'Interpolation':
        // Code in strings is not parsed, but each word of it counts.
        for (const part of node.parts)
          if (typeof part !== 'string') this.words(this.file.text.slice(part.span.start, part.span.end))
        return
      case 'Call':
        this.used.add(node.callee.text)
        this.usedTypes.add(node.callee.text)
        this.calls.push({ name: node.callee, node })
        for (const type of node.typeArgs) this.type(type)
        break
      case 'StructLiteral':
        this.used.add(node.name.text)
        this.usedTypes.add(node.name.text)
        break
      case 'Closure':
        this.parameters(node.params, node)
        break
      case 'Match':
        for (const arm of node.arms) for (const pattern of arm.patterns) this.pattern(pattern)
        break
      case 'Try':
        if (node.handler?.variable !== null && node.handler?.variable !== undefined) this.mention(node.handler.variable)
        this.type(node.handler?.type ?? null)
        break
      case 'Parallel':
        if (node.variable !== null) this.mention(node.variable)
        break
      default:
        if (isStatement(node)) return this.stmt(node, 'body')
        break
    }
    this.children(node)
  }

  private words(text: string): void {
    for (const word of text.match(/[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*/gu) ?? []) this.used.add(word)
  }

  /** A name whose use is not checked. */
  private mention(name: Name): void {
    this.declared.add(name.text)
    this.used.add(name.text)
  }

  /** Names that a pattern binds may be called. */
  private pattern(pattern: Node): void {
    if (pattern.kind === 'Identifier') this.declared.add(pattern.name)
    forEachChild(pattern, (child) => this.pattern(child))
  }

  private binding(stmt: Extract<Stmt, { kind: 'Let' }>): void {
    const { binding, mutable } = stmt
    const isPattern = binding.kind !== 'NameBinding'
    for (const name of boundNames(binding)) {
      this.declared.add(name.text)
      if (name.text === '_') continue
      this.variables.push({ name, node: stmt, isPattern })
      if (mutable) this.mutable.push({ name, node: stmt })
    }
    if (binding.kind === 'NameBinding') this.type(binding.type)
    this.children(stmt)
  }

  private callable(
    decl: Extract<Declaration, { kind: 'FnDecl' | 'ToolDecl' | 'SkillDecl' | 'EvalPackDecl' }>,
    place: string,
  ): void {
    this.declared.add(decl.name.text)
    if (!decl.isPublic && place !== 'impl') this.functions.push({ name: decl.name, node: decl })
  }

  private parameters(params: readonly Param[], node: Node): void {
    for (const { name, type } of params) {
      this.declared.add(name.text)
      this.type(type)
      if (name.text !== '_') this.params.push({ name, node })
    }
  }

  private typeDeclaration(decl: Extract<Declaration, { kind: 'StructDecl' | 'EnumDecl' | 'InterfaceDecl' }>, kind: string): void {
    this.declared.add(decl.name.text)
    this.types.push({ name: decl.name, node: decl, kind })
  }

  private type(type: TypeExpr | null): void {
    forEachTypeName(type, (name) => this.usedTypes.add(name.text))
  }
}

const listItemNames = rememberItems((item, file: SourceFile): Names => {
  const names = new Names(file)
  names.stmt(item, 'file')
  return names
})

/** The variable that an assignment changes, as in `a.b[0] = 1`. */
function findRoot(target: Expr): string | null {
  let at = target
  while (at.kind === 'Member' || at.kind === 'Index') at = at.object
  return at.kind === 'Identifier' ? at.name : null
}

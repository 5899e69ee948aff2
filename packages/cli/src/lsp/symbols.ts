// Who declares what in one file, and where it is mentioned: what go to definition, references, rename, completion and the
// outline look at. Names are resolved lexically, as the language does; a function may be mentioned before its declaration.

import { forEachChild, forEachTypeName, isStatement } from '@bridle/parser'
import type { Binding, Block, Declaration, Expr, Name, Node, Param, Program, Span, Stmt, TypeExpr } from '@bridle/parser'

export type SymbolKind =
  | 'variable'
  | 'parameter'
  | 'function'
  | 'tool'
  | 'pipeline'
  | 'struct'
  | 'enum'
  | 'interface'
  | 'type'
  | 'import'
  | 'constant'

export interface FileSymbol {
  readonly name: string
  readonly kind: SymbolKind
  /** The name where it is declared. */
  readonly span: Span
  /** The whole declaration. */
  readonly whole: Span
  readonly declaration: Declaration | null
  readonly doc: string | null
  /** Where the name is visible. */
  readonly scope: Span
  /** Mentions besides the declaration, in source order. */
  readonly references: Span[]
  /** Path of the import that brings it. */
  readonly importPath: string | null
}

export interface FileSymbols {
  readonly all: readonly FileSymbol[]
  /** Declared at the top level, in source order. */
  readonly topLevel: readonly FileSymbol[]
  /** Mentions of names that the file does not declare: builtins, names of wildcard imports. */
  readonly unresolved: readonly Name[]
  /** Paths of imports without a list of names. */
  readonly wildcards: readonly string[]
  /** The symbol that is declared or mentioned at an offset. */
  at(offset: number): FileSymbol | null
  /** The unresolved name at an offset. */
  nameAt(offset: number): Name | null
  /** Symbols that are visible at an offset, innermost first. */
  visibleAt(offset: number): readonly FileSymbol[]
}

export function symbolsOf(program: Program): FileSymbols {
  const walk = new Walk(program)
  walk.file(program)
  const { all, topLevel, unresolved, wildcards } = walk
  const within = (span: Span, offset: number): boolean => span.start <= offset && offset <= span.end
  return {
    all,
    topLevel,
    unresolved,
    wildcards,
    at: (offset) => all.find((each) => within(each.span, offset) || each.references.some((span) => within(span, offset))) ?? null,
    nameAt: (offset) => unresolved.find((name) => within(name.span, offset)) ?? null,
    visibleAt: (offset) =>
      all
        .filter((each) => within(each.scope, offset))
        .sort((a, b) => a.scope.end - a.scope.start - (b.scope.end - b.scope.start)),
  }
}

interface Scope {
  readonly span: Span
  readonly names: Map<string, FileSymbol>
}

const DECLARED_KINDS: Readonly<Partial<Record<Declaration['kind'], SymbolKind>>> = {
  FnDecl: 'function',
  ToolDecl: 'tool',
  PipelineDecl: 'pipeline',
  StructDecl: 'struct',
  EnumDecl: 'enum',
  InterfaceDecl: 'interface',
  TypeDecl: 'type',
  SkillDecl: 'constant',
  EvalPackDecl: 'constant',
}

class Walk {
  readonly all: FileSymbol[] = []
  readonly topLevel: FileSymbol[] = []
  readonly unresolved: Name[] = []
  readonly wildcards: string[] = []
  private readonly scopes: Scope[] = []
  private readonly program: Program

  constructor(program: Program) {
    this.program = program
  }

  file(program: Program): void {
    this.within(this.program.span, () => this.statements(program.items))
  }

  private within(span: Span, visit: () => void): void {
    this.scopes.push({ span, names: new Map() })
    visit()
    this.scopes.pop()
  }

  private declare(name: Name, kind: SymbolKind, whole: Span, more: Partial<FileSymbol> = {}): void {
    if (name.text === '_') return
    const scope = this.scopes.at(-1)!
    const symbol: FileSymbol = {
      name: name.text,
      kind,
      span: name.span,
      whole,
      declaration: null,
      doc: null,
      scope: scope.span,
      references: [],
      importPath: null,
      ...more,
    }
    scope.names.set(name.text, symbol)
    this.all.push(symbol)
    if (this.scopes.length === 1) this.topLevel.push(symbol)
  }

  private mention(name: Name): void {
    for (let at = this.scopes.length - 1; at >= 0; at--) {
      const found = this.scopes[at]!.names.get(name.text)
      if (found === undefined) continue
      found.references.push(name.span)
      return
    }
    if (name.text !== '_') this.unresolved.push(name)
  }

  // ---- statements -------------------------------------------------------------------------------------------------------

  private statements(body: readonly Stmt[]): void {
    // Callables and types are known in the whole block.
    for (const stmt of body) this.hoist(stmt)
    for (const stmt of body) this.statement(stmt)
  }

  private hoist(stmt: Stmt): void {
    if (stmt.kind === 'ImportDecl') {
      if (stmt.names === null) this.wildcards.push(stmt.path)
      for (const name of stmt.names ?? []) this.declare(name, 'import', stmt.span, { importPath: stmt.path })
      return
    }
    const kind = DECLARED_KINDS[stmt.kind as Declaration['kind']]
    if (kind === undefined) return
    const declaration = stmt as Declaration
    this.declare(declaration.name, kind, declaration.span, { declaration, doc: declaration.doc })
  }

  private statement(stmt: Stmt): void {
    switch (stmt.kind) {
      case 'Let':
        this.expression(stmt.value)
        this.binding(stmt.binding, 'variable', stmt.span)
        return
      case 'For':
        this.expression(stmt.iterable)
        this.within(stmt.span, () => {
          this.binding(stmt.binding, 'variable', stmt.span)
          this.block(stmt.body)
        })
        return
      case 'Select':
        for (const arm of stmt.arms) {
          if (arm.kind === 'receive') this.expression(arm.channel)
          if (arm.kind === 'timeout') this.expression(arm.duration)
          this.within(arm.span, () => {
            if (arm.kind === 'receive') this.declare(arm.variable, 'variable', arm.span)
            this.block(arm.body)
          })
        }
        return
      case 'FnDecl':
      case 'ToolDecl':
        return this.callable(stmt.params, stmt.body, stmt.span, stmt.returns)
      case 'PipelineDecl':
      case 'OverrideDecl':
        if (stmt.kind === 'PipelineDecl') {
          this.type(stmt.returns)
          if (stmt.parent !== null) this.mention(stmt.parent)
        }
        this.within(stmt.span, () => this.statements(stmt.body.body))
        return
      case 'ImplDecl':
        this.mention(stmt.name)
        for (const method of stmt.methods) this.callable(method.params, method.body, method.span, method.returns)
        return
      case 'SkillDecl':
        for (const field of stmt.fields) this.expression(field.value)
        return
      case 'EvalPackDecl':
        this.within(stmt.span, () => {
          for (const field of stmt.fields) {
            this.expression(field.value)
            this.declare(field.name, 'variable', field.name.span)
          }
          this.statements(stmt.body)
          if (stmt.summarize !== null) this.block(stmt.summarize)
        })
        return
      case 'StructDecl':
        for (const field of stmt.fields) this.type(field.type)
        return
      case 'TypeDecl':
        return this.type(stmt.type)
      default:
        forEachChild(stmt, (child) => this.node(child))
    }
  }

  private callable(params: readonly Param[], body: Block, span: Span, returns: TypeExpr | null): void {
    this.type(returns)
    this.within(span, () => {
      for (const param of params) {
        this.type(param.type)
        if (param.defaultValue !== null) this.expression(param.defaultValue)
        this.declare(param.name, 'parameter', param.span)
      }
      this.statements(body.body)
    })
  }

  private binding(binding: Binding, kind: SymbolKind, whole: Span): void {
    const declare = (name: Name | null): void => {
      if (name !== null) this.declare(name, kind, whole)
    }
    switch (binding.kind) {
      case 'NameBinding':
        this.type(binding.type)
        return declare(binding.name)
      case 'DictBinding':
        for (const field of binding.fields) {
          if (field.defaultValue !== null) this.expression(field.defaultValue)
          declare(field.alias ?? field.key)
        }
        return declare(binding.rest)
      case 'ListBinding':
        for (const item of binding.items) {
          if (item.defaultValue !== null) this.expression(item.defaultValue)
          declare(item.name)
        }
        return declare(binding.rest)
      case 'PairBinding':
        declare(binding.first)
        return declare(binding.second)
    }
  }

  private block(block: Block): void {
    this.within(block.span, () => this.statements(block.body))
  }

  // ---- expressions ------------------------------------------------------------------------------------------------------

  private node(node: Node): void {
    if (node.kind === 'Block') this.block(node)
    else if (node.kind !== 'Program') this.statementOrExpression(node)
  }

  private statementOrExpression(node: Stmt | Expr): void {
    if (isStatement(node)) this.statement(node)
    else this.expression(node as Expr)
  }

  private expression(expr: Expr): void {
    switch (expr.kind) {
      case 'Identifier':
        return this.mention({ text: expr.name, span: expr.span })
      case 'Call':
        this.mention(expr.callee)
        for (const arg of expr.typeArgs) this.type(arg)
        break
      case 'StructLiteral':
        this.mention(expr.name)
        break
      case 'Closure':
        return this.callable(expr.params, expr.body, expr.span, null)
      case 'Parallel':
        this.expression(expr.subject)
        if (expr.maxConcurrent !== null) this.expression(expr.maxConcurrent)
        this.within(expr.span, () => {
          if (expr.variable !== null) this.declare(expr.variable, 'parameter', expr.span)
          this.statements(expr.body.body)
        })
        return
      case 'Try':
        this.block(expr.body)
        if (expr.handler !== null) {
          const { handler } = expr
          this.type(handler.type)
          this.within(handler.span, () => {
            if (handler.variable !== null) this.declare(handler.variable, 'variable', handler.span)
            this.block(handler.body)
          })
        }
        if (expr.finalizer !== null) this.block(expr.finalizer)
        return
      case 'Match':
        this.expression(expr.subject)
        for (const arm of expr.arms) {
          this.within(arm.span, () => {
            for (const pattern of arm.patterns) this.pattern(pattern)
            if (arm.guard !== null) this.expression(arm.guard)
            this.block(arm.body)
          })
        }
        return
    }
    forEachChild(expr, (child) => this.node(child))
  }

  /** Bare names of a pattern bind, at its top and in its lists, dicts and variants. */
  private pattern(pattern: Expr): void {
    const bindOr = (inner: Expr): void => {
      if (inner.kind === 'Identifier') this.declare({ text: inner.name, span: inner.span }, 'variable', inner.span)
      else this.expression(inner)
    }
    switch (pattern.kind) {
      case 'Identifier':
        return bindOr(pattern)
      case 'List':
        for (const item of pattern.items) bindOr(item.value)
        return
      case 'Dict':
        for (const entry of pattern.entries) bindOr(entry.value)
        return
      case 'MethodCall':
        this.expression(pattern.object)
        for (const arg of pattern.args) bindOr(arg.value)
        return
      default:
        this.expression(pattern)
    }
  }

  private type(type: TypeExpr | null): void {
    forEachTypeName(type, (name) => {
      if (this.isDeclared(name.text)) this.mention(name)
    })
  }

  private isDeclared(name: string): boolean {
    return this.scopes.some((scope) => scope.names.has(name))
  }
}

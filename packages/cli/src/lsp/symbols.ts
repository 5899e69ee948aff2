// Declarations of one file and their mentions: the basis of go to definition, references, rename, completion and
// outline. Names are resolved lexically, as the language does; a function may be mentioned before its declaration.

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
  /** Path of the import that declares it. */
  readonly importPath: string | null
  /** Declared by `{name}` of a pattern, where the name of the field is the name of the variable. */
  readonly isField: boolean
  /** For a variable: whether it is declared with `var`. */
  readonly isMutable: boolean
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

export function collectSymbols(program: Program): FileSymbols {
  const walk = new Walk(program)
  walk.visitFile(program)
  const { all, topLevel, unresolved, wildcards } = walk
  const isWithin = (span: Span, offset: number): boolean => span.start <= offset && offset <= span.end
  return {
    all,
    topLevel,
    unresolved,
    wildcards,
    at: (offset) =>
      all.find((each) => isWithin(each.span, offset) || each.references.some((span) => isWithin(span, offset))) ?? null,
    nameAt: (offset) => unresolved.find((name) => isWithin(name.span, offset)) ?? null,
    visibleAt: (offset) =>
      all
        .filter((each) => isWithin(each.scope, offset))
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

  visitFile(program: Program): void {
    this.visitWithin(this.program.span, () => this.visitStatements(program.items))
  }

  private visitWithin(span: Span, visit: () => void): void {
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
      isField: false,
      isMutable: false,
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

  private visitStatements(body: readonly Stmt[]): void {
    // Callables and types are visible in the whole block.
    for (const stmt of body) this.hoist(stmt)
    for (const stmt of body) this.visitStatement(stmt)
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

  private visitStatement(stmt: Stmt): void {
    switch (stmt.kind) {
      case 'Let':
        this.visitExpression(stmt.value)
        this.declareBinding(stmt.binding, 'variable', stmt.span, { isMutable: stmt.mutable })
        return
      case 'For':
        this.visitExpression(stmt.iterable)
        this.visitWithin(stmt.span, () => {
          this.declareBinding(stmt.binding, 'variable', stmt.span)
          this.visitBlock(stmt.body)
        })
        return
      case 'Select':
        for (const arm of stmt.arms) {
          if (arm.kind === 'receive') this.visitExpression(arm.channel)
          if (arm.kind === 'timeout') this.visitExpression(arm.duration)
          this.visitWithin(arm.span, () => {
            if (arm.kind === 'receive') this.declare(arm.variable, 'variable', arm.span)
            this.visitBlock(arm.body)
          })
        }
        return
      case 'FnDecl':
        for (const { bound } of stmt.where) if (this.isDeclared(bound.text)) this.mention(bound)
        return this.visitCallable(stmt.params, stmt.body, stmt.span, stmt.returns)
      case 'ToolDecl':
        return this.visitCallable(stmt.params, stmt.body, stmt.span, stmt.returns)
      case 'PipelineDecl':
      case 'OverrideDecl':
        if (stmt.kind === 'PipelineDecl') {
          this.visitType(stmt.returns)
          if (stmt.parent !== null) this.mention(stmt.parent)
        }
        this.visitWithin(stmt.span, () => this.visitStatements(stmt.body.body))
        return
      case 'ImplDecl':
        this.mention(stmt.name)
        for (const method of stmt.methods) this.visitCallable(method.params, method.body, method.span, method.returns)
        return
      case 'SkillDecl':
        for (const field of stmt.fields) this.visitExpression(field.value)
        return
      case 'EvalPackDecl':
        this.visitWithin(stmt.span, () => {
          for (const field of stmt.fields) {
            this.visitExpression(field.value)
            this.declare(field.name, 'variable', field.name.span)
          }
          this.visitStatements(stmt.body)
          if (stmt.summarize !== null) this.visitBlock(stmt.summarize)
        })
        return
      case 'StructDecl':
        for (const field of stmt.fields) this.visitType(field.type)
        return
      case 'TypeDecl':
        return this.visitType(stmt.type)
      case 'EnumDecl':
        for (const variant of stmt.variants) for (const param of variant.params) this.visitType(param.type)
        return
      case 'InterfaceDecl':
        for (const { type } of stmt.assocTypes) this.visitType(type)
        for (const method of stmt.methods) {
          for (const param of method.params) this.visitType(param.type)
          this.visitType(method.returns)
        }
        return
      default:
        forEachChild(stmt, (child) => this.visitNode(child))
    }
  }

  private visitCallable(params: readonly Param[], body: Block, span: Span, returns: TypeExpr | null): void {
    this.visitType(returns)
    this.visitWithin(span, () => {
      for (const param of params) {
        this.visitType(param.type)
        if (param.defaultValue !== null) this.visitExpression(param.defaultValue)
        this.declare(param.name, 'parameter', param.span)
      }
      this.visitStatements(body.body)
    })
  }

  private declareBinding(binding: Binding, kind: SymbolKind, whole: Span, facts: Partial<FileSymbol> = {}): void {
    const declare = (name: Name | null, isField = false): void => {
      if (name !== null) this.declare(name, kind, whole, { ...facts, isField })
    }
    switch (binding.kind) {
      case 'NameBinding':
        this.visitType(binding.type)
        return declare(binding.name)
      case 'DictBinding':
        for (const field of binding.fields) {
          if (field.defaultValue !== null) this.visitExpression(field.defaultValue)
          declare(field.alias ?? field.key, field.alias === null)
        }
        return declare(binding.rest)
      case 'ListBinding':
        for (const item of binding.items) {
          if (item.defaultValue !== null) this.visitExpression(item.defaultValue)
          declare(item.name)
        }
        return declare(binding.rest)
      case 'PairBinding':
        declare(binding.first)
        return declare(binding.second)
    }
  }

  private visitBlock(block: Block): void {
    this.visitWithin(block.span, () => this.visitStatements(block.body))
  }

  // ---- expressions ------------------------------------------------------------------------------------------------------

  private visitNode(node: Node): void {
    if (node.kind === 'Block') this.visitBlock(node)
    else if (node.kind !== 'Program') this.visitStatementOrExpression(node)
  }

  private visitStatementOrExpression(node: Stmt | Expr): void {
    if (isStatement(node)) this.visitStatement(node)
    else this.visitExpression(node as Expr)
  }

  private visitExpression(expr: Expr): void {
    switch (expr.kind) {
      case 'Identifier':
        return this.mention({ text: expr.name, span: expr.span })
      case 'Call':
        this.mention(expr.callee)
        for (const arg of expr.typeArgs) this.visitType(arg)
        break
      case 'StructLiteral':
        this.mention(expr.name)
        break
      case 'Closure':
        return this.visitCallable(expr.params, expr.body, expr.span, null)
      case 'Parallel':
        this.visitExpression(expr.subject)
        if (expr.maxConcurrent !== null) this.visitExpression(expr.maxConcurrent)
        this.visitWithin(expr.span, () => {
          if (expr.variable !== null) this.declare(expr.variable, 'parameter', expr.span)
          this.visitStatements(expr.body.body)
        })
        return
      case 'Try':
        this.visitBlock(expr.body)
        if (expr.handler !== null) {
          const { handler } = expr
          this.visitType(handler.type)
          this.visitWithin(handler.span, () => {
            if (handler.variable !== null) this.declare(handler.variable, 'variable', handler.span)
            this.visitBlock(handler.body)
          })
        }
        if (expr.finalizer !== null) this.visitBlock(expr.finalizer)
        return
      case 'Match':
        this.visitExpression(expr.subject)
        for (const arm of expr.arms) {
          this.visitWithin(arm.span, () => {
            for (const pattern of arm.patterns) this.visitPattern(pattern)
            if (arm.guard !== null) this.visitExpression(arm.guard)
            this.visitBlock(arm.body)
          })
        }
        return
    }
    forEachChild(expr, (child) => this.visitNode(child))
  }

  /** Bare names of a pattern are bound, at its top and in its lists, dicts and variants. */
  private visitPattern(pattern: Expr): void {
    const bindOr = (inner: Expr): void => {
      if (inner.kind === 'Identifier') this.declare({ text: inner.name, span: inner.span }, 'variable', inner.span)
      else this.visitExpression(inner)
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
        this.visitExpression(pattern.object)
        for (const arg of pattern.args) bindOr(arg.value)
        return
      default:
        this.visitExpression(pattern)
    }
  }

  private visitType(type: TypeExpr | null): void {
    forEachTypeName(type, (name) => {
      if (this.isDeclared(name.text)) this.mention(name)
    })
  }

  private isDeclared(name: string): boolean {
    return this.scopes.some((scope) => scope.names.has(name))
  }
}

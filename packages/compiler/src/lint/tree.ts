// Rules that need one walk over the tree, in source order. The walk keeps their context: the
// names of each scope, whether a loop encloses the position, the enclosing callable and the kind of pipeline.

import type {
  Binding,
  Block,
  Expr,
  ExprOf,
  FnDecl,
  IfExpr,
  Name,
  PipelineDecl,
  Span,
  Stmt,
  ToolDecl,
  TypeExpr,
} from '@bridle/parser'
import { boundNames, forEachChild, isDeclaration, type Program } from '@bridle/parser'
import { ItemFindings } from '../items.js'
import { stmtExits } from '../types/exits.js'
import { bareSpan, isPure, type LintContext, readText } from './context.js'
import { measureComplexity } from './complexity.js'
import { connectorReason, isConnectorExport } from './connector.js'
import { lintExpression } from './expressions.js'
import { checkLongRunning, checkPullRequests } from './flows.js'
import { lintNaming } from './naming.js'

export function lintTree(program: Program, context: LintContext): void {
  new TreeWalk(context).body(program.items, 'file')
}

/** Context of the position; changed on entry of a node and restored at its end. */
interface Surroundings {
  readonly inLoop: boolean
  readonly inTest: boolean
  /** Name of the enclosing connector function, or null. */
  readonly connector: string | null
  /** Declared result collection of the enclosing function. */
  readonly returns: string | null
}

const OUTSIDE: Surroundings = { inLoop: false, inTest: false, connector: null, returns: null }

const found = new ItemFindings()

class TreeWalk {
  private readonly context: LintContext
  /** Names by scope with the places that bind them, the innermost last. */
  private readonly scopes: Map<string, Span>[] = []
  private around: Surroundings = OUTSIDE

  constructor(context: LintContext) {
    this.context = context
  }

  body(body: readonly Stmt[], kind: 'file' | 'block' | 'try' = 'block'): void {
    let reported = false
    for (let at = 0; at < body.length; at++) {
      const stmt = body[at]!
      const before = body[at - 1]
      if (!reported && before !== undefined && stmtExits(before)) {
        this.context.report('L021', stmt.span, {})
        reported = true
      }
      if (this.context.hasStyle && before?.kind === 'Let' && stmt.kind === 'Return') this.letThenReturn(before, stmt)
      if (stmt.kind === 'ExprStmt' && isCallTo(stmt.value, 'request_approval') && !(kind === 'try' && at === body.length - 1)) {
        this.context.report('L023', stmt.value.span, {})
      }
      if (kind === 'file') this.item(stmt, before === undefined ? 0 : before.span.end)
      else this.stmt(stmt)
    }
  }

  /** Findings of a declaration depend on its tree, on the text between it and the previous item, and on the variables that it may hide. */
  private item(stmt: Stmt, endBefore: number): void {
    const { file, findings, settings } = this.context
    if (stmt.kind === 'Let' || !isDeclaration(stmt)) return this.stmt(stmt)
    const outer = this.scopes.map((scope) => [...scope.keys()].join()).join()
    const key = `${settings}\n${outer}\n${file.text.slice(endBefore, stmt.span.start)}`
    found.report(stmt, key, findings, () => this.stmt(stmt))
  }

  private within<T>(change: Partial<Surroundings>, visit: () => T): T {
    const before = this.around
    this.around = { ...before, ...change }
    const result = visit()
    this.around = before
    return result
  }

  private scope(names: readonly Name[], visit: () => void): void {
    this.scopes.push(new Map(names.map((name) => [name.text, name.span])))
    visit()
    this.scopes.pop()
  }

  private block(block: Block, kind: 'block' | 'try' = 'block', names: readonly Name[] = []): void {
    this.scope(names, () => this.body(block.body, kind))
  }

  // ---- statements -------------------------------------------------------------------------------------------------

  private stmt(stmt: Stmt): void {
    const { context } = this
    switch (stmt.kind) {
      case 'FnDecl':
      case 'ToolDecl':
        return this.callable(stmt)
      case 'PipelineDecl':
        return this.pipeline(stmt)
      case 'ImplDecl':
        for (const method of stmt.methods) this.callable(method)
        return
      case 'OverrideDecl':
        return this.within(OUTSIDE, () => this.block(stmt.body, 'block', stmt.params))
      case 'EvalPackDecl':
        for (const field of stmt.fields) this.expr(field.value)
        return this.within(OUTSIDE, () => {
          this.scope([], () => this.body(stmt.body))
          if (stmt.summarize !== null) this.block(stmt.summarize)
        })
      case 'StructDecl':
      case 'EnumDecl':
      case 'InterfaceDecl':
      case 'TypeDecl':
        if (context.hasStyle) lintNaming(stmt, context)
        return
      case 'Let':
        this.declare(stmt.binding, stmt.mutable, stmt.span)
        if (stmt.binding.kind === 'NameBinding') this.eager(stmt.value, readCollection(stmt.binding.type))
        break
      case 'Return':
        if (stmt.value !== null) this.eager(stmt.value, this.around.returns)
        break
      case 'While':
        this.expr(stmt.condition)
        if (stmt.body.body.length === 0) context.report('L024', stmt.span, { statement: 'while loop', name: 'while loop' })
        return this.within({ inLoop: true }, () => this.block(stmt.body))
      case 'For':
        this.expr(stmt.iterable)
        if (stmt.body.body.length === 0) this.emptyFor(stmt)
        return this.within({ inLoop: true }, () => this.block(stmt.body, 'block', boundNames(stmt.binding)))
      case 'Break':
      case 'Continue':
        if (!this.around.inLoop) context.report('L026', stmt.span, { keyword: stmt.kind.toLowerCase() })
        return
      case 'Require':
        if (this.around.inTest) context.report('L041', stmt.span, {})
        break
      case 'ExprStmt':
        return stmt.value.kind === 'If' ? this.branch(stmt.value, stmt) : this.expr(stmt.value)
      case 'Select':
        for (const arm of stmt.arms) {
          if (arm.kind === 'receive') this.expr(arm.channel)
          else if (arm.kind === 'timeout') this.expr(arm.duration)
          this.block(arm.body, 'block', arm.kind === 'receive' ? [arm.variable] : [])
        }
        return
      default:
        break
    }
    forEachChild(stmt, (child) => {
      if (child.kind === 'Block') this.block(child)
      else this.expr(child as Expr) // statements hold blocks and expressions; the rest was handled above
    })
  }

  private callable(decl: FnDecl | ToolDecl): void {
    const { context } = this
    const isFn = decl.kind === 'FnDecl'
    const span = bareSpan(decl, context)
    if (context.hasStyle) {
      lintNaming(decl, context)
      if (isFn && decl.isPublic && !isDocumented(span.start, context)) context.report('L012', span, { name: decl.name.text })
      const isAllowed = decl.attributes.some((attribute) => isComplexityAllowed(readText(context, attribute.span)))
      const score = measureComplexity(decl.body)
      if (score > context.complexityThreshold && !isAllowed)
        context.report('L013', span, { name: decl.name.text, score, threshold: context.complexityThreshold })
    }
    checkLongRunning(decl.body, context)
    checkPullRequests(decl.body, context)
    for (const param of decl.params) if (param.defaultValue !== null) this.expr(param.defaultValue)
    const connector = isFn && isConnectorExport(decl.name.text) ? decl.name.text : null
    this.within({ ...OUTSIDE, connector, returns: readCollection(decl.returns) }, () => {
      this.lintShadowedParams(
        decl.params.map((param) => param.name),
        span,
      )
      this.block(
        decl.body,
        'block',
        decl.params.map((param) => param.name),
      )
    })
  }

  private pipeline(decl: PipelineDecl): void {
    const { context } = this
    const { text } = decl.name
    // As `bridle test` finds them.
    const isTest = text === 'test' || text.startsWith('test_') || decl.attributes.some(({ name }) => name.text === 'test')
    if (decl.isPublic && decl.returns === null && !isTest && !['default', 'main', 'auto'].includes(text))
      context.report('L011', bareSpan(decl, context), { name: text })
    checkLongRunning(decl.body, context)
    checkPullRequests(decl.body, context)
    this.within({ ...OUTSIDE, inTest: isTest }, () => this.block(decl.body, 'block', decl.params))
  }

  private letThenReturn(binding: Stmt & { readonly kind: 'Let' }, back: Stmt & { readonly kind: 'Return' }): void {
    const { context } = this
    if (binding.binding.kind !== 'NameBinding' || binding.binding.type !== null || binding.mutable) return
    const { text } = binding.binding.name
    if (back.value?.kind !== 'Identifier' || back.value.name !== text) return
    const span = { start: binding.span.start, end: back.span.end }
    const hasComments = context.comments.some((comment) => comment.start >= binding.span.end && comment.end <= back.span.start)
    const value = context.file.text.slice(binding.value.span.start, binding.span.end)
    // The span of a value leaves out parentheses around it.
    const start = context.file.text.slice(binding.binding.span.end, binding.value.span.start).replace(/^\s*=\s*/, '')
    const edits = hasComments || start !== '' ? null : [{ span, text: `return ${value}` }]
    context.report('L022', binding.span, { name: text }, edits)
  }

  /** `stmt` is the statement that the `if` is, null for an `if` in an expression and for an `else if`. */
  private branch(expr: IfExpr, stmt: Stmt | null): void {
    const { context } = this
    this.expr(expr.condition)
    if (expr.condition.kind === 'Bool') {
      context.report('L032', expr.condition.span, {
        text: `if condition is always \`${String(expr.condition.value)}\``,
        fixed: false,
      })
    }
    if (expr.then.body.length === 0) {
      const isRemovable = stmt !== null && expr.otherwise === null && isPure(expr.condition)
      context.report(
        'L024',
        expr.span,
        { statement: 'if block', name: 'if' },
        isRemovable ? [deletion(context, stmt.span)] : null,
      )
    }
    if (expr.otherwise?.kind === 'Block' && endsInReturn(expr.then) && endsInReturn(expr.otherwise)) {
      context.report('L025', expr.span, {}, stmt === null ? null : withoutElse(context, expr, expr.otherwise))
    }
    this.block(expr.then)
    if (expr.otherwise?.kind === 'If') this.branch(expr.otherwise, null)
    else if (expr.otherwise !== null) this.block(expr.otherwise)
  }

  private emptyFor(stmt: Stmt & { readonly kind: 'For' }): void {
    const edits = isPure(stmt.iterable) ? [deletion(this.context, stmt.span)] : null
    this.context.report('L024', stmt.span, { statement: 'for loop', name: 'for loop' }, edits)
  }

  // ---- expressions ------------------------------------------------------------------------------------------------

  private expr(expr: Expr): void {
    const { context } = this
    lintExpression(expr, context)
    switch (expr.kind) {
      case 'Call':
        this.call(expr)
        break
      case 'Closure':
        for (const param of expr.params) if (param.defaultValue !== null) this.expr(param.defaultValue)
        this.lintShadowedParams(
          expr.params.map((param) => param.name),
          expr.span,
        )
        return this.within({ inLoop: false, returns: null }, () =>
          this.block(
            expr.body,
            'block',
            expr.params.map((param) => param.name),
          ),
        )
      case 'Interpolation':
        return // code in strings is only checked at run time, as in the checker
      case 'If':
        return this.branch(expr, null)
      case 'Match':
        this.expr(expr.subject)
        for (const arm of expr.arms) {
          for (const pattern of arm.patterns) this.expr(pattern)
          if (arm.guard !== null) this.expr(arm.guard)
          this.block(arm.body)
        }
        return
      case 'Try':
        this.tryBody(expr)
        if (expr.handler !== null)
          this.block(expr.handler.body, 'block', expr.handler.variable === null ? [] : [expr.handler.variable])
        if (expr.finalizer !== null) this.block(expr.finalizer)
        return
      case 'Parallel':
        this.expr(expr.subject)
        if (expr.maxConcurrent !== null) this.expr(expr.maxConcurrent)
        return this.within({ inLoop: false }, () => this.block(expr.body, 'block', expr.variable === null ? [] : [expr.variable]))
      default:
        break
    }
    forEachChild(expr, (child) => {
      if (child.kind === 'Block') this.block(child)
      else this.expr(child as Expr) // as in statements
    })
  }

  private tryBody(expr: ExprOf<'Try'>): void {
    const isPlain = expr.handler === null && expr.finalizer === null
    if (!isPlain && expr.body.body.length === 0) {
      this.context.report('L024', expr.span, { statement: 'try block', name: 'try/catch' })
    }
    this.block(expr.body, isPlain ? 'try' : 'block')
  }

  private call(call: ExprOf<'Call'>): void {
    const { context } = this
    const { connector } = this.around
    const name = call.callee.text
    const reason = connector === null ? null : connectorReason(name, connector)
    if (connector !== null && reason !== null) context.report('L043', call.span, { handler: connector, name, reason })
    if (['assert', 'assert_eq', 'assert_ne'].includes(name) && !this.around.inTest) context.report('L040', call.span, { name })
  }

  private eager(value: Expr, kind: string | null): void {
    if (kind === null || !isIterator(value) || (this.context.isSure && !isLazy(value))) return
    const at = { start: value.span.end, end: value.span.end }
    this.context.report('L036', value.span, { kind }, [{ span: at, text: `.to_${kind}()` }])
  }

  // ---- names ------------------------------------------------------------------------------------------------------

  /** Enters the names of a binding into the current scope. */
  private declare(binding: Binding, mutable: boolean, span: Span): void {
    let own = this.scopes.at(-1)
    if (own === undefined) {
      own = new Map()
      this.scopes.push(own)
    }
    const outer = this.scopes.slice(0, -1)
    for (const { text, span: place } of boundNames(binding)) {
      if (text === '_') continue
      const before = own.get(text)
      if (!mutable && before !== undefined) this.bindsAgain(text, span, true, before)
      const hidden = outer.findLast((scope) => scope.has(text))?.get(text)
      if (hidden !== undefined) this.bindsAgain(text, span, false, hidden)
      own.set(text, place)
    }
  }

  private lintShadowedParams(names: readonly Name[], span: Span): void {
    for (const { text } of names) {
      const hidden = this.scopes.findLast((scope) => scope.has(text))?.get(text)
      if (text !== '_' && hidden !== undefined) this.bindsAgain(text, span, false, hidden)
    }
  }

  private bindsAgain(name: string, span: Span, redeclared: boolean, before: Span): void {
    this.context.report('L020', span, { name, redeclared }, null, [{ span: before, message: `\`${name}\` is bound here` }])
  }
}

function isCallTo(expr: Expr, name: string): boolean {
  return expr.kind === 'Call' && expr.callee.text === name
}

/** Whether the line above ends a `/** … *\/` block; `start` is where the declaration begins, without `pub`. */
function isDocumented(start: number, { file }: LintContext): boolean {
  const line = file.lineAt(start)
  const above = file.lineText(line - 1).trimEnd()
  if (line < 2 || !above.endsWith('*/')) return false
  const before = file.text.slice(0, file.text.lastIndexOf('\n', start))
  const open = before.lastIndexOf('/*')
  return open >= 0 && before.startsWith('/**', open)
}

function isComplexityAllowed(attribute: string): boolean {
  return /^@\s*complexity\s*\(\s*allow\s*[,)]/.test(attribute)
}

/** `list`, `set` or `dict` when the type is one, with or without arguments. */
function readCollection(type: TypeExpr | null): string | null {
  if (type === null) return null
  if (type.kind === 'ListType') return 'list'
  return type.kind === 'NamedType' && ['list', 'set', 'dict'].includes(type.name.text) ? type.name.text : null
}

const ITERATOR_METHODS: ReadonlySet<string> = new Set([
  'iter',
  'map',
  'filter',
  'flat_map',
  'take',
  'skip',
  'take_while',
  'skip_while',
  'zip',
  'enumerate',
  'chain',
  'chunks',
  'windows',
])

function isIterator(expr: Expr): boolean {
  if (expr.kind === 'MethodCall') return ITERATOR_METHODS.has(expr.method.text)
  return expr.kind === 'Call' && expr.callee.text === 'iter'
}

/** Whether it begins with an iterator: `map` and similar methods return a list if the receiver is one. */
function isLazy(expr: Expr): boolean {
  let at = expr
  while (at.kind === 'MethodCall' && at.method.text !== 'iter') at = at.object
  return at.kind === 'MethodCall' || at.kind === 'Range' || (at.kind === 'Call' && at.callee.text === 'iter')
}

function endsInReturn(block: Block): boolean {
  return block.body.at(-1)?.kind === 'Return'
}

/** Removes a statement, and its line when nothing else is on it. */
function deletion(context: LintContext, span: Span): { readonly span: Span; readonly text: string } {
  const { text } = context.file
  const lineStart = text.lastIndexOf('\n', span.start - 1) + 1
  const lineEnd = text.indexOf('\n', span.end)
  const end = lineEnd < 0 ? text.length : lineEnd + 1
  const isAlone = text.slice(lineStart, span.start).trim() === '' && text.slice(span.end, end).trim() === ''
  return { span: isAlone ? { start: lineStart, end } : span, text: '' }
}

/** `else { … }` becomes what is in it, one level less deep. */
function withoutElse(
  context: LintContext,
  expr: IfExpr,
  otherwise: Block,
): readonly { readonly span: Span; readonly text: string }[] | null {
  const { text } = context.file
  const span = { start: expr.then.span.end, end: otherwise.span.end }
  const gap = text.slice(span.start, otherwise.span.start)
  if (gap.trim() !== 'else') return null // comments between would be lost
  const indent = /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', expr.span.start - 1) + 1))?.[0] ?? ''
  const inner = text.slice(otherwise.span.start + 1, otherwise.span.end - 1)
  if (!inner.includes('\n')) return [{ span, text: `\n${indent}${inner.trim()}` }]
  // A string over several lines must not lose indentation.
  if (inner.includes('"""')) return null
  const lines = inner
    .replace(/^[ \t]*\r?\n/, '')
    .trimEnd()
    .split('\n')
  const deeper = /^[ \t]*/.exec(lines[0] ?? '')?.[0] ?? ''
  const moved = lines.map((line) => (line.startsWith(deeper) ? `${indent}${line.slice(deeper.length)}`.trimEnd() : line))
  return [{ span, text: `\n${moved.join('\n')}` }]
}

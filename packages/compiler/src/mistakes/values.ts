// Unused values: the last value of a function, which is not returned; results of calls without other effects; comparisons
// and sums as statements. The walk goes through statements and knows for each block whether its last value is used.

import type { Block, Expr, FnDecl, IfExpr, Program, Stmt, ToolDecl, TypeExpr } from '@bridle/parser'
import { forEachChild } from '@bridle/parser'
import { CHANGING_METHODS } from '../types/builtins.generated.js'
import { blockExits } from '../types/exits.js'
import type { Fix, MistakeContext } from './context.js'
import {
  checkArms,
  checkChain,
  checkCondition,
  checkKeys,
  checkOperator,
  checkReachable,
  checkTurned,
  endsBlock,
} from './flow.js'
import { checkForeign, isForeignName } from './foreign.js'
import { checkBraces, checkPercent, checkPlaceholders, checkText, hasForeignText, isOutput } from './strings.js'

/** The use of the last value of a block. */
type Use = 'used' | 'lost' | { readonly lostBy: string; readonly name: string; readonly wanted: boolean }

/** In other languages they change their receiver; an unassigned result most likely was to be assigned. */
const NEVER_IN_PLACE: ReadonlySet<string> = new Set([
  'map', 'filter', 'flat_map', 'take', 'skip', 'slice', 'substring', 'chunk', 'window', 'sliding_window', 'each_cons', 'each_slice',
  'enumerate', 'zip', 'partition', 'map_values', 'map_keys', 'rekey', 'difference', 'intersect', 'intersection', 'symmetric_difference',
]) // prettier-ignore

export function findLostValues(program: Program, context: MistakeContext): void {
  new Walk(context).stmts(program.items, 'lost')
}

class Walk {
  private readonly context: MistakeContext
  private readonly returning = new Map<FnDecl, boolean>()
  /** Whether an enclosing `try` may have been written for a failing body. */
  private tries = 0

  constructor(context: MistakeContext) {
    this.context = context
  }

  stmts(body: readonly Stmt[], use: Use): void {
    checkReachable(body, this.context)
    for (let at = 0; at < body.length; at++) this.stmt(body[at]!, at === body.length - 1 ? use : 'lost')
  }

  private block(block: Block, use: Use): void {
    const { scopes } = this.context
    scopes.open()
    this.stmts(block.body, use)
    scopes.close()
  }

  private stmt(stmt: Stmt, use: Use): void {
    const { scopes } = this.context
    switch (stmt.kind) {
      case 'ExprStmt':
        return this.valued(stmt.value, stmt, use)
      case 'Assign':
        checkTurned(stmt, this.context)
        this.expr(stmt.target)
        return this.expr(stmt.value)
      case 'Let':
        checkBraces(stmt.value, this.context)
        this.expr(stmt.value)
        scopes.declare(stmt)
        return
      case 'FnDecl':
        return this.callable(stmt, 'function')
      case 'ToolDecl':
        return this.callable(stmt, 'tool')
      case 'ImplDecl':
        for (const method of stmt.methods) this.callable(method, 'method')
        return
      case 'PipelineDecl':
        return this.apart(() => this.within(stmt.params, stmt.body, 'used'))
      case 'OverrideDecl':
        return this.apart(() => this.within(stmt.params, stmt.body, 'used'))
      case 'EvalPackDecl':
        for (const { value } of stmt.fields) this.expr(value)
        scopes.open()
        this.stmts(stmt.body, 'used')
        scopes.close()
        if (stmt.summarize !== null) this.block(stmt.summarize, 'used')
        return
      case 'For':
        this.expr(stmt.iterable)
        scopes.open()
        scopes.declareLoop(stmt)
        this.block(stmt.body, 'lost')
        scopes.close()
        return
      case 'While':
        checkCondition(stmt.condition, 'the `while` condition', this.context, true)
        this.expr(stmt.condition)
        return this.block(stmt.body, 'lost')
      case 'Guard':
        checkCondition(stmt.condition, 'the `guard` condition', this.context)
        this.expr(stmt.condition)
        return this.block(stmt.otherwise, 'lost')
      case 'Defer':
      case 'Mutex':
        return this.block(stmt.body, 'lost')
      case 'Select':
        for (const arm of stmt.arms) {
          if (arm.kind === 'receive') this.expr(arm.channel)
          this.block(arm.body, 'used')
        }
        return
      default:
        forEachChild(stmt, (child) => {
          if (child.kind === 'Block') this.block(child, 'lost')
          else this.expr(child as Expr) // all containers of statements are named above
        })
    }
  }

  private yields(body: Block): boolean {
    const { kinds } = this.context.contents
    return (kinds.has('Yield') || kinds.has('Emit')) && yields(body)
  }

  private returnsValue(decl: FnDecl): boolean {
    let found = this.returning.get(decl)
    if (found === undefined) this.returning.set(decl, (found = returnsValue(decl.body)))
    return found
  }

  private callable(decl: FnDecl | ToolDecl, what: string): void {
    for (const { defaultValue } of decl.params) if (defaultValue !== null) this.expr(defaultValue)
    const name = decl.name.text
    const isTyped = decl.returns !== null && decl.returns.kind !== 'NilType' && !/^(?:void|any|never)$/.test(typeName(decl))
    const use: Use =
      decl.kind === 'FnDecl' && (decl.isStream || this.yields(decl.body))
        ? 'lost'
        : { lostBy: what, name, wanted: isTyped || this.context.names.used.has(name) }
    this.apart(() =>
      this.within(
        decl.params.map((param) => param.name),
        decl.body,
        use,
      ),
    )
    if (isTyped && use !== 'lost' && decl.kind === 'FnDecl') this.checkEnd(decl, what)
  }

  /** A function with a declared result, and a path to its end without a value. */
  private checkEnd(decl: FnDecl, what: string): void {
    if (decl.returns === null || allowsNil(decl.returns) || endsBlock(decl.body, this.context)) return
    const last = this.lastOf(decl.body)
    if (last !== null && (this.isForgottenReturn(last, true) || !this.isNothing(last))) return
    this.context.report('M014', decl.name.span, { what, name: decl.name.text })
  }

  /** Whether an expression as the last statement certainly has no value that could be intended as the result. */
  private isNothing(expr: Expr): boolean {
    switch (expr.kind) {
      case 'If':
      case 'Try':
      case 'Match':
      case 'Retry':
      case 'Deadline':
        return true
      case 'Call':
        return this.context.isBuiltin(expr.callee.text) && !this.context.names.declared.has(expr.callee.text)
      default:
        return false
    }
  }

  private within(names: readonly { readonly text: string }[], body: Block, use: Use): void {
    const { scopes } = this.context
    scopes.open()
    for (const { text } of names) scopes.bind(text, { mutable: false, kind: null })
    this.block(body, use)
    scopes.close()
  }

  /** A function body: an enclosing `try` does not apply to it. */
  private apart(visit: () => void): void {
    const { tries } = this
    this.tries = 0
    visit()
    this.tries = tries
  }

  // ---- expressions in the place of a statement -------------------------------------------------------------------------

  private valued(expr: Expr, stmt: Stmt, use: Use): void {
    if (use === 'used') return this.expr(expr)
    if (use !== 'lost' && this.isForgottenReturn(expr, use.wanted) && !isForeignName(expr, this.context)) {
      const { lostBy: what, name } = use
      const fix = { title: 'return it', edits: [{ span: { start: stmt.span.start, end: stmt.span.start }, text: 'return ' }] }
      if (what === 'tool') this.context.report('M010', stmt.span, { name }, fix)
      else this.context.report('M001', stmt.span, { what, name }, fix)
      return this.expr(expr)
    }
    switch (expr.kind) {
      case 'If':
        checkChain(expr, this.context)
        return this.branches(expr, 'lost')
      case 'Match':
        checkArms(expr, this.context)
        this.expr(expr.subject)
        for (const arm of expr.arms) this.block(arm.body, 'lost')
        return
      case 'Try':
        this.tries += 1
        this.block(expr.body, 'lost')
        this.tries -= 1
        if (expr.handler !== null) this.within(listVariable(expr.handler.variable), expr.handler.body, 'lost')
        if (expr.finalizer !== null) this.block(expr.finalizer, 'lost')
        return
      case 'Retry':
        this.expr(expr.count)
        // Tried again when it fails: a call may be there for that.
        this.tries += 1
        this.block(expr.body, 'lost')
        this.tries -= 1
        return
      case 'Deadline':
        this.expr(expr.duration)
        return this.block(expr.body, 'lost')
      default:
        this.discarded(expr, stmt)
        this.expr(expr)
    }
  }

  private branches(expr: IfExpr, use: Use): void {
    checkCondition(expr.condition, 'the `if` condition', this.context)
    this.expr(expr.condition)
    this.block(expr.then, use)
    if (expr.otherwise?.kind === 'If') this.branches(expr.otherwise, use)
    else if (expr.otherwise !== null) this.block(expr.otherwise, use)
  }

  /** Whether the last statement of a function has a value that was meant to be its result. */
  private isForgottenReturn(expr: Expr, wanted: boolean): boolean {
    switch (expr.kind) {
      case 'Nil':
        return false
      case 'If': {
        const ways = listWays(expr)
        return ways !== null && this.areWaysValued(ways, wanted)
      }
      case 'Match':
        return this.areWaysValued(
          expr.arms.map(({ body }) => body),
          wanted,
        )
      case 'Try':
        return (
          wanted &&
          expr.handler !== null &&
          this.areWaysValued([expr.body, expr.handler.body], wanted) &&
          this.lastOf(expr.body) !== null
        )
      case 'Call':
      case 'MethodCall':
        return wanted ? !this.givesNil(expr) : this.context.purity.isPure(expr)
      default:
        return this.context.purity.isPure(expr)
    }
  }

  /** All paths that end normally have a value, and there is at least one. */
  private areWaysValued(ways: readonly Block[], wanted: boolean): boolean {
    let values = 0
    for (const way of ways) {
      if (blockExits(way)) continue
      const last = this.lastOf(way)
      if (last === null) return false
      if (last.kind === 'Nil') continue
      if (!this.isForgottenReturn(last, wanted)) return false
      values += 1
    }
    return values > 0
  }

  private lastOf(block: Block): Expr | null {
    const last = block.body.at(-1)
    return last?.kind === 'ExprStmt' ? last.value : null
  }

  /** Whether a call returns nil, or its result is unknown. */
  private givesNil(call: Expr): boolean {
    const { context } = this
    if (context.purity.isPure(call)) return false
    if (call.kind !== 'Call') return true
    const name = call.callee.text
    const own = context.names.functions.get(name)
    if (own !== undefined) return !this.returnsValue(own)
    return context.names.declared.has(name) || !context.hasResult(name)
  }

  /** A statement without effects. */
  private discarded(expr: Expr, stmt: Stmt): void {
    const { context } = this
    if (this.tries > 0 || expr.kind === 'Nil' || !context.purity.isPure(expr)) return
    switch (expr.kind) {
      case 'Call': {
        const own = context.names.functions.get(expr.callee.text)
        // A function without a result has none to lose; its body is empty, or reported itself.
        if (own !== undefined && !this.returnsValue(own)) return
        return context.report('M002', stmt.span, { text: `${expr.callee.text}(…)` })
      }
      case 'MethodCall': {
        const receiver = this.pathText(expr.object)
        const isChange = CHANGING_METHODS.has(expr.method.text) && !NEVER_IN_PLACE.has(expr.method.text)
        const at = { start: stmt.span.start, end: stmt.span.start }
        const made = receiver === null ? this.makeVariable(expr.object) : { name: receiver, edits: [] }
        const fix =
          made === null || !isChange || expr.optional
            ? null
            : { title: 'assign the result', edits: [...made.edits, { span: at, text: `${made.name} = ` }] }
        return context.report('M002', stmt.span, { text: `.${expr.method.text}(…)` }, fix)
      }
      case 'Binary': {
        const isComparison = /^[=!<>]/.test(expr.operator)
        const place = expr.operator === '==' ? this.pathText(expr.left) : null
        const fix = place === null ? null : { title: 'assign', edits: [{ span: expr.operatorSpan, text: '=' }] }
        return context.report('M003', stmt.span, { what: isComparison ? 'comparison' : 'operation' }, fix)
      }
      case 'Identifier':
        // Names of other languages have their own finding.
        if (!isForeignName(expr, context)) context.report('M003', stmt.span, { what: WORDS[expr.kind] })
        return
      case 'Member':
      case 'Index':
      case 'Slice':
      case 'Ternary':
      case 'Unary':
      case 'Range':
      case 'Interpolation':
      case 'String':
      case 'Int':
      case 'Float':
      case 'Bool':
      case 'Duration':
      case 'List':
      case 'Dict':
      case 'StructLiteral':
      case 'Closure':
        return context.report('M003', stmt.span, { what: WORDS[expr.kind] })
      default:
        return
    }
  }

  /** Changes a `let` to a `var`, so that it can be assigned. */
  private makeVariable(expr: Expr): { readonly name: string; readonly edits: Fix['edits'] } | null {
    if (expr.kind !== 'Identifier') return null
    const { scopes, file } = this.context
    const start = scopes.find(expr.name)?.declaredAt?.start
    if (start === undefined || !file.text.startsWith('let ', start)) return null
    return { name: expr.name, edits: [{ span: { start, end: start + 3 }, text: 'var' }] }
  }

  /** The text of an assignable expression; null when it is not assignable, or belongs to a `let`. */
  private pathText(expr: Expr): string | null {
    let root = expr
    while ((root.kind === 'Member' && !root.optional) || (root.kind === 'Index' && !root.optional)) {
      if (root.kind === 'Index' && !this.context.purity.isPure(root.index)) return null
      root = root.object
    }
    if (root.kind !== 'Identifier' || this.context.scopes.find(root.name)?.mutable !== true) return null
    return this.context.file.text.slice(expr.span.start, expr.span.end)
  }

  // ---- expressions that are used ------------------------------------------------------------------------------------------

  private expr(expr: Expr): void {
    const { context } = this
    checkForeign(expr, context)
    switch (expr.kind) {
      case 'If':
        checkChain(expr, context)
        return this.branches(expr, 'used')
      case 'String':
      case 'Interpolation':
        checkText(expr, context)
        break
      case 'Binary':
        checkOperator(expr, this.tries > 0, context)
        checkPercent(expr, context)
        break
      case 'Dict':
      case 'StructLiteral':
        checkKeys(expr, context)
        break
      case 'Ternary':
        checkCondition(expr.condition, 'the condition', context)
        break
      case 'Call':
        if (isOutput(expr, context)) {
          checkPlaceholders(expr, context)
          if (expr.args[0] !== undefined) checkBraces(expr.args[0].value, context)
        }
        if (hasForeignText(expr.callee.text)) return context.asForeignText(() => this.children(expr))
        break
      case 'MethodCall':
        if (hasForeignText(expr.method.text)) return context.asForeignText(() => this.children(expr))
        break
      case 'Closure':
        for (const { defaultValue } of expr.params) if (defaultValue !== null) this.expr(defaultValue)
        return this.apart(() =>
          this.within(
            expr.params.map(({ name }) => name),
            expr.body,
            'used',
          ),
        )
      case 'Try':
        this.tries += 1
        this.block(expr.body, 'used')
        this.tries -= 1
        if (expr.handler !== null) this.within(listVariable(expr.handler.variable), expr.handler.body, 'used')
        if (expr.finalizer !== null) this.block(expr.finalizer, 'lost')
        return
      case 'Match':
        checkArms(expr, context)
        this.expr(expr.subject)
        for (const { guard, body } of expr.arms) {
          if (guard !== null) this.expr(guard)
          this.block(body, 'used')
        }
        return
      case 'Parallel':
        this.expr(expr.subject)
        return this.apart(() => this.within(listVariable(expr.variable), expr.body, 'used'))
      default:
        break
    }
    this.children(expr)
  }

  private children(expr: Expr): void {
    forEachChild(expr, (child) => {
      if (child.kind === 'Block') this.block(child, 'used')
      else this.expr(child as Expr) // expressions contain only blocks and expressions
    })
  }
}

const WORDS = {
  Identifier: 'name',
  Member: 'property',
  Index: 'element',
  Slice: 'slice',
  Ternary: 'choice',
  Unary: 'operation',
  Range: 'range',
  Interpolation: 'string',
  String: 'string',
  Int: 'number',
  Float: 'number',
  Bool: 'literal',
  Duration: 'duration',
  List: 'list',
  Dict: 'dict',
  StructLiteral: 'struct',
  Closure: 'closure',
} as const

function listVariable<T>(variable: T | null): readonly T[] {
  return variable === null ? [] : [variable]
}

function allowsNil(type: TypeExpr): boolean {
  if (type.kind === 'UnionType') return type.members.some(allowsNil)
  // An alias may stand for a union.
  return type.kind === 'NilType' || (type.kind === 'NamedType' && !GIVEN_TYPES.has(type.name.text))
}

/** Types that exclude nil. */
const GIVEN_TYPES: ReadonlySet<string> = new Set([
  'int',
  'float',
  'number',
  'string',
  'bool',
  'list',
  'dict',
  'set',
  'bytes',
  'duration',
])

function typeName({ returns }: FnDecl | ToolDecl): string {
  return returns?.kind === 'NamedType' ? returns.name.text : ''
}

/** The blocks of an `if` with an `else`; null without one, since then a path has no value. */
function listWays(expr: IfExpr): Block[] | null {
  const ways: Block[] = []
  let at: Block | IfExpr | null = expr
  while (at !== null && at.kind === 'If') {
    ways.push(at.then)
    at = at.otherwise
  }
  return at === null ? null : [...ways, at]
}

function anyStmt(block: Block, matches: (stmt: Stmt) => boolean): boolean {
  const visit = (node: Parameters<typeof forEachChild>[0]): boolean => {
    if (node.kind === 'Closure' || node.kind === 'FnDecl' || node.kind === 'ToolDecl') return false
    let found = matches(node as Stmt)
    forEachChild(node, (child) => {
      if (!found) found = visit(child)
    })
    return found
  }
  return visit(block)
}

function yields(block: Block): boolean {
  return anyStmt(block, ({ kind }) => kind === 'Yield' || kind === 'Emit')
}

function returnsValue(block: Block): boolean {
  return anyStmt(block, (stmt) => stmt.kind === 'Return' && stmt.value !== null && stmt.value.kind !== 'Nil')
}

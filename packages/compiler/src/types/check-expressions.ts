// Checks of expressions. Children come first, then the node's own check, except for calls (check-calls.ts). A failing program
// reports the first error of its file, so this order is part of the language. Code inside `${…}` is
// not checked.

import type { Block, DictEntry, Expr, ExprOf, IfExpr } from '@bridle/parser'
import { checkCall } from './check-calls.js'
import type { CheckContext } from './context.js'
import { armNarrowing, checkExhaustive, checkLiterals, literalPattern, patternNames } from './exhaustive.js'
import { blockExits, elseExits } from './exits.js'
import { infer, parallelVariable } from './infer.js'
import { structBindings } from './infer-calls.js'
import { apply, type Change, refine } from './narrow.js'
import { addFix } from './fixes.js'
import { binaryType, operatorProblem } from './operators.js'
import { fits } from './relate.js'
import type { Enclosing, Scope } from './scope.js'
import { show, showStructure } from './show.js'
import { checkAccess, clearTested } from './strict.js'
import { closest } from './suggest.js'
import { checkToolCallback, checkToolStage } from './tools/calls.js'
import { isNamed, type Known, substitute, typeOrNull } from './type.js'

/** A function body: `try*` has a target, streams end here. */
export const IN_CLOSURE: Enclosing = { callable: true, stream: null }

function observeName(name: ExprOf<'Identifier'>, scope: Scope, observe: NonNullable<CheckContext['observe']>): void {
  const type = infer(name, scope)
  if (type !== null) observe(name.span, show(type))
}

export function checkExpression(expr: Expr, scope: Scope, context: CheckContext): void {
  const { checkExpr, checkBlock } = context
  switch (expr.kind) {
    case 'Int':
    case 'Float':
    case 'Bool':
    case 'Nil':
    case 'Duration':
    case 'String':
    case 'Interpolation':
      return
    case 'Identifier':
      if (context.observe !== null) observeName(expr, scope, context.observe)
      return
    case 'List':
      for (const item of expr.items) checkExpr(item.value, scope)
      return
    case 'Dict':
      checkEntries(expr.entries, scope, context)
      return
    case 'StructLiteral':
      checkEntries(expr.entries, scope, context)
      checkStruct(expr, scope, context)
      return
    case 'Unary':
      checkExpr(expr.operand, scope)
      return
    case 'Binary':
      checkChain(expr, scope, context)
      return
    case 'Ternary':
      checkTernary(expr, scope, context)
      return
    case 'Range':
      checkExpr(expr.from, scope)
      checkExpr(expr.to, scope)
      return
    case 'Pipe':
      checkPipe(expr, scope, context)
      return
    case 'Member':
      checkExpr(expr.object, scope)
      if (context.strict) checkAccess(expr, scope, context)
      return
    case 'Index':
      checkExpr(expr.object, scope)
      checkExpr(expr.index, scope)
      if (context.strict) checkAccess(expr, scope, context)
      return
    case 'Slice':
      checkExpr(expr.object, scope)
      if (expr.start !== null) checkExpr(expr.start, scope)
      if (expr.end !== null) checkExpr(expr.end, scope)
      return
    case 'MethodCall':
      checkExpr(expr.object, scope)
      for (const arg of expr.args) checkExpr(arg.value, scope)
      if (scope.hasBounds()) checkBoundMethod(expr, scope, context)
      if (scope.tools !== null) checkToolCallback(expr, scope, context)
      return
    case 'Call':
      checkCall(expr, scope, context)
      return
    case 'Propagate':
      checkExpr(expr.operand, scope)
      return
    case 'TryStar':
      if (!scope.enclosing.callable) context.report('T034', expr.span, {})
      checkExpr(expr.operand, scope)
      return
    case 'Closure':
      checkClosure(expr, scope, context)
      return
    case 'If':
      checkIf(expr, scope, context)
      return
    case 'Match':
      checkMatch(expr, scope, context)
      return
    case 'Try':
      checkTry(expr, scope, context)
      return
    case 'Retry':
      checkExpr(expr.count, scope)
      checkBlock(expr.body, scope.child())
      return
    case 'Deadline':
      checkExpr(expr.duration, scope)
      checkBlock(expr.body, scope.child())
      return
    case 'Spawn':
      checkBlock(expr.body, scope.child())
      return
    case 'Parallel':
      checkParallel(expr, scope, context)
  }
}

function checkEntries(entries: readonly DictEntry[], scope: Scope, context: CheckContext): void {
  for (const entry of entries) {
    if (entry.kind === 'computed') context.checkExpr(entry.key, scope)
    context.checkExpr(entry.value, scope)
  }
}

// ---- operators ------------------------------------------------------------------------------------------------------

/** The left spine is walked in a loop, from its innermost operand up, so that a long chain is neither deep nor quadratic. */
function checkChain(expr: ExprOf<'Binary'>, scope: Scope, context: CheckContext): void {
  const spine: ExprOf<'Binary'>[] = []
  let at: Expr = expr
  while (at.kind === 'Binary') {
    spine.push(at)
    at = at.left
  }
  context.checkExpr(at, scope)
  let left: Known = infer(at, scope)
  for (let index = spine.length - 1; index >= 0; index--) {
    const node = spine[index]
    if (node === undefined) continue
    context.checkExpr(node.right, scope)
    const right = infer(node.right, scope)
    checkOperator(node, left, right, context)
    left = binaryType(node.operator, left, right)
  }
}

function checkOperator(node: ExprOf<'Binary'>, leftType: Known, rightType: Known, context: CheckContext): void {
  const problem = operatorProblem(node.operator, leftType, rightType)
  if (problem === null || leftType === null || rightType === null) return
  const { operator } = node
  const left = show(leftType)
  const right = show(rightType)
  switch (problem) {
    case 'add':
      context.report('T001', node.span, { left, right }, addFix(node, leftType, rightType, context.file) ?? undefined)
      return
    case 'numeric':
      context.report('T002', node.span, { operator, left, right })
      return
    case 'multiply':
      context.report('T003', node.span, { left, right })
      return
    case 'not-comparable':
      // Pairs are compared by their values, which the language's own checker does not know.
      if (context.reportsOptions && left === 'pair' && right === 'pair') return
      context.report('T004', node.span, { operator, left, right })
      return
    case 'mixed-comparison':
      context.report('T005', node.span, { operator, left, right })
  }
}

function checkTernary(expr: ExprOf<'Ternary'>, scope: Scope, context: CheckContext): void {
  context.checkExpr(expr.condition, scope)
  const { whenTrue, whenFalse } = refine(expr.condition, scope)
  context.checkExpr(expr.whenTrue, branch(whenTrue, scope))
  context.checkExpr(expr.whenFalse, branch(whenFalse, scope))
}

function branch(changes: readonly Change[], scope: Scope): Scope {
  const inner = scope.child()
  apply(changes, inner)
  return inner
}

/** Stages of a pipe are checked as written: `v |> f(1)` is a call of `f` with one argument. */
function checkPipe(expr: ExprOf<'Pipe'>, scope: Scope, context: CheckContext): void {
  const stages: Expr[] = []
  let at: Expr = expr
  while (at.kind === 'Pipe') {
    stages.push(at.callee)
    at = at.value
  }
  context.checkExpr(at, scope)
  const [last] = stages.reverse()
  if (scope.tools !== null && last !== undefined) checkToolStage(at, last, scope, context)
  for (const stage of stages) context.checkExpr(stage, scope)
}

function checkBoundMethod(call: ExprOf<'MethodCall'>, scope: Scope, context: CheckContext): void {
  const type = infer(call.object, scope)
  if (type === null || type.kind !== 'named' || !scope.isTypeParam(type.name)) return
  const bound = scope.findBound(type.name)
  const wanted = bound === undefined ? undefined : scope.interfaceNamed(bound)
  if (bound === undefined || wanted === undefined || wanted.methods.has(call.method.text)) return
  context.report('T027', call.span, { method: call.method.text, bound, param: type.name })
}

// ---- structs --------------------------------------------------------------------------------------------------------

function checkStruct(expr: ExprOf<'StructLiteral'>, scope: Scope, context: CheckContext): void {
  const struct = expr.name.text
  const info = scope.struct(struct)
  if (info === undefined) {
    if (context.importedNames === null || context.otherNames.has(struct)) return
    context.report('N002', expr.name.span, {
      name: struct,
      suggestion: closest(struct, scope.listNames('structs'), context.suggestions),
    })
    return
  }
  const given = new Set<string>()
  for (const entry of expr.entries) {
    if (entry.kind !== 'named') continue
    given.add(entry.key.text)
    if (info.fields.some((field) => field.name === entry.key.text)) continue
    context.report('T040', entry.key.span, { field: entry.key.text, struct })
  }
  if (expr.entries.every((entry) => entry.kind === 'named')) {
    for (const field of info.fields) {
      if (!field.optional && !given.has(field.name)) context.report('T041', expr.span, { field: field.name, struct })
    }
  }
  checkFields(expr, scope, context)
}

function checkFields(expr: ExprOf<'StructLiteral'>, scope: Scope, context: CheckContext): void {
  const struct = expr.name.text
  const info = scope.struct(struct)
  if (info === undefined) return
  const bindings = structBindings(struct, expr.entries, scope, infer)
  const inner = info.params.length === 0 ? scope : scope.child()
  for (const param of info.params) if (!bindings.has(param)) inner.declareTypeParam(param)
  for (const entry of expr.entries) {
    if (entry.kind !== 'named') continue
    const field = entry.key.text
    const declared = info.fields.find((candidate) => candidate.name === field)?.type ?? null
    const actual = declared === null ? null : infer(entry.value, scope)
    if (declared === null || actual === null) continue
    const expected = substitute(declared, bindings)
    if (fits(expected, actual, inner)) continue
    context.report('T042', entry.value.span, { field, struct, expected: show(expected), actual: show(actual) })
  }
}

// ---- closures and blocks --------------------------------------------------------------------------------------------

function checkClosure(expr: ExprOf<'Closure'>, scope: Scope, context: CheckContext): void {
  const inner = scope.child(IN_CLOSURE)
  for (const param of expr.params) {
    inner.define(param.name.text, typeOrNull(param.type))
    if (param.defaultValue !== null) context.checkExpr(param.defaultValue, inner)
  }
  context.checkBlock(expr.body, inner)
}

/** An `if` chain; what holds because a branch never ends normally is applied to `scope`. */
function checkIf(first: IfExpr, scope: Scope, context: CheckContext): void {
  let around = scope
  let at: Block | IfExpr | null = first
  while (at !== null && at.kind === 'If') {
    const node: IfExpr = at
    context.checkExpr(node.condition, around)
    const { whenTrue, whenFalse } = refine(node.condition, around)
    const then = branch(whenTrue, around)
    if (context.strict) clearTested(node.condition, then)
    context.checkBlock(node.then, then)
    const otherwise: Scope = branch(whenFalse, around)
    const elseBlock: Block | null = node.otherwise !== null && node.otherwise.kind === 'Block' ? node.otherwise : null
    if (elseBlock !== null) context.checkBlock(elseBlock, otherwise)
    // Inside a chain the change reaches only the rest of that chain, whose scope is discarded afterwards.
    if (node === first) apply(survivingChanges(node, whenTrue, whenFalse), scope)
    around = otherwise
    at = elseBlock === null ? node.otherwise : null
  }
}

/** What holds after an `if` because one of its branches never ends normally. */
export function survivingChanges(node: IfExpr, whenTrue: readonly Change[], whenFalse: readonly Change[]): readonly Change[] {
  const thenExits = blockExits(node.then)
  const otherExits = node.otherwise !== null && elseExits(node.otherwise)
  if (thenExits && !otherExits) return whenFalse
  return otherExits && !thenExits ? whenTrue : []
}

function checkTry(expr: ExprOf<'Try'>, scope: Scope, context: CheckContext): void {
  context.checkBlock(expr.body, scope.child())
  if (expr.handler !== null) {
    const inner = scope.child()
    if (expr.handler.variable !== null) inner.define(expr.handler.variable.text, typeOrNull(expr.handler.type))
    context.checkBlock(expr.handler.body, inner)
  }
  if (expr.finalizer !== null) context.checkBlock(expr.finalizer, scope.child())
}

function checkParallel(expr: ExprOf<'Parallel'>, scope: Scope, context: CheckContext): void {
  context.checkExpr(expr.subject, scope)
  if (expr.maxConcurrent !== null) {
    context.checkExpr(expr.maxConcurrent, scope)
    const type = infer(expr.maxConcurrent, scope)
    if (type !== null && (isNamed(type, 'any') || !fitsInt(type, scope))) {
      context.report('T035', expr.maxConcurrent.span, { actual: showStructure(type) })
    }
  }
  const inner = scope.child()
  if (expr.variable !== null) inner.define(expr.variable.text, parallelVariable(expr, scope))
  context.checkBlock(expr.body, inner)
}

function fitsInt(type: NonNullable<Known>, scope: Scope): boolean {
  return fits({ kind: 'named', name: 'int' }, type, scope)
}

// ---- match ----------------------------------------------------------------------------------------------------------

function checkMatch(expr: ExprOf<'Match'>, scope: Scope, context: CheckContext): void {
  context.checkExpr(expr.subject, scope)
  const matched = infer(expr.subject, scope)
  for (const arm of expr.arms) {
    const inner = scope.child()
    const narrowed = armNarrowing(expr.subject, arm, scope)
    if (narrowed !== null) inner.narrow(narrowed.name, narrowed.type)
    for (const pattern of arm.patterns) {
      // Names that the pattern binds are known in the arm; the reference forgets them, which only ever adds errors.
      for (const name of patternNames(pattern)) {
        inner.define(name, null)
        inner.markMutable(name) // so is the warning about assigning one; the assignment fails at run time
      }
    }
    for (const pattern of arm.patterns) {
      context.checkExpr(pattern, inner)
      if (arm.patterns.length > 1 && !isAlternative(pattern)) context.report('T052', pattern.span, {})
    }
    checkLiterals(arm, matched, scope, context)
    if (arm.guard !== null) context.checkExpr(arm.guard, inner)
    context.checkBlock(arm.body, inner)
  }
  checkExhaustive(expr, scope, context)
}

function isAlternative(pattern: Expr): boolean {
  if (pattern.kind === 'Unary' && pattern.operator === '-')
    return pattern.operand.kind === 'Int' || pattern.operand.kind === 'Float'
  return literalPattern(pattern) !== null || (pattern.kind === 'Identifier' && pattern.name === '_')
}

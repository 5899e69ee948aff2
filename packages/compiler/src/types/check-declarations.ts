// Checks inside declarations. A function body sees the outermost scope and its own parameters, never the enclosing locals;
// closures, in check-expressions.ts, do see them.

import type { Declaration, FnDecl, IfExpr, Param, Stmt } from '@bridle/parser'
import { resolveHead } from './aliases.js'
import { checkAttributes } from './attributes.js'
import { IN_CLOSURE, survivingChanges } from './check-expressions.js'
import type { CheckContext } from './context.js'
import { registerType, toolSignature } from './declarations.js'
import { boundNames, infer } from './infer.js'
import { apply, refine } from './narrow.js'
import { bareName, fits } from './relate.js'
import type { Enclosing, Scope } from './scope.js'
import { show } from './show.js'
import { DICT, type Known, type Type, readType, typeOrNull } from './type.js'
import { checkVariance } from './variance.js'

/** A declaration in its scope. At the top level its name is already registered and `scope` is the outermost one or a copy. */
export function checkDeclaration(decl: Declaration, scope: Scope, context: CheckContext): void {
  checkAttributes(decl, context)
  switch (decl.kind) {
    case 'FnDecl':
      scope.declareFunction(decl.name.text, context.signature(decl))
      if (scope !== scope.root) checkVariance(decl, scope, context)
      checkFunction(decl, context)
      return
    case 'ToolDecl':
      scope.declareFunction(decl.name.text, toolSignature(decl)) // at the top level in a scope that is thrown away
      checkTool(decl, context)
      return
    case 'SkillDecl':
      for (const field of decl.fields) context.checkExpr(field.value, scope)
      scope.define(decl.name.text, null)
      return
    case 'EvalPackDecl':
      checkEvalPack(decl, scope, context)
      return
    case 'PipelineDecl':
      checkPipeline(decl, context)
      return
    case 'OverrideDecl': {
      const inner = scope.child(IN_CLOSURE)
      for (const param of decl.params) inner.define(param.text, null)
      context.checkBlock(decl.body, inner)
      return
    }
    case 'ImportDecl':
      return
    case 'TypeDecl':
    case 'EnumDecl':
    case 'StructDecl':
    case 'InterfaceDecl':
      registerType(scope, decl)
      checkVariance(decl, scope, context)
      return
    case 'ImplDecl':
      registerType(scope, decl)
      for (const method of decl.methods) {
        checkAttributes(method, context)
        checkFunction(method, context, true)
      }
  }
}

// ---- functions ------------------------------------------------------------------------------------------------------

function checkFunction(decl: FnDecl, context: CheckContext, isMethod = false): void {
  const returns = context.signature(decl).returns
  const scope = functionScope(decl, readStream(decl, returns, context), context)
  for (const param of decl.params) bindParam(param, scope, context)
  context.checkBlock(decl.body, scope)
  // If a body yields, its `return`s are compared with the generator type too, except in methods, whose types are as written.
  if (returns === null || (isMethod && decl.returns === null)) return
  const fresh = functionScope(decl, null, context)
  for (const param of decl.params) fresh.define(param.name.text, typeOrNull(param.type))
  checkReturns(decl.body.body, fresh, returns, context)
}

function functionScope(decl: FnDecl, stream: Enclosing['stream'], context: CheckContext): Scope {
  const scope = context.root.child({ callable: true, stream })
  for (const param of decl.typeParams) scope.declareTypeParam(param.name.text)
  for (const clause of decl.where) scope.declareBound(clause.param.text, clause.bound.text)
  return scope
}

/** A default is checked on its own, never compared with the annotation; earlier parameters are in scope. */
function bindParam(param: Param, scope: Scope, context: CheckContext): void {
  scope.define(param.name.text, typeOrNull(param.type))
  if (param.defaultValue !== null) context.checkExpr(param.defaultValue, scope)
}

function readStream(decl: FnDecl, returns: Known, context: CheckContext): Enclosing['stream'] {
  if (!decl.isStream) return null
  const type = returns === null ? null : resolveHead(returns, context.root)
  if (type !== null && type.kind === 'stream') return { element: type.element }
  if (decl.returns === null || type === null || (type.kind === 'named' && bareName('stream', type.name))) return { element: null }
  // Without a position, as in the reference: the annotation is about the whole function.
  context.report('T033', { start: 0, end: 0 }, { actual: show(readType(decl.returns)) })
  return { element: null }
}

/** Only its `return`s are compared with the annotation, although the value of a tool may be that of its last statement. */
function checkTool(decl: Extract<Declaration, { kind: 'ToolDecl' }>, context: CheckContext): void {
  const scope = context.root.child(IN_CLOSURE)
  for (const param of decl.params) bindParam(param, scope, context)
  context.checkBlock(decl.body, scope)
  if (decl.returns === null) return
  const fresh = context.root.child(IN_CLOSURE)
  for (const param of decl.params) fresh.define(param.name.text, typeOrNull(param.type))
  checkReturns(decl.body.body, fresh, readType(decl.returns), context)
}

function checkPipeline(decl: Extract<Declaration, { kind: 'PipelineDecl' }>, context: CheckContext): void {
  const inner = (): Scope => {
    const scope = context.root.child(IN_CLOSURE)
    for (const param of decl.params) scope.define(param.text, null)
    return scope
  }
  context.checkBlock(decl.body, inner())
  if (decl.returns !== null) checkReturns(decl.body.body, inner(), readType(decl.returns), context)
}

function checkEvalPack(decl: Extract<Declaration, { kind: 'EvalPackDecl' }>, scope: Scope, context: CheckContext): void {
  for (const field of decl.fields) context.checkExpr(field.value, scope)
  const inner = scope.child()
  for (const name of ['id', 'version', ...decl.fields.map((field) => field.name.text)]) inner.define(name, null)
  for (const stmt of decl.body) context.checkStmt(stmt, inner)
  if (decl.summarize !== null) context.checkBlock(decl.summarize, inner.child())
  scope.define(decl.name.text, DICT)
}

// ---- returns --------------------------------------------------------------------------------------------------------

/**
 * Compares the direct `return`s of a body, and those in its `if`s, with the return type. The scope knows the parameters and what
 * conditions prove about them; locals are unknown here, and other statements are not entered.
 */
function checkReturns(body: readonly Stmt[], scope: Scope, expected: Type, context: CheckContext): void {
  for (const stmt of body) {
    switch (stmt.kind) {
      case 'Return': {
        const actual = stmt.value === null ? null : infer(stmt.value, scope)
        if (actual === null || fits(expected, actual, scope)) break
        context.report('T020', stmt.span, { expected: show(expected), actual: show(actual) })
        break
      }
      case 'ExprStmt':
        if (stmt.value.kind === 'If') checkIfReturns(stmt.value, scope, expected, context)
        break
      case 'Guard':
        apply(refine(stmt.condition, scope).whenTrue, scope)
        break
      case 'Let':
        for (const name of boundNames(stmt)) scope.define(name, null)
        break
      case 'Assign':
        if (stmt.target.kind === 'Identifier' && scope.variable(stmt.target.name) !== undefined) {
          scope.define(stmt.target.name, null)
        }
        break
      default:
        break
    }
  }
}

function checkIfReturns(node: IfExpr, scope: Scope, expected: Type, context: CheckContext): void {
  const { whenTrue, whenFalse } = refine(node.condition, scope)
  const then = scope.child()
  apply(whenTrue, then)
  checkReturns(node.then.body, then, expected, context)
  const otherwise = scope.child()
  apply(whenFalse, otherwise)
  if (node.otherwise !== null) {
    if (node.otherwise.kind === 'If') checkIfReturns(node.otherwise, otherwise, expected, context)
    else checkReturns(node.otherwise.body, otherwise, expected, context)
  }
  apply(survivingChanges(node, whenTrue, whenFalse), scope)
}

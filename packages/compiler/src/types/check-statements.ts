// Checks of statements and what they prove: bindings, assignments, loops, exits. A scope represents one block; what a
// statement proves holds for the statements after it in that block.

import type { Binding, Block, Stmt } from '@bridle/parser'
import { checkNarrowed } from './check-calls.js'
import { checkDeclaration } from './check-declarations.js'
import type { CheckContext } from './context.js'
import { stmtExits } from './exits.js'
import { boundNames, elementType, infer, pairTypes } from './infer.js'
import { apply, refine } from './narrow.js'
import { binaryType } from './operators.js'
import { fits } from './relate.js'
import { schemaType } from './schema.js'
import type { Scope, Variable } from './scope.js'
import { shapeDetail, show } from './show.js'
import { findSource } from './strict.js'
import { isNamed, type Known, NIL, type Type, readType, makeUnion } from './type.js'

type StmtOf<K extends Stmt['kind']> = Extract<Stmt, { kind: K }>

/** Code after a statement that never ends normally is unreachable: reported once, then the rest of the block is skipped. */
export function checkStatements(block: Block, scope: Scope, context: CheckContext): void {
  let dead = false
  for (const stmt of block.body) {
    if (dead) {
      context.report('N020', stmt.span, {})
      return
    }
    context.checkStmt(stmt, scope)
    dead = stmtExits(stmt)
  }
}

export function checkStatement(stmt: Stmt, scope: Scope, context: CheckContext): void {
  const { checkExpr, checkBlock } = context
  switch (stmt.kind) {
    case 'ExprStmt':
      checkExpr(stmt.value, scope)
      if (context.probe?.stmt === stmt) {
        const type = infer(stmt.value, scope)
        context.probe.found(type === null ? null : show(type))
      }
      return
    case 'Let':
      checkLet(stmt, scope, context)
      return
    case 'Assign':
      checkAssign(stmt, scope, context)
      return
    case 'While': {
      checkExpr(stmt.condition, scope)
      const inner = scope.child()
      apply(refine(stmt.condition, scope).whenTrue, inner)
      checkBlock(stmt.body, inner)
      return
    }
    case 'For':
      checkFor(stmt, scope, context)
      return
    case 'Return':
      if (stmt.value !== null) checkExpr(stmt.value, scope)
      return
    case 'Throw':
      checkExpr(stmt.value, scope)
      checkNarrowed('throw', stmt.span, scope, context)
      return
    case 'Yield':
      if (stmt.value !== null) checkExpr(stmt.value, scope)
      if (scope.enclosing.stream !== null) context.report('T030', stmt.span, {})
      return
    case 'Emit':
      checkEmit(stmt, scope, context)
      return
    case 'Guard': {
      checkExpr(stmt.condition, scope)
      const { whenTrue, whenFalse } = refine(stmt.condition, scope)
      const inner = scope.child()
      apply(whenFalse, inner)
      checkBlock(stmt.otherwise, inner)
      apply(whenTrue, scope)
      return
    }
    case 'Require':
      checkExpr(stmt.condition, scope)
      if (stmt.message !== null) checkExpr(stmt.message, scope)
      return
    case 'Defer':
    case 'Mutex':
      checkBlock(stmt.body, scope.child())
      return
    case 'Select':
      checkSelect(stmt, scope, context)
      return
    case 'Break':
    case 'Continue':
    case 'UseTool':
    case 'Grant':
    case 'BindEffect':
      return
    default:
      checkDeclaration(stmt, scope, context)
  }
}

// ---- bindings -------------------------------------------------------------------------------------------------------

function checkLet(stmt: StmtOf<'Let'>, scope: Scope, context: CheckContext): void {
  const { binding, value } = stmt
  context.checkExpr(value, scope)
  if (binding.kind !== 'NameBinding') {
    checkDefaults(binding, scope, context)
    for (const name of boundNames(stmt)) {
      scope.define(name, null)
      if (stmt.mutable) scope.markMutable(name)
    }
    return
  }
  const name = binding.name.text
  const declared = binding.type === null ? null : readType(binding.type)
  const actual = infer(value, scope)
  if (declared !== null && actual !== null && !fits(declared, actual, scope)) {
    const detail = shapeDetail(declared, actual)
    context.report('T014', stmt.span, { name, declared: show(declared), actual: show(actual), detail })
  }
  const known = declared ?? actual
  if (context.observe !== null && known !== null) context.observe(binding.name.span, show(known))
  scope.define(name, known, {
    nilWidenable: stmt.mutable && declared === null && isNamed(actual, 'nil'),
    schema: value.kind === 'Dict' || value.kind === 'Call' ? schemaType(value, scope) : null,
    source: context.strict ? findSource(value, declared, scope) : null,
  })
  if (stmt.mutable) scope.markMutable(name)
}

function checkDefaults(binding: Binding, scope: Scope, context: CheckContext): void {
  const parts = binding.kind === 'DictBinding' ? binding.fields : binding.kind === 'ListBinding' ? binding.items : []
  for (const part of parts) if (part.defaultValue !== null) context.checkExpr(part.defaultValue, scope)
}

function checkFor(stmt: StmtOf<'For'>, scope: Scope, context: CheckContext): void {
  context.checkExpr(stmt.iterable, scope)
  const element = elementType(infer(stmt.iterable, scope))
  const inner = scope.child()
  const { binding } = stmt
  if (binding.kind === 'NameBinding') {
    inner.define(binding.name.text, binding.type === null ? element : readType(binding.type))
  } else if (binding.kind === 'PairBinding') {
    const [first, second] = pairTypes(element)
    inner.define(binding.first.text, first)
    inner.define(binding.second.text, second)
  } else {
    checkDefaults(binding, scope, context)
    for (const name of boundNames(stmt)) inner.define(name, null)
  }
  context.checkBlock(stmt.body, inner)
}

function checkSelect(stmt: StmtOf<'Select'>, scope: Scope, context: CheckContext): void {
  for (const arm of stmt.arms) {
    const inner = scope.child()
    if (arm.kind === 'receive') {
      context.checkExpr(arm.channel, scope)
      inner.define(arm.variable.text, null)
    } else if (arm.kind === 'timeout') {
      context.checkExpr(arm.duration, scope)
    }
    context.checkBlock(arm.body, inner)
  }
}

function checkEmit(stmt: StmtOf<'Emit'>, scope: Scope, context: CheckContext): void {
  context.checkExpr(stmt.value, scope)
  const { stream } = scope.enclosing
  if (stream === null) {
    context.report('T031', stmt.span, {})
    return
  }
  const actual = stream.element === null ? null : infer(stmt.value, scope)
  if (stream.element === null || actual === null || fits(stream.element, actual, scope)) return
  context.report('T032', stmt.span, { expected: show(stream.element), actual: show(actual) })
}

// ---- assignment -----------------------------------------------------------------------------------------------------

function checkAssign(stmt: StmtOf<'Assign'>, scope: Scope, context: CheckContext): void {
  const { target } = stmt
  context.checkExpr(stmt.value, scope)
  if (target.kind !== 'Identifier') {
    // Values stored in a property or element are not compared; the parts of the target are checked as expressions.
    if (target.kind === 'Member' || target.kind === 'Index') context.checkExpr(target.object, scope)
    if (target.kind === 'Index') context.checkExpr(target.index, scope)
    return
  }
  const { name } = target
  const variable = scope.variable(name)
  if (variable === undefined) return
  if (!scope.isMutable(name)) context.report('T006', stmt.span, { name })
  const value = infer(stmt.value, scope)
  const actual = stmt.operator === null ? value : binaryType(stmt.operator, variable.type, value)
  if (variable.nilWidenable && isNamed(variable.type, 'nil')) {
    widen(name, actual, scope)
    return
  }
  const expected = variable.declared
  if (expected !== null && actual !== null && !fits(expected, actual, scope)) {
    context.report('T007', stmt.span, { name, declared: show(expected), actual: show(actual) })
  }
  if (isRefined(variable)) scope.define(name, expected)
}

function isRefined(variable: Variable): boolean {
  return variable.narrowed || variable.schema !== null || variable.ruledOut.length > 0 || variable.source !== null
}

/**
 * The first value of a variable that was initialised with nil makes its type `A | nil`. If the value is unknown, or assigned in an inner
 * block whose other exits are not followed, nothing is known about the variable afterwards.
 */
function widen(name: string, actual: Known, scope: Scope): void {
  if (isNamed(actual, 'nil')) return
  const owner = scope.findOwner(name)
  const widened: Known = actual === null ? null : withNil(actual)
  if (owner !== null && owner !== scope) owner.define(name, null)
  scope.define(name, widened)
}

function withNil(type: Type): Type {
  if (type.kind !== 'union') return makeUnion([type, NIL])
  return type.members.some((member) => isNamed(member, 'nil')) ? type : makeUnion([...type.members, NIL])
}

// The static type of an expression. Inference never reports and never guesses: null means
// unknown. Each child is visited once per query, so that nested calls stay linear.

import type { Argument, BinaryOperator, Block, DictEntry, Expr, ExprOf, IfExpr, Stmt } from '@bridle/parser'
import { blockExits } from './exits.js'
import { makeNominal, PLACEHOLDER } from './declarations.js'
import { enumType, inferCall, structType } from './infer-calls.js'
import { methodType } from './infer-methods.js'
import { apply, refine } from './narrow.js'
import { binaryType } from './operators.js'
import type { Scope } from './scope.js'
import {
  BOOL,
  CLOSURE,
  DICT,
  type Field,
  FLOAT,
  INT,
  isNamed,
  type Known,
  LIST,
  NEVER,
  NIL,
  UNTYPED,
  RANGE,
  sameType,
  STRING,
  type Type,
  readType,
  makeUnion,
  WILDCARD,
} from './type.js'

export function infer(expr: Expr, scope: Scope): Known {
  scope.work.step()
  switch (expr.kind) {
    case 'Int':
      return INT
    case 'Float':
      return FLOAT
    case 'Bool':
      return BOOL
    case 'Nil':
      return NIL
    case 'String':
      return expr.quote === 'raw' ? null : STRING
    case 'Interpolation':
      return STRING
    case 'Range':
      return RANGE
    case 'Identifier':
      return identifierType(expr.name, scope)
    case 'List':
      return listType(expr.items, scope)
    case 'Dict':
      return dictType(expr.entries, scope)
    case 'StructLiteral':
      return structType(expr.name.text, expr.entries, scope, infer)
    case 'Unary':
      return expr.operator === '!' ? BOOL : infer(expr.operand, scope)
    case 'Binary':
      return chainType(expr, scope)
    case 'Ternary':
      return ternaryType(expr, scope)
    case 'Member':
      return expr.optional ? null : memberType(expr.object, expr.property.text, scope)
    case 'Index':
      return expr.optional ? null : indexType(infer(expr.object, scope), expr.index)
    case 'Slice':
      return sliceType(infer(expr.object, scope))
    case 'MethodCall':
      return methodCallType(expr, scope)
    case 'Call':
      return inferCall(expr, scope, infer)
    case 'Propagate': {
      const result = resultParts(infer(expr.operand, scope))
      return result === null || isNamed(result.ok, '_') ? null : result.ok
    }
    case 'TryStar':
      return infer(expr.operand, scope)
    case 'Closure':
      return closureType(expr, scope)
    case 'If':
      return ifType(expr, scope)
    case 'Try':
      return expr.handler === null && expr.finalizer === null ? tryType(expr.body, scope) : null
    case 'Parallel':
      return parallelType(expr, scope)
    case 'Duration':
    case 'Pipe':
    case 'Match':
    case 'Retry':
    case 'Deadline':
    case 'Spawn':
      return null
    default:
      return null
  }
}

// ---- names and literals ---------------------------------------------------------------------------------------------

function identifierType(name: string, scope: Scope): Known {
  const variable = scope.variable(name)
  if (variable !== undefined) return variable.type
  const signature = scope.functionNamed(name)
  if (signature === undefined || signature === PLACEHOLDER || signature.isTool === true) return null // a tool is a registry, not a function
  const params = signature.params.map((param) => param.type ?? WILDCARD)
  const { tool } = signature
  return { kind: 'fn', params, returns: signature.returns ?? NIL, ...(tool === undefined ? {} : { tool: tool.name }) }
}

function listType(items: readonly Argument[], scope: Scope): Type {
  const elements: Type[] = []
  for (const item of items) {
    const type = item.spread ? null : infer(item.value, scope)
    if (type === null) return LIST
    if (!elements.some((other) => sameType(other, type))) elements.push(type)
  }
  return elements.length === 0 ? LIST : { kind: 'list', element: makeUnion(elements) }
}

function dictType(entries: readonly DictEntry[], scope: Scope): Type {
  if (entries.length === 0 || entries.some((entry) => entry.kind !== 'named')) return DICT
  const fields: Field[] = []
  for (const entry of entries) {
    if (entry.kind === 'named') fields.push({ name: entry.key.text, type: infer(entry.value, scope) ?? UNTYPED, optional: false })
  }
  return { kind: 'shape', fields }
}

/** The left spine of a chain is walked in a loop: `a + b + c …` may be thousands long. */
function chainType(expr: ExprOf<'Binary'>, scope: Scope): Known {
  const spine: ExprOf<'Binary'>[] = []
  let at: Expr = expr
  while (at.kind === 'Binary') {
    if (isPredicate(at.operator)) {
      if (at === expr) return BOOL
      break
    }
    spine.push(at)
    at = at.left
  }
  let type = at.kind === 'Binary' ? BOOL : infer(at, scope)
  for (let index = spine.length - 1; index >= 0; index--) {
    const node = spine[index]
    if (node !== undefined) type = binaryType(node.operator, type, infer(node.right, scope))
  }
  return type
}

function isPredicate(operator: BinaryOperator): boolean {
  return binaryType(operator, null, null) !== null
}

function ternaryType(expr: ExprOf<'Ternary'>, scope: Scope): Known {
  const { whenTrue, whenFalse } = refine(expr.condition, scope)
  const yes = scope.child()
  apply(whenTrue, yes)
  const no = scope.child()
  apply(whenFalse, no)
  const one = infer(expr.whenTrue, yes)
  const other = infer(expr.whenFalse, no)
  if (one === null || other === null) return one ?? other
  return sameType(one, other) ? one : { kind: 'union', members: [one, other] }
}

// The body is inferred without its parameters: a value built from them has no known type.
function closureType(expr: ExprOf<'Closure'>, scope: Scope): Type {
  const params: Type[] = []
  for (const param of expr.params) {
    if (param.type === null) return CLOSURE
    params.push(readType(param.type))
  }
  if (params.length === 0) return CLOSURE
  const inner = scope.child()
  for (const param of expr.params) inner.define(param.name.text, null)
  const returns = lastType(expr.body, inner)
  return returns === null ? CLOSURE : { kind: 'fn', params, returns }
}

// ---- access ---------------------------------------------------------------------------------------------------------

function memberType(object: Expr, property: string, scope: Scope): Known {
  if (object.kind === 'Identifier') {
    const info = scope.enumNamed(object.name)
    if (info !== undefined) return makeNominal(object.name, info)
  }
  const type = infer(object, scope)
  if (type === null) return null
  switch (type.kind) {
    case 'named':
      return property === 'variant' && scope.enumNamed(type.name) !== undefined ? STRING : null
    case 'applied':
      if (property === 'variant' && scope.enumNamed(type.name) !== undefined) return STRING
      if (type.name !== 'Pair' || type.args.length !== 2) return null
      return toKnown(property === 'first' ? type.args[0] : property === 'second' ? type.args[1] : undefined)
    case 'shape':
      return toKnown(type.fields.find((field) => field.name === property)?.type)
    default:
      return null
  }
}

/** A hole means an unknown type. */
function toKnown(type: Type | undefined): Known {
  return type === undefined || type === UNTYPED || isNamed(type, '_') ? null : type
}

function indexType(object: Known, index: Expr): Known {
  if (object === null) return null
  switch (object.kind) {
    case 'list':
      return toKnown(object.element)
    case 'dict':
      return toKnown(object.value)
    case 'shape':
      return index.kind === 'String' ? toKnown(object.fields.find((field) => field.name === index.value)?.type) : null
    case 'named':
      return object.name === 'string' ? STRING : null
    default:
      return null
  }
}

function sliceType(object: Known): Known {
  if (object === null) return null
  return object.kind === 'list' || isNamed(object, 'list') || isNamed(object, 'string') ? object : null
}

function methodCallType(expr: ExprOf<'MethodCall'>, scope: Scope): Known {
  if (expr.optional) return null
  if (expr.object.kind === 'Identifier') {
    const type = enumType(expr.object.name, expr.method.text, expr.args, scope, infer)
    if (type !== null) return type
  }
  return toKnown(methodType(infer(expr.object, scope), expr.method.text, scope) ?? undefined)
}

// ---- blocks ---------------------------------------------------------------------------------------------------------

/** `never` when control does not leave the block, otherwise the type of its last statement. */
export function blockType(block: Block, scope: Scope): Known {
  return blockExits(block) ? NEVER : lastType(block, scope)
}

function lastType(block: Block, scope: Scope): Known {
  const last = block.body.at(-1)
  return last === undefined ? null : stmtType(last, withoutLocals(block.body, scope))
}

function stmtType(stmt: Stmt, scope: Scope): Known {
  switch (stmt.kind) {
    case 'ExprStmt':
      return infer(stmt.value, scope)
    case 'Return':
    case 'Throw':
    case 'Break':
    case 'Continue':
      return NEVER
    default:
      return null
  }
}

/** The scope of a block, with the names that the block binds as unknown: their types are not inferred. */
function withoutLocals(body: readonly Stmt[], scope: Scope): Scope {
  if (body.length < 2) return scope
  const inner = scope.child()
  for (const stmt of body) {
    if (stmt.kind === 'Let') for (const name of boundNames(stmt)) inner.define(name, null)
    else if (stmt.kind === 'FnDecl') inner.define(stmt.name.text, null)
    else if (stmt.kind === 'Assign' && stmt.target.kind === 'Identifier') inner.define(stmt.target.name, null)
  }
  return inner
}

export function boundNames(stmt: Extract<Stmt, { kind: 'Let' | 'For' }>): readonly string[] {
  const { binding } = stmt
  switch (binding.kind) {
    case 'NameBinding':
      return [binding.name.text]
    case 'PairBinding':
      return [binding.first.text, binding.second.text]
    case 'DictBinding':
      return [...binding.fields.map((field) => (field.alias ?? field.key).text), ...rest(binding.rest)]
    case 'ListBinding':
      return [...binding.items.map((item) => item.name.text), ...rest(binding.rest)]
  }
}

function rest(name: { readonly text: string } | null): readonly string[] {
  return name === null ? [] : [name.text]
}

// From the last branch back, as nested `else` blocks would be: an unknown branch makes the result unknown when it is
// the first of its `if`, and is ignored when it is the other one.
function ifType(expr: IfExpr, scope: Scope): Known {
  const branches: Known[] = []
  let at: Block | IfExpr | null = expr
  let around = scope
  while (at !== null && at.kind === 'If') {
    const { whenTrue, whenFalse } = refine(at.condition, around)
    const yes = around.child()
    apply(whenTrue, yes)
    branches.push(blockType(at.then, yes))
    around = around.child()
    apply(whenFalse, around)
    at = at.otherwise
  }
  const last = at === null ? null : blockType(at, around)
  return branches.reduceRight((other, one) => joinBranches(one, other), last)
}

/** `never` is dropped, equal types are merged, others form a union. */
function joinBranches(one: Known, other: Known): Known {
  if (one === null || other === null || other.kind === 'never') return one
  if (one.kind === 'never') return other
  return sameType(one, other) ? one : { kind: 'union', members: [one, other] }
}

export interface ResultParts {
  readonly ok: Type
  readonly error: Type
}

export function resultParts(type: Known): ResultParts | null {
  if (type === null || type.kind !== 'applied' || type.name !== 'Result') return null
  const [ok, error] = type.args
  return ok === undefined || error === undefined ? null : { ok, error }
}

function tryType(body: Block, scope: Scope): Type {
  const value = blockType(body, scope) ?? WILDCARD
  const inner = resultParts(value)
  const errors = listThrownTypes(body, withoutLocals(body.body, scope))
  const ok = inner?.ok ?? value
  const all = errors === null ? null : inner === null ? errors : merge([inner.error], errors)
  const error = all === null || all.length === 0 || all.some((type) => isNamed(type, '_')) ? WILDCARD : makeUnion(all)
  return { kind: 'applied', name: 'Result', args: [ok, error] }
}

/** Types of the errors that the statements of a block raise themselves; null when one of them is not known. */
function listThrownTypes(body: Block, scope: Scope): readonly Type[] | null {
  let types: readonly Type[] = []
  for (const stmt of body.body) {
    const raised = inferRaised(stmt, scope)
    if (raised === 'unknown') return null
    if (raised !== null) types = merge(types, [raised])
  }
  return types
}

function inferRaised(stmt: Stmt, scope: Scope): Type | null | 'unknown' {
  switch (stmt.kind) {
    case 'Throw':
      return infer(stmt.value, scope) ?? 'unknown'
    case 'Let':
    case 'ExprStmt':
    case 'Assign':
      if (stmt.value.kind === 'Propagate') return resultParts(infer(stmt.value.operand, scope))?.error ?? 'unknown'
      return HOLDS_STATEMENTS.has(stmt.value.kind) ? 'unknown' : null
    case 'While':
    case 'For':
    case 'Guard':
    case 'Require':
    case 'Select':
    case 'Mutex':
      return 'unknown'
    default:
      return null
  }
}

/** Expressions with blocks whose errors propagate to the enclosing block. */
const HOLDS_STATEMENTS: ReadonlySet<string> = new Set(['If', 'Match', 'Try', 'Retry', 'Deadline'])

function merge(types: readonly Type[], more: readonly Type[]): readonly Type[] {
  return [...types, ...more.filter((type) => !types.some((other) => sameType(other, type)))]
}

// ---- parallel and loops ---------------------------------------------------------------------------------------------

function parallelType(expr: ExprOf<'Parallel'>, scope: Scope): Type {
  if (expr.mode === 'settle') return DICT
  const inner = scope.child()
  if (expr.variable !== null) inner.define(expr.variable.text, parallelVariable(expr, scope))
  const element = blockType(expr.body, inner) ?? WILDCARD
  return expr.asStream ? { kind: 'stream', element } : { kind: 'list', element }
}

export function parallelVariable(expr: ExprOf<'Parallel'>, scope: Scope): Known {
  if (expr.mode === 'count') return INT
  const subject = infer(expr.subject, scope)
  return subject !== null && subject.kind === 'list' ? toKnown(subject.element) : null
}

/** Element type of the subject of a `for` loop. */
export function elementType(iterable: Known): Known {
  if (iterable === null) return null
  switch (iterable.kind) {
    case 'list':
    case 'iter':
    case 'generator':
    case 'stream':
      return toKnown(iterable.element)
    case 'named':
      return iterable.name === 'string' ? STRING : iterable.name === 'range' ? INT : null
    default:
      return null
  }
}

/** The two halves of a pair type, for `for (a, b) in …`. */
export function pairTypes(element: Known): readonly [Known, Known] {
  if (element === null || element.kind !== 'applied' || element.name !== 'Pair') return [null, null]
  return [toKnown(element.args[0]), toKnown(element.args[1])]
}

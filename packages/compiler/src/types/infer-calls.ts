// Result types of calls and constructions: user functions with their type parameters bound from the arguments, builtins by their
// table, structs and enums. `infer` is a parameter, because expressions and calls depend on each other.

import type { Argument, DictEntry, Expr, ExprOf } from '@bridle/parser'
import { bind, type Conflict } from './bind.js'
import type { BuiltinSignature } from './builtins.js'
import { type FnSignature, makeNominal } from './declarations.js'
import { aliasBody, schemaType } from './schema.js'
import type { Scope } from './scope.js'
import { toolCallResult } from './tools/names.js'
import { isNamed, type Known, nominal, substitute, type Type, readType, WILDCARD } from './type.js'

export type Infer = (expr: Expr, scope: Scope) => Known

export function inferCall(call: ExprOf<'Call'>, scope: Scope, infer: Infer): Known {
  const name = call.callee.text
  const [first] = call.args
  if (name === 'schema_of' && call.args.length === 1 && first?.value.kind === 'Identifier') {
    const body = aliasBody(first.value.name, scope)
    if (body !== null) return { kind: 'applied', name: 'Schema', args: [body] }
  }
  const struct = scope.struct(name)
  if (struct !== undefined) return makeNominal(name, struct)
  const signature = visibleFunction(name, scope)
  if (signature !== undefined) return signature === null ? null : functionResult(signature, call, scope, infer)
  if (scope.tools !== null) {
    const result = toolCallResult(call, scope)
    if (result !== undefined) return result
  }
  if (name === 'Ok' || name === 'Err') {
    const payload = (first === undefined || first.spread ? null : infer(first.value, scope)) ?? WILDCARD
    return { kind: 'applied', name: 'Result', args: name === 'Ok' ? [payload, WILDCARD] : [WILDCARD, payload] }
  }
  const builtin = scope.builtins.get(name)
  if (builtin === undefined || hidesBuiltin(name, scope)) return null
  return builtinResult(builtin, call, scope, infer)
}

/**
 * The function that a call of this name is checked against; null when a local variable may be the callee, undefined when no
 * function of that name is known. Variables of the outermost scope do not count: they represent names from anywhere in the file.
 */
export function visibleFunction(name: string, scope: Scope): FnSignature | null | undefined {
  const signature = scope.functionNamed(name)
  if (signature === undefined) return undefined
  const owner = scope.findOwner(name)
  return owner !== null && owner !== scope.root && mayBeCallable(scope.variable(name)?.type ?? null) ? null : signature
}

/** A variable that may hold a closure hides the builtin of its name from calls; one that holds data does not. */
function hidesBuiltin(name: string, scope: Scope): boolean {
  const variable = scope.variable(name)
  return variable !== undefined && mayBeCallable(variable.type)
}

function mayBeCallable(type: Known): boolean {
  if (type === null || type.kind === 'fn' || type.kind === 'union') return true
  return isNamed(type, 'closure') || isNamed(type, 'any') || isNamed(type, 'unknown')
}

function functionResult(signature: FnSignature, call: ExprOf<'Call'>, scope: Scope, infer: Infer): Known {
  const { returns, typeParams } = signature
  if (returns === null || typeParams.length === 0) return returns
  const bindings = explicitBindings(typeParams, call)
  const params = new Set(typeParams)
  const context: Binding = { params, bindings, scope, infer }
  for (const [at, arg] of positional(call.args).entries()) {
    const param = signature.params[at]
    if (param !== undefined && param.type !== null && !param.rest) bindArgument(param.type, arg, context)
  }
  if (returns.kind === 'named' && params.has(returns.name) && !bindings.has(returns.name)) return null
  for (const param of typeParams) if (!bindings.has(param)) bindings.set(param, WILDCARD)
  return substitute(returns, bindings)
}

export function explicitBindings(typeParams: readonly string[], call: ExprOf<'Call'>): Map<string, Type> {
  const bindings = new Map<string, Type>()
  if (call.typeArgs.length !== typeParams.length) return bindings
  for (const [at, arg] of call.typeArgs.entries()) {
    const param = typeParams[at]
    if (param !== undefined) bindings.set(param, readType(arg))
  }
  return bindings
}

/** Arguments whose position is known: those before the first spread. */
export function positional(args: readonly Argument[]): readonly Expr[] {
  const spread = args.findIndex((arg) => arg.spread)
  return (spread < 0 ? args : args.slice(0, spread)).map((arg) => arg.value)
}

export interface Binding {
  readonly params: ReadonlySet<string>
  readonly bindings: Map<string, Type>
  readonly scope: Scope
  readonly infer: Infer
}

/** Binds type parameters from one argument. Schemas are read as nodes, so that an alias or a schema literal binds `T`. */
export function bindArgument(declared: Type, arg: Expr, context: Binding): Conflict | null {
  const byNode = bindNode(declared, arg, context)
  if (byNode !== 'by-type') return byNode
  if (!mentions(declared, context.params)) return null
  const actual = context.infer(arg, context.scope)
  return actual === null ? null : bind(declared, actual, context.params, context.bindings)
}

/** Like `bindArgument`, for an argument whose type is already inferred. */
export function bindTyped(declared: Type, arg: Expr, actual: Known, context: Binding): Conflict | null {
  const byNode = bindNode(declared, arg, context)
  if (byNode !== 'by-type') return byNode
  return actual === null ? null : bind(declared, actual, context.params, context.bindings)
}

function bindNode(declared: Type, arg: Expr, context: Binding): Conflict | null | 'by-type' {
  if (declared.kind === 'applied' && declared.name === 'Schema') {
    const [target] = declared.args
    const denoted = schemaType(arg, context.scope)
    if (target === undefined || denoted === null) return null
    return bind(target, denoted, context.params, context.bindings)
  }
  if (declared.kind !== 'shape' || arg.kind !== 'Dict') return 'by-type'
  for (const field of declared.fields) {
    const entry = arg.entries.find((candidate) => candidate.kind === 'named' && candidate.key.text === field.name)
    const conflict = entry === undefined ? null : bindArgument(field.type, entry.value, context)
    if (conflict !== null) return conflict
  }
  return null
}

function mentions(type: Type, params: ReadonlySet<string>): boolean {
  switch (type.kind) {
    case 'named':
      return params.has(type.name)
    case 'list':
      return mentions(type.element, params)
    case 'dict':
      return mentions(type.key, params) || mentions(type.value, params)
    case 'applied':
      return type.args.some((arg) => mentions(arg, params))
    case 'shape':
      return type.fields.some((field) => mentions(field.type, params))
    case 'fn':
      return type.params.some((param) => mentions(param, params)) || mentions(type.returns, params)
    default:
      return false // bind() does not descend into the others
  }
}

function builtinResult(builtin: BuiltinSignature, call: ExprOf<'Call'>, scope: Scope, infer: Infer): Known {
  const { generic } = builtin
  if (generic === null) return builtin.returns
  const bindings = explicitBindings(generic.typeParams, call)
  const params = new Set(generic.typeParams)
  for (const [at, arg] of positional(call.args).entries()) {
    const declared = generic.params[at]
    if (declared !== undefined && params.size > 0) bindArgument(declared, arg, { params, bindings, scope, infer })
  }
  return generic.typeParams.every((param) => bindings.has(param)) ? substitute(generic.returns, bindings) : builtin.returns
}

// ---- constructions --------------------------------------------------------------------------------------------------

/** `E.V(…)`: the enum's type, its parameters bound from the payload; null when `name` is not an enum. */
export function enumType(name: string, variant: string, args: readonly Argument[], scope: Scope, infer: Infer): Known {
  const info = scope.enumNamed(name)
  if (info === undefined) return null
  if (info.params.length === 0) return nominal(name, 0)
  const context: Binding = { params: new Set(info.params), bindings: new Map(), scope, infer }
  const payload = info.decl.variants.find((candidate) => candidate.name.text === variant)?.params ?? []
  for (const [at, arg] of positional(args).entries()) {
    const declared = payload[at]?.type
    if (declared !== undefined && declared !== null) bindArgument(readType(declared), arg, context)
  }
  return { kind: 'applied', name, args: info.params.map((param) => context.bindings.get(param) ?? WILDCARD) }
}

/** `S {…}`: the struct's type, its parameters bound from the field values; null when `name` is not a struct. */
export function structType(name: string, entries: readonly DictEntry[], scope: Scope, infer: Infer): Known {
  const info = scope.struct(name)
  if (info === undefined) return null
  if (info.params.length === 0) return nominal(name, 0)
  const bindings = structBindings(name, entries, scope, infer)
  return { kind: 'applied', name, args: info.params.map((param) => bindings.get(param) ?? WILDCARD) }
}

/** Type parameters of a struct as the given field values bind them; conflicts keep the first. */
export function structBindings(
  name: string,
  entries: readonly DictEntry[],
  scope: Scope,
  infer: Infer,
): ReadonlyMap<string, Type> {
  const info = scope.struct(name)
  const bindings = new Map<string, Type>()
  if (info === undefined || info.params.length === 0) return bindings
  const context: Binding = { params: new Set(info.params), bindings, scope, infer }
  for (const entry of entries) {
    const declared = entry.kind === 'named' ? (info.fields.find((field) => field.name === entry.key.text)?.type ?? null) : null
    if (declared !== null) bindArgument(declared, entry.value, context)
  }
  return bindings
}

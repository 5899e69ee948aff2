// Calls of names. The order of findings is fixed: can it be resolved, is it deprecated, `unreachable`, calls of `never`
// functions, then the signature (type arguments, arity, bindings, arguments, where-bounds), and last the arguments themselves,
// so that an error inside an argument comes after the errors of its call.

import type { Expr, ExprOf, Span } from '@bridle/parser'
import { isReservedCallName } from './builtins.js'
import { checkOptions } from './check-options.js'
import type { CheckContext } from './context.js'
import { type FnSignature, PLACEHOLDER } from './declarations.js'
import { infer } from './infer.js'
import { type Binding, bindTyped, explicitBindings, positional, visibleFunction } from './infer-calls.js'
import { TOLERATED_NAMES } from './missing-builtins.js'
import { CONCRETE_TYPES } from './narrow.js'
import { conflictText, fits, interfaceMismatch } from './relate.js'
import { schemaType } from './schema.js'
import type { Scope } from './scope.js'
import { show } from './show.js'
import { checkSchemaExpect } from './strict.js'
import { closest } from './suggest.js'
import { checkToolCall, checkToolFunction } from './tools/calls.js'
import { isNamed, type Known, substitute, type Type } from './type.js'

export function checkCall(call: ExprOf<'Call'>, scope: Scope, context: CheckContext): void {
  const name = call.callee.text
  checkTarget(call, scope, context)
  warnDeprecated(call, context)
  if (name === 'unreachable') {
    checkUnreachable(call, scope, context)
  } else {
    const signature = visibleFunction(name, scope)
    if (signature !== null && signature !== undefined) {
      if (signature.returns?.kind === 'never') checkNarrowed(`${name}()`, call.span, scope, context)
      // A tool or pipeline of the file is not a function; its placeholder takes no arguments.
      if (signature === PLACEHOLDER) checkArity(call, signature, scope, context)
      else if (signature.tool !== undefined) checkToolFunction(signature.tool, call, scope, context)
      else checkSignature(call, signature, scope, context)
    } else if (signature === undefined && scope.variable(name) === undefined) {
      checkBuiltinTypeArgs(call, scope, context)
      checkOptions(call, context)
    }
  }
  if (scope.tools !== null || context.reportsOptions) checkToolCall(call, scope, context)
  checkArgs(call, scope, context)
  if (context.strict) checkSchemaExpect(call, scope)
}

function checkArgs(call: ExprOf<'Call'>, scope: Scope, context: CheckContext): void {
  for (const arg of call.args) context.checkExpr(arg.value, scope)
}

// ---- names ----------------------------------------------------------------------------------------------------------

function checkTarget(call: ExprOf<'Call'>, scope: Scope, context: CheckContext): void {
  const name = call.callee.text
  if (context.importedNames === null || isKnownTarget(name, scope, context)) return
  const budget = context.suggestions
  // Another name would mean something else.
  const isHopeless = budget.isSpent || TOLERATED_NAMES.has(name) || context.askedNames.has(name)
  const suggestion = isHopeless ? null : closest(name, callCandidates(scope, context.importedNames), budget)
  context.report('N001', call.callee.span, { name, suggestion })
}

function isBuiltin(name: string, scope: Scope, context: CheckContext): boolean {
  return scope.builtins.has(name) || context.toleratedNames.has(name)
}

function isKnownTarget(name: string, scope: Scope, context: CheckContext): boolean {
  return (
    isBuiltin(name, scope, context) ||
    scope.functionNamed(name) !== undefined ||
    scope.variable(name) !== undefined ||
    scope.struct(name) !== undefined ||
    scope.enumNamed(name) !== undefined ||
    scope.isTypeParam(name) ||
    context.importedNames?.has(name) === true ||
    context.otherNames.has(name) ||
    isReservedCallName(name)
  )
}

function* callCandidates(scope: Scope, imported: ReadonlySet<string>): Generator<string> {
  for (const name of scope.builtins.keys()) if (!name.includes('.')) yield name
  yield* scope.listNames('functions')
  yield* [...imported].sort()
}

export function warnDeprecated(call: ExprOf<'Call'>, context: CheckContext): void {
  const found = context.deprecated.get(call.callee.text)
  if (found !== undefined) context.report('N003', call.span, { name: call.callee.text, since: found.since, use: found.use })
}

// ---- unreachable and unknown ----------------------------------------------------------------------------------------

function checkUnreachable(call: ExprOf<'Call'>, scope: Scope, context: CheckContext): void {
  const subject = call.args[0]?.value
  if (subject !== undefined && subject.kind === 'Identifier') {
    const type = infer(subject, scope)
    if (type !== null && type.kind !== 'never') context.report('T053', call.span, { type: show(type) })
  }
  checkNarrowed('unreachable()', call.span, scope, context)
}

/** Tests of an `unknown` variable that exclude some types but not all are reported where control should not arrive. */
export function checkNarrowed(site: string, span: Span, scope: Scope, context: CheckContext): void {
  for (const name of scope.listRuledOut()) {
    const variable = scope.variable(name)
    if (variable === undefined || variable.ruledOut.length === 0 || !isNamed(variable.type, 'unknown')) continue
    const missing = CONCRETE_TYPES.filter((typeName) => !variable.ruledOut.includes(typeName))
    if (missing.length > 0) context.report('T054', span, { site, name, missing: missing.join(', ') })
  }
}

// ---- signatures -----------------------------------------------------------------------------------------------------

function checkBuiltinTypeArgs(call: ExprOf<'Call'>, scope: Scope, context: CheckContext): void {
  const builtin = scope.builtins.get(call.callee.text)
  if (builtin === undefined || call.typeArgs.length === 0) return
  checkTypeArgs(call, builtin.generic?.typeParams.length ?? 0, true, context)
}

function checkTypeArgs(call: ExprOf<'Call'>, expected: number, builtin: boolean, context: CheckContext): void {
  const name = call.callee.text
  const actual = call.typeArgs.length
  if (actual === 0 || actual === expected) return
  if (expected === 0) context.report('T024', call.span, { name, builtin })
  else context.report('T025', call.span, { name, builtin, expected, actual })
}

function checkSignature(call: ExprOf<'Call'>, signature: FnSignature, scope: Scope, context: CheckContext): void {
  checkTypeArgs(call, signature.typeParams.length, false, context)
  checkArity(call, signature, scope, context)
  const args = positional(call.args)
  const actual = args.map((arg, at) => (isCompared(signature, at) ? infer(arg, scope) : null))
  const binding: Binding = {
    params: new Set(signature.typeParams),
    bindings: explicitBindings(signature.typeParams, call),
    scope,
    infer,
  }
  for (const [at, arg] of args.entries()) {
    const declared = signature.params[at]?.type ?? null
    if (declared === null || !isCompared(signature, at) || binding.params.size === 0) continue
    const conflict = bindTyped(declared, arg, actual[at] ?? null, binding)
    if (conflict !== null) context.report('T023', arg.span, { conflict: conflictText(conflict) })
  }
  checkArguments(args, actual, { signature, bindings: binding.bindings, scope }, context)
  checkBounds(call, signature, binding.bindings, scope, context)
}

/** A rest parameter's annotation is about the list of the remaining arguments, not about one of them. */
function isCompared(signature: FnSignature, at: number): boolean {
  const param = signature.params[at]
  return param !== undefined && param.type !== null && !param.rest
}

function checkArity(call: ExprOf<'Call'>, signature: FnSignature, scope: Scope, context: CheckContext): void {
  const name = call.callee.text
  if (signature.hasRest || call.args.some((arg) => arg.spread) || isBuiltin(name, scope, context)) return
  const most = signature.params.length
  const given = call.args.length
  if (given >= signature.required && given <= most) return
  const expected = signature.required === most ? String(most) : `${signature.required}-${most}`
  context.report('T021', call.span, { name, expected, actual: given })
}

interface Target {
  readonly signature: FnSignature
  readonly bindings: ReadonlyMap<string, Type>
  readonly scope: Scope
}

function checkArguments(args: readonly Expr[], actual: readonly Known[], target: Target, context: CheckContext): void {
  const { signature, bindings } = target
  let scope = target.scope
  if (signature.typeParams.length > 0) {
    scope = scope.child()
    for (const param of signature.typeParams) if (!bindings.has(param)) scope.declareTypeParam(param)
  }
  for (const [at, arg] of args.entries()) {
    const param = signature.params[at]
    const given = actual[at] ?? null
    if (param === undefined || param.type === null || given === null || isSchemaArgument(param.type, arg, scope)) continue
    const expected = substitute(param.type, bindings)
    if (fits(expected, given, scope)) continue
    context.report('T022', arg.span, { index: at + 1, param: param.name, expected: show(expected), actual: show(given) })
  }
}

function isSchemaArgument(declared: Type, arg: Expr, scope: Scope): boolean {
  return declared.kind === 'applied' && declared.name === 'Schema' && schemaType(arg, scope) !== null
}

function checkBounds(
  call: ExprOf<'Call'>,
  signature: FnSignature,
  bindings: ReadonlyMap<string, Type>,
  scope: Scope,
  context: CheckContext,
): void {
  for (const { param, bound } of signature.bounds) {
    const type = bindings.get(param)
    if (type === undefined || isNamed(type, '_')) continue
    if (type.kind === 'named' && scope.isTypeParam(type.name)) continue // a generic caller vouches for its own parameter
    const nominal = type.kind === 'named' || type.kind === 'applied'
    const reason = nominal ? interfaceMismatch(type.name, bound, new Map(), scope) : 'only named types can satisfy interfaces'
    if (reason !== null) context.report('T026', call.span, { type: show(type), param, bound, reason })
  }
}

// Strict types mode: warns where the result of an outside call is used before its shape is known. A
// variable bound to such a result carries a mark until it is annotated or validated. Never on in `run` or a conformance suite.

import type { Expr, ExprOf } from '@bridle/parser'
import { FROM_OUTSIDE } from './builtins.generated.js'
import type { CheckContext } from './context.js'
import type { ParamInfo } from './declarations.js'
import { schemaType } from './schema.js'
import type { Scope } from './scope.js'
import { findBuiltin } from './strict/signatures.js'
import type { Type } from './type.js'

/** The boundary call whose unvalidated result a bound value is; null for any other value. */
export function findSource(value: Expr, annotation: Type | null, scope: Scope): string | null {
  if (annotation !== null && isConcrete(annotation)) return null
  if (value.kind === 'Identifier') return scope.variable(value.name)?.source ?? null
  if (value.kind !== 'Call' || !FROM_OUTSIDE.has(value.callee.text) || hasOutputSchema(value, scope)) return null
  return value.callee.text
}

function isConcrete(type: Type): boolean {
  switch (type.kind) {
    case 'named':
      return type.name !== 'dict' && type.name !== 'any' && type.name !== '_'
    case 'shape':
    case 'list':
    case 'dict':
    case 'iter':
    case 'generator':
    case 'stream':
    case 'applied':
    case 'fn':
      return true
    default:
      return false
  }
}

function hasOutputSchema(call: ExprOf<'Call'>, scope: Scope): boolean {
  const at = scope.builtins.get(call.callee.text)?.params.findIndex(takesSchema) ?? -1
  const options = call.args[at]?.value
  return (
    options !== undefined &&
    options.kind === 'Dict' &&
    options.entries.some((entry) => {
      if (entry.kind !== 'named' || (entry.key.text !== 'schema' && entry.key.text !== 'output_schema')) return false
      return schemaType(entry.value, scope) !== null
    })
  )
}

/** An options dict with a schema for the result. */
function takesSchema({ type }: ParamInfo): boolean {
  return type?.kind === 'shape' && type.fields.some(({ name }) => name === 'output_schema')
}

/**
 * Which uses of outside values are reported: all before a check of their shape, or those of fields that the builtin itself does not declare, such as
 * the `status` of a response.
 */
export type StrictTypes = boolean | 'unnamed'

function isNamed(expr: ExprOf<'Member'> | ExprOf<'Index'>, source: string): boolean {
  const result = findBuiltin(source)?.returns ?? null
  return expr.kind === 'Member' && result?.kind === 'shape' && result.fields.some(({ name }) => name === expr.property.text)
}

export function checkAccess(expr: ExprOf<'Member'> | ExprOf<'Index'>, scope: Scope, context: CheckContext): void {
  const { object } = expr
  const property = expr.kind === 'Member'
  if (object.kind === 'Identifier') {
    const source = scope.variable(object.name)?.source ?? null
    const access = property ? 'Accessing property' : 'Subscript access'
    if (source !== null && !(context.trustsResults && isNamed(expr, source)))
      context.report('T060', expr.span, { access, name: object.name, source })
  } else if (object.kind === 'Call' && FROM_OUTSIDE.has(object.callee.text) && !hasOutputSchema(object, scope)) {
    if (context.trustsResults && isNamed(expr, object.callee.text)) return
    context.report('T061', expr.span, { access: property ? 'property' : 'subscript', source: object.callee.text })
  }
}

/** `schema_expect(x, S)` validates `x` from here on. */
export function checkSchemaExpect(call: ExprOf<'Call'>, scope: Scope): void {
  const subject = call.args[0]?.value
  const schema = call.args[1]?.value
  if (call.callee.text !== 'schema_expect' || subject === undefined || subject.kind !== 'Identifier') return
  const variable = scope.variable(subject.name)
  if (variable === undefined || variable.source === null) return
  const type = (schema === undefined ? null : schemaType(schema, scope)) ?? variable.type
  scope.put(subject.name, { ...variable, type, source: null })
}

/** An `if` with only `schema_is(x, S)` as its condition validates `x` in its then-branch. */
export function clearTested(condition: Expr, scope: Scope): void {
  if (condition.kind !== 'Call' || (condition.callee.text !== 'schema_is' && condition.callee.text !== 'is_type')) return
  const subject = condition.args[0]?.value
  const variable = subject !== undefined && subject.kind === 'Identifier' ? scope.variable(subject.name) : undefined
  if (subject === undefined || subject.kind !== 'Identifier' || variable === undefined) return
  if (variable.source !== null) scope.put(subject.name, { ...variable, source: null })
}

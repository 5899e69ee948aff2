// Binds type parameters by matching a declared type against an actual one. Only positions where
// the two have the same outer form are descended into; unions and lazy sequences are not.

import { isNamed, sameType, type Type } from './type.js'

export interface Conflict {
  readonly param: string
  readonly one: Type
  readonly other: Type
}

/** Adds to `bindings`; the first parameter that would need two different types is returned and keeps its first one. */
export function bind(declared: Type, actual: Type, params: ReadonlySet<string>, bindings: Map<string, Type>): Conflict | null {
  if (params.size === 0) return null
  if (declared.kind === 'named') {
    return params.has(declared.name) ? bindOne(declared.name, actual, bindings) : null
  }
  switch (declared.kind) {
    case 'list':
      return actual.kind === 'list' ? bind(declared.element, actual.element, params, bindings) : null
    case 'dict':
      if (actual.kind !== 'dict') return null
      return bindAll([declared.key, declared.value], [actual.key, actual.value], params, bindings)
    case 'applied':
      if (declared.name === 'Schema' || actual.kind !== 'applied' || actual.name !== declared.name) return null
      return actual.args.length === declared.args.length ? bindAll(declared.args, actual.args, params, bindings) : null
    case 'shape': {
      if (actual.kind !== 'shape') return null
      for (const field of declared.fields) {
        const found = actual.fields.find((other) => other.name === field.name)
        const conflict = found === undefined ? null : bind(field.type, found.type, params, bindings)
        if (conflict !== null) return conflict
      }
      return null
    }
    case 'fn':
      if (actual.kind !== 'fn' || actual.params.length !== declared.params.length) return null
      return bindAll([...declared.params, declared.returns], [...actual.params, actual.returns], params, bindings)
    default:
      return null
  }
}

function bindAll(
  declared: readonly Type[],
  actual: readonly Type[],
  params: ReadonlySet<string>,
  bindings: Map<string, Type>,
): Conflict | null {
  for (const [at, part] of declared.entries()) {
    const other = actual[at]
    const conflict = other === undefined ? null : bind(part, other, params, bindings)
    if (conflict !== null) return conflict
  }
  return null
}

function bindOne(param: string, actual: Type, bindings: Map<string, Type>): Conflict | null {
  if (isNamed(actual, '_')) return null
  const old = bindings.get(param)
  if (old === undefined) {
    bindings.set(param, actual)
    return null
  }
  if (sameType(old, actual)) return null
  const merged = fillHoles(old, actual)
  if (merged === null) return { param, one: old, other: actual }
  bindings.set(param, merged)
  return null
}

/** Two types that differ only where one of them has a hole (`_`), with the holes filled; null when they really differ. */
function fillHoles(one: Type, other: Type): Type | null {
  if (isNamed(one, '_')) return other
  if (isNamed(other, '_') || sameType(one, other)) return one
  if (one.kind === 'applied' && other.kind === 'applied' && one.name === other.name && one.args.length === other.args.length) {
    const args: Type[] = []
    for (const [at, arg] of one.args.entries()) {
      const twin = other.args[at]
      const merged = twin === undefined ? null : fillHoles(arg, twin)
      if (merged === null) return null
      args.push(merged)
    }
    return { kind: 'applied', name: one.name, args }
  }
  if ((one.kind === 'list' || one.kind === 'iter') && other.kind === one.kind) {
    const element = fillHoles(one.element, other.element)
    return element === null ? null : { kind: one.kind, element }
  }
  return null
}

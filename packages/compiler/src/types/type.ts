// Static knowledge about a value. A Type is plain data and never resolved in place: an alias stays
// a name until it is resolved on demand (relate.ts), because messages print what the author wrote. `null` in place of a Type means
// "unknown" and silences every check; it differs from `any`, which operators report.

import type { TypeExpr } from '@bridle/parser'

export type Type =
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'union'; readonly members: readonly Type[] }
  | { readonly kind: 'shape'; readonly fields: readonly Field[] }
  | { readonly kind: 'list'; readonly element: Type }
  | { readonly kind: 'dict'; readonly key: Type; readonly value: Type }
  | { readonly kind: 'iter'; readonly element: Type }
  | { readonly kind: 'generator'; readonly element: Type }
  | { readonly kind: 'stream'; readonly element: Type }
  | { readonly kind: 'applied'; readonly name: string; readonly args: readonly Type[] }
  | {
      readonly kind: 'fn'
      readonly params: readonly Type[]
      readonly returns: Type
      /** Name of the host tool that this function calls. */
      readonly tool?: string
    }
  | { readonly kind: 'never' }
  | { readonly kind: 'string-literal'; readonly value: string }
  | { readonly kind: 'int-literal'; readonly value: number | bigint }

export interface Field {
  readonly name: string
  readonly type: Type
  readonly optional: boolean
}

/** A Type, or null where the checker knows nothing. */
export type Known = Type | null

export const NEVER: Type = { kind: 'never' }
export const INT = makeNamed('int')
export const FLOAT = makeNamed('float')
export const STRING = makeNamed('string')
export const BOOL = makeNamed('bool')
export const NIL = makeNamed('nil')
/** The type of a field whose value is unknown. Messages call it nil, as the reference does; it fits everything. */
export const UNTYPED = makeNamed('nil')
export const LIST = makeNamed('list')
export const DICT = makeNamed('dict')
export const SET = makeNamed('set')
export const ITER = makeNamed('iter')
export const RANGE = makeNamed('range')
export const ANY = makeNamed('any')
export const CLOSURE = makeNamed('closure')
/** Fits everything in both directions; arises only inside the checker, for an unknown type argument. */
export const WILDCARD = makeNamed('_')

export function makeNamed(name: string): Type {
  return { kind: 'named', name }
}

export function isNamed(type: Known, name: string): boolean {
  return type !== null && type.kind === 'named' && type.name === name
}

/** A single type unchanged, several as a union in the given order; the caller has removed duplicates. */
export function makeUnion(members: readonly Type[]): Type {
  const [only] = members
  return only !== undefined && members.length === 1 ? only : { kind: 'union', members }
}

/** `T` for a declaration without type parameters, `T<_, _>` for one with. */
export function nominal(name: string, parameterCount: number): Type {
  if (parameterCount === 0) return makeNamed(name)
  return { kind: 'applied', name, args: Array.from({ length: parameterCount }, () => WILDCARD) }
}

export function withoutNil(members: readonly Type[]): readonly Type[] {
  return members.filter((member) => !isNamed(member, 'nil'))
}

export function sameType(one: Type, other: Type): boolean {
  if (one === other) return true
  switch (one.kind) {
    case 'never':
      return other.kind === 'never'
    case 'named':
      return other.kind === 'named' && one.name === other.name
    case 'string-literal':
      return other.kind === 'string-literal' && one.value === other.value
    case 'int-literal':
      return other.kind === 'int-literal' && BigInt(one.value) === BigInt(other.value)
    case 'list':
    case 'iter':
    case 'generator':
    case 'stream':
      return other.kind === one.kind && sameType(one.element, other.element)
    case 'dict':
      return other.kind === 'dict' && sameType(one.key, other.key) && sameType(one.value, other.value)
    case 'union':
      return other.kind === 'union' && sameTypes(one.members, other.members)
    case 'applied':
      return other.kind === 'applied' && one.name === other.name && sameTypes(one.args, other.args)
    case 'fn':
      return other.kind === 'fn' && sameTypes(one.params, other.params) && sameType(one.returns, other.returns)
    case 'shape':
      return (
        other.kind === 'shape' &&
        one.fields.length === other.fields.length &&
        one.fields.every((field, at) => {
          const twin = other.fields[at]
          return twin !== undefined && sameField(field, twin)
        })
      )
  }
}

function sameField(one: Field, other: Field): boolean {
  return one.name === other.name && one.optional === other.optional && sameType(one.type, other.type)
}

function sameTypes(ones: readonly Type[], others: readonly Type[]): boolean {
  return (
    ones.length === others.length &&
    ones.every((one, at) => {
      const other = others[at]
      return other !== undefined && sameType(one, other)
    })
  )
}

/** Rebuilds a type with `change` applied to its direct parts. */
export function mapParts(type: Type, change: (part: Type) => Type): Type {
  switch (type.kind) {
    case 'named':
    case 'never':
    case 'string-literal':
    case 'int-literal':
      return type
    case 'list':
    case 'iter':
    case 'generator':
    case 'stream':
      return { kind: type.kind, element: change(type.element) }
    case 'dict':
      return { kind: 'dict', key: change(type.key), value: change(type.value) }
    case 'union':
      return { kind: 'union', members: type.members.map(change) }
    case 'applied':
      return { kind: 'applied', name: type.name, args: type.args.map(change) }
    case 'fn':
      return { kind: 'fn', params: type.params.map(change), returns: change(type.returns) }
    case 'shape':
      return { kind: 'shape', fields: type.fields.map((field) => ({ ...field, type: change(field.type) })) }
  }
}

/** Replaces names by types; names without a binding stay. */
export function substitute(type: Type, bindings: ReadonlyMap<string, Type>): Type {
  if (bindings.size === 0) return type
  if (type.kind === 'named') return bindings.get(type.name) ?? type
  return mapParts(type, (part) => substitute(part, bindings))
}

/** Names that become a constructor when they are given exactly one argument. */
const ONE_ARGUMENT: Readonly<Record<string, 'list' | 'iter' | 'generator' | 'stream'>> = {
  list: 'list',
  iter: 'iter',
  Iter: 'iter',
  generator: 'generator',
  Generator: 'generator',
  stream: 'stream',
  Stream: 'stream',
}

/** `name<args>` in normal form; a constructor with the wrong number of arguments stays an unknown one. */
export function applyType(name: string, args: readonly Type[]): Type {
  const [first, second] = args
  if (args.length === 1 && first !== undefined && Object.hasOwn(ONE_ARGUMENT, name)) {
    const kind = ONE_ARGUMENT[name]
    if (kind !== undefined) return { kind, element: first }
  }
  if (name === 'dict' && args.length === 2 && first !== undefined && second !== undefined) {
    return { kind: 'dict', key: first, value: second }
  }
  return { kind: 'applied', name, args }
}

/** Types without parts: one shared object each, so that they compare by identity. */
const COMMON: ReadonlyMap<string, Type> = new Map(
  [NEVER, INT, FLOAT, STRING, BOOL, NIL, LIST, DICT, SET, ITER, RANGE, ANY, CLOSURE].map((type) => [
    type.kind === 'named' ? type.name : type.kind,
    type,
  ]),
)

/** A written type in internal form. Unions keep their written order and are not flattened. */
export function readType(expr: TypeExpr): Type {
  switch (expr.kind) {
    case 'NilType':
      return NIL
    case 'ListType':
      return { kind: 'list', element: readType(expr.element) }
    case 'ShapeType':
      return {
        kind: 'shape',
        fields: expr.fields.map((field) => ({ name: field.name.text, type: readType(field.type), optional: field.optional })),
      }
    case 'FnType':
      return { kind: 'fn', params: expr.params.map(readType), returns: readType(expr.returns) }
    case 'UnionType':
      return makeUnion(expr.members.map(readType))
    case 'LiteralType':
      if (typeof expr.value === 'string') return { kind: 'string-literal', value: expr.value }
      if (typeof expr.value === 'boolean') return BOOL // both booleans mean the whole type
      return { kind: 'int-literal', value: expr.value }
    case 'NamedType':
      if (expr.args.length > 0) return applyType(expr.name.text, expr.args.map(readType))
      return COMMON.get(expr.name.text) ?? makeNamed(expr.name.text)
  }
}

export function typeOrNull(expr: TypeExpr | null): Known {
  return expr === null ? null : readType(expr)
}

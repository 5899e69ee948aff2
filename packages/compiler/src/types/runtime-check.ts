// The run-time check of a parameter annotation: plain JSON data in a chunk
// that the VM executes. Only parameters are checked, at entry, after defaults. Aliases are not followed. A type without a
// possible check gives null.
//
// Meaning in the VM. int and float stand for each other. An *object-like* check is a shape, a dict with a value type, or the
// plain `dict`: structs pass it too, and its failures are type errors; every other failure is a runtime error that starts with
// `TypeError: `. A shape first asks for its required fields in the order given, then compares field types in alphabetical order.

import { forEachChild } from '@bridle/parser'
import type { Node, Program, TypeExpr } from '@bridle/parser'

export const CHECKED_PRIMITIVES = ['int', 'float', 'string', 'bool', 'list', 'dict', 'set', 'nil', 'closure', 'bytes'] as const
export type CheckedPrimitive = (typeof CHECKED_PRIMITIVES)[number]

export type RuntimeCheck =
  | { readonly kind: 'prim'; readonly name: CheckedPrimitive }
  | { readonly kind: 'shape'; readonly fields: readonly CheckedField[] }
  /** Every element passes `element`. Without a checkable element type the check is the plain `list`. */
  | { readonly kind: 'list'; readonly element: RuntimeCheck }
  | { readonly kind: 'dict'; readonly value: RuntimeCheck }
  /** One of the members passes. A union with a member that cannot be checked is not checked at all. */
  | { readonly kind: 'union'; readonly members: readonly RuntimeCheck[] }
  /** A union of literals of one type. */
  | { readonly kind: 'enum'; readonly base: 'string' | 'int'; readonly values: readonly CheckedLiteral[] }
  | { readonly kind: 'const'; readonly base: 'string' | 'int'; readonly value: CheckedLiteral }
  /** A struct instance; its methods are not compared. */
  | { readonly kind: 'interface'; readonly name: string }

export interface CheckedField {
  readonly name: string
  readonly optional: boolean
  readonly check: RuntimeCheck
}

/** With base `int`, a value beyond ±2^53 is given as decimal text. */
export type CheckedLiteral = string | number

export interface RuntimeCheckContext {
  /** Interfaces that the file declares anywhere. */
  readonly interfaces: ReadonlySet<string>
}

const PRIMITIVES: ReadonlySet<string> = new Set(CHECKED_PRIMITIVES)

export function runtimeParamCheck(type: TypeExpr | null, context: RuntimeCheckContext): RuntimeCheck | null {
  if (type === null) return null
  // Only the annotation as a whole may be an interface; inside a shape, list or union its name is like any other.
  if (type.kind === 'NamedType' && type.args.length === 0 && context.interfaces.has(type.name.text)) {
    return { kind: 'interface', name: type.name.text }
  }
  return lower(type)
}

/** Names of all interfaces in a file, wherever they stand. */
export function listInterfaces(program: Program): ReadonlySet<string> {
  const names = new Set<string>()
  const visit = (node: Node): void => {
    if (node.kind === 'InterfaceDecl') names.add(node.name.text)
    forEachChild(node, visit)
  }
  visit(program)
  return names
}

function lower(type: TypeExpr): RuntimeCheck | null {
  switch (type.kind) {
    case 'NilType':
      return prim('nil')
    case 'LiteralType':
      if (typeof type.value === 'boolean') return prim('bool')
      return { kind: 'const', base: typeof type.value === 'string' ? 'string' : 'int', value: literal(type.value) }
    case 'FnType':
      return prim('closure')
    case 'ListType':
      return makeListCheck(lower(type.element))
    case 'NamedType':
      return lowerNamed(type.name.text, type.args)
    case 'ShapeType': {
      const fields: CheckedField[] = []
      for (const field of type.fields) {
        const check = lower(field.type)
        if (check === null) return null // a shape with one uncheckable field is not checked at all
        fields.push({ name: field.name.text, optional: field.optional, check })
      }
      return { kind: 'shape', fields }
    }
    case 'UnionType':
      return lowerUnion(type.members)
  }
}

function lowerNamed(name: string, args: readonly TypeExpr[]): RuntimeCheck | null {
  const [first, second] = args
  if (args.length === 0) return isPrimitive(name) ? prim(name) : null
  if (name === 'list' && args.length === 1 && first !== undefined) return makeListCheck(lower(first))
  if (name !== 'dict' || args.length !== 2 || first === undefined || second === undefined) return null
  const value = isString(first) ? lower(second) : null
  return value === null ? prim('dict') : { kind: 'dict', value }
}

function lowerUnion(members: readonly TypeExpr[]): RuntimeCheck | null {
  const literals = listLiterals(members)
  if (literals !== null) return { kind: 'enum', base: literals.base, values: literals.values.map(literal) }
  const checks = members.map(lower)
  // A member without a check accepts every value, so that `Alias | nil` does not refuse values of the alias.
  return checks.every((check) => check !== null) ? { kind: 'union', members: checks } : null
}

/** The values of a union of string literals or of int literals; null for every other union. */
export function listLiterals(
  members: readonly TypeExpr[],
): { readonly base: 'string' | 'int'; readonly values: readonly (string | number | bigint)[] } | null {
  const strings: string[] = []
  const ints: (number | bigint)[] = []
  for (const member of members) {
    if (member.kind !== 'LiteralType' || typeof member.value === 'boolean') return null
    if (typeof member.value === 'string') strings.push(member.value)
    else ints.push(member.value)
  }
  if (strings.length === members.length && strings.length > 0) return { base: 'string', values: strings }
  return ints.length === members.length && ints.length > 0 ? { base: 'int', values: ints } : null
}

function literal(value: string | number | bigint): CheckedLiteral {
  return typeof value === 'bigint' ? integerData(value) : value
}

/** An int as JSON can carry it: a number while that is exact, decimal text beyond. */
function integerData(value: bigint): CheckedLiteral {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

function makeListCheck(element: RuntimeCheck | null): RuntimeCheck {
  return element === null ? prim('list') : { kind: 'list', element }
}

export function isString(type: TypeExpr): boolean {
  return type.kind === 'NamedType' && type.args.length === 0 && type.name.text === 'string'
}

function isPrimitive(name: string): name is CheckedPrimitive {
  return PRIMITIVES.has(name)
}

function prim(name: CheckedPrimitive): RuntimeCheck {
  return { kind: 'prim', name }
}

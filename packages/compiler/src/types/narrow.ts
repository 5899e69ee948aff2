// What a condition proves about variables when it holds and when it does not. The result is two lists of
// changes; the caller applies one of them to the scope of a branch. Only plain variables are narrowed, never property paths.

import type { Expr } from '@bridle/parser'
import { resolveMembers, resolveHead } from './aliases.js'
import { schemaType } from './schema.js'
import type { Scope } from './scope.js'
import { isNamed, type Known, makeNamed, NEVER, NIL, sameType, type Type, makeUnion, withoutNil } from './type.js'

/** Types that `type_of(x) == "…"` can tell apart, in the order in which messages list them. */
export const CONCRETE_TYPES = ['int', 'string', 'float', 'bool', 'nil', 'list', 'dict', 'closure', 'bytes'] as const

export type Change =
  | { readonly kind: 'type'; readonly name: string; readonly type: Type }
  /** An `unknown` variable stays `unknown`, but is not of this type. */
  | { readonly kind: 'ruled-out'; readonly name: string; readonly typeName: string }

export interface Refinement {
  readonly whenTrue: readonly Change[]
  readonly whenFalse: readonly Change[]
}

const NOTHING: Refinement = { whenTrue: [], whenFalse: [] }

export function apply(changes: readonly Change[], scope: Scope): void {
  for (const change of changes) {
    if (change.kind === 'type') scope.narrow(change.name, change.type)
    else scope.ruleOut(change.name, change.typeName)
  }
}

export function refine(condition: Expr, scope: Scope): Refinement {
  switch (condition.kind) {
    case 'Identifier':
      return truthiness(condition.name, scope)
    case 'Unary':
      return condition.operator === '!' ? swap(refine(condition.operand, scope)) : NOTHING
    case 'Binary':
      return binary(condition, scope)
    case 'MethodCall':
      return hasKey(condition, scope)
    case 'Call':
      return schemaTest(condition, scope)
    default:
      return NOTHING
  }
}

function swap(refinement: Refinement): Refinement {
  return { whenTrue: refinement.whenFalse, whenFalse: refinement.whenTrue }
}

function binary(condition: Extract<Expr, { kind: 'Binary' }>, scope: Scope): Refinement {
  const { left, right, operator } = condition
  switch (operator) {
    case '&&':
      return { whenTrue: [...refine(left, scope).whenTrue, ...refine(right, scope).whenTrue], whenFalse: [] }
    case '||':
      return { whenTrue: [], whenFalse: [...refine(left, scope).whenFalse, ...refine(right, scope).whenFalse] }
    case '==':
      return equality(left, right, scope)
    case '!=':
      return swap(equality(left, right, scope))
    default:
      return NOTHING
  }
}

function equality(left: Expr, right: Expr, scope: Scope): Refinement {
  for (const test of [nilTest, typeTest, tagTest]) {
    const found = test(left, right, scope) ?? test(right, left, scope)
    if (found !== null) return found
  }
  return NOTHING
}

function entry(name: string, type: Type): Change {
  return { kind: 'type', name, type }
}

function outcome(name: string, whenTrue: Type, whenFalse: Type): Refinement {
  return { whenTrue: [entry(name, whenTrue)], whenFalse: [entry(name, whenFalse)] }
}

/** Members of a variable's union type; through an alias only while no shape is involved, since its fields would become typed. */
function unionMembers(type: Known, scope: Scope): readonly Type[] | null {
  if (type === null) return null
  if (type.kind === 'union') return type.members
  const members = resolveMembers(type, scope)
  if (members === null || members.some((member) => member.kind === 'shape' || member.kind === 'union')) return null
  return mayFollow(scope) ? members : null
}

/** Whether a type behind an alias may be narrowed. The use is recorded, see `checkProgram`. */
function mayFollow({ aliasNarrowing }: Scope): boolean {
  aliasNarrowing.used = true
  return aliasNarrowing.allowed
}

function remaining(members: readonly Type[]): Type {
  return members.length === 0 ? NEVER : makeUnion(members)
}

// ---- single tests ---------------------------------------------------------------------------------------------------

function truthiness(name: string, scope: Scope): Refinement {
  const members = unionMembers(scope.variable(name)?.type ?? null, scope)
  if (members === null || !members.some((member) => isNamed(member, 'nil'))) return NOTHING
  return outcome(name, remaining(withoutNil(members)), NIL)
}

/** `x == nil` */
function nilTest(subject: Expr, other: Expr, scope: Scope): Refinement | null {
  if (other.kind !== 'Nil' || subject.kind !== 'Identifier') return null
  const type = scope.variable(subject.name)?.type ?? null
  if (isNamed(type, 'nil')) return outcome(subject.name, NIL, NEVER)
  const members = unionMembers(type, scope)
  return members === null ? null : outcome(subject.name, NIL, remaining(withoutNil(members)))
}

/** `type_of(x) == "T"` */
function typeTest(call: Expr, text: Expr, scope: Scope): Refinement | null {
  if (text.kind !== 'String' || call.kind !== 'Call' || call.callee.text !== 'type_of' || call.args.length !== 1) return null
  const subject = call.args[0]?.value
  if (subject === undefined || subject.kind !== 'Identifier' || call.args[0]?.spread === true) return null
  const typeName = CONCRETE_TYPES.find((name) => name === text.value)
  const type = scope.variable(subject.name)?.type ?? null
  if (typeName === undefined || type === null) return null
  const tested = makeNamed(typeName)
  if (isNamed(type, typeName)) return outcome(subject.name, tested, NEVER)
  if (isNamed(type, 'unknown')) {
    return { whenTrue: [entry(subject.name, tested)], whenFalse: [{ kind: 'ruled-out', name: subject.name, typeName }] }
  }
  const members = unionMembers(type, scope)
  if (members === null) return null
  if (!members.some((member) => isNamed(member, typeName))) {
    return { whenTrue: [], whenFalse: [entry(subject.name, type)] }
  }
  return outcome(subject.name, tested, remaining(members.filter((member) => !isNamed(member, typeName))))
}

/** `v.tag == "a"`, where tag discriminates the shapes of v's union. */
function tagTest(member: Expr, literal: Expr, scope: Scope): Refinement | null {
  if (member.kind !== 'Member' || member.optional || member.object.kind !== 'Identifier') return null
  const value = literalValue(literal)
  if (value === null) return null
  const { name } = member.object
  const tagged = readTaggedUnion(scope.variable(name)?.type ?? null, scope)
  if (tagged === null || tagged.tag !== member.property.text) return null
  const matching = tagged.variants.filter((variant) => variant.tag === value)
  if (matching.length === 0) return null
  const others = tagged.variants.filter((variant) => variant.tag !== value)
  return outcome(name, remaining(matching.map((variant) => variant.shape)), remaining(others.map((variant) => variant.shape)))
}

/** `v.has("k")` makes an optional field required. */
function hasKey(call: Extract<Expr, { kind: 'MethodCall' }>, scope: Scope): Refinement {
  const key = call.args[0]?.value
  if (call.method.text !== 'has' || call.optional || call.args.length !== 1 || call.object.kind !== 'Identifier') return NOTHING
  const type = scope.variable(call.object.name)?.type ?? null
  if (key === undefined || key.kind !== 'String' || type === null || type.kind !== 'shape') return NOTHING
  if (!type.fields.some((field) => field.name === key.value && field.optional)) return NOTHING
  const fields = type.fields.map((field) => (field.name === key.value ? { ...field, optional: false } : field))
  return { whenTrue: [entry(call.object.name, { kind: 'shape', fields })], whenFalse: [] }
}

/** `schema_is(v, S)` */
function schemaTest(call: Extract<Expr, { kind: 'Call' }>, scope: Scope): Refinement {
  if (call.callee.text !== 'schema_is' && call.callee.text !== 'is_type') return NOTHING
  const subject = call.args[0]?.value
  const schemaExpr = call.args[1]?.value
  if (call.args.length !== 2 || subject === undefined || subject.kind !== 'Identifier' || schemaExpr === undefined) return NOTHING
  const type = scope.variable(subject.name)?.type ?? null
  const schema = schemaType(schemaExpr, scope)
  if (type === null || schema === null) return NOTHING
  const hit = intersect(type, schema, scope)
  const rest = difference(type, schema, scope)
  return {
    whenTrue: hit === null ? [] : [entry(subject.name, hit)],
    whenFalse: rest === null ? [] : [entry(subject.name, rest)],
  }
}

// ---- tagged unions --------------------------------------------------------------------------------------------------

type ShapeOf = Extract<Type, { kind: 'shape' }>
/** Ints as bigint, so that `1` and `1n` are one tag. */
export type Tag = string | bigint

export interface TaggedUnion {
  readonly tag: string
  readonly variants: readonly { readonly tag: Tag; readonly shape: ShapeOf }[]
}

/** The value of a string or int literal as a tag; null for other expressions, including negative numbers. */
export function literalValue(expr: Expr): Tag | null {
  switch (expr.kind) {
    case 'String':
      return expr.quote === 'raw' ? null : expr.value
    case 'Int':
      return BigInt(expr.value)
    default:
      return null
  }
}

/**
 * A union of at least two shapes with a discriminant: the first field of the first shape that is required and literal-typed in
 * every member, with a different value in each. Aliases are followed.
 */
export function readTaggedUnion(type: Known, scope: Scope): TaggedUnion | null {
  if (type === null) return null
  const shapes: ShapeOf[] = []
  for (const member of resolveMembers(type, scope) ?? []) {
    if (member.kind !== 'shape') return null
    shapes.push(member)
  }
  const [first] = shapes
  if (first === undefined || shapes.length < 2) return null
  for (const field of first.fields) {
    const variants = shapes.flatMap((shape) => {
      const tag = readTag(shape, field.name, scope)
      return tag === null ? [] : [{ tag, shape }]
    })
    if (variants.length !== shapes.length) continue
    if (new Set(variants.map((variant) => variant.tag)).size === shapes.length) return { tag: field.name, variants }
  }
  return null
}

function readTag(shape: ShapeOf, name: string, scope: Scope): Tag | null {
  const field = shape.fields.find((candidate) => candidate.name === name)
  if (field === undefined || field.optional) return null
  const type = resolveHead(field.type, scope)
  if (type.kind === 'string-literal') return type.value
  return type.kind === 'int-literal' ? BigInt(type.value) : null
}

// ---- schemas against types ------------------------------------------------------------------------------------------

/** The part of `current` that a value passing `schema` can still have; null when nothing is proved. */
export function intersect(current: Type, schema: Type, scope: Scope): Known {
  const one = readHead(current, scope)
  const other = resolveHead(schema, scope)
  if (one.kind === 'union') return hits(one.members.map((member) => intersect(member, other, scope)))
  if (other.kind === 'union') return hits(other.members.map((member) => intersect(one, member, scope)))
  if (isNamed(one, 'any') || isNamed(one, 'unknown') || isNamed(other, 'any') || isNamed(other, 'unknown')) return null
  if (sameType(one, other)) return one
  if (isLiteral(one)) return toLiteral(one, other)
  if (isLiteral(other)) return toLiteral(other, one)
  if (isNamed(one, 'dict')) return other.kind === 'shape' || other.kind === 'dict' ? other : null
  if (isNamed(other, 'dict')) return one.kind === 'shape' || one.kind === 'dict' ? one : null
  if (isNamed(one, 'list')) return other.kind === 'list' ? other : null
  if (isNamed(other, 'list')) return one.kind === 'list' ? one : null
  if (one.kind === 'shape' && other.kind === 'shape') return other
  if ((one.kind === 'list' || one.kind === 'generator' || one.kind === 'stream') && other.kind === one.kind) {
    const element = intersect(one.element, other.element, scope)
    return element === null ? null : { kind: one.kind, element }
  }
  if (one.kind === 'dict' && other.kind === 'dict') {
    const key = intersect(one.key, other.key, scope)
    const value = intersect(one.value, other.value, scope)
    return key === null || value === null ? null : { kind: 'dict', key, value }
  }
  return null
}

/** The part of `current` that a value failing `schema` can still have; null when nothing is proved. */
function difference(current: Type, schema: Type, scope: Scope): Known {
  const head = readHead(current, scope)
  if (head.kind !== 'union') return intersect(head, schema, scope) === null ? current : null
  const rest = head.members.filter((member) => intersect(member, schema, scope) === null)
  return rest.length === 0 ? null : makeUnion(rest)
}

function readHead(current: Type, scope: Scope): Type {
  const head = resolveHead(current, scope)
  return head === current || mayFollow(scope) ? head : current
}

function hits(found: readonly Known[]): Known {
  const kept: Type[] = []
  for (const type of found) if (type !== null && !kept.some((other) => sameType(other, type))) kept.push(type)
  return kept.length === 0 ? null : makeUnion(kept)
}

function isLiteral(type: Type): boolean {
  return type.kind === 'string-literal' || type.kind === 'int-literal'
}

function toLiteral(literal: Type, other: Type): Known {
  if (literal.kind === 'string-literal') return isNamed(other, 'string') ? literal : null
  return isNamed(other, 'int') || isNamed(other, 'float') ? literal : null
}

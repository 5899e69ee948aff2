// Whether a `match` covers every value that its subject can have, and what its arms prove about the subject. A
// guarded arm counts as covering. A pattern that is not analysed covers everything.

import type { Expr, ExprOf, MatchArm } from '@bridle/parser'
import { resolveMembers } from './aliases.js'
import type { CheckContext } from './context.js'
import { infer } from './infer.js'
import { literalValue, readTaggedUnion, type Tag } from './narrow.js'
import { fits } from './relate.js'
import type { Scope } from './scope.js'
import { quote, show } from './show.js'
import { BOOL, FLOAT, INT, isNamed, type Known, NIL, sameType, STRING, type Type, makeUnion } from './type.js'

/**
 * Type of a literal pattern; null for every other pattern. A negative number is a literal with an operator: such
 * an arm counts as one that may match anything.
 */
export function literalPattern(pattern: Expr): Type | null {
  switch (pattern.kind) {
    case 'Int':
      return INT
    case 'Float':
      return FLOAT
    case 'Bool':
      return BOOL
    case 'Nil':
      return NIL
    case 'String':
      return STRING
    default:
      return null
  }
}

// ---- exhaustiveness -------------------------------------------------------------------------------------------------

export function checkExhaustive(match: ExprOf<'Match'>, scope: Scope, context: CheckContext): void {
  const patterns = match.arms.flatMap((arm) => arm.patterns)
  const missing = missingCases(match.subject, patterns, scope)
  if (missing !== null && missing.cases.length > 0) {
    context.report('T050', match.span, { subject: missing.subject, what: missing.what, missing: missing.cases.join(', ') })
  }
}

interface Missing {
  readonly subject: string
  readonly what: string
  readonly cases: readonly string[]
}

function missingCases(subject: Expr, patterns: readonly Expr[], scope: Scope): Missing | null {
  const enumName = findMatchedEnum(subject, scope)
  if (enumName !== null) return missingVariants(enumName, patterns, scope)
  if (subject.kind === 'Member' && !subject.optional && subject.object.kind === 'Identifier') {
    const tagged = readTaggedUnion(scope.variable(subject.object.name)?.type ?? null, scope)
    if (tagged !== null && tagged.tag === subject.property.text) {
      const covered = new Set<Tag>()
      for (const pattern of patterns) {
        const value = literalValue(pattern)
        if (value === null) return null
        covered.add(value)
      }
      const cases = tagged.variants.filter((variant) => !covered.has(variant.tag)).map((variant) => showTag(variant.tag))
      return { subject: 'tagged shape union', what: 'variants ', cases }
    }
  }
  const type = infer(subject, scope)
  const members = type === null ? null : resolveMembers(type, scope)
  return members === null ? null : missingMembers(members, patterns)
}

function showTag(tag: Tag): string {
  return typeof tag === 'string' ? quote(tag) : String(tag)
}

/** Name of the enum whose variants are matched: `e` or `e.variant` with `e` of a plainly named enum type. */
function findMatchedEnum(subject: Expr, scope: Scope): string | null {
  const own = readEnumName(infer(subject, scope), scope)
  if (own !== null || subject.kind !== 'Member' || subject.property.text !== 'variant' || subject.optional) return own
  return readEnumName(infer(subject.object, scope), scope)
}

function readEnumName(type: Known, scope: Scope): string | null {
  return type !== null && type.kind === 'named' && scope.enumNamed(type.name) !== undefined ? type.name : null
}

function missingVariants(name: string, patterns: readonly Expr[], scope: Scope): Missing | null {
  const covered = new Set<string>()
  for (const pattern of patterns) {
    if (pattern.kind === 'String' && pattern.quote !== 'raw') covered.add(pattern.value)
    else if (isVariantPattern(pattern, name)) covered.add(pattern.property.text)
    else return null
  }
  const variants = scope.enumNamed(name)?.decl.variants ?? []
  const cases = variants.filter((variant) => !covered.has(variant.name.text)).map((variant) => quote(variant.name.text))
  return { subject: `enum ${name}`, what: 'variants ', cases }
}

function isVariantPattern(pattern: Expr, enumName: string): pattern is ExprOf<'Member'> {
  return pattern.kind === 'Member' && pattern.object.kind === 'Identifier' && pattern.object.name === enumName
}

function missingMembers(members: readonly Type[], patterns: readonly Expr[]): Missing | null {
  if (members.every((member) => member.kind === 'string-literal' || member.kind === 'int-literal')) {
    const covered = new Set<Tag>()
    for (const pattern of patterns) {
      const value = literalValue(pattern)
      if (value === null) return null
      covered.add(value)
    }
    const cases = members.filter((member) => !covered.has(toTag(member))).map(show)
    return { subject: 'literal union', what: '', cases }
  }
  if (!members.every((member) => member.kind === 'named')) return null
  const covered = new Set<string>()
  for (const pattern of patterns) {
    const type = literalPattern(pattern)
    if (type === null || type.kind !== 'named' || isRaw(pattern)) return null
    covered.add(type.name)
  }
  const cases = members.map(show).filter((name) => !covered.has(name))
  return { subject: 'union type', what: '', cases }
}

function toTag(type: Type): Tag {
  if (type.kind === 'string-literal') return type.value
  return type.kind === 'int-literal' ? BigInt(type.value) : ''
}

function isRaw(pattern: Expr): boolean {
  return pattern.kind === 'String' && pattern.quote === 'raw'
}

// ---- arms -----------------------------------------------------------------------------------------------------------

/** Warns about each literal alternative that the subject can never equal. */
export function checkLiterals(arm: MatchArm, matched: Known, scope: Scope, context: CheckContext): void {
  if (matched === null) return
  for (const pattern of arm.patterns) {
    const literal = isRaw(pattern) ? null : literalPattern(pattern)
    if (literal === null || literal.kind !== 'named' || literal.name === 'nil') continue
    const either = literal.name === 'int' || literal.name === 'float' ? [INT, FLOAT] : [literal]
    if (either.some((type) => fits(matched, type, scope))) continue
    context.report('T051', pattern.span, { matched: show(matched), literal: literal.name })
  }
}

/** Type of the subject's variable in this arm; null when the arm proves nothing. */
export function armNarrowing(subject: Expr, arm: MatchArm, scope: Scope): { readonly name: string; readonly type: Type } | null {
  if (arm.patterns.length === 0) return null
  if (subject.kind === 'Identifier') {
    const type = scope.variable(subject.name)?.type ?? null
    if (type === null || type.kind !== 'union') return null
    const narrowed = pickMembers(arm.patterns, type.members)
    return narrowed === null ? null : { name: subject.name, type: narrowed }
  }
  if (subject.kind !== 'Member' || subject.optional || subject.object.kind !== 'Identifier') return null
  const { name } = subject.object
  const tagged = readTaggedUnion(scope.variable(name)?.type ?? null, scope)
  if (tagged === null || tagged.tag !== subject.property.text) return null
  const shapes: Type[] = []
  for (const pattern of arm.patterns) {
    const value = literalValue(pattern)
    const variant = value === null ? undefined : tagged.variants.find((candidate) => candidate.tag === value)
    if (variant === undefined) return null
    if (!shapes.includes(variant.shape)) shapes.push(variant.shape)
  }
  return { name, type: makeUnion(shapes) }
}

function pickMembers(patterns: readonly Expr[], members: readonly Type[]): Type | null {
  const picked: Type[] = []
  for (const pattern of patterns) {
    const literal = literalPattern(pattern)
    if (literal === null) return null
    const value = literalValue(pattern)
    const exact = value === null ? undefined : members.find((member) => isLiteral(member) && toTag(member) === value)
    const member = exact ?? members.find((candidate) => literal.kind === 'named' && isNamed(candidate, literal.name))
    if (member === undefined) return null
    if (!picked.some((other) => sameType(other, member))) picked.push(member)
  }
  return makeUnion(picked)
}

function isLiteral(type: Type): boolean {
  return type.kind === 'string-literal' || type.kind === 'int-literal'
}

/** Names that a pattern binds; they have no known type. */
export function patternNames(pattern: Expr): readonly string[] {
  switch (pattern.kind) {
    case 'Identifier':
      return [pattern.name]
    case 'Dict':
      return pattern.entries.flatMap((entry) => (entry.kind === 'named' ? bareName(entry.value) : []))
    case 'List':
      return pattern.items.flatMap((item) => bareName(item.value))
    case 'MethodCall':
      return pattern.args.flatMap((arg) => bareName(arg.value))
    default:
      return []
  }
}

function bareName(expr: Expr): readonly string[] {
  return expr.kind === 'Identifier' ? [expr.name] : []
}

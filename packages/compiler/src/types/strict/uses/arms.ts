// Patterns of a match against the type of its subject, and the names that `type_of` returns.

import type { Expr, ExprOf, Span } from '@bridle/parser'
import type { Known } from '../../type.js'
import { describe, group } from '../describe.js'
import { LITERALS, TYPE_HABITS, TYPE_NAMES } from '../facts.js'
import type { Types } from '../infer.js'
import { isDisjoint, isWithin } from '../kinds.js'
import { replaceWord } from '../world.js'
import type { Uses } from './context.js'

const NUMBERS: ReadonlySet<string> = new Set(['int', 'float'])

export function checkArms(uses: Uses, { subject, arms, span }: ExprOf<'Match'>): void {
  const type = uses.types.infer(subject)
  checkVariants(uses, type, arms, span)
  const kinds = uses.kinds(type)
  const isTypeName = asksType(subject, uses.types)
  for (const pattern of arms.flatMap(({ patterns }) => patterns)) {
    if (pattern.kind === 'Range' && type !== null && isWithin(kinds, NUMBERS))
      uses.world.report('T051', pattern.span, { matched: describe(type), literal: 'range' })
    if (!LITERALS.has(pattern.kind)) continue
    if (isTypeName && pattern.kind === 'String') checkTypeName(uses, pattern)
    const given = uses.types.infer(pattern)
    const one = uses.kinds(given)
    if (type === null || kinds === null || given === null || one === null || kinds.has('nil')) continue
    if (!isDisjoint(group(kinds), group(one))) continue
    uses.world.report('T051', pattern.span, { matched: describe(type), literal: describe(given) })
  }
}

/** Variants without an arm, if some arms destructure fields: the language does not check those. */
export function checkVariants(uses: Uses, type: Known, arms: ExprOf<'Match'>['arms'], span: Span): void {
  const found = type?.kind === 'named' ? uses.world.root.enumNamed(type.name) : undefined
  if (type?.kind !== 'named' || found === undefined) return
  const covered = new Set<string>()
  let takesFields = false
  for (const pattern of arms.flatMap(({ patterns }) => patterns)) {
    if (pattern.kind !== 'Member' && pattern.kind !== 'MethodCall') return
    if (pattern.object.kind !== 'Identifier' || pattern.object.name !== type.name) return
    covered.add(pattern.kind === 'Member' ? pattern.property.text : pattern.method.text)
    takesFields ||= pattern.kind === 'MethodCall'
  }
  const missing = found.decl.variants.filter(({ name }) => !covered.has(name.text)).map(({ name }) => `"${name.text}"`)
  if (!takesFields || missing.length === 0) return
  uses.world.report('T050', span, { subject: `enum ${type.name}`, what: 'variants ', missing: missing.join(', ') })
}

/** `type_of` returns a fixed set of names. */
export function checkTypeName(uses: Uses, name: ExprOf<'String'>): void {
  if (TYPE_NAMES.has(name.value) || uses.world.root.struct(name.value) !== undefined) return
  const suggestion = TYPE_HABITS[name.value] ?? uses.suggest(name.value, TYPE_NAMES)
  // Values of hosts have type names of their own.
  if (suggestion === null) return
  const fix = replaceWord(name.span, JSON.stringify(suggestion))
  uses.world.report('T094', name.span, { name: name.value, suggestion }, fix)
}

/** `type_of(x)` of the language. */
export function asksType(expr: Expr, types: Types): boolean {
  return expr.kind === 'Call' && expr.callee.text === 'type_of' && types.target(expr) === undefined && types.isBuiltin('type_of')
}

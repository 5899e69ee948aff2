// Values that are bound to names: by a declaration, an assignment, a default.

import type { Expr, ExprOf, Param, Stmt } from '@bridle/parser'
import { show } from '../../show.js'
import type { Known } from '../../type.js'
import { describe } from '../describe.js'
import { NO_PARTS, NO_POSITION } from '../facts.js'
import { isWithin } from '../kinds.js'
import type { Uses } from './context.js'
import { checkOperands } from './operators.js'
import { checkLetPattern } from './patterns.js'

/** For the value assigned to a variable, and to a part of it. */
export function checkAssign(uses: Uses, stmt: Extract<Stmt, { kind: 'Assign' }>): void {
  const { target, value, operator } = stmt
  if (operator !== null) {
    checkOperands(uses, operator, updatedType(uses, target), uses.types.infer(value), stmt.span)
    return
  }
  if (target.kind === 'Member') {
    checkPart(uses, target, value)
    return
  }
  if (target.kind === 'Index') {
    checkIndexTarget(uses, target)
    return
  }
  if (target.kind !== 'Identifier') return
  const decl = uses.types.target(target)
  if (decl?.kind !== 'var' || decl.type === null) return
  const declared = uses.read(decl.type)
  const given = uses.types.infer(value)
  if (given === null || !uses.isMismatch(declared, given, value)) return
  uses.world.report('T007', stmt.span, { name: decl.name, declared: show(declared), actual: show(given) })
}

/** The type of a value updated in place. A variable that is never assigned otherwise keeps the type of its first value. */
export function updatedType(uses: Uses, target: Expr): Known {
  const type = uses.types.infer(target)
  const decl = target.kind === 'Identifier' ? uses.types.target(target) : undefined
  if (type !== null || decl?.kind !== 'var' || decl.type !== null || decl.value === null) return type
  return decl.assigned.every(({ operator }) => operator !== null) ? uses.types.infer(decl.value) : null
}

/** `s[0] = "x"` on a string changes nothing. */
function checkIndexTarget(uses: Uses, { object, index, span }: ExprOf<'Index'>): void {
  const type = uses.types.infer(object)
  const kinds = uses.kinds(type)
  if (type === null || kinds === null || kinds.size === 0) return
  const isKeyOfList = isWithin(kinds, LISTS) && isWithin(uses.kinds(uses.types.infer(index)), NO_POSITION)
  if (isKeyOfList || isWithin(kinds, NO_PARTS)) uses.world.report('T100', span, { type: describe(type) })
}

const LISTS: ReadonlySet<string> = new Set(['list'])

export function checkLet(uses: Uses, stmt: Extract<Stmt, { kind: 'Let' }>): void {
  const { binding, value } = stmt
  if (binding.kind !== 'NameBinding') {
    checkLetPattern(uses, stmt)
    return
  }
  if (binding.type === null) return
  const declared = uses.read(binding.type)
  const given = uses.types.infer(value)
  if (given === null || !uses.isMismatch(declared, given, value)) return
  const { text } = binding.name
  uses.world.report('T014', stmt.span, { name: text, declared: show(declared), actual: show(given), detail: '' })
}

export function checkPart(uses: Uses, target: ExprOf<'Member'>, value: Expr): void {
  const type = uses.types.receiverType(target.object)
  const { text } = target.property
  const field = type?.kind === 'named' ? uses.world.root.struct(type.name)?.fields.find(({ name }) => name === text) : undefined
  const declared = field?.type ?? null
  const given = uses.types.infer(value)
  if (declared === null || given === null) return
  if (!uses.isMismatch(declared, given, value)) return
  uses.world.report('T007', value.span, { name: text, declared: show(declared), actual: show(given) })
}

export function checkDefaults(uses: Uses, params: readonly Param[]): void {
  for (const { name, type, defaultValue } of params) {
    if (type === null || defaultValue === null) continue
    const declared = uses.read(type)
    const given = uses.types.infer(defaultValue)
    if (given === null || !uses.isMismatch(declared, given, defaultValue)) continue
    // `= nil` makes a parameter optional.
    if (defaultValue.kind === 'Nil') continue
    uses.world.report('T007', defaultValue.span, { name: name.text, declared: show(declared), actual: show(given) })
  }
}

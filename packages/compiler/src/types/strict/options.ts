// Keys of literal dicts of options, where the definition of the builtin says which there are.

import type { ExprOf } from '@bridle/parser'
import { show } from '../show.js'
import type { Type } from '../type.js'
import type { Types } from './infer.js'
import { isDisjoint, listKinds } from './kinds.js'
import type { ExactSignature } from './signatures.js'
import { suggestName } from './suggest.js'
import { replaceWord, type StrictWorld } from './world.js'

type Shape = Extract<Type, { kind: 'shape' }>

export function checkOptions(call: ExprOf<'Call'>, signature: ExactSignature, types: Types, world: StrictWorld): void {
  // A generic signature lists the options that bind its parameters, and no others.
  if (signature.isGeneric) return
  for (const [at, { spread, value }] of call.args.entries()) {
    const param = signature.params[at]
    if (spread || param === undefined || param.rest) return
    if (value.kind !== 'Dict') continue
    const shape = param.type === null ? null : findShape(param.type)
    if (shape !== null) checkKeys(call.callee.text, value, shape, types, world)
  }
}

/** The only shape that a type allows; null where other dicts are allowed too. */
function findShape(type: Type): Shape | null {
  if (type.kind === 'shape') return type
  if (type.kind !== 'union') return null
  const shapes = type.members.filter((member) => member.kind === 'shape')
  const isOpen = type.members.some((member) => member.kind === 'dict' || (member.kind === 'named' && member.name === 'dict'))
  return shapes.length === 1 && !isOpen ? shapes[0]! : null
}

function checkKeys(name: string, dict: ExprOf<'Dict'>, shape: Shape, types: Types, world: StrictWorld): void {
  for (const entry of dict.entries) {
    if (entry.kind !== 'named') continue
    const { text, span } = entry.key
    const field = shape.fields.find((each) => each.name === text)
    if (field === undefined) {
      const candidates = shape.fields.map((each) => ({ name: each.name, distance: 0 as const }))
      const suggestion = suggestName(text, candidates, world.budget)
      world.report('T084', span, { name, key: text, suggestion }, replaceWord(span, entry.quoted ? null : suggestion))
      continue
    }
    const given = types.infer(entry.value)
    const actual = listKinds(given, world.root)
    const wanted = listKinds(field.type, world.root)
    if (given === null || actual === null || wanted === null || actual.has('nil')) continue
    const isNumber = (kinds: ReadonlySet<string>): boolean => kinds.has('int') || kinds.has('float') || kinds.has('duration')
    if (!isDisjoint(wanted, actual) || (isNumber(wanted) && isNumber(actual))) continue
    world.report('T085', entry.value.span, { name, key: text, expected: show(field.type), actual: show(given) })
  }
}

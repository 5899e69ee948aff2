// Types of the values in literal dicts of options, where the definition of the builtin says what they are. Keys that nobody reads are
// found by ../check-options.ts.

import type { ExprOf } from '@bridle/parser'
import { OPTION_KEYS } from '../builtins.generated.js'
import { positional } from '../infer-calls.js'
import { show } from '../show.js'
import { readType } from '../signature-text.js'
import type { Types } from './infer.js'
import { isDisjoint, type Kinds, listKinds } from './kinds.js'
import type { StrictWorld } from './world.js'

export function checkOptionTypes(call: ExprOf<'Call'>, types: Types, world: StrictWorld): void {
  const shapes = OPTION_KEYS.get(call.callee.text)
  if (shapes === undefined) return
  const args = positional(call.args)
  for (const [param, keys] of shapes) {
    const arg = args[param]
    if (arg?.kind === 'Dict') checkValues(call.callee.text, arg, keys, types, world)
  }
}

function checkValues(name: string, dict: ExprOf<'Dict'>, keys: string, types: Types, world: StrictWorld): void {
  for (const entry of dict.entries) {
    if (entry.kind !== 'named') continue
    const { text } = entry.key
    const row = keys.split(' ').find((each) => each.startsWith(`${text}:`))
    if (row === undefined) continue
    const declared = readType(row.slice(text.length + 1))
    const given = types.infer(entry.value)
    const actual = listKinds(given, world.root)
    const wanted = listKinds(declared, world.root)
    if (given === null || actual === null || wanted === null || actual.has('nil')) continue
    if (!isDisjoint(wanted, actual) || (isNumber(wanted) && isNumber(actual))) continue
    world.report('T085', entry.value.span, { name, key: text, expected: show(declared), actual: show(given) })
  }
}

function isNumber(kinds: Kinds): boolean {
  return kinds.has('int') || kinds.has('float') || kinds.has('duration')
}

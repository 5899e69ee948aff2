// Charges a builtin by the size of its arguments: one unit for every value in them and for every 16 characters of their strings.
// For builtins that read their arguments once or a few times, which are most of those outside the core of the
// language. A walk that never ends (values shared exponentially) runs out of fuel here.

import { withRun } from './builtin.js'
import type { BuiltinDef, Context } from './builtin.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { visit } from '../values/meter.js'
import { HarnBytes, HarnEnum, HarnPair } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { keepsWhole, detachPart } from '../values/text-parts.js'
import type { Value } from '../values/value.js'

const TEXT_BITS = 4

/** Units of a call on top of the base charge: for making records, building errors and requesting effects. */
const UNITS_A_CALL = 32

export function withCharge(def: BuiltinDef): BuiltinDef {
  return withRun(def, (ctx, ...args) => {
    ctx.charge(UNITS_A_CALL)
    if (!def.pays) chargeArguments(ctx, args)
    const result = def.run(ctx, ...args)
    if (typeof result !== 'string' && !(result instanceof HarnList) && !(result instanceof Keyed)) return result
    const longest = measureLongestText(args)
    return longest < LONG ? result : detachTexts(result, longest)
  })
}

/** Minimum length of argument strings whose substrings are searched for in results. */
const LONG = 256

function measureLongestText(args: readonly Value[]): number {
  let longest = 0
  for (const arg of args) if (typeof arg === 'string' && arg.length > longest) longest = arg.length
  return longest
}

/** The result with copied substrings, so that it does not keep long argument strings alive (values/text-parts.ts). */
function detachTexts(result: Value, whole: number): Value {
  if (typeof result === 'string') return detachPart(result, whole)
  const pending: Value[] = [result]
  let visited = 0
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (value instanceof HarnList && value.raw === null) {
      visited = visit(visited, value.length)
      const members = value.view() as Value[]
      for (let at = 0; at < members.length; at++) {
        const member = members[at]!
        if (typeof member === 'string') members[at] = detachPart(member, whole)
        else if (typeof member === 'object' && member !== null) pending.push(member)
      }
    } else if (value instanceof Keyed) {
      const keys = value.keys()
      visited = visit(visited, keys.length)
      for (const key of keys) {
        const member = value.get(key)!
        if (typeof member === 'string') {
          if (keepsWhole(member.length, whole)) value.set(key, detachPart(member, whole))
        } else if (typeof member === 'object' && member !== null) pending.push(member)
      }
    }
  }
  return result
}

export function chargeArguments(ctx: Context, args: readonly Value[]): void {
  const size = measureSize(args)
  if (size > 0) ctx.charge(size)
}

/** Fuel for what the walk of the values does not count; long walks charge as they go. */
function measureSize(args: readonly Value[]): number {
  let texts = 0
  let visited = visit(0, args.length)
  let pending: (readonly Value[])[] | null = null
  let values: readonly Value[] | undefined = args
  let count = args.length
  do {
    for (let at = 0; at < count; at++) {
      const value = values[at]!
      if (typeof value === 'string') texts += value.length >> TEXT_BITS
      else if (typeof value === 'object' && value !== null) {
        if (value instanceof HarnList) {
          visited = visit(visited, value.length)
          // A buffer of floats has nothing to walk.
          if (value.raw === null && value.length > 0) (pending ??= []).push(value.view())
        } else if (value instanceof HarnBytes) texts += value.data.length >> TEXT_BITS
        else {
          const inner = listParts(value)
          if (inner !== null && inner.length > 0) {
            visited = visit(visited, inner.length)
            ;(pending ??= []).push(inner)
          }
        }
      }
    }
    values = pending?.pop()
    count = values?.length ?? 0
  } while (values !== undefined)
  return texts + ((visited - args.length) & 1023)
}

function listParts(value: object): readonly Value[] | null {
  if (value instanceof Keyed) return value.values()
  if (value instanceof HarnSet) return value.values()
  if (value instanceof HarnEnum) return value.fields
  if (value instanceof HarnPair) return [value.first, value.second]
  return null
}

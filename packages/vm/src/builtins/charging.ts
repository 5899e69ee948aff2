// Charges a builtin by what it is given (design §8.15): every value inside its arguments and every 16 characters of their texts is a
// unit. For builtins that look through their arguments once or a few times, which is most of those outside the core of the
// language; a walk that has no end (values shared exponentially) ends here.

import { withRun } from './builtin.js'
import type { BuiltinDef, Context } from './builtin.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { visit } from '../values/meter.js'
import { HarnBytes, HarnEnum, HarnPair } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import type { Value } from '../values/value.js'

const TEXT_BITS = 4

/** Units of a call, beside what every call takes: records are made, errors are put together, the world is asked. */
const UNITS_A_CALL = 32

export function charging(def: BuiltinDef): BuiltinDef {
  return withRun(def, (ctx, ...args) => {
    ctx.charge(UNITS_A_CALL)
    if (!def.pays) chargeArguments(ctx, args)
    return def.run(ctx, ...args)
  })
}

export function chargeArguments(ctx: Context, args: readonly Value[]): void {
  const size = sizeOf(args)
  if (size > 0) ctx.charge(size)
}

/** Units of fuel for what lies beyond the values themselves; long walks are paid on the way. */
function sizeOf(args: readonly Value[]): number {
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
          // Of floats alone there is nothing to look into.
          if (value.raw === null && value.length > 0) (pending ??= []).push(value.view())
        } else if (value instanceof HarnBytes) texts += value.data.length >> TEXT_BITS
        else {
          const inner = partsOf(value)
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

function partsOf(value: object): readonly Value[] | null {
  if (value instanceof Keyed) return value.values()
  if (value instanceof HarnSet) return value.values()
  if (value instanceof HarnEnum) return value.fields
  if (value instanceof HarnPair) return [value.first, value.second]
  return null
}

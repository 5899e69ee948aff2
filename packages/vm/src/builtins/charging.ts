// Charges a builtin by what it is given (design §8.15): every value inside its arguments and every 16 characters of their texts is a
// unit. For builtins that look through their arguments once or a few times, which is most of those outside the core of the
// language; a walk that has no end (values shared exponentially) ends here.

import type { BuiltinDef, Context } from './builtin.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { visit } from '../values/meter.js'
import { HarnBytes, HarnEnum, HarnPair } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import type { Value } from '../values/value.js'

const TEXT_BITS = 4

export function charging(def: BuiltinDef): BuiltinDef {
  return {
    ...def,
    quick: null,
    real: null,
    run: (ctx, ...args) => {
      chargeArguments(ctx, args)
      return def.run(ctx, ...args)
    },
  }
}

export function chargeArguments(ctx: Context, args: readonly Value[]): void {
  const size = sizeOf(args)
  if (size > 0) ctx.charge(size)
}

/** Units of fuel for what lies beyond the values themselves; long walks are paid on the way. */
function sizeOf(args: readonly Value[]): number {
  let texts = 0
  let visited = 0
  const pending: Iterable<Value>[] = [args]
  for (let values = pending.pop(); values !== undefined; values = pending.pop()) {
    for (const value of values) {
      visited = visit(visited, 1)
      if (typeof value === 'string') texts += value.length >> TEXT_BITS
      else if (value !== null && typeof value === 'object') {
        const inner = partsOf(value)
        if (inner !== null) pending.push(inner)
        else if (value instanceof HarnBytes) texts += value.data.length >> TEXT_BITS
      }
    }
  }
  return texts + ((visited - args.length) & 1023)
}

function partsOf(value: object): Iterable<Value> | null {
  if (value instanceof HarnList) return value.view()
  if (value instanceof Keyed) return value.values()
  if (value instanceof HarnSet) return value.map.values()
  if (value instanceof HarnEnum) return value.fields
  if (value instanceof HarnPair) return [value.first, value.second]
  return null
}

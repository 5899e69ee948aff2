// Inline caches of properties: an instruction remembers the last two shapes it met and the slot of its key in each. Both tiers use
// the same caches: the quick side is in loop.ts and in the code of templates.ts, and misses come here.
//
// In a reading instruction, `cache` and `kind` are the newer shape and slot, `seen` and `d` the older; a writing one has the newer
// only. `TABLE` and missing keys are never cached, so that a cached slot is always correct.

import { TABLE } from '../values/shape.js'
import type { Keyed } from '../values/keyed.js'
import type { Instr } from './linked.js'
import type { Value } from '../values/value.js'

/** The property `i.k` of an object whose shape `i` has not cached; nil if it has none. */
export function readField(object: Keyed, i: Instr): Value {
  const { shape } = object
  if (shape === TABLE) {
    const value = object.get(i.k as string)
    return value === undefined ? null : value
  }
  const at = shape.at(i.k as string)
  if (at < 0) return null
  if (i.cache !== null) {
    i.seen = i.cache
    i.d = i.kind
  }
  i.cache = shape
  i.kind = at
  return object.slots[at]!
}

/** Sets the property `i.k` of an object that may be changed. */
export function writeField(object: Keyed, i: Instr, value: Value): void {
  object.set(i.k as string, value)
  if (object.shape === TABLE) return
  i.kind = object.shape.at(i.k as string)
  i.cache = object.shape
}

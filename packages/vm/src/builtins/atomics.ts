// Atomics: an int that tasks share by reference. Tasks switch only where they wait, so each operation is atomic. An operation
// whose arguments have the wrong type does nothing and returns nil (compare-and-set: false).

import { builtin } from './builtin.js'
import { addInts } from './core-values.js'
import { HarnAtomic } from '../values/handles.js'
import { HarnFloat } from '../values/scalars.js'
import { isInt, wrapInt } from '../values/value.js'
import type { BuiltinFamily } from './registry.js'
import type { Int, Value } from '../values/value.js'

const ATOMIC = ['atomic'] as const

const MOST = 9223372036854775807n

/** Truncates as a saturating cast to 64 bits does; NaN is 0. */
function truncateFloat(v: number): Int {
  if (Number.isNaN(v)) return 0
  if (v >= 9.2e18 || v <= -9.2e18) {
    const exact = Number.isFinite(v) ? BigInt(Math.trunc(v)) : v > 0 ? MOST : -MOST - 1n
    return wrapInt(exact > MOST ? MOST : exact < -MOST - 1n ? -MOST - 1n : exact)
  }
  return wrapInt(BigInt(Math.trunc(v)))
}

function readInitial(value: Value): Int {
  if (isInt(value)) return value
  if (value instanceof HarnFloat) return truncateFloat(value.v)
  return value === true ? 1 : 0
}

export const atomicsFamily: BuiltinFamily = {
  name: 'atomics',
  builtins: [
    builtin(
      'atomic(initial?: int) -> atomic as ?',
      { doc: 'A shared counter.', effects: ATOMIC },
      (_ctx, value) => new HarnAtomic(readInitial(value!)),
    ),
    builtin('atomic_get(a: atomic)', { doc: 'Its value.', effects: ATOMIC }, (_ctx, a) =>
      a instanceof HarnAtomic ? a.value : null,
    ),
    builtin(
      'atomic_set(a: atomic, value: int)',
      { doc: 'Sets it and gives the value before.', effects: ATOMIC },
      (_ctx, a, value) => {
        if (!(a instanceof HarnAtomic) || !isInt(value!)) return null
        const before = a.value
        a.value = value
        return before
      },
    ),
    builtin(
      'atomic_add(a: atomic, delta: int)',
      { doc: 'Adds and gives the value before.', effects: ATOMIC },
      (_ctx, a, delta) => {
        if (!(a instanceof HarnAtomic) || !isInt(delta!)) return null
        const before = a.value
        a.value = addInts(before, delta)
        return before
      },
    ),
    builtin(
      'atomic_cas(a: atomic, expected: int, new: int) -> bool',
      { doc: 'Sets it if it holds `expected`.', effects: ATOMIC },
      (_ctx, a, expected, next) => {
        if (!(a instanceof HarnAtomic) || !isInt(expected!) || !isInt(next!) || a.value !== expected) return false
        a.value = next
        return true
      },
    ),
  ],
}

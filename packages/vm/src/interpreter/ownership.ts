// The slow side of the operations that make a container owned by its variable or its holder (values/nest.ts): both tiers come here with
// one that is not owned, and charge the copy. Values other than containers stay unchanged: the assignment that follows reports the error.

import { display } from '../values/display.js'
import { HarnDict } from '../values/dict.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { Nest } from '../values/nest.js'
import { setProperty, share } from './access.js'
import { EXTENDS } from './linked.js'
import type { Fault } from './fault.js'
import type { Instr } from './linked.js'
import type { Machine } from './machine.js'
import type { Value } from '../values/value.js'

/** Arguments of the call that the callee might keep although they are only lent to it, or passed to it and not taken over: as bits. */
export function findKept({ moves, lends }: Instr, takes: number, keeps: number): number {
  return (lends | (moves & ~takes)) & keeps
}

/** Shares the arguments from `from` on whose bits are set. */
export function shareArguments(regs: readonly Value[], from: number, bits: number): void {
  for (let at = from, left = (bits & (EXTENDS - 1)) >> 1; left > 0; at++, left >>= 1) if ((left & 1) === 1) share(regs[at]!)
}

type Container = HarnList | (Value & Keyed)

export function isContainer(value: unknown): value is Container {
  return value instanceof HarnList || value instanceof Keyed
}

/** A copy of a container that its variable does not own. */
export function makeOwn(m: Machine, value: Value): Value {
  if (!isContainer(value) || value.owned) return value
  m.chargeUpdate(value)
  const copy = value.copy()
  copy.owned = true
  return copy
}

/**
 * Prepares `value`, read from the field of a `holder` that may be its only owner, to be kept: it is shared, or with `how` 2 taken
 * out of a holder that was passed on and whose field is not read again.
 */
export function readOut(holder: Keyed, value: Value, how: number): void {
  if (!isContainer(value)) return
  value.owned = how === 2 && holder.owned && value.owner !== null && value.owner === holder.nest
  value.owner = null
}

/** Makes a `holder` that a function has just made owned, and the only owner of a value owned by a variable that ends with the function. */
export function hold(holder: Value, name: string): Value {
  if (!(holder instanceof Keyed)) return holder
  holder.owned = true
  const value = holder.get(name)
  if (!isContainer(value)) return holder
  if (value.owned) {
    value.owned = false
    holder.nest ??= new Nest()
    value.owner = holder.nest
  } else value.owner = null
  return holder
}

/** Whether `value` is an element of `holder`, at `index`, that nothing else references. */
export function holdsItem(holder: Value, index: Value, value: Value): boolean {
  if (!isContainer(value) || !isContainer(holder) || value.owner === null || value.owner !== holder.nest) return false
  return getItem(holder, index) === value
}

function getItem(holder: Container, index: Value): Value | undefined {
  if (holder instanceof HarnList) return holder.at(locate(holder, index))
  return holder.get(typeof index === 'string' ? index : display(index))
}

function locate(list: HarnList, index: Value): number {
  return Number(index) < 0 ? Number(index) + list.length : Number(index)
}

/** `value`, read from `holder` at `index`, owned by the holder alone: if it is not, a copy replaces it. */
export function ownItem(m: Machine, holder: Value, index: Value, value: Value): Value {
  if (!isContainer(value) || holdsItem(holder, index, value)) return value
  if (holder instanceof HarnList) {
    const copy = copyFor(m, holder, value)
    holder.putHeld(locate(holder, index), copy)
    return copy
  }
  if (!(holder instanceof HarnDict)) return value
  const copy = copyFor(m, holder, value)
  holder.put(typeof index === 'string' ? index : display(index), copy)
  return copy
}

export function holdsField(holder: Value, name: string, value: Value): boolean {
  if (!isContainer(value) || !(holder instanceof Keyed) || value.owner === null || value.owner !== holder.nest) return false
  return holder.get(name) === value
}

/** As ownItem, of a property. */
export function ownField(m: Machine, holder: Value, name: string, value: Value): Value | Fault {
  if (!isContainer(value) || holdsField(holder, name, value)) return value
  // For example the first element of a list: it can be read like a property but not set.
  if (!(holder instanceof Keyed)) return setProperty(holder, name, value, true)
  const copy = copyFor(m, holder, value)
  holder.set(name, copy)
  return copy
}

function copyFor(m: Machine, holder: Container, value: Container): Container {
  m.chargeUpdate(value)
  const copy = value.copy()
  holder.nest ??= new Nest()
  copy.owner = holder.nest
  return copy
}

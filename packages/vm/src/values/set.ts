// The set: distinct values in insertion order. Distinct means "different structural key" (equality.ts): 1 and 1.0 differ.

import { chargeGrowth } from './keyed.js'
import { structuralKey } from './equality.js'
import { HarnFloat } from './scalars.js'
import type { Value } from './value.js'

export class HarnSet {
  readonly map: Map<unknown, Value>

  constructor(values: Iterable<Value> = []) {
    this.map = new Map()
    for (const value of values) this.add(value)
  }

  /** The first of values that are equal as scripts compare them: 1.0 is one with 1. Inside containers only exact keys count. */
  static distinct(values: Iterable<Value>): HarnSet {
    const found = new Map<unknown, Value>()
    for (const value of values) {
      const isWhole = value instanceof HarnFloat && Number.isSafeInteger(value.v)
      const key = structuralKey(isWhole ? value.v + 0 : value)
      if (!found.has(key)) found.set(key, value)
    }
    return new HarnSet(found.values())
  }

  get size(): number {
    return this.map.size
  }

  /** In place, for a set under construction. */
  add(value: Value): void {
    const key = structuralKey(value)
    if (this.map.has(key)) return
    chargeGrowth(this.map.size)
    this.map.set(key, value)
  }

  values(): Value[] {
    return [...this.map.values()]
  }
}

// The set: distinct values in insertion order. Distinct means "different structural key" (equality.ts): 1 and 1.0 differ.

import { chargeGrowth } from './keyed.js'
import { structuralKey } from './equality.js'
import type { Value } from './value.js'

export class HarnSet {
  readonly map: Map<unknown, Value>

  constructor(values: Iterable<Value> = []) {
    this.map = new Map()
    for (const value of values) this.add(value)
  }

  get size(): number {
    return this.map.size
  }

  /** In place, for a set under construction. */
  add(value: Value): void {
    this.addUnder(structuralKey(value), value)
  }

  /** In place, of a value whose key is known: it is one of another set. */
  addUnder(key: unknown, value: Value): void {
    if (this.map.has(key)) return
    chargeGrowth(this.map.size)
    this.map.set(key, value)
  }

  values(): Value[] {
    return [...this.map.values()]
  }
}

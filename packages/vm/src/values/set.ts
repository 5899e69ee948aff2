// The set: distinct values in insertion order. Distinct means "different structural key" (equality.ts): 1 and 1.0 differ.

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
    const key = structuralKey(value)
    if (!this.map.has(key)) this.map.set(key, value)
  }

  values(): Value[] {
    return [...this.map.values()]
  }
}

// Keys without a shape (shape.ts): many keys, or keys that are data. As with a shape, values are in slots of the object;
// the table maps keys to slots. Copies of an object share a table until one gains or loses a key, so that copying means copying slots only.

import { sortTexts } from './text-order.js'

export class Table {
  /** Key → slot, in order of insertion. Slots without a key are dead. */
  readonly places: Map<string, number>
  /** Whether several objects use it; then it must not be changed. */
  isShared = false
  private lastKey: string | null = null
  private lastAt = 0
  private sorted: readonly string[] | null = null
  /** The slots of `sorted`, so that a walk over a large dict does not look each key up. */
  private order: Int32Array | null = null

  constructor(places: Map<string, number>) {
    this.places = places
  }

  /** The slot of a key, -1 for none. The key is cached for the write that often follows: `d[k] = d[k] + 1`. */
  at(key: string): number {
    const at = this.places.get(key)
    if (at === undefined) return -1
    this.lastKey = key
    this.lastAt = at
    return at
  }

  /** As at, for a write. */
  findForWrite(key: string): number {
    if (key === this.lastKey) return this.lastAt
    const at = this.places.get(key)
    return at === undefined ? -1 : at
  }

  add(key: string, at: number): void {
    this.places.set(key, at)
    this.sorted = null
    this.order = null
  }

  remove(key: string): void {
    this.places.delete(key)
    this.lastKey = null
    this.sorted = null
    this.order = null
  }

  /** Keys in code point order; read only. */
  getSortedKeys(): readonly string[] {
    return (this.sorted ??= sortTexts([...this.places.keys()]))
  }

  /** The slots of the keys in code point order; read only. */
  getSortedSlots(): Int32Array {
    if (this.order !== null) return this.order
    const keys = this.getSortedKeys()
    const order = new Int32Array(keys.length)
    for (let at = 0; at < keys.length; at++) order[at] = this.places.get(keys[at]!)!
    this.order = order
    return order
  }

  get isSorted(): boolean {
    return this.sorted !== null
  }

  /** A table that the caller may change. */
  copy(): Table {
    const copy = new Table(new Map(this.places))
    copy.sorted = this.sorted
    copy.order = this.order
    return copy
  }
}

// Where keys without a shape lie (shape.ts): many keys, or keys that are data. As with a shape, values are in slots of the object;
// the table says which. Copies of an object share one until either gains or loses a key, so that a copy is one of its slots.

import { sortTexts } from './text-order.js'

export class Table {
  /** Key → slot, in order of insertion. Slots that nothing names are dead. */
  readonly places: Map<string, number>
  /** Whether more than one object has it; then nobody changes it. */
  isShared = false
  private lastKey: string | null = null
  private lastAt = 0
  private sorted: readonly string[] | null = null
  /** The slots of `sorted`: a walk over a large dict is not a search for each of its keys. */
  private order: Int32Array | null = null

  constructor(places: Map<string, number>) {
    this.places = places
  }

  /** The slot of a key, -1 for none. The key is remembered for the write that often follows: `d[k] = d[k] + 1`. */
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

  /** One that the caller may change. */
  copy(): Table {
    const copy = new Table(new Map(this.places))
    copy.sorted = this.sorted
    copy.order = this.order
    return copy
  }
}

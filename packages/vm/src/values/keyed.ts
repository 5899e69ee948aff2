// What dicts and structs have in common: values under text keys. Few keys that a program or a document names have a shape
// (shape.ts) and lie in slots; many keys, or keys that are data, lie in a hash map. Which it is shows in speed only: order of
// insertion, results, units and snapshots are the same.
//
// The one base class among values: both are looked at by the same instructions, and what holds for one form of keys must hold for
// both kinds of object.

import { EMPTY, TABLE } from './shape.js'
import { sortTexts } from './text-order.js'
import type { HarnStruct } from './callable.js'
import type { HarnDict } from './dict.js'
import type { Shape } from './shape.js'
import type { Value } from './value.js'

/** The slots of every object without any; never written to. */
export const NO_SLOTS: Value[] = []

const BLANK: readonly Value[] = Array.from({ length: 64 }, () => null)

/** Slots to be filled. All slot arrays begin with nil, so that V8 has one kind of them and not one for small ints and one for doubles. */
export function blankSlots(count: number): Value[] {
  switch (count) {
    case 1:
      return [null]
    case 2:
      return [null, null]
    case 3:
      return [null, null, null]
    case 4:
      return [null, null, null, null]
    default:
      return count === 0 ? NO_SLOTS : BLANK.slice(0, count)
  }
}

export abstract class Keyed {
  /** `TABLE` while `table` is used. */
  shape: Shape
  /** By the places of `shape`. An object's own, unless it is empty. */
  slots: Value[]
  table: Map<string, Value> | null
  /** As for lists (list.ts). */
  owned: boolean
  /** Sorted keys of the table, null when they are to be sorted. */
  private sorted: readonly string[] | null

  /** Takes table or slots over. */
  constructor(table: Map<string, Value> | null, shape: Shape, slots: Value[]) {
    this.shape = table === null ? shape : TABLE
    this.slots = slots
    this.table = table
    this.owned = false
    this.sorted = null
  }

  get size(): number {
    return this.table === null ? this.shape.keys.length : this.table.size
  }

  get(key: string): Value | undefined {
    if (this.table !== null) return this.table.get(key)
    const at = this.shape.at(key)
    return at < 0 ? undefined : this.slots[at]
  }

  has(key: string): boolean {
    return this.table === null ? this.shape.at(key) >= 0 : this.table.has(key)
  }

  /** Writes in place. Only for an object that nothing else can see yet, or an owned one. */
  set(key: string, value: Value): void {
    if (this.table !== null) return this.setInTable(this.table, key, value)
    const at = this.shape.at(key)
    if (at >= 0) this.slots[at] = value
    else this.grow(this.shape.with(key), key, value)
  }

  /** As set, of a key that is data: one that no object of this shape was ever given turns the object into a table. */
  put(key: string, value: Value): void {
    if (this.table !== null) return this.setInTable(this.table, key, value)
    const at = this.shape.at(key)
    if (at >= 0) this.slots[at] = value
    else this.grow(this.shape.known(key) ?? null, key, value)
  }

  private setInTable(table: Map<string, Value>, key: string, value: Value): void {
    const before = table.size
    table.set(key, value)
    if (table.size !== before) this.sorted = null
  }

  private grow(next: Shape | null, key: string, value: Value): void {
    if (next === null) return this.setInTable(this.toTable(), key, value)
    if (this.slots.length === 0) {
      const slots: Value[] = [null]
      slots[0] = value
      this.slots = slots
    } else this.slots.push(value)
    this.shape = next
  }

  private toTable(): Map<string, Value> {
    const table = new Map<string, Value>()
    const { keys } = this.shape
    for (let at = 0; at < keys.length; at++) table.set(keys[at]!, this.slots[at]!)
    this.shape = TABLE
    this.slots = NO_SLOTS
    this.table = table
    this.sorted = null
    return table
  }

  /** What a write through a shared reference is made to. */
  abstract copy(): HarnDict | HarnStruct

  /** In place, as set. */
  delete(key: string): void {
    if (!this.has(key)) return
    const table = this.table ?? this.toTable()
    table.delete(key)
    this.sorted = null
  }

  /** Keys in code point order; read only. */
  keys(): readonly string[] {
    return this.table === null ? this.shape.sortedKeys() : (this.sorted ??= sortTexts([...this.table.keys()]))
  }

  /** Values in the order of `keys()`. */
  members(): Value[] {
    if (this.table !== null) return this.keys().map((key) => this.table!.get(key)!)
    const order = this.shape.sortedSlots()
    const members = blankSlots(order.length)
    for (let at = 0; at < order.length; at++) members[at] = this.slots[order[at]!]!
    return order.length === 0 ? [] : members
  }

  /** Values in order of insertion; read only. */
  values(): Iterable<Value> {
    return this.table === null ? this.slots : this.table.values()
  }

  /** Keys with their values in order of insertion. */
  entries(): Iterable<[string, Value]> {
    return this.table ?? this.shape.keys.map((key, at): [string, Value] => [key, this.slots[at]!])
  }

  /** Both have the same keys. */
  protected takeOrder(other: Keyed): void {
    this.sorted = other.sorted
  }

  /** Writes all that `other` holds, in place. */
  setAll(other: Keyed): void {
    if (other.table === null && this.table === null && this.shape === EMPTY) {
      this.shape = other.shape
      this.slots = copySlots(other.slots)
      return
    }
    // Keys without a shape are data, and so are they here.
    if (other.table === null) for (const [key, value] of other.entries()) this.set(key, value)
    else for (const [key, value] of other.table) this.put(key, value)
  }

  /** Whether both have the same keys with values that are one. Pairs that are to be compared further go to `pending`. */
  pairWith(other: Keyed, pending: Value[]): boolean {
    if (this.table === null && this.shape === other.shape) {
      for (let at = 0; at < this.slots.length; at++) pending.push(this.slots[at]!, other.slots[at]!)
      return true
    }
    if (this.size !== other.size) return false
    for (const [key, value] of this.entries()) {
      const found = other.get(key)
      if (found === undefined) return false
      pending.push(value, found)
    }
    return true
  }
}

export function copySlots(slots: Value[]): Value[] {
  return slots.length === 0 ? NO_SLOTS : slots.slice()
}

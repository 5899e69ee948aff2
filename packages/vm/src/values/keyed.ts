// The common part of dicts and structs: values under string keys. The values are in slots. A shape (shape.ts) maps keys to slots
// if there are few keys, named by a program or a document; a table (table.ts) if there are many or they are data. The choice
// affects only speed: order of insertion, results, units and snapshots are the same.
//
// The only base class among values: the same instructions read both, and what holds for one kind of object must hold for
// the other.

import { EMPTY, TABLE } from './shape.js'
import { work } from './meter.js'
import type { Nest } from './nest.js'
import { Table } from './table.js'
import type { Shape } from './shape.js'
import type { Value } from './types.js'

/** The slots of every empty object; never written to. */
export const NO_SLOTS: Value[] = []

const BLANK: readonly Value[] = Array.from({ length: 64 }, () => null)

/** Up to this many dead slots, compacting a table does not pay. */
const FEW_DEAD = 32

/** Initial slots. All slot arrays begin with nil, so that V8 has one kind of them instead of three (small ints, doubles, any). */
export function makeBlankSlots(count: number): Value[] {
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

export function copySlots(slots: Value[]): Value[] {
  return slots.length === 0 ? NO_SLOTS : slots.slice()
}

const LARGE_TABLE = 4096

/** A table that is full at some power of two is rebuilt at once: about a tenth of a microsecond per entry. */
export function chargeGrowth(size: number): void {
  if (size >= LARGE_TABLE && (size & (size - 1)) === 0) work(size >> 1)
}

const FEW_KEYS = 8

/** Fuel for sorting many keys; for up to a few thousand it is part of visiting each. */
function estimateSortingUnits(count: number): number {
  return Math.floor((count * Math.ceil(Math.log2(count))) / 8)
}

export abstract class Keyed {
  /** `TABLE` while `table` is used. */
  shape: Shape
  /** Owned by the object, unless empty. */
  slots: Value[]
  table: Table | null
  /** As for lists (list.ts). */
  owned: boolean
  /** As for lists. */
  owner: Nest | null
  nest: Nest | null
  /** See `mark` of lists. */
  mark: number

  /** Takes the slots over, or makes them from a map. */
  constructor(map: Map<string, Value> | null, shape: Shape, slots: Value[]) {
    this.shape = shape
    this.slots = slots
    this.table = null
    this.owned = false
    this.owner = null
    this.nest = null
    this.mark = 0
    if (map !== null) this.fill(map)
  }

  get size(): number {
    return this.table === null ? this.shape.keys.length : this.table.places.size
  }

  get(key: string): Value | undefined {
    const at = this.table === null ? this.shape.at(key) : this.table.at(key)
    return at < 0 ? undefined : this.slots[at]
  }

  has(key: string): boolean {
    return (this.table === null ? this.shape.at(key) : this.table.at(key)) >= 0
  }

  /** Sets in place. Only for an object that nothing else references yet, or an owned one. */
  set(key: string, value: Value): void {
    const again = this.shape.reuseLast(key)
    if (again !== null) return this.grow(again, key, value)
    const at = this.table === null ? this.shape.at(key) : this.table.findForWrite(key)
    if (at >= 0) this.slots[at] = value
    else this.grow(this.shape.with(key), key, value)
  }

  /** As set, for a key that is data: if no object of this shape ever had it, the shape becomes a table. */
  put(key: string, value: Value): void {
    const at = this.table === null ? this.shape.at(key) : this.table.findForWrite(key)
    if (at >= 0) this.slots[at] = value
    else this.grow(this.shape.findKnown(key), key, value)
  }

  private grow(next: Shape | null, key: string, value: Value): void {
    chargeGrowth(this.slots.length)
    if (next === null) this.takeOwnTable().add(key, this.slots.length)
    else this.shape = next
    if (this.slots.length === 0) {
      const slots: Value[] = [null]
      slots[0] = value
      this.slots = slots
    } else this.slots.push(value)
  }

  /** The object's own table, made from the shape if it has none. */
  private takeOwnTable(): Table {
    if (this.table === null) {
      this.table = new Table(new Map(this.shape.keys.map((key, at) => [key, at])))
      this.shape = TABLE
    } else if (this.table.isShared) this.table = this.table.copy()
    return this.table
  }

  /** A map whose keys some program has named in this order gets a shape. */
  private fill(map: Map<string, Value>): void {
    let shape: Shape | null = EMPTY
    for (const key of map.keys()) {
      shape = shape.findKnown(key)
      if (shape === null) break
    }
    const slots = makeBlankSlots(map.size)
    let at = 0
    for (const value of map.values()) slots[at++] = value
    this.slots = slots
    if (shape !== null) {
      this.shape = shape
      return
    }
    at = 0
    const places = new Map<string, number>()
    for (const key of map.keys()) places.set(key, at++)
    this.shape = TABLE
    this.table = new Table(places)
  }

  /** In place, as set. */
  delete(key: string): void {
    const at = this.table === null ? this.shape.at(key) : this.table.at(key)
    if (at < 0) return
    const table = this.takeOwnTable()
    table.remove(key)
    this.slots[at] = null
    const { size } = table.places
    if (this.slots.length - size > FEW_DEAD + size) this.closeUp(table)
  }

  /** Removes the dead slots. */
  private closeUp(table: Table): void {
    const slots = makeBlankSlots(table.places.size).slice()
    let to = 0
    for (const [key, at] of table.places) {
      slots[to] = this.slots[at]!
      table.places.set(key, to++)
    }
    this.slots = slots
    this.table = new Table(table.places)
  }

  /** The copy for a write through a shared reference. */
  abstract copy(): Value & Keyed

  /** Sets all entries of `other`, in place. */
  setAll(other: Keyed): void {
    // Its values are now shared with this object.
    other.nest = null
    if (this.shape === EMPTY) {
      this.shape = other.shape
      this.slots = copySlots(other.slots)
      this.table = other.table
      if (other.table !== null) other.table.isShared = true
      return
    }
    // Keys without a shape are data, also in this object.
    if (other.table === null) for (const [key, value] of other.entries()) this.set(key, value)
    else for (const [key, value] of other.entries()) this.put(key, value)
  }

  /** Charge for sorting the keys at their first use. The same in either form. */
  private chargeWalk(): void {
    const { size } = this
    if (size > FEW_KEYS)
      work(this.table !== null && size >= LARGE_TABLE && !this.table.isSorted ? size + estimateSortingUnits(size) : size)
  }

  /** Keys in code point order; read only. */
  keys(): readonly string[] {
    this.chargeWalk()
    return this.table === null ? this.shape.getSortedKeys() : this.table.getSortedKeys()
  }

  /** Values in the order of `keys()`. */
  members(): Value[] {
    this.chargeWalk()
    const order = this.table === null ? this.shape.getSortedSlots() : this.table.getSortedSlots()
    const members = this.slots.slice(0, order.length)
    for (let at = 0; at < order.length; at++) members[at] = this.slots[order[at]!]!
    return members
  }

  /** Keys in order of insertion. */
  names(): Iterable<string> {
    return this.table === null ? this.shape.keys : this.table.places.keys()
  }

  /** Values in order of insertion; read only. */
  values(): readonly Value[] {
    const { table } = this
    if (table === null || table.places.size === this.slots.length) return this.slots
    return Array.from(table.places.values(), (at) => this.slots[at]!)
  }

  /** Keys with their values in order of insertion. */
  entries(): Iterable<[string, Value]> {
    if (this.table !== null) return iterateEntries(this.table, this.slots)
    return this.shape.keys.map((key, at): [string, Value] => [key, this.slots[at]!])
  }

  /** Whether both have the same keys; pushes the pairs of their values to `pending`, to be compared. */
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

function* iterateEntries(table: Table, slots: readonly Value[]): Generator<[string, Value], void> {
  for (const [key, at] of table.places) yield [key, slots[at]!]
}

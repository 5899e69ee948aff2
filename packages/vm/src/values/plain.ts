// Value ⇄ plain data at the edge of the machine: float → number, dict → null-prototype object, list → array;
// back: an integral number is an int, another number a float. HarnFloat passes through where the difference matters.
//
// Values that are shared inside the machine are not shared outside: a copy, a line of JSON and a message contain them once per
// path. So data crossing the edge is counted at its expanded size, in heap units, and charged to the payer of the walk.

import type { Plain } from './data.js'
import { HarnDict } from './dict.js'
import { DisplayWalk, display } from './display.js'
import { HarnHandle } from './handles.js'
import { HarnList } from './list.js'
import { Keyed } from './keyed.js'
import { HarnBytes, HarnEnum, HarnFloat, HarnPair } from './scalars.js'
import { keep, visit } from './meter.js'
import { HarnSet } from './set.js'
import { wrapInt } from './value.js'
import type { Value } from './value.js'

/**
 * Nesting limit of data that crosses the edge, in both directions. The other side walks it by recursion, for example with
 * JSON.stringify, so the limit leaves room on a JavaScript stack of the usual size.
 */
export const MAX_EDGE_DEPTH = 500

/** Heap units of an object and of a slot (interpreter/heap.ts), and the fewest characters of their JSON. */
const UNITS = 16
const UNITS_SHOWN = 1

/** Data that cannot cross the edge: nested too deeply, too large when expanded, or not data at all. */
export class EdgeError extends Error {
  override readonly name: string = 'EdgeError'
}

export class TooDeepError extends EdgeError {
  override readonly name = 'TooDeepError'
  constructor() {
    super(`data nested deeper than ${MAX_EDGE_DEPTH}`)
  }
}

export class TooLargeError extends EdgeError {
  override readonly name = 'TooLargeError'
  constructor(most: number) {
    super(`data of more than ${most} heap units, with what is shared counted once for each way that leads to it`)
  }
}

/** Values without a plain form (closures, durations, handles …) are formatted. */
export function toPlain(value: Value): Plain {
  if (value === null || typeof value !== 'object') return value
  if (value instanceof HarnFloat) return value.v
  const walk = new PlainWalk(value, Infinity)
  walk.step(Infinity)
  return walk.plain
}

interface Open {
  readonly members: readonly Value[]
  /** Of a record; null for a list. */
  readonly keys: readonly string[] | null
  readonly list: Plain[]
  readonly record: Record<string, Plain>
  at: number
}

/** A key of a script is data, also `__proto__`, which an assignment would take for the prototype. */
function put(record: Record<string, Plain>, key: string, value: Plain): void {
  if (key !== '__proto__') record[key] = value
  else Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true })
}

const NO_LIST: Plain[] = []
const NO_RECORD: Record<string, Plain> = Object.freeze({})

/** Members that are converted between two chances to return control to the host. */
const PIECE = 1 << 14

/** Members of an enum that are formatted between two checks of the length. */
const PIECE_SHOWN = 1 << 10

/** The form of data for programs that inspect it with JavaScript's own tools. */
export interface PlainForm {
  /** Dicts become objects with the usual prototype; otherwise they have none. */
  readonly hasPrototype?: boolean
  /** Ints beyond ±2^53 become the nearest number; `bigint` otherwise. */
  readonly integers?: 'bigint' | 'number'
}

/**
 * `toPlain` in pieces, for values that may be as large as the heap. Throws TooDeepError, and TooLargeError beyond `most` heap units. The
 * value must not change between two pieces.
 */
export class PlainWalk {
  plain: Plain = null
  private units = 0
  private kept = 0
  private visited = 0
  private readonly most: number
  private readonly root: Value
  private isMeasured = false
  private readonly open: Open[] = []
  /** The enum being formatted, and its length so far. */
  private showing: DisplayWalk | null = null
  private shown: Value = null

  private readonly form: PlainForm

  constructor(value: Value, most: number, form: PlainForm = {}) {
    this.most = most
    this.form = form
    this.root = value
    this.plain = this.begin(value)
  }

  /** Does one piece; returns whether everything is done. */
  step(piece = PIECE): boolean {
    const { open } = this
    // If nobody is charged, work in pieces is bounded by its size alone.
    if (piece !== Infinity) this.visited = 0
    if (this.showing !== null && !this.goOnShowing(piece)) return false
    let left = piece
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const { members, keys, list, record } = top
      if (top.at === members.length) {
        open.pop()
        continue
      }
      if (left-- <= 0) return false
      const at = top.at++
      const plain = this.begin(members[at]!)
      if (keys === null) list[at] = plain
      else put(record, keys[at]!, plain)
      if (this.showing !== null && !this.goOnShowing(piece)) return false
    }
    this.pay()
    return true
  }

  private begin(value: Value): Plain {
    if (typeof value === 'string') {
      if (value.length > 0) this.count(value.length)
      return value
    }
    if (typeof value === 'bigint' && this.form.integers === 'number') return Number(value)
    if (value === null || typeof value !== 'object') return value
    if (value instanceof HarnFloat) return value.v
    if (value instanceof HarnBytes) {
      this.count(value.data.length)
      return value.data
    }
    if (value instanceof HarnList) return this.list(value.view())
    if (value instanceof Keyed) return this.record(value)
    if (value instanceof HarnSet) return this.list(value.values())
    if (value instanceof HarnPair) return this.list([value.first, value.second])
    if (value instanceof HarnEnum && value.fields.length > 0) {
      this.showing = new DisplayWalk(value)
      this.shown = value
      return null
    }
    if (value instanceof HarnHandle) return { $handle: value.kind, id: value.id }
    const text = display(value)
    this.count(text.length)
    return text
  }

  /** A piece of the string of an enum, which replaces its null; returns whether it is done. */
  private goOnShowing(piece: number): boolean {
    const walk = this.showing!
    for (let left = piece; left > 0; left -= PIECE_SHOWN) {
      const before = walk.length
      const isDone = walk.step(PIECE_SHOWN)
      this.count(walk.length - before)
      if (walk.length > MEASURED_FROM && this.shown !== null) {
        if (new SharedSize(UNITS_SHOWN).of(this.shown, 0) > this.most) throw new TooLargeError(this.most)
        this.shown = null
      }
      if (!isDone) continue
      this.showing = null
      const top = this.open.at(-1)
      if (top === undefined) this.plain = walk.text
      else if (top.keys === null) top.list[top.at - 1] = walk.text
      else put(top.record, top.keys[top.at - 1]!, walk.text)
      return true
    }
    return false
  }

  private list(members: readonly Value[]): Plain[] {
    this.enter(members.length)
    const list: Plain[] = []
    this.open.push({ members, keys: null, list, record: NO_RECORD, at: 0 })
    return list
  }

  private record(object: Keyed): Plain {
    const keys = object.keys()
    this.enter(keys.length)
    const record = (this.form.hasPrototype === true ? {} : Object.create(null)) as Record<string, Plain>
    this.open.push({ members: keys.map((key) => object.get(key)!), keys, list: NO_LIST, record, at: 0 })
    return record
  }

  private enter(slots: number): void {
    if (this.open.length >= MAX_EDGE_DEPTH) throw new TooDeepError()
    this.visited = visit(this.visited, slots)
    this.count(UNITS * (1 + slots))
  }

  private count(units: number): void {
    this.units += units
    if (this.units > this.most) throw new TooLargeError(this.most)
    if (this.units > MEASURED_FROM && !this.isMeasured) {
      this.isMeasured = true
      if (new SharedSize(UNITS).of(this.root, 0) > this.most) throw new TooLargeError(this.most)
    }
    if (this.units - this.kept > PAID_AT_ONCE) this.pay()
  }

  private pay(): void {
    keep(this.units - this.kept)
    this.kept = this.units
  }
}

/** Heap units above which a value is measured before all of it is copied. */
const MEASURED_FROM = 1 << 16

/** Members that are measured for that; a value with more is copied until it is too large. */
const MOST_MEASURED = 1 << 14

/**
 * The units of a walk over a value, computed by visiting each object once, however many paths lead to it. Unvisited parts count as
 * nothing, so that the result is a lower bound.
 */
class SharedSize {
  private readonly known = new Map<object, number>()
  private looked = 0
  /** Of an object, and of a slot. */
  private readonly each: number

  constructor(each: number) {
    this.each = each
  }

  of(value: Value, depth: number): number {
    if (typeof value === 'string') return value.length
    const members = value instanceof HarnEnum && this.each === UNITS_SHOWN ? value.fields : listValueMembers(value)
    if (members === null || depth >= MAX_EDGE_DEPTH) return 0
    const before = this.known.get(value as object)
    if (before !== undefined) return before
    this.looked += members.length
    if (this.looked > MOST_MEASURED) return 0
    let units = this.each * (1 + members.length)
    for (const member of members) units += this.of(member, depth + 1)
    this.known.set(value as object, units)
    return units
  }
}

function listValueMembers(value: Value): readonly Value[] | null {
  if (value instanceof HarnList) return value.view()
  if (value instanceof Keyed || value instanceof HarnSet) return value.values()
  return value instanceof HarnPair ? [value.first, value.second] : null
}

/** Heap units that are charged together; less is included in the charge of the operation. */
const PAID_AT_ONCE = 1 << 12

export function fromPlain(plain: Plain | undefined, depth = 0): Value {
  if (plain === null || plain === undefined) return null
  switch (typeof plain) {
    case 'string':
    case 'boolean':
      return plain
    case 'number':
      return Number.isSafeInteger(plain) && !Object.is(plain, -0) ? plain : new HarnFloat(plain)
    case 'bigint':
      return wrapInt(plain)
  }
  if (plain instanceof HarnFloat) return plain
  if (plain instanceof Uint8Array) return new HarnBytes(plain)
  if (depth >= MAX_EDGE_DEPTH) throw new TooDeepError()
  if (Array.isArray(plain)) return new HarnList(plain.map((item: Plain) => fromPlain(item, depth + 1)))
  const dict = new HarnDict()
  for (const [key, item] of Object.entries(plain as Record<string, Plain>)) dict.set(key, fromPlain(item, depth + 1))
  return dict
}

/**
 * `fromPlain` in pieces, for data that `PlainSize` has measured and that may be as large as the heap. Throws TooDeepError. The
 * data must not change between two pieces.
 */
export class ValueWalk {
  value: Value
  private readonly open: {
    readonly members: readonly Plain[]
    /** Of a dict; null for a list. */
    readonly keys: readonly string[] | null
    readonly items: Value[]
    readonly dict: HarnDict | null
    at: number
  }[] = []

  constructor(plain: Plain) {
    this.value = this.begin(plain)
  }

  /** Does one piece; returns whether everything is done. */
  step(piece = PIECE_MADE): boolean {
    const { open } = this
    let left = piece
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const { members, items, dict } = top
      if (top.at === members.length) {
        open.pop()
        this.put(dict ?? new HarnList(items))
        continue
      }
      if (left-- <= 0) return false
      const before = open.length
      const value = this.begin(members[top.at++]!)
      // A container is stored in its parent when it is complete.
      if (open.length === before) this.put(value)
    }
    return true
  }

  /** At the last position that the innermost open container has reached. */
  private put(value: Value): void {
    const parent = this.open.at(-1)
    if (parent === undefined) this.value = value
    else if (parent.keys === null) parent.items[parent.at - 1] = value
    else parent.dict!.set(parent.keys[parent.at - 1]!, value)
  }

  private begin(plain: Plain): Value {
    if (plain === null || typeof plain !== 'object' || plain instanceof HarnFloat || plain instanceof Uint8Array)
      return fromPlain(plain)
    if (this.open.length >= MAX_EDGE_DEPTH) throw new TooDeepError()
    if (Array.isArray(plain)) {
      this.open.push({ members: plain, keys: null, items: [], dict: null, at: 0 })
      return null
    }
    const record = plain as Record<string, Plain>
    const keys = Object.keys(record)
    this.open.push({ members: keys.map((key) => record[key]!), keys, items: [], dict: new HarnDict(), at: 0 })
    return null
  }
}

/** Members that become values between two chances to return control to the host. */
const PIECE_MADE = 1 << 12

/**
 * Heap units of plain data in the machine, counting shared parts once per path. Throws EdgeError
 * if it is not plain data, or too deep, or larger than `most`.
 */
export function measurePlain(data: unknown, most: number): number {
  const leaf = measureLeaf(data)
  if (leaf >= 0) return leaf
  const walk = new PlainSize(data, most)
  walk.step(Infinity)
  return walk.units
}

/** `measurePlain` in pieces. */
export class PlainSize {
  units = 0
  private readonly most: number
  private readonly open: { readonly members: readonly unknown[]; at: number }[] = []

  constructor(data: unknown, most: number) {
    this.most = most
    this.begin(data)
  }

  /** Does one piece; returns whether everything is done. */
  step(piece = PIECE_SIZED): boolean {
    const { open } = this
    let left = piece
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      if (top.at === top.members.length) {
        open.pop()
        continue
      }
      if (left-- <= 0) return false
      this.begin(top.members[top.at++])
      if (this.units > this.most) throw new TooLargeError(this.most)
    }
    return true
  }

  private begin(data: unknown): void {
    const leaf = measureLeaf(data)
    if (leaf >= 0) {
      this.units += leaf
      return
    }
    if (this.open.length >= MAX_EDGE_DEPTH) throw new TooDeepError()
    const members = listPlainMembers(data as object)
    this.units += UNITS * (1 + members.length)
    this.open.push({ members, at: 0 })
  }
}

/** Members that are counted between two chances to return control to the host. */
const PIECE_SIZED = 1 << 13

/** -1 for a container. */
function measureLeaf(data: unknown): number {
  switch (typeof data) {
    case 'string':
      return data.length
    case 'boolean':
    case 'number':
    case 'bigint':
    case 'undefined':
      return 0
    case 'function':
    case 'symbol':
      throw new EdgeError(`a ${typeof data} is not data`)
  }
  if (data === null || data instanceof HarnFloat) return 0
  return data instanceof Uint8Array ? data.length : -1
}

function listPlainMembers(container: object): readonly unknown[] {
  if (Array.isArray(container)) return container
  const proto: unknown = Object.getPrototypeOf(container)
  // An object of another realm has another Object.prototype, which ends its chain too.
  if (proto !== null && Object.getPrototypeOf(proto) !== null)
    throw new EdgeError(`an object of class ${readClassName(container)} is not data`)
  return Object.values(container)
}

function readClassName(object: object): string {
  const { constructor } = object as { readonly constructor?: { readonly name?: unknown } }
  return typeof constructor?.name === 'string' ? constructor.name : '(none)'
}

// Value ⇄ plain data at the edge of the machine: float → number, dict → null-prototype object, list → array;
// back: an integral number is an int, another number a float. HarnFloat passes through where the difference matters.
//
// What is shared inside the machine is not shared outside: a copy, a line of JSON and a message hold it once for each way that leads
// to it. So what crosses the edge is counted at its expanded size, in heap units, and whoever pays for the walk pays for that.

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
 * Nesting of data that crosses the edge, in both directions. Whoever takes it in on the other side walks it by recursion, JSON.stringify
 * among them, so the bound leaves room on a JavaScript stack of the usual size.
 */
export const MAX_EDGE_DEPTH = 500

/** Heap units of an object and of a slot (interpreter/heap.ts), and the fewest characters that show them. */
const UNITS = 16
const UNITS_SHOWN = 1

/** Data that cannot cross the edge: nested too deeply, too large when it is expanded, or no data at all. */
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

/** Values without a plain form (closures, durations, handles …) become their display string. */
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

/** A key of a script is data, also `__proto__`, which assignment takes for the prototype. */
function put(record: Record<string, Plain>, key: string, value: Plain): void {
  if (key !== '__proto__') record[key] = value
  else Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true })
}

const NO_LIST: Plain[] = []
const NO_RECORD: Record<string, Plain> = Object.freeze({})

/** Members that are converted between two chances to give the host its thread. */
const PIECE = 1 << 14

/** Members of an enum that are shown between two looks at how long its text is. */
const PIECE_SHOWN = 1 << 10

/** How data leaves for programs that look at it with the tools of JavaScript. */
export interface PlainForm {
  /** Dicts are objects like those of a literal; without a prototype otherwise. */
  readonly hasPrototype?: boolean
  /** Ints beyond ±2^53 become the nearest number; `bigint` otherwise. */
  readonly integers?: 'bigint' | 'number'
}

/**
 * `toPlain` in pieces, for what may be as large as the heap. Raises TooDeepError, and TooLargeError beyond `most` heap units. Nothing
 * of the value may change between two pieces.
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
  /** The text of an enum, which is being made, and what it shows until that was measured. */
  private showing: DisplayWalk | null = null
  private shown: Value = null

  private readonly form: PlainForm

  constructor(value: Value, most: number, form: PlainForm = {}) {
    this.most = most
    this.form = form
    this.root = value
    this.plain = this.begin(value)
  }

  /** Does a piece; whether all is done. */
  step(piece = PIECE): boolean {
    const { open } = this
    // Where nobody pays, what goes in pieces is bounded by its size alone.
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

  /** A piece of the text of an enum, which goes where its null is; whether it is done. */
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

/** Heap units of a value that is large enough to ask how large it is before all of it is copied. */
const MEASURED_FROM = 1 << 16

/** Members that are looked at for that; what has more of its own is copied until it is too large. */
const MOST_MEASURED = 1 << 14

/**
 * The units of a walk over a value, by looking at each object once, however many ways lead to it. What is not looked at counts as
 * nothing, so that it may be less and is never more.
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

/** Heap units that are paid together: what comes to less is part of the operation. */
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
 * `fromPlain` in pieces, of data that `PlainSize` went over, for what may be as large as the heap. Raises TooDeepError. Nothing of the
 * data may change between two pieces.
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

  /** Does a piece; whether all is done. */
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
      // A container is put in its place when it is whole.
      if (open.length === before) this.put(value)
    }
    return true
  }

  /** At the last position that the innermost open container came to. */
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

/** Members that become values between two chances to give the host its thread. */
const PIECE_MADE = 1 << 12

/**
 * Heap units of plain data as it would be in the machine, what is shared counted once for each way that leads to it. Raises EdgeError
 * for what is no plain data, or crosses no edge for its depth or its size beyond `most`.
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

  /** Does a piece; whether all is done. */
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

/** Members that are counted between two chances to give the host its thread. */
const PIECE_SIZED = 1 << 13

/** -1 for what has members. */
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
  // Data that was made in another realm has another Object.prototype, which is the end of its chain too.
  if (proto !== null && Object.getPrototypeOf(proto) !== null)
    throw new EdgeError(`an object of class ${readClassName(container)} is not data`)
  return Object.values(container)
}

function readClassName(object: object): string {
  const { constructor } = object as { readonly constructor?: { readonly name?: unknown } }
  return typeof constructor?.name === 'string' ? constructor.name : '(none)'
}

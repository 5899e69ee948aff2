// The list: value semantics without copying on the two hot paths (design: "Values", "Ownership").
//
// `items[0 .. length)` is the content; `items` may be longer, because lists made by appending share one growing buffer: an
// append to the newest view writes behind its end and returns a longer view, older views keep their own length.
//
// `owned` says that exactly one variable holds this list and nothing shares its buffer; only then may an element be replaced
// in place. It is false for every new list and set by the first indexed assignment (which copies); every load of that
// variable that stores, passes or captures the list clears it again. Builtins never set it.
//
// A list of floats that compiled code works on has its content as doubles (`raw`), because a box for each float that is stored is
// most of what a numeric loop would cost. While such a list is owned, `raw` is all there is; otherwise nobody writes to it, and
// the buffer may be there as well. Whoever asks for `items` gets boxes, made then and there if they have to be; what works on
// `raw` as it is: `at`, `put`, and the two tiers' own access by index. Nothing that a script can see depends on the form.

import { HarnFloat } from './scalars.js'
import type { Nest } from './nest.js'
import type { Value } from './types.js'

declare module './types.js' {
  interface ValueClasses {
    HarnList: HarnList
  }
}

/** Stands for a buffer that is not there. */
const NONE: Value[] = []

export class HarnList {
  /** The buffer; `NONE` where there is only `raw`. */
  boxed: Value[]
  /** The content up to `length` as doubles: an array that never held anything else, in which V8 keeps them without boxes. */
  raw: number[] | null
  length: number
  owned: boolean
  /** Of a list that another container holds and nobody else: that container's `nest` (nest.ts). */
  owner: Nest | null
  /** What containers in this one have as their `owner` while nobody else holds them. */
  nest: Nest | null
  /** The measurement of the heap that saw it last (interpreter/heap.ts): a set of millions of objects is ten times slower. */
  mark: number

  /** Takes the array over: the caller must not write to it afterwards. */
  constructor(items: Value[], length: number = items.length) {
    this.boxed = items
    this.raw = null
    this.length = length
    this.owned = false
    this.owner = null
    this.nest = null
    this.mark = 0
  }

  /** The buffer. Only of an owned list may the caller change what lies below `length`. */
  get items(): Value[] {
    const { raw } = this
    if (raw !== null) {
      if (this.boxed === NONE) this.boxed = Array.from(raw, (each) => new HarnFloat(each))
      if (this.owned) this.raw = null
    }
    return this.boxed
  }

  /** Element at a non-negative index, `undefined` past the end. */
  at(index: number): Value | undefined {
    if (index >= this.length) return undefined
    return index < this.boxed.length ? this.boxed[index] : new HarnFloat(this.raw![index]!)
  }

  /** Replaces an element that is there, in an owned list or one that nobody has seen yet. */
  put(index: number, value: Value): void {
    if (this.raw !== null && value instanceof HarnFloat) this.raw[index] = value.v
    else this.items[index] = value
  }

  /** As put, in a list that only its holder has: it may have both forms, of which one is left. */
  putHeld(index: number, value: Value): void {
    if (this.raw === null) this.boxed[index] = value
    else if (value instanceof HarnFloat) {
      this.raw[index] = value.v
      this.boxed = NONE
    } else {
      const { items } = this
      this.raw = null
      items[index] = value
    }
  }

  /** Puts a value behind the last one of such a list. */
  addHeld(value: Value): void {
    if (this.raw === null) this.length = this.boxed.push(value)
    else {
      const { items } = this
      this.raw = null
      this.length = items.push(value)
    }
  }

  /** As putHeld, of a float; the list has doubles as its form afterwards if `mayUnbox`. */
  putHeldFloat(index: number, value: number, mayUnbox: boolean): void {
    if (mayUnbox) this.unbox()
    if (this.raw === null) this.boxed[index] = new HarnFloat(value)
    else {
      this.raw[index] = value
      this.boxed = NONE
    }
  }

  /** A copy in the same form. */
  copy(): HarnList {
    return this.raw === null ? new HarnList(this.copyItems()) : this.copyUnboxed()
  }

  /** Takes doubles as its form if all elements are floats and nothing lies behind the end. */
  unbox(): void {
    const { boxed, length } = this
    if (this.raw !== null || boxed.length !== length || length === 0) return
    this.raw = toDoubles(boxed, length)
    if (this.owned && this.raw !== null) this.boxed = NONE
  }

  /** A copy that has doubles as its form where all elements are floats. */
  copyUnboxed(): HarnList {
    const raw = this.raw === null ? toDoubles(this.boxed, this.length) : this.raw.slice()
    if (raw === null) return new HarnList(this.copyItems())
    const copy = new HarnList(NONE, this.length)
    copy.raw = raw
    return copy
  }

  /** The content as an array of its own or, when nothing lies behind the end, the buffer itself: read only. */
  view(): readonly Value[] {
    return this.items.length === this.length ? this.items : this.items.slice(0, this.length)
  }

  /** Appends to a list that nobody else has seen yet. */
  take(other: HarnList): void {
    other.nest = null
    if (this.length === 0) this.boxed = other.copyItems()
    else {
      const { items, length } = other
      for (let at = 0; at < length; at++) this.boxed.push(items[at]!)
    }
    this.length = this.boxed.length
  }

  copyItems(): Value[] {
    return this.items.slice(0, this.length)
  }

  /** A list with `value` behind the last element. Amortised constant for the newest view, a copy for an older one. */
  append(value: Value): HarnList {
    this.owned = false
    this.owner = null
    if (this.items.length === this.length) {
      this.items.push(value)
      return new HarnList(this.items, this.length + 1)
    }
    const items = this.copyItems()
    items.push(value)
    return new HarnList(items)
  }

  /** Puts a value behind the last, in place: only in a list that nobody else can see yet. */
  add(value: Value): void {
    this.items.push(value)
    this.length++
  }

  concat(other: HarnList): HarnList {
    this.owned = false
    this.owner = null
    other.nest = null
    const added = other.length
    if (added === 0) return this
    if (this.items.length === this.length) {
      const source = other.items
      for (let at = 0; at < added; at++) this.items.push(source[at]!)
      return new HarnList(this.items, this.length + added)
    }
    const items = this.copyItems()
    for (let at = 0; at < added; at++) items.push(other.items[at]!)
    return new HarnList(items)
  }
}

/** Elements that are copied for the sake of owning the copy. */
const FEW = 16

/**
 * The list that `x = x.push(v)` works on. One that starts small is copied once and then owned, so that it grows in place, without
 * a new view for each element; a larger one is not, because it may be shared again before the next push.
 */
export function copyIfSmall(list: HarnList): HarnList {
  if (list.owned || list.length > FEW) return list
  const own = new HarnList(list.copyItems())
  own.owned = true
  return own
}

/**
 * null where not all are floats. V8 knows an array as one of doubles by what stood in it when it was made, and keeps it so; an access
 * takes less than one to a Float64Array (docs/decisions/0009).
 */
function toDoubles(items: readonly Value[], length: number): number[] | null {
  const first = items[0]
  if (!(first instanceof HarnFloat)) return null
  const raw = [0.5]
  raw[0] = first.v
  for (let at = 1; at < length; at++) {
    const item = items[at]
    if (!(item instanceof HarnFloat)) return null
    raw.push(item.v)
  }
  return raw
}

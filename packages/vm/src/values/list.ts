// The list: value semantics without copying on the two hot paths.
//
// `items[0 .. length)` is the content; `items` may be longer, because lists made by appending share one growing buffer: an
// append to the newest view writes past its end and returns a longer view, older views keep their length.
//
// `owned` says that exactly one variable holds this list and nothing shares its buffer; only then may an element be replaced
// in place. It is false for every new list and set by the first indexed assignment (which copies); every load of that
// variable that stores, passes or captures the list clears it again. Builtins never set it.
//
// A list of floats that compiled code works on stores its content as doubles (`raw`), because boxing every stored float would be
// most of the cost of a numeric loop. While such a list is owned, it has only `raw`; otherwise `raw` is read-only and
// the buffer may exist as well. Reading `items` makes the boxes if necessary. These work on
// `raw` directly: `at`, `put`, and the two tiers' own access by index. The form is not observable by scripts.

import { HarnFloat } from './scalars.js'
import type { Nest } from './nest.js'
import type { Value } from './types.js'

declare module './types.js' {
  interface ValueClasses {
    HarnList: HarnList
  }
}

/** Placeholder for a missing buffer. */
const NONE: Value[] = []

export class HarnList {
  /** The buffer; `NONE` if there is only `raw`. */
  boxed: Value[]
  /** The content up to `length` as doubles: an array that has only ever held doubles, which V8 stores without boxes. */
  raw: number[] | null
  length: number
  owned: boolean
  /** For a list that only one container references: that container's `nest` (nest.ts). */
  owner: Nest | null
  /** The `owner` of containers that only this list references. */
  nest: Nest | null
  /** The heap measurement that visited it last (interpreter/heap.ts): a set of millions of visited objects would be ten times slower. */
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

  /** The buffer. The caller may change elements below `length` only if the list is owned. */
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

  /** Replaces an existing element, in an owned list or one that nothing references yet. */
  put(index: number, value: Value): void {
    if (this.raw !== null && value instanceof HarnFloat) this.raw[index] = value.v
    else this.items[index] = value
  }

  /** As put, in a list that only its holder references: it may have both forms, of which one remains. */
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

  /** Appends a value to such a list. */
  addHeld(value: Value): void {
    if (this.raw === null) this.length = this.boxed.push(value)
    else {
      const { items } = this
      this.raw = null
      this.length = items.push(value)
    }
  }

  /** As putHeld, for a float; with `mayUnbox` the list is converted to doubles. */
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

  /** Converts to doubles if all elements are floats and the buffer has none past the end. */
  unbox(): void {
    const { boxed, length } = this
    if (this.raw !== null || boxed.length !== length || length === 0) return
    this.raw = toDoubles(boxed, length)
    if (this.owned && this.raw !== null) this.boxed = NONE
  }

  /** A copy, converted to doubles if all elements are floats. */
  copyUnboxed(): HarnList {
    const raw = this.raw === null ? toDoubles(this.boxed, this.length) : this.raw.slice()
    if (raw === null) return new HarnList(this.copyItems())
    const copy = new HarnList(NONE, this.length)
    copy.raw = raw
    return copy
  }

  /** The content as a separate array or, if the buffer has no elements past the end, the buffer itself: read only. */
  view(): readonly Value[] {
    return this.items.length === this.length ? this.items : this.items.slice(0, this.length)
  }

  /** Appends to a list that nothing references yet. */
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

  /** A list with `value` appended. Amortised constant for the newest view, a copy for an older one. */
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

  /** Appends in place: only for a list that nothing else references yet. */
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

/** Maximum elements of a list that is copied in order to own the copy. */
const FEW = 16

/**
 * The list that `x = x.push(v)` appends to. A small one is copied once and then owned, so that it grows in place, without
 * a new view for each element; a larger one is not, because it may be shared again before the next push.
 */
export function copyIfSmall(list: HarnList): HarnList {
  if (list.owned || list.length > FEW) return list
  const own = new HarnList(list.copyItems())
  own.owned = true
  return own
}

/**
 * null if not all are floats. V8 decides that an array holds doubles by its first elements, and keeps it so; an access
 * is faster than to a Float64Array (docs/decisions/0009).
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

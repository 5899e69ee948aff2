// The list: value semantics without copying on the two hot paths (design: "Values", "Ownership").
//
// `items[0 .. length)` is the content; `items` may be longer, because lists made by appending share one growing buffer: an
// append to the newest view writes behind its end and returns a longer view, older views keep their own length.
//
// `owned` says that exactly one variable holds this list and nothing shares its buffer; only then may an element be replaced
// in place. It is false for every new list and set by the first indexed assignment (which copies); every load of that
// variable that stores, passes or captures the list clears it again. Builtins never set it.

import type { Value } from './value.js'

export class HarnList {
  readonly items: Value[]
  length: number
  owned: boolean

  /** Takes the array over: the caller must not write to it afterwards. */
  constructor(items: Value[], length: number = items.length) {
    this.items = items
    this.length = length
    this.owned = false
  }

  /** Element at a non-negative index, `undefined` past the end. */
  at(index: number): Value | undefined {
    return index < this.length ? this.items[index] : undefined
  }

  /** The content as an array of its own or, when nothing lies behind the end, the buffer itself: read only. */
  view(): readonly Value[] {
    return this.items.length === this.length ? this.items : this.items.slice(0, this.length)
  }

  copyItems(): Value[] {
    return this.items.slice(0, this.length)
  }

  /** A list with `value` behind the last element. Amortised constant for the newest view, a copy for an older one. */
  append(value: Value): HarnList {
    this.owned = false
    if (this.items.length === this.length) {
      this.items.push(value)
      return new HarnList(this.items, this.length + 1)
    }
    const items = this.copyItems()
    items.push(value)
    return new HarnList(items)
  }

  concat(other: HarnList): HarnList {
    this.owned = false
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

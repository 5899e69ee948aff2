// The dict: string keys, iterated in code point order (keyed.ts). `owned` has the same meaning as for lists (list.ts).

import { Keyed, NO_SLOTS } from './keyed.js'
import { EMPTY, TABLE } from './shape.js'
import { Table } from './table.js'
import type { Shape } from './shape.js'
import type { Value } from './types.js'

declare module './types.js' {
  interface ValueClasses {
    HarnDict: HarnDict
  }
}

export class HarnDict extends Keyed {
  /** From a map; or takes over `slots`, which are in the order of `shape`. */
  constructor(map: Map<string, Value> | null = null, shape: Shape = EMPTY, slots: Value[] = NO_SLOTS) {
    super(map, shape, slots)
  }

  static of(entries: Readonly<Record<string, Value>>): HarnDict {
    const dict = new HarnDict()
    for (const key of Object.keys(entries)) dict.set(key, entries[key]!)
    return dict
  }

  /** A copy of `other`. */
  static from(other: Keyed): HarnDict {
    const copy = new HarnDict()
    copy.setAll(other)
    return copy
  }

  /** A dict whose keys are named by a program or a document, such as columns of a table or parts of a date. */
  static named(entries: Iterable<readonly [string, Value]>): HarnDict {
    const dict = new HarnDict()
    for (const [key, value] of entries) dict.set(key, value)
    return dict
  }

  /** A dict whose keys are data, with one slot per key; takes both over. */
  static ofTable(places: Map<string, number>, slots: Value[]): HarnDict {
    if (places.size === 0) return new HarnDict()
    const dict = new HarnDict(null, TABLE, slots)
    dict.table = new Table(places)
    return dict
  }

  copy(): HarnDict {
    return HarnDict.from(this)
  }

  with(key: string, value: Value): HarnDict {
    const copy = this.copy()
    copy.set(key, value)
    return copy
  }

  merged(other: HarnDict): HarnDict {
    const copy = this.copy()
    copy.setAll(other)
    return copy
  }
}
